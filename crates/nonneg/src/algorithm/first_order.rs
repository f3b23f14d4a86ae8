//! What first-order engines have in common, and which of them works.

use super::point::Point;
use crate::matrix::Columns;
use crate::presolve::Reduced;

/// A first-order engine on one inner problem.
pub trait FirstOrder<'p, M: Columns> {
    /// Moves the point, never up. `gradient` and `distance` are those of the point. Returns the multiply-adds with entries of A.
    fn round(&mut self, problem: &'p Reduced<'p, M>, point: &mut Point, gradient: &[f64], distance: f64) -> u64;
}

/// The engines there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstOrderEngine {
    /// Coordinate descent with Anderson extrapolation.
    Descent,
    /// SI-NNLS+ with restarts.
    Accelerated,
}

impl FirstOrderEngine {
    /// What its multiply-adds cost, beside those of coordinate descent.
    pub fn unit_cost(self) -> f64 {
        match self {
            Self::Descent => 1.0,
            Self::Accelerated => 2.0,
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Descent => Self::Accelerated,
            Self::Accelerated => Self::Descent,
        }
    }
}

/// Measurements that make a rate; twice as many after every change, since an extrapolation pays now and then, not every time.
const WINDOW: usize = 3;

/// What is left to do must be worth so many windows before the other engine is tried.
const WORTH_A_TRIAL: f64 = 8.0;

/// By how much the other engine's rate must be better.
const BETTER: f64 = 1.5;

/// One set's race: an engine works as long as it gains more for its cost than the other did when it was tried.
#[derive(Debug)]
pub struct Race {
    current: FirstOrderEngine,
    /// ln(distance) that the other engine gained per cost in its last window.
    other_rate: Option<f64>,
    /// Distance and cost at the start of the window, measurements since, and how many there will be.
    mark: Option<(f64, f64)>,
    measured: usize,
    window: usize,
}

impl Race {
    /// Before the first measurement.
    pub fn new(preferred: FirstOrderEngine) -> Self {
        Self { current: preferred, other_rate: None, mark: None, measured: 0, window: WINDOW }
    }

    /// The engine that works.
    pub fn current(&self) -> FirstOrderEngine {
        self.current
    }

    /// Notes the distance reached at a cost, and where it should get; the other engine, if it takes over.
    pub fn note(&mut self, closest: f64, spent: f64, goal: f64) -> Option<FirstOrderEngine> {
        let (distance, cost) = *self.mark.get_or_insert((closest, spent));
        let window = spent - cost;
        if window > 0.0 {
            self.measured += 1;
        }
        if self.measured < self.window {
            return None;
        }
        let rate = (distance / closest).ln() / window;
        (self.mark, self.measured) = (Some((closest, spent)), 0);
        let takes_over = match self.other_rate {
            Some(other) => other > BETTER * rate,
            None => (closest / goal).ln() > WORTH_A_TRIAL * window * rate,
        };
        if !takes_over {
            return None;
        }
        self.other_rate = Some(rate);
        (self.current, self.window) = (self.current.other(), 2 * self.window);
        Some(self.current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distances fall by e^(−rate·cost) for each engine; returns who worked in each of 60 measurements.
    fn race(descent: f64, accelerated: f64, goal: f64) -> Vec<FirstOrderEngine> {
        let mut race = Race::new(FirstOrderEngine::Descent);
        let (mut distance, mut spent) = (1.0f64, 0.0);
        let mut who = Vec::new();
        for _ in 0..60 {
            race.note(distance, spent, goal);
            who.push(race.current());
            let rate = if race.current() == FirstOrderEngine::Descent { descent } else { accelerated };
            spent += 10.0;
            distance *= (-10.0 * rate).exp();
        }
        who
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
