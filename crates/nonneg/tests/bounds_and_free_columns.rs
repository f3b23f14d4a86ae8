//! Lower bounds other than zero, and columns without bounds: against the same problem written with x ≥ 0, in exact arithmetic.

mod common;

use nonneg::{Error, LeastSquares, Method, Solver, Status, verify};

use common::claims::Solved;
use common::dyadic::Fraction;
use common::problems::{Aim, Fill, Recipe};
use common::random::Random;
use common::{Goal, Problem};

fn rhs(problem: &Problem) -> &[f64] {
    match &problem.goal {
        Goal::Rhs(b) => b,
        Goal::Linear(_) => unreachable!("a problem with b"),
    }
}

/// The problem over x ≥ 0 in which a free column stands twice, once turned round.
fn split(problem: &Problem, free: &[usize]) -> Problem {
    let mut split = problem.clone();
    for &j in free {
        split.a.extend(problem.column(j).iter().map(|a| -a));
        split.cols += 1;
    }
    split
}

/// x of the split problem that means the same.
fn split_point(x: &[f64], free: &[usize]) -> Vec<f64> {
    let mut point: Vec<f64> = x.iter().map(|&x| x.max(0.0)).collect();
    point.extend(free.iter().map(|&j| (-x[j]).max(0.0)));
    point
}

#[test]
fn free_columns_reach_the_optimum_and_their_certificates_hold() {
    let (mut proved, mut total) = (0, 0);
    for fill in [Fill::Dense, Fill::Sparse, Fill::Integers, Fill::Signed, Fill::Duplicates] {
        for aim in [Aim::Positive, Aim::Mixed, Aim::InRange] {
            for seed in 0..20 {
                let mut random = Random::new(seed);
                let (rows, cols) = (2 + random.index(7), 2 + random.index(5));
                let problem = Recipe::plain(rows, cols, fill, aim, seed).make();
                let free: Vec<usize> = (0..cols).filter(|_| random.chance(0.4)).collect();
                let solved = Solved::new(split(&problem, &free));
                let minimum = &solved.minimum.as_ref().unwrap().value;
                let matrix = problem.matrix();
                let stated = LeastSquares::new(&matrix, rhs(&problem)).free(&free);
                for method in [Method::Auto, Method::ActiveSet, Method::LawsonHanson, Method::Cd, Method::SiNnls] {
                    let context = || format!("{fill:?} {aim:?} seed {seed} free {free:?} {method:?}");
                    let solver = Solver::new().method(method).tolerance(1e-8).max_passes(1e5);
                    let solution = solver.solve_problem(&stated).unwrap();
                    assert!(solution.status.is_success(), "{}: {:?}", context(), solution.status);
                    assert!((0..cols).all(|j| solution.x[j] >= 0.0 || free.contains(&j)), "{}", context());
                    let error = solved.relative_error(&split_point(&solution.x, &free));
                    assert!(minimum.is_zero() || error < 1e-7, "{}: {error:e}", context());
                    total += 1;
                    if let Some(gap) = solution.certificate.relative_gap {
                        proved += 1;
                        assert!(minimum.is_zero() || gap >= error, "{}: gap {gap:e}, error {error:e}", context());
                    }
                    let again = verify(&stated, &solution.x).unwrap();
                    assert!(again.relative_gap.is_some() || solution.certificate.relative_gap.is_none(), "{}", context());
                }
                // Any other point: no bound above the optimum.
                let x: Vec<f64> = (0..cols).map(|j| random.between(if free.contains(&j) { -2.0 } else { 0.0 }, 2.0)).collect();
                let certificate = verify(&stated, &x).unwrap();
                if let (Some(gap), false) = (certificate.relative_gap, minimum.is_zero()) {
                    assert!(gap >= solved.relative_error(&split_point(&x, &free)));
                }
                if let Some(bound) = certificate.lower_bound {
                    let least = &Fraction::from(solved.exact.objective(&split_point(&vec![0.0; cols], &free))) + minimum;
                    assert!(Fraction::from(bound) <= least, "a bound of {bound} above {}", least.to_f64());
                }
            }
        }
    }
    assert!(3 * proved > total, "{proved} of {total} proved");
}

#[test]
fn lower_bounds_reach_the_optimum_of_the_shifted_problem() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (rows, cols) = (2 + random.index(6), 1 + random.index(5));
        let fill = if seed % 3 == 0 { Fill::SignedIntegers } else { Fill::Integers };
        let problem = Recipe::plain(rows, cols, fill, Aim::Mixed, seed).make();
        // Integers: b − A·lower is exact, so the shifted problem is the same one.
        let lower: Vec<f64> = (0..cols).map(|_| random.integer(-3, 3) as f64).collect();
        let upper: Vec<f64> =
            lower.iter().map(|l| if random.chance(0.5) { l + random.integer(0, 4) as f64 } else { f64::INFINITY }).collect();
        let mut b: Vec<f64> = (0..rows).map(|_| random.integer(-9, 9) as f64).collect();
        let matrix = problem.matrix();
        let stated_b = b.clone();
        for j in 0..cols {
            b.iter_mut().zip(problem.column(j)).for_each(|(b, a)| *b -= a * lower[j]);
        }
        let mut shifted = Problem::new(rows, cols, &problem.a, &b);
        shifted.bound = common::Bound::Each(upper.iter().zip(&lower).map(|(u, l)| u - l).collect());
        let solved = Solved::new(shifted);
        let minimum = &solved.minimum.as_ref().unwrap().value;
        let stated = LeastSquares::new(&matrix, &stated_b).lower(lower.as_slice()).upper(upper.as_slice());
        let solution = Solver::new().tolerance(1e-9).solve_problem(&stated).unwrap();
        assert!(
            solution.status.is_success(),
            "seed {seed}: {:?} {:?} {:?} {lower:?} {upper:?} {stated_b:?} {:?}",
            solution.status,
            solution.certificate,
            solution.x,
            problem.a
        );
        assert!((0..cols).all(|j| (lower[j]..=upper[j]).contains(&solution.x[j])), "seed {seed}: {:?}", solution.x);
        let z: Vec<f64> = solution.x.iter().zip(&lower).map(|(x, l)| x - l).collect();
        let error = solved.relative_error(&z);
        assert!(minimum.is_zero() || error < 1e-8, "seed {seed}: {error:e}");
        if let Some(gap) = solution.certificate.relative_gap {
            assert!(minimum.is_zero() || gap >= error, "seed {seed}: gap {gap:e}, error {error:e}");
        }
        let objective = 0.5 * solution.certificate.residual_norm.unwrap().powi(2);
        assert!((objective - solution.certificate.objective.unwrap()).abs() <= 1e-12 * (1.0 + objective));
    }
}

/// x ≤ u and nothing else is −x ≥ −u.
#[test]
fn columns_with_an_upper_bound_alone_are_turned_round() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let (rows, cols) = (2 + random.index(6), 1 + random.index(5));
        let problem = Recipe::plain(rows, cols, Fill::Integers, Aim::Mixed, seed).make();
        let (matrix, b) = (problem.matrix(), rhs(&problem).to_vec());
        let upper: Vec<f64> = (0..cols).map(|_| random.integer(-2, 2) as f64).collect();
        let lower = vec![f64::NEG_INFINITY; cols];
        let turned = Problem::new(rows, cols, &problem.a.iter().map(|a| -a).collect::<Vec<_>>(), &b);
        let turned_matrix = turned.matrix();
        let turned_lower: Vec<f64> = upper.iter().map(|u| -u).collect();
        let solver = Solver::new().tolerance(1e-10);
        let one = solver.solve_problem(&LeastSquares::new(&matrix, &b).lower(lower.as_slice()).upper(upper.as_slice())).unwrap();
        let other = solver.solve_problem(&LeastSquares::new(&turned_matrix, &b).lower(turned_lower.as_slice())).unwrap();
        assert!(
            one.status.is_success() && other.status.is_success(),
            "seed {seed}: {:?} {:?} {:?} {upper:?} {b:?} {:?}",
            one.status,
            one.certificate,
            other.certificate,
            problem.a
        );
        assert!((0..cols).all(|j| one.x[j] <= upper[j]));
        let (p, q) = (one.certificate.objective.unwrap(), other.certificate.objective.unwrap());
        assert!((p - q).abs() <= 1e-8 * (1.0 + p), "seed {seed}: {p} and {q}");
    }
}

/// An intercept: penalties do not touch it.
#[test]
fn free_columns_are_not_penalised() {
    let mut random = Random::new(1);
    let (rows, cols) = (40, 6);
    let mut a = vec![1.0; rows];
    a.extend((0..rows * (cols - 1)).map(|_| random.unit()));
    let b: Vec<f64> = (0..rows).map(|i| 100.0 + a[rows + i] + 0.01 * random.unit()).collect();
    let problem = Problem::new(rows, cols, &a, &b);
    let matrix = problem.matrix();
    let stated = LeastSquares::new(&matrix, &b).free(&[0]).l1(1e6).l2(1e6);
    let solution = Solver::new().tolerance(1e-9).solve_problem(&stated).unwrap();
    let mean = b.iter().sum::<f64>() / rows as f64;
    assert!(solution.status.is_success() && (solution.x[0] - mean).abs() < 1e-6 * mean, "{:?}", solution.x);
    assert!(solution.x[1..].iter().all(|&x| x < 1e-3));
}

#[test]
fn bounds_that_make_no_sense_are_refused() {
    let matrix = nonneg::DenseMatrix::new(1, 2, vec![1.0, 1.0]).unwrap();
    let b = [1.0];
    let refused = |problem: LeastSquares| Solver::new().solve_problem(&problem).unwrap_err().to_string();
    let new = || LeastSquares::new(&matrix, &b);
    assert!(refused(new().lower(2.0).upper(1.0)).contains("lower[0] is 2"));
    assert!(refused(new().lower(f64::NAN)).contains("lower[0] is NaN"));
    assert!(refused(new().lower(f64::INFINITY)).contains("lower"));
    assert!(refused(new().lower([0.0].as_slice())).contains("lower has 1 entries, expected 2"));
    assert!(refused(new().lower(1.0).l2(0.5)).contains("penalties"));
    assert!(refused(new().free(&[2])).contains("free is 2"));
    assert!(refused(new().upper(-1.0)).contains("upper"));
    let c = [1.0, 1.0];
    let linear = LeastSquares::with_linear(&matrix, &c).lower(1.0);
    assert!(matches!(Solver::new().solve_problem(&linear), Err(Error::Setting { name: "lower", .. })));
    let x = verify(&new().lower(-1.0), &[-2.0, 0.0]).unwrap_err().to_string();
    assert!(x.contains("at least its lower bound"), "{x}");
}

#[test]
fn a_start_is_moved_within_other_bounds() {
    let matrix = nonneg::DenseMatrix::new(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let b = [-5.0, 5.0];
    let problem = LeastSquares::new(&matrix, &b).lower(-2.0).upper(3.0).start(&[100.0, -100.0]);
    let solution = Solver::new().solve_problem(&problem).unwrap();
    assert_eq!((solution.x, solution.status), (vec![-2.0, 3.0], Status::Solved));
}
