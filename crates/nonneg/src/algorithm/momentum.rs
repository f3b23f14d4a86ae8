//! Coordinate descent with momentum, for problems that plain sweeps crawl on, whose face still changes.
//!
//! Each step, with tᵢ₊₁ = ½(1 + √(1 + 4tᵢ²)) (Nesterov 1983; Beck & Teboulle 2009):
//!
//! y = clip(x + (tᵢ − 1)/tᵢ₊₁·(x − x_before)),  x⁺ = y after a coordinate sweep in random order,
//!
//! and where f rose, x stays and t starts again from 1 (O'Donoghue & Candès 2015). Near the optimum, where rounding errors hide what f
//! does, it is the sweep that tells: t starts again where the sweep went back against the motion, (y − x⁺)ᵀ(x⁺ − x) > 0 in units of the
//! columns.
//!
//! A sweep in a fixed order is a step with a matrix that is not symmetric, and extrapolation soon throws it off; in an order that is
//! drawn anew for every sweep it is symmetric on average, and t may grow into the hundreds. Sweeps of neighbours in order do as well as
//! single variables: blocks of them are drawn, which touch fewer cache lines.
//!
//! The motion is worth more than a set: the next set takes it over.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::Monitor;
use super::first_order::FirstOrder;
use super::point::{Point, add_weighted};
use crate::matrix::Columns;
use crate::presolve::Reduced;

/// Sweeps of one round: the first over all variables, the others over those above zero.
const SWEEPS: usize = 10;

/// Variables that stay together in a random order.
const BLOCK: usize = 16;

/// Moves a point on one problem.
#[derive(Debug)]
pub struct Momentum {
    /// The point before this one, if there is one to go on from.
    before: Option<Point>,
    /// t.
    weight: f64,
    /// Memory that is used again.
    spare: Option<Point>,
    /// Between sets: the variables above zero of the point before.
    kept: Option<Vec<(usize, f64)>>,
    rng: Xoshiro256PlusPlus,
}

impl Momentum {
    /// At rest.
    pub fn new(seed: u64) -> Self {
        Self { before: None, weight: 1.0, spare: None, kept: None, rng: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// The next round starts from rest: f rose, or somebody else has moved the point.
    pub fn start_anew(&mut self) {
        self.weight = 1.0;
        self.spare = self.before.take().or(self.spare.take());
    }

    /// The work on a set ends.
    pub fn leave(&mut self, set: &[usize]) {
        self.spare = None;
        let positive = |before: &Point| {
            let entries = set.iter().copied().zip(before.x.iter().copied());
            entries.filter(|&(_, value)| value > 0.0).collect()
        };
        self.kept = self.before.as_ref().map(positive);
    }

    /// The motion goes on with a set of the whole problem that holds the support of the point where it was left. Returns the
    /// multiply-adds with entries of A.
    pub fn enter<M: Columns>(&mut self, problem: &Reduced<M>, set: &[usize]) -> u64 {
        let (kept, before) = (self.kept.take(), self.before.take());
        self.spare = None; // of another size
        let (Some(kept), Some(mut before)) = (kept, before) else {
            self.start_anew();
            return 0;
        };
        let mut x = vec![0.0; problem.len()];
        kept.iter().for_each(|&(k, value)| x[k] = value);
        before.x = set.iter().map(|&k| std::mem::take(&mut x[k])).collect();
        // Where the set has no place for what was above zero, the point is at zero, and stays there.
        let lost = || kept.iter().filter(|&&(k, _)| x[k] > 0.0);
        lost().for_each(|&(k, value)| add_weighted(problem, k, -value, &mut before.weighted_image));
        self.before = Some(before);
        problem.entries(lost().map(|&(k, _)| k))
    }

    /// Whether it is under way.
    pub fn is_moving(&self) -> bool {
        self.before.is_some()
    }

    /// One step. Returns the multiply-adds with entries of A.
    fn step<M: Columns>(&mut self, problem: &Reduced<M>, point: &mut Point, all: bool) -> u64 {
        let next_weight = 0.5 * (1.0 + (1.0 + 4.0 * self.weight * self.weight).sqrt());
        let momentum = (self.weight - 1.0) / next_weight;
        let mut trial = self.spare.take().unwrap_or_else(|| point.clone());
        let mut work = 0;
        match &self.before {
            None => trial.copy_from(point),
            Some(before) => {
                trial.extrapolate(point, before, momentum);
                work += trial.clip(problem, 0..problem.len());
            }
        }
        let (back, swept) = self.sweep(problem, &mut trial, point, all);
        work += swept;
        // From rest, a sweep never rises.
        let goes_wrong = || {
            let (rise, noise) = (trial.objective_above(problem, point), rounding_error(problem, point));
            rise > noise || rise > -noise && back > 0.0
        };
        if self.before.is_some() && goes_wrong() {
            self.spare = Some(trial);
            self.start_anew();
        } else {
            self.weight = next_weight;
            self.spare = self.before.replace(std::mem::replace(point, trial));
        }
        work
    }

    /// f is minimised along each coordinate in turn, in an order of its own. Returns by how much y = `point` went back against the
    /// motion from x = `last`, (y − x⁺)ᵀ(x⁺ − x) in units of the columns, and the multiply-adds with entries of A.
    fn sweep<M: Columns>(&mut self, problem: &Reduced<M>, point: &mut Point, last: &Point, all: bool) -> (f64, u64) {
        let variables: Vec<usize> = (0..problem.len()).filter(|&k| all || point.x[k] > 0.0).collect();
        let mut blocks: Vec<&[usize]> = variables.chunks(BLOCK).collect();
        shuffle(&mut self.rng, &mut blocks);
        let mut back = 0.0;
        for (place, block) in blocks.iter().enumerate() {
            if let Some(next) = blocks.get(place + 1) {
                problem.matrix.prefetch_entries(problem.columns[next[0]]);
            }
            for &k in *block {
                let best = point.best_along(problem, k);
                if best != point.x[k] {
                    back += problem.curvature(k) * (point.x[k] - best) * (best - last.x[k]);
                    point.set(problem, k, best);
                }
            }
        }
        (back, problem.entries(variables.into_iter()))
    }
}

/// About what rounding errors do to differences of f: those of cᵀx, and as many of ½‖Ax‖² as there are rows, which mostly cancel.
fn rounding_error<M: Columns>(problem: &Reduced<M>, point: &Point) -> f64 {
    let size: f64 = problem.linear.iter().zip(&point.x).map(|(c, x)| (c * x).abs()).sum();
    f64::EPSILON * (problem.matrix.rows() as f64).sqrt() * size
}

/// All orders are as likely as each other, but for what a remainder prefers.
pub fn shuffle<T>(rng: &mut Xoshiro256PlusPlus, list: &mut [T]) {
    for k in (1..list.len()).rev() {
        list.swap(k, (rng.next_u64() % (k as u64 + 1)) as usize);
    }
}

impl<'p, M: Columns> FirstOrder<'p, M> for Momentum {
    fn round(
        &mut self,
        problem: &'p Reduced<'p, M>,
        point: &mut Point,
        _gradient: &[f64],
        _distance: f64,
        monitor: &mut dyn Monitor,
    ) -> u64 {
        let work = (0..SWEEPS).map(|k| self.step(problem, point, k == 0)).sum();
        monitor.spend(work);
        work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::point::distance;
    use crate::matrix::CscView;
    use crate::testing::{Account, Random};
    use crate::{CscMatrix, LeastSquares};

    /// Columns of ten entries anywhere, hardly fewer than rows: sweeps crawl. b is noisy.
    fn nearly_square(m: usize, n: usize, random: &mut Random) -> (CscMatrix<f64>, Vec<f64>) {
        let entry = |j: usize, random: &mut Random| (random.below(m), j, 0.1 + random.unit());
        let triplets: Vec<(usize, usize, f64)> = (0..n).flat_map(|j| [j; 10]).map(|j| entry(j, random)).collect();
        let mut b: Vec<f64> = (0..m).map(|_| 0.1 * (random.unit() - 0.5)).collect();
        triplets.iter().for_each(|&(i, j, v)| b[i] += v * if j % 7 == 0 { 0.0 } else { 1.0 });
        (CscMatrix::from_triplets(m, n, &triplets).unwrap(), b)
    }

    fn at_zero<M: Columns>(problem: &Reduced<M>) -> Point {
        Point::new(problem, vec![0.0; problem.len()], vec![0.0; problem.matrix.rows()])
    }

    /// The distance after so many rounds, beside that at zero.
    fn solve(question: &LeastSquares, view: &CscView<f64, u32>, rounds: usize) -> f64 {
        let problem = Reduced::of(view, question).unwrap();
        let mut point = at_zero(&problem);
        let first = distance(&problem, &point, &point.gradient(&problem));
        let (mut engine, mut account) = (Momentum::new(3), Account::default());
        for _ in 0..rounds {
            let before = point.clone();
            let work = engine.round(&problem, &mut point, &[], 0.0, &mut account);
            assert_eq!(work, std::mem::take(&mut account.work), "what it says is what it spends");
            let rise = point.objective_above(&problem, &before);
            assert!(rise <= SWEEPS as f64 * rounding_error(&problem, &point), "f never rises: {rise:e}");
            assert!(point.x.iter().zip(&problem.upper).all(|(x, u)| (0.0..=*u).contains(x)));
            let image = problem.weigh(problem.multiply(&point.x));
            assert!(image.iter().zip(&point.weighted_image).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + a.abs())));
        }
        distance(&problem, &point, &point.gradient(&problem)) / first
    }

    #[test]
    fn rounds_never_rise_and_end_at_the_optimum_with_weights_ridge_and_bounds() {
        let (a, b) = nearly_square(230, 200, &mut Random::new(1));
        let view = a.view();
        let weights: Vec<f64> = (0..b.len()).map(|i| [1.0, 0.25, 2.0, 0.0][i % 4]).collect();
        let plain = LeastSquares::new(&a, &b);
        let weighted = LeastSquares::new(&a, &b).weights(&weights).l2(0.01);
        let bounded = LeastSquares::new(&a, &b).upper(1.5);
        for (name, question) in [("plain", &plain), ("weighted", &weighted), ("bounded", &bounded)] {
            let left = solve(question, &view, 200);
            assert!(left <= 1e-11, "{name}: {left:e}");
        }
    }

    #[test]
    fn it_gets_further_than_descent_with_four_times_the_sweeps() {
        for seed in 0..5 {
            let (a, b) = nearly_square(1000, 1000, &mut Random::new(seed));
            let (view, question) = (a.view(), LeastSquares::new(&a, &b));
            let problem = Reduced::of(&view, &question).unwrap();
            let mut descent = at_zero(&problem);
            (0..1000).for_each(|_| _ = descent.sweep(&problem));
            let (mut moved, mut engine, mut account) = (at_zero(&problem), Momentum::new(seed), Account::default());
            (0..25).for_each(|_| _ = engine.round(&problem, &mut moved, &[], 0.0, &mut account));
            let above = moved.objective_above(&problem, &descent);
            assert!(above < 0.0, "{above:e}");
        }
    }

    #[test]
    fn a_motion_goes_on_with_another_set_as_if_nothing_had_happened() {
        let (a, b) = nearly_square(330, 300, &mut Random::new(2));
        let (view, question) = (a.view(), LeastSquares::new(&a, &b));
        let problem = Reduced::of(&view, &question).unwrap();
        let (mut engine, mut account) = (Momentum::new(5), Account::default());
        let all: Vec<usize> = (0..problem.len()).collect();
        let mut point = at_zero(&problem);
        (0..3).for_each(|_| _ = engine.round(&problem, &mut point, &[], 0.0, &mut account));
        let before = engine.before.clone().unwrap();
        engine.leave(&all);
        // In another order, without what is zero.
        let set: Vec<usize> = all.iter().copied().rev().filter(|&k| point.x[k] > 0.0).collect();
        assert!(set.len() < all.len());
        let lost = engine.enter(&problem, &set);
        let now = engine.before.clone().unwrap();
        let mut x = vec![0.0; problem.len()];
        set.iter().zip(&now.x).for_each(|(&k, &value)| x[k] = value);
        let is_lost = |&k: &usize| before.x[k] > 0.0 && point.x[k] == 0.0;
        assert_eq!(lost, problem.entries(all.iter().copied().filter(is_lost)));
        all.iter().filter(|&&k| point.x[k] > 0.0).for_each(|&k| assert_eq!(x[k], before.x[k]));
        let image = problem.weigh(problem.multiply(&x));
        assert!(image.iter().zip(&now.weighted_image).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + a.abs())));
        // Somebody moves the point: the motion ends, and the next set has another size.
        engine.leave(&set);
        engine.start_anew();
        assert_eq!(engine.enter(&problem, &all), 0);
        assert!(!engine.is_moving());
        engine.round(&problem, &mut point, &[], 0.0, &mut account);
    }
}
