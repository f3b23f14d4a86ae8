//! NumPy: `.npy`, and `.npz` as SciPy and NumPy write them.

use std::io::{self, Seek, Write};

use nonneg::matrix::{Index, Value};
use nonneg::{CscView, MatrixRef};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::error::Result;
use crate::output;

/// Inflates as fast as any level and is written several times faster than the usual 6.
const LEVEL: i64 = 2;

/// NumPy aligns the data to this.
const ALIGNMENT: usize = 64;

/// Elements turned into bytes at a time.
const CHUNK: usize = 1 << 13;

/// A number as NumPy stores it.
pub(super) trait Stored: Copy {
    const DESCR: &'static str;
    fn append(self, to: &mut Vec<u8>);
}

macro_rules! stored {
    ($($type:ty: $descr:literal)*) => {$(impl Stored for $type {
        const DESCR: &'static str = $descr;
        #[inline(always)]
        fn append(self, to: &mut Vec<u8>) { to.extend_from_slice(&self.to_le_bytes()); }
    })*};
}
stored!(f32: "<f4" f64: "<f8" i32: "<i4" i64: "<i8");

fn write_header(out: &mut impl Write, descr: &str, fortran: bool, shape: &[usize]) -> io::Result<()> {
    let fortran = if fortran { "True" } else { "False" };
    let shape: String = shape.iter().map(|length| format!("{length}, ")).collect();
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({}), }}", shape.trim_end());
    let length = (10 + header.len() + 1).next_multiple_of(ALIGNMENT) - 10;
    header.extend(std::iter::repeat_n(' ', length - 1 - header.len()));
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(length as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    out.write_all(b"\n")
}

/// An array of one dimension, or of two in Fortran order.
pub(super) fn write_array<T: Stored>(out: &mut impl Write, shape: &[usize], values: impl Iterator<Item = T>) -> io::Result<()> {
    write_header(out, T::DESCR, shape.len() > 1, shape)?;
    write_numbers(out, values)
}

/// The numbers alone.
pub(super) fn write_numbers<T: Stored>(out: &mut impl Write, mut values: impl Iterator<Item = T>) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(CHUNK * size_of::<T>());
    loop {
        bytes.clear();
        values.by_ref().take(CHUNK).for_each(|value| value.append(&mut bytes));
        if bytes.is_empty() {
            return Ok(());
        }
        out.write_all(&bytes)?;
    }
}

pub(super) fn write_dense(path: &str, matrix: MatrixRef) -> Result<()> {
    output::file(path, |out| write_dense_array(out, matrix))
}

fn write_dense_array(out: &mut impl Write, matrix: MatrixRef) -> io::Result<()> {
    let shape = [matrix.rows(), matrix.cols()];
    match matrix {
        MatrixRef::DenseF64(view) => write_array(out, &shape, view.values().iter().copied()),
        MatrixRef::DenseF32(view) => write_array(out, &shape, view.values().iter().copied()),
        _ => unreachable!("callers refuse sparse matrices"),
    }
}

pub(super) fn write_problem(path: &str, matrix: MatrixRef, rhs: Option<&[f64]>) -> Result<()> {
    output::file(path, |out| {
        let mut archive = Archive { zip: ZipWriter::new(out) };
        match matrix {
            MatrixRef::CscF64(view) => archive.sparse(view)?,
            MatrixRef::CscF32(view) => archive.sparse(view)?,
            MatrixRef::CscF64Wide(view) => archive.sparse(view)?,
            MatrixRef::CscF32Wide(view) => archive.sparse(view)?,
            MatrixRef::CsrF64(view) => archive.sparse(view.to_csc().view())?,
            MatrixRef::CsrF32(view) => archive.sparse(view.to_csc().view())?,
            MatrixRef::CsrF64Wide(view) => archive.sparse(view.to_csc().view())?,
            MatrixRef::CsrF32Wide(view) => archive.sparse(view.to_csc().view())?,
            MatrixRef::DenseF64(_) | MatrixRef::DenseF32(_) => write_dense_array(archive.member("A", matrix.bytes())?, matrix)?,
        }
        if let Some(rhs) = rhs {
            archive.array("b", rhs.len(), rhs.iter().copied())?;
        }
        archive.zip.finish()?;
        Ok(())
    })
}

struct Archive<W: Write + Seek> {
    zip: ZipWriter<W>,
}

impl<W: Write + Seek> Archive<W> {
    /// Starts an array of about so many bytes.
    fn member(&mut self, key: &str, bytes: usize) -> io::Result<&mut ZipWriter<W>> {
        // Compression may add a little: leave room below the limit of short records.
        let large = bytes as u64 > u64::from(u32::MAX) / 2;
        let method = CompressionMethod::Deflated;
        let options = SimpleFileOptions::default().compression_method(method).compression_level(Some(LEVEL)).large_file(large);
        self.zip.start_file(format!("{key}.npy"), options)?;
        Ok(&mut self.zip)
    }

    fn array<T: Stored>(&mut self, key: &str, length: usize, values: impl Iterator<Item = T>) -> io::Result<()> {
        write_array(self.member(key, length * size_of::<T>())?, &[length], values)
    }

    fn sparse<T: Value + Stored, I: Index>(&mut self, view: CscView<T, I>) -> io::Result<()> {
        let (ptr, idx, values) = view.parts();
        // SciPy wants one type for both; 64 bits only where 32 do not do.
        if i32::try_from(view.rows().max(values.len())).is_ok() {
            self.array("indices", idx.len(), idx.iter().map(|i| i.to_usize() as i32))?;
            self.array("indptr", ptr.len(), ptr.iter().map(|&p| p as i32))?;
        } else {
            self.array("indices", idx.len(), idx.iter().map(|i| i.to_usize() as i64))?;
            self.array("indptr", ptr.len(), ptr.iter().map(|&p| p as i64))?;
        }
        let format = self.member("format", 0)?;
        write_header(format, "|S3", false, &[])?;
        format.write_all(b"csc")?;
        self.array("shape", 2, [view.rows() as i64, view.cols() as i64].into_iter())?;
        self.array("data", values.len(), values.iter().copied())
    }
}
