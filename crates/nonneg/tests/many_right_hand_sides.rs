//! One A and many right-hand sides: every column is solved, and what is said of it holds in exact arithmetic.

mod common;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use nonneg::{
    Certificate, ColumnSolution, CscMatrix, CsrMatrix, DenseMatrix, Error, LeastSquares, ManyLeastSquares, ManySolution, Solver,
    Status, Upper, verify,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError};

use common::claims::Solved;
use common::problems::{Aim, Fill, Recipe, Scale, recipes};
use common::random::Random;
use common::{Bound, Goal, Problem};

/// Always the same cases.
fn cases(count: u32) -> Config {
    Config { cases: count, rng_seed: RngSeed::Fixed(6), failure_persistence: None, max_shrink_iters: 500, ..Config::default() }
}

fn many<'a>(problem: &'a Problem, matrix: &'a nonneg::AnyMatrix) -> ManyLeastSquares<'a> {
    let mut many = ManyLeastSquares::new(matrix).l1(problem.l1).l2(problem.l2);
    many.weights = problem.weights.as_deref();
    many.upper = match &problem.bound {
        Bound::None => Upper::None,
        Bound::Uniform(bound) => Upper::Uniform(*bound),
        Bound::Each(bounds) => Upper::Each(bounds),
    };
    many
}

/// The same A with several b: that of the problem, multiples of it, zero, single entries, noise.
fn right_hand_sides(problem: &Problem, random: &mut Random) -> Vec<Vec<f64>> {
    let Goal::Rhs(b) = &problem.goal else { panic!("a problem with b") };
    let m = b.len();
    let one = random.index(m);
    let mut sides = vec![b.clone(), vec![0.0; m], b.iter().map(|v| v * 0.37).collect(), b.iter().map(|v| -v).collect()];
    sides.push((0..m).map(|i| if i == one { b[i] } else { 0.0 }).collect());
    sides.push(b.iter().map(|v| v * random.between(0.9, 1.1)).collect());
    sides.push(b.clone());
    sides
}

fn certificate(column: &ColumnSolution) -> Certificate {
    Certificate {
        objective: column.objective,
        residual_norm: column.residual_norm,
        lower_bound: column.lower_bound,
        relative_gap: column.relative_gap,
        natural_residual: None,
        relative_residual: None,
        support: column.support,
        dual: Vec::new(),
    }
}

fn every_claim_holds(recipe: &Recipe, tolerance: f64) -> Result<(), TestCaseError> {
    let problem = recipe.make();
    let sides = right_hand_sides(&problem, &mut Random::new(recipe.seed ^ 9));
    let matrix = problem.matrix();
    let b = DenseMatrix::new(problem.rows, sides.len(), sides.concat()).unwrap();
    let solution =
        Solver::new().tolerance(tolerance).time_limit(Duration::from_secs(5)).solve_many_problem(&many(&problem, &matrix), &b);
    let solution = solution.map_err(|error| TestCaseError::fail(format!("{error}: {problem:?}")))?;
    for (k, side) in sides.into_iter().enumerate() {
        let (x, column) = (&solution.x[k * problem.cols..(k + 1) * problem.cols], &solution.columns[k]);
        let one = Problem { goal: Goal::Rhs(side), ..problem.clone() };
        prop_assert_eq!(x, &one.clip(x)[..], "outside the bounds");
        let alone = one.solve(&Solver::new().tolerance(tolerance).time_limit(Duration::from_secs(5))).unwrap();
        let solved = Solved::new(one);
        solved.check(x, &certificate(column))?;
        let gap = column.relative_gap;
        prop_assert!((column.status == Status::Solved) == gap.is_some_and(|gap| gap <= tolerance), "column {k}: {column:?}");
        // No worse than a solve of its own.
        prop_assert!(
            column.status == alone.status || column.status == Status::Solved,
            "{column:?} {:?} {problem:?}",
            alone.status
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(600))]
    #[test]
    fn every_claim_holds_on_plain_problems(recipe in recipes(&Fill::NONNEGATIVE, &Aim::RHS, &[Scale::None], false)) {
        every_claim_holds(&recipe, 1e-6)?;
    }
}

proptest! {
    #![proptest_config(cases(600))]
    #[test]
    fn every_claim_holds_with_bounds_penalties_weights_and_signs(recipe in recipes(&Fill::ALL, &Aim::RHS, &[Scale::None], true)) {
        every_claim_holds(&recipe, 1e-9)?;
    }
}

proptest! {
    #![proptest_config(cases(600))]
    #[test]
    fn every_claim_holds_in_any_units(recipe in recipes(&Fill::ALL, &Aim::RHS, &Scale::ALL, true)) {
        every_claim_holds(&recipe, 1e-6)?;
    }
}

/// A with entries in (0, 1), and b near mixtures of its columns.
fn mixtures(m: usize, n: usize, count: usize, seed: u64) -> (DenseMatrix<f64>, DenseMatrix<f64>) {
    let mut random = Random::new(seed);
    let a: Vec<f64> = (0..m * n).map(|_| random.unit()).collect();
    let mut b = Vec::with_capacity(m * count);
    for _ in 0..count {
        let share: Vec<f64> = (0..n).map(|_| if random.chance(0.3) { random.unit() } else { 0.0 }).collect();
        b.extend((0..m).map(|i| (0..n).map(|j| a[j * m + i] * share[j]).sum::<f64>() + random.between(-0.2, 0.2)));
    }
    (DenseMatrix::new(m, n, a).unwrap(), DenseMatrix::new(m, count, b).unwrap())
}

fn column(matrix: &DenseMatrix<f64>, k: usize, m: usize) -> Vec<f64> {
    matrix.clone().into_values()[k * m..(k + 1) * m].to_vec()
}

#[test]
fn columns_are_those_of_single_solves() {
    for (m, n, count) in [(20, 8, 600), (60, 40, 40), (30, 90, 30), (50, 200, 12)] {
        let (a, b) = mixtures(m, n, count, 5);
        let solution = Solver::new().tolerance(1e-9).solve_many(&a, &b).unwrap();
        assert_eq!((solution.status(), solution.columns.len()), (Status::Solved, count));
        assert!(solution.largest_gap().unwrap() <= 1e-9);
        for k in 0..count {
            let (b, x) = (column(&b, k, m), &solution.x[k * n..(k + 1) * n]);
            let alone = Solver::new().tolerance(1e-9).solve(&a, &b).unwrap();
            let (here, there) = (solution.columns[k].objective.unwrap(), alone.certificate.objective.unwrap());
            let scale = 0.5 * b.iter().map(|b| b * b).sum::<f64>();
            assert!((here - there).abs() <= 2e-9 * scale, "{m}×{n} column {k}: {here} {there}");
            let checked = verify(&LeastSquares::new(&a, &b), x).unwrap();
            assert!(checked.relative_gap.unwrap() <= 2e-9);
            assert!(checked.lower_bound.unwrap() <= here && solution.columns[k].lower_bound.unwrap() <= here);
        }
    }
}

/// What does not depend on how many threads there are, how A and B are stored, or which other columns there are.
#[test]
fn threads_and_storage_change_no_bit() {
    let (m, n, count) = (25, 12, 1000);
    let (a, b) = mixtures(m, n, count, 2);
    let single = |v: &f64| f64::from(*v as f32);
    let (a, b) = (a.into_values(), b.into_values());
    let (a, b): (Vec<f64>, Vec<f64>) = (a.iter().map(single).collect(), b.iter().map(single).collect());
    let narrow = |v: &[f64]| v.iter().map(|&v| v as f32).collect::<Vec<f32>>();
    let (a32, b32) = (DenseMatrix::new(m, n, narrow(&a)).unwrap(), DenseMatrix::new(m, count, narrow(&b)).unwrap());
    let triplets: Vec<(usize, usize, f64)> = (0..m * count).map(|i| (i % m, i / m, b[i])).collect();
    let sparse: CscMatrix = CscMatrix::from_triplets(m, count, &triplets).unwrap();
    let b_values = b.clone();
    let (a, b) = (DenseMatrix::new(m, n, a).unwrap(), DenseMatrix::new(m, count, b).unwrap());
    let row_values = (0..m * count).map(|i| b_values[i % count * m + i / count]).collect();
    let row_ptr = (0..=m).map(|i| i * count).collect();
    let by_rows: CsrMatrix =
        CsrMatrix::new(m, count, row_ptr, (0..m * count).map(|i| (i % count) as u32).collect(), row_values).unwrap();
    let same = |left: &ManySolution, right: &ManySolution| left.x == right.x && left.columns == right.columns;
    let solver = Solver::new();
    let first = solver.solve_many(&a, &b).unwrap();
    for threads in [1, 2, 5] {
        assert!(same(&first, &solver.clone().threads(threads).solve_many(&a, &b).unwrap()));
    }
    assert!(same(&first, &solver.solve_many(&a32, &b32).unwrap()));
    assert!(same(&first, &solver.solve_many(&a, &sparse).unwrap()));
    assert!(same(&first, &solver.solve_many(&a, &by_rows).unwrap()));
}

#[test]
fn units_of_columns_and_of_b_change_no_bit() {
    let (m, n, count) = (15, 9, 50);
    let (a, b) = mixtures(m, n, count, 8);
    let plain = Solver::new().solve_many(&a, &b).unwrap();
    let power = |k: usize| 2f64.powi([0, 300, -400, 7, -3, 600, -600, 1, 2][k % 9]);
    let scaled = |matrix: &DenseMatrix<f64>, cols: usize, factor: &dyn Fn(usize) -> f64| {
        let values = matrix.clone().into_values().iter().enumerate().map(|(i, v)| v * factor(i / m)).collect();
        DenseMatrix::new(m, cols, values).unwrap()
    };
    let b_power = |k: usize| 2f64.powi([0, 200, -200][k % 3]);
    let other = Solver::new().solve_many(&scaled(&a, n, &power), &scaled(&b, count, &b_power)).unwrap();
    for k in 0..count {
        assert_eq!(plain.columns[k].relative_gap, other.columns[k].relative_gap);
        for j in 0..n {
            assert_eq!(plain.x[k * n + j] * b_power(k) / power(j), other.x[k * n + j]);
        }
    }
}

#[test]
fn degenerate_shapes_are_solved() {
    let solver = Solver::new();
    let a = DenseMatrix::new(3, 4, vec![1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 2.0, 4.0, 0.0]).unwrap();
    let none = solver.solve_many(&a, &DenseMatrix::new(3, 0, Vec::<f64>::new()).unwrap()).unwrap();
    assert_eq!((none.x.len(), none.columns.len(), none.status(), none.largest_gap()), (0, 0, Status::Solved, Some(0.0)));
    let one = solver.solve_many(&a, &DenseMatrix::new(3, 1, vec![1.0, 2.0, 5.0]).unwrap()).unwrap();
    assert_eq!(one.status(), Status::Solved);
    assert!((one.columns[0].objective.unwrap() - 12.5).abs() < 1e-9);
    let zero = solver.solve_many(&a, &DenseMatrix::new(3, 2, vec![0.0; 6]).unwrap()).unwrap();
    assert!(zero.x.iter().all(|&x| x == 0.0) && zero.columns.iter().all(|c| c.relative_gap == Some(0.0)));
    let nothing = DenseMatrix::new(2, 2, vec![0.0; 4]).unwrap();
    let useless = solver.solve_many(&nothing, &DenseMatrix::new(2, 2, vec![1.0, -1.0, 0.0, 3.0]).unwrap()).unwrap();
    assert!(useless.x == [0.0; 4] && useless.status() == Status::Solved);
}

#[test]
fn bad_input_is_refused() {
    let a = DenseMatrix::new(3, 2, vec![1.0; 6]).unwrap();
    let short = DenseMatrix::new(2, 5, vec![1.0; 10]).unwrap();
    let message = Solver::new().solve_many(&a, &short).unwrap_err().to_string();
    assert!(message.contains('B') && message.contains('2') && message.contains('3'), "{message}");
    let b = DenseMatrix::new(3, 1, vec![1.0; 3]).unwrap();
    let refused = |problem: ManyLeastSquares| Solver::new().solve_many_problem(&problem, &b).unwrap_err();
    assert!(matches!(refused(ManyLeastSquares::new(&a).l1(-1.0)), Error::Setting { name: "l1", .. }));
    assert!(matches!(refused(ManyLeastSquares::new(&a).upper(0.4).sum_to_one()), Error::Setting { name: "sum_to_one", .. }));
    assert!(matches!(refused(ManyLeastSquares::new(&a).weights(&[1.0])), Error::Length { .. }));
    let little = Solver::new().memory_limit(1);
    let sum = ManyLeastSquares::new(&a).sum_to_one();
    assert!(matches!(little.solve_many_problem(&sum, &b), Err(Error::Setting { name: "memory_limit", .. })));
}

#[test]
fn limits_return_what_is_finished() {
    let (a, b) = mixtures(20, 10, 2000, 1);
    let late = Solver::new().time_limit(Duration::ZERO).solve_many(&a, &b).unwrap();
    assert!(late.status() == Status::TimeLimit && late.x.iter().all(|&x| x == 0.0));
    let flag = Arc::new(AtomicBool::new(false));
    let raise = flag.clone();
    let observe = move |_| raise.store(true, std::sync::atomic::Ordering::Relaxed);
    let solver = Solver::new().interrupt(flag).threads(1);
    let cut = solver.solve_many_observed(&ManyLeastSquares::new(&a), &b, &observe).unwrap();
    let finished = cut.columns.iter().filter(|column| column.status == Status::Solved).count();
    assert!(0 < finished && finished < 2000 && cut.status() == Status::Interrupted);
    assert!(cut.columns.iter().all(|column| matches!(column.status, Status::Solved | Status::Interrupted)));
}

#[test]
fn without_memory_for_the_gram_matrix_columns_are_solved_one_by_one() {
    let (m, n, count) = (40, 30, 20);
    let (a, b) = mixtures(m, n, count, 3);
    let (shared, alone) = (Solver::new(), Solver::new().memory_limit(1));
    let (with, without) = (shared.solve_many(&a, &b).unwrap(), alone.solve_many(&a, &b).unwrap());
    assert_eq!((with.status(), without.status()), (Status::Solved, Status::Solved));
    for (with, without) in with.columns.iter().zip(&without.columns) {
        assert!((with.objective.unwrap() - without.objective.unwrap()).abs() <= 1e-5 * with.objective.unwrap());
    }
}

/// min ½‖Ax − b‖² over Σx = 1, 0 ≤ x ≤ ℓ, by trying every set of columns at zero, at ℓ and between.
fn least_with_sum(a: &[f64], m: usize, b: &[f64], upper: f64) -> f64 {
    let n = a.len() / m;
    let mut best = f64::INFINITY;
    let mut places = vec![0; n];
    loop {
        if let Some(x) = stationary(a, m, b, upper, &places) {
            let within = x.iter().all(|&x| (-1e-12..=upper + 1e-12).contains(&x));
            if within {
                let residual = |i: usize| (0..n).map(|j| a[j * m + i] * x[j]).sum::<f64>() - b[i];
                best = best.min(0.5 * (0..m).map(|i| residual(i).powi(2)).sum::<f64>());
            }
        }
        let Some(next) = places.iter().position(|&place| place < if upper.is_finite() { 2 } else { 1 }) else { return best };
        places[next] += 1;
        places[..next].fill(0);
    }
}

/// x with 0 where the place is 0, ℓ where it is 2, and otherwise stationary with Σx = 1: by elimination.
fn stationary(a: &[f64], m: usize, b: &[f64], upper: f64, places: &[usize]) -> Option<Vec<f64>> {
    let n = places.len();
    let between: Vec<usize> = (0..n).filter(|&j| places[j] == 1).collect();
    let mut x: Vec<f64> = places.iter().map(|&place| if place == 2 { upper } else { 0.0 }).collect();
    let left = 1.0 - x.iter().sum::<f64>();
    let p = between.len();
    if p == 0 {
        return (left.abs() < 1e-12).then_some(x);
    }
    let product = |j: usize, v: &dyn Fn(usize) -> f64| (0..m).map(|i| a[j * m + i] * v(i)).sum::<f64>();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for &j in &between {
        let mut row: Vec<f64> = between.iter().map(|&k| product(j, &|i| a[k * m + i])).collect();
        row.push(1.0);
        row.push(product(j, &|i| b[i] - (0..n).map(|k| a[k * m + i] * x[k]).sum::<f64>()));
        rows.push(row);
    }
    let mut last = vec![1.0; p];
    last.extend([0.0, left]);
    rows.push(last);
    for k in 0..=p {
        let pivot = (k..=p).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs()))?;
        rows.swap(k, pivot);
        if rows[k][k].abs() < 1e-10 {
            return None;
        }
        for i in 0..=p {
            if i != k {
                let factor = rows[i][k] / rows[k][k];
                let source = rows[k].clone();
                rows[i].iter_mut().zip(&source).for_each(|(v, s)| *v -= factor * s);
            }
        }
    }
    for (k, &j) in between.iter().enumerate() {
        x[j] = rows[k][p + 1] / rows[k][k];
    }
    Some(x)
}

#[test]
fn a_sum_of_one_is_kept_and_proved() {
    let mut random = Random::new(4);
    for seed in 0..120 {
        let (m, n) = (2 + random.index(7), 1 + random.index(6));
        let signed = random.chance(0.3);
        let mut a: Vec<f64> = (0..m * n).map(|_| if signed { random.between(-1.0, 1.0) } else { random.unit() }).collect();
        if n > 2 && random.chance(0.3) {
            a.copy_within(0..m, m); // twice the same column
        }
        if random.chance(0.2) {
            a[..m].fill(0.0); // shade
        }
        let upper = if random.chance(0.4) { random.between(1.05 / n as f64, 1.0) } else { f64::INFINITY };
        let size = random.pick(&[1.0, 0.2, 30.0]);
        let count = 6;
        let b: Vec<f64> = (0..m * count).map(|_| size * random.between(-0.3, 1.0)).collect();
        let (matrix, sides) = (DenseMatrix::new(m, n, a.clone()).unwrap(), DenseMatrix::new(m, count, b.clone()).unwrap());
        let problem = ManyLeastSquares::new(&matrix).sum_to_one().upper(upper);
        let solution = Solver::new().tolerance(1e-9).solve_many_problem(&problem, &sides).unwrap();
        for k in 0..count {
            let (x, b, column) = (&solution.x[k * n..(k + 1) * n], &b[k * m..(k + 1) * m], &solution.columns[k]);
            assert_eq!(column.status, Status::Solved, "seed {seed}: {column:?} {a:?} {b:?} {upper}");
            assert!((x.iter().sum::<f64>() - 1.0).abs() < 1e-12 && x.iter().all(|&x| (0.0..=upper).contains(&x)), "{x:?}");
            let (best, scale) = (least_with_sum(&a, m, b, upper), 1e-8 * (1.0 + size * size));
            let objective = column.objective.unwrap();
            assert!(objective >= best - scale && objective <= best + scale, "seed {seed}: {objective} {best}");
            assert!(column.lower_bound.unwrap() <= best + 1e-12 * (1.0 + size * size));
        }
    }
}

/// Columns alike to eight digits: Gram space knows none of them apart, and the single solver takes over.
#[test]
fn what_gram_space_cannot_certify_is_certified_all_the_same() {
    let (m, n, count) = (30, 12, 10);
    let mut random = Random::new(11);
    let base: Vec<f64> = (0..m).map(|_| random.between(0.2, 1.0)).collect();
    let a: Vec<f64> = (0..m * n).map(|i| base[i % m] * (1.0 + 1e-8 * random.between(-1.0, 1.0))).collect();
    let b: Vec<f64> = (0..m * count).map(|i| base[i % m] + random.between(-0.1, 0.1)).collect();
    let (a, b) = (DenseMatrix::new(m, n, a).unwrap(), DenseMatrix::new(m, count, b).unwrap());
    let solution = Solver::new().tolerance(1e-10).solve_many(&a, &b).unwrap();
    assert_eq!(solution.status(), Status::Solved);
}

#[test]
fn a_single_problem_may_have_a_sum_and_its_certificate_is_of_any_x() {
    let mut random = Random::new(40);
    for _ in 0..60 {
        let (m, n) = (2 + random.index(7), 1 + random.index(6));
        let a: Vec<f64> = (0..m * n).map(|_| random.unit()).collect();
        let b: Vec<f64> = (0..m).map(|_| random.between(-0.3, 1.5)).collect();
        let upper = if random.chance(0.4) { random.between(1.05 / n as f64, 1.0) } else { f64::INFINITY };
        let matrix = DenseMatrix::new(m, n, a.clone()).unwrap();
        let problem = LeastSquares::new(&matrix, &b).upper(upper).sum_to_one();
        let solution = Solver::new().tolerance(1e-9).solve_problem(&problem).unwrap();
        assert_eq!(solution.status, Status::Solved);
        assert_eq!(verify(&problem, &solution.x).unwrap(), solution.certificate);
        let best = least_with_sum(&a, m, &b, upper);
        assert!((solution.certificate.objective.unwrap() - best).abs() < 1e-8);
        // Any other point of the simplex: the bound holds, and the gap is not below the truth.
        let mut x: Vec<f64> = (0..n).map(|_| random.unit()).collect();
        let sum: f64 = x.iter().sum();
        x.iter_mut().for_each(|x| *x /= sum);
        if x.iter().all(|&x| x <= upper) {
            let certificate = verify(&problem, &x).unwrap();
            let (objective, bound) = (certificate.objective.unwrap(), certificate.lower_bound.unwrap());
            assert!(bound <= best + 1e-12 && objective >= best - 1e-12);
            let image: Vec<f64> = (0..m).map(|i| (0..n).map(|j| a[j * m + i] * x[j]).sum()).collect();
            let scale = 0.5 * b.iter().map(|b| b * b).sum::<f64>().max(image.iter().map(|y| y * y).sum());
            assert!(certificate.relative_gap.unwrap() * scale >= (objective - best) * (1.0 - 1e-9) - 1e-14);
            assert!(certificate.dual.iter().zip(&image).all(|(y, image)| (y - image).abs() < 1e-12));
        }
    }
}

#[test]
fn a_sum_with_what_it_cannot_go_with_is_refused() {
    let a = DenseMatrix::new(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let b = [1.0, 2.0];
    let refused = |problem: LeastSquares| {
        let error = Solver::new().solve_problem(&problem.sum_to_one()).unwrap_err();
        assert!(matches!(error, Error::Setting { name: "sum_to_one", .. }), "{error}");
    };
    refused(LeastSquares::with_linear(&a, &b));
    refused(LeastSquares::new(&a, &b).free(&[0]));
    refused(LeastSquares::new(&a, &b).lower(-1.0));
    refused(LeastSquares::new(&a, &b).columns(&[0]));
    refused(LeastSquares::new(&a, &b).upper(0.3));
    assert!(verify(&LeastSquares::new(&a, &b).sum_to_one(), &[0.5, 0.6]).unwrap_err().to_string().contains("1.1"));
}

#[test]
fn an_x_beyond_all_memory_is_an_error() {
    let size = 4_000_000;
    let wide: CscMatrix = CscMatrix::from_triplets(1, size, &[(0, 7, 1.0)]).unwrap();
    let error = Solver::new().solve_many(&wide, &wide).unwrap_err();
    assert!(matches!(error, Error::Memory(_)), "{error}");
}
