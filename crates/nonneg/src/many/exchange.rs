//! One right-hand side by exchanges in Gram space: min ½xᵀGx − cᵀx over 0 ≤ x ≤ ℓ, with or without Σx = 1.
//!
//! As Lawson and Hanson's method: a set of columns between their bounds (the passive ones) with the Cholesky factor of their
//! part of G; the steepest column enters, x goes to the minimiser over the passive ones or as far as the bounds allow, what
//! meets a bound leaves. f falls with every move, so that no set comes twice. It begins with the set of the last right-hand
//! side, and ends with the first x that is proved to be good enough.
//!
//! With Σx = 1, steps d have Σd = 0, so that adding σ11ᵀ to G changes nothing but the factor, which then exists for columns that
//! are dependent but not affinely so (a column of zeros, say).

use super::patterns::Patterns;
use super::proof::{Proof, cap};
use super::shared::Shared;
use crate::certificate::UNIT;
use crate::linalg::{PIVOT, Packed};
use crate::matrix::kernels::add_columns;

/// A slope A:ⱼᵀ(Ax − b) of this part of ‖A:ⱼ‖(‖Ax‖ + ‖b‖) is rounding error.
const NOISE: f64 = 8.0 * UNIT;

/// Moves that gain nothing: x is as good as rounding allows.
const IDLE: usize = 3;

/// Exchanges for each column, and at least so many: more than the method ever takes.
const EXCHANGES: usize = 10;
const LEAST_EXCHANGES: usize = 100;

/// σ, in units in which the longest column is about one.
const SHIFT: f64 = 1.0;

/// Which problem it is.
pub struct Task<'t> {
    pub shared: &'t Shared,
    /// c = AᵀWb − λ₁.
    pub linear: &'t [f64],
    /// λ₁ of each column; empty if it is zero.
    pub l1: &'t [f64],
    /// ‖b‖_W, rounded up.
    pub rhs_norm: f64,
    /// ℓ, if there are upper bounds.
    pub upper: Option<&'t [f64]>,
    /// Σx = 1.
    pub sum_to_one: bool,
    pub tolerance: f64,
}

impl Task<'_> {
    #[inline]
    pub fn upper(&self, j: usize) -> f64 {
        self.upper.map_or(f64::INFINITY, |upper| upper[j])
    }

    /// λ₁ of column j.
    #[inline]
    pub fn l1(&self, j: usize) -> f64 {
        if self.l1.is_empty() { 0.0 } else { self.l1[j] }
    }

    fn shift(&self) -> f64 {
        if self.sum_to_one { SHIFT } else { 0.0 }
    }
}

/// Where x is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Zero,
    Between,
    Upper,
}

/// The method's memory, kept from one right-hand side to the next.
#[derive(Default)]
pub struct Exchange {
    pub x: Vec<f64>,
    /// ∇f(x).
    pub gradient: Vec<f64>,
    place: Vec<Place>,
    /// The columns between their bounds, in the order of their factor.
    passive: Vec<usize>,
    /// Those at their upper bounds.
    upper: Vec<usize>,
    factor: Packed,
    /// Sets of right-hand sides before the last.
    patterns: Patterns,
    rotations: Vec<(f64, f64)>,
    /// Columns that led nowhere from this x.
    refused: Vec<bool>,
    /// A step of the passive variables, and G⁻¹1 where x has a sum.
    step: Vec<f64>,
    ones: Vec<f64>,
}

impl Exchange {
    /// For n columns.
    pub fn new(n: usize) -> Self {
        Self { x: vec![0.0; n], gradient: vec![0.0; n], place: vec![Place::Zero; n], refused: vec![false; n], ..Self::default() }
    }

    /// At this x, for its proof alone.
    pub fn at(x: &[f64]) -> Self {
        let upper = (0..x.len()).filter(|&j| x[j] != 0.0).collect();
        Self { x: x.to_vec(), gradient: vec![0.0; x.len()], upper, ..Self::default() }
    }

    /// ∇f(x) from b − Ax.
    pub fn gradient_from(&mut self, task: &Task, residual: &[f64]) {
        task.shared.products(residual, &mut self.gradient);
        for j in 0..self.x.len() {
            self.gradient[j] = task.shared.ridge(j) * self.x[j] + task.l1(j) - self.gradient[j];
        }
    }

    /// Forgets all right-hand sides: the next one begins with no columns.
    pub fn forget(&mut self) {
        self.patterns.clear();
        self.let_go();
    }

    /// No columns between their bounds.
    fn let_go(&mut self) {
        self.passive.clear();
        self.upper.clear();
        self.factor.clear();
        self.place.fill(Place::Zero);
    }

    #[cfg(test)]
    pub fn patterns(&self) -> &Patterns {
        &self.patterns
    }

    /// Columns that may be above zero.
    pub fn support(&self) -> impl Iterator<Item = usize> + '_ {
        self.passive.iter().chain(&self.upper).copied()
    }

    /// Leaves x and its proof.
    pub fn solve(&mut self, task: &Task) -> Proof {
        self.begin(task);
        let limit = (EXCHANGES * self.x.len()).max(LEAST_EXCHANGES);
        let (mut best, mut idle) = (f64::INFINITY, 0);
        for exchange in 0..limit {
            let size = self.fill_gradient(task);
            let objective = self.objective(task);
            idle = if objective < best { 0 } else { idle + 1 };
            best = best.min(objective);
            self.refused.fill(false);
            let steepest = self.steepest(task, size);
            // A proof takes longer than to see that there is none.
            let far = idle == 0 && steepest.is_some_and(|j| self.worth(task, j) > task.tolerance * objective.abs());
            let proof = (!far).then(|| Proof::of(task, self, None));
            if let Some(proof) = proof.filter(|proof| proof.shows(task.tolerance) || idle >= IDLE) {
                self.patterns.keep(&self.passive, &self.factor, exchange == 0);
                return proof;
            }
            if !self.go(task, size, steepest) {
                return proof.unwrap_or_else(|| Proof::of(task, self, None));
            }
        }
        self.fill_gradient(task);
        Proof::of(task, self, None)
    }

    /// To the best minimiser over a set of an earlier right-hand side; whether there is one.
    fn begin_with_pattern(&mut self, task: &Task) -> bool {
        let Some((columns, factor, x)) = self.patterns.best(task) else { return false };
        for &j in &self.passive {
            self.place[j] = Place::Zero;
        }
        self.passive.clear();
        self.passive.extend_from_slice(columns);
        self.factor.copy_from(factor);
        for (&j, &x) in columns.iter().zip(x) {
            self.x[j] = x;
            self.place[j] = Place::Between;
        }
        true
    }

    /// f(x), from its gradient.
    fn objective(&self, task: &Task) -> f64 {
        0.5 * self.support().map(|j| self.x[j] * (self.gradient[j] - task.linear[j])).sum::<f64>()
    }

    /// At least this much of the gap is due to column j.
    fn worth(&self, task: &Task, j: usize) -> f64 {
        if task.sum_to_one {
            return 0.0; // what it is measured by differs
        }
        let reach = if self.place[j] == Place::Upper { self.x[j] } else { cap(task, j, 0.0) };
        reach * self.gradient[j].abs()
    }

    /// Lets a column in, or refines what is there, by a gradient that was given; whether x moved. `size` is that of what the
    /// gradient is made of.
    pub fn improve(&mut self, task: &Task, size: f64) -> bool {
        self.refused.fill(false);
        let steepest = self.steepest(task, size);
        self.go(task, size, steepest)
    }

    fn go(&mut self, task: &Task, size: f64, mut entering: Option<usize>) -> bool {
        while let Some(j) = entering {
            if self.enter(task, j) && self.descend(task, Some(j)) {
                return true;
            }
            self.refused[j] = true;
            entering = self.steepest(task, size);
        }
        self.descend(task, None)
    }

    /// An x within the bounds, over the columns of the last right-hand side as far as they stay positive.
    fn begin(&mut self, task: &Task) {
        let bounded = task.upper.is_some();
        self.x.fill(0.0);
        for j in self.upper.drain(..) {
            self.place[j] = Place::Zero;
        }
        if task.sum_to_one && (bounded || self.passive.is_empty()) {
            self.let_go();
            return self.fill_up(task);
        }
        if self.begin_with_pattern(task) {
            return;
        }
        while !self.passive.is_empty() {
            // From zero, where the gradient is −c.
            self.step.clear();
            self.step.extend(self.passive.iter().map(|&j| task.linear[j]));
            self.factor.solve(&mut self.step);
            if task.sum_to_one {
                self.add_multiple_of_ones(1.0);
            }
            let mut kept = true;
            for p in (0..self.passive.len()).rev() {
                if self.step[p].is_nan() || self.step[p] <= 0.0 {
                    kept = false;
                    self.leave(p, Place::Zero);
                }
            }
            if kept {
                for (p, &j) in self.passive.iter().enumerate() {
                    self.x[j] = self.step[p];
                }
                break;
            }
        }
        if task.sum_to_one && self.passive.is_empty() {
            return self.fill_up(task);
        }
        if bounded {
            for p in (0..self.passive.len()).rev() {
                let j = self.passive[p];
                if self.x[j] >= task.upper(j) {
                    self.x[j] = task.upper(j);
                    self.leave(p, Place::Upper);
                }
            }
        }
    }

    /// Σx = 1 from nothing: the best single columns, each as far as it may go.
    fn fill_up(&mut self, task: &Task) {
        let mut left = 1.0;
        while left > 0.0 {
            let worth = |j: usize| task.linear[j] - 0.5 * task.shared.diagonal(j);
            let free = (0..self.x.len()).filter(|&j| self.place[j] == Place::Zero && task.upper(j) > 0.0);
            let Some(j) = free.reduce(|best, j| if worth(j) > worth(best) { j } else { best }) else { return };
            if task.upper(j) <= left {
                self.x[j] = task.upper(j);
                self.place[j] = Place::Upper;
                self.upper.push(j);
                left -= self.x[j];
            } else {
                self.x[j] = left;
                self.enter(task, j);
                return;
            }
        }
    }

    /// ∇f(x) = Gx − c; returns Σ ‖xⱼA:ⱼ‖ + ‖b‖, the size of what it is made of.
    fn fill_gradient(&mut self, task: &Task) -> f64 {
        let shared = task.shared;
        self.gradient.iter_mut().zip(task.linear).for_each(|(g, c)| *g = -c);
        let support = || self.passive.iter().chain(&self.upper);
        add_columns(support().map(|&j| (self.x[j], shared.gram_column(j))), &mut self.gradient);
        support().fold(task.rhs_norm, |size, &j| size + self.x[j] * shared.root[j])
    }

    /// The column along which f falls fastest, in its own units, if one is left.
    fn steepest(&self, task: &Task, size: f64) -> Option<usize> {
        // Where x has a sum, what counts is the difference to the columns that would make way.
        let level = if task.sum_to_one { self.level() } else { 0.0 };
        let mut best = (0.0, None);
        for (j, (&slope, &root)) in self.gradient.iter().zip(&task.shared.root).enumerate() {
            let fall = if self.place[j] == Place::Upper { slope - level } else { level - slope };
            // Most columns end here.
            let (noise, unit) = if task.sum_to_one { (NOISE * size * (1.0 + root), 1.0) } else { (NOISE * size * root, root) };
            if fall <= noise || fall <= best.0 * unit {
                continue;
            }
            if self.place[j] != Place::Between && !self.refused[j] && task.upper(j) > 0.0 {
                best = (fall / unit, Some(j));
            }
        }
        best.1
    }

    /// The gradient that passive columns share where x has a sum; without any, that of the column at its bound that would
    /// rather be lower.
    fn level(&self) -> f64 {
        let (mut sum, mut weight) = (0.0, 0.0);
        for &j in &self.passive {
            sum += self.x[j] * self.gradient[j];
            weight += self.x[j];
        }
        if weight > 0.0 {
            return sum / weight;
        }
        self.upper.iter().map(|&j| self.gradient[j]).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Makes a column passive, if it does not depend on those that are.
    fn enter(&mut self, task: &Task, j: usize) -> bool {
        let (column, shift) = (task.shared.gram_column(j), task.shift());
        let cross = self.passive.iter().map(|&k| column[k] + shift);
        if !self.factor.extend(cross, column[j] + shift, PIVOT) {
            return false;
        }
        self.passive.push(j);
        if self.place[j] == Place::Upper {
            self.upper.retain(|&k| k != j);
        }
        self.place[j] = Place::Between;
        true
    }

    fn leave(&mut self, p: usize, to: Place) {
        self.factor.remove(p, &mut self.rotations);
        let j = self.passive.remove(p);
        self.place[j] = to;
        if to == Place::Upper {
            self.upper.push(j);
        }
    }

    /// Adds the multiple of G⁻¹1 to the step that makes its sum `sum`.
    fn add_multiple_of_ones(&mut self, sum: f64) {
        self.ones.clear();
        self.ones.resize(self.step.len(), 1.0);
        self.factor.solve(&mut self.ones);
        let multiple = (sum - self.step.iter().sum::<f64>()) / self.ones.iter().sum::<f64>();
        self.step.iter_mut().zip(&self.ones).for_each(|(step, one)| *step += multiple * one);
    }

    /// To the minimiser over the passive columns, or as far as the bounds allow; what meets a bound leaves, and on from there.
    /// Whether x moved. A column that entered last and would not move inward leaves before anything moves.
    fn descend(&mut self, task: &Task, entering: Option<usize>) -> bool {
        let (mut share, mut moved) = (1.0, false);
        while !self.passive.is_empty() {
            // On the way the passive part of the gradient shrinks in proportion (or by the same amount everywhere, which a sum
            // takes out): no need to form it again.
            self.step.clear();
            self.step.extend(self.passive.iter().map(|&j| -share * self.gradient[j]));
            self.factor.solve(&mut self.step);
            if task.sum_to_one {
                self.add_multiple_of_ones(0.0);
            }
            if let Some(j) = entering.filter(|_| !moved) {
                let last = self.passive.len() - 1;
                let from_zero = self.x[j] == 0.0;
                let inward = if from_zero { self.step[last] > 0.0 } else { self.step[last] < 0.0 };
                if !inward {
                    self.leave(last, if from_zero { Place::Zero } else { Place::Upper });
                    return false;
                }
            }
            if !self.step.iter().all(|step| step.is_finite()) {
                return moved;
            }
            let reaches = self.passive.iter().zip(&self.step).map(|(&j, &step)| reach(self.x[j], step, task.upper(j)));
            let first = reaches.fold(f64::INFINITY, f64::min);
            let (full, fraction) = (first == f64::INFINITY, first.min(1.0));
            for p in (0..self.passive.len()).rev() {
                let (j, step) = (self.passive[p], self.step[p]);
                let before = self.x[j];
                if !full && reach(before, step, task.upper(j)) <= fraction {
                    let up = step > 0.0;
                    self.x[j] = if up { task.upper(j) } else { 0.0 };
                    self.leave(p, if up { Place::Upper } else { Place::Zero });
                } else {
                    self.x[j] = (before + fraction * step).max(0.0).min(task.upper(j));
                }
                moved |= self.x[j] != before;
            }
            if full {
                break;
            }
            share *= 1.0 - fraction;
        }
        moved
    }
}

/// How much of a step ends at a bound, if it does.
#[inline]
fn reach(x: f64, step: f64, upper: f64) -> f64 {
    if x + step <= 0.0 {
        x / -step
    } else if x + step >= upper {
        (upper - x) / step
    } else {
        f64::INFINITY
    }
}
