//! G = AᵀWA + Λ as the exact engine sees it: by columns, with a factor of G on some of its variables.

use super::gram::KnownGram;
use crate::linalg::Dependent;
use crate::matrix::Columns;
use crate::presolve::Reduced;

/// G on a growing list of variables, each with a place of its own.
pub trait Curvature: Default {
    /// Factors of G on some places.
    type Factor: Factor<Self>;

    /// The variables, in order of arrival.
    fn variables(&self) -> &[usize];

    /// Where a variable stands.
    fn place(&self, variable: usize) -> Option<usize>;

    /// Gₚₚ.
    fn diagonal(&self, place: usize) -> f64;

    /// Adds variables that are not there yet, from what is known where that covers them. Returns the multiply-adds.
    fn add<M: Columns>(&mut self, problem: &Reduced<M>, new: &[usize], known: &KnownGram) -> u64;

    /// Keeps only the variables at the given places, in that order.
    fn keep(&mut self, places: &[usize]);

    /// out += change·G:ₚ. Returns the multiply-adds.
    fn add_column(&self, place: usize, change: f64, out: &mut [f64]) -> u64;

    /// out += Σ dₚG:ₚ over some places. Returns the multiply-adds.
    fn add_columns(&self, places: &[usize], d: &[f64], out: &mut [f64]) -> u64;
}

/// A factor of G + damping·diag(G) on a list of places, which who calls keeps.
pub trait Factor<G>: Default {
    /// How many places it takes well at once; somebody may want to look at the limits in between.
    const AT_ONCE: usize;

    /// Whether it follows a list that changes by updates, and is not made anew.
    const FOLLOWS: bool;

    /// Appends places to those that it has. Where one depends on those before it, it stops, and tells how many it has appended.
    fn extend(&mut self, gram: &G, face: &[usize], new: &[usize], damping: f64) -> Result<(), Dependent>;

    /// Removes the places at these positions of the list, given in increasing order.
    fn remove(&mut self, positions: &[usize]);

    /// (G + damping)z = r on the list as it is now, in place.
    fn solve(&mut self, gram: &G, face: &[usize], damping: f64, r: &mut [f64]);

    /// Forgets all places.
    fn clear(&mut self);

    /// Multiply-adds since the last call.
    fn work(&mut self) -> u64;
}
