//! Certified non-negative least squares at any scale.
//!
//! The problem is
//!
//! ```text
//! min ½‖Ax − b‖²   over x ≥ 0,       equivalently, with c = Aᵀb,
//! min f(x) = ½‖Ax‖² − cᵀx   over x ≥ 0,
//! ```
//!
//! with optional upper bounds, row weights, l1 and l2 penalties. Every answer comes with a [`Certificate`]: a proved
//! bound on how far it can be from the best possible one, computed from the caller's data with rounding accounted for.
//!
//! ```
//! use nonneg::{CscMatrix, Solver, Status};
//!
//! let a: CscMatrix = CscMatrix::from_triplets(3, 2, &[(0, 0, 1.0), (1, 0, 2.0), (1, 1, 1.0), (2, 1, 3.0)])?;
//! let solution = Solver::new().tolerance(1e-6).solve(&a, &[1.0, 2.5, 1.5])?;
//! assert_eq!(solution.status, Status::Solved);
//! # Ok::<(), nonneg::Error>(())
//! ```
//!
//! Start with [`Solver`] (settings) and [`LeastSquares`] (bounds, penalties, weights); [`verify`] certifies any x from
//! any solver. `ARCHITECTURE.md` in the repository maps the paper's notation to the code.

mod direction;
mod error;
mod many;
mod monitor;
mod nmf;
mod nnls;
mod prepared;
mod problem;
mod scaling;
mod scout;
mod settings;
mod solution;
mod solve;
#[cfg(test)]
mod testing;
mod trace;

pub mod algorithm;
pub mod certificate;
pub mod linalg;
pub mod matrix;
pub mod presolve;

pub use certificate::{Certificate, verify};
pub use error::{Error, Result};
pub use many::{ColumnSolution, ManyLeastSquares, ManySolution, PreparedMany};
pub use matrix::{AnyMatrix, CscMatrix, CscView, CsrMatrix, CsrView, DenseMatrix, DenseView, MatrixRef};
pub use monitor::Moment;
pub use nmf::{Factors, Nmf, NmfMethod, NmfStart, NmfStep};
pub use nnls::{Nnls, nnls};
pub use prepared::Problem;
pub use problem::{LeastSquares, Lower, Target, Upper};
pub use settings::{BlockMetric, Method, Solver};
pub use solution::{Seconds, Solution, Stats, Status};
pub use trace::{Event, Switch, TraceRow};

/// The README's Rust example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
