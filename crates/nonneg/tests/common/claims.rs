//! What a certificate says about x, against exact arithmetic.

use nonneg::Certificate;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::dyadic::{Dyadic, Fraction};
use super::exact::{Minimum, Quadratic, dot};
use super::random::Random;
use super::{Goal, Problem};

/// A problem with its exact optimum, `None` where it is unbounded.
pub struct Solved {
    pub problem: Problem,
    pub exact: Quadratic,
    pub minimum: Option<Minimum>,
}

impl Solved {
    pub fn new(problem: Problem) -> Self {
        let exact = Quadratic::new(&problem);
        let minimum = exact.minimum();
        Self { problem, exact, minimum }
    }

    /// (f(x) − f*) ≤ factor·|f*|, exactly. Nothing is at most a factor above an optimum that does not exist.
    pub fn within(&self, x: &[f64], factor: f64) -> bool {
        self.minimum.as_ref().is_some_and(|minimum| {
            let above = &Fraction::from(self.exact.value(x)) - &minimum.value;
            above <= &Fraction::from(factor) * &minimum.value.abs()
        })
    }

    /// (f(x) − f*)/|f*|, for messages.
    pub fn relative_error(&self, x: &[f64]) -> f64 {
        let Some(minimum) = &self.minimum else { return f64::INFINITY };
        let above = &Fraction::from(self.exact.value(x)) - &minimum.value;
        let size = minimum.value.abs();
        if size.is_zero() {
            return if above.is_zero() { 0.0 } else { f64::INFINITY };
        }
        // above/size = (a/b)/(p/q) = (aq)/(bp).
        Fraction::new(&above.numerator * &size.denominator, &above.denominator * &size.numerator).to_f64()
    }

    /// How much worse than one rounding the certificate's linear term can be known, in units of |f*|:
    /// Σ uⱼ·(|A|ᵀW|b| + λ₁)ⱼ/|f*| with uⱼ = min(cⱼ/(Lⱼ + λ₂), ℓⱼ). A moderate number means that rounding is harmless.
    pub fn condition(&self) -> f64 {
        let (problem, exact) = (&self.problem, &self.exact);
        let Some(size) = self.minimum.as_ref().map(|minimum| minimum.value.abs().to_f64()) else { return f64::INFINITY };
        let terms = (0..problem.cols).filter(|&j| exact.hessian[j][j].is_positive()).map(|j| {
            let sum = problem.linear_size(j);
            let c = exact.linear[j].to_f64().max(0.0) + 1e-14 * sum;
            (c / exact.hessian[j][j].to_f64()).min(problem.upper(j)) * sum
        });
        terms.sum::<f64>() / size
    }

    /// x of the size that the data suggest: cⱼ/Lⱼ.
    fn typical(&self) -> Vec<f64> {
        let size = |j: usize| {
            let (c, square) = (self.exact.linear[j].abs(), &self.exact.hessian[j][j]);
            if square.is_positive() { Fraction::from(c).over(square).to_f64().min(f64::MAX) } else { 1.0 }
        };
        (0..self.problem.cols).map(size).collect()
    }

    /// Feasible points of every quality: the optimum, points near it, zero and random ones.
    pub fn points(&self, random: &mut Random) -> Vec<Vec<f64>> {
        let (n, typical) = (self.problem.cols, self.typical());
        let mut points = vec![vec![0.0; n], typical.clone()];
        points.push(typical.iter().map(|v| v * random.between(0.0, 1.5)).collect());
        points.push(typical.iter().map(|v| if random.chance(0.5) { 0.0 } else { v * random.unit() }).collect());
        if let Some(minimum) = &self.minimum {
            let best: Vec<f64> = minimum.x.iter().map(|v| v.to_f64().min(f64::MAX)).collect();
            let j = random.index(n);
            let mut moved = |factor: f64, offset: f64| {
                let mut x = best.clone();
                x[j] = x[j] * factor + offset * typical[j];
                points.push(x);
            };
            moved(1.0, 1e-9);
            moved(1.0, 1e-3);
            moved(0.0, 0.0);
            moved(2.0, 0.0);
            let off = 1.0 + random.pick(&[1e-15, -1e-12, 1e-8, -1e-4]);
            points.push(best.iter().map(|v| v * off).collect());
            points.push(best);
        }
        // Where an entry overflowed, the largest number stands for it.
        points.into_iter().map(|x| self.problem.clip(&x)).map(|x| x.iter().map(|v| v.min(f64::MAX)).collect()).collect()
    }

    /// Feasible points with entries anywhere in the range of f64.
    pub fn absurd_points(&self, random: &mut Random) -> Vec<Vec<f64>> {
        let n = self.problem.cols;
        let spread = (0..n).map(|_| 2f64.powi(random.integer(-1070, 1020) as i32)).collect::<Vec<_>>();
        let ends = (0..n).map(|_| random.pick(&[0.0, 5e-324, 1e-300, 1.0, 1e150, f64::MAX])).collect::<Vec<_>>();
        let mut one = self.typical();
        one[random.index(n)] = random.pick(&[5e-324, 1e-160, 1e160, f64::MAX]);
        [spread, ends, one].map(|x| self.problem.clip(&x)).into()
    }

    /// Every claim of the certificate of a feasible x.
    pub fn check(&self, x: &[f64], certificate: &Certificate) -> Result<(), TestCaseError> {
        let numbers = [
            ("objective", certificate.objective),
            ("residual_norm", certificate.residual_norm),
            ("lower_bound", certificate.lower_bound),
            ("relative_gap", certificate.relative_gap),
            ("natural_residual", certificate.natural_residual),
            ("relative_residual", certificate.relative_residual),
        ];
        for (name, number) in numbers {
            prop_assert!(number.is_none_or(f64::is_finite), "{name} is {number:?}{}", self.context(x, certificate));
        }
        if let Some(bound) = certificate.lower_bound {
            let Some(minimum) = &self.minimum else {
                return Err(TestCaseError::fail(format!("unbounded, yet bounded by {bound}{}", self.context(x, certificate))));
            };
            prop_assert!(
                Fraction::from(bound) <= minimum.objective,
                "lower_bound {bound:e} is above the optimum {:e}{}",
                minimum.objective.to_f64(),
                self.context(x, certificate)
            );
        }
        if let Some(gap) = certificate.relative_gap {
            prop_assert!(gap >= 0.0, "relative_gap is {gap}{}", self.context(x, certificate));
            prop_assert!(
                self.within(x, gap),
                "relative_gap {gap:e} is below the true error {:e}{}",
                self.relative_error(x),
                self.context(x, certificate)
            );
        }
        prop_assert!(
            certificate.relative_residual != Some(0.0) || certificate.natural_residual == Some(0.0),
            "relative_residual{}",
            self.context(x, certificate)
        );
        self.check_objective(x, certificate)?;
        let support = x.iter().filter(|v| **v > 0.0).count();
        prop_assert_eq!(certificate.support, support, "support{}", self.context(x, certificate));
        prop_assert!(
            certificate.dual.iter().all(|v| !v.is_nan()) && [0, self.problem.rows].contains(&certificate.dual.len()),
            "dual{}",
            self.context(x, certificate)
        );
        Ok(())
    }

    /// Objective and residual are within 1e-12 of the sizes that they are made of.
    fn check_objective(&self, x: &[f64], certificate: &Certificate) -> Result<(), TestCaseError> {
        let problem = &self.problem;
        let exact: Vec<Dyadic> = x.iter().map(|&v| v.into()).collect();
        // ½xᵀHx with |A| for A would be larger still where A is signed; ½‖Ax‖² is a size that never hurts to allow.
        let column_sizes = (0..problem.cols).map(|j| {
            let sizes = (0..problem.rows).map(|i| Dyadic::from(problem.entry(i, j)).abs());
            sizes.collect::<Vec<_>>()
        });
        let columns: Vec<Vec<Dyadic>> = column_sizes.collect();
        let mut fit = Dyadic::zero();
        let mut square = Dyadic::zero();
        for i in 0..problem.rows {
            let weight: Dyadic = problem.weight(i).into();
            let (mut image, mut size) = (Dyadic::zero(), Dyadic::zero());
            for j in 0..problem.cols {
                image = &image + &(&Dyadic::from(problem.entry(i, j)) * &exact[j]);
                size = &size + &(&columns[j][i] * &exact[j]);
            }
            if let Goal::Rhs(b) = &problem.goal {
                image = &image - &b[i].into();
                size = &size + &Dyadic::from(b[i]).abs();
            }
            fit = &fit + &(&(&image * &image) * &weight);
            square = &square + &(&(&size * &size) * &weight);
        }
        let rest = match &problem.goal {
            Goal::Rhs(_) => Dyadic::zero(),
            Goal::Linear(c) => {
                let c: Vec<Dyadic> = c.iter().map(|&v| Dyadic::from(v).abs()).collect();
                dot(c.iter().zip(&exact))
            }
        };
        let sum_of_x = exact.iter().fold(Dyadic::zero(), |sum, v| &sum + v);
        let penalties = &(&sum_of_x * &problem.l1.into()) + &(&dot(exact.iter().zip(&exact)) * &problem.l2.into()).half();
        let size = &(&square.half() + &rest) + &penalties;
        let smallest = Dyadic::from(1e-320);
        let allowed = &(&size * &1e-12.into()) + &smallest;

        if let Some(objective) = certificate.objective {
            let expected = self.exact.objective(x);
            let error = (&Dyadic::from(objective) - &expected).abs();
            prop_assert!(
                error <= allowed,
                "objective is {objective:e}, exactly {:e}, size {:e}{}",
                expected.to_f64(),
                size.to_f64(),
                self.context(x, certificate)
            );
        } else {
            prop_assert!(!self.must_report(x, &size), "the objective {:e} fits{}", size.to_f64(), self.context(x, certificate));
        }
        match (certificate.residual_norm, &problem.goal) {
            (Some(norm), Goal::Rhs(_)) => {
                // |r² − ρ²| ≤ 2·1e-12·size², from |r − ρ| ≤ 1e-12·size and r, ρ ≤ size.
                let error = (&(&Dyadic::from(norm) * &Dyadic::from(norm)) - &fit).abs();
                let smallest = &Dyadic::from(norm.max(1e-300)) * &Dyadic::from(1e-320);
                let allowed = &(&square * &2.1e-12.into()) + &smallest;
                prop_assert!(error <= allowed, "residual_norm is {norm:e}{}", self.context(x, certificate));
            }
            (None, Goal::Rhs(_)) => {
                prop_assert!(!self.must_report(x, &square), "the residual fits{}", self.context(x, certificate));
            }
            (norm, Goal::Linear(_)) => prop_assert_eq!(norm, None),
        }
        Ok(())
    }

    /// Data, x and the number to report are far from the ends of the range of f64.
    fn must_report(&self, x: &[f64], size: &Dyadic) -> bool {
        let ordinary = |v: &f64| *v == 0.0 || (1e-60..1e60).contains(&v.abs());
        let (Goal::Rhs(target) | Goal::Linear(target)) = &self.problem.goal;
        let weights = self.problem.weights.iter().flatten();
        let data = self.problem.a.iter().chain(target).chain(weights).chain([&self.problem.l1, &self.problem.l2]);
        data.chain(x).all(ordinary) && (size.is_zero() || size.to_f64() > 1e-280)
    }

    /// r(x) = √Σ (Lⱼ + λ₂)(xⱼ − clip(xⱼ − ∇ⱼ/(Lⱼ + λ₂), 0, ℓⱼ))² and the size of what cancels in it. No empty columns.
    pub fn natural_residual(&self, x: &[f64]) -> (f64, f64) {
        let exact: Vec<Dyadic> = x.iter().map(|&v| v.into()).collect();
        let (mut square, mut size) = (Fraction::from(0.0), 0.0);
        for j in 0..self.problem.cols {
            let curvature = &self.exact.hessian[j][j];
            let slope = &dot(self.exact.hessian[j].iter().zip(&exact)) - &self.exact.linear[j];
            let here = Fraction::from(exact[j].clone());
            let mut target = (&here - &Fraction::from(slope).over(curvature)).max(Fraction::from(0.0));
            if let Some(upper) = &self.exact.upper[j] {
                target = target.min(upper.clone().into());
            }
            let change = &here - &target;
            square = &square + &(&(&change * &change) * &curvature.clone().into());
            let parts = (0..self.problem.cols).map(|k| (self.problem.entry_size(j, k) + self.problem.l2) * x[k]).sum::<f64>();
            size += (parts + self.problem.linear_size(j)).powi(2) / curvature.to_f64() + curvature.to_f64() * x[j] * x[j];
        }
        (square.to_f64().sqrt(), size.sqrt())
    }

    pub fn context(&self, x: &[f64], certificate: &Certificate) -> String {
        format!("\n{:?}\nx = {x:?}\n{certificate:?}", self.problem)
    }
}
