//! Sparse matrices are groups: three arrays and a shape. AnnData tells by attributes whether they are rows or columns,
//! 10x Genomics keeps columns and the shape in a fourth array, MATLAB keeps columns under other names.

use hdf5_reader::group::Group;
use nonneg::matrix::{Index, Value};
use nonneg::{AnyMatrix, CscMatrix, CsrMatrix};

use super::array::{Array, Number};
use crate::Shape;
use crate::assemble::{check_shape, with_index};
use crate::error::{Error, Result};
use crate::npy::{Element, Kind};

pub(super) struct Sparse {
    pub rows: usize,
    pub cols: usize,
    name: String,
    by_rows: bool,
    pointers: Array,
    /// MATLAB leaves both out where all is zero.
    entries: Option<(Array, Array)>,
}

impl Sparse {
    /// `None` where the group is none.
    pub fn of(name: &str, group: &Group, file_size: u64) -> Result<Option<Self>> {
        let array = |key: &str| match group.dataset(key) {
            Ok(dataset) => Array::new(format!("{name}/{key}"), dataset, file_size).map(Some),
            Err(_) => Ok(None),
        };
        if let Ok(rows) = group.attribute("MATLAB_sparse").and_then(|rows| rows.read_as_f64()) {
            let Some(pointers) = array("jc")? else { return Ok(None) };
            let entries = array("ir")?.zip(array("data")?);
            let cols = pointers.len().saturating_sub(1);
            return Self { rows: rows as usize, cols, name: name.into(), by_rows: false, pointers, entries }.checked().map(Some);
        }
        let (Some(indices), Some(pointers), Some(data)) = (array("indices")?, array("indptr")?, array("data")?) else {
            return Ok(None);
        };
        let text = |key| group.attribute(key).and_then(|text| text.read_string()).ok();
        let by_rows = match text("encoding-type").or_else(|| text("h5sparse_format")).as_deref() {
            Some("csr_matrix" | "csr") => true,
            Some("csc_matrix" | "csc") | None => false,
            Some(other) => {
                return Err(Error::content(name, format!("is stored as '{other}', expected csr_matrix or csc_matrix")));
            }
        };
        let lengths = match (array("shape")?, group.attribute("shape").or_else(|_| group.attribute("h5sparse_shape"))) {
            (Some(shape), _) => shape.read_all::<u64>(&|_| ())?,
            (None, Ok(shape)) => {
                let lengths = shape.read_1d::<Number<u64>>();
                let lengths = lengths.map_err(|e| Error::content(name, format!("the attribute 'shape' cannot be read: {e}")))?;
                lengths.into_iter().map(|length| length.0).collect()
            }
            (None, Err(_)) => return Ok(None),
        };
        let &[rows, cols] = lengths.as_slice() else {
            return Err(Error::content(name, format!("'shape' holds {} numbers, expected 2 (rows, columns)", lengths.len())));
        };
        let (rows, cols) = (rows as usize, cols as usize);
        Self { rows, cols, name: name.into(), by_rows, pointers, entries: Some((indices, data)) }.checked().map(Some)
    }

    fn checked(self) -> Result<Self> {
        let arrays = self.entries.iter().flat_map(|(indices, data)| [indices, data]).chain([&self.pointers]);
        if let Some(array) = arrays.into_iter().find(|array| array.dimensions() > 1 && !self.pointers.name.ends_with("jc")) {
            return Err(Error::content(&array.name, format!("has {} dimensions, expected 1", array.dimensions())));
        }
        check_shape(&self.name, self.rows as u64, self.cols as u64, self.nnz() as u64)?;
        let outer = if self.by_rows { self.rows } else { self.cols };
        if self.pointers.len() != outer + 1 {
            let (found, expected) = (self.pointers.len(), outer + 1);
            return Err(Error::content(&self.pointers.name, format!("has {found} pointers, expected {expected}")));
        }
        Ok(self)
    }

    fn nnz(&self) -> usize {
        self.entries.as_ref().map_or(0, |(_, data)| data.len())
    }

    fn kind(&self) -> Kind {
        self.entries.as_ref().map_or(Kind::F64, |(_, data)| data.dtype.kind)
    }

    pub fn shape(&self) -> Result<Shape> {
        let kind = if self.by_rows { "csr" } else { "csc" };
        Ok(Shape { rows: self.rows, cols: self.cols, nnz: Some(self.nnz()), dtype: self.kind().name().into(), kind })
    }

    pub fn read(&self, report: &dyn Fn(f64)) -> Result<AnyMatrix> {
        // Rows decide on the index type of the result; while it is stored by rows, columns must fit too.
        let largest = if self.by_rows { self.rows.max(self.cols) } else { self.rows };
        match self.kind() {
            Kind::F32 => with_index!(largest, I, self.read_as::<f32, I>(report)),
            _ => with_index!(largest, I, self.read_as::<f64, I>(report)),
        }
    }

    fn read_as<T, I>(&self, report: &dyn Fn(f64)) -> Result<AnyMatrix>
    where
        T: Element + Value + Send,
        I: Element + Index + Send,
        AnyMatrix: From<CscMatrix<T, I>>,
    {
        let wrap = |e: nonneg::Error| Error::content(&self.name, e.to_string());
        let ptr: Vec<usize> = self.pointers.read_all(&|_| ())?;
        let (mut idx, mut values): (Vec<I>, Vec<T>) = match &self.entries {
            Some((indices, data)) => {
                (indices.read_all(&|done| report(done / 2.0))?, data.read_all(&|done| report((1.0 + done) / 2.0))?)
            }
            None => (vec![], vec![]),
        };
        // There may be room for more entries than there are.
        let nnz = ptr.last().copied().unwrap_or(0);
        idx.truncate(nnz);
        values.truncate(nnz);
        if self.by_rows {
            let matrix = CsrMatrix::<T, I>::new(self.rows, self.cols, ptr, idx, values).map_err(wrap)?;
            return Ok(matrix.view().to_csc().into());
        }
        Ok(CscMatrix::<T, I>::new(self.rows, self.cols, ptr, idx, values).map_err(wrap)?.into())
    }
}
