//! A QR factorisation that grows and shrinks with the set of columns. It works on the columns themselves, not on their Gram
//! matrix, and so loses half as many digits.

use super::packed::Packed;
use crate::matrix::kernels::{axpy, axpy_four, dense_dot, dot_four, rotate};

/// A column whose distance from the span of those before it is at most this part of its length counts as dependent.
const DEPENDENT: f64 = 64.0 * f64::EPSILON;

/// What is left of a column, as a part of what there was, below which it is made orthogonal once more.
const REPEAT: f64 = 0.1;

/// Columns that are taken out of another at a time: it is read and written once for all of them.
const TOGETHER: usize = 4;

/// QR = A over an ordered list of columns, Q with orthonormal columns (kept), R upper triangular; and Qᵀb beside them.
#[derive(Debug, Default)]
pub struct Qr {
    rows: usize,
    /// Column after column.
    q: Vec<f64>,
    r: Packed,
    /// Qᵀb.
    pub projection: Vec<f64>,
    /// (I − QQᵀ)b.
    pub residual: Vec<f64>,
    /// Room for one column of R, and for the rotations that take one out.
    shares: Vec<f64>,
    rotations: Vec<(f64, f64)>,
    /// Multiply-adds that columns have taken that came one by one, or left.
    pub work: u64,
}

impl Qr {
    /// Of no columns.
    pub fn new(b: &[f64]) -> Self {
        Self { rows: b.len(), residual: b.to_vec(), ..Self::default() }
    }

    /// Of p columns at once, by Householder reflections, or nothing if they depend on each other.
    pub fn of(b: &[f64], columns: &[f64]) -> Option<Self> {
        let (m, p) = (b.len(), columns.len() / b.len());
        if p == 0 || p > m {
            return None;
        }
        let factor = faer::MatRef::from_column_major_slice(columns, m, p).qr();
        let (q, r) = (factor.compute_thin_Q(), factor.thin_R());
        let mut qr = Self::new(b);
        for j in 0..p {
            let column: Vec<f64> = (0..=j).map(|i| r[(i, j)]).collect();
            if column[j].abs() <= DEPENDENT * norm(&column) {
                return None;
            }
            qr.r.push(&column[..j], column[j]);
            qr.q.extend(q.col(j).iter());
        }
        qr.projection = vec![0.0; p];
        // Twice: the second time takes out what rounding left of the first.
        for _ in 0..2 {
            remove_span(&qr.q, &mut qr.residual, &mut qr.projection);
        }
        Some(qr)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.projection.len()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.projection.is_empty()
    }

    fn column(&self, j: usize) -> &[f64] {
        &self.q[j * self.rows..(j + 1) * self.rows]
    }

    /// Appends the column that `write` writes, if it does not depend on the others and b gains from a positive multiple of
    /// it; says whether it did.
    pub fn push(&mut self, write: impl FnOnce(&mut [f64])) -> bool {
        let (m, p) = (self.rows, self.len());
        let start = p * m;
        self.q.resize(start + m, 0.0);
        let (known, new) = self.q.split_at_mut(start);
        write(new);
        let length = norm(new);
        self.shares.clear();
        self.shares.resize(p, 0.0);
        // Gram–Schmidt; a second time where much cancelled in the first, which is enough (Daniel, Gragg, Kaufman and Stewart
        // 1976).
        let (mut before, mut distance) = (f64::INFINITY, length);
        while distance < REPEAT * before && distance > DEPENDENT * length {
            remove_span(known, new, &mut self.shares);
            (before, distance) = (distance, norm(new));
            self.work += 2 * (m * p) as u64;
        }
        let inverse = 1.0 / distance;
        let gain = dense_dot(new, &self.residual) * inverse;
        let fits = distance > DEPENDENT * length && gain > 0.0;
        if !fits {
            self.q.truncate(start);
            return false;
        }
        new.iter_mut().for_each(|value| *value *= inverse);
        axpy(-gain, new, &mut self.residual);
        self.r.push(&self.shares, distance);
        self.projection.push(gain);
        true
    }

    /// Takes out the column at this place.
    pub fn remove(&mut self, place: usize) {
        let (m, p) = (self.rows, self.len());
        self.work += 4 * (m * (p - place)) as u64;
        self.r.remove(place, &mut self.rotations);
        for (i, &(cos, sin)) in (place..).zip(&self.rotations) {
            let (left, right) = self.q.split_at_mut((i + 1) * m);
            rotate(cos, sin, &mut left[i * m..], &mut right[..m]);
            let (upper, lower) = (self.projection[i], self.projection[i + 1]);
            self.projection[i] = cos * upper + sin * lower;
            self.projection[i + 1] = cos * lower - sin * upper;
        }
        if let Some(part) = self.projection.pop() {
            axpy(part, &self.q[(p - 1) * m..], &mut self.residual);
        }
        self.q.truncate((p - 1) * m);
    }

    /// The least squares solution R⁻¹Qᵀb.
    pub fn solve(&self, x: &mut Vec<f64>) {
        x.clear();
        x.extend_from_slice(&self.projection);
        self.r.solve_upper(x);
    }

    /// R⁻¹Qᵀv for another v.
    pub fn solve_for(&self, v: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = (0..self.len()).map(|j| dense_dot(self.column(j), v)).collect();
        self.r.solve_upper(&mut x);
        x
    }

    /// (RᵀR)⁻¹v.
    pub fn solve_normal(&self, v: &[f64]) -> Vec<f64> {
        let mut x = v.to_vec();
        self.r.solve(&mut x);
        x
    }
}

/// Takes what lies along orthonormal `columns` out of v, and adds how much that was to `shares`.
fn remove_span(columns: &[f64], v: &mut [f64], shares: &mut [f64]) {
    let m = v.len();
    let mut blocks = columns.chunks_exact(TOGETHER * m);
    let (head, tail) = shares.as_chunks_mut::<TOGETHER>();
    for (block, shares) in blocks.by_ref().zip(head) {
        let columns: [&[f64]; TOGETHER] = std::array::from_fn(|k| &block[k * m..(k + 1) * m]);
        let parts = dot_four(columns, v);
        axpy_four(parts.map(|part| -part), columns, v);
        shares.iter_mut().zip(parts).for_each(|(share, part)| *share += part);
    }
    for (column, share) in blocks.remainder().chunks_exact(m).zip(tail) {
        let part = dense_dot(column, v);
        *share += part;
        axpy(-part, column, v);
    }
}

fn norm(v: &[f64]) -> f64 {
    dense_dot(v, v).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    fn columns(m: usize, n: usize, random: &mut Random) -> Vec<Vec<f64>> {
        (0..n).map(|_| (0..m).map(|_| random.unit() - 0.3).collect()).collect()
    }

    /// Q orthonormal, QR = A, Qᵀb and the residual as defined.
    fn check(qr: &Qr, columns: &[&Vec<f64>], b: &[f64]) {
        assert_eq!(qr.len(), columns.len());
        for (j, column) in columns.iter().enumerate() {
            for k in 0..=j {
                let expected = if j == k { 1.0 } else { 0.0 };
                assert!((dense_dot(qr.column(j), qr.column(k)) - expected).abs() < 1e-14);
            }
            let mut back = vec![0.0; b.len()];
            (0..=j).for_each(|i| axpy(qr.r.column(j)[i], qr.column(i), &mut back));
            assert!(back.iter().zip(*column).all(|(x, y)| (x - y).abs() < 1e-13), "column {j}");
            assert!((dense_dot(qr.column(j), b) - qr.projection[j]).abs() < 1e-13);
            assert!(dense_dot(qr.column(j), &qr.residual).abs() < 1e-13);
        }
        let products: Vec<f64> = columns.iter().map(|column| dense_dot(column, b)).collect();
        let (mut x, y) = (Vec::new(), qr.solve_normal(&products));
        qr.solve(&mut x);
        assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-6 * (1.0 + x.abs())), "{x:?} {y:?}");
    }

    #[test]
    fn a_factor_that_grew_and_shrank_is_that_of_its_columns() {
        let mut random = Random::new(3);
        for case in 0..60 {
            let (m, n) = (4 + case % 17, 1 + case % 9);
            let all = columns(m, n.min(m), &mut random);
            let b: Vec<f64> = (0..m).map(|_| random.unit()).collect();
            let mut held: Vec<&Vec<f64>> = Vec::new();
            let mut qr = Qr::new(&b);
            for column in &all {
                if qr.push(|out| out.copy_from_slice(column)) {
                    held.push(column);
                }
                check(&qr, &held, &b);
                if held.len() > 2 {
                    let place = (random.unit() * held.len() as f64) as usize;
                    qr.remove(place);
                    held.remove(place);
                    check(&qr, &held, &b);
                }
            }
            let flat: Vec<f64> = held.iter().flat_map(|column| column.iter().copied()).collect();
            if let Some(at_once) = Qr::of(&b, &flat) {
                check(&at_once, &held, &b);
                let (mut x, mut y) = (Vec::new(), Vec::new());
                at_once.solve(&mut x);
                qr.solve(&mut y);
                assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-8 * (1.0 + y.abs())));
            }
        }
    }

    #[test]
    fn columns_that_depend_on_others_are_refused() {
        let b = [1.0, 1.0, 1.0];
        let mut qr = Qr::new(&b);
        assert!(qr.push(|out| out.copy_from_slice(&[1.0, 2.0, 3.0])));
        assert!(!qr.push(|out| out.copy_from_slice(&[2.0, 4.0, 6.0])));
        assert_eq!(qr.len(), 1);
        assert!(Qr::of(&b, &[1.0, 2.0, 3.0, 2.0, 4.0, 6.0]).is_none());
    }
}
