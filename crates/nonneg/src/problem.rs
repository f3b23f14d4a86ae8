//! The problem as the caller states it.

use crate::error::{Error, Result};
use crate::matrix::MatrixRef;
use crate::prepared::{Prepared, Problem};

/// min ½‖Ax − b‖²_W + λ₁Σxⱼ + ½λ₂‖x‖² over 0 ≤ x ≤ ℓ (or other bounds, or none), stated on borrowed data.
///
/// ```
/// use nonneg::{DenseMatrix, LeastSquares, Solver};
///
/// let a = DenseMatrix::new(2, 2, vec![1.0, 1.0, 0.0, 1.0])?;
/// let problem = LeastSquares::new(&a, &[1.0, 3.0]).l2(0.1).upper(1.5);
/// let solution = Solver::new().solve_problem(&problem)?;
/// assert!(solution.x.iter().all(|&x| (0.0..=1.5).contains(&x)));
/// # Ok::<(), nonneg::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LeastSquares<'a> {
    /// A.
    pub matrix: MatrixRef<'a>,
    /// b, or c = AᵀWb given directly.
    pub target: Target<'a>,
    /// λ₁ ≥ 0.
    pub l1: f64,
    /// λ₂ ≥ 0.
    pub l2: f64,
    /// W = diag(w), w ≥ 0, one weight per row.
    pub weights: Option<&'a [f64]>,
    /// ℓ.
    pub upper: Upper<'a>,
    /// Lower bounds, where they are not zero.
    pub lower: Lower<'a>,
    /// Σxⱼ = 1.
    pub sum_to_one: bool,
    /// A warm start; it is clipped into the bounds.
    pub start: Option<&'a [f64]>,
    /// Columns that x must leave at zero; empty if there are none.
    outside: Vec<bool>,
    /// Columns without bounds and penalties; empty if there are none.
    free: Vec<bool>,
    /// A number given to [`columns`](Self::columns) or [`free`](Self::free) that no column has.
    no_such_column: Option<(&'static str, usize)>,
    /// Where more is known of A.
    prepared: Option<&'a Problem<'a>>,
}

/// What Ax should look like.
#[derive(Debug, Clone, Copy)]
pub enum Target<'a> {
    /// b, one entry per row: minimise ½‖Ax − b‖²_W.
    Rhs(&'a [f64]),
    /// c, one entry per column: minimise ½‖Ax‖²_W − cᵀx.
    Linear(&'a [f64]),
}

/// Upper bounds ℓ on x; an infinite one is none.
#[derive(Debug, Clone, Copy, Default)]
pub enum Upper<'a> {
    /// x ≥ 0 only.
    #[default]
    None,
    /// The same bound for every column.
    Uniform(f64),
    /// One bound per column.
    Each(&'a [f64]),
}

/// Lower bounds on x; −∞ is none.
#[derive(Debug, Clone, Copy, Default)]
pub enum Lower<'a> {
    /// x ≥ 0.
    #[default]
    Zero,
    /// The same bound for every column.
    Uniform(f64),
    /// One bound per column.
    Each(&'a [f64]),
}

impl Lower<'_> {
    /// The bound of column j.
    pub fn at(&self, j: usize) -> f64 {
        match self {
            Lower::Zero => 0.0,
            Lower::Uniform(bound) => *bound,
            Lower::Each(bounds) => bounds[j],
        }
    }
}

impl From<f64> for Lower<'_> {
    fn from(bound: f64) -> Self {
        Lower::Uniform(bound)
    }
}

impl<'a> From<&'a [f64]> for Lower<'a> {
    fn from(bounds: &'a [f64]) -> Self {
        Lower::Each(bounds)
    }
}

impl From<f64> for Upper<'_> {
    fn from(bound: f64) -> Self {
        Upper::Uniform(bound)
    }
}

impl<'a> From<&'a [f64]> for Upper<'a> {
    fn from(bounds: &'a [f64]) -> Self {
        Upper::Each(bounds)
    }
}

impl Upper<'_> {
    /// ℓⱼ.
    pub fn at(&self, j: usize) -> f64 {
        match self {
            Upper::None => f64::INFINITY,
            Upper::Uniform(bound) => *bound,
            Upper::Each(bounds) => bounds[j],
        }
    }

    /// Whether some bound is finite.
    pub fn is_finite(&self) -> bool {
        match self {
            Upper::None => false,
            Upper::Uniform(bound) => bound.is_finite(),
            Upper::Each(bounds) => bounds.iter().any(|bound| bound.is_finite()),
        }
    }
}

impl<'a> LeastSquares<'a> {
    /// min ½‖Ax − b‖² over x ≥ 0.
    pub fn new(a: impl Into<MatrixRef<'a>>, b: &'a [f64]) -> Self {
        Self::with_target(a.into(), Target::Rhs(b))
    }

    /// min ½‖Ax‖² − cᵀx over x ≥ 0.
    pub fn with_linear(a: impl Into<MatrixRef<'a>>, c: &'a [f64]) -> Self {
        Self::with_target(a.into(), Target::Linear(c))
    }

    fn with_target(matrix: MatrixRef<'a>, target: Target<'a>) -> Self {
        Self {
            matrix,
            target,
            l1: 0.0,
            l2: 0.0,
            weights: None,
            upper: Upper::None,
            lower: Lower::Zero,
            sum_to_one: false,
            start: None,
            outside: Vec::new(),
            free: Vec::new(),
            no_such_column: None,
            prepared: None,
        }
    }

    /// Says where more is known of A.
    pub(crate) fn prepared_by(mut self, prepared: &'a Problem<'a>) -> Self {
        self.prepared = Some(prepared);
        self
    }

    /// What is known of A, with these weights and this ridge.
    pub(crate) fn prepared(&self) -> Option<&Prepared> {
        // Columns that may be negative stand for two variables each: what is known is of one.
        let one_each = || (0..self.matrix.cols()).all(|j| self.below(j) == 0.0);
        self.prepared.filter(|_| one_each()).and_then(|prepared| prepared.known_for(self))
    }

    /// Whether x must leave column j at zero.
    #[inline]
    pub(crate) fn excludes(&self, j: usize) -> bool {
        !self.outside.is_empty() && self.outside[j]
    }

    /// Whether column j has neither bounds nor penalties.
    #[inline]
    pub fn is_free(&self, j: usize) -> bool {
        !self.free.is_empty() && self.free[j] || self.lower.at(j) == f64::NEG_INFINITY && self.upper.at(j) == f64::INFINITY
    }

    /// Whether x ≥ 0 is all that is asked of x: the common case, told at once, since there can be millions of columns.
    #[inline]
    fn is_plain(&self) -> bool {
        matches!((&self.lower, &self.upper), (Lower::Zero, Upper::None)) && self.free.is_empty() && self.outside.is_empty()
    }

    /// What xⱼ is measured from: its lower bound, or its upper bound if it has no other.
    #[inline]
    pub(crate) fn origin(&self, j: usize) -> f64 {
        if self.is_plain() || self.excludes(j) || self.is_free(j) {
            return 0.0;
        }
        let lower = self.lower.at(j);
        if lower > f64::NEG_INFINITY { lower } else { self.upper.at(j) }
    }

    /// How far xⱼ may go up from its origin.
    #[inline]
    pub(crate) fn above(&self, j: usize) -> f64 {
        if self.is_plain() { f64::INFINITY } else { self.bound_above(j) }
    }

    fn bound_above(&self, j: usize) -> f64 {
        if self.excludes(j) {
            return 0.0;
        }
        if self.is_free(j) { f64::INFINITY } else { self.upper.at(j) - self.origin(j) }
    }

    /// How far xⱼ may go down from its origin: not at all, or without end.
    #[inline]
    pub(crate) fn below(&self, j: usize) -> f64 {
        let endless = !self.is_plain() && !self.excludes(j) && (self.is_free(j) || self.lower.at(j) == f64::NEG_INFINITY);
        if endless { f64::INFINITY } else { 0.0 }
    }

    /// xⱼ within the caller's bounds.
    pub(crate) fn clip(&self, j: usize, x: f64) -> f64 {
        if self.excludes(j) {
            return 0.0;
        }
        if self.is_free(j) { x } else { x.max(self.lower.at(j)).min(self.upper.at(j)) }
    }

    /// Whether bounds other than x ≥ 0 were given, or free columns.
    pub(crate) fn has_other_bounds(&self) -> bool {
        !matches!(self.lower, Lower::Zero) || !self.free.is_empty()
    }

    /// Whether some origin is not zero.
    pub(crate) fn is_shifted(&self) -> bool {
        let plain = matches!(self.lower, Lower::Zero) || matches!(self.lower, Lower::Uniform(bound) if bound == 0.0);
        !plain && (0..self.matrix.cols()).any(|j| self.origin(j) != 0.0)
    }

    /// Adds λ₁Σxⱼ.
    pub fn l1(mut self, l1: f64) -> Self {
        self.l1 = l1;
        self
    }
    /// Adds ½λ₂‖x‖².
    pub fn l2(mut self, l2: f64) -> Self {
        self.l2 = l2;
        self
    }
    /// Weights the rows: Σ wᵢ(Ax − b)ᵢ².
    pub fn weights(mut self, weights: &'a [f64]) -> Self {
        self.weights = Some(weights);
        self
    }
    /// Bounds x from above, by a number or by a slice.
    pub fn upper(mut self, upper: impl Into<Upper<'a>>) -> Self {
        self.upper = upper.into();
        self
    }
    /// Bounds x from below, by a number or by a slice; without it x ≥ 0. A column with a lower bound of −∞ and no upper bound is
    /// [free](Self::free).
    ///
    /// ```
    /// use nonneg::{DenseMatrix, LeastSquares, Solver};
    ///
    /// let a = DenseMatrix::new(2, 2, vec![1.0, 0.0, 0.0, 1.0])?;
    /// let problem = LeastSquares::new(&a, &[-3.0, 3.0]).lower(-1.0).upper(2.0);
    /// assert_eq!(Solver::new().solve_problem(&problem)?.x, [-1.0, 2.0]);
    /// # Ok::<(), nonneg::Error>(())
    /// ```
    pub fn lower(mut self, lower: impl Into<Lower<'a>>) -> Self {
        self.lower = lower.into();
        self
    }
    /// Lets these columns take any value, without penalty: baselines, an intercept.
    ///
    /// ```
    /// use nonneg::{DenseMatrix, LeastSquares, Solver};
    ///
    /// let a = DenseMatrix::new(3, 2, vec![1.0, 1.0, 1.0, 0.0, 1.0, 2.0])?;
    /// let problem = LeastSquares::new(&a, &[-1.0, 1.0, 3.0]).free(&[0]);
    /// let x = Solver::new().solve_problem(&problem)?.x;
    /// assert!((x[0] + 1.0).abs() < 1e-6 && (x[1] - 2.0).abs() < 1e-6);
    /// # Ok::<(), nonneg::Error>(())
    /// ```
    pub fn free(mut self, columns: &[usize]) -> Self {
        self.free = self.flags("free", columns);
        self
    }

    /// One flag per column, set for these.
    fn flags(&mut self, name: &'static str, columns: &[usize]) -> Vec<bool> {
        let mut flags = vec![false; self.matrix.cols()];
        for &j in columns {
            match flags.get_mut(j) {
                Some(flag) => *flag = true,
                None => self.no_such_column = Some((name, j)),
            }
        }
        flags
    }

    /// Uses these columns only; x is zero elsewhere.
    ///
    /// ```
    /// use nonneg::{DenseMatrix, LeastSquares, Solver};
    ///
    /// let a = DenseMatrix::new(2, 3, vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0])?;
    /// let problem = LeastSquares::new(&a, &[1.0, 2.0]).columns(&[0, 2]);
    /// assert_eq!(Solver::new().solve_problem(&problem)?.x[1], 0.0);
    /// # Ok::<(), nonneg::Error>(())
    /// ```
    pub fn columns(mut self, columns: &[usize]) -> Self {
        self.outside = self.flags("columns", columns).into_iter().map(|inside| !inside).collect();
        self
    }
    /// Asks for Σxⱼ = 1: abundances. The relative gap is then a part of the larger of ½‖b‖² and ½‖Ax‖², since f* can be zero.
    ///
    /// ```
    /// use nonneg::{DenseMatrix, LeastSquares, Solver};
    ///
    /// let a = DenseMatrix::new(2, 2, vec![1.0, 0.0, 0.0, 1.0])?;
    /// let problem = LeastSquares::new(&a, &[3.0, 2.5]).sum_to_one();
    /// let x = Solver::new().solve_problem(&problem)?.x;
    /// assert!((x[0] - 0.75).abs() < 1e-12 && (x[1] - 0.25).abs() < 1e-12);
    /// # Ok::<(), nonneg::Error>(())
    /// ```
    pub fn sum_to_one(mut self) -> Self {
        self.sum_to_one = true;
        self
    }
    /// b, for a problem whose x has a sum.
    pub(crate) fn rhs_for_sum(&self) -> Result<&'a [f64]> {
        let refuse = |value: &str, expected| Err(Error::Setting { name: "sum_to_one", value: value.to_owned(), expected });
        if self.has_other_bounds() {
            return refuse("with lower bounds or free columns", "x ≥ 0");
        }
        if !self.outside.is_empty() {
            return refuse("with some of the columns", "all columns of A");
        }
        if (0..self.matrix.cols()).map(|j| self.upper.at(j)).sum::<f64>() < 1.0 {
            return refuse("upper bounds that add up to less", "upper bounds that allow a sum of one");
        }
        match self.target {
            Target::Rhs(b) => Ok(b),
            Target::Linear(_) => refuse("with c", "b"),
        }
    }
    /// Starts from this x.
    pub fn start(mut self, x0: &'a [f64]) -> Self {
        self.start = Some(x0);
        self
    }

    /// Checks that every part fits the matrix and holds usable numbers.
    pub fn validate(&self) -> Result<()> {
        let (m, n) = (self.matrix.rows(), self.matrix.cols());
        if m == 0 || n == 0 {
            return Err(Error::Matrix(format!("the matrix is empty ({m}×{n})")));
        }
        let finite = |v: f64| v.is_finite();
        let at_least_zero = |v: f64| v >= 0.0 && v.is_finite();
        match self.target {
            Target::Rhs(b) => check("b", b, m, "one per row of A", finite, "a finite number")?,
            Target::Linear(c) => check("c", c, n, "one per column of A", finite, "a finite number")?,
        }
        if let Some(weights) = self.weights {
            check("weights", weights, m, "one per row of A", at_least_zero, "a finite number ≥ 0")?;
            let least = weights.iter().copied().fold(0.0, f64::max) * WEIGHT_RANGE;
            check("weights", weights, m, "", |w| w == 0.0 || w >= least, "zero, or at least 1e-240 times the largest weight")?;
        }
        if let Some(x0) = self.start {
            check("x0", x0, n, "one per column of A", finite, "a finite number")?;
        }
        self.validate_bounds()?;
        if self.sum_to_one {
            self.rhs_for_sum()?;
        }
        if let Some((name, j)) = self.no_such_column {
            let expected = "numbers of columns of A, the first being 0";
            return Err(Error::Setting { name, value: j.to_string(), expected });
        }
        for (name, value) in [("l1", self.l1), ("l2", self.l2)] {
            if !at_least_zero(value) {
                return Err(Error::Setting { name, value: value.to_string(), expected: "a finite number ≥ 0" });
            }
        }
        Ok(())
    }

    fn validate_bounds(&self) -> Result<()> {
        let n = self.matrix.cols();
        let number = |v: f64| !v.is_nan();
        match self.lower {
            Lower::Zero => {}
            Lower::Uniform(bound) => check("lower", &[bound], 1, "", |v| v < f64::INFINITY, "a number below infinity")?,
            Lower::Each(bounds) => {
                check("lower", bounds, n, "one per column of A", |v| v < f64::INFINITY, "a number below infinity")?
            }
        }
        let above_zero = !self.has_other_bounds();
        match self.upper {
            Upper::None => {}
            Upper::Uniform(bound) if above_zero => check("upper", &[bound], 1, "", |v| v >= 0.0, "a number ≥ 0")?,
            Upper::Uniform(bound) => check("upper", &[bound], 1, "", number, "a number")?,
            Upper::Each(bounds) => {
                let expected = if above_zero { "a number ≥ 0" } else { "a number" };
                check("upper", bounds, n, "one per column of A", number, expected)?;
                let wrong = |&j: &usize| !self.is_free(j) && (bounds[j] < self.lower.at(j) || bounds[j] == f64::NEG_INFINITY);
                if let Some(index) = (0..n).find(wrong) {
                    let expected = if self.lower.at(index) == 0.0 { "a number ≥ 0" } else { "at least its lower bound" };
                    return Err(Error::Entry { what: "upper", index, value: bounds[index], expected });
                }
            }
        }
        let crossed = |&j: &usize| !self.is_free(j) && self.lower.at(j) > self.upper.at(j);
        if let Some(index) = (0..n).find(crossed) {
            let expected = "at most its upper bound";
            return Err(Error::Entry { what: "lower", index, value: self.lower.at(index), expected });
        }
        if !self.is_shifted() {
            return Ok(());
        }
        let refuse = |expected| Err(Error::Setting { name: "lower", value: "not zero everywhere".to_owned(), expected });
        if self.l1 > 0.0 || self.l2 > 0.0 {
            return refuse("zero where there are penalties, which pull towards zero (free columns have none)");
        }
        if matches!(self.target, Target::Linear(_)) {
            return refuse("zero where c is given instead of b");
        }
        Ok(())
    }
}

/// Weights further apart than this would leave the range of f64 when multiplied with squares of entries.
const WEIGHT_RANGE: f64 = 1e-240;

/// Length and entries of one vector.
pub(crate) fn check(
    what: &'static str,
    vector: &[f64],
    expected_len: usize,
    why: &'static str,
    accept: impl Fn(f64) -> bool,
    expected: &'static str,
) -> Result<()> {
    if vector.len() != expected_len {
        return Err(Error::Length { what, got: vector.len(), expected: expected_len, why });
    }
    match vector.iter().position(|&v| !accept(v)) {
        Some(index) => Err(Error::Entry { what, index, value: vector[index], expected }),
        None => Ok(()),
    }
}
