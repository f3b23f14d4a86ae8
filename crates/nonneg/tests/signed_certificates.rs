//! Certificates for A of mixed signs and for free columns beyond what full rank proves: a direction with an acute angle to every
//! column, and a perfect fit.

mod common;

use nonneg::{DenseMatrix, LeastSquares, Solver, Status, nnls, verify};

use common::random::Random;

/// Rows, columns, and columns that all have an acute angle with a random direction.
fn acute(rows: usize, cols: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = Random::new(seed);
    let direction: Vec<f64> = (0..rows).map(|_| random.between(-1.0, 1.0)).collect();
    let mut a = Vec::with_capacity(rows * cols);
    for _ in 0..cols {
        let mut column: Vec<f64> = (0..rows).map(|_| random.between(-1.0, 1.0)).collect();
        let product: f64 = column.iter().zip(&direction).map(|(a, d)| a * d).sum();
        if product < 0.0 {
            column.iter_mut().for_each(|a| *a = -*a);
        }
        a.extend(column);
    }
    let b = (0..rows).map(|i| direction[i] + random.between(-0.3, 0.3)).collect();
    (a, b)
}

/// ½‖Ax − b‖² at the optimum over x ≥ 0, by another method.
fn least(a: &[f64], rows: usize, b: &[f64]) -> f64 {
    let matrix = DenseMatrix::new(rows, a.len() / rows, a.to_vec()).unwrap();
    0.5 * nnls(&matrix, b, None).unwrap().residual_norm.powi(2)
}

#[test]
fn more_columns_than_rank_can_bound_are_bounded_by_a_direction() {
    for seed in 0..3 {
        let (rows, cols) = (700, 600);
        let (a, b) = acute(rows, cols, seed);
        let matrix = DenseMatrix::new(rows, cols, a.clone()).unwrap();
        let problem = LeastSquares::new(&matrix, &b);
        let solution = Solver::new().tolerance(1e-8).solve_problem(&problem).unwrap();
        assert_eq!(solution.status, Status::Solved, "seed {seed}: {:?}", solution.certificate.relative_gap);
        let least = least(&a, rows, &b);
        let bound = solution.certificate.lower_bound.unwrap();
        assert!(bound <= least * (1.0 + 1e-10) && bound > least * (1.0 - 1e-6), "seed {seed}: {bound} {least}");
        // A dual point that anybody can check: Aᵀy ≥ Aᵀb up to what the bound allows for.
        let again = verify(&problem, &solution.x).unwrap();
        assert!(again.relative_gap.unwrap() <= 1e-8);
        let half: Vec<f64> = solution.x.iter().map(|x| 0.5 * x).collect();
        let certificate = verify(&problem, &half).unwrap();
        assert!(certificate.relative_gap.is_none_or(|gap| gap > 0.2), "seed {seed}: {:?}", certificate.relative_gap);
    }
}

#[test]
fn an_intercept_beside_many_columns_is_certified() {
    for seed in 0..3 {
        let (rows, cols) = (300, 700);
        let mut random = Random::new(seed);
        let mut a: Vec<f64> = (0..rows * cols).map(|_| if random.chance(0.2) { random.unit() } else { 0.0 }).collect();
        let mut b: Vec<f64> = (0..rows).map(|_| 3.0 + random.between(-1.0, 1.0)).collect();
        // A direction is there: every column is larger where the last row is.
        (0..cols).for_each(|j| a[j * rows + rows - 1] = 4.0);
        b[rows - 1] = 0.0;
        a.extend(vec![1.0; rows]);
        let matrix = DenseMatrix::new(rows, cols + 1, a.clone()).unwrap();
        let problem = LeastSquares::new(&matrix, &b).free(&[cols]);
        let solution = Solver::new().tolerance(1e-7).solve_problem(&problem).unwrap();
        assert_eq!(solution.status, Status::Solved, "seed {seed}: {:?}", solution.certificate);
        a.extend(vec![-1.0; rows]);
        let least = least(&a, rows, &b);
        let objective = solution.certificate.objective.unwrap();
        assert!((objective - least).abs() < 1e-5 * least, "seed {seed}: {objective} {least}");
        assert!(solution.certificate.lower_bound.unwrap() <= least * (1.0 + 1e-10));
    }
}

#[test]
fn a_column_and_its_opposite_leave_nothing_to_prove() {
    let (rows, cols) = (40, 600);
    let (mut a, mut b) = acute(rows, cols, 1);
    let opposite: Vec<f64> = a[..rows].iter().map(|a| -a).collect();
    a.extend(opposite);
    // No column can explain what is in the last row alone.
    a.chunks_exact_mut(rows).for_each(|column| column[rows - 1] = 0.0);
    b[rows - 1] = 5.0;
    let matrix = DenseMatrix::new(rows, cols + 1, a).unwrap();
    let solution = Solver::new().tolerance(1e-6).solve_problem(&LeastSquares::new(&matrix, &b)).unwrap();
    assert_eq!(solution.status, Status::Converged);
    assert_eq!(solution.certificate.relative_gap, None);
}

#[test]
fn a_perfect_fit_needs_no_other_proof() {
    let (rows, cols) = (30, 800);
    let mut random = Random::new(2);
    let a: Vec<f64> = (0..rows * cols).map(|_| random.between(-1.0, 1.0)).collect();
    let b: Vec<f64> = (0..rows).map(|_| random.between(-1.0, 1.0)).collect();
    let matrix = DenseMatrix::new(rows, cols, a).unwrap();
    let problem = LeastSquares::new(&matrix, &b);
    let solution = Solver::new().tolerance(1e-9).solve_problem(&problem).unwrap();
    assert_eq!((solution.status, solution.certificate.lower_bound), (Status::Solved, Some(0.0)));
    assert_eq!(solution.certificate.dual, b);
    // Far from it, a fit proves nothing worth saying.
    assert_eq!(verify(&problem, &vec![0.0; cols]).unwrap().relative_gap, None);
}

/// ‖b‖² beyond the range of f64 in a row without gain was taken for a bound of zero.
#[test]
fn numbers_beyond_the_range_bound_nothing() {
    let a = vec![-2e200, 3e-200, 3.0, -3.0, 2e200, -2e200, -3e-200, -1.0, 3.0, 0.0, 1e200, -1e-200, 2.0, -2.0, 2e200];
    let (b, weights) = ([5e200, 9e-200, -3.0, 8.0, -7e200], [0.0, 0.0, 0.54, 0.2, 1.03]);
    let matrix = DenseMatrix::new(5, 3, a).unwrap();
    let mut problem = LeastSquares::new(&matrix, &b);
    problem.weights = Some(&weights);
    assert_eq!(verify(&problem, &[0.0; 3]).unwrap().relative_gap, None);
}
