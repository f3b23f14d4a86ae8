//! V, ready for products with factors from both sides.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::matrix::kernels::{add_columns, dense_dot};
use crate::matrix::{AnyMatrix, Column, Columns, CscMatrix, CsrView, DenseMatrix, MatrixRef, with_columns};

/// Rows of a product that one task makes.
const BLOCK: usize = 256;

/// Numbers of a factor that stay in the cache while they are used, and entries that each column should find among them.
const PANEL: usize = 1 << 15;
const RUN: usize = 16;

/// V ≥ 0, m×n. Factors are stored row after row: m×k for W, n×k for Hᵀ.
pub enum Data {
    /// Column after column.
    Dense(DenseMatrix<f64>),
    /// V and Vᵀ, by columns.
    Sparse { plain: CscMatrix<f64, u32>, transposed: CscMatrix<f64, u32> },
}

impl Data {
    /// Copies V, which must not hold a negative number.
    pub fn new(v: MatrixRef) -> Result<Self> {
        if v.rows() == 0 || v.cols() == 0 {
            return Err(Error::Matrix(format!("the matrix is empty ({}×{})", v.rows(), v.cols())));
        }
        if v.rows().max(v.cols()) > u32::MAX as usize {
            return Err(Error::Matrix(format!(
                "the matrix has {}×{} entries, expected fewer than 2³² rows and columns",
                v.rows(),
                v.cols()
            )));
        }
        let dense = matches!(v, MatrixRef::DenseF64(_) | MatrixRef::DenseF32(_));
        let (rows, cols) = (v.rows(), v.cols());
        with_columns!(v, |columns| {
            if let Some(column) = (0..cols).find(|&j| columns.column(j).extremes().negative) {
                return Err(Error::Matrix(format!("column {column} holds a negative number, expected a matrix ≥ 0")));
            }
            Ok(if dense {
                let mut values = vec![0.0; rows * cols];
                for (j, out) in values.chunks_exact_mut(rows).enumerate() {
                    columns.column(j).write_rows(0..rows, 1.0, out);
                }
                Self::Dense(DenseMatrix::new(rows, cols, values)?)
            } else {
                let plain = sparse(rows, cols, |j, visit| columns.column(j).for_each(visit));
                // The columns of V are the rows of Vᵀ.
                let (pointers, indices, values) = plain.view().parts();
                let transposed = CsrView::new(cols, rows, pointers, indices, values)?.to_csc();
                Self::Sparse { plain, transposed }
            })
        })
    }

    pub fn rows(&self) -> usize {
        match self {
            Self::Dense(matrix) => matrix.view().rows(),
            Self::Sparse { plain, .. } => plain.view().rows(),
        }
    }

    pub fn cols(&self) -> usize {
        match self {
            Self::Dense(matrix) => matrix.view().cols(),
            Self::Sparse { plain, .. } => plain.view().cols(),
        }
    }

    /// Stored entries.
    pub fn nnz(&self) -> usize {
        match self {
            Self::Dense(matrix) => matrix.view().nnz(),
            Self::Sparse { plain, .. } => plain.view().nnz(),
        }
    }

    /// ‖V‖².
    pub fn square(&self) -> f64 {
        match self {
            Self::Dense(matrix) => dense_dot(matrix.values(), matrix.values()),
            Self::Sparse { plain, .. } => {
                let view = plain.view();
                let column = |j: usize| {
                    let mut sum = 0.0;
                    view.column(j).for_each(|_, v| sum += v * v);
                    sum
                };
                (0..view.cols()).map(column).sum()
            }
        }
    }

    /// Σ vᵢⱼ.
    pub fn sum(&self) -> f64 {
        match self {
            Self::Dense(matrix) => matrix.values().iter().sum(),
            Self::Sparse { plain, .. } => {
                let mut sum = 0.0;
                (0..self.cols()).for_each(|j| plain.view().column(j).for_each(|_, v| sum += v));
                sum
            }
        }
    }

    /// V.
    pub fn view(&self) -> MatrixRef<'_> {
        match self {
            Self::Dense(matrix) => matrix.into(),
            Self::Sparse { plain, .. } => plain.into(),
        }
    }

    /// Vᵀ.
    pub fn transposed(&self) -> Result<AnyMatrix> {
        Ok(match self {
            Self::Dense(matrix) => DenseMatrix::from_row_major(self.cols(), self.rows(), matrix.values())?.into(),
            Self::Sparse { transposed, .. } => transposed.clone().into(),
        })
    }

    /// VF for an n×k factor, m×k.
    pub fn times(&self, factor: &[f64], k: usize, out: &mut [f64]) {
        match self {
            Self::Dense(matrix) => product(view(matrix), factor, k, out),
            Self::Sparse { transposed, .. } => combine(transposed, factor, k, out),
        }
    }

    /// VᵀF for an m×k factor, n×k.
    pub fn transposed_times(&self, factor: &[f64], k: usize, out: &mut [f64]) {
        match self {
            Self::Dense(matrix) => product(view(matrix).transpose(), factor, k, out),
            Self::Sparse { plain, .. } => combine(plain, factor, k, out),
        }
    }
}

fn view(matrix: &DenseMatrix<f64>) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(matrix.values(), matrix.view().rows(), matrix.view().cols())
}

/// AF, row after row, in blocks of rows.
fn product(a: MatRef<'_, f64>, factor: &[f64], k: usize, out: &mut [f64]) {
    let factor = MatRef::from_row_major_slice(factor, a.ncols(), k);
    out.par_chunks_mut(BLOCK * k).enumerate().for_each(|(block, out)| {
        let count = out.len() / k;
        let rows = a.subrows(block * BLOCK, count);
        let out = MatMut::from_row_major_slice_mut(out, count, k);
        matmul(out, Accum::Replace, rows, factor, 1.0, Par::Seq);
    });
}

/// For every column of a sparse matrix, the combination of rows of the factor that it holds. Column after column would fetch the
/// factor from memory for each of them: all columns take what they need of one panel of the factor, then of the next.
fn combine(a: &CscMatrix<f64, u32>, factor: &[f64], k: usize, out: &mut [f64]) {
    let (rows, cols, nnz) = (a.view().rows(), a.view().cols(), a.view().nnz());
    let (pointers, indices, values) = a.view().parts();
    let row = |i: u32| &factor[i as usize * k..][..k];
    let panels = (rows * k).div_ceil(PANEL).min(nnz / (cols * RUN)).max(1);
    let height = rows.div_ceil(panels);
    out.par_chunks_mut(BLOCK * k).enumerate().for_each(|(block, out)| {
        out.fill(0.0);
        let first = block * BLOCK;
        let mut next: Vec<usize> = pointers[first..first + out.len() / k].to_vec();
        for panel in 1..=panels {
            for (offset, (out, next)) in out.chunks_exact_mut(k).zip(&mut next).enumerate() {
                let rest = &indices[*next..pointers[first + offset + 1]];
                let run = if panel == panels { rest.len() } else { rest.partition_point(|&i| (i as usize) < panel * height) };
                let entries = *next..*next + run;
                add_columns(rest[..run].iter().zip(&values[entries.clone()]).map(|(&i, &v)| (v, row(i))), out);
                *next = entries.end;
            }
        }
    });
}

/// Columns of entries other than zero.
fn sparse(rows: usize, cols: usize, column: impl Fn(usize, &mut dyn FnMut(usize, f64))) -> CscMatrix<f64, u32> {
    let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::new(), Vec::new());
    for j in 0..cols {
        column(j, &mut |i, v| {
            if v != 0.0 {
                row_idx.push(i as u32);
                values.push(v);
            }
        });
        col_ptr.push(values.len());
    }
    CscMatrix::from_checked(rows, col_ptr, row_idx, values)
}
