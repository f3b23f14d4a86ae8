//! What first-order engines have in common, and which of them works.

use super::Monitor;
use super::point::Point;
use crate::matrix::Columns;
use crate::presolve::Reduced;

/// A first-order engine on one inner problem.
pub trait FirstOrder<'p, M: Columns> {
    /// Moves the point, never up. `gradient` and `distance` are those of the point. Spends the multiply-adds with entries of A, and
    /// returns their number.
    fn round(
        &mut self,
        problem: &'p Reduced<'p, M>,
        point: &mut Point,
        gradient: &[f64],
        distance: f64,
        monitor: &mut dyn Monitor,
    ) -> u64;
}

/// The engines there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstOrderEngine {
    /// Coordinate descent with Anderson extrapolation.
    Descent,
    /// SI-NNLS+ with restarts.
    Accelerated,
    /// Coordinate descent with momentum.
    Momentum,
    /// Conjugate gradients on the face.
    Conjugate,
}

impl FirstOrderEngine {
    /// What its multiply-adds cost, beside those of coordinate descent, where columns have so many entries.
    pub fn unit_cost(self, column: f64) -> f64 {
        match self {
            Self::Descent | Self::Conjugate => 1.0,
            Self::Accelerated => 2.0,
            Self::Momentum => 1.0 + EXTRAPOLATED / column,
        }
    }

    /// By how much the other engine's rate must have been better. Descent works on the easy part of a set, before conjugate gradients do.
    fn given_up_for(self) -> f64 {
        match self {
            Self::Descent | Self::Accelerated | Self::Momentum => 1.5,
            Self::Conjugate => 6.0,
        }
    }

    /// Whether it needs time to show what it can.
    pub fn gets_faster(self) -> bool {
        matches!(self, Self::Momentum | Self::Conjugate)
    }

    /// How many of its rounds make a rate.
    pub fn rounds(self) -> usize {
        match self {
            Self::Descent | Self::Accelerated => 3,
            Self::Momentum => 6,
            Self::Conjugate => 2, // each is a step on a face, and takes many sweeps
        }
    }
}

/// Multiply-adds that momentum takes the time of for each column, beside those with its entries: an extrapolation, a cache line that is
/// not the next one of this and that.
const EXTRAPOLATED: f64 = 10.0;

/// What is left to do must be worth so many windows before another engine is tried.
const WORTH_A_TRIAL: f64 = 8.0;

/// An engine is tried again as long as the trials that it has lost, since it was last of use, took no more than this part of all
/// first-order work.
const LOST: f64 = 0.2;

/// How far a set has got.
#[derive(Debug, Clone, Copy)]
pub struct Milestone {
    /// The least distance from the optimum so far, as far as it is proved: it falls by fits and starts.
    pub distance: f64,
    /// f.
    pub objective: f64,
    /// The cost so far.
    pub spent: f64,
}

/// An engine in a race.
#[derive(Debug, Clone, Copy)]
struct Runner {
    engine: FirstOrderEngine,
    /// The part of the distance that it lowered f by for its cost in its last window.
    rate: Option<f64>,
}

/// What first-order engines have cost on this problem.
#[derive(Debug, Clone, Copy, Default)]
pub struct Costs {
    all: f64,
    /// What each engine's lost trials took since it was last of use.
    lost: [f64; 4],
}

impl Costs {
    /// Somebody worked.
    pub fn add(&mut self, cost: f64) {
        self.all += cost;
    }

    /// It was of use.
    pub fn forgive(&mut self, engine: FirstOrderEngine) {
        self.lost[engine as usize] = 0.0;
    }

    fn allow_a_trial(&self, engine: FirstOrderEngine) -> bool {
        self.lost[engine as usize] <= LOST * self.all
    }
}

/// One set's race: an engine works as long as it gains more for its cost than the others did when they were tried.
#[derive(Debug)]
pub struct Race {
    /// Descent, and who races it, in the order in which they are tried.
    runners: Vec<Runner>,
    /// Who works, and since when.
    current: usize,
    began: f64,
    /// Where the window began, and measurements since.
    mark: Option<Milestone>,
    measured: usize,
    /// After the first one of an engine windows grow by this factor, twofold with every change, since an extrapolation pays now and
    /// then, not every time.
    stretch: usize,
}

impl Race {
    /// Before the first measurement.
    pub fn new(preferred: FirstOrderEngine, challengers: &[FirstOrderEngine]) -> Self {
        let engines = std::iter::once(FirstOrderEngine::Descent).chain(challengers.iter().copied());
        let runners: Vec<Runner> = engines.map(|engine| Runner { engine, rate: None }).collect();
        let current = runners.iter().position(|runner| runner.engine == preferred).unwrap_or(0);
        Self { runners, current, began: 0.0, mark: None, measured: 0, stretch: 1 }
    }

    /// The engine that works.
    pub fn current(&self) -> FirstOrderEngine {
        self.runners[self.current].engine
    }

    /// Notes how far it has got, and the distance that it should get to; the other engine, if one takes over.
    pub fn note(&mut self, now: Milestone, goal: f64, costs: &mut Costs) -> Option<FirstOrderEngine> {
        let mark = *self.mark.get_or_insert(now);
        let window = now.spent - mark.spent;
        if window > 0.0 {
            self.measured += 1;
        }
        let stretch = if self.runners[self.current].rate.is_none() { 1 } else { self.stretch };
        if self.measured < stretch * self.current().rounds() {
            return None;
        }
        let rate = (mark.objective - now.objective) / mark.distance / window;
        let needed = self.current().given_up_for() * rate;
        let gained = (mark.distance / now.distance).ln();
        let is_worth_a_trial = (now.distance / goal).ln() > WORTH_A_TRIAL * gained;
        (self.mark, self.measured) = (Some(now), 0);
        let next = if let Some(better) = self.fastest_other().filter(|&other| self.runners[other].rate > Some(needed)) {
            costs.lost[self.current() as usize] += now.spent - self.began;
            better
        } else {
            self.untried(costs).filter(|_| is_worth_a_trial)?
        };
        Some(self.change(next, rate, now))
    }

    /// A challenger that has not been tried on this set: descent from the first milestone to the second is not good enough.
    pub fn challenge(&mut self, from: Milestone, to: Milestone, costs: &Costs) -> Option<FirstOrderEngine> {
        let rate = (from.objective - to.objective) / from.distance / (to.spent - from.spent);
        let next = self.untried(costs)?;
        Some(self.change(next, if rate.is_finite() { rate } else { 0.0 }, to))
    }

    /// The first one that has not run, nor runs. Where momentum has won, plain descent is not tried again.
    fn untried(&self, costs: &Costs) -> Option<usize> {
        let first = usize::from(self.current() == FirstOrderEngine::Momentum);
        let may_run = |runner: &Runner| runner.rate.is_none() && costs.allow_a_trial(runner.engine);
        (first..self.runners.len()).find(|&k| k != self.current && may_run(&self.runners[k]))
    }

    fn fastest_other(&self) -> Option<usize> {
        let tried = (0..self.runners.len()).filter(|&k| k != self.current && self.runners[k].rate.is_some());
        tried.max_by(|&a, &b| self.runners[a].rate.partial_cmp(&self.runners[b].rate).unwrap_or(std::cmp::Ordering::Equal))
    }

    /// Another engine goes on.
    fn change(&mut self, next: usize, rate: f64, now: Milestone) -> FirstOrderEngine {
        self.runners[self.current].rate = Some(rate);
        (self.mark, self.measured) = (Some(now), 0);
        (self.current, self.began) = (next, now.spent);
        self.stretch *= 2;
        self.current()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distances fall by e^(−rate·cost) for each engine; returns who worked in each of 60 measurements.
    fn race(descent: f64, accelerated: f64, goal: f64) -> Vec<FirstOrderEngine> {
        let mut race = Race::new(FirstOrderEngine::Descent, &[FirstOrderEngine::Accelerated]);
        let (mut distance, mut spent, mut costs) = (1.0f64, 0.0, Costs::default());
        let mut who = Vec::new();
        for _ in 0..60 {
            race.note(Milestone { distance, objective: distance, spent }, goal, &mut costs);
            who.push(race.current());
            let rate = if race.current() == FirstOrderEngine::Descent { descent } else { accelerated };
            spent += 10.0;
            costs.add(10.0);
            distance *= (-10.0 * rate).exp();
        }
        who
    }

    fn at(distance: f64, spent: f64) -> Milestone {
        Milestone { distance, objective: distance, spent }
    }

    #[test]
    fn a_challenge_is_taken_once_a_set() {
        use FirstOrderEngine::{Conjugate, Descent};
        let (mut race, costs) = (Race::new(Descent, &[Conjugate]), Costs::default());
        assert_eq!(race.challenge(at(1.0, 0.0), at(0.9, 10.0), &costs), Some(Conjugate));
        assert_eq!(race.challenge(at(0.9, 10.0), at(0.8, 20.0), &costs), None);
    }

    #[test]
    fn an_engine_that_lost_waits_until_its_trials_were_a_small_part_of_all_work() {
        use FirstOrderEngine::{Conjugate, Descent, Momentum};
        let mut costs = Costs::default();
        costs.add(100.0);
        let mut race = Race::new(Descent, &[Conjugate]);
        assert_eq!(race.challenge(at(1.0, 0.0), at(0.9, 10.0), &costs), Some(Conjugate));
        // It gains nothing for 30 while descent gained 0.1 for 10.
        let change = (1..=2).find_map(|k| race.note(at(0.9, 10.0 + 15.0 * f64::from(k)), 1e-9, &mut costs));
        assert_eq!(change, Some(Descent));
        let tried = |costs: &Costs| Race::new(Descent, &[Conjugate, Momentum]).challenge(at(1.0, 0.0), at(0.9, 10.0), costs);
        assert_eq!(tried(&costs), Some(Momentum), "the other one has not lost");
        costs.add(30.0 / LOST - 100.0);
        assert_eq!(tried(&costs), Some(Conjugate));
        costs.lost[Conjugate as usize] *= 10.0;
        assert_eq!(tried(&costs), Some(Momentum));
        costs.forgive(Conjugate);
        assert_eq!(tried(&costs), Some(Conjugate));
    }

    #[test]
    fn where_momentum_works_plain_descent_is_not_tried_again() {
        use FirstOrderEngine::{Conjugate, Momentum};
        let mut race = Race::new(Momentum, &[Momentum, Conjugate]);
        assert_eq!(race.challenge(at(1.0, 0.0), at(0.9, 10.0), &Costs::default()), Some(Conjugate));
    }

    #[test]
    fn the_better_engine_works_in_the_end_and_a_short_way_needs_no_trial() {
        use FirstOrderEngine::{Accelerated, Descent};
        assert!(race(1e-3, 1e-2, 1e-9)[10..].iter().all(|&who| who == Accelerated));
        let who = race(1e-2, 1e-3, 1e-9);
        assert!(who[..12].contains(&Accelerated) && who[12..].iter().all(|&who| who == Descent), "{who:?}");
        assert!(race(1e-1, 1.0, 1e-3).iter().take(3).all(|&who| who == Descent));
    }
}
