//! Parsers of option values. Each error says what was expected.

use std::time::Duration;

use nonneg::{BlockMetric, Method, NmfMethod, NmfStart};
use nonneg_cli::generate::Kind;

use crate::commands::data::{DATASETS, Dataset};
use crate::digest;

pub fn method(text: &str) -> Result<Method, String> {
    text.parse().map_err(|_| {
        let names: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
        format!("expected one of: {}", names.join(", "))
    })
}

/// A value with the name that it was given by.
#[derive(Debug, Clone, Copy)]
pub struct Named<T>(pub T, pub &'static str);

fn one_of<T: Copy>(text: &str, known: &[(&'static str, T)]) -> Result<Named<T>, String> {
    let found = known.iter().find(|(name, _)| *name == text).map(|&(name, value)| Named(value, name));
    found.ok_or_else(|| format!("expected one of: {}", known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")))
}

pub fn nmf_method(text: &str) -> Result<Named<NmfMethod>, String> {
    one_of(text, &[("hals", NmfMethod::Hals), ("exact", NmfMethod::Exact)])
}

pub fn nmf_start(text: &str) -> Result<Named<NmfStart>, String> {
    one_of(text, &[("nndsvd", NmfStart::Nndsvd), ("nndsvda", NmfStart::Nndsvda), ("random", NmfStart::Random)])
}

/// Height and width of an image.
pub fn image(text: &str) -> Result<(usize, usize), String> {
    let sides = text.split_once(['x', '×']).and_then(|(height, width)| Some((height.parse().ok()?, width.parse().ok()?)));
    sides.filter(|&(height, width)| height > 0 && width > 0).ok_or_else(|| "expected rows and columns, such as 19x19".to_owned())
}

pub fn metric(text: &str) -> Result<BlockMetric, String> {
    match text {
        "scale-invariant" => Ok(BlockMetric::ScaleInvariant),
        "spectral" => Ok(BlockMetric::Spectral),
        _ => Err("expected scale-invariant or spectral".into()),
    }
}

pub fn kind(text: &str) -> Result<Kind, String> {
    Kind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        format!("expected one of: {}", names.join(", "))
    })
}

pub fn dataset(text: &str) -> Result<&'static Dataset, String> {
    let is_meant = |set: &&Dataset| set.name.eq_ignore_ascii_case(text) || set.file.eq_ignore_ascii_case(text);
    DATASETS.iter().find(is_meant).ok_or_else(|| {
        let names: Vec<&str> = DATASETS.iter().map(|set| set.name).collect();
        format!("expected one of: {}", names.join(", "))
    })
}

pub fn sha256(text: &str) -> Result<String, String> {
    digest::parse(text).ok_or_else(|| "expected 64 hexadecimal digits".into())
}

/// Numbers of columns.
#[derive(Debug, Clone, Default)]
pub struct Columns(pub Vec<usize>);

/// The most that a range may name: a slip of the finger is not to fill the memory.
const MOST_COLUMNS: usize = 1 << 32;

/// "0,5-8": numbers and ranges.
pub fn columns(text: &str) -> Result<Columns, String> {
    let mut columns = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|&j| j < MOST_COLUMNS);
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => columns.extend(first..=last),
            _ => return Err("expected numbers of columns and ranges, the first column being 0, such as 0,5-8".into()),
        }
    }
    Ok(Columns(columns))
}

pub fn at_least_zero(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a finite number ≥ 0".into()),
    }
}

pub fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1.0 => Ok(value),
        _ => Err("expected a number above 0 and at most 1".into()),
    }
}

pub fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(value) if value >= 1 => Ok(value),
        _ => Err("expected a whole number ≥ 1".into()),
    }
}

/// `4GiB`, `500MB`, or plain bytes.
pub fn bytes(text: &str) -> Result<u64, String> {
    let expected = || "expected a size such as 4GiB, 500MB or a number of bytes".to_owned();
    let trimmed = text.trim();
    let digits = trimmed.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match trimmed[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        _ => return Err(expected()),
    };
    let number: f64 = digits.trim_end().parse().map_err(|_| expected())?;
    let bytes = number * unit as f64;
    if bytes >= 0.0 && bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(expected()) }
}

/// `90s`, `5m`, `1.5h`, `500ms`, or plain seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time such as 90s, 5m, 1.5h, 500ms or a number of seconds".to_owned();
    let trimmed = text.trim();
    let digits = trimmed.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &trimmed[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return Err(expected()),
    };
    let number: f64 = digits.trim_end().parse().map_err(|_| expected())?;
    if !(number >= 0.0 && number.is_finite()) {
        return Err(expected());
    }
    Duration::try_from_secs_f64(number * unit).map_err(|_| expected())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        for (text, value) in [("4GiB", 4 << 30), ("500MB", 500_000_000), ("1.5k", 1536), ("0", 0), ("17 b", 17)] {
            assert_eq!(bytes(text), Ok(value), "{text}");
        }
        for text in ["", "GiB", "-1", "nan", "4 miles", "1e30"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_read_with_their_units() {
        for (text, seconds) in [
            ("90s", 90.0),
            ("5m", 300.0),
            ("1.5h", 5400.0),
            ("500ms", 0.5),
            ("2", 2.0),
            ("0.25", 0.25),
            ("1e1s", 10.0),
            ("3 min", 180.0),
        ] {
            assert_eq!(duration(text).unwrap().as_secs_f64(), seconds, "{text}");
        }
        for text in ["", "s", "5x", "-1s", "inf", "nan", "1h30m", "1e300h", "5 5s", "٥s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_are_known_or_refused_with_all_that_are() {
        assert_eq!(method("si-nnls"), Ok(Method::SiNnls));
        assert!(method("simplex").unwrap_err().contains("expected one of: auto, "));
        assert_eq!(metric("spectral"), Ok(BlockMetric::Spectral));
        assert!(metric("euclid").is_err());
        assert_eq!(dataset("e2006").unwrap().file, "E2006.train");
        assert_eq!(dataset("news20.binary").unwrap().name, "news20");
        assert!(dataset("mnist").unwrap_err().contains("real-sim, news20, E2006"));
        assert!(sha256("12").is_err());
    }

    #[test]
    fn numbers_outside_their_range_are_refused() {
        assert!(at_least_zero("-1").is_err() && at_least_zero("nan").is_err() && at_least_zero("0").is_ok());
        assert!(share("0").is_err() && share("1").is_ok() && share("1.1").is_err());
        assert!(at_least_one("0").is_err() && at_least_one("1.5").is_err() && at_least_one("3").is_ok());
    }
}
