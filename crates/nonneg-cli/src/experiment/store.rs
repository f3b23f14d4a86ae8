//! Finished curves, kept so that an interrupted run goes on where it stopped.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::curve::Curve;
use crate::failure::Failure;
use crate::report::to_json;

/// Everything that a curve depends on. A curve of anything else is not reused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    pub version: String,
    pub method: String,
    /// Digest of the problem.
    pub problem: String,
    pub seed: u64,
    pub budget_seconds: f64,
    pub tolerance: f64,
    pub threads: usize,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    identity: Identity,
    curve: Curve,
}

/// A folder of finished curves, one file each.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// Makes the folder if need be; `fresh` forgets what is in it.
    pub fn open(output: &Path, fresh: bool) -> Result<Self, Failure> {
        let folder = output.join("finished");
        let refuse = |what: &str, error: std::io::Error| Failure::new(format!("{}: cannot {what}: {error}", folder.display()));
        if fresh && folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|error| refuse("remove it", error))?;
        }
        std::fs::create_dir_all(&folder).map_err(|error| refuse("make the folder", error))?;
        Ok(Self { folder })
    }

    /// The curve of an earlier run; a damaged file is none.
    pub fn find(&self, dataset: &str, identity: &Identity) -> Option<Curve> {
        let text = std::fs::read(self.file(dataset, &identity.method)).ok()?;
        let kept: Kept = serde_json::from_slice(&text).ok()?;
        (kept.identity == *identity).then_some(kept.curve)
    }

    pub fn keep(&self, dataset: &str, identity: &Identity, curve: &Curve) -> Result<(), Failure> {
        let kept = Kept { identity: identity.clone(), curve: curve.clone() };
        let path = self.file(dataset, &identity.method);
        Ok(nonneg_io::write_bytes(&path.to_string_lossy(), &to_json(&kept)?)?)
    }

    fn file(&self, dataset: &str, method: &str) -> PathBuf {
        self.folder.join(format!("{}.{method}.json", file_name(dataset)))
    }
}

/// A data set's name as part of a file's.
pub fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_run_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), false).unwrap();
        let identity = Identity {
            version: "1".into(),
            method: "cd".into(),
            problem: "a".into(),
            seed: 1,
            budget_seconds: 2.0,
            tolerance: 1e-9,
            threads: 1,
        };
        let curve = Curve { method: "cd".into(), label: "cd".into(), status: "solved".into(), rows: Vec::new() };
        assert_eq!(store.find("a/b", &identity), None);
        store.keep("a/b", &identity, &curve).unwrap();
        assert_eq!(store.find("a/b", &identity), Some(curve));
        assert_eq!(store.find("a/b", &Identity { seed: 2, ..identity.clone() }), None);
        std::fs::write(store.file("a/b", "cd"), "{").unwrap();
        assert_eq!(store.find("a/b", &identity), None);
        assert!(Store::open(folder.path(), true).unwrap().find("a/b", &identity).is_none());
    }
}
