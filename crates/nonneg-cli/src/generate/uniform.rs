//! Uniform entries: dense positive data, the home ground of SI-NNLS+ (one huge Perron direction).

use nonneg::{CscMatrix, DenseMatrix, Result};

use super::plant::{noisy_rhs, sparse_x};
use super::{Generated, Random};

/// Dense, every entry uniform in [0, 1).
pub fn uniform(rows: usize, cols: usize, random: &mut Random) -> Result<Generated> {
    let values = (0..rows * cols).map(|_| random.uniform()).collect();
    let matrix = DenseMatrix::new(rows, cols, values)?.into();
    let x = sparse_x(cols, 0.05, random);
    let rhs = noisy_rhs(&matrix, &x, 0.01, random);
    Ok(Generated { matrix, rhs })
}

/// Sparse: each entry is there with probability `density`, and then uniform in (0, 1].
pub fn uniform_sparse(rows: usize, cols: usize, density: f64, random: &mut Random) -> Result<Generated> {
    let expected = (1.01 * rows as f64 * cols as f64 * density) as usize;
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::<u32>::with_capacity(expected), Vec::with_capacity(expected));
    for _ in 0..cols {
        random.scatter(rows, density, |i, random| {
            row_idx.push(i as u32);
            values.push(1.0 - random.uniform());
        });
        col_ptr.push(values.len());
    }
    let matrix = CscMatrix::new(rows, cols, col_ptr, row_idx, values)?.into();
    let x = sparse_x(cols, 0.05, random);
    let rhs = noisy_rhs(&matrix, &x, 0.01, random);
    Ok(Generated { matrix, rhs })
}
