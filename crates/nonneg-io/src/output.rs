//! Output that is complete or absent: written beside the target under another name, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::compression::Compression;
use crate::error::{Error, Result};
use crate::location::STANDARD;

const BUFFER: usize = 1 << 18;

/// Names tried before giving up; leftovers of killed runs may be in the way.
const ATTEMPTS: u32 = 100;

/// Writes a report, trace or picture to `path`, all of it or nothing; `-` is standard output.
pub fn write_bytes(path: &str, bytes: &[u8]) -> Result<()> {
    text(path, None, |out| out.write_all(bytes))
}

/// Checks that `path` can be written, before long work. Nothing that it creates stays.
pub fn check_output(path: &str) -> Result<()> {
    if path == STANDARD {
        return Ok(());
    }
    match Target::of(path)? {
        Target::Device(device) => {
            OpenOptions::new().write(true).open(device).map_err(|e| Error::io(path, "write", e))?;
        }
        Target::File(file) => {
            Temporary::create(&file).map_err(|e| Error::io(path, "write", e))?; // removed when dropped
        }
    }
    Ok(())
}

/// Text to a file or to standard output, compressed when asked for.
pub(crate) fn text(
    path: &str,
    compression: Option<Compression>,
    body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    if path == STANDARD {
        let mut out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
        return body(&mut out).and_then(|()| out.flush()).map_err(|e| Error::io("standard output", "write", e));
    }
    file(path, |out| match compression {
        None => body(out),
        Some(compression) => compression.write(out, body),
    })
}

/// Runs `body` on a new file that takes the name `path` when all has gone well.
pub(crate) fn file(path: &str, body: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<()> {
    let mut pending = Pending::create(path)?;
    pending.write(body)?;
    pending.finish()
}

/// A file in the making: it takes its name when it is finished, and is gone when it is not.
pub(crate) struct Pending {
    path: String,
    out: BufWriter<File>,
    /// `None` for a device or pipe: it cannot be replaced, and what is written to it is gone anyway.
    place: Option<(Temporary, PathBuf)>,
}

impl Pending {
    pub fn create(path: &str) -> Result<Self> {
        let failed = |e| Error::io(path, "write", e);
        let (file, place) = match Target::of(path)? {
            Target::Device(device) => (File::create(device).map_err(failed)?, None),
            Target::File(target) => {
                let (temporary, file) = Temporary::create(&target).map_err(failed)?;
                (file, Some((temporary, target)))
            }
        };
        Ok(Self { path: path.to_owned(), out: BufWriter::with_capacity(BUFFER, file), place })
    }

    pub fn write(&mut self, body: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<()> {
        body(&mut self.out).map_err(|e| Error::io(&self.path, "write", e))
    }

    pub fn finish(mut self) -> Result<()> {
        let flushed = self.out.flush();
        let done = match self.place {
            None => flushed,
            Some((temporary, target)) => {
                flushed.and_then(|()| self.out.get_ref().sync_all()).and_then(|()| temporary.rename_to(&target))
            }
        };
        done.map_err(|e| Error::io(&self.path, "write", e))
    }
}

enum Target {
    File(PathBuf),
    Device(PathBuf),
}

impl Target {
    fn of(path: &str) -> Result<Self> {
        match fs::metadata(path) {
            Ok(about) if about.is_dir() => Err(Error::content(path, "is a folder, expected the name of a file to write")),
            // Through a link to the file itself, so that the link stays.
            Ok(about) if about.is_file() => match fs::canonicalize(path) {
                Ok(resolved) => Ok(Target::File(resolved)),
                Err(e) => Err(Error::io(path, "write", e)),
            },
            Ok(_) => Ok(Target::Device(path.into())),
            Err(_) => Ok(Target::File(path.into())),
        }
    }
}

/// A file in the making; removed unless renamed.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn create(target: &Path) -> io::Result<(Self, File)> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy().into_owned();
        let mut attempt = 0;
        loop {
            let unique = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = target.with_file_name(format!(".{name}.{}-{unique}.tmp", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((Temporary { path }, file)),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
                Err(e) => return Err(e),
            }
        }
    }

    fn rename_to(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.path = PathBuf::new();
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.path); // best effort: the error that led here matters more
        }
    }
}
