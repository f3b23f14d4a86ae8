//! SHA-256 of files, and the record of it beside them, as `sha256sum` writes and checks it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Read};

use sha2::{Digest, Sha256};

use crate::failure::Failure;

const BUFFER: usize = 1 << 18;

/// The digest of a file in hexadecimal, lower case.
pub fn of_file(path: &str, report: nonneg_io::Progress) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("{path}: cannot read: {error}"));
    let mut file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    let mut done = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                hasher.update(&buffer[..count]);
                done += count as u64;
                report(done, Some(size));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
    let mut text = String::with_capacity(64);
    for byte in hasher.finalize() {
        let _ = write!(text, "{byte:02x}"); // a String takes everything
    }
    Ok(text)
}

/// A digest as people give it, in lower case.
pub fn parse(text: &str) -> Option<String> {
    let is_digest = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then(|| text.to_ascii_lowercase())
}

/// The contents of the file that records a digest.
pub fn record(digest: &str, file_name: &str) -> String {
    format!("{digest}  {file_name}\n")
}

/// The digest recorded in the file `path`; `None` where there is no such file.
pub fn recorded(path: &str) -> Result<Option<String>, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => match text.split_whitespace().next().and_then(parse) {
            Some(digest) => Ok(Some(digest)),
            None => {
                Err(Failure::new(format!("{path}: expected 64 hexadecimal digits and a file name, as sha256sum writes them")))
            }
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(format!("{path}: cannot read: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digests_and_their_records() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        // From FIPS 180-2.
        for (text, digest) in [
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ] {
            std::fs::write(path("a"), text).unwrap();
            assert_eq!(of_file(&path("a"), &|_, _| {}).unwrap(), digest);
            std::fs::write(path("a.sha256"), record(digest, "a")).unwrap();
            assert_eq!(recorded(&path("a.sha256")).unwrap().as_deref(), Some(digest));
        }
        assert_eq!(recorded(&path("b.sha256")).unwrap(), None);
        std::fs::write(path("b.sha256"), "12 b\n").unwrap();
        assert!(recorded(&path("b.sha256")).unwrap_err().to_string().contains("64 hexadecimal digits"));
        assert_eq!(parse(&"AB".repeat(32)), Some("ab".repeat(32)));
    }
}
