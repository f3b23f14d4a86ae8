//! SI-NNLS+: an accelerated primal–dual coordinate method whose cost depends on no constant of the matrix.
//!
//! [`Explicit`] is the algorithm as the paper defines it, [`Lazy`] the same one at the cost of the nonzeros it touches.
//! [`SiNnls`] restarts it: from x₀ until the natural residual r(x̃) has fallen by a constant
//! factor, then again from x̃.

mod blocks;
mod explicit;
mod lazy;
mod weights;

pub use blocks::Blocks;
pub use explicit::Explicit;
pub use lazy::Lazy;
pub use weights::StepWeights;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::point::Point;
use super::{Algorithm, Check, Monitor};
use crate::matrix::Columns;
use crate::presolve::Reduced;
use crate::settings::BlockMetric;

/// Epochs (n steps) between checks, each of which costs about two passes.
const EPOCHS_PER_CHECK: usize = 10;

/// A restart comes when the natural residual has fallen by this factor. The theorem takes ½; any factor below 1 gives
/// linear convergence. Every start spends some 1.5·ln n epochs on steps that grow from nothing, so fewer and longer runs
/// win: over seven real problems 0.2 takes three quarters of the passes that 0.5 takes.
const RESTART_FACTOR: f64 = 0.2;

/// SI-NNLS+ with its settings.
#[derive(Debug, Clone, Copy)]
pub struct SiNnls {
    /// Whether to restart.
    pub restarts: bool,
    /// Columns per block.
    pub batch_size: usize,
    /// Metric of a block.
    pub block_metric: BlockMetric,
    /// Seed.
    pub seed: u64,
}

impl Algorithm for SiNnls {
    fn run<M: Columns>(&self, problem: &Reduced<M>, x: Vec<f64>, monitor: &mut dyn Monitor) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let (blocks, work) = Blocks::new(problem, self.batch_size, self.block_metric);
        monitor.spend(work);
        let mut check = monitor.check(&x);
        let mut start = x;
        while !check.stop {
            let target = if self.restarts { RESTART_FACTOR * check.residual } else { 0.0 };
            let run = Lazy::start(problem, &blocks, &start, &check.image, &check.gradient);
            drop((start, check)); // vectors of n that nobody needs while the run holds its own
            (start, check) = self.run_until(target, run, problem, &mut rng, monitor);
            if !check.stop {
                monitor.restarted();
            }
        }
    }
}

impl SiNnls {
    /// One run: until the natural residual is at most `target` or the monitor stops it. Returns the last point checked.
    fn run_until<M: Columns>(
        &self,
        target: f64,
        mut run: Lazy<M>,
        problem: &Reduced<M>,
        rng: &mut Xoshiro256PlusPlus,
        monitor: &mut dyn Monitor,
    ) -> (Vec<f64>, Check) {
        loop {
            for _ in 0..EPOCHS_PER_CHECK {
                run.epoch(rng);
                monitor.spend(run.take_work());
                if monitor.out_of_time() {
                    break;
                }
            }
            let mut x = run.average();
            if self.restarts {
                let mut point = Point { x, weighted_image: run.weighted_image() };
                monitor.spend(point.sweep(problem));
                x = point.x;
            }
            let check = monitor.check(&x);
            if check.stop || check.residual <= target {
                return (x, check);
            }
        }
    }
}
