//! The proof of quality that comes with every answer, computed from the caller's data. Only this module may say
//! that a problem is solved; it takes nothing from an algorithm but x.
//!
//! For A ≥ 0 and any y, with uⱼ = cⱼ/Lⱼ ≥ x*ⱼ,
//!
//! ```text
//! f* ≥ D(y) = −½‖y‖² − Σⱼ uⱼ·max(0, cⱼ − A:ⱼᵀy)
//! ```
//!
//! and y = τAx with the best τ ([`dual`]). The relative gap is (f(x) − D)/|f̂| with f̂ ≥ f* the best objective known.
//! Every quantity is rounded to the safe side before τ is chosen: c up, Aᵀy down, u up, f up.
//!
//! All arithmetic happens in units that make columns and b of order one ([`facts`]): exact powers of two, so that
//! entries of 1e-200 or 1e+200 are ordinary.

mod bound;
mod dual;
mod evaluate;
mod evaluation;
mod facts;
mod linear;
mod rows;
mod screen;
mod shift;
mod signed;
mod sums;

pub(crate) use dual::{Term as DualTerm, best_scale};
pub(crate) use evaluate::Certifier;
pub(crate) use evaluation::{Evaluation, relative};
pub(crate) use facts::{ColumnFacts, Facts, weight_exponent};
pub(crate) use screen::Screen;
pub(crate) use signed::proved_least_eigenvalue;
pub(crate) use sums::UNIT;

use crate::direction;
use crate::error::Result;
use crate::many::verify_with_sum;
use crate::matrix::with_columns;
use crate::problem::{LeastSquares, check};

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
    /// Entries of x that are not zero.
    pub support: usize,
    /// y, the dual point that proves the bound, one entry per row; empty where there is no bound.
    pub dual: Vec<f64>,
}

/// For signed A where nothing else is proved: the gap to a perfect fit that is worth mentioning.
const CLOSE_FIT: f64 = 0.01;

/// Certifies any x within the bounds, from any solver.
///
/// ```
/// use nonneg::{DenseMatrix, LeastSquares, verify};
///
/// let a = DenseMatrix::new(2, 1, vec![1.0, 1.0])?;
/// let problem = LeastSquares::new(&a, &[1.0, 3.0]);
/// assert!(verify(&problem, &[2.0])?.relative_gap.unwrap() < 1e-12);
/// assert!(verify(&problem, &[1.0])?.relative_gap.unwrap() > 0.2);
/// # Ok::<(), nonneg::Error>(())
/// ```
pub fn verify(problem: &LeastSquares, x: &[f64]) -> Result<Certificate> {
    problem.validate()?;
    let expected = if problem.has_other_bounds() { "a finite number" } else { "a finite number ≥ 0" };
    check("x", x, problem.matrix.cols(), "one per column of A", f64::is_finite, expected)?;
    if let Some(index) = (0..x.len()).find(|&j| problem.clip(j, x[j]) != x[j]) {
        let expected = match x[index] {
            _ if problem.excludes(index) => "zero outside the columns given",
            x if x > problem.upper.at(index) => "at most its upper bound",
            _ if problem.lower.at(index) == 0.0 => "a finite number ≥ 0",
            _ => "at least its lower bound",
        };
        return Err(crate::Error::Entry { what: "x", index, value: x[index], expected });
    }
    if problem.sum_to_one {
        return verify_with_sum(problem, x);
    }
    with_columns!(problem.matrix, |columns| {
        let certifier = Certifier::new(columns, problem)?.with_close_fit(CLOSE_FIT);
        if certifier.wants_farthest() {
            certifier.prove_farthest(|| direction::of(columns, problem, &certifier.facts));
        }
        let scaled = certifier.to_scaled(x);
        Ok(certifier.evaluate(&scaled, &Screen::none()).into_certificate(&certifier))
    })
}
