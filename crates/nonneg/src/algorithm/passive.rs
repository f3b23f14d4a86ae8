//! What the exact methods share: the columns that may be positive, with the Cholesky factor of their H = AᵀWA + λ₂I.

use rayon::prelude::*;

use super::Monitor;
use crate::linalg::{Cholesky, PIVOT};
use crate::matrix::{Column, Columns, per_task};
use crate::presolve::Reduced;

/// A slope this small beside the linear term is rounding error: no reason to let a column in.
const NOISE: f64 = 4.0 * f64::EPSILON;

/// A slope along a dependence of columns that is this large beside the linear terms in it is no rounding error.
const SIGNIFICANT: f64 = 1e-10;

/// Columns that enter the factor together.
const BLOCK: usize = 64;

/// Where entries of H and gradients come from.
pub trait Hessian {
    /// ∇f(x) = Hx − c.
    fn gradient(&mut self, x: &[f64]) -> Vec<f64>;
    /// H[among, k].
    fn column(&mut self, k: usize, among: &[usize]) -> Vec<f64>;
    /// cₖ.
    fn linear(&self, k: usize) -> f64;
    /// Multiply-adds since the last call.
    fn take_work(&mut self) -> u64;
}

/// H as the columns of A give it.
pub struct FromColumns<'p, M: Columns> {
    /// The problem.
    pub problem: &'p Reduced<'p, M>,
    /// One column, spread over all rows while it is in use, zero otherwise.
    spread: Vec<f64>,
    work: u64,
}

impl<'p, M: Columns> FromColumns<'p, M> {
    /// Of this problem.
    pub fn new(problem: &'p Reduced<'p, M>) -> Self {
        Self { problem, spread: vec![0.0; problem.matrix.rows()], work: 0 }
    }

    /// HPPv for the columns P in `among`: two products with A.
    pub fn apply(&mut self, among: &[usize], v: &[f64]) -> Vec<f64> {
        let problem = self.problem;
        let mut all = vec![0.0; problem.len()];
        for (&k, &value) in among.iter().zip(v) {
            all[k] = value;
        }
        let image = self.weighted_image(&all);
        self.work += entries(problem, among);
        in_parallel(problem, among.len(), |p| {
            let k = among[p];
            problem.scale[k] * problem.column(k).dot(&image) + problem.ridge(k) * v[p]
        })
    }

    /// WAx.
    fn weighted_image(&mut self, x: &[f64]) -> Vec<f64> {
        self.work += self.problem.support_work(x);
        self.problem.weigh(self.problem.multiply(x))
    }
}

impl<M: Columns> Hessian for FromColumns<'_, M> {
    fn gradient(&mut self, x: &[f64]) -> Vec<f64> {
        let image = self.weighted_image(x);
        let problem = self.problem;
        self.work += (0..problem.len()).map(|k| problem.column_len(k) as u64).sum::<u64>();
        in_parallel(problem, problem.len(), |k| {
            problem.scale[k] * problem.column(k).dot(&image) - problem.linear[k] + problem.ridge(k) * x[k]
        })
    }

    fn column(&mut self, k: usize, among: &[usize]) -> Vec<f64> {
        let (problem, spread) = (self.problem, &mut self.spread);
        let (column, scale) = (problem.column(k), problem.scale[k]);
        column.for_each(|i, a| {
            let weight = problem.weights.as_ref().map_or(1.0, |w| w[i]);
            spread[i] = if weight == 0.0 { 0.0 } else { (a * scale) * weight };
        });
        let spread = &*spread;
        let products = in_parallel(problem, among.len(), |p| {
            let j = among[p];
            problem.scale[j] * problem.column(j).dot(spread) + if j == k { problem.ridge(k) } else { 0.0 }
        });
        self.work += entries(problem, among);
        column.for_each(|i, _| self.spread[i] = 0.0);
        products
    }

    fn linear(&self, k: usize) -> f64 {
        self.problem.linear[k]
    }

    fn take_work(&mut self) -> u64 {
        std::mem::take(&mut self.work)
    }
}

fn entries<M: Columns>(problem: &Reduced<M>, among: &[usize]) -> u64 {
    among.iter().map(|&k| problem.column_len(k) as u64).sum()
}

/// `f(p)` for p < count, where each costs about one column.
fn in_parallel<M: Columns>(problem: &Reduced<M>, count: usize, f: impl Fn(usize) -> f64 + Sync + Send) -> Vec<f64> {
    (0..count).into_par_iter().with_min_len(per_task(problem.matrix.cols(), problem.matrix.nnz())).map(f).collect()
}

/// The columns that may be positive (the passive set of Lawson and Hanson), in the order of their factor.
#[derive(Debug, Clone, Default)]
pub struct PassiveSet {
    /// The variables.
    pub order: Vec<usize>,
    factor: Cholesky,
}

impl PassiveSet {
    /// Adds variables; returns those that are refused because they depend on the others. When time runs out it adds no more.
    pub fn add(&mut self, hessian: &mut dyn Hessian, new: &[usize], monitor: &mut dyn Monitor) -> Vec<usize> {
        let mut refused = Vec::new();
        for block in new.chunks(BLOCK) {
            self.add_block(hessian, block.to_vec(), &mut refused);
            monitor.spend(hessian.take_work() + self.factor.work());
            if monitor.out_of_time() {
                break;
            }
        }
        refused
    }

    fn add_block(&mut self, hessian: &mut dyn Hessian, mut block: Vec<usize>, refused: &mut Vec<usize>) {
        let mut known = self.order.len();
        let mut columns = self.block_columns(hessian, &block);
        while !block.is_empty() {
            let cross: Vec<f64> = columns.iter().flat_map(|column| &column[..known]).copied().collect();
            let corner: Vec<f64> = columns.iter().flat_map(|column| &column[known..]).copied().collect();
            let outcome = self.factor.extend(&cross, &corner, block.len());
            let appended = outcome.err().map_or(block.len(), |dependent| dependent.appended);
            self.order.extend(block.drain(..appended));
            columns.drain(..appended);
            known += appended;
            if outcome.is_err() {
                // A refused variable leaves with its column and its row.
                refused.push(block.remove(0));
                columns.remove(0);
                columns.iter_mut().for_each(|column| {
                    column.remove(known);
                });
            }
        }
    }

    /// H[passive and block, k] for each k of the block.
    fn block_columns(&self, hessian: &mut dyn Hessian, block: &[usize]) -> Vec<Vec<f64>> {
        let mut columns: Vec<Vec<f64>> = Vec::with_capacity(block.len());
        let known = self.order.len();
        for (i, &k) in block.iter().enumerate() {
            let rows: Vec<usize> = self.order.iter().chain(&block[i..]).copied().collect();
            let mut column = hessian.column(k, &rows);
            // Above the diagonal H is what it is below.
            let lower = column.split_off(known);
            column.extend(columns.iter().map(|earlier| earlier[known + i]));
            column.extend(lower);
            columns.push(column);
        }
        columns
    }

    /// Lets one variable in and goes down as far as it leads. Returns whether x moved.
    pub fn enter(
        &mut self,
        hessian: &mut dyn Hessian,
        x: &mut [f64],
        gradient: &[f64],
        entering: usize,
        monitor: &mut dyn Monitor,
    ) -> bool {
        if self.add(hessian, &[entering], monitor).is_empty() {
            return self.descend(x, gradient, Some(entering));
        }
        if !self.trade(hessian, x, gradient, entering, monitor) {
            return false;
        }
        let gradient = hessian.gradient(x);
        self.descend(x, &gradient, None);
        true
    }

    /// Lets in a variable that depends on the passive ones: it grows at their expense, while Ax stays, until one of them is
    /// zero and leaves. Not if what f gains (with a given c it can) is less than what rounding may hide.
    ///
    /// If nothing ends this f is unbounded, or the dependence is not quite exact: x goes as far as f surely falls, and the
    /// variable stays outside.
    fn trade(
        &mut self,
        hessian: &mut dyn Hessian,
        x: &mut [f64],
        gradient: &[f64],
        entering: usize,
        monitor: &mut dyn Monitor,
    ) -> bool {
        let rows: Vec<usize> = self.order.iter().copied().chain([entering]).collect();
        let mut column = hessian.column(entering, &rows);
        let Some(curvature) = column.pop() else { return false };
        let shares = self.solve(column);
        let slope = gradient[entering] - self.order.iter().zip(&shares).map(|(&k, share)| gradient[k] * share).sum::<f64>();
        let hidden = PIVOT * curvature;
        let reach = |(&k, &share): (&usize, &f64)| if share > 0.0 { x[k] / share } else { f64::INFINITY };
        let reaches: Vec<f64> = self.order.iter().zip(&shares).map(reach).collect();
        let length = reaches.iter().copied().fold(f64::INFINITY, f64::min);
        if length == f64::INFINITY {
            let size: f64 = self.order.iter().zip(&shares).map(|(&k, share)| (share * hessian.linear(k)).abs()).sum();
            if -slope <= SIGNIFICANT * (hessian.linear(entering).abs() + size) {
                return false;
            }
            let length = -slope / hidden;
            self.order.iter().zip(&shares).for_each(|(&k, share)| x[k] -= length * share);
            x[entering] += length;
            return true;
        }
        if slope.is_nan() || -slope <= 0.5 * length * hidden || length <= 0.0 {
            return false;
        }
        let before = x.to_vec();
        for (p, &k) in self.order.iter().enumerate() {
            x[k] = if reaches[p] <= length { 0.0 } else { (x[k] - length * shares[p]).max(0.0) };
        }
        let leaving: Vec<usize> = self.order.iter().copied().filter(|&k| x[k] == 0.0).collect();
        self.remove(|k| x[k] == 0.0);
        if self.add(hessian, &[entering], monitor).is_empty() {
            x[entering] += length;
            return true;
        }
        // Still dependent, by rounding.
        x.copy_from_slice(&before);
        self.add(hessian, &leaving, monitor);
        false
    }

    /// Removes the variables that `leaves` names.
    pub fn remove(&mut self, leaves: impl Fn(usize) -> bool) {
        let positions: Vec<usize> = (0..self.order.len()).filter(|&p| leaves(self.order[p])).collect();
        self.factor.remove(&positions);
        self.order.retain(|&k| !leaves(k));
    }

    /// H⁻¹r over the passive variables.
    pub fn solve(&self, mut r: Vec<f64>) -> Vec<f64> {
        self.factor.solve(&mut r);
        r
    }

    /// Multiply-adds since the last call.
    pub fn take_work(&mut self) -> u64 {
        self.factor.work()
    }

    /// From x, zero outside the passive set, to the minimiser over the passive variables if that is positive. Otherwise as
    /// far as x stays nonnegative; what becomes zero leaves, and again from there. f never rises. Returns whether x moved.
    ///
    /// An entering variable that would go below zero at once leaves before anything moves.
    pub fn descend(&mut self, x: &mut [f64], gradient: &[f64], entering: Option<usize>) -> bool {
        let (mut share, mut moved) = (1.0, false);
        while !self.order.is_empty() {
            // On the way the passive part of the gradient shrinks in proportion: no need to form it again.
            let step = self.solve(self.order.iter().map(|&k| -share * gradient[k]).collect());
            if let Some(k) = entering.filter(|_| !moved)
                && !self.order.iter().zip(&step).all(|(&other, &step)| other != k || step > 0.0)
            {
                self.remove(|other| other == k);
                return false;
            }
            if !step.iter().all(|step| step.is_finite()) {
                return moved;
            }
            // How far each variable lets x go: to its zero, if that comes before the minimiser.
            let reach = |(&k, &step): (&usize, &f64)| if x[k] + step > 0.0 { f64::INFINITY } else { x[k] / -step };
            let reaches: Vec<f64> = self.order.iter().zip(&step).map(reach).collect();
            let first = reaches.iter().copied().fold(f64::INFINITY, f64::min);
            let (full, fraction) = (first == f64::INFINITY, first.min(1.0));
            for (p, &k) in self.order.iter().enumerate() {
                let next = if reaches[p] <= fraction { 0.0 } else { (x[k] + fraction * step[p]).max(0.0) };
                moved |= next != x[k];
                x[k] = next;
            }
            if full {
                break;
            }
            share *= 1.0 - fraction;
            self.remove(|k| x[k] == 0.0);
        }
        moved
    }
}

/// Variables that f falls along, the steepest first in units of their own.
pub fn violators<M: Columns>(problem: &Reduced<M>, gradient: &[f64], allowed: impl Fn(usize) -> bool) -> Vec<usize> {
    let violates = |k: usize| -gradient[k] > NOISE * problem.linear[k].abs();
    let mut found: Vec<usize> = (0..problem.len()).filter(|&k| violates(k) && allowed(k)).collect();
    found.sort_by(|&j, &k| steepness(problem, gradient, k).total_cmp(&steepness(problem, gradient, j)));
    found
}

/// The first of [`violators`].
pub fn worst_violator<M: Columns>(problem: &Reduced<M>, gradient: &[f64], allowed: impl Fn(usize) -> bool) -> Option<usize> {
    let violates = |k: usize| -gradient[k] > NOISE * problem.linear[k].abs();
    let steepness = |k: usize| steepness(problem, gradient, k);
    let steeper = |best: usize, k: usize| if steepness(k) > steepness(best) { k } else { best };
    (0..problem.len()).filter(|&k| violates(k) && allowed(k)).reduce(steeper)
}

fn steepness<M: Columns>(problem: &Reduced<M>, gradient: &[f64], k: usize) -> f64 {
    -gradient[k] / problem.curvature(k).sqrt()
}

/// f(x) = ½xᵀ(∇f(x) − c).
pub fn objective<M: Columns>(problem: &Reduced<M>, x: &[f64], gradient: &[f64]) -> f64 {
    0.5 * (0..x.len()).filter(|&k| x[k] != 0.0).map(|k| x[k] * (gradient[k] - problem.linear[k])).sum::<f64>()
}

/// When an exact method has nothing left to gain but rounding errors.
pub struct Progress {
    objective: f64,
    idle: usize,
    residual: f64,
    rounds: usize,
}

impl Progress {
    /// Relative fall of f below which it is rounding error.
    const FALL: f64 = 1e-15;
    /// Moves without a fall of f.
    const IDLE: usize = 10;
    /// Rounds of refinement without a smaller residual.
    const ROUNDS: usize = 3;

    /// Before the first move.
    pub fn new() -> Self {
        Self { objective: f64::INFINITY, idle: 0, residual: f64::INFINITY, rounds: 0 }
    }

    /// Notes f after a move; whether f has stopped falling.
    pub fn idle(&mut self, objective: f64) -> bool {
        self.idle = if objective < self.objective - Self::FALL * objective.abs() { 0 } else { self.idle + 1 };
        self.objective = self.objective.min(objective);
        self.idle >= Self::IDLE
    }

    /// Notes the residual where no column violates its condition; whether refining has stopped paying.
    pub fn refined(&mut self, residual: f64) -> bool {
        self.rounds = if residual < 0.5 * self.residual { 0 } else { self.rounds + 1 };
        self.residual = self.residual.min(residual);
        self.rounds >= Self::ROUNDS
    }
}
