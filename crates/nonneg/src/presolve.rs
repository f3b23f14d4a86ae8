//! Presolve: what an algorithm need not see. Reversible: [`Reduced::expand`] puts every column back.
//!
//! * A column with cⱼ ≤ 0 is zero at the optimum when A ≥ 0 (for signed A only if all are), and so is one whose upper
//!   bound is zero.
//! * An empty column that is worth having sits at its upper bound; without one the problem is unbounded.
//! * Columns are looked at in units of their own (exact powers of two), so that the algorithm sees norms of order one.
//!
//! Empty rows cost nothing here: no column touches them.

use crate::certificate::{Certifier, ColumnFacts, Facts};
use crate::error::{Error, Result};
use crate::matrix::Columns;
use crate::problem::LeastSquares;

/// The problem that an algorithm sees: min ½‖Ax‖²_W + ½Σλⱼxⱼ² − cᵀx over 0 ≤ x ≤ u, on the kept columns, scaled. A column along
/// which the caller's x may go down stands for a second variable, with the column turned round.
pub struct Reduced<'a, M: Columns> {
    /// The caller's matrix.
    pub matrix: &'a M,
    /// Column of the matrix behind each variable.
    pub columns: Vec<usize>,
    /// The power of two that each column is multiplied by; below zero where it is turned round.
    pub scale: Vec<f64>,
    /// c − λ₁ (> 0 when A ≥ 0).
    pub linear: Vec<f64>,
    /// L = ‖A:ⱼ‖²_W.
    pub norm: Vec<f64>,
    /// λ₂ in each column's units; empty when there is no ridge.
    pub ridge: Vec<f64>,
    /// u: min(cⱼ/(Lⱼ + λ₂), ℓⱼ) for A ≥ 0, otherwise ℓⱼ; may be infinite.
    pub upper: Vec<f64>,
    /// Whether some entry of A is negative.
    pub signed: bool,
    /// Row weights, scaled.
    pub weights: Option<Vec<f64>>,
    /// Values of the columns that are not kept (mostly zero).
    fixed: Vec<(usize, f64)>,
    total_columns: usize,
}

impl<'a, M: Columns> Reduced<'a, M> {
    /// The reduced form of a problem on its own, for tests, benchmarks and the curious; [`Solver`](crate::Solver) makes its own.
    pub fn of(matrix: &'a M, problem: &LeastSquares) -> Result<Self> {
        problem.validate()?;
        Self::new(matrix, problem, &Certifier::new(matrix, problem)?.facts, ColumnFacts::scale)
    }

    /// min ½‖Ax‖² − cᵀx over x ≥ 0 on those columns that have a norm, and for A ≥ 0 a positive c. `scale`, `linear` and
    /// `norm` have an entry for every column.
    pub(crate) fn plain(matrix: &'a M, scale: &[f64], linear: &[f64], norm: &[f64], signed: bool) -> Self {
        let columns: Vec<usize> = (0..matrix.cols()).filter(|&j| norm[j] > 0.0 && (signed || linear[j] > 0.0)).collect();
        let pick = |values: &[f64]| columns.iter().map(|&j| values[j]).collect::<Vec<f64>>();
        let (linear, norm) = (pick(linear), pick(norm));
        let cap = |(c, l): (&f64, &f64)| if signed { f64::INFINITY } else { c / l };
        Self {
            matrix,
            scale: pick(scale),
            upper: linear.iter().zip(&norm).map(cap).collect(),
            linear,
            norm,
            ridge: Vec::new(),
            signed,
            weights: None,
            fixed: Vec::new(),
            total_columns: matrix.cols(),
            columns,
        }
    }

    /// Takes out what the facts about the columns decide. `scale` takes the matrix to the facts' units.
    pub(crate) fn new(matrix: &'a M, problem: &LeastSquares, facts: &Facts, scale: fn(&ColumnFacts) -> f64) -> Result<Self> {
        let mut reduced = Self {
            matrix,
            columns: Vec::new(),
            scale: Vec::new(),
            linear: Vec::new(),
            norm: Vec::new(),
            ridge: Vec::new(),
            upper: Vec::new(),
            signed: facts.signed,
            weights: facts.weights.clone(),
            fixed: Vec::new(),
            total_columns: matrix.cols(),
        };
        // Without a positive cⱼ, f(x) ≥ −cᵀx ≥ 0 = f(0) whatever the signs in A.
        let gains = |(j, column): (usize, &ColumnFacts)| column.high > 0.0 || problem.below(j) > 0.0 && column.low < 0.0;
        let nothing_to_gain = !facts.columns.iter().enumerate().any(gains);
        let up = (0..facts.columns.len()).map(|j| (j, 1.0, facts.upper(problem, j)));
        let down = (0..facts.columns.len()).map(|j| (j, -1.0, problem.below(j)));
        for (j, sign, upper) in up.chain(down.filter(|&(.., below)| below > 0.0)) {
            let column = &facts.columns[j];
            let linear = sign * column.linear();
            let decided = nothing_to_gain || linear <= 0.0 && (!facts.signed || column.empty);
            if decided || upper == 0.0 {
                continue;
            }
            let curvature = facts.curvature(j);
            if curvature == 0.0 {
                if upper.is_infinite() {
                    let side = if sign > 0.0 { ("positive", "above") } else { ("negative", "below") };
                    let reason =
                        format!("column {j} is empty, its linear term is {}, and nothing bounds it from {}", side.0, side.1);
                    return Err(Error::Unbounded(reason));
                }
                reduced.fixed.push((j, upper));
                continue;
            }
            reduced.columns.push(j);
            reduced.scale.push(sign * scale(column));
            reduced.linear.push(linear.max(-f64::MAX / 4.0));
            reduced.norm.push(column.norm);
            if problem.l2 > 0.0 {
                reduced.ridge.push(facts.ridge(j));
            }
            reduced.upper.push(if facts.signed { upper } else { upper.min(linear / curvature) });
        }
        reduced.columns.shrink_to_fit();
        for values in [&mut reduced.scale, &mut reduced.linear, &mut reduced.norm, &mut reduced.ridge, &mut reduced.upper] {
            values.shrink_to_fit();
        }
        Ok(reduced)
    }

    /// The same problem on some of its variables, all others zero. `copy` holds their columns side by side
    /// ([`Columns::copy_columns`] of their `columns`).
    pub fn on<'c, C: Columns>(&self, set: &[usize], copy: &'c C) -> Reduced<'c, C> {
        let pick = |values: &[f64]| set.iter().map(|&k| values[k]).collect::<Vec<f64>>();
        Reduced {
            matrix: copy,
            columns: (0..set.len()).collect(),
            scale: pick(&self.scale),
            linear: pick(&self.linear),
            norm: pick(&self.norm),
            ridge: if self.ridge.is_empty() { Vec::new() } else { pick(&self.ridge) },
            upper: pick(&self.upper),
            signed: self.signed,
            weights: self.weights.clone(),
            fixed: Vec::new(),
            total_columns: set.len(),
        }
    }

    /// min ½‖At‖²_W − Σ‖A:ₖ‖_W tₖ over t ≥ 0, without a gain where a column stands for two variables.
    pub fn with_norms_to_gain(&self) -> Reduced<'a, M> {
        let mut variables = vec![0u8; self.total_columns];
        self.columns.iter().for_each(|&j| variables[j] += 1);
        let gain = |(&j, norm): (&usize, &f64)| if variables[j] > 1 { 0.0 } else { norm.sqrt() };
        Reduced {
            matrix: self.matrix,
            columns: self.columns.clone(),
            scale: self.scale.clone(),
            linear: self.columns.iter().zip(&self.norm).map(gain).collect(),
            norm: self.norm.clone(),
            ridge: Vec::new(),
            upper: vec![f64::INFINITY; self.len()],
            signed: true,
            weights: self.weights.clone(),
            fixed: Vec::new(),
            total_columns: self.total_columns,
        }
    }

    /// Number of kept columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether nothing is left to decide.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Columns that no variable stands for.
    pub fn dropped(&self) -> usize {
        let mut kept = vec![false; self.total_columns];
        self.columns.iter().for_each(|&j| kept[j] = true);
        kept.iter().filter(|&&kept| !kept).count()
    }

    /// λ₂ of variable k.
    #[inline]
    pub fn ridge(&self, k: usize) -> f64 {
        if self.ridge.is_empty() { 0.0 } else { self.ridge[k] }
    }

    /// Lₖ + λₖ, the curvature of f along variable k.
    #[inline]
    pub fn curvature(&self, k: usize) -> f64 {
        self.norm[k] + self.ridge(k)
    }

    /// Column of variable k.
    #[inline]
    pub fn column(&self, k: usize) -> M::Column<'_> {
        self.matrix.column(self.columns[k])
    }

    /// Stored entries of variable k's column.
    #[inline]
    pub fn column_len(&self, k: usize) -> usize {
        self.matrix.column_len(self.columns[k])
    }

    /// Wy.
    pub fn weigh(&self, mut y: Vec<f64>) -> Vec<f64> {
        if let Some(weights) = &self.weights {
            // A row without weight counts for nothing, whatever stands there.
            y.iter_mut().zip(weights).for_each(|(y, &w)| *y = if w == 0.0 { 0.0 } else { *y * w });
        }
        y
    }

    /// ‖y‖²_W from Wy.
    pub fn square_of_weighted(&self, weighted: &[f64]) -> f64 {
        match &self.weights {
            None => weighted.iter().map(|v| v * v).sum(),
            Some(w) => weighted.iter().zip(w).filter(|(_, w)| **w > 0.0).map(|(v, w)| v * v / w).sum(),
        }
    }

    /// Ax over the kept columns.
    pub fn multiply(&self, x: &[f64]) -> Vec<f64> {
        crate::matrix::multiply(self.matrix, self.len(), |k| (self.columns[k], self.scale[k], x[k]))
    }

    /// Stored entries of some variables' columns.
    pub fn entries(&self, variables: impl Iterator<Item = usize>) -> u64 {
        variables.map(|k| self.column_len(k) as u64).sum()
    }

    /// Stored entries of the columns with xₖ ≠ 0.
    pub fn support_work(&self, x: &[f64]) -> u64 {
        self.entries((0..self.len()).filter(|&k| x[k] != 0.0))
    }

    /// All columns' values, still scaled.
    pub fn expand(&self, x: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.total_columns];
        for &(j, value) in &self.fixed {
            all[j] = value;
        }
        for (k, &j) in self.columns.iter().enumerate() {
            all[j] += x[k] * self.scale[k].signum();
        }
        all
    }

    /// The kept part of a vector over all columns, turned round with its columns.
    pub fn restrict(&self, all: &[f64]) -> Vec<f64> {
        self.columns.iter().zip(&self.scale).map(|(&j, scale)| all[j] * scale.signum()).collect()
    }

    /// Moves x into [0, u].
    pub fn clip(&self, x: &mut [f64]) {
        for (x, &upper) in x.iter_mut().zip(&self.upper) {
            *x = x.clamp(0.0, upper);
        }
    }
}
