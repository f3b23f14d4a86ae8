//! `nonneg-bench timed`: one problem, timed as peers are: in a process that is warm, the median of some solves unless one takes long.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use nonneg::{DenseMatrix, Solution, Solver};
use serde_json::json;

use crate::Outcome;
use crate::timing::median;

/// Seconds beyond which one run is enough.
const LONG: f64 = 1.0;

#[derive(Debug, Args)]
pub struct TimedArgs {
    /// The matrix, and b where the file does not hold it
    #[arg(required = true, num_args = 1..=2, value_name = "FILE")]
    files: Vec<String>,
    /// Certified relative gap to reach
    #[arg(long)]
    tol: f64,
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Seconds for one solve
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    limit: f64,
    /// How often a short solve is timed; the median counts
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    /// Where x goes (.npy)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub fn run(args: &TimedArgs) -> Outcome<()> {
    nonneg_cli::memory::keep_for_later(None); // as the command does
    let problem = nonneg_io::read_problem(&args.files[0], None)?;
    let rhs = match (args.files.get(1), problem.rhs) {
        (Some(file), _) => nonneg_io::read_vector(file)?,
        (None, Some(rhs)) => rhs,
        (None, None) => return Err(format!("{}: no right-hand side in the file; name it", args.files[0]).into()),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build()?;
    let (times, solution) = pool.install(|| -> nonneg::Result<(Vec<f64>, Solution)> {
        // A tiny problem first, as for the peers: loading code is not what is measured.
        let tiny = DenseMatrix::new(30, 12, (0..360).map(|k| f64::from(k * 37 % 11)).collect::<Vec<f64>>())?;
        Solver::new().solve(&tiny, &(0..30).map(f64::from).collect::<Vec<f64>>())?;
        let mut solver = Solver::new().tolerance(args.tol);
        solver.time_limit = Some(Duration::from_secs_f64(args.limit));
        let mut times = Vec::new();
        loop {
            let begin = Instant::now();
            let solution = solver.solve(&problem.matrix, &rhs)?;
            times.push(begin.elapsed().as_secs_f64());
            if times.len() >= args.rounds || times[0] > LONG {
                return Ok((times, solution));
            }
        }
    })?;
    nonneg_io::write_vector(&args.output.display().to_string(), &solution.x)?;
    let answer = json!({
        "seconds": median(&times),
        "all_seconds": times,
        "status": solution.status.name(),
        "relative_gap": solution.certificate.relative_gap,
        "method": solution.stats.method.name(),
        "passes": solution.stats.passes,
        "presolve": solution.stats.seconds.presolve,
        "solve": solution.stats.seconds.solve,
        "certify": solution.stats.seconds.certify,
    });
    println!("{answer}");
    Ok(())
}
