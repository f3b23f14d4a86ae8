//! Gap-safe screening for A ≥ 0 (Ndiaye, Fercoq, Gramfort and Salmon 2017).
//!
//! f is strongly convex in Ax: ½‖Ax − Ax*‖²_W ≤ f(x) − f* ≤ gap. A column with
//!
//! ```text
//! A:ⱼᵀWAx − √(2·gap)·‖A:ⱼ‖_W > cⱼ
//! ```
//!
//! therefore has a positive slope at the optimum, and x*ⱼ = 0 there. It need not be looked at again: the problem without it
//! has the same optimum, and so does a lower bound that leaves it out hold for both.

/// Columns that are proved to be zero at the optimum.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// One flag per column; empty while there are none.
    out: Vec<bool>,
    entries: u64,
}

impl Screen {
    /// Nothing is screened out.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether a column is out.
    #[inline]
    pub fn excludes(&self, column: usize) -> bool {
        self.out.get(column).is_some_and(|&out| out)
    }

    /// Takes columns out; `entries` says how many stored entries each has.
    pub fn exclude(&mut self, columns: &[usize], total: usize, entries: impl Fn(usize) -> usize) {
        if !columns.is_empty() {
            self.out.resize(total, false);
        }
        for &column in columns {
            if !std::mem::replace(&mut self.out[column], true) {
                self.entries += entries(column) as u64;
            }
        }
    }

    /// Whether columns are out.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Stored entries of the columns that are out.
    pub fn entries(&self) -> u64 {
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::Certifier;
    use crate::testing::Random;
    use crate::{DenseMatrix, LeastSquares};

    /// Planted optima: c = Aᵀ(Ax*) − s with s ≥ 0 off the support, here and there zero (an optimum that needs no such column,
    /// but has room for it). However near x is, no column with s = 0 may go, the bound must hold without those that do, and
    /// most must go in the end.
    #[test]
    fn no_column_that_an_optimum_can_use_is_screened_out() {
        let mut source = Random::new(7);
        let mut random = || source.unit();
        let (mut excluded, mut idle) = (0, 0);
        for case in 0..300 {
            let (m, n) = (3 + case % 20, 2 + case % 37);
            let values: Vec<f64> = (0..m * n).map(|_| if random() < 0.6 { random() } else { 0.0 }).collect();
            let a = DenseMatrix::new(m, n, values.clone()).unwrap();
            let optimum: Vec<f64> = (0..n).map(|_| if random() < 0.3 { random() } else { 0.0 }).collect();
            let image: Vec<f64> = (0..m).map(|i| (0..n).map(|j| values[j * m + i] * optimum[j]).sum()).collect();
            let slack: Vec<f64> =
                (0..n).map(|j| if optimum[j] > 0.0 || random() < 0.2 { 0.0 } else { 10f64.powf(-10.0 * random()) }).collect();
            let product = |j: usize| (0..m).map(|i| values[j * m + i] * image[i]).sum::<f64>();
            let c: Vec<f64> = (0..n).map(|j| product(j) - slack[j]).collect();
            let problem = LeastSquares::with_linear(&a, &c);
            let certifier = Certifier::new(&a, &problem).unwrap();
            let mut screen = Screen::none();
            for digits in 0..14 {
                let noise = 10f64.powi(-digits);
                let x: Vec<f64> = optimum.iter().map(|v| v * (1.0 + noise * (random() - 0.5))).collect();
                let scaled = certifier.to_scaled(&x);
                let (full, part) = (certifier.evaluate(&scaled, &Screen::none()), certifier.evaluate(&scaled, &screen));
                let at_optimum = certifier.evaluate(&certifier.to_scaled(&optimum), &Screen::none());
                for bound in [full.bound.value, part.bound.value].into_iter().flatten() {
                    let error = 1e-13 * at_optimum.objective.abs();
                    assert!(bound <= at_optimum.objective + error, "case {case}: {bound} above {}", at_optimum.objective);
                }
                for &j in full.excluded.iter().chain(&part.excluded) {
                    assert!(slack[j] > 0.0, "case {case}: column {j} was excluded with noise {noise:e}");
                }
                screen.exclude(&full.excluded, n, |j| a.view().nnz() / n + j);
            }
            excluded += (0..n).filter(|&j| screen.excludes(j)).count();
            idle += (0..n).filter(|&j| slack[j] > 0.0 && c[j] > 0.0).count();
        }
        assert!(3 * excluded > idle, "{excluded} of {idle} columns");
    }
}
