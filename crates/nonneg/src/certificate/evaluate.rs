//! One x against the problem: objective, lower bound, gap, gradient and natural residual from one pair of passes.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::evaluation::{Evaluation, relative};
use super::facts::Facts;
use super::rows::TINY;
use super::screen::Screen;
use super::signed::{direction_bound, rank_bound, rhs_norm};
use super::sums::{UNIT, down, up};
use crate::error::Result;
use crate::matrix::kernels::{BoundedSum, GAMMA, bounded_distance, bounded_square, bounded_sum};
use crate::matrix::{Column, Columns, CscMatrix, MAX_PARTS, for_some_columns, multiply};
use crate::problem::LeastSquares;
use crate::scaling::{ldexp, power_of_two};

/// A problem, ready to certify any x.
pub(crate) struct Certifier<'a, M: Columns> {
    pub(super) a: &'a M,
    pub(super) problem: &'a LeastSquares<'a>,
    pub facts: Facts,
    /// Columns that can be of use, in order: all but those with cⱼ ≤ 0 for A ≥ 0, and those that the problem leaves out.
    of_use: Vec<usize>,
    /// ½‖b‖²_W, rounded down.
    pub(super) half_rhs_square: Option<f64>,
    /// f̂ from single columns: an upper bound on f*.
    best_single: f64,
    /// r(0)².
    residual_at_zero: f64,
    /// −½‖b‖²_W, rounded down, for signed A: f never falls below it (y = b proves that), and x may be close.
    perfect_fit: Option<f64>,
    /// The gap to a perfect fit that is worth mentioning.
    close_fit: f64,
    /// For signed A: lower bounds on Aᵀ1 > 0, if that holds; computed when first needed.
    pub(super) column_sums: OnceLock<Option<Vec<f64>>>,
}

impl<'a, M: Columns> Certifier<'a, M> {
    /// Two passes over A.
    pub fn new(a: &'a M, problem: &'a LeastSquares<'a>) -> Result<Self> {
        let facts = Facts::new(a, problem)?;
        let half_rhs_square = facts.rhs.as_ref().map(|b| {
            let sum = weighted_square(b, facts.weights.as_deref());
            let lost = b.len() as f64 * power_of_two(-1000); // squares that underflow
            down(0.5 * (sum.value - sum.error() - lost).max(0.0))
        });
        let perfect_fit = if facts.signed { rhs_norm(&facts).map(|norm| -up(0.5 * up(norm * norm))) } else { None };
        let mut certifier = Self {
            a,
            problem,
            of_use: (0..a.cols()).filter(|&j| is_of_use(&facts, problem, j)).collect(),
            facts,
            half_rhs_square,
            best_single: 0.0,
            residual_at_zero: 0.0,
            perfect_fit,
            close_fit: 0.0,
            column_sums: OnceLock::new(),
        };
        certifier.best_single = (0..a.cols()).map(|j| certifier.single_column(j)).fold(0.0, f64::min);
        let residual = |j: usize| {
            let facts = &certifier.facts.columns[j];
            certifier.residual_term(j, 0.0, -facts.linear())
        };
        // An empty column worth having is infinitely far from its place at zero, and presolve puts it there.
        certifier.residual_at_zero = plain_sum((0..a.cols()).map(residual).filter(|r| r.is_finite()));
        Ok(certifier)
    }

    /// Where x is within this gap of a perfect fit, that counts as a proof.
    pub fn with_close_fit(self, close_fit: f64) -> Self {
        Self { close_fit, ..self }
    }

    /// n.
    pub fn columns(&self) -> usize {
        self.a.cols()
    }

    /// Stored entries of column j.
    pub fn entries(&self, j: usize) -> usize {
        self.a.column_len(j)
    }

    /// Stored entries of A.
    pub fn nnz(&self) -> usize {
        self.a.nnz()
    }

    /// Multiply-adds that [`new`](Self::new) took.
    pub fn setup_work(&self) -> u64 {
        let used = (0..self.a.cols()).filter(|&j| !self.problem.excludes(j)).map(|j| self.a.column_len(j) as u64).sum::<u64>();
        if self.problem.prepared().is_some() { used } else { self.a.nnz() as u64 + used }
    }

    /// Whether f seems to fall without end: with a given c and signed A it can, along some d ≥ 0 with Ad = 0 and cᵀd > 0.
    /// No single column then explains what has been gained already, not by twelve orders of magnitude.
    pub fn falls_without_end(&self, evaluation: &Evaluation) -> bool {
        let explained = self.a.cols() as f64 * self.best_single;
        self.facts.signed && self.facts.rhs.is_none() && evaluation.best_known < 1e12 * explained
    }

    /// Whether nothing that is known bounds some column: A is signed, it has no upper bound and no ridge.
    pub fn wants_farthest(&self) -> bool {
        let endless = |j: usize| self.problem.above(j).is_infinite() || self.problem.below(j) > 0.0;
        let unbounded = |j: usize| self.facts.ridge(j) == 0.0 && endless(j);
        self.facts.signed && self.facts.farthest.get().is_none() && (0..self.a.cols()).any(unbounded)
    }

    /// Tries to bound all columns, once; returns the multiply-adds spent. `direction` looks for a t with Aᵀt > 0 (zero for free
    /// columns): a hint, of which nothing is believed.
    pub fn prove_farthest(&self, direction: impl FnOnce() -> (Vec<f64>, u64)) -> u64 {
        let (mut bound, mut work) = rank_bound(self.a, &self.facts);
        if bound.is_none() {
            let (t, spent) = direction();
            let (shown, checked) = direction_bound(self.a, &self.facts, self.problem, t);
            (bound, work) = (shown, work + spent + checked);
        }
        let _ = self.facts.farthest.set(bound.unwrap_or(f64::INFINITY));
        work
    }

    /// x in scaled units, from its origin; what is not zero stays so.
    pub fn to_scaled(&self, x: &[f64]) -> Vec<f64> {
        let unit = self.facts.units.rhs;
        let scaled = |j: usize| {
            let z = x[j] - self.problem.origin(j);
            let size = ldexp(z.abs(), -self.facts.columns[j].exponent() - unit);
            if z == 0.0 { 0.0 } else { size.max(f64::MIN_POSITIVE).copysign(z) }
        };
        (0..x.len()).map(scaled).collect()
    }

    /// Scaled x in the caller's units, within the caller's bounds.
    pub fn to_caller(&self, x: &[f64]) -> Vec<f64> {
        let unit = self.facts.units.rhs;
        let caller = |j: usize| {
            let z = ldexp(x[j], self.facts.columns[j].exponent() + unit);
            self.problem.clip(j, (self.problem.origin(j) + z).clamp(-f64::MAX, f64::MAX))
        };
        (0..x.len()).map(caller).collect()
    }

    /// r(0), scaled.
    pub fn residual_at_zero(&self) -> f64 {
        self.residual_at_zero.sqrt()
    }

    /// The matrix in scaled units, without rows that have no weight: for algorithms, where the caller's numbers would
    /// leave the range of f64 on the way.
    pub fn scaled_copy(&self) -> CscMatrix<f64, u64> {
        let (mut col_ptr, mut row_idx, mut values) = (vec![0], Vec::new(), Vec::new());
        for (j, facts) in self.facts.columns.iter().enumerate() {
            let scale = facts.scale();
            self.a.column(j).for_each(|i, v| {
                if v != 0.0 && self.weight(i) > 0.0 {
                    row_idx.push(i as u64);
                    values.push(v * scale);
                }
            });
            col_ptr.push(values.len());
        }
        CscMatrix::from_checked(self.a.rows(), col_ptr, row_idx, values)
    }

    /// min f over multiples of one column, rounded up: f* is at most this.
    fn single_column(&self, j: usize) -> f64 {
        let facts = &self.facts.columns[j];
        let curvature = up(facts.norm * (1.0 + 2.0 * GAMMA) + self.facts.ridge(j));
        let upper = down(self.facts.upper(self.problem, j));
        // Up if that gains, otherwise down where it may.
        let (low, limit) = if facts.low > 0.0 { (facts.low, upper) } else { (-facts.high, self.problem.below(j)) };
        if low <= 0.0 || curvature == 0.0 {
            return 0.0;
        }
        let x = (low / curvature).min(limit);
        let gain = x * (low - 0.5 * curvature * x);
        // Where a bound was too small for these units, or a product lost digits, nothing is proved.
        if x.min(gain) < power_of_two(-960) { 0.0 } else { -down(gain) }
    }

    /// (Lⱼ + λ₂)(xⱼ − clip(xⱼ − ∇ⱼ/(Lⱼ + λ₂), 0, ℓⱼ))², without a lower limit where x has none.
    fn residual_term(&self, j: usize, x: f64, gradient: f64) -> f64 {
        let (curvature, upper) = (self.facts.curvature(j), self.facts.upper(self.problem, j));
        let below = self.problem.below(j);
        if curvature == 0.0 {
            // An empty column: optimal exactly at its bound, or at zero.
            let done = if gradient < 0.0 { x == upper } else { gradient == 0.0 || x == -below };
            return if done { 0.0 } else { f64::INFINITY };
        }
        // The same as x − clip(x − ∇/L, 0, ℓ), but a small step from a huge x is not lost.
        let change = (gradient / curvature).max(x - upper).min(x + below);
        curvature * change * change
    }

    /// Everything about one scaled x within its bounds: a pass over its support for Ax, and one over A for Aᵀ(Ax), without the columns that
    /// are screened out.
    pub fn evaluate(&self, x: &[f64], screen: &Screen) -> Evaluation {
        let (a, facts) = (self.a, &self.facts);
        let support: Vec<usize> = (0..x.len()).filter(|&j| x[j] != 0.0).collect();
        let image = multiply(a, support.len(), |k| (support[k], facts.columns[support[k]].scale(), x[support[k]]));
        // With weights the products need WAx, and Ax itself is still wanted at the end.
        let unweighted = facts.weights.as_ref().map(|_| image.clone());
        let weighted = facts.weigh(image);
        let image = unweighted.as_ref().unwrap_or(&weighted.values);
        let square = weighted_square(image, facts.weights.as_deref());
        let is_tiny = |v: f64, w: f64| v != 0.0 && w != 0.0 && v.abs().min(v.abs() * w) < TINY;
        let may_underflow = match &facts.weights {
            None => weighted.smallest() < TINY,
            Some(w) => image.iter().zip(w).any(|(&v, &w)| is_tiny(v, w)),
        };
        let lost = if may_underflow { image.len() as f64 * power_of_two(-1000) } else { 0.0 };
        let square_high = up(square.value + square.error()) + lost;
        // An x of zero, or beyond the range of f64, has no products worth a pass; y = 0 is then the dual point.
        let usable = !support.is_empty() && square_high.is_finite();
        let columns = self.looked_at(x, &support, screen);
        let products: Vec<(f64, f64)> = match usable {
            false => vec![(0.0, 0.0); columns.len()],
            true => for_some_columns(a, &columns, |j| {
                let (sum, error) = weighted.product(a.column(j), &facts.columns[j]);
                (sum.value, sum.value - error)
            }),
        };
        let look = Look { columns: &columns, products: &products };

        // f(x) = ½‖Ax‖² + ½λ₂‖x‖² − cᵀx, rounded up.
        let least = |j: usize| if x[j] > 0.0 { facts.columns[j].low } else { facts.columns[j].high };
        let linear_low = bounded_sum(support.len(), |k| least(support[k]) * x[support[k]]);
        let ridge = bounded_sum(support.len(), |k| facts.ridge(support[k]) * x[support[k]] * x[support[k]]);
        let image_error = self.image_error(x, &support, square_high);
        let square_exact = up((square_high.sqrt() + image_error).powi(2));
        let ridge_high = up(ridge.value + ridge.error());
        let t_low = linear_low.value - linear_low.error();
        let rounding = 8.0 * UNIT * (square_exact + ridge_high + t_low.abs());
        let (underflow, lost) = self.underflow(x, &support, look, square_exact);
        let objective = 0.5 * (square_exact + ridge_high) - t_low + rounding + underflow;

        let bound = self.lower_bound(look, usable.then_some((square_high, &weighted.values)));
        let best_known = self.best_known(objective, t_low, square_exact + ridge_high + 2.0 * underflow);
        let radius = match bound.value {
            Some(value) if usable && lost == 0.0 => up(up(2.0 * (objective - value)).sqrt() + image_error) + power_of_two(-400),
            _ => f64::INFINITY,
        };
        let slopes = self.slopes(x, look, radius);
        let objective_high = objective + self.shift_slack(x, &slopes.gradient);
        let dual_gap = bound.value.and_then(|value| relative(objective_high - value, best_known));
        let fit_gap = self.perfect_fit.and_then(|value| relative(objective_high - value, best_known));
        let entries = |columns: &[usize]| columns.iter().map(|&j| a.column_len(j) as u64).sum::<u64>();
        let work = entries(&support) + if usable { entries(&columns) } else { 0 };

        let plain_linear = plain_sum(support.iter().map(|&j| facts.columns[j].linear() * x[j]));
        let image = unweighted.unwrap_or(weighted.values);
        let (fit, penalties) = self.caller_objective(x, &support, &image, ridge.value);
        Evaluation {
            bound,
            dual_gap,
            fit_gap: fit_gap.filter(|&gap| gap <= self.close_fit),
            best_known,
            residual_square: if usable || support.is_empty() { slopes.residual_square } else { f64::INFINITY },
            support: if self.problem.is_shifted() { self.nonzeros(x) } else { support.len() },
            image: Arc::new(image),
            gradient: slopes.gradient,
            work,
            complete: screen.is_empty(),
            excluded: slopes.excluded,
            fit,
            penalties,
            objective: 0.5 * (square.value + ridge.value) - plain_linear,
            lost,
        }
    }

    /// Columns whose products with Ax matter: those of use that are not screened out, and those where x is.
    fn looked_at(&self, x: &[f64], support: &[usize], screen: &Screen) -> Cow<'_, [usize]> {
        let is_of_use = |j: usize| is_of_use(&self.facts, self.problem, j);
        if screen.is_empty() && support.iter().all(|&j| is_of_use(j)) {
            return Cow::Borrowed(&self.of_use);
        }
        let matters = |j: &usize| x[*j] != 0.0 || is_of_use(*j) && !screen.excludes(*j);
        Cow::Owned((0..x.len()).filter(matters).collect())
    }

    /// What the products say of the columns looked at, in one look at all of them: there can be millions. A column farther from its
    /// place than `radius` allows is proved to be zero at the optimum.
    fn slopes(&self, x: &[f64], look: Look, radius: f64) -> Slopes {
        let facts = &self.facts;
        let mut slopes = Slopes { gradient: vec![0.0; x.len()], residual_square: 0.0, excluded: Vec::new() };
        let may_exclude = radius < f64::INFINITY && !facts.signed;
        for (j, (product, least)) in look.iter() {
            let (column, x) = (&facts.columns[j], x[j]);
            let gradient = product - column.linear() + facts.ridge(j) * x;
            slopes.gradient[j] = gradient;
            // Where x cannot go down and should not go up, as at most columns, it is in its place.
            if x != 0.0 || gradient < 0.0 || gradient.is_nan() || facts.signed {
                slopes.residual_square += self.residual_term(j, x, gradient);
            }
            let high = column.high.max(0.0);
            if may_exclude && x == 0.0 && least > high && !column.underflow {
                let norm_high = column.norm * (1.0 + 2.0 * GAMMA);
                if least > up(high + radius * up(norm_high.sqrt())) {
                    slopes.excluded.push(j);
                }
            }
        }
        slopes
    }

    /// What f(x) can be off by because x − o was rounded, where x is measured from an origin o: the error meets the slope.
    fn shift_slack(&self, x: &[f64], gradient: &[f64]) -> f64 {
        if !self.problem.is_shifted() {
            return 0.0;
        }
        let moved = (0..x.len()).filter(|&j| x[j] != 0.0 && self.problem.origin(j) != 0.0);
        let (mut meets, mut reach) = (0.0, 0.0);
        for j in moved {
            let rounding = 2.0 * UNIT * x[j].abs();
            meets += rounding * gradient[j].abs();
            reach += rounding * (1.0 + 2.0 * GAMMA) * self.facts.columns[j].norm.sqrt();
        }
        up(2.0 * (meets + reach * reach))
    }

    /// How many entries of the caller's x are not zero.
    fn nonzeros(&self, x: &[f64]) -> usize {
        self.to_caller(x).iter().filter(|&&x| x != 0.0).count()
    }

    /// The error in b − Ao, scaled.
    pub(super) fn shift_error(&self) -> f64 {
        ldexp(self.facts.shift_error, -self.facts.units.norm())
    }

    /// What the computed Ax can be off by, as a norm: sums of `support` terms and [`MAX_PARTS`] parts.
    fn image_error(&self, x: &[f64], support: &[usize], square_high: f64) -> f64 {
        let gamma = (support.len() + MAX_PARTS + 4) as f64 * UNIT * 1.01;
        if !self.facts.signed {
            return up(square_high.sqrt()) * gamma;
        }
        // Entries of Ax may cancel: the error is relative to |A|x, and ‖|A|x‖ ≤ Σ xⱼ‖A:ⱼ‖.
        let size = bounded_sum(support.len(), |k| x[support[k]].abs() * self.facts.columns[support[k]].norm.sqrt());
        gamma * size.value * 1.01
    }

    /// What numbers below the range of f64 can have cost f(x) at most, and the part of it due to columns at risk.
    fn underflow(&self, x: &[f64], support: &[usize], look: Look, square: f64) -> (f64, f64) {
        let tiny = |v: f64| v != 0.0 && v.abs() < TINY;
        let at_risk = |j: usize| x[j].abs() < TINY || self.facts.columns[j].underflow || tiny(self.facts.columns[j].low);
        let (slack, mut lost) = (support.len() as f64, 0.0);
        for &j in support {
            if at_risk(j) {
                // An error of 2^-1074 in xⱼ or in an entry of its column, times all that it can meet.
                let facts = &self.facts.columns[j];
                let slope = facts.low.abs().max(facts.high.abs())
                    + look.product(j).0.abs()
                    + self.facts.curvature(j) * (1.0 + x[j].abs());
                lost += 1.0 + x[j].abs() + slope + (1.0 + x[j].abs()) * (1.0 + square);
            }
        }
        ((slack + lost) * power_of_two(-1000), lost * power_of_two(-1000))
    }

    pub(super) fn weight(&self, i: usize) -> f64 {
        self.facts.weights.as_ref().map_or(1.0, |w| w[i])
    }

    /// f̂: the best objective known, rounded up; f* ≤ f̂ ≤ 0.
    fn best_known(&self, objective: f64, t_low: f64, curvature_high: f64) -> f64 {
        let rescaled = if t_low > 0.0 && !self.facts.bounded && curvature_high > 0.0 {
            -down(0.5 * t_low * (t_low / curvature_high))
        } else {
            0.0
        };
        let candidates = [objective, rescaled, self.best_single];
        candidates.into_iter().filter(|v| !v.is_nan()).fold(0.0, f64::min)
    }

    /// (½‖Ax − b‖²_W, penalties): f(x) without its constant would lose digits here.
    fn caller_objective(&self, x: &[f64], support: &[usize], image: &[f64], ridge: f64) -> (Option<f64>, f64) {
        let facts = &self.facts;
        let fit = facts.rhs.as_ref().map(|b| {
            let square = match &facts.weights {
                None => bounded_distance(image, b).value,
                Some(w) => weighted_square(&image.iter().zip(b).map(|(y, b)| y - b).collect::<Vec<f64>>(), Some(w)).value,
            };
            let lost = square < TINY * TINY && (0..b.len()).any(|i| image[i] != b[i] && self.weight(i) != 0.0);
            if lost { f64::NAN } else { 0.5 * square } // squares that underflow are no number to report
        });
        let l1 = |k: usize| match self.problem.is_free(support[k]) {
            true => 0.0,
            false => ldexp(self.problem.l1, facts.units.linear(&facts.columns[support[k]])) * x[support[k]],
        };
        let sparsity = if self.problem.l1 > 0.0 { bounded_sum(support.len(), l1).value } else { 0.0 };
        (fit, sparsity + 0.5 * ridge)
    }
}

/// Whether x*ⱼ can be other than zero, as far as c tells.
#[inline]
fn is_of_use(facts: &Facts, problem: &LeastSquares, j: usize) -> bool {
    (facts.signed || facts.columns[j].high > 0.0) && !problem.excludes(j)
}

/// Columns, in order, with (A:ⱼᵀWAx, a lower bound on it). All others count as if their products were zero.
#[derive(Clone, Copy)]
pub(super) struct Look<'l> {
    pub columns: &'l [usize],
    pub products: &'l [(f64, f64)],
}

impl<'l> Look<'l> {
    /// Each column with its product.
    pub fn iter(self) -> impl Iterator<Item = (usize, (f64, f64))> + 'l {
        self.columns.iter().copied().zip(self.products.iter().copied())
    }

    /// That of column j.
    pub fn product(self, j: usize) -> (f64, f64) {
        self.columns.binary_search(&j).map_or((0.0, 0.0), |place| self.products[place])
    }
}

/// What [`Certifier::slopes`] finds.
struct Slopes {
    /// Zero for columns that were not looked at: x may stay where it is.
    gradient: Vec<f64>,
    /// r(x)².
    residual_square: f64,
    excluded: Vec<usize>,
}

/// A sum that keeps an infinite term infinite.
fn plain_sum(terms: impl Iterator<Item = f64>) -> f64 {
    terms.fold(0.0, |sum, term| sum + term)
}

/// Σ wᵢvᵢ².
fn weighted_square(v: &[f64], weights: Option<&[f64]>) -> BoundedSum {
    match weights {
        None => bounded_square(v, 1.0),
        Some(w) => bounded_sum(v.len(), |i| if w[i] == 0.0 { 0.0 } else { w[i] * v[i] * v[i] }),
    }
}
