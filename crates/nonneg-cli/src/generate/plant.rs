//! The planted answer, and the b that it explains up to noise.

use nonneg::matrix::multiply;
use nonneg::{AnyMatrix, with_columns};

use super::Random;

/// x with about `share` of its entries positive (at least one), uniform in [0.5, 1.5).
pub(super) fn sparse_x(cols: usize, share: f64, random: &mut Random) -> Vec<f64> {
    let mut x = vec![0.0; cols];
    let support = ((cols as f64 * share).ceil() as usize).clamp(1, cols);
    for _ in 0..support {
        x[random.below(cols)] = random.between(0.5, 1.5);
    }
    x
}

/// Ax.
pub(super) fn apply(matrix: &AnyMatrix, x: &[f64]) -> Vec<f64> {
    with_columns!(matrix.view(), |a| multiply(a, x.len(), |j| (j, 1.0, x[j])))
}

/// Ax plus normal noise of `level` times the root mean square of Ax.
pub(super) fn noisy_rhs(matrix: &AnyMatrix, x: &[f64], level: f64, random: &mut Random) -> Vec<f64> {
    let mut rhs = apply(matrix, x);
    let rms = (rhs.iter().map(|b| b * b).sum::<f64>() / rhs.len() as f64).sqrt();
    for b in &mut rhs {
        *b += level * rms * random.normal();
    }
    rhs
}
