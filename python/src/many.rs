//! One A, many right-hand sides.

use nonneg::{ColumnSolution, ManyLeastSquares, ManySolution, Status, Upper};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::matrix::Matrix;
use crate::problem::{Bounds, Settings, Vector, slice};
use crate::{answer::set, run, to_python};

/// Solves for every column of B, and returns the fields of a `ManySolution`.
#[pyfunction]
#[pyo3(signature = (a, b, settings, weights=None, upper=None, l1=0.0, l2=0.0, sum_to_one=false))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
pub fn solve_many<'py>(
    py: Python<'py>,
    a: PyRef<'py, Matrix>,
    b: PyRef<'py, Matrix>,
    settings: Settings,
    weights: Option<Vector<'py>>,
    upper: Option<Bounds<'py>>,
    l1: f64,
    l2: f64,
    sum_to_one: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let mut problem = ManyLeastSquares::new(a.view()).l1(l1).l2(l2);
    problem.sum_to_one = sum_to_one;
    problem.weights = weights.as_ref().map(slice).transpose()?;
    problem.upper = match &upper {
        None => Upper::None,
        Some(Bounds::Uniform(bound)) => Upper::Uniform(*bound),
        Some(Bounds::Each(bounds)) => Upper::Each(slice(bounds)?),
    };
    let (rows, right) = (problem.matrix.cols(), b.view());
    let entries = problem.matrix.nnz() + right.nnz();
    let solution = run::without_gil(py, entries, None, |limits, _| {
        let (solver, cut_short) = limits.apply(&settings.0);
        let solution = solver.solve_many_problem(&problem, right);
        let out_of_time = solution.as_ref().is_ok_and(|solution| solution.status() == Status::TimeLimit);
        (!(cut_short && out_of_time)).then_some(solution)
    })?;
    fields(py, solution.map_err(to_python)?, rows)
}

fn fields(py: Python<'_>, solution: ManySolution, rows: usize) -> PyResult<Bound<'_, PyDict>> {
    let (status, columns) = (solution.status().name(), &solution.columns);
    let numbers = |get: fn(&ColumnSolution) -> Option<f64>| {
        PyArray1::from_iter(py, columns.iter().map(|column| get(column).unwrap_or(f64::NAN)))
    };
    let codes = columns.iter().map(|column| column.status.rank() as u8);
    let fields = PyDict::new(py);
    set!(fields,
        status: status,
        codes: PyArray1::from_iter(py, codes),
        objective: numbers(|column| column.objective),
        residual_norm: numbers(|column| column.residual_norm),
        lower_bound: numbers(|column| column.lower_bound),
        relative_gap: numbers(|column| column.relative_gap),
        support: PyArray1::from_iter(py, columns.iter().map(|column| column.support as i64)),
        seconds: solution.seconds,
    );
    let shape = [rows, columns.len()];
    set!(fields, x: PyArray1::from_vec(py, solution.x).reshape_with_order(shape, numpy::npyffi::NPY_ORDER::NPY_FORTRANORDER)?);
    Ok(fields)
}

/// What the codes of a status mean.
pub fn status_names() -> Vec<&'static str> {
    Status::ALL.iter().map(|status| status.name()).collect()
}
