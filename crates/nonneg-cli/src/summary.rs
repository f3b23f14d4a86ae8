//! What a person reads after a run: at most a dozen aligned lines.

use nonneg::{Certificate, MatrixRef, Solution, Status};

use crate::console::{self, Paint, Tone, grouped, number, seconds};
use crate::failure::Failure;
use crate::outputs::Output;
use crate::report::Seconds;

/// Labels and texts, printed in two columns.
#[derive(Debug)]
pub struct Summary {
    lines: Vec<(&'static str, String)>,
    /// Text before and after the lines.
    around: (String, String),
    paint: Paint,
}

impl Summary {
    pub fn new(paint: Paint) -> Self {
        Self { lines: Vec::new(), around: Default::default(), paint }
    }

    pub fn line(&mut self, label: &'static str, text: impl Into<String>) {
        self.lines.push((label, text.into()));
    }

    /// Everything about a solve but its time and its files.
    pub fn solution(&mut self, a: MatrixRef, solution: &Solution, tol: f64) {
        self.problem(a, if solution.stats.signed { "signed" } else { "A ≥ 0" });
        self.status(in_words(solution, tol), solution.status.is_success());
        self.certificate(&solution.certificate, a.cols());
        let (passes, restarts) = (solution.stats.passes, solution.stats.restarts);
        let plural = if restarts == 1 { "" } else { "s" };
        let method = solution.stats.method_name();
        self.line("work", format!("{passes:.1} passes over A, {restarts} restart{plural} ({method})"));
    }

    /// Shape and density of A.
    pub fn problem(&mut self, a: MatrixRef, sign: &str) {
        let (m, n, nnz) = (a.rows(), a.cols(), a.nnz());
        let density = 100.0 * nnz as f64 / (m as f64 * n as f64);
        let share = if density > 99.95 { String::new() } else { format!(" ({density:.2} %)") };
        let sign = if sign.is_empty() { String::new() } else { format!(", {sign}") };
        self.line("problem", format!("{} × {}, {} entries{share}{sign}", grouped(m), grouped(n), grouped(nnz)));
    }

    /// Why the solver stopped, in words.
    pub fn status(&mut self, text: String, good: bool) {
        let tone = if good { Tone::Green } else { Tone::Yellow };
        let painted = match text.split_once(':') {
            Some((head, rest)) => format!("{}:{rest}", self.paint.text(tone, head)),
            None => self.paint.text(tone, &text),
        };
        self.line("status", painted);
    }

    /// Objective, bound, residual and support.
    pub fn certificate(&mut self, certificate: &Certificate, columns: usize) {
        if let Some(objective) = certificate.objective {
            let bound =
                certificate.lower_bound.map_or("no lower bound is known".to_owned(), |b| format!("proved ≥ {}", number(b)));
            self.line("objective", format!("{}, {bound}", number(objective)));
        }
        if let Some(residual) = certificate.residual_norm {
            self.line("‖Ax − b‖", number(residual));
        }
        if let Some(residual) = certificate.natural_residual {
            self.line("residual", format!("{residual:.2e}, zero exactly at the optimum"));
        }
        self.line("support", format!("{} of {} columns", grouped(certificate.support), grouped(columns)));
    }

    /// Time by stage.
    pub fn time(&mut self, time: &Seconds) {
        let stages = [("read", time.read), ("presolve", time.presolve), ("solve", time.solve), ("certify", time.certify)];
        let parts: Vec<String> =
            stages.into_iter().filter_map(|(name, value)| value.map(|v| format!("{name} {}", seconds(v)))).collect();
        self.line("time", format!("{} ({})", seconds(time.total.unwrap_or(0.0)), parts.join(", ")));
    }

    /// Where the answer went.
    pub fn written(&mut self, outputs: &[Output]) {
        let names: Vec<&str> = outputs.iter().map(|o| if o.path == "-" { "standard output" } else { o.path }).collect();
        if !names.is_empty() {
            self.line("written", names.join(", "));
        }
    }

    /// Puts text before and after the lines.
    pub fn surround(&mut self, before: String, after: String) {
        self.around = (before, after);
    }

    /// To standard output, or to standard error where that is taken.
    pub fn print(&self, to_stdout: bool) -> Result<(), Failure> {
        if to_stdout {
            return console::print(&self.render());
        }
        console::print_error(&self.render());
        Ok(())
    }

    /// The text, each line ended.
    pub fn render(&self) -> String {
        let width = self.lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        let line = |(label, text): &(&str, String)| {
            let padding = " ".repeat(width - label.chars().count() + 2);
            format!("{}{padding}{text}\n", self.paint.text(Tone::Dim, label))
        };
        let (before, after) = &self.around;
        format!("{before}{}{after}", self.lines.iter().map(line).collect::<String>())
    }
}

/// "solved: within 3.2e-7 of the best possible, proved".
pub fn in_words(solution: &Solution, tol: f64) -> String {
    let certificate = &solution.certificate;
    let reached = match (certificate.relative_gap, certificate.relative_residual) {
        (Some(gap), _) => within(gap),
        (None, Some(residual)) => format!("natural residual {residual:.1e} of that at x = 0, nothing proved"),
        (None, None) => "nothing proved".into(),
    };
    match solution.status {
        Status::Solved => format!("solved: {reached}"),
        Status::Converged => {
            let residual = certificate.relative_residual.map_or(String::new(), |r| format!(", {r:.1e} of that at x = 0"));
            format!("converged: the natural residual is small{residual}; no bound is proved (nothing is known to limit x)")
        }
        Status::TimeLimit => format!("time limit: {reached} (asked for {tol:e})"),
        Status::PassLimit => format!("pass limit: {reached} (asked for {tol:e})"),
        Status::Interrupted => format!("interrupted: {reached} (asked for {tol:e})"),
        Status::Stalled => format!("stalled: {reached}; rounding allows no more (asked for {tol:e})"),
        other => format!("{}: {reached}", other.name()),
    }
}

/// "within 3.2e-7 of the best possible, proved".
pub fn within(gap: f64) -> String {
    format!("within {gap:.1e} of the best possible, proved")
}
