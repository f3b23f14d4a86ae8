//! Problems and settings from Python's keywords.

use std::time::{Duration, Instant};

use nonneg::{BlockMetric, LeastSquares, Lower, Method, Problem, Solver, Status, Upper};
use numpy::{PyArray1, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::answer::Answer;
use crate::matrix::Matrix;
use crate::{answer, run, to_python};

pub type Vector<'py> = PyReadonlyArray1<'py, f64>;

/// A with what every solve would find out again.
#[pyclass(frozen, module = "nonneg._nonneg")]
pub struct Prepared {
    // Dropped before what it borrows.
    problem: Problem<'static>,
    _weights: Option<Box<[f64]>>,
    #[pyo3(get)]
    matrix: Py<Matrix>,
}

#[pymethods]
impl Prepared {
    #[new]
    #[pyo3(signature = (matrix, weights=None, l2=0.0))]
    fn new(py: Python<'_>, matrix: Py<Matrix>, weights: Option<Vector>, l2: f64) -> PyResult<Self> {
        let weights: Option<Box<[f64]>> = weights.map(|w| Ok::<_, PyErr>(slice(&w)?.into())).transpose()?;
        let view = matrix.get().view();
        let problem = py.detach(|| Problem::with(view, weights.as_deref(), l2)).map_err(to_python)?;
        // SAFETY: the matrix and the boxed weights are kept beside the problem, never written to, and dropped after it.
        let problem = unsafe { std::mem::transmute::<Problem<'_>, Problem<'static>>(problem) };
        Ok(Self { problem, _weights: weights, matrix })
    }
}

/// A, plain or prepared.
#[derive(FromPyObject)]
pub enum Source<'py> {
    Plain(PyRef<'py, Matrix>),
    Prepared(PyRef<'py, Prepared>),
}

/// A number for all columns, or one for each.
#[derive(FromPyObject)]
pub enum Bounds<'py> {
    Uniform(f64),
    Each(Vector<'py>),
}

/// What problem it is, beside A: what the dictionary does not name is not there.
#[derive(Default)]
pub struct Parts<'py> {
    b: Option<Vector<'py>>,
    c: Option<Vector<'py>>,
    weights: Option<Vector<'py>>,
    l1: f64,
    l2: f64,
    upper: Option<Bounds<'py>>,
    lower: Option<Bounds<'py>>,
    free: Option<Vec<usize>>,
    sum_to_one: bool,
    x0: Option<Vector<'py>>,
    columns: Option<Vec<usize>>,
}

/// Calls `set` with each item of a dictionary.
fn each_item<'py>(items: &Bound<'py, PyDict>, mut set: impl FnMut(&str, Bound<'py, PyAny>) -> PyResult<bool>) -> PyResult<()> {
    for (name, value) in items {
        let name = name.cast_into::<PyString>()?;
        let name = name.to_str()?;
        if !set(name, value)? {
            return Err(PyTypeError::new_err(format!("no option is called {name:?}")));
        }
    }
    Ok(())
}

impl<'py> FromPyObject<'_, 'py> for Parts<'py> {
    type Error = PyErr;

    fn extract(items: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let mut parts = Self::default();
        each_item(&*items.cast::<PyDict>()?, |name, value| {
            match name {
                "b" => parts.b = value.extract()?,
                "c" => parts.c = value.extract()?,
                "weights" => parts.weights = value.extract()?,
                "l1" => parts.l1 = value.extract()?,
                "l2" => parts.l2 = value.extract()?,
                "upper" => parts.upper = value.extract()?,
                "lower" => parts.lower = value.extract()?,
                "free" => parts.free = value.extract()?,
                "sum_to_one" => parts.sum_to_one = value.extract()?,
                "x0" => parts.x0 = value.extract()?,
                "columns" => parts.columns = value.extract()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(parts)
    }
}

pub fn slice<'a>(vector: &'a Vector) -> PyResult<&'a [f64]> {
    vector.as_slice().map_err(|_| PyValueError::new_err(format!("an array of {} numbers is not contiguous", vector.len())))
}

impl Parts<'_> {
    fn least_squares<'a>(&'a self, source: &'a Source) -> PyResult<LeastSquares<'a>> {
        let mut problem = match (source, &self.b, &self.c) {
            (Source::Plain(matrix), Some(b), None) => LeastSquares::new(matrix.view(), slice(b)?),
            (Source::Plain(matrix), None, Some(c)) => LeastSquares::with_linear(matrix.view(), slice(c)?),
            (Source::Prepared(prepared), Some(b), None) => prepared.problem.least_squares(slice(b)?),
            (Source::Prepared(prepared), None, Some(c)) => prepared.problem.with_linear(slice(c)?),
            _ => return Err(PyValueError::new_err("give either b or c")),
        };
        if let Source::Plain(_) = source {
            problem.l2 = self.l2;
            problem.weights = self.weights.as_ref().map(slice).transpose()?;
        }
        problem.l1 = self.l1;
        problem.sum_to_one = self.sum_to_one;
        problem.upper = match &self.upper {
            None => Upper::None,
            Some(Bounds::Uniform(bound)) => Upper::Uniform(*bound),
            Some(Bounds::Each(bounds)) => Upper::Each(slice(bounds)?),
        };
        problem.lower = match &self.lower {
            None => Lower::Zero,
            Some(Bounds::Uniform(bound)) => Lower::Uniform(*bound),
            Some(Bounds::Each(bounds)) => Lower::Each(slice(bounds)?),
        };
        problem.start = self.x0.as_ref().map(slice).transpose()?;
        if let Some(columns) = &self.columns {
            problem = problem.columns(columns);
        }
        if let Some(free) = &self.free {
            problem = problem.free(free);
        }
        Ok(problem)
    }
}

/// How to solve it: what the dictionary does not name is as in [`Solver`].
pub struct Settings(pub Solver);

impl<'py> FromPyObject<'_, 'py> for Settings {
    type Error = PyErr;

    fn extract(items: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let mut solver = Solver::new();
        each_item(&*items.cast::<PyDict>()?, |name, value| {
            match name {
                "tol" => solver.tolerance = value.extract()?,
                "method" => solver.method = named("method", &value, &Method::ALL, Method::name)?,
                "batch_size" => solver.batch_size = value.extract()?,
                "metric" => solver.block_metric = Some(named("metric", &value, &METRICS, |metric| metric.0)?.1),
                "seed" => solver.seed = value.extract()?,
                "time_limit" => solver.time_limit = duration(value.extract()?)?,
                "max_passes" => solver.max_passes = Some(value.extract()?),
                "threads" => solver.threads = Some(value.extract()?),
                "memory_limit" => solver.memory_limit = Some(value.extract()?),
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(Self(solver))
    }
}

const METRICS: [(&str, BlockMetric); 2] = [("spectral", BlockMetric::Spectral), ("scale-invariant", BlockMetric::ScaleInvariant)];

/// The one of `known` with that name.
pub fn named<T: Copy>(what: &str, name: &Bound<'_, PyAny>, known: &[T], name_of: fn(T) -> &'static str) -> PyResult<T> {
    let name = name.cast::<PyString>()?.to_str()?;
    known.iter().copied().find(|&value| name_of(value) == name).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|&value| name_of(value)).collect();
        PyValueError::new_err(format!("{what} is {name:?}, expected one of {}", names.join(", ")))
    })
}

/// A limit beyond all time is none.
fn duration(seconds: f64) -> PyResult<Option<Duration>> {
    if seconds.is_nan() || seconds < 0.0 {
        return Err(PyValueError::new_err(format!("time_limit is {seconds}, expected seconds ≥ 0")));
    }
    Ok(Duration::try_from_secs_f64(seconds).ok())
}

/// Solves, and returns x and what else is known.
#[pyfunction]
#[pyo3(signature = (source, parts, settings, callback=None))]
pub fn solve<'py>(
    py: Python<'py>,
    source: Source<'py>,
    parts: Parts<'py>,
    settings: Settings,
    callback: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyArray1<f64>>, Answer)> {
    let Settings(solver) = settings;
    let problem = parts.least_squares(&source)?;
    let entries = problem.matrix.nnz();
    let solution = run::without_gil(py, entries, callback, |limits, observe| {
        let (solver, cut_short) = limits.apply(&solver);
        let solution = solver.solve_observed(&problem, observe);
        let out_of_time = solution.as_ref().is_ok_and(|solution| solution.status == Status::TimeLimit);
        (!(cut_short && out_of_time)).then_some(solution)
    })?;
    solution.map(|solution| Answer::of(py, solution)).map_err(to_python)
}

/// The seconds that a solve takes without Python, for the benchmark of what Python adds: the least of `rounds` means over
/// `repeats` calls.
#[pyfunction]
pub fn seconds_in_rust<'py>(py: Python<'py>, source: Source<'py>, parts: Parts<'py>, rounds: u32, repeats: u32) -> PyResult<f64> {
    let problem = parts.least_squares(&source)?;
    py.detach(|| {
        let mut least = f64::INFINITY;
        for _ in 0..rounds {
            let begin = Instant::now();
            for _ in 0..repeats {
                Solver::new().solve_problem(std::hint::black_box(&problem)).map_err(to_python)?;
            }
            least = least.min(begin.elapsed().as_secs_f64() / f64::from(repeats));
        }
        Ok(least)
    })
}

/// Certifies an x, and returns the fields of a certificate.
#[pyfunction]
pub fn verify<'py>(py: Python<'py>, source: Source<'py>, parts: Parts<'py>, x: Vector<'py>) -> PyResult<Bound<'py, PyDict>> {
    let problem = parts.least_squares(&source)?;
    let (entries, x) = (problem.matrix.nnz(), slice(&x)?);
    let certificate = run::without_gil(py, entries, None, |_, _| Some(nonneg::verify(&problem, x)))?;
    answer::certificate(py, &certificate.map_err(to_python)?)
}
