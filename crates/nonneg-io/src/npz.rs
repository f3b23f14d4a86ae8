//! NumPy archives: sparse matrices as `scipy.sparse.save_npz` writes them, and plain arrays.

mod sparse;

use std::io::{BufReader, Read};

use zip::read::ZipFile;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::compression::inflated_limit;
use crate::error::{Error, Result};
use crate::input::Counted;
use crate::npy::{self, Array, Header};
use crate::number::Numbers;
use crate::{Problem, Progress, Shape, Stored};

type Source<'a> = BufReader<Counted<'a>>;
type Member<'z, 'a> = ZipFile<'z, Source<'a>>;

/// Longest text stored in `format`: four bytes for each of a few letters.
const LONGEST_FORMAT: u64 = 64;

pub(crate) struct Archive<'a> {
    path: String,
    zip: ZipArchive<Source<'a>>,
    size: u64,
    /// A second handle on the same file, to inflate two arrays at once.
    twin: Option<ZipArchive<Source<'a>>>,
}

impl<'a> Archive<'a> {
    pub fn open(path: &str, progress: Option<Progress<'a>>) -> Result<Self> {
        let file = Counted::open(path, progress)?;
        let size = file.size();
        let twin = file.again(path)?;
        let open = |file| ZipArchive::new(BufReader::new(file)).map_err(|e| zip_error(path, e));
        Ok(Archive { path: path.to_string(), zip: open(file)?, size, twin: Some(open(twin)?) })
    }

    /// Another archive on the same file, once.
    fn take_twin(&mut self) -> Option<Archive<'a>> {
        self.twin.take().map(|zip| Archive { path: self.path.clone(), zip, size: self.size, twin: None })
    }

    pub fn has(&self, key: &str) -> bool {
        self.zip.index_for_name(&format!("{key}.npy")).is_some()
    }

    /// The names of all arrays.
    pub fn keys(&self) -> Vec<String> {
        let names = self.zip.file_names().flatten(); // names that are no text cannot be asked for
        names.filter_map(|name| name.strip_suffix(".npy").map(str::to_string)).collect()
    }

    fn name(&self, key: &str) -> String {
        format!("{}:{key}", self.path)
    }

    fn member(&mut self, key: &str) -> Result<Member<'_, 'a>> {
        let name = self.name(key);
        if !self.has(key) {
            let message = format!("there is no array '{key}', expected one of: {}", self.keys().join(", "));
            return Err(Error::content(&self.path, message));
        }
        let member = self.zip.by_name(&format!("{key}.npy")).map_err(|e| zip_error(&name, e))?;
        let most = match member.compression() {
            CompressionMethod::Stored => member.compressed_size(),
            _ => inflated_limit(member.compressed_size()),
        };
        if member.compressed_size() > self.size || member.size() > most {
            return Err(Error::content(&name, "the archive is damaged: an array claims to be larger than the file allows"));
        }
        Ok(member)
    }

    /// An array with its header read.
    pub fn array(&mut self, key: &str) -> Result<Array<Member<'_, 'a>>> {
        let name = self.name(key);
        let member = self.member(key)?;
        let size = member.size();
        Array::open(name, member, size)
    }

    /// A short text, such as SciPy's `format`.
    fn text(&mut self, key: &str) -> Result<String> {
        let name = self.name(key);
        let mut member = self.member(key)?;
        npy::read_text(&name, &mut member)?;
        let mut bytes = vec![];
        member.take(LONGEST_FORMAT).read_to_end(&mut bytes).map_err(|e| Error::io(&name, "read", e))?;
        // One byte or four per letter, padded with zeros.
        bytes.retain(|&byte| byte != 0);
        Ok(String::from_utf8_lossy(&bytes).to_ascii_lowercase())
    }

    /// The plain 2-D array that is meant when no key is given: `A`, or the only one.
    fn matrix_key(&mut self) -> Result<String> {
        if self.has("A") {
            return Ok("A".into());
        }
        let keys = self.keys();
        let mut is_matrix = |key: &str| self.array(key).is_ok_and(|array| array.header.shape.len() == 2);
        let matrices: Vec<&String> = keys.iter().filter(|key| is_matrix(key)).collect();
        match matrices.as_slice() {
            [only] => Ok(only.to_string()),
            _ => {
                let message = "expected a scipy.sparse matrix, an array 'A' or exactly one 2-D array; name one as";
                Err(Error::content(&self.path, format!("{message} {}:KEY out of: {}", self.path, keys.join(", "))))
            }
        }
    }

    /// `b` beside the matrix. Several columns are left to `file.npz:b`.
    fn rhs(&mut self, rows: usize) -> Result<Option<Vec<f64>>> {
        if !self.has("b") {
            return Ok(None);
        }
        let array = self.array("b")?;
        if array.header.shape.len() > 1 && array.header.shape.iter().all(|&length| length != 1) {
            return Ok(None);
        }
        let name = array.name.clone();
        let values = read_vector_array(array, Numbers::Finite)?;
        if values.len() != rows {
            return Err(Error::content(
                &name,
                format!("has {} elements, expected {rows} (the rows of the matrix)", values.len()),
            ));
        }
        Ok(Some(values))
    }

    fn is_sparse(&self) -> bool {
        self.has("format") && self.has("shape")
    }
}

pub(crate) fn read_problem(path: &str, key: Option<&str>, progress: Option<Progress>, stored: Stored) -> Result<Problem> {
    let mut archive = Archive::open(path, progress)?;
    if key.is_none() && archive.is_sparse() {
        let matrix = sparse::read(&mut archive)?;
        let rhs = archive.rhs(stored.rhs_length(&matrix))?;
        return Ok(Problem { matrix: matrix.into(), rhs });
    }
    let chosen = match key {
        Some(key) => key.to_string(),
        None => archive.matrix_key()?,
    };
    let matrix = archive.array(&chosen)?.read_matrix()?;
    // An array named by the caller may have nothing to do with the `b` beside it.
    let rhs = match archive.rhs(stored.rhs_length(&matrix)) {
        _ if chosen == "b" => None,
        Err(_) if key.is_some() => None,
        rhs => rhs?,
    };
    Ok(Problem { matrix: matrix.into(), rhs })
}

pub(crate) fn read_vector(path: &str, key: Option<&str>, numbers: Numbers) -> Result<Vec<f64>> {
    let mut archive = Archive::open(path, None)?;
    let key = vector_key(&archive, path, key)?;
    read_vector_array(archive.array(&key)?, numbers)
}

/// The array that is meant: the only one, if none is named.
fn vector_key(archive: &Archive, path: &str, key: Option<&str>) -> Result<String> {
    let keys = archive.keys();
    match (key, keys.as_slice()) {
        (Some(key), _) => Ok(key.to_owned()),
        (None, [only]) => Ok(only.to_string()),
        _ => {
            let message = format!("holds several arrays; name one as {path}:KEY out of: {}", keys.join(", "));
            Err(Error::content(path, message))
        }
    }
}

/// Whether the array that is meant is a vector rather than a matrix; a sparse matrix is none.
pub(crate) fn is_vector(path: &str, key: Option<&str>) -> Result<bool> {
    let mut archive = Archive::open(path, None)?;
    if key.is_none() && archive.is_sparse() {
        return Ok(false);
    }
    let key = vector_key(&archive, path, key)?;
    Ok(is_vector_array(&archive.array(&key)?))
}

/// Whether it has one dimension, or only one row or column.
pub(crate) fn is_vector_array<R: Read>(array: &Array<R>) -> bool {
    array.header.shape.len() < 2 || array.header.shape.contains(&1)
}

/// A 1-D array, or a 2-D one with a single row or column.
pub(crate) fn read_vector_array<R: Read>(array: Array<R>, numbers: Numbers) -> Result<Vec<f64>> {
    let shape = &array.header.shape;
    if shape.len() > 2 || shape.len() == 2 && !shape.contains(&1) {
        return Err(Error::content(&array.name, format!("has shape {shape:?}, expected one row or column")));
    }
    let name = array.name.clone();
    numbers.check(&name, array.read_all()?)
}

pub(crate) fn peek(path: &str, key: Option<&str>) -> Result<Shape> {
    let mut archive = Archive::open(path, None)?;
    if key.is_none() && archive.is_sparse() {
        return sparse::peek(&mut archive);
    }
    let key = match key {
        Some(key) => key.to_string(),
        None => archive.matrix_key()?,
    };
    let array = archive.array(&key)?;
    dense_shape(&array.name, &array.header)
}

pub(crate) fn dense_shape(name: &str, header: &Header) -> Result<Shape> {
    let (rows, cols) = header.rows_and_cols(name)?;
    Ok(Shape { rows, cols, nnz: header.count(), dtype: header.dtype.name().into(), kind: "dense" })
}

fn zip_error(name: &str, error: ZipError) -> Error {
    match error {
        ZipError::Io(e) if e.kind() != std::io::ErrorKind::UnexpectedEof => Error::io(name, "read", e),
        e => Error::content(name, format!("is not a complete .npz (zip) archive: {e}")),
    }
}
