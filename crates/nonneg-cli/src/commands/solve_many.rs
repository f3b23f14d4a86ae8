//! `nonneg solve` where B has many columns. They come, and X goes, some columns at a time: either may be larger than memory.

use std::sync::Mutex;
use std::time::Instant;

use nonneg::{ManySolution, Solver, Status};
use nonneg_io::{ColumnWriter, ManyColumns};

use crate::args::{OutputArgs, SolveArgs};
use crate::console::{Paint, grouped, number};
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::outputs::{self, Output, TextOutput};
use crate::progress::Progress;
use crate::report::{self, ManyReport, Seconds};
use crate::summary::{Summary, within};
use crate::tally::Tally;

/// Numbers of B and X in memory at a time.
const PART: usize = 1 << 22;

/// Solves for every column of B; `clock` began with the command.
pub fn run(
    args: &SolveArgs,
    inputs: &Inputs,
    b: ManyColumns,
    solver: &Solver,
    outputs: &[Output],
    mut progress: Progress,
    clock: Instant,
) -> Result<u8, Failure> {
    let problem = inputs.many()?;
    let (a, count) = (problem.matrix, b.cols());
    let OutputArgs { trace, plot, dual, output, .. } = &args.outputs;
    for (option, file) in [("--trace", trace), ("--plot", plot), ("--dual", dual), ("--checkpoint", &args.checkpoint)] {
        if file.is_some() {
            let message = format!("{option} goes with one right-hand side only: B has {count} columns; expected --certificates");
            return Err(Failure::new(message));
        }
    }
    if let Some(path) = output {
        nonneg_io::check_problem_output(path)?;
    }
    inputs.check_columns(b.rows())?;
    progress.stage("preparing");
    let begin = Instant::now();
    let prepared = solver.prepare_many(&problem, count).map_err(|error| inputs.explain(error))?;
    let mut results = Results::create(&args.outputs, a.cols(), count)?;
    // Whole blocks: then the parts change no bit.
    let width = (PART / (a.rows() + a.cols())).next_multiple_of(prepared.block());
    for part in b.parts(width) {
        let (before, shown) = (results.tally.count(), Mutex::new(&mut progress));
        let observe = |done: usize| {
            if let Ok(mut progress) = shown.lock() {
                progress.stage(&format!("{} of {} right-hand sides", grouped(before + done), grouped(count)));
            }
        };
        let solution = prepared.solve_observed(part?.view(), &observe).map_err(|error| inputs.explain(error))?;
        results.add(&solution)?;
        if matches!(solution.status(), Status::TimeLimit | Status::Interrupted) {
            results.fill(&solution)?;
            break;
        }
    }
    progress.finish();
    let solve = Some(begin.elapsed().as_secs_f64());
    let total = Some(clock.elapsed().as_secs_f64());
    let seconds = Seconds { read: Some(inputs.seconds), solve, total, ..Seconds::default() };
    let (tally, written) = results.finish();
    let account = args.outputs.report.as_deref().map_or(Ok(()), |path| {
        outputs::write_bytes(path, &report::to_json(&ManyReport::new(a, &tally, seconds, args.seed, args.tol))?)
    });
    let written = written.and(account);
    if !args.common.quiet {
        let to_stdout = outputs.iter().all(|output| output.path != "-");
        let paint = if to_stdout { Paint::of(&std::io::stdout()) } else { Paint::of(&std::io::stderr()) };
        let mut summary = Summary::new(paint);
        summary.problem(a, "");
        describe(&mut summary, &tally, a.cols(), args.tol);
        summary.time(&seconds);
        if written.is_ok() {
            summary.written(outputs);
        }
        summary.print(to_stdout)?;
    }
    written?;
    Ok(match tally.status() {
        status if status.is_success() => crate::DONE,
        Status::Interrupted => crate::interrupt::exit_code(),
        _ => crate::STOPPED_SHORT,
    })
}

/// X and its certificates, on their way to files, and what they add up to.
struct Results {
    count: usize,
    tally: Tally,
    x: Option<ColumnWriter>,
    certificates: Option<TextOutput>,
}

impl Results {
    fn create(args: &OutputArgs, rows: usize, count: usize) -> Result<Self, Failure> {
        let x = args.output.as_deref().map(|path| ColumnWriter::create(path, rows, count)).transpose()?;
        let mut certificates = args.certificates.as_deref().map(TextOutput::create).transpose()?;
        if let Some(table) = &mut certificates {
            table.append(&format!("{}\n", report::CERTIFICATE_COLUMNS))?;
        }
        Ok(Self { count, tally: Tally::new(), x, certificates })
    }

    /// The next columns.
    fn add(&mut self, solution: &ManySolution) -> Result<(), Failure> {
        if let Some(x) = &mut self.x {
            x.append(&solution.x)?;
        }
        if let Some(table) = &mut self.certificates {
            table.append(&report::certificates_csv(self.tally.count(), solution.columns.iter()))?;
        }
        solution.columns.iter().for_each(|column| self.tally.add(column, 1));
        Ok(())
    }

    /// All columns that are left, as the last of these, which was not touched.
    fn fill(&mut self, solution: &ManySolution) -> Result<(), Failure> {
        const LINES: usize = 1 << 16;
        let Some(last) = solution.columns.last() else { return Ok(()) };
        if let Some(x) = &mut self.x {
            x.append_zeros(self.count - self.tally.count())?;
        }
        while self.tally.count() < self.count {
            let some = LINES.min(self.count - self.tally.count());
            if let Some(table) = &mut self.certificates {
                table.append(&report::certificates_csv(self.tally.count(), std::iter::repeat_n(last, some)))?;
            }
            self.tally.add(last, some);
        }
        Ok(())
    }

    /// Puts all files in place; a failure of one does not keep the other from it.
    fn finish(self) -> (Tally, Result<(), Failure>) {
        let x = self.x.map_or(Ok(()), outputs::finish_columns);
        let table = self.certificates.map_or(Ok(()), TextOutput::finish);
        (self.tally, x.and(table))
    }
}

fn describe(summary: &mut Summary, tally: &Tally, columns: usize, tol: f64) {
    let (count, status) = (tally.count(), tally.status());
    let reached = match tally.largest_gap {
        Some(gap) => format!("all {}", within(gap)),
        None => "not all proved".to_owned(),
    };
    if status.is_success() {
        summary.status(format!("{}: {} right-hand sides, {reached}", status.name(), grouped(count)), true);
    } else {
        let (words, solved) = (status.name().replace('_', " "), grouped(tally.solved()));
        let text = format!("{words}: {solved} of {} right-hand sides reached {tol:e}; {reached}", grouped(count));
        summary.status(text, false);
    }
    if let Some(norm) = tally.residual_norm() {
        summary.line("‖AX − B‖", number(norm));
    }
    let mean = tally.support as f64 / count.max(1) as f64;
    summary.line("support", format!("{mean:.1} of {} columns in the mean", grouped(columns)));
}
