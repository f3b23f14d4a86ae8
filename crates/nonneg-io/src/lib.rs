//! Matrix and vector files for nonneg.
//!
//! The ending of a name decides on the format; `.gz`, `.bz2`, `.xz` or `.zst` may follow on the text ones, `-` is
//! standard input or output, and `file.npz:KEY`, `file.mat:NAME`, `file.h5:/PATH` or `file.parquet:COLUMN` names one array of a file:
//!
//! | ending | what | |
//! |---|---|---|
//! | `.mtx` | Matrix Market, sparse or dense | text |
//! | `.svm`, `.libsvm` | LIBSVM: sparse rows with a label each, which becomes the right-hand side | text |
//! | `real-sim`, `news20.binary`, `E2006.train` | LIBSVM: data sets as they are published | text |
//! | `.csv`, `.tsv`, `.txt` | tables of numbers | text |
//! | `.npy` | one NumPy array | |
//! | `.nnm` | the arrays of a matrix as they lie in memory, used where they are; b beside them | |
//! | `.parquet` | a table: every column is one of A | |
//! | `.mat` | MATLAB, dense or sparse; `A`, and `b` becomes the right-hand side | |
//! | `.h5`, `.hdf5`, `.h5ad` | datasets, and sparse groups as AnnData, 10x and MATLAB keep them; `A` or `X`, and `b` | |
//! | `.npz` | `scipy.sparse.save_npz` (CSC, CSR, COO) or NumPy arrays; `b` becomes the right-hand side | |
//!
//! HDF5 (also `.mat` of version 7.3) and Parquet are features, `hdf5` and `parquet`, on by default.
//!
//! Readers check everything, stream, and return columns ([`nonneg::CscMatrix`]) or a dense matrix; every
//! [`enum@Error`] names the file, the line where there are lines, and what was expected. Nothing is allocated on the
//! word of a header alone. Writers put the result in place at once or not at all.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("a.svm").display().to_string();
//! std::fs::write(&path, "1 1:0.5 3:2\n-1 2:1\n")?;
//!
//! let problem = nonneg_io::read_problem(&path, None)?;
//! assert_eq!((problem.matrix.view().rows(), problem.matrix.view().cols()), (2, 3));
//! assert_eq!(problem.rhs, Some(vec![1.0, -1.0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(not(all(feature = "hdf5", feature = "parquet")))]
mod absent;
mod assemble;
mod blocks;
mod checkpoint;
mod choice;
mod columns;
mod compression;
mod csv;
mod error;
#[cfg(any(feature = "hdf5", feature = "parquet"))]
mod guard;
#[cfg(feature = "hdf5")]
mod hdf5;
mod input;
mod location;
mod mat;
mod mtx;
mod nnm;
mod npy;
mod npz;
mod number;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod svm;
mod transpose;
mod vector;
mod write;

use nonneg::{AnyMatrix, MatrixRef};

#[cfg(not(feature = "hdf5"))]
use absent as hdf5;
#[cfg(not(feature = "parquet"))]
use absent as parquet;
use blocks::Lines;
pub use checkpoint::{Checkpoint, identity};
pub use columns::{ColumnWriter, ManyColumns, Parts, TextWriter, convert_in_parts};
pub use error::{Error, Result};
use location::{Format, Location};
pub use nnm::limit_resident_memory;
pub use output::{check_output, write_bytes};
pub use vector::{RightHandSides, read_bounds, read_right_hand_sides, read_vector};
pub use write::{check_problem_output, check_vector_output, holds_rhs, write_problem, write_vector};

/// A matrix read from a file, with the right-hand side that the file may hold (LIBSVM labels, `b` in an .npz, .mat or HDF5 file).
#[derive(Debug, Clone)]
pub struct Problem {
    /// A, as CSC or dense.
    pub matrix: Matrix,
    /// b, one element for each row of A.
    pub rhs: Option<Vec<f64>>,
}

/// A matrix, in memory or in a file where it is.
#[derive(Debug, Clone)]
pub enum Matrix {
    /// Read.
    Memory(AnyMatrix),
    /// Of an `.nnm` file, which is mapped until the process ends.
    Mapped(MatrixRef<'static>),
}

impl Matrix {
    /// Borrows it.
    pub fn view(&self) -> MatrixRef<'_> {
        match self {
            Self::Memory(matrix) => matrix.view(),
            Self::Mapped(view) => *view,
        }
    }
}

impl<M: Into<AnyMatrix>> From<M> for Matrix {
    fn from(matrix: M) -> Self {
        Self::Memory(matrix.into())
    }
}

impl<'a> From<&'a Matrix> for MatrixRef<'a> {
    fn from(matrix: &'a Matrix) -> Self {
        matrix.view()
    }
}

/// Called now and then with (bytes read so far, total bytes or `None`), from whichever thread reads.
pub type Progress<'a> = &'a (dyn Fn(u64, Option<u64>) + Sync);

/// What a file says about its matrix before the values are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// m.
    pub rows: usize,
    /// n.
    pub cols: usize,
    /// Stored entries, where the file says so.
    pub nnz: Option<usize>,
    /// Type of the numbers in the file: `float64`, `int32`, `real`, `pattern`, ...
    pub dtype: String,
    /// How the file stores them: `csc`, `csr`, `coo` or `dense`.
    pub kind: &'static str,
}

/// Reads a matrix and the right-hand side beside it. Sparse files become CSC, others dense; `f32` stays `f32`.
pub fn read_problem(location: &str, progress: Option<Progress>) -> Result<Problem> {
    read(location, progress, Stored::A)
}

/// As [`read_problem`] for a file that holds Aᵀ. The right-hand side beside it belongs to A; what belongs to the rows
/// of the file (labels of LIBSVM, b of `.nnm`) does not and is dropped.
pub fn read_transposed_problem(location: &str, progress: Option<Progress>) -> Result<Problem> {
    let Problem { matrix, rhs } = read(location, progress, Stored::Transposed)?;
    let of_rows = matches!(Location::parse(location)?.format, Format::LibSvm | Format::Nnm);
    Ok(Problem { matrix: transpose::transposed(location, matrix.view())?.into(), rhs: rhs.filter(|_| !of_rows) })
}

/// Whether the first row of a text file is 0, 1, 2, ... with others below: numbers, or the names that pandas gives to columns.
/// `matrix` is what was read from `location`, or its transpose.
pub fn may_begin_with_header(location: &str, matrix: MatrixRef, transposed: bool) -> bool {
    let is_table = |location: Location| matches!(location.format, Format::Csv | Format::Tsv | Format::Txt);
    let MatrixRef::DenseF64(view) = matrix else { return false };
    let (rows, cols) = (view.rows(), view.cols());
    let (length, stride) = if transposed { (rows, 1) } else { (cols, rows) };
    let counts = || (0..length).all(|k| view.values()[k * stride] == k as f64);
    rows > 1 && cols > 1 && Location::parse(location).is_ok_and(is_table) && counts()
}

/// What the matrix in a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    A,
    Transposed,
}

impl Stored {
    /// Elements of the right-hand side that goes with what the file holds.
    fn rhs_length(self, stored: &AnyMatrix) -> usize {
        match self {
            Stored::A => stored.view().rows(),
            Stored::Transposed => stored.view().cols(),
        }
    }
}

fn read(location: &str, progress: Option<Progress>, stored: Stored) -> Result<Problem> {
    let location = Location::parse(location)?;
    let text = || Ok(Lines::new(input::open_text(&location, progress)?));
    let dense = |matrix: AnyMatrix| Problem { matrix: matrix.into(), rhs: None };
    match location.format {
        Format::MatrixMarket => mtx::read(text()?),
        Format::LibSvm => svm::read(text()?),
        Format::Csv | Format::Tsv | Format::Txt => Ok(dense(csv::read(text()?)?.into())),
        Format::Npz => npz::read_problem(location.path, location.key, progress, stored),
        Format::Npy => Ok(dense(open_npy(location.path, progress)?.read_matrix()?)),
        Format::Nnm => nnm::Mapped::open(location.path)?.read(progress),
        Format::Mat => mat::read_problem(location.path, location.key, progress, stored),
        Format::Hdf5 => hdf5::read_problem(location.path, location.key, progress, stored),
        Format::Parquet => parquet::read_problem(location.path, location.key, progress, stored),
        Format::Stream => {
            let mut lines = text()?;
            match guess(&mut lines)? {
                Format::MatrixMarket => mtx::read(lines),
                Format::LibSvm => svm::read(lines),
                _ => Ok(dense(csv::read(lines)?.into())),
            }
        }
    }
}

/// Shape and entries without the values, where the format allows it (`.mtx`, `.npy`, `.npz`, `.nnm`, `.mat`, HDF5, `.parquet`); `None` where the whole
/// file must be read, and for standard input.
pub fn peek(location: &str) -> Result<Option<Shape>> {
    let location = Location::parse(location)?;
    match location.format {
        Format::MatrixMarket => {
            let mut lines = Lines::new(input::open_text(&location, None)?);
            Ok(Some(mtx::read_header(&mut lines)?.shape()))
        }
        Format::Npy => {
            let array = open_npy(location.path, None)?;
            npz::dense_shape(&array.name, &array.header).map(Some)
        }
        Format::Npz => npz::peek(location.path, location.key).map(Some),
        Format::Nnm => nnm::Mapped::open(location.path).map(|file| Some(file.shape())),
        Format::Mat => mat::peek(location.path, location.key).map(Some),
        Format::Hdf5 => hdf5::peek(location.path, location.key).map(Some),
        Format::Parquet => parquet::peek(location.path, location.key).map(Some),
        Format::LibSvm | Format::Csv | Format::Tsv | Format::Txt | Format::Stream => Ok(None),
    }
}

/// Shape and stored entries of a LIBSVM file, counted by reading all of it; only counts are kept. The format and
/// compression are those of a file called `named`, whatever the file at `path` is called.
pub fn scan_libsvm(path: &str, named: &str, progress: Option<Progress>) -> Result<Shape> {
    let location = Location { path, ..Location::parse(named)? };
    match location.format {
        Format::LibSvm => svm::scan(Lines::new(input::open_text(&location, progress)?)),
        _ => Err(Error::ending(named, "expected a LIBSVM file")),
    }
}

fn open_npy<'a>(path: &str, progress: Option<Progress<'a>>) -> Result<npy::Array<input::Counted<'a>>> {
    let file = input::Counted::open(path, progress)?;
    let size = file.size();
    npy::Array::open(path.to_string(), file, size)
}

/// The format of a stream, from its first bytes.
fn guess(lines: &mut Lines) -> Result<Format> {
    let head = lines.head()?;
    if head.len() >= mtx::MAGIC.len() && head[..mtx::MAGIC.len()].eq_ignore_ascii_case(mtx::MAGIC) {
        return Ok(Format::MatrixMarket);
    }
    let mut content = head.split(|&b| b == b'\n').filter_map(|line| line.split(|&b| b == b'#').next());
    Ok(if content.any(|line| line.contains(&b':')) { Format::LibSvm } else { Format::Csv })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_told_apart_by_their_first_lines() {
        for (text, expected) in [
            ("%%MatrixMarket matrix array real general\n1 1\n2\n", Format::MatrixMarket),
            ("\u{FEFF}%%matrixmarket matrix array real general\n", Format::MatrixMarket),
            ("# at 12:30\n1 2\n", Format::Csv),
            ("1\n-1 3:0.5\n", Format::LibSvm),
            ("", Format::Csv),
        ] {
            let text = input::Text { path: "-".into(), reader: Box::new(text.as_bytes()), most_bytes: None };
            assert_eq!(guess(&mut Lines::new(text)).unwrap(), expected);
        }
    }
}
