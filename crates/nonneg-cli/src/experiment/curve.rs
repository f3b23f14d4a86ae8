//! One method on one problem, from start to end.

use nonneg::{Solution, TraceRow};
use serde::{Deserialize, Serialize};

use crate::report;

/// A row of the trace, as it is kept in files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub passes: f64,
    pub seconds: f64,
    pub objective: Option<f64>,
    pub lower_bound: Option<f64>,
    pub relative_gap: Option<f64>,
    pub natural_residual: Option<f64>,
    pub support: usize,
    pub restarts: usize,
    pub event: String,
}

impl From<&TraceRow> for Row {
    fn from(row: &TraceRow) -> Self {
        let finite = |value: Option<f64>| value.filter(|v| v.is_finite());
        Self {
            passes: row.passes,
            seconds: row.seconds,
            objective: finite(row.objective),
            lower_bound: finite(row.lower_bound),
            relative_gap: finite(row.relative_gap),
            natural_residual: finite(row.natural_residual),
            support: row.support,
            restarts: row.restarts,
            event: row.event.name().to_owned(),
        }
    }
}

impl Row {
    /// The fields of [`report::TRACE_COLUMNS`]; what is not known is empty.
    pub fn to_csv(&self) -> String {
        let known = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:?}"));
        let Self { passes, seconds, support, restarts, event, .. } = self;
        let values = [self.objective, self.lower_bound, self.relative_gap, self.natural_residual].map(known).join(",");
        format!("{passes:?},{seconds:?},{values},{support},{restarts},{event}")
    }
}

/// What a method did with a problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Name in files.
    pub method: String,
    /// Name for people.
    pub label: String,
    /// Why it stopped.
    pub status: String,
    pub rows: Vec<Row>,
}

impl Curve {
    pub fn new(method: String, label: String, solution: &Solution) -> Self {
        Self { method, label, status: solution.status.name().to_owned(), rows: solution.trace.iter().map(Row::from).collect() }
    }
}

/// A problem, and what every method did with it.
#[derive(Debug, Clone)]
pub struct Subject {
    pub name: String,
    /// Where it came from, in words.
    pub origin: String,
    pub role: Option<super::source::Role>,
    pub rows: usize,
    pub cols: usize,
    pub entries: usize,
    /// Some entry of A is negative.
    pub signed: bool,
    pub curves: Vec<Curve>,
}

/// All curves of all problems.
pub fn to_csv(subjects: &[Subject]) -> String {
    let mut text = format!("dataset,method,{}\n", report::TRACE_COLUMNS);
    for subject in subjects {
        for curve in &subject.curves {
            for row in &curve.rows {
                text += &format!("{},{},{}\n", quoted(&subject.name), curve.method, row.to_csv());
            }
        }
    }
    text
}

/// A field of CSV: file names may hold anything.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.to_owned() }
}
