//! V ≈ WH with W, H ≥ 0: min ½‖V − WH‖² + λ₁(ΣW + ΣH) + ½λ₂(‖W‖² + ‖H‖²), one factor after the other.
//!
//! Half a step is many problems with one matrix. `Hals` brings each closer by a few sweeps over its coordinates ([`sweep`]);
//! `Exact` solves each to the end ([`solve_many`](crate::Solver::solve_many)). Between half steps of the first kind factors are
//! carried on along their last moves. Either way the objective never rises.

mod data;
mod start;
mod sweep;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::error::{Error, Result};
use crate::many::ManyLeastSquares;
use crate::matrix::kernels::dense_dot;
use crate::matrix::{AnyMatrix, DenseMatrix, MatrixRef};
use crate::settings::Solver;
use crate::solution::Status;
use crate::solve::in_threads;
use data::Data;

/// Sweeps after the first, for as many times the cost of what they start from (Gillis and Glineur 2012).
const SWEEPS_FOR_PRODUCTS: f64 = 0.5;

/// A projected gradient of this part of what it is made of is as good as none to start with.
const PERFECT: f64 = 1e-4;

/// Tolerance of the exact half steps.
const EXACT: f64 = 1e-11;

/// How each half step is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NmfMethod {
    /// A few sweeps over the coordinates.
    Hals,
    /// Exact non-negative least squares.
    Exact,
}

/// Where it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NmfStart {
    /// Singular vectors.
    Nndsvd,
    /// The same with zeros filled, so that no entry begins at its bound.
    Nndsvda,
    /// Random numbers.
    Random,
}

/// Settings of a factorisation.
///
/// ```
/// use nonneg::{DenseMatrix, Nmf};
///
/// let v = DenseMatrix::new(3, 3, vec![1.0, 2.0, 0.0, 2.0, 4.0, 0.0, 0.0, 0.0, 3.0])?;
/// let factors = Nmf::new(2).tolerance(1e-8).run(&v)?;
/// assert!(factors.residual_norm < 1e-4 && factors.w.iter().all(|&w| w >= 0.0));
/// # Ok::<(), nonneg::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Nmf {
    /// Columns of W.
    pub rank: usize,
    /// How each half step is taken.
    pub method: NmfMethod,
    /// Where it starts.
    pub start: NmfStart,
    /// It stops when the projected gradient has fallen to this part of what it was.
    pub tolerance: f64,
    /// Steps at most.
    pub max_iterations: usize,
    /// λ₁ ≥ 0.
    pub l1: f64,
    /// λ₂ ≥ 0.
    pub l2: f64,
    /// Of the starting point.
    pub seed: u64,
    /// After this time the factors so far come back.
    pub time_limit: Option<Duration>,
    /// All cores, unless set.
    pub threads: Option<usize>,
    /// Raised by who wants to stop.
    pub interrupt: Option<Arc<AtomicBool>>,
}

/// W and H, and what it took.
#[derive(Debug, Clone)]
pub struct Factors {
    /// m×k, row after row.
    pub w: Vec<f64>,
    /// k×n, column after column.
    pub h: Vec<f64>,
    /// ½‖V − WH‖² plus penalties.
    pub objective: f64,
    /// ‖V − WH‖.
    pub residual_norm: f64,
    /// The projected gradient, as a part of that at the start.
    pub violation: f64,
    /// Steps, each of both factors.
    pub iterations: usize,
    /// `Converged`, `PassLimit` (of steps), `TimeLimit` or `Interrupted`.
    pub status: Status,
    /// The objective after every step.
    pub trace: Vec<f64>,
    /// Wall-clock seconds.
    pub seconds: f64,
}

/// One step, as it happens.
#[derive(Debug, Clone, Copy)]
pub struct NmfStep {
    /// From 1.
    pub iteration: usize,
    /// As in [`Factors`].
    pub objective: f64,
    /// As in [`Factors`].
    pub violation: f64,
    /// Since the beginning.
    pub seconds: f64,
}

impl Nmf {
    /// The defaults: HALS from `Nndsvd`, to 1e-4, in 200 steps.
    pub fn new(rank: usize) -> Self {
        Self {
            rank,
            method: NmfMethod::Hals,
            start: NmfStart::Nndsvd,
            tolerance: 1e-4,
            max_iterations: 200,
            l1: 0.0,
            l2: 0.0,
            seed: 0,
            time_limit: None,
            threads: None,
            interrupt: None,
        }
    }

    /// Sets [`method`](Self::method).
    pub fn method(mut self, method: NmfMethod) -> Self {
        self.method = method;
        self
    }
    /// Sets [`start`](Self::start).
    pub fn start(mut self, start: NmfStart) -> Self {
        self.start = start;
        self
    }
    /// Sets [`tolerance`](Self::tolerance).
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }
    /// Sets [`max_iterations`](Self::max_iterations).
    pub fn max_iterations(mut self, steps: usize) -> Self {
        self.max_iterations = steps;
        self
    }

    fn validate(&self) -> Result<()> {
        let refuse = |name, value: String, expected| Err(Error::Setting { name, value, expected });
        if self.rank == 0 {
            return refuse("rank", "0".into(), "at least 1");
        }
        for (name, value) in [("tolerance", self.tolerance), ("l1", self.l1), ("l2", self.l2)] {
            if !(value >= 0.0 && value.is_finite()) {
                return refuse(name, value.to_string(), "a finite number ≥ 0");
            }
        }
        if self.threads == Some(0) {
            return refuse("threads", "0".into(), "at least 1");
        }
        Ok(())
    }

    /// Factors V ≥ 0.
    pub fn run<'a>(&self, v: impl Into<MatrixRef<'a>>) -> Result<Factors> {
        self.run_observed(v, &mut |_| ())
    }

    /// As [`run`](Self::run); `observe` sees every step.
    pub fn run_observed<'a>(&self, v: impl Into<MatrixRef<'a>>, observe: &mut (dyn FnMut(NmfStep) + Send)) -> Result<Factors> {
        self.validate()?;
        let v = v.into();
        let mut run = || {
            let begin = Instant::now();
            let data = Data::new(v)?;
            let (w, h) = match self.start {
                NmfStart::Nndsvda => start::nndsvd(&data, self.rank, self.seed, true),
                NmfStart::Nndsvd => start::nndsvd(&data, self.rank, self.seed, false),
                NmfStart::Random => start::random(&data, self.rank, self.seed),
            };
            Run { settings: self, data: &data, transposed: OnceLock::new(), begin }.alternate(w, h, observe)
        };
        match self.threads {
            None => run(),
            Some(threads) => in_threads(threads, run)?,
        }
    }

    /// H ≥ 0 for another V (k×n, column after column) with W (row after row) as it is: min ½‖V − WH‖² and penalties, exactly.
    pub fn transform<'a>(&self, v: impl Into<MatrixRef<'a>>, w: &[f64]) -> Result<Vec<f64>> {
        let v = v.into();
        let w = DenseMatrix::from_row_major(v.rows(), self.rank, w)?;
        let solver = Solver { threads: self.threads, ..Solver::new().tolerance(EXACT) };
        Ok(solver.solve_many_problem(&ManyLeastSquares::new(&w).l1(self.l1).l2(self.l2), v)?.x)
    }
}

/// A factorisation under way.
struct Run<'r> {
    settings: &'r Nmf,
    data: &'r Data,
    /// Vᵀ, where it is needed as a matrix.
    transposed: OnceLock<AnyMatrix>,
    begin: Instant,
}

/// Which factor moves.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    W,
    H,
}

impl Run<'_> {
    fn alternate(&self, w: Vec<f64>, h: Vec<f64>, observe: &mut dyn FnMut(NmfStep)) -> Result<Factors> {
        let (data, k, settings) = (self.data, self.settings.rank, self.settings);
        let square = data.square();
        let (mut for_w, mut for_h) = (vec![0.0; w.len()], vec![0.0; h.len()]);
        let (mut gram_w, mut gram_h) = (vec![0.0; k * k], vec![0.0; k * k]);
        let (mut first, mut violation, mut iterations, mut trace) = (0.0, 1.0, 0, Vec::new());
        let (mut fit, mut best) = (f64::NAN, f64::INFINITY);
        // (w, h) are the best factors. A step starts from w and from h carried on.
        let (mut w, mut h, mut from_h) = (w, h.clone(), h);
        // What half steps give, and what they gave before that was carried on.
        let (mut new_w, mut new_h) = (w.clone(), h.clone());
        let (mut plain_w, mut plain_h) = (w.clone(), h.clone());
        let mut far_w = w.clone();
        let mut momentum = Momentum::new(settings.method == NmfMethod::Hals);
        let status = loop {
            if let Some(status) = self.stopped(iterations, violation) {
                break status;
            }
            gram(&from_h, k, &mut gram_h);
            data.times(&from_h, k, &mut for_w);
            new_w.copy_from_slice(&w);
            let left = self.half_step(Side::W, &gram_h, &for_w, &from_h, &mut new_w)?;
            momentum.carry(&new_w, &plain_w, &mut far_w);
            gram(&far_w, k, &mut gram_w);
            data.transposed_times(&far_w, k, &mut for_h);
            new_h.copy_from_slice(&from_h);
            let right = self.half_step(Side::H, &gram_w, &for_h, &far_w, &mut new_h)?;
            gram(&new_h, k, &mut gram_h);

            iterations += 1;
            // ‖V − WH‖² = ‖V‖² − 2⟨VᵀW, Hᵀ⟩ + ⟨WᵀW, HHᵀ⟩.
            let new_fit = (square - 2.0 * dense_dot(&for_h, &new_h) + dense_dot(&gram_w, &gram_h)).max(0.0);
            let sums = |factor: &[f64]| factor.iter().sum::<f64>();
            let squares: f64 = (0..k).map(|p| gram_w[p * k + p] + gram_h[p * k + p]).sum();
            let objective = 0.5 * new_fit + settings.l1 * (sums(&far_w) + sums(&new_h)) + 0.5 * settings.l2 * squares;
            if momentum.accepts(objective <= best) {
                momentum.carry(&new_h, &plain_h, &mut from_h);
                h.copy_from_slice(&new_h);
                std::mem::swap(&mut w, &mut far_w);
                std::mem::swap(&mut plain_w, &mut new_w);
                std::mem::swap(&mut plain_h, &mut new_h);
                (fit, best) = (new_fit, objective.min(best));
            } else {
                from_h.copy_from_slice(&h);
                plain_w.copy_from_slice(&w);
                plain_h.copy_from_slice(&h);
            }
            if iterations == 1 {
                // A start may be all but perfect: then what is left is measured by what the gradient is made of.
                first = (left + right).max(PERFECT * (sums(&for_w) + sums(&for_h)));
            }
            violation = if first > 0.0 { (left + right) / first } else { 0.0 };
            trace.push(best);
            observe(NmfStep { iteration: iterations, objective: best, violation, seconds: self.begin.elapsed().as_secs_f64() });
        };
        let seconds = self.begin.elapsed().as_secs_f64();
        Ok(Factors { w, h, objective: best, residual_norm: fit.sqrt(), violation, iterations, status, trace, seconds })
    }

    fn stopped(&self, iterations: usize, violation: f64) -> Option<Status> {
        let settings = self.settings;
        if iterations == 0 {
            return None; // there is always something to return
        }
        if violation <= settings.tolerance {
            return Some(Status::Converged);
        }
        if settings.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Status::Interrupted);
        }
        if settings.time_limit.is_some_and(|limit| self.begin.elapsed() >= limit) {
            return Some(Status::TimeLimit);
        }
        (iterations >= settings.max_iterations).then_some(Status::PassLimit)
    }

    /// Moves one factor, given the other, its Gram matrix, and V times it; returns how far from optimal it was.
    fn half_step(&self, side: Side, gram: &[f64], products: &[f64], other: &[f64], factor: &mut [f64]) -> Result<f64> {
        let (k, settings) = (self.settings.rank, self.settings);
        let rows = factor.len() / k;
        let ratio = self.data.nnz() as f64 / (rows * k) as f64;
        let sweeps = 1 + (SWEEPS_FOR_PRODUCTS * ratio) as usize;
        let fixed = sweep::Fixed::new(gram, k, (settings.l1, settings.l2), sweeps);
        if settings.method == NmfMethod::Hals {
            return Ok(fixed.improve(factor, products));
        }
        let violation = fixed.violation(factor, products);
        let other = DenseMatrix::from_row_major(other.len() / k, k, other)?;
        let solver = Solver::new().tolerance(EXACT);
        let problem = ManyLeastSquares::new(&other).l1(settings.l1).l2(settings.l2);
        let v = match side {
            Side::H => self.data.view(),
            Side::W => match self.transposed.get() {
                Some(known) => known.view(),
                None => {
                    let made = self.data.transposed()?;
                    self.transposed.get_or_init(|| made).view()
                }
            },
        };
        factor.copy_from_slice(&solver.solve_many_problem(&problem, v)?.x);
        Ok(violation)
    }
}

/// How far a factor is carried on along its last move (Ang and Gillis 2019): further while the objective falls, not at all after it
/// rose, and then with more care.
struct Momentum {
    now: f64,
    limit: f64,
    /// The next step is plain.
    resting: bool,
}

impl Momentum {
    const FIRST: f64 = 0.5;
    const GROWTH: f64 = 1.05;
    const LIMIT_GROWTH: f64 = 1.01;
    const SHRINKAGE: f64 = 1.5;

    fn new(on: bool) -> Self {
        let now = if on { Self::FIRST } else { 0.0 };
        Self { now, limit: if on { 1.0 } else { 0.0 }, resting: false }
    }

    /// max(0, new + β(new − old)).
    fn carry(&self, new: &[f64], old: &[f64], out: &mut [f64]) {
        let share = if self.resting { 0.0 } else { self.now };
        for (out, (new, old)) in out.iter_mut().zip(new.iter().zip(old)) {
            *out = (new + share * (new - old)).max(0.0);
        }
    }

    /// Notes whether the objective fell; a plain step, which only rounding can keep from falling, is always accepted.
    fn accepts(&mut self, fell: bool) -> bool {
        if fell || self.resting || self.now == 0.0 {
            if !self.resting {
                self.limit = (self.limit * Self::LIMIT_GROWTH).min(1.0);
                self.now = (self.now * Self::GROWTH).min(self.limit);
            }
            self.resting = false;
            return true;
        }
        self.limit = self.now;
        self.now /= Self::SHRINKAGE;
        self.resting = true;
        false
    }
}

/// FᵀF for a factor by rows.
fn gram(factor: &[f64], k: usize, out: &mut [f64]) {
    let factor = MatRef::from_row_major_slice(factor, factor.len() / k, k);
    let out = MatMut::from_column_major_slice_mut(out, k, k);
    matmul(out, Accum::Replace, factor.transpose(), factor, 1.0, Par::Seq);
}
