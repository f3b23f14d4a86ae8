//! How good one x is, proved in Gram space.
//!
//! f is convex: f* ≥ f(x) + min gᵀ(z − x) over all z that come into question, g = ∇f(x). So
//!
//! ```text
//! f(x) − f* ≤ xᵀg + Σ uⱼ·max(0, −gⱼ)      where 0 ≤ x* ≤ u
//! f(x) − f* ≤ xᵀg − min gⱼ                where Σx* = 1
//! ```
//!
//! which is the gap of the [certificate](crate::certificate) with y = Ax. G and c are sums of m products in any order, off by at
//! most γ‖A:ᵢ‖‖A:ⱼ‖ and γ‖A:ⱼ‖‖b‖; the computed gⱼ then by eⱼ = γ‖A:ⱼ‖(Σ‖xᵢA:ᵢ‖ + ‖b‖), and every gⱼ is taken at its worst. Where
//! that is not enough, gⱼ = A:ⱼᵀ(Ax − b) from the residual itself is closer, if the residual is small.

use super::exchange::{Exchange, Task};
use super::shared::rounding;
use crate::certificate::{UNIT, relative};
use crate::scaling::power_of_two;

/// What underflow may have cost a gradient, in units in which columns and b are of order one.
fn lost() -> f64 {
    power_of_two(-900)
}

/// What is known of an x, in scaled units.
#[derive(Debug, Clone, Copy)]
pub struct Proof {
    /// f(x) − f* is at most this, if that is known.
    pub gap: Option<f64>,
    /// The same as a part of |f*|; where x has a sum, of the larger of ½‖b‖² and ½‖Ax‖².
    pub relative_gap: Option<f64>,
}

impl Proof {
    /// Of this x with this ∇f(x): Gx − c, or AᵀWr for a residual r = Ax − b of this norm.
    pub fn of(task: &Task, exchange: &Exchange, residual: Option<f64>) -> Self {
        let (shared, x, gradient) = (task.shared, &exchange.x, &exchange.gradient);
        let (mut support, mut size, mut along, mut gain, mut l1) = (0, 0.0, 0.0, 0.0, 0.0);
        let mut gap = Sum::default();
        for j in exchange.support() {
            support += 1;
            size += x[j] * shared.root[j];
            along += x[j] * gradient[j];
            gain += x[j] * task.linear[j];
            l1 += x[j] * task.l1(j);
            gap.add(x[j] * gradient[j]);
        }
        let gamma = rounding(shared.rows, support + 8);
        let all = size + task.rhs_norm;
        let slack = match residual {
            None => gamma * all,
            Some(norm) => (support + 16) as f64 * UNIT * all + gamma * norm, // λ₂xⱼ, at most Gⱼⱼxⱼ, comes last
        };
        let error = |j: usize| slack * shared.root[j] + 4.0 * UNIT * task.l1(j) + lost();

        let objective_high =
            0.5 * (along - gain) + 3.0 * gamma * all * size + gamma * (along.abs() + gain.abs() + l1) + lost() * size;
        gap.add(slack * size + 4.0 * UNIT * l1 + lost() * (support as f64 + size));
        if task.sum_to_one {
            gap.add(-least_on_simplex(task, |j| gradient[j] - error(j)));
            let scale = 0.5 * (task.rhs_norm * task.rhs_norm).max(along + gain);
            let gap = gap.high(x.len());
            return Self { gap: gap.is_finite().then_some(gap), relative_gap: relative(gap, scale) };
        }
        for j in 0..x.len() {
            let fall = error(j) - gradient[j];
            if fall > 0.0 {
                let cap = cap(task, j, gamma);
                gap.add(if cap > 0.0 { fall * cap } else { 0.0 });
            }
        }
        let gap = gap.high(x.len());
        let relative_gap = if gap.is_finite() { relative(gap, objective_high.min(0.0)) } else { None };
        Self { gap: gap.is_finite().then_some(gap), relative_gap }
    }

    /// Whether x is this good.
    pub fn shows(&self, tolerance: f64) -> bool {
        self.relative_gap.is_some_and(|gap| gap <= tolerance)
    }
}

/// uⱼ ≥ x*ⱼ, if c is off by at most γ.
pub fn cap(task: &Task, j: usize, gamma: f64) -> f64 {
    let (shared, upper) = (task.shared, task.upper(j));
    if shared.signed {
        return upper.min(shared.reach.map_or(f64::INFINITY, |reach| reach * task.rhs_norm));
    }
    let curvature = shared.diagonal(j) * (1.0 - 2.0 * gamma);
    if curvature <= 0.0 {
        return 0.0; // a column of zeros gains nothing, and need not be used
    }
    let high = task.linear[j] + gamma * (shared.root[j] * task.rhs_norm + task.l1(j)) + lost();
    upper.min((high.max(0.0) / curvature) * (1.0 + 4.0 * UNIT))
}

/// The least Σ gⱼzⱼ over Σz = 1, 0 ≤ z ≤ ℓ.
fn least_on_simplex(task: &Task, slope: impl Fn(usize) -> f64) -> f64 {
    let n = task.linear.len();
    if task.upper.is_none() {
        return (0..n).map(slope).fold(f64::INFINITY, f64::min);
    }
    let mut order: Vec<(f64, usize)> = (0..n).map(|j| (slope(j), j)).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut left, mut sum) = (1.0, 0.0);
    for (slope, j) in order {
        let part = task.upper(j).min(left);
        sum += part * slope;
        left -= part;
    }
    sum
}

/// A sum with its rounding error.
#[derive(Default)]
struct Sum {
    value: f64,
    size: f64,
}

impl Sum {
    fn add(&mut self, term: f64) {
        self.value += term;
        self.size += term.abs();
    }

    /// Rounded up, of 2n terms or so.
    fn high(&self, n: usize) -> f64 {
        self.value + (3 * n + 16) as f64 * UNIT * self.size
    }
}
