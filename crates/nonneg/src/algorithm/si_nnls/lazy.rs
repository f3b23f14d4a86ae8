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
use crate::matrix::kernels::{self, RowMove, RowState, Rows};
use crate::matrix::{Column, Columns};
use crate::presolve::Reduced;

/// How many steps ahead blocks are drawn. Finding a column takes a chain of loads (its number, its place, its entries),
/// each of which is asked for a few steps before the next one needs it.
const LOOKAHEAD: usize = 16;
const POINTER_AHEAD: usize = 11;
const ENTRIES_AHEAD: usize = 6;

/// All that one step needs to know of its variable, on one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Variable {
    /// x.
    x: f64,
    /// x₀.
    start: f64,
    /// p.
    grad_sum: f64,
    /// r.
    drift: f64,
    /// c.
    linear: f64,
    /// 1/M.
    step: f64,
    /// u.
    upper: f64,
    /// The power of two that the column is multiplied by.
    scale: f64,
}

impl Variable {
    /// Enters a gradient with its weight n·aₖ, and gives the new x = argmin φₖ.
    #[inline(always)]
    fn respond(&mut self, weight: f64, gradient: f64) -> f64 {
        self.grad_sum += weight * gradient;
        (self.start - self.grad_sum * self.step).clamp(0.0, self.upper)
    }
}

/// One run of lazy SI-NNLS+.
pub struct Lazy<'p, M: Columns> {
    problem: &'p Reduced<'p, M>,
    blocks: &'p Blocks,
    weights: StepWeights,
    /// q, s, t, multiplied by the row weights.
    rows: Rows,
    /// The step that wrote the t that still counts.
    recent: Option<u64>,
    variables: Vec<Variable>,
    /// The last block that moved and its δ, for the ridge term.
    last_moves: (std::ops::Range<usize>, Vec<f64>),
    changes: Vec<f64>,
    work: u64,
}

impl<'p, M: Columns> Lazy<'p, M> {
    /// Step k = 1, the full-vector step from x₀ (within bounds), given Ax₀ and ∇f(x₀): one pass.
    pub fn start(problem: &'p Reduced<'p, M>, blocks: &'p Blocks, start: &[f64], image: &[f64], gradient: &[f64]) -> Self {
        let weights = StepWeights::first(blocks.count());
        let variable = |k: usize| {
            let (linear, upper, scale) = (problem.linear[k], problem.upper[k], problem.scale[k]);
            let step = 1.0 / blocks.metric(problem, k);
            let mut variable = Variable { x: 0.0, start: start[k], grad_sum: 0.0, drift: 0.0, linear, step, upper, scale };
            variable.x = variable.respond(weights.current, gradient[k]);
            variable
        };
        let variables = kernels::collect_in_large_pages(problem.len(), variable);
        let change: Vec<f64> = variables.iter().map(|v| v.x - v.start).collect();
        let moved = problem.multiply(&change);
        let work = problem.support_work(&change);
        let weight = |i: usize| problem.weights.as_ref().map_or(1.0, |w| w[i]);
        let state = |i: usize| {
            let before = if weight(i) == 0.0 { 0.0 } else { weight(i) * image[i] };
            RowState { ax: before + weight(i) * moved[i], drift: 0.0 }
        };
        let rows = Rows {
            state: kernels::collect_in_large_pages(image.len(), state),
            moves: (0..image.len()).map(|i| RowMove { change: weight(i) * moved[i], stamp: 1 }).collect(),
        };
        let last_moves = if problem.ridge.is_empty() { (0..0, Vec::new()) } else { (0..change.len(), change) };
        Self { problem, blocks, weights, rows, recent: Some(1), variables, last_moves, changes: Vec::new(), work }
    }

    /// `count` steps on blocks drawn uniformly.
    pub fn random_steps(&mut self, count: usize, rng: &mut Xoshiro256PlusPlus) {
        let blocks = self.blocks.count() as u64;
        let mut draw = || ((u128::from(rng.next_u64()) * u128::from(blocks)) >> 64) as usize;
        let mut drawn = [0usize; LOOKAHEAD];
        for k in 0..count + LOOKAHEAD {
            if k >= LOOKAHEAD {
                self.step(drawn[k % LOOKAHEAD]);
            }
            if k < count {
                drawn[k % LOOKAHEAD] = draw();
                self.prefetch_variable(drawn[k % LOOKAHEAD]);
            }
            // Slots beyond the last draw hold old blocks: asking for those again does no harm.
            self.prefetch_column(drawn[(k + POINTER_AHEAD) % LOOKAHEAD], drawn[(k + ENTRIES_AHEAD) % LOOKAHEAD]);
        }
    }

    /// n steps.
    pub fn epoch(&mut self, rng: &mut Xoshiro256PlusPlus) {
        self.random_steps(self.blocks.count(), rng);
    }

    #[inline]
    fn prefetch_variable(&self, block: usize) {
        if self.blocks.is_single() {
            kernels::prefetch(&self.problem.columns[block]);
            kernels::prefetch(&self.variables[block]);
        }
    }

    #[inline]
    fn prefetch_column(&self, far: usize, near: usize) {
        if self.blocks.is_single() {
            self.problem.matrix.prefetch_pointer(self.problem.columns[far]);
            self.problem.matrix.prefetch_entries(self.problem.columns[near]);
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
        let (column, weight) = (self.problem.column(j), self.weights.blocks() * self.weights.current);
        let variable = &mut self.variables[j];
        let product = variable.scale * column.extrapolated_dot(&self.rows, alpha, beta, self.recent);
        self.work += column.len() as u64;
        let target = variable.respond(weight, product - variable.linear);
        let change = target - variable.x;
        self.recent = None;
        if change != 0.0 {
            variable.x = target;
            variable.drift += omega * change;
            column.move_rows(&mut self.rows, self.problem.weights.as_deref(), change * variable.scale, omega, now);
            self.recent = Some(now);
        }
    }

    fn step_block(&mut self, range: std::ops::Range<usize>, alpha: f64, beta: f64, omega: f64, now: u64) {
        let weight = self.weights.blocks() * self.weights.current;
        let mut changes = std::mem::take(&mut self.changes);
        changes.clear();
        // All gradients before any move: the block moves as one.
        for j in range.clone() {
            let column = self.problem.column(j);
            let variable = &mut self.variables[j];
            let mut gradient = variable.scale * column.extrapolated_dot(&self.rows, alpha, beta, self.recent) - variable.linear;
            self.work += column.len() as u64;
            if self.problem.ridge(j) > 0.0 {
                let (moved, moves) = &self.last_moves;
                let last = if self.recent.is_some() && moved.contains(&j) { moves[j - moved.start] } else { 0.0 };
                gradient += self.problem.ridge(j) * (variable.x + alpha * variable.drift + beta * last);
            }
            let target = variable.respond(weight, gradient);
            changes.push(target - variable.x);
            variable.x = target;
        }
        self.recent = None;
        for (j, &change) in range.clone().zip(&changes) {
            if change != 0.0 {
                let variable = &mut self.variables[j];
                variable.drift += omega * change;
                let column = self.problem.column(j);
                column.move_rows(&mut self.rows, self.problem.weights.as_deref(), change * variable.scale, omega, now);
                self.recent = Some(now);
            }
        }
        if self.recent.is_some() {
            self.changes = std::mem::replace(&mut self.last_moves, (range, changes)).1;
        } else {
            self.changes = changes;
        }
    }

    /// x̃ₖ, clipped: in exact arithmetic it lies within the bounds, in floating point it can miss by a rounding error.
    pub fn average(&self) -> Vec<f64> {
        self.variables.iter().map(|v| (v.x + v.drift / self.weights.sum).clamp(0.0, v.upper)).collect()
    }

    /// W·yₖ = WAx̃ₖ.
    pub fn weighted_image(&self) -> Vec<f64> {
        self.rows.state.iter().map(|row| row.ax + row.drift / self.weights.sum).collect()
    }

    /// xₖ.
    pub fn current(&self) -> Vec<f64> {
        self.variables.iter().map(|v| v.x).collect()
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
