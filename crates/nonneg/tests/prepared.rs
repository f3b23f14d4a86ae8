//! Prepared problems and problems on some of the columns, against plain solves of the same.

mod common;

use nonneg::{DenseMatrix, LeastSquares, Method, Problem as Prepared, Solver, Status, verify};

use common::problems::{Aim, Fill, Recipe};
use common::random::Random;
use common::{Goal, Problem, Storage};

fn solver() -> Solver {
    Solver::new().tolerance(1e-9).max_passes(1e5)
}

/// Random problems of every storage, with weights and penalties.
fn many(mut visit: impl FnMut(u64, Problem, &mut Random)) {
    for seed in 0..140 {
        let mut random = Random::new(seed);
        let (rows, cols) = (1 + random.index(25), 1 + random.index(25));
        let mut problem = uniform(rows, cols, seed);
        problem.storage = Storage::ALL[seed as usize % Storage::ALL.len()];
        if problem.storage.is_f32() {
            problem.a.iter_mut().for_each(|v| *v = f64::from(*v as f32));
        }
        if seed % 3 == 0 {
            problem.weights = Some((0..rows).map(|_| random.between(0.1, 2.0)).collect());
        }
        problem.l2 = if seed % 4 == 0 { 0.1 } else { 0.0 };
        problem.l1 = if seed % 5 == 0 { 0.05 } else { 0.0 };
        visit(seed, problem, &mut random);
    }
}

fn uniform(rows: usize, cols: usize, seed: u64) -> Problem {
    let mut random = Random::new(seed + 1000);
    let a: Vec<f64> = (0..rows * cols).map(|_| if random.unit() < 0.7 { random.unit() } else { 0.0 }).collect();
    let b: Vec<f64> = (0..rows).map(|_| random.between(-0.3, 1.0)).collect();
    Problem::new(rows, cols, &a, &b)
}

fn rhs(problem: &Problem) -> &[f64] {
    match &problem.goal {
        Goal::Rhs(b) => b,
        Goal::Linear(_) => unreachable!("only b here"),
    }
}

/// The columns of a set as a problem of their own.
fn restricted(problem: &Problem, set: &[usize]) -> Problem {
    let a = set.iter().flat_map(|&j| problem.column(j)).copied().collect();
    Problem { cols: set.len(), a, ..problem.clone() }
}

#[test]
fn a_prepared_problem_has_the_answers_of_a_plain_one() {
    many(|seed, problem, random| {
        let matrix = problem.matrix();
        let prepared = Prepared::with(&matrix, problem.weights.as_deref(), problem.l2).unwrap();
        for _ in 0..3 {
            let b: Vec<f64> = rhs(&problem).iter().map(|v| v + random.between(-0.2, 0.2)).collect();
            let question = prepared.least_squares(&b).l1(problem.l1);
            let mut plain = LeastSquares::new(&matrix, &b).l1(problem.l1).l2(problem.l2);
            plain.weights = problem.weights.as_deref();
            let (solution, reference) = (solver().solve_problem(&question).unwrap(), solver().solve_problem(&plain).unwrap());
            assert_eq!(solution.status, reference.status, "seed {seed}");
            assert_eq!(solution.status, Status::Solved, "seed {seed}");
            // The plain problem, with nothing prepared, certifies the answer; and so does the prepared one.
            for gap in [verify(&plain, &solution.x), verify(&question, &solution.x)].map(|c| c.unwrap().relative_gap.unwrap()) {
                assert!(gap <= 1e-9, "seed {seed}: {gap:e}");
            }
        }
    });
}

#[test]
fn some_columns_are_a_problem_of_their_own() {
    many(|seed, problem, random| {
        let matrix = problem.matrix();
        let prepared = Prepared::with(&matrix, problem.weights.as_deref(), problem.l2).unwrap();
        let set: Vec<usize> = (0..problem.cols).filter(|_| random.unit() < 0.6).collect();
        let question = prepared.least_squares(rhs(&problem)).l1(problem.l1).columns(&set);
        let mut plain = LeastSquares::new(&matrix, rhs(&problem)).l1(problem.l1).l2(problem.l2).columns(&set);
        plain.weights = problem.weights.as_deref();
        for question in [&question, &plain] {
            let solution = solver().solve_problem(question).unwrap();
            assert_eq!(solution.status, Status::Solved, "seed {seed}");
            assert!((0..problem.cols).all(|j| set.contains(&j) || solution.x[j] == 0.0), "seed {seed}");
            if set.is_empty() {
                continue;
            }
            let own = restricted(&problem, &set);
            let x: Vec<f64> = set.iter().map(|&j| solution.x[j]).collect();
            let own_matrix = own.matrix();
            let mut alone = LeastSquares::new(&own_matrix, rhs(&own)).l1(own.l1).l2(own.l2);
            alone.weights = own.weights.as_deref();
            let gap = verify(&alone, &x).unwrap().relative_gap.unwrap();
            assert!(gap <= 1.001e-9, "seed {seed}: {gap:e}");
        }
    });
}

#[test]
fn a_start_outside_the_columns_is_cut_off() {
    let a = DenseMatrix::new(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let problem = LeastSquares::new(&a, &[1.0, 1.0]).columns(&[1]).start(&[5.0, 5.0]);
    assert_eq!(Solver::new().solve_problem(&problem).unwrap().x, [0.0, 1.0]);
    let error = verify(&problem, &[0.5, 1.0]).unwrap_err().to_string();
    assert!(error.contains("outside the columns"), "{error}");
}

#[test]
fn a_column_that_is_not_there_is_an_error() {
    let a = DenseMatrix::new(1, 2, vec![1.0, 1.0]).unwrap();
    let error = Solver::new().solve_problem(&LeastSquares::new(&a, &[1.0]).columns(&[0, 2])).unwrap_err().to_string();
    assert!(error.contains("columns") && error.contains('2'), "{error}");
}

/// Columns that may not be used are not bounds: methods that take none still work.
#[test]
fn every_method_takes_some_of_the_columns() {
    let problem = uniform(12, 8, 3);
    let matrix = problem.matrix();
    let question = LeastSquares::new(&matrix, rhs(&problem)).columns(&[1, 4, 6]);
    for method in
        [Method::Auto, Method::SiNnls, Method::Cd, Method::LawsonHanson, Method::Fnnls, Method::TntNn, Method::ActiveSet]
    {
        let solution = Solver::new().method(method).tolerance(1e-8).solve_problem(&question).unwrap();
        assert_eq!(solution.status, Status::Solved, "{method:?}");
        assert!([0, 2, 3, 5, 7].iter().all(|&j| solution.x[j] == 0.0));
    }
}

#[test]
fn another_penalty_than_the_prepared_one_is_honoured() {
    let problem = uniform(20, 10, 5);
    let matrix = problem.matrix();
    let prepared = Prepared::new(&matrix).unwrap();
    let question = prepared.least_squares(rhs(&problem)).l2(0.5);
    let solution = solver().solve_problem(&question).unwrap();
    assert!(verify(&LeastSquares::new(&matrix, rhs(&problem)).l2(0.5), &solution.x).unwrap().relative_gap.unwrap() <= 1e-9);
    // Nor is what is known of one matrix used for another.
    let other = uniform(20, 10, 6).matrix();
    let mut exchanged = prepared.least_squares(rhs(&problem));
    exchanged.matrix = (&other).into();
    let solution = solver().solve_problem(&exchanged).unwrap();
    assert!(verify(&LeastSquares::new(&other, rhs(&problem)), &solution.x).unwrap().relative_gap.unwrap() <= 1e-9);
}

#[test]
fn what_is_known_saves_work() {
    let mut random = Random::new(9);
    let (rows, cols) = (600, 200);
    let a: Vec<f64> = (0..rows * cols).map(|_| random.unit()).collect();
    let b: Vec<f64> = (0..rows).map(|_| random.unit()).collect();
    let matrix = DenseMatrix::new(rows, cols, a).unwrap();
    let prepared = Prepared::new(&matrix).unwrap();
    let plain = solver().solve(&matrix, &b).unwrap();
    let known = solver().solve_problem(&prepared.least_squares(&b)).unwrap();
    let warm = solver().solve_problem(&prepared.least_squares(&b).start(&known.x)).unwrap();
    assert!(known.stats.passes < 0.6 * plain.stats.passes, "{} of {}", known.stats.passes, plain.stats.passes);
    assert!(warm.stats.passes < 0.5 * known.stats.passes, "{} of {}", warm.stats.passes, known.stats.passes);
}

#[test]
fn threads_share_a_prepared_problem() {
    let problem = uniform(60, 40, 11);
    let matrix = problem.matrix();
    let prepared = Prepared::new(&matrix).unwrap();
    let expected = solver().solve_problem(&prepared.least_squares(rhs(&problem))).unwrap().x;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(solver().solve_problem(&prepared.least_squares(rhs(&problem))).unwrap().x, expected);
                }
            });
        }
    });
}

#[test]
fn bad_weights_are_refused_when_preparing() {
    let a = DenseMatrix::new(2, 1, vec![1.0, 1.0]).unwrap();
    assert!(Prepared::with(&a, Some(&[1.0]), 0.0).is_err());
    assert!(Prepared::with(&a, None, -1.0).is_err());
}

/// Duplicates, empty columns, integers, signs.
#[test]
fn degenerate_problems_can_be_prepared() {
    for fill in Fill::ALL {
        for aim in [Aim::Positive, Aim::Mixed, Aim::Zero, Aim::InRange] {
            for seed in 0..6 {
                let problem = Recipe::plain(2 + seed as usize, 7 - seed as usize, fill, aim, seed).make();
                let matrix = problem.matrix();
                let prepared = Prepared::new(&matrix).unwrap();
                let plain = solver().solve(&matrix, rhs(&problem)).unwrap();
                let solution = solver().solve_problem(&prepared.least_squares(rhs(&problem))).unwrap();
                assert_eq!(solution.status.is_success(), plain.status.is_success(), "{fill:?} {aim:?} {seed}");
                let certificate = verify(&LeastSquares::new(&matrix, rhs(&problem)), &solution.x).unwrap();
                if solution.status == Status::Solved {
                    assert!(certificate.relative_gap.unwrap() <= 1e-9, "{fill:?} {aim:?} {seed}: {certificate:?}");
                }
            }
        }
    }
}
