//! A star field seen out of focus.

use nonneg::{CscMatrix, Result};

use super::plant::{noisy_rhs, sparse_x};
use super::{Generated, Random};

/// Standard deviation of the point-spread function, in pixels.
const SIGMA: f64 = 1.5;
/// Where it is cut off.
const RADIUS: usize = 4;

/// 2-D Gaussian blur of a `side`×`side` image: column j is the image of a point at pixel j. 2 % of the pixels shine.
pub fn blur(side: usize, random: &mut Random) -> Result<Generated> {
    let profile: Vec<f64> = (0..=RADIUS).map(|d| (-0.5 * (d as f64 / SIGMA).powi(2)).exp()).collect();
    let total = profile[0] + 2.0 * profile[1..].iter().sum::<f64>();
    let profile: Vec<f64> = profile.into_iter().map(|p| p / total).collect();

    let pixels = side * side;
    let stored = pixels * (2 * RADIUS + 1).pow(2);
    let (mut col_ptr, mut row_idx, mut values) =
        (Vec::with_capacity(pixels + 1), Vec::<u32>::with_capacity(stored), Vec::with_capacity(stored));
    col_ptr.push(0);
    let near = |centre: usize| centre.saturating_sub(RADIUS)..(centre + RADIUS + 1).min(side);
    for pixel in 0..pixels {
        let (y, x) = (pixel / side, pixel % side);
        for v in near(y) {
            for u in near(x) {
                row_idx.push((v * side + u) as u32);
                values.push(profile[y.abs_diff(v)] * profile[x.abs_diff(u)]);
            }
        }
        col_ptr.push(values.len());
    }
    let matrix = CscMatrix::new(pixels, pixels, col_ptr, row_idx, values)?.into();
    let x = sparse_x(pixels, 0.02, random);
    let rhs = noisy_rhs(&matrix, &x, 0.01, random);
    Ok(Generated { matrix, rhs })
}
