//! What several tests need.
#![allow(dead_code)] // each test uses a part

use nonneg::MatrixRef;
use nonneg::matrix::{Column, Columns};

/// A matrix by rows, zeros included.
pub fn rows<'a>(matrix: impl Into<MatrixRef<'a>>) -> Vec<Vec<f64>> {
    let view = matrix.into();
    let mut rows = vec![vec![0.0; view.cols()]; view.rows()];
    nonneg::with_columns!(view, |columns| for j in 0..columns.cols() {
        columns.column(j).for_each(|i, value| rows[i][j] = value);
    });
    rows
}

pub fn is_dense<'a>(matrix: impl Into<MatrixRef<'a>>) -> bool {
    matches!(matrix.into(), MatrixRef::DenseF64(_) | MatrixRef::DenseF32(_))
}

pub fn is_single<'a>(matrix: impl Into<MatrixRef<'a>>) -> bool {
    use MatrixRef::*;
    matches!(matrix.into(), CscF32(_) | CscF32Wide(_) | DenseF32(_))
}

/// A folder that goes away, and names in it.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }
    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, contents).unwrap();
        path
    }
    /// Names of the files in it, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}
