//! Axes with the ticks that we choose, and the numbers beside them.

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

/// A linear axis (powers of ten count as numbers) with the ticks that we choose.
pub struct Axis {
    pub range: (f64, f64),
    pub ticks: Vec<f64>,
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.range.0) / (self.range.1 - self.range.0);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }
    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }
    fn range(&self) -> std::ops::Range<f64> {
        self.range.0..self.range.1
    }
}

/// 10⁻⁶.
pub fn power_of_ten(power: f64) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raise = |c: char| c.to_digit(10).map_or('⁻', |digit| RAISED[digit as usize]);
    format!("10{}", format!("{power:.0}").chars().map(raise).collect::<String>())
}

/// 0.05, 20, 1500.
pub fn plain(value: f64) -> String {
    if value.abs() >= 1e6 { format!("{value:.0e}") } else { format!("{}", (value * 1e9).round() / 1e9) }
}

/// Four to nine round numbers from 0.
pub fn linear_ticks(right: f64) -> Vec<f64> {
    let raw = right / 8.0;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|k| k * power).find(|step| *step >= raw).unwrap_or(raw);
    (0..).map(|k| f64::from(k) * step).take_while(|x| *x <= right).collect()
}

/// Whole powers of ten, every second one where there are many.
pub fn power_ticks(bottom: f64, top: f64) -> Vec<f64> {
    let step = if top - bottom > 9.0 { 2 } else { 1 };
    let range = bottom.ceil() as i32..=top.floor() as i32;
    range.filter(|power| power % step == 0).map(f64::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_ticks() {
        assert_eq!([power_of_ten(-6.0), power_of_ten(12.0), power_of_ten(0.0)], ["10⁻⁶", "10¹²", "10⁰"]);
        assert_eq!([plain(0.05), plain(20.0), plain(2e6)], ["0.05", "20", "2e6"]);
        assert_eq!(linear_ticks(102.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(power_ticks(-6.0, 0.0).len(), 7);
        assert_eq!(power_ticks(-1.5, 1.2), [-1.0, 0.0, 1.0]);
        assert_eq!(power_ticks(-12.0, 0.0).len(), 7);
    }
}
