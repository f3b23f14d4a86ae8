//! What happened, in passes. The library records and hands out rows; writing them is the caller's affair.

/// The state of a run at one check. Numbers that are not known are `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceRow {
    /// Work so far, in passes over A.
    pub passes: f64,
    /// Wall-clock time so far.
    pub seconds: f64,
    /// ½‖Ax − b‖²_W plus penalties.
    pub objective: Option<f64>,
    /// Proved lower bound on the least objective.
    pub lower_bound: Option<f64>,
    /// Proved bound on (f(x) − f*)/|f*|.
    pub relative_gap: Option<f64>,
    /// Natural residual r(x).
    pub natural_residual: Option<f64>,
    /// Entries of x above zero.
    pub support: usize,
    /// Restarts so far.
    pub restarts: usize,
    /// What led to this row.
    pub event: Event,
}

/// What a trace row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The starting point.
    Start,
    /// A check; the run goes on.
    Check,
    /// A check that restarted the method.
    Restart,
    /// A check after which another inner engine went on.
    Switch(Switch),
    /// The answer that was returned.
    Final,
}

/// Why the default solver changed its inner engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Switch {
    /// To the exact engine: at its measured rate descent would cost more.
    DescentCostsMore,
    /// To the exact engine in the middle of a set: descent is too slow.
    DescentIsSlow,
    /// To the exact engine in the middle of a set: descent has cost as much as it would.
    DescentSpentAsMuch,
    /// To descent: on this set the exact engine would cost more.
    ExactCostsMore,
    /// To descent: the exact engine's matrices would not fit.
    ExactDoesNotFit,
    /// To SI-NNLS+ in the middle of a set: descent has a long way to go at its rate.
    AcceleratedMayGainMore,
    /// To descent with momentum in the middle of a set: plain descent has a long way to go at its rate.
    MomentumMayGainMore,
    /// To conjugate gradients in the middle of a set: descent has a long way to go at its rate.
    ConjugateMayGainMore,
    /// Back to descent in the middle of a set: it gains more for its cost than the other engine.
    DescentGainsMore,
}

impl Switch {
    fn name(self) -> &'static str {
        match self {
            Switch::DescentCostsMore => "to exact: descent costs more",
            Switch::DescentIsSlow => "to exact: descent is slow",
            Switch::DescentSpentAsMuch => "to exact: descent spent as much",
            Switch::ExactCostsMore => "to descent: exact costs more",
            Switch::ExactDoesNotFit => "to descent: exact does not fit",
            Switch::AcceleratedMayGainMore => "to si-nnls: it may gain more",
            Switch::MomentumMayGainMore => "to momentum: it may gain more",
            Switch::ConjugateMayGainMore => "to conjugate gradients: they may gain more",
            Switch::DescentGainsMore => "to descent: it gains more",
        }
    }
}

impl Event {
    /// The name in the trace file.
    pub fn name(self) -> &'static str {
        match self {
            Event::Start => "start",
            Event::Check => "check",
            Event::Restart => "restart",
            Event::Switch(switch) => switch.name(),
            Event::Final => "final",
        }
    }
}
