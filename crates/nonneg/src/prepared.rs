//! One A, prepared for many solves: with another b, on some of the columns, from a start.

use crate::algorithm::GramMemory;
use crate::certificate::{Certifier, ColumnFacts};
use crate::error::Result;
use crate::matrix::{AnyMatrix, MatrixRef, with_columns};
use crate::presolve::Reduced;
use crate::problem::LeastSquares;

/// With so many columns at most, and no more than there are rows, the whole Gram matrix is made at once.
const SMALL: usize = 1024;

/// A matrix with what every solve would find out again: columns for rows, units, norms and signs, and the Gram matrix (at
/// once if A has few columns, otherwise as far as solves need it).
///
/// ```
/// use nonneg::{DenseMatrix, Problem, Solver};
///
/// let a = DenseMatrix::new(3, 2, vec![1.0, 1.0, 0.0, 0.0, 1.0, 2.0])?;
/// let (problem, solver) = (Problem::new(&a)?, Solver::new());
/// let first = solver.solve_problem(&problem.least_squares(&[1.0, 2.0, 2.0]))?;
/// let again = solver.solve_problem(&problem.least_squares(&[1.0, 2.0, 2.1]).start(&first.x))?;
/// let part = solver.solve_problem(&problem.least_squares(&[1.0, 2.0, 2.0]).columns(&[1]))?;
/// assert!(part.x[0] == 0.0 && again.status.is_success());
/// # Ok::<(), nonneg::Error>(())
/// ```
#[derive(Debug)]
pub struct Problem<'a> {
    matrix: Held<'a>,
    weights: Option<&'a [f64]>,
    l2: f64,
    prepared: Prepared,
}

/// The caller's matrix, or its columns where it came by rows.
#[derive(Debug)]
enum Held<'a> {
    Borrowed(MatrixRef<'a>),
    Transposed(AnyMatrix),
}

/// What is known of a matrix with some weights and some ridge.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Norms, units and signs of all columns; their linear terms mean nothing.
    pub shapes: Vec<ColumnFacts>,
    pub gram: GramMemory,
}

impl<'a> Problem<'a> {
    /// Prepares A.
    pub fn new(a: impl Into<MatrixRef<'a>>) -> Result<Self> {
        Self::with(a, None, 0.0)
    }

    /// Prepares A with row weights and an l2 penalty, which enter norms and Gram matrix.
    pub fn with(a: impl Into<MatrixRef<'a>>, weights: Option<&'a [f64]>, l2: f64) -> Result<Self> {
        Self::prepare(a.into(), weights, l2, true)
    }

    /// All but the Gram matrix, for who makes another.
    pub(crate) fn without_gram(a: MatrixRef<'a>, weights: Option<&'a [f64]>, l2: f64) -> Result<Self> {
        Self::prepare(a, weights, l2, false)
    }

    fn prepare(a: MatrixRef<'a>, weights: Option<&'a [f64]>, l2: f64, with_gram: bool) -> Result<Self> {
        let matrix = match a {
            MatrixRef::CsrF64(csr) => Held::Transposed(csr.to_csc().into()),
            MatrixRef::CsrF32(csr) => Held::Transposed(csr.to_csc().into()),
            MatrixRef::CsrF64Wide(csr) => Held::Transposed(csr.to_csc().into()),
            MatrixRef::CsrF32Wide(csr) => Held::Transposed(csr.to_csc().into()),
            columns => Held::Borrowed(columns),
        };
        let prepared = {
            let view = matrix.view();
            // Any linear term will do: norms and products do not depend on it.
            let linear = vec![1.0; view.cols()];
            let mut problem = LeastSquares::with_linear(view, &linear).l2(l2);
            problem.weights = weights;
            problem.validate()?;
            with_columns!(view, |columns| {
                let facts = Certifier::new(columns, &problem)?.facts;
                let few = columns.cols() <= SMALL.min(columns.rows()) && facts.columns.iter().all(|column| !column.empty);
                let gram = if with_gram && few && !facts.out_of_range() {
                    GramMemory::of_all(&Reduced::new(columns, &problem, &facts, ColumnFacts::scale)?)
                } else {
                    GramMemory::default()
                };
                Prepared { shapes: facts.columns, gram }
            })
        };
        Ok(Self { matrix, weights, l2, prepared })
    }

    /// A, by columns.
    pub(crate) fn matrix(&self) -> MatrixRef<'_> {
        self.matrix.view()
    }

    /// Norms, units and signs of its columns.
    pub(crate) fn shapes(&self) -> &[ColumnFacts] {
        &self.prepared.shapes
    }

    /// What is known, if it is of this problem's matrix, weights and ridge.
    pub(crate) fn known_for(&self, problem: &LeastSquares) -> Option<&Prepared> {
        let same = self.l2 == problem.l2 && self.weights == problem.weights && self.matrix.view().is_same(&problem.matrix);
        same.then_some(&self.prepared)
    }

    /// min ½‖Ax − b‖²_W + ½λ₂‖x‖² over x ≥ 0; bounds, columns, a start and an l1 penalty can be added.
    pub fn least_squares<'s>(&'s self, b: &'s [f64]) -> LeastSquares<'s> {
        self.complete(LeastSquares::new(self.matrix.view(), b))
    }

    /// min ½‖Ax‖²_W + ½λ₂‖x‖² − cᵀx over x ≥ 0.
    pub fn with_linear<'s>(&'s self, c: &'s [f64]) -> LeastSquares<'s> {
        self.complete(LeastSquares::with_linear(self.matrix.view(), c))
    }

    fn complete<'s>(&'s self, mut problem: LeastSquares<'s>) -> LeastSquares<'s> {
        (problem.weights, problem.l2) = (self.weights, self.l2);
        problem.prepared_by(self)
    }
}

impl Held<'_> {
    fn view(&self) -> MatrixRef<'_> {
        match self {
            Held::Borrowed(matrix) => *matrix,
            Held::Transposed(matrix) => matrix.view(),
        }
    }
}
