//! What is known of many right-hand sides together, added up as they are solved.

use nonneg::{ColumnSolution, Status};

/// Sums are `None` once a term is not known.
#[derive(Debug)]
pub struct Tally {
    /// How many ended how, in the order of [`Status::ALL`].
    counts: [usize; Status::ALL.len()],
    pub objective: Option<f64>,
    pub lower_bound: Option<f64>,
    /// ‖AX − B‖².
    square: Option<f64>,
    pub largest_gap: Option<f64>,
    /// Entries of X that are not zero.
    pub support: usize,
}

impl Tally {
    pub fn new() -> Self {
        let nothing = Some(0.0);
        let counts = [0; Status::ALL.len()];
        Self { counts, objective: nothing, lower_bound: nothing, square: nothing, largest_gap: nothing, support: 0 }
    }

    /// Adds `times` columns of which the same is known.
    pub fn add(&mut self, column: &ColumnSolution, times: usize) {
        let sum = |sum: Option<f64>, term: Option<f64>| Some(sum? + times as f64 * term?);
        self.counts[column.status.rank()] += times;
        self.objective = sum(self.objective, column.objective);
        self.lower_bound = sum(self.lower_bound, column.lower_bound);
        self.square = sum(self.square, column.residual_norm.map(|norm| norm * norm));
        self.largest_gap = self.largest_gap.zip(column.relative_gap).map(|(largest, gap)| largest.max(gap));
        self.support += times * column.support;
    }

    /// Right-hand sides in all.
    pub fn count(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Those that reached the tolerance.
    pub fn solved(&self) -> usize {
        self.statuses().filter(|(status, _)| status.is_success()).map(|(_, count)| count).sum()
    }

    /// The worst there is: `Solved` if all are.
    pub fn status(&self) -> Status {
        self.statuses().last().map_or(Status::Solved, |(status, _)| status)
    }

    /// How many ended how, of those that occurred.
    pub fn statuses(&self) -> impl Iterator<Item = (Status, usize)> {
        Status::ALL.into_iter().zip(self.counts).filter(|(_, count)| *count > 0)
    }

    /// ‖AX − B‖.
    pub fn residual_norm(&self) -> Option<f64> {
        self.square.map(f64::sqrt)
    }
}
