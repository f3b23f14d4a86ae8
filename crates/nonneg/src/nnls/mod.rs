//! Least squares over x ≥ 0, exact to rounding: what SciPy's `nnls`, MATLAB's `lsqnonneg` and R's `nnls` compute.
//!
//! The method is that of Lawson and Hanson (1974) on a QR factorisation, which loses half as many digits as one on the Gram
//! matrix. A problem of some size starts from the support that the [block active-set
//! method](crate::Method::ActiveSet) finds: what is left to do then is one factorisation and perhaps a few exchanges. One
//! with many more rows than columns goes on as the small problem of its triangle, once it has cost more than that.
//!
//! There is no certificate here: [`verify`](crate::verify) gives it, for this x as for any other.

use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::error::Result;
use crate::linalg::{Qr, Triangle};
use crate::matrix::kernels::dense_dot;
use crate::matrix::{Column, Columns, DenseMatrix, MatrixRef, for_columns, with_columns};
use crate::presolve::Reduced;
use crate::problem::check;
use crate::scaling::{exponent, ldexp, power_of_two};
use crate::scout::{self, Orders};
use crate::settings::Solver;
use crate::solve::in_threads;

/// Entries of A beyond which another method looks for the support first.
const LARGE: usize = 1 << 16;

/// Part of the natural residual at zero at which the look for the support ends.
const CLOSE: f64 = 1e-9;

/// It has cost as much as it can save after so many passes, and one more for every so many columns of the support.
const SCOUT_PASSES: f64 = 10.0;
const SUPPORT_PER_PASS: f64 = 2.0;

/// Rows for each column that make a problem tall, and how many columns it has then: with fewer it is solved before its
/// triangle is made, with more it is better to look for the support.
const TALL: usize = 4;
const TALL_COLUMNS: std::ops::Range<usize> = 64..384;

/// Part of the work of making the triangle that is spent on exchanges first: it pays only if they go on for long.
const PATIENCE: f64 = 0.4;

/// Exponents of the columns of a tall problem: squares of all that matters must fit.
const TALL_RANGE: i32 = 100;

/// Columns whose slopes are looked at between two passes over all of them.
const CANDIDATES: usize = 32;

/// A slope A:ⱼᵀ(b − Ax) of this part of ‖A:ⱼ‖‖b‖ is rounding error.
const NOISE: f64 = 8.0 * f64::EPSILON;

/// Exponents of the entries of a column that leave room for products and sums.
const RANGE: i32 = 400;

/// What [`nnls`] returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Nnls {
    /// x ≥ 0.
    pub x: Vec<f64>,
    /// ‖Ax − b‖.
    pub residual_norm: f64,
    /// Columns that entered or left.
    pub iterations: usize,
    /// Whether x is optimal: otherwise the limit on iterations came first, or x does not fit f64.
    pub finished: bool,
}

/// The x ≥ 0 with the least ‖Ax − b‖, to rounding, for A of any signs and any rank. Columns enter and leave at most
/// `max_iterations` times (10n, at least 100, if there is no limit).
///
/// ```
/// let a = nonneg::DenseMatrix::new(3, 2, vec![1.0, 1.0, 0.0, 0.0, 0.0, 1.0])?;
/// let answer = nonneg::nnls(&a, &[2.0, 1.0, 1.0], None)?;
/// assert_eq!(answer.x, [1.5, 1.0]);
/// # Ok::<(), nonneg::Error>(())
/// ```
pub fn nnls<'a>(a: impl Into<MatrixRef<'a>>, b: &[f64], max_iterations: Option<usize>) -> Result<Nnls> {
    Solver::new().nnls(a, b, max_iterations)
}

impl Solver {
    /// [`nnls`](fn@nnls), with this solver's threads, time limit and interrupt; its other settings mean nothing here.
    pub fn nnls<'a>(&self, a: impl Into<MatrixRef<'a>>, b: &[f64], max_iterations: Option<usize>) -> Result<Nnls> {
        let (a, begin) = (a.into(), Instant::now());
        if let Some(threads) = self.threads {
            let solver = Solver { threads: None, ..self.clone() };
            return in_threads(threads, || solver.nnls(a, b, max_iterations))?;
        }
        check("b", b, a.rows(), "one per row of A", f64::is_finite, "a finite number")?;
        let iterations = max_iterations.unwrap_or(10 * a.cols().max(10));
        let stop = || {
            let interrupted = self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
            interrupted || self.time_limit.is_some_and(|limit| begin.elapsed() >= limit)
        };
        let limit = Limit { iterations, stop: &stop };
        Ok(with_columns!(a, |columns| Exchange::new(columns, b, limit).run()))
    }
}

/// When to give up.
struct Limit<'a> {
    iterations: usize,
    stop: &'a (dyn Fn() -> bool + Sync),
}

/// The state of the method, in units of the columns: each is multiplied by a power of two.
struct Exchange<'a, M: Columns> {
    a: &'a M,
    units: Vec<Unit>,
    /// b in units of its own.
    b: Vec<f64>,
    b_exponent: i32,
    b_norm: f64,
    factor: Qr,
    /// The columns in the factor, in its order, and their x.
    passive: Vec<usize>,
    x: Vec<f64>,
    is_passive: Vec<bool>,
    /// Columns that led nowhere from this x.
    refused: Vec<bool>,
    /// Columns that fell when all were last looked at.
    candidates: Vec<usize>,
    iterations: usize,
    limit: Limit<'a>,
    /// Multiply-adds of full passes over A; the factor counts its own.
    work: u64,
    /// And those that the triangle of A would take, if A is tall.
    triangle_work: Option<u64>,
}

/// What a column is multiplied by, and its length then.
#[derive(Clone, Copy)]
struct Unit {
    exponent: i32,
    norm: f64,
    signed: bool,
}

impl Unit {
    fn of<C: Column>(column: C) -> Self {
        let extremes = column.extremes();
        if extremes.largest == 0.0 {
            return Self { exponent: 0, norm: 0.0, signed: false };
        }
        let exponent = exponent(extremes.largest).max(-1000);
        let norm = column.bounded_square(power_of_two(-exponent)).value.sqrt();
        Self { exponent, norm, signed: extremes.negative }
    }

    fn scale(self) -> f64 {
        power_of_two(-self.exponent)
    }

    /// A:ⱼᵀr in these units.
    fn product<C: Column>(self, column: C, r: &[f64]) -> f64 {
        if self.exponent.abs() < RANGE {
            return column.dot(r) * self.scale();
        }
        let scale = self.scale();
        column.bounded_sum(|i, a| (a * scale) * r[i]).value
    }
}

impl<'a, M: Columns> Exchange<'a, M> {
    fn new(a: &'a M, b: &[f64], limit: Limit<'a>) -> Self {
        let n = a.cols();
        let largest = b.iter().fold(0.0f64, |largest, v| largest.max(v.abs()));
        let b_exponent = if largest == 0.0 { 0 } else { exponent(largest) };
        let b: Vec<f64> = b.iter().map(|&v| ldexp(v, -b_exponent)).collect();
        let units = for_columns(a, |j| Unit::of(a.column(j)));
        let tall = TALL_COLUMNS.contains(&n) && a.rows() >= TALL * n && units.iter().all(|unit| unit.exponent.abs() < TALL_RANGE);
        Self {
            a,
            units,
            b_exponent,
            b_norm: dense_dot(&b, &b).sqrt(),
            factor: Qr::new(&b),
            b,
            passive: Vec::new(),
            x: Vec::new(),
            is_passive: vec![false; n],
            refused: vec![false; n],
            candidates: Vec::new(),
            iterations: 0,
            limit,
            work: 0,
            triangle_work: tall.then(|| Triangle::work(a.rows(), n)),
        }
    }

    fn run(mut self) -> Nnls {
        if self.a.nnz() > LARGE && self.units.len() >= TALL_COLUMNS.start && self.triangle_work.is_none() {
            self.start_from_scouted_support();
        }
        let finished = self.exchange();
        self.into_answer(finished)
    }

    /// Lets columns enter and leave until x is optimal; says whether it became so within the limit.
    fn exchange(&mut self) -> bool {
        let mut target = Vec::new();
        let mut within = self.settle(&mut target);
        while within {
            if self.triangle_work.is_some_and(|work| (self.work + self.factor.work) as f64 > PATIENCE * work as f64) {
                return self.exchange_in_triangle();
            }
            let Some(j) = self.steepest() else { break };
            if self.gives_up() {
                return false;
            }
            let (column, scale) = (self.a.column(j), self.units[j].scale());
            if !self.factor.push(|out| column.write_rows(0..out.len(), scale, out)) {
                self.refused[j] = true;
                continue;
            }
            self.iterations += 1;
            self.refused.fill(false);
            self.is_passive[j] = true;
            self.passive.push(j);
            self.x.push(0.0);
            within = self.settle(&mut target);
        }
        within
    }

    /// Does all that is left on R and Qᵀb, which have only as many rows as A has columns.
    fn exchange_in_triangle(&mut self) -> bool {
        let (a, n) = (self.a, self.a.cols());
        let Triangle { r, projection } = Triangle::new(n, &self.b, |j, out| a.column(j).write_rows(0..out.len(), 1.0, out));
        let Ok(small) = DenseMatrix::new(n, n, r) else { return false };
        let limit = Limit { iterations: self.limit.iterations - self.iterations, stop: self.limit.stop };
        let view = small.view();
        let mut inner = Exchange::new(&view, &projection, limit);
        inner.b_norm = ldexp(self.b_norm, -inner.b_exponent);
        let other_units =
            |(&j, &x): (&usize, &f64)| ldexp(x, inner.units[j].exponent - self.units[j].exponent - inner.b_exponent);
        let x = self.passive.iter().zip(&self.x).map(other_units).collect();
        inner.begin_with(std::mem::take(&mut self.passive), x);
        let finished = inner.exchange();
        self.x = inner.x.iter().map(|&x| ldexp(x, inner.b_exponent)).collect();
        (self.units, self.passive, self.factor) = (inner.units, inner.passive, inner.factor);
        self.iterations += inner.iterations;
        finished
    }

    fn gives_up(&self) -> bool {
        self.iterations >= self.limit.iterations || (self.limit.stop)()
    }

    /// Begins with the support that another method finds, if its columns are independent.
    fn start_from_scouted_support(&mut self) {
        if self.units.iter().any(|unit| unit.exponent.abs() >= RANGE) {
            return;
        }
        let scale: Vec<f64> = self.units.iter().map(|unit| unit.scale()).collect();
        let norm: Vec<f64> = self.units.iter().map(|unit| unit.norm * unit.norm).collect();
        let linear = for_columns(self.a, |j| self.units[j].product(self.a.column(j), &self.b));
        let signed = self.units.iter().any(|unit| unit.signed);
        let problem = Reduced::plain(self.a, &scale, &linear, &norm, signed);
        let too_long = |passes: f64, support: usize| passes > SCOUT_PASSES + support as f64 / SUPPORT_PER_PASS;
        let (enough, too_low, stop) = (&|_: &[f64]| false, f64::NEG_INFINITY, self.limit.stop);
        let orders = Orders { exact: true, close: CLOSE, enough, too_low, too_long: &too_long, stop };
        let (x, _) = scout::look(&problem, orders);

        let support = |k: &usize| x[*k] > 0.0;
        let passive = (0..x.len()).filter(support).map(|k| problem.columns[k]).collect();
        self.begin_with(passive, x.iter().copied().filter(|&x| x > 0.0).collect());
    }

    /// Begins with these columns, if they are independent.
    fn begin_with(&mut self, passive: Vec<usize>, x: Vec<f64>) {
        let m = self.a.rows();
        let mut columns = vec![0.0; m * passive.len()];
        for (out, &j) in columns.chunks_exact_mut(m).zip(&passive) {
            self.a.column(j).write_rows(0..m, self.units[j].scale(), out);
        }
        let Some(factor) = Qr::of(&self.b, &columns) else { return };
        passive.iter().for_each(|&j| self.is_passive[j] = true);
        (self.factor, self.passive, self.x) = (factor, passive, x);
    }

    /// The column along which ‖Ax − b‖ falls fastest, if one is left: among a few that fell when all were last looked at,
    /// then among all.
    fn steepest(&mut self) -> Option<usize> {
        let best = |slopes: &[(f64, usize)]| {
            let steepest = slopes.iter().copied().reduce(|best, other| if other.0 > best.0 { other } else { best });
            steepest.filter(|&(slope, _)| slope > 0.0).map(|(_, j)| j)
        };
        if !self.few_columns() {
            let slopes: Vec<(f64, usize)> = self.candidates.iter().map(|&j| (self.slope(j), j)).collect();
            if let Some(j) = best(&slopes) {
                return Some(j);
            }
        }
        self.work += self.a.nnz() as u64;
        let all = for_columns(self.a, |j| self.slope(j));
        let mut falling: Vec<(f64, usize)> = all.into_iter().zip(0..).filter(|&(slope, _)| slope > 0.0).collect();
        if falling.len() > CANDIDATES {
            falling.select_nth_unstable_by(CANDIDATES, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            falling.truncate(CANDIDATES);
        }
        self.candidates = falling.iter().map(|&(_, j)| j).collect();
        best(&falling)
    }

    /// How steeply ‖Ax − b‖² falls along a column; zero where that is rounding error, or the column is no candidate.
    fn slope(&self, j: usize) -> f64 {
        let unit = self.units[j];
        if self.is_passive[j] || self.refused[j] || unit.norm == 0.0 {
            return 0.0;
        }
        let slope = unit.product(self.a.column(j), &self.factor.residual);
        if slope <= NOISE * unit.norm * self.b_norm {
            return 0.0;
        }
        if self.few_columns() { ldexp(slope, unit.exponent) } else { slope / unit.norm }
    }

    /// Few columns enter in the order in which SciPy lets them in, so that a solution that is not unique is the same; many in
    /// an order that no units change, and that saves passes.
    fn few_columns(&self) -> bool {
        self.units.len() <= CANDIDATES
    }

    /// Goes to the least squares solution over the passive columns, or as far as x stays above zero; what becomes zero
    /// leaves, and on from there. Returns whether it arrived within the limit.
    fn settle(&mut self, target: &mut Vec<f64>) -> bool {
        loop {
            self.factor.solve(target);
            let reach = |p: usize| if target[p] > 0.0 { f64::INFINITY } else { self.x[p] / (self.x[p] - target[p]) };
            let length = (0..target.len()).map(reach).fold(f64::INFINITY, f64::min);
            if length == f64::INFINITY {
                std::mem::swap(&mut self.x, target);
                return true;
            }
            if self.gives_up() {
                return false;
            }
            let leaves: Vec<bool> = (0..target.len()).map(|p| reach(p) <= length).collect();
            for p in (0..leaves.len()).rev() {
                if leaves[p] {
                    self.iterations += 1;
                    self.factor.remove(p);
                    self.is_passive[self.passive.remove(p)] = false;
                    self.x.remove(p);
                    target.remove(p);
                } else {
                    self.x[p] += length * (target[p] - self.x[p]);
                }
            }
        }
    }

    fn into_answer(mut self, finished: bool) -> Nnls {
        let mut residual = self.residual();
        if finished && self.refine(&residual) {
            residual = self.residual();
        }
        // As many independent columns as rows reach b exactly; what is seen then is rounding.
        let reached = finished && self.passive.len() == residual.len();
        let norm = if reached { 0.0 } else { dense_dot(&residual, &residual).sqrt() };
        let mut x = vec![0.0; self.a.cols()];
        for (&j, &value) in self.passive.iter().zip(&self.x) {
            x[j] = ldexp(value, self.b_exponent - self.units[j].exponent).min(f64::MAX);
        }
        let finished = finished && x.iter().all(|&x| x < f64::MAX);
        Nnls { x, residual_norm: ldexp(norm, self.b_exponent), iterations: self.iterations, finished }
    }

    /// b − Ax, from the columns themselves.
    fn residual(&self) -> Vec<f64> {
        let mut residual = self.b.clone();
        for (&j, &value) in self.passive.iter().zip(&self.x) {
            self.a.column(j).add_to(self.units[j].scale(), -value, &mut residual);
        }
        residual
    }

    /// One step of iterative refinement; says whether x moved.
    fn refine(&mut self, residual: &[f64]) -> bool {
        let step = if self.factor.rows() == self.a.rows() {
            self.factor.solve_for(residual)
        } else {
            let product = |&j: &usize| self.units[j].product(self.a.column(j), residual);
            self.factor.solve_normal(&self.passive.iter().map(product).collect::<Vec<_>>())
        };
        let moves = self.x.iter().zip(&step).all(|(x, step)| x + step > 0.0 && step.abs() < *x);
        if moves {
            self.x.iter_mut().zip(&step).for_each(|(x, step)| *x += step);
        }
        moves
    }
}
