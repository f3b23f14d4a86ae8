//! MATLAB files: named arrays, dense and sparse, in versions 4 to 7. Version 7.3 is HDF5.

mod v4;
pub(crate) mod v5;

use std::io::{Read, Seek, SeekFrom};

use nonneg::{AnyMatrix, CscMatrix, DenseMatrix};

use crate::error::{Error, Result};
use crate::input::Counted;
use crate::npy::{Dtype, Kind};
use crate::number::Numbers;
use crate::{Problem, Progress, Shape, Stored, assemble, choice, hdf5, vector};

/// Where HDF5 starts in a file of version 7.3, after MATLAB's own header.
const HDF5_OFFSET: u64 = 512;
const HDF5_MAGIC: &[u8; 8] = b"\x89HDF\r\n\x1a\n";

/// Bytes decoded at a time.
const CHUNK: usize = 1 << 18;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V4,
    V5 { big_endian: bool },
    Hdf5,
}

/// What the header of an array says.
#[derive(Debug)]
struct Variable {
    name: String,
    rows: usize,
    cols: usize,
    content: Content,
    /// Where it starts in the file.
    at: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Dense(Kind),
    /// With the number of entries that there is room for.
    Sparse(usize),
    /// Nothing for us: its name in messages.
    Other(&'static str),
}

impl Variable {
    fn is_matrix(&self) -> bool {
        self.is_numeric() && self.rows > 1 && self.cols > 1
    }

    fn is_numeric(&self) -> bool {
        !matches!(self.content, Content::Other(_))
    }
}

/// An array as it is in the file.
enum Body {
    F32(Vec<f32>),
    F64(Vec<f64>),
    SparseF32 { ptr: Vec<usize>, rows: Vec<u32>, values: Vec<f32> },
    SparseF64 { ptr: Vec<usize>, rows: Vec<u32>, values: Vec<f64> },
}

struct MatFile<'a> {
    path: String,
    file: Counted<'a>,
    version: Version,
    variables: Vec<Variable>,
}

impl<'a> MatFile<'a> {
    /// Reads the headers of all arrays; `None` for HDF5.
    fn open(path: &str, progress: Option<Progress<'a>>) -> Result<Option<Self>> {
        let mut file = Counted::open(path, progress)?;
        let version = version(path, &mut file)?;
        let variables = match version {
            Version::Hdf5 => return Ok(None),
            Version::V4 => v4::list(path, &mut file)?,
            Version::V5 { big_endian } => v5::list(path, &mut file, big_endian)?,
        };
        Ok(Some(MatFile { path: path.to_string(), file, version, variables }))
    }

    fn find(&self, key: &str) -> Result<&Variable> {
        let Some(variable) = self.variables.iter().find(|variable| variable.name == key) else {
            let names: Vec<&str> = self.variables.iter().map(|variable| variable.name.as_str()).collect();
            let message = format!("there is no array '{key}', expected one of: {}", names.join(", "));
            return Err(Error::content(&self.path, message));
        };
        match variable.content {
            Content::Other(what) => Err(Error::content(&format!("{}:{key}", self.path), format!("is {what}, expected numbers"))),
            _ => Ok(variable),
        }
    }

    /// The array that is meant where a matrix is expected.
    fn matrix(&self, key: Option<&str>) -> Result<&Variable> {
        let listed = self.variables.iter().map(|variable| (variable.name.as_str(), variable.is_matrix()));
        self.find(&choice::matrix(&self.path, key, &["A"], listed)?)
    }

    /// The array that is meant where a vector is expected.
    fn vector(&self, key: Option<&str>) -> Result<&Variable> {
        let numeric = self.variables.iter().filter(|variable| variable.is_numeric());
        self.find(&choice::only(&self.path, key, numeric.map(|variable| variable.name.as_str()))?)
    }

    fn read(&self, variable: &Variable) -> Result<Body> {
        let name = format!("{}:{}", self.path, variable.name);
        let mut file = self.file.again(&self.path)?;
        file.seek(SeekFrom::Start(variable.at)).map_err(|e| Error::io(&self.path, "read", e))?;
        match self.version {
            Version::V4 => v4::read(&name, file, variable),
            Version::V5 { big_endian } => v5::read(&name, file, big_endian, variable),
            Version::Hdf5 => unreachable!("HDF5 has its own reader"),
        }
    }

    fn read_matrix(&self, variable: &Variable) -> Result<AnyMatrix> {
        let (rows, cols) = (variable.rows, variable.cols);
        let matrix = match self.read(variable)? {
            Body::F32(values) => DenseMatrix::new(rows, cols, values).map(AnyMatrix::from),
            Body::F64(values) => DenseMatrix::new(rows, cols, values).map(AnyMatrix::from),
            Body::SparseF32 { ptr, rows: idx, values } => CscMatrix::new(rows, cols, ptr, idx, values).map(AnyMatrix::from),
            Body::SparseF64 { ptr, rows: idx, values } => CscMatrix::new(rows, cols, ptr, idx, values).map(AnyMatrix::from),
        };
        matrix.map_err(|e| Error::content(&format!("{}:{}", self.path, variable.name), e.to_string()))
    }

    fn read_vector(&self, variable: &Variable, numbers: Numbers) -> Result<Vec<f64>> {
        let name = format!("{}:{}", self.path, variable.name);
        vector::check_shape(&name, variable.rows, variable.cols)?;
        match self.read(variable)? {
            Body::F32(values) => numbers.check(&name, values.into_iter().map(f64::from).collect()),
            Body::F64(values) => numbers.check(&name, values),
            _ => vector::flatten(&name, self.read_matrix(variable)?.view()),
        }
    }

    /// `b` beside the matrix. Several columns are left to `file.mat:b`.
    fn rhs(&self, rows: usize) -> Result<Option<Vec<f64>>> {
        let b = self.variables.iter().find(|variable| variable.name == "b" && variable.is_numeric());
        let Some(b) = b.filter(|b| b.rows == 1 || b.cols == 1) else { return Ok(None) };
        choice::matching_rhs(&format!("{}:b", self.path), self.read_vector(b, Numbers::Finite)?, rows).map(Some)
    }
}

fn version(path: &str, file: &mut Counted) -> Result<Version> {
    let mut start = vec![];
    let mut read = |from, count, into: &mut Vec<u8>| {
        into.clear();
        file.seek(SeekFrom::Start(from))
            .and_then(|_| file.by_ref().take(count).read_to_end(into))
            .map_err(|e| Error::io(path, "read", e))
    };
    read(HDF5_OFFSET, HDF5_MAGIC.len() as u64, &mut start)?;
    if start == HDF5_MAGIC {
        return Ok(Version::Hdf5);
    }
    read(0, v5::HEADER, &mut start)?;
    // The first four bytes are text in version 5, and a small number in version 4.
    if start.len() >= v4::HEADER && start[..4].contains(&0) {
        return Ok(Version::V4);
    }
    match start.get(v5::HEADER as usize - 4..) {
        Some([0, 1, b'I', b'M']) => Ok(Version::V5 { big_endian: false }),
        Some([1, 0, b'M', b'I']) => Ok(Version::V5 { big_endian: true }),
        _ => Err(Error::content(path, "is not a MATLAB file, expected version 4 to 7.3")),
    }
}

pub(crate) fn read_problem(path: &str, key: Option<&str>, progress: Option<Progress>, stored: Stored) -> Result<Problem> {
    let Some(mat) = MatFile::open(path, progress)? else { return hdf5::read_problem(path, key, progress, stored) };
    let variable = mat.matrix(key)?;
    let matrix = mat.read_matrix(variable)?;
    // An array named by the caller may have nothing to do with the `b` beside it.
    let rhs = match mat.rhs(stored.rhs_length(&matrix)) {
        _ if variable.name == "b" => None,
        Err(_) if key.is_some() => None,
        rhs => rhs?,
    };
    Ok(Problem { matrix: matrix.into(), rhs })
}

pub(crate) fn read_vector(path: &str, key: Option<&str>, numbers: Numbers) -> Result<Vec<f64>> {
    let Some(mat) = MatFile::open(path, None)? else { return hdf5::read_vector(path, key, numbers) };
    mat.read_vector(mat.vector(key)?, numbers)
}

/// Whether the array that is meant is a vector rather than a matrix.
pub(crate) fn is_vector(path: &str, key: Option<&str>) -> Result<bool> {
    let Some(mat) = MatFile::open(path, None)? else { return hdf5::is_vector(path, key) };
    let variable = mat.vector(key)?;
    Ok(variable.rows == 1 || variable.cols == 1)
}

pub(crate) fn peek(path: &str, key: Option<&str>) -> Result<Shape> {
    let Some(mat) = MatFile::open(path, None)? else { return hdf5::peek(path, key) };
    let &Variable { rows, cols, content, .. } = mat.matrix(key)?;
    let (kind, dtype, nnz) = match content {
        Content::Dense(dtype) => ("dense", dtype.name(), rows.checked_mul(cols)),
        Content::Sparse(_) | Content::Other(_) => ("csc", "float64", None),
    };
    Ok(Shape { rows, cols, nnz, dtype: dtype.into(), kind })
}

/// Reads `count` numbers and decodes them. Nothing is allocated for more of them than `bytes_left` has room for.
fn numbers<T: crate::npy::Element>(
    name: &str,
    reader: &mut impl Read,
    dtype: Dtype,
    count: usize,
    bytes_left: u64,
) -> Result<Vec<T>> {
    if (count as u64).checked_mul(dtype.size as u64).is_none_or(|bytes| bytes > bytes_left) {
        return Err(Error::content(name, format!("is damaged: {count} numbers do not fit in {bytes_left} bytes")));
    }
    let mut values = assemble::reserve(name, count)?;
    let mut buffer = vec![0; CHUNK.min(count * dtype.size)];
    while values.len() < count {
        let now = (count - values.len()).min(buffer.len() / dtype.size);
        let bytes = &mut buffer[..now * dtype.size];
        reader.read_exact(bytes).map_err(|e| cut_short(name, e))?;
        if crate::npy::decode(bytes, dtype, &mut values).is_some() {
            return Err(Error::content(name, "is damaged: expected non-negative integers in range as indices"));
        }
    }
    Ok(values)
}

fn cut_short(name: &str, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => Error::content(name, "the file is cut short, expected more data"),
        std::io::ErrorKind::InvalidInput | std::io::ErrorKind::InvalidData => {
            Error::content(name, "the compressed data are damaged")
        }
        _ => Error::io(name, "read", error),
    }
}
