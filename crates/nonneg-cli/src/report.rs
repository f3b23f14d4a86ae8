//! The machine-readable account of a run: `--report` (JSON) and `--trace` (CSV).

use std::collections::BTreeMap;

use nonneg::{Certificate, ColumnSolution, MatrixRef, Solution, Status, TraceRow};
use serde::Serialize;

use crate::experiment::curve::Row;
use crate::tally::Tally;

/// One JSON object. Numbers that are not known are null.
#[derive(Debug, Serialize)]
pub struct Report {
    status: &'static str,
    certified: bool,
    method: Option<String>,
    m: usize,
    n: usize,
    nnz: usize,
    objective: Option<f64>,
    residual_norm: Option<f64>,
    lower_bound: Option<f64>,
    relative_gap: Option<f64>,
    natural_residual: Option<f64>,
    passes: Option<f64>,
    restarts: Option<usize>,
    support: usize,
    seconds: Seconds,
    peak_memory_bytes: Option<u64>,
    seed: Option<u64>,
    tol: f64,
    version: &'static str,
}

/// Wall-clock time per stage.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Seconds {
    pub read: Option<f64>,
    pub presolve: Option<f64>,
    pub solve: Option<f64>,
    pub certify: Option<f64>,
    pub total: Option<f64>,
}

impl Report {
    /// Of a solve.
    pub fn of_solution(matrix: MatrixRef, solution: &Solution, seconds: Seconds, seed: u64, tol: f64) -> Self {
        Self {
            method: Some(solution.stats.method_name()),
            passes: finite(Some(solution.stats.passes)),
            restarts: Some(solution.stats.restarts),
            seed: Some(seed),
            ..Self::of_certificate(
                matrix,
                &solution.certificate,
                solution.status.name(),
                solution.status == Status::Solved,
                seconds,
                tol,
            )
        }
    }

    /// Of `verify`: x came from elsewhere, so nothing is known of how it was found.
    pub fn of_certificate(
        matrix: MatrixRef,
        certificate: &Certificate,
        status: &'static str,
        certified: bool,
        seconds: Seconds,
        tol: f64,
    ) -> Self {
        Self {
            status,
            certified,
            method: None,
            m: matrix.rows(),
            n: matrix.cols(),
            nnz: matrix.nnz(),
            objective: finite(certificate.objective),
            residual_norm: finite(certificate.residual_norm),
            lower_bound: finite(certificate.lower_bound),
            relative_gap: finite(certificate.relative_gap),
            natural_residual: finite(certificate.natural_residual),
            passes: None,
            restarts: None,
            support: certificate.support,
            seconds,
            peak_memory_bytes: peak_memory(),
            seed: None,
            tol,
            version: env!("CARGO_PKG_VERSION"),
        }
    }

    /// Indented, with a final newline.
    pub fn to_json(&self) -> Result<Vec<u8>, crate::failure::Failure> {
        to_json(self)
    }
}

/// The account of many right-hand sides: that of one, of all of them together.
#[derive(Debug, Serialize)]
pub struct ManyReport {
    /// Sums of objectives and bounds, ‖AX − B‖, the largest gap, all entries of X that are not zero.
    #[serde(flatten)]
    all: Report,
    right_hand_sides: usize,
    /// How many ended how.
    statuses: BTreeMap<&'static str, usize>,
}

impl ManyReport {
    /// Of a solve.
    pub fn new(matrix: MatrixRef, tally: &Tally, seconds: Seconds, seed: u64, tol: f64) -> Self {
        let together = Certificate {
            objective: tally.objective,
            residual_norm: tally.residual_norm(),
            lower_bound: tally.lower_bound,
            relative_gap: tally.largest_gap,
            natural_residual: None,
            relative_residual: None,
            support: tally.support,
            dual: Vec::new(),
        };
        let status = tally.status();
        let mut all = Report::of_certificate(matrix, &together, status.name(), status == Status::Solved, seconds, tol);
        (all.method, all.seed) = (Some("auto".to_owned()), Some(seed));
        let statuses = tally.statuses().map(|(status, count)| (status.name(), count)).collect();
        Self { all, right_hand_sides: tally.count(), statuses }
    }
}

/// The first line of a table of certificates.
pub const CERTIFICATE_COLUMNS: &str = "column,status,objective,residual_norm,lower_bound,relative_gap,support";

/// One line per right-hand side, from number `first` on; what is not known is an empty field.
pub fn certificates_csv<'c>(first: usize, columns: impl Iterator<Item = &'c ColumnSolution>) -> String {
    let text = |value: Option<f64>| finite(value).map_or(String::new(), |v| format!("{v:e}"));
    let mut lines = String::new();
    for (k, column) in (first..).zip(columns) {
        let ColumnSolution { status, objective, residual_norm, lower_bound, relative_gap, support } = column;
        let numbers = [objective, residual_norm, lower_bound, relative_gap].map(|value| text(*value)).join(",");
        lines += &format!("{k},{},{numbers},{support}\n", status.name());
    }
    lines
}

/// Indented JSON with a final newline.
pub fn to_json(value: &impl Serialize) -> Result<Vec<u8>, crate::failure::Failure> {
    let mut bytes =
        serde_json::to_vec_pretty(value).map_err(|error| crate::failure::Failure::new(format!("cannot write JSON: {error}")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Columns of a trace.
pub const TRACE_COLUMNS: &str = "passes,seconds,objective,lower_bound,relative_gap,natural_residual,support,restarts,event";

/// The trace as CSV; what is not known is an empty field.
pub fn trace_csv(trace: &[TraceRow]) -> String {
    let rows = trace.iter().map(|row| Row::from(row).to_csv() + "\n");
    format!("{TRACE_COLUMNS}\n{}", rows.collect::<String>())
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|v| v.is_finite())
}

/// The most memory that this process ever held (Linux only).
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nonneg::Event;

    #[test]
    fn unknown_numbers_are_empty_fields() {
        let row = TraceRow {
            passes: 1.5,
            seconds: 0.25,
            objective: Some(1e-7),
            lower_bound: None,
            relative_gap: Some(f64::INFINITY),
            natural_residual: None,
            support: 3,
            restarts: 0,
            event: Event::Start,
        };
        assert_eq!(trace_csv(&[row]).lines().nth(1), Some("1.5,0.25,1e-7,,,,3,0,start"));
        assert_eq!(trace_csv(&[]).lines().count(), 1);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn peak_memory_is_known_on_linux() {
        assert!(peak_memory().unwrap() > 100_000);
    }
}
