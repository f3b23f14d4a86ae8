//! Small plots in the terminal: lines in braille dots, areas in shades, bars in blocks.

use crate::console::{Paint, Tone};

/// What a line looks like, for legends.
pub const LINE_SAMPLE: &str = "⠤⠒⠉";

/// A grid of character cells, each with 2×4 dots.
#[derive(Debug)]
pub struct Canvas {
    width: usize,
    height: usize,
    dots: Vec<u8>,
    shaded: Vec<bool>,
}

impl Canvas {
    /// In characters.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, dots: vec![0; width * height], shaded: vec![false; width * height] }
    }

    /// Joins the points (x in [0, 1], y in the range given) by straight lines.
    pub fn line(&mut self, points: &[(f64, f64)], range: (f64, f64)) {
        for pair in points.windows(2) {
            let (from, to) = (self.dot(pair[0], range), self.dot(pair[1], range));
            let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().max(1.0);
            for k in 0..=steps as usize {
                let t = k as f64 / steps;
                self.set(from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1));
            }
        }
    }

    /// Shades the cells below the points.
    pub fn area(&mut self, points: &[(f64, f64)], range: (f64, f64)) {
        for &point in points {
            let (x, y) = self.dot(point, range);
            let column = (x.round() as usize / 2).min(self.width - 1);
            // A cell is shaded from its middle on.
            for row in ((y + 2.0) / 4.0).max(0.0) as usize..self.height {
                self.shaded[row * self.width + column] = true;
            }
        }
    }

    /// The plot with its title, the ends of the y axis at the left and those of the x axis below.
    pub fn framed(&self, title: &str, y_ends: (&str, &str), x_ends: (&str, &str), paint: Paint) -> String {
        let margin = y_ends.0.chars().count().max(y_ends.1.chars().count());
        let mut text = paint.text(Tone::Dim, title) + "\n";
        for row in 0..self.height {
            let label = match row {
                0 => y_ends.0,
                _ if row + 1 == self.height => y_ends.1,
                _ => "",
            };
            text += &paint.text(Tone::Dim, &format!("{label:>margin$} ┤"));
            text += self.row(row, paint).trim_end();
            text.push('\n');
        }
        let gap = self.width.saturating_sub(x_ends.0.chars().count() + x_ends.1.chars().count());
        let axis =
            format!("{:margin$} └{}\n{:margin$}  {}{}{}\n", "", "─".repeat(self.width), "", x_ends.0, " ".repeat(gap), x_ends.1);
        text + &paint.text(Tone::Dim, &axis)
    }

    fn row(&self, row: usize, paint: Paint) -> String {
        let cells = row * self.width..(row + 1) * self.width;
        let mut text = String::new();
        for cell in cells {
            text += &match (self.dots[cell], self.shaded[cell]) {
                (0, false) => " ".to_owned(),
                (0, true) => paint.text(Tone::Dim, "░"),
                (dots, _) => paint.text(Tone::Cyan, &braille(dots).to_string()),
            };
        }
        text
    }

    /// Position in dots, y downwards.
    fn dot(&self, (x, y): (f64, f64), (low, high): (f64, f64)) -> (f64, f64) {
        let across = (2 * self.width - 1) as f64 * x.clamp(0.0, 1.0);
        let down = (4 * self.height - 1) as f64 * (1.0 - (y - low) / (high - low)).clamp(0.0, 1.0);
        (across, down)
    }

    fn set(&mut self, x: f64, y: f64) {
        let (x, y) = (x.round() as usize, y.round() as usize);
        const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        if let Some(cell) = self.dots.get_mut(y / 4 * self.width + x / 2) {
            *cell |= BITS[x % 2][y % 4];
        }
    }
}

fn braille(dots: u8) -> char {
    char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' ')
}

/// A bar for a share in [0, 1], padded to `width` characters. What is positive is visible.
pub fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let mut eighths = (share.clamp(0.0, 1.0) * 8.0 * width as f64).round() as usize;
    if share > 0.0 {
        eighths = eighths.max(1);
    }
    let text = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    let padding = width - text.chars().count();
    text + &" ".repeat(padding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_the_width_asked_for() {
        assert_eq!(bar(0.0, 4), "    ");
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(0.5, 3), "█▌ ");
        assert_eq!(bar(1e-9, 3), "▏  ");
        assert_eq!(bar(f64::NAN, 2).chars().count(), 2);
    }

    #[test]
    fn lines_run_from_corner_to_corner() {
        let mut canvas = Canvas::new(4, 2);
        canvas.line(&[(0.0, 0.0), (1.0, 7.0)], (0.0, 7.0));
        let rows: Vec<String> = (0..2).map(|row| canvas.dots[row * 4..][..4].iter().map(|&d| braille(d)).collect()).collect();
        assert_eq!(rows, ["⠀⠀⡠⠊", "⡠⠊⠀⠀"]);
    }
}
