//! Pictures side by side, dark where the numbers are large: what the factors of images look like.

use super::encode_png;
use crate::failure::Failure;

/// Pixels on the longer side of the whole, about.
const SIDE: usize = 900;

/// White pixels between pictures.
const GAP: usize = 2;

/// `count` pictures of `height` rows of `width` pixels; `pixel(k, row, column)` ≥ 0. PNG; each picture has its own scale.
pub fn montage(
    count: usize,
    height: usize,
    width: usize,
    pixel: impl Fn(usize, usize, usize) -> f64,
) -> Result<Vec<u8>, Failure> {
    let across = ((count * height) as f64 / width as f64).sqrt().ceil().max(1.0) as usize;
    let across = across.min(count.max(1));
    let down = count.div_ceil(across).max(1);
    let scale = (SIDE / (across * width).max(down * height)).max(1);
    let (total_width, total_height) = (across * (width * scale + GAP) + GAP, down * (height * scale + GAP) + GAP);
    let mut pixels = vec![255u8; 3 * total_width * total_height];
    for k in 0..count {
        let (left, top) = (GAP + k % across * (width * scale + GAP), GAP + k / across * (height * scale + GAP));
        let all = || (0..height).flat_map(|row| (0..width).map(move |column| (row, column)));
        let largest = all().map(|(row, column)| pixel(k, row, column)).fold(0.0, f64::max);
        for (row, column) in all() {
            let share = if largest > 0.0 { pixel(k, row, column) / largest } else { 0.0 };
            let shade = (240.0 * (1.0 - share)).round() as u8;
            for y in top + row * scale..top + (row + 1) * scale {
                let start = 3 * (y * total_width + left + column * scale);
                pixels[start..start + 3 * scale].fill(shade);
            }
        }
    }
    encode_png(&pixels, total_width as u32, total_height as u32)
        .map_err(|error| Failure::new(format!("cannot draw the factors: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_montage_is_a_png_for_any_number_of_pictures() {
        for (count, height, width) in [(1, 1, 1), (5, 3, 2), (49, 19, 19), (3, 2000, 1)] {
            let bytes = montage(count, height, width, |k, row, column| (k + row * column) as f64).unwrap();
            assert!(bytes.starts_with(b"\x89PNG"));
        }
    }
}
