//! Non-negative matrix factorisation.

use std::time::Duration;

use nonneg::{Factors, Nmf, NmfMethod, NmfStart};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer::set;
use crate::matrix::Matrix;
use crate::problem::named;
use crate::{run, to_python};

const METHODS: [(&str, NmfMethod); 2] = [("hals", NmfMethod::Hals), ("exact", NmfMethod::Exact)];
const STARTS: [(&str, NmfStart); 3] =
    [("nndsvd", NmfStart::Nndsvd), ("nndsvda", NmfStart::Nndsvda), ("random", NmfStart::Random)];

/// Factors V, and returns the fields of the result.
#[pyfunction]
#[pyo3(signature = (v, rank, method, start, tol, max_iter, l1, l2, seed, time_limit=None, threads=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
pub fn nmf<'py>(
    py: Python<'py>,
    v: PyRef<'py, Matrix>,
    rank: usize,
    method: &Bound<'py, PyAny>,
    start: &Bound<'py, PyAny>,
    tol: f64,
    max_iter: usize,
    l1: f64,
    l2: f64,
    seed: u64,
    time_limit: Option<f64>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut settings = Nmf::new(rank).tolerance(tol).max_iterations(max_iter);
    settings.method = named("method", method, &METHODS, |method| method.0)?.1;
    settings.start = named("init", start, &STARTS, |start| start.0)?.1;
    (settings.l1, settings.l2, settings.seed, settings.threads) = (l1, l2, seed, threads);
    if let Some(seconds) = time_limit {
        let limit = Duration::try_from_secs_f64(seconds);
        settings.time_limit =
            Some(limit.map_err(|_| PyValueError::new_err(format!("time_limit is {seconds}, expected seconds ≥ 0")))?);
    }
    let (view, shape) = (v.view(), (v.view().rows(), v.view().cols()));
    // Never small: the first look for Ctrl-C must not begin it anew.
    let factors = run::without_gil(py, usize::MAX, None, |limits, _| {
        let settings = Nmf { interrupt: Some(limits.interrupt()), ..settings.clone() };
        Some(settings.run(view))
    })?;
    let named = |error| match error {
        nonneg::Error::Matrix(message) => PyValueError::new_err(format!("V: {message}")),
        other => to_python(other),
    };
    fields(py, factors.map_err(named)?, shape, rank)
}

fn fields(py: Python<'_>, factors: Factors, (rows, cols): (usize, usize), rank: usize) -> PyResult<Bound<'_, PyDict>> {
    let Factors { w, h, objective, residual_norm, violation, iterations, status, trace, seconds } = factors;
    let fields = PyDict::new(py);
    // H comes column after column.
    let h = PyArray1::from_vec(py, h).reshape_with_order([rank, cols], numpy::npyffi::NPY_ORDER::NPY_FORTRANORDER)?;
    set!(fields,
        W: PyArray1::from_vec(py, w).reshape([rows, rank])?,
        H: h,
        objective: objective,
        residual_norm: residual_norm,
        violation: violation,
        n_iter: iterations,
        status: if status == nonneg::Status::PassLimit { "iteration_limit" } else { status.name() },
        trace: PyArray1::from_vec(py, trace),
        seconds: seconds,
    );
    Ok(fields)
}
