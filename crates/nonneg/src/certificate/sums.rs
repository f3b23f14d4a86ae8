//! Sums whose rounding errors are known.

/// u, the unit roundoff.
pub const UNIT: f64 = f64::EPSILON / 2.0;

/// A little more than v ≥ 0: covers a handful of roundings.
pub fn up(v: f64) -> f64 {
    v * (1.0 + 16.0 * UNIT)
}

/// A little less than v ≥ 0.
pub fn down(v: f64) -> f64 {
    v * (1.0 - 16.0 * UNIT)
}

/// An upper bound that may have underflowed; one that is no number bounds nothing.
pub fn at_least_tiny(v: f64) -> f64 {
    if v.is_nan() { f64::INFINITY } else { v.max(f64::MIN_POSITIVE) }
}

/// An exact sum of floating-point numbers, as a list of non-overlapping parts (Shewchuk 1997). For the few sums whose
/// sign ordinary arithmetic cannot tell: c = 0 exactly, say, where b cancels.
#[derive(Debug, Default)]
pub struct ExactSum {
    parts: Vec<f64>,
}

impl ExactSum {
    /// Adds v exactly.
    pub fn add(&mut self, v: f64) {
        let (mut carry, mut kept) = (v, 0);
        for k in 0..self.parts.len() {
            let part = self.parts[k];
            let sum = carry + part;
            let virtual_part = sum - carry;
            let error = (carry - (sum - virtual_part)) + (part - virtual_part);
            if error != 0.0 {
                self.parts[kept] = error;
                kept += 1;
            }
            carry = sum;
        }
        self.parts.truncate(kept);
        if carry != 0.0 {
            self.parts.push(carry);
        }
    }

    /// Adds a·b exactly, barring underflow.
    pub fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.add(product);
        self.add(a.mul_add(b, -product));
    }

    /// Bounds (below, above) that differ by a few units in the last place, and are both zero for a zero sum.
    pub fn bounds(&self) -> (f64, f64) {
        let value: f64 = self.parts.iter().sum();
        if self.parts.len() <= 1 {
            return (value, value);
        }
        let slack = 4.0 * f64::EPSILON * value.abs();
        (value - slack, value + slack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_sum_sees_through_cancellation() {
        let mut sum = ExactSum::default();
        for v in [1e300, 1.0, -1e300, 1e-300, -1.0] {
            sum.add(v);
        }
        assert_eq!(sum.bounds(), (1e-300, 1e-300));
        sum.add(-1e-300);
        assert_eq!(sum.bounds(), (0.0, 0.0));
    }

    #[test]
    fn an_exact_sum_of_products_is_exactly_zero_when_it_cancels() {
        let mut sum = ExactSum::default();
        let (a, b) = (0.1, 0.7);
        sum.add_product(a, b);
        sum.add_product(-a, b);
        assert_eq!(sum.bounds(), (0.0, 0.0));
        sum.add_product(a, b);
        sum.add(-(a * b));
        let (low, high) = sum.bounds();
        assert!(low <= high && low != 0.0, "the rounding error of one product remains");
    }
}
