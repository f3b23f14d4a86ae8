//! Writing `.nnm`: array after array, the header with their digests at last.

use std::io::{Seek, SeekFrom, Write};

use nonneg::matrix::{Index, Value};
use nonneg::{CscView, DenseView, MatrixRef};

use super::digest::Digest;
use super::header::{Array, Header, Kind, SIZE};
use crate::error::{Error, Result};
use crate::output::Pending;

/// Writes A, and b beside it.
pub(crate) fn write(path: &str, matrix: MatrixRef, rhs: Option<&[f64]>) -> Result<()> {
    match matrix {
        MatrixRef::DenseF64(view) => dense(path, view, rhs),
        MatrixRef::DenseF32(view) => dense(path, view, rhs),
        MatrixRef::CscF64(view) => sparse(path, view, rhs),
        MatrixRef::CscF32(view) => sparse(path, view, rhs),
        MatrixRef::CscF64Wide(view) => sparse(path, view, rhs),
        MatrixRef::CscF32Wide(view) => sparse(path, view, rhs),
        MatrixRef::CsrF64(view) => sparse(path, view.to_csc().view(), rhs),
        MatrixRef::CsrF32(view) => sparse(path, view.to_csc().view(), rhs),
        MatrixRef::CsrF64Wide(view) => sparse(path, view.to_csc().view(), rhs),
        MatrixRef::CsrF32Wide(view) => sparse(path, view.to_csc().view(), rhs),
    }
}

fn dense<T: Value + bytemuck::Pod>(path: &str, view: DenseView<T>, rhs: Option<&[f64]>) -> Result<()> {
    let mut writer = DenseWriter::create(path, (view.rows(), view.cols()), size_of::<T>() == 4, rhs)?;
    writer.append(view.values())?;
    writer.finish()
}

fn sparse<T, I>(path: &str, view: CscView<T, I>, rhs: Option<&[f64]>) -> Result<()>
where
    T: Value + bytemuck::Pod,
    I: Index + bytemuck::Pod,
{
    let (pointers, indices, values) = view.parts();
    let types = (size_of::<T>() == 4, size_of::<I>() == 8);
    let shape = (view.rows(), view.cols(), view.nnz());
    let mut file = Arrays::create(path, Header::new(path, shape, Kind::Sparse, types, rhs.is_some())?)?;
    file.append(Array::Pointers, bytemuck::cast_slice(pointers))?;
    file.append(Array::Rhs, bytemuck::cast_slice(rhs.unwrap_or(&[])))?;
    file.append(Array::Indices, bytemuck::cast_slice(indices))?;
    file.append(Array::Values, bytemuck::cast_slice(values))?;
    file.finish()
}

/// A dense matrix that comes some columns at a time.
pub(crate) struct DenseWriter(Arrays);

impl DenseWriter {
    pub fn create(path: &str, (rows, cols): (usize, usize), single: bool, rhs: Option<&[f64]>) -> Result<Self> {
        let nnz = rows.checked_mul(cols).ok_or_else(|| Error::content(path, "the matrix is too large for a file"))?;
        let mut file = Arrays::create(path, Header::new(path, (rows, cols, nnz), Kind::Dense, (single, false), rhs.is_some())?)?;
        file.append(Array::Rhs, bytemuck::cast_slice(rhs.unwrap_or(&[])))?;
        Ok(Self(file))
    }

    pub fn append<T: bytemuck::Pod>(&mut self, columns: &[T]) -> Result<()> {
        self.0.append(Array::Values, bytemuck::cast_slice(columns))
    }

    pub fn finish(self) -> Result<()> {
        self.0.finish()
    }
}

/// A file in the making.
struct Arrays {
    path: String,
    file: Pending,
    header: Header,
    digests: [Digest; 4],
    position: usize,
}

impl Arrays {
    fn create(path: &str, header: Header) -> Result<Self> {
        if cfg!(target_endian = "big") || size_of::<usize>() != 8 {
            return Err(Error::ending(path, ".nnm files are written on little-endian 64-bit machines only"));
        }
        let mut file = Pending::create(path)?;
        file.write(|out| out.write_all(&[0; SIZE]))?;
        Ok(Self { path: path.to_owned(), file, header, digests: Default::default(), position: SIZE })
    }

    /// More of an array; arrays come in their order.
    fn append(&mut self, array: Array, bytes: &[u8]) -> Result<()> {
        let gap = self.header.places[array as usize].start.saturating_sub(self.position);
        self.digests[array as usize].update(bytes);
        self.position += gap + bytes.len();
        self.file.write(|out| {
            out.write_all(&[0; 64][..gap])?;
            out.write_all(bytes)
        })
    }

    fn finish(mut self) -> Result<()> {
        self.append(Array::Values, &[])?; // what comes before it, should it be empty
        let expected = self.header.places[Array::Values as usize].end;
        if self.position != expected {
            let message = format!("{} bytes were written, expected {expected}", self.position);
            return Err(Error::content(&self.path, message));
        }
        self.header.digests = self.digests.map(Digest::finish);
        let header = self.header.to_bytes();
        self.file.write(|out| {
            out.seek(SeekFrom::Start(0))?;
            out.write_all(&header)
        })?;
        self.file.finish()
    }
}
