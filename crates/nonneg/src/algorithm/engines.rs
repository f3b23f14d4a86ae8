//! The inner engines, and the choice between them by what they gain on this problem for the work they count.
//!
//! First-order engines are cheap to try, the exact engine dear but final. The former ([`Race`]: whichever gains more)
//! work on a set until it is done, or has cost as much as the exact engine would, or is seen to be too slow; from then on
//! the measured rate decides. Costs are counted, never timed: the same problem takes the same path on every machine.

use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::accelerated::Accelerated;
use super::anderson::Anderson;
use super::conjugate::Conjugate;
use super::face::Face;
use super::first_order::{Costs, FirstOrder, FirstOrderEngine, Milestone, Race};
use super::gram::{Gram, KnownGram};
use super::local_gram::LocalGram;
use super::momentum::{Momentum, shuffle};
use super::overlaps::Overlaps;
use super::point::{Point, distance, objective};
use super::si_nnls::Blocks;
use super::{Check, Monitor};
use crate::matrix::Columns;
use crate::presolve::Reduced;
use crate::trace::Switch;

/// What a multiply-add costs beside one of coordinate descent on a sparse column: descent on a full column, axpy of
/// contiguous vectors, products of tiles.
const FULL_COLUMN: f64 = 0.7;
const CONTIGUOUS: f64 = 0.25;
const TILED: f64 = 0.08;

/// How often the exact engine factors a face anew, about.
const REFACTORED: f64 = 4.0;

/// The same for sparse factors, which are made anew for every face; and how many entries a column of theirs has for each column
/// that it overlaps with, about.
const REFACTORED_LOCAL: f64 = 10.0;
const FILL: f64 = 3.0;

/// What one of the multiply-adds that the exact engine counts with sparse factors costs.
const COUNTED: f64 = 0.25;

/// Sweeps that descent takes on a set, at least.
const LEAST_SWEEPS: f64 = 15.0;

/// Measurements of descent's rate that are enough to call it too slow, and the part of the exact engine's cost that they must
/// have taken: a rate over a few sweeps says little, and to look longer costs little beside what it would lead to.
const MEASURES: usize = 5;
const TRIED: f64 = 0.3;

/// Sweeps that a trial of the other first-order engine takes, about.
const TRIAL: f64 = 300.0;

/// Entries of a column, on average, below which conjugate gradients are tried before momentum, which has other work for each column.
const SHORT_COLUMN: f64 = 16.0;

/// Measurements without gain after which a set is left to the next check.
const PATIENCE: usize = 20;

/// What each round in a row without gain multiplies the exact engine's cost by: mostly rounding errors are all that is left
/// to it, but where descent crawls it gets another chance.
const FAILURE: f64 = 4.0;

/// A round that neither lowers f by this part of the distance nor the distance to this part has brought nothing.
const LEAST_GAIN: f64 = 1e-3;
const CLOSER: f64 = 0.9;

/// A set that has cost so many passes is left once its distance is this part of that of the whole problem: others may be needed more
/// than the last digits of these.
const LONG: f64 = 25.0;
/// The same while momentum works, which takes its motion to the next set.
const LONG_ON_THE_MOVE: f64 = 10.0;
const CLOSE_ENOUGH: f64 = 0.5;

/// Distances, in units of f, of the whole problem and for the inner one.
#[derive(Debug, Clone, Copy)]
pub struct Goal {
    /// Where the whole problem is.
    pub now: f64,
    /// Where the inner problem should get.
    pub inner: f64,
    /// What the caller asked for.
    pub wanted: f64,
    /// What a pass over the whole problem costs.
    pub pass: f64,
}

/// The engines and what has been learnt of them on this problem.
pub struct Engines {
    exact: Face<Gram>,
    /// The exact engine where columns overlap with few others of a set.
    local: Face<LocalGram>,
    /// What its last round cost, as counted.
    local_took: Option<f64>,
    /// How columns overlap, and the size of the set that was last looked at for that.
    overlaps: Overlaps,
    looked_at: usize,
    exact_only: bool,
    memory_limit: u64,
    /// How often in a row the exact engine brought nothing.
    exact_failures: usize,
    /// Whether the exact engine worked in this round.
    exact_worked: bool,
    /// ln(distance) that descent gains for the cost of one sweep over the set, when last measured.
    descent_rate: Option<f64>,
    /// The first-order engine that gained more when last measured.
    preferred: FirstOrderEngine,
    costs: Costs,
    conjugate: Conjugate,
    momentum: Momentum,
    /// Of the random draws.
    seed: u64,
    /// The next order of a set.
    rng: Xoshiro256PlusPlus,
}

impl Engines {
    /// None has done anything yet.
    pub fn new(exact_only: bool, memory_limit: u64, seed: u64, known: Arc<KnownGram>) -> Self {
        Self {
            exact: Face::with_known(known),
            local: Face::new(),
            overlaps: Overlaps::default(),
            looked_at: 0,
            local_took: None,
            exact_only,
            memory_limit,
            exact_failures: 0,
            exact_worked: false,
            descent_rate: None,
            preferred: FirstOrderEngine::Descent,
            costs: Costs::default(),
            conjugate: Conjugate::default(),
            momentum: Momentum::new(seed),
            seed,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// The Gram matrix, for other problems.
    pub fn into_known<M: Columns>(self, problem: &Reduced<M>) -> KnownGram {
        self.exact.into_known(problem)
    }

    /// Works on the set (sorted; it holds the support of x) until the inner problem is as close as its goal. Returns what
    /// that cost, about, in multiply-adds of coordinate descent.
    pub fn improve<M: Columns>(
        &mut self,
        problem: &Reduced<M>,
        set: &[usize],
        x: &mut [f64],
        check: Check,
        goal: Goal,
        monitor: &mut dyn Monitor,
    ) -> f64 {
        let Check { image, mut gradient, .. } = check;
        let mut cost = 0.0;
        if set.len() > self.looked_at + self.looked_at / 2 {
            let (overlaps, work) = Overlaps::look(problem, set);
            (self.overlaps, self.looked_at) = (overlaps, set.len());
            monitor.spend(work);
        }
        let exact_cost = match self.overlaps.neighbours {
            Some(neighbours) => self.local_cost(problem, set, neighbours),
            None => self.exact_cost(problem, set, x),
        };
        let descent_cost = self.descent_rate.map(|rate| (goal.now / goal.wanted).ln() / rate * sweep_cost(problem, set));
        let before = self.exact_worked;
        let sweep = sweep_cost(problem, set);
        let descent_cost = descent_cost.unwrap_or(LEAST_SWEEPS * sweep);
        // An engine that gets faster on the way may try as long as the exact engine would take.
        let may_try = self.preferred.gets_faster() && exact_cost > TRIAL * sweep;
        self.exact_worked = self.exact_only || exact_cost.is_finite() && descent_cost > exact_cost && !may_try;
        match (before, self.exact_worked) {
            (false, true) if !self.exact_only => monitor.switched(Switch::DescentCostsMore),
            (true, false) if exact_cost.is_infinite() => monitor.switched(Switch::ExactDoesNotFit),
            (true, false) => monitor.switched(Switch::ExactCostsMore),
            _ => {}
        }
        if !self.exact_worked {
            let mut order = set.to_vec();
            if self.overlaps.scattered {
                // What one order of sweeps is slow to take away, the next one may not be.
                shuffle(&mut self.rng, &mut order);
            }
            let columns: Vec<usize> = order.iter().map(|&k| problem.columns[k]).collect();
            let copy = problem.matrix.copy_columns(&columns);
            let inner = problem.on(&order, &copy);
            let mut point = Point::new(&inner, order.iter().map(|&k| x[k]).collect(), image.to_vec());
            monitor.spend(self.momentum.enter(problem, &order));
            let (slopes, descended) = self.descend(&inner, &mut point, goal, exact_cost, monitor);
            cost += descended;
            self.momentum.leave(&order);
            x.fill(0.0);
            for (place, &k) in order.iter().enumerate() {
                x[k] = point.x[place];
                gradient[k] = slopes[place];
            }
        }
        if self.exact_worked {
            self.momentum.start_anew();
            match self.overlaps.neighbours {
                Some(_) => {
                    let mut meter = Meter { monitor, work: 0 };
                    self.local.solve(problem, set, x, &gradient, goal.inner, &mut meter);
                    self.local_took = Some(COUNTED * meter.work as f64);
                }
                None => self.exact.solve(problem, set, x, &gradient, goal.inner, monitor),
            }
            cost += exact_cost;
        }
        cost
    }

    /// Whether the exact engine had the last word on the last set.
    pub fn worked_exactly(&self) -> bool {
        self.exact_worked
    }

    /// Notes whether the exact engine lowered f, by `gain`, or the distance, in a round that started from `goal`.
    pub fn judge(&mut self, goal: Goal, distance: f64, gain: f64) {
        if self.exact_worked {
            let useful = gain > LEAST_GAIN * goal.now || distance < CLOSER * goal.now;
            self.exact_failures = if useful { 0 } else { self.exact_failures + 1 };
        }
    }

    /// First-order work to the goal, or until the exact engine's turn has come. Returns ∇f on the set, and the cost.
    fn descend<M: Columns>(
        &mut self,
        problem: &Reduced<M>,
        point: &mut Point,
        goal: Goal,
        exact_cost: f64,
        monitor: &mut dyn Monitor,
    ) -> (Vec<f64>, f64) {
        let all: Vec<usize> = (0..problem.len()).collect();
        let sweep = sweep_cost(problem, &all);
        let unit = sweep / problem.matrix.nnz() as f64;
        let column = problem.matrix.nnz() as f64 / problem.len().max(1) as f64;
        let blocks = Blocks::single(problem);
        let (mut anderson, mut accelerated) = (Anderson::default(), Accelerated::new(&blocks, self.seed));
        let dense = Gram::is_dense(problem, problem.len(), problem.matrix.nnz() as u64);
        // Where the exact engine can help out on full columns, a trial of SI-NNLS+ is not worth its cost.
        let racing = exact_cost.is_infinite() || !dense;
        let mut race =
            Race::new(if racing { self.preferred } else { FirstOrderEngine::Descent }, self.challengers(dense, column));
        if race.current() != FirstOrderEngine::Momentum {
            self.momentum.start_anew();
        }
        // The first sweeps often are enough, and those before the support stands teach an extrapolation nothing.
        let mut work = if self.momentum.is_moving() { 0 } else { anderson.sweeps(problem, point) };
        monitor.spend(work);
        let (mut spent, mut closest, mut waited) = (0.0, f64::INFINITY, 0);
        let (mut first, mut measures) = (None, 0); // where the engine was first measured, and how often since
        loop {
            work += problem.matrix.nnz() as u64;
            monitor.spend(problem.matrix.nnz() as u64);
            let cost = work as f64 * unit * race.current().unit_cost(column);
            spent += cost;
            self.costs.add(cost);
            let gradient = point.gradient(problem);
            let now = distance(problem, point, &gradient);
            (closest, waited) = if now < 0.99 * closest { (now, 0) } else { (closest, waited + 1) };
            let here = Milestone { distance: closest, objective: objective(problem, point, &gradient), spent };
            if let Some(engine) = if racing { race.note(here, goal.inner, &mut self.costs) } else { None } {
                self.take_over(engine, monitor);
                accelerated.start_anew();
                (first, measures, waited) = (None, 0, 0);
            }
            let begin = *first.get_or_insert(here);
            if spent > begin.spent {
                measures += 1;
                self.descent_rate = Some((begin.distance / closest).ln() / (spent - begin.spent) * sweep);
            }
            if waited > PATIENCE {
                self.exact_failures = 0; // nothing else is left to try
                return (gradient, spent);
            }
            let long = if race.current() == FirstOrderEngine::Momentum { LONG_ON_THE_MOVE } else { LONG };
            let long_enough = spent > long * goal.pass && now <= CLOSE_ENOUGH * goal.now;
            if now <= goal.inner || long_enough || monitor.out_of_time() {
                self.costs.forgive(race.current());
                return (gradient, spent);
            }
            let ahead = self.descent_rate.map_or(0.0, |rate| (now / goal.wanted).ln() / rate * sweep);
            let spent_now = spent - if race.current().gets_faster() { begin.spent } else { 0.0 };
            let tried = measures >= MEASURES && spent_now > TRIED * exact_cost;
            let too_slow = tried && ahead > 2.0 * exact_cost && !race.current().gets_faster();
            if spent_now > exact_cost || too_slow {
                let worth_a_trial = racing && exact_cost > TRIAL * sweep;
                if let Some(engine) = if worth_a_trial { race.challenge(begin, here, &self.costs) } else { None } {
                    self.take_over(engine, monitor);
                    (first, measures, waited) = (Some(here), 0, 0);
                } else {
                    monitor.switched(if too_slow { Switch::DescentIsSlow } else { Switch::DescentSpentAsMuch });
                    self.exact_worked = true;
                    return (gradient, spent);
                }
            }
            let engine: &mut dyn FirstOrder<'_, M> = match race.current() {
                FirstOrderEngine::Descent => &mut anderson,
                FirstOrderEngine::Accelerated => &mut accelerated,
                FirstOrderEngine::Momentum => &mut self.momentum,
                FirstOrderEngine::Conjugate => &mut self.conjugate,
            };
            work = engine.round(problem, point, &gradient, now, monitor);
        }
    }

    /// Who races descent on columns that are full or have so many entries on average, in the order of the trials. On sparse columns
    /// descent has won against SI-NNLS+ on every problem measured, and lost against momentum or conjugate gradients where problems are
    /// ill-conditioned. Where columns have neighbourhoods, the exact engine soon is cheaper than long work with momentum.
    fn challengers(&self, dense: bool, column: f64) -> &'static [FirstOrderEngine] {
        match dense {
            true => &[FirstOrderEngine::Accelerated],
            false if self.overlaps.neighbours.is_some() => &[FirstOrderEngine::Conjugate],
            false if column < SHORT_COLUMN => &[FirstOrderEngine::Conjugate, FirstOrderEngine::Momentum],
            false => &[FirstOrderEngine::Momentum, FirstOrderEngine::Conjugate],
        }
    }

    /// Another first-order engine goes on.
    fn take_over(&mut self, engine: FirstOrderEngine, monitor: &mut dyn Monitor) {
        monitor.switched(match engine {
            FirstOrderEngine::Descent => Switch::DescentGainsMore,
            FirstOrderEngine::Accelerated => Switch::AcceleratedMayGainMore,
            FirstOrderEngine::Momentum => Switch::MomentumMayGainMore,
            FirstOrderEngine::Conjugate => Switch::ConjugateMayGainMore,
        });
        self.momentum.start_anew();
        self.preferred = engine;
    }

    /// What the exact engine would cost on this set, about; infinite where it must not try.
    fn exact_cost<M: Columns>(&self, problem: &Reduced<M>, set: &[usize], x: &[f64]) -> f64 {
        if Face::bytes(set.len()) > self.memory_limit {
            return f64::INFINITY;
        }
        let is_new = |k: &usize| !self.exact.knows(problem, *k);
        let (size, new) = (set.len() as f64, set.iter().filter(|k| is_new(k)).count() as f64);
        let entries = problem.entries(set.iter().copied());
        let rows = problem.matrix.rows() as f64;
        let gram = if Gram::is_dense(problem, set.len(), entries) {
            TILED * rows * new * (size - new / 2.0)
        } else {
            problem.entries(set.iter().copied().filter(is_new)) as f64 * (entries as f64 / rows)
        };
        let support = set.iter().filter(|&&k| x[k] > 0.0).count() as f64;
        let face = support + 0.5 * (size - support);
        let old = (self.exact.size() as f64).min(face);
        let factor = TILED * (face.powi(3) - old.powi(3)) / 3.0;
        self.failures() * (gram + REFACTORED * factor + CONTIGUOUS * 20.0 * size * size)
    }

    /// The same where a column overlaps with so many others of the set.
    fn local_cost<M: Columns>(&self, problem: &Reduced<M>, set: &[usize], neighbours: f64) -> f64 {
        let (size, column) = (set.len() as f64, FILL * neighbours);
        if 16.0 * size * (2.0 * neighbours + column) > self.memory_limit as f64 {
            return f64::INFINITY;
        }
        let entries = problem.entries(set.iter().copied()) as f64;
        let new = problem.entries(set.iter().copied().filter(|&k| !self.local.knows(problem, k))) as f64;
        let gram = entries + new * entries / problem.matrix.rows() as f64;
        let factor = TILED * size * (column * column).min(size * size / 3.0) / 2.0; // no fuller than full

        let expected = gram + REFACTORED_LOCAL * factor + 20.0 * size * neighbours;
        self.failures() * self.local_took.map_or(expected, |took| expected.min(took))
    }

    fn failures(&self) -> f64 {
        FAILURE.powi(self.exact_failures.min(20) as i32)
    }
}

/// Counts what is spent.
struct Meter<'m> {
    monitor: &'m mut dyn Monitor,
    work: u64,
}

impl Monitor for Meter<'_> {
    fn check(&mut self, x: &[f64]) -> Check {
        self.monitor.check(x)
    }
    fn spend(&mut self, multiply_adds: u64) {
        self.work += multiply_adds;
        self.monitor.spend(multiply_adds);
    }
    fn restarted(&mut self) {
        self.monitor.restarted();
    }
    fn switched(&mut self, switch: Switch) {
        self.monitor.switched(switch);
    }
    fn out_of_time(&self) -> bool {
        self.monitor.out_of_time()
    }
}

/// What one sweep of coordinate descent over a set costs.
fn sweep_cost<M: Columns>(problem: &Reduced<M>, set: &[usize]) -> f64 {
    let entries = problem.entries(set.iter().copied()) as f64;
    if entries == problem.matrix.rows() as f64 * set.len() as f64 { FULL_COLUMN * entries } else { entries }
}
