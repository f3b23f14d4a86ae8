//! A as Python holds it: borrowed where the memory layout allows it, converted once where not.

use nonneg::matrix::Value;
use nonneg::{AnyMatrix, CscMatrix, CscView, CsrMatrix, CsrView, DenseMatrix, DenseView, MatrixRef};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::to_python;

/// A matrix that was checked: finite values, indices in range.
#[pyclass(frozen, module = "nonneg._nonneg")]
pub struct Matrix {
    /// Of `_owner`'s memory: it must not leave this struct with a longer life.
    view: MatrixRef<'static>,
    #[pyo3(get)]
    copied: bool,
    _owner: Owner,
}

/// What keeps the memory behind a view.
enum Owner {
    Arrays { _arrays: Vec<Py<PyAny>>, _pointers: Box<[usize]> },
    Copy { _matrix: Box<AnyMatrix> },
}

impl Matrix {
    /// Borrows it.
    pub fn view(&self) -> MatrixRef<'_> {
        self.view
    }

    /// A matrix of our own.
    fn owned(matrix: impl Into<AnyMatrix>) -> Self {
        let matrix = Box::new(matrix.into());
        let view = matrix.view();
        // SAFETY: the box outlives the view in the same struct, is never moved out of it and never written to.
        let view = unsafe { std::mem::transmute::<MatrixRef<'_>, MatrixRef<'static>>(view) };
        Self { view, copied: true, _owner: Owner::Copy { _matrix: matrix } }
    }

    /// A view of the memory of Python arrays, which are kept.
    ///
    /// # Safety
    /// `view` must be of the memory of `arrays` and of `pointers`. (Python code that writes to the arrays while a solve
    /// runs gets what it deserves, as everywhere in NumPy.)
    unsafe fn borrowed(view: MatrixRef<'_>, arrays: Vec<Py<PyAny>>, pointers: Box<[usize]>) -> Self {
        // SAFETY: the caller says what the view is of, and that stays here as long as the view does.
        let view = unsafe { std::mem::transmute::<MatrixRef<'_>, MatrixRef<'static>>(view) };
        Self { view, copied: false, _owner: Owner::Arrays { _arrays: arrays, _pointers: pointers } }
    }
}

#[pymethods]
impl Matrix {
    /// As [`dense`](Self::dense) where that is what the array is: a plain 2-D array of native floats without gaps.
    #[staticmethod]
    fn ready(array: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        fn whole<T: Element>(array: &Bound<'_, PyArray2<T>>) -> bool {
            array.is_contiguous() && (array.data() as usize).is_multiple_of(align_of::<T>())
        }
        if let Ok(array) = array.cast_exact::<PyArray2<f64>>() {
            return whole(array).then(|| dense(array)).transpose();
        }
        if let Ok(array) = array.cast_exact::<PyArray2<f32>>() {
            return whole(array).then(|| dense(array)).transpose();
        }
        Ok(None)
    }

    /// A 2-D array of float32 or float64: used as it is in Fortran order, transposed once in C order.
    #[staticmethod]
    fn dense(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(array) = array.cast::<PyArray2<f64>>() {
            return dense(array);
        }
        if let Ok(array) = array.cast::<PyArray2<f32>>() {
            return dense(array);
        }
        Err(PyTypeError::new_err("expected a 2-D array of float64 or float32"))
    }

    /// Compressed columns as SciPy stores them: used as they are where sorted and without duplicates.
    #[staticmethod]
    fn csc(
        rows: usize,
        cols: usize,
        pointers: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        compressed(Order::Columns, rows, cols, pointers, indices, values)
    }

    /// Compressed rows; a solve makes columns of them.
    #[staticmethod]
    fn csr(
        rows: usize,
        cols: usize,
        pointers: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        compressed(Order::Rows, rows, cols, pointers, indices, values)
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.view.rows(), self.view.cols())
    }

    #[getter]
    fn nnz(&self) -> usize {
        self.view.nnz()
    }
}

/// Whether it is a plain 1-D array of native float64 without gaps, so that nothing has to be converted.
#[pyfunction]
pub fn is_ready(array: &Bound<'_, PyAny>) -> bool {
    array
        .cast_exact::<PyArray1<f64>>()
        .is_ok_and(|array| array.is_contiguous() && (array.data() as usize).is_multiple_of(align_of::<f64>()))
}

fn dense<T>(array: &Bound<'_, PyArray2<T>>) -> PyResult<Matrix>
where
    T: Value + Element,
    for<'a> MatrixRef<'a>: From<DenseView<'a, T>>,
    AnyMatrix: From<DenseMatrix<T>>,
{
    let (rows, cols) = (array.shape()[0], array.shape()[1]);
    let held = array.readonly();
    let values = held.as_slice().map_err(|_| PyValueError::new_err("the array is not contiguous"))?;
    if array.is_fortran_contiguous() {
        let view = DenseView::new(rows, cols, values).map_err(to_python)?;
        // SAFETY: the view is of the array's memory.
        return Ok(unsafe { Matrix::borrowed(view.into(), vec![array.clone().into_any().unbind()], Box::default()) });
    }
    let matrix = array.py().detach(|| DenseMatrix::from_row_major(rows, cols, values)).map_err(to_python)?;
    Ok(Matrix::owned(matrix))
}

#[derive(Clone, Copy)]
enum Order {
    Columns,
    Rows,
}

fn compressed(
    order: Order,
    rows: usize,
    cols: usize,
    pointers: &Bound<'_, PyAny>,
    indices: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
) -> PyResult<Matrix> {
    let parts = Parts { order, rows, cols, pointers: to_pointers(pointers)? };
    let narrow = indices.cast::<PyArray1<i32>>();
    if let Ok(values) = values.cast::<PyArray1<f64>>() {
        return match narrow {
            Ok(narrow) => parts.finish(narrow, values),
            Err(_) => parts.finish(indices.cast::<PyArray1<i64>>()?, values),
        };
    }
    if let Ok(values) = values.cast::<PyArray1<f32>>() {
        return match narrow {
            Ok(narrow) => parts.finish(narrow, values),
            Err(_) => parts.finish(indices.cast::<PyArray1<i64>>()?, values),
        };
    }
    Err(PyTypeError::new_err("expected values of float64 or float32"))
}

fn to_pointers(pointers: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    fn convert<I: Element + Copy + TryInto<usize>>(array: &Bound<'_, PyArray1<I>>) -> PyResult<Vec<usize>> {
        let array = array.readonly();
        let negative = || PyValueError::new_err("the index pointers of the sparse matrix hold a negative number");
        array.as_array().iter().map(|&p| p.try_into().map_err(|_| negative())).collect()
    }
    if let Ok(pointers) = pointers.cast::<PyArray1<i32>>() {
        return convert(pointers);
    }
    convert(pointers.cast::<PyArray1<i64>>()?)
}

struct Parts {
    order: Order,
    rows: usize,
    cols: usize,
    pointers: Vec<usize>,
}

impl Parts {
    fn finish<T: Value + Element, S: Signed>(
        self,
        indices: &Bound<'_, PyArray1<S>>,
        values: &Bound<'_, PyArray1<T>>,
    ) -> PyResult<Matrix>
    where
        for<'a> MatrixRef<'a>: From<CscView<'a, T, S::Unsigned>> + From<CsrView<'a, T, S::Unsigned>>,
        AnyMatrix: From<CscMatrix<T, S::Unsigned>> + From<CsrMatrix<T, S::Unsigned>>,
    {
        let Self { order, rows, cols, pointers } = self;
        let keep: Vec<Py<PyAny>> = vec![indices.clone().into_any().unbind(), values.clone().into_any().unbind()];
        let (index_array, value_array) = (indices.readonly(), values.readonly());
        let contiguous = |_| PyValueError::new_err("the arrays of the sparse matrix are not contiguous");
        let (signed, values) = (index_array.as_slice().map_err(contiguous)?, value_array.as_slice().map_err(contiguous)?);
        // SciPy's arrays may be longer than what is in use.
        let used = pointers.last().copied().unwrap_or(0);
        if used > signed.len() || used > values.len() {
            let message =
                format!("the index pointers end at {used}, but there are {} indices and {} values", signed.len(), values.len());
            return Err(PyValueError::new_err(message));
        }
        let (signed, values) = (&signed[..used], &values[..used]);
        if let Some(place) = signed.iter().position(|&i| S::is_negative(i)) {
            return Err(PyValueError::new_err(format!("index {place} of the sparse matrix is negative")));
        }
        let unsigned = S::reinterpret(signed);
        let pointers: Box<[usize]> = pointers.into();
        let view: nonneg::Result<MatrixRef> = match order {
            Order::Columns => CscView::new(rows, cols, &pointers, unsigned, values).map(Into::into),
            Order::Rows => CsrView::new(rows, cols, &pointers, unsigned, values).map(Into::into),
        };
        if let Ok(view) = view {
            // SAFETY: the lifetime is that of the arrays and the pointers, which go with the view; a box does not move
            // what it holds.
            return Ok(unsafe {
                let view = std::mem::transmute::<MatrixRef<'_>, MatrixRef<'static>>(view);
                Matrix::borrowed(view, keep, pointers)
            });
        }
        // Unsorted or with duplicates, which a copy sorts and sums; or wrong, which it says.
        let (indices, values) = (unsigned.to_vec(), values.to_vec());
        Ok(match order {
            Order::Columns => Matrix::owned(CscMatrix::new(rows, cols, pointers.into(), indices, values).map_err(to_python)?),
            Order::Rows => Matrix::owned(CsrMatrix::new(rows, cols, pointers.into(), indices, values).map_err(to_python)?),
        })
    }
}

/// SciPy's index types, and the ones that they are read as.
trait Signed: Element + Copy {
    type Unsigned: nonneg::matrix::Index;
    fn is_negative(self) -> bool;
    fn reinterpret(values: &[Self]) -> &[Self::Unsigned];
}

macro_rules! signed {
    ($($signed:ty as $unsigned:ty),*) => {$(
        impl Signed for $signed {
            type Unsigned = $unsigned;
            fn is_negative(self) -> bool {
                self < 0
            }
            fn reinterpret(values: &[Self]) -> &[$unsigned] {
                // SAFETY: same size, same alignment, every bit pattern is a number.
                unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
            }
        }
    )*};
}
signed!(i32 as u32, i64 as u64);
