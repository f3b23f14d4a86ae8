//! The header of a NumPy array: `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.

use std::io::Read;

use crate::error::{Error, Result};

pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// NumPy pads headers to 64 bytes; anything near this is damage.
const LONGEST_HEADER: u32 = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
}

/// Type and byte order of one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dtype {
    pub kind: Kind,
    pub size: usize,
    pub big_endian: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub dtype: Dtype,
    pub fortran: bool,
    pub shape: Vec<usize>,
}

impl Kind {
    /// NumPy's name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::F32 => "float32",
            Kind::F64 => "float64",
            Kind::I8 => "int8",
            Kind::I16 => "int16",
            Kind::I32 => "int32",
            Kind::I64 => "int64",
            Kind::U8 => "uint8",
            Kind::U16 => "uint16",
            Kind::U32 => "uint32",
            Kind::U64 => "uint64",
            Kind::Bool => "bool",
        }
    }
}

impl Dtype {
    /// From NumPy's code: byte order, kind, size.
    fn parse(name: &str, descr: &str) -> Result<Self> {
        let (order, code) = match descr.as_bytes().first() {
            Some(b'<' | b'>' | b'|' | b'=') => descr.split_at(1),
            _ => ("=", descr),
        };
        let (kind, size) = match code {
            "f4" => (Kind::F32, 4),
            "f8" => (Kind::F64, 8),
            "i1" => (Kind::I8, 1),
            "i2" => (Kind::I16, 2),
            "i4" => (Kind::I32, 4),
            "i8" => (Kind::I64, 8),
            "u1" => (Kind::U8, 1),
            "u2" => (Kind::U16, 2),
            "u4" => (Kind::U32, 4),
            "u8" => (Kind::U64, 8),
            "b1" => (Kind::Bool, 1),
            _ => {
                let message = format!("arrays of type '{descr}' are not supported, expected float32, float64, integers or bool");
                return Err(Error::content(name, message));
            }
        };
        let big_endian = order == ">" || order == "=" && cfg!(target_endian = "big");
        Ok(Dtype { kind, size, big_endian })
    }

    /// NumPy's name.
    pub fn name(self) -> &'static str {
        self.kind.name()
    }

    pub fn is_integer(self) -> bool {
        !matches!(self.kind, Kind::F32 | Kind::F64 | Kind::Bool)
    }
}

impl Header {
    /// Also returns how many bytes it took.
    pub fn read(name: &str, reader: &mut impl Read) -> Result<(Self, u64)> {
        let (text, bytes) = read_text(name, reader)?;
        let descr = quoted(value_of(name, &text, "descr")?)
            .ok_or_else(|| Error::content(name, "structured arrays are not supported, expected an array of numbers"))?;
        let fortran = match value_of(name, &text, "fortran_order")? {
            value if value.starts_with("True") => true,
            value if value.starts_with("False") => false,
            _ => return Err(damaged(name)),
        };
        let shape = value_of(name, &text, "shape")?;
        let inner = shape.strip_prefix('(').and_then(|rest| rest.split_once(')')).ok_or_else(|| damaged(name))?.0;
        let lengths = inner.split(',').map(str::trim).filter(|length| !length.is_empty());
        let shape =
            lengths.map(|length| length.trim_end_matches('L').parse().map_err(|_| damaged(name))).collect::<Result<_>>()?;
        Ok((Header { dtype: Dtype::parse(name, descr)?, fortran, shape }, bytes))
    }

    /// Elements; `None` when they cannot be counted.
    pub fn count(&self) -> Option<usize> {
        self.shape.iter().try_fold(1usize, |product, &length| product.checked_mul(length))
    }

    /// Of a 2-D array; a 1-D array is one column.
    pub fn rows_and_cols(&self, name: &str) -> Result<(usize, usize)> {
        match *self.shape.as_slice() {
            [rows] => Ok((rows, 1)),
            [rows, cols] => Ok((rows, cols)),
            _ => Err(Error::content(name, format!("has {} dimensions, expected a matrix with 2", self.shape.len()))),
        }
    }
}

/// The dictionary as text, and the bytes up to the data. Also for arrays of text, which have no [`Dtype`].
pub(crate) fn read_text(name: &str, reader: &mut impl Read) -> Result<(String, u64)> {
    let mut fixed = [0; 8];
    let mut read = |buffer: &mut [u8]| {
        reader.read_exact(buffer).map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => Error::content(name, "the file is cut short, expected a NumPy array header"),
            _ => Error::io(name, "read", e),
        })
    };
    read(&mut fixed)?;
    if &fixed[..6] != MAGIC {
        return Err(Error::content(name, "is not a NumPy array, expected it to start with \\x93NUMPY"));
    }
    let (length, before) = if fixed[6] == 1 {
        let mut length = [0; 2];
        read(&mut length)?;
        (u32::from(u16::from_le_bytes(length)), 10)
    } else {
        let mut length = [0; 4];
        read(&mut length)?;
        (u32::from_le_bytes(length), 12)
    };
    if !(1..=3).contains(&fixed[6]) || length > LONGEST_HEADER {
        return Err(damaged(name));
    }
    let mut text = vec![0; length as usize];
    read(&mut text)?;
    let text = String::from_utf8(text).map_err(|_| damaged(name))?;
    Ok((text, before + u64::from(length)))
}

/// What follows `'key':`.
pub(crate) fn value_of<'a>(name: &str, dictionary: &'a str, key: &str) -> Result<&'a str> {
    let after = |quote: char| dictionary.split_once(&format!("{quote}{key}{quote}")).map(|(_, rest)| rest);
    let rest = after('\'').or_else(|| after('"')).and_then(|rest| rest.trim_start().strip_prefix(':'));
    rest.map(str::trim_start).ok_or_else(|| damaged(name))
}

/// The text in quotes at the start.
pub(crate) fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|&c| c == '\'' || c == '"')?;
    text[1..].split_once(quote).map(|(inner, _)| inner)
}

fn damaged(name: &str) -> Error {
    Error::content(name, "the array header is damaged, expected 'descr', 'fortran_order' and 'shape'")
}
