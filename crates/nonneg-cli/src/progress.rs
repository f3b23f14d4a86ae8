//! Progress on standard error: a live line on a terminal, one line per check where `-v` asks for it.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use nonneg::TraceRow;

use crate::console::{self, Paint, Tone};

#[derive(Debug)]
pub struct Progress {
    quiet: bool,
    /// Show a live line.
    live: bool,
    /// Write a line per check.
    log: bool,
    solving: Option<ProgressBar>,
}

impl Progress {
    pub fn new(quiet: bool, verbose: bool) -> Self {
        let live = !quiet && std::io::stderr().is_terminal();
        Self { quiet, live, log: verbose && !quiet, solving: None }
    }

    /// A line about input that may be meant otherwise.
    pub fn warn(&self, message: &str) {
        if !self.quiet {
            let prefix = Paint::of(&std::io::stderr()).text(Tone::Yellow, "warning:");
            console::print_error(&format!("{prefix} {message}\n"));
        }
    }

    /// Runs `read` with a byte counter that is shown while it runs.
    pub fn reading<T>(&self, name: &str, read: impl FnOnce(nonneg_io::Progress) -> T) -> T {
        self.bytes("reading", name, read)
    }

    /// As [`reading`](Self::reading), for other things that are done byte by byte.
    pub fn bytes<T>(&self, doing: &str, name: &str, work: impl FnOnce(nonneg_io::Progress) -> T) -> T {
        if !self.live {
            return work(&|_, _| {});
        }
        let bar = ProgressBar::no_length();
        bar.set_style(style("{spinner} {msg}  {bytes}  {bytes_per_sec}"));
        bar.set_message(format!("{doing} {name}"));
        bar.enable_steady_tick(Duration::from_millis(100));
        let known = style("{spinner} {msg}  {bar:24}  {bytes} of {total_bytes}  {bytes_per_sec}");
        let result = work(&|done, total| {
            bar.set_position(done);
            if let (Some(total), None) = (total, bar.length()) {
                bar.set_length(total);
                bar.set_style(known.clone());
                bar.reset_eta(); // what was there at the start says nothing about the speed
            }
        });
        bar.finish_and_clear();
        result
    }

    /// A line that says what is going on, until the next one or [`finish`](Self::finish).
    pub fn stage(&mut self, text: &str) {
        if self.live {
            let bar = self.solving.get_or_insert_with(|| {
                let bar = ProgressBar::new_spinner();
                bar.set_style(style("{spinner} {elapsed}  {wide_msg}"));
                bar.enable_steady_tick(Duration::from_millis(100));
                bar
            });
            bar.set_message(text.to_owned());
        }
    }

    /// Shows one check of the solver.
    pub fn check(&mut self, row: &TraceRow) {
        let state = describe(row);
        self.log(row.seconds, &format!("{state}  support {}  {}", row.support, row.event.name()));
        self.stage(&state);
    }

    /// Shows a step of something else.
    pub fn note(&mut self, elapsed: f64, text: &str) {
        self.log(elapsed, text);
        self.stage(text);
    }

    fn log(&self, elapsed: f64, text: &str) {
        if self.log {
            let line = format!("{elapsed:>9.3} s  {text}");
            match &self.solving {
                Some(bar) => bar.println(&line),
                None => console::print_error(&format!("{line}\n")),
            }
        }
    }

    pub fn finish(&mut self) {
        if let Some(bar) = self.solving.take() {
            bar.finish_and_clear();
        }
    }
}

/// Progress over a grid of problems and methods.
#[derive(Debug)]
pub struct GridProgress {
    live: Option<ProgressBar>,
    log: bool,
    done: usize,
    total: usize,
    /// What each curve may take.
    budget: Duration,
    now: String,
}

impl GridProgress {
    pub fn new(quiet: bool, verbose: bool, total: usize, budget: Duration) -> Self {
        let live = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(total as u64);
            bar.set_style(style("{spinner} {elapsed}  {bar:20}  {pos} of {len}  {wide_msg}"));
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        Self { live, log: verbose && !quiet, done: 0, total, budget, now: String::new() }
    }

    /// Runs `read`, which reads a problem or makes one.
    pub fn preparing<T>(&self, name: &str, read: impl FnOnce(nonneg_io::Progress) -> T) -> T {
        let show = |text: String| self.live.iter().for_each(|bar| bar.set_message(text.clone()));
        show(format!("preparing {name}"));
        read(&|done, total| {
            let total = total.map_or(String::new(), |total| format!(" of {}", console::bytes(total as usize)));
            show(format!("reading {name}  {}{total}", console::bytes(done as usize)));
        })
    }

    pub fn begin(&mut self, dataset: &str, method: &str) {
        self.now = format!("{dataset} · {method}");
        if let Some(bar) = &self.live {
            bar.set_message(self.now.clone());
        }
    }

    pub fn check(&self, row: &TraceRow) {
        if let Some(bar) = &self.live {
            let gap = row.relative_gap.map_or("-".to_owned(), |gap| format!("{gap:.1e}"));
            let most = console::seconds(self.budget.as_secs_f64() * (self.total - self.done) as f64);
            bar.set_message(format!("{}  gap {gap}  {:.0} passes, at most {most} left", self.now, row.passes));
        }
    }

    pub fn end(&mut self, curve: &crate::experiment::curve::Curve) {
        self.done += 1;
        if let Some(bar) = &self.live {
            bar.set_position(self.done as u64);
        }
        if self.log {
            let (passes, seconds) = curve.rows.last().map_or((0.0, 0.0), |row| (row.passes, row.seconds));
            let line = format!(
                "{:>3} of {}  {:40}  {:10}  {passes:>8.0} passes  {seconds:>8.2} s",
                self.done, self.total, self.now, curve.status
            );
            match &self.live {
                Some(bar) => bar.println(&line),
                None => console::print_error(&format!("{line}\n")),
            }
        }
    }

    /// Curves so far.
    pub fn done(&self) -> usize {
        self.done
    }

    pub fn finish(&mut self) {
        if let Some(bar) = self.live.take() {
            bar.finish_and_clear();
        }
    }
}

/// What matters in one check; with a clock before it, it fits 80 columns.
fn describe(row: &TraceRow) -> String {
    let known = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.2e}"));
    let rate = if row.seconds > 0.0 { row.passes / row.seconds } else { 0.0 };
    let decimals = if rate < 10.0 { 1 } else { 0 };
    format!(
        "gap {:>8}  residual {:>8}  passes {:.1} ({rate:.decimals$}/s)  restarts {}",
        known(row.relative_gap),
        known(row.natural_residual),
        row.passes,
        row.restarts,
    )
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_one_line_and_unknown_numbers_are_dashes() {
        let row = TraceRow {
            passes: 12.5,
            seconds: 0.0,
            objective: None,
            lower_bound: None,
            relative_gap: Some(0.00123),
            natural_residual: None,
            support: 3,
            restarts: 1,
            event: nonneg::Event::Check,
        };
        let line = describe(&row);
        assert!(line.starts_with("gap  1.23e-3  residual        -  passes 12.5 (0.0/s)"), "{line}");
        assert!(!line.contains('\n'));
    }
}
