//! The paper's algorithm, watched from outside: an auditor that recomputes every step from the definitions, small test
//! problems with an independent optimum, and mutants that the auditor must refuse.

#![allow(dead_code)] // each test file uses its part

pub mod audit;
pub mod mutants;

use nonneg::{CscMatrix, DenseMatrix};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Uniform numbers in [0, 1).
pub struct Random(pub Xoshiro256PlusPlus);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }
}

/// A small A ≥ 0 by columns, with b.
#[derive(Clone)]
pub struct Small {
    pub rows: usize,
    pub columns: Vec<Vec<f64>>,
    pub b: Vec<f64>,
}

impl Small {
    /// Entries uniform in [0, 1), each kept with probability `density`; b uniform around what some columns explain.
    pub fn random(rows: usize, cols: usize, density: f64, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let entry = |random: &mut Random| if random.unit() < density { random.unit() + 0.01 } else { 0.0 };
        let columns: Vec<Vec<f64>> = (0..cols).map(|_| (0..rows).map(|_| entry(&mut random)).collect()).collect();
        let b = (0..rows).map(|i| columns[0][i] + 0.5 * columns[cols / 2][i] + 0.6 * random.unit()).collect();
        let mut small = Self { rows, columns, b };
        for column in &mut small.columns {
            if column.iter().all(|&v| v == 0.0) {
                column[0] = 1.0;
            }
        }
        small
    }

    pub fn sparse(&self) -> CscMatrix {
        let mut triplets = Vec::new();
        for (j, column) in self.columns.iter().enumerate() {
            triplets.extend(column.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(i, &v)| (i, j, v)));
        }
        CscMatrix::from_triplets(self.rows, self.columns.len(), &triplets).unwrap()
    }

    pub fn dense(&self) -> DenseMatrix {
        DenseMatrix::new(self.rows, self.columns.len(), self.columns.concat()).unwrap()
    }

    pub fn linear(&self) -> Vec<f64> {
        self.columns.iter().map(|column| dot(column, &self.b)).collect()
    }

    pub fn norms(&self) -> Vec<f64> {
        self.columns.iter().map(|column| dot(column, column)).collect()
    }

    /// f(x) = ½‖Ax‖² − cᵀx.
    pub fn objective(&self, x: &[f64]) -> f64 {
        let image = self.image(x);
        0.5 * dot(&image, &image) - dot(&self.linear(), x)
    }

    pub fn gradient(&self, x: &[f64]) -> Vec<f64> {
        let image = self.image(x);
        self.columns.iter().zip(self.linear()).map(|(column, c)| dot(column, &image) - c).collect()
    }

    pub fn image(&self, x: &[f64]) -> Vec<f64> {
        let mut image = vec![0.0; self.rows];
        for (column, x) in self.columns.iter().zip(x) {
            image.iter_mut().zip(column).for_each(|(y, a)| *y += a * x);
        }
        image
    }

    /// x*, by trying every support: the normal equations on each, kept where x ≥ 0 and the gradient is ≥ 0 elsewhere.
    pub fn optimum(&self) -> Vec<f64> {
        let n = self.columns.len();
        let c = self.linear();
        let gram: Vec<Vec<f64>> = self.columns.iter().map(|p| self.columns.iter().map(|q| dot(p, q)).collect()).collect();
        let mut best = (0.0, vec![0.0; n]);
        for mask in 1usize..1 << n {
            let support: Vec<usize> = (0..n).filter(|j| mask >> j & 1 == 1).collect();
            let Some(values) = solve(&gram, &c, &support) else { continue };
            if values.iter().all(|&v| v >= 0.0) {
                let mut x = vec![0.0; n];
                support.iter().zip(&values).for_each(|(&j, &v)| x[j] = v);
                let f = self.objective(&x);
                if f < best.0 {
                    best = (f, x);
                }
            }
        }
        let gradient = self.gradient(&best.1);
        assert!((0..n).all(|j| gradient[j] > -1e-9 * c[j].abs()), "the reference is optimal");
        best.1
    }
}

/// Gaussian elimination with pivoting on the rows and columns of `support`.
fn solve(gram: &[Vec<f64>], c: &[f64], support: &[usize]) -> Option<Vec<f64>> {
    let n = support.len();
    let row = |&i: &usize| support.iter().map(|&j| gram[i][j]).chain([c[i]]).collect();
    let mut a: Vec<Vec<f64>> = support.iter().map(row).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&p, &q| a[p][k].abs().total_cmp(&a[q][k].abs()))?;
        a.swap(k, pivot);
        if a[k][k].abs() < 1e-12 {
            return None;
        }
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..=n {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        x[k] = (a[k][n] - (k + 1..n).map(|j| a[k][j] * x[j]).sum::<f64>()) / a[k][k];
    }
    Some(x)
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// max |aᵢ − bᵢ| relative to the largest entry.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().chain(b).fold(0.0f64, |m, v| m.max(v.abs()));
    let largest = a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    if size == 0.0 { 0.0 } else { largest / size }
}
