//! Reference spectra: smooth, overlapping, badly conditioned columns.

use nonneg::{DenseMatrix, Result};

use super::plant::{noisy_rhs, sparse_x};
use super::{Generated, Random};

/// Each column is a sum of one to five Gaussian peaks over `rows` channels; few columns are in the mixture.
pub fn spectra(rows: usize, cols: usize, random: &mut Random) -> Result<Generated> {
    let mut values = Vec::with_capacity(rows * cols);
    for _ in 0..cols {
        let peaks: Vec<(f64, f64, f64)> = (0..1 + random.below(5))
            .map(|_| {
                let centre = random.uniform() * rows as f64;
                let width = random.between(0.005, 0.03) * rows as f64;
                (centre, width, random.between(0.2, 1.0))
            })
            .collect();
        values.extend((0..rows).map(|i| {
            let at = |&(centre, width, height): &(f64, f64, f64)| height * (-0.5 * ((i as f64 - centre) / width).powi(2)).exp();
            peaks.iter().map(at).sum::<f64>()
        }));
    }
    let matrix = DenseMatrix::new(rows, cols, values)?.into();
    let x = sparse_x(cols, 0.02, random);
    let rhs = noisy_rhs(&matrix, &x, 0.01, random);
    Ok(Generated { matrix, rhs })
}
