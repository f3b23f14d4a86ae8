//! The three loops that are timed, all on one thread and over the same kept columns: lazy SI-NNLS+, cyclic coordinate
//! descent, and a plain Aᵀy.

use nonneg::BlockMetric;
use nonneg::algorithm::si_nnls::{Blocks, Lazy};
use nonneg::matrix::{Column, Columns};
use nonneg::presolve::Reduced;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// Epochs before anything is timed: by then the steps have grown to full size (about 1.5·ln n epochs) and the columns
/// that stay at zero have found out.
pub const WARM_UP: usize = 30;

const SEED: u64 = 1;

/// Stored entries of the kept columns.
pub fn nonzeros<M: Columns>(problem: &Reduced<M>) -> u64 {
    (0..problem.len()).map(|k| problem.column_len(k) as u64).sum()
}

/// Blocks of one column.
pub fn single_blocks<M: Columns>(problem: &Reduced<M>) -> Blocks {
    Blocks::new(problem, 1, BlockMetric::ScaleInvariant).0
}

/// Lazy SI-NNLS+ from x = 0, one column per step.
pub struct LazyRun<'p, M: Columns> {
    lazy: Lazy<'p, M>,
    steps: usize,
    random: Xoshiro256PlusPlus,
}

impl<'p, M: Columns> LazyRun<'p, M> {
    pub fn new(problem: &'p Reduced<'p, M>, blocks: &'p Blocks) -> Self {
        let gradient: Vec<f64> = problem.linear.iter().map(|c| -c).collect(); // at x = 0
        let lazy = Lazy::start(problem, blocks, &vec![0.0; problem.len()], &vec![0.0; problem.matrix.rows()], &gradient);
        Self { lazy, steps: problem.len(), random: Xoshiro256PlusPlus::seed_from_u64(SEED) }
    }

    /// n steps on columns drawn at random.
    pub fn epoch(&mut self) {
        self.lazy.random_steps(self.steps, &mut self.random);
    }

    /// Nonzeros that the steps since the last call went over; about those of A for an epoch, but columns are drawn.
    pub fn take_work(&mut self) -> u64 {
        self.lazy.take_work()
    }

    pub fn x(&self) -> Vec<f64> {
        self.lazy.current()
    }
}

/// Cyclic coordinate descent from x = 0, as in the library's `Point::sweep`, for problems without weights or ridge.
pub struct Descent<'p, M: Columns> {
    problem: &'p Reduced<'p, M>,
    pub x: Vec<f64>,
    /// Ax.
    image: Vec<f64>,
}

impl<'p, M: Columns> Descent<'p, M> {
    pub fn new(problem: &'p Reduced<'p, M>) -> Self {
        Self { problem, x: vec![0.0; problem.len()], image: vec![0.0; problem.matrix.rows()] }
    }

    /// Minimises f along each coordinate in turn.
    pub fn epoch(&mut self) {
        let problem = self.problem;
        for k in 0..problem.len() {
            let (column, scale) = (problem.column(k), problem.scale[k]);
            let gradient = scale * column.dot(&self.image) - problem.linear[k];
            let moved = (self.x[k] - gradient / problem.norm[k]).clamp(0.0, problem.upper[k]);
            let change = moved - self.x[k];
            if change != 0.0 {
                self.x[k] = moved;
                column.add_to(scale, change, &mut self.image);
            }
        }
    }
}

/// `out` = Aᵀy over the kept columns, in the order in which they lie in memory.
pub fn multiply_transposed<M: Columns>(problem: &Reduced<M>, y: &[f64], out: &mut [f64]) {
    for (k, out) in out.iter_mut().enumerate() {
        *out = problem.scale[k] * problem.column(k).dot(y);
    }
}

/// The same in another order: what it costs to jump from column to column, apart from any algorithm.
pub fn multiply_in_order<M: Columns>(problem: &Reduced<M>, order: &[u32], y: &[f64], out: &mut [f64]) {
    for &k in order {
        let k = k as usize;
        out[k] = problem.scale[k] * problem.column(k).dot(y);
    }
}
