//! Poisson counts, as in gene expression or photon counting.

use nonneg::{CscMatrix, Result};

use super::plant::{apply, sparse_x};
use super::{Generated, Random};

/// Features (rows) × samples (columns): entries are there with probability `density` and hold a positive Poisson count
/// whose mean varies by feature and by sample. b is Poisson too, with mean Ax for a planted sparse x.
pub fn counts(rows: usize, cols: usize, density: f64, random: &mut Random) -> Result<Generated> {
    let feature_level: Vec<f64> = (0..rows).map(|_| 3.0 * random.exponential()).collect();
    let expected = (1.01 * rows as f64 * cols as f64 * density) as usize;
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::<u32>::with_capacity(expected), Vec::with_capacity(expected));
    for _ in 0..cols {
        let depth = random.between(0.5, 1.5);
        random.scatter(rows, density, |i, random| {
            row_idx.push(i as u32);
            values.push(1.0 + random.poisson(depth * feature_level[i]));
        });
        col_ptr.push(values.len());
    }
    let matrix = CscMatrix::new(rows, cols, col_ptr, row_idx, values)?.into();
    let x = sparse_x(cols, 0.05, random);
    let rhs = apply(&matrix, &x).into_iter().map(|mean| random.poisson(mean)).collect();
    Ok(Generated { matrix, rhs })
}
