//! One dataset of numbers, read in blocks.

use hdf5_reader::{ByteOrder, Dataset, Datatype, H5Type, SliceInfo, SliceInfoElem};
use nonneg::matrix::Value;
use nonneg::{AnyMatrix, DenseMatrix};
use rayon::prelude::*;

use crate::assemble::{self, check_shape};
use crate::compression::inflated_limit;
use crate::error::{Error, Result};
use crate::npy::{self, Dtype, Element, Kind};

/// Bytes read at a time, about: whole chunks of the file, if they are larger.
const BLOCK: usize = 1 << 22;

pub(super) struct Array {
    pub name: String,
    pub dtype: Dtype,
    dataset: Dataset,
    /// MATLAB stores columns where others store rows.
    by_columns: bool,
}

impl Array {
    /// `file_size` limits what the header may claim.
    pub fn new(name: String, dataset: Dataset, file_size: u64) -> Result<Self> {
        let Some(dtype) = dtype(dataset.dtype()) else {
            let message = "does not hold numbers that we know, expected float32, float64, integers or booleans";
            return Err(Error::content(&name, message));
        };
        let by_columns = dataset.attribute("MATLAB_class").is_ok();
        let bytes = dataset.shape().iter().try_fold(dtype.size as u64, |product, &length| product.checked_mul(length));
        if bytes.is_none_or(|bytes| bytes > inflated_limit(file_size)) {
            let message = format!("shape {:?} is more than a file of this size can hold", dataset.shape());
            return Err(Error::content(&name, message));
        }
        Ok(Array { name, dtype, dataset, by_columns })
    }

    /// Of two dimensions; one is a column, none a single number.
    pub fn rows_and_cols(&self) -> Result<(usize, usize)> {
        match *self.dataset.shape() {
            [] => Ok((1, 1)),
            [rows] => Ok((rows as usize, 1)),
            [cols, rows] if self.by_columns => Ok((rows as usize, cols as usize)),
            [rows, cols] => Ok((rows as usize, cols as usize)),
            ref shape => Err(Error::content(&self.name, format!("has {} dimensions, expected a matrix with 2", shape.len()))),
        }
    }

    pub fn len(&self) -> usize {
        self.dataset.shape().iter().product::<u64>() as usize // compared with the file's size before
    }

    pub fn dimensions(&self) -> usize {
        self.dataset.shape().len()
    }

    /// All elements in file order. `report` is told the share that has been read.
    pub fn read_all<T: Element + Send>(&self, report: &dyn Fn(f64)) -> Result<Vec<T>> {
        let mut values = assemble::reserve(&self.name, self.len())?;
        self.for_each_block(report, |_, block: &[Number<T>]| values.extend(block.iter().map(|number| number.0)))?;
        Ok(values)
    }

    fn read_dense<T: Element + Value + Send>(&self, report: &dyn Fn(f64)) -> Result<DenseMatrix<T>> {
        let (rows, cols) = self.rows_and_cols()?;
        check_shape(&self.name, rows as u64, cols as u64, (rows as u64).max(cols as u64))?;
        let values = if self.by_columns || rows <= 1 || cols <= 1 {
            self.read_all(report)?
        } else {
            let mut values = assemble::filled(&self.name, rows * cols, T::default())?;
            self.for_each_block(report, |first, block: &[Number<T>]| {
                let count = block.len() / cols;
                for j in 0..cols {
                    let column = &mut values[j * rows + first..][..count];
                    column.iter_mut().zip(block[j..].iter().step_by(cols)).for_each(|(to, from)| *to = from.0);
                }
            })?;
            values
        };
        DenseMatrix::new(rows, cols, values).map_err(|e| Error::content(&self.name, e.to_string()))
    }

    /// In single precision when the file is.
    pub fn read_matrix(&self, report: &dyn Fn(f64)) -> Result<AnyMatrix> {
        match self.dtype.kind {
            Kind::F32 => Ok(self.read_dense::<f32>(report)?.into()),
            _ => Ok(self.read_dense::<f64>(report)?.into()),
        }
    }

    /// Runs over blocks of the first dimension: where each begins, and its elements in file order.
    fn for_each_block<T: H5Type + Send>(&self, report: &dyn Fn(f64), mut accept: impl FnMut(usize, &[T])) -> Result<()> {
        let failed = |e: hdf5_reader::error::Error| Error::content(&self.name, format!("cannot be read: {e}"));
        let shape = self.dataset.shape();
        let Some(&length) = shape.first() else {
            let array = self.dataset.read_array::<T>().map_err(failed)?;
            accept(0, array.as_slice().unwrap_or_default());
            return Ok(());
        };
        if self.len() == 0 {
            return Ok(()); // however many rows of nothing there are
        }
        let one = shape[1..].iter().product::<u64>().saturating_mul(self.dtype.size as u64).max(1);
        // Whole chunks, so that none is decompressed twice.
        let chunk = self.dataset.chunks().and_then(|chunks| chunks.first().copied()).map_or(1, u64::from).max(1);
        let step = (BLOCK as u64 / one / chunk).max(1).saturating_mul(chunk);
        let read = |first: u64| {
            let mut selection = SliceInfo::all(shape.len());
            selection.selections[0] = SliceInfoElem::Slice { start: first, end: length.min(first + step), step: 1 };
            self.dataset.read_slice::<T>(&selection).map_err(failed)
        };
        let starts: Vec<u64> = (0..length).step_by(step as usize).collect();
        // Decompressed on all threads, a block on each, and handed over in order.
        for batch in starts.chunks(rayon::current_num_threads()) {
            let blocks: Vec<_> = match batch {
                &[first] => vec![read(first)],
                several => several.par_iter().map(|&first| read(first)).collect(),
            };
            for (&first, block) in batch.iter().zip(blocks) {
                let (block, end) = (block?, length.min(first + step));
                match block.as_slice() {
                    Some(values) if values.len() as u64 == (end - first) * shape[1..].iter().product::<u64>() => {
                        accept(first as usize, values);
                    }
                    _ => return Err(Error::content(&self.name, "is damaged: a block has another size than its shape says")),
                }
                report(end as f64 / length as f64);
            }
        }
        Ok(())
    }
}

fn dtype(datatype: &Datatype) -> Option<Dtype> {
    let (kind, order) = match datatype {
        Datatype::FloatingPoint { size: 4, byte_order } => (Kind::F32, byte_order),
        Datatype::FloatingPoint { size: 8, byte_order } => (Kind::F64, byte_order),
        Datatype::FixedPoint { size, signed, byte_order } => {
            let kind = match (size, signed) {
                (1, true) => Kind::I8,
                (2, true) => Kind::I16,
                (4, true) => Kind::I32,
                (8, true) => Kind::I64,
                (1, false) => Kind::U8,
                (2, false) => Kind::U16,
                (4, false) => Kind::U32,
                (8, false) => Kind::U64,
                _ => return None,
            };
            (kind, byte_order)
        }
        // As h5py writes booleans.
        Datatype::Enum { base, members } if members.len() == 2 => {
            return dtype(base).filter(|dtype| dtype.size == 1);
        }
        _ => return None,
    };
    let size = match kind {
        Kind::I8 | Kind::U8 | Kind::Bool => 1,
        Kind::I16 | Kind::U16 => 2,
        Kind::F32 | Kind::I32 | Kind::U32 => 4,
        Kind::F64 | Kind::I64 | Kind::U64 => 8,
    };
    Some(Dtype { kind, size, big_endian: *order == ByteOrder::BigEndian })
}

/// A number that is stored as something else.
#[derive(Clone)]
pub(super) struct Number<T>(pub T);

impl<T: Element + Send> H5Type for Number<T> {
    fn hdf5_type() -> Datatype {
        Datatype::FloatingPoint { size: 8, byte_order: ByteOrder::LittleEndian } // nobody asks: we only read
    }

    fn from_bytes(bytes: &[u8], datatype: &Datatype) -> hdf5_reader::error::Result<Self> {
        let mut decoded = Self::decode_vec(bytes, datatype, 1).unwrap_or_else(|| Ok(vec![]))?;
        decoded.pop().ok_or_else(|| hdf5_reader::error::Error::InvalidData("no number".into()))
    }

    fn element_size(datatype: &Datatype) -> usize {
        dtype(datatype).map_or(0, |dtype| dtype.size)
    }

    fn decode_vec(raw: &[u8], datatype: &Datatype, count: usize) -> Option<hdf5_reader::error::Result<Vec<Self>>> {
        let dtype = dtype(datatype)?;
        let bytes = raw.get(..count.checked_mul(dtype.size)?)?;
        let mut values = Vec::with_capacity(count);
        let bad = npy::decode(bytes, dtype, &mut values);
        Some(match bad {
            Some(at) => Err(hdf5_reader::error::Error::InvalidData(format!("element {at} of a block is no index in range"))),
            None => Ok(values.into_iter().map(Number).collect()),
        })
    }
}
