//! Looks for a direction t that has an acute angle with every column (a right one with free columns): for A of mixed signs it
//! bounds x* ([`certificate`](crate::certificate::signed)), which is what a certificate needs.
//!
//! With c = the columns' norms and no b, the optimum of min ½‖Ax‖² − cᵀx over x ≥ 0 has A:ⱼᵀAx ≥ cⱼ > 0 for every column, so that
//! t = Ax will do; it exists exactly if no x ≥ 0 but zero has Ax = 0. A rough x is enough.

use crate::certificate::{ColumnFacts, Facts};
use crate::matrix::Columns;
use crate::presolve::Reduced;
use crate::problem::LeastSquares;
use crate::scout::{self, Orders};

/// Part of its norm that a column's slope may miss, and that of a free column may be.
const ROUGH: f64 = 0.5;
const ROUGH_FREE: f64 = 1e-7;

/// Passes that are always worth it, and those that never are; between them, as many as the problem itself took.
const PASSES: f64 = 30.0;
const MOST_PASSES: f64 = 300.0;

/// ½‖t‖² for each column (a single one takes ½) beyond which the bound would be of no use: there is no direction, or hardly one.
const USELESS: f64 = 1e9;

/// Part of the natural residual at zero beyond which there is nothing to gain.
const CLOSE: f64 = 1e-9;

/// t, and the multiply-adds that it took: about as many passes as were `spent` already, or fewer.
pub fn look<M: Columns>(problem: &Reduced<M>, spent: f64, stop: &dyn Fn() -> bool) -> (Vec<f64>, u64) {
    let problem = problem.with_norms_to_gain();
    let fits = |(k, &slope): (usize, &f64)| {
        let norm = problem.norm[k].sqrt();
        if problem.linear[k] > 0.0 { slope >= -ROUGH * norm } else { slope.abs() <= ROUGH_FREE * norm }
    };
    let enough = |gradient: &[f64]| gradient.iter().enumerate().all(fits);
    let too_long = |passes: f64, _: usize| passes > spent.clamp(PASSES, MOST_PASSES);
    let too_low = -USELESS * problem.len() as f64;
    let orders = Orders { exact: false, close: CLOSE, enough: &enough, too_low, too_long: &too_long, stop };
    let (x, work) = scout::look(&problem, orders);
    (problem.multiply(&x), work)
}

/// [`look`] for a problem that nobody has reduced.
pub fn of<M: Columns>(a: &M, problem: &LeastSquares, facts: &Facts) -> (Vec<f64>, u64) {
    match Reduced::new(a, problem, facts, ColumnFacts::scale) {
        Ok(reduced) if !facts.out_of_range() => look(&reduced, MOST_PASSES, &|| false),
        _ => (vec![0.0; a.rows()], 0),
    }
}
