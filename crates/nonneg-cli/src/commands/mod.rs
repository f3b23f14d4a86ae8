//! One file per subcommand. Each returns the exit status, or a failure with nothing written.

pub mod compare;
pub mod completions;
pub mod convert;
pub mod data;
pub mod generate;
pub mod info;
pub mod manual;
pub mod nmf;
pub mod reproduce;
pub mod solve;
mod solve_many;
pub mod verify;

use crate::args::CommonArgs;
use crate::failure::Failure;

/// Sets the number of threads for everything that follows.
fn use_threads(common: &CommonArgs) -> Result<(), Failure> {
    let Some(threads) = common.threads else { return Ok(()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build_global().map_err(|error| Failure::new(format!("--threads {threads}: {error}")))
}
