//! One problem whose x sums to one: the same method for one right-hand side, and its certificate for any x.

use std::ops::ControlFlow;
use std::time::Instant;

use super::ManyLeastSquares;
use super::blocks::{Fit, SUM_RANGE};
use super::exchange::{Exchange, Task};
use super::proof::Proof;
use super::shared::Shared;
use crate::certificate::{Certificate, UNIT};
use crate::error::Result;
use crate::matrix::{Column, Columns, DenseView, with_columns};
use crate::monitor::{Moment, Observer};
use crate::prepared::Problem;
use crate::problem::LeastSquares;
use crate::scaling::{ldexp, power_of_two, to_caller};
use crate::settings::{Method, Solver};
use crate::solution::{Seconds, Solution, Stats, Status};
use crate::trace::{Event, TraceRow};

/// How far from one the sum of an x may be that is to be certified, for each of its numbers.
const SUM_ERROR: f64 = 16.0 * UNIT;

impl<'a> ManyLeastSquares<'a> {
    /// The same problem for any b.
    fn of(problem: &LeastSquares<'a>) -> Self {
        let LeastSquares { matrix, l1, l2, weights, upper, sum_to_one, .. } = *problem;
        Self { matrix, l1, l2, weights, upper, sum_to_one }
    }
}

/// Solves a problem whose x sums to one, by the block active-set method in Gram space.
pub fn solve(solver: &Solver, problem: &LeastSquares, observe: Observer) -> Result<Solution> {
    let begin = Instant::now();
    let b = problem.rhs_for_sum()?;
    let many = solver.solve_many_problem(&ManyLeastSquares::of(problem), DenseView::new(b.len(), 1, b)?)?;
    let (solve, certify) = (many.seconds, Instant::now());
    let certificate = verify(problem, &many.x)?;
    let solved = certificate.relative_gap.is_some_and(|gap| gap <= solver.tolerance);
    let status = if solved { Status::Solved } else { many.columns[0].status };
    // The Gram matrix is most of the work.
    let passes = 0.5 * problem.matrix.cols() as f64 + 2.0;
    let total = begin.elapsed().as_secs_f64();
    let seconds = Seconds { presolve: 0.0, solve, certify: certify.elapsed().as_secs_f64(), total };
    let signed = with_columns!(problem.matrix, |a| (0..a.cols()).any(|j| a.column(j).extremes().negative));
    let row = TraceRow {
        passes,
        seconds: total,
        objective: certificate.objective,
        lower_bound: certificate.lower_bound,
        relative_gap: certificate.relative_gap,
        natural_residual: None,
        support: certificate.support,
        restarts: 0,
        event: Event::Final,
    };
    let status = if observe(&Moment::new(&row, &|| many.x.clone())) == ControlFlow::Break(()) && !solved {
        Status::Interrupted
    } else {
        status
    };
    let stats = Stats { method: Method::ActiveSet, batch_size: 1, passes, restarts: 0, dropped_columns: 0, signed, seconds };
    Ok(Solution { x: many.x, status, certificate, stats, trace: vec![row] })
}

/// Certifies an x that is within its bounds and sums to one.
pub fn verify(problem: &LeastSquares, x: &[f64]) -> Result<Certificate> {
    let sum: f64 = x.iter().sum();
    if (sum - 1.0).abs() > SUM_ERROR * x.len() as f64 {
        let (value, expected) = (sum.to_string(), "an x whose sum is one, to rounding");
        return Err(crate::Error::Setting { name: "sum_to_one", value, expected });
    }
    let b = problem.rhs_for_sum()?;
    let many = ManyLeastSquares::of(problem);
    let prepared = Problem::without_gram(problem.matrix, problem.weights, problem.l2)?;
    let shared = with_columns!(prepared.matrix(), |a| Shared::without_gram(a, &prepared, &many));
    let unit = -shared.exponent[0];
    let counts = |i: usize| shared.weights.as_ref().is_none_or(|w| w[i] > 0.0);
    let rhs: Vec<f64> = (0..b.len()).map(|i| if counts(i) { ldexp(b[i], -unit) } else { 0.0 }).collect();
    let l1: Vec<f64> = if problem.l1 == 0.0 {
        Vec::new()
    } else {
        shared.exponent.iter().map(|e| ldexp(problem.l1, e - unit - shared.weight)).collect()
    };
    let square = shared.square(&rhs);
    let mut linear = vec![0.0; x.len()];
    shared.products(&rhs, &mut linear);
    linear.iter_mut().zip(&l1).for_each(|(c, l1)| *c -= l1);
    let upper: Option<Vec<f64>> = problem.upper.is_finite().then(|| (0..x.len()).map(|j| problem.upper.at(j)).collect());
    let rhs_norm = shared.norm_high(square);
    let task =
        Task { shared: &shared, linear: &linear, l1: &l1, rhs_norm, upper: upper.as_deref(), sum_to_one: true, tolerance: 0.0 };
    let (mut exchange, mut residual) = (Exchange::at(x), Vec::new());
    let fit = Fit::of(&task, &exchange, &rhs, &mut residual);
    exchange.gradient_from(&task, &residual);
    let proof = Proof::of(&task, &exchange, Some(fit.square.sqrt()));
    let known = square < power_of_two(2 * SUM_RANGE);
    let found = fit.in_callers_units(&task, &proof, unit);
    let image = |i: usize| to_caller(rhs[i] - residual[i], unit).unwrap_or(0.0);
    Ok(Certificate {
        objective: found.objective.filter(|_| known),
        residual_norm: found.residual_norm.filter(|_| known),
        lower_bound: found.lower_bound.filter(|_| known),
        relative_gap: found.relative_gap.filter(|_| known),
        natural_residual: None,
        relative_residual: None,
        support: found.support,
        dual: if known { (0..b.len()).map(image).collect() } else { Vec::new() },
    })
}
