//! Conjugate gradients on the face, for supports that are too large for factors and too ill-conditioned for descent.
//!
//! On the variables strictly between their bounds, in units in which G has ones on its diagonal, G = (I + L) + (I + L)ᵀ − I.
//! A symmetric coordinate sweep suggests the variables p = (I + L)ᵀd; in those the matrix is (I + L)⁻¹G(I + L)⁻ᵀ, and a product
//! with it needs no G (Eisenstat 1981; Björck & Elfving 1979 for normal equations):
//!
//! t = (I + L)⁻ᵀp,  product = t + (I + L)⁻¹(p − t).
//!
//! Each of the two is a coordinate sweep, one backward, one forward, and the first one leaves At behind.
//!
//! A round:
//!
//! 1. a coordinate sweep chooses the face;
//! 2. conjugate gradients on it, damped: G + δ·diag(G) about the point where the round began. What a step takes to its bounds stops
//!    there, not too many at a time, and the rest goes on from there until all are inside;
//! 3. the lowest point on the straight way there, all of which is within bounds: f never rises. Where that is not far, δ grows;
//! 4. coordinate sweeps: tiny wrong entries, which cost a certificate dearly, go to zero.

use super::Monitor;
use super::first_order::FirstOrder;
use super::point::{Point, add_weighted};
use crate::matrix::kernels::{axpy, dense_dot};
use crate::matrix::{Column, Columns};
use crate::presolve::Reduced;

/// A face is solved until this part of the distance from its minimum is left (in units of f), or for so many iterations.
const SOLVED: f64 = 1e-2;
const ITERATIONS: usize = 60;

/// Coordinate sweeps after a step. They choose the next face, too.
const SWEEPS: usize = 5;

/// How often variables that a step takes out of their bounds are stopped there and the others go on, and the part of the face that
/// may stop at once: where more do, most of them would only because all the others go too far as well.
const SETTLINGS: usize = 12;
const STOP_AT_ONCE: f64 = 0.05;

/// Iterations between looks at how many have left their bounds.
const LOOK: usize = 4;

/// Damping, as a part of the diagonal of G: at first, what it is multiplied by after a step that went too far and after one that did
/// not, and where it ends.
const FIRST_DAMPING: f64 = 1e-2;
const MORE: f64 = 30.0;
const LESS: f64 = 0.1;
const LEAST_DAMPING: f64 = 1e-12;
const MOST_DAMPING: f64 = 1.0;

/// The part of a step that lowers f most, if it did not go too far.
const FAR_ENOUGH: f64 = 0.5;

/// Moves points, with what steps so far have shown.
#[derive(Debug)]
pub struct Conjugate {
    damping: f64,
}

impl Default for Conjugate {
    fn default() -> Self {
        Self { damping: FIRST_DAMPING }
    }
}

/// The variables that move, with what makes their columns of length one.
struct Free {
    variables: Vec<usize>,
    unit: Vec<f64>,
    entries: u64,
}

/// A step on the face, in its units, and its weighted image.
struct Step {
    change: Vec<f64>,
    image: Vec<f64>,
    /// Whether the face was solved, and not only some iterations done.
    solved: bool,
    work: u64,
}

impl Free {
    fn new<M: Columns>(problem: &Reduced<M>, x: &[f64], damping: f64) -> Self {
        let variables: Vec<usize> = (0..x.len()).filter(|&k| x[k] > 0.0 && x[k] < problem.upper[k]).collect();
        let unit = variables.iter().map(|&k| 1.0 / (problem.curvature(k) * (1.0 + damping)).sqrt()).collect();
        let entries = problem.entries(variables.iter().copied());
        Self { variables, unit, entries }
    }

    /// Solves a triangle of G, in place: (I + L) for places in increasing order, (I + L)ᵀ in decreasing order. `image` becomes that
    /// of the solution.
    fn solve<M: Columns>(&self, problem: &Reduced<M>, places: impl Iterator<Item = usize>, right: &mut [f64], image: &mut [f64]) {
        image.fill(0.0);
        for place in places {
            let (k, unit) = (self.variables[place], self.unit[place]);
            right[place] -= unit * problem.scale[k] * problem.column(k).dot(image);
            add_weighted(problem, k, unit * right[place], image);
        }
    }

    /// Where a part of a step takes the variable at a place.
    fn target(&self, x: &[f64], step: &Step, place: usize, part: f64) -> f64 {
        x[self.variables[place]] + part * (self.unit[place] * step.change[place])
    }

    /// Whether so many leave their bounds that the step will end early.
    fn leaves_bounds<M: Columns>(&self, problem: &Reduced<M>, x: &[f64], step: &Step) -> bool {
        let is_outside = |place: usize| {
            let target = self.target(x, step, place, 1.0);
            target < 0.0 || target > problem.upper[self.variables[place]]
        };
        let len = self.variables.len();
        (0..len).filter(|&place| is_outside(place)).count() as f64 > STOP_AT_ONCE * len as f64
    }

    /// Minimises the damped f over the face from x, where it has the given slopes, without bounds.
    fn minimise<M: Columns>(&self, problem: &Reduced<M>, x: &[f64], slopes: &[f64], monitor: &mut dyn Monitor) -> Step {
        let (len, rows) = (self.variables.len(), problem.matrix.rows());
        let mut step = Step { change: vec![0.0; len], image: vec![0.0; rows], solved: false, work: self.entries };
        let (mut image, mut scratch) = (vec![0.0; rows], vec![0.0; rows]);
        let mut residual: Vec<f64> = slopes.iter().zip(&self.unit).map(|(slope, unit)| -slope * unit).collect();
        self.solve(problem, 0..len, &mut residual, &mut scratch);
        monitor.spend(self.entries);
        let mut direction = residual.clone();
        let mut size = dense_dot(&residual, &residual);
        let enough = SOLVED * size;
        for iteration in 1..=ITERATIONS {
            let mut move_by = direction.clone();
            self.solve(problem, (0..len).rev(), &mut move_by, &mut image);
            let mut product: Vec<f64> = direction.iter().zip(&move_by).map(|(p, t)| p - t).collect();
            self.solve(problem, 0..len, &mut product, &mut scratch);
            axpy(1.0, &move_by, &mut product);
            monitor.spend(2 * self.entries);
            step.work += 2 * self.entries;
            let length = size / dense_dot(&direction, &product);
            if !(length > 0.0 && length.is_finite()) {
                step.solved = true; // as far as rounding errors allow
                break;
            }
            axpy(length, &move_by, &mut step.change);
            axpy(length, &image, &mut step.image);
            axpy(-length, &product, &mut residual);
            let before = std::mem::replace(&mut size, dense_dot(&residual, &residual));
            step.solved = size <= enough;
            if step.solved || monitor.out_of_time() || iteration % LOOK == 0 && self.leaves_bounds(problem, x, &step) {
                break;
            }
            direction.iter_mut().zip(&residual).for_each(|(p, r)| *p = r + size / before * *p);
        }
        step
    }

    /// Takes the point along a step, as far as not too many get to their bounds; those stop there and are free no more. How many.
    fn follow<M: Columns>(&mut self, problem: &Reduced<M>, point: &mut Point, step: &Step) -> usize {
        let room = |place: usize| {
            let (k, change) = (self.variables[place], self.unit[place] * step.change[place]);
            let room = if change < 0.0 { -point.x[k] } else { problem.upper[k] - point.x[k] };
            if change == 0.0 { f64::INFINITY } else { room / change }
        };
        let meets: Vec<f64> = (0..self.variables.len()).map(room).collect(); // the part of the step that leads to the bound
        let mut early: Vec<f64> = meets.iter().copied().filter(|&part| part <= 1.0).collect();
        let most = (STOP_AT_ONCE * meets.len() as f64) as usize;
        let part = if early.len() > most { *early.select_nth_unstable_by(most, f64::total_cmp).1 } else { 1.0 };
        axpy(part, &step.image, &mut point.weighted_image);
        let (mut variables, mut unit) = (Vec::new(), Vec::new());
        for (place, &k) in self.variables.iter().enumerate() {
            point.x[k] = self.target(&point.x, step, place, part);
            if meets[place] <= part {
                point.set(problem, k, if step.change[place] < 0.0 { 0.0 } else { problem.upper[k] });
            } else {
                point.x[k] = point.x[k].clamp(0.0, problem.upper[k]); // by a rounding error
                variables.push(k);
                unit.push(self.unit[place]);
            }
        }
        (self.variables, self.unit) = (variables, unit);
        self.entries = problem.entries(self.variables.iter().copied());
        meets.len() - self.variables.len()
    }
}

impl<'p, M: Columns> FirstOrder<'p, M> for Conjugate {
    fn round(
        &mut self,
        problem: &'p Reduced<'p, M>,
        point: &mut Point,
        _gradient: &[f64],
        _distance: f64,
        monitor: &mut dyn Monitor,
    ) -> u64 {
        let mut work = point.sweep(problem);
        monitor.spend(work);
        let mut free = Free::new(problem, &point.x, self.damping);
        let mut trial = point.clone();
        for _ in 0..SETTLINGS {
            let pull = |k: usize| self.damping * problem.curvature(k) * (trial.x[k] - point.x[k]);
            let slopes: Vec<f64> = free.variables.iter().map(|&k| trial.slope(problem, k) + pull(k)).collect();
            monitor.spend(free.entries);
            let step = free.minimise(problem, &trial.x, &slopes, monitor);
            work += free.entries + step.work;
            let stopped = free.follow(problem, &mut trial, &step);
            if step.solved && stopped == 0 || monitor.out_of_time() {
                break;
            }
        }
        let part = point.lowest_towards(problem, &trial);
        let factor = if part >= FAR_ENOUGH { LESS } else { MORE };
        self.damping = (factor * self.damping).clamp(LEAST_DAMPING, MOST_DAMPING);
        point.move_towards(trial, part);
        for _ in 0..SWEEPS {
            let sweep = point.sweep(problem);
            monitor.spend(sweep);
            work += sweep;
        }
        work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::point::distance;
    use crate::testing::Account;
    use crate::{CscMatrix, LeastSquares};

    /// Columns of six neighbours each that overlap by four: far from orthogonal. b lies outside of their cone.
    fn banded(n: usize) -> (CscMatrix<f64>, Vec<f64>) {
        let value = |j: usize, i: usize| 1.0 + ((7 * j + 3 * i) % 11) as f64 / 11.0;
        let rows = (0..n).flat_map(|j| (0..6).map(move |i| (2 * j + i) as u32)).collect();
        let values = (0..n).flat_map(|j| (0..6).map(move |i| value(j, i))).collect();
        let a = CscMatrix::new(2 * n + 4, n, (0..=n).map(|j| 6 * j).collect(), rows, values).unwrap();
        (a, (0..2 * n + 4).map(|i| ((i * i) % 17) as f64 / 4.0).collect())
    }

    fn solve(question: &LeastSquares, view: &crate::matrix::CscView<f64, u32>, rounds: usize) -> Vec<f64> {
        let problem = Reduced::of(view, question).unwrap();
        let mut point = Point::new(&problem, vec![0.0; problem.len()], vec![0.0; problem.matrix.rows()]);
        let at_zero = distance(&problem, &point, &point.gradient(&problem));
        let (mut engine, mut account, mut distances) = (Conjugate::default(), Account::default(), vec![at_zero]);
        for _ in 0..rounds {
            let before = point.clone();
            let work = engine.round(&problem, &mut point, &[], 0.0, &mut account);
            assert_eq!(work, std::mem::take(&mut account.work), "what it says is what it spends");
            // In the end the last digits are all that changes.
            let size: f64 = point.x.iter().zip(&problem.linear).map(|(x, c)| x * c.abs()).sum();
            let rise = point.objective_above(&problem, &before);
            assert!(rise <= 1e-15 * size, "f never rises: {rise:e} beside {size:e}");
            assert!(point.x.iter().zip(&problem.upper).all(|(x, u)| (0.0..=*u).contains(x)));
            let image = problem.weigh(problem.multiply(&point.x));
            assert!(image.iter().zip(&point.weighted_image).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + a.abs())));
            let gradient = point.gradient(&problem);
            distances.push(distance(&problem, &point, &gradient));
        }
        distances
    }

    #[test]
    fn rounds_never_rise_and_end_at_the_optimum_with_weights_ridge_and_bounds() {
        let (a, b) = banded(300);
        let view = a.view();
        let weights: Vec<f64> = (0..b.len()).map(|i| [1.0, 0.25, 2.0, 0.0][i % 4]).collect();
        let plain = LeastSquares::new(&a, &b);
        let weighted = LeastSquares::new(&a, &b).weights(&weights).l2(0.01);
        let bounded = LeastSquares::new(&a, &b).upper(0.5);
        for (name, question) in [("plain", &plain), ("weighted", &weighted), ("bounded", &bounded)] {
            let distances = solve(question, &view, 25);
            let last = distances[distances.len() - 1];
            assert!(last <= 1e-11 * distances[0], "{name}: {distances:?}");
        }
    }

    #[test]
    fn a_limit_ends_a_round_with_a_point_that_is_no_higher() {
        let (a, b) = banded(200);
        let (view, question) = (a.view(), LeastSquares::new(&a, &b));
        let problem = Reduced::of(&view, &question).unwrap();
        let mut point = Point::new(&problem, vec![0.0; problem.len()], vec![0.0; problem.matrix.rows()]);
        point.sweep(&problem);
        let (before, limit) = (point.clone(), 4 * problem.matrix.nnz() as u64);
        let mut account = Account { work: 0, limit: Some(limit) };
        Conjugate::default().round(&problem, &mut point, &[], 0.0, &mut account);
        assert!(account.work <= limit + 10 * problem.matrix.nnz() as u64, "{} of {limit}", account.work);
        assert!(point.objective_above(&problem, &before) < 0.0);
    }
}
