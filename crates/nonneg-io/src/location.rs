//! From a name on the command line to a file, an array in it and a format. The ending decides, never the contents.

use crate::error::{Error, Result};

/// Where standard input or output is meant.
pub(crate) const STANDARD: &str = "-";

const KNOWN: &str = ".mtx, .svm, .libsvm, .npz, .npy, .csv, .tsv and .txt; the text ones also with .gz";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    MatrixMarket,
    LibSvm,
    Npz,
    Npy,
    Csv,
    Tsv,
    Txt,
    /// Standard input or output: text, told apart by its first line.
    Stream,
}

/// A parsed location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location<'a> {
    pub path: &'a str,
    /// The array meant by `file.npz:KEY`.
    pub key: Option<&'a str>,
    pub format: Format,
    pub gzip: bool,
}

impl<'a> Location<'a> {
    pub fn parse(location: &'a str) -> Result<Self> {
        if location == STANDARD {
            return Ok(Location { path: location, key: None, format: Format::Stream, gzip: false });
        }
        if location.is_empty() {
            return Err(Error::ending("(empty name)", "expected a file name"));
        }
        let (path, key) = split_key(location);
        let lower = path.to_ascii_lowercase();
        let (stem, gzip) = match lower.strip_suffix(".gz") {
            Some(stem) => (stem, true),
            None => (lower.as_str(), false),
        };
        let file_name = stem.rsplit(['/', '\\']).next().unwrap_or(stem);
        let ending = file_name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let format = match ending {
            "mtx" => Format::MatrixMarket,
            "svm" | "libsvm" => Format::LibSvm,
            "npz" => Format::Npz,
            "npy" => Format::Npy,
            "csv" => Format::Csv,
            "tsv" => Format::Tsv,
            "txt" => Format::Txt,
            "h5" | "hdf5" | "mat" | "parquet" | "nnm" | "bz2" | "xz" | "zst" => {
                return Err(Error::ending(path, format!("files ending in .{ending} are not supported yet; supported: {KNOWN}")));
            }
            _ => return Err(Error::ending(path, format!("unknown file ending, expected one of {KNOWN}"))),
        };
        if gzip && matches!(format, Format::Npz | Format::Npy) {
            return Err(Error::ending(path, format!(".{ending}.gz is not supported, only text formats may end in .gz")));
        }
        if key == Some("") {
            return Err(Error::ending(location, "expected the name of an array after the colon"));
        }
        Ok(Location { path, key, format, gzip })
    }
}

/// `file.npz:KEY` → (`file.npz`, `KEY`). A colon elsewhere belongs to the file's name.
fn split_key(location: &str) -> (&str, Option<&str>) {
    const MARK: &[u8] = b".npz:";
    let at = location.as_bytes().windows(MARK.len()).rposition(|window| window.eq_ignore_ascii_case(MARK));
    match at {
        // The mark is ASCII, so both cuts are at character boundaries.
        Some(at) => (&location[..at + MARK.len() - 1], Some(&location[at + MARK.len()..])),
        None => (location, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_keys_and_compression() {
        let parse = |text| Location::parse(text).unwrap();
        assert_eq!(parse("a.npz:b"), Location { path: "a.npz", key: Some("b"), format: Format::Npz, gzip: false });
        assert_eq!(parse("x:y/A.MTX.GZ"), Location { path: "x:y/A.MTX.GZ", key: None, format: Format::MatrixMarket, gzip: true });
        assert_eq!(parse("d.v2/a.libsvm").format, Format::LibSvm);
        assert_eq!(parse("-").format, Format::Stream);
    }

    #[test]
    fn refusals_list_what_is_known() {
        for (name, reason) in [
            ("a.h5", "not supported yet"),
            ("a.mtx.zst", "not supported yet"),
            ("a", "unknown file ending"),
            ("dir.csv/a", "unknown file ending"),
            ("a.gz", "unknown file ending"),
        ] {
            let message = Location::parse(name).unwrap_err().to_string();
            assert!(message.contains(reason) && message.contains(".libsvm") && message.starts_with(name), "{message}");
        }
        assert!(Location::parse("a.npy.gz").unwrap_err().to_string().contains("only text formats"));
        assert!(Location::parse("a.npz:").unwrap_err().to_string().contains("expected the name of an array"));
    }
}
