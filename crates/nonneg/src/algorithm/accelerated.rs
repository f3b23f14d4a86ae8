//! SI-NNLS+ as an inner engine. Dense positive columns, whose common part slows coordinate descent down, do not trouble it.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::Monitor;
use super::first_order::FirstOrder;
use super::point::Point;
use super::si_nnls::{Blocks, Lazy};
use crate::matrix::Columns;
use crate::presolve::Reduced;

/// Epochs of one round.
const EPOCHS: usize = 10;

/// A restart comes when the distance, which goes with the square of the natural residual, has fallen by this factor.
const RESTART: f64 = 0.04;

/// SI-NNLS+ with restarts on one problem.
pub struct Accelerated<'p, M: Columns> {
    blocks: &'p Blocks,
    run: Option<Lazy<'p, M>>,
    /// Distance below which a new run starts.
    restart_below: f64,
    rng: Xoshiro256PlusPlus,
}

impl<'p, M: Columns> Accelerated<'p, M> {
    /// No run yet.
    pub fn new(blocks: &'p Blocks, seed: u64) -> Self {
        Self { blocks, run: None, restart_below: 0.0, rng: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// The next round starts from the point that it gets: somebody else has moved it.
    pub fn start_anew(&mut self) {
        self.run = None;
    }
}

impl<'p, M: Columns> FirstOrder<'p, M> for Accelerated<'p, M> {
    fn round(
        &mut self,
        problem: &'p Reduced<'p, M>,
        point: &mut Point,
        gradient: &[f64],
        distance: f64,
        monitor: &mut dyn Monitor,
    ) -> u64 {
        if self.run.is_none() || distance <= self.restart_below {
            let image = if problem.weights.is_none() { point.weighted_image.clone() } else { problem.multiply(&point.x) };
            self.run = Some(Lazy::start(problem, self.blocks, &point.x, &image, gradient));
            self.restart_below = RESTART * distance;
        }
        let run = self.run.as_mut().expect("just started");
        for _ in 0..EPOCHS {
            run.epoch(&mut self.rng);
        }
        let mut next = Point { x: run.average(), weighted_image: run.weighted_image() };
        let work = run.take_work() + next.sweep(problem);
        monitor.spend(work);
        if next.objective_above(problem, point) < 0.0 {
            *point = next;
        }
        work
    }
}
