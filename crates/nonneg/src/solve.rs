//! The pipeline: check → facts → presolve → algorithm → postsolve → certify.

use std::ops::ControlFlow;
use std::time::Instant;

use crate::algorithm::apcg::Apcg;
use crate::algorithm::cd::CoordinateDescent;
use crate::algorithm::fista::Fista;
use crate::algorithm::fnnls::Fnnls;
use crate::algorithm::lawson_hanson::LawsonHanson;
use crate::algorithm::oa_ds::OaDs;
use crate::algorithm::si_nnls::SiNnls;
use crate::algorithm::tnt_nn::TntNn;
use crate::algorithm::{Algorithm, Monitor, WorkingSet};
use crate::certificate::{Certifier, ColumnFacts, Screen};
use crate::error::{Error, Result};
use crate::many;
use crate::matrix::{Columns, MatrixRef, with_columns};
use crate::monitor::{Moment, Observer, Watch};
use crate::prepared::Prepared;
use crate::presolve::Reduced;
use crate::problem::LeastSquares;
use crate::settings::{MEMORY, Method, Solver};
use crate::solution::{Seconds, Solution, Stats};
use crate::trace::TraceRow;

impl Solver {
    /// min ½‖Ax − b‖² over x ≥ 0.
    pub fn solve<'a>(&self, a: impl Into<MatrixRef<'a>>, b: &'a [f64]) -> Result<Solution> {
        self.solve_problem(&LeastSquares::new(a, b))
    }

    /// Solves any [`LeastSquares`] problem.
    pub fn solve_problem(&self, problem: &LeastSquares) -> Result<Solution> {
        self.solve_observed(problem, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`solve_problem`](Self::solve_problem); `observe` sees every trace row as it happens and may stop the run.
    pub fn solve_observed(
        &self,
        problem: &LeastSquares,
        observe: &mut (dyn FnMut(&TraceRow) -> ControlFlow<()> + Send),
    ) -> Result<Solution> {
        self.solve_watched(problem, &mut |moment| observe(moment.row))
    }

    /// As [`solve_observed`](Self::solve_observed), with the best x so far for who wants to keep it: a run that is cut off can be
    /// started again from there ([`LeastSquares::start`]).
    pub fn solve_watched(
        &self,
        problem: &LeastSquares,
        observe: &mut (dyn FnMut(&Moment) -> ControlFlow<()> + Send),
    ) -> Result<Solution> {
        self.validate()?;
        problem.validate()?;
        if problem.upper.is_finite() && !self.method.takes_upper_bounds() {
            let (value, expected) = (self.method.name().to_owned(), "a method that takes upper bounds, such as auto or cd");
            return Err(Error::Setting { name: "method", value, expected });
        }
        if problem.sum_to_one {
            return many::solve_with_sum(self, problem, observe);
        }
        let mut run = || with_columns!(problem.matrix, |columns| solve_columns(columns, problem, self, observe));
        match self.threads {
            None => run(),
            Some(threads) => in_threads(threads, run)?,
        }
    }
}

/// Threads for each core beyond which there is no point.
const THREADS_PER_CORE: usize = 32;

/// Runs with a number of threads of its own.
pub(crate) fn in_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> Result<R> {
    let most = THREADS_PER_CORE * std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let refused = |e: rayon::ThreadPoolBuildError| Error::Setting {
        name: "threads",
        value: format!("{threads} ({e})"),
        expected: "a number of threads that the system can start",
    };
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads.min(most)).build().map_err(refused)?.install(run))
}

fn solve_columns<M: Columns>(a: &M, problem: &LeastSquares, settings: &Solver, observe: Observer) -> Result<Solution> {
    let begin = Instant::now();
    let certifier = Certifier::new(a, problem)?.with_close_fit(settings.tolerance);
    if certifier.facts.out_of_range() {
        let copy = certifier.scaled_copy();
        let view = copy.view();
        let reduced = Reduced::new(&view, problem, &certifier.facts, |_| 1.0)?;
        return run(&certifier, &reduced, problem, settings, observe, begin);
    }
    let reduced = Reduced::new(a, problem, &certifier.facts, ColumnFacts::scale)?;
    run(&certifier, &reduced, problem, settings, observe, begin)
}

fn run<M: Columns, R: Columns>(
    certifier: &Certifier<M>,
    reduced: &Reduced<R>,
    problem: &LeastSquares,
    settings: &Solver,
    observe: Observer,
    begin: Instant,
) -> Result<Solution> {
    let start = starting_point(problem, certifier, reduced);
    let presolve = begin.elapsed().as_secs_f64();

    let mut watch = Watch::new(certifier, reduced, settings, observe, begin);
    if reduced.is_empty() {
        watch.check(&start); // presolve decided every column
    } else {
        run_method(settings, problem.prepared(), reduced, start, &mut watch)?;
    }
    if watch.unbounded {
        let reason =
            "some combination of columns gains in cᵀx while A maps it to (almost) nothing, and nothing bounds it from above";
        return Err(Error::Unbounded(reason.to_owned()));
    }
    let solving = begin.elapsed().as_secs_f64() - presolve - watch.certify_time.as_secs_f64();

    let best = watch.take_best().expect("every algorithm checks its starting point");
    let x = certifier.to_caller(&best.x);
    // What the caller gets is what is certified, by all columns: where the caller's units lost digits, look again.
    let returned = certifier.to_scaled(&x);
    let evaluation = if returned == best.x && best.evaluation.complete {
        best.evaluation
    } else {
        certifier.evaluate(&returned, &Screen::none())
    };
    let status = watch.final_status(&evaluation);
    let certificate = evaluation.into_certificate(certifier);
    watch.record_final(&certificate, &x);

    let stats = Stats {
        method: resolved(settings),
        batch_size: if moves_in_blocks(resolved(settings)) { settings.batch_size } else { 1 },
        passes: watch.passes(),
        restarts: watch.restarts,
        dropped_columns: reduced.dropped(),
        signed: certifier.facts.negative_entries,
        seconds: Seconds {
            presolve,
            solve: solving,
            certify: watch.certify_time.as_secs_f64(),
            total: begin.elapsed().as_secs_f64(),
        },
    };
    Ok(Solution { x, status, certificate, stats, trace: std::mem::take(&mut watch.trace) })
}

/// x₀ on the kept columns, within bounds.
fn starting_point<M: Columns, R: Columns>(problem: &LeastSquares, certifier: &Certifier<M>, reduced: &Reduced<R>) -> Vec<f64> {
    let mut start = match problem.start {
        None => vec![0.0; reduced.len()],
        Some(x0) => reduced.restrict(&certifier.to_scaled(x0)),
    };
    // A start from which f overflows is no start.
    if start.iter().any(|&x| x > 1e100) && reduced.upper.iter().any(|u| u.is_infinite()) {
        start.fill(0.0);
    }
    reduced.clip(&mut start);
    start
}

/// What runs: a block size asks for SI-NNLS+.
fn resolved(settings: &Solver) -> Method {
    match settings.method {
        Method::Auto if settings.batch_size > 1 => Method::SiNnls,
        other => other,
    }
}

/// Whether the block size means anything to the method.
fn moves_in_blocks(method: Method) -> bool {
    matches!(method, Method::SiNnls | Method::SiNnlsNoRestart)
}

/// Hands the problem to the method that the settings name.
fn run_method<R: Columns>(
    settings: &Solver,
    prepared: Option<&Prepared>,
    problem: &Reduced<R>,
    x: Vec<f64>,
    monitor: &mut dyn Monitor,
) -> Result<()> {
    let memory = prepared.map(|prepared| &prepared.gram);
    let &Solver { batch_size, seed, memory_limit, .. } = settings;
    let method = resolved(settings);
    let block_metric = settings.block_metric.unwrap_or(method.default_metric());
    match method {
        Method::Auto => {
            WorkingSet { exact_only: false, memory_limit: memory_limit.unwrap_or(MEMORY), seed, memory }.run(problem, x, monitor)
        }
        Method::ActiveSet => WorkingSet { exact_only: true, memory_limit: u64::MAX, seed, memory }.run(problem, x, monitor),
        Method::SiNnls => SiNnls { restarts: true, batch_size, block_metric, seed }.run(problem, x, monitor),
        Method::SiNnlsNoRestart => SiNnls { restarts: false, batch_size, block_metric, seed }.run(problem, x, monitor),
        Method::Cd => CoordinateDescent.run(problem, x, monitor),
        Method::Apcg => Apcg { seed }.run(problem, x, monitor),
        Method::Fista => Fista { restarts: true, metric: block_metric }.run(problem, x, monitor),
        Method::FistaNoRestart => Fista { restarts: false, metric: block_metric }.run(problem, x, monitor),
        Method::OaDs => OaDs { metric: block_metric }.run(problem, x, monitor),
        Method::LawsonHanson => LawsonHanson.run(problem, x, monitor),
        Method::Fnnls => Fnnls::new(problem.len(), memory_limit)?.run(problem, x, monitor),
        Method::TntNn => TntNn.run(problem, x, monitor),
    }
    Ok(())
}
