//! `scipy.sparse.save_npz`: arrays `format`, `shape`, `data`, and `indices`, `indptr` or `row`, `col`.

use nonneg::matrix::{Index, Value};
use nonneg::{AnyMatrix, CscMatrix, CsrMatrix};

use super::Archive;
use crate::Shape;
use crate::assemble::{self, Batch, check_shape, with_index};
use crate::error::{Error, Result};
use crate::npy::{Element, Kind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Csc,
    Csr,
    Coo,
}

/// What is known before the large arrays are read.
struct About {
    layout: Layout,
    rows: usize,
    cols: usize,
    nnz: usize,
    dtype: crate::npy::Dtype,
}

pub(super) fn read(archive: &mut Archive) -> Result<AnyMatrix> {
    let about = about(archive)?;
    // Rows decide on the index type of the result; while it is stored by rows, columns must fit too.
    let largest = if about.layout == Layout::Csr { about.rows.max(about.cols) } else { about.rows };
    match about.dtype.kind {
        Kind::F32 => with_index!(largest, I, read_as::<f32, I>(archive, &about)),
        _ => with_index!(largest, I, read_as::<f64, I>(archive, &about)),
    }
}

pub(super) fn peek(archive: &mut Archive) -> Result<Shape> {
    let About { layout, rows, cols, nnz, dtype } = about(archive)?;
    let kind = match layout {
        Layout::Csc => "csc",
        Layout::Csr => "csr",
        Layout::Coo => "coo",
    };
    Ok(Shape { rows, cols, nnz: Some(nnz), dtype: dtype.name().into(), kind })
}

fn about(archive: &mut Archive) -> Result<About> {
    let layout = match archive.text("format")?.as_str() {
        "csc" => Layout::Csc,
        "csr" => Layout::Csr,
        "coo" => Layout::Coo,
        other => {
            let message = format!("sparse format '{other}' is not supported, expected csc, csr or coo (in SciPy: A.tocsc())");
            return Err(Error::content(&archive.path, message));
        }
    };
    let shape: Vec<u64> = integers(archive, "shape")?;
    let &[rows, cols] = shape.as_slice() else {
        let message = format!("'shape' holds {} numbers, expected 2 (rows, columns)", shape.len());
        return Err(Error::content(&archive.path, message));
    };
    let data = archive.array("data")?;
    if data.header.shape.len() != 1 {
        return Err(Error::content(&data.name, format!("has {} dimensions, expected 1", data.header.shape.len())));
    }
    let (nnz, dtype) = (data.header.shape[0], data.header.dtype);
    drop(data);
    check_shape(&archive.path, rows, cols, nnz as u64)?;
    Ok(About { layout, rows: rows as usize, cols: cols as usize, nnz, dtype })
}

/// A 1-D array of integers. Floating-point indices are a sign of a file that means something else.
fn integers<T: Element>(archive: &mut Archive, key: &str) -> Result<Vec<T>> {
    let array = archive.array(key)?;
    if !array.header.dtype.is_integer() || array.header.shape.len() != 1 {
        let (dtype, shape) = (array.header.dtype.name(), &array.header.shape);
        return Err(Error::content(&array.name, format!("is {dtype} of shape {shape:?}, expected a 1-D array of integers")));
    }
    array.read_all()
}

fn read_as<T, I>(archive: &mut Archive, about: &About) -> Result<AnyMatrix>
where
    T: Element + Value,
    I: Element + Index,
    AnyMatrix: From<CscMatrix<T, I>>,
{
    let (rows, cols) = (about.rows, about.cols);
    let path = archive.path.clone();
    let wrap = |e: nonneg::Error| Error::content(&path, e.to_string());
    match about.layout {
        Layout::Csc => {
            let ptr = pointers(archive, cols, "column")?;
            let (idx, values) = indices_and_data(archive, "indices")?;
            Ok(CscMatrix::<T, I>::new(rows, cols, ptr, idx, values).map_err(wrap)?.into())
        }
        Layout::Csr => {
            let ptr = pointers(archive, rows, "row")?;
            let (idx, values) = indices_and_data(archive, "indices")?;
            Ok(CsrMatrix::<T, I>::new(rows, cols, ptr, idx, values).map_err(wrap)?.view().to_csc().into())
        }
        Layout::Coo => {
            let col: Vec<u32> = integers(archive, "col")?;
            let (row, data) = indices_and_data(archive, "row")?;
            from_coordinates::<T, I>(&path, rows, cols, row, col, data)
        }
    }
}

fn pointers(archive: &mut Archive, outer: usize, what: &str) -> Result<Vec<usize>> {
    let ptr: Vec<usize> = integers(archive, "indptr")?;
    if ptr.len() != outer + 1 {
        let (found, expected) = (ptr.len(), outer + 1);
        return Err(Error::content(&archive.name("indptr"), format!("has {found} {what} pointers, expected {expected}")));
    }
    Ok(ptr)
}

/// The two large arrays, side by side: inflating them is most of the time.
fn indices_and_data<T: Element + Send, I: Element + Send>(archive: &mut Archive, key: &str) -> Result<(Vec<I>, Vec<T>)> {
    let (indices, data) = match archive.take_twin() {
        Some(mut twin) => rayon::join(|| integers(&mut twin, key), || archive.array("data")?.read_all()),
        None => (integers(archive, key), archive.array("data")?.read_all()),
    };
    Ok((indices?, data?))
}

fn from_coordinates<T, I>(path: &str, rows: usize, cols: usize, row: Vec<I>, col: Vec<u32>, data: Vec<T>) -> Result<AnyMatrix>
where
    T: Element + Value,
    I: Index,
    AnyMatrix: From<CscMatrix<T, I>>,
{
    if row.len() != data.len() || col.len() != data.len() {
        let message = format!("{} rows, {} columns and {} values, expected equally many", row.len(), col.len(), data.len());
        return Err(Error::content(path, message));
    }
    if let Some(e) = row.iter().position(|i| i.to_usize() >= rows) {
        return Err(Error::content(path, format!("entry {e}: row {:?} is out of range, there are {rows} rows", row[e])));
    }
    if let Some(e) = col.iter().position(|&j| j as usize >= cols) {
        return Err(Error::content(path, format!("entry {e}: column {} is out of range, there are {cols} columns", col[e])));
    }
    let arrays = row.chunks(assemble::PIECE).zip(col.chunks(assemble::PIECE)).zip(data.chunks(assemble::PIECE));
    let batches = arrays.map(|((row, col), data)| {
        let triplets = row.iter().zip(col).zip(data).map(|((&row, &column), &value)| (row, column, value));
        Batch { first_row: 0, entries: triplets.collect() }
    });
    let batches = batches.collect();
    drop((row, col, data));
    assemble::to_columns(path, rows, cols, 0, batches)
}
