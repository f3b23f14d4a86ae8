//! LIBSVM text: `label index:value index:value ...`, one row per line.

use nonneg::AnyMatrix;
use nonneg::matrix::Index;

use crate::Problem;
use crate::assemble::{self, Entries, check_shape, with_index};
use crate::blocks::{BadLine, Lines, is_token_end, line_end, skip_blanks, word};
use crate::error::{Error, Result};
use crate::number;

/// Bytes of text per entry, about, for the first allocation.
const BYTES_PER_ENTRY: usize = 16;

/// The rows of one block.
#[derive(Default)]
struct Rows {
    labels: Vec<f64>,
    /// Entries of each row.
    lengths: Vec<u32>,
    /// As written: from 0 or from 1 is known at the end of the file only.
    columns: Vec<u32>,
    values: Vec<f64>,
    smallest: Option<u32>,
    largest: u32,
}

pub(crate) fn read(mut lines: Lines) -> Result<Problem> {
    let mut blocks: Vec<Rows> = vec![];
    lines.parse_rest(parse_block, |rows, _, _| {
        blocks.push(rows);
        Ok(())
    })?;
    let path = lines.path.as_str();
    let row_count: usize = blocks.iter().map(|block| block.labels.len()).sum();
    if row_count == 0 {
        return Err(Error::content(path, "holds no rows, expected lines 'label index:value index:value ...'"));
    }
    let Some(smallest) = blocks.iter().filter_map(|block| block.smallest).min() else {
        return Err(Error::content(path, "holds labels only, expected 'index:value' after some of them"));
    };
    let base = u32::from(smallest != 0);
    let largest = blocks.iter().map(|block| block.largest).max().unwrap_or(0);
    let cols = largest as usize + 1 - base as usize;
    let nnz: usize = blocks.iter().map(|block| block.values.len()).sum();
    check_shape(path, row_count as u64, cols as u64, nnz as u64)?;

    let mut rhs = assemble::reserve(path, row_count)?;
    blocks.iter().for_each(|block| rhs.extend_from_slice(&block.labels));
    let matrix = with_index!(row_count, I, to_columns::<I>(path, blocks, row_count, cols, base))?;
    Ok(Problem { matrix, rhs: Some(rhs) })
}

fn to_columns<I: Index>(path: &str, blocks: Vec<Rows>, rows: usize, cols: usize, base: u32) -> Result<AnyMatrix>
where
    AnyMatrix: From<nonneg::CscMatrix<f64, I>>,
{
    let mut row = 0;
    let mut to_entries = |block: Rows| {
        let mut entry_rows = Vec::with_capacity(block.values.len());
        for &length in &block.lengths {
            entry_rows.extend(std::iter::repeat_n(I::from_usize(row), length as usize));
            row += 1;
        }
        let mut columns = block.columns;
        columns.iter_mut().for_each(|column| *column -= base);
        Entries { rows: entry_rows, columns, values: block.values }
    };
    let blocks = blocks.into_iter().map(&mut to_entries).collect();
    assemble::to_columns(path, rows, cols, blocks)
}

fn parse_block(text: &[u8]) -> std::result::Result<Rows, BadLine> {
    let estimate = text.len() / BYTES_PER_ENTRY;
    let mut rows = Rows { columns: Vec::with_capacity(estimate), values: Vec::with_capacity(estimate), ..Rows::default() };
    let mut at = 0;
    let mut line = 0;
    while at < text.len() {
        at = rows.parse_line(text, at).map_err(|message| BadLine { line, message })?;
        line += 1;
    }
    rows.columns.shrink_to_fit();
    rows.values.shrink_to_fit();
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
        if !label.is_finite() || !is_token_end(text, at + length) && text[at + length] != b'#' {
            return Err(bad_label(text, at));
        }
        at += length;

        let first = self.values.len();
        let mut next_allowed = 0u64; // indices increase along a line
        loop {
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
                _ => {}
            }
            let entry = at;
            let (column, length) = number::integer(&text[at..]).ok_or_else(|| bad_entry(text, entry))?;
            at += length;
            if text.get(at) != Some(&b':') {
                return Err(bad_entry(text, entry));
            }
            at += 1;
            let (value, length) = number::float(&text[at..]).ok_or_else(|| bad_entry(text, entry))?;
            at += length;
            if !is_token_end(text, at) && text[at] != b'#' {
                return Err(bad_entry(text, entry));
            }
            if !value.is_finite() {
                return Err(format!("'{}' is not a finite number", show(text, entry)));
            }
            if column < next_allowed {
                return Err(format!(
                    "indices must increase along a line, found '{}' after index {}",
                    show(text, entry),
                    next_allowed - 1
                ));
            }
            next_allowed = column + 1;
            let Ok(column) = u32::try_from(column) else {
                return Err(format!("index {column} is too large, expected at most {}", u32::MAX));
            };
            // The index of a stored zero counts for the number of columns; the zero itself need not be kept.
            self.smallest = Some(self.smallest.map_or(column, |smallest| smallest.min(column)));
            self.largest = self.largest.max(column);
            if value != 0.0 {
                self.columns.push(column);
                self.values.push(value);
            }
        }
        self.labels.push(label);
        self.lengths.push((self.values.len() - first) as u32);
        Ok(at + 1)
    }
}

fn show(text: &[u8], at: usize) -> String {
    number::excerpt(word(text, at))
}

#[cold]
fn bad_entry(text: &[u8], at: usize) -> String {
    format!("expected 'index:value' with an index from 1 (or 0) on, found '{}'", show(text, at))
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
