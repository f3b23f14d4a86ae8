//! HDF5: dense datasets, and sparse matrices as AnnData, 10x Genomics and MATLAB 7.3 keep them.

mod array;
mod filters;
mod sparse;

use std::sync::{Arc, Mutex};

use hdf5_reader::group::Group;
use hdf5_reader::{Dataset, ExternalLinkResolver, Hdf5File, OpenOptions};
use nonneg::AnyMatrix;

use crate::error::{Error, Result};
use crate::guard::guarded;
use crate::input::Counted;
use crate::number::Numbers;
use crate::{Problem, Progress, Shape, Stored, choice, vector};
use array::Array;
use hdf5_reader::error::Error::{DatasetNotFound, GroupNotFound, UnsupportedLayoutClass};
use sparse::Sparse;

/// The largest piece that may be decompressed at once: chunks are a few MiB, and at most the whole of a small matrix.
const LARGEST_CHUNK: usize = 1 << 30;

/// How deep and how far we look for a matrix that nobody named.
const DEEPEST: usize = 4;
const MOST_OBJECTS: usize = 10_000;

/// The class of datasets that are made up of others.
const VIRTUAL: u8 = 3;

struct Store<'p> {
    path: String,
    file: Hdf5File,
    links: Arc<Links>,
    size: u64,
    progress: Option<Progress<'p>>,
}

/// The file that a link led to last. Links are not followed: they leave the file that the caller named.
#[derive(Default)]
struct Links(Mutex<Option<String>>);

impl Links {
    fn take(&self) -> Option<String> {
        self.0.lock().ok().and_then(|mut last| last.take())
    }
}

impl ExternalLinkResolver for Links {
    fn resolve_external_link(&self, file: &str) -> hdf5_reader::error::Result<Option<Hdf5File>> {
        if let Ok(mut last) = self.0.lock() {
            *last = Some(file.to_string());
        }
        Ok(None)
    }
}

/// Something that is a matrix or a vector.
enum Object {
    Dense(Box<Array>),
    Sparse(Box<Sparse>),
}

impl Object {
    fn rows_and_cols(&self) -> Result<(usize, usize)> {
        match self {
            Object::Dense(array) => array.rows_and_cols(),
            Object::Sparse(sparse) => Ok((sparse.rows, sparse.cols)),
        }
    }

    fn is_vector(&self) -> bool {
        self.rows_and_cols().is_ok_and(|(rows, cols)| rows == 1 || cols == 1)
    }
}

impl<'p> Store<'p> {
    fn open(path: &str, progress: Option<Progress<'p>>) -> Result<Self> {
        let size = Counted::open(path, None)?.size(); // refuses folders
        let links = Arc::new(Links::default());
        let options = OpenOptions::default()
            .with_filter_registry(filters::registry())
            .with_max_chunk_bytes(LARGEST_CHUNK)
            .with_chunk_cache_bytes(0) // every chunk is read once
            .with_external_link_resolver(links.clone());
        let file = Hdf5File::open_with_options(path, options)
            .map_err(|e| Error::content(path, format!("is not a complete HDF5 file: {e}")))?;
        Ok(Store { path: path.to_string(), file, links, size, progress })
    }

    fn object(&self, key: &str) -> Result<Object> {
        let name = format!("{}:{key}", self.path);
        let group = match self.file.dataset(key) {
            Ok(dataset) => return Array::new(name, dataset, self.size).map(Box::new).map(Object::Dense),
            Err(_) => self.file.group(key).map_err(|_| self.closed(key).unwrap_or_else(|| self.missing(key)))?,
        };
        match Sparse::of(&name, &group, self.size)? {
            Some(sparse) => Ok(Object::Sparse(Box::new(sparse))),
            None => {
                let message = "is a group, expected a dataset or a sparse matrix: data, indices, indptr and a shape";
                Err(Error::content(&name, message))
            }
        }
    }

    /// Why something that is in the file cannot be opened; `None` where it is not there.
    fn closed(&self, key: &str) -> Option<Error> {
        self.links.take();
        let error = self.file.dataset(key).err()?;
        let reason = match (cause(&error), self.links.take()) {
            (_, Some(file)) => format!("is a link to another file, {file}, and not followed: name that file"),
            (UnsupportedLayoutClass(VIRTUAL), _) => "is a virtual dataset, expected one that holds its numbers".into(),
            (DatasetNotFound(_) | GroupNotFound(_), _) => return None,
            (cause, _) => format!("cannot be read: {cause}"),
        };
        Some(Error::content(&format!("{}:{key}", self.path), reason))
    }

    fn missing(&self, key: &str) -> Error {
        let names: Vec<String> = self.list().unwrap_or_default().into_iter().map(|(name, _)| name).collect();
        let expected = if names.is_empty() { String::new() } else { format!(", expected one of: {}", names.join(", ")) };
        Error::content(&self.path, format!("there is no '{key}'{expected}"))
    }

    /// Datasets of numbers and sparse matrices, and whether they are matrices rather than vectors.
    fn list(&self) -> Result<Vec<(String, bool)>> {
        let mut found = vec![];
        let root = self.file.root_group().and_then(|root| root.member_names().map(|_| root)).map_err(|error| {
            let path = &self.path;
            Error::content(path, format!("its arrays cannot be listed, name one as {path}:/PATH: {error}"))
        })?;
        self.look_into(&root, "", DEEPEST, &mut found);
        Ok(found)
    }

    /// What cannot be opened is left out: it is of no use to us.
    fn look_into(&self, group: &Group, prefix: &str, depth: usize, found: &mut Vec<(String, bool)>) {
        let Ok((groups, datasets)) = group.member_names() else { return };
        for name in datasets {
            if found.len() < MOST_OBJECTS
                && let Some(array) = group.dataset(&name).ok().and_then(|dataset| self.usable(dataset))
            {
                found.push((format!("{prefix}{name}"), !Object::Dense(Box::new(array)).is_vector()));
            }
        }
        for name in groups {
            let Ok(inner) = group.group(&name) else { continue };
            let path = format!("{prefix}{name}");
            match Sparse::of(&path, &inner, self.size) {
                Ok(Some(sparse)) => found.push((path, sparse.rows > 1 && sparse.cols > 1)),
                // MATLAB keeps what cells refer to in groups of such names.
                _ if name.starts_with('#') || depth == 0 => {}
                _ => self.look_into(&inner, &format!("{path}/"), depth - 1, found),
            }
        }
    }

    fn usable(&self, dataset: Dataset) -> Option<Array> {
        Array::new(String::new(), dataset, self.size).ok().filter(|array| array.rows_and_cols().is_ok())
    }

    /// The name of the matrix that is meant.
    fn matrix_key(&self, key: Option<&str>) -> Result<String> {
        if let Some(key) = key {
            return Ok(key.to_string());
        }
        let usual = if self.path.to_ascii_lowercase().ends_with(".h5ad") { "X" } else { "A" };
        // A file with very many objects need not be searched for the usual one.
        if self.file.group(usual).is_ok() || self.file.dataset(usual).is_ok() || self.closed(usual).is_some() {
            return Ok(usual.to_string());
        }
        let listed = self.list()?;
        choice::matrix(&self.path, None, &[usual], listed.iter().map(|(name, is_matrix)| (name.as_str(), *is_matrix)))
    }

    fn vector_key(&self, key: Option<&str>) -> Result<String> {
        match key {
            Some(key) => Ok(key.to_string()),
            None => choice::only(&self.path, None, self.list()?.iter().map(|(name, _)| name.as_str())),
        }
    }

    fn read_matrix(&self, object: &Object) -> Result<AnyMatrix> {
        match object {
            Object::Dense(array) => array.read_matrix(&|done| self.report(done)),
            Object::Sparse(sparse) => sparse.read(&|done| self.report(done)),
        }
    }

    fn read_vector(&self, key: &str, numbers: Numbers) -> Result<Vec<f64>> {
        let name = format!("{}:{key}", self.path);
        match self.object(key)? {
            Object::Dense(array) => {
                let (rows, cols) = array.rows_and_cols()?;
                vector::check_shape(&name, rows, cols)?;
                numbers.check(&name, array.read_all(&|_| ())?)
            }
            sparse => vector::flatten(&name, self.read_matrix(&sparse)?.view()),
        }
    }

    /// How much of the matrix has been read, as a share.
    fn report(&self, done: f64) {
        if let Some(progress) = self.progress {
            progress((self.size as f64 * done) as u64, Some(self.size));
        }
    }

    /// `b` beside the matrix. Several columns are left to `file.h5:/b`.
    fn rhs(&self, key: &str, rows: usize) -> Result<Option<Vec<f64>>> {
        let beside = match key.trim_end_matches('/').rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/b"),
            None => "b".into(),
        };
        let found = self.object(&beside).is_ok_and(|object| object.is_vector());
        if !found || beside.trim_matches('/') == key.trim_matches('/') {
            return Ok(None);
        }
        let name = format!("{}:{beside}", self.path);
        choice::matching_rhs(&name, self.read_vector(&beside, Numbers::Finite)?, rows).map(Some)
    }
}

fn cause(error: &hdf5_reader::error::Error) -> &hdf5_reader::error::Error {
    match error {
        hdf5_reader::error::Error::Context { source, .. } => cause(source),
        error => error,
    }
}

pub(crate) fn read_problem(path: &str, key: Option<&str>, progress: Option<Progress>, stored: Stored) -> Result<Problem> {
    guarded(path, || {
        let store = Store::open(path, progress)?;
        let chosen = store.matrix_key(key)?;
        let matrix = store.read_matrix(&store.object(&chosen)?)?;
        store.report(1.0);
        // An array named by the caller may have nothing to do with the `b` beside it.
        let rhs = match store.rhs(&chosen, stored.rhs_length(&matrix)) {
            Err(_) if key.is_some() => None,
            rhs => rhs?,
        };
        Ok(Problem { matrix: matrix.into(), rhs })
    })
}

pub(crate) fn read_vector(path: &str, key: Option<&str>, numbers: Numbers) -> Result<Vec<f64>> {
    guarded(path, || {
        let store = Store::open(path, None)?;
        store.read_vector(&store.vector_key(key)?, numbers)
    })
}

/// Whether the array that is meant is a vector rather than a matrix.
pub(crate) fn is_vector(path: &str, key: Option<&str>) -> Result<bool> {
    guarded(path, || {
        let store = Store::open(path, None)?;
        Ok(store.object(&store.vector_key(key)?)?.is_vector())
    })
}

pub(crate) fn peek(path: &str, key: Option<&str>) -> Result<Shape> {
    guarded(path, || {
        let store = Store::open(path, None)?;
        match store.object(&store.matrix_key(key)?)? {
            Object::Dense(array) => {
                let (rows, cols) = array.rows_and_cols()?;
                Ok(Shape { rows, cols, nnz: rows.checked_mul(cols), dtype: array.dtype.name().into(), kind: "dense" })
            }
            Object::Sparse(sparse) => sparse.shape(),
        }
    })
}
