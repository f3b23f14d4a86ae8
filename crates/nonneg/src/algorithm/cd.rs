//! Cyclic coordinate descent: f is minimised along each column in turn.

use super::point::Point;
use super::{Algorithm, Monitor};
use crate::matrix::Columns;
use crate::presolve::Reduced;

/// Sweeps between checks: at least this many, and an eighth of all so far, so that checks (two passes each) cost little
/// beside the sweeps and come at most an eighth too late.
const SWEEPS_PER_CHECK: usize = 6;

/// Cyclic coordinate descent.
#[derive(Debug, Clone, Copy, Default)]
pub struct CoordinateDescent;

impl Algorithm for CoordinateDescent {
    fn run<M: Columns>(&self, problem: &Reduced<M>, x: Vec<f64>, monitor: &mut dyn Monitor) {
        let mut check = monitor.check(&x);
        let (mut sweeps, mut before) = (0, x);
        while !check.stop {
            // A fresh image with every check: what sweeps add up does not drift.
            let mut point = Point::new(problem, before.clone(), check.image.to_vec());
            for _ in 0..SWEEPS_PER_CHECK.max(sweeps / 8) {
                monitor.spend(point.sweep(problem));
                sweeps += 1;
                if monitor.out_of_time() {
                    break;
                }
            }
            check = monitor.check(&point.x);
            if point.x == before && !monitor.out_of_time() {
                return; // as far as rounding allows
            }
            before = point.x;
        }
    }
}
