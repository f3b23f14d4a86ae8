//! `nonneg solve`.

use std::ops::ControlFlow;
use std::time::Instant;

use nonneg::{Solution, Solver, Status};

use crate::args::{OutputArgs, SolveArgs};
use crate::checkpoint::Keeper;
use crate::console::{self, Paint};
use crate::example::Example;
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::interrupt::Interrupt;
use crate::outputs::{self, Contents, Output};
use crate::plot;
use crate::progress::Progress;
use crate::report::{self, Report, Seconds};
use crate::summary::Summary;

pub fn run(args: &SolveArgs) -> Result<u8, Failure> {
    let clock = Instant::now();
    let interrupt = Interrupt::install();
    super::use_threads(&args.common)?;
    let outputs = planned(args);
    if let Some(path) = &args.outputs.plot {
        plot::Format::of(path)?;
    }
    // x0 may be overwritten by the x that it led to.
    let named: Vec<&str> =
        [&args.a, &args.b, &args.problem.linear, &args.problem.weights].into_iter().flatten().map(String::as_str).collect();
    outputs::check(&outputs, &named)?;

    // A third for the solver's own matrices; mapped files go once all takes half of it; the rest is for what nobody counts.
    if let Some(limit) = args.memory_limit {
        nonneg_io::limit_resident_memory(limit / 2);
        crate::memory::keep_for_later(Some(limit));
    }
    let mut progress = Progress::new(args.common.quiet, args.verbose);
    let x0 = args.x0.as_deref();
    let (mut inputs, example) = match &args.a {
        Some(a) => (Inputs::read(a, args.b.as_deref(), &args.problem, x0, &progress)?, None),
        None => {
            let example = Example::load()?;
            (Inputs::gather(example.problem()?, "the example", None, &args.problem, x0)?, Some(example))
        }
    };

    let memory_limit = args.memory_limit.map(|limit| if inputs.is_mapped() { limit / 3 } else { limit });
    let mut solver = Solver { time_limit: args.time_limit, max_passes: args.max_passes, memory_limit, ..Solver::default() }
        .method(args.method)
        .tolerance(args.tol)
        .batch_size(args.batch_size)
        .seed(args.seed);
    solver.block_metric = args.metric;
    solver.interrupt = Some(interrupt.begin_solving());
    if let Some(b) = inputs.take_many() {
        return super::solve_many::run(args, &inputs, b, &solver, &outputs, progress, clock);
    }
    if let Some(path) = &args.outputs.output {
        nonneg_io::check_vector_output(path)?;
    }
    if args.outputs.certificates.is_some() {
        return Err(Failure::new(
            "--certificates goes with many right-hand sides: expected a B with several columns, or --report",
        ));
    }
    progress.stage("preparing");
    let open = |path: &String| Keeper::open(path, args.checkpoint_every, &mut inputs);
    let mut keeper = args.checkpoint.as_ref().map(open).transpose()?;
    let watch = &mut |moment: &nonneg::Moment| {
        progress.check(moment.row);
        if let Some(keeper) = &mut keeper {
            keeper.note(moment);
        }
        ControlFlow::Continue(())
    };
    let problem = inputs.problem();
    let solution = solver.solve_watched(&problem, watch).map_err(|error| inputs.explain(error))?;
    progress.finish();

    let stages = solution.stats.seconds;
    let seconds = Seconds {
        read: Some(inputs.seconds),
        presolve: Some(stages.presolve),
        solve: Some(stages.solve),
        certify: Some(stages.certify),
        total: Some(clock.elapsed().as_secs_f64()),
    };
    let report = Report::of_solution(problem.matrix, &solution, seconds, args.seed, args.tol);
    let title = args.a.as_deref().unwrap_or("the example");
    let resumed = keeper.as_ref().and_then(|keeper| keeper.before);
    let written = write(&args.outputs, &solution, &report, title, args.tol).and(keeper.map_or(Ok(()), Keeper::finish));
    if !args.common.quiet {
        let to_stdout = outputs.iter().all(|output| output.path != "-");
        let paint = if to_stdout { Paint::of(&std::io::stdout()) } else { Paint::of(&std::io::stderr()) };
        let mut summary = Summary::new(paint);
        summary.solution(problem.matrix, &solution, args.tol);
        if let Some((passes, seconds)) = resumed {
            summary.line("resumed", format!("after {passes:.0} passes in {}", console::seconds(seconds)));
        }
        summary.time(&seconds);
        if written.is_ok() {
            summary.written(&outputs);
        }
        if let Some(example) = &example {
            summary.surround(example.explain(&solution, paint), example.epilogue());
        }
        summary.print(to_stdout)?;
    }
    written?;
    Ok(match solution.status {
        status if status.is_success() => crate::DONE,
        Status::Interrupted => crate::interrupt::exit_code(),
        _ => crate::STOPPED_SHORT,
    })
}

/// The files asked for.
fn planned(solve: &SolveArgs) -> Vec<Output<'_>> {
    let args = &solve.outputs;
    let all = [
        ("--output", &args.output, Contents::VectorOrMatrix),
        ("--dual", &args.dual, Contents::Vector),
        ("--report", &args.report, Contents::Bytes),
        ("--trace", &args.trace, Contents::Bytes),
        ("--plot", &args.plot, Contents::Bytes),
        ("--certificates", &args.certificates, Contents::Bytes),
        ("--checkpoint", &solve.checkpoint, Contents::Bytes),
    ];
    let wanted = all.into_iter().filter_map(|(option, path, contents)| Some((option, path.as_deref()?, contents)));
    wanted.map(|(option, path, contents)| Output { option, path, contents }).collect()
}

/// Writes all files asked for; a failure of one does not keep the others from being written.
fn write(args: &OutputArgs, solution: &Solution, report: &Report, problem: &str, tol: f64) -> Result<(), Failure> {
    let mut outcome = Ok(());
    let mut attempt = |path: &Option<String>, write: &dyn Fn(&str) -> Result<(), Failure>| {
        if let Some(Err(failure)) = path.as_deref().map(write)
            && outcome.is_ok()
        {
            outcome = Err(failure);
        }
    };
    attempt(&args.output, &|path| outputs::write_vector(path, &solution.x));
    attempt(&args.dual, &|path| outputs::write_vector(path, &solution.certificate.dual));
    attempt(&args.report, &|path| outputs::write_bytes(path, &report.to_json()?));
    attempt(&args.trace, &|path| outputs::write_bytes(path, report::trace_csv(&solution.trace).as_bytes()));
    attempt(&args.plot, &|path| {
        let format = plot::Format::of(path)?;
        let curves = plot::Convergence { trace: &solution.trace, method: &solution.stats.method_name(), problem, tol };
        outputs::write_bytes(path, &curves.render(format)?)
    });
    outcome
}
