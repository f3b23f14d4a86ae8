//! What all right-hand sides share: A in units that make its columns of order one, and its Gram matrix.
//!
//! Units are powers of two, as in the [certificate](crate::certificate): column j is multiplied by 2^`exponent[j]`, the weights
//! by 2^−`weight`. Where x has a sum, all columns have the same unit and x̃ = x.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::ManyLeastSquares;
use crate::certificate::{UNIT, proved_least_eigenvalue, weight_exponent};
use crate::matrix::kernels::{GAMMA, axpy, dense_dot};
use crate::matrix::{Column, Columns, CscMatrix, CscView};
use crate::prepared::Problem;
use crate::scaling::{ldexp, power_of_two};

/// Entries of a dense copy of A, for each stored one, up to which the copy pays: its products are much faster.
const DENSE: usize = 8;

/// Columns of G that are made by one task.
const TILE: usize = 64;

/// Columns up to which the least eigenvalue of G is looked for, where A is signed.
const EIGENVALUE: usize = 500;

/// A and G, in scaled units.
pub struct Shared {
    pub rows: usize,
    pub cols: usize,
    pub exponent: Vec<i32>,
    /// Exponent of the unit of the weights.
    pub weight: i32,
    pub weights: Option<Vec<f64>>,
    /// λ₂ in the caller's units.
    l2: f64,
    scaled: Scaled,
    /// AᵀWA + λ₂I, column after column.
    gram: Vec<f64>,
    /// Gⱼⱼ.
    diagonal: Vec<f64>,
    /// √Gⱼⱼ, rounded up.
    pub root: Vec<f64>,
    /// Some entry of A is negative.
    pub signed: bool,
    /// For signed A: ‖x*‖ is at most this times ‖b‖, if that was proved.
    pub reach: Option<f64>,
}

/// The copy of A.
enum Scaled {
    /// Column after column; and the same with weights, where there are any.
    Dense {
        plain: Vec<f64>,
        weighted: Option<Vec<f64>>,
    },
    Sparse(CscMatrix<f64, u64>),
}

impl Shared {
    /// Takes a copy of A in memory, n² numbers and about mn²/2 multiply-adds.
    pub fn new<M: Columns>(a: &M, prepared: &Problem, many: &ManyLeastSquares) -> Self {
        let mut shared = Self::without_gram(a, prepared, many);
        let (rows, cols) = (shared.rows, shared.cols);
        let mut gram = shared.scaled.gram(rows, cols, shared.weights.as_deref());
        for j in 0..cols {
            gram[j * cols + j] = shared.diagonal[j];
        }
        if shared.signed && cols <= EIGENVALUE && !many.sum_to_one {
            let trace: f64 = shared.diagonal.iter().sum();
            let error = 2.0 * rounding(rows, 0) * trace + (cols * rows) as f64 * power_of_two(-1000);
            // From f(x*) ≤ f(0): ½x*ᵀGx* ≤ cᵀx* ≤ ‖b‖‖Ax*‖.
            let least = proved_least_eigenvalue(&gram, cols, error);
            shared.reach = least.map(|least| 2.0 * (1.0 + 16.0 * UNIT) / least.sqrt());
        }
        Self { gram, ..shared }
    }

    /// All but G: enough for proofs from residuals.
    pub fn without_gram<M: Columns>(a: &M, prepared: &Problem, many: &ManyLeastSquares) -> Self {
        let (rows, cols, shapes) = (a.rows(), a.cols(), prepared.shapes());
        let used = || shapes.iter().filter(|column| !column.empty);
        let common = used().map(|column| column.exponent()).min().unwrap_or(0);
        let unit = |j: usize| if many.sum_to_one { common } else { shapes[j].exponent() };
        let exponent: Vec<i32> = (0..cols).map(unit).collect();
        let weight = many.weights.map_or(0, weight_exponent);
        let weights = many.weights.map(|w| w.iter().map(|&w| ldexp(w, -weight)).collect::<Vec<f64>>());
        let scaled = Scaled::of(a, &exponent, weights.as_deref());
        let ridge = |j: usize| ldexp(many.l2, 2 * exponent[j] - weight);
        let diagonal: Vec<f64> =
            (0..cols).map(|j| ldexp(shapes[j].norm, 2 * (exponent[j] - shapes[j].exponent())) + ridge(j)).collect();
        let root = diagonal.iter().map(|d| (d * (1.0 + 4.0 * rounding(rows, 0))).sqrt() * (1.0 + 4.0 * UNIT)).collect();
        let signed = shapes.iter().any(|column| column.signed);
        let (l2, gram, reach) = (many.l2, Vec::new(), None);
        Self { rows, cols, exponent, weight, weights, l2, scaled, gram, diagonal, root, signed, reach }
    }

    /// Column j of G.
    #[inline]
    pub fn gram_column(&self, j: usize) -> &[f64] {
        &self.gram[j * self.cols..][..self.cols]
    }

    /// Gⱼⱼ.
    #[inline]
    pub fn diagonal(&self, j: usize) -> f64 {
        self.diagonal[j]
    }

    /// λ₂ in the units of column j.
    #[inline]
    pub fn ridge(&self, j: usize) -> f64 {
        if self.l2 == 0.0 { 0.0 } else { ldexp(self.l2, 2 * self.exponent[j] - self.weight) }
    }

    /// C = AᵀWB for some right-hand sides, column after column.
    pub fn products(&self, b: &[f64], c: &mut [f64]) {
        let (m, n) = (self.rows, self.cols);
        let count = b.len() / m;
        match &self.scaled {
            Scaled::Dense { plain, weighted } => {
                let a = MatRef::from_column_major_slice(weighted.as_ref().unwrap_or(plain), m, n);
                let target = MatMut::from_column_major_slice_mut(c, n, count);
                matmul(target, Accum::Replace, a.transpose(), MatRef::from_column_major_slice(b, m, count), 1.0, Par::Seq);
            }
            Scaled::Sparse(a) => {
                let a = a.view();
                let mut weighted = vec![0.0; m];
                for (b, c) in b.chunks_exact(m).zip(c.chunks_exact_mut(n)) {
                    weighted.copy_from_slice(b);
                    if let Some(w) = &self.weights {
                        weighted.iter_mut().zip(w).for_each(|(b, w)| *b *= w);
                    }
                    c.iter_mut().enumerate().for_each(|(j, c)| *c = a.column(j).dot(&weighted));
                }
            }
        }
    }

    /// r −= x A:ⱼ.
    #[inline]
    pub fn subtract(&self, j: usize, x: f64, r: &mut [f64]) {
        match &self.scaled {
            Scaled::Dense { plain, .. } => {
                let column = &plain[j * self.rows..][..self.rows];
                if column.len() < 32 {
                    column.iter().zip(r).for_each(|(a, r)| *r -= x * a);
                } else {
                    axpy(-x, column, r);
                }
            }
            Scaled::Sparse(a) => a.view().column(j).add_to(1.0, -x, r),
        }
    }

    /// √s, rounded up, for s = ‖v‖²_W as computed.
    pub fn norm_high(&self, square: f64) -> f64 {
        let lost = self.rows as f64 * power_of_two(-1000);
        if square == 0.0 { 0.0 } else { (square * (1.0 + rounding(self.rows, 0)) + lost).sqrt() * (1.0 + 4.0 * UNIT) }
    }

    /// ‖v‖²_W.
    #[inline]
    pub fn square(&self, v: &[f64]) -> f64 {
        match &self.weights {
            None if v.len() < 32 => v.iter().map(|v| v * v).sum(),
            None => dense_dot(v, v),
            Some(w) => v.iter().zip(w).map(|(v, w)| w * v * v).sum(),
        }
    }
}

/// Bounds the relative error of a sum of `m` products in any order, of a weighted product among them, and of `k` more terms.
pub fn rounding(m: usize, k: usize) -> f64 {
    (m + k + 24) as f64 * UNIT * 1.02 + GAMMA
}

impl Scaled {
    fn of<M: Columns>(a: &M, exponent: &[i32], weights: Option<&[f64]>) -> Self {
        let (m, n) = (a.rows(), a.cols());
        if m.saturating_mul(n) <= DENSE * a.nnz().max(1 << 12) {
            let mut plain = vec![0.0; m * n];
            plain.par_chunks_exact_mut(m).enumerate().for_each(|(j, out)| {
                a.column(j).for_each(|i, v| out[i] = if idle(weights, i) { 0.0 } else { ldexp(v, exponent[j]) });
            });
            let weigh = |(i, v): (usize, &f64)| weights.map_or(*v, |w| w[i] * v);
            let weighted =
                weights.map(|_| plain.chunks_exact(m).flat_map(|column| column.iter().enumerate().map(weigh)).collect());
            return Self::Dense { plain, weighted };
        }
        let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in 0..n {
            a.column(j).for_each(|i, v| {
                if v != 0.0 && !idle(weights, i) {
                    row_idx.push(i as u64);
                    values.push(ldexp(v, exponent[j]));
                }
            });
            col_ptr.push(values.len());
        }
        Self::Sparse(CscMatrix::from_checked(m, col_ptr, row_idx, values))
    }

    /// AᵀWA, both triangles.
    fn gram(&self, m: usize, n: usize, weights: Option<&[f64]>) -> Vec<f64> {
        let mut gram = vec![0.0; n * n];
        match self {
            Self::Dense { plain, weighted } => {
                let left = MatRef::from_column_major_slice(plain, m, n);
                let right = MatRef::from_column_major_slice(weighted.as_ref().unwrap_or(plain), m, n);
                gram.par_chunks_mut(TILE * n).enumerate().for_each(|(tile, out)| {
                    let (first, width) = (tile * TILE, out.len() / n);
                    // What is above the diagonal comes from below it.
                    let target = MatMut::from_column_major_slice_mut(out, n, width).subrows_mut(first, n - first);
                    let (rows, columns) = (left.subcols(first, n - first), right.subcols(first, width));
                    matmul(target, Accum::Replace, rows.transpose(), columns, 1.0, Par::Seq);
                });
            }
            Self::Sparse(a) => {
                let a: CscView<f64, u64> = a.view();
                gram.par_chunks_mut(n).enumerate().for_each_init(
                    || vec![0.0; m],
                    |spread, (j, out)| {
                        a.column(j).for_each(|i, v| spread[i] = weights.map_or(v, |w| w[i] * v));
                        (j..n).for_each(|i| out[i] = a.column(i).dot(spread));
                        a.column(j).for_each(|i, _| spread[i] = 0.0);
                    },
                );
            }
        }
        for j in 0..n {
            for i in j + 1..n {
                gram[i * n + j] = gram[j * n + i];
            }
        }
        gram
    }
}

/// Whether a row has no weight.
fn idle(weights: Option<&[f64]>, i: usize) -> bool {
    weights.is_some_and(|w| w[i] == 0.0)
}
