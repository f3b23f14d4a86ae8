//! One A and many right-hand sides: check → share (units, Gram matrix) → solve and certify in blocks of columns.
//!
//! Blocks run in parallel, each with a workspace that is used again. Within a block a column starts from the support of the
//! one before. A column that Gram space cannot certify (A too ill-conditioned, or signed) goes to the default solver.

mod exchange;
mod proof;
mod shared;
mod single;

pub(crate) use single::{solve as solve_with_sum, verify as verify_with_sum};

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use crate::certificate::UNIT;
use crate::error::{Error, Result};
use crate::matrix::{Column, Columns, MatrixRef, with_columns};
use crate::prepared::Problem;
use crate::problem::{LeastSquares, Upper};
use crate::scaling::{exponent, ldexp, power_of_two, to_caller};
use crate::settings::{MEMORY, Solver};
use crate::solution::Status;
use crate::solve::in_threads;
use exchange::{Exchange, Task};
use proof::Proof;
use shared::{Shared, rounding};

/// Columns of a block, and numbers in its workspace (as far as that leaves one column).
const BLOCK: usize = 256;
const BLOCK_NUMBERS: usize = 1 << 20;

/// The Gram matrix costs n/2 passes: it pays with so many right-hand sides for each of its columns.
const COLUMNS_PER_RHS: usize = 40;

/// Columns up to which it always pays.
const FEW_COLUMNS: usize = 64;

/// Rounds of refinement from the residual itself, where Gram space does not prove enough.
const REFINEMENTS: usize = 3;

/// Where x has a sum, its range is that of A and b: further apart than 2^this they leave that of f64.
const SUM_RANGE: i32 = 400;

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
        let rank = |status: &Status| match status {
            Status::Solved => 0,
            Status::Converged => 1,
            Status::Stalled => 2,
            Status::PassLimit => 3,
            Status::TimeLimit => 4,
            Status::Interrupted => 5,
        };
        self.columns.iter().map(|column| column.status).max_by_key(rank).unwrap_or(Status::Solved)
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
        self.validate()?;
        problem.validate()?;
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
        let solver = Solver { threads: None, ..self.clone() };
        let run = || -> Result<ManySolution> {
            let prepared = Problem::with(problem.matrix, problem.weights, problem.l2)?;
            let shared = solver.share(problem, &prepared, b.cols())?;
            let block = Blocks { solver: &solver, problem, prepared: &prepared, shared: shared.as_ref(), begin, observe };
            let (x, columns) = with_columns!(b, |b| block.solve(b));
            Ok(ManySolution { x, columns, seconds: begin.elapsed().as_secs_f64() })
        };
        match self.threads {
            None => run(),
            Some(threads) => in_threads(threads, run)?,
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

/// How all columns are solved.
struct Blocks<'s> {
    solver: &'s Solver,
    problem: &'s ManyLeastSquares<'s>,
    prepared: &'s Problem<'s>,
    shared: Option<&'s Shared>,
    begin: Instant,
    observe: &'s (dyn Fn(usize) + Sync),
}

impl Blocks<'_> {
    /// X and what is known of its columns.
    fn solve<B: Columns>(&self, b: &B) -> (Vec<f64>, Vec<ColumnSolution>) {
        let (m, n, count) = (b.rows(), self.problem.matrix.cols(), b.cols());
        let mut x = vec![0.0; n * count];
        let mut columns = vec![ColumnSolution::untouched(Status::TimeLimit); count];
        // The split depends on the problem alone, so that the number of threads changes no bit.
        let width = (BLOCK_NUMBERS / (m + n)).clamp(1, BLOCK);
        let (idle, done) = (Mutex::new(Vec::<Workspace>::new()), AtomicUsize::new(0));
        x.par_chunks_mut(width * n).zip(columns.par_chunks_mut(width)).enumerate().for_each(|(block, (x, columns))| {
            let spare = idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
            let mut space = spare.unwrap_or_else(|| Workspace::new(m, n, width));
            self.solve_block(b, block * width, x, columns, &mut space);
            idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(space);
            (self.observe)(done.fetch_add(columns.len(), Ordering::Relaxed) + columns.len());
        });
        (x, columns)
    }

    fn solve_block<B: Columns>(&self, b: &B, first: usize, x: &mut [f64], columns: &mut [ColumnSolution], space: &mut Workspace) {
        let n = self.problem.matrix.cols();
        if let Some(shared) = self.shared {
            self.load(shared, b, first, columns.len(), space);
        }
        space.exchange.forget();
        space.start.clear();
        for (k, (x, column)) in x.chunks_exact_mut(n).zip(columns.iter_mut()).enumerate() {
            if let Some(status) = self.stopped() {
                *column = ColumnSolution::untouched(status);
                continue;
            }
            if let Some(shared) = self.shared {
                *column = self.solve_in_gram_space(shared, k, x, space);
                space.start.clear();
                space.start.extend_from_slice(x);
            }
            if !column.status.is_success() && !self.problem.sum_to_one {
                *column = self.solve_alone(b.column(first + k), x, space);
            }
        }
    }

    /// Why to stop now, if there is a reason.
    fn stopped(&self) -> Option<Status> {
        if self.solver.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Status::Interrupted);
        }
        let over = self.solver.time_limit.is_some_and(|limit| self.begin.elapsed() >= limit);
        over.then_some(Status::TimeLimit)
    }

    /// Copies a block of B in units of its own, and makes C = AᵀWB.
    fn load<B: Columns>(&self, shared: &Shared, b: &B, first: usize, count: usize, space: &mut Workspace) {
        let (m, n) = (shared.rows, shared.cols);
        for (k, out) in space.rhs[..m * count].chunks_exact_mut(m).enumerate() {
            let column = b.column(first + k);
            let largest = match &shared.weights {
                None => column.extremes().largest,
                Some(w) => {
                    let mut largest = 0.0f64;
                    column.for_each(|i, v| {
                        if w[i] > 0.0 {
                            largest = largest.max(v.abs())
                        }
                    });
                    largest
                }
            };
            let unit = if self.problem.sum_to_one {
                -shared.exponent[0]
            } else if largest == 0.0 {
                0
            } else {
                exponent(largest)
            };
            space.unit[k] = unit;
            out.fill(0.0);
            if unit.abs() <= 1000 && shared.weights.is_none() {
                column.write_rows(0..m, power_of_two(-unit), out);
            } else {
                let counts = |i: usize| shared.weights.as_ref().is_none_or(|w| w[i] > 0.0);
                column.for_each(|i, v| {
                    if counts(i) {
                        out[i] = ldexp(v, -unit)
                    }
                });
            }
        }
        shared.products(&space.rhs[..m * count], &mut space.linear[..n * count]);
    }

    fn solve_in_gram_space(&self, shared: &Shared, k: usize, x: &mut [f64], space: &mut Workspace) -> ColumnSolution {
        let (m, n, problem, unit) = (shared.rows, shared.cols, self.problem, space.unit[k]);
        let (rhs, linear) = (&space.rhs[k * m..(k + 1) * m], &mut space.linear[k * n..(k + 1) * n]);
        let square = shared.square(rhs);
        if square.is_nan() || square >= power_of_two(2 * SUM_RANGE) {
            return ColumnSolution::untouched(Status::Stalled);
        }
        if problem.l1 > 0.0 {
            space.l1.clear();
            space.l1.extend(shared.exponent.iter().map(|e| ldexp(problem.l1, e - unit - shared.weight)));
            linear.iter_mut().zip(&space.l1).for_each(|(c, l1)| *c -= l1);
        }
        if problem.upper.is_finite() {
            let scaled = |j: usize| match problem.upper.at(j) {
                bound if bound == 0.0 || bound == f64::INFINITY => bound,
                bound => ldexp(bound, -shared.exponent[j] - unit).max(f64::MIN_POSITIVE),
            };
            space.upper.clear();
            space.upper.extend((0..n).map(scaled));
        }
        let task = Task {
            shared,
            linear,
            l1: &space.l1,
            rhs_norm: shared.norm_high(square),
            upper: problem.upper.is_finite().then_some(&space.upper[..]),
            sum_to_one: problem.sum_to_one,
            tolerance: self.solver.tolerance,
        };
        let exchange = &mut space.exchange;
        let mut proof = exchange.solve(&task);
        let mut fit = Fit::of(&task, exchange, rhs, &mut space.residual);
        for _ in 0..REFINEMENTS {
            if proof.shows(task.tolerance) {
                break;
            }
            exchange.gradient_from(&task, &space.residual);
            proof = Proof::of(&task, exchange, Some(fit.square.sqrt()));
            if proof.shows(task.tolerance) || !exchange.improve(&task, fit.square.sqrt() + UNIT * (fit.size + task.rhs_norm)) {
                break;
            }
            fit = Fit::of(&task, exchange, rhs, &mut space.residual);
        }
        let mut exact = true;
        for j in 0..n {
            let (value, shift) = (exchange.x[j], shared.exponent[j] + unit);
            x[j] = if shift.abs() <= 1000 { value * power_of_two(shift) } else { ldexp(value, shift) };
            if value != 0.0 && !x[j].is_normal() || x[j] > problem.upper.at(j) {
                exact = false; // what was proved is not of this x
                x[j] = x[j].min(problem.upper.at(j)).min(f64::MAX);
            }
        }
        if exact { fit.in_callers_units(&task, &proof, unit) } else { ColumnSolution::untouched(Status::Stalled) }
    }

    /// By the solver for one right-hand side, from what Gram space gave or from the x of the column before.
    fn solve_alone<C: Column>(&self, column: C, x: &mut [f64], space: &mut Workspace) -> ColumnSolution {
        let m = self.problem.matrix.rows();
        space.alone.clear();
        space.alone.resize(m, 0.0);
        column.write_rows(0..m, 1.0, &mut space.alone);
        let mut one = self.prepared.least_squares(&space.alone).l1(self.problem.l1);
        one.upper = self.problem.upper;
        one.start = (!space.start.is_empty()).then_some(&space.start);
        let left = self.solver.time_limit.map(|limit| limit.saturating_sub(self.begin.elapsed()));
        let solver = Solver { time_limit: left, ..self.solver.clone() };
        // What can fail was checked before.
        let Ok(solution) = solver.solve_problem(&one) else { return ColumnSolution::untouched(Status::Stalled) };
        x.copy_from_slice(&solution.x);
        let certificate = solution.certificate;
        space.start = solution.x;
        ColumnSolution {
            status: solution.status,
            objective: certificate.objective,
            residual_norm: certificate.residual_norm,
            lower_bound: certificate.lower_bound,
            relative_gap: certificate.relative_gap,
            support: certificate.support,
        }
    }
}

/// How well an x fits, in scaled units.
struct Fit {
    support: usize,
    /// Σ ‖xⱼA:ⱼ‖.
    size: f64,
    /// ‖Ax − b‖²_W.
    square: f64,
    penalties: f64,
}

impl Fit {
    /// Of this x; leaves b − Ax.
    fn of(task: &Task, exchange: &Exchange, rhs: &[f64], residual: &mut Vec<f64>) -> Self {
        let (shared, mut fit) = (task.shared, Self { support: 0, size: 0.0, square: 0.0, penalties: 0.0 });
        residual.clear();
        residual.extend_from_slice(rhs);
        for j in exchange.support() {
            let x = exchange.x[j];
            if x == 0.0 {
                continue;
            }
            shared.subtract(j, x, residual);
            fit.support += 1;
            fit.size += x * shared.root[j];
            fit.penalties += (task.l1(j) + 0.5 * shared.ridge(j) * x) * x;
        }
        fit.square = shared.square(residual);
        fit
    }

    /// Objective, residual and bound in the caller's units.
    fn in_callers_units(&self, task: &Task, proof: &Proof, unit: i32) -> ColumnSolution {
        let (shared, &Fit { support, size, square, penalties }) = (task.shared, self);
        let objective = 0.5 * square + penalties;
        // What the computed residual can be off by, as a norm.
        let off = (support + 4) as f64 * UNIT * (size + task.rhs_norm);
        let error = off * (square.sqrt() + off) + rounding(shared.rows, support) * (square + penalties);
        let solved = proof.shows(task.tolerance);
        let units = 2 * unit + shared.weight;
        let bound = proof.gap.map(|gap| (objective - error - gap).max(0.0) * (1.0 - 4.0 * UNIT));
        ColumnSolution {
            status: if solved { Status::Solved } else { Status::Stalled },
            objective: to_caller(objective, units),
            residual_norm: to_caller(square.sqrt(), units / 2),
            lower_bound: bound.and_then(|bound| to_caller(bound, units)),
            relative_gap: proof.relative_gap,
            support,
        }
    }
}

/// Memory for one block, used again for the next.
struct Workspace {
    /// B and C = AᵀWB, scaled.
    rhs: Vec<f64>,
    linear: Vec<f64>,
    /// log₂ of the unit of each column of B.
    unit: Vec<i32>,
    l1: Vec<f64>,
    upper: Vec<f64>,
    exchange: Exchange,
    residual: Vec<f64>,
    /// b, and where to start from, for the solver for one.
    alone: Vec<f64>,
    start: Vec<f64>,
}

impl Workspace {
    fn new(m: usize, n: usize, width: usize) -> Self {
        Self {
            rhs: vec![0.0; m * width],
            linear: vec![0.0; n * width],
            unit: vec![0; width],
            l1: Vec::new(),
            upper: Vec::new(),
            exchange: Exchange::new(n),
            residual: Vec::new(),
            alone: Vec::new(),
            start: Vec::new(),
        }
    }
}
