//! Text in blocks of whole lines, parsed in parallel and put together in order.
//!
//! Blocks are cut by size and line ends alone, so the result does not depend on the number of threads, and the whole
//! text is never in memory.

use std::io::Read;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::input::Text;

/// Bytes in a block. Large enough to hide the cost of handing blocks around, small enough to stay in a cache.
const BLOCK: usize = 1 << 18;
/// Blocks that a thread takes from each batch.
const BLOCKS_PER_THREAD: usize = 16;
/// Bytes read at a time while looking for single lines.
const HEAD: usize = 1 << 14;
/// A longer line is no table but some other kind of file.
const LONGEST_LINE: usize = 1 << 30;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What is wrong with a line; `line` counts from 0 at the start of the block.
#[derive(Debug)]
pub(crate) struct BadLine {
    pub line: u64,
    pub message: String,
}

/// Lines of a text, handed out one by one or in blocks.
pub(crate) struct Lines<'a> {
    pub path: String,
    pub most_bytes: Option<u64>,
    reader: Box<dyn Read + Send + 'a>,
    /// Bytes read and not handed out.
    pending: Vec<u8>,
    at_end: bool,
    started: bool,
    /// Lines handed out.
    pub line: u64,
    spare: Vec<Vec<u8>>,
}

impl<'a> Lines<'a> {
    pub fn new(text: Text<'a>) -> Self {
        let Text { path, reader, most_bytes } = text;
        Lines { path, most_bytes, reader, pending: vec![], at_end: false, started: false, line: 0, spare: vec![] }
    }

    /// An error about the line handed out last.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::line(&self.path, self.line.max(1), message)
    }

    /// The first bytes, to guess what follows.
    pub fn head(&mut self) -> Result<&[u8]> {
        self.fill(HEAD)?;
        Ok(&self.pending)
    }

    /// The next line without its end; `None` after the last.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>> {
        let mut searched = 0;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.pending[searched..]) {
                let mut line: Vec<u8> = self.pending.drain(..=searched + at).collect();
                line.pop();
                return Ok(Some(self.hand_out(line)));
            }
            searched = self.pending.len();
            self.fill(searched + HEAD)?;
            if self.pending.len() == searched {
                let line = std::mem::take(&mut self.pending);
                return Ok(if line.is_empty() { None } else { Some(self.hand_out(line)) });
            }
        }
    }

    fn hand_out(&mut self, mut line: Vec<u8>) -> Vec<u8> {
        self.line += 1;
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        line
    }

    /// Puts a line back in front: the reader of the rows wants to see it too.
    pub fn give_back(&mut self, line: Vec<u8>) {
        self.line -= 1;
        self.pending.splice(..0, line.into_iter().chain([b'\n']));
    }

    /// Whole lines, about [`BLOCK`] bytes; `None` after the last.
    fn next_block(&mut self) -> Result<Option<Vec<u8>>> {
        let mut searched = 0;
        let mut want = BLOCK;
        let cut = loop {
            self.fill(want)?;
            if let Some(at) = memchr::memrchr(b'\n', &self.pending[searched..]) {
                break searched + at + 1;
            }
            if self.at_end {
                break self.pending.len();
            }
            searched = self.pending.len();
            want = searched * 2;
        };
        if cut == 0 {
            return Ok(None);
        }
        let mut rest = self.spare.pop().unwrap_or_default();
        rest.clear();
        rest.extend_from_slice(&self.pending[cut..]);
        let mut block = std::mem::replace(&mut self.pending, rest);
        block.truncate(cut);
        Ok(Some(block))
    }

    /// Up to `count` blocks.
    fn next_blocks(&mut self, count: usize) -> Result<Vec<Vec<u8>>> {
        let mut blocks = Vec::with_capacity(count);
        while blocks.len() < count {
            match self.next_block()? {
                Some(block) => blocks.push(block),
                None => break,
            }
        }
        Ok(blocks)
    }

    /// Reads until `want` bytes are pending or the text ends.
    fn fill(&mut self, want: usize) -> Result<()> {
        if want > LONGEST_LINE {
            return Err(Error::line(&self.path, self.line + 1, "the line is longer than 1 GiB, expected a text file with lines"));
        }
        let mut filled = self.pending.len();
        if want > filled && !self.at_end {
            self.pending.resize(want, 0);
            while filled < want && !self.at_end {
                match self.reader.read(&mut self.pending[filled..]) {
                    Ok(0) => self.at_end = true,
                    Ok(count) => filled += count,
                    Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(e) => return Err(Error::io(&self.path, "read", e)),
                }
            }
            self.pending.truncate(filled);
        }
        if !self.started {
            self.started = true;
            if self.pending.starts_with(BYTE_ORDER_MARK) {
                self.pending.drain(..BYTE_ORDER_MARK.len());
            }
        }
        Ok(())
    }

    /// Parses the rest block by block, in parallel, and hands the results over in order, with the text of each block
    /// and the number of lines before it. While one batch is parsed the next is read.
    pub fn parse_rest<T: Send>(
        &mut self,
        parse: impl Fn(&[u8]) -> std::result::Result<T, BadLine> + Sync,
        mut accept: impl FnMut(T, &[u8], u64) -> Result<()>,
    ) -> Result<()> {
        // Several blocks for each thread, so that one slow block does not leave the others waiting for long.
        let per_batch = match rayon::current_num_threads() {
            1 => 1,
            threads => threads * BLOCKS_PER_THREAD,
        };
        let mut lines_before = self.line;
        let mut batch = self.next_blocks(per_batch)?;
        while !batch.is_empty() {
            let (parsed, next) = if per_batch == 1 {
                // A single thread is not woken for every block.
                (vec![parse(&batch[0])], self.next_blocks(1))
            } else {
                rayon::join(|| batch.par_iter().map(|block| parse(block)).collect(), || self.next_blocks(per_batch))
            };
            // An error in this batch comes before one met while reading on.
            for (result, block) in parsed.into_iter().zip(&batch) {
                match result {
                    Ok(value) => accept(value, block, lines_before)?,
                    Err(bad) => return Err(Error::line(&self.path, lines_before + bad.line + 1, bad.message)),
                }
                lines_before += memchr::memchr_iter(b'\n', block).count() as u64;
                if block.last() != Some(&b'\n') {
                    lines_before += 1;
                }
            }
            self.line = lines_before;
            self.spare.append(&mut batch);
            batch = next?;
        }
        Ok(())
    }
}

/// Room to make for the entries of a block: each has four bytes or more (`1 1` or `1:2`, and a blank or line end). One
/// line may be far longer than a block should be; then the room grows as needed.
pub(crate) fn most_entries(text: &[u8]) -> usize {
    text.len().min(BLOCK) / 4 + 1
}

/// Position of the end of the line that `at` is in: its `\n`, or the end of the text.
#[inline]
pub(crate) fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |found| at + found)
}

/// The word at `at`, for a message.
pub(crate) fn word(text: &[u8], at: usize) -> &[u8] {
    let rest = &text[at.min(text.len())..];
    let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    &rest[..end]
}

/// Skips blanks within a line.
#[inline(always)]
pub(crate) fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\r')) {
        at += 1;
    }
    at
}

/// Whether a token may end at `at`.
#[inline(always)]
pub(crate) fn is_token_end(text: &[u8], at: usize) -> bool {
    matches!(text.get(at), None | Some(b' ' | b'\n' | b'\t' | b'\r'))
}
