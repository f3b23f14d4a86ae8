//! The exact optimum of a small problem, independent of the library.
//!
//! min ½xᵀHx − cᵀx over 0 ≤ x ≤ ℓ, with H = AᵀWA + λ₂I and c = AᵀWb − λ₁ (or c as given, less λ₁). It is convex, so
//! a point that satisfies the optimality conditions exactly is a minimiser. Each column is at 0, at its bound, or free;
//! the free ones solve a linear system. Where a minimiser exists, one exists whose free columns are independent
//! (a vertex of the set of minimisers: along a dependency f would be linear, hence constant, until a bound is met).
//! So trying every assignment with independent free columns finds a minimiser, or proves that there is none.

use super::dyadic::{Dyadic, Fraction};
use super::{Goal, Problem};

/// ½xᵀHx − cᵀx + constant over 0 ≤ x ≤ ℓ, in exact numbers.
pub struct Quadratic {
    pub hessian: Vec<Vec<Dyadic>>,
    pub linear: Vec<Dyadic>,
    /// ℓ, where finite.
    pub upper: Vec<Option<Dyadic>>,
    /// ½‖b‖²_W: objective = f + constant. Zero where c was given.
    pub constant: Dyadic,
}

/// An exact minimiser with its value.
pub struct Minimum {
    pub x: Vec<Fraction>,
    /// f* = ½‖Ax‖²_W − cᵀx + ½λ₂‖x‖², with c less λ₁.
    pub value: Fraction,
    /// f* + ½‖b‖²_W.
    pub objective: Fraction,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Zero,
    Bound,
    Free,
}

/// x = numerators/determinant, with the gradient times the determinant.
struct Candidate {
    determinant: Dyadic,
    numerators: Vec<Dyadic>,
    gradient: Vec<Dyadic>,
}

/// Σ aᵢbᵢ.
pub fn dot<'a>(pairs: impl Iterator<Item = (&'a Dyadic, &'a Dyadic)>) -> Dyadic {
    pairs.fold(Dyadic::zero(), |sum, (a, b)| &sum + &(a * b))
}

impl Quadratic {
    pub fn new(problem: &Problem) -> Self {
        let (m, n) = (problem.rows, problem.cols);
        let weights: Vec<Dyadic> = (0..m).map(|i| problem.weight(i).into()).collect();
        let columns: Vec<Vec<Dyadic>> = (0..n).map(|j| (0..m).map(|i| problem.entry(i, j).into()).collect()).collect();
        let weighted: Vec<Vec<Dyadic>> =
            columns.iter().map(|column| column.iter().zip(&weights).map(|(a, w)| a * w).collect()).collect();
        let product = |j: usize, y: &[Dyadic]| dot(weighted[j].iter().zip(y));

        let mut hessian: Vec<Vec<Dyadic>> = (0..n).map(|i| (0..n).map(|j| product(i, &columns[j])).collect()).collect();
        for j in 0..n {
            hessian[j][j] = &hessian[j][j] + &problem.l2.into();
        }
        let (linear, constant): (Vec<Dyadic>, Dyadic) = match &problem.goal {
            Goal::Rhs(b) => {
                let b: Vec<Dyadic> = b.iter().map(|&v| v.into()).collect();
                let squares: Vec<Dyadic> = b.iter().map(|v| v * v).collect();
                ((0..n).map(|j| product(j, &b)).collect(), dot(squares.iter().zip(&weights)).half())
            }
            Goal::Linear(c) => (c.iter().map(|&v| v.into()).collect(), Dyadic::zero()),
        };
        let linear = linear.iter().map(|c| c - &problem.l1.into()).collect();
        let upper = (0..n).map(|j| problem.upper(j)).map(|u| u.is_finite().then(|| u.into())).collect();
        Self { hessian, linear, upper, constant }
    }

    pub fn cols(&self) -> usize {
        self.linear.len()
    }

    /// f(x), exactly.
    pub fn value(&self, x: &[f64]) -> Dyadic {
        self.value_of(&x.iter().map(|&v| v.into()).collect::<Vec<_>>())
    }

    fn value_of(&self, x: &[Dyadic]) -> Dyadic {
        let hx: Vec<Dyadic> = self.hessian.iter().map(|row| dot(row.iter().zip(x))).collect();
        &dot(hx.iter().zip(x)).half() - &dot(self.linear.iter().zip(x))
    }

    /// The objective at x, exactly.
    pub fn objective(&self, x: &[f64]) -> Dyadic {
        &self.value(x) + &self.constant
    }

    /// A minimiser, or `None` where the objective is unbounded below.
    pub fn minimum(&self) -> Option<Minimum> {
        self.minimum_by_pivots().or_else(|| self.minimum_by_enumeration())
    }

    /// Changes the first column that violates its condition, over and over. Mostly ends at the minimum; may cycle.
    fn minimum_by_pivots(&self) -> Option<Minimum> {
        let mut states = vec![State::Zero; self.cols()];
        for _ in 0..60 {
            let candidate = self.candidate(&states)?;
            match self.first_violation(&states, &candidate) {
                None => return Some(self.minimum_at(&candidate)),
                Some((j, state)) => states[j] = state,
            }
        }
        None
    }

    /// Every assignment of states, in order.
    pub fn minimum_by_enumeration(&self) -> Option<Minimum> {
        let n = self.cols();
        let mut states = vec![State::Zero; n];
        loop {
            if let Some(candidate) = self.candidate(&states)
                && self.first_violation(&states, &candidate).is_none()
            {
                return Some(self.minimum_at(&candidate));
            }
            let mut j = 0;
            loop {
                if j == n {
                    return None;
                }
                states[j] = match states[j] {
                    State::Zero => State::Free,
                    State::Free if self.upper[j].is_some() => State::Bound,
                    _ => State::Zero,
                };
                if states[j] != State::Zero {
                    break;
                }
                j += 1;
            }
        }
    }

    /// The stationary point on the face, unless its free columns are dependent.
    ///
    /// Fraction-free Gauss–Jordan elimination (Bareiss): all divisions are exact, and at the end every diagonal entry
    /// is the determinant. The matrix is positive semidefinite, so a pivot that is not positive means dependent columns.
    fn candidate(&self, states: &[State]) -> Option<Candidate> {
        let n = self.cols();
        let free: Vec<usize> = (0..n).filter(|&j| states[j] == State::Free).collect();
        let bound: Vec<usize> = (0..n).filter(|&j| states[j] == State::Bound).collect();
        let upper = |j: usize| self.upper[j].as_ref().expect("only finite bounds are used");
        // c − H·(the columns at their bounds).
        let rest: Vec<Dyadic> =
            (0..n).map(|j| &self.linear[j] - &dot(bound.iter().map(|&k| (&self.hessian[j][k], upper(k))))).collect();

        let mut table: Vec<Vec<Dyadic>> =
            free.iter().map(|&i| free.iter().map(|&j| self.hessian[i][j].clone()).chain([rest[i].clone()]).collect()).collect();
        let mut previous = Dyadic::from(1.0);
        for k in 0..free.len() {
            let pivot_row = table[k].clone();
            if !pivot_row[k].is_positive() {
                return None;
            }
            for (i, row) in table.iter_mut().enumerate().filter(|(i, _)| *i != k) {
                let factor = row[k].clone();
                for j in 0..row.len() {
                    // Columns before k hold a diagonal already: only row j's own diagonal entry is not zero there.
                    if j >= k || j == i {
                        let cross = &(&pivot_row[k] * &row[j]) - &(&factor * &pivot_row[j]);
                        row[j] = cross.divide_exactly(&previous);
                    }
                }
            }
            previous = pivot_row[k].clone();
        }
        let determinant = previous;

        let mut numerators = vec![Dyadic::zero(); n];
        for &j in &bound {
            numerators[j] = upper(j) * &determinant;
        }
        for (row, &j) in table.iter().zip(&free) {
            numerators[j] = row[free.len()].clone();
        }
        let gradient =
            (0..n).map(|j| &dot(self.hessian[j].iter().zip(&numerators)) - &(&self.linear[j] * &determinant)).collect();
        Some(Candidate { determinant, numerators, gradient })
    }

    /// The first column that breaks feasibility or optimality, with the state that it should have.
    fn first_violation(&self, states: &[State], candidate: &Candidate) -> Option<(usize, State)> {
        (0..self.cols()).find_map(|j| {
            let (x, gradient) = (&candidate.numerators[j], &candidate.gradient[j]);
            let above = || self.upper[j].as_ref().is_some_and(|u| *x > u * &candidate.determinant);
            match states[j] {
                State::Zero if gradient.is_negative() => Some((j, State::Free)),
                State::Bound if gradient.is_positive() => Some((j, State::Free)),
                State::Free if x.is_negative() => Some((j, State::Zero)),
                State::Free if above() => Some((j, State::Bound)),
                _ => None,
            }
        })
    }

    fn minimum_at(&self, candidate: &Candidate) -> Minimum {
        let Candidate { determinant, numerators, .. } = candidate;
        // With x = N/d: f = (½NᵀHN − d·cᵀN)/d².
        let hn: Vec<Dyadic> = self.hessian.iter().map(|row| dot(row.iter().zip(numerators))).collect();
        let quadratic = dot(hn.iter().zip(numerators)).half();
        let linear = &dot(self.linear.iter().zip(numerators)) * determinant;
        let value = Fraction::new(&quadratic - &linear, determinant * determinant);
        let objective = &value + &self.constant.clone().into();
        let x = numerators.iter().map(|numerator| Fraction::new(numerator.clone(), determinant.clone())).collect();
        Minimum { x, value, objective }
    }
}

impl Minimum {
    /// The minimiser in `f64`; `None` where an entry does not fit without losing digits.
    pub fn rounded(&self) -> Option<Vec<f64>> {
        let x: Vec<f64> = self.x.iter().map(Fraction::to_f64).collect();
        let fits = |(v, exact): (&f64, &Fraction)| if exact.is_zero() { *v == 0.0 } else { v.is_normal() };
        x.iter().zip(&self.x).all(fits).then_some(x)
    }
}
