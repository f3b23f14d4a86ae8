//! The lower bound D(y) ≤ f* of one x: on the ray y = τAx, and for signed A also at y = Ax + σ1.

use super::dual::{Term, best_scale, least_scale};
use super::evaluate::{Certifier, Look};
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
    /// The best bound found. `image` is (‖Ax‖²_W, WAx), or nothing for y = 0.
    pub(super) fn lower_bound(&self, look: Look, image: Option<(f64, &[f64])>) -> Bound {
        let facts = &self.facts;
        let square_high = image.map_or(0.0, |(square, _)| square);
        if !facts.signed {
            return self.bound_on_ray(look, square_high);
        }
        let columns = || look.iter();
        let mut terms: Vec<Term> = columns().map(|(j, product)| self.term(j, product.1)).collect();
        // A column that may go down as well is one that may go up, turned round.
        let one_each = terms.len();
        terms.extend(columns().filter(|&(j, _)| self.problem.below(j) > 0.0).map(|(j, product)| Term {
            linear: -facts.columns[j].low,
            product: product.1 - 2.0 * product.0,
            cap: facts.cap_below(),
            ridge: down(facts.ridge(j)),
        }));
        let tau = best_scale(&terms, square_high);
        let on_ray = Bound { tau, shift: 0.0, value: dual_value(&terms, tau, square_high) };
        if terms.len() > one_each {
            return on_ray;
        }
        let shifted = self.shifted_bound(terms, look.columns, image);
        if shifted.value.unwrap_or(f64::NEG_INFINITY) > on_ray.value.unwrap_or(f64::NEG_INFINITY) { shifted } else { on_ray }
    }

    fn term(&self, j: usize, product: f64) -> Term {
        let facts = &self.facts;
        Term { linear: facts.columns[j].high, product, cap: facts.cap(self.problem, j), ridge: down(facts.ridge(j)) }
    }

    /// For A ≥ 0. Near an optimum, most columns have cⱼ < τA:ⱼᵀŷ for all τ around 1 and so no part in D: a quick look at all
    /// columns finds those that have, and only they become terms.
    fn bound_on_ray(&self, look: Look, square_high: f64) -> Bound {
        // What a penalty allows for rounding lies far within 1e-12.
        let has_part = |high: f64, least: f64, product: f64| high > 0.0 && high > least * (1.0 - 1e-12) * product.max(0.0);
        let having_part = |least: f64| {
            let columns = look.iter().filter(move |&(j, product)| has_part(self.facts.columns[j].high, least, product.1));
            columns.map(|(j, product)| self.term(j, product.1.max(0.0)))
        };
        let mut terms: Vec<Term> = having_part(1.0).collect();
        let slope_at_one = terms.iter().map(|term| term.product * term.argmax(1.0)).sum::<f64>() - square_high;
        let least = least_scale(slope_at_one, square_high);
        if least < 1.0 {
            terms = having_part(least).collect();
        }
        // The terms left out are zero from there on, and rounding may end just below.
        let tau = best_scale(&terms, square_high).max(least);
        Bound { tau, shift: 0.0, value: dual_value(&terms, tau, square_high) }
    }

    /// y = Ax + σ1 with the least σ that violates no column without a bound of the caller's, if Aᵀ1 > 0. `terms` has one for
    /// each of the columns.
    fn shifted_bound(&self, mut terms: Vec<Term>, columns: &[usize], image: Option<(f64, &[f64])>) -> Bound {
        let Some(sums) = self.column_sums.get_or_init(|| positive_column_sums(self.a, &self.facts)) else {
            return Bound::default();
        };
        let needed = |k: usize| {
            let (j, Term { linear, product, .. }) = (columns[k], terms[k]);
            if self.facts.ridge(j) > 0.0 || self.problem.above(j).is_finite() {
                return 0.0;
            }
            ((linear - product) + 1e-14 * (linear.abs() + product.abs())) / sums[j]
        };
        let shift = (0..terms.len()).map(needed).fold(0.0, f64::max) * (1.0 + 1e-12);
        for (term, sum) in terms.iter_mut().zip(columns.iter().map(|&j| sums[j])) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::facts::ColumnFacts;
    use crate::testing::Random;
    use crate::{DenseMatrix, LeastSquares};

    /// Products of any size beside c, far from an optimum and near one; a ridge, and upper bounds.
    #[test]
    fn columns_without_a_part_in_the_bound_change_nothing() {
        let mut source = Random::new(3);
        let mut random = || source.unit();
        let mut left_out = 0;
        for case in 0..400 {
            let (m, n) = (2 + case % 7, 1 + case % 60);
            let a = DenseMatrix::new(m, n, (0..m * n).map(|_| random()).collect()).unwrap();
            let b: Vec<f64> = (0..m).map(|_| random()).collect();
            let upper: Vec<f64> = (0..n).map(|_| if random() < 0.3 { random() } else { f64::INFINITY }).collect();
            let mut problem = LeastSquares::new(&a, &b).l2(if case % 3 == 0 { random() } else { 0.0 });
            if case % 2 == 0 {
                problem = problem.upper(upper.as_slice());
            }
            let view = a.view();
            let certifier = Certifier::new(&view, &problem).unwrap();
            let nearness = 10f64.powi(-(case as i32 % 16));
            let product = |f: &ColumnFacts, random: f64| f.high * (1.0 + nearness * (2.0 * random - 0.7));
            let products: Vec<(f64, f64)> =
                certifier.facts.columns.iter().map(|f| product(f, random())).map(|g| (g, g)).collect();
            let square = if case % 11 == 0 { 0.0 } else { random() * 4.0 };

            let all: Vec<usize> = (0..n).collect();
            let found = certifier.bound_on_ray(Look { columns: &all, products: &products }, square);
            let terms: Vec<Term> = (0..n).map(|j| certifier.term(j, products[j].1.max(0.0))).collect();
            let tau = best_scale(&terms, square);
            assert_eq!(found.tau.to_bits(), tau.to_bits(), "case {case}");
            let (value, all) = (found.value.unwrap(), dual_value(&terms, tau, square).unwrap());
            assert!((value - all).abs() <= 1e-14 * all.abs(), "case {case}: {value:e} {all:e}");
            left_out += terms.iter().filter(|term| term.penalty(tau) == 0.0).count();
        }
        assert!(left_out > 1000, "{left_out}");
    }
}
