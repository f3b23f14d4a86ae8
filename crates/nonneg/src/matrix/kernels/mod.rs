//! The inner loops, all in one place: each states its equation.
//!
//! The sparse ones skip bounds checks, because checking an index costs as much as using it. Each has a
//! safe twin in this file's tests that it must match bit for bit.

use super::{Index, Value};

mod coordinate;
mod dense;
mod lazy;

pub use coordinate::{Lanes, Quadratic, TOGETHER, add_gradient, coordinate_sweep};
pub use dense::{
    add_columns, axpy, axpy_four, bounded_distance, bounded_square, clear_below, dense_add, dense_bounded_dot, dense_dot,
    dense_positive_dot, dot_four, extremes, rotate, write_scaled,
};
pub use lazy::{RowMove, RowState, Rows};
pub(super) use lazy::{dense_extrapolated_dot, dense_move_rows, sparse_extrapolated_dot, sparse_move_rows};

/// aᵀy, four partial sums.
///
/// # Safety
/// Every index is below `y.len()`, and `idx` and `values` have the same length.
#[inline]
pub unsafe fn sparse_dot<T: Value, I: Index>(idx: &[I], values: &[T], y: &[f64]) -> f64 {
    let term = |k: usize| {
        // SAFETY: k < len in `four_sums`; indices are in range by the caller's promise.
        unsafe { values.get_unchecked(k).to_f64() * *y.get_unchecked(idx.get_unchecked(k).to_usize()) }
    };
    four_sums(values.len(), term)
}

/// Σ term(k) over k < len with four partial sums: breaks the dependency chain of additions.
#[inline(always)]
fn four_sums(len: usize, term: impl Fn(usize) -> f64) -> f64 {
    let mut sums = [0.0f64; 4];
    let mut k = 0;
    while k + 4 <= len {
        for lane in 0..4 {
            sums[lane] += term(k + lane);
        }
        k += 4;
    }
    while k < len {
        sums[0] += term(k);
        k += 1;
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// y += α(σa).
///
/// # Safety
/// Every index is below `y.len()`, and `idx` and `values` have the same length.
#[inline]
pub unsafe fn sparse_add<T: Value, I: Index>(idx: &[I], values: &[T], scale: f64, alpha: f64, y: &mut [f64]) {
    for (i, v) in idx.iter().zip(values) {
        // SAFETY: in range by the caller's promise.
        unsafe { *y.get_unchecked_mut(i.to_usize()) += alpha * (v.to_f64() * scale) };
    }
}

/// Entries of a sparse column ahead of those that are read for which the memory system is asked in passes over all of A: the hardware
/// follows a stream only to the end of a page.
const ENTRIES_AHEAD: usize = 256;

/// Asks for entries ahead of entry k, once for every eight; where the column ends first, for those of the next one, mostly.
#[inline(always)]
fn ask_ahead<T, I>(idx: &[I], values: &[T], k: usize) {
    if k.is_multiple_of(8) {
        prefetch_at(idx.as_ptr().wrapping_add(k + ENTRIES_AHEAD));
        prefetch_at(values.as_ptr().wrapping_add(k + ENTRIES_AHEAD));
    }
}

/// A sum with what is needed to bound its error: |value − exact| ≤ [`GAMMA`]·magnitude, barring underflow.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BoundedSum {
    /// The computed sum.
    pub value: f64,
    /// The sum of absolute values, rounded up.
    pub magnitude: f64,
}

impl BoundedSum {
    /// What the exact sum can differ by.
    pub fn error(self) -> f64 {
        GAMMA * self.magnitude
    }

    /// The same in another unit, a power of two.
    pub fn scaled(self, scale: f64) -> Self {
        Self { value: self.value * scale, magnitude: self.magnitude * scale }
    }

    /// Of terms that are not negative: their sum tells their magnitude.
    fn of_positive(value: f64) -> Self {
        Self { value, magnitude: value * (1.0 + 1e-6) }
    }
}

/// The error of [`bounded_sum`] relative to the sum of absolute terms, for any number of terms.
///
/// With u = 2⁻⁵³: forming a term costs at most 4 roundings (scaling a value is exact, the vector may itself carry
/// two roundings, one product and one to spare), a lane of a chunk at most 15 additions, joining the lanes 3, and the
/// compensated sum over chunks 1 more: 23u, rounded up to 32u. Second-order terms are below the slack.
pub const GAMMA: f64 = 32.0 * (f64::EPSILON / 2.0);

const CHUNK: usize = 64;
const LANES: usize = 8;

#[inline(always)]
fn join(s: [f64; LANES]) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// Σ term(k) over k < len: chunks of 64 in eight lanes, chunk sums added with compensation (Knuth's two-sum),
/// so that the error does not grow with the number of terms.
#[inline(always)]
pub fn bounded_sum(len: usize, term: impl Fn(usize) -> f64) -> BoundedSum {
    let (mut high, mut low, mut magnitude) = (0.0f64, 0.0f64, 0.0f64);
    let mut start = 0;
    while start < len {
        let end = (start + CHUNK).min(len);
        let (mut sums, mut sizes) = ([0.0f64; LANES], [0.0f64; LANES]);
        let mut k = start;
        while k + LANES <= end {
            let values: [f64; LANES] = std::array::from_fn(|lane| term(k + lane));
            for lane in 0..LANES {
                sums[lane] += values[lane];
            }
            for lane in 0..LANES {
                sizes[lane] += values[lane].abs();
            }
            k += LANES;
        }
        while k < end {
            let value = term(k);
            sums[0] += value;
            sizes[0] += value.abs();
            k += 1;
        }
        low += add_exactly(&mut high, join(sums));
        // Joined in another order than the sums: the compiler would pair each sum with its size and lose the vectors.
        magnitude += sizes.iter().sum::<f64>();
        start = end;
    }
    // Plain addition of magnitudes may round down, by far less than this factor.
    BoundedSum { value: high + low, magnitude: magnitude * (1.0 + 1e-6) }
}

/// sum += v, and what that rounds off (Knuth's two-sum).
#[inline(always)]
fn add_exactly(sum: &mut f64, v: f64) -> f64 {
    let total = *sum + v;
    let virtual_v = total - *sum;
    let error = (*sum - (total - virtual_v)) + (v - virtual_v);
    *sum = total;
    error
}

/// [`bounded_sum`] of terms that are not negative.
#[inline(always)]
fn positive_sum(len: usize, term: impl Fn(usize) -> f64) -> BoundedSum {
    let (mut high, mut low) = (0.0f64, 0.0f64);
    let mut start = 0;
    while start < len {
        let end = (start + CHUNK).min(len);
        let mut sums = [0.0f64; LANES];
        let mut k = start;
        while k + LANES <= end {
            for lane in 0..LANES {
                sums[lane] += term(k + lane);
            }
            k += LANES;
        }
        while k < end {
            sums[0] += term(k);
            k += 1;
        }
        low += add_exactly(&mut high, join(sums));
        start = end;
    }
    BoundedSum::of_positive(high + low)
}

/// Σ ay with its error, where neither a nor y has a negative entry.
///
/// # Safety
/// Every index is below `y.len()`, and `idx` and `values` have the same length.
#[inline]
pub unsafe fn sparse_positive_dot<T: Value, I: Index>(idx: &[I], values: &[T], y: &[f64]) -> BoundedSum {
    positive_sum(values.len(), |k| {
        ask_ahead(idx, values, k);
        // SAFETY: k < len in `positive_sum`; indices are in range by the caller's promise.
        unsafe { values.get_unchecked(k).to_f64() * *y.get_unchecked(idx.get_unchecked(k).to_usize()) }
    })
}

/// Σ (aσ)y with its error, σ a power of two.
///
/// # Safety
/// Every index is below `y.len()`, and `idx` and `values` have the same length.
#[inline]
pub unsafe fn sparse_bounded_dot<T: Value, I: Index>(idx: &[I], values: &[T], scale: f64, y: &[f64]) -> BoundedSum {
    bounded_sum(values.len(), |k| {
        ask_ahead(idx, values, k);
        // SAFETY: k < len in `bounded_sum`; indices are in range by the caller's promise.
        unsafe { (values.get_unchecked(k).to_f64() * scale) * *y.get_unchecked(idx.get_unchecked(k).to_usize()) }
    })
}

/// How large and how small the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extremes {
    /// The largest |a|, or 0.
    pub largest: f64,
    /// The least |a| that is not 0, or ∞.
    pub smallest: f64,
    /// Whether some a is below 0.
    pub negative: bool,
}

/// Asks for the cache line that holds `target`.
#[inline(always)]
pub fn prefetch<T>(target: &T) {
    prefetch_at(target);
}

/// Asks for the cache line at an address. A hint: it never faults, wherever that is, and changes no result.
#[inline(always)]
fn prefetch_at<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch has no effect on memory or registers, and ignores addresses that are not mapped.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Bytes ahead of what is read of a full column for which the memory system is asked: the hardware follows a stream only to the end
/// of a page, and where A has outgrown the second-level cache that halves the rate.
const BYTES_AHEAD: usize = 4096;

/// Asks for what lies so far ahead of some values.
#[inline(always)]
fn ask_ahead_of<T>(values: &[T]) {
    const LINE: usize = 64;
    for line in (0..size_of_val(values)).step_by(LINE) {
        prefetch_at(values.as_ptr().wrapping_byte_add(BYTES_AHEAD + line));
    }
}

/// Asks for the first cache lines of a slice; where there are more, the hardware has seen the pattern by then.
#[inline(always)]
pub fn prefetch_slice<T>(slice: &[T]) {
    const LINE: usize = 64;
    const MAX_LINES: usize = 16;
    let per_line = (LINE / size_of::<T>()).max(1);
    for element in slice.iter().step_by(per_line).take(MAX_LINES) {
        prefetch(element);
    }
}

/// Collects into memory that the system is asked to back with large pages: an array that is read at random costs a walk
/// through the page tables for almost every element otherwise, once it is larger than some megabytes.
pub fn collect_in_large_pages<T>(len: usize, element: impl FnMut(usize) -> T) -> Vec<T> {
    let mut values: Vec<T> = Vec::with_capacity(len);
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 1 << 21;
        let start = values.as_ptr().addr();
        let inside = start.next_multiple_of(PAGE)..(start + values.capacity() * size_of::<T>()) / PAGE * PAGE;
        if !inside.is_empty() {
            // SAFETY: the range lies within our own allocation; the advice changes how it is backed, not what it holds.
            // A refusal is no error: the memory then stays as it is.
            unsafe { libc::madvise(values.as_mut_ptr().with_addr(inside.start).cast(), inside.len(), libc::MADV_HUGEPAGE) };
        }
    }
    values.extend((0..len).map(element));
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deterministic numbers in [−1, 1).
    pub(super) fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    /// A sparse column of every third row, with its values in f32 or f64 and its indices in u32 or u64.
    pub(super) fn column<T: Value, I: Index>(len: usize) -> (Vec<I>, Vec<T>) {
        ((0..len).map(|k| I::from_usize(3 * k)).collect(), numbers(len, 9).into_iter().map(T::from_f64).collect())
    }

    /// The same four partial sums, with every access checked.
    pub(super) fn safe_four_sums(terms: &[f64]) -> f64 {
        let mut sums = [0.0; 4];
        let whole = terms.len() / 4 * 4;
        for (k, term) in terms.iter().enumerate() {
            sums[if k < whole { k % 4 } else { 0 }] += term;
        }
        (sums[0] + sums[2]) + (sums[1] + sums[3])
    }

    fn unchecked_kernels_match_safe_twins<T: Value, I: Index>() {
        for len in [0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 200] {
            let (idx, values) = column::<T, I>(len);
            let rows = 3 * len + 1;
            let y = numbers(rows, 2);
            let at = |k: usize| idx[k].to_usize();
            let value = |k: usize| values[k].to_f64();

            // SAFETY: indices are 3k < rows.
            let dot = unsafe { sparse_dot(&idx, &values, &y) };
            let terms: Vec<f64> = (0..len).map(|k| value(k) * y[at(k)]).collect();
            assert_eq!(dot.to_bits(), safe_four_sums(&terms).to_bits());

            let (mut fast, mut safe) = (y.clone(), y.clone());
            // SAFETY: as above.
            unsafe { sparse_add(&idx, &values, 0.5, 0.37, &mut fast) };
            (0..len).for_each(|k| safe[at(k)] += 0.37 * (value(k) * 0.5));
            assert_eq!(fast, safe);

            let sizes: Vec<f64> = y.iter().map(|v| v.abs()).collect();
            let positive: Vec<T> = values.iter().map(|v| T::from_f64(v.to_f64().abs())).collect();
            // SAFETY: as above.
            let sum = unsafe { sparse_positive_dot(&idx, &positive, &sizes) };
            let twin = bounded_sum(len, |k| positive[k].to_f64() * sizes[at(k)]);
            assert_eq!(sum.value.to_bits(), twin.value.to_bits());
            assert!(sum.magnitude >= twin.magnitude * (1.0 - 1e-9));
        }
    }

    #[test]
    fn unchecked_kernels_match_their_safe_twins_bit_for_bit() {
        unchecked_kernels_match_safe_twins::<f64, u32>();
        unchecked_kernels_match_safe_twins::<f32, u32>();
        unchecked_kernels_match_safe_twins::<f64, u64>();
        unchecked_kernels_match_safe_twins::<f32, u64>();
    }

    /// Terms of mixed size and sign whose sum is known exactly: 2^k and −2^k in pairs, and a remainder.
    #[test]
    fn the_error_of_a_bounded_sum_is_bounded() {
        for len in [0usize, 1, 63, 64, 65, 1000, 100_000] {
            let terms: Vec<f64> = numbers(len, 11).iter().enumerate().map(|(k, v)| v * 2f64.powi((k % 40) as i32 - 20)).collect();
            let sum = bounded_sum(len, |k| terms[k]);
            // A reference with error far below the bound: twice-compensated summation.
            let (mut high, mut low, mut lowest, mut size) = (0.0f64, 0.0f64, 0.0f64, 0.0);
            let two_sum = |a: f64, b: f64| {
                let s = a + b;
                let v = s - a;
                (s, (a - (s - v)) + (b - v))
            };
            for &term in &terms {
                let (sum, error) = two_sum(high, term);
                let (carried, rest) = two_sum(low, error);
                (high, low) = (sum, carried);
                lowest += rest;
                size += term.abs();
            }
            let exact = high + (low + lowest);
            assert!((sum.value - exact).abs() <= sum.error());
            assert!(sum.magnitude >= size * (1.0 - 1e-9));
        }
    }
}
