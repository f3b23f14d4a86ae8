//! Vectors: right-hand sides, weights, starting points, bounds.

use nonneg::MatrixRef;

use crate::blocks::Lines;
use crate::columns::ManyColumns;
use crate::error::{Error, Result};
use crate::location::{Format, Location};
use crate::number::Numbers;
use crate::{Problem, Progress, assemble, csv, guess, hdf5, input, mat, mtx, nnm, npz, open_npy, parquet, read_problem, write};

/// Reads a vector of finite numbers: `.npy`, `.npz:KEY`, `.mat:NAME` and `.h5:/PATH` (1-D, or 2-D with one row or column), `.mtx`, one
/// column of a `.parquet`, and text with one number per line or all of them in one.
pub fn read_vector(location: &str) -> Result<Vec<f64>> {
    read(location, Numbers::Finite)
}

/// As [`read_vector`], for upper bounds: `inf` or `Infinity`, in any case and with or without a plus, means no bound.
///
/// A number too large for a double, such as `1e999`, is no bound either. Sparse `.mtx` files hold finite bounds only.
pub fn read_bounds(location: &str) -> Result<Vec<f64>> {
    read(location, Numbers::FiniteOrInfinity)
}

/// b, or several of them.
#[derive(Debug)]
pub enum RightHandSides {
    /// One vector.
    One(Vec<f64>),
    /// A matrix with more than one row and more than one column: a right-hand side per column.
    Many(ManyColumns),
}

/// Reads one right-hand side, as [`read_vector`] does, or many: any matrix that is not a vector, dense or sparse. Of a `.npy` file
/// that holds many, only the header is read here: it may be larger than memory.
pub fn read_right_hand_sides(location: &str, progress: Option<Progress>) -> Result<RightHandSides> {
    let parsed = Location::parse(location)?;
    let is_vector = match parsed.format {
        Format::Npz => npz::is_vector(parsed.path, parsed.key)?,
        Format::Npy => npz::is_vector_array(&open_npy(parsed.path, None)?),
        Format::Mat => mat::is_vector(parsed.path, parsed.key)?,
        Format::Hdf5 => hdf5::is_vector(parsed.path, parsed.key)?,
        Format::LibSvm => true, // not a right-hand side: the message is that for vectors
        _ => false,
    };
    if is_vector {
        return Ok(RightHandSides::One(read_vector(location)?));
    }
    if parsed.format == Format::Npy {
        return Ok(RightHandSides::Many(ManyColumns::open_npy(parsed.path)?));
    }
    let Problem { matrix, .. } = read_problem(location, progress)?;
    let (rows, cols) = (matrix.view().rows(), matrix.view().cols());
    if rows == 1 || cols == 1 {
        return Ok(RightHandSides::One(flatten(location, matrix.view())?));
    }
    Ok(RightHandSides::Many(ManyColumns::whole(matrix)))
}

fn read(location: &str, numbers: Numbers) -> Result<Vec<f64>> {
    let location = Location::parse(location)?;
    let text = || Ok(Lines::new(input::open_text(&location, None)?));
    match location.format {
        Format::Npz => npz::read_vector(location.path, location.key, numbers),
        Format::Npy => npz::read_vector_array(open_npy(location.path, None)?, numbers),
        Format::Nnm => flatten(location.path, nnm::Mapped::open(location.path)?.read(None)?.matrix.view()),
        Format::Mat => mat::read_vector(location.path, location.key, numbers),
        Format::Hdf5 => hdf5::read_vector(location.path, location.key, numbers),
        Format::Parquet => parquet::read_vector(location.path, location.key, numbers),
        Format::MatrixMarket => mtx::read_vector(text()?, numbers),
        Format::Csv | Format::Tsv | Format::Txt => read_table(text()?, numbers),
        Format::LibSvm => {
            let message = "a LIBSVM file holds a matrix with labels, expected a vector in .npy, .npz:KEY, .mat:NAME, .h5:/PATH, .parquet:COLUMN, .mtx, .csv, .tsv or .txt";
            Err(Error::ending(location.path, message))
        }
        Format::Stream => {
            let mut lines = text()?;
            match guess(&mut lines)? {
                Format::MatrixMarket => mtx::read_vector(lines, numbers),
                _ => read_table(lines, numbers),
            }
        }
    }
}

fn read_table(mut lines: Lines, numbers: Numbers) -> Result<Vec<f64>> {
    let (rows, cols, values) = csv::read_values(&mut lines, numbers)?;
    check_shape(&lines.path, rows, cols)?;
    Ok(values)
}

/// One row or one column.
pub(crate) fn check_shape(name: &str, rows: usize, cols: usize) -> Result<()> {
    if rows != 1 && cols != 1 {
        return Err(Error::content(name, format!("holds a {rows}×{cols} matrix, expected a vector: one row or one column")));
    }
    Ok(())
}

/// A matrix with one row or one column as a vector.
pub(crate) fn flatten(name: &str, view: MatrixRef) -> Result<Vec<f64>> {
    let (rows, cols) = (view.rows(), view.cols());
    check_shape(name, rows, cols)?;
    // One column of a sparse file may claim any length: hold it to the limit for columns.
    assemble::check_shape(name, cols as u64, rows as u64, view.nnz() as u64)?;
    let mut values = assemble::filled(name, rows * cols, 0.0)?;
    write::for_each_entry(view, |i, j, value| values[i + j] = value);
    Ok(values)
}
