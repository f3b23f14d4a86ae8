//! Parallel-beam tomography.

use nonneg::{CsrMatrix, Result};

use super::plant::noisy_rhs;
use super::{Generated, Random};

/// `rows` rays through a `side`×`side` image; a_ij is the length of ray i in pixel j.
///
/// Rays come in views of about 1.5·side parallel rays that cover the image, the views turn through half a circle.
/// The image is a phantom of a few discs; b carries 0.5 % noise.
pub fn tomography(rows: usize, side: usize, random: &mut Random) -> Result<Generated> {
    let per_view = (side * 3 / 2).max(1);
    let views = rows.div_ceil(per_view);
    let (mut row_ptr, mut col_idx, mut values) = (vec![0], Vec::<u32>::new(), Vec::new());
    let mut crossings = Vec::new();
    for ray in 0..rows {
        let (view, detector) = (ray / per_view, ray % per_view);
        // A small offset keeps rays off the grid lines, where a pixel's length would be ambiguous.
        let (sin, cos) = (std::f64::consts::PI * (view as f64 + 0.3) / views as f64).sin_cos();
        let width = side as f64 * (sin.abs() + cos.abs()); // of the image's shadow: every ray hits
        let offset = width * ((detector as f64 + 0.5) / per_view as f64 - 0.5);
        trace_ray(side, (cos, sin), offset, &mut crossings, |pixel, length| {
            col_idx.push(pixel as u32);
            values.push(length);
        });
        row_ptr.push(values.len());
    }
    let pixels = side * side;
    let matrix = CsrMatrix::new(rows, pixels, row_ptr, col_idx, values)?.view().to_csc().into();
    let x = phantom(side, random);
    let rhs = noisy_rhs(&matrix, &x, 0.005, random);
    Ok(Generated { matrix, rhs })
}

/// Siddon: cuts the ray where it crosses a grid line; between two cuts it lies in one pixel.
///
/// The image is [−k/2, k/2]², the ray the points offset·n + t·d with n = (cos, sin), d = (−sin, cos).
fn trace_ray(side: usize, (cos, sin): (f64, f64), offset: f64, cuts: &mut Vec<f64>, mut visit: impl FnMut(usize, f64)) {
    let half = side as f64 / 2.0;
    let start = (offset * cos, offset * sin);
    let direction = (-sin, cos);
    let (mut enter, mut leave) = (f64::NEG_INFINITY, f64::INFINITY);
    for (s, d) in [(start.0, direction.0), (start.1, direction.1)] {
        if d.abs() > 1e-12 {
            let (t0, t1) = ((-half - s) / d, (half - s) / d);
            enter = enter.max(t0.min(t1));
            leave = leave.min(t0.max(t1));
        } else if s.abs() >= half {
            return;
        }
    }
    cuts.clear();
    for (s, d) in [(start.0, direction.0), (start.1, direction.1)] {
        if d.abs() > 1e-12 {
            let lines = (0..=side).map(|line| (line as f64 - half - s) / d);
            cuts.extend(lines.filter(|&t| t > enter && t < leave));
        }
    }
    if enter >= leave {
        return;
    }
    cuts.push(enter);
    cuts.push(leave);
    cuts.sort_by(f64::total_cmp);
    for pair in cuts.windows(2) {
        let (length, middle) = (pair[1] - pair[0], 0.5 * (pair[0] + pair[1]));
        if length < 1e-9 {
            continue;
        }
        let cell = |s: f64, d: f64| (s + middle * d + half).clamp(0.0, side as f64 - 1.0).floor() as usize;
        visit(cell(start.1, direction.1) * side + cell(start.0, direction.0), length);
    }
}

/// Discs of random place, size and density, in an otherwise empty image.
fn phantom(side: usize, random: &mut Random) -> Vec<f64> {
    let mut image = vec![0.0; side * side];
    for _ in 0..6 {
        let (x, y) = (random.between(0.2, 0.8), random.between(0.2, 0.8));
        let (radius, density) = (random.between(0.05, 0.18), random.between(0.3, 1.0));
        for (pixel, value) in image.iter_mut().enumerate() {
            let u = ((pixel % side) as f64 + 0.5) / side as f64 - x;
            let v = ((pixel / side) as f64 + 0.5) / side as f64 - y;
            if u * u + v * v < radius * radius {
                *value += density;
            }
        }
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ray_is_as_long_as_its_pieces() {
        let mut cuts = Vec::new();
        let mut length_of = |angle: f64, offset: f64| {
            let (sin, cos) = angle.sin_cos();
            let (mut total, mut pixels) = (0.0, Vec::new());
            trace_ray(8, (cos, sin), offset, &mut cuts, |pixel, length| {
                total += length;
                pixels.push(pixel);
            });
            (total, pixels)
        };
        let (vertical, pixels) = length_of(0.0, 0.5);
        assert!((vertical - 8.0).abs() < 1e-12);
        assert_eq!(pixels, (0..8).map(|row| row * 8 + 4).collect::<Vec<_>>());
        let (diagonal, _) = length_of(std::f64::consts::FRAC_PI_4, 0.0);
        assert!((diagonal - 8.0 * 2f64.sqrt()).abs() < 1e-9);
        assert_eq!(length_of(0.0, 4.5).0, 0.0);
    }
}
