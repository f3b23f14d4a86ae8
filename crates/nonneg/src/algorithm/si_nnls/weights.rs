//! The step weights aₖ and their sums Aₖ.
//!
//! ```text
//! a₁ = 1/(√2·n^1.5),  a₂ = min(a₁/(n−1), √A₁/(2n)),  aₖ₊₁ = min(n·aₖ/(n−1), √Aₖ/(2n)),  Aₖ = Aₖ₋₁ + aₖ
//! ```
//!
//! The paper's appendix starts from a₁ = 1/(n−1), which its own analysis forbids (a₁ ≥ (n−1)a₂ is needed).

/// The weights around step k, for n blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepWeights {
    blocks: f64,
    /// k ≥ 1.
    pub step: u64,
    /// aₖ₋₁ (0 at k = 1).
    pub previous: f64,
    /// aₖ.
    pub current: f64,
    /// Aₖ₋₂ (0 for k ≤ 2).
    pub sum_before_last: f64,
    /// Aₖ₋₁ (0 at k = 1).
    pub sum_before: f64,
    /// Aₖ.
    pub sum: f64,
}

impl StepWeights {
    /// At k = 1.
    pub fn first(blocks: usize) -> Self {
        let n = blocks as f64;
        let first = 1.0 / (2f64.sqrt() * n * n.sqrt());
        Self { blocks: n, step: 1, previous: 0.0, current: first, sum_before_last: 0.0, sum_before: 0.0, sum: first }
    }

    /// n.
    pub fn blocks(&self) -> f64 {
        self.blocks
    }

    /// From k to k + 1.
    #[inline]
    pub fn advance(&mut self) {
        let n = self.blocks;
        // From a₁ to a₂ the proof allows 1/(n−1), later n/(n−1); one block leaves both without limit.
        let growth = if self.step == 1 { 1.0 } else { n };
        let next = (growth * self.current / (n - 1.0)).min(self.sum.sqrt() / (2.0 * n));
        self.step += 1;
        self.previous = self.current;
        self.current = next;
        self.sum_before_last = self.sum_before;
        self.sum_before = self.sum;
        self.sum += next;
    }

    /// (α, β) of the extrapolation ȳₖ₋₁ = q + αs + βt that step k ≥ 2 needs.
    #[inline]
    pub fn extrapolation(&self) -> (f64, f64) {
        if self.step == 2 {
            return (0.0, self.previous / self.current); // ȳ₁ = y₁ + (a₁/a₂)(y₁ − y₀)
        }
        let rho = self.previous * self.previous / (self.current * self.sum_before_last);
        ((1.0 - rho) / self.sum_before, (self.blocks - 1.0) * rho)
    }

    /// ω = (n−1)aₖ − Aₖ₋₁: how a move enters the average.
    #[inline]
    pub fn drift(&self) -> f64 {
        (self.blocks - 1.0) * self.current - self.sum_before
    }
}
