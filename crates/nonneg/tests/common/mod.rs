//! What the test files share: small problems of every kind, their exact optima, and independent checks.

#![allow(dead_code)] // each test file uses a part of it

pub mod check_x;
pub mod claims;
pub mod dyadic;
pub mod exact;
pub mod families;
pub mod problems;
pub mod random;
pub mod tally;

use nonneg::{AnyMatrix, Certificate, CscMatrix, CsrMatrix, DenseMatrix, LeastSquares, Result, Solution, Solver};

/// A problem on plain arrays, so that nothing about it depends on the library.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    pub rows: usize,
    pub cols: usize,
    /// A, column after column.
    pub a: Vec<f64>,
    pub goal: Goal,
    pub weights: Option<Vec<f64>>,
    pub l1: f64,
    pub l2: f64,
    pub bound: Bound,
    pub storage: Storage,
}

/// b, or c.
#[derive(Debug, Clone, PartialEq)]
pub enum Goal {
    Rhs(Vec<f64>),
    Linear(Vec<f64>),
}

/// ℓ.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    None,
    Uniform(f64),
    Each(Vec<f64>),
}

/// How A is handed to the library. `F32` needs entries that fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Storage {
    Dense,
    Csc,
    CscWithZeros,
    CscWide,
    Csr,
    DenseF32,
    CscF32,
}

impl Storage {
    pub const ALL: [Storage; 7] =
        [Storage::Dense, Storage::Csc, Storage::CscWithZeros, Storage::CscWide, Storage::Csr, Storage::DenseF32, Storage::CscF32];
    pub fn is_f32(self) -> bool {
        matches!(self, Storage::DenseF32 | Storage::CscF32)
    }
}

impl Problem {
    /// min ½‖Ax − b‖² over x ≥ 0; `a` column after column.
    pub fn new(rows: usize, cols: usize, a: &[f64], b: &[f64]) -> Self {
        Self::with_goal(rows, cols, a.to_vec(), Goal::Rhs(b.to_vec()))
    }

    /// min ½‖Ax‖² − cᵀx over x ≥ 0.
    pub fn linear(rows: usize, cols: usize, a: &[f64], c: &[f64]) -> Self {
        Self::with_goal(rows, cols, a.to_vec(), Goal::Linear(c.to_vec()))
    }

    pub fn with_goal(rows: usize, cols: usize, a: Vec<f64>, goal: Goal) -> Self {
        assert_eq!(a.len(), rows * cols);
        Self { rows, cols, a, goal, weights: None, l1: 0.0, l2: 0.0, bound: Bound::None, storage: Storage::Dense }
    }

    pub fn entry(&self, i: usize, j: usize) -> f64 {
        self.a[j * self.rows + i]
    }
    pub fn column(&self, j: usize) -> &[f64] {
        &self.a[j * self.rows..(j + 1) * self.rows]
    }
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }
    pub fn upper(&self, j: usize) -> f64 {
        match &self.bound {
            Bound::None => f64::INFINITY,
            Bound::Uniform(bound) => *bound,
            Bound::Each(bounds) => bounds[j],
        }
    }
    pub fn is_signed(&self) -> bool {
        self.a.iter().any(|&v| v < 0.0)
    }
    /// A ≥ 0, b given; no bounds, penalties or weights.
    pub fn is_plain(&self) -> bool {
        let free_of_extras = self.weights.is_none() && self.l1 == 0.0 && self.l2 == 0.0 && self.bound == Bound::None;
        free_of_extras && matches!(self.goal, Goal::Rhs(_)) && !self.is_signed()
    }

    /// A in the form that `storage` asks for.
    pub fn matrix(&self) -> AnyMatrix {
        let (m, n) = (self.rows, self.cols);
        let entries = |zeros: bool| -> Vec<(usize, usize, f64)> {
            let all = (0..n).flat_map(|j| (0..m).map(move |i| (i, j)));
            all.map(|(i, j)| (i, j, self.entry(i, j))).filter(|&(_, _, v)| zeros || v != 0.0).collect()
        };
        let to_f32 = |v: f64| {
            assert_eq!(f64::from(v as f32), v, "the entry does not fit f32");
            v as f32
        };
        match self.storage {
            Storage::Dense => DenseMatrix::new(m, n, self.a.clone()).unwrap().into(),
            Storage::Csc => CscMatrix::<f64, u32>::from_triplets(m, n, &entries(false)).unwrap().into(),
            Storage::CscWithZeros => CscMatrix::<f64, u32>::from_triplets(m, n, &entries(true)).unwrap().into(),
            Storage::CscWide => CscMatrix::<f64, u64>::from_triplets(m, n, &entries(false)).unwrap().into(),
            Storage::Csr => self.csr().into(),
            Storage::DenseF32 => DenseMatrix::new(m, n, self.a.iter().map(|&v| to_f32(v)).collect()).unwrap().into(),
            Storage::CscF32 => {
                let entries: Vec<_> = entries(false).into_iter().map(|(i, j, v)| (i, j, to_f32(v))).collect();
                CscMatrix::<f32, u32>::from_triplets(m, n, &entries).unwrap().into()
            }
        }
    }

    fn csr(&self) -> CsrMatrix<f64, u32> {
        let (mut row_ptr, mut col_idx, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..self.rows {
            for j in (0..self.cols).filter(|&j| self.entry(i, j) != 0.0) {
                col_idx.push(j as u32);
                values.push(self.entry(i, j));
            }
            row_ptr.push(values.len());
        }
        CsrMatrix::new(self.rows, self.cols, row_ptr, col_idx, values).unwrap()
    }

    /// The library's statement of this problem.
    pub fn least_squares<'a>(&'a self, matrix: &'a AnyMatrix) -> LeastSquares<'a> {
        let stated = match &self.goal {
            Goal::Rhs(b) => LeastSquares::new(matrix, b),
            Goal::Linear(c) => LeastSquares::with_linear(matrix, c),
        };
        let stated = stated.l1(self.l1).l2(self.l2);
        let stated = match &self.bound {
            Bound::None => stated,
            Bound::Uniform(bound) => stated.upper(*bound),
            Bound::Each(bounds) => stated.upper(bounds.as_slice()),
        };
        match &self.weights {
            Some(weights) => stated.weights(weights),
            None => stated,
        }
    }

    pub fn verify(&self, x: &[f64]) -> Result<Certificate> {
        let matrix = self.matrix();
        nonneg::verify(&self.least_squares(&matrix), x)
    }

    pub fn solve(&self, solver: &Solver) -> Result<Solution> {
        let matrix = self.matrix();
        solver.solve_problem(&self.least_squares(&matrix))
    }

    pub fn solve_from(&self, solver: &Solver, start: &[f64]) -> Result<Solution> {
        let matrix = self.matrix();
        solver.solve_problem(&self.least_squares(&matrix).start(start))
    }

    /// Σ |aᵢⱼ||aᵢₖ|wᵢ: the size of what is added up to an entry of AᵀWA.
    pub fn entry_size(&self, j: usize, k: usize) -> f64 {
        (0..self.rows).map(|i| (self.entry(i, j) * self.entry(i, k)).abs() * self.weight(i)).sum()
    }

    /// (|A|ᵀW|b|)ⱼ + λ₁, or |cⱼ| + λ₁: the size of what is added up to the linear term.
    pub fn linear_size(&self, j: usize) -> f64 {
        let sum: f64 = match &self.goal {
            Goal::Rhs(b) => (0..self.rows).map(|i| (self.entry(i, j) * b[i]).abs() * self.weight(i)).sum(),
            Goal::Linear(c) => c[j].abs(),
        };
        sum + self.l1
    }

    /// x moved into 0 ≤ x ≤ ℓ.
    pub fn clip(&self, x: &[f64]) -> Vec<f64> {
        x.iter().enumerate().map(|(j, &v)| v.max(0.0).min(self.upper(j))).collect()
    }
}
