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
    /// Some value is below zero.
    negative: bool,
    /// Every value is exact, so that sums of products can be made exact.
    exact: bool,
}

impl RowVector {
    /// v as it is.
    pub fn plain(values: Vec<f64>) -> Self {
        let sizes = extremes(&values);
        Self { values, smallest: sizes.smallest, largest: sizes.largest, negative: sizes.negative, exact: true }
    }

    /// v∘w. Where `intact(i)` is false, vᵢ lost digits on its way here.
    pub fn new(v: Vec<f64>, weights: Option<&[f64]>, intact: impl Fn(usize) -> bool) -> Self {
        let (mut smallest, mut largest, mut negative, mut exact) = (f64::INFINITY, 0.0f64, false, true);
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
            negative |= *value < 0.0;
        }
        Self { values, smallest, largest, negative, exact }
    }

    /// The least |value| that is not exactly zero; 0 if one was lost, ∞ if all are zero.
    pub fn smallest(&self) -> f64 {
        self.smallest
    }

    /// Whether products with the entries of this column never cancel, and in the caller's units neither overflow nor lose more below
    /// the range of f64 than in the column's own.
    fn is_plain(&self, column: &ColumnFacts) -> bool {
        let most = if self.may_underflow(column) { 50 } else { 200 };
        let in_range = (-200..=most).contains(&column.exponent()) && self.largest < power_of_two(700);
        in_range && !self.negative && !column.signed && !column.overflow
    }

    /// Whether a product with an entry of this column can underflow.
    fn may_underflow(&self, column: &ColumnFacts) -> bool {
        let empty = self.smallest == f64::INFINITY || column.empty;
        !empty && (column.underflow || self.smallest < TINY)
    }

    /// Σ ãᵢvᵢ, and how far off it can be.
    pub fn product<C: Column>(&self, column: C, facts: &ColumnFacts) -> (BoundedSum, f64) {
        let scale = facts.scale();
        let sum = if self.is_plain(facts) {
            column.positive_dot(&self.values).scaled(scale)
        } else if facts.overflow {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::Certifier;
    use crate::certificate::sums::ExactSum;
    use crate::matrix::Columns;
    use crate::testing::Random;
    use crate::{CscMatrix, LeastSquares};

    /// Columns of all sizes, full and not, some with entries that are tiny beside the others; vectors with tiny elements, and with
    /// negative ones. Whichever way the product takes, the exact one lies within its error.
    #[test]
    fn products_are_as_close_as_they_say_on_every_way() {
        let mut source = Random::new(5);
        let mut random = || source.unit();
        let (mut plain, mut general) = (0, 0);
        for case in 0..600 {
            let m = 1 + case % 300;
            let rows: Vec<u32> = (0..m as u32).filter(|_| case % 3 == 0 || random() < 0.7).collect();
            let unit = power_of_two([0, 150, -150, 300, -300, 40, -40][case % 7]);
            let tiny = if case % 5 == 0 { 1e-140 } else { 1.0 };
            let values: Vec<f64> =
                rows.iter().map(|_| (0.1 + random()) * unit * if random() < 0.1 { tiny } else { 1.0 }).collect();
            let a = CscMatrix::new(m, 1, vec![0, rows.len()], rows.clone(), values.clone()).unwrap();
            let (view, b) = (a.view(), vec![1.0; m]);
            let problem = LeastSquares::new(&a, &b);
            let facts = Certifier::new(&view, &problem).unwrap().facts.columns[0];
            let least = if case % 4 == 0 { 1e-130 } else { 0.5 };
            let sign = |r: f64| if case % 6 == 1 && r < 0.5 { -1.0 } else { 1.0 };
            let y: Vec<f64> = (0..m).map(|_| random().max(least) * sign(random())).collect();
            let vector = RowVector::plain(y.clone());
            *if vector.is_plain(&facts) { &mut plain } else { &mut general } += 1;
            let (sum, error) = vector.product(view.column(0), &facts);
            // Exact in units in which nothing underflows, and without those that count for nothing.
            let mut exact = ExactSum::default();
            for (&i, &v) in rows.iter().zip(&values) {
                exact.add_product(v * facts.scale(), y[i as usize]);
            }
            exact.add(-sum.value);
            let (low, high) = exact.bounds();
            assert!(low.abs().max(high.abs()) <= error, "case {case}: off by {low:e}, {error:e} allowed");
            assert!(error <= 1e-14 * sum.magnitude + power_of_two(-900), "case {case}: {error:e} beside {:e}", sum.magnitude);
        }
        assert!(plain > 200 && general > 50, "{plain}, {general}");
    }
}
