//! A point with its image, as the engines move it, and what it is worth in plain arithmetic: a guide for the engines, no
//! proof.

use crate::certificate::{DualTerm, best_scale};
use crate::matrix::{Column, Columns, for_each_column};
use crate::presolve::Reduced;

/// x and WAx.
#[derive(Debug, Clone)]
pub struct Point {
    /// x.
    pub x: Vec<f64>,
    /// WAx.
    pub weighted_image: Vec<f64>,
}

impl Point {
    /// x with its image Ax.
    pub fn new<M: Columns>(problem: &Reduced<M>, x: Vec<f64>, image: Vec<f64>) -> Self {
        Self { x, weighted_image: problem.weigh(image) }
    }

    /// Takes over another point of the same problem.
    pub fn copy_from(&mut self, other: &Point) {
        self.x.copy_from_slice(&other.x);
        self.weighted_image.copy_from_slice(&other.weighted_image);
    }

    /// point + factor·(point − before).
    pub fn extrapolate(&mut self, point: &Point, before: &Point, factor: f64) {
        let beyond = |out: &mut [f64], point: &[f64], before: &[f64]| {
            out.iter_mut().zip(point.iter().zip(before)).for_each(|(out, (p, b))| *out = p + factor * (p - b));
        };
        beyond(&mut self.x, &point.x, &before.x);
        beyond(&mut self.weighted_image, &point.weighted_image, &before.weighted_image);
    }

    /// ∂f/∂xₖ.
    #[inline]
    pub fn slope<M: Columns>(&self, problem: &Reduced<M>, k: usize) -> f64 {
        let product = problem.scale[k] * problem.column(k).dot(&self.weighted_image);
        product - problem.linear[k] + problem.ridge(k) * self.x[k]
    }

    /// xₖ ← value.
    #[inline]
    pub fn set<M: Columns>(&mut self, problem: &Reduced<M>, k: usize, value: f64) {
        let change = value - self.x[k];
        self.x[k] = value;
        add_weighted(problem, k, change, &mut self.weighted_image);
    }

    /// Takes variables that are out of their bounds to them. Returns the multiply-adds with entries of A.
    pub fn clip<M: Columns>(&mut self, problem: &Reduced<M>, variables: impl Iterator<Item = usize>) -> u64 {
        let mut work = 0;
        for k in variables {
            let inside = self.x[k].clamp(0.0, problem.upper[k]);
            if inside != self.x[k] {
                self.set(problem, k, inside);
                work += problem.column_len(k) as u64;
            }
        }
        work
    }

    /// The minimiser of f along coordinate k, and the slope that it came from.
    #[inline]
    pub fn best_along<M: Columns>(&self, problem: &Reduced<M>, k: usize) -> f64 {
        (self.x[k] - self.slope(problem, k) / problem.curvature(k)).clamp(0.0, problem.upper[k])
    }

    /// One coordinate sweep: f is minimised along each coordinate in turn and never rises. The tiny wrong entries of an averaged
    /// point, which cost a certificate dearly, go to zero. Returns the multiply-adds with entries of A.
    pub fn sweep<M: Columns>(&mut self, problem: &Reduced<M>) -> u64 {
        for k in 0..problem.len() {
            let best = self.best_along(problem, k);
            if best != self.x[k] {
                self.set(problem, k, best);
            }
        }
        problem.entries(0..problem.len())
    }

    /// f here minus f at another point. Not the difference of two numbers of the size of f, whose rounding errors would
    /// drown what the last digits of x gain.
    pub fn objective_above<M: Columns>(&self, problem: &Reduced<M>, other: &Point) -> f64 {
        let rows = self.weighted_image.iter().zip(&other.weighted_image).map(|(a, b)| (a - b) * (a + b));
        let image: f64 = match &problem.weights {
            None => rows.sum(),
            Some(w) => rows.zip(w).filter(|(_, w)| **w > 0.0).map(|(v, w)| v / w).sum(),
        };
        let own = |k: usize| (self.x[k] - other.x[k]) * (0.5 * problem.ridge(k) * (self.x[k] + other.x[k]) - problem.linear[k]);
        0.5 * image + (0..self.x.len()).map(own).sum::<f64>()
    }

    /// How far f falls on the way to another point: 1 if all the way, 0 if not at all.
    pub fn lowest_towards<M: Columns>(&self, problem: &Reduced<M>, other: &Point) -> f64 {
        let rows = other.weighted_image.iter().zip(&self.weighted_image).map(|(a, b)| (a - b) * (a - b));
        let image: f64 = match &problem.weights {
            None => rows.sum(),
            Some(w) => rows.zip(w).filter(|(_, w)| **w > 0.0).map(|(v, w)| v / w).sum(),
        };
        let own = |k: usize| problem.ridge(k) * (self.x[k] - other.x[k]).powi(2);
        let bend = image + (0..self.x.len()).map(own).sum::<f64>();
        let slope = other.objective_above(problem, self) - 0.5 * bend;
        if slope < 0.0 { (-slope / bend).min(1.0) } else { 0.0 }
    }

    /// A part of the way to another point.
    pub fn move_towards(&mut self, other: Point, part: f64) {
        if part == 1.0 {
            *self = other; // exactly at its bounds
            return;
        }
        self.x.iter_mut().zip(&other.x).for_each(|(x, other)| *x += part * (other - *x));
        self.weighted_image.iter_mut().zip(&other.weighted_image).for_each(|(v, other)| *v += part * (other - *v));
    }

    /// ∇f(x): one pass.
    pub fn gradient<M: Columns>(&self, problem: &Reduced<M>) -> Vec<f64> {
        for_each_column(problem.matrix, &problem.columns, |k| self.slope(problem, k))
    }
}

/// WAx for an x whose entry k changes.
#[inline]
pub fn add_weighted<M: Columns>(problem: &Reduced<M>, k: usize, change: f64, weighted_image: &mut [f64]) {
    let (column, scale) = (problem.column(k), problem.scale[k]);
    match &problem.weights {
        None => column.add_to(scale, change, weighted_image),
        Some(w) => column.for_each(|i, a| weighted_image[i] += change * scale * a * w[i]),
    }
}

/// How far x is from the optimum of its problem: the duality gap f(x) − D where there is one, otherwise r(x)². Both are in
/// units of f.
pub fn distance<M: Columns>(problem: &Reduced<M>, point: &Point, gradient: &[f64]) -> f64 {
    let term = |k: usize| Coordinate {
        x: point.x[k],
        slope: gradient[k],
        linear: problem.linear[k],
        curvature: problem.curvature(k),
        ridge: problem.ridge(k),
        upper: problem.upper[k],
    };
    distance_of(problem.len(), true, term)
}

/// f(x) = ½xᵀ(∇f(x) − c).
pub fn objective<M: Columns>(problem: &Reduced<M>, point: &Point, gradient: &[f64]) -> f64 {
    let term = |k: usize| point.x[k] * (gradient[k] - problem.linear[k]);
    0.5 * (0..problem.len()).map(term).sum::<f64>()
}

/// One variable, for [`distance_of`].
#[derive(Debug, Clone, Copy)]
pub struct Coordinate {
    pub x: f64,
    pub slope: f64,
    pub linear: f64,
    pub curvature: f64,
    pub ridge: f64,
    pub upper: f64,
}

/// [`distance`] from the variables alone: ‖Ax‖²_W = Σ xₖ·(AᵀWAx)ₖ. The dual point is Ax, or its best multiple where
/// `rescaled`; columns outside the set, which this does not see, may rule that multiple out.
pub fn distance_of(len: usize, rescaled: bool, coordinate: impl Fn(usize) -> Coordinate) -> f64 {
    let (mut square, mut own, mut residual, mut bounded) = (0.0, 0.0, 0.0, true);
    let mut terms = Vec::with_capacity(len);
    for k in 0..len {
        let Coordinate { x, slope, linear, curvature, ridge, upper } = coordinate(k);
        let product = slope + linear - ridge * x;
        square += x * product;
        own += x * (0.5 * ridge * x - linear);
        let change = (slope / curvature).max(x - upper).min(x);
        residual += curvature * change * change;
        bounded &= upper.is_finite() || ridge > 0.0;
        terms.push(DualTerm { linear, product, cap: upper, ridge });
    }
    if !bounded {
        return residual;
    }
    let tau = if rescaled { best_scale(&terms, square) } else { 1.0 };
    let dual = -0.5 * tau * tau * square - terms.iter().map(|term| term.penalty(tau)).sum::<f64>();
    0.5 * square + own - dual
}
