//! The rows of lazy SI-NNLS+: what a step reads and what it writes.

use super::dense::wide;
use super::four_sums;
use crate::matrix::{Index, Value};

/// q and s of one row. With row weights w all row vectors are stored multiplied by w, so that a dot product needs none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C, align(16))]
pub struct RowState {
    /// q = Ax, for the current x.
    pub ax: f64,
    /// s, with y = q + s/A_k the image of the average x̃.
    pub drift: f64,
}

/// t of one row: what the last move changed. It counts only while `stamp` names the last step, so that nothing has to
/// be cleared.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C, align(16))]
pub struct RowMove {
    /// t, the last move's contribution to q.
    pub change: f64,
    /// The step that wrote it.
    pub stamp: u64,
}

/// All rows. Most steps follow one that moved nothing and read only `state`: four rows to a cache line.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// q and s.
    pub state: Vec<RowState>,
    /// t.
    pub moves: Vec<RowMove>,
}

impl Rows {
    /// Number of rows; both vectors have this length.
    pub fn len(&self) -> usize {
        assert_eq!(self.state.len(), self.moves.len());
        self.state.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[inline(always)]
fn point(state: &RowState, alpha: f64) -> f64 {
    state.ax + alpha * state.drift
}

#[inline(always)]
fn extrapolated(state: &RowState, moved: &RowMove, alpha: f64, beta: f64, recent: u64) -> f64 {
    let change = if moved.stamp == recent { moved.change } else { 0.0 };
    point(state, alpha) + beta * change
}

/// Σ aᵢ(qᵢ + αsᵢ + βtᵢ), with tᵢ only on rows stamped `recent`; without `recent`, t is zero everywhere.
///
/// # Safety
/// Every index is below `rows.len()`, and `idx` and `values` have the same length.
#[inline]
pub unsafe fn sparse_extrapolated_dot<T: Value, I: Index>(
    idx: &[I],
    values: &[T],
    rows: &Rows,
    alpha: f64,
    beta: f64,
    recent: Option<u64>,
) -> f64 {
    let (states, moves) = (rows.state.as_slice(), rows.moves.as_slice());
    match recent {
        None => four_sums(values.len(), |k| {
            // SAFETY: k < len in `four_sums`; indices are in range by the caller's promise.
            unsafe { values.get_unchecked(k).to_f64() * point(states.get_unchecked(idx.get_unchecked(k).to_usize()), alpha) }
        }),
        Some(recent) => four_sums(values.len(), |k| {
            // SAFETY: as above; `moves` is as long as `states`.
            unsafe {
                let i = idx.get_unchecked(k).to_usize();
                let value = extrapolated(states.get_unchecked(i), moves.get_unchecked(i), alpha, beta, recent);
                values.get_unchecked(k).to_f64() * value
            }
        }),
    }
}

wide! {
    /// The dense twin of [`sparse_extrapolated_dot`].
    fn dense_extrapolated_dot<T: Value>(values: &[T], rows: &Rows, alpha: f64, beta: f64, recent: Option<u64>) -> f64 {
        assert_eq!(values.len(), rows.len());
        let (states, moves) = (&rows.state[..values.len()], &rows.moves[..values.len()]);
        match recent {
            None => four_sums(values.len(), |k| values[k].to_f64() * point(&states[k], alpha)),
            Some(recent) => {
                four_sums(values.len(), |k| values[k].to_f64() * extrapolated(&states[k], &moves[k], alpha, beta, recent))
            }
        }
    }

    /// The dense twin of [`sparse_move_rows`].
    fn dense_move_rows<T: Value>(values: &[T], rows: &mut Rows, weights: Option<&[f64]>, delta: f64, omega: f64, now: u64) {
        assert_eq!(values.len(), rows.len());
        assert!(weights.is_none_or(|w| w.len() == values.len()));
        for (i, ((state, moved), v)) in rows.state.iter_mut().zip(&mut rows.moves).zip(values).enumerate() {
            let weight = weights.map_or(1.0, |w| w[i]);
            move_row(state, moved, delta * v.to_f64() * weight, omega, now);
        }
    }
}

/// t = δa (times w), q += t, s += ωt; a row that this step has already written accumulates t.
#[inline(always)]
fn move_row(state: &mut RowState, moved: &mut RowMove, change: f64, omega: f64, now: u64) {
    state.ax += change;
    state.drift += omega * change;
    moved.change = if moved.stamp == now { moved.change + change } else { change };
    moved.stamp = now;
}

/// The lazy update of the rows of one column that moved by δ.
///
/// # Safety
/// Every index is below `rows.len()`, and below `weights.len()` where there are weights; `idx` and `values`
/// have the same length.
#[inline]
pub unsafe fn sparse_move_rows<T: Value, I: Index>(
    idx: &[I],
    values: &[T],
    rows: &mut Rows,
    weights: Option<&[f64]>,
    delta: f64,
    omega: f64,
    now: u64,
) {
    let (states, moves) = (rows.state.as_mut_slice(), rows.moves.as_mut_slice());
    for (i, v) in idx.iter().zip(values) {
        let i = i.to_usize();
        // SAFETY: in range by the caller's promise; `moves` is as long as `states`.
        unsafe {
            let weight = weights.map_or(1.0, |w| *w.get_unchecked(i));
            move_row(states.get_unchecked_mut(i), moves.get_unchecked_mut(i), delta * v.to_f64() * weight, omega, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{column, numbers, safe_four_sums};
    use super::*;

    fn rows(count: usize) -> Rows {
        Rows {
            state: numbers(count, 5).into_iter().map(|v| RowState { ax: v, drift: -0.3 * v }).collect(),
            moves: (0..count).map(|k| RowMove { change: 0.7 * k as f64, stamp: k as u64 % 3 }).collect(),
        }
    }

    fn unchecked_kernels_match_safe_twins<T: Value, I: Index>() {
        for len in [0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 200] {
            let (idx, values) = column::<T, I>(len);
            let rows = rows(3 * len + 1);
            let at = |k: usize| idx[k].to_usize();
            let value = |k: usize| values[k].to_f64();
            for recent in [None, Some(1)] {
                // SAFETY: indices are 3k < rows.
                let fast = unsafe { sparse_extrapolated_dot(&idx, &values, &rows, 0.2, 1.7, recent) };
                let point = |i: usize| {
                    let plain = rows.state[i].ax + 0.2 * rows.state[i].drift;
                    let change = if recent == Some(rows.moves[i].stamp) { rows.moves[i].change } else { 0.0 };
                    if recent.is_some() { plain + 1.7 * change } else { plain }
                };
                let terms: Vec<f64> = (0..len).map(|k| value(k) * point(at(k))).collect();
                assert_eq!(fast.to_bits(), safe_four_sums(&terms).to_bits());
            }
            for weights in [None, Some(numbers(rows.len(), 4))] {
                let (mut fast, mut safe) = (rows.clone(), rows.clone());
                // SAFETY: indices are 3k < rows; the weights have one element per row.
                unsafe { sparse_move_rows(&idx, &values, &mut fast, weights.as_deref(), 0.9, -1.3, 2) };
                for k in 0..len {
                    let change = 0.9 * value(k) * weights.as_ref().map_or(1.0, |w| w[at(k)]);
                    let (state, moved) = (&mut safe.state[at(k)], &mut safe.moves[at(k)]);
                    state.ax += change;
                    state.drift += -1.3 * change;
                    *moved = RowMove { change: if moved.stamp == 2 { moved.change + change } else { change }, stamp: 2 };
                }
                assert_eq!(fast, safe);
            }
        }
    }

    #[test]
    fn unchecked_kernels_match_their_safe_twins_bit_for_bit() {
        unchecked_kernels_match_safe_twins::<f64, u32>();
        unchecked_kernels_match_safe_twins::<f32, u32>();
        unchecked_kernels_match_safe_twins::<f64, u64>();
        unchecked_kernels_match_safe_twins::<f32, u64>();
    }

    #[test]
    fn dense_kernels_match_the_sparse_ones() {
        for len in [1, 4, 9, 130] {
            let values = numbers(len, 3);
            let idx: Vec<u32> = (0..len as u32).collect();
            let rows = rows(len);
            for recent in [None, Some(1)] {
                // SAFETY: the indices are 0..len.
                let sparse = unsafe { sparse_extrapolated_dot(&idx, &values, &rows, 0.2, 1.7, recent) };
                assert_eq!(dense_extrapolated_dot(&values, &rows, 0.2, 1.7, recent), sparse);
            }
            for weights in [None, Some(numbers(len, 6))] {
                let (mut dense, mut sparse) = (rows.clone(), rows.clone());
                dense_move_rows(&values, &mut dense, weights.as_deref(), 0.4, 2.0, 7);
                // SAFETY: the indices are 0..len.
                unsafe { sparse_move_rows(&idx, &values, &mut sparse, weights.as_deref(), 0.4, 2.0, 7) };
                assert_eq!(dense, sparse);
            }
        }
    }
}
