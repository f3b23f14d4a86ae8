//! `nonneg-bench foundation`: measures every figure of the first milestone in one run, prints a table and writes dated
//! results. `benchmarks/README.md` says what each figure means.

mod command;
mod engines;
mod epoch;
mod machine;
mod memory;
mod reading;
mod report;
mod restarts;
mod size;
mod skype;
mod solving;
mod timed;
mod timing;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Args, Parser, Subcommand};

use command::Nonneg;
use machine::Machine;
use report::{Report, Section};

/// Whatever can go wrong, with a message for the user.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// How a figure is measured.
type Measure = fn(&Context) -> Outcome<Section>;

/// Where the data is looked for unless `--data` names another folder.
const DEFAULT_DATA: &str = "../shared/data";

/// Measures what nonneg promises.
#[derive(Debug, Parser)]
#[command(name = "nonneg-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: Benchmark,
}

#[derive(Debug, Subcommand)]
enum Benchmark {
    /// The figures of the first milestone: cost of an epoch, growth with size, memory, reading, solving, restarts, many solves with one matrix
    Foundation(FoundationArgs),
    /// One problem, solved in a warm process and timed; for the comparison with peers
    Timed(timed::TimedArgs),
}

#[derive(Debug, Args)]
struct FoundationArgs {
    /// Folder with the real problems [default: ../shared/data if it exists; without one their figures are skipped]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Folder for the dated results
    #[arg(long, value_name = "DIR", default_value = "benchmarks/results")]
    out: PathBuf,
    /// Smaller problems and shorter limits; results are named -foundation-quick
    #[arg(long)]
    quick: bool,
    /// Measure these figures only (1 to 7, separated by commas); prints, and writes nothing
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=7))]
    only: Vec<u32>,
}

/// What every figure may need.
struct Context {
    /// The real problems.
    data: Option<PathBuf>,
    /// Smaller and shorter.
    quick: bool,
    /// Bytes per second that one thread reads from memory, the most seen so far.
    bandwidth: Cell<f64>,
    /// Folder for files that go away.
    scratch: PathBuf,
    /// The command, for the figures that are about the whole of it.
    nonneg: Option<Nonneg>,
}

impl Context {
    /// The folder of real problems, or why there is nothing to measure.
    fn data(&self) -> Outcome<&Path> {
        self.data.as_deref().ok_or_else(|| report::Skipped("no folder with the real problems (--data)").into())
    }

    /// Measures the memory's bandwidth again, close to what it is compared with, and gives the most seen so far.
    fn bandwidth(&self) -> f64 {
        self.bandwidth.set(self.bandwidth.get().max(timing::bandwidth()));
        self.bandwidth.get()
    }

    fn nonneg(&self) -> Outcome<&Nonneg> {
        self.nonneg.as_ref().ok_or_else(|| "the nonneg command could not be found or built".into())
    }
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Benchmark::Foundation(args) => foundation(&args),
        Benchmark::Timed(args) => timed::run(&args).map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs the figures; whether all of them could be measured (not: whether they met their targets).
fn foundation(args: &FoundationArgs) -> Outcome<bool> {
    if cfg!(debug_assertions) {
        return Err("this build is not optimised, its times would mean nothing: use cargo run --release -p nonneg-bench".into());
    }
    let begin = Instant::now();
    let data = data_folder(args.data.as_deref())?;
    let scratch = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
    let wanted = |figure: u32| args.only.is_empty() || args.only.contains(&figure);
    let needs_command = data.is_some() && (wanted(3) || wanted(5));
    let nonneg = match needs_command.then(Nonneg::find) {
        Some(Err(error)) => {
            eprintln!("warning: {error}");
            None
        }
        found => found.transpose()?,
    };
    let context = Context { data, quick: args.quick, bandwidth: Cell::new(0.0), scratch: scratch.path().into(), nonneg };

    let figures: [(u32, &'static str, Measure); 7] = [
        (1, epoch::TITLE, epoch::measure),
        (2, size::TITLE, size::measure),
        (3, memory::TITLE, memory::measure),
        (4, reading::TITLE, reading::measure),
        (5, solving::TITLE, solving::measure),
        (6, restarts::TITLE, restarts::measure),
        (7, skype::TITLE, skype::measure),
    ];
    let mut report = Report::new(args.quick);
    for (number, title, measure) in figures.into_iter().filter(|figure| wanted(figure.0)) {
        eprintln!("figure {number}: {title} ...");
        report.add(number, title, measure(&context));
    }
    report.finish(Machine::here(context.bandwidth()), begin.elapsed());
    println!("{}", report.markdown());
    if args.only.is_empty() {
        report.write(&args.out)?;
    }
    Ok(report.complete())
}

/// A folder that was asked for must exist; the default one may be missing.
fn data_folder(asked: Option<&Path>) -> Outcome<Option<PathBuf>> {
    let folder = asked.unwrap_or(Path::new(DEFAULT_DATA));
    if folder.is_dir() {
        return Ok(Some(folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?));
    }
    match asked {
        Some(folder) => Err(format!("--data {}: expected a folder with .npz problems", folder.display()).into()),
        None => Ok(None),
    }
}
