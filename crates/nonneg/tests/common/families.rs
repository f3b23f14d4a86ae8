//! Middle-sized problems of the kinds that people solve, seeded.

use super::random::Random;
use super::{Problem, Storage};

/// b = Ax for an x with a fifth of its entries above zero, and noise of this part of the largest entry.
fn with_noise(rows: usize, cols: usize, a: Vec<f64>, noise: f64, random: &mut Random) -> Problem {
    let x: Vec<f64> = (0..cols).map(|_| if random.chance(0.2) { random.unit() } else { 0.0 }).collect();
    let mut b = vec![0.0; rows];
    for (column, x) in a.chunks(rows).zip(x) {
        b.iter_mut().zip(column).for_each(|(b, a)| *b += a * x);
    }
    let size = b.iter().copied().fold(0.0, f64::max);
    b.iter_mut().for_each(|b| *b += noise * size * random.between(-1.0, 1.0));
    Problem::new(rows, cols, &a, &b)
}

/// Entries uniform in (0, 1).
pub fn uniform(rows: usize, cols: usize, seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let a = (0..rows * cols).map(|_| random.unit()).collect();
    with_noise(rows, cols, a, 0.05, &mut random)
}

/// A spectrum as a sum of Gaussian peaks at all positions.
pub fn peaks(rows: usize, cols: usize, seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let mut a = Vec::with_capacity(rows * cols);
    for j in 0..cols {
        let (centre, width) = (j as f64 * rows as f64 / cols as f64, random.between(1.0, 4.0));
        a.extend((0..rows).map(|i| (-0.5 * ((i as f64 - centre) / width).powi(2)).exp()));
    }
    with_noise(rows, cols, a, 0.01, &mut random)
}

/// A signal seen through a window of 13 samples that falls off towards its ends.
pub fn blur(n: usize, seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let kernel = |distance: usize| if distance <= 6 { (-0.5 * (distance as f64 / 2.0).powi(2)).exp() } else { 0.0 };
    let a = (0..n * n).map(|e| kernel((e / n).abs_diff(e % n))).collect();
    let mut problem = with_noise(n, n, a, 0.01, &mut random);
    problem.storage = Storage::Csc;
    problem
}

/// Counts of words in documents: a few rows hold most of the entries.
pub fn text(rows: usize, cols: usize, density: f64, seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let mut a = vec![0.0; rows * cols];
    for column in a.chunks_mut(rows) {
        for _ in 0..(density * rows as f64) as usize {
            let word = (rows as f64 * random.unit().powi(3)) as usize;
            column[word] += 1.0;
        }
    }
    let mut problem = with_noise(rows, cols, a, 0.01, &mut random);
    problem.storage = Storage::Csc;
    problem
}

/// Every other column is the one before it, but for a part of 1e-6.
pub fn near_duplicates(rows: usize, cols: usize, seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let mut a: Vec<f64> = (0..rows * cols).map(|_| random.unit()).collect();
    for j in (1..cols).step_by(2) {
        for i in 0..rows {
            a[j * rows + i] = a[(j - 1) * rows + i] * (1.0 + 1e-6 * random.between(-1.0, 1.0));
        }
    }
    with_noise(rows, cols, a, 0.05, &mut random)
}

/// Columns in units of their own, from 1e-12 to 1e12.
pub fn units(rows: usize, cols: usize, seed: u64) -> Problem {
    let mut problem = uniform(rows, cols, seed);
    let mut random = Random::new(seed);
    for column in problem.a.chunks_mut(rows) {
        let unit = 10f64.powf(random.between(-12.0, 12.0));
        column.iter_mut().for_each(|v| *v *= unit);
    }
    problem
}

/// One of each, by name.
pub fn middle() -> Vec<(&'static str, Problem)> {
    vec![
        ("uniform 200×150", uniform(200, 150, 1)),
        ("uniform 100×400", uniform(100, 400, 2)),
        ("peaks 150×120", peaks(150, 120, 3)),
        ("blur 300×300", blur(300, 4)),
        ("text 2000×1000", text(2000, 1000, 0.01, 5)),
        ("near duplicates 200×100", near_duplicates(200, 100, 6)),
        ("units 150×100", units(150, 100, 7)),
    ]
}
