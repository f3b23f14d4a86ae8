//! Sparse Matrix Market files: `row column value` lines, from 1, in any order.

use nonneg::matrix::Index;
use nonneg::{AnyMatrix, CscMatrix};

use super::{Header, Symmetry};
use crate::assemble::{self, Batch, Entry, with_index};
use crate::blocks::{BadLine, Lines, line_end, most_entries, skip_blanks, word};
use crate::error::{Error, Result};
use crate::number;

/// The entries of one block, from 0, mirrored ones included.
struct Block<I> {
    entries: Vec<Entry<f64, I>>,
    /// Entry lines: mirrored entries do not count.
    count: usize,
    /// First lines with an entry below and above the diagonal, in symmetric files.
    below: Option<u64>,
    above: Option<u64>,
}

pub(super) fn read(lines: Lines, header: &Header) -> Result<AnyMatrix> {
    with_index!(header.rows, I, read_indexed::<I>(lines, header))
}

fn read_indexed<I: Index>(mut lines: Lines, header: &Header) -> Result<AnyMatrix>
where
    AnyMatrix: From<CscMatrix<f64, I>>,
{
    let path = lines.path.clone();
    let expected = header.entries;
    let mut seen = 0u64;
    let (mut below, mut above) = (None, None);
    let mut blocks: Vec<Batch<f64, I>> = vec![];
    lines.parse_rest(
        |text| parse_block::<I>(text, header),
        |block, text, lines_before| {
            if seen + block.count as u64 > expected {
                let line = lines_before + line_of_entry(text, (expected - seen) as usize);
                return Err(Error::line(&path, line, format!("more entries than the {expected} that the header promises")));
            }
            seen += block.count as u64;
            below = below.or(block.below.map(|line| lines_before + line + 1));
            above = above.or(block.above.map(|line| lines_before + line + 1));
            if let (Some(below), Some(above)) = (below, above) {
                let message = "entries on both sides of the diagonal in a symmetric file, expected one triangle only";
                return Err(Error::line(&path, below.max(above), message));
            }
            blocks.push(Batch { first_row: 0, entries: block.entries });
            Ok(())
        },
    )?;
    if seen != expected {
        return Err(lines.error(format!("the file ends after {seen} entries, the header promises {expected}")));
    }

    assemble::to_columns(&path, header.rows as usize, header.cols as usize, 0, blocks)
}

fn parse_block<I: Index>(text: &[u8], header: &Header) -> std::result::Result<Block<I>, BadLine> {
    let entries = Vec::with_capacity(most_entries(text));
    let mut block = Block { entries, count: 0, below: None, above: None };
    let (mut at, mut line) = (0, 0);
    while at < text.len() {
        at = block.parse_line(text, at, line, header).map_err(|message| BadLine { line, message })?;
        line += 1;
    }
    block.entries.shrink_to_fit();
    Ok(block)
}

impl<I: Index> Block<I> {
    /// Parses the line that starts at `at`; returns where the next one starts.
    #[inline]
    fn parse_line(&mut self, text: &[u8], at: usize, line: u64, header: &Header) -> std::result::Result<usize, String> {
        let mut at = skip_blanks(text, at);
        match text.get(at) {
            None | Some(b'\n') => return Ok(at + 1),
            Some(b'%') => return Ok(line_end(text, at) + 1),
            _ => {}
        }
        let row = index(text, &mut at, header.rows, "row")?;
        let column = index(text, &mut at, header.cols, "column")?;
        let value = if header.pattern { 1.0 } else { value(text, &mut at)? };
        at = skip_blanks(text, at);
        if !matches!(text.get(at), None | Some(b'\n')) {
            return Err(format!("expected the end of the line, found '{}'", number::excerpt(word(text, at))));
        }
        self.count += 1;
        self.push(row, column, value);
        if header.symmetry != Symmetry::General {
            self.mirror(row, column, value, line, header.symmetry)?;
        }
        Ok(at + 1)
    }

    #[inline(always)]
    fn push(&mut self, row: u64, column: u64, value: f64) {
        self.entries.push((I::from_usize(row as usize), column as u32, value));
    }

    fn mirror(&mut self, row: u64, column: u64, value: f64, line: u64, symmetry: Symmetry) -> std::result::Result<(), String> {
        if row == column {
            if symmetry == Symmetry::Skew && value != 0.0 {
                return Err(format!("a skew-symmetric matrix has zeros on its diagonal, found {value}"));
            }
            return Ok(());
        }
        let side = if row > column { &mut self.below } else { &mut self.above };
        side.get_or_insert(line);
        self.push(column, row, if symmetry == Symmetry::Skew { -value } else { value });
        Ok(())
    }
}

/// An index between 1 and `count`, made to start from 0.
#[inline(always)]
fn index(text: &[u8], at: &mut usize, count: u64, what: &str) -> std::result::Result<u64, String> {
    *at = skip_blanks(text, *at);
    if let Some((index, length)) = number::integer(&text[*at..]) {
        let after = text.get(*at + length);
        if index.wrapping_sub(1) < count && matches!(after, None | Some(b' ' | b'\t' | b'\r' | b'\n')) {
            *at += length;
            return Ok(index - 1);
        }
    }
    Err(bad_token(text, *at, &format!("a {what} index between 1 and {count}")))
}

#[inline(always)]
fn value(text: &[u8], at: &mut usize) -> std::result::Result<f64, String> {
    *at = skip_blanks(text, *at);
    if let Some((value, length)) = number::float(&text[*at..]) {
        let after = text.get(*at + length);
        if value.is_finite() && matches!(after, None | Some(b'\n' | b' ' | b'\t' | b'\r')) {
            *at += length;
            return Ok(value);
        }
    }
    Err(bad_token(text, *at, "a finite number"))
}

#[cold]
fn bad_token(text: &[u8], at: usize, expected: &str) -> String {
    match word(text, at) {
        b"" => format!("expected {expected}, found the end of the line"),
        found => format!("expected {expected}, found '{}'", number::excerpt(found)),
    }
}

/// Line, from 1, of the entry number `which`, from 0.
fn line_of_entry(text: &[u8], which: usize) -> u64 {
    let is_entry = |line: &[u8]| !matches!(line.get(skip_blanks(line, 0)), None | Some(b'%'));
    let lines = text.split(|&b| b == b'\n').enumerate();
    lines.filter(|(_, line)| is_entry(line)).nth(which).map_or(1, |(line, _)| line as u64 + 1)
}
