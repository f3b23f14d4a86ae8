//! One coordinate sweep before a certificate is taken.

use crate::matrix::{Column, Columns};
use crate::presolve::Reduced;

/// Minimises f along each coordinate in turn. f never rises, and the tiny wrong entries of an averaged point, which
/// cost a certificate dearly, go to zero. `weighted_image` is WAx on entry and on return.
pub fn coordinate_sweep<M: Columns>(problem: &Reduced<M>, x: &mut [f64], weighted_image: &mut [f64]) -> u64 {
    let mut work = 0;
    for k in 0..problem.len() {
        let (column, scale) = (problem.column(k), problem.scale[k]);
        let gradient = scale * column.dot(weighted_image) - problem.linear[k] + problem.ridge(k) * x[k];
        work += column.len() as u64;
        let moved = (x[k] - gradient / problem.curvature(k)).clamp(0.0, problem.upper[k]);
        let change = moved - x[k];
        if change != 0.0 {
            x[k] = moved;
            match &problem.weights {
                None => column.add_to(scale, change, weighted_image),
                Some(w) => column.for_each(|i, a| weighted_image[i] += change * scale * a * w[i]),
            }
        }
    }
    work
}
