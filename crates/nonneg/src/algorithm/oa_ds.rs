//! OA+DS, "ordinary algorithm with diminishing scalar" (Kim, Sra and Dhillon 2013): projected gradients with steps from the
//! free variables, longer than any line search would take them.
//!
//! ```text
//! ∇̃f  = ∇f, zero where x sits at a bound that ∇f pushes against
//! α   = ‖∇̃f‖²/‖A∇̃f‖²  and  ‖A∇̃f‖²/‖∇̃(AᵀA∇̃f)‖²  in turn, both of the iterate before
//! x⁺  = clip(x − βα∇f, 0, u)
//! ```
//!
//! f may rise from step to step. Every `PERIOD` steps, β shrinks unless f has fallen enough since the last time, which is what
//! makes it converge in the end.

use super::metric::units;
use super::point::Point;
use super::{Algorithm, Monitor};
use crate::matrix::{Column, Columns, for_each_column};
use crate::presolve::Reduced;
use crate::settings::BlockMetric;

/// Steps between two looks at β, what it shrinks by, and how much of the fall that the slope promises is enough.
const PERIOD: usize = 20;
const SHRINK: f64 = 0.99;
const ENOUGH: f64 = 0.01;

/// Steps (three passes each, about) between checks: at least this many, and an eighth of all so far.
const STEPS_PER_CHECK: usize = 4;

/// OA+DS with its settings.
#[derive(Debug, Clone, Copy)]
pub struct OaDs {
    /// Metric of the steps.
    pub metric: BlockMetric,
}

impl Algorithm for OaDs {
    fn run<M: Columns>(&self, problem: &Reduced<M>, x: Vec<f64>, monitor: &mut dyn Monitor) {
        let units = units(problem, self.metric);
        let mut check = monitor.check(&x);
        let mut point = Point::new(problem, x, check.image.to_vec());
        let mut gradient = std::mem::take(&mut check.gradient);
        let (mut beta, mut steps, mut previous) = (1.0, 0, None);
        let mut anchor = Anchor { point: point.clone(), gradient: gradient.clone() };
        while !check.stop {
            for _ in 0..STEPS_PER_CHECK.max(steps / 8) {
                let free = free_gradient(problem, &point.x, &gradient);
                let source = previous.as_ref().unwrap_or(&free);
                let (length, mut work) = length(problem, &units, source, steps % 2 == 1);
                for k in 0..problem.len() {
                    let moved = point.x[k] - beta * length * gradient[k] / units[k];
                    point.x[k] = moved.clamp(0.0, problem.upper[k]);
                }
                point.weighted_image = problem.weigh(problem.multiply(&point.x));
                work += problem.support_work(&point.x);
                gradient = point.gradient(problem);
                work += problem.entries(0..problem.len());
                monitor.spend(work);
                previous = Some(free);
                steps += 1;
                if steps % PERIOD == 0 {
                    if !anchor.fell_enough(problem, &point) {
                        beta *= SHRINK;
                    }
                    anchor = Anchor { point: point.clone(), gradient: gradient.clone() };
                }
                if monitor.out_of_time() {
                    break;
                }
            }
            check = monitor.check(&point.x);
        }
    }
}

/// ∇̃f, with the variables that it leaves out.
struct FreeGradient {
    values: Vec<f64>,
    fixed: Vec<bool>,
}

fn free_gradient<M: Columns>(problem: &Reduced<M>, x: &[f64], gradient: &[f64]) -> FreeGradient {
    let stays = |k: usize| x[k] == 0.0 && gradient[k] > 0.0 || x[k] == problem.upper[k] && gradient[k] < 0.0;
    let fixed: Vec<bool> = (0..x.len()).map(stays).collect();
    let values = gradient.iter().zip(&fixed).map(|(&g, &fixed)| if fixed { 0.0 } else { g }).collect();
    FreeGradient { values, fixed }
}

/// The step length from ∇̃f, the longer or the shorter one; and its work.
fn length<M: Columns>(problem: &Reduced<M>, units: &[f64], free: &FreeGradient, shorter: bool) -> (f64, u64) {
    let n = problem.len();
    let direction: Vec<f64> = free.values.iter().zip(units).map(|(g, unit)| g / unit).collect();
    let image = problem.weigh(problem.multiply(&direction));
    let mut work = problem.support_work(&direction);
    let ridge: f64 = (0..n).map(|k| problem.ridge(k) * direction[k] * direction[k]).sum();
    let curve = ridge + problem.square_of_weighted(&image);
    let ratio = if shorter {
        let product = |k: usize| {
            if free.fixed[k] {
                return 0.0;
            }
            problem.scale[k] * problem.column(k).dot(&image) + problem.ridge(k) * direction[k]
        };
        let product = for_each_column(problem.matrix, &problem.columns, product);
        work += problem.entries((0..n).filter(|&k| !free.fixed[k]));
        curve / product.iter().zip(units).map(|(p, unit)| p * p / unit).sum::<f64>()
    } else {
        free.values.iter().zip(&direction).map(|(g, d)| g * d).sum::<f64>() / curve
    };
    // Nothing free, or nothing left to gain: the gradient itself says so.
    (if ratio.is_finite() { ratio } else { 0.0 }, work)
}

/// Where β was last looked at.
struct Anchor {
    point: Point,
    gradient: Vec<f64>,
}

impl Anchor {
    /// Strictly: steps that go round in a circle promise nothing and gain nothing.
    fn fell_enough<M: Columns>(&self, problem: &Reduced<M>, point: &Point) -> bool {
        let changes = self.point.x.iter().zip(&point.x).map(|(from, to)| from - to);
        let promised: f64 = self.gradient.iter().zip(changes).map(|(g, change)| g * change).sum();
        let fell = self.point.objective_above(problem, point);
        fell > 0.0 && fell >= ENOUGH * promised
    }
}
