//! Where a run has got to, in a file that is whole at any moment: x, and which problem it is of.
//!
//! ```text
//!   0  magic               16  identity: u128      48  passes, seconds so far: f64
//!   8  version, 0: u32     32  n: u64, 0: u64      64  x, n of f64            end  digest of what is before it: u64
//! ```

use std::io::Write;

use nonneg::matrix::{Column, Columns};
use nonneg::{LeastSquares, Target, with_columns};
use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::error::{Error, Result};
use crate::output;

const MAGIC: [u8; 8] = *b"\x93NNC\r\n\x1a\n";
const VERSION: u32 = 1;
const HEADER: usize = 64;

/// Columns whose entries are hashed by one task.
const TASK: usize = 1024;

/// A point on the way, and what it took to get there.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Of which problem ([`identity`]).
    pub identity: u128,
    /// The best x so far.
    pub x: Vec<f64>,
    /// Work so far, in all runs.
    pub passes: f64,
    /// Time so far, in all runs.
    pub seconds: f64,
}

impl Checkpoint {
    /// Replaces the file at once, or not at all.
    pub fn write(&self, path: &str) -> Result<()> {
        let mut bytes = Vec::with_capacity(HEADER + 8 * self.x.len() + 8);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(self.identity.to_le_bytes());
        bytes.extend((self.x.len() as u64).to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend([self.passes, self.seconds].iter().chain(&self.x).flat_map(|v| v.to_le_bytes()));
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        output::file(path, |out| out.write_all(&bytes))
    }

    /// `None` if there is no such file.
    pub fn read(path: &str) -> Result<Option<Self>> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io(path, "read", e)),
        };
        let wrong = |message: String| Err(Error::content(path, message));
        if !bytes.starts_with(&MAGIC) {
            return wrong("is not a checkpoint: expected one of an earlier run, or a file that does not exist yet".into());
        }
        let damaged = || wrong("the checkpoint is damaged: expected it as nonneg wrote it; delete it to start again".into());
        if bytes.len() < HEADER + 8 {
            return damaged();
        }
        let (contents, digest) = bytes.split_at(bytes.len() - 8);
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|k| contents[at + k]));
        let version = number(8) as u32;
        if version != VERSION {
            return wrong(format!("is a checkpoint of version {version}, expected {VERSION}; delete it to start again"));
        }
        let count = (contents.len() - HEADER) / 8;
        let whole = contents.len() == HEADER + 8 * count && number(32) == count as u64;
        let x: Vec<f64> = (0..count).map(|j| f64::from_bits(number(HEADER + 8 * j))).collect();
        if xxh3_64(contents).to_le_bytes() != digest || !whole || !x.iter().all(|x| x.is_finite()) {
            return damaged();
        }
        let identity = u128::from(number(24)) << 64 | u128::from(number(16));
        Ok(Some(Self { identity, x, passes: f64::from_bits(number(48)), seconds: f64::from_bits(number(56)) }))
    }

    /// Whether it is of this problem.
    pub fn check(&self, path: &str, identity: u128, columns: usize) -> Result<()> {
        if self.identity == identity && self.x.len() == columns {
            return Ok(());
        }
        let message = "is a checkpoint of another problem (A, b, bounds, weights or penalties differ): expected one of this";
        Err(Error::content(path, message))
    }
}

/// Tells problems apart: by the numbers in A, b (or c), weights, bounds and penalties, not by how or where they are stored. `free`
/// are the columns without bounds. Start, tolerance and limits do not count.
pub fn identity(problem: &LeastSquares, free: &[usize]) -> u128 {
    let matrix = problem.matrix;
    let entries: Vec<u128> = with_columns!(matrix, |a| {
        let tasks = a.cols().div_ceil(TASK);
        let of_task = |task: usize| {
            let mut hash = Xxh3::new();
            for j in task * TASK..((task + 1) * TASK).min(a.cols()) {
                hash.update(&(j as u64).to_le_bytes());
                a.column(j).for_each(|i, value| {
                    if value != 0.0 {
                        hash.update(&(i as u64).to_le_bytes());
                        hash.update(&value.to_le_bytes());
                    }
                });
            }
            hash.digest128()
        };
        (0..tasks).into_par_iter().map(of_task).collect()
    });
    let mut hash = Xxh3::new();
    let mut number = |bits: u64| hash.update(&bits.to_le_bytes());
    [matrix.rows(), matrix.cols()].into_iter().for_each(|size| number(size as u64));
    entries.iter().for_each(|&digest| [digest as u64, (digest >> 64) as u64].into_iter().for_each(&mut number));
    let (kind, target) = match problem.target {
        Target::Rhs(b) => (1, b),
        Target::Linear(c) => (2, c),
    };
    number(kind);
    // + 0.0: zero has one sign.
    let mut numbers = |values: &mut dyn Iterator<Item = f64>| values.for_each(|v| number((v + 0.0).to_bits()));
    numbers(&mut target.iter().copied());
    numbers(&mut [problem.l1, problem.l2, f64::from(u8::from(problem.sum_to_one))].into_iter());
    numbers(&mut (0..matrix.rows()).map(|i| problem.weights.map_or(1.0, |w| w[i])));
    numbers(&mut (0..matrix.cols()).map(|j| problem.upper.at(j)));
    numbers(&mut (0..matrix.cols()).map(|j| problem.lower.at(j)));
    let mut free = free.to_vec();
    free.sort_unstable();
    free.dedup();
    numbers(&mut free.iter().map(|&j| j as f64));
    hash.digest128()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nonneg::{CscMatrix, DenseMatrix};

    #[test]
    fn a_problem_is_the_same_however_it_is_stored_and_another_if_a_number_differs() {
        let dense = DenseMatrix::new(2, 2, vec![1.0, 0.0, 0.5, 2.0]).unwrap();
        let sparse = CscMatrix::<f32, u64>::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, 0.5), (1, 1, 2.0)]).unwrap();
        let other = DenseMatrix::new(2, 2, vec![1.0, 0.0, 0.5, 2.5]).unwrap();
        let b = [1.0, 2.0];
        let plain = || LeastSquares::new(&dense, &b);
        let first = identity(&plain(), &[]);
        assert_eq!(first, identity(&LeastSquares::new(&sparse, &b).start(&[1.0, 1.0]), &[]));
        assert_eq!(first, identity(&plain().weights(&[1.0, 1.0]), &[]));
        let others = [
            identity(&LeastSquares::new(&other, &b), &[]),
            identity(&LeastSquares::new(&dense, &[1.0, 2.5]), &[]),
            identity(&LeastSquares::with_linear(&dense, &b), &[]),
            identity(&plain().l1(0.1), &[]),
            identity(&plain().l2(0.1), &[]),
            identity(&plain().weights(&[1.0, 2.0]), &[]),
            identity(&plain().upper(3.0), &[]),
            identity(&plain().sum_to_one(), &[]),
            identity(&plain(), &[1]),
        ];
        for (k, other) in others.iter().enumerate() {
            assert!(*other != first && !others[..k].contains(other), "{k}");
        }
    }

    #[test]
    fn any_damage_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.ckpt").display().to_string();
        assert_eq!(Checkpoint::read(&path).unwrap(), None);
        let checkpoint = Checkpoint { identity: 1 << 100 | 7, x: vec![0.0, 1.5, 1e-300], passes: 12.5, seconds: 3.0 };
        checkpoint.write(&path).unwrap();
        assert_eq!(Checkpoint::read(&path).unwrap().as_ref(), Some(&checkpoint));
        checkpoint.check(&path, 1 << 100 | 7, 3).unwrap();
        assert!(checkpoint.check(&path, 7, 3).unwrap_err().to_string().contains("another problem"));
        let bytes = std::fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            std::fs::write(&path, changed).unwrap();
            let message = Checkpoint::read(&path).unwrap_err().to_string();
            assert!(message.contains("expected"), "{at}: {message}");
        }
        for length in 0..bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            Checkpoint::read(&path).unwrap_err();
        }
        std::fs::write(&path, [&bytes[..], &[0; 8]].concat()).unwrap();
        Checkpoint::read(&path).unwrap_err();
    }
}
