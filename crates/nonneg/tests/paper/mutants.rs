//! SI-NNLS+ once more, by the recursions and whole vectors, with one thing wrong on request.

use super::audit::Watched;
use super::{Small, dot};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mutation {
    /// Nothing wrong: shows that the auditor accepts this form of the algorithm.
    None,
    /// ȳ = y.
    NoExtrapolation,
    /// xₖ is returned instead of x̃ₖ.
    LastIterate,
    /// The appendix's a₁ = 1/(n−1), a₂ = n/(n−1).
    AppendixWeights,
    /// The appendix's first step: one coordinate instead of all.
    CoordinateFirst,
    /// The image is extrapolated with the wrong ratio aₖ₊₁/aₖ.
    InverseRatio,
}

pub struct Mutant<'a> {
    small: &'a Small,
    mutation: Mutation,
    start: Vec<f64>,
    grad_sum: Vec<f64>,
    x: Vec<f64>,
    average: Vec<f64>,
    images: [Vec<f64>; 2],
    weights: [f64; 2],
    total: f64,
    step: usize,
}

impl<'a> Mutant<'a> {
    pub fn start(small: &'a Small, start: &[f64], mutation: Mutation) -> Self {
        let n = start.len() as f64;
        let first = if mutation == Mutation::AppendixWeights { 1.0 / (n - 1.0) } else { 1.0 / (2f64.sqrt() * n.powf(1.5)) };
        let grad_sum: Vec<f64> = small.gradient(start).iter().map(|g| first * g).collect();
        let mut run = Self {
            small,
            mutation,
            start: start.to_vec(),
            grad_sum,
            x: start.to_vec(),
            average: Vec::new(),
            images: [small.image(start), Vec::new()],
            weights: [0.0, first],
            total: first,
            step: 1,
        };
        let moved = if mutation == Mutation::CoordinateFirst { 0..1 } else { 0..start.len() };
        for j in moved {
            run.x[j] = run.proposal(j);
        }
        run.average = run.x.clone();
        run.images[1] = small.image(&run.average);
        run
    }

    fn proposal(&self, j: usize) -> f64 {
        let column = &self.small.columns[j];
        let (norm, c) = (dot(column, column), dot(column, &self.small.b));
        (self.start[j] - self.grad_sum[j] / norm).clamp(0.0, c / norm)
    }
}

impl Watched for Mutant<'_> {
    fn step(&mut self, j: usize) {
        let n = self.start.len() as f64;
        let growth = match (self.step, self.mutation) {
            (1, Mutation::AppendixWeights) => n,
            (1, _) => 1.0,
            _ => n,
        };
        let limit = if self.step == 1 && self.mutation == Mutation::AppendixWeights {
            f64::INFINITY
        } else {
            self.total.sqrt() / (2.0 * n)
        };
        let next = (growth * self.weights[1] / (n - 1.0)).min(limit);
        let ratio = match self.mutation {
            Mutation::NoExtrapolation => 0.0,
            Mutation::InverseRatio => next / self.weights[1],
            _ => self.weights[1] / next,
        };
        let column = &self.small.columns[j];
        let extrapolated: Vec<f64> = self.images[1].iter().zip(&self.images[0]).map(|(y, old)| y + ratio * (y - old)).collect();
        self.grad_sum[j] += n * next * (dot(column, &extrapolated) - dot(column, &self.small.b));
        let old = self.x.clone();
        self.x[j] = self.proposal(j);
        let before = self.total;
        self.total += next;
        for k in 0..self.x.len() {
            self.average[k] = (before * self.average[k] + next * (n * self.x[k] - (n - 1.0) * old[k])) / self.total;
        }
        self.images = [std::mem::take(&mut self.images[1]), self.small.image(&self.average)];
        self.weights = [self.weights[1], next];
        self.step += 1;
    }
    fn current(&self) -> Vec<f64> {
        self.x.clone()
    }
    fn output(&self) -> Vec<f64> {
        if self.mutation == Mutation::LastIterate { self.x.clone() } else { self.average.clone() }
    }
    fn image(&self) -> Vec<f64> {
        self.images[1].clone()
    }
    fn weight(&self) -> f64 {
        self.weights[1]
    }
}
