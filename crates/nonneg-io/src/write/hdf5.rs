//! HDF5: `A`, a dataset or a sparse group as AnnData writes it, and `b`.

use std::io;

use hdf5_writer::{AttributeBuilder, DatasetBuilder, H5WriteElement, Hdf5Builder, Hdf5Writer, WriteOptions};
use nonneg::matrix::{Index, Value};
use nonneg::{CscView, DenseView, MatrixRef};

use crate::assemble;
use crate::error::{Error, Result};
use crate::output;

pub(crate) fn write_problem(path: &str, matrix: MatrixRef, rhs: Option<&[f64]>) -> Result<()> {
    let failed = |e: hdf5_writer::Error| Error::content(path, format!("cannot write HDF5: {e}"));
    let builder = match matrix {
        MatrixRef::CscF64(view) => sparse(view).map_err(failed)?,
        MatrixRef::CscF32(view) => sparse(view).map_err(failed)?,
        MatrixRef::CscF64Wide(view) => sparse(view).map_err(failed)?,
        MatrixRef::CscF32Wide(view) => sparse(view).map_err(failed)?,
        MatrixRef::CsrF64(view) => sparse(view.to_csc().view()).map_err(failed)?,
        MatrixRef::CsrF32(view) => sparse(view.to_csc().view()).map_err(failed)?,
        MatrixRef::CsrF64Wide(view) => sparse(view.to_csc().view()).map_err(failed)?,
        MatrixRef::CsrF32Wide(view) => sparse(view.to_csc().view()).map_err(failed)?,
        MatrixRef::DenseF64(view) => dense(path, view)?,
        MatrixRef::DenseF32(view) => dense(path, view)?,
    };
    let builder = match rhs {
        Some(rhs) => builder.dataset(told(array("b", rhs).map_err(failed)?)),
        None => builder,
    };
    let plan = builder.into_plan().map_err(failed)?;
    output::file(path, |out| match Hdf5Writer::new(out, WriteOptions::default()).finish(plan) {
        Ok(_) => Ok(()),
        Err(hdf5_writer::Error::Io(error)) => Err(error),
        Err(error) => Err(io::Error::other(error)),
    })
}

fn array<T: H5WriteElement>(name: &str, values: &[T]) -> hdf5_writer::Result<DatasetBuilder> {
    DatasetBuilder::typed_data(name, vec![values.len() as u64], values)
}

/// Row after row, as everybody stores them.
fn dense<T: Value + H5WriteElement>(path: &str, view: DenseView<T>) -> Result<Hdf5Builder> {
    let (rows, cols) = (view.rows(), view.cols());
    let mut by_rows = assemble::filled(path, rows * cols, T::from_f64(0.0))?;
    for (j, column) in view.values().chunks_exact(rows.max(1)).enumerate() {
        by_rows[j..].iter_mut().step_by(cols).zip(column).for_each(|(to, from)| *to = *from);
    }
    let dataset = DatasetBuilder::typed_data("A", vec![rows as u64, cols as u64], &by_rows);
    let dataset = dataset.map_err(|e| Error::content(path, format!("cannot write HDF5: {e}")))?;
    Ok(Hdf5Builder::new().dataset(told(dataset)))
}

/// AnnData reads any dataset, but wants to be told that it is one.
fn told(dataset: DatasetBuilder) -> DatasetBuilder {
    dataset
        .attribute(AttributeBuilder::fixed_string("encoding-type", "array"))
        .attribute(AttributeBuilder::fixed_string("encoding-version", "0.2.0"))
}

fn sparse<T: Value + H5WriteElement, I: Index>(view: CscView<T, I>) -> hdf5_writer::Result<Hdf5Builder> {
    let (ptr, idx, values) = view.parts();
    let shape = [view.rows() as i64, view.cols() as i64];
    let mut builder = Hdf5Builder::new()
        .group_attribute("A", AttributeBuilder::fixed_string("encoding-type", "csc_matrix"))
        .group_attribute("A", AttributeBuilder::fixed_string("encoding-version", "0.1.0"))
        .group_attribute("A", AttributeBuilder::vector("shape", &shape)?)
        .dataset(array("A/data", values)?);
    // SciPy wants one type for both; 64 bits only where 32 do not do.
    if i32::try_from(view.rows().max(values.len())).is_ok() {
        let narrow = |values: &mut dyn Iterator<Item = usize>| values.map(|value| value as i32).collect::<Vec<_>>();
        builder = builder.dataset(array("A/indices", &narrow(&mut idx.iter().map(|i| i.to_usize())))?);
        builder = builder.dataset(array("A/indptr", &narrow(&mut ptr.iter().copied()))?);
    } else {
        let wide = |values: &mut dyn Iterator<Item = usize>| values.map(|value| value as i64).collect::<Vec<_>>();
        builder = builder.dataset(array("A/indices", &wide(&mut idx.iter().map(|i| i.to_usize())))?);
        builder = builder.dataset(array("A/indptr", &wide(&mut ptr.iter().copied()))?);
    }
    Ok(builder)
}
