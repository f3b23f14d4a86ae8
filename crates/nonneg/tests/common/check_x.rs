//! `check_x.py` in Rust: the certified relative gap of x for plain problems, apart from the library's code.
//!
//! It works in plain floating point, so it comes with a bound on its own rounding error.

use super::{Goal, Problem};

/// What `check_x.py` prints, and how far rounding can have moved it.
pub struct Checked {
    pub gap: f64,
    /// |gap − the gap in exact arithmetic| is at most this (to first order, with a factor of four to spare).
    pub rounding: f64,
}

/// `None` where the optimum is x = 0 with f* = 0, or where x is not feasible.
pub fn certified_gap(problem: &Problem, x: &[f64]) -> Option<Checked> {
    assert!(problem.is_plain(), "plain problems only");
    let Goal::Rhs(b) = &problem.goal else { unreachable!("plain problems have b") };
    if x.iter().any(|v| !v.is_finite() || *v < 0.0) {
        return None;
    }
    let (m, n) = (problem.rows, problem.cols);
    let dot = |a: &[f64], y: &[f64]| a.iter().zip(y).map(|(a, y)| a * y).sum::<f64>();
    let c: Vec<f64> = (0..n).map(|j| dot(problem.column(j), b)).collect();
    let square: Vec<f64> = (0..n).map(|j| dot(problem.column(j), problem.column(j))).collect();
    let mut ax = vec![0.0; m];
    for j in 0..n {
        for i in 0..m {
            ax[i] += problem.entry(i, j) * x[j];
        }
    }
    let (yy, cx) = (dot(&ax, &ax), dot(&c, x));
    let f = 0.5 * yy - cx;

    struct Kept {
        c: f64,
        u: f64,
        g: f64,
        /// |A|ᵀ|b|: the size of what was added up to c.
        size: f64,
    }
    let kept: Vec<Kept> = (0..n)
        .filter(|&j| square[j] > 0.0 && c[j] > 0.0)
        .map(|j| Kept {
            c: c[j],
            u: c[j] / square[j],
            g: dot(problem.column(j), &ax),
            size: problem.column(j).iter().zip(b).map(|(a, b)| (a * b).abs()).sum(),
        })
        .collect();
    if kept.is_empty() {
        return None;
    }

    // D(τ) = −½τ²yy − Σ u(c − τg)₊ is concave: its slope Σ_{τ < c/g} ug − τyy falls through zero once.
    let mut order: Vec<(f64, f64)> =
        kept.iter().map(|k| (if k.g > 0.0 { k.c / k.g } else { f64::INFINITY }, k.u * k.g)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut tau = 0.0;
    if yy > 0.0 {
        let mut slope: f64 = order.iter().map(|k| k.1).sum();
        let mut previous: f64 = 0.0;
        for (edge, part) in order.iter().copied().chain([(f64::INFINITY, 0.0)]) {
            if slope / yy <= edge {
                break;
            }
            previous = edge;
            slope -= part;
        }
        tau = (slope / yy).max(previous);
    }
    let value = |t: f64| -0.5 * t * t * yy - kept.iter().map(|k| k.u * (k.c - t * k.g).max(0.0)).sum::<f64>();
    let bound = value(tau).max(value(1.0));
    let rescaled = if yy > 0.0 && cx > 0.0 { -0.5 * cx * cx / yy } else { 0.0 };
    let one_column = kept.iter().map(|k| -0.5 * k.c * k.u).fold(0.0, f64::min);
    let best = f.min(rescaled).min(one_column);

    // Each product or sum of k terms is off by at most k·ε/2 of the sum of absolute terms. f adds ½yy and cᵀx, where an
    // entry of c is off by m·ε/2 of |A|ᵀ|b|. D adds ½τ²yy and u(c − τg)₊: its derivative in c is below 2c/L + u, in g
    // it is τu, and u carries the error of c and of L. A relative error in τ costs that much of τ·Σug at most.
    let t = tau.max(1.0);
    let sizes = yy
        + (0..n).map(|j| x[j] * problem.column(j).iter().zip(b).map(|(a, b)| (a * b).abs()).sum::<f64>()).sum::<f64>()
        + t * t * yy
        + kept.iter().map(|k| k.u * (3.0 * k.size + 2.0 * t * k.g)).sum::<f64>();
    // The numerator, then the relative error of `best`, whose terms are part of the same sizes.
    let unit = (m + n + 8) as f64 * f64::EPSILON;
    let gap = (f - bound).max(0.0) / best.abs();
    let rounding = 4.0 * unit * (sizes / best.abs()) * (1.0 + gap);
    Some(Checked { gap, rounding })
}
