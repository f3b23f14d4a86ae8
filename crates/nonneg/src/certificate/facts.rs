//! What is computed once per problem: units, column norms, and the linear term between proved bounds.
//!
//! Units are exact powers of two: row weights are divided by 2^`weight`, b by 2^`rhs`, and column j is multiplied by
//! 2^`exponent`, so that its squared norm (with the ridge) lies in [1, 4). A scaled x̃ⱼ stands for xⱼ = x̃ⱼ·2^(exponent + rhs),
//! and a scaled objective for f = f̃·2^(2·rhs + weight).

use std::sync::OnceLock;

use super::sums::{ExactSum, down, up};
use crate::matrix::kernels::BoundedSum;
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
}

/// One column, in scaled units.
#[derive(Debug, Clone, Copy)]
pub struct ColumnFacts {
    /// The power of two that the column is multiplied by, at most ±1000.
    pub exponent: i32,
    /// Some product with this column's entries may underflow: allow for it.
    pub underflow: bool,
    /// Some entry is negative.
    pub signed: bool,
    /// Lⱼ = ‖A:ⱼ‖²_W, to a relative error of γ; zero for an empty column.
    pub norm: f64,
    /// λ₂ for this column.
    pub ridge: f64,
    /// cⱼ − λ₁ lies between `low` and `high`.
    pub low: f64,
    /// See `low`.
    pub high: f64,
}

impl ColumnFacts {
    /// cⱼ − λ₁, to rounding.
    pub fn linear(&self) -> f64 {
        0.5 * self.low.max(-f64::MAX / 4.0) + 0.5 * self.high
    }
    /// 2^exponent.
    #[inline]
    pub fn scale(&self) -> f64 {
        power_of_two(self.exponent)
    }
    /// Lⱼ + λ₂.
    pub fn curvature(&self) -> f64 {
        self.norm + self.ridge
    }
}

/// A vector with one element per row, in scaled units.
#[derive(Debug)]
pub struct RowVector {
    pub values: Vec<f64>,
    /// The least |value| ≠ 0 and the largest: tell whether a product can underflow, and what that can cost.
    smallest: f64,
    largest: f64,
    /// Every value is exact, so that sums of products can be made exact.
    exact: bool,
}

impl RowVector {
    pub fn new(values: Vec<f64>, exact: bool) -> Self {
        let smallest = values.iter().map(|v| v.abs()).filter(|&v| v > 0.0).fold(f64::INFINITY, f64::min);
        let largest = values.iter().fold(0.0f64, |largest, v| largest.max(v.abs()));
        Self { values, smallest, largest, exact }
    }
}

/// Σ ãᵢvᵢ with bounds on its error, underflow included.
pub fn column_product<C: Column>(column: C, facts: &ColumnFacts, vector: &RowVector) -> (BoundedSum, f64) {
    let scale = facts.scale();
    let sum = column.bounded_sum(|i, a| (a * scale) * vector.values[i]);
    let may_underflow = facts.underflow || vector.smallest < TINY;
    let slack = if may_underflow { column.len() as f64 * (1.0 + vector.largest) * power_of_two(-1000) } else { 0.0 };
    (sum, sum.error() + slack)
}

/// 2^-400: a product of two numbers above this does not underflow, nor does its rounding error.
const TINY: f64 = f64::from_bits((1023 - 400) << 52);

/// Everything that is known of the problem before an x is looked at.
pub struct Facts {
    pub units: Units,
    /// Row weights in scaled units.
    pub weights: Option<Vec<f64>>,
    /// b in scaled units.
    pub rhs: Option<Vec<f64>>,
    pub columns: Vec<ColumnFacts>,
    /// Some entry of A is negative.
    pub signed: bool,
    /// Some column has a finite upper bound.
    pub bounded: bool,
    /// For signed A: a proved bound on every entry of x*, once looked for.
    pub rank_bound: OnceLock<f64>,
}

impl Facts {
    /// Two passes over A: norms and linear term.
    pub fn new<M: Columns>(a: &M, problem: &LeastSquares) -> Self {
        let mut units = Units::default();
        let weights = problem.weights.map(|w| {
            units.weight = largest_exponent(w.iter().copied()) & !1;
            w.iter().map(|&w| ldexp(w, -units.weight)).collect::<Vec<f64>>()
        });
        let mut columns =
            for_columns(a.cols(), |j| shape(a.column(j), weights.as_deref(), problem.l2, units, problem.upper.at(j)));

        let mut rhs = None;
        match problem.target {
            Target::Rhs(b) => {
                let counts = |i: &usize| weights.as_ref().is_none_or(|w| w[*i] > 0.0);
                units.rhs = largest_exponent((0..b.len()).filter(counts).map(|i| b[i]));
                let scaled: Vec<f64> = b.iter().map(|&b| ldexp(b, -units.rhs)).collect();
                let weighted = weigh(&scaled, weights.as_deref());
                let linear = for_columns(a.cols(), |j| linear_bounds(a.column(j), &columns[j], &weighted));
                for (facts, (low, high)) in columns.iter_mut().zip(linear) {
                    (facts.low, facts.high) = (low, high);
                }
                rhs = Some(scaled);
            }
            Target::Linear(c) => {
                let exponents =
                    c.iter().zip(&columns).filter(|(c, _)| **c != 0.0).map(|(c, facts)| exponent(*c) + facts.exponent);
                units.rhs = exponents.max().unwrap_or(0) - units.weight;
                for (facts, &c) in columns.iter_mut().zip(c) {
                    let scaled = ldexp(c, facts.exponent - units.rhs - units.weight);
                    // A c that underflows in these units is irrelevant, but its sign is not.
                    let slack = if c != 0.0 && !scaled.is_normal() { f64::MIN_POSITIVE } else { 0.0 };
                    (facts.low, facts.high) = (scaled - slack, if c > 0.0 { scaled + slack } else { scaled.min(0.0) });
                }
            }
        }
        if problem.l1 > 0.0 {
            for facts in &mut columns {
                let penalty = ldexp(problem.l1, facts.exponent - units.rhs - units.weight);
                facts.low =
                    if penalty.is_finite() { widen(facts.low - penalty, facts.low, penalty, -1.0) } else { f64::NEG_INFINITY };
                let penalty = penalty.min(f64::MAX / 8.0);
                facts.high = widen(facts.high - penalty, facts.high, penalty, 1.0);
            }
        }
        let signed = columns.iter().any(|facts| facts.signed);
        let bounded = (0..a.cols()).any(|j| problem.upper.at(j) < f64::INFINITY);
        Self { units, weights, rhs, columns, signed, bounded, rank_bound: OnceLock::new() }
    }

    /// v times the weights.
    pub fn weigh(&self, v: Vec<f64>) -> RowVector {
        match &self.weights {
            None => RowVector::new(v, true),
            Some(_) => weigh(&v, self.weights.as_deref()),
        }
    }

    /// ℓⱼ in scaled units, never zero for a positive bound.
    pub fn upper(&self, problem: &LeastSquares, j: usize) -> f64 {
        let bound = problem.upper.at(j);
        if bound == 0.0 || bound == f64::INFINITY {
            return bound;
        }
        ldexp(bound, -self.columns[j].exponent - self.units.rhs).max(f64::MIN_POSITIVE)
    }

    /// Uⱼ ≥ x*ⱼ: the upper bound, and for A ≥ 0 also cⱼ/(Lⱼ + λ₂), rounded up. May be infinite.
    pub fn cap(&self, problem: &LeastSquares, j: usize) -> f64 {
        let (facts, upper) = (&self.columns[j], self.upper(problem, j));
        if self.signed {
            return self.rank_bound.get().map_or(upper, |bound| upper.min(*bound));
        }
        if facts.curvature() == 0.0 {
            return upper;
        }
        let curvature = facts.norm * (1.0 - 2.0 * crate::matrix::kernels::GAMMA) + down(facts.ridge);
        upper.min(up(facts.high.max(0.0) / curvature))
    }
}

/// `difference` = v − penalty, moved outwards by its rounding error.
fn widen(difference: f64, v: f64, penalty: f64, direction: f64) -> f64 {
    let error = 2.0 * f64::EPSILON * (v.abs() + penalty);
    let underflow = if penalty < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { 0.0 };
    difference + direction * (error + underflow)
}

fn largest_exponent(values: impl Iterator<Item = f64>) -> i32 {
    values.filter(|&v| v != 0.0).map(exponent).max().unwrap_or(0)
}

fn weigh(v: &[f64], weights: Option<&[f64]>) -> RowVector {
    match weights {
        None => RowVector::new(v.to_vec(), true),
        Some(w) => {
            let exact = v.iter().zip(w).all(|(v, w)| v.mul_add(*w, -(v * w)) == 0.0);
            RowVector::new(v.iter().zip(w).map(|(v, w)| v * w).collect(), exact)
        }
    }
}

/// Unit, norm, ridge and sign of one column; the linear term comes later.
fn shape<C: Column>(column: C, weights: Option<&[f64]>, l2: f64, units: Units, upper: f64) -> ColumnFacts {
    let (mut largest, mut smallest, mut signed) = (0.0f64, f64::INFINITY, false);
    column.for_each(|i, a| {
        if a != 0.0 && weights.is_none_or(|w| w[i] > 0.0) {
            largest = largest.max(a.abs());
            smallest = smallest.min(a.abs());
            signed |= a < 0.0;
        }
    });
    let ridge_exponent = (l2 > 0.0).then(|| exponent(l2) - units.weight);
    let mut norm = 0.0;
    let unit = if largest > 0.0 {
        // First a unit from the largest entry, in which the norm cannot overflow; then the unit that the norm asks for.
        let first = (-exponent(largest)).clamp(-1000, 1000);
        let scale = power_of_two(first);
        norm = match weights {
            None => column.bounded_sum(|_, a| (a * scale) * (a * scale)).value,
            Some(w) => column.bounded_sum(|i, a| (a * scale) * (a * scale) * w[i]).value,
        };
        let mut size = if norm > 0.0 { exponent(norm) } else { 0 };
        if let Some(ridge) = ridge_exponent {
            let ridge = ridge + 2 * first;
            size = match size.max(ridge) {
                largest if (size - ridge).abs() <= 60 => {
                    exponent(ldexp(norm, -largest) + ldexp(l2, 2 * first - units.weight - largest)) + largest
                }
                largest => largest,
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
    let ridge = ldexp(l2, 2 * unit - units.weight);
    let underflow = largest > 0.0 && ldexp(smallest, unit) < TINY;
    ColumnFacts { exponent: unit, underflow, signed, norm, ridge, low: 0.0, high: 0.0 }
}

/// Bounds on Σ ãᵢwᵢb̃ᵢ; where ordinary arithmetic cannot tell its sign, exactly.
fn linear_bounds<C: Column>(column: C, facts: &ColumnFacts, weighted_rhs: &RowVector) -> (f64, f64) {
    let (sum, error) = column_product(column, facts, weighted_rhs);
    let sign_unknown = sum.value.abs() <= error && error > 0.0;
    if sign_unknown && weighted_rhs.exact && !facts.underflow && weighted_rhs.smallest >= TINY {
        let (scale, mut exact) = (facts.scale(), ExactSum::default());
        column.for_each(|i, a| exact.add_product(a * scale, weighted_rhs.values[i]));
        return exact.bounds();
    }
    (sum.value - error, sum.value + error)
}
