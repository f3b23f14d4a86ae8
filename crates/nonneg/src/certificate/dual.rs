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
    fn argmax(&self, tau: f64) -> f64 {
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

/// The slope of D at τ: what the given terms contribute, and `fixed.0 − τ·fixed.1` for everything else.
fn slope<'t>(terms: impl Iterator<Item = &'t Term>, fixed: (f64, f64), tau: f64) -> f64 {
    let moving: f64 = terms.map(|term| term.product * term.argmax(tau)).sum();
    moving + fixed.0 - tau * fixed.1
}

/// The τ ≥ 0 that maximises D, to rounding. Any τ gives a valid bound, so nothing has to be rounded here.
pub fn best_scale(terms: &[Term], square: f64) -> f64 {
    if square <= 0.0 || square.is_nan() || square.is_infinite() {
        return 0.0;
    }
    // A bracket: near a solution the answer is close to 1, and slope(0) ≥ 0 unless it is 0 itself.
    let (mut low, mut high) = (0.0f64, f64::INFINITY);
    let mut tau = 1.0f64;
    for _ in 0..8 {
        let value = slope(terms.iter(), (0.0, square), tau);
        if value > 0.0 {
            low = tau;
        } else {
            high = tau;
        }
        // Slopes fall at least as fast as −τ‖ŷ‖²: the step to zero of that line bounds the answer on the other side.
        let step = tau + value / square;
        tau = if high.is_infinite() {
            step.min(4.0 * tau).max(tau * (1.0 + 1e-12))
        } else {
            let middle = 0.5 * (low + high);
            if value <= 0.0 { step.max(middle) } else { step.min(middle) }
        };
        if !(tau > low && tau < high && tau.is_finite()) {
            break;
        }
    }
    if high.is_infinite() {
        high = low + slope(terms.iter(), (0.0, square), low).max(0.0) / square * (1.0 + 1e-12) + low * 1e-12;
    }
    // Only the terms that change their form inside the bracket matter from here on.
    let mut fixed = (0.0, square);
    let mut active = Vec::new();
    let mut breaks = Vec::new();
    for (k, term) in terms.iter().enumerate() {
        let before = breaks.len();
        breaks.extend(term.breaks().into_iter().filter(|&b| b > low && b < high));
        if breaks.len() > before {
            active.push(k as u32);
            continue;
        }
        let x = term.argmax(0.5 * (low + high));
        if term.ridge > 0.0 && x > 0.0 && x < term.cap {
            fixed.0 += term.product * (term.linear / term.ridge);
            fixed.1 += term.product * (term.product / term.ridge);
        } else {
            fixed.0 += term.product * x;
        }
    }
    let slope = |tau: f64| slope(active.iter().map(|&k| &terms[k as usize]), fixed, tau);
    breaks.sort_by(f64::total_cmp);
    let falls_at = breaks.partition_point(|&b| slope(b) > 0.0);
    let left = if falls_at == 0 { low } else { breaks[falls_at - 1] };
    let right = breaks.get(falls_at).copied().unwrap_or(high);
    // Between two breaks the slope is a line: through its values at two inner points.
    let (p, q) = (left + (right - left) * 0.25, left + (right - left) * 0.75);
    let (at_p, at_q) = (slope(p), slope(q));
    if at_p > at_q { (p + (q - p) * (at_p / (at_p - at_q))).clamp(left, right) } else { left.max(right.min(1.0)) }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
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
}
