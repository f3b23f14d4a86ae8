//! The lower bound D(y) ≤ f* of one x: on the ray y = τAx, and for signed A also at y = Ax + σ1.

use super::dual::{Term, best_scale};
use super::evaluate::Certifier;
use super::facts::ColumnFacts;
use super::screen::Screen;
use super::signed::positive_column_sums;
use super::sums::{UNIT, at_least_tiny, down, up};
use crate::matrix::Columns;
use crate::matrix::kernels::{BoundedSum, bounded_sum};

/// A dual point y = τAx + σ1 and its value, rounded down.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bound {
    pub tau: f64,
    pub shift: f64,
    /// D(y), where it is finite.
    pub value: Option<f64>,
}

impl<M: Columns> Certifier<'_, M> {
    /// The best bound found. `products` are (A:ⱼᵀWAx, a lower bound on it); `image` is (‖Ax‖²_W, WAx), or nothing for y = 0.
    pub(super) fn lower_bound(&self, products: &[(f64, f64)], image: Option<(f64, &[f64])>, screen: &Screen) -> Bound {
        let facts = &self.facts;
        let square_high = image.map_or(0.0, |(square, _)| square);
        let counts = |(j, f): &(usize, &ColumnFacts)| facts.signed || f.high > 0.0 && !screen.excludes(*j);
        let term = |(j, f): (usize, &ColumnFacts)| Term {
            linear: f.high,
            product: if facts.signed { products[j].1 } else { products[j].1.max(0.0) },
            cap: facts.cap(self.problem, j),
            ridge: down(facts.ridge(j)),
        };
        let columns = || facts.columns.iter().enumerate().filter(counts);
        let mut terms = Vec::with_capacity(columns().count());
        terms.extend(columns().map(term));
        // A column that may go down as well is one that may go up, turned round.
        let one_each = terms.len();
        let may_go_down = |(j, _): &(usize, &ColumnFacts)| self.problem.below(*j) > 0.0;
        terms.extend(columns().filter(may_go_down).map(|(j, f)| Term {
            linear: -f.low,
            product: products[j].1 - 2.0 * products[j].0,
            cap: facts.cap_below(),
            ridge: down(facts.ridge(j)),
        }));
        let tau = best_scale(&terms, square_high);
        let on_ray = Bound { tau, shift: 0.0, value: dual_value(&terms, tau, square_high) };
        if !facts.signed || terms.len() > one_each {
            return on_ray;
        }
        let shifted = self.shifted_bound(terms, image);
        if shifted.value.unwrap_or(f64::NEG_INFINITY) > on_ray.value.unwrap_or(f64::NEG_INFINITY) { shifted } else { on_ray }
    }

    /// y = Ax + σ1 with the least σ that violates no column without a bound of the caller's, if Aᵀ1 > 0. `terms` has one for
    /// every column.
    fn shifted_bound(&self, mut terms: Vec<Term>, image: Option<(f64, &[f64])>) -> Bound {
        let Some(sums) = self.column_sums.get_or_init(|| positive_column_sums(self.a, &self.facts)) else {
            return Bound::default();
        };
        let needed = |j: usize| {
            let Term { linear, product, .. } = terms[j];
            if self.facts.ridge(j) > 0.0 || self.problem.above(j).is_finite() {
                return 0.0;
            }
            ((linear - product) + 1e-14 * (linear.abs() + product.abs())) / sums[j]
        };
        let shift = (0..terms.len()).map(needed).fold(0.0, f64::max) * (1.0 + 1e-12);
        for (term, sum) in terms.iter_mut().zip(sums) {
            term.product += shift * sum - 4.0 * UNIT * (term.product.abs() + shift * sum);
        }
        // ‖y + σ1‖²_W = ‖y‖²_W + 2σ·1ᵀWy + σ²·1ᵀW1.
        let square_high = image.map_or(0.0, |(square, _)| square);
        let cross = image.map_or(BoundedSum::default(), |(_, weighted)| bounded_sum(weighted.len(), |i| weighted[i]));
        let ones = bounded_sum(self.a.rows(), |i| self.weight(i));
        let cross_high = 2.0 * shift * (cross.value + cross.error());
        let ones_high = up(shift * shift * (ones.value + ones.error()));
        let square = square_high + cross_high + ones_high + 8.0 * UNIT * (square_high + cross_high.abs() + ones_high);
        if square.is_nan() {
            return Bound::default();
        }
        let tau = if image.is_some() { 1.0 } else { 0.0 };
        Bound { tau, shift, value: dual_value(&terms, 1.0, square.max(0.0)) }
    }
}

/// D(τ) with every rounding downwards, if it is finite.
fn dual_value(terms: &[Term], tau: f64, square_high: f64) -> Option<f64> {
    let penalty = bounded_sum(terms.len(), |k| terms[k].penalty(tau));
    let quadratic = if tau == 0.0 { 0.0 } else { at_least_tiny(0.5 * (tau * square_high) * tau) };
    let bound = -up(quadratic + up(penalty.value + penalty.error()));
    bound.is_finite().then_some(bound)
}
