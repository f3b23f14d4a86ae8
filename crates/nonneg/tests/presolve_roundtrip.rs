//! Presolve takes out only what is decided, and puts everything back.

mod paper;

use nonneg::presolve::Reduced;
use nonneg::{CscMatrix, DenseMatrix, Error, LeastSquares, Solver, Status};
use paper::{Random, Small};

fn kept(matrix: &DenseMatrix, problem: &LeastSquares) -> Vec<usize> {
    Reduced::of(&matrix.view(), problem).unwrap().columns.clone()
}

#[test]
fn columns_that_cannot_help_are_dropped_when_a_is_nonnegative() {
    // c = Aᵀb = (1, −1, 0, 2): columns 1 and 2 are zero at the optimum.
    let a = DenseMatrix::new(2, 4, vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 0.0]).unwrap();
    let b = [1.0, -1.0];
    assert_eq!(kept(&a, &LeastSquares::new(&a, &b)), [0, 3]);
    let solution = Solver::new().solve(&a, &b).unwrap();
    assert_eq!((solution.x[1], solution.x[2], solution.stats.dropped_columns), (0.0, 0.0, 2));
}

#[test]
fn columns_with_negative_c_stay_when_a_is_signed() {
    // c = (5.9, −2.5), yet the best x = (3, 0.1) uses both columns and fits b exactly.
    let a = DenseMatrix::new(2, 2, vec![1.0, 1.0, -2.0, 1.0]).unwrap();
    let b = [2.8, 3.1];
    assert_eq!(kept(&a, &LeastSquares::new(&a, &b)), [0, 1]);
    let solution = Solver::new().tolerance(1e-10).solve(&a, &b).unwrap();
    assert!((solution.x[0] - 3.0).abs() < 1e-4 && (solution.x[1] - 0.1).abs() < 1e-4, "{:?}", solution.x);
}

#[test]
fn a_signed_problem_with_nothing_to_gain_is_zero() {
    let a = DenseMatrix::new(1, 2, vec![1.0, -1.0]).unwrap();
    let problem = LeastSquares::with_linear(&a, &[-1.0, -2.0]);
    let start = [3.0, 3.0];
    let solution = Solver::new().solve_problem(&problem.start(&start)).unwrap();
    assert_eq!((solution.x, solution.status), (vec![0.0, 0.0], Status::Solved));
}

#[test]
fn zero_upper_bounds_and_l1_drop_columns() {
    let a = DenseMatrix::new(1, 3, vec![1.0, 1.0, 1.0]).unwrap();
    let upper = [1.0, 0.0, f64::INFINITY];
    assert_eq!(kept(&a, &LeastSquares::new(&a, &[2.0]).upper(&upper[..])), [0, 2]);
    assert_eq!(kept(&a, &LeastSquares::new(&a, &[2.0]).l1(2.0)), [0usize; 0]);
}

#[test]
fn an_empty_column_with_positive_c_sits_at_its_bound_or_is_refused_by_name() {
    let a: CscMatrix = CscMatrix::from_triplets(2, 3, &[(0, 0, 1.0), (1, 2, 2.0)]).unwrap();
    let c = [1.0, 3.0, 4.0];
    let error = Solver::new().solve_problem(&LeastSquares::with_linear(&a, &c)).unwrap_err();
    assert!(matches!(&error, Error::Unbounded(reason) if reason.contains("column 1")), "{error}");
    let bounded = Solver::new().solve_problem(&LeastSquares::with_linear(&a, &c).upper(7.0)).unwrap();
    assert_eq!((bounded.x[1], bounded.status), (7.0, Status::Solved));
    let ridge = Solver::new().solve_problem(&LeastSquares::with_linear(&a, &c).l2(0.5)).unwrap();
    assert!((ridge.x[1] - 6.0).abs() < 1e-2, "c/λ₂ = 6, got {}", ridge.x[1]);
}

#[test]
fn a_direction_that_gains_without_end_is_an_error_that_says_so() {
    // A(1, 1)ᵀ = 0 and c(1, 1)ᵀ = 1.
    let a = DenseMatrix::new(2, 2, vec![1.0, 2.0, -1.0, -2.0]).unwrap();
    let error = Solver::new().solve_problem(&LeastSquares::with_linear(&a, &[2.0, -1.0])).unwrap_err();
    assert!(matches!(&error, Error::Unbounded(_)), "{error}");
    // A bound, or a c that gains nothing along it, makes it an ordinary problem again.
    let bounded = Solver::new().solve_problem(&LeastSquares::with_linear(&a, &[2.0, -1.0]).upper(5.0)).unwrap();
    assert_eq!(bounded.status, Status::Solved);
    let ordinary = Solver::new().solve_problem(&LeastSquares::with_linear(&a, &[2.0, -3.0])).unwrap();
    assert!(ordinary.status.is_success(), "{:?}", ordinary.status);
}

#[test]
fn expanding_and_restricting_are_inverse() {
    for seed in 0..20 {
        let mut small = Small::random(12, 15, 0.3, seed);
        small.b = small.b.iter().enumerate().map(|(i, b)| if i % 2 == 0 { -b } else { *b }).collect();
        let matrix = small.sparse();
        let view = matrix.view();
        let reduced = Reduced::of(&view, &LeastSquares::new(&matrix, &small.b)).unwrap();
        let mut random = Random::new(seed);
        let x: Vec<f64> = (0..reduced.len()).map(|_| random.unit()).collect();
        let all = reduced.expand(&x);
        assert_eq!(all.len(), 15);
        assert_eq!(reduced.restrict(&all), x);
        assert_eq!(all.iter().filter(|&&v| v != 0.0).count(), x.iter().filter(|&&v| v != 0.0).count());
    }
}

#[test]
fn empty_rows_and_columns_change_nothing_but_a_constant() {
    let small = Small::random(10, 6, 0.6, 3);
    let plain = Solver::new().tolerance(1e-9).solve(&small.sparse(), &small.b).unwrap();
    let mut triplets = Vec::new();
    for (j, column) in small.columns.iter().enumerate() {
        triplets.extend(column.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(i, &v)| (2 * i, 2 * j + 1, v)));
    }
    let padded: CscMatrix = CscMatrix::from_triplets(21, 13, &triplets).unwrap();
    let b: Vec<f64> = (0..21).map(|i| if i % 2 == 0 && i < 20 { small.b[i / 2] } else { 3.0 }).collect();
    let solution = Solver::new().tolerance(1e-9).solve(&padded, &b).unwrap();
    for j in 0..6 {
        assert!((solution.x[2 * j + 1] - plain.x[j]).abs() <= 1e-6 * plain.x[j].abs().max(1.0), "x[{j}]");
        assert_eq!(solution.x[2 * j], 0.0);
    }
    let constant = 0.5 * 9.0 * 11.0;
    let (with, without) = (solution.certificate.objective.unwrap(), plain.certificate.objective.unwrap());
    assert!((with - without - constant).abs() <= 1e-6 * with);
}
