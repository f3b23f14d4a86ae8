//! The linear term c − λ₁ of every column, between proved bounds, and the unit of b that makes it of order one.

use super::facts::{ColumnFacts, Units, largest_exponent};
use super::rows::RowVector;
use super::sums::ExactSum;
use crate::matrix::kernels::{extremes, write_scaled};
use crate::matrix::{Column, Columns, for_columns};
use crate::problem::{LeastSquares, Target};
use crate::scaling::{exponent, ldexp, power_of_two};

/// b in a unit of its own, whatever the columns are: where every row counts, and b fits its unit.
pub struct PlainRhs {
    pub unit: i32,
    pub scaled: RowVector,
}

impl PlainRhs {
    /// The unit of b, if it is so simple.
    pub fn of(target: Target, weights: Option<&[f64]>) -> Option<Self> {
        let Target::Rhs(b) = target else { return None };
        let sizes = extremes(b);
        let fits = weights.is_none() && sizes.largest > 0.0 && exponent(sizes.largest) - exponent(sizes.smallest) <= RANGE;
        fits.then(|| {
            let unit = exponent(sizes.largest);
            Self { unit, scaled: RowVector::plain(in_unit(b, unit)) }
        })
    }
}

/// Fills in `low` and `high` of every column and the unit of b; returns b in that unit.
pub fn fill<M: Columns>(
    a: &M,
    problem: &LeastSquares,
    target: Target,
    weights: Option<&[f64]>,
    columns: &mut [ColumnFacts],
    units: &mut Units,
) -> Option<Vec<f64>> {
    match target {
        Target::Rhs(b) => {
            let counts = rows_that_count(a, weights, b);
            let bears = |i: &usize| b[*i] != 0.0 && counts(*i);
            let weighty = |i: &usize| weights.is_none_or(|w| w[*i] > 0.0);
            units.rhs = match (0..b.len()).any(|i| bears(&i)) {
                true => largest_exponent((0..b.len()).filter(bears).map(|i| b[i])),
                false => largest_exponent((0..b.len()).filter(weighty).map(|i| b[i])), // x = 0, and only ‖b‖ to report
            };
            let scaled = |i: usize| if counts(i) { ldexp(b[i], -units.rhs) } else { 0.0 };
            let intact = |i: usize| b[i] == 0.0 || !counts(i) || scaled(i).is_normal();
            let weighted = RowVector::new((0..b.len()).map(scaled).collect(), weights, intact);
            fill_products(a, problem, columns, &weighted);
        }
        Target::Linear(c) => {
            // The unit is that of the columns worth having; the others can only be zero.
            let worth = |j: &usize| c[*j] > problem.l1 && problem.above(*j) > 0.0 || c[*j] != 0.0 && problem.below(*j) > 0.0;
            let size = |j: usize| exponent(c[j]) + columns[j].exponent();
            let worth_having = (0..c.len()).filter(worth).map(size).max();
            let any = (0..c.len()).filter(|&j| c[j] != 0.0).map(size).max();
            units.rhs = worth_having.or(any).unwrap_or(0) - units.weight;
            for (facts, &c) in columns.iter_mut().zip(c) {
                let scaled = ldexp(c, units.linear(facts));
                let lost = c != 0.0 && !scaled.is_normal();
                let slack = if lost { f64::MIN_POSITIVE } else { 0.0 };
                facts.low = if scaled == f64::INFINITY { f64::MAX } else { scaled - slack };
                facts.high = if c > 0.0 { scaled + slack } else { (scaled + slack).clamp(-f64::MAX, 0.0) };
            }
        }
    }
    finish(problem, columns, units);
    in_its_unit(target, *units)
}

/// Bounds on AᵀWb.
fn fill_products<M: Columns>(a: &M, problem: &LeastSquares, columns: &mut [ColumnFacts], weighted_rhs: &RowVector) {
    let bounds = for_columns(a, |j| match problem.excludes(j) {
        true => (0.0, 0.0),
        false => product_bounds(a.column(j), &columns[j], weighted_rhs),
    });
    for (facts, (low, high)) in columns.iter_mut().zip(bounds) {
        (facts.low, facts.high) = (low, high);
    }
}

/// What does not depend on where c came from.
pub fn finish(problem: &LeastSquares, columns: &mut [ColumnFacts], units: &mut Units) {
    if problem.l1 > 0.0 {
        for (_, facts) in columns.iter_mut().enumerate().filter(|(j, _)| !problem.is_free(*j)) {
            subtract(facts, ldexp(problem.l1, units.linear(facts)));
        }
    }
    for (j, facts) in columns.iter_mut().enumerate().filter(|(j, _)| problem.excludes(*j)) {
        debug_assert!(problem.above(j) == 0.0);
        (facts.low, facts.high) = (0.0, 0.0); // nothing to gain
    }
    recentre(problem, columns, units);
}

/// b in its unit, if there is one.
pub fn in_its_unit(target: Target, units: Units) -> Option<Vec<f64>> {
    match target {
        Target::Rhs(b) => Some(in_unit(b, units.rhs)),
        Target::Linear(_) => None,
    }
}

/// b/2^unit.
fn in_unit(b: &[f64], unit: i32) -> Vec<f64> {
    if unit.abs() > 1000 {
        return b.iter().map(|&b| ldexp(b, -unit)).collect();
    }
    let mut scaled = vec![0.0; b.len()];
    write_scaled(b, power_of_two(-unit), &mut scaled);
    scaled
}

/// A range of exponents of b that one unit can hold.
const RANGE: i32 = 300;

/// Which rows bear on the problem: those with weight, and where b spans a range that no unit can hold, only those that a
/// column touches.
fn rows_that_count<'a, M: Columns>(
    a: &M,
    weights: Option<&'a [f64]>,
    b: &'a [f64],
) -> impl Fn(usize) -> bool + Sync + use<'a, M> {
    let nonzero = || b.iter().filter(|&&v| v != 0.0).map(|&v| exponent(v));
    let range = nonzero().max().unwrap_or(0) - nonzero().min().unwrap_or(0);
    let touched = (range > RANGE).then(|| {
        let mut touched = vec![false; b.len()];
        for j in 0..a.cols() {
            a.column(j).for_each(|i, v| touched[i] |= v != 0.0);
        }
        touched
    });
    move |i| weights.is_none_or(|w| w[i] > 0.0) && touched.as_ref().is_none_or(|t| t[i])
}

/// Where b nearly cancels in every column (or only light rows matter), the largest c is far below the unit of b: take the
/// unit from c instead.
fn recentre(problem: &LeastSquares, columns: &mut [ColumnFacts], units: &mut Units) {
    let possible = |(j, facts): (usize, &ColumnFacts)| {
        let up = if problem.above(j) > 0.0 { facts.high.max(0.0) } else { 0.0 };
        let down = if problem.below(j) > 0.0 { (-facts.low).max(0.0) } else { 0.0 };
        up.max(down)
    };
    let largest = columns.iter().enumerate().map(possible).fold(0.0, f64::max);
    if largest == 0.0 || !largest.is_normal() || exponent(largest) > -100 {
        return;
    }
    let shift = exponent(largest).max(-700);
    units.rhs += shift;
    for facts in columns {
        facts.low = ldexp(facts.low, -shift);
        facts.high = ldexp(facts.high, -shift).max(-f64::MAX);
    }
}

/// Takes λ₁ off both bounds, outwards by the rounding error (none where the difference is exact).
fn subtract(facts: &mut ColumnFacts, penalty: f64) {
    let lost = if penalty < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { 0.0 };
    let difference = |v: f64, penalty: f64| {
        let result = v - penalty;
        let virtual_penalty = v - result;
        let error = (v - (result + virtual_penalty)) + (virtual_penalty - penalty);
        (result, 2.0 * error.abs() + lost)
    };
    if penalty.is_infinite() {
        // Beyond the range of f64, the bounds still hold.
        (facts.low, facts.high) = (f64::NEG_INFINITY, facts.high - f64::MAX / 8.0);
        return;
    }
    let (low, error) = difference(facts.low, penalty);
    facts.low = low - error;
    let (high, error) = difference(facts.high, penalty);
    facts.high = high + error;
}

/// Bounds on Σ ãᵢwᵢb̃ᵢ; where ordinary arithmetic cannot tell its sign, exactly.
pub fn product_bounds<C: Column>(column: C, facts: &ColumnFacts, weighted_rhs: &RowVector) -> (f64, f64) {
    let (sum, error) = weighted_rhs.product(column, facts);
    let sign_unknown = sum.value.abs() <= error && error > 0.0;
    if sign_unknown && !facts.overflow && weighted_rhs.allows_exact_sum(facts) {
        let (scale, mut exact) = (facts.scale(), ExactSum::default());
        column.for_each(|i, a| exact.add_product(a * scale, weighted_rhs.values[i]));
        return exact.bounds();
    }
    (sum.value - error, sum.value + error)
}
