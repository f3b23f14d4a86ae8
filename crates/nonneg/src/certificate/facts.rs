//! What is computed once per problem: units, column norms, and the linear term between proved bounds.
//!
//! Units are exact powers of two: row weights are divided by 2^`weight`, b by 2^`rhs`, and column j is multiplied by
//! 2^`exponent`, so that its squared norm (with the ridge) lies in [1, 4). A scaled x̃ⱼ stands for xⱼ = x̃ⱼ·2^(exponent + rhs),
//! and a scaled objective for f = f̃·2^(2·rhs + weight).

use std::sync::OnceLock;

use super::linear::{self, PlainRhs};
use super::rows::{RowVector, TINY};
use super::shift::Shifted;
use super::sums::{UNIT, at_least_tiny, down, up};
use crate::error::Result;
use crate::matrix::kernels::GAMMA;
use crate::matrix::{Column, Columns, for_columns};
use crate::problem::{LeastSquares, Target};
use crate::scaling::{exponent, ldexp, power_of_two};

/// Exponents of the units.
#[derive(Debug, Clone, Copy, Default)]
pub struct Units {
    /// log₂ of the unit of b (and, with the column's exponent, of x).
    pub rhs: i32,
    /// log₂ of the unit of the row weights; even.
    pub weight: i32,
}

impl Units {
    /// log₂ of the unit of objectives.
    pub fn objective(self) -> i32 {
        2 * self.rhs + self.weight
    }
    /// log₂ of the unit of norms of row vectors.
    pub fn norm(self) -> i32 {
        self.rhs + self.weight / 2
    }
    /// log₂ of what a linear term of the caller's is multiplied by.
    pub fn linear(self, column: &ColumnFacts) -> i32 {
        column.exponent() - self.rhs - self.weight
    }
}

/// One column, in scaled units. There can be millions: 32 bytes.
#[derive(Debug, Clone, Copy)]
pub struct ColumnFacts {
    /// The power of two that the column is multiplied by, at most ±1000.
    exponent: i16,
    /// Every |entry| is below 2^reach.
    reach: i16,
    /// No entry counts.
    pub empty: bool,
    /// Some entry is so small beside the others that a product with it may underflow.
    pub underflow: bool,
    /// Some entry in a row without weight is so large that it overflows in this column's unit.
    pub overflow: bool,
    /// Some entry is negative.
    pub signed: bool,
    /// Lⱼ = ‖A:ⱼ‖²_W, to a relative error of γ; zero for an empty column.
    pub norm: f64,
    /// cⱼ − λ₁ lies between `low` and `high`.
    pub low: f64,
    /// See `low`.
    pub high: f64,
}

impl ColumnFacts {
    /// cⱼ − λ₁, to rounding.
    pub fn linear(&self) -> f64 {
        0.5 * self.low + 0.5 * self.high
    }
    /// Allows for an error of b, given as a norm.
    fn widen(&mut self, error: f64) {
        let slack = up(error * (self.norm * (1.0 + 2.0 * GAMMA)).sqrt());
        (self.low, self.high) = (self.low - slack, self.high + slack);
        // The sums themselves were rounded.
        (self.low, self.high) = (self.low - UNIT * self.low.abs(), self.high + UNIT * self.high.abs());
    }
    /// 2^exponent.
    #[inline]
    pub fn scale(&self) -> f64 {
        power_of_two(self.exponent())
    }
    /// log₂ of the scale.
    #[inline]
    pub fn exponent(&self) -> i32 {
        i32::from(self.exponent)
    }
    /// A bound on every |entry|.
    pub fn largest(&self) -> f64 {
        ldexp(1.0, i32::from(self.reach))
    }
}

/// Everything that is known of the problem before an x is looked at.
pub struct Facts {
    pub units: Units,
    /// Row weights in scaled units.
    pub weights: Option<Vec<f64>>,
    /// b in scaled units.
    pub rhs: Option<Vec<f64>>,
    pub columns: Vec<ColumnFacts>,
    /// The data bound nothing: some entry of A is negative, or some entry of x may be.
    pub signed: bool,
    /// Some entry of A is negative.
    pub negative_entries: bool,
    /// Some column has a finite upper bound.
    pub bounded: bool,
    /// λ₂ in the caller's units.
    l2: f64,
    /// Columns without penalties; empty if there are none.
    free: Vec<bool>,
    /// What b is off by, as a norm, after it was shifted to the origins of x; in the caller's units.
    pub shift_error: f64,
    /// For signed A: a proved bound on every |x*ⱼ|, once looked for; infinite if none was found.
    pub farthest: OnceLock<f64>,
}

impl Facts {
    /// Two passes over A: norms (unless they are known already) and linear term.
    pub fn new<M: Columns>(a: &M, problem: &LeastSquares) -> Result<Self> {
        let n = a.cols();
        let mut units = Units::default();
        let weights = problem.weights.map(|w| {
            units.weight = weight_exponent(w);
            w.iter().map(|&w| ldexp(w, -units.weight)).collect::<Vec<f64>>()
        });
        let l2 = |j: usize| if problem.is_free(j) { 0.0 } else { problem.l2 };
        let shape = |j: usize| shape(a.column(j), weights.as_deref(), l2(j), units, problem.above(j));
        // The unit of an empty column depends on its bound.
        let known = |j: usize| problem.prepared().map(|known| known.shapes[j]).filter(|shape| !shape.empty);
        let shifted = Shifted::of(a, problem)?;
        let target = shifted.as_ref().map_or(problem.target, |shifted| Target::Rhs(&shifted.rhs));
        // Where the unit of b depends on nothing else, the linear term comes while the column is in the cache.
        let plain = PlainRhs::of(target, weights.as_deref());
        let mut columns = for_columns(a, |j| {
            let mut facts = known(j).unwrap_or_else(|| shape(j));
            if let Some(rhs) = plain.as_ref().filter(|_| !problem.excludes(j)) {
                (facts.low, facts.high) = linear::product_bounds(a.column(j), &facts, &rhs.scaled);
            }
            facts
        });
        let rhs = match plain {
            None => linear::fill(a, problem, target, weights.as_deref(), &mut columns, &mut units),
            Some(plain) => {
                units.rhs = plain.unit;
                linear::finish(problem, &mut columns, &mut units);
                if units.rhs == plain.unit { Some(plain.scaled.values) } else { linear::in_its_unit(target, units) }
            }
        };
        let shift_error = shifted.map_or(0.0, |shifted| shifted.error);
        if shift_error > 0.0 {
            let error = ldexp(shift_error, -units.norm());
            columns.iter_mut().for_each(|facts| facts.widen(error));
        }
        let negative_entries = columns.iter().any(|facts| facts.signed);
        let signed = negative_entries || (0..n).any(|j| problem.below(j) > 0.0);
        let bounded = (0..n).any(|j| problem.above(j) < f64::INFINITY);
        let any_free = problem.l2 > 0.0 && (0..n).any(|j| problem.is_free(j));
        let free = if any_free { (0..n).map(|j| problem.is_free(j)).collect() } else { Vec::new() };
        let (l2, farthest) = (problem.l2, OnceLock::new());
        Ok(Self { units, weights, rhs, columns, signed, negative_entries, bounded, l2, free, shift_error, farthest })
    }

    /// Whether kernels that work on the caller's entries could overflow or underflow on some column.
    pub fn out_of_range(&self) -> bool {
        self.columns.iter().any(|column| column.overflow || column.exponent().abs() > 950)
    }

    /// λ₂ in the units of column j.
    #[inline]
    pub fn ridge(&self, j: usize) -> f64 {
        if self.l2 == 0.0 || !self.free.is_empty() && self.free[j] {
            0.0
        } else {
            ldexp(self.l2, 2 * self.columns[j].exponent() - self.units.weight)
        }
    }

    /// Lⱼ + λ₂.
    #[inline]
    pub fn curvature(&self, j: usize) -> f64 {
        self.columns[j].norm + self.ridge(j)
    }

    /// v times the weights.
    pub fn weigh(&self, v: Vec<f64>) -> RowVector {
        match &self.weights {
            None => RowVector::plain(v),
            weights => RowVector::new(v, weights.as_deref(), |_| true),
        }
    }

    /// How far xⱼ may go up, in scaled units, never zero for a positive bound.
    #[inline]
    pub fn upper(&self, problem: &LeastSquares, j: usize) -> f64 {
        let bound = problem.above(j);
        if bound == 0.0 || bound == f64::INFINITY {
            return bound;
        }
        ldexp(bound, -self.columns[j].exponent() - self.units.rhs).max(f64::MIN_POSITIVE)
    }

    /// Uⱼ ≥ x*ⱼ: the upper bound, and for A ≥ 0 also cⱼ/(Lⱼ + λ₂), rounded up. May be infinite.
    #[inline]
    pub fn cap(&self, problem: &LeastSquares, j: usize) -> f64 {
        let (facts, upper) = (&self.columns[j], self.upper(problem, j));
        if self.signed {
            return self.farthest.get().map_or(upper, |bound| upper.min(*bound));
        }
        if self.curvature(j) == 0.0 {
            return upper;
        }
        let curvature = facts.norm * (1.0 - 2.0 * GAMMA) + down(self.ridge(j));
        let from_data = if facts.high > 0.0 { at_least_tiny(up(facts.high / curvature)) } else { 0.0 };
        upper.min(from_data)
    }

    /// The same for an x*ⱼ below zero that nothing else bounds.
    pub fn cap_below(&self) -> f64 {
        self.farthest.get().copied().unwrap_or(f64::INFINITY)
    }
}

/// log₂ of the unit of these row weights.
pub fn weight_exponent(weights: &[f64]) -> i32 {
    largest_exponent(weights.iter().copied()) & !1
}

/// ⌊log₂⌋ of the largest |v|, or 0.
pub fn largest_exponent(values: impl Iterator<Item = f64>) -> i32 {
    values.filter(|&v| v != 0.0).map(exponent).max().unwrap_or(0)
}

/// Unit, norm, ridge and sign of one column; the linear term comes later.
fn shape<C: Column>(column: C, weights: Option<&[f64]>, l2: f64, units: Units, upper: f64) -> ColumnFacts {
    let (mut largest, mut smallest, mut signed, mut idle) = (0.0f64, f64::INFINITY, false, 0.0f64);
    match weights {
        None => {
            let extremes = column.extremes();
            (largest, smallest, signed) = (extremes.largest, extremes.smallest, extremes.negative);
        }
        Some(w) => column.for_each(|i, a| {
            if a != 0.0 && w[i] > 0.0 {
                largest = largest.max(a.abs());
                smallest = smallest.min(a.abs());
                signed |= a < 0.0;
            } else {
                idle = idle.max(a.abs());
            }
        }),
    }
    let ridge_exponent = (l2 > 0.0).then(|| exponent(l2) - units.weight);
    let mut norm = 0.0;
    let unit = if largest > 0.0 {
        // First a unit from the largest entry, in which the norm cannot overflow; then the unit that the norm asks for.
        let first = (-exponent(largest)).clamp(-1000, 1000);
        let scale = power_of_two(first);
        norm = match weights {
            None => column.bounded_square(scale).value,
            Some(w) => {
                let term = |i: usize, a: f64| if w[i] == 0.0 { 0.0 } else { (a * scale) * (a * scale) * w[i] };
                column.bounded_sum(term).value
            }
        };
        let mut size = if norm > 0.0 { exponent(norm) } else { 0 };
        if let Some(ridge) = ridge_exponent {
            let ridge = ridge + 2 * first;
            let largest = size.max(ridge);
            size = if (size - ridge).abs() <= 60 {
                exponent(ldexp(norm, -largest) + ldexp(l2, 2 * first - units.weight - largest)) + largest
            } else {
                largest
            };
        }
        let unit = (first - size.div_euclid(2)).clamp(-1000, 1000);
        norm = ldexp(norm, 2 * (unit - first));
        unit
    } else {
        match ridge_exponent {
            Some(ridge) => (-ridge.div_euclid(2)).clamp(-1000, 1000),
            None if upper > 0.0 && upper < f64::INFINITY => exponent(upper).clamp(-1000, 1000),
            None => 0,
        }
    };
    let underflow = largest > 0.0 && ldexp(smallest, unit) < TINY;
    let overflow = ldexp(idle, unit) > power_of_two(900);
    let empty = largest == 0.0;
    let reach = if empty { 0 } else { exponent(largest) + unit + 1 };
    ColumnFacts { exponent: unit as i16, reach: reach as i16, empty, underflow, overflow, signed, norm, low: 0.0, high: 0.0 }
}
