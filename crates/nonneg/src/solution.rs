//! What a solve returns.

use crate::certificate::Certificate;
use crate::settings::Method;
use crate::trace::TraceRow;

/// An answer with its proof of quality.
#[derive(Debug, Clone)]
pub struct Solution {
    /// x ≥ 0, one entry per column of A.
    pub x: Vec<f64>,
    /// Why the solver stopped.
    pub status: Status,
    /// How good x is, proved from the caller's data.
    pub certificate: Certificate,
    /// What it took.
    pub stats: Stats,
    /// What happened on the way, one row per check.
    pub trace: Vec<TraceRow>,
}

/// Why the solver stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// The certified relative gap is at most the tolerance.
    Solved,
    /// No certificate exists for this signed A; the natural residual is at most the tolerance times that of x = 0.
    Converged,
    /// The time limit came first.
    TimeLimit,
    /// The limit on passes came first.
    PassLimit,
    /// The caller asked to stop.
    Interrupted,
    /// Rounding errors keep the method from getting any closer.
    Stalled,
}

impl Status {
    /// All of them, from best to worst.
    pub const ALL: [Status; 6] =
        [Status::Solved, Status::Converged, Status::Stalled, Status::PassLimit, Status::TimeLimit, Status::Interrupted];

    /// The position in [`ALL`](Self::ALL).
    pub fn rank(self) -> usize {
        Self::ALL.iter().position(|status| *status == self).unwrap_or(0)
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Status::Solved => "solved",
            Status::Converged => "converged",
            Status::TimeLimit => "time_limit",
            Status::PassLimit => "pass_limit",
            Status::Interrupted => "interrupted",
            Status::Stalled => "stalled",
        }
    }

    /// Whether the tolerance was reached.
    pub fn is_success(self) -> bool {
        matches!(self, Status::Solved | Status::Converged)
    }
}

/// What a solve took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stats {
    /// The algorithm that ran ([`Method::Auto`] resolved).
    pub method: Method,
    /// Columns that moved together.
    pub batch_size: usize,
    /// Multiply-adds with data of A, divided by the stored entries of A.
    pub passes: f64,
    /// How often SI-NNLS+ started again.
    pub restarts: usize,
    /// Columns that presolve took out.
    pub dropped_columns: usize,
    /// Whether A has a negative entry.
    pub signed: bool,
    /// Wall-clock seconds per stage.
    pub seconds: Seconds,
}

impl Stats {
    /// The method as reports name it: `-bsK` is appended for a block size K > 1.
    pub fn method_name(&self) -> String {
        match self.batch_size {
            1 => self.method.name().to_owned(),
            k => format!("{}-bs{k}", self.method.name()),
        }
    }
}

/// Wall-clock seconds per stage.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Seconds {
    /// Column norms, linear term, presolve.
    pub presolve: f64,
    /// The algorithm, checks excluded.
    pub solve: f64,
    /// Certificates: every check on the way and the last one.
    pub certify: f64,
    /// All of it.
    pub total: f64,
}
