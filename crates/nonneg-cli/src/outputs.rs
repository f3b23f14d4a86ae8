//! Files that a command will write. They are checked before any work is done.

use std::path::{Path, PathBuf};

use crate::console;
use crate::failure::Failure;

/// What a file will hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    Vector,
    /// Which of the two is seen when the inputs are read.
    VectorOrMatrix,
    Problem,
    Bytes,
}

/// One file to be written, and the option that named it.
#[derive(Debug)]
pub struct Output<'a> {
    pub option: &'static str,
    pub path: &'a str,
    pub contents: Contents,
}

/// Refuses files that cannot be written, two outputs that are one file, and outputs that would overwrite an input.
pub fn check(outputs: &[Output], inputs: &[&str]) -> Result<(), Failure> {
    for (k, output) in outputs.iter().enumerate() {
        if let Some(other) = outputs[..k].iter().find(|other| same_file(other.path, output.path)) {
            let (one, two, path) = (other.option, output.option, output.path);
            return Err(Failure::new(format!("{one} and {two} both name {path}: expected a file of its own for each")));
        }
        if inputs.iter().any(|input| output.path != "-" && same_file(input, output.path)) {
            let (option, path) = (output.option, output.path);
            return Err(Failure::new(format!("{option} {path} would overwrite an input: expected another file")));
        }
    }
    for output in outputs {
        match output.contents {
            Contents::Vector => nonneg_io::check_vector_output(output.path)?,
            Contents::VectorOrMatrix => {
                nonneg_io::check_problem_output(output.path).or_else(|_| nonneg_io::check_vector_output(output.path))?;
            }
            Contents::Problem => nonneg_io::check_problem_output(output.path)?,
            Contents::Bytes if output.path == "-" => {}
            Contents::Bytes => nonneg_io::check_output(output.path)?,
        }
    }
    Ok(())
}

/// Writes a vector; `-` is standard output.
pub fn write_vector(path: &str, values: &[f64]) -> Result<(), Failure> {
    forgive_closed_pipe(path, nonneg_io::write_vector(path, values))
}

/// Where b goes when the problem's format has no place for it: `A.mtx.gz` → `A.b.txt`. `None` where it has, and for `-`.
pub fn rhs_beside(path: &str) -> Option<String> {
    if path == "-" || nonneg_io::holds_rhs(path) {
        return None;
    }
    let stem = [".gz", ".bz2", ".xz", ".zst"].iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path);
    let name_start = stem.rfind(['/', '\\']).map_or(0, |slash| slash + 1);
    let end = stem[name_start..].rfind('.').map_or(stem.len(), |dot| name_start + dot);
    Some(format!("{}.b.txt", &stem[..end]))
}

/// Writes a problem, b in a file of its own where the format has no place for it; `-` is standard output.
/// Returns what was written, for people.
pub fn write_problem(path: &str, matrix: nonneg::MatrixRef, rhs: Option<&[f64]>) -> Result<String, Failure> {
    forgive_closed_pipe(path, nonneg_io::write_problem(path, matrix, rhs))?;
    let beside = rhs_beside(path);
    if let (Some(beside), Some(rhs)) = (&beside, rhs) {
        nonneg_io::write_vector(beside, rhs)?;
    }
    let b = match (rhs, beside) {
        (None, _) => String::new(),
        (Some(_), None) => ", with b".into(),
        (Some(_), Some(beside)) => format!(", b in {beside}"),
    };
    let (rows, cols, nnz) = (console::grouped(matrix.rows()), console::grouped(matrix.cols()), console::grouped(matrix.nnz()));
    Ok(format!("{rows} × {cols}, {nnz} entries{b}"))
}

/// Writes a file; `-` is standard output.
pub fn write_bytes(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    if path == "-" { console::print_bytes(bytes) } else { Ok(nonneg_io::write_bytes(path, bytes)?) }
}

/// Text that is written bit by bit; `-` is standard output.
pub enum TextOutput {
    File(nonneg_io::TextWriter),
    Standard,
}

impl TextOutput {
    pub fn create(path: &str) -> Result<Self, Failure> {
        Ok(if path == "-" { Self::Standard } else { Self::File(nonneg_io::TextWriter::create(path)?) })
    }

    pub fn append(&mut self, text: &str) -> Result<(), Failure> {
        match self {
            Self::File(file) => Ok(file.append(text)?),
            Self::Standard => console::print_bytes(text.as_bytes()),
        }
    }

    pub fn finish(self) -> Result<(), Failure> {
        match self {
            Self::File(file) => Ok(file.finish()?),
            Self::Standard => Ok(()),
        }
    }
}

/// Puts a matrix in place that was written some columns at a time; `-` is standard output.
pub fn finish_columns(writer: nonneg_io::ColumnWriter) -> Result<(), Failure> {
    let path = writer.path().to_owned();
    forgive_closed_pipe(&path, writer.finish())
}

/// That nobody reads standard output any more is no failure.
fn forgive_closed_pipe(path: &str, result: nonneg_io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(nonneg_io::Error::Io { source, .. }) if path == "-" && source.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

fn same_file(one: &str, two: &str) -> bool {
    if one == "-" || two == "-" {
        return one == two;
    }
    // /dev/null and its like take any number of outputs.
    let special = std::fs::metadata(one).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
    !special && resolve(one) == resolve(two)
}

/// The absolute path, links followed as far as it exists.
fn resolve(path: &str) -> PathBuf {
    let path = Path::new(path);
    if let Ok(resolved) = path.canonicalize() {
        return resolved;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.join(path.file_name().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_under_two_names_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        assert!(same_file(&path("x.npy"), &path("./x.npy")));
        assert!(!same_file(&path("x.npy"), &path("y.npy")));
        assert_eq!(rhs_beside("a.b/A.mtx.gz").as_deref(), Some("a.b/A.b.txt"));
        assert_eq!(rhs_beside("A.csv.zst").as_deref(), Some("A.b.txt"));
        assert_eq!((rhs_beside("A.npz"), rhs_beside("-")), (None, None));
        assert!(same_file("-", "-") && !same_file("-", "x.npy"));
        #[cfg(unix)]
        assert!(!same_file("/dev/null", "/dev/null"));
    }
}
