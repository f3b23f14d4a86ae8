//! Parquet: a dense matrix, its columns named by their numbers from 0.

use std::io::{self, Write};
use std::sync::Arc;

use nonneg::MatrixRef;
use parquet::basic::{Compression, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{DataType, DoubleType, FloatType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::error::Result;
use crate::output;

/// Rows that are kept together: large enough to compress well, small enough for readers that take one group at a time.
const ROWS_IN_GROUP: usize = 1 << 20;

/// There is no place for a right-hand side.
pub(crate) fn write_problem(path: &str, matrix: MatrixRef, _: Option<&[f64]>) -> Result<()> {
    let (rows, cols) = (matrix.rows(), matrix.cols());
    output::file(path, |out| {
        match matrix {
            MatrixRef::DenseF64(view) => write::<DoubleType>(out, rows, cols, view.values()),
            MatrixRef::DenseF32(view) => write::<FloatType>(out, rows, cols, view.values()),
            _ => unreachable!("callers refuse sparse matrices"),
        }
        .map_err(|error| match error {
            ParquetError::External(source) => io::Error::other(source),
            error => io::Error::other(error.to_string()),
        })
    })
}

fn write<D: DataType>(
    out: &mut (impl Write + Send),
    rows: usize,
    cols: usize,
    values: &[D::T],
) -> std::result::Result<(), ParquetError> {
    let schema = schema(D::get_physical_type(), cols)?;
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let mut file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    let mut first = 0;
    while first < rows {
        let count = ROWS_IN_GROUP.min(rows - first);
        let mut group = file.next_row_group()?;
        let mut j = 0;
        while let Some(mut column) = group.next_column()? {
            column.typed::<D>().write_batch(&values[j * rows + first..][..count], None, None)?;
            column.close()?;
            j += 1;
        }
        group.close()?;
        first += count;
    }
    file.close()?;
    Ok(())
}

fn schema(physical: Physical, cols: usize) -> std::result::Result<Type, ParquetError> {
    let column = |j: usize| {
        let name = j.to_string();
        Type::primitive_type_builder(&name, physical).with_repetition(Repetition::REQUIRED).build().map(Arc::new)
    };
    let columns = (0..cols).map(column).collect::<std::result::Result<Vec<_>, _>>()?;
    Type::group_type_builder("schema").with_fields(columns).build()
}
