//! The exact engine: a block active-set method that never goes up.
//!
//! On a set of variables with its Gram matrix G (so that a step costs no pass over A):
//!
//! 1. coordinate sweeps: every variable ends strictly positive or zero, and f falls;
//! 2. on the face of those strictly between their bounds, the Newton step d = −G⁻¹∇f by Cholesky;
//! 3. if x + d leaves the bounds, what does so stops there and the others are solved for again, until all are inside;
//! 4. if that is no lower, the lowest point on the projected path x(t) = clip(x + td), t ≤ 1; and from then on G is damped by a
//!    part of its diagonal, more after every such failure, less after every step that did not fail.
//!
//! f falls in every step and a face is left for good once it is solved: it ends.

use std::sync::Arc;

use super::Monitor;
use super::curvature::{Curvature, Factor};
use super::gram::{Gram, KnownGram};
use super::point::{Coordinate, distance_of};
use crate::matrix::Columns;
use crate::presolve::Reduced;

/// Coordinate sweeps before the first Newton step of a round, at most. One between faces is enough.
const FIRST_SWEEPS: usize = 5;

/// Sweeps end early when the last one moved less than this part of what the first one did (in units of f).
const SWEPT: f64 = 1e-4;

/// Newton steps on one set, at most: the next round goes on.
const STEPS: usize = 60;

/// Refinements of one Newton step, with the factor of G and with that of a damped G.
const REFINEMENTS: usize = 3;
const DAMPED_REFINEMENTS: usize = 8;

/// A damped face is solved when its last step is this part of its first one, and damped too much when a step is more than this part
/// of the one before (squared, in units of f).
const REFINED: f64 = 1e-6;
const SLOW: f64 = 0.1;

/// Part of the diagonal that is added when columns depend on each other.
const DAMPING: f64 = 1e-13;

/// How often variables that a step takes out of their bounds are stopped there and the others solved for anew.
const SETTLINGS: usize = 10;

/// What damping is multiplied by for more and for less, where it starts, and where it is as good as none.
const MORE: f64 = 30.0;
const LESS: f64 = 0.01;
const FIRST_DAMPING: f64 = 1e-5;
const NO_DAMPING: f64 = 1e-9;

/// With so much of the diagonal added, every matrix has a factor.
const MOST_DAMPING: f64 = 1e6;

/// A step of this part of x (squared, in units of f) is rounding error, and so is a fall of f that is this part of its terms.
const ROUNDING: f64 = 1e-28;
const NOISE: f64 = 1e-14;

/// The engine with what it keeps from round to round.
#[derive(Debug)]
pub struct Face<G: Curvature = Gram> {
    gram: G,
    /// Entries of G that are known from elsewhere.
    known: Arc<KnownGram>,
    factor: G::Factor,
    /// Places (in `gram`) of the factor's variables, in its order.
    face: Vec<usize>,
    /// What was added to the diagonal of G, relative to it, so that there is a factor.
    damping: f64,
    /// The least of it that gives a factor.
    least_damping: f64,
    /// The damping that work on the last set began with, and what steps that failed showed it to need.
    opened: f64,
    opening: Option<f64>,
    /// x, ∇f and u at each place.
    x: Vec<f64>,
    slope: Vec<f64>,
    upper: Vec<f64>,
    /// Moves that sweeps have made.
    swept: u64,
    work: u64,
}

impl Face<Gram> {
    /// Bytes that the matrices of so many variables take.
    pub fn bytes(variables: usize) -> u64 {
        // Gram matrix and factor, each with room to grow by half.
        2 * 8 * (variables as u64 * 3 / 2).pow(2)
    }

    /// With entries of G that are known from elsewhere.
    pub fn with_known(known: Arc<KnownGram>) -> Self {
        Self { known, ..Self::new() }
    }

    /// What it has found out, for other problems.
    pub fn into_known<M: Columns>(self, problem: &Reduced<M>) -> KnownGram {
        KnownGram::new(self.gram, problem)
    }
}

impl<G: Curvature> Face<G> {
    /// Knows nothing yet.
    pub fn new() -> Self {
        Self {
            gram: G::default(),
            known: Arc::default(),
            factor: G::Factor::default(),
            face: Vec::new(),
            damping: 0.0,
            least_damping: 0.0,
            opened: 0.0,
            opening: None,
            x: Vec::new(),
            slope: Vec::new(),
            upper: Vec::new(),
            swept: 0,
            work: 0,
        }
    }

    /// Minimises f over the set (sorted; it holds the support of x), all other variables fixed at zero. `gradient` is
    /// ∇f(x). Ends at the given distance from the optimum on the set.
    pub fn solve<M: Columns>(
        &mut self,
        problem: &Reduced<M>,
        set: &[usize],
        x: &mut [f64],
        gradient: &[f64],
        target: f64,
        monitor: &mut dyn Monitor,
    ) {
        if !self.make_ready(problem, set, x, gradient, monitor) {
            return;
        }
        let mut places: Vec<usize> = set.iter().map(|&k| self.gram.place(k).expect("just added")).collect();
        places.sort_unstable();
        self.open();
        self.sweeps(&places, FIRST_SWEEPS);
        for _ in 0..STEPS {
            let solved = self.newton(&places, monitor);
            monitor.spend(std::mem::take(&mut self.work) + self.factor.work());
            if self.distance(problem, &places) <= target || monitor.out_of_time() {
                break;
            }
            // Whoever wants to leave its bound gets a sweep.
            if solved {
                let before = self.swept;
                self.sweeps(&places, 1);
                if self.swept == before {
                    break;
                }
            }
        }
        for &k in set {
            x[k] = self.x[self.gram.place(k).expect("just added")];
        }
    }

    /// Whether the products of a variable with the others need not be computed, as far as one can tell.
    pub fn knows<M: Columns>(&self, problem: &Reduced<M>, variable: usize) -> bool {
        self.gram.place(variable).is_some() || self.known.knows(problem.columns[variable])
    }

    /// Variables in the factor.
    pub fn size(&self) -> usize {
        self.face.len()
    }

    /// G on the set, and x and ∇f on all that G knows. False if there was no time for it.
    fn make_ready<M: Columns>(
        &mut self,
        problem: &Reduced<M>,
        set: &[usize],
        x: &[f64],
        gradient: &[f64],
        monitor: &mut dyn Monitor,
    ) -> bool {
        let new: Vec<usize> = set.iter().copied().filter(|&k| self.gram.place(k).is_none()).collect();
        if self.gram.variables().len() + new.len() > 2 * set.len() + 64 {
            let places: Vec<usize> = set.iter().filter_map(|&k| self.gram.place(k)).collect();
            let mut moved = vec![usize::MAX; self.gram.variables().len()];
            places.iter().enumerate().for_each(|(to, &from)| moved[from] = to);
            self.gram.keep(&places);
            let gone: Vec<usize> = (0..self.face.len()).filter(|&f| moved[self.face[f]] == usize::MAX).collect();
            self.drop_from_face(&gone);
            self.face.iter_mut().for_each(|place| *place = moved[*place]);
        }
        for some in new.chunks(G::Factor::AT_ONCE) {
            monitor.spend(self.gram.add(problem, some, &self.known));
            if monitor.out_of_time() {
                return false;
            }
        }
        self.x = self.gram.variables().iter().map(|&k| x[k]).collect();
        self.slope = self.gram.variables().iter().map(|&k| gradient[k]).collect();
        self.upper = self.gram.variables().iter().map(|&k| problem.upper[k]).collect();
        true
    }

    /// x + change at one place.
    fn shift(&mut self, place: usize, change: f64) {
        self.x[place] += change;
        self.work += self.gram.add_column(place, change, &mut self.slope);
    }

    /// Coordinate sweeps over the set.
    fn sweeps(&mut self, places: &[usize], count: usize) {
        let mut first = 0.0;
        for sweep in 0..count {
            let mut moved = 0.0;
            for &place in places {
                let diagonal = self.gram.diagonal(place);
                let best = (self.x[place] - self.slope[place] / diagonal).clamp(0.0, self.upper[place]);
                let change = best - self.x[place];
                if change != 0.0 {
                    self.shift(place, change);
                    self.x[place] = best; // exactly at its bound
                    self.swept += 1;
                    moved += diagonal * change * change;
                }
            }
            if sweep == 0 {
                first = moved;
            }
            if moved <= SWEPT * first {
                break;
            }
        }
    }

    fn is_free(&self, place: usize) -> bool {
        self.x[place] > 0.0 && self.x[place] < self.upper[place]
    }

    /// How far x is from the optimum on the set.
    fn distance<M: Columns>(&self, problem: &Reduced<M>, places: &[usize]) -> f64 {
        let coordinate = |i: usize| {
            let (place, variable) = (places[i], self.gram.variables()[places[i]]);
            Coordinate {
                x: self.x[place],
                slope: self.slope[place],
                linear: problem.linear[variable],
                curvature: problem.curvature(variable),
                ridge: problem.ridge(variable),
                upper: problem.upper[variable],
            }
        };
        distance_of(places.len(), false, coordinate)
    }

    /// A Newton step on the face, or as far along its projected path as f falls. Whether the face is solved.
    fn newton(&mut self, places: &[usize], monitor: &mut dyn Monitor) -> bool {
        if !self.update_face(places, monitor) {
            return false;
        }
        if self.face.is_empty() {
            return true;
        }
        let damped = self.damping > self.least_damping;
        let (mut first, mut last) = (None, f64::INFINITY);
        for _ in 0..if damped { DAMPED_REFINEMENTS } else { REFINEMENTS } {
            let mut step: Vec<f64> = self.face.iter().map(|&p| -self.slope[p]).collect();
            self.factor.solve(&self.gram, &self.face, self.damping, &mut step);
            let size: f64 = self.face.iter().zip(&step).map(|(&p, d)| self.gram.diagonal(p) * d * d).sum();
            let scale: f64 = self.face.iter().map(|&p| self.gram.diagonal(p) * self.x[p] * self.x[p]).sum();
            if !size.is_finite() || size <= ROUNDING * scale {
                return self.relax();
            }
            let inside = |(&p, &d): (&usize, &f64)| self.x[p] + d > 0.0 && self.x[p] + d < self.upper[p];
            if !self.face.iter().zip(&step).all(inside) {
                return self.stay_inside(&step);
            }
            let face = self.face.clone();
            let target: Vec<f64> = face.iter().zip(&step).map(|(&p, d)| self.x[p] + d).collect();
            if !self.move_to(&face, &target) || damped && size > SLOW * last {
                return self.relax();
            }
            if damped && size <= REFINED * *first.get_or_insert(size) {
                break; // a new factor would cost more than it could still gain
            }
            last = size;
        }
        true
    }

    /// Starts with as much damping as the first steps on the last set turned out to need, or with less if they needed none.
    fn open(&mut self) {
        let needed = self.opening.take().unwrap_or(LESS * self.opened);
        self.opened = if needed < NO_DAMPING { 0.0 } else { needed };
        if self.opened > self.damping {
            self.set_damping(self.opened);
        }
    }

    /// Less damping for the next step; whether there was none to take away.
    fn relax(&mut self) -> bool {
        let least = self.damping <= self.least_damping;
        if !least {
            let less = LESS * self.damping;
            self.set_damping(if less < NO_DAMPING { self.least_damping } else { less });
        }
        least
    }

    /// The factor is that of G + damping·diag(G).
    fn set_damping(&mut self, damping: f64) {
        self.damping = damping;
        self.factor.clear();
        self.face.clear();
    }

    /// G·d for a d on some places.
    fn multiply(&mut self, places: &[usize], d: &[f64]) -> Vec<f64> {
        let mut image = vec![0.0; self.gram.variables().len()];
        self.work += self.gram.add_columns(places, d, &mut image);
        image
    }

    /// For a step that leaves the bounds: settles it inside them, or follows its projected path where that is no good; then more
    /// damping is needed. Whether what is left of the face is solved.
    fn stay_inside(&mut self, step: &[f64]) -> bool {
        let face = self.face.clone();
        let (settled, all_inside) = self.settle(&face, step);
        if self.move_to(&face, &settled) {
            // A factor that is made anew for every face costs no more with less damping.
            let undamped = if G::Factor::FOLLOWS { self.damping <= self.least_damping } else { self.relax() };
            all_inside && undamped
        } else {
            let lowest = self.path_search(&face, step);
            self.move_to(&face, &lowest);
            self.set_damping((MORE * self.damping).max(FIRST_DAMPING));
            self.opening = Some(self.damping);
            false
        }
    }

    /// What a step takes to its bounds or beyond stops there, and the others are solved for anew, until none is left outside: the
    /// least point of the damped model, but for those that might leave their bounds again. The factor loses what has stopped.
    /// Second, whether none is left.
    fn settle(&mut self, face: &[usize], step: &[f64]) -> (Vec<f64>, bool) {
        let mut target: Vec<f64> = face.iter().zip(step).map(|(&p, d)| self.x[p] + d).collect();
        let mut right: Vec<f64> = self.slope.iter().map(|slope| -slope).collect(); // at each place
        let mut inside: Vec<usize> = (0..face.len()).collect(); // what the factor still has
        let mut all_inside = false;
        for _ in 0..SETTLINGS {
            let is_outside = |f: usize| target[f] <= 0.0 || target[f] >= self.upper[face[f]];
            let gone: Vec<usize> = (0..inside.len()).filter(|&i| is_outside(inside[i])).collect();
            all_inside = gone.is_empty();
            if all_inside {
                break;
            }
            for &i in &gone {
                let (f, place) = (inside[i], face[inside[i]]);
                target[f] = target[f].clamp(0.0, self.upper[place]);
                self.work += self.gram.add_column(place, self.x[place] - target[f], &mut right);
            }
            self.drop_from_face(&gone);
            remove_sorted(&mut inside, &gone);
            let mut step: Vec<f64> = inside.iter().map(|&f| right[face[f]]).collect();
            self.factor.solve(&self.gram, &self.face, self.damping, &mut step);
            inside.iter().zip(step).for_each(|(&f, d)| target[f] = self.x[face[f]] + d);
        }
        target.iter_mut().zip(face).for_each(|(target, &p)| *target = target.clamp(0.0, self.upper[p]));
        (target, all_inside)
    }

    /// Moves places to new values, if f falls; whether it does.
    fn move_to(&mut self, places: &[usize], target: &[f64]) -> bool {
        let change: Vec<f64> = places.iter().zip(target).map(|(&p, target)| target - self.x[p]).collect();
        let image = self.multiply(places, &change);
        let (mut rise, mut size) = (0.0, 0.0);
        for (d, &p) in change.iter().zip(places) {
            rise += d * (self.slope[p] + 0.5 * image[p]);
            size += d.abs() * (self.slope[p].abs() + 0.5 * image[p].abs());
        }
        let falls = rise < -NOISE * size;
        if falls {
            places.iter().zip(target).for_each(|(&p, &target)| self.x[p] = target);
            self.slope.iter_mut().zip(&image).for_each(|(slope, g)| *slope += g);
        }
        falls
    }

    /// The lowest point on the projected path clip(x + td), 0 ≤ t ≤ 1: a walk from bound to bound, f being a parabola in
    /// between.
    fn path_search(&mut self, face: &[usize], step: &[f64]) -> Vec<f64> {
        let meets = |(place, d): (usize, f64)| {
            if d < 0.0 {
                self.x[place] / -d
            } else if d > 0.0 {
                (self.upper[place] - self.x[place]) / d
            } else {
                f64::INFINITY
            }
        };
        let mut bounds: Vec<(f64, usize)> = (0..face.len()).map(|f| (meets((face[f], step[f])), f)).collect();
        bounds.retain(|&(t, _)| t < 1.0);
        bounds.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        bounds.push((1.0, usize::MAX));

        let mut direction = step.to_vec();
        let mut slope = self.slope.clone(); // at each place, as is what follows
        let mut bend = vec![0.0; slope.len()];
        for (&p, d) in face.iter().zip(step) {
            bend[p] = -slope[p] - self.damping * self.gram.diagonal(p) * d; // the step solves (G + damping)d = −slope
        }
        let (mut t, mut value, mut best) = (0.0, 0.0, (0.0, 0.0));
        for (next, meets) in bounds {
            let length = next - t;
            let falls: f64 = direction.iter().zip(face).map(|(d, &p)| d * slope[p]).sum();
            let curves: f64 = direction.iter().zip(face).map(|(d, &p)| d * bend[p]).sum();
            let lowest = if curves > 0.0 {
                (-falls / curves).clamp(0.0, length)
            } else if falls < 0.0 {
                length
            } else {
                0.0
            };
            let at_lowest = value + lowest * (falls + 0.5 * lowest * curves);
            if at_lowest < best.0 {
                best = (at_lowest, t + lowest);
            }
            value += length * (falls + 0.5 * length * curves);
            t = next;
            if meets == usize::MAX {
                break;
            }
            slope.iter_mut().zip(&bend).for_each(|(slope, bend)| *slope += length * bend);
            let stopped = std::mem::take(&mut direction[meets]);
            self.work += self.gram.add_column(face[meets], -stopped, &mut bend) + 3 * face.len() as u64;
        }
        let t = best.1;
        face.iter().zip(step).map(|(&p, d)| (self.x[p] + t * d).clamp(0.0, self.upper[p])).collect()
    }

    fn drop_from_face(&mut self, gone: &[usize]) {
        if gone.is_empty() {
            return;
        }
        self.factor.remove(gone);
        remove_sorted(&mut self.face, gone);
    }

    /// Brings the factor to the free variables of the set. False if there was no time for it.
    fn update_face(&mut self, places: &[usize], monitor: &mut dyn Monitor) -> bool {
        let mut wanted = vec![false; self.gram.variables().len()];
        for &place in places {
            wanted[place] = self.is_free(place);
        }
        let gone: Vec<usize> = (0..self.face.len()).filter(|&f| !wanted[self.face[f]]).collect();
        self.drop_from_face(&gone);
        self.face.iter().for_each(|&place| wanted[place] = false);
        let new: Vec<usize> = places.iter().copied().filter(|&place| wanted[place]).collect();
        if let Some(finished) = self.extend_face(&new, monitor) {
            return finished;
        }
        // Columns depend on each other: with a little on the diagonal there is always a factor, and refinement does the rest.
        let all: Vec<usize> = self.face.iter().copied().chain(new.iter().copied().filter(|p| !self.face.contains(p))).collect();
        loop {
            self.least_damping = (100.0 * self.least_damping).max(DAMPING * (1 + all.len()) as f64);
            self.set_damping(self.damping.max(self.least_damping));
            if let Some(finished) = self.extend_face(&all, monitor) {
                return finished;
            }
            // A sparse factor can also be too large to have.
            if self.least_damping > MOST_DAMPING {
                (self.damping, self.least_damping) = (0.0, 0.0);
                return false;
            }
        }
    }

    /// Appends variables to the factor, and whether there was time for all of them; `None` if some depend on the others.
    fn extend_face(&mut self, new: &[usize], monitor: &mut dyn Monitor) -> Option<bool> {
        for some in new.chunks(G::Factor::AT_ONCE) {
            let done = self.factor.extend(&self.gram, &self.face, some, self.damping);
            let appended = match &done {
                Ok(()) => some.len(),
                Err(dependent) => dependent.appended,
            };
            self.face.extend_from_slice(&some[..appended]);
            monitor.spend(self.factor.work());
            if done.is_err() {
                return None;
            }
            if monitor.out_of_time() {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// Removes what stands at the given positions, which are in order.
fn remove_sorted(list: &mut Vec<usize>, positions: &[usize]) {
    let mut gone = positions.iter().peekable();
    let mut at = 0;
    list.retain(|_| {
        at += 1;
        gone.next_if(|&&g| g == at - 1).is_none()
    });
}
