//! The problem that `nonneg solve` solves when no file is given: what is this paint made of?
//!
//! The files are made by `examples/make_example.rs`.

use nonneg::{DenseMatrix, Solution};

use crate::canvas::{self, Canvas};
use crate::console::{Paint, Tone};
use crate::failure::Failure;

const PIGMENTS: &str = include_str!("../example/pigments.csv");
const MEASURED: &str = include_str!("../example/measured.csv");
const TRUTH: &str = include_str!("../example/truth.csv");

const STORY: &str = "\
A speck of blue from a painting of 1650, under the Raman microscope (synthetic data, real band positions).
Which of 14 pigments explain its spectrum, and how much of each? Shares cannot be negative: that is NNLS.
";

const EPILOGUE: &str = "
Anatase (titanium white) is in it, a pigment since about 1920 only: so much for 1650.

Next: nonneg generate text -o A.npz                  make a larger problem
      nonneg solve A.npz -o x.npy --plot trace.svg   solve it, or your own: .npz, .mtx, .svm, .npy, .csv
      nonneg verify A.npz x.npy                      check any x, from any solver
";

#[derive(Debug)]
pub struct Example {
    names: Vec<&'static str>,
    /// One row of values per channel.
    spectra: Vec<f64>,
    measured: Vec<f64>,
    truth: Vec<f64>,
}

impl Example {
    pub fn load() -> Result<Self, Failure> {
        let names = PIGMENTS.lines().next().unwrap_or("").split(',').collect();
        Ok(Self { names, spectra: numbers(PIGMENTS)?, measured: numbers(MEASURED)?, truth: numbers(TRUTH)? })
    }

    pub fn problem(&self) -> Result<nonneg_io::Problem, Failure> {
        let matrix = DenseMatrix::from_row_major(self.measured.len(), self.names.len(), &self.spectra)?;
        Ok(nonneg_io::Problem { matrix: matrix.into(), rhs: Some(self.measured.clone()) })
    }

    /// The story, the shares found, the fit and the way to it.
    pub fn explain(&self, solution: &Solution, paint: Paint) -> String {
        let fit: Vec<f64> =
            self.spectra.chunks(self.names.len()).map(|row| row.iter().zip(&solution.x).map(|(a, x)| a * x).sum()).collect();
        format!(
            "{STORY}\n{}\n{}\n{}\n",
            self.shares(&solution.x, paint),
            self.spectrum(&fit, paint),
            convergence(solution, paint)
        )
    }

    pub fn epilogue(&self) -> String {
        EPILOGUE.to_owned()
    }

    /// Bars of the shares found beside the true ones.
    fn shares(&self, x: &[f64], paint: Paint) -> String {
        const WIDTH: usize = 24;
        let largest = x.iter().chain(&self.truth).fold(f64::MIN_POSITIVE, |high, &v| high.max(v));
        let heading = format!("{:<16} {:<w$}          {:<w$}", "", "found", "true", w = WIDTH);
        let mut text = paint.text(Tone::Dim, heading.trim_end()) + "\n";
        for ((name, &found), &truth) in self.names.iter().zip(x).zip(&self.truth) {
            let bar = |value: f64| canvas::bar(value / largest, WIDTH);
            let line = format!(
                "{name:<16} {} {:>7}  {} {:>5}",
                paint.text(Tone::Cyan, &bar(found)),
                share(found, 4),
                paint.text(Tone::Green, &bar(truth)),
                share(truth, 2)
            );
            text += line.trim_end();
            text.push('\n');
        }
        text
    }

    /// The measured spectrum as an area, the fit as a line over it.
    fn spectrum(&self, fit: &[f64], paint: Paint) -> String {
        let mut canvas = Canvas::new(60, 12);
        let top = self.measured.iter().chain(fit).fold(f64::MIN_POSITIVE, |high, &v| high.max(v));
        canvas.area(&points(&self.measured), (0.0, top));
        canvas.line(&points(fit), (0.0, top));
        let legend = format!("spectrum: ░ measured, {} fitted", canvas::LINE_SAMPLE);
        canvas.framed(&legend, (&format!("{top:.2}"), "0"), ("100", "1700 cm⁻¹"), paint)
    }
}

/// The proved gap against the work done, on a logarithmic axis.
fn convergence(solution: &Solution, paint: Paint) -> String {
    let last = solution.trace.last().map_or(0.0, |row| row.passes).max(f64::MIN_POSITIVE);
    let known = |row: &nonneg::TraceRow| {
        let gap = row.relative_gap.filter(|gap| *gap > 0.0 && gap.is_finite())?;
        Some((row.passes / last, gap.log10()))
    };
    let points: Vec<(f64, f64)> = solution.trace.iter().filter_map(known).collect();
    if points.len() < 2 {
        return String::new();
    }
    let low = points.iter().fold(f64::INFINITY, |low, p| low.min(p.1)).floor();
    let high = points.iter().fold(f64::NEG_INFINITY, |high, p| high.max(p.1)).ceil().max(low + 1.0);
    let mut canvas = Canvas::new(60, 6);
    canvas.line(&points, (low, high));
    let passes = format!("{last:.0} passes over A");
    canvas.framed("proved gap to the best possible fit", (&format!("1e{high:.0}"), &format!("1e{low:.0}")), ("0", &passes), paint)
}

/// Values at equal distances over [0, 1].
fn points(values: &[f64]) -> Vec<(f64, f64)> {
    let last = values.len().saturating_sub(1).max(1) as f64;
    values.iter().enumerate().map(|(k, &v)| (k as f64 / last, v)).collect()
}

/// A share, or nothing for zero.
fn share(value: f64, decimals: usize) -> String {
    if value == 0.0 { String::new() } else { format!("{value:.decimals$}") }
}

/// All numbers below the header line.
fn numbers(csv: &str) -> Result<Vec<f64>, Failure> {
    let cells = csv.lines().skip(1).flat_map(|line| line.split(','));
    cells.map(|cell| cell.parse().map_err(|_| Failure::new(format!("the example holds {cell:?}, expected a number")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_fit_together() {
        let example = Example::load().unwrap();
        assert_eq!((example.names.len(), example.truth.len(), example.measured.len()), (14, 14, 120));
        assert_eq!(example.truth.iter().filter(|&&share| share > 0.0).count(), 4);
        assert_eq!((example.truth.iter().sum::<f64>() * 100.0).round(), 100.0);
        assert!(example.problem().is_ok());
    }
}
