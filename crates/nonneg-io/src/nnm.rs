//! `.nnm`: the arrays of a matrix as they lie in memory, so that a file of any size is opened at once and used where it is.
//!
//! ```text
//! 256 bytes   header (`header.rs`): version, shape, types, a digest of every array, a digest of itself
//! pointers    n + 1 of u64            sparse matrices only
//! b           m of f64                if there is one
//! rows        nnz of u32 or u64       sparse matrices only
//! values      nnz (dense: mn, column after column) of f32 or f64
//! ```
//!
//! Everything is little-endian; every array starts at a multiple of 64 bytes, and the file ends with the last of them. Nothing is
//! used before its digest and its contents have been checked: damage is an error, whoever did it.

mod digest;
mod header;
mod resident;
mod write;

pub use resident::limit_resident_memory;

pub(crate) use write::{DenseWriter, write};

use std::fs::File;

use memmap2::Mmap;
use nonneg::matrix::{Index, Value};
use nonneg::{CscView, DenseView, MatrixRef};

use crate::error::{Error, Result};
use crate::{Matrix, Problem, Progress, Shape};
use digest::digest;
use header::{Array, Header, Kind};

/// A file whose header has been checked.
pub(crate) struct Mapped {
    path: String,
    header: Header,
    bytes: &'static [u8],
}

impl Mapped {
    /// Takes no longer for a large file than for a small one. The file stays mapped until the process ends: the matrices that are
    /// read from it borrow its memory.
    pub fn open(path: &str) -> Result<Self> {
        if cfg!(target_endian = "big") || size_of::<usize>() != 8 {
            return Err(Error::ending(path, ".nnm files are read on little-endian 64-bit machines only"));
        }
        let failed = |e| Error::io(path, "open", e);
        let file = File::open(path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        if !about.is_file() {
            return Err(Error::content(path, "is not a file that can be mapped, expected an .nnm file"));
        }
        if about.len() < header::SIZE as u64 {
            return Err(Error::content(path, "the file is cut short, expected the header of an .nnm file"));
        }
        // SAFETY: what lies under the map may change only if another process writes into the file. Ours never do (files are
        // replaced as a whole), and no mapped file is safe from others.
        let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
        let map: &'static Mmap = Box::leak(Box::new(map));
        let bytes: &'static [u8] = map;
        resident::register(map);
        let header = Header::parse(path, bytes)?;
        Ok(Self { path: path.to_owned(), header, bytes })
    }

    pub fn shape(&self) -> Shape {
        let Header { rows, cols, nnz, kind, single, .. } = self.header;
        let dtype = if single { "float32" } else { "float64" }.to_owned();
        Shape { rows, cols, nnz: Some(nnz), dtype, kind: if kind == Kind::Dense { "dense" } else { "csc" } }
    }

    /// Checks all of it, and hands it out where it is.
    pub fn read(&self, progress: Option<Progress>) -> Result<Problem> {
        let total = self.bytes.len() as u64;
        let mut done = header::SIZE as u64;
        for array in Array::ALL {
            let part = self.part(array);
            let advance = |bytes: u64| {
                if let Some(progress) = progress {
                    progress(done + bytes, Some(total));
                }
            };
            if digest(part, &advance) != self.header.digests[array as usize] {
                let message = format!("the {} are damaged: they do not match their digest", array.name());
                return Err(Error::content(&self.path, message));
            }
            done += part.len() as u64;
        }
        let rhs: Option<Vec<f64>> =
            self.header.has_rhs.then(|| self.array::<f64>(Array::Rhs).map(<[f64]>::to_vec)).transpose()?;
        if let Some(i) = rhs.iter().flatten().position(|v| !v.is_finite()) {
            return Err(Error::content(&self.path, format!("b[{i}] is not a finite number")));
        }
        let view = match (self.header.single, self.header.wide) {
            (false, false) => self.view::<f64, u32>()?,
            (false, true) => self.view::<f64, u64>()?,
            (true, false) => self.view::<f32, u32>()?,
            (true, true) => self.view::<f32, u64>()?,
        };
        Ok(Problem { matrix: Matrix::Mapped(view), rhs })
    }

    fn part(&self, array: Array) -> &'static [u8] {
        let range = &self.header.places[array as usize];
        &self.bytes[range.clone()]
    }

    fn array<T: bytemuck::Pod>(&self, array: Array) -> Result<&'static [T]> {
        // Aligned by the format, in whole numbers by its header: this cannot fail.
        bytemuck::try_cast_slice(self.part(array)).map_err(|e| Error::content(&self.path, format!("{}: {e}", array.name())))
    }

    fn view<T, I>(&self) -> Result<MatrixRef<'static>>
    where
        T: Value + bytemuck::Pod,
        I: Index + bytemuck::Pod,
        MatrixRef<'static>: From<DenseView<'static, T>> + From<CscView<'static, T, I>>,
    {
        let (rows, cols) = (self.header.rows, self.header.cols);
        let values = self.array::<T>(Array::Values)?;
        let wrap = |e: nonneg::Error| Error::content(&self.path, e.to_string());
        if self.header.kind == Kind::Dense {
            return Ok(DenseView::new(rows, cols, values).map_err(wrap)?.into());
        }
        let (pointers, indices) = (self.array::<usize>(Array::Pointers)?, self.array::<I>(Array::Indices)?);
        Ok(CscView::new(rows, cols, pointers, indices, values).map_err(wrap)?.into())
    }
}
