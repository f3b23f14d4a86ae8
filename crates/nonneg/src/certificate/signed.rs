//! Bounds for signed A, where cⱼ/Lⱼ bounds nothing.
//!
//! * Full column rank: ‖Ax*‖ ≤ ‖b‖, so every x*ⱼ ≤ ‖b‖/√λ with 0 < λ ≤ λ_min(AᵀWA). λ is proved by a Cholesky
//!   factorisation of the shifted Gram matrix (Rump 2006): if it runs through in floating point, then
//!   λ_min(G − sI) ≥ −Σⱼ γⱼ₊₁/(1 − γⱼ₊₁)·(G − sI)ⱼⱼ.
//! * A direction t with A:ⱼᵀt > 0 for every column: Σ (A:ⱼᵀt)x*ⱼ = tᵀAx* ≤ ‖t‖‖Ax*‖. One exists unless some x ≥ 0 other than
//!   zero has Ax = 0, and then nothing bounds x*. Free columns, on which it should be zero, need full rank among themselves.
//! * Otherwise, a direction t = 1 with Aᵀt > 0 shifts y until Aᵀy ≥ c, where one exists.

use rayon::prelude::*;

use super::facts::{ColumnFacts, Facts};
use super::sums::{UNIT, down, up};
use crate::matrix::kernels::{GAMMA, bounded_sum};
use crate::matrix::{Column, Columns, for_columns};
use crate::problem::LeastSquares;
use crate::scaling::{ldexp, power_of_two};

/// Beyond this many columns the n²/2 products of the Gram matrix cost more than they are worth.
const MAX_COLUMNS: usize = 500;

/// Some X ≥ max |x*ⱼ| in scaled units, if A has full column rank and that can be proved, with the multiply-adds spent.
pub fn rank_bound<M: Columns>(a: &M, facts: &Facts) -> (Option<f64>, u64) {
    let all: Vec<usize> = (0..a.cols()).collect();
    let (least, work) = least_eigenvalue(a, facts, &all);
    let bound = |least: f64| match rhs_norm(facts) {
        Some(norm) => up(norm / least.sqrt()),
        None => {
            // f(x*) ≤ 0 gives ½λ‖x*‖² ≤ cᵀx* ≤ ‖c⁺‖‖x*‖.
            let square = bounded_sum(a.cols(), |j| facts.columns[j].high.max(0.0).powi(2));
            up(2.0 * up(square.value + square.error()).sqrt() / least)
        }
    };
    (least.map(bound).filter(|bound| bound.is_finite()), work)
}

/// ‖b‖_W, rounded up, in scaled units, with all that b may be off by.
pub fn rhs_norm(facts: &Facts) -> Option<f64> {
    facts.rhs.as_ref().map(|b| up(norm(facts, b) + ldexp(facts.shift_error, -facts.units.norm())))
}

/// ‖v‖_W, rounded up.
fn norm(facts: &Facts, v: &[f64]) -> f64 {
    let square = bounded_sum(v.len(), |i| facts.weights.as_ref().map_or(1.0, |w| w[i]) * v[i] * v[i]);
    up(up(square.value + square.error() + v.len() as f64 * power_of_two(-1000)).sqrt())
}

/// Some X ≥ max |x*ⱼ| in scaled units, if the direction t (with one element per row) shows one.
pub fn direction_bound<M: Columns>(a: &M, facts: &Facts, problem: &LeastSquares, t: Vec<f64>) -> (Option<f64>, u64) {
    let length = norm(facts, &t);
    let weighted = facts.weigh(t);
    let side = |j: usize| Side::of(facts, problem, j);
    let product = |j: usize| {
        let (sum, error) = weighted.product(a.column(j), &facts.columns[j]);
        match side(j) {
            Side::Nowhere => 0.0,
            Side::Up => sum.value - error,
            Side::Down => -sum.value - error,
            Side::Both => sum.value.abs() + error,
        }
    };
    let products = for_columns(a, product);
    let mut work = a.nnz() as u64;
    // Over the columns that are not free: the largest ‖A:ⱼ‖/|A:ⱼᵀt|, 1/|A:ⱼᵀt| and |cⱼ|/|A:ⱼᵀt|.
    let (mut per_norm, mut per_unit, mut per_gain) = (0.0f64, 0.0f64, 0.0f64);
    let (mut free, mut free_products) = (Vec::new(), 0.0);
    for (j, column) in facts.columns.iter().enumerate() {
        let gain = match side(j) {
            Side::Nowhere => continue,
            _ if column.empty => return (None, work),
            Side::Both => {
                free.push(j);
                free_products += products[j];
                continue;
            }
            Side::Up => column.high,
            Side::Down => -column.low,
        };
        if products[j].is_nan() || products[j] <= 0.0 {
            return (None, work);
        }
        per_norm = per_norm.max(up(up((column.norm * (1.0 + 2.0 * GAMMA)).sqrt()) / products[j]));
        per_unit = per_unit.max(up(1.0 / products[j]));
        per_gain = per_gain.max(up(gain.max(0.0) / products[j]));
    }
    // ‖Ax*‖: with b at most 2‖b‖, since x = 0 is no better; with c, ½‖Ax*‖² ≤ cᵀx* ≤ max(cⱼ/A:ⱼᵀt)·tᵀAx*.
    let image = match rhs_norm(facts) {
        Some(norm) => 2.0 * norm,
        None if free.is_empty() => up(2.0 * per_gain * length),
        None => return (None, work),
    };
    let (mut sum, mut farthest_free) = (up(length * image), 0.0);
    if !sum.is_finite() {
        return (None, work); // numbers beyond the range of f64 in rows that no column with a gain touches
    }
    if !free.is_empty() {
        let (least, spent) = least_eigenvalue(a, facts, &free);
        work += spent;
        let Some(least) = least else { return (None, work) };
        // S = Σ |A:ⱼᵀt|x*ⱼ over the columns that are not free, z* on those that are: |z*| ≤ (‖Ax*‖ + max(‖A:ⱼ‖/|A:ⱼᵀt|)·S)/√λ and
        // S ≤ ‖t‖‖Ax*‖ + max|z*|·Σ|A:ⱼᵀt|.
        let root = down(least.sqrt());
        let share = up(1.01 * free_products / root);
        let feedback = up(share * per_norm);
        if feedback.is_nan() || feedback > 0.5 {
            return (None, work);
        }
        sum = up(2.0 * up(sum + up(share * image)));
        farthest_free = up(up(image + up(per_norm * sum)) / root);
    }
    let farthest = up(per_unit * sum);
    let found = farthest.is_finite() && farthest_free.is_finite();
    (found.then_some(farthest.max(farthest_free)), work)
}

/// Which ways x may go from its origin.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Nowhere,
    Up,
    Down,
    Both,
}

impl Side {
    /// A column without entries and without gain goes nowhere.
    fn of(facts: &Facts, problem: &LeastSquares, j: usize) -> Self {
        let column = &facts.columns[j];
        let idle = column.empty && column.high <= 0.0;
        match (facts.upper(problem, j) > 0.0 && !idle, problem.below(j) > 0.0 && !(column.empty && column.low >= 0.0)) {
            (false, false) => Self::Nowhere,
            (true, false) => Self::Up,
            (false, true) => Self::Down,
            (true, true) => Self::Both,
        }
    }
}

/// Some λ with 0 < λ ≤ λ_min(AᵀWA) over these columns, if that can be proved, and the multiply-adds spent.
fn least_eigenvalue<M: Columns>(a: &M, facts: &Facts, columns: &[usize]) -> (Option<f64>, u64) {
    let n = columns.len();
    let unfit = |&j: &usize| facts.columns[j].empty || facts.columns[j].overflow;
    if n > MAX_COLUMNS || columns.iter().any(unfit) {
        return (None, 0);
    }
    let work = n as u64 * columns.iter().map(|&j| a.column_len(j) as u64).sum::<u64>() / 2;
    let gram = gram_matrix(a, facts, columns);
    // Each entry is off by at most γ‖Aᵢ‖‖Aⱼ‖, so the matrix by at most γ·trace in norm; and by what underflowed.
    let trace = up((0..n).map(|j| gram[j * n + j]).sum::<f64>());
    let gram_error = 2.0 * GAMMA * trace + (n * a.rows()) as f64 * power_of_two(-1000);
    (proved_least_eigenvalue(&gram, n, gram_error), work)
}

/// Some λ with 0 < λ ≤ λ_min(G) for a G that is off by at most `gram_error` in norm, if that can be proved.
pub fn proved_least_eigenvalue(gram: &[f64], n: usize, gram_error: f64) -> Option<f64> {
    let trace = up((0..n).map(|j| gram[j * n + j]).sum::<f64>());
    let factor_error = (n + 2) as f64 * UNIT * 1.01 * trace;
    let floor = 4.0 * (gram_error + factor_error);
    // The largest power of two below the mean eigenvalue that the factorisation accepts.
    let mean = trace / n as f64;
    let shift = |halvings: i32| mean * 0.5f64.powi(halvings);
    let accepted = first_true(60, |k| cholesky_runs_through(gram, n, shift(k))).map(shift).filter(|&shift| shift > floor);
    accepted.map(|accepted| down(accepted - gram_error - factor_error))
}

/// The least k < limit with `holds(k)`, for a property that keeps holding once it does.
fn first_true(limit: i32, holds: impl Fn(i32) -> bool) -> Option<i32> {
    let (mut low, mut high) = (0, limit);
    while low < high {
        let middle = (low + high) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    (low < limit).then_some(low)
}

/// G = ÃᵀWÃ over these columns, column after column, both triangles.
fn gram_matrix<M: Columns>(a: &M, facts: &Facts, columns: &[usize]) -> Vec<f64> {
    let (m, n) = (a.rows(), columns.len());
    let at = columns;
    let columns: Vec<Vec<f64>> = (0..n)
        .into_par_iter()
        .map_init(
            || vec![0.0; m],
            |spread, i| {
                let scale = facts.columns[at[i]].scale();
                let weight = |row: usize| facts.weights.as_ref().map_or(1.0, |w| w[row]);
                a.column(at[i]).for_each(|row, v| spread[row] = v * scale * weight(row));
                let product = |j: usize| {
                    let scale = facts.columns[at[j]].scale();
                    a.column(at[j]).bounded_sum(|row, v| (v * scale) * spread[row]).value
                };
                let column = (0..=i).map(product).collect();
                a.column(at[i]).for_each(|row, _| spread[row] = 0.0);
                column
            },
        )
        .collect();
    let mut gram = vec![0.0; n * n];
    for (i, column) in columns.iter().enumerate() {
        for (j, &value) in column.iter().enumerate() {
            gram[i * n + j] = value;
            gram[j * n + i] = value;
        }
    }
    gram
}

/// Whether LLᵀ = G − shift·I exists in floating point.
fn cholesky_runs_through(gram: &[f64], n: usize, shift: f64) -> bool {
    let mut factor = gram.to_vec(); // row i holds L's row i
    for i in 0..n {
        for j in 0..=i {
            let diagonal = if i == j { shift } else { 0.0 };
            let (row_i, row_j) = (&factor[i * n..i * n + j], &factor[j * n..j * n + j]);
            let sum: f64 = row_i.iter().zip(row_j).map(|(a, b)| a * b).sum();
            let value = factor[i * n + j] - diagonal - sum;
            factor[i * n + j] = if i == j {
                if value.is_nan() || value <= 0.0 {
                    return false;
                }
                value.sqrt()
            } else {
                value / factor[j * n + j]
            };
        }
    }
    true
}

/// Lower bounds on ÃᵀW1, where all of them are positive.
pub fn positive_column_sums<M: Columns>(a: &M, facts: &Facts) -> Option<Vec<f64>> {
    let sum = |j: usize| {
        let column: &ColumnFacts = &facts.columns[j];
        let scale = column.scale();
        let sum = a.column(j).bounded_sum(|i, v| (v * scale) * facts.weights.as_ref().map_or(1.0, |w| w[i]));
        if column.underflow || column.overflow { 0.0 } else { sum.value - sum.error() }
    };
    let sums = for_columns(a, sum);
    sums.iter().all(|&s| s > 0.0).then_some(sums)
}
