//! Exact arithmetic with powers of two: the reason why nothing here depends on absolute magnitudes.

/// v·2^k; exact unless the result leaves the normal range of f64.
pub(crate) fn ldexp(v: f64, k: i32) -> f64 {
    // Two or three factors, each a normal number. A larger |k| than this has already reached 0 or ∞.
    let mut k = k.clamp(-3000, 3000);
    let mut v = v;
    while k.abs() > 1000 {
        let step = 1000 * k.signum();
        v *= power_of_two(step);
        k -= step;
    }
    v * power_of_two(k)
}

/// 2^k for |k| ≤ 1022.
#[inline]
pub(crate) fn power_of_two(k: i32) -> f64 {
    debug_assert!(k.abs() <= 1022);
    f64::from_bits(((1023 + i64::from(k)) as u64) << 52)
}

/// ⌊log₂|v|⌋ of a finite v ≠ 0, subnormal numbers included.
pub(crate) fn exponent(v: f64) -> i32 {
    let biased = ((v.to_bits() >> 52) & 0x7ff) as i32;
    if biased == 0 { exponent(v * power_of_two(64)) - 64 } else { biased - 1023 }
}

/// A scaled number in the caller's units, or `None` where it does not fit a normal f64.
pub(crate) fn to_caller(v: f64, k: i32) -> Option<f64> {
    let result = ldexp(v, k);
    (v == 0.0 || result.is_normal()).then_some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponent_and_ldexp_invert_each_other_over_the_whole_range() {
        for k in -1074..=1023 {
            let v = ldexp(1.0, k);
            assert_eq!(exponent(v), k);
            assert_eq!(ldexp(v, -k), 1.0);
            if k > -1070 {
                assert_eq!(exponent(ldexp(1.25, k)), k);
            }
        }
        assert_eq!(ldexp(1.0, 5000), f64::INFINITY);
        assert_eq!(ldexp(1.0, -5000), 0.0);
        assert_eq!(ldexp(3.0, -2000), 0.0);
    }

    #[test]
    fn numbers_that_do_not_fit_are_unknown() {
        assert_eq!(to_caller(1.5, 2000), None);
        assert_eq!(to_caller(1.5, -2000), None);
        assert_eq!(to_caller(0.0, -2000), Some(0.0));
        assert_eq!(to_caller(1.5, 3), Some(12.0));
    }
}
