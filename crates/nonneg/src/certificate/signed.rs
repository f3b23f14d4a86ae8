//! Bounds for signed A, where cⱼ/Lⱼ bounds nothing.
//!
//! * Full column rank: ‖Ax*‖ ≤ ‖b‖, so every x*ⱼ ≤ ‖b‖/√λ with 0 < λ ≤ λ_min(AᵀWA). λ is proved by a Cholesky
//!   factorisation of the shifted Gram matrix (Rump 2006): if it runs through in floating point, then
//!   λ_min(G − sI) ≥ −Σⱼ γⱼ₊₁/(1 − γⱼ₊₁)·(G − sI)ⱼⱼ.
//! * Otherwise, a direction t = 1 with Aᵀt > 0 shifts y until Aᵀy ≥ c, where one exists.

use rayon::prelude::*;

use super::facts::{ColumnFacts, Facts};
use super::sums::{UNIT, up};
use crate::matrix::kernels::{GAMMA, bounded_sum};
use crate::matrix::{Column, Columns, for_columns};

/// Beyond this many columns the n²/2 products of the Gram matrix cost more than they are worth.
const MAX_COLUMNS: usize = 500;

/// Some X ≥ max x*ⱼ in scaled units, if A has full column rank and that can be proved, with the multiply-adds spent.
pub fn rank_bound<M: Columns>(a: &M, facts: &Facts) -> (Option<f64>, u64) {
    let n = a.cols();
    if n > MAX_COLUMNS || facts.columns.iter().any(|column| column.empty || column.underflow || column.overflow) {
        return (None, 0);
    }
    let work = n as u64 * a.nnz() as u64 / 2;
    let gram = gram_matrix(a, facts);
    // Each entry is off by at most γ‖Aᵢ‖‖Aⱼ‖, so the matrix by at most γ·trace in norm.
    let trace = up((0..n).map(|j| gram[j * n + j]).sum::<f64>());
    let gram_error = 2.0 * GAMMA * trace;
    let factor_error = (n + 2) as f64 * UNIT * 1.01 * trace;
    let floor = 4.0 * (gram_error + factor_error);
    // The largest power of two below the mean eigenvalue that the factorisation accepts.
    let mean = trace / n as f64;
    let shift = |halvings: i32| mean * 0.5f64.powi(halvings);
    let accepted = first_true(60, |k| cholesky_runs_through(&gram, n, shift(k))).map(shift).filter(|&shift| shift > floor);
    let Some(accepted) = accepted else { return (None, work) };
    let least = accepted - gram_error - factor_error;
    let bound = match &facts.rhs {
        Some(b) => {
            let square = bounded_sum(b.len(), |i| facts.weights.as_ref().map_or(1.0, |w| w[i]) * b[i] * b[i]);
            up(up(square.value + square.error()).sqrt() / least.sqrt())
        }
        None => {
            // f(x*) ≤ 0 gives ½λ‖x*‖² ≤ cᵀx* ≤ ‖c⁺‖‖x*‖.
            let square = bounded_sum(n, |j| facts.columns[j].high.max(0.0).powi(2));
            up(2.0 * up(square.value + square.error()).sqrt() / least)
        }
    };
    (bound.is_finite().then_some(bound), work)
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

/// G = ÃᵀWÃ, column after column, both triangles.
fn gram_matrix<M: Columns>(a: &M, facts: &Facts) -> Vec<f64> {
    let (m, n) = (a.rows(), a.cols());
    let columns: Vec<Vec<f64>> = (0..n)
        .into_par_iter()
        .map_init(
            || vec![0.0; m],
            |spread, i| {
                let scale = facts.columns[i].scale();
                let weight = |row: usize| facts.weights.as_ref().map_or(1.0, |w| w[row]);
                a.column(i).for_each(|row, v| spread[row] = v * scale * weight(row));
                let product = |j: usize| {
                    let scale = facts.columns[j].scale();
                    a.column(j).bounded_sum(|row, v| (v * scale) * spread[row]).value
                };
                let column = (0..=i).map(product).collect();
                a.column(i).for_each(|row, _| spread[row] = 0.0);
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
