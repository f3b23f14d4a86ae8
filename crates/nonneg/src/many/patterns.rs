//! Sets of passive columns that earlier right-hand sides ended with, each with its factor: a set that comes back is not factored
//! again.

use super::exchange::Task;
use crate::linalg::Packed;

/// Sets that are kept; the one that was of use longest ago makes way.
const KEPT: usize = 16;

/// They are looked through as long as, after so many trials, a set has come back in one of so many: few at first, when all are new.
const EXPECTATIONS: [(usize, usize); 2] = [(12, 4), (2 * KEPT, 2)];

/// Sets of the right-hand sides before.
#[derive(Default)]
pub struct Patterns {
    kept: Vec<Pattern>,
    /// How many of them are in use; the others are memory for later.
    count: usize,
    /// Right-hand sides so far.
    clock: usize,
    asked: usize,
    came_back: usize,
    /// The minimiser over one of them, and over the best.
    trial: Vec<f64>,
    minimiser: Vec<f64>,
}

#[derive(Default)]
struct Pattern {
    columns: Vec<usize>,
    factor: Packed,
    fingerprint: u64,
    used: usize,
}

impl Patterns {
    /// Forgets all, keeps the memory.
    pub fn clear(&mut self) {
        (self.count, self.clock, self.asked, self.came_back) = (0, 0, 0, 0);
    }

    fn hopeless(&self) -> bool {
        EXPECTATIONS.iter().any(|&(trials, odds)| self.asked >= trials && odds * self.came_back < self.asked)
    }

    /// The set over which f has its least value, of those with a positive minimiser: the columns, their factor, and that
    /// minimiser.
    pub fn best(&mut self, task: &Task) -> Option<(&[usize], &Packed, &[f64])> {
        // With bounds from above a set is not all there is to know.
        if self.hopeless() || task.upper.is_some() || task.sum_to_one {
            return None;
        }
        self.asked += 1;
        let (mut best, mut found) = (0.0, None);
        for (place, pattern) in self.kept[..self.count].iter().enumerate() {
            self.trial.clear();
            self.trial.extend(pattern.columns.iter().map(|&j| task.linear[j]));
            pattern.factor.solve_lower(&mut self.trial);
            // f at the minimiser over the set, whatever its signs.
            let value = -0.5 * self.trial.iter().map(|v| v * v).sum::<f64>();
            if value < best {
                pattern.factor.solve_upper(&mut self.trial);
                if self.trial.iter().all(|&x| x > 0.0) {
                    (best, found) = (value, Some(place));
                    std::mem::swap(&mut self.trial, &mut self.minimiser);
                }
            }
        }
        let pattern = &mut self.kept[found?];
        pattern.used = self.clock;
        Some((&pattern.columns, &pattern.factor, &self.minimiser))
    }

    /// Keeps the set that a right-hand side ended with, unless sets hardly ever come back; this one `came_back` if it was there
    /// from the beginning.
    pub fn keep(&mut self, columns: &[usize], factor: &Packed, came_back: bool) {
        if self.hopeless() || columns.is_empty() {
            return;
        }
        self.clock += 1;
        self.came_back += usize::from(came_back);
        let fingerprint = fingerprint(columns);
        if let Some(known) = self.kept[..self.count].iter_mut().find(|pattern| pattern.fingerprint == fingerprint) {
            known.used = self.clock;
            return;
        }
        let place = if self.count < KEPT {
            if self.kept.len() == self.count {
                self.kept.push(Pattern::default());
            }
            self.count += 1;
            self.count - 1
        } else {
            (0..KEPT).min_by_key(|&place| self.kept[place].used).unwrap_or(0)
        };
        let pattern = &mut self.kept[place];
        pattern.columns.clear();
        pattern.columns.extend_from_slice(columns);
        pattern.factor.copy_from(factor);
        (pattern.fingerprint, pattern.used) = (fingerprint, self.clock);
    }
}

/// Of a set, in any order. That two share one costs a factorisation, no more.
fn fingerprint(columns: &[usize]) -> u64 {
    let mix = |j: usize| {
        let spread = (j as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (spread ^ (spread >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
    };
    columns.iter().fold(0, |sum: u64, &j| sum.wrapping_add(mix(j)))
}

#[cfg(test)]
mod tests {
    use super::super::exchange::Exchange;
    use super::super::shared::Shared;
    use super::*;
    use crate::many::ManyLeastSquares;
    use crate::matrix::DenseMatrix;
    use crate::prepared::Problem;
    use crate::testing::Random;

    /// Right-hand sides with one of a few supports, in any order.
    #[test]
    fn supports_that_come_back_are_not_factored_again() {
        let (m, n) = (40, 24);
        let mut random = Random::new(5);
        let a = DenseMatrix::new(m, n, (0..m * n).map(|_| random.unit()).collect()).unwrap();
        let many = ManyLeastSquares::new(&a);
        let prepared = Problem::without_gram(many.matrix, None, 0.0).unwrap();
        let shared = Shared::new(&a.view(), &prepared, &many);
        let supports: Vec<Vec<usize>> = (0..4).map(|s| (0..n).filter(|j| (j * 7 + s * 5) % 3 == s % 3).collect()).collect();
        let mut exchange = Exchange::new(n);
        for k in 0..60 {
            let mut b = vec![0.0; m];
            for &j in &supports[(k * k + k / 3) % 4] {
                let x = 0.1 + random.unit();
                (0..m).for_each(|i| b[i] += x * a.values()[j * m + i]);
            }
            let mut linear = vec![0.0; n];
            shared.products(&b, &mut linear);
            let rhs_norm = shared.norm_high(shared.square(&b));
            let task =
                Task { shared: &shared, linear: &linear, l1: &[], rhs_norm, upper: None, sum_to_one: false, tolerance: 1e-10 };
            assert!(exchange.solve(&task).shows(1e-10));
            let mut alone = Exchange::new(n);
            alone.solve(&task);
            let close = |j: usize| (exchange.x[j] - alone.x[j]).abs() < 1e-9;
            assert!((0..n).all(close), "{k}");
        }
        let patterns = exchange.patterns();
        assert!((2..=4).contains(&patterns.count), "{}", patterns.count);
        assert!(2 * patterns.came_back > patterns.asked, "{} of {}", patterns.came_back, patterns.asked);
    }

    #[test]
    fn the_set_that_was_of_no_use_for_longest_makes_way() {
        let (mut patterns, mut factor) = (Patterns::default(), Packed::default());
        assert!(factor.extend([].into_iter(), 1.0, 0.0));
        for j in 0..KEPT + 3 {
            patterns.keep(&[j], &factor, false);
            patterns.keep(&[0], &factor, true);
        }
        let kept: Vec<usize> = patterns.kept.iter().map(|pattern| pattern.columns[0]).collect();
        assert!(kept.contains(&0) && !kept.contains(&1) && kept.contains(&(KEPT + 2)) && kept.len() == KEPT, "{kept:?}");
        assert_eq!(fingerprint(&[3, 1, 2]), fingerprint(&[1, 2, 3]));
        assert_ne!(fingerprint(&[0, 3]), fingerprint(&[1, 2]));
    }
}
