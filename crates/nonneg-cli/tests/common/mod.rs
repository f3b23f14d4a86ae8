//! The real binary in a folder of its own.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub struct Sandbox(tempfile::TempDir);

impl Sandbox {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes an input file.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("an input file");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("text")
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&self.read(name)).expect("JSON")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nonneg"));
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    /// Runs `nonneg` with blank-separated arguments.
    pub fn run(&self, line: &str) -> Run {
        let args: Vec<&str> = line.split_whitespace().collect();
        Run::of(self.command(&args).output().expect("the command runs"), line)
    }

    /// The names in the folder.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.0.path())
            .expect("the folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }
}

pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    line: String,
}

impl Run {
    pub fn of(output: Output, line: &str) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            line: line.to_owned(),
        }
    }

    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "nonneg {}\nstdout: {}\nstderr: {}", self.line, self.stdout, self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }
}

/// A 4×3 problem: A in Matrix Market form, b as text.
pub const A_MTX: &str = "%%MatrixMarket matrix coordinate real general\n4 3 6\n1 1 1\n2 1 2\n2 2 1\n3 2 3\n3 3 1\n4 3 2\n";
pub const B_TXT: &str = "1\n2.5\n1.5\n-1\n";

pub fn small_problem() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("A.mtx", A_MTX);
    sandbox.write("b.txt", B_TXT);
    sandbox
}

pub fn numbers(text: &str) -> Vec<f64> {
    text.lines().map(|line| line.trim().parse().expect("a number per line")).collect()
}
