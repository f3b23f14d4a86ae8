//! Bounds, penalties, weights, a given c, signs, blocks and warm starts, in every combination: the solver reaches the
//! exact optimum.

mod common;

use nonneg::{BlockMetric, Method, Solver, Status};

use common::claims::Solved;
use common::problems::{Aim, Fill, Recipe, UpperKind};
use common::random::Random;
use common::tally::Tally;
use common::{Bound, Goal, Problem, Storage};

/// Far more than any of these small problems needs; a limit so that a failure does not run for ever.
const MAX_PASSES: f64 = 2e6;

fn solver() -> Solver {
    Solver::new().tolerance(1e-9).max_passes(MAX_PASSES)
}

/// Solves, and compares with the exact optimum.
fn reaches_the_optimum(solved: &Solved, solver: &Solver, start: Option<&[f64]>) -> Result<(), String> {
    let problem = &solved.problem;
    let what = || format!("batch size {}, {:?}, start {start:?}: {problem:?}", solver.batch_size, solver.method);
    let solution = match start {
        Some(start) => problem.solve_from(solver, start),
        None => problem.solve(solver),
    };
    let solution = solution.map_err(|error| format!("{error}: {}", what()))?;
    let (x, certificate) = (&solution.x, &solution.certificate);
    if *x != problem.clip(x) {
        return Err(format!("x = {x:?} is outside its bounds: {}", what()));
    }
    if !solved.within(x, 1e-8) {
        let error = solved.relative_error(x);
        return Err(format!("{:?} with an error of {error:e}, x = {x:?}, {certificate:?}: {}", solution.status, what()));
    }
    let unproved = problem.is_signed() && certificate.relative_gap.is_none();
    match solution.status {
        Status::Solved if certificate.relative_gap.is_some_and(|gap| gap <= 1e-9) && solved.within(x, 1e-9) => Ok(()),
        Status::Converged if unproved => Ok(()),
        status => Err(format!("{status:?}, x = {x:?}, {certificate:?}: {}", what())),
    }
}

/// Every combination of extras with this fill and aim, on small problems of random shape.
fn every_combination(fills: &[Fill], aims: &[Aim], repeats: u64, mut visit: impl FnMut(&Solved, &mut Random)) {
    let mut seed = 0;
    for &upper in &UpperKind::ALL {
        for flags in 0..8 {
            for &aim in aims {
                for _ in 0..repeats {
                    seed += 1;
                    let mut random = Random::new(seed);
                    let (rows, cols) = (1 + random.index(8), 1 + random.index(6));
                    let mut recipe = Recipe::plain(rows, cols, random.pick(fills), aim, seed);
                    recipe.upper = upper;
                    (recipe.l1, recipe.l2, recipe.weights) = (flags & 1 > 0, flags & 2 > 0, flags & 4 > 0);
                    recipe.storage = random.pick(&Storage::ALL);
                    let solved = Solved::new(recipe.make());
                    if solved.minimum.is_some() {
                        visit(&solved, &mut random);
                    }
                }
            }
        }
    }
}

const NONNEGATIVE: [Fill; 3] = [Fill::Dense, Fill::Sparse, Fill::Integers];
const SIGNED: [Fill; 2] = [Fill::Signed, Fill::SignedIntegers];
const AIMS: [Aim; 3] = [Aim::Positive, Aim::Mixed, Aim::LinearBounded];

#[test]
fn every_combination_of_constraints_reaches_the_optimum() {
    let mut tally = Tally::default();
    every_combination(&NONNEGATIVE, &AIMS, 20, |solved, _| tally.add(reaches_the_optimum(solved, &solver(), None)));
    tally.finish(2000);
}

#[test]
fn every_combination_with_signed_entries_reaches_the_optimum() {
    let mut tally = Tally::default();
    every_combination(&SIGNED, &AIMS, 20, |solved, _| tally.add(reaches_the_optimum(solved, &solver(), None)));
    tally.finish(2000);
}

#[test]
fn every_block_size_reaches_the_optimum() {
    let mut tally = Tally::default();
    every_combination(&NONNEGATIVE, &AIMS, 5, |solved, _| {
        for batch_size in [2, 3, solved.problem.cols, 100] {
            tally.add(reaches_the_optimum(solved, &solver().batch_size(batch_size), None));
        }
    });
    tally.finish(2000);
}

#[test]
fn every_block_size_reaches_the_optimum_with_signed_entries() {
    let mut tally = Tally::default();
    every_combination(&SIGNED, &AIMS, 5, |solved, _| {
        for batch_size in [2, solved.problem.cols] {
            tally.add(reaches_the_optimum(solved, &solver().batch_size(batch_size), None));
        }
    });
    tally.finish(1000);
}

#[test]
fn the_block_metric_of_the_paper_reaches_the_optimum() {
    let mut tally = Tally::default();
    every_combination(&[Fill::Dense, Fill::Integers], &[Aim::Positive, Aim::LinearBounded], 5, |solved, _| {
        tally.add(reaches_the_optimum(solved, &solver().batch_size(2).block_metric(BlockMetric::Spectral), None));
    });
    tally.finish(300);
}

#[test]
fn warm_starts_inside_and_outside_the_bounds_reach_the_optimum() {
    let mut tally = Tally::default();
    every_combination(&NONNEGATIVE, &AIMS, 5, |solved, random| {
        let n = solved.problem.cols;
        let near = solved.minimum.as_ref().and_then(|minimum| minimum.rounded()).unwrap_or(vec![0.0; n]);
        let wrong: Vec<f64> = (0..n).map(|_| random.between(-2.0, 5.0)).collect();
        let absurd: Vec<f64> = (0..n).map(|_| random.pick(&[-1e300, 0.0, 1e-300, 1e300])).collect();
        for start in [near, wrong, absurd, vec![0.0; n]] {
            tally.add(reaches_the_optimum(solved, &solver().batch_size(1 + random.index(3)), Some(&start)));
        }
    });
    tally.finish(2000);
}

#[test]
fn warm_starts_with_signed_entries_reach_the_optimum() {
    let mut tally = Tally::default();
    every_combination(&SIGNED, &AIMS, 5, |solved, random| {
        let start: Vec<f64> = (0..solved.problem.cols).map(|_| random.between(-2.0, 5.0)).collect();
        tally.add(reaches_the_optimum(solved, &solver(), Some(&start)));
    });
    tally.finish(500);
}

#[test]
fn a_warm_start_at_the_optimum_is_kept() {
    every_combination(&[Fill::Dense], &[Aim::Positive], 5, |solved, _| {
        let Some(x) = solved.minimum.as_ref().and_then(|minimum| minimum.rounded()) else { return };
        if solved.condition() > 1e3 {
            return;
        }
        let solution = solved.problem.solve_from(&solver(), &x).unwrap();
        assert_eq!(solution.status, Status::Solved, "{:?}", solved.problem);
        assert_eq!(solution.stats.restarts, 0, "{:?}", solved.problem);
        assert!(solution.stats.passes <= 10.0, "{} passes: {:?}", solution.stats.passes, solved.problem);
    });
}

#[test]
fn every_method_reaches_the_optimum_of_easy_problems() {
    let mut tally = Tally::default();
    for seed in 0..40 {
        let mut recipe = Recipe::plain(8, 1 + seed as usize % 5, Fill::Dense, Aim::Positive, seed);
        recipe.l2 = true;
        recipe.upper = if seed % 2 == 0 { UpperKind::None } else { UpperKind::Each };
        let mut problem = recipe.make();
        problem.l2 = 0.5; // well conditioned: the method without restarts is slow by design
        let solved = Solved::new(problem);
        for method in Method::ALL.into_iter().filter(|method| seed % 2 == 0 || method.takes_upper_bounds()) {
            let tolerance = if method == Method::SiNnlsNoRestart { 1e-5 } else { 1e-9 };
            let solver = solver().method(method).tolerance(tolerance);
            let solution = solved.problem.solve(&solver).unwrap();
            let within = solution.status == Status::Solved && solved.within(&solution.x, tolerance);
            tally.add(if within { Ok(()) } else { Err(format!("{method:?} {:?}: {:?}", solution.status, solved.problem)) });
        }
    }
    tally.finish(100);
}

#[test]
fn ill_conditioned_problems_are_solved_or_say_that_they_are_not() {
    let fills = [Fill::NearDuplicates, Fill::Hilbert, Fill::Duplicates];
    every_combination(&fills, &[Aim::Positive, Aim::InRange, Aim::NearlyOrthogonal], 5, |solved, _| {
        let solution = solved.problem.solve(&Solver::new().max_passes(2e4)).unwrap();
        let claimed = solution.certificate.relative_gap.is_some_and(|gap| gap <= 1e-6);
        assert_eq!(solution.status == Status::Solved, claimed, "{:?}", solved.problem);
        assert!(!claimed || solved.within(&solution.x, 1e-6), "{:?}", solved.problem);
    });
}

/// Columns that nearly agree, or a small ridge on dependent ones, make every method slow; rounding is far away.
#[test]
fn slow_progress_is_not_called_stalled() {
    for tiny in [1e-3, 1e-4, 1e-5, 1e-6] {
        let near = Problem::new(3, 2, &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0 + tiny], &[1.0, 2.0, 3.0]);
        let ridge = Problem { l2: tiny, ..Problem::new(1, 3, &[1.0, 2.0, 3.0], &[1.0]) };
        for problem in [near, ridge] {
            let solved = Solved::new(problem);
            let solution = solved.problem.solve(&Solver::new().tolerance(1e-9).max_passes(1e5)).unwrap();
            let error = solved.relative_error(&solution.x);
            let done = solution.status == Status::Solved || (solution.status == Status::PassLimit && error <= 1e-5);
            assert!(
                done,
                "{:?} after {} passes with an error of {error:e}: {:?}",
                solution.status, solution.stats.passes, solved.problem
            );
        }
    }
}

/// min ½(x − 3)² + … on one column: every closed form.
#[test]
fn one_column_has_the_closed_form() {
    let base = Problem::new(1, 1, &[1.0], &[3.0]);
    let bounded = |bound: f64| Problem { bound: Bound::Uniform(bound), ..base.clone() };
    let cases = [
        (base.clone(), 3.0),
        (bounded(2.0), 2.0),
        (bounded(0.0), 0.0),
        (bounded(f64::INFINITY), 3.0),
        (Problem { l1: 1.0, ..base.clone() }, 2.0),
        (Problem { l1: 5.0, ..base.clone() }, 0.0),
        (Problem { l2: 2.0, ..base.clone() }, 1.0),
        (Problem { l1: 1.0, l2: 1.0, ..base.clone() }, 1.0),
        (Problem { weights: Some(vec![2.0]), l2: 1.0, ..base.clone() }, 2.0),
        (Problem { weights: Some(vec![0.0]), l2: 1.0, ..base.clone() }, 0.0),
        (Problem { goal: Goal::Linear(vec![3.0]), ..base.clone() }, 3.0),
        (Problem { goal: Goal::Linear(vec![-3.0]), ..base.clone() }, 0.0),
        (Problem { a: vec![-1.0], ..base.clone() }, 0.0),
        (Problem { a: vec![-1.0], goal: Goal::Rhs(vec![-3.0]), ..base.clone() }, 3.0),
    ];
    for (problem, expected) in cases {
        let solution = problem.solve(&solver()).unwrap();
        assert!(solution.status.is_success(), "{:?}: {problem:?}", solution.status);
        assert!((solution.x[0] - expected).abs() <= 1e-4, "x = {}, expected {expected}: {problem:?}", solution.x[0]);
    }
}

/// An empty column moves only by what the objective says about it.
#[test]
fn an_empty_column_goes_where_the_objective_sends_it() {
    // A = [1 0]; b = 2.
    let base = Problem::new(1, 2, &[1.0, 0.0], &[2.0]);
    let rewarded = Problem { goal: Goal::Linear(vec![2.0, 1.0]), ..base.clone() };
    let cases = [
        (Problem { l1: 0.5, ..base.clone() }, 0.0),
        (Problem { l2: 0.5, ..base.clone() }, 0.0),
        (Problem { goal: Goal::Linear(vec![2.0, -1.0]), ..base.clone() }, 0.0),
        (Problem { bound: Bound::Each(vec![f64::INFINITY, 7.0]), ..rewarded.clone() }, 7.0),
        (Problem { l2: 0.5, ..rewarded.clone() }, 2.0),
        (Problem { l2: 0.5, bound: Bound::Uniform(1.5), ..rewarded.clone() }, 1.5),
        (Problem { l1: 1.0, ..rewarded.clone() }, 0.0),
    ];
    for (problem, expected) in cases {
        let solution = problem.solve(&solver()).unwrap();
        assert_eq!(solution.status, Status::Solved, "{problem:?}");
        assert!((solution.x[1] - expected).abs() <= 1e-4, "x = {:?}, expected {expected}: {problem:?}", solution.x);
    }
}

#[test]
fn rows_of_weight_zero_do_not_count() {
    for seed in 0..30 {
        let kept = Recipe::plain(5, 3, Fill::Dense, Aim::Positive, seed).make();
        let Goal::Rhs(b) = &kept.goal else { unreachable!("b was asked for") };
        // The same with three rows of nonsense, weighted with zero.
        let mut a = Vec::new();
        for j in 0..3 {
            a.extend_from_slice(kept.column(j));
            a.extend([1e5, 0.0, 7.0]);
        }
        let rhs: Vec<f64> = b.iter().copied().chain([1e9, -1e9, 3.0]).collect();
        let mut padded = Problem::new(8, 3, &a, &rhs);
        padded.weights = Some([1.0; 5].into_iter().chain([0.0; 3]).collect());
        let (plain, weighted) = (kept.solve(&solver()).unwrap(), padded.solve(&solver()).unwrap());
        assert_eq!((plain.status, weighted.status), (Status::Solved, Status::Solved), "seed {seed}");
        let (first, second) = (plain.certificate.objective.unwrap(), weighted.certificate.objective.unwrap());
        assert!((first - second).abs() <= 1e-8 * first.abs().max(1.0), "seed {seed}: {first} and {second}");
    }
}
