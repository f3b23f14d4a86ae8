//! Numbers from bytes. Text files are almost all digits, so this is where reading time goes.
//!
//! Digits are taken eight at a time, and the length of a run comes from arithmetic instead of a loop: loops whose
//! length changes from number to number are what a processor predicts worst.

/// Powers of ten that a double holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
    1e22,
];
/// Largest integer up to which a double holds them all.
const EXACT_INTEGER: u64 = 1 << 53;

const POWERS_OF_TEN: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// 5^0 to 5^27: all that fit 64 bits.
const POWERS_OF_FIVE: [u64; 28] = {
    let mut powers = [1; 28];
    let mut k = 1;
    while k < powers.len() {
        powers[k] = powers[k - 1] * 5;
        k += 1;
    }
    powers
};

/// Up to this many digits a mantissa cannot overflow 64 bits.
const SAFE_DIGITS: usize = 19;

/// A decimal number at the start of `text`, correctly rounded, and its length in bytes.
/// `None` when there is none; the value may be infinite or NaN, which callers refuse.
#[inline(always)]
pub(crate) fn float(text: &[u8]) -> Option<(f64, usize)> {
    let (value, length) = match short_float(text) {
        Some(found) => found,
        None => any_float(text)?,
    };
    Some((value, length)) // taken apart and put together so that it stays in registers
}

/// For tables of short numbers: as many as there are of digits and at most one point, seven bytes together, each with a separator
/// after it, but no more than `most`. Returns the number of bytes. All eight bytes are looked at together, so that nothing waits
/// for a guess at how long a number is.
#[inline(never)]
pub(crate) fn tiny_floats(text: &[u8], separator: u8, most: usize, values: &mut Vec<f64>) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = 0x80 * EACH;
    let separators = u64::from(separator) * EACH;
    let mut at = 0;
    for _ in 0..most {
        let Some(word) = eight_bytes(text, at) else { break };
        let from_separator = word ^ separators;
        // The lowest bit is that of the first separator; others may be wrong.
        let ends = from_separator.wrapping_sub(EACH) & !from_separator & HIGH_BITS;
        let before = (ends & ends.wrapping_neg()).wrapping_sub(1);
        let length = ends.trailing_zeros() / 8;
        let digits = word ^ (u64::from(b'0') * EACH); // digits become 0 to 9, all else is larger
        let others = (((digits & !HIGH_BITS) + 0x76 * EACH) | digits) & HIGH_BITS & before;
        let point = others.trailing_zeros().min(8 * length) & 56; // in bits, and so is what follows
        let is_point = (word >> point) as u8 == b'.';
        let count = 8 * length - 8 * u32::from(is_point);
        if ends == 0 || count == 0 || others & others.wrapping_sub(1) != 0 || (others != 0) != is_point {
            break;
        }
        let whole = digits & ((1 << point) - 1);
        let decimals = digits >> 8 >> point << point;
        let value = eight_digit_value((whole | decimals) << (64 - count)); // digits to the end, zeros in front
        values.push(value as i64 as f64 / EXACT_POWERS[(count - point) as usize / 8]); // both exact
        at += length as usize + 1;
    }
    at
}

/// The most common kind: one digit, a point and at most 18 decimals, not at the very end of the text.
#[inline(always)]
fn short_float(text: &[u8]) -> Option<(f64, usize)> {
    let text: &[u8; 32] = text.first_chunk()?;
    let negative = text[0] == b'-';
    let start = usize::from(negative);
    let digit = text[start].wrapping_sub(b'0');
    if digit > 9 || text[start + 1] != b'.' {
        return None;
    }
    let (mantissa, end) = digits(text, start + 2, u64::from(digit));
    let decimals = end - start - 2;
    if decimals > SAFE_DIGITS - 1 || matches!(text[end], b'e' | b'E' | b'd' | b'D') {
        return None;
    }
    let value = quotient(mantissa, decimals);
    Some((f64::from_bits(value.to_bits() | u64::from(negative) << 63), end))
}

#[inline(never)]
fn any_float(text: &[u8]) -> Option<(f64, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative || text.first() == Some(&b'+'));
    let (mut mantissa, mut at) = digits(text, start, 0);
    let mut count = at - start;
    let mut decimals = 0;
    if text.get(at) == Some(&b'.') {
        let fraction = at + 1;
        (mantissa, at) = digits(text, fraction, mantissa);
        decimals = at - fraction;
        count += decimals;
    }
    let leading_zeros = usize::from(text.get(start) == Some(&b'0')); // 0. and 19 decimals are fine
    if count == 0 || count - leading_zeros > SAFE_DIGITS {
        return long_float(text);
    }
    if matches!(text.get(at), Some(b'e' | b'E' | b'd' | b'D')) {
        return with_exponent(text, at, mantissa, decimals);
    }
    let value = quotient(mantissa, decimals);
    Some((if negative { -value } else { value }, at))
}

/// mantissa / 10^decimals to the nearest double; `decimals` is at most 27.
#[inline(always)]
fn quotient(mantissa: u64, decimals: usize) -> f64 {
    if mantissa <= EXACT_INTEGER && decimals < EXACT_POWERS.len() {
        // Both exact: one correctly rounded division gives the nearest double (Clinger's fast path).
        return mantissa as i64 as f64 / EXACT_POWERS[decimals];
    }
    long_quotient(mantissa, decimals)
}

/// As [`quotient`], in integers: mantissa / 5^decimals to 63 bits or more, and whether anything is left over.
fn long_quotient(mantissa: u64, decimals: usize) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let divisor = POWERS_OF_FIVE[decimals];
    let (up, down) = (mantissa.leading_zeros(), divisor.leading_zeros());
    // Both lie in [2^63, 2^64) now, so the quotient lies in (2^62, 2^64).
    let (dividend, divisor) = (u128::from(mantissa << up) << 63, u128::from(divisor << down));
    let bits = (dividend / divisor) as u64;
    let left_over = u128::from(bits) * divisor != dividend;
    // The last bit stands for all that are cut off; the conversion to 53 bits rounds once, to nearest even.
    let rounded = (bits | u64::from(left_over)) as f64;
    let exponent = i64::from(down) - i64::from(up) - 63 - decimals as i64; // above -160: never subnormal
    rounded * f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// A number whose exponent starts at `at`; Fortran writes 1.5D+03.
fn with_exponent(text: &[u8], at: usize, mantissa: u64, decimals: usize) -> Option<(f64, usize)> {
    let downwards = text.get(at + 1) == Some(&b'-');
    let start = at + 1 + usize::from(downwards || text.get(at + 1) == Some(&b'+'));
    let (size, end) = few_digits(text, start, 0);
    if !(1..=3).contains(&(end - start)) {
        return long_float(text);
    }
    let exponent = if downwards { -(size as i64) } else { size as i64 } - decimals as i64;
    let value = match exponent {
        -27..=0 => quotient(mantissa, -exponent as usize),
        1..=22 if mantissa <= EXACT_INTEGER => mantissa as f64 * EXACT_POWERS[exponent as usize], // as for the division
        _ => return long_float(text),
    };
    Some((if text[0] == b'-' { -value } else { value }, end))
}

/// Large exponents, many digits, `inf`, `nan`, and what is no number at all.
#[cold]
fn long_float(text: &[u8]) -> Option<(f64, usize)> {
    let (value, length) = fast_float2::parse_partial::<f64, _>(text).ok()?;
    if matches!(text.get(length), Some(b'd' | b'D')) { fortran_float(text, length) } else { Some((value, length)) }
}

/// Fortran writes 1.5D+03; `at` is the place of the D.
#[cold]
fn fortran_float(text: &[u8], at: usize) -> Option<(f64, usize)> {
    let exponent = text[at + 1..].iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-')).count();
    let mut plain = text[..at + 1 + exponent].to_vec();
    plain[at] = b'e';
    fast_float2::parse_partial::<f64, _>(&plain).ok().filter(|&(_, length)| length > at)
}

/// Adds the run of digits from `at` to `mantissa` (wrapping: callers count digits); returns where the run ends.
#[inline(always)]
fn digits(text: &[u8], mut at: usize, mut mantissa: u64) -> (u64, usize) {
    while let Some(word) = eight_bytes(text, at) {
        let (value, count) = leading_digits(word);
        if count < 8 {
            return (mantissa.wrapping_mul(POWERS_OF_TEN[count]).wrapping_add(value), at + count);
        }
        mantissa = mantissa.wrapping_mul(100_000_000).wrapping_add(value);
        at += 8;
    }
    few_digits(text, at, mantissa)
}

/// As [`digits`], one by one: near the end of the text.
#[inline(always)]
fn few_digits(text: &[u8], mut at: usize, mut mantissa: u64) -> (u64, usize) {
    while let Some(digit) = text.get(at).map(|b| b.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (mantissa, at)
}

/// The first byte is the lowest.
#[inline(always)]
fn eight_bytes(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Value and number of the digits that eight bytes start with.
#[inline(always)]
fn leading_digits(word: u64) -> (u64, usize) {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    let word = word ^ 0x3030_3030_3030_3030; // digits become 0 to 9, all else is larger
    // 0x76 + 10 reaches the high bit. A carry comes only out of a byte that is no digit, and the first one counts.
    let others = (word.wrapping_add(0x7676_7676_7676_7676) | word) & HIGH_BITS;
    if others == 0 {
        return (eight_digit_value(word), 8);
    }
    let bits = others.trailing_zeros() & !7;
    // Digits to the end, zeros in front: 8 + 56 - bits places, in two steps since 64 at once are not allowed.
    (eight_digit_value(word << 8 << (56 - bits)), bits as usize / 8)
}

/// The value of eight digits 0 to 9: pairs, then fours, then eight, each with one multiplication.
#[inline(always)]
fn eight_digit_value(word: u64) -> u64 {
    const MASK: u64 = 0x0000_00FF_0000_00FF;
    const HIGH: u64 = 0x000F_4240_0000_0064; // 100 + (1000000 << 32)
    const LOW: u64 = 0x0000_2710_0000_0001; // 1 + (10000 << 32)
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8);
    let high = (pairs & MASK).wrapping_mul(HIGH);
    let low = ((pairs >> 16) & MASK).wrapping_mul(LOW);
    u64::from((high.wrapping_add(low) >> 32) as u32)
}

/// An unsigned integer at the start of `text` and its length; `None` when there is none or it is too large.
#[inline(always)]
pub(crate) fn integer(text: &[u8]) -> Option<(u64, usize)> {
    let (value, length) = match short_integer(text, 0) {
        Some(found) => found,
        None => long_integer(text)?,
    };
    Some((value, length))
}

/// An unsigned integer of one to seven digits at `at`; `None` also near the end of the text.
#[inline(always)]
pub(crate) fn short_integer(text: &[u8], at: usize) -> Option<(u64, usize)> {
    eight_bytes(text, at).map(leading_digits).filter(|(_, count)| (1..8).contains(count))
}

/// More than seven digits, or near the end of the text.
#[inline(never)]
fn long_integer(text: &[u8]) -> Option<(u64, usize)> {
    let (value, at) = few_digits(text, 0, 0);
    if at == 0 {
        return None;
    }
    if at > SAFE_DIGITS {
        let text = std::str::from_utf8(&text[..at]).ok()?;
        return Some((text.parse().ok()?, at));
    }
    Some((value, at))
}

/// Which numbers a file may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    Finite,
    /// Also ±∞, for bounds.
    FiniteOrInfinity,
}

impl Numbers {
    #[inline]
    pub fn include(self, value: f64) -> bool {
        value.is_finite() || self == Numbers::FiniteOrInfinity && value.is_infinite()
    }

    pub fn name(self) -> &'static str {
        match self {
            Numbers::Finite => "a finite number",
            Numbers::FiniteOrInfinity => "a number, inf or -inf",
        }
    }

    /// The values, if all of them are such numbers.
    pub fn check(self, name: &str, values: Vec<f64>) -> crate::Result<Vec<f64>> {
        match values.iter().position(|&value| !self.include(value)) {
            Some(at) => {
                let message = format!("element {at} is {}, expected {}", values[at], self.name());
                Err(crate::Error::content(name, message))
            }
            None => Ok(values),
        }
    }
}

/// A whole field as a number, or what is wrong with it.
pub(crate) fn field(field: &[u8], numbers: Numbers) -> Result<f64, String> {
    match float(field) {
        Some((value, length)) if length == field.len() => {
            if numbers.include(value) {
                Ok(value)
            } else {
                Err(format!("'{}' is not {}", excerpt(field), numbers.name()))
            }
        }
        _ => Err(format!("expected a number, found '{}'", excerpt(field))),
    }
}

/// A few characters of the input for a message, without control characters.
pub(crate) fn excerpt(text: &[u8]) -> String {
    const LONGEST: usize = 40;
    let cut = &text[..text.len().min(LONGEST)];
    let shown: String = String::from_utf8_lossy(cut).chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
    if text.len() > LONGEST { format!("{shown}...") } else { shown }
}

#[cfg(test)]
mod tests;
