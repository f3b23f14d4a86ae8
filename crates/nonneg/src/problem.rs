//! The problem as the caller states it.

use crate::error::{Error, Result};
use crate::matrix::MatrixRef;
use crate::prepared::{Prepared, Problem};

/// min ½‖Ax − b‖²_W + λ₁Σxⱼ + ½λ₂‖x‖² over 0 ≤ x ≤ ℓ, stated on borrowed data.
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
    /// A warm start; it is clipped into the bounds.
    pub start: Option<&'a [f64]>,
    /// Columns that x must leave at zero; empty if there are none.
    outside: Vec<bool>,
    /// A number given to [`columns`](Self::columns) that no column has.
    no_such_column: Option<usize>,
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
        let (weights, upper, start) = (None, Upper::None, None);
        let (outside, no_such_column, prepared) = (Vec::new(), None, None);
        Self { matrix, target, l1: 0.0, l2: 0.0, weights, upper, start, outside, no_such_column, prepared }
    }

    /// Says where more is known of A.
    pub(crate) fn prepared_by(mut self, prepared: &'a Problem<'a>) -> Self {
        self.prepared = Some(prepared);
        self
    }

    /// What is known of A, with these weights and this ridge.
    pub(crate) fn prepared(&self) -> Option<&Prepared> {
        self.prepared.and_then(|prepared| prepared.known_for(self))
    }

    /// Whether x must leave column j at zero.
    #[inline]
    pub(crate) fn excludes(&self, j: usize) -> bool {
        !self.outside.is_empty() && self.outside[j]
    }

    /// ℓⱼ, and zero for a column that is excluded.
    #[inline]
    pub(crate) fn upper_bound(&self, j: usize) -> f64 {
        if self.excludes(j) { 0.0 } else { self.upper.at(j) }
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
        self.outside = vec![true; self.matrix.cols()];
        self.no_such_column = None;
        for &j in columns {
            match self.outside.get_mut(j) {
                Some(outside) => *outside = false,
                None => self.no_such_column = Some(j),
            }
        }
        self
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
        match self.upper {
            Upper::None => {}
            Upper::Uniform(bound) => check("upper", &[bound], 1, "", |v| v >= 0.0, "a number ≥ 0")?,
            Upper::Each(bounds) => check("upper", bounds, n, "one per column of A", |v| v >= 0.0, "a number ≥ 0")?,
        }
        if let Some(j) = self.no_such_column {
            let expected = "numbers of columns of A, the first being 0";
            return Err(Error::Setting { name: "columns", value: j.to_string(), expected });
        }
        for (name, value) in [("l1", self.l1), ("l2", self.l2)] {
            if !at_least_zero(value) {
                return Err(Error::Setting { name, value: value.to_string(), expected: "a finite number ≥ 0" });
            }
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
