//! Versions 5 to 7: a header of 128 bytes, then tagged elements, in version 7 each compressed by zlib.

use std::io::{Read, Seek, SeekFrom};

use super::{Body, Content, Variable, cut_short, numbers};
use crate::assemble::check_shape;
use crate::compression::inflated_limit;
use crate::error::{Error, Result};
use crate::input::Counted;
use crate::npy::{Dtype, Element, Kind};

pub(super) const HEADER: u64 = 128;

/// Elements begin at multiples of this.
const ALIGNMENT: u64 = 8;

// Types of elements.
pub(crate) const INT8: u32 = 1;
pub(crate) const INT32: u32 = 5;
pub(crate) const UINT32: u32 = 6;
pub(crate) const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
const UTF8: u32 = 16;

// Classes of arrays.
pub(crate) const SPARSE: u32 = 5;
pub(crate) const DOUBLE: u32 = 6;
pub(crate) const SINGLE: u32 = 7;
const OPAQUE: u32 = 17;

const COMPLEX: u32 = 0x800;

/// MATLAB's names have 63 letters at most, and arrays that anybody uses far fewer dimensions.
const LONGEST_NAME: u64 = 1 << 12;
const MOST_DIMENSIONS: u64 = 64;

/// The headers of all arrays.
pub(super) fn list(path: &str, file: &mut Counted, big_endian: bool) -> Result<Vec<Variable>> {
    let size = file.size();
    let mut variables = vec![];
    let mut at = HEADER;
    while at < size {
        file.seek(SeekFrom::Start(at)).map_err(|e| Error::io(path, "read", e))?;
        let tag = Tag::read(path, &mut *file, big_endian)?;
        let next = at + Tag::SIZE + tag.bytes;
        if next > size {
            return Err(Error::content(path, "the file is cut short, expected more data"));
        }
        if matches!(tag.kind, MATRIX | COMPRESSED) {
            file.seek(SeekFrom::Start(at)).map_err(|e| Error::io(path, "read", e))?;
            let variable = Stream::open(path, &mut *file, big_endian)?.header(at)?;
            // What has no name belongs to MATLAB.
            variables.extend(Some(variable).filter(|variable| !variable.name.is_empty()));
        }
        at = next;
    }
    Ok(variables)
}

pub(super) fn read(name: &str, file: Counted, big_endian: bool, variable: &Variable) -> Result<Body> {
    let mut stream = Stream::open(name, std::io::BufReader::new(file), big_endian)?;
    stream.header(variable.at)?;
    let body = stream.body(variable)?;
    stream.finish()?;
    Ok(body)
}

/// Type and length of an element; up to four bytes of data fit in the tag itself.
struct Tag {
    kind: u32,
    bytes: u64,
    inline: Option<[u8; 4]>,
}

impl Tag {
    const SIZE: u64 = 8;

    fn read(name: &str, mut reader: impl Read, big_endian: bool) -> Result<Self> {
        let mut tag = [0; Self::SIZE as usize];
        reader.read_exact(&mut tag).map_err(|e| cut_short(name, e))?;
        let (first, second) = tag.split_at(4);
        let kind = word(first, big_endian);
        if kind >> 16 != 0 {
            let bytes = u64::from(kind >> 16);
            if bytes > 4 {
                return Err(damaged(name, "the tags"));
            }
            return Ok(Tag { kind: kind & 0xffff, bytes, inline: Some([tag[4], tag[5], tag[6], tag[7]]) });
        }
        Ok(Tag { kind, bytes: u64::from(word(second, big_endian)), inline: None })
    }

    /// What the numbers are stored as, which may be less than what they are.
    fn dtype(&self, big_endian: bool) -> Option<Dtype> {
        let (kind, size) = match self.kind {
            INT8 => (Kind::I8, 1),
            2 => (Kind::U8, 1),
            3 => (Kind::I16, 2),
            4 => (Kind::U16, 2),
            INT32 => (Kind::I32, 4),
            UINT32 => (Kind::U32, 4),
            7 => (Kind::F32, 4),
            9 => (Kind::F64, 8),
            12 => (Kind::I64, 8),
            13 => (Kind::U64, 8),
            _ => return None,
        };
        Some(Dtype { kind, size, big_endian })
    }
}

/// One array, read from front to back.
struct Stream<'n, 'f> {
    name: &'n str,
    reader: Box<dyn Read + 'f>,
    big_endian: bool,
    /// Bytes of the array that have not been read.
    left: u64,
}

impl<'n, 'f> Stream<'n, 'f> {
    /// The array whose tag comes next.
    fn open(name: &'n str, mut file: impl Read + 'f, big_endian: bool) -> Result<Self> {
        let tag = Tag::read(name, &mut file, big_endian)?;
        let element = file.take(tag.bytes);
        if tag.kind == MATRIX {
            return Ok(Stream { name, reader: Box::new(element), big_endian, left: tag.bytes });
        }
        let mut inflated = flate2::read::ZlibDecoder::new(element);
        let inner = Tag::read(name, &mut inflated, big_endian)?;
        if inner.kind != MATRIX || inner.bytes > inflated_limit(tag.bytes) {
            return Err(damaged(name, "an array in the compressed data"));
        }
        Ok(Stream { name, reader: Box::new(inflated), big_endian, left: inner.bytes })
    }

    /// Flags, dimensions and name.
    fn header(&mut self, at: u64) -> Result<Variable> {
        let flags = self.short(&[UINT32], "the flags of an array", 8)?;
        let &[flags, room] = flags.chunks_exact(4).map(|part| word(part, self.big_endian)).collect::<Vec<_>>().as_slice() else {
            return Err(damaged(self.name, "the flags of an array"));
        };
        let class = flags & 0xff;
        // Objects have no dimensions here.
        let shape = if class == OPAQUE { vec![] } else { self.short(&[INT32, UINT32], "dimensions", 4 * MOST_DIMENSIONS)? };
        let shape: Vec<usize> = shape.chunks_exact(4).map(|part| word(part, self.big_endian) as usize).collect();
        let tag = self.tag()?;
        if !matches!(tag.kind, INT8 | UTF8) || tag.bytes > LONGEST_NAME {
            return Err(damaged(self.name, "the name of an array"));
        }
        let name = String::from_utf8_lossy(&self.bytes(&tag)?).into_owned();
        let &[rows, cols] = shape.as_slice() else {
            let what = if class == OPAQUE { "an object" } else { "an array of more than 2 dimensions" };
            return Ok(Variable { name, rows: 0, cols: 0, content: Content::Other(what), at });
        };
        let content = if flags & COMPLEX != 0 { Content::Other("complex") } else { content(class, room as usize) };
        Ok(Variable { name, rows, cols, content, at })
    }

    /// The numbers.
    fn body(&mut self, variable: &Variable) -> Result<Body> {
        let (rows, cols) = (variable.rows, variable.cols);
        match variable.content {
            Content::Dense(Kind::F32) => Ok(Body::F32(self.array(rows.checked_mul(cols))?)),
            Content::Dense(_) => Ok(Body::F64(self.array(rows.checked_mul(cols))?)),
            Content::Sparse(room) => {
                check_shape(self.name, rows as u64, cols as u64, room as u64)?;
                let mut idx: Vec<u32> = self.array(None)?;
                let ptr: Vec<usize> = self.array(cols.checked_add(1))?;
                let (tag, mut dtype) = self.array_tag()?;
                // MATLAB stores truth values in a byte each and calls them doubles. What is called bytes is left as it is.
                if dtype.size != 1 && tag.bytes == idx.len() as u64 {
                    dtype = Dtype { kind: Kind::U8, size: 1, ..dtype };
                }
                // There may be room for more entries than there are.
                let nnz = ptr.last().copied().unwrap_or(0);
                idx.truncate(nnz);
                if dtype.kind == Kind::F32 {
                    let mut values = self.values(&tag, dtype, None)?;
                    values.truncate(nnz);
                    return Ok(Body::SparseF32 { ptr, rows: idx, values });
                }
                let mut values = self.values(&tag, dtype, None)?;
                values.truncate(nnz);
                Ok(Body::SparseF64 { ptr, rows: idx, values })
            }
            Content::Other(what) => Err(Error::content(self.name, format!("is {what}, expected numbers"))),
        }
    }

    /// Reads what is left: its end tells whether compressed data are whole.
    fn finish(&mut self) -> Result<()> {
        std::io::copy(&mut self.reader, &mut std::io::sink()).map_err(|e| cut_short(self.name, e)).map(|_| ())
    }

    fn tag(&mut self) -> Result<Tag> {
        let tag = Tag::read(self.name, &mut self.reader, self.big_endian)?;
        let rest = self.left.checked_sub(Tag::SIZE).filter(|rest| tag.inline.is_some() || tag.bytes <= *rest);
        self.left = rest.ok_or_else(|| damaged(self.name, "the parts of an array"))?;
        Ok(tag)
    }

    /// The whole contents, where they are known to be short.
    fn bytes(&mut self, tag: &Tag) -> Result<Vec<u8>> {
        if let Some(inline) = tag.inline {
            return Ok(inline[..tag.bytes as usize].to_vec());
        }
        let mut bytes = vec![0; tag.bytes as usize];
        self.reader.read_exact(&mut bytes).map_err(|e| cut_short(self.name, e))?;
        self.skip_padding(tag.bytes)?;
        Ok(bytes)
    }

    fn short(&mut self, kinds: &[u32], what: &str, most: u64) -> Result<Vec<u8>> {
        let tag = self.tag()?;
        if !kinds.contains(&tag.kind) || tag.bytes > most {
            return Err(damaged(self.name, what));
        }
        self.bytes(&tag)
    }

    fn array_tag(&mut self) -> Result<(Tag, Dtype)> {
        let tag = self.tag()?;
        let dtype = tag.dtype(self.big_endian).ok_or_else(|| damaged(self.name, "an array of numbers"))?;
        Ok((tag, dtype))
    }

    /// The next array, of `count` numbers where that is known.
    fn array<T: Element>(&mut self, count: Option<usize>) -> Result<Vec<T>> {
        let (tag, dtype) = self.array_tag()?;
        self.values(&tag, dtype, count)
    }

    fn values<T: Element>(&mut self, tag: &Tag, dtype: Dtype, expected: Option<usize>) -> Result<Vec<T>> {
        let count = tag.bytes as usize / dtype.size;
        if expected.is_some_and(|expected| expected != count) || !tag.bytes.is_multiple_of(dtype.size as u64) {
            let expected = expected.map_or("whole".into(), |expected| expected.to_string());
            let message = format!("holds {} bytes of {}, expected {expected} numbers", tag.bytes, dtype.name());
            return Err(Error::content(self.name, message));
        }
        if let Some(inline) = tag.inline {
            return numbers(self.name, &mut &inline[..], dtype, count, 4);
        }
        let values = numbers(self.name, &mut self.reader, dtype, count, self.left)?;
        self.skip_padding(tag.bytes)?;
        Ok(values)
    }

    /// To the next element after one of `bytes` bytes. Some writers leave out the padding at the very end.
    fn skip_padding(&mut self, bytes: u64) -> Result<()> {
        self.left -= bytes;
        let padding = (bytes.next_multiple_of(ALIGNMENT) - bytes).min(self.left);
        self.left -= padding;
        let mut rest = [0; ALIGNMENT as usize];
        self.reader.read_exact(&mut rest[..padding as usize]).map_err(|e| cut_short(self.name, e))
    }
}

fn content(class: u32, room: usize) -> Content {
    match class {
        SPARSE => Content::Sparse(room),
        DOUBLE => Content::Dense(Kind::F64),
        SINGLE => Content::Dense(Kind::F32),
        8 => Content::Dense(Kind::I8),
        9 => Content::Dense(Kind::U8),
        10 => Content::Dense(Kind::I16),
        11 => Content::Dense(Kind::U16),
        12 => Content::Dense(Kind::I32),
        13 => Content::Dense(Kind::U32),
        14 => Content::Dense(Kind::I64),
        15 => Content::Dense(Kind::U64),
        1 => Content::Other("a cell array"),
        2 | 3 => Content::Other("a struct or object"),
        4 => Content::Other("text"),
        _ => Content::Other("no array of numbers"),
    }
}

fn word(bytes: &[u8], big_endian: bool) -> u32 {
    let bytes = <[u8; 4]>::try_from(bytes).unwrap_or([0; 4]);
    if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

fn damaged(name: &str, expected: &str) -> Error {
    Error::content(name, format!("the file is damaged: expected {expected}"))
}
