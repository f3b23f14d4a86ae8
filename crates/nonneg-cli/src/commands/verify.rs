//! `nonneg verify`.

use std::time::Instant;

use crate::args::VerifyArgs;
use crate::console::Paint;
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::outputs::{self, Contents, Output};
use crate::progress::Progress;
use crate::report::{Report, Seconds};
use crate::summary::{Summary, within};

pub fn run(args: &VerifyArgs) -> Result<u8, Failure> {
    super::use_threads(&args.common)?;
    let clock = Instant::now();
    let (b, x) = match &args.x {
        Some(x) => (Some(args.b_or_x.as_str()), x.as_str()),
        None => (None, args.b_or_x.as_str()),
    };
    let report = args.report.as_deref();
    let outputs: Vec<Output> = report.iter().map(|path| Output { option: "--report", path, contents: Contents::Bytes }).collect();
    let mut named = vec![args.a.as_str(), x];
    named.extend(b);
    outputs::check(&outputs, &named)?;
    if named.iter().filter(|name| **name == "-").count() > 1 {
        return Err(Failure::new("standard input (-) is named twice: expected it for one input only"));
    }

    let progress = Progress::new(args.common.quiet, false);
    let reading = Instant::now();
    let mut inputs = Inputs::read(&args.a, b, &args.problem, None, &progress)?;
    if let (Some(many), Some(b)) = (inputs.take_many(), b) {
        let message = format!("{b}: holds {} right-hand sides, expected one, as x is", many.cols());
        return Err(Failure::new(message));
    }
    let values = nonneg_io::read_vector(x)?;
    inputs.remember("x", x);
    let read = reading.elapsed().as_secs_f64();

    let certifying = Instant::now();
    let problem = inputs.problem();
    let certificate = nonneg::verify(&problem, &values).map_err(|error| inputs.explain(error))?;
    let certify = certifying.elapsed().as_secs_f64();

    let certified = certificate.relative_gap.is_some_and(|gap| gap <= args.tol);
    let status = if certified { "solved" } else { "not_certified" };
    let total = clock.elapsed().as_secs_f64();
    let seconds = Seconds { read: Some(read), certify: Some(certify), total: Some(total), ..Seconds::default() };
    if let Some(path) = report {
        let report = Report::of_certificate(problem.matrix, &certificate, status, certified, seconds, args.tol);
        outputs::write_bytes(path, &report.to_json()?)?;
    }
    if !args.common.quiet {
        let to_stdout = report != Some("-");
        let paint = if to_stdout { Paint::of(&std::io::stdout()) } else { Paint::of(&std::io::stderr()) };
        let mut summary = Summary::new(paint);
        summary.problem(problem.matrix, "");
        summary.status(
            match certificate.relative_gap {
                Some(gap) if certified => format!("certified: {}", within(gap)),
                Some(gap) => format!("not certified: {} (asked for {:e})", within(gap), args.tol),
                None => "not certified: no bound is known for this problem".into(),
            },
            certified,
        );
        summary.certificate(&certificate, problem.matrix.cols());
        summary.time(&seconds);
        summary.written(&outputs);
        summary.print(to_stdout)?;
    }
    Ok(if certified { crate::DONE } else { crate::STOPPED_SHORT })
}
