//! The compiled part of the Python package `nonneg`: arrays in, arrays out. What users see is in `python/nonneg`.

mod answer;
mod exact;
mod many;
mod matrix;
mod nmf;
mod problem;
mod run;

use pyo3::prelude::*;

/// Everything that Python code of the package calls.
#[pymodule(gil_used = false)]
mod _nonneg {
    #[pymodule_export]
    use crate::answer::Answer;
    #[pymodule_export]
    use crate::exact::nnls;
    #[pymodule_export]
    use crate::many::solve_many;
    #[pymodule_export]
    use crate::matrix::{Matrix, is_ready};
    #[pymodule_export]
    use crate::nmf::nmf;
    #[pymodule_export]
    use crate::problem::{Prepared, seconds_in_rust, solve, verify};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::run::remember_process();
        let methods: Vec<&str> = nonneg::Method::ALL.iter().map(|method| method.name()).collect();
        module.add("METHODS", methods)?;
        module.add("STATUSES", crate::many::status_names())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Bad input is a ValueError, too little memory a MemoryError.
fn to_python(error: nonneg::Error) -> PyErr {
    use pyo3::exceptions::{PyMemoryError, PyValueError};
    match error {
        nonneg::Error::Matrix(message) => PyValueError::new_err(format!("A: {message}")),
        nonneg::Error::Memory(message) => PyMemoryError::new_err(message),
        other => PyValueError::new_err(other.to_string()),
    }
}
