//! Plots as SVG and PNG.
//!
//! The font is part of the program, so that no fonts or graphics libraries of the system are needed.

mod axis;
mod convergence;
mod grid;
mod montage;
mod style;

use std::sync::Once;

use plotters::backend::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::coord::Shift;
use plotters::prelude::*;

pub use convergence::Convergence;
pub use grid::{Curve, Grid, Panel};
pub use montage::montage;
pub use style::LineStyle;

use crate::failure::Failure;

static FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");
const FAMILY: &str = "sans-serif";

/// Pixels of PNG, each way, for a point of SVG.
const PNG_SCALE: u32 = 2;

const INK: RGBColor = RGBColor(50, 50, 50);
const GRID: RGBColor = RGBColor(225, 225, 225);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Svg,
    Png,
}

impl Format {
    /// By the ending of the file's name.
    pub fn of(path: &str) -> Result<Self, Failure> {
        let lower = path.to_ascii_lowercase();
        if lower.ends_with(".svg") {
            Ok(Format::Svg)
        } else if lower.ends_with(".png") {
            Ok(Format::Png)
        } else {
            Err(Failure::new(format!("{path}: unknown ending of a plot, expected .svg or .png")))
        }
    }
}

/// Something that can be drawn with any backend.
trait Drawing {
    /// `scale`: pixels in a point.
    fn draw<B: DrawingBackend>(&self, root: &DrawingArea<B, Shift>, scale: u32)
    -> Result<(), DrawingAreaErrorKind<B::ErrorType>>;
}

/// The file's contents.
fn render(drawing: &impl Drawing, size: (u32, u32), format: Format) -> Result<Vec<u8>, Failure> {
    register_font();
    let broken = |error: &dyn std::fmt::Display| Failure::new(format!("cannot draw the plot: {error}"));
    match format {
        Format::Svg => {
            let mut text = String::new();
            let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
            drawing.draw(&root, 1).map_err(|error| broken(&error))?;
            root.present().map_err(|error| broken(&error))?;
            drop(root);
            Ok(text.into_bytes())
        }
        Format::Png => {
            let (width, height) = (size.0 * PNG_SCALE, size.1 * PNG_SCALE);
            let mut pixels = vec![255; (width * height * 3) as usize];
            let root = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
            drawing.draw(&root, PNG_SCALE).map_err(|error| broken(&error))?;
            root.present().map_err(|error| broken(&error))?;
            drop(root);
            encode_png(&pixels, width, height).map_err(|error| broken(&error))
        }
    }
}

fn register_font() {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| {
        for style in [FontStyle::Normal, FontStyle::Bold] {
            // The bytes are part of the program and a test draws with them.
            let _ = plotters::style::register_font(FAMILY, style, FONT);
        }
    });
}

fn encode_png(pixels: &[u8], width: u32, height: u32) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_the_ending() {
        assert!(Format::of("a.SVG").is_ok() && Format::of("a.pdf").is_err());
    }
}
