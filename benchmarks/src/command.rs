//! The real `nonneg` command, for figures about the whole of it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::Outcome;

/// Names another binary than the one that this workspace builds.
const VARIABLE: &str = "NONNEG_BIN";

/// The parts of `--report` that the figures use; INTERFACES names them.
#[derive(Debug, Deserialize)]
pub struct Account {
    pub status: String,
    pub relative_gap: Option<f64>,
    pub passes: Option<f64>,
    pub support: usize,
    pub seconds: Stages,
    pub peak_memory_bytes: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub struct Stages {
    pub total: Option<f64>,
}

/// Where the command is.
#[derive(Debug)]
pub struct Nonneg(PathBuf);

impl Nonneg {
    /// `NONNEG_BIN`, or the release build of this workspace, brought up to date first: a stale one would be measured
    /// without anybody noticing. Without cargo, whatever lies beside this program.
    pub fn find() -> Outcome<Self> {
        if let Some(path) = std::env::var_os(VARIABLE) {
            let path = PathBuf::from(path);
            let found = path.canonicalize().map_err(|error| format!("{VARIABLE} = {}: {error}", path.display()))?;
            return Ok(Self(found));
        }
        let here = std::env::current_exe().map_err(|error| format!("cannot tell where this program lies: {error}"))?;
        let folder = here.parent().ok_or("this program lies in no folder")?;
        let beside = folder.join(format!("nonneg{}", std::env::consts::EXE_SUFFIX));
        let built = match folder.parent() {
            Some(target) => build(target),
            None => Err("no target folder".into()),
        };
        match built {
            Ok(()) if beside.is_file() => Ok(Self(beside)),
            Ok(()) => Err(format!("{}: not there after a build; set {VARIABLE}", beside.display()).into()),
            Err(error) if beside.is_file() => {
                eprintln!("warning: {error}; using {} as it is", beside.display());
                Ok(Self(beside))
            }
            Err(error) => Err(format!("{error}; set {VARIABLE} to the nonneg binary").into()),
        }
    }

    /// `nonneg solve PROBLEM ARGUMENTS --quiet --report …`, in `folder`.
    pub fn solve(&self, problem: &Path, arguments: &[&str], folder: &Path) -> Outcome<Account> {
        const REPORT: &str = "report.json";
        let fixed = ["--quiet", "--report", REPORT].map(OsStr::new);
        let mut command = Command::new(&self.0);
        command.current_dir(folder).arg("solve").arg(problem).args(arguments).args(fixed);
        let output = command.output().map_err(|error| format!("cannot run {}: {error}", self.0.display()))?;
        // 1: a limit came first, which is an answer too.
        if !matches!(output.status.code(), Some(0 | 1)) {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(format!("nonneg solve {}: {}: {}", problem.display(), output.status, message.trim()).into());
        }
        let text =
            std::fs::read_to_string(folder.join(REPORT)).map_err(|error| format!("the report of nonneg solve: {error}"))?;
        serde_json::from_str(&text).map_err(|error| format!("the report of nonneg solve: {error}").into())
    }
}

/// `cargo build --release -p nonneg-cli`; free of cost when nothing has changed.
fn build(target: &Path) -> Outcome<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--quiet", "-p", "nonneg-cli"]);
    let status = command.arg("--manifest-path").arg(manifest).arg("--target-dir").arg(target).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cargo build -p nonneg-cli: {status}").into()),
        Err(error) => Err(format!("cannot run cargo: {error}").into()),
    }
}
