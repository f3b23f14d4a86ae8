//! The account of a comparison: `summary.json`, and a table for the terminal.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::analysis::{Entry, Standing};
use super::claims::{Claim, scientific, three_digits};
use super::grid::Rules;
use super::{LEVEL_NAMES, LEVELS};
use crate::console;
use crate::failure::Failure;

#[derive(Serialize)]
struct Summary {
    version: &'static str,
    machine: Machine,
    seed: u64,
    threads: usize,
    budget_seconds: f64,
    tolerance: f64,
    datasets: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    claims: Vec<Value>,
}

/// What was run on. No names of machines or folders.
#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    pub processor: String,
    pub cores: usize,
    pub system: String,
}

impl Machine {
    pub fn here() -> Self {
        let processor = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        });
        Self {
            processor: processor.unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            system: std::env::consts::OS.to_owned(),
        }
    }
}

pub fn to_json(standings: &[Standing], claims: &[Claim], rules: &Rules) -> Result<Vec<u8>, Failure> {
    let summary = Summary {
        version: env!("CARGO_PKG_VERSION"),
        machine: Machine::here(),
        seed: rules.seed,
        threads: rules.threads,
        budget_seconds: rules.budget.as_secs_f64(),
        tolerance: rules.tolerance,
        datasets: standings.iter().map(dataset).collect(),
        claims: claims.iter().map(claim).collect(),
    };
    crate::report::to_json(&summary)
}

fn dataset(standing: &Standing) -> Value {
    let subject = standing.subject;
    json!({
        "name": subject.name,
        "origin": subject.origin,
        "m": subject.rows,
        "n": subject.cols,
        "nnz": subject.entries,
        "signed": subject.signed,
        "best_objective": finite(Some(standing.best)),
        "lower_bound": finite(standing.lower_bound),
        "unknown": finite(standing.unknown()),
        "methods": standing.entries.iter().map(method).collect::<Vec<_>>(),
    })
}

fn method(entry: &Entry) -> Value {
    let levels = |values: &[Option<f64>; 3]| {
        LEVEL_NAMES.iter().zip(values).map(|(name, value)| ((*name).to_owned(), json!(value))).collect::<Map<_, _>>()
    };
    json!({
        "method": entry.method,
        "label": entry.label,
        "status": entry.status,
        "passes_to": levels(&entry.passes_to),
        "seconds_to": levels(&entry.seconds_to),
        "final_gap": finite(entry.final_gap),
        "certified_gap": finite(entry.certified_gap),
        "relative_residual": finite(entry.residual),
        "passes": entry.passes,
        "seconds": entry.seconds,
        "passes_per_digit": entry.trend.map(|trend| trend.passes_per_digit),
        "linear": entry.trend.map(|trend| trend.linear),
        "shown": entry.shown,
    })
}

fn claim(claim: &Claim) -> Value {
    json!({ "claim": claim.text, "verdict": claim.verdict.name(), "evidence": claim.evidence })
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|v| v.is_finite())
}

/// What people see at the prompt.
pub fn table(standings: &[Standing], claims: &[Claim]) -> String {
    let mut text = String::new();
    for standing in standings {
        let subject = standing.subject;
        let (rows, cols, entries) =
            (console::grouped(subject.rows), console::grouped(subject.cols), console::grouped(subject.entries));
        text += &format!("{}: {rows} × {cols}, {entries} entries; {}\n", subject.name, known(standing));
        let width = standing.entries.iter().map(|entry| entry.method.chars().count()).max().unwrap_or(0).max(6);
        text += &format!("  {:width$}  {:>22}  {:>25}\n", "", "passes to", "seconds to");
        let heads = LEVEL_NAMES;
        text += &format!(
            "  {:width$}  {:>6}  {:>6}  {:>6}  {:>7}  {:>7}  {:>7}  {:>8}  {:>8}\n",
            "method", heads[0], heads[1], heads[2], heads[0], heads[1], heads[2], "gap", "proved"
        );
        for entry in &standing.entries {
            let passes = entry.passes_to.map(|value| value.map_or("–".to_owned(), |p| format!("{p:.0}")));
            let seconds = entry.seconds_to.map(|value| value.map_or("–".to_owned(), three_digits));
            let gap = |value: Option<f64>| value.map_or("–".to_owned(), scientific);
            text += &format!(
                "  {:width$}  {:>6}  {:>6}  {:>6}  {:>7}  {:>7}  {:>7}  {:>8}  {:>8}\n",
                entry.method,
                passes[0],
                passes[1],
                passes[2],
                seconds[0],
                seconds[1],
                seconds[2],
                gap(entry.final_gap),
                gap(entry.certified_gap),
            );
        }
        text.push('\n');
    }
    for claim in claims {
        text += &format!("{:>12}  {}\n", claim.verdict.name(), claim.text);
    }
    text
}

/// How well the optimum is known.
pub fn known(standing: &Standing) -> String {
    match standing.unknown() {
        Some(unknown) if unknown <= LEVELS[2] => {
            format!("the best f is proved to be within {unknown:.1e} of the optimum (in parts of f(0) − f*)")
        }
        Some(unknown) => {
            format!("the best f is only known to be within {unknown:.1e} of the optimum, so smaller gaps mean little")
        }
        None => "A is signed: gaps are against the best f that any method found".to_owned(),
    }
}
