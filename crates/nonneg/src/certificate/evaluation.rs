//! What an evaluation of one x found, and its translation into the caller's units.

use std::sync::Arc;

use super::Certificate;
use super::bound::Bound;
use super::evaluate::Certifier;
use super::sums::{UNIT, down, up};
use crate::matrix::Columns;
use crate::scaling::{ldexp, to_caller};

/// What an x is worth, in scaled units.
pub(crate) struct Evaluation {
    /// D ≤ f*, where there is a bound, and the dual point.
    pub(super) bound: Bound,
    /// (f(x) − D)/|f̂|.
    pub dual_gap: Option<f64>,
    /// The same to a perfect fit, where x is close to one.
    pub(super) fit_gap: Option<f64>,
    /// f̂, the best objective known.
    pub best_known: f64,
    /// r(x)².
    pub residual_square: f64,
    pub support: usize,
    /// Ax.
    pub image: Arc<Vec<f64>>,
    /// ∇f(x); exact zeros of x with cⱼ ≤ 0 are not looked at when A ≥ 0.
    pub gradient: Vec<f64>,
    /// Multiply-adds with entries of A.
    pub work: u64,
    /// Whether every column was looked at.
    pub complete: bool,
    /// Columns that this x proves to be zero at the optimum, among those looked at.
    pub excluded: Vec<usize>,
    /// ½‖Ax − b‖²_W and the penalties.
    pub(super) fit: Option<f64>,
    pub(super) penalties: f64,
    /// f(x), to nearest.
    pub objective: f64,
    /// What numbers that left the range of f64 can have cost, if any did: smaller results are not to be reported.
    pub(super) lost: f64,
}

impl Evaluation {
    /// Whether some lower bound was proved.
    pub fn is_bounded(&self) -> bool {
        self.bound.value.is_some()
    }

    /// What is proved, by the dual point or by the fit: (f(x) − f*)/|f*| is at most this.
    pub fn proved_gap(&self) -> Option<f64> {
        if self.is_fit() { self.fit_gap } else { self.dual_gap }
    }

    /// Whether the fit proves more than the dual point on the ray.
    fn is_fit(&self) -> bool {
        self.fit_gap.is_some_and(|fit| self.dual_gap.is_none_or(|gap| fit < gap))
    }

    /// f(x) − D, scaled, where there is a bound.
    pub fn gap(&self) -> Option<f64> {
        self.dual_gap.map(|gap| gap * self.best_known.abs())
    }

    /// r(x), scaled.
    pub fn residual(&self) -> f64 {
        self.residual_square.sqrt()
    }

    /// The objective in the caller's units.
    fn caller_objective(&self) -> f64 {
        self.fit.map_or(self.objective, |fit| fit + self.penalties)
    }

    /// In the caller's units, without the dual vector.
    pub fn summary<M: Columns>(&self, certifier: &Certifier<M>) -> Certificate {
        let units = certifier.facts.units;
        let objective = self.caller_objective();
        let lower_bound = if self.is_fit() { Some(0.0) } else { self.dual_bound(certifier, objective) };
        let sound = |v: f64| v.is_finite() && (self.lost == 0.0 || v.abs() > 1e15 * self.lost);
        Certificate {
            objective: if sound(objective) { to_caller(objective, units.objective()) } else { None },
            residual_norm: self.fit.filter(|&fit| sound(fit)).and_then(|fit| to_caller((2.0 * fit).sqrt(), units.norm())),
            lower_bound: lower_bound.filter(|v| v.is_finite()).and_then(|v| to_caller(v, units.objective())),
            relative_gap: self.proved_gap(),
            natural_residual: if sound(self.residual_square) { to_caller(self.residual(), units.norm()) } else { None },
            relative_residual: if sound(self.residual_square) {
                relative(self.residual(), certifier.residual_at_zero())
            } else {
                None
            },
            support: self.support,
            dual: Vec::new(),
        }
    }

    /// The bound as one on the caller's objective, still scaled.
    fn dual_bound<M: Columns>(&self, certifier: &Certifier<M>, objective: f64) -> Option<f64> {
        self.bound.value.map(|bound| match certifier.half_rhs_square {
            Some(low) => {
                // The least residual moves by no more than b does.
                let least = (low + bound - 4.0 * UNIT * (low + bound.abs())).max(0.0);
                let error = certifier.shift_error();
                let least = if error == 0.0 { least } else { down(0.5 * (down((2.0 * least).sqrt()) - error).max(0.0).powi(2)) };
                least.min(objective)
            }
            None => bound.min(objective),
        })
    }

    /// In the caller's units.
    pub fn into_certificate<M: Columns>(self, certifier: &Certifier<M>) -> Certificate {
        let mut certificate = self.summary(certifier);
        if self.is_fit() {
            let unit = certifier.facts.units.rhs;
            let b = certifier.facts.rhs.as_deref().unwrap_or_default();
            certificate.dual = (0..b.len()).map(|i| if certifier.weight(i) == 0.0 { 0.0 } else { ldexp(b[i], unit) }).collect();
        } else if self.is_bounded() {
            let unit = certifier.facts.units.rhs;
            let Bound { tau, shift, .. } = self.bound;
            // τ = 0 stands for y = 0 whatever Ax is, an infinite one too; and rows without weight have no part in it.
            let multiple = |i: usize| if tau == 0.0 { 0.0 } else { tau * self.image[i] };
            let dual = |i: usize| if certifier.weight(i) == 0.0 { 0.0 } else { ldexp(multiple(i) + shift, unit) };
            certificate.dual = (0..self.image.len()).map(dual).collect();
        }
        certificate
    }
}

/// amount/|scale|, where 0/0 is 0 and anything else that is not finite is unknown.
pub(crate) fn relative(amount: f64, scale: f64) -> Option<f64> {
    if amount <= 0.0 {
        return Some(0.0);
    }
    let ratio = up(amount / scale.abs());
    (ratio.is_finite() && scale.is_finite()).then_some(ratio)
}
