//! Linear algebra on the Gram matrix of a few columns.
//!
//! Every kernel runs sequentially; larger work is cut into tiles whose borders depend on the matrix alone, so that
//! results are the same bits on any number of threads.

mod blocked;
mod cholesky;
mod packed;
mod qr;
mod sparse;
mod tall;

pub use cholesky::{Cholesky, Dependent, PIVOT};
pub use packed::Packed;
pub use qr::Qr;
pub use sparse::{SparseCholesky, Upper};
pub use tall::Triangle;
