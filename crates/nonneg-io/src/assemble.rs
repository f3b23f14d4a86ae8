//! From entries in any order to compressed columns, and the limits on what a header may claim.

use std::ops::Range;

use nonneg::matrix::{Index, Value};
use nonneg::{AnyMatrix, CscMatrix};
use rayon::prelude::*;

use crate::error::{Error, Result};

/// A matrix may have this many columns (each costs a pointer) ...
const COLUMNS_FOR_FREE: u64 = 1 << 27;
/// ... or this many rows (each costs the solver a few numbers) ...
const ROWS_FOR_FREE: u64 = 1 << 33;
/// ... or this many per stored entry: beyond that nearly all would be empty and the header is more likely wrong.
const EMPTY_PER_ENTRY: u64 = 64;

/// Refuses shapes that would make us allocate far more than the file holds.
pub(crate) fn check_shape(path: &str, rows: u64, cols: u64, nnz: u64) -> Result<()> {
    let allowance = nnz.saturating_mul(EMPTY_PER_ENTRY);
    let cols_limit = COLUMNS_FOR_FREE.saturating_add(allowance).min(u64::from(u32::MAX));
    let rows_limit = ROWS_FOR_FREE.saturating_add(allowance);
    for (what, count, limit) in [("rows", rows, rows_limit), ("columns", cols, cols_limit)] {
        if count > limit || usize::try_from(count).is_err() {
            return Err(Error::content(
                path,
                format!("{count} {what} for {nnz} entries is not plausible, expected at most {limit} {what}"),
            ));
        }
    }
    Ok(())
}

/// An empty vector with room for `count` elements, or an error instead of an abort.
pub(crate) fn reserve<T>(path: &str, count: usize) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(count).map_err(|_| {
        let gib = count as f64 * size_of::<T>() as f64 / (1u64 << 30) as f64;
        Error::content(path, format!("needs {gib:.1} GiB of memory for one array, which is not available"))
    })?;
    Ok(vec)
}

/// `count` copies of `value`, or an error instead of an abort.
pub(crate) fn filled<T: Clone>(path: &str, count: usize, value: T) -> Result<Vec<T>> {
    let mut vec = reserve(path, count)?;
    vec.resize(count, value);
    Ok(vec)
}

/// Entries `(row, column, value)` in any order, from 0 and in range: three arrays of one length.
pub(crate) struct Entries<T, I> {
    pub rows: Vec<I>,
    pub columns: Vec<u32>,
    pub values: Vec<T>,
}

/// Entries per part of the columns, about: what is written at a time should fit a cache.
const PART: usize = 1 << 16;
/// Parts are numbered in one byte.
const MOST_PARTS: usize = 256;

/// The matrix with the entries of all blocks: sorted, duplicates summed in the order of the blocks, everything checked.
///
/// Placing entries one by one all over a large matrix would miss the cache each time. So every block is first split
/// by parts of the columns, then each part is filled from all blocks.
pub(crate) fn to_columns<T, I>(path: &str, rows: usize, cols: usize, blocks: Vec<Entries<T, I>>) -> Result<AnyMatrix>
where
    T: Value,
    I: Index,
    AnyMatrix: From<CscMatrix<T, I>>,
{
    let mut ptr = filled(path, cols + 1, 0usize)?;
    for block in &blocks {
        block.columns.iter().for_each(|&j| ptr[j as usize + 1] += 1);
    }
    for j in 0..cols {
        ptr[j + 1] += ptr[j];
    }
    let nnz = ptr[cols];
    let (part_of, parts) = cut_columns(path, &ptr)?;
    let blocks: Vec<_> = blocks.into_par_iter().map(|block| block.split(&part_of, parts.len())).collect();

    let mut row_idx = filled(path, nnz, I::from_usize(0))?;
    let mut values = filled(path, nnz, T::from_f64(0.0))?;
    let (mut idx_rest, mut values_rest) = (row_idx.as_mut_slice(), values.as_mut_slice());
    let mut tasks = Vec::with_capacity(parts.len());
    for (number, part) in parts.iter().enumerate() {
        let count = ptr[part.end] - ptr[part.start];
        let (idx, values);
        (idx, idx_rest) = idx_rest.split_at_mut(count);
        (values, values_rest) = values_rest.split_at_mut(count);
        tasks.push((number, part, idx, values));
    }
    tasks.into_par_iter().for_each(|(number, part, idx, values)| {
        let mut next: Vec<usize> = ptr[part.clone()].iter().map(|start| start - ptr[part.start]).collect();
        for (entries, starts) in &blocks {
            for e in starts[number]..starts[number + 1] {
                let slot = &mut next[entries.columns[e] as usize - part.start];
                idx[*slot] = entries.rows[e];
                values[*slot] = entries.values[e];
                *slot += 1;
            }
        }
    });
    drop(blocks);
    let matrix = CscMatrix::new(rows, cols, ptr, row_idx, values);
    matrix.map(AnyMatrix::from).map_err(|e| Error::content(path, e.to_string()))
}

/// Cuts the columns into parts with about equally many entries; also the part that each column is in.
fn cut_columns(path: &str, ptr: &[usize]) -> Result<(Vec<u8>, Vec<Range<usize>>)> {
    let cols = ptr.len() - 1;
    let wanted = (ptr[cols] / PART).clamp(1, MOST_PARTS);
    let mut part_of = filled(path, cols, 0u8)?;
    let mut parts = vec![];
    let mut start = 0;
    for j in 0..cols {
        part_of[j] = parts.len() as u8;
        let last = parts.len() + 1 == wanted;
        if !last && (ptr[j + 1] as u128 * wanted as u128) >= ptr[cols] as u128 * (parts.len() + 1) as u128 {
            parts.push(start..j + 1);
            start = j + 1;
        }
    }
    parts.push(start..cols);
    Ok((part_of, parts))
}

impl<T: Value, I: Index> Entries<T, I> {
    /// Sorts by part, otherwise in the same order; also where each part starts.
    fn split(self, part_of: &[u8], parts: usize) -> (Self, Vec<usize>) {
        let mut starts = vec![0; parts + 1];
        let mut sorted = true;
        let mut previous = 0;
        for &j in &self.columns {
            let part = part_of[j as usize];
            starts[part as usize + 1] += 1;
            sorted &= part >= previous;
            previous = part;
        }
        for part in 0..parts {
            starts[part + 1] += starts[part];
        }
        if sorted {
            return (self, starts);
        }
        let mut next = starts.clone();
        let mut rows = vec![I::from_usize(0); self.rows.len()];
        let mut columns = vec![0; self.columns.len()];
        let mut values = vec![T::from_f64(0.0); self.values.len()];
        for ((&row, &column), &value) in self.rows.iter().zip(&self.columns).zip(&self.values) {
            let slot = &mut next[part_of[column as usize] as usize];
            rows[*slot] = row;
            columns[*slot] = column;
            values[*slot] = value;
            *slot += 1;
        }
        (Entries { rows, columns, values }, starts)
    }
}

/// Runs `$body` with `$index` standing for the narrowest index type that holds `$rows`.
macro_rules! with_index {
    ($rows:expr, $index:ident, $body:expr) => {
        if u32::try_from($rows).is_ok() {
            type $index = u32;
            $body
        } else {
            type $index = u64;
            $body
        }
    };
}
pub(crate) use with_index;
