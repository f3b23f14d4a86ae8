//! Lawson and Hanson's method (1974): one column enters at a time, and the least squares problem on the columns that may be
//! positive is solved exactly.

use super::passive::{FromColumns, Hessian, PassiveSet, Progress, objective, worst_violator};
use super::{Algorithm, Monitor};
use crate::matrix::Columns;
use crate::presolve::Reduced;

/// Iterations between certificates. Each brings the gradient along, so that a certificate costs no pass of its own.
const ITERATIONS_PER_CHECK: usize = 10;

/// The method of Lawson and Hanson, with gradients by a pass over A.
#[derive(Debug, Clone, Copy, Default)]
pub struct LawsonHanson;

impl Algorithm for LawsonHanson {
    fn run<M: Columns>(&self, problem: &Reduced<M>, x: Vec<f64>, monitor: &mut dyn Monitor) {
        iterate(problem, &mut FromColumns::new(problem), x, monitor);
    }
}

/// The iteration, from any source of gradients and products. It ends: f falls with every move until rounding stops it,
/// and a column that does not lead to a move has to wait for the next one.
pub(super) fn iterate<M: Columns>(problem: &Reduced<M>, hessian: &mut dyn Hessian, mut x: Vec<f64>, monitor: &mut dyn Monitor) {
    let mut check = monitor.check(&x);
    let mut passive = PassiveSet::default();
    if !check.stop && start_from_support(&mut x, &mut passive, hessian, monitor) {
        check = monitor.check(&x);
    }
    let (mut progress, mut iterations, mut checked) = (Progress::new(), 0, true);
    let mut waiting = vec![false; problem.len()];
    let mut gradient = std::mem::take(&mut check.gradient);
    // A start that is not the minimiser over its support comes first.
    let mut settle = !passive.order.is_empty();
    while !check.stop {
        let mut member = vec![false; problem.len()];
        passive.order.iter().for_each(|&k| member[k] = true);
        let entering = if settle { None } else { worst_violator(problem, &gradient, |k| !member[k] && !waiting[k]) };
        if !checked && (entering.is_none() || iterations % ITERATIONS_PER_CHECK == 0 || monitor.out_of_time()) {
            check = monitor.check(&clipped(problem, &x));
            gradient = std::mem::take(&mut check.gradient);
            checked = true;
            continue;
        }
        if entering.is_none() && !std::mem::take(&mut settle) && progress.refined(check.residual) {
            return;
        }
        let moved = match entering {
            Some(k) => passive.enter(hessian, &mut x, &gradient, k, monitor),
            None => passive.descend(&mut x, &gradient, None),
        };
        monitor.spend(passive.take_work());
        if moved {
            iterations += 1;
            waiting.fill(false);
            gradient = hessian.gradient(&x);
            checked = false;
        } else if let Some(k) = entering {
            waiting[k] = true;
        }
        monitor.spend(hessian.take_work());
        if moved && progress.idle(objective(problem, &x, &gradient)) {
            monitor.check(&clipped(problem, &x));
            return;
        }
        if monitor.out_of_time() && checked {
            check = monitor.check(&clipped(problem, &x));
        }
    }
}

/// Lets the support of a warm start in; what depends on the rest becomes zero. Returns whether x changed.
pub(super) fn start_from_support(
    x: &mut [f64],
    passive: &mut PassiveSet,
    hessian: &mut dyn Hessian,
    monitor: &mut dyn Monitor,
) -> bool {
    let support: Vec<usize> = (0..x.len()).filter(|&k| x[k] > 0.0).collect();
    let refused = passive.add(hessian, &support, monitor);
    refused.iter().for_each(|&k| x[k] = 0.0);
    !refused.is_empty()
}

/// The point to certify: rounding may have left the bounds that the data imply.
pub(super) fn clipped<M: Columns>(problem: &Reduced<M>, x: &[f64]) -> Vec<f64> {
    let mut point = x.to_vec();
    problem.clip(&mut point);
    point
}
