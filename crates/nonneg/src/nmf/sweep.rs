//! Half a step: one factor, while the other is fixed. Each row x of it is a problem of its own, min ½xᵀGx − cᵀx over x ≥ 0 with
//! G the Gram matrix of the other factor and c a row of V times it; a few sweeps over the coordinates bring it closer.

use rayon::prelude::*;

use crate::matrix::kernels::{Lanes, Quadratic, TOGETHER, add_gradient, coordinate_sweep};

/// Sweeps end when one moves x by less than this part of what the first did (Gillis and Glineur 2012).
const SLOWER: f64 = 0.1;

/// Rows that one task takes, a multiple of those that are swept together.
const BLOCK: usize = 64;

/// The other factor, and penalties.
pub struct Fixed {
    /// G + λ₂I, k×k.
    gram: Quadratic,
    k: usize,
    l1: f64,
    sweeps: usize,
}

impl Fixed {
    /// With so many sweeps at most.
    pub fn new(gram: &[f64], k: usize, (l1, l2): (f64, f64), sweeps: usize) -> Self {
        Self { gram: Quadratic::new(gram, k, l2), k, l1, sweeps }
    }

    /// Brings all rows closer; returns how far from optimal they were: Σ of what is left of the gradient where x may go along it.
    pub fn improve(&self, factor: &mut [f64], products: &[f64]) -> f64 {
        let size = BLOCK * self.k;
        let blocks = factor.par_chunks_mut(size).zip(products.par_chunks(size));
        let violations: Vec<f64> = blocks
            .map(|(factor, products)| {
                let (mut rows, together, mut violation) = (Rows::new(self.k), TOGETHER * self.k, 0.0);
                for (factor, products) in factor.chunks_mut(together).zip(products.chunks(together)) {
                    violation += rows.load(self, factor, products);
                    rows.sweep(self);
                    rows.store(factor);
                }
                violation
            })
            .collect();
        violations.iter().sum()
    }

    /// [`improve`](Self::improve) without moving anything.
    pub fn violation(&self, factor: &[f64], products: &[f64]) -> f64 {
        let (mut rows, together) = (Rows::new(self.k), TOGETHER * self.k);
        let groups = factor.chunks(together).zip(products.chunks(together));
        groups.map(|(factor, products)| rows.load(self, factor, products)).sum()
    }
}

/// A few rows, each in a lane; lanes without a row hold zeros, and keep them.
struct Rows {
    x: Vec<Lanes>,
    /// Gx − c + λ₁.
    gradient: Vec<Lanes>,
}

impl Rows {
    fn new(k: usize) -> Self {
        Self { x: vec![[0.0; TOGETHER]; k], gradient: vec![[0.0; TOGETHER]; k] }
    }

    /// Takes rows of a factor; returns how far from optimal they are.
    fn load(&mut self, fixed: &Fixed, factor: &[f64], products: &[f64]) -> f64 {
        self.x.fill([0.0; TOGETHER]);
        self.gradient.fill([fixed.l1; TOGETHER]);
        for (lane, (x, c)) in factor.chunks_exact(fixed.k).zip(products.chunks_exact(fixed.k)).enumerate() {
            for p in 0..fixed.k {
                self.x[p][lane] = x[p];
                self.gradient[p][lane] -= c[p];
            }
        }
        add_gradient(&fixed.gram, &self.x, &mut self.gradient);
        let left = |(&x, &g): (&f64, &f64)| if x > 0.0 { g.abs() } else { (-g).max(0.0) };
        self.x.as_flattened().iter().zip(self.gradient.as_flattened()).map(left).sum()
    }

    fn sweep(&mut self, fixed: &Fixed) {
        let first = coordinate_sweep(&fixed.gram, &mut self.x, &mut self.gradient);
        for _ in 1..fixed.sweeps {
            if coordinate_sweep(&fixed.gram, &mut self.x, &mut self.gradient) <= SLOWER * SLOWER * first {
                break;
            }
        }
    }

    fn store(&self, factor: &mut [f64]) {
        for (lane, out) in factor.chunks_exact_mut(self.x.len()).enumerate() {
            out.iter_mut().zip(&self.x).for_each(|(out, x)| *out = x[lane]);
        }
    }
}
