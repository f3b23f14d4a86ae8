//! What may follow the ending of a text format: gzip, bzip2, xz, zstd. Files of several streams in a row, as parallel tools
//! and `cat` make them, are read to the end.

use std::io::{self, BufRead, BufWriter, ErrorKind, Read, Write};

use flate2::bufread::GzDecoder;

/// Deflate cannot shrink anything further than this.
const DEFLATE_LIMIT: u64 = 1032;

/// Memory that an xz file may ask for: `xz -9` needs 65 MiB, the largest dictionaries in use ten times that.
const XZ_MEMORY: u64 = 1 << 30;

const XZ_LEVEL: u32 = 6;
const BUFFER: usize = 1 << 18;

/// How a text file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

impl Compression {
    pub const ALL: [Self; 4] = [Self::Gzip, Self::Bzip2, Self::Xz, Self::Zstd];

    pub fn ending(self) -> &'static str {
        match self {
            Self::Gzip => ".gz",
            Self::Bzip2 => ".bz2",
            Self::Xz => ".xz",
            Self::Zstd => ".zst",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
        }
    }

    /// The most that `compressed` bytes can expand to, where they limit it: forty bytes of the others may stand for as
    /// many million.
    pub fn expanded_limit(self, compressed: u64) -> Option<u64> {
        (self == Self::Gzip).then(|| inflated_limit(compressed))
    }

    /// The decompressed bytes.
    pub fn reader<'a>(self, compressed: impl BufRead + Send + 'a) -> io::Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Self::Gzip => Box::new(GzipMembers { member: Some(GzDecoder::new(compressed)) }),
            Self::Bzip2 => self.explained(bzip2::bufread::MultiBzDecoder::new(compressed)),
            Self::Xz => {
                let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, liblzma::stream::CONCATENATED)?;
                self.explained(liblzma::bufread::XzDecoder::new_stream(compressed, stream))
            }
            // Refuses windows beyond 128 MiB by itself, and takes no bytes at all for a complete file.
            Self::Zstd => self.explained(zstd::Decoder::with_buffer(NotEmpty { reader: compressed, begun: false })?),
        })
    }

    fn explained<'a>(self, reader: impl Read + Send + 'a) -> Box<dyn Read + Send + 'a> {
        Box::new(Explained { reader, compression: self })
    }

    /// Writes what `body` writes, compressed.
    pub fn write(self, out: impl Write, body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        match self {
            Self::Gzip => {
                buffered(flate2::write::GzEncoder::new(out, flate2::Compression::default()), body)?.finish()?;
            }
            Self::Bzip2 => {
                buffered(bzip2::write::BzEncoder::new(out, bzip2::Compression::default()), body)?.finish()?;
            }
            Self::Xz => {
                buffered(liblzma::write::XzEncoder::new(out, XZ_LEVEL), body)?.finish()?;
            }
            Self::Zstd => {
                let mut encoder = zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                encoder.include_checksum(true)?; // as the command does
                buffered(encoder, body)?.finish()?;
            }
        }
        Ok(())
    }
}

/// The most that `compressed` bytes of deflate can expand to.
pub(crate) fn inflated_limit(compressed: u64) -> u64 {
    compressed.saturating_mul(DEFLATE_LIMIT)
}

fn buffered<W: Write>(encoder: W, body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<W> {
    let mut out = BufWriter::with_capacity(BUFFER, encoder);
    body(&mut out)?;
    Ok(out.into_inner()?)
}

/// A gzip file: one member or more. Zeros may follow the last, as tapes and some disks pad files; Python's gzip skips them too.
struct GzipMembers<R> {
    /// `None` after the last.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let more = skip_zeros(member.get_mut())?;
            self.member = self.member.take().filter(|_| more).map(|member| GzDecoder::new(member.into_inner()));
        }
        Ok(0)
    }
}

/// Whether anything else follows.
fn skip_zeros(reader: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = reader.fill_buf()?;
        let (zeros, length) = (bytes.iter().take_while(|byte| **byte == 0).count(), bytes.len());
        reader.consume(zeros);
        if zeros < length || length == 0 {
            return Ok(length > 0);
        }
    }
}

/// Decompressed bytes with errors that say what is wrong with the file.
struct Explained<R> {
    reader: R,
    compression: Compression,
}

impl<R: Read> Read for Explained<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer).map_err(|error| {
            let name = self.compression.name();
            let message = match Trouble::of(&error) {
                Trouble::None => return error,
                Trouble::CutOff => format!("the {name} data end early: the file is cut off"),
                Trouble::Foreign => format!("expected {name} data, found something else"),
                Trouble::Damaged => format!("the {name} data are damaged"),
                Trouble::Memory => format!("the {name} data ask for too much memory"),
            };
            io::Error::new(error.kind(), message)
        })
    }
}

enum Trouble {
    /// With the file itself, not with what it holds.
    None,
    CutOff,
    Foreign,
    Damaged,
    Memory,
}

impl Trouble {
    fn of(error: &io::Error) -> Self {
        if error.kind() == ErrorKind::UnexpectedEof {
            return Self::CutOff;
        }
        let Some(source) = error.get_ref() else { return Self::None };
        if let Some(source) = source.downcast_ref::<bzip2::Error>() {
            return if matches!(source, bzip2::Error::DataMagic) { Self::Foreign } else { Self::Damaged };
        }
        if let Some(source) = source.downcast_ref::<liblzma::stream::Error>() {
            use liblzma::stream::Error::{Format, Mem, MemLimit};
            return match source {
                Format => Self::Foreign,
                Mem | MemLimit => Self::Memory,
                _ => Self::Damaged,
            };
        }
        // zstd has words only.
        match source.to_string().as_str() {
            "Unknown frame descriptor" => Self::Foreign,
            "Frame requires too much memory for decoding" => Self::Memory,
            _ => Self::Damaged,
        }
    }
}

/// A file that is cut off before its first byte.
struct NotEmpty<R> {
    reader: R,
    begun: bool,
}

impl<R: BufRead> Read for NotEmpty<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for NotEmpty<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let bytes = self.reader.fill_buf()?;
        if bytes.is_empty() && !self.begun {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.begun = true;
        Ok(bytes)
    }

    fn consume(&mut self, count: usize) {
        self.reader.consume(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(text: &str) -> Vec<u8> {
        let mut bytes = vec![];
        Compression::Gzip.write(&mut bytes, |out| out.write_all(text.as_bytes())).unwrap();
        bytes
    }

    fn read(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        // A small buffer, so that zeros do not all fit.
        Compression::Gzip.reader(io::BufReader::with_capacity(100, bytes))?.read_to_string(&mut text).map(|_| text)
    }

    #[test]
    fn gzip_with_zeros_after_it_was_refused() {
        for zeros in [0, 1, 99, 100, 1000] {
            let padding = vec![0; zeros];
            assert_eq!(read(&[member("ab"), padding.clone()].concat()).unwrap(), "ab");
            let members = [member("a"), padding.clone(), member(""), member("b"), padding].concat();
            assert_eq!(read(&members).unwrap(), "ab", "{zeros}");
        }
        assert!(read(&[member("ab"), vec![0; 9], b"x".to_vec()].concat()).is_err());
        assert!(read(&[0; 100]).is_err());
        assert!(read(&member("ab")[..20]).is_err());
    }
}
