//! The algorithms. Each sees a presolved problem ([`Reduced`](crate::presolve::Reduced)) and reports through a
//! [`Monitor`]; none prints, and none decides that it is done.

pub mod apcg;
pub mod cd;
pub mod fista;
pub mod fnnls;
pub mod lawson_hanson;
pub mod oa_ds;
pub mod si_nnls;
pub mod tnt_nn;

mod accelerated;
mod anderson;
mod conjugate;
mod curvature;
mod engines;
mod face;
mod first_order;
mod gram;
mod local_gram;
mod metric;
mod momentum;
mod overlaps;
mod passive;
mod point;
mod working_set;

pub use working_set::{GramMemory, WorkingSet};

use std::sync::Arc;

use crate::matrix::Columns;
use crate::presolve::Reduced;
use crate::trace::Switch;

/// The algorithm's line to the outside: certificates, limits, the account of work.
pub trait Monitor {
    /// Certifies a point; the algorithm goes on only if the answer says so.
    fn check(&mut self, x: &[f64]) -> Check;
    /// Adds multiply-adds with entries of A to the account.
    fn spend(&mut self, multiply_adds: u64);
    /// Notes a restart; the trace shows it beside the point checked last.
    fn restarted(&mut self);
    /// Notes that another engine goes on from the point checked last, and why.
    fn switched(&mut self, switch: Switch);
    /// Whether a limit is reached or a stop was asked for: check what you have, now.
    fn out_of_time(&self) -> bool;
}

/// What a check tells the algorithm.
pub struct Check {
    /// Stop: the point is good enough, or a limit was reached.
    pub stop: bool,
    /// f(x), in the algorithm's units.
    pub objective: f64,
    /// r(x), the natural residual.
    pub residual: f64,
    /// How far x is from the optimum, in units of f: the gap where one is proved, otherwise r(x)².
    pub distance: f64,
    /// The distance that is asked for.
    pub wanted_distance: f64,
    /// Ax.
    pub image: Arc<Vec<f64>>,
    /// ∇f(x) on the kept columns.
    pub gradient: Vec<f64>,
}

/// Runs an algorithm from x until the monitor stops it.
pub trait Algorithm {
    /// `x` is within bounds; the best point checked is the monitor's to keep.
    fn run<M: Columns>(&self, problem: &Reduced<M>, x: Vec<f64>, monitor: &mut dyn Monitor);
}
