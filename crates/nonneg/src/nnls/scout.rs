//! Looks for the support of the optimum with the block active-set method: without certificates, and not for long.

use crate::algorithm::{Algorithm, Check, Monitor, WorkingSet};
use crate::matrix::{Column, Columns, for_each_column};
use crate::presolve::Reduced;
use crate::trace::Switch;

/// Part of the natural residual at zero that is close enough.
const CLOSE: f64 = 1e-9;

/// Looking has cost as much as it can save after so many passes, and one more for every so many columns of the support.
const PASSES: f64 = 10.0;
const COLUMNS_PER_PASS: f64 = 2.0;

/// An x that is close to the optimum, or as close as it got; `stop` ends the search.
pub fn look<M: Columns>(problem: &Reduced<M>, stop: &dyn Fn() -> bool) -> Vec<f64> {
    let start = vec![0.0; problem.len()];
    let mut scout = Scout { problem, stop, work: 0.0, residual_at_zero: None, best: (f64::INFINITY, start.clone()) };
    WorkingSet { exact_only: true, memory_limit: u64::MAX, seed: 0, memory: None }.run(problem, start, &mut scout);
    scout.best.1
}

/// Watches the search.
struct Scout<'a, M: Columns> {
    problem: &'a Reduced<'a, M>,
    stop: &'a dyn Fn() -> bool,
    /// Multiply-adds.
    work: f64,
    residual_at_zero: Option<f64>,
    /// The least f, and its x.
    best: (f64, Vec<f64>),
}

impl<M: Columns> Monitor for Scout<'_, M> {
    fn check(&mut self, x: &[f64]) -> Check {
        let problem = self.problem;
        let image = problem.multiply(x);
        let product = |k: usize| problem.scale[k] * problem.column(k).dot(&image);
        let products = for_each_column(problem.matrix, problem.len(), product);
        self.work += (problem.matrix.nnz() as u64 + problem.support_work(x)) as f64;
        let gradient: Vec<f64> = products.iter().zip(&problem.linear).map(|(product, linear)| product - linear).collect();
        let square: f64 = x.iter().zip(&products).map(|(x, product)| x * product).sum();
        let objective = 0.5 * square - x.iter().zip(&problem.linear).map(|(x, linear)| x * linear).sum::<f64>();
        let residual = (0..x.len()).map(|k| residual_term(problem, k, x[k], gradient[k])).sum::<f64>().sqrt();
        let wanted = CLOSE * *self.residual_at_zero.get_or_insert(residual);
        if objective < self.best.0 {
            self.best = (objective, x.to_vec());
        }
        let stop = residual <= wanted || self.out_of_time();
        Check { stop, objective, residual, distance: residual * residual, wanted_distance: wanted * wanted, image, gradient }
    }

    fn spend(&mut self, multiply_adds: u64) {
        self.work += multiply_adds as f64;
    }

    fn restarted(&mut self) {}

    fn switched(&mut self, _switch: Switch) {}

    fn out_of_time(&self) -> bool {
        let support = self.best.1.iter().filter(|&&x| x > 0.0).count();
        let passes = PASSES + support as f64 / COLUMNS_PER_PASS;
        self.work > passes * self.problem.matrix.nnz() as f64 || (self.stop)()
    }
}

/// Lₖ·(xₖ − max(0, xₖ − gₖ/Lₖ))².
fn residual_term<M: Columns>(problem: &Reduced<M>, k: usize, x: f64, gradient: f64) -> f64 {
    let step = gradient / problem.norm[k];
    let moved = if step > x { x } else { step };
    problem.norm[k] * moved * moved
}
