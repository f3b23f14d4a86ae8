//! The best dual point on the ray y = τŷ: maximises, exactly,
//!
//! ```text
//! D(τ) = −½τ²‖ŷ‖² − Σⱼ hⱼ(cⱼ − τgⱼ),     hⱼ(d) = max over 0 ≤ x ≤ Uⱼ of d·x − ½λx²
//! ```
//!
//! D is concave and piecewise quadratic; its slope −τ‖ŷ‖² + Σ gⱼxⱼ(τ) falls through zero once.

use super::sums::at_least_tiny;

/// What column j contributes: c (rounded up), g = A:ⱼᵀŷ (rounded down), U (rounded up) and λ (rounded down).
#[derive(Debug, Clone, Copy)]
pub struct Term {
    pub linear: f64,
    pub product: f64,
    pub cap: f64,
    pub ridge: f64,
}

impl Term {
    /// xⱼ(τ), the maximiser in h.
    pub fn argmax(&self, tau: f64) -> f64 {
        let d = self.linear - tau * self.product;
        if d <= 0.0 {
            0.0
        } else if self.ridge > 0.0 {
            (d / self.ridge).min(self.cap)
        } else {
            self.cap
        }
    }

    /// h, rounded up, for the exact values of linear, product, cap, ridge and τ.
    pub fn penalty(&self, tau: f64) -> f64 {
        let product = tau * self.product;
        let rounding = 4.0 * f64::EPSILON * (self.linear.abs() + product.abs());
        let d = (self.linear - product) + rounding;
        if d <= 0.0 || self.cap == 0.0 {
            return 0.0;
        }
        let value = if self.ridge == 0.0 {
            self.cap * d
        } else if d <= self.ridge * self.cap {
            d * (d / self.ridge) * 0.5
        } else {
            // Since d > λU, at least half of d·U remains.
            self.cap * (d - 0.5 * self.ridge * self.cap)
        };
        // A product that underflows is still above zero.
        at_least_tiny(value * (1.0 + 16.0 * f64::EPSILON))
    }

    /// Where xⱼ(τ) changes its form: d = 0, and d = λU.
    fn breaks(&self) -> [f64; 2] {
        let at = |d: f64| (self.linear - d) / self.product;
        [at(0.0), if self.ridge > 0.0 && self.cap.is_finite() { at(self.ridge * self.cap) } else { f64::NAN }]
    }
}

/// The slope of D, with the terms whose form is known inside a bracket folded into a line.
struct Slope<'t> {
    terms: &'t [Term],
    /// Terms that change their form inside the bracket, and where.
    active: Vec<u32>,
    breaks: Vec<f64>,
    /// Everything else: constant − τ·rate.
    constant: f64,
    rate: f64,
}

impl Slope<'_> {
    fn at(&self, tau: f64) -> f64 {
        let moving: f64 = self.active.iter().map(|&k| &self.terms[k as usize]).map(|term| term.product * term.argmax(tau)).sum();
        moving + self.constant - tau * self.rate
    }

    /// Folds what changes its form outside (low, high) only.
    fn narrow(&mut self, low: f64, high: f64) {
        let middle = 0.5 * (low + high);
        self.breaks.clear();
        self.active.retain(|&k| {
            let term = &self.terms[k as usize];
            let before = self.breaks.len();
            self.breaks.extend(term.breaks().into_iter().filter(|&b| b > low && b < high));
            if self.breaks.len() > before {
                return true;
            }
            let x = term.argmax(middle);
            if term.ridge > 0.0 && x > 0.0 && x < term.cap {
                self.constant += term.product * (term.linear / term.ridge);
                self.rate += term.product * (term.product / term.ridge);
            } else {
                self.constant += term.product * x;
            }
            false
        });
    }
}

/// Breaks that are few enough to be sorted.
const FEW: usize = 32;

/// The least τ that can maximise D, of which the slope at τ = 1 is known: terms without a part in D from here on can be left out.
/// Near a solution the answer is close to 1; slopes fall at least as fast as −τ‖ŷ‖², so the zero of that line bounds it.
pub fn least_scale(slope_at_one: f64, square: f64) -> f64 {
    if !is_usable(square) {
        0.0
    } else if slope_at_one > 0.0 {
        1.0
    } else {
        let low = (1.0 + slope_at_one / square - 1e-12).max(0.0);
        if low.is_nan() { 0.0 } else { low }
    }
}

fn is_usable(square: f64) -> bool {
    square > 0.0 && square.is_finite()
}

/// The τ ≥ 0 that maximises D, to rounding. Any τ gives a valid bound, so nothing has to be rounded here.
pub fn best_scale(terms: &[Term], square: f64) -> f64 {
    if !is_usable(square) {
        return 0.0;
    }
    if terms.iter().all(|term| term.ridge == 0.0 && term.product >= 0.0 && term.cap < f64::INFINITY) {
        return best_scale_of_steps(terms, square);
    }
    let whole = |tau: f64| terms.iter().map(|term| term.product * term.argmax(tau)).sum::<f64>() - tau * square;
    let mut value = whole(1.0);
    let (mut low, mut high) = (least_scale(value, square), 1.0);
    if value > 0.0 {
        // The same line bounds it on the other side.
        high = low + value / square;
        for _ in 0..8 {
            if high.is_finite() {
                break;
            }
            low *= 4.0; // some term has no cap yet at this τ
            value = whole(low);
            high = if value > 0.0 { low + value / square } else { low };
            low = if value > 0.0 { low } else { 0.25 * low };
        }
        high += 1e-12 * high;
    }
    // A term that is zero at the low end and falls stays zero: most are, near a solution.
    let stays_zero = |term: &Term| term.product >= 0.0 && term.linear <= low * (1.0 - 1e-12) * term.product;
    let active = (0..terms.len() as u32).filter(|&k| !stays_zero(&terms[k as usize])).collect();
    let mut slope = Slope { terms, active, breaks: Vec::new(), constant: 0.0, rate: square };
    slope.narrow(low, high);
    while slope.breaks.len() > FEW {
        let middle = slope.breaks.len() / 2;
        let tau = *slope.breaks.select_nth_unstable_by(middle, f64::total_cmp).1;
        if slope.at(tau) > 0.0 {
            low = tau;
        } else {
            high = tau;
        }
        slope.narrow(low, high);
    }
    let mut breaks = std::mem::take(&mut slope.breaks);
    breaks.sort_by(f64::total_cmp);
    let falls_at = breaks.partition_point(|&b| slope.at(b) > 0.0);
    let left = if falls_at == 0 { low } else { breaks[falls_at - 1] };
    let right = breaks.get(falls_at).copied().unwrap_or(high);
    // Between two breaks the slope is a line: through its values at two inner points.
    let (p, q) = (left + (right - left) * 0.25, left + (right - left) * 0.75);
    let (at_p, at_q) = (slope.at(p), slope.at(q));
    if at_p > at_q { (p + (q - p) * (at_p / (at_p - at_q))).clamp(left, right) } else { left.max(right.min(1.0)) }
}

/// The same where every xⱼ(τ) is Uⱼ up to its break cⱼ/gⱼ and zero from there on: the slope of D is Σ gⱼUⱼ − τ‖ŷ‖², the sum over the
/// breaks beyond τ. A weighted selection among them.
fn best_scale_of_steps(terms: &[Term], square: f64) -> f64 {
    const FEW: usize = 64;
    let step = |term: &Term| (term.linear / term.product, term.product * term.cap);
    let mut steps: Vec<(f64, f64)> = terms.iter().filter(|term| term.linear > 0.0 && term.product > 0.0).map(step).collect();
    let (mut open, mut beyond) = (&mut steps[..], 0.0); // the answer is at one of the open breaks, or on either side of one
    while open.len() > FEW {
        let middle = open.len() / 2;
        let (_, &mut (tau, _), after) = open.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0));
        let sum = beyond + after.iter().map(|step| step.1).sum::<f64>();
        if sum > tau * square {
            open = &mut open[middle + 1..];
        } else {
            open = &mut open[..=middle];
            beyond = sum;
        }
    }
    open.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let (mut sum, mut right) = (beyond, f64::INFINITY);
    for &mut (tau, step) in open {
        if sum >= tau * square {
            break;
        }
        (sum, right) = (sum + step, tau);
    }
    (sum / square).min(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    fn value(terms: &[Term], square: f64, tau: f64) -> f64 {
        let h = |term: &Term| {
            let x = term.argmax(tau);
            (term.linear - tau * term.product) * x - 0.5 * term.ridge * x * x
        };
        -0.5 * tau * tau * square - terms.iter().map(h).sum::<f64>()
    }

    /// Against a fine search, with and without ridge, infinite caps with ridge, and products of both signs.
    #[test]
    fn no_other_scale_gives_a_better_bound() {
        let mut source = Random::new(1);
        let mut random = || source.unit();
        for case in 0..400 {
            let terms: Vec<Term> = (0..1 + case % 12)
                .map(|_| {
                    let ridge = if case % 3 == 0 { random() } else { 0.0 };
                    let cap = if ridge > 0.0 && random() < 0.3 { f64::INFINITY } else { random() * 2.0 };
                    let product = if case % 5 == 0 { random() - 0.4 } else { random() };
                    Term { linear: random() * 2.0 - 0.3, product, cap, ridge }
                })
                .collect();
            let square = random() * 3.0 + 1e-3;
            let tau = best_scale(&terms, square);
            let best = value(&terms, square, tau);
            for k in 0..=4000 {
                let other = tau * (k as f64 / 2000.0) + if k % 2 == 0 { 0.0 } else { random() * 5.0 };
                let rival = value(&terms, square, other);
                assert!(rival <= best + 1e-9 * (1.0 + best.abs()), "case {case}: τ = {tau} gives {best}, {other} gives {rival}");
            }
        }
    }

    /// More steps than are sorted, some at the same place and some that are none, against every place where the best scale can be.
    #[test]
    fn a_selection_among_many_steps_finds_the_best_scale() {
        let mut source = Random::new(2);
        let mut random = || source.unit();
        for case in 0..60 {
            let spread = 10f64.powi(-(case % 14));
            let terms: Vec<Term> = (0..65 + 7 * case as usize)
                .map(|k| {
                    let product = if k % 17 == 0 { 0.0 } else { random() + 0.01 };
                    let at = 1.0 + spread * (if k % 5 == 0 { 0.25 } else { random() } - 0.4);
                    let linear = if k % 23 == 0 { -random() } else { product * at };
                    Term { linear, product, cap: random(), ridge: 0.0 }
                })
                .collect();
            let square = random() * terms.len() as f64 * 0.3 + 1e-3;
            let tau = best_scale(&terms, square);
            let best = value(&terms, square, tau);
            let beyond = |tau: f64| terms.iter().filter(|t| t.linear > tau * t.product).map(|t| t.product * t.cap).sum::<f64>();
            let breaks = || terms.iter().filter(|t| t.product > 0.0).map(|t| t.linear / t.product);
            for rival in breaks().chain(breaks().map(|tau| beyond(tau) / square)).chain([0.0, beyond(0.0) / square]) {
                let other = value(&terms, square, rival.max(0.0));
                assert!(other <= best + 1e-12 * best.abs(), "case {case}: {tau} gives {best}, {rival} gives {other}");
            }
        }
    }
}
