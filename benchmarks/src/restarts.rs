//! Figure 6: what restarts do. With them every digit costs about the same number of passes; without them each digit costs
//! more than the one before.

use std::ops::ControlFlow;

use nonneg::{LeastSquares, Method, Solver, TraceRow};
use serde_json::json;

use crate::report::{Section, Table, digits};
use crate::{Context, Outcome};

pub const TITLE: &str = "Restarts";

const PROBLEM: &str = "debpkg_tfidf";
const DIGITS: usize = 8;
const MOST_PASSES: f64 = 3000.0;
const QUICK_PASSES: f64 = 1000.0;

pub fn measure(context: &Context) -> Outcome<Section> {
    let path = context.data()?.join(format!("{PROBLEM}.npz"));
    let problem = nonneg_io::read_problem(&path.display().to_string(), None)?;
    let rhs = problem.rhs.ok_or_else(|| format!("{}: expected a right-hand side `b` in the file", path.display()))?;
    let statement = LeastSquares::new(&problem.matrix, &rhs);
    let most = if context.quick { QUICK_PASSES } else { MOST_PASSES };
    let with = passes_to_digits(&statement, Method::SiNnls, most)?;
    let without = passes_to_digits(&statement, Method::SiNnlsNoRestart, most)?;

    let mut section = Section::new(json!({
        "problem": PROBLEM,
        "max_passes": most,
        "residuals": (1..=DIGITS).map(|digit| 10f64.powi(-(digit as i32))).collect::<Vec<f64>>(),
        "passes_with_restarts": with,
        "passes_without_restarts": without,
    }));
    section.note(format!(
        "{PROBLEM}: passes until the natural residual is at most this part of that of x = 0, as seen by the checks every 10 \
         epochs; at most {most} passes. Linear convergence shows as about equal steps from line to line."
    ));
    let mut table = Table::new(["residual", "with restarts", "step", "without", "step"]);
    let cells = |passes: &[Option<f64>], k: usize| {
        let before = if k == 0 { Some(0.0) } else { passes[k - 1] };
        let step = passes[k].zip(before).map(|(now, before)| now - before);
        [passes[k], step].map(|number| number.map_or("–".to_owned(), |number| digits(number, 3)))
    };
    for k in 0..DIGITS {
        let ([with, step_with], [without, step_without]) = (cells(&with, k), cells(&without, k));
        table.row([format!("1e-{}", k + 1), with, step_with, without, step_without]);
    }
    section.table(table);
    Ok(section)
}

/// Passes until the natural residual is at most 10⁻¹, 10⁻², … of that of x = 0; none where it never was.
fn passes_to_digits(problem: &LeastSquares, method: Method, most: f64) -> Outcome<Vec<Option<f64>>> {
    let mut reached = vec![None; DIGITS];
    let mut first = None;
    let observe = &mut |row: &TraceRow| {
        let Some(residual) = row.natural_residual else { return ControlFlow::Continue(()) };
        let at_zero = *first.get_or_insert(residual);
        for (k, reached) in reached.iter_mut().enumerate() {
            if residual <= 10f64.powi(-(k as i32 + 1)) * at_zero {
                reached.get_or_insert(row.passes);
            }
        }
        if reached.iter().all(Option::is_some) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    Solver::new().method(method).tolerance(0.0).max_passes(most).solve_observed(problem, observe)?;
    Ok(reached)
}
