//! Several methods on the same problems: the paper's experiments (`reproduce`) and those of a user (`compare`).
//!
//! ```text
//! Plan (sources, contestants, budget) ──grid──► Subject, Curve (kept in the store as they are finished)
//!      ──analysis──► Standing ──► summary.json, curves.csv, panels, report.html, table on the terminal
//! ```

pub mod analysis;
pub mod claims;
pub mod contestant;
pub mod curve;
pub mod grid;
pub mod html;
pub mod output;
pub mod pictures;
pub mod source;
pub mod store;
pub mod summary;

/// Relative gaps whose passes and seconds are reported.
pub const LEVELS: [f64; 3] = [1e-2, 1e-4, 1e-6];

/// The levels as they are written.
pub const LEVEL_NAMES: [&str; 3] = ["1e-2", "1e-4", "1e-6"];
