//! Parquet tables: every column of the file is a column of A.

use std::fs::File;

use nonneg::matrix::Value;
use nonneg::{AnyMatrix, DenseMatrix};
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use crate::error::{Error, Result};
use crate::guard::guarded;
use crate::input::Counted;
use crate::npy::Element;
use crate::number::Numbers;
use crate::{Problem, Progress, Shape, Stored, assemble};

/// Values decoded at a time.
const BATCH: usize = 1 << 14;

/// pandas keeps labels of rows that have no name in columns of such names.
const UNNAMED_LABELS: &str = "__index_level_";

struct Table {
    path: String,
    reader: SerializedFileReader<File>,
    size: u64,
    /// The columns that are meant.
    columns: Vec<Selected>,
}

struct Selected {
    /// Place among the columns of the file.
    at: usize,
    name: String,
    kind: Kind,
    nullable: bool,
}

/// What a column holds, by NumPy's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Float32,
    Float64,
}

impl Kind {
    fn of(column: &ColumnDescriptor) -> std::result::Result<Self, &'static str> {
        use ConvertedType::{INT_8, INT_16, INT_32, INT_64, NONE, UINT_8, UINT_16, UINT_32, UINT_64};
        if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
            return Err("lists or records");
        }
        let signed = match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Integer(integer)), _) => Some(integer.is_signed),
            (None, NONE | INT_8 | INT_16 | INT_32 | INT_64) => Some(true),
            (None, UINT_8 | UINT_16 | UINT_32 | UINT_64) => Some(false),
            _ => None,
        };
        match (column.physical_type(), signed) {
            (Type::BOOLEAN, _) => Ok(Kind::Bool),
            (Type::FLOAT, _) => Ok(Kind::Float32),
            (Type::DOUBLE, _) => Ok(Kind::Float64),
            (Type::INT32, Some(true)) => Ok(Kind::Int32),
            (Type::INT64, Some(true)) => Ok(Kind::Int64),
            (Type::INT32, Some(false)) => Ok(Kind::Uint32),
            (Type::INT64, Some(false)) => Ok(Kind::Uint64),
            (Type::INT32 | Type::INT64 | Type::INT96, _) => Err("dates, times or decimals"),
            (Type::FIXED_LEN_BYTE_ARRAY, _) if column.logical_type_ref() == Some(&LogicalType::Float16) => Err("float16"),
            _ => Err("text or bytes"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::Int32 => "int32",
            Kind::Int64 => "int64",
            Kind::Uint32 => "uint32",
            Kind::Uint64 => "uint64",
            Kind::Float32 => "float32",
            Kind::Float64 => "float64",
        }
    }
}

impl Table {
    /// Reads the footer; `key` is the name of the only column that is meant.
    fn open(path: &str, key: Option<&str>) -> Result<Self> {
        let size = Counted::open(path, None)?.size(); // refuses folders
        let file = File::open(path).map_err(|e| Error::io(path, "open", e))?;
        let reader = SerializedFileReader::new(file).map_err(|e| damaged(path, e))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let labels = row_labels(&reader);
        let mut columns = vec![];
        for (at, column) in schema.columns().iter().enumerate() {
            let name = column.path().string();
            if key.map_or(name.starts_with(UNNAMED_LABELS) || labels.contains(&name), |key| key != name) {
                continue;
            }
            let kind = Kind::of(column).map_err(|found| {
                let message = format!("column '{name}' holds {found}, expected float32, float64, integers or booleans");
                Error::content(path, message)
            })?;
            columns.push(Selected { at, name, kind, nullable: column.max_def_level() > 0 });
        }
        match (key, columns.is_empty()) {
            (Some(key), true) => {
                let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
                let message = format!("there is no column '{key}', expected one of: {}", names.join(", "));
                Err(Error::content(path, message))
            }
            (None, true) => Err(Error::content(path, "holds no columns, expected columns of numbers")),
            _ => Table { path: path.to_string(), reader, size, columns }.checked(),
        }
    }

    /// The decoder takes the places of columns in the file for granted.
    fn checked(self) -> Result<Self> {
        let chunks = self.reader.metadata().row_groups().iter().flat_map(|group| group.columns());
        for chunk in chunks {
            let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
            let end = start.checked_add(chunk.compressed_size()).filter(|end| *end >= start && start >= 0);
            if end.is_none_or(|end| end as u64 > self.size) {
                return Err(Error::content(&self.path, "the footer is damaged: a column does not lie in the file"));
            }
        }
        Ok(self)
    }

    fn rows(&self) -> Result<usize> {
        let rows = self.reader.metadata().file_metadata().num_rows();
        usize::try_from(rows).map_err(|_| Error::content(&self.path, format!("claims to have {rows} rows")))
    }

    /// The values of all columns that are meant, one column after the other.
    fn read<T: Element>(&self, progress: Option<Progress>) -> Result<Vec<T>> {
        let rows = self.rows()?;
        let mut values: Vec<T> = vec![];
        let mut bytes = 0;
        for (done, column) in self.columns.iter().enumerate() {
            if done == 1 {
                // The first column has shown that the number of rows is true.
                assemble::make_room(&self.path, &mut values, rows.saturating_mul(self.columns.len() - 1))?;
            }
            bytes += self.read_column(column, &mut values)?;
            if values.len() != rows.saturating_mul(done + 1) {
                let found = values.len() - rows.saturating_mul(done).min(values.len());
                let message = format!("column '{}' has {found} values, expected {rows}", column.name);
                return Err(Error::content(&self.path, message));
            }
            if let Some(progress) = progress {
                progress(bytes.min(self.size), Some(self.size));
            }
        }
        if let Some(progress) = progress {
            progress(self.size, Some(self.size));
        }
        Ok(values)
    }

    /// Appends a column; returns the bytes that it takes in the file.
    fn read_column<T: Element>(&self, column: &Selected, out: &mut Vec<T>) -> Result<u64> {
        let mut bytes = 0;
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(|e| damaged(&self.path, e))?;
            bytes += u64::try_from(group.metadata().column(column.at).compressed_size()).unwrap_or(0);
            let reader = group.get_column_reader(column.at).map_err(|e| damaged(&self.path, e))?;
            match (reader, column.kind) {
                (ColumnReader::BoolColumnReader(reader), _) => self.append(reader, column, out, |v| T::from_u64(v.into())),
                (ColumnReader::Int32ColumnReader(reader), Kind::Uint32) => {
                    self.append(reader, column, out, |v| T::from_u64(u64::from(v as u32)))
                }
                (ColumnReader::Int64ColumnReader(reader), Kind::Uint64) => {
                    self.append(reader, column, out, |v| T::from_u64(v as u64))
                }
                (ColumnReader::Int32ColumnReader(reader), _) => self.append(reader, column, out, |v| T::from_i64(v.into())),
                (ColumnReader::Int64ColumnReader(reader), _) => self.append(reader, column, out, T::from_i64),
                (ColumnReader::FloatColumnReader(reader), _) => self.append(reader, column, out, |v| T::from_f64(v.into())),
                (ColumnReader::DoubleColumnReader(reader), _) => self.append(reader, column, out, T::from_f64),
                _ => Err(Error::content(&self.path, format!("column '{}' does not hold what the footer says", column.name))),
            }?;
        }
        Ok(bytes)
    }

    fn append<D: DataType, T: Element>(
        &self,
        mut reader: ColumnReaderImpl<D>,
        column: &Selected,
        out: &mut Vec<T>,
        convert: impl Fn(D::T) -> Option<T>,
    ) -> Result<()> {
        let (mut batch, mut levels) = (vec![], vec![]);
        loop {
            batch.clear();
            levels.clear();
            let levels = column.nullable.then_some(&mut levels);
            let (records, ..) = reader.read_records(BATCH, levels, None, &mut batch).map_err(|e| damaged(&self.path, e))?;
            if batch.len() < records {
                let message = format!("column '{}' has missing values (nulls), expected a number in every row", column.name);
                return Err(Error::content(&self.path, message));
            }
            if records == 0 {
                return Ok(());
            }
            out.try_reserve(batch.len()).map_err(|_| Error::content(&self.path, "needs more memory than is available"))?;
            out.extend(batch.drain(..).map(|value| convert(value).unwrap_or_default()));
        }
    }

    fn is_single(&self) -> bool {
        self.columns.iter().all(|column| column.kind == Kind::Float32)
    }

    fn read_dense<T: Element + Value>(&self, progress: Option<Progress>) -> Result<DenseMatrix<T>> {
        let values = self.read(progress)?;
        let cols = self.columns.len();
        DenseMatrix::new(values.len() / cols, cols, values).map_err(|e| Error::content(&self.path, e.to_string()))
    }
}

pub(crate) fn read_problem(path: &str, key: Option<&str>, progress: Option<Progress>, _: Stored) -> Result<Problem> {
    guarded(path, || {
        let table = Table::open(path, key)?;
        let matrix: AnyMatrix =
            if table.is_single() { table.read_dense::<f32>(progress)?.into() } else { table.read_dense::<f64>(progress)?.into() };
        Ok(Problem { matrix: matrix.into(), rhs: None })
    })
}

/// The columns that pandas' note in the footer calls labels of rows. What cannot be made out is no reason to refuse the table.
fn row_labels(reader: &SerializedFileReader<File>) -> Vec<String> {
    let notes = reader.metadata().file_metadata().key_value_metadata();
    let note = notes.into_iter().flatten().find(|note| note.key == "pandas").and_then(|note| note.value.as_deref());
    let Ok(note) = serde_json::from_str::<serde_json::Value>(note.unwrap_or_default()) else { return vec![] };
    // Labels that are a range are no column, and described by an object.
    note["index_columns"].as_array().into_iter().flatten().filter_map(|label| label.as_str().map(str::to_string)).collect()
}

/// One column, or one row.
pub(crate) fn read_vector(path: &str, key: Option<&str>, numbers: Numbers) -> Result<Vec<f64>> {
    guarded(path, || {
        let table = Table::open(path, key)?;
        crate::vector::check_shape(path, table.rows()?, table.columns.len())?;
        numbers.check(path, table.read(None)?)
    })
}

pub(crate) fn peek(path: &str, key: Option<&str>) -> Result<Shape> {
    let table = guarded(path, || Table::open(path, key))?;
    let (rows, cols) = (table.rows()?, table.columns.len());
    let first = table.columns[0].kind;
    let same = table.columns.iter().all(|column| column.kind == first);
    let dtype = if same { first.name() } else { "mixed" };
    Ok(Shape { rows, cols, nnz: rows.checked_mul(cols), dtype: dtype.into(), kind: "dense" })
}

fn damaged(path: &str, error: ParquetError) -> Error {
    Error::content(path, format!("is not a complete Parquet file: {error}"))
}
