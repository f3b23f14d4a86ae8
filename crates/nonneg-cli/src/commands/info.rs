//! `nonneg info`.

use nonneg::matrix::{Column, Columns};
use nonneg::{MatrixRef, Method, with_columns};
use serde::Serialize;

use crate::args::InfoArgs;
use crate::console::{self, Paint, grouped, number};
use crate::failure::Failure;
use crate::inputs;
use crate::progress::Progress;
use crate::report;
use crate::summary::Summary;

/// What one walk over the entries tells.
#[derive(Debug, Serialize)]
struct Info {
    m: usize,
    n: usize,
    /// Stored entries.
    nnz: usize,
    /// Entries that are not zero.
    nonzeros: usize,
    density: f64,
    kind: &'static str,
    dtype: &'static str,
    index_bits: Option<u32>,
    /// Whether A has a negative entry.
    signed: bool,
    negative_entries: usize,
    empty_rows: usize,
    empty_columns: usize,
    smallest_magnitude: Option<f64>,
    largest_magnitude: Option<f64>,
    /// Of the columns that are not empty.
    smallest_column_norm: Option<f64>,
    largest_column_norm: Option<f64>,
    memory_bytes: usize,
    has_rhs: bool,
    suggested_method: &'static str,
}

pub fn run(args: &InfoArgs) -> Result<u8, Failure> {
    super::use_threads(&args.common)?;
    if args.header {
        return header(args);
    }
    let mut progress = Progress::new(args.common.quiet, false);
    let problem = inputs::read_matrix(&args.a, args.transpose, &progress)?;
    progress.stage("looking at every entry");
    let info = Info::of(problem.matrix.view(), problem.rhs.is_some());
    progress.finish();
    if args.json {
        console::print_bytes(&report::to_json(&info)?)?;
    } else if !args.common.quiet {
        info.summary().print(true)?;
    }
    Ok(crate::DONE)
}

/// What the file says before its values are read.
#[derive(Debug, Serialize)]
struct Header {
    m: usize,
    n: usize,
    /// Stored entries, where the file says so.
    nnz: Option<usize>,
    /// How the file stores them.
    kind: &'static str,
    dtype: String,
}

fn header(args: &InfoArgs) -> Result<u8, Failure> {
    let Some(shape) = nonneg_io::peek(&args.a)? else {
        let message = format!("{}: this format has no header, expected another, or info without --header", args.a);
        return Err(Failure::new(message));
    };
    let (m, n) = if args.transpose { (shape.cols, shape.rows) } else { (shape.rows, shape.cols) };
    let header = Header { m, n, nnz: shape.nnz, kind: shape.kind, dtype: shape.dtype };
    if args.json {
        console::print_bytes(&report::to_json(&header)?)?;
    } else if !args.common.quiet {
        let mut summary = Summary::new(Paint::of(&std::io::stdout()));
        summary.line("shape", format!("{} × {}", grouped(m), grouped(n)));
        summary.line("entries", header.nnz.map_or("not in the header".into(), grouped));
        summary.line("stored as", format!("{}, {}", header.kind, header.dtype));
        summary.print(true)?;
    }
    Ok(crate::DONE)
}

impl Info {
    fn of(matrix: MatrixRef, has_rhs: bool) -> Self {
        let (kind, dtype, index_bits) = storage(&matrix);
        let mut row_used = vec![false; matrix.rows()];
        let (mut nonzeros, mut negative_entries, mut empty_columns) = (0, 0, 0);
        let mut magnitudes = Range::default();
        let mut norms = Range::default();
        with_columns!(matrix, |a| for j in 0..a.cols() {
            let mut largest: f64 = 0.0;
            a.column(j).for_each(|i, value| {
                if value != 0.0 {
                    nonzeros += 1;
                    negative_entries += usize::from(value < 0.0);
                    row_used[i] = true;
                    magnitudes.add(value.abs());
                    largest = largest.max(value.abs());
                }
            });
            if largest == 0.0 {
                empty_columns += 1;
            } else {
                // Scaled by the largest entry, so that squares stay in range.
                let mut sum = 0.0;
                a.column(j).for_each(|_, value| sum += (value / largest).powi(2));
                norms.add(largest * sum.sqrt());
            }
        });
        let entries = matrix.rows() as f64 * matrix.cols() as f64;
        Self {
            m: matrix.rows(),
            n: matrix.cols(),
            nnz: matrix.nnz(),
            nonzeros,
            density: if entries > 0.0 { nonzeros as f64 / entries } else { 0.0 },
            kind,
            dtype,
            index_bits,
            signed: negative_entries > 0,
            negative_entries,
            empty_rows: row_used.iter().filter(|used| !**used).count(),
            empty_columns,
            smallest_magnitude: magnitudes.smallest(),
            largest_magnitude: magnitudes.largest(),
            smallest_column_norm: norms.smallest(),
            largest_column_norm: norms.largest(),
            memory_bytes: matrix.bytes(),
            has_rhs,
            suggested_method: Method::Auto.name(),
        }
    }

    fn summary(&self) -> Summary {
        let range = |low: Option<f64>, high: Option<f64>| match (low, high) {
            (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
            _ => "none".into(),
        };
        let mut summary = Summary::new(Paint::of(&std::io::stdout()));
        summary.line("shape", format!("{} × {}", grouped(self.m), grouped(self.n)));
        let explicit = self.nnz - self.nonzeros;
        let zeros = if explicit > 0 { format!(", and {} stored zeros", grouped(explicit)) } else { String::new() };
        summary.line("nonzeros", format!("{} ({:.4} %){zeros}", grouped(self.nonzeros), 100.0 * self.density));
        let index = self.index_bits.map_or(String::new(), |bits| format!(", {bits}-bit indices"));
        summary.line("stored as", format!("{}, {}{index}", self.kind, self.dtype));
        summary.line(
            "sign",
            if self.signed {
                format!("signed: {} negative entries", grouped(self.negative_entries))
            } else {
                "A ≥ 0: every answer gets a proved bound".into()
            },
        );
        summary.line("empty", format!("{} rows, {} columns", grouped(self.empty_rows), grouped(self.empty_columns)));
        summary.line("|entries|", range(self.smallest_magnitude, self.largest_magnitude));
        summary.line("‖columns‖", range(self.smallest_column_norm, self.largest_column_norm));
        summary.line("memory", console::bytes(self.memory_bytes));
        summary.line("b", if self.has_rhs { "in the file" } else { "not in the file" });
        summary.line("method", format!("{} suggested", self.suggested_method));
        summary
    }
}

/// Smallest and largest of some numbers ≥ 0.
#[derive(Debug, Default)]
struct Range(Option<(f64, f64)>);

impl Range {
    fn add(&mut self, value: f64) {
        let (low, high) = self.0.unwrap_or((value, value));
        self.0 = Some((low.min(value), high.max(value)));
    }
    fn smallest(&self) -> Option<f64> {
        self.0.map(|range| range.0)
    }
    fn largest(&self) -> Option<f64> {
        self.0.map(|range| range.1).filter(|high| high.is_finite())
    }
}

fn storage(matrix: &MatrixRef) -> (&'static str, &'static str, Option<u32>) {
    match matrix {
        MatrixRef::CscF64(_) => ("sparse columns", "float64", Some(32)),
        MatrixRef::CscF32(_) => ("sparse columns", "float32", Some(32)),
        MatrixRef::CscF64Wide(_) => ("sparse columns", "float64", Some(64)),
        MatrixRef::CscF32Wide(_) => ("sparse columns", "float32", Some(64)),
        MatrixRef::CsrF64(_) => ("sparse rows", "float64", Some(32)),
        MatrixRef::CsrF32(_) => ("sparse rows", "float32", Some(32)),
        MatrixRef::CsrF64Wide(_) => ("sparse rows", "float64", Some(64)),
        MatrixRef::CsrF32Wide(_) => ("sparse rows", "float32", Some(64)),
        MatrixRef::DenseF64(_) => ("dense columns", "float64", None),
        MatrixRef::DenseF32(_) => ("dense columns", "float32", None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nonneg::CscMatrix;

    #[test]
    fn counts_what_is_there() {
        let entries = [(0, 0, 3.0), (2, 0, -4.0), (2, 2, 1e200), (3, 2, 0.0)];
        let matrix = CscMatrix::<f64>::from_triplets(4, 3, &entries).unwrap();
        let info = Info::of((&matrix).into(), false);
        assert_eq!((info.nnz, info.nonzeros, info.negative_entries, info.signed), (4, 3, 1, true));
        assert_eq!((info.empty_rows, info.empty_columns), (2, 1));
        assert_eq!((info.smallest_magnitude, info.largest_magnitude), (Some(3.0), Some(1e200)));
        assert_eq!((info.smallest_column_norm, info.largest_column_norm), (Some(5.0), Some(1e200)));
        assert_eq!(info.summary().render().lines().count(), 10);
    }
}
