//! The diagonals in which methods move that take a step in all variables at once.
//!
//! Such a method depends on the units of the columns: as published, on the caller's ([`BlockMetric::Spectral`]); with one
//! constant per column it does not ([`BlockMetric::ScaleInvariant`]).

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::Monitor;
use super::si_nnls::Blocks;
use crate::matrix::kernels::GAMMA;
use crate::matrix::{Column, Columns, for_each_column};
use crate::presolve::Reduced;
use crate::settings::BlockMetric;

/// Power steps for ‖A‖², at most (two passes each), and how close to each other its bounds should get.
const POWER_STEPS: usize = 20;
const TIGHT: f64 = 1.01;

/// What is added to ‖A‖² where signs leave only estimates from below. Steps that prove too long are noticed.
const MARGIN: f64 = 1.05;

/// A diagonal is kept above this part of its largest entry: columns whose units are further apart do not move any slower.
const LEAST_UNIT: f64 = 1e-150;

/// What ‖x‖² means, one factor per variable: the caller's units, or those of the columns.
pub fn units<M: Columns>(problem: &Reduced<M>, kind: BlockMetric) -> Vec<f64> {
    match kind {
        BlockMetric::ScaleInvariant => (0..problem.len()).map(|k| problem.curvature(k)).collect(),
        BlockMetric::Spectral => {
            let largest = problem.scale.iter().fold(0.0f64, |largest, scale| largest.max(scale.abs()));
            problem.scale.iter().map(|scale| (scale.abs() / largest).max(LEAST_UNIT).powi(2)).collect()
        }
    }
}

/// M ⪰ AᵀWA + Λ for all variables together.
///
/// As published M is L·diag(units) with the least L = ‖A‖², proved for A ≥ 0 by Collatz and Wielandt: for every v > 0,
/// ‖A‖² ≤ maxₖ (AᵀAv)ₖ/vₖ.
pub fn majorant<M: Columns>(problem: &Reduced<M>, kind: BlockMetric, monitor: &mut dyn Monitor) -> Vec<f64> {
    match kind {
        BlockMetric::ScaleInvariant => {
            let (blocks, work) = Blocks::new(problem, problem.len(), kind);
            monitor.spend(work);
            (0..problem.len()).map(|k| blocks.metric(problem, k)).collect()
        }
        BlockMetric::Spectral => {
            let units = units(problem, kind);
            let norm = squared_norm(problem, &units, monitor);
            units.iter().map(|unit| norm * unit).collect()
        }
    }
}

/// The largest eigenvalue of D⁻¹(AᵀWA + Λ), D = diag(units), from above.
fn squared_norm<M: Columns>(problem: &Reduced<M>, units: &[f64], monitor: &mut dyn Monitor) -> f64 {
    let n = problem.len();
    // A signed A may map any fixed direction to zero; a random one it does not.
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut start = || if problem.signed { (rng.next_u64() as i64) as f64 / i64::MAX as f64 } else { 1.0 };
    let mut v: Vec<f64> = units.iter().map(|unit| start() / unit.sqrt()).collect();
    let (mut above, mut below) = (f64::INFINITY, 0.0f64);
    for _ in 0..POWER_STEPS {
        let image = problem.weigh(problem.multiply(&v));
        let product = |k: usize| problem.scale[k] * problem.column(k).dot(&image) + problem.ridge(k) * v[k];
        let product = for_each_column(problem.matrix, &problem.columns, product);
        monitor.spend(2 * problem.entries(0..n));
        let (mut squares, mut rayleigh, mut largest) = (0.0, 0.0, 0.0f64);
        for k in 0..n {
            squares += units[k] * v[k] * v[k];
            rayleigh += product[k] * v[k];
            largest = largest.max(product[k] / (units[k] * v[k]));
        }
        below = below.max(rayleigh / squares);
        if !problem.signed {
            above = above.min(largest);
        }
        let next: Vec<f64> = product.iter().zip(units).map(|(p, unit)| p / unit / below).collect();
        let usable = next.iter().all(|v| v.is_finite() && (problem.signed || *v > 0.0));
        if above <= TIGHT * below || !usable || monitor.out_of_time() {
            break;
        }
        v = next;
    }
    // The sums above have at most rows + columns terms.
    let slack = 1.0 + 2.0 * GAMMA + (problem.matrix.rows() + n + 8) as f64 * f64::EPSILON;
    if problem.signed { MARGIN * below } else { above * slack }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Check;
    use crate::testing::Random;
    use crate::trace::Switch;
    use crate::{DenseMatrix, LeastSquares};

    /// A monitor that only lets run.
    struct Nobody;

    impl Monitor for Nobody {
        fn check(&mut self, _: &[f64]) -> Check {
            unreachable!("no point is checked here")
        }
        fn spend(&mut self, _: u64) {}
        fn restarted(&mut self) {}
        fn switched(&mut self, _: Switch) {}
        fn out_of_time(&self) -> bool {
            false
        }
    }

    /// The largest eigenvalue of M⁻¹G, by many plain power steps on a small dense G.
    fn largest(gram: &[Vec<f64>], metric: &[f64]) -> f64 {
        let mut v: Vec<f64> = (0..metric.len()).map(|k| 1.0 + 0.1 * (k as f64).sin()).collect();
        let mut value = 0.0;
        for _ in 0..3000 {
            let product: Vec<f64> = gram.iter().map(|row| row.iter().zip(&v).map(|(g, v)| g * v).sum()).collect();
            let next: Vec<f64> = product.iter().zip(metric).map(|(p, m)| p / m).collect();
            value = product.iter().zip(&v).map(|(p, v)| p * v).sum::<f64>()
                / v.iter().zip(metric).map(|(v, m)| m * v * v).sum::<f64>();
            let size = next.iter().map(|v| v * v).sum::<f64>().sqrt();
            v = next.iter().map(|v| v / size).collect();
        }
        value
    }

    /// Columns in units from 1e-3 to 1e3, with and without weights, ridge and signs.
    #[test]
    fn the_majorant_is_above_the_hessian_and_the_published_one_is_tight() {
        let mut random = Random::new(5);
        for case in 0..60 {
            let (m, n) = (3 + case % 9, 2 + case % 7);
            let signed = case % 4 == 3;
            let unit: Vec<f64> = (0..n).map(|_| 10f64.powf(6.0 * random.unit() - 3.0)).collect();
            let a: Vec<f64> =
                (0..m * n).map(|e| unit[e / m] * if signed { random.unit() - 0.5 } else { 0.05 + random.unit() }).collect();
            let b: Vec<f64> = (0..m).map(|_| 1.0 + random.unit()).collect();
            let w: Vec<f64> = (0..m).map(|_| 0.1 + random.unit()).collect();
            let matrix = DenseMatrix::new(m, n, a).unwrap();
            let mut problem = LeastSquares::new(&matrix, &b);
            if case % 3 == 1 {
                problem = problem.weights(&w);
            }
            if case % 5 == 2 {
                problem = problem.l2(0.3);
            }
            let view = matrix.view();
            let reduced = Reduced::of(&view, &problem).unwrap();
            let n = reduced.len();
            let unit_vector = |k: usize| (0..n).map(|l| f64::from(u8::from(k == l))).collect::<Vec<f64>>();
            let gram: Vec<Vec<f64>> = (0..n)
                .map(|k| {
                    let image = reduced.weigh(reduced.multiply(&unit_vector(k)));
                    let entry =
                        |l: usize| reduced.scale[l] * reduced.column(l).dot(&image) + if k == l { reduced.ridge(k) } else { 0.0 };
                    (0..n).map(entry).collect()
                })
                .collect();
            for kind in [BlockMetric::ScaleInvariant, BlockMetric::Spectral] {
                let metric = majorant(&reduced, kind, &mut Nobody);
                let part = largest(&gram, &metric);
                assert!(part <= 1.0 + 1e-12, "case {case}, {kind:?}: {part}");
                let least = if kind == BlockMetric::ScaleInvariant { 0.2 } else { 0.94 };
                assert!(part >= least, "case {case}, {kind:?}: {part}");
            }
        }
    }
}
