//! Full passes, parallel over columns. The split of work depends on the matrix alone, never on the number
//! of threads, so that results are the same bits on every machine.

use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::{Column, Columns};

/// Entries worth handing to another thread, which takes as long to wake as some ten thousand of them.
const ENTRIES_PER_TASK: usize = 1 << 16;

/// How many of `count` things that take `work` multiply-adds together should stay with one thread: all, where there is but
/// one, so that it need not be woken. Changes no bit of any result.
pub fn per_task(count: usize, work: usize) -> usize {
    if rayon::current_num_threads() == 1 {
        return usize::MAX;
    }
    (ENTRIES_PER_TASK.saturating_mul(count) / work.max(1)).max(1)
}

/// Who hears of passes.
static LISTENER: OnceLock<fn(Range<usize>)> = OnceLock::new();

/// From now on, in all of this process, `hear` is told the addresses of what has just been looked at of a matrix, a column or so at a
/// time and from any thread. The pages of a mapped file can go again then. Only the first call counts.
pub fn listen_to_passes(hear: fn(Range<usize>)) {
    let _ = LISTENER.set(hear);
}

/// All of these have been looked at.
#[inline]
pub(crate) fn tell<T>(values: &[T]) {
    if let Some(hear) = LISTENER.get() {
        let Range { start, end } = values.as_ptr_range();
        hear(start.addr()..end.addr());
    }
}

/// Values that are looked at before anybody is told.
const PART: usize = 1 << 16;

/// The first value that is wrong. Parts without one are looked at without a way out on the way: several values at a time.
pub(crate) fn position<T>(values: &[T], wrong: impl Fn(&T) -> bool) -> Option<usize> {
    let some_wrong = |part: &[T]| {
        tell(part);
        part.iter().fold(false, |found, value| found | wrong(value))
    };
    let part = values.chunks(PART).position(some_wrong)?;
    values[part * PART..].iter().position(wrong).map(|place| part * PART + place)
}

/// `f(j)` for every column, in parallel.
pub fn for_columns<M: Columns, R: Send>(a: &M, f: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    let told = |j: usize| {
        let result = f(j);
        a.column(j).tell();
        result
    };
    (0..a.cols()).into_par_iter().with_min_len(per_task(a.cols(), a.nnz())).map(told).collect()
}

/// `f(j)` for some columns, in parallel.
pub fn for_some_columns<M: Columns, R: Send>(a: &M, columns: &[usize], f: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    for_each_column(a, columns, |k| f(columns[k]))
}

/// `f(k)` for every k, in parallel, where it looks at column `columns[k]`.
pub fn for_each_column<M: Columns, R: Send>(a: &M, columns: &[usize], f: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    let told = |(k, &j): (usize, &usize)| {
        let result = f(k);
        a.column(j).tell();
        result
    };
    columns.par_iter().enumerate().with_min_len(per_task(a.cols(), a.nnz())).map(told).collect()
}

/// Aᵀy.
pub fn multiply_transposed<M: Columns>(a: &M, y: &[f64]) -> Vec<f64> {
    for_columns(a, |j| a.column(j).dot(y))
}

/// Ax over `columns` variables: `x(k)` gives the column, the power of two that it is multiplied by, and its factor; a
/// column with factor zero is skipped.
///
/// The columns are cut into a few parts of equal work, each with its own result vector, added up in order.
pub fn multiply<M: Columns>(a: &M, columns: usize, x: impl Fn(usize) -> (usize, f64, f64) + Sync) -> Vec<f64> {
    let m = a.rows();
    let work: usize = (0..columns).map(&x).filter(|&(_, _, v)| v != 0.0).map(|(j, _, _)| a.column_len(j)).sum();
    let parts = (work / (4 * m.max(1))).clamp(1, MAX_PARTS);
    if parts == 1 {
        let mut y = vec![0.0; m];
        add_columns(a, 0..columns, &x, &mut y);
        return y;
    }
    let mut ends = Vec::with_capacity(parts);
    let mut done = 0;
    for k in 0..columns {
        let (j, _, v) = x(k);
        if v != 0.0 {
            done += a.column_len(j);
        }
        if done * parts >= work * (ends.len() + 1) && ends.len() + 1 < parts {
            ends.push(k + 1);
        }
    }
    ends.push(columns);
    // The parts are those of the matrix; whether it is worth waking a thread for them changes no bit.
    let partial: Vec<Vec<f64>> = (0..ends.len())
        .into_par_iter()
        .with_min_len(per_task(ends.len(), work))
        .map(|part| {
            let mut y = vec![0.0; m];
            let start = if part == 0 { 0 } else { ends[part - 1] };
            add_columns(a, start..ends[part], &x, &mut y);
            y
        })
        .collect();
    let (first, rest) = partial.split_first().expect("at least one part");
    let mut y = first.clone();
    y.par_chunks_mut(CHUNK).enumerate().with_min_len(per_task(m.div_ceil(CHUNK), m * rest.len())).for_each(|(chunk, out)| {
        for part in rest {
            for (value, add) in out.iter_mut().zip(&part[chunk * CHUNK..]) {
                *value += add;
            }
        }
    });
    y
}

/// Rows that are added up at a time.
const CHUNK: usize = 4096;

/// Upper limit on the parts of [`multiply`]: bounds its memory, and enters the certificate's rounding analysis.
pub const MAX_PARTS: usize = 16;

fn add_columns<M: Columns>(a: &M, range: std::ops::Range<usize>, x: &impl Fn(usize) -> (usize, f64, f64), y: &mut [f64]) {
    for k in range {
        let (j, scale, v) = x(k);
        if v != 0.0 {
            let column = a.column(j);
            column.add_to(scale, v, y);
            column.tell();
        }
    }
}
