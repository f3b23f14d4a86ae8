//! SI-NNLS+ in its lazy form (the paper's Algorithm 2): a step costs the nonzeros of its columns.
//!
//! With q = Ax, s and t (rows), p and r (columns), step k ≥ 2 on block B is
//!
//! ```text
//! ȳₖ₋₁ = q + αs + βt                             (α, β from the weights; only rows of B are formed)
//! pⱼ  += n·aₖ·(A:ⱼᵀWȳₖ₋₁ − cⱼ + ridge)           for j in B
//! xⱼ   = clip(x₀ⱼ − pⱼ/Mⱼ, 0, uⱼ),   δⱼ its change
//! t    = Σ δⱼA:ⱼ,   q += t,   s += ω·t,   rⱼ += ω·δⱼ
//! ```
//!
//! and the output is x̃ₖ = xₖ + rₖ/Aₖ with image yₖ = q + s/Aₖ. Where nothing moves, nothing is written.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use super::blocks::Blocks;
use super::weights::StepWeights;
use crate::matrix::kernels::RowState;
use crate::matrix::{Column, Columns};
use crate::presolve::Reduced;

/// How far ahead of their use columns are drawn, so that memory can be asked for them.
const LOOKAHEAD: usize = 8;

/// One run of lazy SI-NNLS+.
pub struct Lazy<'p, M: Columns> {
    problem: &'p Reduced<'p, M>,
    blocks: &'p Blocks,
    weights: StepWeights,
    /// q, s, t, multiplied by the row weights.
    rows: Vec<RowState>,
    /// The step that wrote the t that still counts.
    recent: Option<u64>,
    /// x₀.
    start: Vec<f64>,
    /// x.
    x: Vec<f64>,
    /// p.
    grad_sum: Vec<f64>,
    /// r.
    drift: Vec<f64>,
    /// The last block that moved and its δ, for the ridge term.
    last_moves: (std::ops::Range<usize>, Vec<f64>),
    changes: Vec<f64>,
    work: u64,
}

impl<'p, M: Columns> Lazy<'p, M> {
    /// Step k = 1, the full-vector step from x₀ (within bounds), given Ax₀ and ∇f(x₀): one pass.
    pub fn start(problem: &'p Reduced<'p, M>, blocks: &'p Blocks, start: Vec<f64>, image: &[f64], gradient: &[f64]) -> Self {
        let weights = StepWeights::first(blocks.count());
        let grad_sum: Vec<f64> = gradient.iter().map(|g| weights.current * g).collect();
        let x: Vec<f64> =
            (0..problem.len()).map(|k| (start[k] - grad_sum[k] / blocks.metric[k]).clamp(0.0, problem.upper[k])).collect();
        let change: Vec<f64> = x.iter().zip(&start).map(|(x, x0)| x - x0).collect();
        let moved = problem.multiply(&change);
        let work = problem.support_work(&change);
        let rows = (0..image.len())
            .map(|i| {
                let weight = problem.weights.as_ref().map_or(1.0, |w| w[i]);
                let last_move = weight * moved[i];
                RowState { ax: weight * image[i] + last_move, drift: 0.0, last_move, stamp: 1 }
            })
            .collect();
        let drift = vec![0.0; x.len()];
        let last_moves = (0..x.len(), change);
        Self { problem, blocks, weights, rows, recent: Some(1), start, x, grad_sum, drift, last_moves, changes: Vec::new(), work }
    }

    /// `count` steps on blocks drawn uniformly. `count` is at least 1.
    pub fn random_steps(&mut self, count: usize, rng: &mut Xoshiro256PlusPlus) {
        let blocks = self.blocks.count() as u64;
        let mut draw = || ((u128::from(rng.next_u64()) * u128::from(blocks)) >> 64) as usize;
        let mut ahead = [0usize; LOOKAHEAD];
        let first = count.min(LOOKAHEAD);
        for slot in ahead.iter_mut().take(first) {
            *slot = draw();
            self.prefetch_pointer(*slot);
        }
        let mut drawn = first;
        for k in 0..count {
            let block = ahead[k % LOOKAHEAD];
            if k + LOOKAHEAD / 2 < drawn {
                self.prefetch_entries(ahead[(k + LOOKAHEAD / 2) % LOOKAHEAD]);
            }
            self.step(block);
            if drawn < count {
                ahead[k % LOOKAHEAD] = draw();
                self.prefetch_pointer(ahead[k % LOOKAHEAD]);
                drawn += 1;
            }
        }
    }

    #[inline]
    fn prefetch_pointer(&self, block: usize) {
        if self.blocks.is_single() {
            self.problem.matrix.prefetch_pointer(self.problem.columns[block]);
        }
    }

    #[inline]
    fn prefetch_entries(&self, block: usize) {
        if self.blocks.is_single() {
            self.problem.matrix.prefetch_entries(self.problem.columns[block]);
        }
    }

    /// One step on a given block.
    #[inline]
    pub fn step(&mut self, block: usize) {
        self.weights.advance();
        let (alpha, beta) = self.weights.extrapolation();
        let omega = self.weights.drift();
        let now = self.weights.step;
        let range = self.blocks.range(block);
        if self.blocks.is_single() && self.problem.ridge.is_empty() {
            self.step_single(range.start, alpha, beta, omega, now);
        } else {
            self.step_block(range, alpha, beta, omega, now);
        }
    }

    #[inline]
    fn step_single(&mut self, j: usize, alpha: f64, beta: f64, omega: f64, now: u64) {
        let (column, scale) = (self.problem.column(j), self.problem.scale[j]);
        let gradient = scale * column.extrapolated_dot(&self.rows, alpha, beta, self.recent) - self.problem.linear[j];
        self.work += column.len() as u64;
        let target = self.propose(j, gradient);
        let change = target - self.x[j];
        self.recent = None;
        if change != 0.0 {
            column.move_rows(&mut self.rows, self.problem.weights.as_deref(), change * scale, omega, now);
            self.x[j] = target;
            self.drift[j] += omega * change;
            self.recent = Some(now);
        }
    }

    fn step_block(&mut self, range: std::ops::Range<usize>, alpha: f64, beta: f64, omega: f64, now: u64) {
        let mut changes = std::mem::take(&mut self.changes);
        changes.clear();
        // All gradients before any move: the block moves as one.
        for j in range.clone() {
            let (column, scale) = (self.problem.column(j), self.problem.scale[j]);
            let product = scale * column.extrapolated_dot(&self.rows, alpha, beta, self.recent);
            self.work += column.len() as u64;
            let ridge = match self.problem.ridge(j) {
                0.0 => 0.0,
                ridge => {
                    let (moved, moves) = &self.last_moves;
                    let last = if self.recent.is_some() && moved.contains(&j) { moves[j - moved.start] } else { 0.0 };
                    ridge * (self.x[j] + alpha * self.drift[j] + beta * last)
                }
            };
            let target = self.propose(j, product - self.problem.linear[j] + ridge);
            changes.push(target - self.x[j]);
            self.x[j] = target;
        }
        self.recent = None;
        for (j, &change) in range.clone().zip(&changes) {
            if change != 0.0 {
                let (column, scale) = (self.problem.column(j), self.problem.scale[j]);
                column.move_rows(&mut self.rows, self.problem.weights.as_deref(), change * scale, omega, now);
                self.drift[j] += omega * change;
                self.recent = Some(now);
            }
        }
        if self.recent.is_some() {
            self.changes = std::mem::replace(&mut self.last_moves, (range, changes)).1;
        } else {
            self.changes = changes;
        }
    }

    /// The new xⱼ, for a gradient at ȳ.
    #[inline]
    fn propose(&mut self, j: usize, gradient: f64) -> f64 {
        self.grad_sum[j] += self.weights.blocks() * self.weights.current * gradient;
        (self.start[j] - self.grad_sum[j] / self.blocks.metric[j]).clamp(0.0, self.problem.upper[j])
    }

    /// x̃ₖ, clipped: in exact arithmetic it lies within the bounds, in floating point it can miss by a rounding error.
    pub fn average(&self) -> Vec<f64> {
        let mut average: Vec<f64> = self.x.iter().zip(&self.drift).map(|(x, r)| x + r / self.weights.sum).collect();
        self.problem.clip(&mut average);
        average
    }

    /// W·yₖ = WAx̃ₖ.
    pub fn weighted_image(&self) -> Vec<f64> {
        self.rows.iter().map(|row| row.ax + row.drift / self.weights.sum).collect()
    }

    /// xₖ.
    pub fn current(&self) -> &[f64] {
        &self.x
    }

    /// Aₖ and its neighbours.
    pub fn weights(&self) -> &StepWeights {
        &self.weights
    }

    /// Multiply-adds with entries of A since the last call.
    pub fn take_work(&mut self) -> u64 {
        std::mem::take(&mut self.work)
    }
}
