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
    make_room(path, &mut vec, count)?;
    Ok(vec)
}

/// Room for `more` elements, or an error instead of an abort.
pub(crate) fn make_room<T>(path: &str, vec: &mut Vec<T>, more: usize) -> Result<()> {
    vec.try_reserve_exact(more).map_err(|_| {
        let gib = (vec.len() as f64 + more as f64) * size_of::<T>() as f64 / (1u64 << 30) as f64;
        Error::content(path, format!("needs {gib:.1} GiB of memory for one array, which is not available"))
    })
}

/// `count` zeros, or an error instead of an abort. Fresh memory is zero already and is not touched here.
pub(crate) fn filled<T: Clone>(path: &str, count: usize, zero: T) -> Result<Vec<T>> {
    std::hint::black_box(reserve::<T>(path, count)?); // to see that there is room
    Ok(vec![zero; count])
}

/// `(row, column, value)`.
pub(crate) type Entry<T, I> = (I, u32, T);

/// Entries in any order, in range.
pub(crate) struct Batch<T, I> {
    /// To be added to every row.
    pub first_row: usize,
    pub entries: Vec<Entry<T, I>>,
}

/// Entries per part of the columns, about: what is written at a time should fit a cache.
const PART: usize = 1 << 17;
/// Entries in a piece of a part: large enough that the allocator gives them back to the system.
pub(crate) const PIECE: usize = 1 << 13;
/// Parts are numbered in one byte.
const MOST_PARTS: usize = 256;

/// The matrix with the entries of all batches: sorted, duplicates summed in the order given, everything checked.
/// The first `skip` columns are empty and left out.
///
/// Placing entries one by one all over a large matrix would miss the cache each time. So they are first dealt out to
/// parts of the columns, then each part is filled. Memory is used again or given back as it goes.
pub(crate) fn to_columns<T, I>(path: &str, rows: usize, cols: usize, skip: usize, batches: Vec<Batch<T, I>>) -> Result<AnyMatrix>
where
    T: Value,
    I: Index,
    AnyMatrix: From<CscMatrix<T, I>>,
{
    let mut ptr = filled(path, skip + cols + 1, 0usize)?;
    for batch in &batches {
        batch.entries.iter().for_each(|&(_, j, _)| ptr[j as usize + 1] += 1);
    }
    for j in 0..skip + cols {
        ptr[j + 1] += ptr[j];
    }
    let nnz = ptr[skip + cols];
    let (part_of, parts) = cut_columns(path, &ptr)?;
    let groups = in_groups(batches, rayon::current_num_threads());
    let dealt: Vec<_> = groups.into_par_iter().map(|group| deal(group, &part_of, parts.len())).collect();

    let mut row_idx = filled(path, nnz, I::from_usize(0))?;
    let mut values = filled(path, nnz, T::from_f64(0.0))?;
    let (mut idx_rest, mut values_rest) = (row_idx.as_mut_slice(), values.as_mut_slice());
    let mut dealt: Vec<_> = dealt.into_iter().map(Vec::into_iter).collect();
    let mut tasks = Vec::with_capacity(parts.len());
    for part in parts {
        let count = ptr[part.end] - ptr[part.start];
        let (idx, values);
        (idx, idx_rest) = idx_rest.split_at_mut(count);
        (values, values_rest) = values_rest.split_at_mut(count);
        let pieces: Vec<_> = dealt.iter_mut().filter_map(Iterator::next).flatten().collect();
        tasks.push((part, pieces, idx, values));
    }
    tasks.into_par_iter().for_each(|(part, pieces, idx, values)| {
        let mut next: Vec<usize> = ptr[part.clone()].iter().map(|start| start - ptr[part.start]).collect();
        for piece in pieces {
            for (row, column, value) in piece {
                let slot = &mut next[column as usize - part.start];
                idx[*slot] = row;
                values[*slot] = value;
                *slot += 1;
            }
        }
    });
    ptr.drain(..skip);
    let matrix = CscMatrix::new(rows, cols, ptr, row_idx, values);
    matrix.map(AnyMatrix::from).map_err(|e| Error::content(path, e.to_string()))
}

/// At most `count` runs of neighbours.
fn in_groups<E>(batches: Vec<E>, count: usize) -> Vec<Vec<E>> {
    let size = batches.len().div_ceil(count).max(1);
    let mut batches = batches.into_iter();
    let groups = std::iter::repeat_with(|| batches.by_ref().take(size).collect::<Vec<E>>());
    groups.take_while(|group| !group.is_empty()).collect()
}

/// Entries by part of the columns, otherwise in the same order; each part in several pieces.
fn deal<T: Value, I: Index>(batches: Vec<Batch<T, I>>, part_of: &[u8], parts: usize) -> Vec<Vec<Vec<Entry<T, I>>>> {
    let mut dealt: Vec<Vec<Vec<Entry<T, I>>>> = (0..parts).map(|_| vec![]).collect();
    let mut open: Vec<Vec<Entry<T, I>>> = (0..parts).map(|_| vec![]).collect();
    let mut emptied: Vec<Vec<Entry<T, I>>> = vec![];
    for Batch { first_row, mut entries } in batches {
        for &(row, column, value) in &entries {
            let part = part_of[column as usize] as usize;
            if open[part].len() == open[part].capacity() {
                // Fresh memory costs more than the dealing: use that of the batches dealt before.
                let next = emptied.pop().unwrap_or_else(|| Vec::with_capacity(PIECE));
                dealt[part].push(std::mem::replace(&mut open[part], next));
            }
            open[part].push((I::from_usize(first_row + row.to_usize()), column, value));
        }
        entries.clear();
        if entries.capacity() != 0 {
            emptied.push(entries);
        }
    }
    dealt.iter_mut().zip(open).for_each(|(pieces, last)| pieces.push(last));
    dealt
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
