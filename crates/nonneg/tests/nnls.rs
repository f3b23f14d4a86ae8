//! `nnls`, exact to rounding: against exact arithmetic on small problems, by its optimality conditions on larger ones.

mod common;

use nonneg::{AnyMatrix, nnls};

use common::claims::Solved;
use common::dyadic::Fraction;
use common::families;
use common::problems::{Aim, Fill, Recipe, Scale};
use common::random::Random;
use common::{Goal, Problem};

fn rhs(problem: &Problem) -> &[f64] {
    match &problem.goal {
        Goal::Rhs(b) => b,
        Goal::Linear(_) => unreachable!("a problem with b"),
    }
}

/// f(x) − f* in units of ½‖b‖², in exact arithmetic.
fn excess(solved: &Solved, x: &[f64]) -> f64 {
    let minimum = solved.minimum.as_ref().expect("a problem with b is bounded");
    let above = &Fraction::from(solved.exact.value(x)) - &minimum.value;
    let square =
        rhs(&solved.problem).iter().fold(Fraction::from(0.0), |sum, &b| &sum + &(&Fraction::from(b) * &Fraction::from(b)));
    if square.is_zero() {
        return if above.is_zero() { 0.0 } else { f64::INFINITY };
    }
    let two = Fraction::from(2.0);
    let above = &above * &two;
    Fraction::new(&above.numerator * &square.denominator, &above.denominator * &square.numerator).to_f64()
}

#[test]
fn small_problems_of_every_kind_are_solved_to_rounding() {
    let (mut worst, mut unfit) = (0.0f64, 0);
    for fill in Fill::ALL {
        for aim in Aim::RHS {
            for scale in [Scale::None, Scale::Whole, Scale::Columns] {
                for seed in 0..12 {
                    let mut random = Random::new(seed);
                    let (rows, cols) = (1 + random.index(8), 1 + random.index(8));
                    let mut recipe = Recipe::plain(rows, cols, fill, aim, seed);
                    (recipe.scale, recipe.binary) = (scale, seed % 2 == 0);
                    let solved = Solved::new(recipe.make());
                    let (matrix, b) = (solved.problem.matrix(), rhs(&solved.problem));
                    let answer = nnls(&matrix, b, None).unwrap();
                    assert!(answer.x.iter().all(|&x| (0.0..=f64::MAX).contains(&x)), "{recipe:?}: {answer:?}");
                    // Units so far apart that x does not fit f64 are no business of rounding.
                    let fits = |x: f64| x == 0.0 || x.is_normal() && x < f64::MAX;
                    let largest = |v: &[f64]| v.iter().fold(0.0f64, |largest, v| largest.max(v.abs()));
                    let size = |j: usize| largest(b) / largest(solved.problem.column(j));
                    if !answer.x.iter().all(|&x| fits(x)) || (0..cols).any(|j| largest(b) > 0.0 && size(j) < 1e-280) {
                        unfit += 1;
                        continue;
                    }
                    assert!(answer.finished, "{recipe:?}: {answer:?}");
                    let excess = excess(&solved, &answer.x);
                    worst = worst.max(excess);
                    assert!(excess < 1e-14, "{recipe:?}: {excess:e}");
                }
            }
        }
    }
    println!("worst: {worst:e} of half the square of b; {unfit} do not fit");
    assert!(unfit < 300);
}

/// The largest slope of ‖Ax − b‖ that is against the rules, over ‖A:ⱼ‖‖b‖: downhill anywhere, or any where x > 0.
fn violation(problem: &Problem, x: &[f64]) -> f64 {
    let b = rhs(problem);
    let mut residual = b.to_vec();
    for (j, &value) in x.iter().enumerate().filter(|(_, value)| **value != 0.0) {
        residual.iter_mut().zip(problem.column(j)).for_each(|(r, a)| *r -= a * value);
    }
    let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let slope = |j: usize| {
        let column = problem.column(j);
        let slope = column.iter().zip(&residual).map(|(a, r)| a * r).sum::<f64>() / (norm(column) * norm(b));
        if x[j] > 0.0 { slope.abs() } else { slope }
    };
    (0..problem.cols).map(slope).fold(0.0, f64::max)
}

#[test]
fn larger_problems_satisfy_their_optimality_conditions_to_rounding() {
    for (name, mut problem) in families::middle() {
        for signed in [false, true] {
            if signed {
                let mut random = Random::new(5);
                problem.a.iter_mut().filter(|a| **a != 0.0).for_each(|a| *a -= 0.5 * random.unit());
            }
            let matrix: AnyMatrix = problem.matrix();
            let answer = nnls(&matrix, rhs(&problem), None).unwrap();
            let violation = violation(&problem, &answer.x);
            println!("{name} {signed}: {violation:e}, {} exchanges", answer.iterations);
            assert!(answer.finished && violation < 1e-13, "{name}: {violation:e}");
        }
    }
}

#[test]
fn a_limit_on_iterations_ends_early_and_says_so() {
    let problem = families::uniform(5, 10, 1);
    let matrix = problem.matrix();
    let answer = nnls(&matrix, rhs(&problem), Some(1)).unwrap();
    assert!(!answer.finished && answer.iterations <= 1 && answer.x.iter().all(|&x| x >= 0.0));
}

#[test]
fn empty_matrices_and_zeros_have_answers() {
    for (rows, cols) in [(0, 0), (0, 3), (3, 0), (2, 2)] {
        let matrix = nonneg::DenseMatrix::new(rows, cols, vec![0.0; rows * cols]).unwrap();
        let answer = nnls(&matrix, &vec![1.0; rows], None).unwrap();
        assert_eq!((answer.x, answer.finished), (vec![0.0; cols], true));
        assert!((answer.residual_norm - (rows as f64).sqrt()).abs() < 1e-15);
    }
}
