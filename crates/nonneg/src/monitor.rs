//! Watches a run: takes certificates, keeps the best point, the trace and the account of work, and decides when to stop.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::algorithm::{Check, Monitor};
use crate::certificate::{Certificate, Certifier, Evaluation, Screen};
use crate::direction;
use crate::matrix::Columns;
use crate::presolve::Reduced;
use crate::settings::Solver;
use crate::solution::Status;
use crate::trace::{Event, Switch, TraceRow};

/// Passes kept in hand for the sweep and the certificate that end a run.
const RESERVE: f64 = 3.0;

/// Rows of the trace that are kept, about.
const MAX_TRACE: usize = 20_000;

/// A run that makes no progress in so many checks (or a quarter of all, if that is more) has stalled.
const PATIENCE: usize = 100;

/// So has one whose measure of optimality stays where it is for so many checks (or half of all), however f falls: along a valley
/// that is far too long for it.
const PATIENCE_IN_VALLEYS: usize = 20_000;

/// Progress is a measure of optimality that falls by this factor, or an objective that falls by this part of itself:
/// what is left below is rounding errors.
const BETTER_MEASURE: f64 = 0.99;
const BETTER_OBJECTIVE: f64 = 1e-14;

/// Part of the entries of A beyond which screening pays.
const SCREENED: f64 = 0.6;

/// A run at one of its checks.
pub struct Moment<'m> {
    /// What is known of the point that was checked.
    pub row: &'m TraceRow,
    best: &'m dyn Fn() -> Vec<f64>,
}

impl<'m> Moment<'m> {
    pub(crate) fn new(row: &'m TraceRow, best: &'m dyn Fn() -> Vec<f64>) -> Self {
        Self { row, best }
    }

    /// The best x so far.
    pub fn best_x(&self) -> Vec<f64> {
        (self.best)()
    }
}

/// Called with every moment as it happens.
pub(crate) type Observer<'a> = &'a mut dyn FnMut(&Moment) -> ControlFlow<()>;

pub(crate) struct Watch<'a, M: Columns, R: Columns> {
    certifier: &'a Certifier<'a, M>,
    problem: &'a Reduced<'a, R>,
    settings: &'a Solver,
    observe: Observer<'a>,
    begin: Instant,
    work: u64,
    pub restarts: usize,
    pub certify_time: Duration,
    pub trace: Vec<TraceRow>,
    checks: usize,
    best: Option<Best>,
    progress: Progress,
    screen: Screen,
    observer_stopped: bool,
    /// f seems to have no minimum.
    pub unbounded: bool,
    pub status: Status,
}

/// The last time that something got better, for the stall rule.
struct Progress {
    measure: f64,
    objective: f64,
    check: usize,
    /// The last time that the measure did.
    closer: usize,
}

impl Progress {
    fn note(&mut self, measure: f64, objective: f64, check: usize) {
        let closer = measure < BETTER_MEASURE * self.measure;
        let lower = objective < self.objective - BETTER_OBJECTIVE * objective.abs();
        if closer {
            (self.measure, self.closer) = (measure, check);
        }
        if closer || lower {
            (self.objective, self.check) = (objective.min(self.objective), check);
        }
    }
}

/// The best point so far, in scaled units over all columns.
pub(crate) struct Best {
    pub x: Vec<f64>,
    pub evaluation: Evaluation,
    rank: f64,
}

impl<'a, M: Columns, R: Columns> Watch<'a, M, R> {
    pub fn new(
        certifier: &'a Certifier<'a, M>,
        problem: &'a Reduced<'a, R>,
        settings: &'a Solver,
        observe: Observer<'a>,
        begin: Instant,
    ) -> Self {
        Self {
            certifier,
            problem,
            settings,
            observe,
            begin,
            work: certifier.setup_work(),
            restarts: 0,
            certify_time: Duration::ZERO,
            trace: Vec::new(),
            checks: 0,
            best: None,
            progress: Progress { measure: f64::INFINITY, objective: f64::INFINITY, check: 0, closer: 0 },
            screen: Screen::none(),
            observer_stopped: false,
            unbounded: false,
            status: Status::Stalled,
        }
    }

    /// Work so far, in passes.
    pub fn passes(&self) -> f64 {
        self.work as f64 / (self.certifier.nnz() as f64).max(1.0)
    }

    /// The status of the answer as it is returned: a point that lost its proof in the caller's units is not solved.
    pub fn final_status(&self, evaluation: &Evaluation) -> Status {
        match self.status {
            _ if self.is_solved(evaluation) => Status::Solved,
            Status::Solved => Status::Stalled,
            Status::Converged if !self.converged(evaluation) => Status::Stalled,
            status => status,
        }
    }

    /// The best point, for the end of the run.
    pub fn take_best(&mut self) -> Option<Best> {
        self.best.take()
    }

    /// The last row of the trace: the answer as it is returned.
    pub fn record_final(&mut self, certificate: &Certificate, x: &[f64]) {
        let row = self.row(certificate, Event::Final);
        let _ = (self.observe)(&Moment::new(&row, &|| x.to_vec()));
        self.trace.push(row);
    }

    /// Adds a row; a trace that grows without end is thinned to every other row now and then.
    fn record(&mut self, row: TraceRow) {
        if self.trace.len() >= MAX_TRACE {
            let mut position = 0;
            self.trace.retain(|row| {
                position += 1;
                position % 2 == 1 || row.event != Event::Check
            });
        }
        self.checks += 1;
        self.trace.push(row);
    }

    fn row(&self, certificate: &Certificate, event: Event) -> TraceRow {
        TraceRow {
            passes: self.passes(),
            seconds: self.begin.elapsed().as_secs_f64(),
            objective: certificate.objective,
            lower_bound: certificate.lower_bound,
            relative_gap: certificate.relative_gap,
            natural_residual: certificate.natural_residual,
            support: certificate.support,
            restarts: self.restarts,
            event,
        }
    }

    /// The status to stop with after this check, if any: success first, then whoever asked to stop, then limits.
    fn verdict(&self, evaluation: &Evaluation) -> Option<Status> {
        if self.is_solved(evaluation) {
            return Some(Status::Solved);
        }
        if !evaluation.is_bounded() && self.converged(evaluation) {
            return Some(Status::Converged);
        }
        if self.interrupted() {
            return Some(Status::Interrupted);
        }
        if self.time_is_up() {
            return Some(Status::TimeLimit);
        }
        if self.passes_are_up() {
            return Some(Status::PassLimit);
        }
        let checks = self.checks;
        let idle = checks - self.progress.check > PATIENCE.max(checks / 4);
        let hopeless = checks - self.progress.closer > PATIENCE_IN_VALLEYS.max(checks / 2);
        (idle || hopeless).then_some(Status::Stalled)
    }

    /// Whether the gap is small enough.
    fn is_solved(&self, evaluation: &Evaluation) -> bool {
        evaluation.proved_gap().is_some_and(|gap| gap <= self.settings.tolerance)
    }

    /// Leaves columns out of the checks to come, once they are so many that this pays for the last check, which is in full.
    fn note_excluded(&mut self, columns: &[usize]) {
        let entries = |j: usize| self.certifier.entries(j);
        let out: usize = columns.iter().map(|&j| entries(j)).sum();
        if self.screen.entries() as f64 + out as f64 > SCREENED * self.certifier.nnz() as f64 {
            self.screen.exclude(columns, self.certifier.columns(), entries);
        }
    }

    /// Whether the natural residual of a signed problem is small enough.
    fn converged(&self, evaluation: &Evaluation) -> bool {
        let limit = self.settings.tolerance * self.certifier.residual_at_zero();
        self.certifier.facts.signed && evaluation.residual() <= limit
    }

    fn interrupted(&self) -> bool {
        self.observer_stopped || self.settings.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    fn time_is_up(&self) -> bool {
        self.settings.time_limit.is_some_and(|limit| self.begin.elapsed() >= limit)
    }

    fn passes_are_up(&self) -> bool {
        self.settings.max_passes.is_some_and(|limit| self.passes() + RESERVE > limit)
    }
}

impl<M: Columns, R: Columns> Monitor for Watch<'_, M, R> {
    fn check(&mut self, x: &[f64]) -> Check {
        let started = Instant::now();
        let all = self.problem.expand(x);
        let mut evaluation = self.certifier.evaluate(&all, &self.screen);
        self.work += evaluation.work;
        self.note_excluded(&evaluation.excluded);
        // What is said to be solved is proved with every column.
        if !evaluation.complete && self.is_solved(&evaluation) {
            evaluation = self.certifier.evaluate(&all, &Screen::none());
            self.work += evaluation.work;
        }
        // Close enough to be worth a proof that costs more than a check.
        if !evaluation.is_bounded() && self.converged(&evaluation) && self.certifier.wants_farthest() {
            let passes = self.passes();
            self.work += self.certifier.prove_farthest(|| direction::look(self.problem, passes, &|| self.out_of_time()));
            evaluation = self.certifier.evaluate(&all, &Screen::none());
            self.work += evaluation.work;
        }
        self.certify_time += started.elapsed();

        // Points are ranked by proved gap; where there is none, all by residual.
        let residual = evaluation.residual();
        let gap = evaluation.dual_gap;
        let rank = gap.unwrap_or(f64::MAX.min(1e300 * (1.0 + residual)));

        let event = if self.trace.is_empty() { Event::Start } else { Event::Check };
        let row = self.row(&evaluation.summary(self.certifier), event);
        let best = self.best.as_ref().filter(|best| best.rank <= rank).map_or(&all, |best| &best.x);
        let best = || self.certifier.to_caller(best);
        self.observer_stopped |= (self.observe)(&Moment::new(&row, &best)).is_break();
        self.record(row);

        let measure = gap.unwrap_or(residual);
        self.progress.note(measure, evaluation.objective, self.checks);
        let verdict = self.verdict(&evaluation);
        self.unbounded = self.certifier.falls_without_end(&evaluation);
        let check = Check {
            stop: verdict.is_some() || self.unbounded,
            objective: evaluation.objective,
            residual,
            distance: evaluation.gap().unwrap_or(residual * residual),
            wanted_distance: match evaluation.gap() {
                Some(_) => self.settings.tolerance * evaluation.best_known.abs(),
                None => (self.settings.tolerance * self.certifier.residual_at_zero()).powi(2),
            },
            gradient: self.problem.restrict(&std::mem::take(&mut evaluation.gradient)),
            image: evaluation.image.clone(),
        };
        if let Some(status) = verdict {
            self.status = status;
        }
        // A point that converged is the answer, whatever came before; otherwise the least rank is.
        let is_answer = matches!(verdict, Some(Status::Solved | Status::Converged));
        if is_answer || self.best.as_ref().is_none_or(|best| rank < best.rank) {
            self.best = Some(Best { x: all, evaluation, rank });
        }
        check
    }

    fn spend(&mut self, multiply_adds: u64) {
        self.work += multiply_adds;
    }

    fn restarted(&mut self) {
        self.restarts += 1;
        if let Some(row) = self.trace.last_mut() {
            row.event = Event::Restart;
            row.restarts = self.restarts;
        }
    }

    fn switched(&mut self, switch: Switch) {
        // A row of its own: there can be several after one check.
        if let Some(&last) = self.trace.last() {
            let (passes, seconds) = (self.passes(), self.begin.elapsed().as_secs_f64());
            let row = TraceRow { passes, seconds, event: Event::Switch(switch), ..last };
            let best = || self.best.as_ref().map_or(Vec::new(), |best| self.certifier.to_caller(&best.x));
            self.observer_stopped |= (self.observe)(&Moment::new(&row, &best)).is_break();
            self.trace.push(row);
        }
    }

    fn out_of_time(&self) -> bool {
        self.interrupted() || self.time_is_up() || self.passes_are_up()
    }
}
