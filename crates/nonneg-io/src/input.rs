//! Opening files: progress, decompression, and how much a file of this size can possibly hold.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Progress;
use crate::error::{Error, Result};
use crate::location::{Location, STANDARD};

const COMPRESSED_BUFFER: usize = 256 * 1024;

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
    /// No more bytes than this can come; `None` where nothing useful is known.
    pub most_bytes: Option<u64>,
}

pub(crate) fn open_text<'a>(location: &Location, progress: Option<Progress<'a>>) -> Result<Text<'a>> {
    if location.path == STANDARD {
        return Ok(Text { path: "standard input".into(), reader: Box::new(std::io::stdin()), most_bytes: None });
    }
    let file = Counted::open(location.path, progress)?;
    let size = file.is_regular().then_some(file.size());
    let path = location.path.to_string();
    let Some(compression) = location.compression else {
        return Ok(Text { path, reader: Box::new(file), most_bytes: size });
    };
    let buffered = BufReader::with_capacity(COMPRESSED_BUFFER, file);
    let reader = compression.reader(buffered).map_err(|e| Error::io(&path, "read", e))?;
    Ok(Text { path, reader, most_bytes: size.and_then(|size| compression.expanded_limit(size)) })
}
