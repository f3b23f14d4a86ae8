//! What goes back to Python: dictionaries of numbers and arrays.

use nonneg::{Certificate, Solution, TraceRow};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The fields of a certificate.
pub fn certificate<'py>(py: Python<'py>, certificate: &Certificate) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("objective", certificate.objective)?;
    fields.set_item("residual_norm", certificate.residual_norm)?;
    fields.set_item("lower_bound", certificate.lower_bound)?;
    fields.set_item("relative_gap", certificate.relative_gap)?;
    fields.set_item("natural_residual", certificate.natural_residual)?;
    fields.set_item("relative_residual", certificate.relative_residual)?;
    fields.set_item("support", certificate.support)?;
    let dual = (!certificate.dual.is_empty()).then(|| PyArray1::from_slice(py, &certificate.dual));
    fields.set_item("dual", dual)?;
    Ok(fields)
}

/// The fields of a solution, its certificate's among them.
pub fn solution<'py>(py: Python<'py>, solution: Solution) -> PyResult<Bound<'py, PyDict>> {
    let fields = certificate(py, &solution.certificate)?;
    let Solution { x, status, stats, trace, .. } = solution;
    fields.set_item("x", PyArray1::from_vec(py, x))?;
    fields.set_item("status", status.name())?;
    fields.set_item("method", stats.method_name())?;
    fields.set_item("passes", stats.passes)?;
    fields.set_item("restarts", stats.restarts)?;
    fields.set_item("dropped_columns", stats.dropped_columns)?;
    fields.set_item("signed", stats.signed)?;
    let seconds = PyDict::new(py);
    seconds.set_item("presolve", stats.seconds.presolve)?;
    seconds.set_item("solve", stats.seconds.solve)?;
    seconds.set_item("certify", stats.seconds.certify)?;
    seconds.set_item("total", stats.seconds.total)?;
    fields.set_item("seconds", seconds)?;
    fields.set_item("trace", self::trace(py, &trace)?)?;
    Ok(fields)
}

/// One array per column of the trace; numbers that are not known are NaN there.
fn trace<'py>(py: Python<'py>, rows: &[TraceRow]) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let numbers = |name: &str, get: fn(&TraceRow) -> f64| columns.set_item(name, PyArray1::from_iter(py, rows.iter().map(get)));
    numbers("passes", |row| row.passes)?;
    numbers("seconds", |row| row.seconds)?;
    numbers("objective", |row| row.objective.unwrap_or(f64::NAN))?;
    numbers("lower_bound", |row| row.lower_bound.unwrap_or(f64::NAN))?;
    numbers("relative_gap", |row| row.relative_gap.unwrap_or(f64::NAN))?;
    numbers("natural_residual", |row| row.natural_residual.unwrap_or(f64::NAN))?;
    let counts = |name: &str, get: fn(&TraceRow) -> usize| {
        columns.set_item(name, PyArray1::from_iter(py, rows.iter().map(|row| get(row) as i64)))
    };
    counts("support", |row| row.support)?;
    counts("restarts", |row| row.restarts)?;
    columns.set_item("event", rows.iter().map(|row| row.event.name()).collect::<Vec<_>>())?;
    Ok(columns)
}
