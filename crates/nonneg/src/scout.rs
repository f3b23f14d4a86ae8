//! Runs the default method or its exact part without certificates and not for long, where a rough x is of use: the support from which
//! [`nnls`](crate::nnls) starts, and the direction that bounds the x of a signed problem.

use crate::algorithm::{Algorithm, Check, Monitor, WorkingSet};
use crate::matrix::{Column, Columns, for_each_column};
use crate::presolve::Reduced;
use crate::settings::MEMORY;
use crate::trace::Switch;

/// When to stop.
pub struct Orders<'o> {
    /// By the exact method alone, at any cost in memory.
    pub exact: bool,
    /// Part of the natural residual at zero that is close enough.
    pub close: f64,
    /// An x with this ∇f(x) will do before that.
    pub enough: &'o dyn Fn(&[f64]) -> bool,
    /// Below this f falls without end.
    pub too_low: f64,
    /// So many passes over A, with so many columns in the support, are too many.
    pub too_long: &'o dyn Fn(f64, usize) -> bool,
    pub stop: &'o dyn Fn() -> bool,
}

/// The x with the least f on the way, and the multiply-adds that it took.
pub fn look<M: Columns>(problem: &Reduced<M>, orders: Orders) -> (Vec<f64>, u64) {
    let start = vec![0.0; problem.len()];
    let mut scout = Scout { problem, orders, work: 0, residual_at_zero: None, best: (f64::INFINITY, start.clone()) };
    let memory_limit = if scout.orders.exact { u64::MAX } else { MEMORY };
    WorkingSet { exact_only: scout.orders.exact, memory_limit, seed: 0, memory: None }.run(problem, start, &mut scout);
    (scout.best.1, scout.work)
}

/// Watches the search.
struct Scout<'a, M: Columns> {
    problem: &'a Reduced<'a, M>,
    orders: Orders<'a>,
    /// Multiply-adds.
    work: u64,
    residual_at_zero: Option<f64>,
    /// The least f, and its x.
    best: (f64, Vec<f64>),
}

impl<M: Columns> Monitor for Scout<'_, M> {
    fn check(&mut self, x: &[f64]) -> Check {
        let problem = self.problem;
        let image = problem.multiply(x);
        let weighted = problem.weigh(image.clone());
        let product = |k: usize| problem.scale[k] * problem.column(k).dot(&weighted);
        let products = for_each_column(problem.matrix, &problem.columns, product);
        self.work += problem.matrix.nnz() as u64 + problem.support_work(x);
        let gradient: Vec<f64> = products.iter().zip(&problem.linear).map(|(product, linear)| product - linear).collect();
        let square: f64 = x.iter().zip(&products).map(|(x, product)| x * product).sum();
        let objective = 0.5 * square - x.iter().zip(&problem.linear).map(|(x, linear)| x * linear).sum::<f64>();
        let residual = (0..x.len()).map(|k| residual_term(problem, k, x[k], gradient[k])).sum::<f64>().sqrt();
        if objective < self.best.0 {
            self.best = (objective, x.to_vec());
        }
        let wanted = self.orders.close * *self.residual_at_zero.get_or_insert(residual);
        let done = residual <= wanted || (self.orders.enough)(&gradient);
        let stop = done || objective < self.orders.too_low || self.out_of_time();
        Check {
            stop,
            objective,
            residual,
            distance: residual * residual,
            wanted_distance: wanted * wanted,
            image: image.into(),
            gradient,
        }
    }

    fn spend(&mut self, multiply_adds: u64) {
        self.work += multiply_adds;
    }

    fn restarted(&mut self) {}

    fn switched(&mut self, _switch: Switch) {}

    fn out_of_time(&self) -> bool {
        let support = self.best.1.iter().filter(|&&x| x > 0.0).count();
        let passes = self.work as f64 / self.problem.matrix.nnz().max(1) as f64;
        (self.orders.too_long)(passes, support) || (self.orders.stop)()
    }
}

/// Lₖ·(xₖ − max(0, xₖ − gₖ/Lₖ))².
fn residual_term<M: Columns>(problem: &Reduced<M>, k: usize, x: f64, gradient: f64) -> f64 {
    let step = gradient / problem.norm[k];
    let moved = if step > x { x } else { step };
    problem.norm[k] * moved * moved
}
