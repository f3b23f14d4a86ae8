//! Vectors with one element per row, and their products with columns, with every rounding error accounted for.

use super::facts::ColumnFacts;
use crate::matrix::Column;
use crate::matrix::kernels::{BoundedSum, extremes};
use crate::scaling::power_of_two;

/// 2^-400: a product of two numbers above this does not underflow, nor does its rounding error.
pub const TINY: f64 = f64::from_bits((1023 - 400) << 52);

/// A vector in scaled units, times the row weights.
#[derive(Debug)]
pub struct RowVector {
    pub values: Vec<f64>,
    /// The least |value| that is not exactly zero (0 if one was lost), and the largest: whether a product can underflow,
    /// and what that can cost.
    smallest: f64,
    largest: f64,
    /// Every value is exact, so that sums of products can be made exact.
    exact: bool,
}

impl RowVector {
    /// v as it is.
    pub fn plain(values: Vec<f64>) -> Self {
        let sizes = extremes(&values);
        Self { values, smallest: sizes.smallest, largest: sizes.largest, exact: true }
    }

    /// v∘w. Where `intact(i)` is false, vᵢ lost digits on its way here.
    pub fn new(v: Vec<f64>, weights: Option<&[f64]>, intact: impl Fn(usize) -> bool) -> Self {
        let (mut smallest, mut largest, mut exact) = (f64::INFINITY, 0.0f64, true);
        let mut values = v;
        for (i, value) in values.iter_mut().enumerate() {
            let before = *value;
            let weight = weights.map_or(1.0, |w| w[i]);
            if weights.is_some() {
                // A row without weight counts for nothing, whatever stands there.
                *value = if weight == 0.0 { 0.0 } else { *value * weight };
                exact &= weight == 0.0 || before.mul_add(weight, -*value) == 0.0;
            }
            if weight != 0.0 && !intact(i) {
                smallest = 0.0;
            } else if before != 0.0 && weight != 0.0 {
                smallest = smallest.min(value.abs());
            }
            largest = largest.max(value.abs());
        }
        Self { values, smallest, largest, exact }
    }

    /// Whether a product with an entry of this column can underflow.
    fn may_underflow(&self, column: &ColumnFacts) -> bool {
        let empty = self.smallest == f64::INFINITY || column.empty;
        !empty && (column.underflow || self.smallest < TINY)
    }

    /// Σ ãᵢvᵢ, and how far off it can be.
    pub fn product<C: Column>(&self, column: C, facts: &ColumnFacts) -> (BoundedSum, f64) {
        let scale = facts.scale();
        let sum = if facts.overflow {
            column.bounded_sum(|i, a| if self.values[i] == 0.0 { 0.0 } else { (a * scale) * self.values[i] })
        } else {
            column.bounded_dot(scale, &self.values)
        };
        let lost = if self.may_underflow(facts) {
            column.len() as f64 * (1.0 + self.largest) * (1.0 + facts.largest()) * power_of_two(-1000)
        } else {
            0.0
        };
        (sum, sum.error() + lost)
    }

    /// Whether [`ExactSum`](super::sums::ExactSum) may be used for the product with this column.
    pub fn allows_exact_sum(&self, facts: &ColumnFacts) -> bool {
        self.exact && !self.may_underflow(facts)
    }
}
