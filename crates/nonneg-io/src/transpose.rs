//! A matrix turned round. Columns of A are rows of Aᵀ, so what is stored need only be read the other way.

use nonneg::matrix::{Index, Value};
use nonneg::{AnyMatrix, CscMatrix, CscView, CsrView, DenseMatrix, MatrixRef};

use crate::assemble::check_shape;
use crate::error::{Error, Result};

pub(crate) fn transposed(path: &str, matrix: MatrixRef) -> Result<AnyMatrix> {
    let (rows, cols) = (matrix.cols(), matrix.rows());
    // Rows that are no more than a number in a header become columns, which take memory.
    check_shape(path, rows as u64, cols as u64, matrix.nnz() as u64)?;
    let turned = match matrix {
        MatrixRef::DenseF64(view) => DenseMatrix::from_row_major(rows, cols, view.values()).map(AnyMatrix::from),
        MatrixRef::DenseF32(view) => DenseMatrix::from_row_major(rows, cols, view.values()).map(AnyMatrix::from),
        MatrixRef::CscF64(view) => sparse(view).map(AnyMatrix::from),
        MatrixRef::CscF32(view) => sparse(view).map(AnyMatrix::from),
        MatrixRef::CscF64Wide(view) => sparse(view).map(AnyMatrix::from),
        MatrixRef::CscF32Wide(view) => sparse(view).map(AnyMatrix::from),
        _ => unreachable!("files are read as columns"),
    };
    turned.map_err(|e| Error::content(path, format!("transposed: {e}")))
}

fn sparse<T: Value, I: Index>(view: CscView<T, I>) -> nonneg::Result<CscMatrix<T, I>> {
    let (ptr, idx, values) = view.parts();
    Ok(CsrView::new(view.cols(), view.rows(), ptr, idx, values)?.to_csc())
}
