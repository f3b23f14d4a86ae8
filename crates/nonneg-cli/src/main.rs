//! The `nonneg` command: reads files, calls the library, writes files.

mod args;
mod canvas;
mod checkpoint;
mod commands;
mod console;
mod digest;
mod example;
mod experiment;
mod failure;
mod fetch;
mod inputs;
mod interrupt;
mod outputs;
mod plot;
mod progress;
mod report;
mod summary;
mod tally;
mod values;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use nonneg_cli::memory;

/// Solved, converged, done.
const DONE: u8 = 0;
/// A limit came first; everything is written all the same.
const STOPPED_SHORT: u8 = 1;
/// Bad input or usage; nothing is written.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    memory::keep_for_later(None);
    let outcome = match Cli::parse().command {
        Some(Command::Solve(args)) => commands::solve::run(&args),
        Some(Command::Verify(args)) => commands::verify::run(&args),
        Some(Command::Info(args)) => commands::info::run(&args),
        Some(Command::Generate(args)) => commands::generate::run(&args),
        Some(Command::Convert(args)) => commands::convert::run(&args),
        Some(Command::Nmf(args)) => commands::nmf::run(&args),
        Some(Command::Compare(args)) => commands::compare::run(&args),
        Some(Command::Reproduce(args)) => commands::reproduce::run(&args),
        Some(Command::Data(args)) => commands::data::run(&args),
        Some(Command::Completions(args)) => commands::completions::run(&args),
        Some(Command::Manual(args)) => commands::manual::run(&args),
        None => console::print(&Cli::command().render_help().to_string()).map(|()| DONE),
    };
    ExitCode::from(outcome.unwrap_or_else(|failure| {
        console::complain(&failure);
        BAD_INPUT
    }))
}
