//! Numbers from bytes. Text files are almost all digits, so this is where reading time goes.

/// Powers of ten that a double holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
    1e22,
];

/// Up to this many digits a mantissa cannot overflow 64 bits.
const SAFE_DIGITS: usize = 19;

/// A decimal number at the start of `text`, correctly rounded, and its length in bytes.
/// `None` when there is none; the value may be infinite or NaN, which callers refuse.
#[inline]
pub(crate) fn float(text: &[u8]) -> Option<(f64, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative || text.first() == Some(&b'+'));
    let (mut mantissa, mut at) = few_digits(text, start, 0); // most numbers are small: 0.03, 12.5
    let mut count = at - start;
    let mut decimals = 0;
    if text.get(at) == Some(&b'.') {
        let fraction = at + 1;
        (mantissa, at) = digits(text, fraction, mantissa);
        decimals = at - fraction;
        count += decimals;
    }
    // Both factors exact: one correctly rounded division gives the nearest double (Clinger's fast path).
    let short = count != 0 && count <= SAFE_DIGITS && mantissa <= 1 << 53 && decimals < EXACT_POWERS.len();
    if short && !matches!(text.get(at), Some(b'e' | b'E' | b'd' | b'D')) {
        let value = mantissa as f64 / EXACT_POWERS[decimals];
        return Some((if negative { -value } else { value }, at));
    }
    long_float(text)
}

/// Exponents, many digits, `inf`, `nan`, and what is no number at all.
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
    while let Some(chunk) = text.get(at..at + 8) {
        let word = u64::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5], chunk[6], chunk[7]]);
        if !eight_digits(word) {
            break;
        }
        mantissa = mantissa.wrapping_mul(100_000_000).wrapping_add(eight_digit_value(word));
        at += 8;
    }
    few_digits(text, at, mantissa)
}

/// As [`digits`], one by one: better for short runs.
#[inline(always)]
fn few_digits(text: &[u8], mut at: usize, mut mantissa: u64) -> (u64, usize) {
    while let Some(digit) = text.get(at).map(|b| b.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    (mantissa, at)
}

/// Whether all eight bytes are ASCII digits.
#[inline(always)]
fn eight_digits(word: u64) -> bool {
    let above = word.wrapping_add(0x4646_4646_4646_4646);
    let below = word.wrapping_sub(0x3030_3030_3030_3030);
    (above | below) & 0x8080_8080_8080_8080 == 0
}

/// Their value: pairs, then fours, then eight, each with one multiplication.
#[inline(always)]
fn eight_digit_value(word: u64) -> u64 {
    const MASK: u64 = 0x0000_00FF_0000_00FF;
    const HIGH: u64 = 0x000F_4240_0000_0064; // 100 + (1000000 << 32)
    const LOW: u64 = 0x0000_2710_0000_0001; // 1 + (10000 << 32)
    let word = word - 0x3030_3030_3030_3030;
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8);
    let high = (pairs & MASK).wrapping_mul(HIGH);
    let low = ((pairs >> 16) & MASK).wrapping_mul(LOW);
    u64::from((high.wrapping_add(low) >> 32) as u32)
}

/// An unsigned integer at the start of `text` and its length; `None` when there is none or it is too large.
#[inline(always)]
pub(crate) fn integer(text: &[u8]) -> Option<(u64, usize)> {
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

/// A whole field as a finite number, or what is wrong with it.
pub(crate) fn finite(field: &[u8]) -> Result<f64, String> {
    match float(field) {
        Some((value, length)) if length == field.len() => {
            if value.is_finite() {
                Ok(value)
            } else {
                Err(format!("'{}' is not a finite number", excerpt(field)))
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn floats_agree_with_the_standard_library() {
        for text in [
            "0",
            "-0",
            "1",
            "+1.5",
            "0.0312478",
            "123456789",
            "12345678.12345678",
            "9007199254740993",
            "0.30000000000000004",
            "1e5",
            "1.7976931348623157e308",
            "4.9e-324",
            ".5",
            "5.",
            "00000000000000000000000000001.5",
            "1E-7",
            "2.5e+3",
            "12345678901234567890123",
            "0.000000000000000000000000000000123",
        ] {
            let (value, length) = float(text.as_bytes()).unwrap();
            assert_eq!((value.to_bits(), length), (text.parse::<f64>().unwrap().to_bits(), text.len()), "{text}");
        }
        assert_eq!(float(b"1.5D+03 "), Some((1500.0, 7)));
        assert_eq!(float(b"2d2"), Some((200.0, 3)));
        for text in ["", ".", "-", "+", "x1", "e5", ":1"] {
            assert_eq!(float(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn integers() {
        assert_eq!(integer(b"18446744073709551615"), Some((u64::MAX, 20)));
        assert_eq!(integer(b"18446744073709551616"), None);
        assert_eq!(integer(b"000000000000000000000012:"), Some((12, 24)));
        assert_eq!(integer(b"-1"), None);
    }

    proptest! {
        #[test]
        fn any_double_survives_printing(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            for text in [format!("{value}"), format!("{value:e}"), format!("{value:?}")] {
                let (read, length) = float(text.as_bytes()).unwrap();
                prop_assert_eq!((read.to_bits(), length), (bits, text.len()));
            }
        }

        #[test]
        fn decimals_agree_with_the_standard_library(text in "[+-]?[0-9]{0,21}(\\.[0-9]{0,24})?(e[+-]?[0-9]{1,3})?") {
            let ours = float(text.as_bytes()).filter(|&(_, length)| length == text.len()).map(|(value, _)| value.to_bits());
            prop_assert_eq!(ours, text.parse::<f64>().ok().map(f64::to_bits));
        }
    }
}
