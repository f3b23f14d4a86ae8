//! The parts of the `nonneg` command that other programs reuse: seeded generators of test problems, and how memory is kept.
//!
//! ```
//! use nonneg_cli::generate::{Kind, Sizes};
//!
//! let made = Kind::Blur.generate(&Sizes { cols: Some(64), ..Sizes::default() }, 7).unwrap();
//! assert_eq!((made.matrix.view().rows(), made.rhs.len()), (64, 64));
//! ```

pub mod generate;
pub mod memory;
