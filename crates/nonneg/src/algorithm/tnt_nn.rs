//! TNT-NN (Myre, Frahm, Lilja and Saar 2017): whole blocks of columns enter and leave at once.
//!
//! A block of the columns that violate their condition most enters; the least squares problem on the enlarged set is
//! solved by conjugate gradients on the normal equations, with the Cholesky factor as preconditioner; what comes out negative
//! leaves, and it is solved again until nothing is negative. If f fell the block grows, otherwise the step is undone and the
//! block shrinks. A block of one that does not lead down is taken as Lawson and Hanson would, which always does.

use super::lawson_hanson::{clipped, start_from_support};
use super::passive::{FromColumns, Hessian, PassiveSet, Progress, objective, violators};
use super::{Algorithm, Monitor};
use crate::matrix::Columns;
use crate::matrix::kernels::dense_dot;
use crate::presolve::Reduced;

/// By which the block grows after a step that paid, and shrinks after one that did not.
const GROW: f64 = 1.5;
const SHRINK: usize = 4;

/// A relative fall of f that is no rounding error: with less than that a block has not paid.
const GAIN: f64 = 1e-13;

/// The factor of a larger block would cost more memory (128 MB) and time than it is likely to gain.
const LARGEST_BLOCK: usize = 4096;

/// Conjugate gradients end when the residual has fallen by this factor: the factor is the exact inverse but for rounding,
/// so one or two steps do.
const CG_FACTOR: f64 = 1e-13;
const CG_STEPS: usize = 8;

/// TNT-NN.
#[derive(Debug, Clone, Copy, Default)]
pub struct TntNn;

impl Algorithm for TntNn {
    fn run<M: Columns>(&self, problem: &Reduced<M>, mut x: Vec<f64>, monitor: &mut dyn Monitor) {
        let mut hessian = FromColumns::new(problem);
        let mut passive = PassiveSet::default();
        let mut check = monitor.check(&x);
        if !check.stop && start_from_support(&mut x, &mut passive, &mut hessian, monitor) {
            check = monitor.check(&x);
        }
        let mut progress = Progress::new();
        let mut waiting = vec![false; problem.len()];
        let mut gradient = std::mem::take(&mut check.gradient);
        let mut settle = !passive.order.is_empty();
        // More columns than rows depend on each other.
        let mut block = problem.len().min(problem.matrix.rows()).min(LARGEST_BLOCK);
        while !check.stop {
            let mut member = vec![false; problem.len()];
            passive.order.iter().for_each(|&k| member[k] = true);
            let mut entering = if settle { Vec::new() } else { violators(problem, &gradient, |k| !member[k] && !waiting[k]) };
            let done = entering.is_empty();
            if done && !std::mem::take(&mut settle) && progress.refined(check.residual) {
                return;
            }
            entering.truncate(block);
            let before = objective(problem, &x, &gradient);
            let moved = match entering[..] {
                [] => passive.descend(&mut x, &gradient, None),
                [k] => {
                    let moved = passive.enter(&mut hessian, &mut x, &gradient, k, monitor);
                    waiting[k] = !moved;
                    moved
                }
                _ => {
                    let saved = passive.clone();
                    match exchange(&mut passive, &mut hessian, &x, &gradient, &entering, monitor) {
                        Some((point, after)) if after < before - GAIN * before.abs() => {
                            x = point;
                            true
                        }
                        _ => {
                            passive = saved;
                            block = entering.len().div_ceil(SHRINK);
                            false
                        }
                    }
                }
            };
            monitor.spend(hessian.take_work() + passive.take_work());
            if moved {
                block = ((block as f64 * GROW).ceil() as usize).min(LARGEST_BLOCK);
                waiting.fill(false);
            }
            if moved || monitor.out_of_time() {
                check = monitor.check(&clipped(problem, &x));
                gradient = std::mem::take(&mut check.gradient);
            }
            if moved && progress.idle(objective(problem, &x, &gradient)) {
                return;
            }
        }
    }
}

/// Lets a block in and solves; half of what is negative leaves, the worst first, until nothing is. Returns the point and f.
fn exchange<M: Columns>(
    passive: &mut PassiveSet,
    hessian: &mut FromColumns<M>,
    x: &[f64],
    gradient: &[f64],
    entering: &[usize],
    monitor: &mut dyn Monitor,
) -> Option<(Vec<f64>, f64)> {
    let problem = hessian.problem;
    passive.add(hessian, entering, monitor);
    let mut point = x.to_vec();
    let mut slope: Vec<f64> = passive.order.iter().map(|&k| gradient[k]).collect();
    loop {
        if monitor.out_of_time() {
            return None;
        }
        let step = conjugate_gradients(passive, hessian, &slope)?;
        passive.order.iter().zip(&step).for_each(|(&k, step)| point[k] += step);
        let mut negative: Vec<usize> = passive.order.iter().copied().filter(|&k| point[k] <= 0.0).collect();
        let done = negative.is_empty();
        let size = |k: usize| point[k] * problem.curvature(k).sqrt();
        negative.sort_by(|&j, &k| size(j).total_cmp(&size(k)));
        negative.truncate(negative.len().div_ceil(2));
        for &k in &negative {
            point[k] = f64::NAN; // marks what leaves
        }
        passive.remove(|k| point[k].is_nan());
        negative.iter().for_each(|&k| point[k] = 0.0);

        let values: Vec<f64> = passive.order.iter().map(|&k| point[k]).collect();
        let image = hessian.apply(&passive.order, &values);
        if done {
            let linear: Vec<f64> = passive.order.iter().map(|&k| problem.linear[k]).collect();
            return Some((point, 0.5 * dense_dot(&values, &image) - dense_dot(&values, &linear)));
        }
        monitor.spend(hessian.take_work() + passive.take_work());
        slope = passive.order.iter().zip(image).map(|(&k, product)| product - problem.linear[k]).collect();
    }
}

/// d with HPPd = −g, preconditioned by the factor of HPP.
fn conjugate_gradients<M: Columns>(passive: &PassiveSet, hessian: &mut FromColumns<M>, slope: &[f64]) -> Option<Vec<f64>> {
    let mut step = vec![0.0; slope.len()];
    let mut residual: Vec<f64> = slope.iter().map(|g| -g).collect();
    let mut solved = passive.solve(residual.clone());
    let mut direction = solved.clone();
    let mut energy = dense_dot(&residual, &solved);
    let goal = CG_FACTOR * CG_FACTOR * energy;
    for _ in 0..CG_STEPS {
        if !energy.is_finite() {
            return None;
        }
        if energy <= goal {
            break;
        }
        let image = hessian.apply(&passive.order, &direction);
        let curvature = dense_dot(&direction, &image);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let length = energy / curvature;
        for p in 0..step.len() {
            step[p] += length * direction[p];
            residual[p] -= length * image[p];
        }
        solved = passive.solve(residual.clone());
        let next = dense_dot(&residual, &solved);
        let ratio = next / energy;
        direction.iter_mut().zip(&solved).for_each(|(d, z)| *d = z + ratio * *d);
        energy = next;
    }
    step.iter().all(|step| step.is_finite()).then_some(step)
}
