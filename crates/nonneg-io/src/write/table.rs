//! Text: Matrix Market, LIBSVM, CSV. Numbers are written with as many digits as it takes to read them back exactly.

use std::io::{self, Write};

use nonneg::MatrixRef;

use super::{for_each_entry, try_for_each_entry};
use crate::assemble;
use crate::compression::Compression;
use crate::error::Result;
use crate::output;

/// Prints numbers through one buffer.
#[derive(Default)]
struct Printer {
    buffer: Vec<u8>,
}

impl Printer {
    /// The shortest text that reads back as the same number.
    fn number(&mut self, out: &mut dyn Write, value: f64) -> io::Result<()> {
        self.buffer.clear();
        write!(self.buffer, "{value:?}")?; // switches to an exponent where that is shorter
        out.write_all(self.buffer.strip_suffix(b".0").unwrap_or(&self.buffer))
    }
}

pub(super) fn numbers_by_line(out: &mut dyn Write, values: impl Iterator<Item = f64>) -> io::Result<()> {
    let mut printer = Printer::default();
    for value in values {
        printer.number(out, value)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

pub(super) fn write_mtx(out: &mut dyn Write, matrix: MatrixRef, dense: bool) -> io::Result<()> {
    let mut printer = Printer::default();
    let (rows, cols, nnz) = (matrix.rows(), matrix.cols(), matrix.nnz());
    if dense {
        writeln!(out, "%%MatrixMarket matrix array real general\n{rows} {cols}")?;
        return try_for_each_entry(matrix, |_, _, value| {
            printer.number(out, value)?;
            out.write_all(b"\n")
        });
    }
    writeln!(out, "%%MatrixMarket matrix coordinate real general\n{rows} {cols} {nnz}")?;
    try_for_each_entry(matrix, |i, j, value| {
        write!(out, "{} {} ", i + 1, j + 1)?;
        printer.number(out, value)?;
        out.write_all(b"\n")
    })
}

pub(super) fn write_svm(path: &str, compression: Option<Compression>, matrix: MatrixRef, rhs: Option<&[f64]>) -> Result<()> {
    let rows = by_rows(path, matrix)?;
    output::text(path, compression, |out| {
        let mut printer = Printer::default();
        for i in 0..matrix.rows() {
            printer.number(out, rhs.map_or(0.0, |rhs| rhs[i]))?;
            let range = rows.ptr[i]..rows.ptr[i + 1];
            for (&j, &value) in rows.columns[range.clone()].iter().zip(&rows.values[range]) {
                write!(out, " {}:", j + 1)?;
                printer.number(out, value)?;
            }
            // The format has no place for the number of columns: a zero in the last one keeps it.
            if i == 0 && rows.last_is_empty {
                write!(out, " {}:0", matrix.cols())?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    })
}

/// The entries other than zero, row after row.
struct Rows {
    ptr: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    last_is_empty: bool,
}

fn by_rows(path: &str, matrix: MatrixRef) -> Result<Rows> {
    let mut ptr = assemble::filled(path, matrix.rows() + 1, 0usize)?;
    let mut last_is_empty = matrix.cols() > 0;
    for_each_entry(matrix, |i, j, value| {
        if value != 0.0 {
            ptr[i + 1] += 1;
            last_is_empty &= j + 1 != matrix.cols();
        }
    });
    let mut total = 0;
    for slot in &mut ptr[1..] {
        (*slot, total) = (total, total + *slot);
    }
    let mut columns = assemble::filled(path, total, 0usize)?;
    let mut values = assemble::filled(path, total, 0.0)?;
    for_each_entry(matrix, |i, j, value| {
        if value != 0.0 {
            let at = ptr[i + 1];
            ptr[i + 1] += 1;
            columns[at] = j;
            values[at] = value;
        }
    });
    Ok(Rows { ptr, columns, values, last_is_empty })
}

pub(super) fn write_rows(path: &str, compression: Option<Compression>, matrix: MatrixRef, separator: u8) -> Result<()> {
    let at: Box<dyn Fn(usize) -> f64> = match matrix {
        MatrixRef::DenseF64(view) => Box::new(move |k| view.values()[k]),
        MatrixRef::DenseF32(view) => Box::new(move |k| f64::from(view.values()[k])),
        _ => unreachable!("callers refuse sparse matrices"),
    };
    output::text(path, compression, |out| {
        let mut printer = Printer::default();
        for i in 0..matrix.rows() {
            for j in 0..matrix.cols() {
                if j > 0 {
                    out.write_all(&[separator])?;
                }
                printer.number(out, at(j * matrix.rows() + i))?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    })
}
