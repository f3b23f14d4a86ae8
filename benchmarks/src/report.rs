//! What was measured, as a Markdown table for readers and as JSON for programs.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Outcome;
use crate::machine::{Machine, utc_date};

/// One number with its target beside it.
#[derive(Debug, Serialize)]
pub struct Goal {
    name: String,
    /// None where the target is not about a number.
    value: Option<f64>,
    measured: String,
    target: String,
    pass: bool,
    /// What physics, or a plainer loop in the same run, allows.
    limit: Option<String>,
}

impl Goal {
    pub fn at_most(name: impl Into<String>, value: f64, most: f64, unit: &str) -> Self {
        Self::number(name.into(), value, "≤", most, unit, value <= most)
    }

    pub fn at_least(name: impl Into<String>, value: f64, least: f64, unit: &str) -> Self {
        Self::number(name.into(), value, "≥", least, unit, value >= least)
    }

    /// A target that is no number.
    pub fn holds(name: impl Into<String>, measured: impl Into<String>, target: impl Into<String>, pass: bool) -> Self {
        Self { name: name.into(), value: None, measured: measured.into(), target: target.into(), pass, limit: None }
    }

    pub fn limit(self, limit: Option<String>) -> Self {
        Self { limit, ..self }
    }

    fn number(name: String, value: f64, relation: &str, target: f64, unit: &str, pass: bool) -> Self {
        let measured = format!("{} {unit}", digits(value, 3));
        Self { name, value: Some(value), measured, target: format!("{relation} {target} {unit}"), pass, limit: None }
    }
}

/// `value` with some significant digits, never in exponent form.
pub fn digits(value: f64, significant: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let decimals = (significant - 1 - value.abs().log10().floor() as i32).max(0) as usize;
    format!("{value:.decimals$}")
}

/// Rows under a header.
#[derive(Debug)]
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new<const N: usize>(header: [&str; N]) -> Self {
        Self { header: header.map(String::from).into(), rows: Vec::new() }
    }

    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        debug_assert_eq!(N, self.header.len());
        self.rows.push(cells.into());
    }

    fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|{}\n", "---|".repeat(self.header.len()));
        self.rows.iter().fold(line(&self.header) + &rule, |text, row| text + &line(row))
    }
}

/// The result of one figure.
#[derive(Debug)]
pub struct Section {
    goals: Vec<Goal>,
    notes: Vec<String>,
    tables: Vec<Table>,
    /// All numbers, for programs.
    data: Value,
}

impl Section {
    pub fn new(data: Value) -> Self {
        Self { goals: Vec::new(), notes: Vec::new(), tables: Vec::new(), data }
    }

    pub fn goal(&mut self, goal: Goal) {
        self.goals.push(goal);
    }

    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    pub fn table(&mut self, table: Table) {
        self.tables.push(table);
    }
}

/// There is nothing to measure, and that is all right.
#[derive(Debug)]
pub struct Skipped(pub &'static str);

impl std::fmt::Display for Skipped {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Skipped {}

/// A figure: measured, or the reason why not.
struct Figure {
    number: u32,
    title: &'static str,
    section: Result<Section, String>,
}

/// All figures of one run.
pub struct Report {
    date: String,
    machine: Option<Machine>,
    quick: bool,
    /// What the whole run took.
    seconds: f64,
    figures: Vec<Figure>,
    failed: bool,
}

impl Report {
    pub fn new(quick: bool) -> Self {
        Self { date: utc_date(), machine: None, quick, seconds: 0.0, figures: Vec::new(), failed: false }
    }

    /// Adds what is known at the end.
    pub fn finish(&mut self, machine: Machine, elapsed: Duration) {
        (self.machine, self.seconds) = (Some(machine), elapsed.as_secs_f64());
    }

    /// Takes a figure in. Why one failed goes to the terminal only: messages name folders, results must not.
    pub fn add(&mut self, number: u32, title: &'static str, outcome: Outcome<Section>) {
        let section = outcome.map_err(|error| match error.downcast_ref::<Skipped>() {
            Some(skipped) => skipped.to_string(),
            None => {
                eprintln!("error: figure {number}: {error}");
                self.failed = true;
                "failed; the message is on the terminal".to_owned()
            }
        });
        self.figures.push(Figure { number, title, section });
    }

    /// Whether no figure failed.
    pub fn complete(&self) -> bool {
        !self.failed
    }

    pub fn markdown(&self) -> String {
        let quick = if self.quick { " (quick)" } else { "" };
        let mut text = format!("# Foundation{quick}, {}\n\n", self.date);
        if let Some(machine) = &self.machine {
            let commit = machine.commit.as_deref().unwrap_or("unknown");
            let bandwidth = digits(machine.bandwidth_gb_per_s, 3);
            let _ = writeln!(
                text,
                "{}, {} cores, {}; {}; commit {commit}. One thread streams {bandwidth} GB/s from memory. The run took {:.0} s.\n",
                machine.cpu, machine.cores, machine.system, machine.rustc, self.seconds
            );
        }
        text += &self.summary().markdown();
        for Figure { number, title, section } in &self.figures {
            let _ = write!(text, "\n## {number}. {title}\n\n");
            match section {
                Err(reason) => text += &format!("Not measured: {reason}.\n"),
                Ok(section) => {
                    section.notes.iter().for_each(|note| text += &format!("{note}\n\n"));
                    let tables: Vec<String> = section.tables.iter().map(Table::markdown).collect();
                    text += &tables.join("\n");
                }
            }
        }
        text
    }

    /// Every goal in one table.
    fn summary(&self) -> Table {
        let mut table = Table::new(["figure", "what", "measured", "target", "", "limit or yardstick"]);
        for figure in &self.figures {
            let number = figure.number.to_string();
            match &figure.section {
                Err(reason) => {
                    let blank = String::new;
                    table.row([number, figure.title.into(), format!("not measured: {reason}"), blank(), "–".into(), blank()]);
                }
                Ok(section) => {
                    for goal in &section.goals {
                        let verdict = if goal.pass { "pass" } else { "**fail**" };
                        let limit = goal.limit.clone().unwrap_or_default();
                        let cells = [&number, &goal.name, &goal.measured, &goal.target].map(String::clone);
                        let [number, name, measured, target] = cells;
                        table.row([number, name, measured, target, verdict.into(), limit]);
                    }
                }
            }
        }
        table
    }

    fn json(&self) -> Value {
        let figures: Map<String, Value> = self
            .figures
            .iter()
            .map(|figure| {
                let mut value = match &figure.section {
                    Err(reason) => json!({ "not_measured": reason }),
                    Ok(section) => json!({ "goals": section.goals, "data": section.data }),
                };
                value["title"] = figure.title.into();
                (figure.number.to_string(), value)
            })
            .collect();
        json!({
            "benchmark": "foundation",
            "date": self.date,
            "quick": self.quick,
            "version": env!("CARGO_PKG_VERSION"),
            "machine": self.machine,
            "seconds": self.seconds,
            "figures": figures,
        })
    }

    /// Writes `YYYY-MM-DD-foundation.{json,md}` into a folder, which is made if need be.
    pub fn write(&self, folder: &Path) -> Outcome<()> {
        let name = format!("{}-foundation{}", self.date, if self.quick { "-quick" } else { "" });
        std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        let json = serde_json::to_string_pretty(&self.json())? + "\n";
        for (ending, contents) in [("json", json), ("md", self.markdown())] {
            let path = folder.join(format!("{name}.{ending}"));
            std::fs::write(&path, contents).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            eprintln!("wrote {}", path.display());
        }
        Ok(())
    }
}
