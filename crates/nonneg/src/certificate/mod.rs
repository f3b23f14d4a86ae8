//! Certificates (being written).
use crate::error::Result;
use crate::problem::LeastSquares;

/// How good an x is, proved from the caller's data. Numbers that are not known, or do not fit `f64`, are `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// ½‖Ax − b‖²_W plus penalties (½‖Ax‖²_W − cᵀx plus penalties where c was given).
    pub objective: Option<f64>,
    /// ‖Ax − b‖_W; unknown where c was given.
    pub residual_norm: Option<f64>,
    /// Proved: no feasible x has a smaller objective than this.
    pub lower_bound: Option<f64>,
    /// Proved: (f(x) − f*)/|f*| is at most this.
    pub relative_gap: Option<f64>,
    /// r(x): zero exactly at the optimum.
    pub natural_residual: Option<f64>,
    /// r(x)/r(0).
    pub relative_residual: Option<f64>,
    /// Entries of x above zero.
    pub support: usize,
    /// y, the dual point that proves the bound, one entry per row.
    pub dual: Vec<f64>,
}

/// Certifies any x ≥ 0 from any solver.
pub fn verify(problem: &LeastSquares, x: &[f64]) -> Result<Certificate> {
    let _ = (problem, x);
    todo!()
}
