//! From a name on the command line to a file, an array in it and a format. The ending decides, never the contents.

use crate::compression::Compression;
use crate::error::{Error, Result};

/// Where standard input or output is meant.
pub(crate) const STANDARD: &str = "-";

const KNOWN: &str = ".mtx, .svm, .libsvm, .npz, .npy, .nnm, .mat, .h5, .hdf5, .h5ad, .parquet, .csv, .tsv and .txt; the text ones also with .gz, .bz2, .xz or .zst";

/// Formats of which one array may be named: `file.npz:KEY`.
const KEYED: [&str; 6] = [".npz:", ".mat:", ".h5:", ".hdf5:", ".h5ad:", ".parquet:"];

/// Data sets that are published in LIBSVM format under names without its ending. In lower case.
const LIBSVM_NAMES: [&str; 3] = ["real-sim", "news20.binary", "e2006.train"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    MatrixMarket,
    LibSvm,
    Npz,
    Npy,
    Nnm,
    Mat,
    Hdf5,
    Parquet,
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
    pub compression: Option<Compression>,
}

impl<'a> Location<'a> {
    pub fn parse(location: &'a str) -> Result<Self> {
        if location == STANDARD {
            return Ok(Location { path: location, key: None, format: Format::Stream, compression: None });
        }
        if location.is_empty() {
            return Err(Error::ending("(empty name)", "expected a file name"));
        }
        let (path, key) = split_key(location);
        let lower = path.to_ascii_lowercase();
        let compression = Compression::ALL.into_iter().find(|compression| lower.ends_with(compression.ending()));
        let stem = &lower[..lower.len() - compression.map_or(0, |compression| compression.ending().len())];
        let file_name = stem.rsplit(['/', '\\']).next().unwrap_or(stem);
        let ending = file_name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let format = match ending {
            "mtx" => Format::MatrixMarket,
            "svm" | "libsvm" => Format::LibSvm,
            "npz" => Format::Npz,
            "npy" => Format::Npy,
            "nnm" => Format::Nnm,
            "mat" => Format::Mat,
            "h5" | "hdf5" | "h5ad" => Format::Hdf5,
            "parquet" => Format::Parquet,
            "csv" => Format::Csv,
            "tsv" => Format::Tsv,
            "txt" => Format::Txt,
            _ if LIBSVM_NAMES.contains(&file_name) => Format::LibSvm,
            _ => return Err(Error::ending(path, format!("unknown file ending, expected one of {KNOWN}"))),
        };
        if let Some(compression) = compression
            && matches!(format, Format::Npz | Format::Npy | Format::Nnm | Format::Mat | Format::Hdf5 | Format::Parquet)
        {
            let suffix = compression.ending();
            return Err(Error::ending(
                path,
                format!(".{ending}{suffix} is not supported, only text formats may end in {suffix}"),
            ));
        }
        if key == Some("") {
            return Err(Error::ending(location, "expected the name of an array after the colon"));
        }
        Ok(Location { path, key, format, compression })
    }
}

/// `file.npz:KEY` → (`file.npz`, `KEY`). A colon elsewhere belongs to the file's name.
fn split_key(location: &str) -> (&str, Option<&str>) {
    let last = |mark: &str| {
        let mut windows = location.as_bytes().windows(mark.len());
        windows.rposition(|window| window.eq_ignore_ascii_case(mark.as_bytes())).map(|at| at + mark.len())
    };
    match KEYED.iter().filter_map(|mark| last(mark)).max() {
        // The mark is ASCII, so both cuts are at character boundaries.
        Some(key) => (&location[..key - 1], Some(&location[key..])),
        None => (location, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_keys_and_compression() {
        let parse = |text| Location::parse(text).unwrap();
        assert_eq!(parse("a.npz:b"), Location { path: "a.npz", key: Some("b"), format: Format::Npz, compression: None });
        assert_eq!((parse("d.npz:c/a.Parquet:b c").path, parse("a.parquet:b c").key), ("d.npz:c/a.Parquet", Some("b c")));
        assert_eq!((parse("a.h5:/g/A").path, parse("a.h5ad:/g/A").key), ("a.h5", Some("/g/A")));
        let upper_case = parse("x:y/A.MTX.GZ");
        assert_eq!((upper_case.path, upper_case.key), ("x:y/A.MTX.GZ", None));
        assert_eq!((upper_case.format, upper_case.compression), (Format::MatrixMarket, Some(Compression::Gzip)));
        assert_eq!(parse("a.svm.bz2").compression, Some(Compression::Bzip2));
        assert_eq!(parse("a.csv.xz").compression, Some(Compression::Xz));
        assert_eq!(parse("E2006.train.zst").compression, Some(Compression::Zstd));
        assert_eq!(parse("d.v2/a.libsvm").format, Format::LibSvm);
        assert_eq!(parse("-").format, Format::Stream);
    }

    #[test]
    fn published_names_are_libsvm() {
        for name in ["real-sim", "d/news20.binary.bz2", "E2006.train.gz", "E2006.train"] {
            assert_eq!(Location::parse(name).unwrap().format, Format::LibSvm, "{name}");
        }
        for name in ["not-real-sim", "real-sim.old", "real-sim/a", "news20", "e2006.test.bz2"] {
            assert!(Location::parse(name).unwrap_err().to_string().contains("unknown file ending"), "{name}");
        }
    }

    #[test]
    fn refusals_list_what_is_known() {
        for (name, reason) in [
            ("a", "unknown file ending"),
            ("dir.csv/a", "unknown file ending"),
            ("a.gz", "unknown file ending"),
            ("a.bz2", "unknown file ending"),
            ("a.zst", "unknown file ending"),
        ] {
            let message = Location::parse(name).unwrap_err().to_string();
            assert!(message.contains(reason) && message.contains(".libsvm") && message.starts_with(name), "{message}");
        }
        assert!(Location::parse("a.npy.gz").unwrap_err().to_string().contains("only text formats may end in .gz"));
        assert!(Location::parse("a.npz.bz2").unwrap_err().to_string().contains("only text formats may end in .bz2"));
        assert!(Location::parse("a.npy.xz").unwrap_err().to_string().contains("only text formats may end in .xz"));
        assert!(Location::parse("a.npz:").unwrap_err().to_string().contains("expected the name of an array"));
    }
}
