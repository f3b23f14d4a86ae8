//! Version 4: each array is a header of five integers, its name and its numbers.

use std::io::{Read, Seek, SeekFrom};

use super::{Body, Content, Variable, cut_short, numbers};
use crate::assemble::check_shape;
use crate::error::{Error, Result};
use crate::input::Counted;
use crate::npy::{Dtype, Kind};

pub(super) const HEADER: usize = 20;

const LONGEST_NAME: usize = 1 << 12;

struct Header {
    dtype: Dtype,
    /// 0 full, 1 text, 2 sparse.
    layout: u32,
    rows: usize,
    cols: usize,
    complex: bool,
    name_bytes: usize,
}

impl Header {
    fn read(path: &str, reader: &mut impl Read) -> Result<Self> {
        let mut bytes = [0; HEADER];
        reader.read_exact(&mut bytes).map_err(|e| cut_short(path, e))?;
        let words = |big_endian: bool| {
            let word = |part: &[u8]| <[u8; 4]>::try_from(part).unwrap_or_default();
            let numbers = bytes.chunks_exact(4).map(word);
            let numbers = numbers.map(|part| if big_endian { u32::from_be_bytes(part) } else { u32::from_le_bytes(part) });
            numbers.map(|number| number as usize).collect::<Vec<_>>()
        };
        // Thousands say whose byte order it is, tens the type, units the layout.
        let read = [false, true].into_iter().find_map(|big_endian| {
            let fields = words(big_endian);
            (fields[0] < 2000 && fields[0] / 1000 == usize::from(big_endian)).then_some((big_endian, fields))
        });
        let damaged = || Error::content(path, "is not a MATLAB file, or damaged: expected the header of an array");
        let (big_endian, fields) = read.ok_or_else(damaged)?;
        let &[code, rows, cols, imaginary, name_bytes] = fields.as_slice() else { return Err(damaged()) };
        let (kind, size) = match code / 10 % 10 {
            0 => (Kind::F64, 8),
            1 => (Kind::F32, 4),
            2 => (Kind::I32, 4),
            3 => (Kind::I16, 2),
            4 => (Kind::U16, 2),
            5 => (Kind::U8, 1),
            _ => return Err(damaged()),
        };
        let layout = (code % 10) as u32;
        if !(1..=LONGEST_NAME).contains(&name_bytes) || layout > 2 || imaginary > 1 || code / 100 % 10 != 0 {
            return Err(damaged());
        }
        Ok(Header { dtype: Dtype { kind, size, big_endian }, layout, rows, cols, complex: imaginary == 1, name_bytes })
    }

    fn data_bytes(&self) -> Option<u64> {
        let count = (self.rows as u64).checked_mul(self.cols as u64)?;
        count.checked_mul(self.dtype.size as u64 * if self.complex { 2 } else { 1 })
    }
}

pub(super) fn list(path: &str, file: &mut Counted) -> Result<Vec<Variable>> {
    let size = file.size();
    let mut variables = vec![];
    let mut at = 0;
    while at < size {
        file.seek(SeekFrom::Start(at)).map_err(|e| Error::io(path, "read", e))?;
        let header = Header::read(path, file)?;
        let mut name = vec![0; header.name_bytes];
        file.read_exact(&mut name).map_err(|e| cut_short(path, e))?;
        name.retain(|&byte| byte != 0);
        let begin = at + (HEADER + header.name_bytes) as u64;
        let next = header.data_bytes().and_then(|bytes| begin.checked_add(bytes)).filter(|next| *next <= size);
        let next = next.ok_or_else(|| Error::content(path, "the file is cut short, expected more data"))?;
        let (mut rows, mut cols) = (header.rows, header.cols);
        let content = match header.layout {
            _ if header.complex => Content::Other("complex"),
            0 => Content::Dense(header.dtype.kind),
            2 if cols == 3 && rows > 0 => {
                let room = rows - 1;
                // The last of the triplets holds the shape.
                let corner = |k: usize, file: &mut Counted| -> Result<usize> {
                    let place = begin + ((k * header.rows + header.rows - 1) * header.dtype.size) as u64;
                    file.seek(SeekFrom::Start(place)).map_err(|e| Error::io(path, "read", e))?;
                    let length: Vec<f64> = numbers(path, file, header.dtype, 1, header.dtype.size as u64)?;
                    integer(path, length[0], 0, i32::MAX as usize)
                };
                (rows, cols) = (corner(0, file)?, corner(1, file)?);
                Content::Sparse(room)
            }
            2 => Content::Other("complex"),
            _ => Content::Other("text"),
        };
        variables.push(Variable { name: String::from_utf8_lossy(&name).into_owned(), rows, cols, content, at });
        at = next;
    }
    Ok(variables)
}

pub(super) fn read(name: &str, file: Counted, variable: &Variable) -> Result<Body> {
    let mut reader = std::io::BufReader::new(file);
    let header = Header::read(name, &mut reader)?;
    std::io::copy(&mut reader.by_ref().take(header.name_bytes as u64), &mut std::io::sink()).map_err(|e| cut_short(name, e))?;
    let left = header.data_bytes().unwrap_or(0); // compared with the file's size before
    let count = header.rows * header.cols;
    match variable.content {
        Content::Dense(Kind::F32) => Ok(Body::F32(numbers(name, &mut reader, header.dtype, count, left)?)),
        Content::Dense(_) => Ok(Body::F64(numbers(name, &mut reader, header.dtype, count, left)?)),
        Content::Sparse(entries) => {
            check_shape(name, variable.rows as u64, variable.cols as u64, entries as u64)?;
            let triplets: Vec<f64> = numbers(name, &mut reader, header.dtype, count, left)?;
            compress(name, &triplets, entries, variable.rows, variable.cols)
        }
        Content::Other(what) => Err(Error::content(name, format!("is {what}, expected numbers"))),
    }
}

/// Rows, columns (both from 1) and values, to columns.
fn compress(name: &str, triplets: &[f64], entries: usize, rows: usize, cols: usize) -> Result<Body> {
    let part = |k: usize| &triplets[k * (entries + 1)..][..entries];
    let mut ptr = crate::assemble::filled(name, cols + 1, 0usize)?;
    let mut columns = crate::assemble::reserve(name, entries)?;
    for &column in part(1) {
        let column = integer(name, column, 1, cols)? - 1;
        ptr[column + 1] += 1;
        columns.push(column);
    }
    for j in 0..cols {
        ptr[j + 1] += ptr[j];
    }
    let mut next = ptr.clone();
    let mut idx = crate::assemble::filled(name, entries, 0u32)?;
    let mut values = crate::assemble::filled(name, entries, 0.0)?;
    for ((&row, &value), &column) in part(0).iter().zip(part(2)).zip(&columns) {
        let slot = next[column];
        idx[slot] = (integer(name, row, 1, rows)? - 1) as u32;
        values[slot] = value;
        next[column] += 1;
    }
    Ok(Body::SparseF64 { ptr, rows: idx, values })
}

/// An index or length that is stored as a number of some other type.
fn integer(name: &str, value: f64, least: usize, most: usize) -> Result<usize> {
    if value.fract() == 0.0 && value >= least as f64 && value <= most as f64 {
        return Ok(value as usize);
    }
    Err(Error::content(name, format!("found {value}, expected an index between {least} and {most}")))
}
