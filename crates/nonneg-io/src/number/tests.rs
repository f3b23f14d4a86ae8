//! Every number must come out as the standard library reads it, to the last bit.

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
    fn tiny_numbers_are_what_they_are_otherwise(text in "([0-9.]{0,8}[,;eEdD\n x/:+-]{0,1}){0,8}", most in 0usize..9) {
        let (mut values, mut expected, mut end) = (vec![], vec![], 0);
        let length = tiny_floats(text.as_bytes(), b',', most, &mut values);
        // What it is for, and nothing else: numbers with a comma after them, in eight bytes that are all there.
        for field in text.split_inclusive(',') {
            let number = field.trim_end_matches(',');
            let regular = number.len() < field.len() && number.len() < 8 && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            let Some(value) = number.parse::<f64>().ok().filter(|_| regular && end + 8 <= text.len() && expected.len() < most) else {
                break;
            };
            expected.push(value);
            end += field.len();
        }
        prop_assert_eq!((values, length), (expected, end));
    }

    #[test]
    fn decimals_agree_with_the_standard_library(text in "[+-]?[0-9]{0,21}(\\.[0-9]{0,24})?(e[+-]?[0-9]{1,3})?") {
        let ours = float(text.as_bytes()).filter(|&(_, length)| length == text.len()).map(|(value, _)| value.to_bits());
        prop_assert_eq!(ours, text.parse::<f64>().ok().map(f64::to_bits));
    }
}

/// The same numbers every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
    fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }
    fn digits(&mut self, count: u64) -> String {
        (0..count).map(|_| char::from(b'0' + self.below(10) as u8)).collect()
    }

    /// A decimal number of some kind.
    fn decimal(&mut self, kind: u64) -> String {
        let sign = ["", "", "-", "+"][self.below(4) as usize];
        let (whole, decimals) = (self.below(4), self.below(22));
        match kind {
            // As files have them: 0.0312478, 1.5, 12
            0 => format!("{sign}0.{}", self.digits(decimals)),
            1 => format!("{sign}{}.{}", self.digits(1 + whole), self.digits(decimals)),
            2 => format!("{sign}{}", self.digits(1 + decimals)),
            3 => format!("{sign}{}.{}e{}", self.digits(1), self.digits(decimals), self.below(60) as i64 - 30),
            // Many digits, tiny and huge.
            4 => format!("{sign}{}.{}e{}", self.digits(whole), self.digits(1 + 3 * decimals), self.below(700) as i64 - 360),
            // Any double: shortest, 17 digits, and with leading zeros.
            5 => format!("{:e}", f64::from_bits(self.next() >> 1 & !(1 << 62) | self.below(2) << 61)),
            6 => format!("{:.16e}", f64::from_bits(self.next() & !(1 << 62))),
            7 => format!("{sign}{}", self.next() as f64 / 2f64.powi(64 + whole as i32 * 8)),
            // Halfway between two doubles, or one unit beside: (2m + 1) / 2^k, an odd number of 54 bits.
            _ => {
                let odd = (1 << 53 | self.next() >> 11) | 1;
                let k = self.below(5) as u32;
                let digits = (u128::from(odd) * 5u128.pow(k) + u128::from(self.below(3)) - 1).to_string();
                let point = digits.len() - k as usize;
                format!("{sign}{}.{}", &digits[..point], &digits[point..])
            }
        }
    }
}

#[test]
fn millions_of_decimals_agree_with_the_standard_library() {
    let mut random = Random(1);
    let mut text = String::new();
    for round in 0..3_000_000u64 {
        text.clear();
        text.push_str(&random.decimal(round % 9));
        let length = text.len();
        let expected: f64 = text.parse().unwrap();
        // At the end of the text, and with more after it.
        for tail in ["", "\n", " 17:0.5 18:0.25 19:0.125 20:0.0625"] {
            text.truncate(length);
            text.push_str(tail);
            let (value, end) = float(text.as_bytes()).unwrap();
            assert_eq!((value.to_bits(), end), (expected.to_bits(), length), "{text:?}");
        }
    }
}

/// [`long_quotient`] also where floats would not call it, against the standard library.
#[test]
fn quotients_in_integers() {
    let mut random = Random(2);
    for _ in 0..300_000 {
        let mantissa = random.next() >> random.below(64);
        let decimals = random.below(28) as usize;
        let expected: f64 = format!("{mantissa}e-{decimals}").parse().unwrap();
        assert_eq!(long_quotient(mantissa, decimals).to_bits(), expected.to_bits(), "{mantissa}e-{decimals}");
        assert_eq!(quotient(mantissa, decimals).to_bits(), expected.to_bits(), "{mantissa}e-{decimals}");
    }
}

/// Eight bytes at once against one by one.
#[test]
fn runs_of_digits() {
    let mut random = Random(3);
    for _ in 0..1_000_000 {
        let mut bytes = random.digits(8).into_bytes();
        for _ in 0..random.below(4) {
            let near = [b'/', b':', b'.', b' ', 0, 0x7F, 0x80, 0xB0, 0xFF, random.next() as u8];
            bytes[random.below(8) as usize] = near[random.below(10) as usize];
        }
        let word = u64::from_le_bytes(bytes[..].try_into().unwrap());
        assert_eq!(leading_digits(word), few_digits(&bytes, 0, 0), "{bytes:?}");
    }
}
