//! `nonneg solve` where B has many columns.

use std::sync::Mutex;
use std::time::Instant;

use nonneg::{DenseView, ManyLeastSquares, ManySolution, MatrixRef, Solver, Status};

use crate::args::{OutputArgs, SolveArgs};
use crate::console::{Paint, grouped, number};
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::outputs::{self, Output};
use crate::progress::Progress;
use crate::report::{self, ManyReport, Seconds};
use crate::summary::{Summary, within};

/// Solves for every column of B; `clock` began with the command.
pub fn run(
    args: &SolveArgs,
    inputs: &Inputs,
    (problem, b): (ManyLeastSquares, MatrixRef),
    solver: &Solver,
    outputs: &[Output],
    mut progress: Progress,
    clock: Instant,
) -> Result<u8, Failure> {
    let OutputArgs { trace, plot, dual, output, .. } = &args.outputs;
    for (option, file) in [("--trace", trace), ("--plot", plot), ("--dual", dual)] {
        if file.is_some() {
            let message =
                format!("{option} goes with one right-hand side only: B has {} columns; expected --certificates", b.cols());
            return Err(Failure::new(message));
        }
    }
    if let Some(path) = output {
        nonneg_io::check_problem_output(path)?;
    }
    progress.stage(&format!("0 of {} right-hand sides", grouped(b.cols())));
    let shown = Mutex::new(&mut progress);
    let observe = |done: usize| {
        if let Ok(mut progress) = shown.lock() {
            progress.stage(&format!("{} of {} right-hand sides", grouped(done), grouped(b.cols())));
        }
    };
    let solution = solver.solve_many_observed(&problem, b, &observe).map_err(|error| inputs.explain(error))?;
    progress.finish();

    let total = clock.elapsed().as_secs_f64();
    let seconds = Seconds { read: Some(inputs.seconds), solve: Some(solution.seconds), total: Some(total), ..Seconds::default() };
    let written = write(args, problem.matrix, &solution, seconds);
    if !args.common.quiet {
        let to_stdout = outputs.iter().all(|output| output.path != "-");
        let paint = if to_stdout { Paint::of(&std::io::stdout()) } else { Paint::of(&std::io::stderr()) };
        let mut summary = Summary::new(paint);
        summary.problem(problem.matrix, "");
        describe(&mut summary, &solution, problem.matrix.cols(), args.tol);
        summary.time(&seconds);
        if written.is_ok() {
            summary.written(outputs);
        }
        summary.print(to_stdout)?;
    }
    written?;
    Ok(match solution.status() {
        status if status.is_success() => crate::DONE,
        Status::Interrupted => crate::INTERRUPTED,
        _ => crate::STOPPED_SHORT,
    })
}

fn describe(summary: &mut Summary, solution: &ManySolution, columns: usize, tol: f64) {
    let count = solution.columns.len();
    let solved = solution.columns.iter().filter(|column| column.status.is_success()).count();
    let reached = match solution.largest_gap() {
        Some(gap) => format!("all {}", within(gap)),
        None => "not all proved".to_owned(),
    };
    let status = solution.status();
    if status.is_success() {
        summary.status(format!("{}: {} right-hand sides, {reached}", status.name(), grouped(count)), true);
    } else {
        let words = status.name().replace('_', " ");
        let text = format!("{words}: {} of {} right-hand sides reached {tol:e}; {reached}", grouped(solved), grouped(count));
        summary.status(text, false);
    }
    let fit: f64 = solution.columns.iter().filter_map(|column| column.residual_norm).map(|norm| norm * norm).sum();
    summary.line("‖AX − B‖", number(fit.sqrt()));
    let support: usize = solution.columns.iter().map(|column| column.support).sum();
    let mean = support as f64 / count.max(1) as f64;
    summary.line("support", format!("{mean:.1} of {} columns in the mean", grouped(columns)));
}

/// Writes all files asked for; a failure of one does not keep the others from being written.
fn write(args: &SolveArgs, a: MatrixRef, solution: &ManySolution, seconds: Seconds) -> Result<(), Failure> {
    let OutputArgs { output, report, certificates, .. } = &args.outputs;
    let x = output.as_deref().map_or(Ok(()), |path| {
        let x = DenseView::new(a.cols(), solution.columns.len(), &solution.x)?;
        outputs::write_problem(path, x.into(), None).map(|_| ())
    });
    let table = certificates
        .as_deref()
        .map_or(Ok(()), |path| outputs::write_bytes(path, report::certificates_csv(&solution.columns).as_bytes()));
    let account = report.as_deref().map_or(Ok(()), |path| {
        outputs::write_bytes(path, &report::to_json(&ManyReport::new(a, solution, seconds, args.seed, args.tol))?)
    });
    x.and(table).and(account)
}
