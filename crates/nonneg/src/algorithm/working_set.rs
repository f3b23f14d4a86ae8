//! The default solver. Most columns are zero at the optimum and need only be looked at now and then.
//!
//! Each round works on the support and the most promising other columns until that inner problem is a good deal closer to
//! its optimum than the whole one was ([`Engines`]), and then checks the point on all columns: one pair of passes gives the
//! certificate and the gradient that picks the next set. A column that the optimum needs has a negative slope sooner or
//! later, and enters; the certificate alone ends the loop.

use std::sync::{Arc, Mutex, PoisonError};

use super::engines::{Engines, Goal};
use super::gram::{Gram, KnownGram};
use super::overlaps::Overlaps;
use super::{Algorithm, Check, Monitor};
use crate::matrix::Columns;
use crate::presolve::Reduced;

/// Columns that may enter in a round: this many, this part of all, or this multiple of the support.
const LEAST_NEW: usize = 40;
const PART_OF_ALL: f64 = 0.02;
const PART_OF_SUPPORT: f64 = 1.0;

/// The same after a round of the exact engine that cost more than the check, so many passes: it costs the more the more columns
/// turn out to be of no use. Without a ridge, no more variables are strictly between their bounds than there are rows: then this part
/// of what is left.
const PART_OF_SUPPORT_EXACT: f64 = 0.25;
const PART_OF_ROWS_LEFT: f64 = 0.4;
const DEAR: f64 = 2.0;

/// Where entries are scattered, and columns overlap with many others, those of no use cost little: this part of all, if it is no more
/// than this part of the rows, which bound the support, and more than are no trouble for the exact engine.
const PART_OF_SCATTERED: f64 = 0.2;
const PART_OF_ROWS: f64 = 0.3;
const MANY: usize = 256;

/// A round that costs less than this part of a pass leaves the time to the checks: twice as many columns may enter the next.
const CHEAP: f64 = 0.25;

/// An inner problem is solved to this part of the distance that the whole one had, or to this part of what is asked for.
const INNER_FRACTION: f64 = 0.1;
const WANTED_FRACTION: f64 = 0.5;

/// Bytes of an entry in a copy, at most.
const ENTRY: u64 = 16;

/// Working sets around the inner engines.
#[derive(Debug, Clone, Copy)]
pub struct WorkingSet<'g> {
    /// Only the exact engine may work on a set.
    pub exact_only: bool,
    /// Bytes for the exact engine's matrices.
    pub memory_limit: u64,
    /// Seed of SI-NNLS+ where it works on a set.
    pub seed: u64,
    /// Where the Gram matrix is kept for other problems with the same A, weights and ridge.
    pub memory: Option<&'g GramMemory>,
}

/// The Gram matrix of the last solve that needed more than was known.
#[derive(Debug, Default)]
pub struct GramMemory(Mutex<Arc<KnownGram>>);

impl GramMemory {
    /// Knows all of G.
    pub fn of_all<M: Columns>(problem: &Reduced<M>) -> Self {
        Self(Mutex::new(Arc::new(KnownGram::of_all(problem))))
    }

    fn get(&self) -> Arc<KnownGram> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, found: KnownGram) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if found.len() > known.len() {
            *known = Arc::new(found);
        }
    }
}

impl Algorithm for WorkingSet<'_> {
    fn run<M: Columns>(&self, problem: &Reduced<M>, mut x: Vec<f64>, monitor: &mut dyn Monitor) {
        let mut engines =
            Engines::new(self.exact_only, self.memory_limit, self.seed, self.memory.map_or_else(Arc::default, GramMemory::get));
        let mut check = monitor.check(&x);
        let pass = problem.matrix.nnz() as f64;
        let choose = |x: &[f64], check: &Check, least: usize, dear: bool| {
            choose(problem, x, &check.gradient, least, dear, self.memory_limit)
        };
        let has_no_neighbours = |many: &usize| {
            let (overlaps, work) = Overlaps::look(problem, &choose(&x, &check, *many, false).variables);
            monitor.spend(work);
            overlaps.neighbours.is_none()
        };
        let many = many_at_once(problem).filter(has_no_neighbours).unwrap_or(0);
        let (mut least, mut dear, mut room) = (LEAST_NEW, false, LEAST_NEW);
        while !check.stop {
            let set = choose(&x, &check, room, dear);
            let goal = Goal {
                now: check.distance,
                inner: (INNER_FRACTION * check.distance).max(WANTED_FRACTION * check.wanted_distance),
                wanted: check.wanted_distance,
                pass,
            };
            let before = check.objective;
            let cost = engines.improve(problem, &set.variables, &mut x, check, goal, monitor);
            dear = engines.worked_exactly() && cost > DEAR * pass;
            if set.left_some_out && cost < CHEAP * pass {
                least = (2 * least).min(x.len());
            }
            room = least.max(many); // not in the first round, when slopes tell little
            check = monitor.check(&x);
            engines.judge(goal, check.distance, before - check.objective);
        }
        if let Some(memory) = self.memory {
            memory.keep(engines.into_known(problem));
        }
    }
}

/// How many columns may enter at once where entries are scattered, if that is worth a thought.
fn many_at_once<M: Columns>(problem: &Reduced<M>) -> Option<usize> {
    let part = |part: f64, of: usize| (part * of as f64) as usize;
    let many = part(PART_OF_SCATTERED, problem.len()).min(part(PART_OF_ROWS, problem.matrix.rows()));
    (many > MANY && !Gram::is_dense(problem, problem.len(), problem.matrix.nnz() as u64)).then_some(many)
}

/// The variables of a round.
struct Set {
    /// In order.
    variables: Vec<usize>,
    /// Whether there was no room for others that would lower f.
    left_some_out: bool,
}

/// The support and the columns outside it that fall most steeply, `least` of them or more, no more than a copy of them fits into memory.
fn choose<M: Columns>(problem: &Reduced<M>, x: &[f64], gradient: &[f64], least: usize, dear: bool, memory: u64) -> Set {
    let support = x.iter().filter(|&&v| v > 0.0).count();
    let part = |part: f64, of: usize| (part * of as f64) as usize;
    let mut room = part(PART_OF_ALL, x.len());
    if dear {
        let inside = (0..x.len()).filter(|&k| x[k] > 0.0 && x[k] < problem.upper[k]).count();
        let left = problem.matrix.rows().saturating_sub(inside);
        let most = if problem.ridge.is_empty() { part(PART_OF_ROWS_LEFT, left) } else { usize::MAX };
        room = room.max(part(PART_OF_SUPPORT_EXACT, support)).min(most);
    } else {
        room = room.max(part(PART_OF_SUPPORT, support));
    }
    room = room.max(least);
    let slope = |k: usize| gradient[k] / problem.curvature(k).sqrt(); // in units of the column
    let mut set: Vec<usize> = (0..x.len()).filter(|&k| x[k] == 0.0 && gradient[k] < 0.0).collect();
    let steeper = |&a: &usize, &b: &usize| slope(a).total_cmp(&slope(b)).then(a.cmp(&b));
    let mut left_some_out = set.len() > room;
    if left_some_out {
        set.select_nth_unstable_by(room, steeper);
        set.truncate(room);
    }
    let supported = || (0..x.len()).filter(|&k| x[k] > 0.0);
    let left = (memory / ENTRY).saturating_sub(problem.entries(supported()));
    if problem.entries(set.iter().copied()) > left {
        set.sort_unstable_by(steeper);
        let mut sum = 0;
        let mut fits = |k: &usize| {
            sum += problem.entries(std::iter::once(*k));
            sum <= left
        };
        let count = set.iter().take_while(|k| fits(k)).count().max(1);
        left_some_out |= count < set.len();
        set.truncate(count);
    }
    set.extend(supported());
    set.sort_unstable();
    Set { variables: set, left_some_out }
}
