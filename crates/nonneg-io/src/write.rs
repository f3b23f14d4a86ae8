//! Matrices and vectors to files.

#[cfg(feature = "hdf5")]
mod hdf5;
mod mat;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;
mod table;

pub(crate) use npz::{write_npy_header, write_numbers};

use std::io;

use nonneg::MatrixRef;
use nonneg::matrix::{Column, Columns};

use crate::error::{Error, Result};
#[cfg(not(feature = "hdf5"))]
use crate::hdf5;
use crate::location::{Format, Location};
#[cfg(not(feature = "parquet"))]
use crate::parquet;
use crate::{nnm, output};

const VECTOR_ENDINGS: &str = ".npy, .txt, .csv, .tsv or .mtx (.gz, .bz2, .xz or .zst may follow the text ones)";
const MATRIX_ENDINGS: &str =
    ".mtx, .svm, .libsvm, .csv, .tsv (.gz, .bz2, .xz or .zst may follow these), .npz, .mat, .h5, .npy, .nnm or .parquet";

/// Writes a vector, by ending: `.npy`, `.txt`, `.csv`, `.tsv`, `.mtx`; `-` is text on standard output.
/// The file appears complete or not at all.
pub fn write_vector(path: &str, values: &[f64]) -> Result<()> {
    let target = vector_target(path)?;
    match target.format {
        Format::Npy => output::file(path, |out| npz::write_array(out, &[values.len()], values.iter().copied())),
        Format::MatrixMarket => output::text(path, target.compression, |out| {
            writeln!(out, "%%MatrixMarket matrix array real general\n{} 1", values.len())?;
            table::numbers_by_line(out, values.iter().copied())
        }),
        _ => output::text(path, target.compression, |out| table::numbers_by_line(out, values.iter().copied())),
    }
}

/// Writes a matrix and, where the format has a place for it ([`holds_rhs`]), the right-hand side:
///
/// * `.mtx`: coordinate for sparse matrices, array for dense ones; also what `-` prints;
/// * `.svm`, `.libsvm`: zeros are left out, labels are `rhs`, or 0 without one;
/// * `.npz`: as `scipy.sparse.save_npz` writes CSC, or a plain array `A`; with `b` beside it;
/// * `.nnm`: both, as they lie in memory;
/// * `.mat`: `A` and `b`, in version 5 of MATLAB's format;
/// * `.h5`, `.hdf5`: `A`, a dataset or a sparse group as AnnData writes it, and `b`;
/// * `.npy`, `.parquet`, `.csv`, `.tsv`: dense matrices only.
///
/// The file appears complete or not at all.
pub fn write_problem(path: &str, matrix: MatrixRef, rhs: Option<&[f64]>) -> Result<()> {
    let target = problem_target(path)?;
    if let Some(rhs) = rhs.filter(|rhs| rhs.len() != matrix.rows()) {
        let message = format!("the right-hand side has {} elements, the matrix {} rows", rhs.len(), matrix.rows());
        return Err(Error::content(path, message));
    }
    let dense = matches!(matrix, MatrixRef::DenseF64(_) | MatrixRef::DenseF32(_));
    match target.format {
        Format::Npz => npz::write_problem(path, matrix, rhs),
        Format::Nnm => nnm::write(path, matrix, rhs),
        Format::Mat => mat::write_problem(path, matrix, rhs),
        Format::Hdf5 => hdf5::write_problem(path, matrix, rhs),
        Format::LibSvm => table::write_svm(path, target.compression, matrix, rhs),
        Format::Npy | Format::Parquet | Format::Csv | Format::Tsv if !dense => {
            let message = "this format holds dense matrices only, and the matrix is sparse: write .npz, .mat, .h5, .mtx or .svm";
            Err(Error::ending(path, message))
        }
        Format::Npy => npz::write_dense(path, matrix),
        Format::Parquet => parquet::write_problem(path, matrix, rhs),
        Format::Csv => table::write_rows(path, target.compression, matrix, b','),
        Format::Tsv => table::write_rows(path, target.compression, matrix, b'\t'),
        _ => output::text(path, target.compression, |out| table::write_mtx(out, matrix, dense)),
    }
}

/// Whether [`write_problem`] keeps a right-hand side in files that end like this.
pub fn holds_rhs(path: &str) -> bool {
    Location::parse(path)
        .is_ok_and(|target| matches!(target.format, Format::Npz | Format::Nnm | Format::Mat | Format::Hdf5 | Format::LibSvm))
}

/// Checks, before long work, that [`write_vector`] knows the ending and can write there. Creates nothing that stays.
pub fn check_vector_output(path: &str) -> Result<()> {
    vector_target(path)?;
    output::check_output(path)
}

/// Checks, before long work, that [`write_problem`] knows the ending and can write there. Creates nothing that stays.
pub fn check_problem_output(path: &str) -> Result<()> {
    problem_target(path)?;
    output::check_output(path)
}

fn vector_target(path: &str) -> Result<Location<'_>> {
    let target = output_target(path, VECTOR_ENDINGS)?;
    match target.format {
        Format::Npz | Format::Nnm | Format::Mat | Format::Hdf5 | Format::Parquet | Format::LibSvm => {
            Err(Error::ending(path, format!("vectors are not written in this format, expected {VECTOR_ENDINGS}")))
        }
        _ => Ok(target),
    }
}

fn problem_target(path: &str) -> Result<Location<'_>> {
    let target = output_target(path, MATRIX_ENDINGS)?;
    match target.format {
        Format::Hdf5 if path.to_ascii_lowercase().ends_with(".h5ad") => {
            Err(Error::ending(path, format!("AnnData files are read, not written, expected {MATRIX_ENDINGS}")))
        }
        Format::Txt => Err(Error::ending(path, format!("matrices are not written as .txt, expected {MATRIX_ENDINGS}"))),
        _ => Ok(target),
    }
}

fn output_target<'a>(path: &'a str, endings: &str) -> Result<Location<'a>> {
    let target = Location::parse(path)?;
    if target.key.is_some() {
        return Err(Error::ending(path, format!("one array of an archive cannot be written, expected {endings}")));
    }
    Ok(target)
}

/// Visits the stored entries `(row, column, value)`, column after column.
pub(crate) fn for_each_entry(matrix: MatrixRef, mut visit: impl FnMut(usize, usize, f64)) {
    nonneg::with_columns!(matrix, |columns| for j in 0..columns.cols() {
        columns.column(j).for_each(|i, value| visit(i, j, value));
    });
}

/// As [`for_each_entry`]; stops at the first error.
fn try_for_each_entry(matrix: MatrixRef, mut visit: impl FnMut(usize, usize, f64) -> io::Result<()>) -> io::Result<()> {
    nonneg::with_columns!(matrix, |columns| {
        for j in 0..columns.cols() {
            let mut result = Ok(());
            columns.column(j).for_each(|i, value| {
                if result.is_ok() {
                    result = visit(i, j, value);
                }
            });
            result?;
        }
        Ok(())
    })
}
