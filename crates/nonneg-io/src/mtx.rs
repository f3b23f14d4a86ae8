//! Matrix Market: the header, and dense (`array`) files. Sparse (`coordinate`) files are in [`coordinate`].

mod coordinate;

use nonneg::DenseMatrix;

use crate::assemble::{self, check_shape};
use crate::blocks::{BadLine, Lines, is_token_end, line_end, skip_blanks, word};
use crate::error::{Error, Result};
use crate::number::{self, Numbers};
use crate::{Problem, Shape, vector};

pub(crate) const MAGIC: &[u8] = b"%%MatrixMarket";

/// Shortest text of one entry: `1 1` and a line end; `0` and a line end in array files.
const BYTES_PER_ENTRY: u64 = 4;
const BYTES_PER_VALUE: u64 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symmetry {
    General,
    Symmetric,
    Skew,
}

#[derive(Debug)]
pub(crate) struct Header {
    /// `coordinate`, otherwise `array`.
    sparse: bool,
    /// Every value is 1 and not written.
    pattern: bool,
    field: String,
    symmetry: Symmetry,
    rows: u64,
    cols: u64,
    /// Lines of entries, or values, that must follow.
    entries: u64,
}

impl Header {
    pub fn shape(&self) -> Shape {
        // A symmetric file does not say how many of its entries lie on the diagonal.
        let nnz = match (self.sparse, self.symmetry) {
            (true, Symmetry::General) => Some(self.entries as usize),
            (true, _) => None,
            (false, _) => Some((self.rows * self.cols) as usize),
        };
        let kind = if self.sparse { "coo" } else { "dense" };
        Shape { rows: self.rows as usize, cols: self.cols as usize, nnz, dtype: self.field.clone(), kind }
    }
}

pub(crate) fn read(mut lines: Lines) -> Result<Problem> {
    let header = read_header(&mut lines)?;
    if header.sparse {
        return Ok(Problem { matrix: coordinate::read(lines, &header)?.into(), rhs: None });
    }
    let values = read_array(&mut lines, &header, Numbers::Finite)?;
    let matrix = DenseMatrix::new(header.rows as usize, header.cols as usize, values);
    let matrix = matrix.map_err(|e| Error::content(&lines.path, e.to_string()))?;
    Ok(Problem { matrix: matrix.into(), rhs: None })
}

/// A matrix with one row or one column.
pub(crate) fn read_vector(mut lines: Lines, numbers: Numbers) -> Result<Vec<f64>> {
    let header = read_header(&mut lines)?;
    let path = lines.path.clone();
    vector::check_shape(&path, header.rows as usize, header.cols as usize)?;
    if header.sparse {
        return vector::flatten(&path, coordinate::read(lines, &header)?.view()); // always finite: what is left out is zero
    }
    read_array(&mut lines, &header, numbers)
}

/// Reads up to and including the line with the sizes.
pub(crate) fn read_header(lines: &mut Lines) -> Result<Header> {
    let Some(first) = lines.next_line()? else {
        return Err(Error::content(&lines.path, "is empty, expected '%%MatrixMarket matrix ...' in the first line"));
    };
    let banner = String::from_utf8_lossy(&first).to_ascii_lowercase();
    let words: Vec<&str> = banner.split_ascii_whitespace().collect();
    let &["%%matrixmarket", "matrix", layout, field, symmetry] = words.as_slice() else {
        let expected = "expected '%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric'";
        return Err(lines.error(format!("{expected}, found '{}'", number::excerpt(&first))));
    };
    let sparse = match layout {
        "coordinate" => true,
        "array" => false,
        _ => return Err(lines.error(format!("expected 'coordinate' or 'array', found '{layout}'"))),
    };
    let pattern = match field {
        "real" | "double" | "integer" | "unsigned-integer" => false,
        "pattern" if sparse => true,
        "pattern" => return Err(lines.error("an array file cannot be 'pattern', expected 'real' or 'integer'")),
        "complex" => return Err(lines.error("complex matrices are not supported, expected 'real', 'integer' or 'pattern'")),
        _ => return Err(lines.error(format!("expected 'real', 'integer' or 'pattern', found '{field}'"))),
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" => Symmetry::Skew,
        "hermitian" => return Err(lines.error("hermitian matrices are not supported, expected 'general' or 'symmetric'")),
        _ => return Err(lines.error(format!("expected 'general', 'symmetric' or 'skew-symmetric', found '{symmetry}'"))),
    };
    if pattern && symmetry == Symmetry::Skew {
        return Err(lines.error("a 'pattern' file cannot be 'skew-symmetric'"));
    }

    let expected = if sparse { "'rows columns entries'" } else { "'rows columns'" };
    let sizes = loop {
        let Some(line) = lines.next_line()? else {
            return Err(lines.error(format!("the file ends before the line with the sizes, expected {expected}")));
        };
        let start = skip_blanks(&line, 0);
        if start < line.len() && line[start] != b'%' {
            break line;
        }
    };
    let numbers: Option<Vec<u64>> = sizes
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .map(|word| number::integer(word).filter(|&(_, length)| length == word.len()).map(|(value, _)| value))
        .collect();
    let (rows, cols, entries) = match numbers.as_deref() {
        Some(&[rows, cols, entries]) if sparse => (rows, cols, entries),
        Some(&[rows, cols]) if !sparse => (rows, cols, 0),
        _ => return Err(lines.error(format!("expected {expected}, found '{}'", number::excerpt(&sizes)))),
    };
    let (field, path) = (field.to_string(), &lines.path);
    let mut header = Header { sparse, pattern, field, symmetry, rows, cols, entries };
    if symmetry != Symmetry::General && rows != cols {
        return Err(lines.error(format!("a symmetric matrix must be square, found {rows} rows and {cols} columns")));
    }
    if !sparse {
        let Some(full) = rows.checked_mul(cols) else {
            return Err(lines.error(format!("{rows}×{cols} values cannot be held in memory")));
        };
        // n(n + 1)/2 and n(n - 1)/2, without overflow: n² and n are both even or both odd.
        header.entries = match symmetry {
            Symmetry::General => full,
            Symmetry::Symmetric => full / 2 + rows.div_ceil(2),
            Symmetry::Skew => full / 2 - rows / 2,
        };
    }
    let bytes = if sparse { BYTES_PER_ENTRY } else { BYTES_PER_VALUE };
    if lines.most_bytes.is_some_and(|most| header.entries.saturating_sub(1) > most / bytes) {
        return Err(lines.error(format!("the header promises {} entries, more than the file can hold", header.entries)));
    }
    check_shape(path, rows, cols, if sparse { header.entries } else { rows.max(cols) })?;
    Ok(header)
}

/// The values of a dense file, column by column.
fn read_array(lines: &mut Lines, header: &Header, numbers: Numbers) -> Result<Vec<f64>> {
    let expected = header.entries as usize;
    let path = lines.path.clone();
    let mut values: Vec<f64> = if lines.most_bytes.is_some() { assemble::reserve(&path, expected)? } else { vec![] };
    lines.parse_rest(
        |text| parse_values(text, numbers),
        |part, _, lines_before| {
            if let Some(&(_, line)) = part.get(expected - values.len()) {
                let line = lines_before + u64::from(line) + 1;
                return Err(Error::line(&path, line, format!("more values than the {expected} that the header promises")));
            }
            values.extend(part.iter().map(|&(value, _)| value));
            Ok(())
        },
    )?;
    if values.len() != expected {
        return Err(lines.error(format!("the file ends after {} values, the header promises {expected}", values.len())));
    }
    if header.symmetry != Symmetry::General {
        values = unfold(&path, &values, header.rows as usize, header.symmetry)?;
    }
    Ok(values)
}

/// Values with the line, within the block, that each stands on.
fn parse_values(text: &[u8], numbers: Numbers) -> std::result::Result<Vec<(f64, u32)>, BadLine> {
    let mut values = Vec::with_capacity(text.len() / 8);
    let (mut at, mut line) = (0, 0u32);
    loop {
        at = skip_blanks(text, at);
        match text.get(at) {
            None => return Ok(values),
            Some(b'\n') => {
                at += 1;
                line += 1;
            }
            Some(b'%') => at = line_end(text, at),
            Some(_) => {
                let bad = |message| BadLine { line: u64::from(line), message };
                let (value, length) = number::float(&text[at..])
                    .filter(|&(_, length)| is_token_end(text, at + length))
                    .ok_or_else(|| bad(format!("expected a number, found '{}'", number::excerpt(word(text, at)))))?;
                if !numbers.include(value) {
                    return Err(bad(format!("'{}' is not {}", number::excerpt(word(text, at)), numbers.name())));
                }
                values.push((value, line));
                at += length;
            }
        }
    }
}

/// The lower triangle, column by column, to the whole square.
fn unfold(path: &str, lower: &[f64], n: usize, symmetry: Symmetry) -> Result<Vec<f64>> {
    let mut full = assemble::filled(path, n * n, 0.0)?;
    let mut next = lower.iter();
    for j in 0..n {
        let first = if symmetry == Symmetry::Skew { j + 1 } else { j };
        for (i, &value) in (first..n).zip(next.by_ref()) {
            full[j * n + i] = value;
            full[i * n + j] = if symmetry == Symmetry::Skew { -value } else { value };
        }
    }
    Ok(full)
}
