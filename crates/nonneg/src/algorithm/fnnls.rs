//! Fast NNLS (Bro and de Jong 1997): Lawson and Hanson's iteration on AᵀA and Aᵀb, which are formed once.

use std::cell::RefCell;

use super::lawson_hanson::iterate;
use super::passive::{FromColumns, Hessian};
use super::{Algorithm, Monitor};
use crate::error::{Error, Result};
use crate::matrix::Columns;
use crate::presolve::Reduced;

/// Fast NNLS, with room for the n×n matrix AᵀA.
#[derive(Debug)]
pub struct Fnnls {
    /// Reserved before the run: a run cannot refuse.
    room: RefCell<Vec<f64>>,
}

impl Fnnls {
    /// For n columns; refuses if AᵀA does not fit into `limit` bytes, or into memory.
    pub fn new(columns: usize, limit: Option<u64>) -> Result<Self> {
        let refuse = || {
            let (entries, bytes) = (columns as f64 * columns as f64, 8.0 * columns as f64 * columns as f64);
            Error::Memory(format!(
                "method fnnls needs the {columns}×{columns} matrix AᵀA ({entries:.2e} numbers, {:.2} GiB), which does not fit; \
                 use auto, si-nnls or lawson-hanson",
                bytes / (1u64 << 30) as f64
            ))
        };
        let entries = columns.checked_mul(columns).ok_or_else(refuse)?;
        if limit.is_some_and(|limit| entries as u128 * 8 > u128::from(limit)) {
            return Err(refuse());
        }
        let mut room = Vec::new();
        room.try_reserve_exact(entries).map_err(|_| refuse())?;
        Ok(Self { room: RefCell::new(room) })
    }
}

impl Algorithm for Fnnls {
    fn run<M: Columns>(&self, problem: &Reduced<M>, x: Vec<f64>, monitor: &mut dyn Monitor) {
        let n = problem.len();
        let mut values = self.room.take();
        let mut columns = FromColumns::new(problem);
        // Column k from the diagonal down; the rest is its mirror image.
        values.resize(n * n, 0.0);
        for k in 0..n {
            let below: Vec<usize> = (k..n).collect();
            for (&j, value) in below.iter().zip(columns.column(k, &below)) {
                values[k * n + j] = value;
                values[j * n + k] = value;
            }
            monitor.spend(columns.take_work());
            if monitor.out_of_time() {
                monitor.check(&x);
                return;
            }
        }
        iterate(problem, &mut Formed { linear: &problem.linear, values, work: 0 }, x, monitor);
    }
}

/// H as a square array.
struct Formed<'p> {
    linear: &'p [f64],
    values: Vec<f64>,
    work: u64,
}

impl Hessian for Formed<'_> {
    fn gradient(&mut self, x: &[f64]) -> Vec<f64> {
        let n = x.len();
        let mut gradient: Vec<f64> = self.linear.iter().map(|c| -c).collect();
        for k in (0..n).filter(|&k| x[k] != 0.0) {
            for (slope, h) in gradient.iter_mut().zip(&self.values[k * n..(k + 1) * n]) {
                *slope += h * x[k];
            }
            self.work += n as u64;
        }
        gradient
    }

    fn column(&mut self, k: usize, among: &[usize]) -> Vec<f64> {
        let n = self.linear.len();
        among.iter().map(|&j| self.values[k * n + j]).collect()
    }

    fn linear(&self, k: usize) -> f64 {
        self.linear[k]
    }

    fn take_work(&mut self) -> u64 {
        std::mem::take(&mut self.work)
    }
}
