//! Exact numbers: every `f64` is m·2ᵉ, so sums and products of data stay of that form, and no gcd is ever needed.
//! (`BigRational` reduces after every operation, which is a hundred times slower here; a test compares the two.)

use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};

/// m·2ᵉ with m odd, or zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dyadic {
    pub mantissa: BigInt,
    pub exponent: i64,
}

impl Dyadic {
    pub fn zero() -> Self {
        Self { mantissa: BigInt::ZERO, exponent: 0 }
    }

    fn new(mantissa: BigInt, exponent: i64) -> Self {
        match mantissa.trailing_zeros() {
            None => Self::zero(),
            Some(0) => Self { mantissa, exponent },
            Some(zeros) => Self { mantissa: mantissa >> zeros, exponent: exponent + zeros as i64 },
        }
    }

    pub fn half(&self) -> Self {
        Self { mantissa: self.mantissa.clone(), exponent: self.exponent - i64::from(!self.is_zero()) }
    }

    pub fn is_zero(&self) -> bool {
        self.mantissa.is_zero()
    }
    pub fn is_positive(&self) -> bool {
        self.mantissa.is_positive()
    }
    pub fn is_negative(&self) -> bool {
        self.mantissa.is_negative()
    }

    pub fn abs(&self) -> Self {
        Self { mantissa: self.mantissa.abs(), exponent: self.exponent }
    }

    /// The quotient, where the caller knows that it is of the form m·2ᵉ.
    pub fn divide_exactly(&self, divisor: &Self) -> Self {
        let quotient = &self.mantissa / &divisor.mantissa;
        assert_eq!(&quotient * &divisor.mantissa, self.mantissa, "the division is not exact");
        Self::new(quotient, self.exponent - divisor.exponent)
    }

    /// Both mantissas over the smaller exponent.
    fn align(&self, other: &Self) -> (BigInt, BigInt, i64) {
        let exponent = match (self.is_zero(), other.is_zero()) {
            (true, _) => other.exponent,
            (_, true) => self.exponent,
            _ => self.exponent.min(other.exponent),
        };
        let shifted = |d: &Self| if d.is_zero() { BigInt::ZERO } else { &d.mantissa << (d.exponent - exponent) as u64 };
        (shifted(self), shifted(other), exponent)
    }

    pub fn to_f64(&self) -> f64 {
        Fraction::from(self.clone()).to_f64()
    }
}

impl From<f64> for Dyadic {
    fn from(value: f64) -> Self {
        assert!(value.is_finite(), "{value} has no exact value");
        let bits = value.to_bits();
        let fraction = (bits & ((1 << 52) - 1)) as i64;
        let (mantissa, exponent) = match (bits >> 52) & 0x7ff {
            0 => (fraction, -1074),
            biased => (fraction | (1 << 52), biased as i64 - 1075),
        };
        Self::new(BigInt::from(if value < 0.0 { -mantissa } else { mantissa }), exponent)
    }
}

impl Add for &Dyadic {
    type Output = Dyadic;
    fn add(self, other: Self) -> Dyadic {
        let (a, b, exponent) = self.align(other);
        Dyadic::new(a + b, exponent)
    }
}
impl Sub for &Dyadic {
    type Output = Dyadic;
    fn sub(self, other: Self) -> Dyadic {
        let (a, b, exponent) = self.align(other);
        Dyadic::new(a - b, exponent)
    }
}
impl Mul for &Dyadic {
    type Output = Dyadic;
    fn mul(self, other: Self) -> Dyadic {
        Dyadic::new(&self.mantissa * &other.mantissa, self.exponent + other.exponent)
    }
}
impl Neg for &Dyadic {
    type Output = Dyadic;
    fn neg(self) -> Dyadic {
        Dyadic { mantissa: -&self.mantissa, exponent: self.exponent }
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Dyadic {
    fn cmp(&self, other: &Self) -> Ordering {
        (self - other).mantissa.cmp(&BigInt::ZERO)
    }
}

/// A quotient with a positive denominator, not reduced.
#[derive(Debug, Clone)]
pub struct Fraction {
    pub numerator: Dyadic,
    pub denominator: Dyadic,
}

impl From<Dyadic> for Fraction {
    fn from(value: Dyadic) -> Self {
        Self::new(value, Dyadic::from(1.0))
    }
}
impl From<f64> for Fraction {
    fn from(value: f64) -> Self {
        Dyadic::from(value).into()
    }
}

impl Fraction {
    pub fn new(numerator: Dyadic, denominator: Dyadic) -> Self {
        assert!(denominator.is_positive());
        Self { numerator, denominator }
    }

    pub fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }
    pub fn abs(&self) -> Self {
        Self::new(self.numerator.abs(), self.denominator.clone())
    }
    pub fn half(&self) -> Self {
        Self::new(self.numerator.half(), self.denominator.clone())
    }

    /// self/divisor for a positive divisor.
    pub fn over(&self, divisor: &Dyadic) -> Self {
        Self::new(self.numerator.clone(), &self.denominator * divisor)
    }

    /// The nearest `f64`, give or take one unit in the last place; infinite where it does not fit.
    pub fn to_f64(&self) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        let (n, d) = (&self.numerator.mantissa, &self.denominator.mantissa);
        let shift = d.bits() as i64 - n.bits() as i64 + 80;
        let quotient = if shift >= 0 { (n << shift as u64) / d } else { n / (d << (-shift) as u64) };
        let exponent = self.numerator.exponent - self.denominator.exponent - shift;
        times_power_of_two(quotient.to_f64().expect("80 bits fit"), exponent)
    }
}

/// v·2ᵉ in steps that neither overflow nor underflow before they must.
pub fn times_power_of_two(mut v: f64, exponent: i64) -> f64 {
    let mut left = exponent.clamp(-4000, 4000);
    while left != 0 {
        let step = left.clamp(-900, 900);
        v *= 2f64.powi(step as i32);
        left -= step;
    }
    v
}

impl Add for &Fraction {
    type Output = Fraction;
    fn add(self, other: Self) -> Fraction {
        let left = &self.numerator * &other.denominator;
        let right = &other.numerator * &self.denominator;
        Fraction::new(&left + &right, &self.denominator * &other.denominator)
    }
}
impl Sub for &Fraction {
    type Output = Fraction;
    fn sub(self, other: Self) -> Fraction {
        let left = &self.numerator * &other.denominator;
        let right = &other.numerator * &self.denominator;
        Fraction::new(&left - &right, &self.denominator * &other.denominator)
    }
}
impl Mul for &Fraction {
    type Output = Fraction;
    fn mul(self, other: Self) -> Fraction {
        Fraction::new(&self.numerator * &other.numerator, &self.denominator * &other.denominator)
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Fraction {}
impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }
}
