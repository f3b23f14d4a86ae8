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
    /// Conjugate gradients on the face.
    Conjugate,
}

impl FirstOrderEngine {
    /// What its multiply-adds cost, beside those of coordinate descent.
    pub fn unit_cost(self) -> f64 {
        match self {
            Self::Descent | Self::Conjugate => 1.0,
            Self::Accelerated => 2.0,
        }
    }

    /// By how much the other engine's rate must have been better. Descent works on the easy part of a set, before conjugate gradients do.
    fn given_up_for(self) -> f64 {
        match self {
            Self::Descent | Self::Accelerated => 1.5,
            Self::Conjugate => 6.0,
        }
    }

    /// How many of its rounds make a rate.
    pub fn rounds(self) -> usize {
        match self {
            Self::Descent | Self::Accelerated => 3,
            Self::Conjugate => 1, // each is a step on a face, and takes many sweeps
        }
    }
}

/// What is left to do must be worth so many windows before the other engine is tried, and this many times more for every time that it
/// lost on this problem.
const WORTH_A_TRIAL: f64 = 8.0;
const LOST: f64 = 4.0;

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

/// One set's race: an engine works as long as it gains more for its cost than the other did when it was tried.
#[derive(Debug)]
pub struct Race {
    current: FirstOrderEngine,
    /// Who races descent.
    challenger: FirstOrderEngine,
    /// The part of the distance that the other engine lowered f by for its cost in its last window.
    other_rate: Option<f64>,
    /// Where the window began, and measurements since.
    mark: Option<Milestone>,
    measured: usize,
    /// How often the challenger has lost on this problem.
    losses: i32,
    /// Windows grow by this factor, twofold with every change, since an extrapolation pays now and then, not every time.
    stretch: usize,
}

impl Race {
    /// Before the first measurement.
    pub fn new(preferred: FirstOrderEngine, challenger: FirstOrderEngine, losses: i32) -> Self {
        Self { current: preferred, challenger, other_rate: None, mark: None, measured: 0, losses, stretch: 1 }
    }

    /// The engine that works.
    pub fn current(&self) -> FirstOrderEngine {
        self.current
    }

    /// Notes how far it has got, and the distance that it should get to; the other engine, if it takes over.
    pub fn note(&mut self, now: Milestone, goal: f64) -> Option<FirstOrderEngine> {
        let mark = *self.mark.get_or_insert(now);
        let window = now.spent - mark.spent;
        if window > 0.0 {
            self.measured += 1;
        }
        if self.measured < self.stretch * self.current.rounds() {
            return None;
        }
        (self.mark, self.measured) = (Some(now), 0);
        let rate = (mark.objective - now.objective) / mark.distance / window;
        let takes_over = match self.other_rate {
            Some(other) => other > self.current.given_up_for() * rate,
            None => {
                let gained = (mark.distance / now.distance).ln();
                (now.distance / goal).ln() > WORTH_A_TRIAL * LOST.powi(self.losses) * gained
            }
        };
        takes_over.then(|| self.change(rate))
    }

    /// The challenger, if it has not been tried on this set: descent from the first milestone to the second is not good enough.
    pub fn challenge(&mut self, from: Milestone, to: Milestone) -> Option<FirstOrderEngine> {
        let rate = (from.objective - to.objective) / from.distance / (to.spent - from.spent);
        let untried = self.current == FirstOrderEngine::Descent && self.other_rate.is_none();
        untried.then(|| {
            self.mark = Some(to);
            self.change(if rate.is_finite() { rate } else { 0.0 })
        })
    }

    /// The other engine goes on.
    fn change(&mut self, rate: f64) -> FirstOrderEngine {
        let is_descent = self.current == FirstOrderEngine::Descent;
        self.current = if is_descent { self.challenger } else { FirstOrderEngine::Descent };
        (self.other_rate, self.measured) = (Some(rate), 0);
        self.stretch *= 2;
        self.current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distances fall by e^(−rate·cost) for each engine; returns who worked in each of 60 measurements.
    fn race(descent: f64, accelerated: f64, goal: f64) -> Vec<FirstOrderEngine> {
        let mut race = Race::new(FirstOrderEngine::Descent, FirstOrderEngine::Accelerated, 0);
        let (mut distance, mut spent) = (1.0f64, 0.0);
        let mut who = Vec::new();
        for _ in 0..60 {
            race.note(Milestone { distance, objective: distance, spent }, goal);
            who.push(race.current());
            let rate = if race.current() == FirstOrderEngine::Descent { descent } else { accelerated };
            spent += 10.0;
            distance *= (-10.0 * rate).exp();
        }
        who
    }

    #[test]
    fn a_challenge_is_taken_once_a_set_and_losses_make_it_dearer() {
        use FirstOrderEngine::{Conjugate, Descent};
        let at = |distance: f64, spent: f64| Milestone { distance, objective: distance, spent };
        let mut race = Race::new(Descent, Conjugate, 0);
        assert_eq!(race.challenge(at(1.0, 0.0), at(0.9, 10.0)), Some(Conjugate));
        assert_eq!(race.challenge(at(0.9, 10.0), at(0.8, 20.0)), None);
        let trial_after = |losses: i32| {
            let mut race = Race::new(Descent, Conjugate, losses);
            (0..10).any(|k| race.note(at(0.8f64.powi(k), 10.0 * f64::from(k)), 1e-4).is_some())
        };
        assert!(trial_after(0) && !trial_after(2));
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
