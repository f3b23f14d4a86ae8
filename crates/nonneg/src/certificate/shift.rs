//! b as seen from the origins of x: with x = o + z, Ax − b = Az − (b − Ao).

use super::sums::{UNIT, up};
use crate::error::{Error, Result};
use crate::matrix::{Column, Columns};
use crate::problem::{LeastSquares, Target};

/// Products below this may have lost digits that nobody sees.
const TINY: f64 = 1e-280;

/// b − Ao and how far off it can be.
pub struct Shifted {
    pub rhs: Vec<f64>,
    /// A bound on ‖error‖_W, in the caller's units; zero where the arithmetic was exact.
    pub error: f64,
}

/// A sum with its rounding errors beside it.
#[derive(Clone, Copy)]
struct Twofold {
    value: f64,
    rest: f64,
    /// Σ|rounding errors|.
    lost: f64,
}

impl Twofold {
    /// Takes a·o off.
    fn subtract(&mut self, a: f64, o: f64) {
        let product = a * o;
        let product_error = a.mul_add(o, -product);
        let sum = self.value - product;
        let virtual_product = sum - self.value;
        let sum_error = (self.value - (sum - virtual_product)) + (-product - virtual_product);
        self.value = sum;
        self.rest += sum_error - product_error;
        self.lost += sum_error.abs() + product_error.abs();
        if product.abs() < TINY && a != 0.0 && o != 0.0 {
            self.lost += f64::MIN_POSITIVE;
        }
    }
}

impl Shifted {
    /// Of a problem whose origins are not all zero.
    pub fn of<M: Columns>(a: &M, problem: &LeastSquares) -> Result<Option<Self>> {
        let Target::Rhs(b) = problem.target else { return Ok(None) };
        if !problem.is_shifted() {
            return Ok(None);
        }
        let mut rows: Vec<Twofold> = b.iter().map(|&value| Twofold { value, rest: 0.0, lost: 0.0 }).collect();
        let mut count = 0.0;
        for j in (0..a.cols()).filter(|&j| problem.origin(j) != 0.0) {
            let origin = problem.origin(j);
            a.column(j).for_each(|i, a| rows[i].subtract(a, origin));
            count += 1.0;
        }
        let rhs: Vec<f64> = rows.iter().map(|row| row.value + row.rest).collect();
        if !rhs.iter().all(|v| v.is_finite()) {
            return Err(Error::Matrix("b minus A times the lower bounds leaves the range of f64".to_owned()));
        }
        let weight = |i: usize| problem.weights.map_or(1.0, |w| w[i]);
        let error = |i: usize| {
            let row = rows[i];
            if row.lost == 0.0 { 0.0 } else { UNIT * rhs[i].abs() + 8.0 * count * UNIT * row.lost + f64::MIN_POSITIVE }
        };
        let square: f64 = (0..b.len()).map(|i| weight(i) * error(i) * error(i)).sum();
        let largest = (0..b.len()).map(|i| error(i) * weight(i).sqrt()).fold(0.0, f64::max);
        // Where the squares underflow, their number does not.
        let norm = if largest < 1e-140 { largest * (b.len() as f64).sqrt() } else { square.sqrt() };
        Ok(Some(Self { rhs, error: up(1.01 * norm) }))
    }
}
