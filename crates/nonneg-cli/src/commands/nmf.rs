//! `nonneg nmf`.

use std::path::Path;
use std::time::Instant;

use nonneg::{DenseMatrix, DenseView, Factors, MatrixRef, Nmf, Status};
use serde::Serialize;

use crate::args::NmfArgs;
use crate::console::{Paint, number, seconds};
use crate::failure::Failure;
use crate::inputs;
use crate::interrupt::Interrupt;
use crate::plot;
use crate::progress::Progress;
use crate::report;
use crate::summary::Summary;

/// The JSON object of `report.json`.
#[derive(Debug, Serialize)]
struct Report {
    status: &'static str,
    method: &'static str,
    m: usize,
    n: usize,
    nnz: usize,
    rank: usize,
    objective: f64,
    residual_norm: f64,
    /// ‖V − WH‖/‖V‖.
    relative_residual: Option<f64>,
    /// The projected gradient, as a part of that at the start.
    violation: f64,
    iterations: usize,
    seconds: report::Seconds,
    seed: u64,
    tol: f64,
    version: &'static str,
}

pub fn run(args: &NmfArgs) -> Result<u8, Failure> {
    let clock = Instant::now();
    let interrupt = Interrupt::install();
    super::use_threads(&args.common)?;
    let folder = Path::new(&args.output);
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::new(format!("{}: is a file, expected a folder for W.npy and H.npy", args.output)));
    }
    let mut progress = Progress::new(args.common.quiet, args.verbose);
    let v = inputs::read_matrix(&args.v, false, &progress)?.matrix;
    let read = clock.elapsed().as_secs_f64();
    let view = v.view();
    let images = args.image.map(|(height, width)| Images::of(view, height, width)).transpose()?;

    let settings = Nmf {
        method: args.method.0,
        start: args.init.0,
        tolerance: args.tol,
        max_iterations: args.max_iterations,
        l1: args.l1,
        l2: args.l2,
        seed: args.seed,
        time_limit: args.time_limit,
        interrupt: Some(interrupt.begin_solving()),
        ..Nmf::new(args.rank)
    };
    progress.stage("starting point");
    let factors = settings.run_observed(view, &mut |step| {
        let text =
            format!("step {}  objective {}  projected gradient {:.1e}", step.iteration, number(step.objective), step.violation);
        progress.note(step.seconds, &text);
    });
    let factors = factors.map_err(|error| Failure::new(format!("{}: {error}", args.v)))?;
    progress.finish();

    let total = clock.elapsed().as_secs_f64();
    let times = report::Seconds { read: Some(read), solve: Some(factors.seconds), total: Some(total), ..Default::default() };
    write(args, folder, view, &factors, images, times)?;
    if !args.common.quiet {
        let mut summary = Summary::new(Paint::of(&std::io::stdout()));
        summary.problem(view, "");
        let words = match factors.status {
            Status::Converged => format!("converged: the projected gradient is {:.1e} of that at the start", factors.violation),
            Status::TimeLimit => {
                format!("time limit: {:.1e} of the projected gradient is left (asked for {:e})", factors.violation, args.tol)
            }
            Status::Interrupted => format!("interrupted: {:.1e} of the projected gradient is left", factors.violation),
            _ => format!("step limit: {:.1e} of the projected gradient is left (asked for {:e})", factors.violation, args.tol),
        };
        summary.status(words, factors.status.is_success());
        summary.line("‖V − WH‖", number(factors.residual_norm));
        summary.line("work", format!("{} steps of rank {}", factors.iterations, args.rank));
        summary.line("time", format!("{} (read {}, factor {})", seconds(total), seconds(read), seconds(factors.seconds)));
        summary.line("written", format!("W.npy, H.npy, report.json in {}", args.output));
        summary.print(true)?;
    }
    Ok(match factors.status {
        status if status.is_success() => crate::DONE,
        Status::Interrupted => crate::interrupt::exit_code(),
        _ => crate::STOPPED_SHORT,
    })
}

/// Where images are: columns of V (then columns of W are images too), or its rows (then rows of H are).
#[derive(Clone, Copy)]
enum Images {
    Columns { height: usize, width: usize },
    Rows { height: usize, width: usize },
}

impl Images {
    fn of(v: MatrixRef, height: usize, width: usize) -> Result<Self, Failure> {
        let pixels = height.saturating_mul(width);
        if pixels == v.rows() {
            return Ok(Self::Columns { height, width });
        }
        if pixels == v.cols() {
            return Ok(Self::Rows { height, width });
        }
        let (m, n) = (v.rows(), v.cols());
        Err(Failure::new(format!("--image {height}x{width} is {pixels} pixels: V is {m}×{n}, expected as many rows or columns")))
    }

    fn draw(self, factors: &Factors, rank: usize) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Columns { height, width } => {
                plot::montage(rank, height, width, |k, row, column| factors.w[(row * width + column) * rank + k])
            }
            Self::Rows { height, width } => {
                plot::montage(rank, height, width, |k, row, column| factors.h[(row * width + column) * rank + k])
            }
        }
    }
}

fn write(
    args: &NmfArgs,
    folder: &Path,
    v: MatrixRef,
    factors: &Factors,
    images: Option<Images>,
    seconds: report::Seconds,
) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let w = DenseMatrix::from_row_major(v.rows(), args.rank, &factors.w)?;
    nonneg_io::write_problem(&path("W.npy"), (&w).into(), None)?;
    let h = DenseView::new(args.rank, v.cols(), &factors.h)?;
    nonneg_io::write_problem(&path("H.npy"), h.into(), None)?;
    if let Some(images) = images {
        nonneg_io::write_bytes(&path("factors.png"), &images.draw(factors, args.rank)?)?;
    }
    let steps: String = factors.trace.iter().enumerate().map(|(k, objective)| format!("{},{objective:e}\n", k + 1)).collect();
    nonneg_io::write_bytes(&path("trace.csv"), format!("iteration,objective\n{steps}").as_bytes())?;
    let mut square = 0.0;
    nonneg::with_columns!(v, |columns| {
        use nonneg::matrix::{Column, Columns};
        (0..columns.cols()).for_each(|j| columns.column(j).for_each(|_, v| square += v * v));
    });
    let report = Report {
        status: if factors.status == Status::PassLimit { "iteration_limit" } else { factors.status.name() },
        method: args.method.1,
        m: v.rows(),
        n: v.cols(),
        nnz: v.nnz(),
        rank: args.rank,
        objective: factors.objective,
        residual_norm: factors.residual_norm,
        relative_residual: (square > 0.0).then(|| factors.residual_norm / square.sqrt()),
        violation: factors.violation,
        iterations: factors.iterations,
        seconds,
        seed: args.seed,
        tol: args.tol,
        version: env!("CARGO_PKG_VERSION"),
    };
    Ok(nonneg_io::write_bytes(&path("report.json"), &report::to_json(&report)?)?)
}
