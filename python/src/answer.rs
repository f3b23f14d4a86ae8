//! What goes back to Python: dictionaries of numbers and arrays.

use nonneg::{Certificate, Solution, TraceRow};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Sets the items of a dictionary, named once for all calls.
macro_rules! set {
    ($fields:ident, $($name:ident: $value:expr),* $(,)?) => {
        $($fields.set_item(pyo3::intern!($fields.py(), stringify!($name)), $value)?;)*
    };
}

pub(crate) use set;

/// The fields of a certificate.
pub fn certificate<'py>(py: Python<'py>, certificate: &Certificate) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    set!(fields,
        objective: certificate.objective,
        residual_norm: certificate.residual_norm,
        lower_bound: certificate.lower_bound,
        relative_gap: certificate.relative_gap,
        natural_residual: certificate.natural_residual,
        relative_residual: certificate.relative_residual,
        support: certificate.support,
        dual: (!certificate.dual.is_empty()).then(|| PyArray1::from_slice(py, &certificate.dual)),
    );
    Ok(fields)
}

/// A solution without x, not yet as numbers and arrays of Python: making all of them takes longer than a tiny problem does, and few
/// look at more than x.
#[pyclass(frozen, module = "nonneg._nonneg")]
pub struct Answer(Solution);

impl Answer {
    /// x, and the rest.
    pub fn of(py: Python<'_>, mut solution: Solution) -> (Bound<'_, PyArray1<f64>>, Self) {
        (PyArray1::from_vec(py, std::mem::take(&mut solution.x)), Self(solution))
    }
}

#[pymethods]
impl Answer {
    /// The fields of the solution without x and trace, those of its certificate among them.
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Solution { status, certificate: proof, stats, .. } = &self.0;
        let (fields, parts) = (certificate(py, proof)?, stats.seconds);
        set!(fields,
            status: status.name(),
            method: stats.method_name(),
            passes: stats.passes,
            restarts: stats.restarts,
            dropped_columns: stats.dropped_columns,
            signed: stats.signed,
            seconds: (parts.presolve, parts.solve, parts.certify, parts.total),
        );
        Ok(fields)
    }

    /// The trace, one array per column; numbers that are not known are NaN there.
    fn trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = &self.0.trace;
        let columns = PyDict::new(py);
        let numbers = |get: fn(&TraceRow) -> f64| PyArray1::from_iter(py, rows.iter().map(get));
        let counts = |get: fn(&TraceRow) -> usize| PyArray1::from_iter(py, rows.iter().map(|row| get(row) as i64));
        set!(columns,
            passes: numbers(|row| row.passes),
            seconds: numbers(|row| row.seconds),
            objective: numbers(|row| row.objective.unwrap_or(f64::NAN)),
            lower_bound: numbers(|row| row.lower_bound.unwrap_or(f64::NAN)),
            relative_gap: numbers(|row| row.relative_gap.unwrap_or(f64::NAN)),
            natural_residual: numbers(|row| row.natural_residual.unwrap_or(f64::NAN)),
            support: counts(|row| row.support),
            restarts: counts(|row| row.restarts),
            event: rows.iter().map(|row| row.event.name()).collect::<Vec<_>>(),
        );
        Ok(columns)
    }
}
