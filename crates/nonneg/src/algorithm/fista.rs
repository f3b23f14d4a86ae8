//! FISTA (Beck and Teboulle 2009): accelerated projected gradients.
//!
//! ```text
//! x⁺ = clip(y − M⁻¹∇f(y), 0, u)                 M ⪰ AᵀWA, diagonal
//! t⁺ = (1 + √(1 + 4t²))/2
//! y  = x⁺ + (t − 1)/t⁺·(x⁺ − x)
//! ```
//!
//! f(xₖ) − f* ≤ 2‖x₀ − x*‖²_M/(k + 1)². Restarts forget the momentum whenever it points uphill: (y − x⁺)ᵀM(x⁺ − x) > 0
//! (O'Donoghue and Candès 2015).

use super::metric::majorant;
use super::{Algorithm, Monitor};
use crate::matrix::{Column, Columns, for_each_column};
use crate::presolve::Reduced;
use crate::settings::BlockMetric;

/// Steps (two passes each, about) between checks: at least this many, and an eighth of all so far.
const STEPS_PER_CHECK: usize = 5;

/// What M is multiplied by where a step proves too long. Never for A ≥ 0, whose M is proved.
const SHORTER: f64 = 1.5;

/// Allowance for rounding errors in that proof.
const ROUNDING: f64 = 1e-9;

/// FISTA with its settings.
#[derive(Debug, Clone, Copy)]
pub struct Fista {
    /// Whether to restart.
    pub restarts: bool,
    /// Metric of the steps.
    pub metric: BlockMetric,
}

impl Algorithm for Fista {
    fn run<M: Columns>(&self, problem: &Reduced<M>, x: Vec<f64>, monitor: &mut dyn Monitor) {
        let mut check = monitor.check(&x);
        if check.stop {
            return;
        }
        let metric = majorant(problem, self.metric, monitor);
        let image = problem.weigh(check.image.to_vec());
        let mut run = Run { problem, metric, y: x.clone(), y_image: image.clone(), x, image, t: 1.0 };
        let mut steps = 0;
        while !check.stop {
            for _ in 0..STEPS_PER_CHECK.max(steps / 8) {
                let (uphill, work) = run.step();
                monitor.spend(work);
                steps += 1;
                if self.restarts && uphill {
                    run.forget_momentum();
                    monitor.restarted();
                }
                if monitor.out_of_time() {
                    break;
                }
            }
            check = monitor.check(&run.x);
        }
    }
}

/// One run without restarts.
struct Run<'p, M: Columns> {
    problem: &'p Reduced<'p, M>,
    metric: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    /// WAx and WAy.
    image: Vec<f64>,
    y_image: Vec<f64>,
    t: f64,
}

impl<M: Columns> Run<'_, M> {
    /// Whether the momentum points uphill, and the work.
    fn step(&mut self) -> (bool, u64) {
        let problem = self.problem;
        let slope = |k: usize| {
            let product = problem.scale[k] * problem.column(k).dot(&self.y_image);
            product - problem.linear[k] + problem.ridge(k) * self.y[k]
        };
        let gradient = for_each_column(problem.matrix, &problem.columns, slope);
        let mut work = problem.entries(0..problem.len());
        let (moved, image) = loop {
            let step = |k: usize| (self.y[k] - gradient[k] / self.metric[k]).clamp(0.0, problem.upper[k]);
            let moved: Vec<f64> = (0..problem.len()).map(step).collect();
            let image = problem.weigh(problem.multiply(&moved));
            work += problem.support_work(&moved);
            if !problem.signed || self.is_short(&moved, &image) {
                break (moved, image);
            }
            self.metric.iter_mut().for_each(|m| *m *= SHORTER);
        };
        let uphill: f64 = (0..moved.len()).map(|k| self.metric[k] * (self.y[k] - moved[k]) * (moved[k] - self.x[k])).sum();
        let next = 0.5 * (1.0 + (1.0 + 4.0 * self.t * self.t).sqrt());
        let momentum = (self.t - 1.0) / next;
        extrapolate(&mut self.y, &moved, &self.x, momentum);
        extrapolate(&mut self.y_image, &image, &self.image, momentum);
        (self.x, self.image, self.t) = (moved, image, next);
        (uphill > 0.0, work)
    }

    fn forget_momentum(&mut self) {
        self.y.copy_from_slice(&self.x);
        self.y_image.copy_from_slice(&self.image);
        self.t = 1.0;
    }

    /// Whether M bounds the curvature of f along the step from y: ‖Ad‖²_W + ‖d‖²_Λ ≤ ‖d‖²_M.
    fn is_short(&self, moved: &[f64], image: &[f64]) -> bool {
        let problem = self.problem;
        let change: Vec<f64> = image.iter().zip(&self.y_image).map(|(to, from)| to - from).collect();
        let curve = problem.square_of_weighted(&change);
        let room = |k: usize| (self.metric[k] - problem.ridge(k)) * (moved[k] - self.y[k]).powi(2);
        let room: f64 = (0..moved.len()).map(room).sum();
        // What rounding makes of images is no reason.
        curve <= room * (1.0 + ROUNDING) + f64::EPSILON * problem.square_of_weighted(image)
    }
}

/// y = to + momentum·(to − from).
fn extrapolate(y: &mut [f64], to: &[f64], from: &[f64], momentum: f64) {
    for ((y, &to), &from) in y.iter_mut().zip(to).zip(from) {
        *y = to + momentum * (to - from);
    }
}
