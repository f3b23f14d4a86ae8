//! `nnls` on plain arrays.

use std::cell::Cell;

use nonneg::{DenseMatrix, DenseView, MatrixRef, Nnls, Solver};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::matrix::Matrix;
use crate::{run, to_python};

/// Entries of a matrix whose copy leaves its memory to the next call: new memory would take longer than a small problem does.
const KEPT: usize = 1 << 17;

thread_local! {
    static COLUMNS: Cell<Vec<f64>> = const { Cell::new(Vec::new()) };
}

/// x, ‖Ax − b‖, and whether x is optimal.
type Answer<'py> = (Bound<'py, PyArray1<f64>>, f64, bool);

/// Of a [`Matrix`], or at once of contiguous float64 arrays; `None` for anything that has to be converted first.
#[pyfunction]
pub fn nnls<'py>(a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>, max_iterations: Option<usize>) -> PyResult<Option<Answer<'py>>> {
    let Ok(b) = b.cast::<PyArray1<f64>>() else { return Ok(None) };
    let held_b = b.readonly();
    let Ok(b) = held_b.as_slice() else { return Ok(None) };
    if let Ok(matrix) = a.cast::<Matrix>() {
        let view = matrix.get().view();
        return answer(a.py(), view.nnz(), |solver| solver.nnls(view, b, max_iterations)).map(Some);
    }
    let Ok(a) = a.cast::<PyArray2<f64>>() else { return Ok(None) };
    let held_a = a.readonly();
    let Ok(values) = held_a.as_slice() else { return Ok(None) };
    let (rows, cols, by_columns) = (a.shape()[0], a.shape()[1], a.is_fortran_contiguous());
    let solve = |solver: Solver| {
        if by_columns {
            return solver.nnls(MatrixRef::from(DenseView::new(rows, cols, values)?), b, max_iterations);
        }
        let matrix = DenseMatrix::from_row_major_in(COLUMNS.take(), rows, cols, values)?;
        let answer = solver.nnls(&matrix, b, max_iterations);
        if values.len() <= KEPT {
            COLUMNS.set(matrix.into_values());
        }
        answer
    };
    answer(a.py(), values.len(), solve).map(Some)
}

fn answer<'py>(
    py: Python<'py>,
    entries: usize,
    solve: impl Fn(Solver) -> nonneg::Result<Nnls> + Send + Sync,
) -> PyResult<Answer<'py>> {
    let answer = run::without_gil(py, entries, None, |limits, _| {
        let (solver, cut_short) = limits.apply(&Solver::new());
        let answer = solve(solver);
        let unfinished = answer.as_ref().is_ok_and(|answer| !answer.finished);
        (!(cut_short && unfinished && limits.are_over())).then_some(answer)
    })?;
    let Nnls { x, residual_norm, finished, .. } = answer.map_err(to_python)?;
    Ok((PyArray1::from_vec(py, x), residual_norm, finished))
}
