//! MATLAB version 5, as version 6 and later and SciPy read it: `A`, dense or sparse, and `b`.

use std::io::{self, Write};

use nonneg::matrix::{Index, Value};
use nonneg::{CscView, MatrixRef};

use super::npz::{Stored, write_numbers};
use crate::error::{Error, Result};
use crate::mat::v5::{DOUBLE, INT8, INT32, MATRIX, SINGLE, SPARSE, UINT32};
use crate::output;

/// The largest array that MATLAB takes in this version.
const LIMIT: usize = i32::MAX as usize;

/// Flags, dimensions and a name of up to eight letters, each with its tag.
const HEADER: usize = 16 + 16 + 16;

const MI_SINGLE: u32 = 7;
const MI_DOUBLE: u32 = 9;

pub(super) fn write_problem(path: &str, matrix: MatrixRef, rhs: Option<&[f64]>) -> Result<()> {
    let body = match matrix {
        MatrixRef::DenseF64(_) | MatrixRef::DenseF32(_) => matrix.bytes(),
        _ => 12 * matrix.nnz() + 4 * matrix.cols(),
    };
    if [matrix.rows(), matrix.cols(), body + 2 * HEADER].into_iter().any(|size| size > LIMIT) {
        return Err(Error::ending(path, "the matrix is too large for a .mat file of version 5 (2 GiB): write .npz"));
    }
    output::file(path, |out| {
        let mut header = [b' '; 128];
        let text = b"MATLAB 5.0 MAT-file, written by nonneg";
        header[..text.len()].copy_from_slice(text);
        header[116..124].fill(0);
        header[124..].copy_from_slice(b"\x00\x01IM");
        out.write_all(&header)?;
        match matrix {
            MatrixRef::CscF64(view) => sparse(out, view)?,
            MatrixRef::CscF32(view) => sparse(out, view)?,
            MatrixRef::CscF64Wide(view) => sparse(out, view)?,
            MatrixRef::CscF32Wide(view) => sparse(out, view)?,
            MatrixRef::CsrF64(view) => sparse(out, view.to_csc().view())?,
            MatrixRef::CsrF32(view) => sparse(out, view.to_csc().view())?,
            MatrixRef::CsrF64Wide(view) => sparse(out, view.to_csc().view())?,
            MatrixRef::CsrF32Wide(view) => sparse(out, view.to_csc().view())?,
            MatrixRef::DenseF64(view) => dense(out, "A", DOUBLE, [view.rows(), view.cols()], MI_DOUBLE, view.values())?,
            MatrixRef::DenseF32(view) => dense(out, "A", SINGLE, [view.rows(), view.cols()], MI_SINGLE, view.values())?,
        }
        match rhs {
            Some(rhs) => dense(out, "b", DOUBLE, [rhs.len(), 1], MI_DOUBLE, rhs),
            None => Ok(()),
        }
    })
}

fn dense<T: Stored>(out: &mut impl Write, name: &str, class: u32, shape: [usize; 2], kind: u32, values: &[T]) -> io::Result<()> {
    let bytes = size_of_val(values);
    header(out, name, class, 0, shape, element_size(bytes))?;
    element(out, kind, bytes, values.iter().copied())
}

fn sparse<T: Value, I: Index>(out: &mut impl Write, view: CscView<T, I>) -> io::Result<()> {
    let (ptr, idx, values) = view.parts();
    let sizes = [idx.len() * 4, ptr.len() * 4, values.len() * 8];
    let body = sizes.into_iter().map(element_size).sum();
    header(out, "A", SPARSE, idx.len(), [view.rows(), view.cols()], body)?;
    element(out, INT32, sizes[0], idx.iter().map(|i| i.to_usize() as i32))?;
    element(out, INT32, sizes[1], ptr.iter().map(|&p| p as i32))?;
    element(out, MI_DOUBLE, sizes[2], values.iter().map(|value| value.to_f64()))
}

/// What comes before the numbers; `body` bytes follow.
fn header(out: &mut impl Write, name: &str, class: u32, room: usize, shape: [usize; 2], body: usize) -> io::Result<()> {
    tag(out, MATRIX, HEADER + body)?;
    element(out, UINT32, 8, [class as i32, room as i32].into_iter())?;
    element(out, INT32, 8, shape.map(|length| length as i32).into_iter())?;
    tag(out, INT8, name.len())?;
    out.write_all(name.as_bytes())?;
    pad(out, name.len())
}

fn element<T: Stored>(out: &mut impl Write, kind: u32, bytes: usize, values: impl Iterator<Item = T>) -> io::Result<()> {
    tag(out, kind, bytes)?;
    write_numbers(out, values)?;
    pad(out, bytes)
}

fn tag(out: &mut impl Write, kind: u32, bytes: usize) -> io::Result<()> {
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&(bytes as u32).to_le_bytes())
}

fn pad(out: &mut impl Write, bytes: usize) -> io::Result<()> {
    out.write_all(&[0; 8][..bytes.next_multiple_of(8) - bytes])
}

/// With its tag and padding.
fn element_size(bytes: usize) -> usize {
    8 + bytes.next_multiple_of(8)
}
