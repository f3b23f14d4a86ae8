use super::*;
use crate::testing::Random;

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
        let mut rng = Random::new(seed);
        let columns: Vec<Vec<f64>> = (0..size).map(|_| (0..rows).map(|_| rng.unit()).collect()).collect();
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
fn sample(rng: &mut Random, mut from: Vec<usize>, count: usize) -> Vec<usize> {
    (0..count.min(from.len())).map(|_| from.swap_remove(rng.below(from.len()))).collect()
}

#[test]
fn any_sequence_of_changes_gives_the_factor_of_what_is_left() {
    for seed in 0..60 {
        let mut rng = Random::new(1000 + seed);
        let size = 1 + rng.below(90);
        let gram = Gram::random(2 * size, size, seed);
        let (mut factor, mut order) = (Cholesky::new(), Vec::new());
        for _ in 0..12 {
            let free: Vec<usize> = (0..size).filter(|j| !order.contains(j)).collect();
            let most = if rng.below(2) == 0 { 2 } else { size };
            let count = rng.below(most + 1);
            gram.extend(&mut factor, &mut order, &sample(&mut rng, free, count)).unwrap();
            let most = if rng.below(2) == 0 { 2 } else { order.len() };
            let count = rng.below(most + 1);
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
        let mut rng = Random::new(4);
        let z: Vec<f64> = (0..size).map(|_| rng.unit()).collect();
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
        let mut rng = Random::new(seed);
        let (rows, size) = (30, 12);
        let mut columns: Vec<Vec<f64>> = vec![(0..rows).map(|_| rng.unit()).collect()];
        for _ in 1..size {
            let closeness = 0.5f64.powi(1 + rng.below(18) as i32);
            let near = columns[0].iter().map(|v| v * (1.0 + closeness * rng.unit())).collect();
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
        let mut rng = Random::new(place as u64);
        let mut columns: Vec<Vec<f64>> = (0..40).map(|_| (0..60).map(|_| rng.unit()).collect()).collect();
        columns[place] = columns[rng.below(place)].clone();
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
    let mut rng = Random::new(6);
    let powers: Vec<f64> = (0..60).map(|_| 2f64.powi(rng.below(201) as i32 - 100)).collect();
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
