//! LIBSVM text: `label index:value index:value ...`, one row per line.

use crate::assemble::{self, Batch, Entry, check_shape};
use crate::blocks::{BadLine, Lines, is_token_end, line_end, most_entries, skip_blanks, word};
use crate::error::{Error, Result};
use crate::number;
use crate::{Problem, Shape};

/// The rows of one block.
struct Rows {
    labels: Vec<f64>,
    /// Rows within the block; columns as written: from 0 or from 1 is known at the end of the file only.
    entries: Vec<Entry<f64, u32>>,
    /// The smallest index, `u64::MAX` where there is none.
    smallest: u64,
    /// One above the largest index.
    end: u64,
    /// Entries that are zero: they are not in `entries`.
    zeros: usize,
}

pub(crate) fn read(mut lines: Lines) -> Result<Problem> {
    let mut blocks: Vec<Rows> = vec![];
    lines.parse_rest(parse_block, |rows, _, _| {
        blocks.push(rows);
        Ok(())
    })?;
    let path = lines.path.as_str();
    let row_count: usize = blocks.iter().map(|block| block.labels.len()).sum();
    let smallest = blocks.iter().map(|block| block.smallest).min().unwrap_or(u64::MAX);
    let base = base(path, row_count, smallest)?;
    let cols = (blocks.iter().map(|block| block.end).max().unwrap_or(0) - base) as usize;
    let nnz: usize = blocks.iter().map(|block| block.entries.len()).sum();
    check_shape(path, row_count as u64, cols as u64, nnz as u64)?;

    let mut rhs = assemble::reserve(path, row_count)?;
    let mut batches = Vec::with_capacity(blocks.len());
    for mut block in blocks {
        batches.push(Batch { first_row: rhs.len(), entries: block.entries });
        rhs.append(&mut block.labels);
    }
    let matrix = if u32::try_from(row_count).is_ok() {
        assemble::to_columns(path, row_count, cols, base as usize, batches)?
    } else {
        assemble::to_columns(path, row_count, cols, base as usize, batches.into_iter().map(widen).collect())?
    };
    Ok(Problem { matrix: matrix.into(), rhs: Some(rhs) })
}

/// Counts rows, columns and entries without keeping them.
pub(crate) fn scan(mut lines: Lines) -> Result<Shape> {
    let (mut rows, mut nnz, mut smallest, mut end) = (0, 0, u64::MAX, 0);
    lines.parse_rest(parse_block, |block, _, _| {
        rows += block.labels.len();
        nnz += block.entries.len() + block.zeros;
        smallest = smallest.min(block.smallest);
        end = end.max(block.end);
        Ok(())
    })?;
    let cols = (end - base(&lines.path, rows, smallest)?) as usize;
    Ok(Shape { rows, cols, nnz: Some(nnz), dtype: "real".into(), kind: "csr" })
}

/// The index of the first column: 1, or 0 where the file uses it.
fn base(path: &str, rows: usize, smallest: u64) -> Result<u64> {
    if rows == 0 {
        return Err(Error::content(path, "holds no rows, expected lines 'label index:value index:value ...'"));
    }
    if smallest == u64::MAX {
        return Err(Error::content(path, "holds labels only, expected 'index:value' after some of them"));
    }
    Ok(u64::from(smallest != 0))
}

fn widen(batch: Batch<f64, u32>) -> Batch<f64, u64> {
    let entries = batch.entries.into_iter().map(|(row, column, value)| (u64::from(row), column, value));
    Batch { first_row: batch.first_row, entries: entries.collect() }
}

fn parse_block(text: &[u8]) -> std::result::Result<Rows, BadLine> {
    let mut rows = Rows { labels: vec![], entries: Vec::with_capacity(most_entries(text)), smallest: u64::MAX, end: 0, zeros: 0 };
    let mut at = 0;
    let mut line = 0;
    while at < text.len() {
        at = rows.parse_line(text, at).map_err(|message| BadLine { line, message })?;
        line += 1;
    }
    rows.entries.shrink_to_fit();
    Ok(rows)
}

impl Rows {
    /// Parses the line that starts at `at`; returns where the next one starts.
    #[inline]
    fn parse_line(&mut self, text: &[u8], mut at: usize) -> std::result::Result<usize, String> {
        at = skip_blanks(text, at);
        match text.get(at) {
            None | Some(b'\n') => return Ok(at + 1),
            Some(b'#') => return Ok(line_end(text, at) + 1),
            _ => {}
        }
        let (label, length) = number::float(&text[at..]).ok_or_else(|| bad_label(text, at))?;
        if !label.is_finite() || !ends_entry(text, at + length) {
            return Err(bad_label(text, at));
        }
        at += length;

        let row = self.labels.len() as u32; // a block is smaller than 4 GiB
        let mut next_allowed = 0u64; // indices increase along a line
        loop {
            at += usize::from(text.get(at) == Some(&b' '));
            let (column, length) = match number::short_integer(text, at) {
                Some(found) => found,
                None => {
                    // Not a digit: the end of the line, more blanks, a comment, or an error. Or a very large index.
                    at = skip_blanks(text, at);
                    match text.get(at) {
                        None | Some(b'\n') => break,
                        Some(b'#') => {
                            at = line_end(text, at);
                            break;
                        }
                        Some(b'q') if text[at..].starts_with(b"qid:") => {
                            at += word(text, at).len();
                            continue;
                        }
                        _ => number::integer(&text[at..]).ok_or_else(|| bad_entry(text, at))?,
                    }
                }
            };
            if text.get(at + length) != Some(&b':') {
                return Err(bad_entry(text, at));
            }
            let start = at + length + 1;
            let (value, length) = number::float(&text[start..]).ok_or_else(|| bad_entry(text, at))?;
            if !ends_entry(text, start + length) {
                return Err(bad_entry(text, at));
            }
            if column < next_allowed || column > u64::from(u32::MAX) || !value.is_finite() {
                return Err(refused_entry(text, at, column, value, next_allowed));
            }
            if next_allowed == 0 {
                self.smallest = self.smallest.min(column);
            }
            next_allowed = column + 1;
            // The index of a stored zero counts for the number of columns; the zero itself need not be kept.
            if value != 0.0 {
                self.entries.push((row, column as u32, value));
            } else {
                self.zeros += 1;
            }
            at = start + length;
        }
        self.end = self.end.max(next_allowed);
        self.labels.push(label);
        Ok(at + 1)
    }
}

/// Whether an entry or a label may end at `at`.
#[inline(always)]
fn ends_entry(text: &[u8], at: usize) -> bool {
    is_token_end(text, at) || text[at] == b'#'
}

fn show(text: &[u8], at: usize) -> String {
    number::excerpt(word(text, at))
}

#[cold]
fn bad_entry(text: &[u8], at: usize) -> String {
    format!("expected 'index:value' with an index from 1 (or 0) on, found '{}'", show(text, at))
}

#[cold]
fn refused_entry(text: &[u8], at: usize, column: u64, value: f64, next_allowed: u64) -> String {
    let entry = show(text, at);
    if !value.is_finite() {
        format!("'{entry}' is not a finite number")
    } else if column < next_allowed {
        format!("indices must increase along a line, found '{entry}' after index {}", next_allowed - 1)
    } else {
        format!("index {column} is too large, expected at most {}", u32::MAX)
    }
}

#[cold]
fn bad_label(text: &[u8], at: usize) -> String {
    let found = word(text, at);
    if found.contains(&b',') {
        return format!("several labels '{}' are not supported, expected one number", number::excerpt(found));
    }
    if found.contains(&b':') {
        return format!("expected a label before '{}'", number::excerpt(found));
    }
    format!("expected a finite number as label, found '{}'", number::excerpt(found))
}
