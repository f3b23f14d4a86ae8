//! NumPy's array format: a short text header, then the numbers.

mod header;

pub(crate) use header::{Dtype, Header, Kind, read_text};

use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use nonneg::matrix::Value;
use nonneg::{AnyMatrix, DenseMatrix};

use crate::assemble;
use crate::error::{Error, Result};

/// Bytes decoded at a time: stays in the cache between reading and decoding.
const CHUNK: usize = 1 << 18;

/// An array whose header has been read. `name` is what messages call it: the file, or `file.npz:key`.
pub(crate) struct Array<R> {
    pub name: String,
    pub header: Header,
    reader: R,
    /// Where the numbers begin.
    start: u64,
}

/// What array elements may be turned into. `None` where the number does not fit.
pub(crate) trait Element: Copy + Default {
    fn from_f64(value: f64) -> Option<Self>;
    fn from_i64(value: i64) -> Option<Self>;
    fn from_u64(value: u64) -> Option<Self>;
}

macro_rules! float_element {
    ($($type:ty)*) => {$(impl Element for $type {
        #[inline(always)]
        fn from_f64(value: f64) -> Option<Self> { Some(value as $type) }
        #[inline(always)]
        fn from_i64(value: i64) -> Option<Self> { Some(value as $type) }
        #[inline(always)]
        fn from_u64(value: u64) -> Option<Self> { Some(value as $type) }
    })*};
}
float_element!(f32 f64);

macro_rules! index_element {
    ($($type:ty)*) => {$(impl Element for $type {
        #[inline(always)]
        fn from_f64(_: f64) -> Option<Self> { None }
        #[inline(always)]
        fn from_i64(value: i64) -> Option<Self> { Self::try_from(value).ok() }
        #[inline(always)]
        fn from_u64(value: u64) -> Option<Self> { Self::try_from(value).ok() }
    })*};
}
index_element!(u32 u64 usize);

impl<R: Read> Array<R> {
    /// Reads the header; `size` is that of the whole file or archive member. Nothing is allocated before the header's
    /// promise has been compared with it.
    pub fn open(name: String, mut reader: R, size: u64) -> Result<Self> {
        let (header, header_bytes) = Header::read(&name, &mut reader)?;
        let data = header.count().and_then(|count| (count as u64).checked_mul(header.dtype.size as u64));
        let present = size.saturating_sub(header_bytes);
        match data {
            Some(data) if data == present => Ok(Array { name, header, reader, start: header_bytes }),
            Some(data) => {
                let what = if data > present { "the file is cut short" } else { "there is something after the array" };
                Err(Error::content(
                    &name,
                    format!("{what}: shape {:?} needs {data} bytes of data, found {present}", header.shape),
                ))
            }
            None => Err(Error::content(&name, format!("shape {:?} is too large", header.shape))),
        }
    }

    /// All elements in file order.
    pub fn read_all<T: Element>(mut self) -> Result<Vec<T>> {
        let count = self.header.count().unwrap_or(0);
        let mut out = assemble::reserve(&self.name, count)?;
        let mut buffer = vec![0; CHUNK.min(count * self.header.dtype.size)];
        let mut left = count;
        while left > 0 {
            let now = left.min(buffer.len() / self.header.dtype.size);
            self.read_some(now, &mut buffer, &mut out)?;
            left -= now;
        }
        self.finish()?;
        Ok(out)
    }

    /// A 2-D array as a dense matrix; a 1-D array is one column. C order is transposed on the way in.
    pub fn read_dense<T: Element + Value>(mut self) -> Result<DenseMatrix<T>> {
        let (rows, cols) = self.header.rows_and_cols(&self.name)?;
        assemble::check_shape(&self.name, rows as u64, cols as u64, (rows as u64).max(cols as u64))?;
        let name = self.name.clone();
        let wrap = |e: nonneg::Error| Error::content(&name, e.to_string());
        if self.header.fortran || rows <= 1 || cols <= 1 {
            return DenseMatrix::new(rows, cols, self.read_all()?).map_err(wrap);
        }
        let row_bytes = cols * self.header.dtype.size;
        let rows_at_once = (4 * CHUNK / row_bytes).clamp(1, rows);
        let mut buffer = assemble::filled(&name, rows_at_once * row_bytes, 0)?;
        let mut part: Vec<T> = vec![];
        let mut values = assemble::filled(&name, rows * cols, T::default())?;
        let mut row = 0;
        while row < rows {
            let now = rows_at_once.min(rows - row);
            part.clear();
            self.read_some(now * cols, &mut buffer, &mut part)?;
            for j in 0..cols {
                let column = &mut values[j * rows + row..][..now];
                column.iter_mut().zip(part[j..].iter().step_by(cols)).for_each(|(to, from)| *to = *from);
            }
            row += now;
        }
        self.finish()?;
        DenseMatrix::new(rows, cols, values).map_err(wrap)
    }

    /// As [`read_dense`](Self::read_dense), in single precision when the file is.
    pub fn read_matrix(self) -> Result<AnyMatrix> {
        match self.header.dtype.kind {
            Kind::F32 => Ok(self.read_dense::<f32>()?.into()),
            _ => Ok(self.read_dense::<f64>()?.into()),
        }
    }

    fn seek_to(&mut self, element: usize) -> Result<()>
    where
        R: Seek,
    {
        let place = self.start + (element * self.header.dtype.size) as u64;
        self.reader.seek(SeekFrom::Start(place)).map_err(|e| read_error(&self.name, e)).map(|_| ())
    }

    /// Some columns of a 2-D array, in single precision when the file is.
    pub fn read_columns(&mut self, columns: Range<usize>) -> Result<AnyMatrix>
    where
        R: Seek,
    {
        match self.header.dtype.kind {
            Kind::F32 => Ok(self.read_dense_columns::<f32>(columns)?.into()),
            _ => Ok(self.read_dense_columns::<f64>(columns)?.into()),
        }
    }

    fn read_dense_columns<T: Element + Value>(&mut self, columns: Range<usize>) -> Result<DenseMatrix<T>>
    where
        R: Seek,
    {
        let ((rows, cols), width) = (self.header.rows_and_cols(&self.name)?, columns.len());
        let mut values = assemble::reserve(&self.name, rows * width)?;
        let mut buffer = Vec::new();
        // Pieces that follow each other in the file: all columns, or a part of every row.
        let (pieces, length, apart) = if self.header.fortran { (1, rows * width, 0) } else { (rows, width, cols) };
        let first = if self.header.fortran { columns.start * rows } else { columns.start };
        for piece in 0..pieces {
            self.seek_to(first + piece * apart)?;
            let mut left = length;
            while left > 0 {
                let now = left.min((CHUNK / self.header.dtype.size).max(1));
                buffer.resize(now * self.header.dtype.size, 0);
                self.read_some(now, &mut buffer, &mut values)?;
                left -= now;
            }
        }
        if let Some(k) = values.iter().position(|value: &T| !value.to_f64().is_finite()) {
            let (i, j) = if self.header.fortran { (k % rows, k / rows) } else { (k / width, k % width) };
            let message = format!("column {}, row {i}: {:?} is not a finite number", columns.start + j, values[k]);
            return Err(Error::content(&self.name, message));
        }
        let matrix = if self.header.fortran {
            DenseMatrix::new(rows, width, values)
        } else {
            DenseMatrix::from_row_major(rows, width, &values)
        };
        matrix.map_err(|e| Error::content(&self.name, e.to_string()))
    }

    fn read_some<T: Element>(&mut self, count: usize, buffer: &mut [u8], out: &mut Vec<T>) -> Result<()> {
        let bytes = &mut buffer[..count * self.header.dtype.size];
        self.reader.read_exact(bytes).map_err(|e| read_error(&self.name, e))?;
        let before = out.len();
        if let Some(bad) = decode(bytes, self.header.dtype, out) {
            let message = format!("element {} does not fit, expected a non-negative integer in range", before + bad);
            return Err(Error::content(&self.name, message));
        }
        Ok(())
    }

    /// The array must end here. Reading on also lets an archive compare its checksum.
    fn finish(mut self) -> Result<()> {
        match self.reader.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(Error::content(&self.name, "there is something after the array, expected the end of the file")),
            Err(e) => Err(read_error(&self.name, e)),
        }
    }
}

fn read_error(name: &str, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => Error::content(name, "the file is cut short, expected more data"),
        _ => Error::io(name, "read", error),
    }
}

/// Appends the decoded elements; returns the position of the first that does not fit.
pub(crate) fn decode<T: Element>(bytes: &[u8], dtype: Dtype, out: &mut Vec<T>) -> Option<usize> {
    let before = out.len();
    let mut bad = false;
    macro_rules! decode_as {
        ($type:ty, $from:ident, $wide:ty) => {{
            const SIZE: usize = size_of::<$type>();
            let parts = bytes.chunks_exact(SIZE).map(|part| <[u8; SIZE]>::try_from(part).unwrap_or([0; SIZE]));
            let mut convert = |value: $type| {
                T::$from(value as $wide).unwrap_or_else(|| {
                    bad = true;
                    T::default()
                })
            };
            if dtype.big_endian {
                out.extend(parts.map(|part| convert(<$type>::from_be_bytes(part))));
            } else {
                out.extend(parts.map(|part| convert(<$type>::from_le_bytes(part))));
            }
            if bad {
                let fits = |part: &[u8]| {
                    let part = <[u8; SIZE]>::try_from(part).unwrap_or([0; SIZE]);
                    let value = if dtype.big_endian { <$type>::from_be_bytes(part) } else { <$type>::from_le_bytes(part) };
                    T::$from(value as $wide).is_some()
                };
                return bytes.chunks_exact(SIZE).position(|part| !fits(part)).or(Some(out.len() - before));
            }
        }};
    }
    match dtype.kind {
        Kind::F32 => decode_as!(f32, from_f64, f64),
        Kind::F64 => decode_as!(f64, from_f64, f64),
        Kind::I8 => decode_as!(i8, from_i64, i64),
        Kind::I16 => decode_as!(i16, from_i64, i64),
        Kind::I32 => decode_as!(i32, from_i64, i64),
        Kind::I64 => decode_as!(i64, from_i64, i64),
        Kind::U8 | Kind::Bool => decode_as!(u8, from_u64, u64),
        Kind::U16 => decode_as!(u16, from_u64, u64),
        Kind::U32 => decode_as!(u32, from_u64, u64),
        Kind::U64 => decode_as!(u64, from_u64, u64),
    }
    None
}
