//! Where the problems come from: published data sets, or seeded stand-ins of the same shape statistics.

use std::path::{Path, PathBuf};

use nonneg::matrix::{Column, Columns};
use nonneg::{CscMatrix, with_columns};
use nonneg_cli::generate::{Kind, Random, Sizes};

use crate::failure::Failure;

/// What the paper says about data of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// real-sim: documents with some tens of words each.
    RealSim,
    /// news20: far more words than documents, very sparse.
    News20,
    /// E2006: badly scaled, with negative entries.
    E2006,
}

impl Role {
    pub const ALL: [Role; 3] = [Role::RealSim, Role::News20, Role::E2006];

    /// The paper's name.
    pub fn name(self) -> &'static str {
        match self {
            Role::RealSim => "real-sim",
            Role::News20 => "news20",
            Role::E2006 => "E2006train",
        }
    }

    /// Names of files that play it, best first: the published ones, then sets of the same kind.
    fn stems(self) -> &'static [&'static str] {
        match self {
            Role::RealSim => &["real-sim", "debpkg_tfidf"],
            Role::News20 => &["news20.binary", "news20", "news20_rebuilt"],
            Role::E2006 => &["E2006.train", "E2006", "rfc_logtfidf"],
        }
    }

    /// Rows, columns and entries per row of the published set, and of the quick stand-in.
    fn shape(self, quick: bool) -> (usize, usize, f64) {
        match (self, quick) {
            (Role::RealSim, false) => (72_309, 20_958, 51.3),
            (Role::RealSim, true) => (20_000, 8_000, 51.3),
            (Role::News20, false) => (19_996, 1_355_191, 455.0),
            (Role::News20, true) => (4_000, 200_000, 250.0),
            (Role::E2006, false) => (16_087, 150_360, 1241.4),
            (Role::E2006, true) => (3_000, 20_000, 300.0),
        }
    }
}

/// One problem to be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    File(PathBuf, Option<Role>),
    StandIn(Role, Quick),
}

/// Whether a stand-in is a small one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quick(pub bool);

impl Source {
    /// The three sets of the paper, from folders and files; without any, stand-ins.
    pub fn of_the_paper(data: &[String], quick: Quick) -> Result<Vec<Self>, Failure> {
        if data.is_empty() {
            return Ok(Role::ALL.map(|role| Source::StandIn(role, quick)).into());
        }
        let mut found = Vec::new();
        for path in data.iter().map(Path::new) {
            if path.is_dir() {
                let roles = Role::ALL.map(|role| (role, in_folder(path, role)));
                if roles.iter().all(|(_, file)| file.is_none()) {
                    let names: Vec<&str> = Role::ALL.iter().flat_map(|role| role.stems()).copied().collect();
                    return Err(Failure::new(format!(
                        "{}: holds none of the data sets; expected files named {} with the ending of a format",
                        path.display(),
                        names.join(", ")
                    )));
                }
                found.extend(roles.into_iter().filter_map(|(role, file)| Some(Source::File(file?, Some(role)))));
            } else {
                if !path.exists() {
                    return Err(Failure::new(format!("{}: no such file or folder", path.display())));
                }
                let role = Role::ALL.into_iter().find(|role| role.stems().contains(&stem(path).as_str()));
                found.push(Source::File(path.to_owned(), role));
            }
        }
        let names: Vec<String> = found.iter().map(Source::name).collect();
        match names.iter().enumerate().find(|(k, name)| names[..*k].contains(name)) {
            Some((_, name)) => Err(Failure::new(format!("two of the data sets are called {name}: expected different names"))),
            None => Ok(found),
        }
    }

    /// The name in reports.
    pub fn name(&self) -> String {
        match self {
            Source::File(path, _) => stem(path),
            Source::StandIn(role, _) => role.name().to_owned(),
        }
    }

    pub fn role(&self) -> Option<Role> {
        match self {
            Source::File(_, role) => *role,
            Source::StandIn(role, _) => Some(*role),
        }
    }

    /// In words, without folders: reports travel.
    pub fn origin(&self) -> String {
        match self {
            Source::File(path, _) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                match self.role() {
                    Some(role) if role.stems()[0] != self.name() && self.name() != role.name() => {
                        format!("{name}, in the place of {}", role.name())
                    }
                    _ => name,
                }
            }
            Source::StandIn(role, Quick(false)) => format!("a seeded stand-in of {}'s shape", role.name()),
            Source::StandIn(role, Quick(true)) => format!("a small seeded stand-in for {}", role.name()),
        }
    }

    /// A and b.
    pub fn load(&self, seed: u64, progress: Option<nonneg_io::Progress>) -> Result<nonneg_io::Problem, Failure> {
        match self {
            Source::File(path, _) => {
                let location = path.to_string_lossy();
                let problem = nonneg_io::read_problem(&location, progress)?;
                if problem.rhs.is_none() {
                    return Err(Failure::new(format!("{location}: holds a matrix only, expected one with b")));
                }
                Ok(problem)
            }
            Source::StandIn(role, quick) => stand_in(*role, *quick, seed),
        }
    }
}

/// The file of a folder that plays a role.
fn in_folder(folder: &Path, role: Role) -> Option<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.is_file() && !file.to_string_lossy().ends_with(".part"));
    files.sort();
    role.stems().iter().find_map(|stem_wanted| files.iter().find(|file| stem(file) == *stem_wanted).cloned())
}

/// The file's name without the endings of formats.
fn stem(path: &Path) -> String {
    let mut name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for endings in [
        &[".gz", ".bz2", ".xz", ".zst"][..],
        &[".npz", ".svm", ".libsvm", ".mtx", ".npy", ".mat", ".h5", ".hdf5", ".parquet", ".csv", ".tsv", ".sha256"][..],
    ] {
        if let Some(end) = endings.iter().find(|end| name.ends_with(**end)) {
            name.truncate(name.len() - end.len());
        }
    }
    name
}

fn stand_in(role: Role, Quick(quick): Quick, seed: u64) -> Result<nonneg_io::Problem, Failure> {
    let (rows, cols, per_row) = role.shape(quick);
    let sizes = Sizes { rows: Some(rows), cols: Some(cols), density: Some(per_row / cols as f64) };
    let made = Kind::Text.generate(&sizes, seed).map_err(Failure::new)?;
    let problem = nonneg_io::Problem { matrix: made.matrix.into(), rhs: Some(made.rhs) };
    match role {
        Role::RealSim | Role::News20 => Ok(problem),
        Role::E2006 => badly_scaled(&problem, seed),
    }
}

/// Columns in units of their own over six orders of magnitude, one in fifty negative; b from a planted x, with noise.
fn badly_scaled(problem: &nonneg_io::Problem, seed: u64) -> Result<nonneg_io::Problem, Failure> {
    let mut random = Random::new(seed ^ 0x5eed);
    with_columns!(problem.matrix.view(), |a| {
        let (m, n) = (a.rows(), a.cols());
        let (mut ends, mut rows, mut values) = (vec![0usize], Vec::<u32>::new(), Vec::<f64>::new());
        let mut b = vec![0.0; m];
        for j in 0..n {
            let unit = 10f64.powf(random.between(-3.0, 3.0)) * if random.uniform() < 0.02 { -1.0 } else { 1.0 };
            let x = if random.uniform() < 0.02 { random.between(0.5, 1.5) / unit.abs() } else { 0.0 };
            a.column(j).for_each(|i, v| {
                rows.push(i as u32);
                values.push(v * unit);
                b[i] += v * unit * x;
            });
            ends.push(values.len());
        }
        let size = (b.iter().map(|v| v * v).sum::<f64>() / m as f64).sqrt();
        b.iter_mut().for_each(|b| *b += 0.3 * size * random.normal());
        let matrix = CscMatrix::new(m, n, ends, rows, values)?;
        Ok(nonneg_io::Problem { matrix: matrix.into(), rhs: Some(b) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_files_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let of = |data: &[String]| Source::of_the_paper(data, Quick(true));
        let here = [folder.path().display().to_string()];
        assert!(of(&here).unwrap_err().to_string().contains("real-sim"));
        for name in ["debpkg_tfidf.npz", "news20.binary.bz2", "news20.binary.bz2.part", "other.npz"] {
            std::fs::write(path(name), "").unwrap();
        }
        let found = of(&here).unwrap();
        let names: Vec<String> = found.iter().map(Source::name).collect();
        assert_eq!(names, ["debpkg_tfidf", "news20.binary"]);
        assert_eq!(found[0].role(), Some(Role::RealSim));
        assert_eq!(found[0].origin(), "debpkg_tfidf.npz, in the place of real-sim");
        let file = of(&[path("other.npz").display().to_string()]).unwrap();
        assert_eq!((file[0].name(), file[0].role()), ("other".to_owned(), None));
        assert_eq!(of(&[]).unwrap().len(), 3);
        assert!(of(&[here[0].clone(), here[0].clone()]).unwrap_err().to_string().contains("called debpkg_tfidf"));
    }

    #[test]
    fn stand_ins_are_seeded_and_have_the_signs_of_their_models() {
        for role in Role::ALL {
            let source = Source::StandIn(role, Quick(true));
            let (one, two) = (source.load(3, None).unwrap(), source.load(3, None).unwrap());
            assert_eq!(one.rhs, two.rhs);
            let (rows, cols, per_row) = role.shape(true);
            let view = one.matrix.view();
            assert_eq!((view.rows(), view.cols()), (rows, cols));
            assert!((view.nnz() as f64 / (rows as f64 * per_row) - 1.0).abs() < 0.1, "{role:?}: {}", view.nnz());
            let mut negative = 0;
            with_columns!(view, |a| (0..cols).for_each(|j| a.column(j).for_each(|_, v| negative += usize::from(v < 0.0))));
            assert_eq!(negative > 0, role == Role::E2006);
        }
    }
}
