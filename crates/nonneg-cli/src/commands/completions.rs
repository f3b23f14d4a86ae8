//! `nonneg completions`.

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::console;
use crate::failure::Failure;

pub fn run(args: &CompletionsArgs) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "nonneg", &mut script);
    console::print_bytes(&script)?;
    Ok(crate::DONE)
}
