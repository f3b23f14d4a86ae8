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
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    fn unit(rng: &mut Xoshiro256PlusPlus) -> f64 {
        (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(rng: &mut Xoshiro256PlusPlus, limit: usize) -> usize {
        (rng.next_u64() % limit as u64) as usize
    }

    /// G = AᵀA of random nonnegative columns, as a square array.
    struct Gram {
        size: usize,
        values: Vec<f64>,
    }

    impl Gram {
        fn of(rows: usize, columns: &[Vec<f64>]) -> Self {
            let size = columns.len();
            let dot = |a: &[f64], b: &[f64]| (0..rows).map(|i| a[i] * b[i]).sum::<f64>();
            let values = (0..size * size).map(|e| dot(&columns[e / size], &columns[e % size])).collect();
            Self { size, values }
        }
        fn random(rows: usize, size: usize, seed: u64) -> Self {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let columns: Vec<Vec<f64>> = (0..size).map(|_| (0..rows).map(|_| unit(&mut rng)).collect()).collect();
            Self::of(rows, &columns)
        }
        fn at(&self, i: usize, j: usize) -> f64 {
            self.values[j * self.size + i]
        }
        fn block(&self, rows: &[usize], columns: &[usize]) -> Vec<f64> {
            columns.iter().flat_map(|&j| rows.iter().map(move |&i| self.at(i, j))).collect()
        }
        fn extend(&self, factor: &mut Cholesky, order: &mut Vec<usize>, new: &[usize]) -> Result<(), Dependent> {
            let outcome = factor.extend(&self.block(order, new), &self.block(new, new), new.len());
            order.extend(&new[..outcome.err().map_or(new.len(), |e| e.appended)]);
            assert_eq!(factor.len(), order.len());
            outcome
        }
        /// Largest |LLᵀ − G|, each entry relative to its diagonal ones.
        fn defect(&self, factor: &Cholesky, order: &[usize]) -> f64 {
            let mut worst = 0.0f64;
            for (i, &p) in order.iter().enumerate() {
                for (j, &q) in order.iter().enumerate().take(i + 1) {
                    let product: f64 = (0..=j).map(|k| factor.entry(i, k) * factor.entry(j, k)).sum();
                    worst = worst.max((product - self.at(p, q)).abs() / (self.at(p, p) * self.at(q, q)).sqrt());
                }
            }
            worst
        }
        fn fresh(&self, order: &[usize]) -> Cholesky {
            let mut factor = Cholesky::new();
            self.extend(&mut factor, &mut Vec::new(), order).unwrap();
            factor
        }
    }

    fn assert_close(a: &Cholesky, b: &Cholesky, gram: &Gram, order: &[usize]) {
        for i in 0..a.len() {
            for j in 0..=i {
                let difference = (a.entry(i, j) - b.entry(i, j)).abs();
                assert!(difference <= 1e-10 * gram.at(order[i], order[i]).sqrt(), "L[{i},{j}] differs by {difference:e}");
            }
        }
    }

    /// `count` of `from`, in random order.
    fn sample(rng: &mut Xoshiro256PlusPlus, mut from: Vec<usize>, count: usize) -> Vec<usize> {
        (0..count.min(from.len())).map(|_| from.swap_remove(below(rng, from.len()))).collect()
    }

    #[test]
    fn any_sequence_of_changes_gives_the_factor_of_what_is_left() {
        for seed in 0..60 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(1000 + seed);
            let size = 1 + below(&mut rng, 90);
            let gram = Gram::random(2 * size, size, seed);
            let (mut factor, mut order) = (Cholesky::new(), Vec::new());
            for _ in 0..12 {
                let free: Vec<usize> = (0..size).filter(|j| !order.contains(j)).collect();
                let most = if below(&mut rng, 2) == 0 { 2 } else { size };
                let count = below(&mut rng, most + 1);
                gram.extend(&mut factor, &mut order, &sample(&mut rng, free, count)).unwrap();
                let most = if below(&mut rng, 2) == 0 { 2 } else { order.len() };
                let count = below(&mut rng, most + 1);
                let mut leaving = sample(&mut rng, (0..order.len()).collect(), count);
                leaving.sort_unstable();
                factor.remove(&leaving);
                for &p in leaving.iter().rev() {
                    order.remove(p);
                }
                assert_close(&factor, &gram.fresh(&order), &gram, &order);
            }
        }
    }

    /// Many panels and tiles, and both ways of removing.
    #[test]
    fn large_blocks_agree_with_small_ones() {
        let gram = Gram::random(1000, 700, 1);
        let (mut at_once, mut step_by_step, mut order) = (Cholesky::new(), Cholesky::new(), Vec::new());
        let all: Vec<usize> = (0..700).collect();
        gram.extend(&mut at_once, &mut Vec::new(), &all).unwrap();
        for new in [&all[..1], &all[1..2], &all[2..10], &all[10..300], &all[300..301], &all[301..]] {
            gram.extend(&mut step_by_step, &mut order, new).unwrap();
        }
        assert_close(&at_once, &step_by_step, &gram, &order);
        assert!(gram.defect(&at_once, &order) < 1e-13);
        for leaving in [vec![3, 350], (0..700).step_by(3).collect()] {
            let mut factor = gram.fresh(&all);
            factor.remove(&leaving);
            let left: Vec<usize> = all.iter().copied().filter(|j| !leaving.contains(j)).collect();
            assert_close(&factor, &gram.fresh(&left), &gram, &left);
        }
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let gram = Gram::random(900, 600, 2);
        let make = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut factor = gram.fresh(&(0..600).collect::<Vec<_>>());
                factor.remove(&(0..600).step_by(2).collect::<Vec<_>>());
                factor
            })
        };
        let (one, four) = (make(1), make(4));
        for i in 0..one.len() {
            for j in 0..=i {
                assert_eq!(one.entry(i, j).to_bits(), four.entry(i, j).to_bits());
            }
        }
    }

    #[test]
    fn solves() {
        for size in [0, 1, 2, 7, 8, 9, 130, 300] {
            let gram = Gram::random(2 * size, size, 3);
            let order: Vec<usize> = (0..size).collect();
            let factor = gram.fresh(&order);
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
            let z: Vec<f64> = (0..size).map(|_| unit(&mut rng)).collect();
            let mut r: Vec<f64> = (0..size).map(|i| (0..size).map(|j| gram.at(i, j) * z[j]).sum()).collect();
            factor.solve(&mut r);
            for (got, want) in r.iter().zip(&z) {
                assert!((got - want).abs() < 1e-9, "{got} for {want}");
            }
        }
    }

    #[test]
    fn ill_conditioned_matrices_keep_a_small_defect() {
        for seed in 0..30 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let (rows, size) = (30, 12);
            let mut columns: Vec<Vec<f64>> = vec![(0..rows).map(|_| unit(&mut rng)).collect()];
            for _ in 1..size {
                let closeness = 0.5f64.powi(1 + below(&mut rng, 18) as i32);
                let near = columns[0].iter().map(|v| v * (1.0 + closeness * unit(&mut rng))).collect();
                columns.push(near);
            }
            let gram = Gram::of(rows, &columns);
            let (mut factor, mut order) = (Cholesky::new(), Vec::new());
            for j in 0..size {
                let _ = gram.extend(&mut factor, &mut order, &[j]);
            }
            assert!(gram.defect(&factor, &order) < 1e-14 * size as f64);
            factor.remove(&[1]);
            order.remove(1);
            assert!(gram.defect(&factor, &order) < 1e-14 * size as f64);
        }
    }

    #[test]
    fn duplicates_are_dependent_wherever_they_stand() {
        for place in 1..40 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(place as u64);
            let mut columns: Vec<Vec<f64>> = (0..40).map(|_| (0..60).map(|_| unit(&mut rng)).collect()).collect();
            columns[place] = columns[below(&mut rng, place)].clone();
            let gram = Gram::of(60, &columns);
            let all: Vec<usize> = (0..40).collect();
            for known in [0, place / 2, place] {
                let (mut factor, mut order) = (Cholesky::new(), Vec::new());
                gram.extend(&mut factor, &mut order, &all[..known]).unwrap();
                let outcome = gram.extend(&mut factor, &mut order, &all[known..]);
                assert_eq!(outcome, Err(Dependent { appended: place - known }));
                assert!(gram.defect(&factor, &order) < 1e-13);
                // One at a time, and again once its twin is gone.
                assert!(gram.extend(&mut factor, &mut order, &[place]).is_err());
                let twin = (0..place).find(|&j| columns[j] == columns[place]).unwrap();
                factor.remove(&[twin]);
                order.remove(twin);
                gram.extend(&mut factor, &mut order, &[place]).unwrap();
                assert_close(&factor, &gram.fresh(&order), &gram, &order);
            }
        }
        let mut factor = Cholesky::new();
        assert!(factor.extend(&[], &[0.0], 1).is_err() && factor.extend(&[], &[f64::NAN], 1).is_err());
    }

    #[test]
    fn units_change_nothing() {
        let gram = Gram::random(100, 60, 5);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
        let powers: Vec<f64> = (0..60).map(|_| 2f64.powi(below(&mut rng, 201) as i32 - 100)).collect();
        let scaled = Gram { size: 60, values: (0..3600).map(|e| gram.values[e] * powers[e / 60] * powers[e % 60]).collect() };
        let make = |gram: &Gram| {
            let (mut factor, mut order) = (Cholesky::new(), Vec::new());
            gram.extend(&mut factor, &mut order, &(0..30).collect::<Vec<_>>()).unwrap();
            let _ = gram.extend(&mut factor, &mut order, &[40, 41, 3, 50]);
            factor.remove(&[2, 9, 31]);
            order.retain(|j| ![2, 9, 41].contains(j));
            gram.extend(&mut factor, &mut order, &[55]).unwrap();
            (factor, order)
        };
        let ((plain, order), (other, same_order)) = (make(&gram), make(&scaled));
        assert_eq!(order, same_order);
        for i in 0..plain.len() {
            for j in 0..=i {
                assert_eq!((plain.entry(i, j) * powers[order[i]]).to_bits(), other.entry(i, j).to_bits());
            }
        }
    }

    #[test]
    fn work_is_counted_once() {
        let gram = Gram::random(40, 20, 7);
        let mut factor = gram.fresh(&(0..20).collect::<Vec<_>>());
        assert_eq!(factor.work(), 20 * 20 * 20 / 6);
        factor.solve(&mut [1.0; 20]);
        assert_eq!(factor.work(), 400);
        assert_eq!(factor.work(), 0);
    }
}
