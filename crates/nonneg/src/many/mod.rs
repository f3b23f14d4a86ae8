//! One A and many right-hand sides: check → share (units, Gram matrix) → solve and certify in blocks of columns.
//!
//! Blocks run in parallel, each with a workspace that is used again. Within a block a column starts from the support of the
//! one before. A column that Gram space cannot certify (A too ill-conditioned, or signed) goes to the default solver.

mod blocks;
mod exchange;
mod patterns;
mod proof;
mod shared;
mod single;

pub(crate) use single::{solve as solve_with_sum, verify as verify_with_sum};

use std::time::Instant;

use crate::error::{Error, Result};
use crate::matrix::{MatrixRef, with_columns};
use crate::prepared::Problem;
use crate::problem::{LeastSquares, Upper};
use crate::settings::{MEMORY, Solver};
use crate::solution::Status;
use crate::solve::in_threads;
use blocks::Blocks;
use shared::Shared;

/// The Gram matrix costs n/2 passes: it pays with so many right-hand sides for each of its columns.
const COLUMNS_PER_RHS: usize = 40;

/// Columns up to which it always pays.
const FEW_COLUMNS: usize = 64;

/// min ½‖Ax − b‖²_W + λ₁Σxⱼ + ½λ₂‖x‖² over 0 ≤ x ≤ ℓ, for one A and any b.
///
/// ```
/// use nonneg::{DenseMatrix, ManyLeastSquares, Solver};
///
/// let a = DenseMatrix::new(3, 2, vec![1.0, 1.0, 0.0, 0.0, 1.0, 2.0])?;
/// let b = DenseMatrix::new(3, 2, vec![1.0, 2.0, 2.0, 0.5, 0.75, 0.5])?;
/// let abundances = Solver::new().solve_many_problem(&ManyLeastSquares::new(&a).sum_to_one(), &b)?;
/// assert!((abundances.x[2] + abundances.x[3] - 1.0).abs() < 1e-12);
/// # Ok::<(), nonneg::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ManyLeastSquares<'a> {
    /// A.
    pub matrix: MatrixRef<'a>,
    /// λ₁ ≥ 0.
    pub l1: f64,
    /// λ₂ ≥ 0.
    pub l2: f64,
    /// W = diag(w), w ≥ 0, one weight per row.
    pub weights: Option<&'a [f64]>,
    /// ℓ.
    pub upper: Upper<'a>,
    /// Σxⱼ = 1.
    pub sum_to_one: bool,
}

impl<'a> ManyLeastSquares<'a> {
    /// min ½‖Ax − b‖² over x ≥ 0.
    pub fn new(a: impl Into<MatrixRef<'a>>) -> Self {
        Self { matrix: a.into(), l1: 0.0, l2: 0.0, weights: None, upper: Upper::None, sum_to_one: false }
    }
    /// Adds λ₁Σxⱼ.
    pub fn l1(mut self, l1: f64) -> Self {
        self.l1 = l1;
        self
    }
    /// Adds ½λ₂‖x‖².
    pub fn l2(mut self, l2: f64) -> Self {
        self.l2 = l2;
        self
    }
    /// Weights the rows: Σ wᵢ(Ax − b)ᵢ².
    pub fn weights(mut self, weights: &'a [f64]) -> Self {
        self.weights = Some(weights);
        self
    }
    /// Bounds x from above, by a number or by a slice.
    pub fn upper(mut self, upper: impl Into<Upper<'a>>) -> Self {
        self.upper = upper.into();
        self
    }
    /// Asks for Σxⱼ = 1: abundances.
    pub fn sum_to_one(mut self) -> Self {
        self.sum_to_one = true;
        self
    }

    fn validate(&self) -> Result<()> {
        let zero = vec![0.0; self.matrix.rows()];
        let mut one = LeastSquares::new(self.matrix, &zero).l1(self.l1).l2(self.l2);
        (one.weights, one.upper, one.sum_to_one) = (self.weights, self.upper, self.sum_to_one);
        one.validate()
    }
}

/// The answers to many problems.
#[derive(Debug, Clone)]
pub struct ManySolution {
    /// X, one column of n numbers for each right-hand side. Zero where nothing was computed.
    pub x: Vec<f64>,
    /// What is known of each.
    pub columns: Vec<ColumnSolution>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

impl ManySolution {
    /// The worst there is: `Solved` if all are.
    pub fn status(&self) -> Status {
        self.columns.iter().map(|column| column.status).max_by_key(|status| status.rank()).unwrap_or(Status::Solved)
    }

    /// Of all columns, if it is known for all.
    pub fn largest_gap(&self) -> Option<f64> {
        self.columns.iter().try_fold(0.0, |largest: f64, column| Some(largest.max(column.relative_gap?)))
    }
}

/// What is known of one x. Numbers that are not known, or do not fit `f64`, are `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnSolution {
    /// Why the solver stopped.
    pub status: Status,
    /// ½‖Ax − b‖²_W plus penalties.
    pub objective: Option<f64>,
    /// ‖Ax − b‖_W.
    pub residual_norm: Option<f64>,
    /// Proved: no feasible x has a smaller objective than this.
    pub lower_bound: Option<f64>,
    /// Proved: (f(x) − f*)/|f*| is at most this, f = ½‖Ax‖² − bᵀAx. With a sum, f* can be zero, and this is a part of the larger of
    /// ½‖b‖² and ½‖Ax‖².
    pub relative_gap: Option<f64>,
    /// Entries of x that are not zero.
    pub support: usize,
}

impl ColumnSolution {
    fn untouched(status: Status) -> Self {
        Self { status, objective: None, residual_norm: None, lower_bound: None, relative_gap: None, support: 0 }
    }
}

impl Solver {
    /// min ½‖Ax − b‖² over x ≥ 0 for every column b of B.
    ///
    /// ```
    /// use nonneg::{DenseMatrix, Solver};
    ///
    /// let a = DenseMatrix::new(2, 2, vec![1.0, 0.0, 0.0, 1.0])?;
    /// let b = DenseMatrix::new(2, 3, vec![1.0, 2.0, -1.0, 3.0, 4.0, -5.0])?;
    /// assert_eq!(Solver::new().solve_many(&a, &b)?.x, [1.0, 2.0, 0.0, 3.0, 4.0, 0.0]);
    /// # Ok::<(), nonneg::Error>(())
    /// ```
    pub fn solve_many<'a, 'b>(&self, a: impl Into<MatrixRef<'a>>, b: impl Into<MatrixRef<'b>>) -> Result<ManySolution> {
        self.solve_many_problem(&ManyLeastSquares::new(a), b)
    }

    /// Solves any [`ManyLeastSquares`] problem. Of this solver's settings the tolerance, the time limit, threads, memory limit and
    /// interrupt count; the others are for columns that need the solver for one.
    pub fn solve_many_problem<'b>(&self, problem: &ManyLeastSquares, b: impl Into<MatrixRef<'b>>) -> Result<ManySolution> {
        self.solve_many_observed(problem, b, &|_| ())
    }

    /// As [`solve_many_problem`](Self::solve_many_problem); `observe` hears how many columns are done.
    pub fn solve_many_observed<'b>(
        &self,
        problem: &ManyLeastSquares,
        b: impl Into<MatrixRef<'b>>,
        observe: &(dyn Fn(usize) + Sync),
    ) -> Result<ManySolution> {
        let (begin, b) = (Instant::now(), b.into());
        let solution = self.prepare_many(problem, b.cols())?.solve_observed(b, observe)?;
        Ok(ManySolution { seconds: begin.elapsed().as_secs_f64(), ..solution })
    }

    /// What all right-hand sides share, for `count` of them that come in parts: from a file larger than memory, say. The time
    /// limit counts from here.
    ///
    /// ```
    /// use nonneg::{DenseMatrix, ManyLeastSquares, Solver};
    ///
    /// let a = DenseMatrix::new(2, 2, vec![1.0, 0.0, 0.0, 1.0])?;
    /// let problem = ManyLeastSquares::new(&a);
    /// let prepared = Solver::new().prepare_many(&problem, 2)?;
    /// for part in [[1.0f64, -2.0], [3.0, 4.0]] {
    ///     let x = prepared.solve(&DenseMatrix::new(2, 1, part.to_vec())?)?.x;
    ///     assert_eq!(x, [part[0].max(0.0), part[1].max(0.0)]);
    /// }
    /// # Ok::<(), nonneg::Error>(())
    /// ```
    pub fn prepare_many<'p>(&self, problem: &'p ManyLeastSquares<'p>, count: usize) -> Result<PreparedMany<'p>> {
        let begin = Instant::now();
        self.validate()?;
        problem.validate()?;
        let prepare = || {
            let prepared = Problem::without_gram(problem.matrix, problem.weights, problem.l2)?;
            let shared = self.share(problem, &prepared, count)?;
            let solver = Solver { threads: None, ..self.clone() };
            Ok(PreparedMany { solver, threads: self.threads, problem, prepared, shared, begin })
        };
        match self.threads {
            None => prepare(),
            Some(threads) => in_threads(threads, prepare)?,
        }
    }

    /// What right-hand sides share, if that pays.
    fn share(&self, problem: &ManyLeastSquares, prepared: &Problem, count: usize) -> Result<Option<Shared>> {
        let n = problem.matrix.cols();
        let fits = (n as u64).saturating_mul(8 * n as u64) <= self.memory_limit.unwrap_or(MEMORY);
        let pays = n <= FEW_COLUMNS || n <= COLUMNS_PER_RHS.saturating_mul(count);
        if problem.sum_to_one && !fits {
            let expected = "enough for the Gram matrix, which a sum of one needs";
            return Err(Error::Setting { name: "memory_limit", value: format!("too little for {n} columns"), expected });
        }
        if !(problem.sum_to_one || fits && pays) || count == 0 {
            return Ok(None);
        }
        Ok(Some(with_columns!(prepared.matrix(), |columns| Shared::new(columns, prepared, problem))))
    }
}

/// A, ready for right-hand sides ([`Solver::prepare_many`]).
pub struct PreparedMany<'p> {
    solver: Solver,
    threads: Option<usize>,
    problem: &'p ManyLeastSquares<'p>,
    prepared: Problem<'p>,
    shared: Option<Shared>,
    begin: Instant,
}

impl PreparedMany<'_> {
    /// Columns that are solved one after the other, each from where the one before ended. B in parts of a multiple of this gives
    /// the same bits as B in one.
    pub fn block(&self) -> usize {
        blocks::width(self.problem.matrix.rows(), self.problem.matrix.cols())
    }

    /// For every column b of B.
    pub fn solve<'b>(&self, b: impl Into<MatrixRef<'b>>) -> Result<ManySolution> {
        self.solve_observed(b, &|_| ())
    }

    /// As [`solve`](Self::solve); `observe` hears how many columns are done.
    pub fn solve_observed<'b>(&self, b: impl Into<MatrixRef<'b>>, observe: &(dyn Fn(usize) + Sync)) -> Result<ManySolution> {
        let (begin, b, problem) = (Instant::now(), b.into(), self.problem);
        if b.rows() != problem.matrix.rows() {
            let (what, why) = ("columns of B", "one entry per row of A");
            return Err(Error::Length { what, got: b.rows(), expected: problem.matrix.rows(), why });
        }
        // A trial: running out of memory further on would end the process.
        let (n, count) = (problem.matrix.cols(), b.cols());
        let room = n.checked_mul(count).filter(|&numbers| Vec::<f64>::new().try_reserve_exact(numbers).is_ok());
        if room.is_none() {
            return Err(Error::Memory(format!(
                "there is no room for X, {n} × {count} numbers: take fewer columns of B at a time"
            )));
        }
        let (solver, prepared, shared) = (&self.solver, &self.prepared, self.shared.as_ref());
        let blocks = Blocks { solver, problem, prepared, shared, begin: self.begin, observe };
        let run = || with_columns!(b, |b| blocks.solve(b));
        let (x, columns) = match self.threads {
            None => run(),
            Some(threads) => in_threads(threads, run)?,
        };
        Ok(ManySolution { x, columns, seconds: begin.elapsed().as_secs_f64() })
    }
}
