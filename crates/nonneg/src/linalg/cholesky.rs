//! A Cholesky factor that grows and shrinks with the set of variables.

use std::sync::atomic::{AtomicU64, Ordering};

use faer::{MatMut, MatRef};

use super::blocked::{add_square, factor, solve_rows};
use crate::matrix::kernels::{axpy, dense_dot, rotate};

/// A variable whose pivot (its squared distance from the span of those before it) is at most this part of its squared
/// length counts as dependent: rounding errors of a Gram matrix reach as far.
pub const PIVOT: f64 = 1.0 / (1u64 << 43) as f64;

/// How much faster a multiply-add is in a matrix product than in a rotation, about.
const PRODUCT_SPEED: f64 = 2.0;

/// L with LLᵀ = G, G symmetric positive definite over an ordered list of variables.
#[derive(Debug, Default)]
pub struct Cholesky {
    /// Column j of L starts at j·stride; what lies above the diagonal means nothing.
    values: Vec<f64>,
    stride: usize,
    len: usize,
    work: AtomicU64,
}

/// A new variable depends on those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dependent {
    /// How many of the new variables were appended: the place, among them, of the one that failed.
    pub appended: usize,
}

impl Clone for Cholesky {
    fn clone(&self) -> Self {
        let mut copy = Self::new();
        copy.reserve(self.len);
        copy.copy_from(self);
        copy.len = self.len;
        copy
    }
}

impl Cholesky {
    /// The factor of no variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of variables.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no variables.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets all variables, keeps the memory.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Multiply-adds since the last call.
    pub fn work(&mut self) -> u64 {
        std::mem::take(self.work.get_mut())
    }

    /// Lᵢⱼ, i ≥ j.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        assert!(j <= i && i < self.len);
        self.values[j * self.stride + i]
    }

    /// Appends `count` variables: `cross` is G[old, new], `corner` is G[new, new] (its lower triangle is read), both
    /// column after column.
    ///
    /// At the first variable whose pivot is at most [`PIVOT`] times its diagonal entry of G it stops; the new variables
    /// before that one stay appended.
    pub fn extend(&mut self, cross: &[f64], corner: &[f64], count: usize) -> Result<(), Dependent> {
        let old = self.len;
        assert_eq!(cross.len(), old * count);
        assert_eq!(corner.len(), count * count);
        if count == 0 {
            return Ok(());
        }
        self.reserve(old + count);
        if count == 1 {
            return self.extend_by_one(cross, corner[0]);
        }
        for p in 0..old {
            let rows = &mut self.values[p * self.stride + old..][..count];
            for (j, value) in rows.iter_mut().enumerate() {
                *value = cross[j * old + p];
            }
        }
        for j in 0..count {
            let start = (old + j) * self.stride + old;
            self.values[start + j..start + count].copy_from_slice(&corner[j * count + j..(j + 1) * count]);
        }
        let size = old + count;
        let all = MatMut::from_column_major_slice_with_stride_mut(&mut self.values, size, size, self.stride);
        let (known, _, mut rows, mut square) = all.split_at_mut(old, old);
        solve_rows(known.as_ref(), rows.as_mut());
        add_square(square.as_mut(), -1.0, rows.as_ref(), |_| old);
        let outcome = factor(square, |j| PIVOT * corner[j * count + j]);
        self.count(old * old * count / 2 + old * count * count / 2 + count * count * count / 6);
        let appended = outcome.err().unwrap_or(count);
        self.len = old + appended;
        if appended < count { Err(Dependent { appended }) } else { Ok(()) }
    }

    fn extend_by_one(&mut self, cross: &[f64], diagonal: f64) -> Result<(), Dependent> {
        let (old, stride) = (self.len, self.stride);
        let mut row = cross.to_vec();
        self.forward(&mut row);
        self.count(old * old / 2 + old);
        let pivot = diagonal - dense_dot(&row, &row);
        if pivot.is_nan() || pivot <= PIVOT * diagonal {
            return Err(Dependent { appended: 0 });
        }
        for (p, value) in row.into_iter().enumerate() {
            self.values[p * stride + old] = value;
        }
        self.values[old * stride + old] = pivot.sqrt();
        self.len += 1;
        Ok(())
    }

    /// Removes the variables at these positions, given in increasing order. The factor changes from the first one on.
    pub fn remove(&mut self, positions: &[usize]) {
        let Some(&first) = positions.first() else { return };
        assert!(positions.is_sorted_by(|a, b| a < b) && positions[positions.len() - 1] < self.len);
        let mut leaving = positions.iter().peekable();
        let kept: Vec<usize> = (first..self.len).filter(|p| leaving.next_if_eq(&p).is_none()).collect();

        let (removed, tail) = (positions.len(), kept.len());
        let tail_after = |&p: &usize| kept.len() - kept.partition_point(|&k| k < p);
        let by_rotations: f64 = positions.iter().map(tail_after).map(|t| 2.0 * (t * t) as f64).sum();
        let afresh = (tail * tail) as f64 * (tail as f64 / 3.0 + removed as f64 / 4.0);
        let fresh = if by_rotations * PRODUCT_SPEED > afresh { self.refactored(first, &kept) } else { None };
        self.count(if fresh.is_some() { afresh as usize } else { by_rotations as usize });

        let leaving = if fresh.is_some() { &[] } else { positions };
        let vectors: Vec<Vec<f64>> = leaving.iter().map(|&p| self.tail_of_column(p, &kept)).collect();
        self.compact(first, &kept);
        match fresh {
            Some(square) => {
                for j in 0..tail {
                    let start = (first + j) * self.stride + first;
                    self.values[start + j..start + tail].copy_from_slice(&square[j * tail + j..(j + 1) * tail]);
                }
            }
            None => self.rotate_in(first, &kept, leaving, vectors),
        }
    }

    /// Column p in the kept rows; zero above the diagonal.
    fn tail_of_column(&self, p: usize, kept: &[usize]) -> Vec<f64> {
        kept.iter().map(|&k| if k >= p { self.values[p * self.stride + k] } else { 0.0 }).collect()
    }

    /// Closes the gaps: kept rows and columns move up, none past its source.
    fn compact(&mut self, first: usize, kept: &[usize]) {
        for p in 0..first {
            let column = &mut self.values[p * self.stride..][..self.len];
            for (i, &k) in kept.iter().enumerate() {
                column[first + i] = column[k];
            }
        }
        for (j, &source) in kept.iter().enumerate() {
            for (i, &k) in kept.iter().enumerate().skip(j) {
                self.values[(first + j) * self.stride + first + i] = self.values[source * self.stride + k];
            }
        }
        self.len = first + kept.len();
    }

    /// With the leaving columns v gone from L, G of the kept variables is LLᵀ + Σvvᵀ: each column of L takes up its part
    /// of every v by a rotation.
    fn rotate_in(&mut self, first: usize, kept: &[usize], leaving: &[usize], mut vectors: Vec<Vec<f64>>) {
        for (j, &source) in kept.iter().enumerate() {
            let column = &mut self.values[(first + j) * self.stride + first + j..][..kept.len() - j];
            for (vector, &p) in vectors.iter_mut().zip(leaving) {
                let vector = &mut vector[j..];
                if p > source || vector[0] == 0.0 {
                    continue;
                }
                // No overflow: the sum of squares is at most the diagonal entry of G.
                let radius = (column[0] * column[0] + vector[0] * vector[0]).sqrt();
                let (cos, sin) = (column[0] / radius, vector[0] / radius);
                rotate(cos, sin, column, vector);
                column[0] = radius;
            }
        }
    }

    /// The trailing square of the factor without the leaving variables, made afresh from MMᵀ, M the kept rows of the
    /// trailing columns; none if rounding leaves a pivot that is not positive.
    fn refactored(&self, first: usize, kept: &[usize]) -> Option<Vec<f64>> {
        let (tail, depth) = (kept.len(), self.len - first);
        let mut rows = Vec::with_capacity(tail * depth);
        for p in first..self.len {
            rows.extend(kept.iter().map(|&k| if k >= p { self.values[p * self.stride + k] } else { 0.0 }));
        }
        let mut square = vec![0.0; tail * tail];
        let mut target = MatMut::from_column_major_slice_mut(&mut square, tail, tail);
        let rows = MatRef::from_column_major_slice(&rows, tail, depth);
        add_square(target.as_mut(), 1.0, rows, |k| kept[k - 1] + 1 - first);
        factor(target, |_| 0.0).is_ok().then_some(square)
    }

    /// LLᵀz = r, in place.
    pub fn solve(&self, r: &mut [f64]) {
        assert_eq!(r.len(), self.len);
        self.forward(r);
        self.backward(r);
        self.count(self.len * self.len);
    }

    /// Lz = r, in place.
    fn forward(&self, r: &mut [f64]) {
        for j in 0..self.len {
            let column = &self.values[j * self.stride..][j..self.len];
            let (head, rest) = r[j..].split_at_mut(1);
            head[0] /= column[0];
            let value = head[0];
            if value != 0.0 {
                axpy(-value, &column[1..], rest);
            }
        }
    }

    /// Lᵀz = r, in place.
    fn backward(&self, r: &mut [f64]) {
        for j in (0..self.len).rev() {
            let column = &self.values[j * self.stride..][j..self.len];
            r[j] = (r[j] - dense_dot(&column[1..], &r[j + 1..])) / column[0];
        }
    }

    /// Makes room for `size` variables; what is allocated grows at least by half in each direction.
    fn reserve(&mut self, size: usize) {
        if size <= self.stride {
            return;
        }
        // Columns a large power of two apart would fight for the same places in the cache.
        let stride = size.max(self.stride * 3 / 2).next_multiple_of(8) | 8;
        let old = std::mem::replace(self, Self { values: vec![0.0; stride * stride], stride, ..Self::default() });
        self.copy_from(&old);
        (self.len, self.work) = (old.len, old.work);
    }

    /// Copies the entries of a factor that fits.
    fn copy_from(&mut self, other: &Self) {
        for j in 0..other.len {
            let source = &other.values[j * other.stride..][j..other.len];
            self.values[j * self.stride..][j..other.len].copy_from_slice(source);
        }
    }

    fn count(&self, multiply_adds: usize) {
        self.work.fetch_add(multiply_adds as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
