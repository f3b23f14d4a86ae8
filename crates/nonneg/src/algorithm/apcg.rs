//! Accelerated proximal coordinate gradient (Lin, Lu and Xiao 2014), for f that is not known to be strongly convex.
//!
//! In the form whose step costs one column, with y = θ²v + z and q = Az, s = Av: step k draws j and does
//!
//! ```text
//! δ  = clip(zⱼ − ∇ⱼf(y)/(nθLⱼ), 0, uⱼ) − zⱼ        (∇ⱼf(y) from q + θ²s on the rows of j)
//! zⱼ += δ,   vⱼ −= δ(1 − nθ)/θ²                    (q and s likewise)
//! θ  ← (√(θ⁴ + 4θ²) − θ²)/2,   from θ = 1/n
//! ```
//!
//! The output θ²v + z, with the θ of the last step, is a convex combination of all z. As with SI-NNLS+, runs are restarted
//! when the natural residual has fallen by a constant factor.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::point::Point;
use super::{Algorithm, Monitor};
use crate::matrix::kernels::{RowMove, RowState, Rows};
use crate::matrix::{Column, Columns};
use crate::presolve::Reduced;

/// Epochs (n steps) between checks, each of which costs about two passes.
const EPOCHS_PER_CHECK: usize = 10;

/// A restart comes when the natural residual has fallen by this factor.
const RESTART_FACTOR: f64 = 0.2;

/// APCG with its seed.
#[derive(Debug, Clone, Copy)]
pub struct Apcg {
    /// Seed.
    pub seed: u64,
}

impl Algorithm for Apcg {
    fn run<M: Columns>(&self, problem: &Reduced<M>, x: Vec<f64>, monitor: &mut dyn Monitor) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut check = monitor.check(&x);
        let mut start = x;
        while !check.stop {
            let target = RESTART_FACTOR * check.residual;
            let mut run = Run::start(problem, start, check.image.to_vec());
            loop {
                for _ in 0..EPOCHS_PER_CHECK {
                    monitor.spend(run.epoch(&mut rng));
                    if monitor.out_of_time() {
                        break;
                    }
                }
                start = run.output();
                let mut point = Point { x: start, weighted_image: run.weighted_image() };
                monitor.spend(point.sweep(problem));
                start = point.x;
                check = monitor.check(&start);
                if check.stop || check.residual <= target {
                    break;
                }
            }
            if !check.stop {
                monitor.restarted();
            }
        }
    }
}

/// One run without restarts.
struct Run<'p, M: Columns> {
    problem: &'p Reduced<'p, M>,
    z: Vec<f64>,
    v: Vec<f64>,
    /// WAz and WAv.
    rows: Rows,
    /// θ of the last step and of the next.
    last: f64,
    theta: f64,
    steps: u64,
}

impl<'p, M: Columns> Run<'p, M> {
    fn start(problem: &'p Reduced<'p, M>, x: Vec<f64>, image: Vec<f64>) -> Self {
        let image = problem.weigh(image);
        let rows = Rows {
            state: image.iter().map(|&ax| RowState { ax, drift: 0.0 }).collect(),
            moves: image.iter().map(|_| RowMove { change: 0.0, stamp: 0 }).collect(),
        };
        let theta = 1.0 / x.len() as f64;
        Self { problem, v: vec![0.0; x.len()], z: x, rows, last: theta, theta, steps: 0 }
    }

    /// n steps; returns their work.
    fn epoch(&mut self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        let n = self.z.len();
        let draw = |rng: &mut Xoshiro256PlusPlus| ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize;
        (0..n).map(|_| self.step(draw(rng))).sum()
    }

    fn step(&mut self, j: usize) -> u64 {
        let (problem, theta) = (self.problem, self.theta);
        let (column, scale, square) = (problem.column(j), problem.scale[j], theta * theta);
        let blocks = self.z.len() as f64;
        let product = scale * column.extrapolated_dot(&self.rows, square, 0.0, None);
        let gradient = product - problem.linear[j] + problem.ridge(j) * (self.z[j] + square * self.v[j]);
        let moved = (self.z[j] - gradient / (blocks * theta * problem.curvature(j))).clamp(0.0, problem.upper[j]);
        let change = moved - self.z[j];
        self.steps += 1;
        if change != 0.0 {
            let drift = -(1.0 - blocks * theta) / square;
            self.z[j] = moved;
            self.v[j] += drift * change;
            column.move_rows(&mut self.rows, problem.weights.as_deref(), change * scale, drift, self.steps);
        }
        self.last = theta;
        self.theta = 0.5 * ((square * square + 4.0 * square).sqrt() - square);
        column.len() as u64
    }

    /// θ²v + z, clipped: in floating point it can miss the bounds by a rounding error.
    fn output(&self) -> Vec<f64> {
        let square = self.last * self.last;
        let point = |k: usize| (self.z[k] + square * self.v[k]).clamp(0.0, self.problem.upper[k]);
        (0..self.z.len()).map(point).collect()
    }

    fn weighted_image(&self) -> Vec<f64> {
        let square = self.last * self.last;
        self.rows.state.iter().map(|row| row.ax + square * row.drift).collect()
    }
}
