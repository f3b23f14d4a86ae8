//! Right-hand sides in blocks: each block is copied in units of its own, multiplied by Aᵀ, and solved column by column.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use super::exchange::{Exchange, Task};
use super::proof::Proof;
use super::shared::{Shared, rounding};
use super::{ColumnSolution, ManyLeastSquares};
use crate::certificate::UNIT;
use crate::matrix::{Column, Columns};
use crate::prepared::Problem;
use crate::scaling::{exponent, ldexp, power_of_two, to_caller};
use crate::settings::Solver;
use crate::solution::Status;

/// Columns of a block, and numbers in its workspace (as far as that leaves one column).
const BLOCK: usize = 256;
const BLOCK_NUMBERS: usize = 1 << 20;

/// Rounds of refinement from the residual itself, where Gram space does not prove enough.
const REFINEMENTS: usize = 3;

/// Where x has a sum, its range is that of A and b: further apart than 2^this they leave that of f64.
pub const SUM_RANGE: i32 = 400;

/// Columns of a block for m×n matrices: of the problem alone, so that the number of threads changes no bit.
pub fn width(m: usize, n: usize) -> usize {
    (BLOCK_NUMBERS / (m + n)).clamp(1, BLOCK)
}

/// How all columns are solved.
pub struct Blocks<'s> {
    pub solver: &'s Solver,
    pub problem: &'s ManyLeastSquares<'s>,
    pub prepared: &'s Problem<'s>,
    pub shared: Option<&'s Shared>,
    pub begin: Instant,
    pub observe: &'s (dyn Fn(usize) + Sync),
}

impl Blocks<'_> {
    /// X and what is known of its columns.
    pub fn solve<B: Columns>(&self, b: &B) -> (Vec<f64>, Vec<ColumnSolution>) {
        let (m, n, count) = (b.rows(), self.problem.matrix.cols(), b.cols());
        let mut x = vec![0.0; n * count];
        let mut columns = vec![ColumnSolution::untouched(Status::TimeLimit); count];
        let width = width(m, n);
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
pub struct Fit {
    support: usize,
    /// Σ ‖xⱼA:ⱼ‖.
    size: f64,
    /// ‖Ax − b‖²_W.
    pub square: f64,
    penalties: f64,
}

impl Fit {
    /// Of this x; leaves b − Ax.
    pub fn of(task: &Task, exchange: &Exchange, rhs: &[f64], residual: &mut Vec<f64>) -> Self {
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
    pub fn in_callers_units(&self, task: &Task, proof: &Proof, unit: i32) -> ColumnSolution {
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
