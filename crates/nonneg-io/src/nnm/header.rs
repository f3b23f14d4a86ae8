//! The first 256 bytes.
//!
//! ```text
//!   0  magic             16  m, n, nnz: u64            40  digests of pointers, b, rows, values: u64
//!   8  version: u32      12  flags: u32                72  zeros          248  digest of what is before it
//! ```

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};

pub const SIZE: usize = 256;
const VERSION: u32 = 1;

/// Cannot be text, and does not survive tools that take it for text.
const MAGIC: [u8; 8] = *b"\x93NNM\r\n\x1a\n";

/// Where arrays begin.
const ALIGNMENT: u64 = 64;

const SPARSE: u32 = 1;
const SINGLE: u32 = 2;
const WIDE: u32 = 4;
const HAS_RHS: u32 = 8;

const END: usize = SIZE - 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Dense,
    Sparse,
}

/// The arrays, in the order of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Array {
    Pointers,
    Rhs,
    Indices,
    Values,
}

impl Array {
    pub const ALL: [Self; 4] = [Self::Pointers, Self::Rhs, Self::Indices, Self::Values];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pointers => "column pointers",
            Self::Rhs => "numbers of b",
            Self::Indices => "row indices",
            Self::Values => "values",
        }
    }
}

/// What is in the file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub rows: usize,
    pub cols: usize,
    pub nnz: usize,
    pub kind: Kind,
    /// Values are f32.
    pub single: bool,
    /// Row indices are u64.
    pub wide: bool,
    pub has_rhs: bool,
    pub digests: [u64; 4],
    /// Bytes of each array; they follow from what is above.
    pub places: [Range<usize>; 4],
}

/// Bytes of each array, or `None` where they cannot be counted.
fn places(rows: usize, cols: usize, nnz: usize, flags: u32) -> Option<[Range<usize>; 4]> {
    let sparse = flags & SPARSE != 0;
    let index = if flags & WIDE == 0 { 4 } else { 8 };
    let value = if flags & SINGLE == 0 { 8 } else { 4 };
    let counts = [
        (if sparse { cols as u64 + 1 } else { 0 }, 8),
        (if flags & HAS_RHS == 0 { 0 } else { rows as u64 }, 8),
        (if sparse { nnz as u64 } else { 0 }, index),
        (nnz as u64, value),
    ];
    let mut end = SIZE as u64;
    let mut places = [const { 0..0 }; 4];
    for (place, (count, size)) in places.iter_mut().zip(counts) {
        let start = end.checked_next_multiple_of(ALIGNMENT)?;
        end = start.checked_add(count.checked_mul(size)?)?;
        *place = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
    }
    Some(places)
}

impl Header {
    /// For a file that is to be written; digests follow.
    pub fn new(
        path: &str,
        (rows, cols, nnz): (usize, usize, usize),
        kind: Kind,
        types: (bool, bool),
        has_rhs: bool,
    ) -> Result<Self> {
        let (single, wide) = types;
        let mut header = Self { rows, cols, nnz, kind, single, wide, has_rhs, digests: [0; 4], places: [const { 0..0 }; 4] };
        let places = places(rows, cols, nnz, header.flags());
        header.places = places.ok_or_else(|| Error::content(path, "the matrix is too large for a file"))?;
        Ok(header)
    }

    fn flags(&self) -> u32 {
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        flag(self.kind == Kind::Sparse, SPARSE) | flag(self.single, SINGLE) | flag(self.wide, WIDE) | flag(self.has_rhs, HAS_RHS)
    }

    pub fn to_bytes(&self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.flags().to_le_bytes());
        let numbers = [self.rows as u64, self.cols as u64, self.nnz as u64].into_iter().chain(self.digests);
        for (place, number) in bytes[16..].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let digest = xxh3_64(&bytes[..END]);
        bytes[END..].copy_from_slice(&digest.to_le_bytes());
        bytes
    }

    /// From the bytes of a whole file.
    pub fn parse(path: &str, file: &[u8]) -> Result<Self> {
        let wrong = |message: String| Err(Error::content(path, message));
        let Some(bytes) = file.first_chunk::<SIZE>().filter(|bytes| bytes[..8] == MAGIC) else {
            return wrong("is not an .nnm file, expected it to start with \\x93NNM".into());
        };
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|k| bytes[at + k]));
        let short = |at: usize| u32::from_le_bytes(std::array::from_fn(|k| bytes[at + k]));
        if short(8) != VERSION {
            return wrong(format!("is of version {}, expected {VERSION}: it was written by another version of nonneg", short(8)));
        }
        let flags = short(12);
        let size = |at: usize| usize::try_from(number(at)).unwrap_or(usize::MAX);
        let (rows, cols, nnz) = (size(16), size(24), size(32));
        let kind = if flags & SPARSE == 0 { Kind::Dense } else { Kind::Sparse };
        let known = flags < 2 * HAS_RHS && (kind == Kind::Sparse || flags & WIDE == 0);
        let full = kind == Kind::Sparse || rows.checked_mul(cols) == Some(nnz);
        if xxh3_64(&bytes[..END]) != number(END) || !known || !full {
            return wrong("the header is damaged: it does not match its digest".into());
        }
        let Some(places) = places(rows, cols, nnz, flags) else {
            return wrong(format!("the header is damaged: {rows}×{cols} with {nnz} entries fit into no file"));
        };
        let expected = places[Array::Values as usize].end;
        if file.len() != expected {
            let what = if file.len() < expected { "the file is cut short" } else { "there is something after the matrix" };
            return wrong(format!("{what}: expected {expected} bytes, found {}", file.len()));
        }
        let digests = [40, 48, 56, 64].map(number);
        let (single, wide, has_rhs) = (flags & SINGLE != 0, flags & WIDE != 0, flags & HAS_RHS != 0);
        Ok(Self { rows, cols, nnz, kind, single, wide, has_rhs, digests, places })
    }
}
