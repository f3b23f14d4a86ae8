//! Matrices with many columns, read and written some columns at a time: they may be larger than memory.

use std::io::Write;
use std::sync::mpsc;

use nonneg::{DenseView, MatrixRef};

use crate::error::{Error, Result};
use crate::location::{Format, Location};
use crate::npy::Array;
use crate::output::Pending;
use crate::{Matrix, assemble, input, nnm, open_npy, write};

/// Numbers that are copied at a time.
const COPIED: usize = 1 << 22;

/// A matrix in memory, or a file to be read in parts.
pub struct ManyColumns {
    rows: usize,
    cols: usize,
    source: Source,
}

enum Source {
    Memory(Matrix),
    Npy(Array<input::Counted<'static>>),
}

impl std::fmt::Debug for ManyColumns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ManyColumns({}×{})", self.rows, self.cols)
    }
}

impl ManyColumns {
    pub(crate) fn whole(matrix: Matrix) -> Self {
        let (rows, cols) = (matrix.view().rows(), matrix.view().cols());
        Self { rows, cols, source: Source::Memory(matrix) }
    }

    pub(crate) fn open_npy(path: &str) -> Result<Self> {
        let array = open_npy(path, None)?;
        let (rows, cols) = array.header.rows_and_cols(&array.name)?;
        Ok(Self { rows, cols, source: Source::Npy(array) })
    }

    /// Entries of a column.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns in all.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// All columns, `width` of them at a time where they are read from a file: then the next ones are read while the caller works
    /// with those before.
    pub fn parts(self, width: usize) -> Parts {
        match self.source {
            Source::Memory(matrix) => Parts::Memory(Some(matrix)),
            Source::Npy(mut array) => {
                let (send, receive) = mpsc::sync_channel(0);
                let (cols, width) = (self.cols, width.max(1));
                std::thread::spawn(move || {
                    for first in (0..cols).step_by(width) {
                        let part = array.read_columns(first..(first + width).min(cols)).map(Matrix::Memory);
                        let failed = part.is_err();
                        if send.send(part).is_err() || failed {
                            return; // nobody wants more
                        }
                    }
                });
                Parts::File(receive)
            }
        }
    }
}

/// See [`ManyColumns::parts`].
pub enum Parts {
    #[doc(hidden)]
    Memory(Option<Matrix>),
    #[doc(hidden)]
    File(mpsc::Receiver<Result<Matrix>>),
}

impl Iterator for Parts {
    type Item = Result<Matrix>;

    fn next(&mut self) -> Option<Result<Matrix>> {
        match self {
            Parts::Memory(matrix) => matrix.take().map(Ok),
            Parts::File(receive) => receive.recv().ok(),
        }
    }
}

/// Copies a dense matrix from `.npy` to `.nnm`, some columns at a time: it may be larger than memory. `None` for other formats, and
/// for vectors.
pub fn convert_in_parts(from: &str, to: &str) -> Result<Option<(usize, usize)>> {
    let (source, target) = (Location::parse(from)?, Location::parse(to)?);
    if (source.format, target.format) != (Format::Npy, Format::Nnm) {
        return Ok(None);
    }
    let matrix = ManyColumns::open_npy(source.path)?;
    let (rows, cols) = (matrix.rows(), matrix.cols());
    let mut writer = None;
    for part in matrix.parts((COPIED / rows.max(1)).max(1)) {
        let part = part?;
        let view = part.view();
        let single = matches!(view, MatrixRef::DenseF32(_));
        let writer = match &mut writer {
            Some(writer) => writer,
            none => none.insert(nnm::DenseWriter::create(target.path, (rows, cols), single, None)?),
        };
        match view {
            MatrixRef::DenseF32(view) => writer.append(view.values())?,
            MatrixRef::DenseF64(view) => writer.append(view.values())?,
            _ => unreachable!("parts of .npy are dense"),
        }
    }
    match writer {
        Some(writer) => writer.finish().map(|()| Some((rows, cols))),
        None => Ok(None), // no columns
    }
}

/// A dense matrix that is written some columns at a time. Until [`finish`](Self::finish) there is no file of that name.
pub struct ColumnWriter {
    path: String,
    rows: usize,
    cols: usize,
    to: Destination,
}

enum Destination {
    /// Straight to the file.
    Npy(Pending),
    /// Other formats are written at the end.
    Memory(Vec<f64>),
}

impl ColumnWriter {
    /// For a matrix of this shape, in any format of [`write_problem`](crate::write_problem).
    pub fn create(path: &str, rows: usize, cols: usize) -> Result<Self> {
        let to = match Location::parse(path)?.format {
            Format::Npy => {
                let mut file = Pending::create(path)?;
                file.write(|out| write::write_npy_header(out, rows, cols))?;
                Destination::Npy(file)
            }
            _ => Destination::Memory(assemble::reserve(path, rows.saturating_mul(cols))?),
        };
        Ok(Self { path: path.to_owned(), rows, cols, to })
    }

    /// Where it goes.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Appends whole columns.
    pub fn append(&mut self, columns: &[f64]) -> Result<()> {
        match &mut self.to {
            Destination::Npy(file) => file.write(|out| write::write_numbers(out, columns.iter().copied())),
            Destination::Memory(values) => {
                values.extend_from_slice(columns);
                Ok(())
            }
        }
    }

    /// Appends columns of zeros.
    pub fn append_zeros(&mut self, count: usize) -> Result<()> {
        let numbers = count * self.rows;
        match &mut self.to {
            Destination::Npy(file) => file.write(|out| write::write_numbers(out, std::iter::repeat_n(0.0, numbers))),
            Destination::Memory(values) => {
                values.resize(values.len() + numbers, 0.0);
                Ok(())
            }
        }
    }

    /// Puts the file in place.
    pub fn finish(self) -> Result<()> {
        match self.to {
            Destination::Npy(file) => file.finish(),
            Destination::Memory(values) => {
                let matrix = DenseView::new(self.rows, self.cols, &values);
                write::write_problem(&self.path, matrix.map_err(|e| Error::content(&self.path, e.to_string()))?.into(), None)
            }
        }
    }
}

/// A text file that is written bit by bit. Until [`finish`](Self::finish) there is no file of that name.
pub struct TextWriter(Pending);

impl TextWriter {
    /// Of any ending; it is not compressed.
    pub fn create(path: &str) -> Result<Self> {
        Pending::create(path).map(Self)
    }

    /// Appends some text.
    pub fn append(&mut self, text: &str) -> Result<()> {
        self.0.write(|out| out.write_all(text.as_bytes()))
    }

    /// Puts the file in place.
    pub fn finish(self) -> Result<()> {
        self.0.finish()
    }
}
