//! Where a factorisation starts.

use faer::MatRef;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::data::Data;

/// Columns of the sketch beyond the rank, and rounds that sharpen it (Halko, Martinsson and Tropp 2011).
const OVERSAMPLING: usize = 10;
const ROUNDS: usize = 3;

/// W (m×k) and Hᵀ (n×k), row after row.
pub type Pair = (Vec<f64>, Vec<f64>);

/// Normal numbers.
struct Normal(Xoshiro256PlusPlus);

impl Normal {
    fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn next(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (2.0 * std::f64::consts::PI * self.unit()).cos()
    }
}

/// What W and H would hold everywhere if WH were the mean of V everywhere.
fn level(v: &Data, k: usize) -> f64 {
    (v.sum() / (v.rows() as f64 * v.cols() as f64 * k as f64)).sqrt()
}

/// Sizes of normal numbers, such that WH has the mean of V.
pub fn random(v: &Data, k: usize, seed: u64) -> Pair {
    let mut normal = Normal(Xoshiro256PlusPlus::seed_from_u64(seed));
    let scale = level(v, k);
    let mut factor = |rows: usize| (0..rows * k).map(|_| scale * normal.next().abs()).collect();
    (factor(v.rows()), factor(v.cols()))
}

/// From the leading singular vectors, each replaced by its positive or its negative part (NNDSVD, Boutsidis and Gallopoulos
/// 2008). With `fill`, zeros become what would give WH the mean of V: then no entry begins at its bound.
pub fn nndsvd(v: &Data, k: usize, seed: u64, fill: bool) -> Pair {
    let (left, values, right) = singular_vectors(v, k, seed);
    let (mut w, mut h) = (vec![0.0; v.rows() * k], vec![0.0; v.cols() * k]);
    let count = values.len();
    for p in 0..count {
        // The parts of both vectors with this sign.
        let parts = |sign: f64| [Part::of(&left, count, p, sign), Part::of(&right, count, p, sign)];
        let weight = |[left, right]: &[Part; 2]| left.norm * right.norm;
        let (plus, minus) = (parts(1.0), parts(-1.0));
        let larger = if weight(&plus) >= weight(&minus) { plus } else { minus };
        if weight(&larger) > 0.0 {
            let scale = (values[p] * weight(&larger)).sqrt();
            let [left, right] = larger;
            left.values.iter().enumerate().for_each(|(i, value)| w[i * k + p] = scale * value / left.norm);
            right.values.iter().enumerate().for_each(|(j, value)| h[j * k + p] = scale * value / right.norm);
        }
    }
    if fill {
        let level = level(v, k);
        w.iter_mut().chain(&mut h).filter(|value| **value == 0.0).for_each(|value| *value = level);
    }
    (w, h)
}

/// What a vector has of one sign.
struct Part {
    values: Vec<f64>,
    norm: f64,
}

impl Part {
    /// Of column p of a matrix with `count` columns, row after row.
    fn of(matrix: &[f64], count: usize, p: usize, sign: f64) -> Self {
        let values: Vec<f64> = matrix.chunks_exact(count).map(|row| (sign * row[p]).max(0.0)).collect();
        let norm = values.iter().map(|v| v * v).sum::<f64>().sqrt();
        Self { values, norm }
    }
}

/// About the k leading singular vectors (row after row) and values of V, from a random sketch; fewer if V is smaller.
fn singular_vectors(v: &Data, k: usize, seed: u64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (m, n) = (v.rows(), v.cols());
    let width = (k + OVERSAMPLING).min(m).min(n);
    let mut normal = Normal(Xoshiro256PlusPlus::seed_from_u64(seed));
    let sketch: Vec<f64> = (0..n * width).map(|_| normal.next()).collect();
    let (mut left, mut right) = (vec![0.0; m * width], vec![0.0; n * width]);
    v.times(&sketch, width, &mut left);
    for _ in 0..ROUNDS {
        orthonormalise(&mut left, width);
        v.transposed_times(&left, width, &mut right);
        orthonormalise(&mut right, width);
        v.times(&right, width, &mut left);
    }
    orthonormalise(&mut left, width);
    v.transposed_times(&left, width, &mut right);
    // V ≈ QQᵀV = Q(VᵀQ)ᵀ, and VᵀQ = XSYᵀ.
    let count = k.min(width);
    let Ok(svd) = MatRef::from_row_major_slice(&right, n, width).thin_svd() else {
        return (vec![0.0; m * count], vec![0.0; count], vec![0.0; n * count]);
    };
    let q = MatRef::from_row_major_slice(&left, m, width);
    let turned = q * svd.V().subcols(0, count);
    let values = (0..count).map(|p| svd.S()[p]).collect();
    let by_rows = |rows: usize, entry: &dyn Fn(usize, usize) -> f64| {
        (0..rows * count).map(|i| entry(i / count, i % count)).collect::<Vec<f64>>()
    };
    (by_rows(m, &|i, p| turned[(i, p)]), values, by_rows(n, &|j, p| svd.U()[(j, p)]))
}

/// Replaces the columns of a matrix (row after row) by an orthonormal basis of their span.
fn orthonormalise(matrix: &mut [f64], width: usize) {
    let rows = matrix.len() / width;
    let q = MatRef::from_row_major_slice(matrix, rows, width).qr().compute_thin_Q();
    for i in 0..rows {
        for p in 0..width {
            matrix[i * width + p] = q[(i, p)];
        }
    }
}
