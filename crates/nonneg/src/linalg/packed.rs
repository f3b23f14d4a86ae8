//! A triangle R that grows and shrinks by columns, one after the other in memory: that of a QR factorisation, or the Cholesky
//! factor RᵀR of a small matrix.

use crate::matrix::kernels::{axpy, dense_dot};

/// Columns shorter than this are not worth the call of a kernel.
const SHORT: usize = 16;

/// R, upper triangular; column j has j + 1 entries, from j(j + 1)/2 on.
#[derive(Debug, Default, Clone)]
pub struct Packed {
    values: Vec<f64>,
    len: usize,
}

impl Packed {
    /// Forgets all columns, keeps the memory.
    pub fn clear(&mut self) {
        self.values.clear();
        self.len = 0;
    }

    /// Becomes a copy, in the memory that there is.
    pub fn copy_from(&mut self, other: &Self) {
        self.values.clone_from(&other.values);
        self.len = other.len;
    }

    /// Column j, to its diagonal entry.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.values[j * (j + 1) / 2..][..=j]
    }

    /// Appends a column: what is above the diagonal, and the diagonal entry.
    pub fn push(&mut self, above: &[f64], diagonal: f64) {
        assert_eq!(above.len(), self.len);
        self.values.extend_from_slice(above);
        self.values.push(diagonal);
        self.len += 1;
    }

    /// For RᵀR = G: appends a variable, given its products with those there are and with itself, if its pivot exceeds
    /// `least` times the latter; says whether it did.
    pub fn extend(&mut self, cross: impl Iterator<Item = f64>, diagonal: f64, least: f64) -> bool {
        let start = self.values.len();
        self.values.extend(cross);
        assert_eq!(self.values.len(), start + self.len);
        let (known, new) = self.values.split_at_mut(start);
        solve_lower(known, new);
        let pivot = diagonal - dot(new, new);
        if pivot.is_nan() || pivot <= least * diagonal {
            self.values.truncate(start);
            return false;
        }
        self.values.push(pivot.sqrt());
        self.len += 1;
        true
    }

    /// Takes out a column. Every later one has an entry below the diagonal then: rotations of rows (i, i + 1), i from `place`
    /// on, take them out, and are left in `rotations` as (cos, sin).
    pub fn remove(&mut self, place: usize, rotations: &mut Vec<(f64, f64)>) {
        rotations.clear();
        for j in place + 1..self.len {
            let (start, target) = (j * (j + 1) / 2, (j - 1) * j / 2);
            for (i, &(cos, sin)) in (place..).zip(rotations.iter()) {
                let (upper, lower) = (self.values[start + i], self.values[start + i + 1]);
                self.values[start + i] = cos * upper + sin * lower;
                self.values[start + i + 1] = cos * lower - sin * upper;
            }
            let (upper, lower) = (self.values[start + j - 1], self.values[start + j]);
            // Columns are of order one: nothing overflows, and what underflows is nothing.
            let length = (upper * upper + lower * lower).sqrt();
            let (cos, sin) = if length > 0.0 { (upper / length, lower / length) } else { (1.0, 0.0) };
            self.values[start + j - 1] = length;
            rotations.push((cos, sin));
            self.values.copy_within(start..start + j, target);
        }
        self.len -= 1;
        self.values.truncate(self.len * (self.len + 1) / 2);
    }

    /// Rx = v, in place.
    pub fn solve_upper(&self, v: &mut [f64]) {
        for j in (0..v.len()).rev() {
            let column = self.column(j);
            v[j] /= column[j];
            let value = v[j];
            if j < SHORT {
                column[..j].iter().zip(&mut v[..j]).for_each(|(r, v)| *v -= value * r);
            } else {
                axpy(-value, &column[..j], &mut v[..j]);
            }
        }
    }

    /// Rᵀx = v, in place.
    pub fn solve_lower(&self, v: &mut [f64]) {
        solve_lower(&self.values, v);
    }

    /// RᵀRx = v, in place.
    pub fn solve(&self, v: &mut [f64]) {
        self.solve_lower(v);
        self.solve_upper(v);
    }
}

fn solve_lower(packed: &[f64], v: &mut [f64]) {
    let mut start = 0;
    for j in 0..v.len() {
        let column = &packed[start..=start + j];
        v[j] = (v[j] - dot(&column[..j], &v[..j])) / column[j];
        start += j + 1;
    }
}

#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    if a.len() < SHORT { a.iter().zip(b).map(|(a, b)| a * b).sum() } else { dense_dot(a, b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    /// A positive definite matrix.
    fn gram(n: usize, random: &mut Random) -> Vec<Vec<f64>> {
        let rows: Vec<Vec<f64>> = (0..n).map(|_| (0..n + 3).map(|_| random.unit() - 0.3).collect()).collect();
        rows.iter().map(|a| rows.iter().map(|b| dot(a, b)).collect()).collect()
    }

    #[test]
    fn a_factor_solves_its_equations_as_variables_come_and_go() {
        let mut random = Random::new(3);
        for n in [1, 2, 5, 16, 17, 40] {
            let g = gram(n, &mut random);
            let (mut factor, mut order, mut rotations) = (Packed::default(), Vec::new(), Vec::new());
            for step in 0..3 * n {
                let j = (step * 7) % n;
                match order.iter().position(|&k| k == j) {
                    Some(place) => {
                        factor.remove(place, &mut rotations);
                        order.remove(place);
                    }
                    None => {
                        assert!(factor.extend(order.iter().map(|&k: &usize| g[k][j]), g[j][j], 1e-12));
                        order.push(j);
                    }
                }
                let x: Vec<f64> = order.iter().map(|_| random.unit()).collect();
                let mut v: Vec<f64> = order.iter().map(|&i| order.iter().zip(&x).map(|(&k, x)| g[i][k] * x).sum()).collect();
                factor.solve(&mut v);
                assert!(x.iter().zip(&v).all(|(x, v)| (x - v).abs() < 1e-8), "{n}: {x:?} {v:?}");
            }
        }
    }

    #[test]
    fn a_dependent_variable_is_refused_and_changes_nothing() {
        let mut factor = Packed::default();
        assert!(factor.extend([].into_iter(), 4.0, 1e-12));
        assert!(!factor.extend([8.0].into_iter(), 16.0, 1e-12));
        assert!(factor.extend([2.0].into_iter(), 5.0, 1e-12));
        let mut v = [6.0, 7.0];
        factor.solve(&mut v);
        assert_eq!((factor.len, v), (2, [1.0, 1.0]));
    }
}
