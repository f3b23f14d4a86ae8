//! Half a step: one factor, while the other is fixed. Each row x of it is a problem of its own, min ½xᵀGx − cᵀx over x ≥ 0 with
//! G the Gram matrix of the other factor and c a row of V times it; a few sweeps over the coordinates bring it closer.

use rayon::prelude::*;

use crate::matrix::kernels::{axpy, axpy_four};

/// Sweeps end when one moves x by less than this part of what the first did (Gillis and Glineur 2012).
const SLOWER: f64 = 0.1;

/// Rows that one task takes.
const BLOCK: usize = 64;

/// The other factor, and penalties.
pub struct Fixed<'f> {
    /// G + λ₂I, k×k.
    gram: &'f [f64],
    /// 1/Gₚₚ, or zero.
    inverse: Vec<f64>,
    k: usize,
    l1: f64,
    sweeps: usize,
}

/// How far from optimal the rows were: Σ of what is left of the gradient where x may go along it.
pub fn improve(fixed: &Fixed, factor: &mut [f64], products: &[f64]) -> f64 {
    let k = fixed.k;
    let blocks = factor.par_chunks_mut(BLOCK * k).zip(products.par_chunks(BLOCK * k));
    let violations: Vec<f64> = blocks
        .map(|(factor, products)| {
            let mut gradient = vec![0.0; k];
            let rows = factor.chunks_exact_mut(k).zip(products.chunks_exact(k));
            rows.map(|(x, c)| fixed.improve_row(x, c, &mut gradient)).sum::<f64>()
        })
        .collect();
    violations.iter().sum()
}

impl<'f> Fixed<'f> {
    /// With so many sweeps at most.
    pub fn new(gram: &'f [f64], k: usize, l1: f64, sweeps: usize) -> Self {
        let invert = |d: f64| if d > 0.0 && (1.0 / d).is_finite() { 1.0 / d } else { 0.0 };
        Self { gram, inverse: (0..k).map(|p| invert(gram[p * k + p])).collect(), k, l1, sweeps }
    }

    fn column(&self, p: usize) -> &[f64] {
        &self.gram[p * self.k..(p + 1) * self.k]
    }

    /// Leaves ∇f(x) = Gx − c + λ₁, and returns how far from optimal x is.
    fn slope(&self, x: &[f64], c: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.iter_mut().zip(c).for_each(|(g, c)| *g = self.l1 - c);
        let (mut four, mut count) = ([0; 4], 0);
        for p in 0..self.k {
            if x[p] != 0.0 {
                four[count] = p;
                count += 1;
                if count == 4 {
                    axpy_four(four.map(|p| x[p]), four.map(|p| self.column(p)), gradient);
                    count = 0;
                }
            }
        }
        four[..count].iter().for_each(|&p| axpy(x[p], self.column(p), gradient));
        x.iter().zip(gradient.iter()).map(|(&x, &g)| if x > 0.0 { g.abs() } else { (-g).max(0.0) }).sum()
    }

    /// [`improve`] without moving anything.
    pub fn violation(&self, factor: &[f64], products: &[f64]) -> f64 {
        let mut gradient = vec![0.0; self.k];
        let rows = factor.chunks_exact(self.k).zip(products.chunks_exact(self.k));
        rows.map(|(x, c)| self.slope(x, c, &mut gradient)).sum()
    }

    fn improve_row(&self, x: &mut [f64], c: &[f64], gradient: &mut [f64]) -> f64 {
        let violation = self.slope(x, c, gradient);
        let mut first = 0.0;
        for sweep in 0..self.sweeps {
            let mut moved = 0.0;
            for p in 0..self.k {
                // Most entries are zero and stay there.
                if x[p] == 0.0 && gradient[p] >= 0.0 {
                    continue;
                }
                let next = (x[p] - gradient[p] * self.inverse[p]).max(0.0);
                let step = next - x[p];
                if step != 0.0 {
                    x[p] = next;
                    moved += self.gram[p * self.k + p] * step * step;
                    axpy(step, self.column(p), gradient);
                }
            }
            if sweep == 0 {
                first = moved;
            }
            if moved <= SLOWER * SLOWER * first {
                break;
            }
        }
        violation
    }
}
