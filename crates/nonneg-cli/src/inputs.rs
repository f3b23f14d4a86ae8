//! The problem that `solve` and `verify` work on, read from files.

use std::time::Instant;

use nonneg::{Error, LeastSquares, Lower, ManyLeastSquares, Upper};
use nonneg_io::{ManyColumns, Matrix, RightHandSides};

use crate::args::ProblemArgs;
use crate::failure::Failure;
use crate::progress::Progress;

/// Everything that a [`LeastSquares`] borrows, and where each part came from.
#[derive(Debug)]
pub struct Inputs {
    pub matrix: Matrix,
    target: Target,
    weights: Option<Vec<f64>>,
    upper: Bounds,
    lower: Bounds,
    free: Vec<usize>,
    start: Option<Vec<f64>>,
    l1: f64,
    l2: f64,
    sum_to_one: bool,
    /// Name of a vector in the library's messages, and its file.
    sources: Vec<(&'static str, String)>,
    /// Time spent reading.
    pub seconds: f64,
}

#[derive(Debug)]
enum Target {
    Rhs(Vec<f64>),
    Linear(Vec<f64>),
    /// A right-hand side per column, until it is taken, and one of zeros that stands for any of them.
    Many(Option<ManyColumns>, Vec<f64>),
}

#[derive(Debug)]
enum Bounds {
    None,
    Uniform(f64),
    Each(Vec<f64>),
}

/// Reads A, and b where the file holds it; with `transpose` the file holds Aᵀ.
pub fn read_matrix(a: &str, transpose: bool, progress: &Progress) -> Result<nonneg_io::Problem, Failure> {
    let read = if transpose { nonneg_io::read_transposed_problem } else { nonneg_io::read_problem };
    let problem = progress.reading(a, |report| read(a, Some(report)))?;
    if nonneg_io::may_begin_with_header(a, problem.matrix.view(), transpose) {
        let advice = "is taken for numbers; if it is a header, leave it out (header=False in pandas)";
        progress.warn(&format!("{a}: the first row, 0, 1, 2 and so on, {advice}"));
    }
    Ok(problem)
}

impl Inputs {
    /// Reads A, b (or c) and what the options name.
    pub fn read(a: &str, b: Option<&str>, options: &ProblemArgs, x0: Option<&str>, progress: &Progress) -> Result<Self, Failure> {
        let ProblemArgs { upper, lower, weights, linear, .. } = options;
        let named = [Some(a), b, linear.as_deref(), weights.as_deref(), upper.as_deref(), lower.as_deref(), x0];
        if named.iter().filter(|name| **name == Some("-")).count() > 1 {
            return Err(Failure::new("standard input (-) is named twice: expected it for one input only"));
        }
        if let (Some(b), Some(_)) = (b, &options.linear) {
            return Err(Failure::new(format!("--linear contradicts B ({b}): expected one of the two")));
        }
        let clock = Instant::now();
        let problem = read_matrix(a, options.transpose, progress)?;
        let mut inputs = Self::gather(problem, a, b, options, x0)?;
        inputs.seconds = clock.elapsed().as_secs_f64();
        Ok(inputs)
    }

    /// Adds what the options name to a matrix that is in memory. `a` is its name.
    pub fn gather(
        problem: nonneg_io::Problem,
        a: &str,
        b: Option<&str>,
        options: &ProblemArgs,
        x0: Option<&str>,
    ) -> Result<Self, Failure> {
        let mut sources = Vec::new();
        let target = match (&options.linear, b, problem.rhs) {
            (Some(location), ..) => {
                sources.push(("c", location.to_owned()));
                Target::Linear(nonneg_io::read_vector(location)?)
            }
            (None, Some(location), _) => {
                sources.push(("b", location.to_owned()));
                match nonneg_io::read_right_hand_sides(location, None)? {
                    RightHandSides::One(b) => Target::Rhs(b),
                    RightHandSides::Many(b) => Target::Many(Some(b), vec![0.0; problem.matrix.view().rows()]),
                }
            }
            (None, None, Some(rhs)) => Target::Rhs(rhs),
            (None, None, None) => {
                return Err(Failure::new(format!(
                    "b is missing: {a} holds a matrix only; expected a file with b after it, or --linear with c"
                )));
            }
        };
        let mut read = |what: &'static str, location: &str| {
            sources.push((what, location.to_owned()));
            nonneg_io::read_vector(location)
        };
        let weights = options.weights.as_deref().map(|location| read("weights", location)).transpose()?;
        let start = x0.map(|location| read("x0", location)).transpose()?;
        let mut bounds = |what: &'static str, option: Option<&str>| -> Result<Bounds, Failure> {
            let Some(text) = option else { return Ok(Bounds::None) };
            if let Ok(bound) = text.parse() {
                return Ok(Bounds::Uniform(bound));
            }
            sources.push((what, text.to_owned()));
            Ok(Bounds::Each(nonneg_io::read_bounds(text)?))
        };
        let upper = bounds("upper", options.upper.as_deref())?;
        let lower = bounds("lower", options.lower.as_deref())?;
        let free = options.free.clone().unwrap_or_default().0;
        sources.push(("b", a.to_owned())); // the file of b comes first where there is one
        let ProblemArgs { l1, l2, sum_to_one, .. } = *options;
        let matrix = problem.matrix;
        let inputs = Self { matrix, target, weights, upper, lower, free, start, l1, l2, sum_to_one, sources, seconds: 0.0 };
        inputs.problem().validate().map_err(|error| inputs.explain(error))?;
        Ok(inputs)
    }

    /// The problem, borrowed.
    pub fn problem(&self) -> LeastSquares<'_> {
        let mut problem = match &self.target {
            Target::Rhs(b) | Target::Many(_, b) => LeastSquares::new(&self.matrix, b),
            Target::Linear(c) => LeastSquares::with_linear(&self.matrix, c),
        };
        problem.l1 = self.l1;
        problem.l2 = self.l2;
        problem.sum_to_one = self.sum_to_one;
        problem.weights = self.weights.as_deref();
        problem.start = self.start.as_deref();
        problem.upper = match &self.upper {
            Bounds::None => Upper::None,
            Bounds::Uniform(bound) => Upper::Uniform(*bound),
            Bounds::Each(bounds) => Upper::Each(bounds),
        };
        problem.lower = match &self.lower {
            Bounds::None => Lower::Zero,
            Bounds::Uniform(bound) => Lower::Uniform(*bound),
            Bounds::Each(bounds) => Lower::Each(bounds),
        };
        if self.free.is_empty() { problem } else { problem.free(&self.free) }
    }

    /// Whether A is used where it lies in its file.
    pub fn is_mapped(&self) -> bool {
        matches!(self.matrix, Matrix::Mapped(_))
    }

    /// Columns without bounds.
    pub fn free(&self) -> &[usize] {
        &self.free
    }

    /// Replaces the start.
    pub fn start_from(&mut self, x: Vec<f64>) {
        self.start = Some(x);
    }

    /// The right-hand sides, if there are many.
    pub fn take_many(&mut self) -> Option<ManyColumns> {
        if let Target::Many(b, _) = &mut self.target { b.take() } else { None }
    }

    /// The problem for many right-hand sides.
    pub fn many(&self) -> Result<ManyLeastSquares<'_>, Failure> {
        let one = self.problem();
        if !matches!(self.lower, Bounds::None) || !self.free.is_empty() {
            return Err(Failure::new("--lower and --free go with one right-hand side only: expected a single column in B"));
        }
        if self.start.is_some() {
            return Err(Failure::new("--x0 goes with one right-hand side only: expected a single column in B"));
        }
        let mut many = ManyLeastSquares::new(&self.matrix).l1(self.l1).l2(self.l2);
        (many.weights, many.upper, many.sum_to_one) = (one.weights, one.upper, one.sum_to_one);
        Ok(many)
    }

    /// Whether columns of B have an entry for each row of A.
    pub fn check_columns(&self, got: usize) -> Result<(), Failure> {
        let expected = self.matrix.view().rows();
        let error = Error::Length { what: "columns of B", got, expected, why: "one entry per row of A" };
        if got == expected { Ok(()) } else { Err(self.explain(error)) }
    }

    /// The library's message, led by the file that the offending vector came from.
    pub fn explain(&self, error: Error) -> Failure {
        let what = match &error {
            Error::Length { what: "columns of B", .. } => "b",
            Error::Length { what, .. } | Error::Entry { what, .. } => *what,
            _ => "",
        };
        match self.sources.iter().find(|(name, _)| *name == what) {
            Some((_, location)) => Failure::new(format!("{location}: {error}")),
            None => error.into(),
        }
    }

    /// Remembers where a vector came from that is not part of the problem (the x of `verify`).
    pub fn remember(&mut self, what: &'static str, location: &str) {
        self.sources.push((what, location.to_owned()));
    }
}
