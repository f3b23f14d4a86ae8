//! Lines that can be told apart, in grey as well as in colour.

use plotters::style::RGBColor;

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineStyle {
    pub color: RGBColor,
    pub dash: Dash,
    pub marker: Marker,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dash {
    Solid,
    Long,
    Short,
    Dots,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
    None,
}

impl Dash {
    /// Lengths drawn and left out, in points.
    pub fn lengths(self) -> Option<(u32, u32)> {
        match self {
            Dash::Solid => None,
            Dash::Long => Some((9, 4)),
            Dash::Short => Some((5, 3)),
            Dash::Dots => Some((2, 3)),
        }
    }
}

/// Tones after Okabe and Ito, which colour-blind people can tell apart; the light ones darkened for white paper.
const STYLES: [LineStyle; 12] = [
    LineStyle { color: RGBColor(0, 0, 0), dash: Dash::Solid, marker: Marker::None },
    LineStyle { color: RGBColor(0, 90, 160), dash: Dash::Solid, marker: Marker::Circle },
    LineStyle { color: RGBColor(0, 90, 160), dash: Dash::Long, marker: Marker::Circle },
    LineStyle { color: RGBColor(60, 150, 205), dash: Dash::Short, marker: Marker::Square },
    LineStyle { color: RGBColor(60, 150, 205), dash: Dash::Solid, marker: Marker::Square },
    LineStyle { color: RGBColor(205, 80, 0), dash: Dash::Long, marker: Marker::Triangle },
    LineStyle { color: RGBColor(205, 80, 0), dash: Dash::Solid, marker: Marker::Triangle },
    LineStyle { color: RGBColor(0, 130, 95), dash: Dash::Short, marker: Marker::Diamond },
    LineStyle { color: RGBColor(120, 120, 120), dash: Dash::Solid, marker: Marker::Cross },
    LineStyle { color: RGBColor(185, 95, 145), dash: Dash::Dots, marker: Marker::Circle },
    LineStyle { color: RGBColor(150, 120, 0), dash: Dash::Long, marker: Marker::Square },
    LineStyle { color: RGBColor(110, 50, 120), dash: Dash::Dots, marker: Marker::Triangle },
];

impl LineStyle {
    /// The styles in turn.
    pub fn of(index: usize) -> Self {
        STYLES[index % STYLES.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_styles_look_alike_in_grey() {
        for (k, one) in STYLES.iter().enumerate() {
            for other in &STYLES[..k] {
                assert_ne!((one.dash, one.marker), (other.dash, other.marker));
            }
            let light = 0.3 * f64::from(one.color.0) + 0.59 * f64::from(one.color.1) + 0.11 * f64::from(one.color.2);
            assert!(light < 150.0, "too light on white: {one:?}");
        }
    }
}
