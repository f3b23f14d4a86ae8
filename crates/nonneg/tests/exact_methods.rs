//! The methods beside SI-NNLS+, each against the exact optimum and against its own promises.

mod common;

use nonneg::{BlockMetric, DenseMatrix, Error, LeastSquares, Method, Solution, Solver, Status};

use common::claims::Solved;
use common::problems::{Aim, Fill, Recipe};
use common::random::Random;
use common::tally::Tally;
use common::{Bound, Problem, Storage};

const EXACT: [Method; 3] = [Method::LawsonHanson, Method::Fnnls, Method::TntNn];
const ITERATIVE: [Method; 5] = [Method::Cd, Method::Apcg, Method::Fista, Method::FistaNoRestart, Method::OaDs];

/// Far more than any of these problems needs; a limit so that a failure does not run for ever.
const MAX_PASSES: f64 = 1e5;

fn solver(method: Method) -> Solver {
    Solver::new().method(method).block_metric(BlockMetric::ScaleInvariant).tolerance(1e-8).max_passes(MAX_PASSES)
}

/// Solves, and compares with the exact optimum.
fn outcome(solved: &Solved, solver: &Solver, start: Option<&[f64]>) -> Result<(), String> {
    let problem = &solved.problem;
    let what = || format!("{:?}, start {start:?}: {problem:?}", solver.method);
    let solution = match start {
        Some(start) => problem.solve_from(solver, start),
        None => problem.solve(solver),
    };
    let solution = solution.map_err(|error| format!("{error}: {}", what()))?;
    let unproved = problem.is_signed() && solution.certificate.relative_gap.is_none();
    let expected = if unproved { Status::Converged } else { Status::Solved };
    let within = solved.within(&solution.x, 1e-8) && solution.x.iter().all(|&x| x >= 0.0);
    if within && solution.status == expected {
        return Ok(());
    }
    let error = solved.relative_error(&solution.x);
    Err(format!("{:?} with an error of {error:e} after {} passes: {}", solution.status, solution.stats.passes, what()))
}

/// Small problems of random shape, tall and wide, with every combination of penalties and weights.
fn many(fills: &[Fill], aims: &[Aim], repeats: u64, mut visit: impl FnMut(&Solved, &mut Random)) {
    let mut seed = 0;
    for flags in 0..8 {
        for &aim in aims {
            for _ in 0..repeats {
                seed += 1;
                let mut random = Random::new(seed);
                let (rows, cols) = (1 + random.index(8), 1 + random.index(7));
                let mut recipe = Recipe::plain(rows, cols, random.pick(fills), aim, seed);
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

const NONNEGATIVE: [Fill; 4] = [Fill::Dense, Fill::Sparse, Fill::Integers, Fill::Duplicates];
const AIMS: [Aim; 5] = [Aim::Positive, Aim::Mixed, Aim::LinearBounded, Aim::InRange, Aim::Zero];

#[test]
fn exact_methods_reach_the_optimum() {
    let mut tally = Tally::default();
    many(&NONNEGATIVE, &AIMS, 30, |solved, _| {
        EXACT.into_iter().for_each(|method| tally.add(outcome(solved, &solver(method), None)));
    });
    tally.finish(3000);
}

#[test]
fn exact_methods_reach_the_optimum_of_signed_problems() {
    let mut tally = Tally::default();
    many(&[Fill::Signed, Fill::SignedIntegers], &AIMS[..3], 30, |solved, _| {
        EXACT.into_iter().for_each(|method| tally.add(outcome(solved, &solver(method), None)));
    });
    tally.finish(2000);
}

#[test]
fn exact_methods_start_from_any_point() {
    let mut tally = Tally::default();
    many(&NONNEGATIVE, &AIMS[..3], 10, |solved, random| {
        let n = solved.problem.cols;
        let near = solved.minimum.as_ref().and_then(|minimum| minimum.rounded()).unwrap_or(vec![0.0; n]);
        let wrong: Vec<f64> = (0..n).map(|_| random.between(-2.0, 5.0)).collect();
        for start in [near, wrong] {
            EXACT.into_iter().for_each(|method| tally.add(outcome(solved, &solver(method), Some(&start))));
        }
    });
    tally.finish(1000);
}

/// Along some d ≥ 0 with Ad = 0 and cᵀd > 0.
#[test]
fn exact_methods_say_that_the_objective_is_unbounded() {
    let (mut unbounded, mut said) = (0, 0);
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let (rows, cols) = (1 + random.index(4), 2 + random.index(5));
        let solved = Solved::new(Recipe::plain(rows, cols, Fill::SignedIntegers, Aim::Linear, seed).make());
        for method in EXACT {
            let outcome = solved.problem.solve(&solver(method));
            match &solved.minimum {
                Some(_) => assert!(outcome.is_ok(), "{method:?}, not unbounded: {:?}", solved.problem),
                None => {
                    unbounded += 1;
                    said += usize::from(matches!(outcome, Err(Error::Unbounded(_))));
                    assert!(outcome.is_err() || outcome.unwrap().status == Status::Stalled, "{method:?}: {:?}", solved.problem);
                }
            }
        }
    }
    assert!(unbounded > 100 && said * 100 >= 95 * unbounded, "{said} of {unbounded}");
}

/// With a ridge of half a column's curvature or so every iterative method is fast.
#[test]
fn iterative_methods_reach_the_optimum_of_well_conditioned_problems() {
    let mut tally = Tally::default();
    many(&NONNEGATIVE, &AIMS[..3], 20, |solved, random| {
        let mut problem = solved.problem.clone();
        problem.l2 = 0.5;
        if random.chance(0.5) {
            problem.bound = Bound::Uniform(random.between(0.0, 0.5));
        }
        let solved = Solved::new(problem);
        let start: Vec<f64> = (0..solved.problem.cols).map(|_| random.between(-2.0, 5.0)).collect();
        for method in ITERATIVE {
            tally.add(outcome(&solved, &solver(method), None));
            tally.add(outcome(&solved, &solver(method), Some(&start)));
        }
    });
    tally.finish(1000);
}

/// Uniform columns with zeros, some of them copies of others; b with noise.
fn middle(rows: usize, cols: usize, density: f64, copies: bool, seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let mut a = Vec::with_capacity(rows * cols);
    for j in 0..cols {
        if copies && j > 0 && random.chance(0.3) {
            let from = random.index(j);
            a.extend_from_within(from * rows..(from + 1) * rows);
        } else {
            a.extend((0..rows).map(|_| if random.chance(density) { random.unit() } else { 0.0 }));
        }
    }
    let x: Vec<f64> = (0..cols).map(|_| if random.chance(0.2) { random.unit() } else { 0.0 }).collect();
    let b: Vec<f64> =
        (0..rows).map(|i| (0..cols).map(|j| a[j * rows + i] * x[j]).sum::<f64>() + 0.1 * random.between(-1.0, 1.0)).collect();
    Problem::new(rows, cols, &a, &b)
}

/// Larger than a block, a panel and a tile.
#[test]
fn middle_sized_problems_are_solved() {
    let shapes = [(300, 200, 1.0), (400, 300, 0.1), (100, 300, 1.0), (60, 400, 0.3), (700, 500, 0.05)];
    for (seed, (rows, cols, density)) in shapes.into_iter().enumerate() {
        for copies in [false, true] {
            let mut problem = middle(rows, cols, density, copies, seed as u64);
            problem.storage = if density < 1.0 { Storage::Csc } else { Storage::Dense };
            for method in EXACT {
                let solution = problem.solve(&solver(method)).unwrap();
                assert_eq!(
                    solution.status,
                    Status::Solved,
                    "{method:?} {rows}×{cols}, copies {copies}: {:?}",
                    solution.certificate
                );
                assert_eq!(solution.stats.method, method);
            }
        }
    }
}

#[test]
fn exact_methods_reach_what_rounding_allows() {
    for seed in 0..5 {
        let problem = middle(80, 40, 1.0, false, seed);
        for method in EXACT {
            let solution = problem.solve(&solver(method).tolerance(1e-12)).unwrap();
            assert_eq!(solution.status, Status::Solved, "{method:?}: {:?}", solution.certificate);
            let all = problem.solve(&solver(method).tolerance(0.0)).unwrap();
            assert_eq!(all.status, Status::Stalled, "{method:?}");
            assert!(all.certificate.relative_gap.unwrap() < 1e-12);
            assert!(all.stats.passes < 5e3, "{method:?}: {} passes", all.stats.passes);
        }
    }
}

/// Dependent columns of both signs and b in their range: at the end every slope is rounding error, of either sign, and a
/// column that enters on account of it leaves again, or changes nothing, over and over.
#[test]
fn rounding_errors_do_not_make_exact_methods_cycle() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (rows, rank, cols) = (6, 3, 12);
        let basis: Vec<f64> = (0..rows * rank).map(|_| random.between(-1.0, 1.0)).collect();
        let mut a = vec![0.0; rows * cols];
        for column in a.chunks_mut(rows) {
            for part in basis.chunks(rows) {
                let factor = random.between(-1.0, 1.0);
                column.iter_mut().zip(part).for_each(|(v, p)| *v += factor * p);
            }
        }
        let b: Vec<f64> = (0..rows).map(|i| a[i] + 2.0 * a[rows + i] + 1e3 * a[2 * rows + i]).collect();
        let problem = Problem::new(rows, cols, &a, &b);
        for method in EXACT {
            for tolerance in [1e-6, 0.0] {
                let solution = problem.solve(&solver(method).tolerance(tolerance)).unwrap();
                assert_ne!(solution.status, Status::PassLimit, "{method:?}, seed {seed}");
                // A fit that is proved to be close enough may end the run before the slopes vanish.
                let proved = tolerance > 0.0 && solution.status == Status::Solved;
                let residual = solution.certificate.natural_residual.unwrap();
                assert!(proved || residual < 1e-9 * 1e3, "{method:?}, seed {seed}: {residual:e}");
            }
        }
    }
}

#[test]
fn ill_conditioned_problems_are_solved_or_say_that_they_are_not() {
    let fills = [Fill::NearDuplicates, Fill::Hilbert];
    many(&fills, &[Aim::Positive, Aim::InRange, Aim::NearlyOrthogonal], 10, |solved, _| {
        for method in EXACT {
            let solution = solved.problem.solve(&solver(method)).unwrap();
            let claimed = solution.certificate.relative_gap.is_some_and(|gap| gap <= 1e-8);
            assert_eq!(solution.status == Status::Solved, claimed, "{method:?}: {:?}", solved.problem);
            assert!(!claimed || solved.within(&solution.x, 1e-8), "{method:?}: {:?}", solved.problem);
            assert_ne!(solution.status, Status::PassLimit, "{method:?}: {:?}", solved.problem);
        }
    });
}

/// Column j times 2^k[j], b times 2^shift: the same run in other units.
#[test]
fn powers_of_two_change_nothing() {
    for seed in 0..6 {
        let plain = middle(40, 25, if seed % 2 == 0 { 1.0 } else { 0.3 }, seed % 3 == 0, seed);
        let mut random = Random::new(seed);
        let exponents: Vec<i32> = (0..25).map(|_| random.integer(-200, 200) as i32).collect();
        let a: Vec<f64> = plain.a.iter().enumerate().map(|(e, v)| v * 2f64.powi(exponents[e / 40])).collect();
        let common::Goal::Rhs(b) = &plain.goal else { unreachable!() };
        let b: Vec<f64> = b.iter().map(|v| v * 2f64.powi(77)).collect();
        let scaled = Problem::new(40, 25, &a, &b);
        for method in EXACT.into_iter().chain(ITERATIVE) {
            let solver = solver(method).max_passes(1000.0);
            let (one, two) = (plain.solve(&solver).unwrap(), scaled.solve(&solver).unwrap());
            assert_eq!(one.status, two.status, "{method:?}");
            assert_eq!(one.stats.passes.to_bits(), two.stats.passes.to_bits(), "{method:?}");
            assert_eq!(one.certificate.relative_gap, two.certificate.relative_gap);
            for (j, (x, y)) in one.x.iter().zip(&two.x).enumerate() {
                assert_eq!((x * 2f64.powi(77 - exponents[j])).to_bits(), y.to_bits(), "{method:?}, x[{j}]");
            }
        }
    }
}

#[test]
fn trivial_problems() {
    for method in EXACT.into_iter().chain(ITERATIVE) {
        let zero = Problem::new(3, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[0.0; 3]).solve(&solver(method)).unwrap();
        assert_eq!((zero.status, zero.x), (Status::Solved, vec![0.0; 2]), "{method:?}");
        let signed = Problem::new(2, 2, &[1.0, -2.0, 3.0, 4.0], &[0.0; 2]).solve(&solver(method)).unwrap();
        assert_eq!(signed.x, vec![0.0; 2], "{method:?}");
        let one = Problem::new(2, 1, &[3.0, 4.0], &[3.0, 4.0]).solve(&solver(method)).unwrap();
        assert_eq!(one.status, Status::Solved, "{method:?}");
        assert!((one.x[0] - 1.0).abs() < 1e-14, "{method:?}");
    }
}

#[test]
fn limits_are_kept() {
    let problem = middle(300, 200, 1.0, false, 1);
    for method in EXACT.into_iter().chain(ITERATIVE) {
        let solution = problem.solve(&solver(method).tolerance(1e-12).max_passes(12.0)).unwrap();
        let limit = if method == Method::TntNn { 60.0 } else { 16.0 }; // TNT-NN looks after every block of 64 columns
        assert!(solution.stats.passes <= limit, "{method:?}: {} passes", solution.stats.passes);
        assert_eq!(solution.status, Status::PassLimit, "{method:?}");
    }
}

#[track_caller]
fn refusal(outcome: Result<Solution, Error>) -> String {
    outcome.expect_err("refused").to_string()
}

#[test]
fn exact_methods_refuse_upper_bounds() {
    let a = DenseMatrix::new(2, 2, vec![1.0, 1.0, 0.0, 1.0]).unwrap();
    let b = [1.0, 3.0];
    for method in EXACT {
        let refused = refusal(solver(method).solve_problem(&LeastSquares::new(&a, &b).upper(1.0)));
        assert_eq!(
            refused,
            format!("method is {}, expected a method that takes upper bounds, such as auto or cd", method.name())
        );
        let infinite = LeastSquares::new(&a, &b).upper(f64::INFINITY);
        assert_eq!(solver(method).solve_problem(&infinite).unwrap().status, Status::Solved);
    }
}

#[test]
fn fnnls_refuses_what_does_not_fit() {
    let problem = middle(20, 10, 1.0, false, 1);
    assert_eq!(problem.solve(&solver(Method::Fnnls).memory_limit(800)).unwrap().status, Status::Solved);
    let refused = refusal(problem.solve(&solver(Method::Fnnls).memory_limit(799)));
    assert!(refused.starts_with("method fnnls needs the 10×10 matrix AᵀA"), "{refused}");
}
