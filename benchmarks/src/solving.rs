//! Figure 5: passes and seconds of whole solves on real problems, each answer checked again by other code.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;
use serde_json::json;

use crate::command::Nonneg;
use crate::report::{Goal, Section, Table, digits};
use crate::{Context, Outcome};

pub const TITLE: &str = "Solving";

/// The problem with targets.
const MAIN: &str = "debpkg_tfidf";
const LOOSE: f64 = 1e-4;
const LOOSE_PASSES: f64 = 400.0;
const TIGHT: f64 = 1e-8;
/// The tolerance for all other files, for information.
const DEFAULT: f64 = 1e-6;
const MAIN_LIMIT: &str = "120s";
const OTHER_LIMIT: &str = "60s";
const QUICK_LIMIT: &str = "10s";

#[derive(Debug, Serialize)]
struct Row {
    problem: String,
    tolerance: f64,
    status: String,
    relative_gap: Option<f64>,
    /// What the independent script finds for the same x; it makes no allowance for rounding.
    rechecked_gap: Option<f64>,
    passes: Option<f64>,
    seconds: Option<f64>,
    support: usize,
}

pub fn measure(context: &Context) -> Outcome<Section> {
    let (data, nonneg) = (context.data()?, context.nonneg()?);
    let recheck = Recheck::find(data);
    let solve = |name: &str, tolerance: f64, limit: &str| {
        solve(nonneg, &recheck, &data.join(format!("{name}.npz")), name, tolerance, limit, &context.scratch)
    };
    let loose = solve(MAIN, LOOSE, MAIN_LIMIT)?;
    let tight = solve(MAIN, TIGHT, MAIN_LIMIT)?;
    let passes = loose.passes.unwrap_or(f64::INFINITY);
    let goals = [
        Goal::holds(format!("{MAIN}: --tol {LOOSE:e}"), loose.summary(), format!("certified, ≤ {LOOSE_PASSES} passes"), {
            loose.status == "solved" && loose.relative_gap.is_some_and(|gap| gap <= LOOSE) && passes <= LOOSE_PASSES
        })
        .limit(Some("a certified answer needs about 3 passes".into())),
        Goal::holds(format!("{MAIN}: --tol {TIGHT:e}"), tight.summary(), "solved", tight.status == "solved"),
    ];
    let mut rows = vec![loose, tight];
    let limit = if context.quick { QUICK_LIMIT } else { OTHER_LIMIT };
    for name in problems(data)?.iter().filter(|name| *name != MAIN) {
        eprintln!("  {name} ...");
        rows.push(solve(name, DEFAULT, limit)?);
    }

    let mut section = Section::new(json!({ "method": "si-nnls", "time_limit": limit, "solves": &rows }));
    section.note(format!(
        "`nonneg solve FILE --method si-nnls --tol …` on all cores; files other than {MAIN} are for information, with \
         `--time-limit {limit}`. Seconds include reading the file."
    ));
    section.note(match recheck {
        Some(_) => "Rechecked: the gap of the written x by a separate script, without allowance for rounding.",
        None => "Not rechecked: this needs python3 with scipy, and check_x.py beside the data folder.",
    });
    let mut table =
        Table::new(["problem", "tolerance", "status", "certified gap", "rechecked gap", "passes", "seconds", "support"]);
    let exponent = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.2e}"));
    for row in &rows {
        table.row([
            row.problem.clone(),
            format!("{:e}", row.tolerance),
            row.status.clone(),
            exponent(row.relative_gap),
            exponent(row.rechecked_gap),
            row.passes.map_or("–".into(), |passes| digits(passes, 4)),
            row.seconds.map_or("–".into(), |seconds| digits(seconds, 3)),
            row.support.to_string(),
        ]);
    }
    section.table(table);
    goals.into_iter().for_each(|goal| section.goal(goal));
    Ok(section)
}

impl Row {
    fn summary(&self) -> String {
        let gap = self.relative_gap.map_or("no gap".into(), |gap| format!("gap {gap:.1e}"));
        let passes = self.passes.map_or("?".into(), |passes| digits(passes, 3));
        let seconds = self.seconds.map_or("?".into(), |seconds| digits(seconds, 3));
        format!("{}, {gap}, {passes} passes, {seconds} s", self.status)
    }
}

fn solve(
    nonneg: &Nonneg,
    recheck: &Option<Recheck>,
    problem: &Path,
    name: &str,
    tolerance: f64,
    limit: &str,
    scratch: &Path,
) -> Outcome<Row> {
    let arguments = ["--method", "si-nnls", "--tol", &format!("{tolerance:e}"), "--time-limit", limit, "-o", "x.npy"];
    let account = nonneg.solve(problem, &arguments, scratch)?;
    Ok(Row {
        problem: name.into(),
        tolerance,
        status: account.status,
        relative_gap: account.relative_gap,
        rechecked_gap: recheck.as_ref().and_then(|recheck| recheck.gap(problem, &scratch.join("x.npy"))),
        passes: account.passes,
        seconds: account.seconds.total,
        support: account.support,
    })
}

/// The names of all problems in the folder, sorted.
fn problems(data: &Path) -> Outcome<Vec<String>> {
    let complain = |error: std::io::Error| format!("{}: {error}", data.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(data).map_err(complain)? {
        let path = entry.map_err(complain)?.path();
        if path.extension().is_some_and(|ending| ending == "npz") {
            names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(String::from));
        }
    }
    names.sort();
    Ok(names)
}

/// `check_x.py` beside the data folder: the same gap from other code.
struct Recheck(PathBuf);

impl Recheck {
    fn find(data: &Path) -> Option<Self> {
        let script = data.parent()?.join("check_x.py");
        let mut python = Command::new("python3");
        python.args(["-c", "import numpy, scipy.sparse"]).stdout(Stdio::null()).stderr(Stdio::null());
        (script.is_file() && python.status().is_ok_and(|status| status.success())).then_some(Self(script))
    }

    /// None where the script fails.
    fn gap(&self, problem: &Path, x: &Path) -> Option<f64> {
        let output = Command::new("python3").arg(&self.0).args([problem, x]).output().ok()?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            eprintln!("  warning: check_x.py failed: {}", message.lines().last().unwrap_or_default());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        text.split_whitespace().skip_while(|word| *word != "gap").nth(1)?.parse().ok()
    }
}
