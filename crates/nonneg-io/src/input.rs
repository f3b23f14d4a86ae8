//! Opening files: progress, gzip, and how much a file of this size can possibly hold.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Progress;
use crate::error::{Error, Result};
use crate::location::{Location, STANDARD};

/// Deflate cannot shrink anything further than this.
const DEFLATE_LIMIT: u64 = 1032;

const GZIP_BUFFER: usize = 256 * 1024;

/// A file whose reads are counted and reported.
pub(crate) struct Counted<'a> {
    file: File,
    /// Shared by all handles on the same file.
    read: Arc<AtomicU64>,
    size: u64,
    progress: Option<Progress<'a>>,
}

impl<'a> Counted<'a> {
    pub fn open(path: &str, progress: Option<Progress<'a>>) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io(path, "open", e))?;
        let about = file.metadata().map_err(|e| Error::io(path, "open", e))?;
        if about.is_dir() {
            return Err(Error::content(path, "is a folder, expected a file"));
        }
        Ok(Counted { file, read: Arc::default(), size: about.len(), progress })
    }

    /// A second handle on the file, with its own position.
    pub fn again(&self, path: &str) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io(path, "open", e))?;
        Ok(Counted { file, read: self.read.clone(), ..*self })
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    /// Pipes and devices have no size to check headers against.
    pub fn is_regular(&self) -> bool {
        self.file.metadata().is_ok_and(|about| about.is_file())
    }
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        let read = self.read.fetch_add(count as u64, Ordering::Relaxed) + count as u64;
        if let Some(progress) = self.progress {
            // Seeking readers may read a part twice; a bar should still end at the end.
            let total = (self.size > 0).then_some(self.size);
            progress(total.map_or(read, |total| read.min(total)), total);
        }
        Ok(count)
    }
}

impl Seek for Counted<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.file.seek(to)
    }
}

/// A stream of text, decompressed.
pub(crate) struct Text<'a> {
    pub path: String,
    pub reader: Box<dyn Read + Send + 'a>,
    /// No more bytes than this can come; `None` for pipes.
    pub most_bytes: Option<u64>,
}

pub(crate) fn open_text<'a>(location: &Location, progress: Option<Progress<'a>>) -> Result<Text<'a>> {
    if location.path == STANDARD {
        return Ok(Text { path: "standard input".into(), reader: Box::new(std::io::stdin()), most_bytes: None });
    }
    let file = Counted::open(location.path, progress)?;
    let size = file.is_regular().then_some(file.size());
    let path = location.path.to_string();
    if location.gzip {
        let reader = flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(GZIP_BUFFER, file));
        return Ok(Text { path, reader: Box::new(reader), most_bytes: size.map(inflated_limit) });
    }
    Ok(Text { path, reader: Box::new(file), most_bytes: size })
}

/// The most that `compressed` bytes can expand to.
pub(crate) fn inflated_limit(compressed: u64) -> u64 {
    compressed.saturating_mul(DEFLATE_LIMIT)
}
