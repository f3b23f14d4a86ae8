//! SI-NNLS+ as the paper's Algorithm 1 defines it: whole vectors, every image computed afresh. Slow and plain, for
//! readers and for the tests that the lazy form must match.

use super::blocks::Blocks;
use super::weights::StepWeights;
use crate::matrix::{Column, Columns};
use crate::presolve::Reduced;

/// One run of explicit SI-NNLS+.
pub struct Explicit<'p, M: Columns> {
    problem: &'p Reduced<'p, M>,
    blocks: &'p Blocks,
    weights: StepWeights,
    /// x₀.
    start: Vec<f64>,
    /// The linear part of φₖ: a₁(AᵀWȳ₀ − c) + Σᵢ n·aᵢ·(AᵀWȳᵢ₋₁ − c) on the block of step i.
    linear: Vec<f64>,
    /// xₖ.
    x: Vec<f64>,
    /// a₁x₁ + Σᵢ aᵢ(n·xᵢ − (n−1)xᵢ₋₁) = Aₖx̃ₖ.
    combination: Vec<f64>,
    /// x̃ₖ₋₁ and x̃ₖ (x₀ before the first).
    averages: [Vec<f64>; 2],
}

impl<'p, M: Columns> Explicit<'p, M> {
    /// Step k = 1 from x₀: x₁ = argmin φ₁.
    pub fn start(problem: &'p Reduced<'p, M>, blocks: &'p Blocks, start: Vec<f64>) -> Self {
        let weights = StepWeights::first(blocks.count());
        let mut run = Self {
            problem,
            blocks,
            weights,
            linear: vec![0.0; start.len()],
            x: start.clone(),
            combination: vec![0.0; start.len()],
            averages: [start.clone(), start.clone()],
            start,
        };
        let gradient = run.gradient(&run.start);
        run.linear = gradient.iter().map(|g| weights.current * g).collect();
        run.x = run.minimiser();
        run.combination = run.x.iter().map(|x| weights.current * x).collect();
        run.averages[1] = run.x.clone();
        run
    }

    /// Step k ≥ 2 on one block.
    pub fn step(&mut self, block: usize) {
        let last = self.weights.current;
        self.weights.advance();
        let (n, a) = (self.weights.blocks(), self.weights.current);
        // ȳₖ₋₁ = yₖ₋₁ + (aₖ₋₁/aₖ)(yₖ₋₁ − yₖ₋₂) is the image of x̄, since yₖ = Ax̃ₖ.
        let [before, average] = &self.averages;
        let extrapolated: Vec<f64> = average.iter().zip(before).map(|(x, old)| x + last / a * (x - old)).collect();
        let gradient = self.gradient(&extrapolated);
        for j in self.blocks.range(block) {
            self.linear[j] += n * a * gradient[j];
        }
        let moved = self.minimiser();
        for j in 0..moved.len() {
            self.combination[j] += a * (n * moved[j] - (n - 1.0) * self.x[j]);
        }
        self.x = moved;
        let average = self.combination.iter().map(|z| z / self.weights.sum).collect();
        self.averages = [std::mem::take(&mut self.averages[1]), average];
    }

    /// argmin φₖ over the box: φₖ is separable with curvature M.
    fn minimiser(&self) -> Vec<f64> {
        let minimiser =
            |k: usize| (self.start[k] - self.linear[k] / self.blocks.metric(self.problem, k)).clamp(0.0, self.problem.upper[k]);
        (0..self.start.len()).map(minimiser).collect()
    }

    /// ∇f(x) = AᵀWAx + λ₂x − c.
    fn gradient(&self, x: &[f64]) -> Vec<f64> {
        let problem = self.problem;
        let mut image = problem.multiply(x);
        if let Some(weights) = &problem.weights {
            image.iter_mut().zip(weights).for_each(|(y, w)| *y *= w);
        }
        let component = |k: usize| problem.scale[k] * problem.column(k).dot(&image) + problem.ridge(k) * x[k] - problem.linear[k];
        (0..x.len()).map(component).collect()
    }

    /// x̃ₖ.
    pub fn average(&self) -> &[f64] {
        &self.averages[1]
    }

    /// xₖ.
    pub fn current(&self) -> &[f64] {
        &self.x
    }
}
