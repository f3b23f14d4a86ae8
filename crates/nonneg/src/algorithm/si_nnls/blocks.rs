//! Mini-batches: consecutive columns that move together, and the diagonal metric in which they may.

use crate::matrix::kernels::GAMMA;
use crate::matrix::{Column, Columns};
use crate::presolve::Reduced;
use crate::settings::BlockMetric;

/// Power steps that improve the metric of a block; each costs two passes, once.
const POWER_STEPS: usize = 3;

/// The kept columns, cut into blocks of `size` (the last may be short), with M ⪰ BᵀWB + λ₂ for each block.
#[derive(Debug, Clone)]
pub struct Blocks {
    size: usize,
    variables: usize,
    /// M per variable; empty for single columns, whose M is their curvature.
    metric: Vec<f64>,
}

impl Blocks {
    /// Every variable on its own.
    pub fn single<M: Columns>(problem: &Reduced<M>) -> Self {
        Self { size: 1, variables: problem.len(), metric: Vec::new() }
    }

    /// Blocks of one column have M = L; larger ones get Mᵢ = (|B|ᵀW|B|v)ᵢ/vᵢ for a v > 0: by Gershgorin on the matrix
    /// similar to it under diag(v), BᵀWB ⪯ diag(M) for every v, for signed B too, and rescaling a column rescales its M
    /// alone. Returns the multiply-adds spent as well.
    pub fn new<M: Columns>(problem: &Reduced<M>, size: usize, kind: BlockMetric) -> (Self, u64) {
        let variables = problem.len();
        let size = size.min(variables.max(1));
        let mut blocks = Self { size, variables, metric: Vec::new() };
        let mut work = 0;
        if size > 1 {
            let mut image = vec![0.0; problem.matrix.rows()];
            blocks.metric = vec![0.0; variables];
            for block in 0..blocks.count() {
                let range = blocks.range(block);
                let metric = block_metric(problem, range.clone(), kind, &mut image, &mut work);
                for (k, metric) in range.zip(metric) {
                    blocks.metric[k] = metric + problem.ridge(k);
                }
            }
        }
        (blocks, work)
    }

    /// M of variable k.
    #[inline]
    pub fn metric<M: Columns>(&self, problem: &Reduced<M>, k: usize) -> f64 {
        if self.metric.is_empty() { problem.curvature(k) } else { self.metric[k] }
    }

    /// n of the algorithm.
    pub fn count(&self) -> usize {
        self.variables.div_ceil(self.size)
    }

    /// The variables of one block.
    #[inline]
    pub fn range(&self, block: usize) -> std::ops::Range<usize> {
        let start = block * self.size;
        start..(start + self.size).min(self.variables)
    }

    /// Whether every block is one column.
    pub fn is_single(&self) -> bool {
        self.size == 1
    }
}

/// Collatz–Wielandt bounds after a few power steps. `image` is zero on entry and on return.
fn block_metric<M: Columns>(
    problem: &Reduced<M>,
    range: std::ops::Range<usize>,
    kind: BlockMetric,
    image: &mut [f64],
    work: &mut u64,
) -> Vec<f64> {
    // v: the Perron vector in units of the columns, 1/‖A:ᵢ‖ to begin with; the paper's metric treats all columns alike.
    let mut v: Vec<f64> = match kind {
        BlockMetric::ScaleInvariant => range.clone().map(|k| safe_inverse(problem.norm[k].sqrt())).collect(),
        BlockMetric::Spectral => vec![1.0; range.len()],
    };
    let unscaled = |k: usize| match kind {
        BlockMetric::ScaleInvariant => problem.scale[k].abs(),
        BlockMetric::Spectral => 1.0, // the paper's columns are in the caller's units
    };
    let mut ratios = vec![0.0; v.len()];
    for step in 0..=POWER_STEPS {
        for (k, v) in range.clone().zip(&v) {
            let factor = unscaled(k) * v;
            problem.column(k).for_each(|i, a| image[i] += factor * a.abs());
        }
        let mut products: Vec<f64> = Vec::with_capacity(v.len());
        for k in range.clone() {
            let mut product = 0.0;
            match &problem.weights {
                None => problem.column(k).for_each(|i, a| product += a.abs() * image[i]),
                Some(w) => problem.column(k).for_each(|i, a| product += a.abs() * w[i] * image[i]),
            }
            products.push(product * unscaled(k));
            *work += 2 * problem.column_len(k) as u64;
        }
        for k in range.clone() {
            problem.column(k).for_each(|i, _| image[i] = 0.0);
        }
        for (ratio, (product, v)) in ratios.iter_mut().zip(products.iter().zip(&v)) {
            *ratio = product / v;
        }
        if step < POWER_STEPS {
            // D⁻¹(|B|ᵀ|B|)v keeps the units of v; normalised so that repeated steps stay in range.
            let next: Vec<f64> = match kind {
                BlockMetric::ScaleInvariant => {
                    products.iter().zip(range.clone()).map(|(p, k)| p * safe_inverse(problem.norm[k])).collect()
                }
                BlockMetric::Spectral => products,
            };
            let largest = next.iter().zip(&v).map(|(a, b)| a / b).fold(0.0, f64::max);
            if largest > 0.0 && next.iter().all(|&v| v > 0.0) {
                v = next.iter().map(|v| v / largest).collect();
            }
        }
    }
    // Rounded up: the sums above have at most rows + columns terms.
    let slack = 1.0 + GAMMA + (image.len() + v.len() + 8) as f64 * f64::EPSILON;
    match kind {
        BlockMetric::ScaleInvariant => ratios.iter().map(|ratio| ratio * slack).collect(),
        BlockMetric::Spectral => {
            let largest = ratios.iter().copied().fold(0.0, f64::max) * slack;
            range.map(|k| largest * problem.scale[k] * problem.scale[k]).collect()
        }
    }
}

fn safe_inverse(v: f64) -> f64 {
    if v > 0.0 { 1.0 / v } else { 1.0 }
}
