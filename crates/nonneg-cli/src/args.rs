//! The command line: what can be asked for, and the texts of `--help`.

use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use nonneg::{BlockMetric, Method};

use crate::commands::data::Dataset;
use crate::values;

/// Certified non-negative least squares: min ½‖Ax − b‖² over x ≥ 0.
#[derive(Debug, Parser)]
#[command(name = "nonneg", version, max_term_width = 110)]
#[command(after_help = "\
Start with `nonneg solve`: without a file it solves an example and explains what it prints.

Exit status: 0 solved to the tolerance; 1 stopped short of it (the answer is written all the same);
2 bad input or usage, nothing is written; 130 interrupted (the best answer so far is written).")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Solve a problem and certify the answer
    Solve(Box<SolveArgs>),
    /// Recompute the certificate of any x, from any solver
    Verify(VerifyArgs),
    /// Describe a matrix: shape, sign, empty rows and columns, memory
    Info(InfoArgs),
    /// Make a problem: text, uniform, spectra, tomography, blur or counts
    Generate(GenerateArgs),
    /// Convert a problem between file formats
    Convert(ConvertArgs),
    /// Factor a matrix: V ≈ WH with W, H ≥ 0
    Nmf(NmfArgs),
    /// Run several methods on one problem: table, curves, pictures
    Compare(CompareArgs),
    /// Run the paper's experiments again: all panels, curves, one HTML report
    Reproduce(ReproduceArgs),
    /// Get the paper's data sets from where they are published
    Data(DataArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write those of all commands
    Manual(ManualArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nonneg completions bash > ~/.local/share/bash-completion/completions/nonneg
  nonneg completions zsh > ~/.zfunc/_nonneg
  nonneg completions fish > ~/.config/fish/completions/nonneg.fish")]
pub struct CompletionsArgs {
    /// Which shell
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nonneg manual | man -l -
  nonneg manual -o ~/.local/share/man/man1")]
pub struct ManualArgs {
    /// Write nonneg.1 and a page for every command into this folder
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nonneg solve                                          an embedded example
  nonneg solve A.npz -o x.npy --report report.json      b is in the file
  nonneg solve A.mtx b.txt --tol 1e-9 --plot trace.svg
  nonneg solve news.svm.gz --time-limit 90s -o - | head
  nonneg solve library.npy scene.npy -o X.npy           a right-hand side per column of scene.npy

Formats are told by the ending; `file.npz:KEY` or `file.h5:/PATH` names one array of a file, `-` is standard input or output.")]
pub struct SolveArgs {
    /// The matrix A; without it an embedded example is solved
    pub a: Option<String>,
    /// The right-hand side b, or several, one per column; not needed where A's file holds it
    pub b: Option<String>,
    /// The algorithm
    #[arg(long, default_value = "auto", value_parser = values::method, value_name = "NAME", help = method_help())]
    pub method: Method,
    /// Stop when the proved relative gap is at most this
    #[arg(long, default_value = "1e-6", value_parser = values::at_least_zero, allow_negative_numbers = true, value_name = "EPS")]
    pub tol: f64,
    /// Columns that move together in one step
    #[arg(long, default_value = "1", value_parser = values::at_least_one, allow_negative_numbers = true, value_name = "K")]
    pub batch_size: usize,
    /// How columns move that move together: scale-invariant (default for blocks), or spectral, as published (for fista, oa-ds)
    #[arg(long, value_parser = values::metric, value_name = "NAME")]
    pub metric: Option<BlockMetric>,
    /// Start from this x
    #[arg(long, value_name = "FILE")]
    pub x0: Option<String>,
    /// Stop after this time with the best answer so far: 90s, 5m, 1.5h, 500ms, or seconds
    #[arg(long, value_parser = values::duration, allow_negative_numbers = true, value_name = "TIME")]
    pub time_limit: Option<Duration>,
    /// Stop after this much work, in passes over A
    #[arg(long, value_parser = values::at_least_zero, allow_negative_numbers = true, value_name = "N")]
    pub max_passes: Option<f64>,
    /// Keep the best x in this file as the run goes on, and go on from it where it exists
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<String>,
    /// How often: 30s, 5m, 500ms, or seconds
    #[arg(long, default_value = "30s", value_parser = values::duration, requires = "checkpoint", value_name = "TIME")]
    pub checkpoint_every: Duration,
    /// Memory for matrices that the method makes itself; for all of it if A is in an .nnm file: 4GiB, 500MB, or bytes [default for auto: 2GiB]
    #[arg(long, value_parser = values::bytes, allow_negative_numbers = true, value_name = "SIZE")]
    pub memory_limit: Option<u64>,
    /// Seed of all randomness
    #[arg(long, default_value = "0", value_name = "S")]
    pub seed: u64,
    /// Print a line for every check of the solver
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
    #[command(flatten)]
    pub common: CommonArgs,
    // Groups with a heading come last: a heading holds for all that follows it.
    #[command(flatten)]
    pub outputs: OutputArgs,
    #[command(flatten)]
    pub problem: ProblemArgs,
}

/// Files that `solve` writes.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write x: .npy, .txt, .csv, .mtx, or - for standard output; many of them as columns, not as .txt
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
    /// Write a report as JSON
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,
    /// Write every check as CSV
    #[arg(long, value_name = "FILE")]
    pub trace: Option<String>,
    /// Plot gap and residual against passes: .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<String>,
    /// Write y, the dual point that proves the lower bound
    #[arg(long, value_name = "FILE")]
    pub dual: Option<String>,
    /// Write what is known of each of many right-hand sides as CSV
    #[arg(long, value_name = "FILE")]
    pub certificates: Option<String>,
}

/// What belongs to the problem rather than to the way it is solved.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Problem")]
pub struct ProblemArgs {
    /// Upper bounds on x: a number, or a file with one per column
    #[arg(long, allow_negative_numbers = true, value_name = "FILE|NUMBER")]
    pub upper: Option<String>,
    /// Lower bounds on x other than zero: a number, or a file with one per column (-inf is none)
    #[arg(long, allow_hyphen_values = true, value_name = "FILE|NUMBER")]
    pub lower: Option<String>,
    /// Columns that may take any value, without penalty: numbers from 0 and ranges, such as 0,5-8
    #[arg(long, value_parser = values::columns, value_name = "COLUMNS")]
    pub free: Option<values::Columns>,
    /// Add L·Σxⱼ
    #[arg(long, default_value = "0", value_parser = values::at_least_zero, allow_negative_numbers = true, value_name = "L")]
    pub l1: f64,
    /// Add ½L·‖x‖²
    #[arg(long, default_value = "0", value_parser = values::at_least_zero, allow_negative_numbers = true, value_name = "L")]
    pub l2: f64,
    /// Weights of the rows: minimise Σ wᵢ(Ax − b)ᵢ²
    #[arg(long, value_name = "FILE")]
    pub weights: Option<String>,
    /// Ask for Σxⱼ = 1 (abundances)
    #[arg(long)]
    pub sum_to_one: bool,
    /// A's file holds Aᵀ; a b in it belongs to A
    #[arg(long, requires = "a")]
    pub transpose: bool,
    /// c instead of b: minimise ½‖Ax‖² − cᵀx
    #[arg(long, value_name = "FILE")]
    pub linear: Option<String>,
}

/// Options of every command that computes.
#[derive(Debug, Args)]
pub struct CommonArgs {
    /// Threads to use; the answer does not depend on it
    #[arg(long, value_parser = values::at_least_one, allow_negative_numbers = true, value_name = "N")]
    pub threads: Option<usize>,
    /// Print errors only
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
#[command(override_usage = "nonneg verify [OPTIONS] <A> [B] <X>")]
#[command(after_help = "\
Examples:
  nonneg verify A.mtx b.txt x.txt --tol 1e-8
  nonneg verify A.npz x.npy                             b is in A.npz

Exit status: 0 when x is proved to be within the tolerance, 1 when it is not.")]
pub struct VerifyArgs {
    /// The matrix A
    pub a: String,
    /// The right-hand side b; leave it out where A's file holds it or --linear is given
    #[arg(value_name = "B")]
    pub b_or_x: String,
    /// The x to certify
    pub x: Option<String>,
    /// The relative gap to be proved
    #[arg(long, default_value = "1e-6", value_parser = values::at_least_zero, allow_negative_numbers = true, value_name = "EPS")]
    pub tol: f64,
    /// Write a report as JSON
    #[arg(long, value_name = "FILE")]
    pub report: Option<String>,
    /// Accepted for uniformity: a certificate has no randomness
    #[arg(long, hide = true)]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub problem: ProblemArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nonneg nmf faces.npz -k 49 -o parts --image 19x19
  nonneg nmf counts.mtx.gz -k 20 --method exact --l1 0.1 -o topics

Writes W.npy, H.npy, trace.csv and report.json (and factors.png for images) into the folder.
Exit status: 0 converged; 1 stopped short of the tolerance; 2 bad input, nothing is written; 130 interrupted.")]
pub struct NmfArgs {
    /// The matrix V ≥ 0
    pub v: String,
    /// Columns of W
    #[arg(short = 'k', long, value_parser = values::at_least_one, allow_negative_numbers = true, value_name = "K")]
    pub rank: usize,
    /// Folder for the factors; it is made if it does not exist
    #[arg(short, long, default_value = "nonneg-nmf", value_name = "DIR")]
    pub output: String,
    /// Sweeps over one factor, then the other (hals), or exact non-negative least squares in turn (exact)
    #[arg(long, default_value = "hals", value_parser = values::nmf_method, value_name = "NAME")]
    pub method: values::Named<nonneg::NmfMethod>,
    /// Where to start: nndsvd (singular vectors), nndsvda (the same without zeros), or random
    #[arg(long, default_value = "nndsvd", value_parser = values::nmf_start, value_name = "NAME")]
    pub init: values::Named<nonneg::NmfStart>,
    /// Stop when the projected gradient has fallen to this part of what it was
    #[arg(long, default_value = "1e-4", value_parser = values::at_least_zero, allow_negative_numbers = true, value_name = "EPS")]
    pub tol: f64,
    /// Stop after so many steps
    #[arg(long, default_value = "200", value_parser = values::at_least_one, allow_negative_numbers = true, value_name = "N")]
    pub max_iterations: usize,
    /// Add L·(ΣW + ΣH)
    #[arg(long, default_value = "0", value_parser = values::at_least_zero, allow_negative_numbers = true, value_name = "L")]
    pub l1: f64,
    /// Add ½L·(‖W‖² + ‖H‖²)
    #[arg(long, default_value = "0", value_parser = values::at_least_zero, allow_negative_numbers = true, value_name = "L")]
    pub l2: f64,
    /// Stop after this time with the factors so far
    #[arg(long, value_parser = values::duration, allow_negative_numbers = true, value_name = "TIME")]
    pub time_limit: Option<Duration>,
    /// Columns (or rows) of V are images of so many rows and columns of pixels, row after row: draw the factors
    #[arg(long, value_parser = values::image, value_name = "HxW")]
    pub image: Option<(usize, usize)>,
    /// Seed of the starting point
    #[arg(long, default_value = "0", value_name = "S")]
    pub seed: u64,
    /// Print a line for every step
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
    #[command(flatten)]
    pub common: CommonArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  nonneg info A.mtx.gz --json")]
pub struct InfoArgs {
    /// The matrix A
    pub a: String,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// The file holds Aᵀ
    #[arg(long)]
    pub transpose: bool,
    /// Only what the file says before its values are read: shape, entries, type; not for .svm, .csv, .tsv, .txt and -
    #[arg(long)]
    pub header: bool,
    /// Accepted for uniformity: nothing here is random
    #[arg(long, hide = true)]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub common: CommonArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Kinds (A ≥ 0 always; b comes from a planted sparse x and a little noise):
  text         documents × words, Zipf words, tf-idf, unit rows, labels ±1; sparse
  uniform      entries uniform in [0, 1); dense, sparse with --density
  spectra      channels × sums of Gaussian peaks; dense
  tomography   parallel-beam rays × pixels of a square image; sparse
  blur         Gaussian blur of a square image, pixels × pixels; sparse
  counts       Poisson counts; sparse

Example:
  nonneg generate text --rows 20000 --cols 50000 --density 0.002 --seed 1 -o text.npz")]
pub struct GenerateArgs {
    /// text, uniform, spectra, tomography, blur or counts
    #[arg(value_parser = values::kind)]
    pub kind: nonneg_cli::generate::Kind,
    /// Rows of A
    #[arg(long, value_parser = values::at_least_one, allow_negative_numbers = true, value_name = "M")]
    pub rows: Option<usize>,
    /// Columns of A (a square number for images)
    #[arg(long, value_parser = values::at_least_one, allow_negative_numbers = true, value_name = "N")]
    pub cols: Option<usize>,
    /// Share of entries that are not zero
    #[arg(long, value_parser = values::share, allow_negative_numbers = true, value_name = "D")]
    pub density: Option<f64>,
    /// Same seed, same problem
    #[arg(long, default_value = "0", value_name = "S")]
    pub seed: u64,
    /// The problem file; where its format has no place for b (.mtx, .npy, .parquet, .csv), b goes to NAME.b.txt beside it
    #[arg(short, long, value_name = "FILE")]
    pub output: String,
    #[command(flatten)]
    pub common: CommonArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Where the new format has no place for b (.mtx, .npy, .parquet, .csv), b goes to NAME.b.txt beside it.

Example:
  nonneg convert news.svm.gz news.npz")]
pub struct ConvertArgs {
    /// The problem to read
    pub input: String,
    /// The problem to write; its ending names the format
    pub output: String,
    /// Write Aᵀ; a b in the file to be read belongs to it
    #[arg(long)]
    pub transpose: bool,
    #[command(flatten)]
    pub common: CommonArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nonneg compare A.npz                                  the usual methods, 10 s each
  nonneg compare A.mtx b.txt --methods auto,cd,fista --budget 1m -o compared

Writes report.html, summary.json, curves.csv and every panel as .svg and .png into the folder. Finished curves are kept there:
an interrupted comparison goes on where it stopped, and one with more methods runs only those.")]
pub struct CompareArgs {
    /// The matrix A
    pub a: String,
    /// The right-hand side b; not needed where A's file holds it
    pub b: Option<String>,
    /// Methods, separated by commas
    #[arg(long, value_delimiter = ',', value_parser = values::method, value_name = "LIST", help = methods_help(),
          default_value = "auto,si-nnls,si-nnls-norestart,cd,apcg,fista,oa-ds")]
    pub methods: Vec<Method>,
    /// A method may stop at this proved relative gap
    #[arg(long, default_value = "1e-9", value_parser = values::at_least_zero, allow_negative_numbers = true, value_name = "EPS")]
    pub tol: f64,
    /// Time for each method: 10s, 2m, ...
    #[arg(long, default_value = "10s", value_parser = values::duration, allow_negative_numbers = true, value_name = "TIME")]
    pub budget: Duration,
    /// The folder to write to
    #[arg(short, long, default_value = "nonneg-compare", value_name = "DIR")]
    pub output: String,
    /// Start from this x
    #[arg(long, value_name = "FILE")]
    pub x0: Option<String>,
    #[command(flatten)]
    pub grid: GridArgs,
    #[command(flatten)]
    pub problem: ProblemArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  nonneg reproduce --quick                              small stand-ins, some minutes
  nonneg reproduce --data data                          real-sim, news20.binary and E2006.train from a folder
  nonneg reproduce --data a.npz --data b.svm            other problems in their place

Writes report.html, summary.json, curves.csv and every panel as .svg and .png into the folder. Finished curves are kept there:
an interrupted run goes on where it stopped. Without --data the sets are seeded stand-ins of the published shapes.")]
pub struct ReproduceArgs {
    /// A folder with the data sets, or a file that holds A and b; may be repeated
    #[arg(long, value_name = "PATH")]
    pub data: Vec<String>,
    /// Small stand-ins and 4 s for each method
    #[arg(long, conflicts_with = "data")]
    pub quick: bool,
    /// Time for each method on each set: 60s, 2m, ... [default: 60s, with --quick 4s]
    #[arg(long, value_parser = values::duration, allow_negative_numbers = true, value_name = "TIME")]
    pub budget: Option<Duration>,
    /// The folder to write to
    #[arg(short, long, default_value = "nonneg-reproduce", value_name = "DIR")]
    pub output: String,
    #[command(flatten)]
    pub grid: GridArgs,
}

#[derive(Debug, Args)]
pub struct DataArgs {
    #[command(subcommand)]
    pub command: DataCommand,
}

#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// List the data sets: name, size, source
    List,
    /// Download a data set, or check the one that is there
    Fetch(FetchArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
A download that was interrupted goes on where it stopped. The digest of the first one is kept
in FILE.sha256, and later ones must have the same. Proxies are taken from ALL_PROXY,
HTTPS_PROXY or HTTP_PROXY, exceptions from NO_PROXY.

Examples:
  nonneg data fetch real-sim
  nonneg solve data/real-sim.bz2
  nonneg reproduce --data data")]
pub struct FetchArgs {
    /// real-sim, news20 or E2006
    #[arg(value_parser = values::dataset)]
    pub name: &'static Dataset,
    /// The folder to put it in
    #[arg(short, long, default_value = "data", value_name = "DIR")]
    pub output: String,
    /// Download from here instead, for example from a mirror
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The SHA-256 that the file must have
    #[arg(long, value_parser = values::sha256, value_name = "HEX")]
    pub sha256: Option<String>,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Options of every command that runs several methods.
#[derive(Debug, Args)]
pub struct GridArgs {
    /// Seed of all randomness
    #[arg(long, default_value = "0", value_name = "S")]
    pub seed: u64,
    /// Forget the curves of earlier runs
    #[arg(long)]
    pub fresh: bool,
    /// Print a line for every finished curve
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
    #[command(flatten)]
    pub common: CommonArgs,
}

fn methods_help() -> String {
    let names: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
    format!("Methods, separated by commas: {}", names.join(", "))
}

fn method_help() -> String {
    let names: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
    format!("The algorithm: {}", names.join(", "))
}
