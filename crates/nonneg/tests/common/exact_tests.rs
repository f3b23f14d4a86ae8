//! The exact solver itself, on cases solved by hand and against `BigRational`.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Signed;

use crate::common::dyadic::{Dyadic, Fraction};
use crate::common::exact::Quadratic;
use crate::common::problems::{Aim, Fill, Recipe, UpperKind, planted};
use crate::common::random::Random;
use crate::common::{Bound, Problem};

fn rational(value: &Fraction) -> BigRational {
    let part = |d: &Dyadic| {
        let two = BigInt::from(2);
        let mantissa = BigRational::from_integer(d.mantissa.clone());
        let power = BigRational::from_integer(two.pow(d.exponent.unsigned_abs() as u32));
        if d.exponent < 0 { mantissa / power } else { mantissa * power }
    };
    part(&value.numerator) / part(&value.denominator)
}

fn solved(problem: &Problem, expected: &[f64], value: f64, objective: f64) {
    let minimum = Quadratic::new(problem).minimum().expect("bounded");
    let x: Vec<f64> = minimum.x.iter().map(Fraction::to_f64).collect();
    assert_eq!(x, expected);
    assert_eq!(minimum.value, value.into());
    assert_eq!(minimum.objective, objective.into());
    let exact = Quadratic::new(problem);
    assert_eq!(exact.value(expected), value.into());
    assert_eq!(exact.objective(expected), objective.into());
}

#[test]
fn exact_numbers_agree_with_big_rationals() {
    let mut random = Random::new(1);
    let draw = |random: &mut Random| {
        let magnitude = 2f64.powi(random.integer(-1070, 1000) as i32);
        let subnormal = f64::from_bits(random.bits() >> 13);
        random.between(-2.0, 2.0) * random.pick(&[0.0, 1.0, magnitude, subnormal])
    };
    for _ in 0..300 {
        let (a, b, c) = (draw(&mut random), draw(&mut random), draw(&mut random));
        let (x, y) = (Fraction::from(a), Fraction::from(b));
        let (p, q) = (BigRational::from_float(a).unwrap(), BigRational::from_float(b).unwrap());
        assert_eq!(rational(&x), p, "{a:e}");
        assert_eq!(rational(&(&x + &y)), &p + &q);
        assert_eq!(rational(&(&x - &y)), &p - &q);
        assert_eq!(rational(&(&x * &y)), &p * &q);
        assert_eq!(rational(&x.half()), &p / BigInt::from(2));
        assert_eq!(x.cmp(&y), p.cmp(&q));
        assert_eq!(x.to_f64(), a);
        if c > 0.0 {
            let divisor = BigRational::from_float(c).unwrap();
            let quotient = (&x - &y).over(&c.into());
            assert_eq!(rational(&quotient), (&p - &q) / &divisor);
            let rounded = quotient.to_f64();
            if rounded.is_normal() {
                let error = (rational(&quotient) - BigRational::from_float(rounded).unwrap()).abs();
                assert!(error <= BigRational::from_float(rounded.abs()).unwrap() / BigInt::from(1u64 << 52));
            }
        }
    }
}

#[test]
fn one_column_has_the_closed_form() {
    solved(&Problem::new(2, 1, &[1.0, 2.0], &[3.0, 1.0]), &[1.0], -2.5, 2.5);
    // c < 0: x = 0.
    solved(&Problem::new(2, 1, &[1.0, 2.0], &[-3.0, 1.0]), &[0.0], 0.0, 5.0);
    // Half way to the optimum there is a bound.
    let mut bounded = Problem::new(2, 1, &[1.0, 2.0], &[3.0, 1.0]);
    bounded.bound = Bound::Uniform(0.5);
    solved(&bounded, &[0.5], -1.875, 3.125);
}

#[test]
fn penalties_and_weights_shift_the_closed_form() {
    // L = 1 + 4, c = 5: with λ₁ = 1 and λ₂ = 3, x = (5 − 1)/(5 + 3).
    let mut problem = Problem::new(2, 1, &[1.0, 2.0], &[3.0, 1.0]);
    problem.l1 = 1.0;
    problem.l2 = 3.0;
    solved(&problem, &[0.5], -1.0, 4.0);
    // w = (1, ½): L = 3, c = 4; with λ₁ = 1, x = 1.
    let mut weighted = Problem::new(2, 1, &[1.0, 2.0], &[3.0, 1.0]);
    weighted.weights = Some(vec![1.0, 0.5]);
    weighted.l1 = 1.0;
    solved(&weighted, &[1.0], -1.5, 3.25);
}

#[test]
fn a_negative_unconstrained_solution_moves_to_the_boundary() {
    // Unconstrained: x = (2, −1). On x₂ = 0: x₁ = 1 with gradient (0, 1).
    solved(&Problem::new(2, 2, &[1.0, 0.0, 1.0, 1.0], &[1.0, -1.0]), &[1.0, 0.0], -0.5, 0.5);
}

#[test]
fn dependent_columns_still_have_a_minimiser() {
    for columns in [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 2.0, 2.0], [0.0, 0.0, 1.0, 1.0]] {
        let minimum = Quadratic::new(&Problem::new(2, 2, &columns, &[2.0, 2.0])).minimum().expect("bounded");
        assert_eq!(minimum.value, (-4.0).into());
        assert!(minimum.objective.is_zero());
    }
}

#[test]
fn unbounded_problems_are_recognised() {
    // An empty column that the objective rewards.
    assert!(Quadratic::new(&Problem::linear(1, 2, &[1.0, 0.0], &[1.0, 1.0])).minimum().is_none());
    // Opposite columns: x₁ = x₂ = t costs nothing and gains ½t.
    assert!(Quadratic::new(&Problem::linear(1, 2, &[1.0, -1.0], &[1.0, -0.5])).minimum().is_none());
    // The same direction without gain is bounded, and so is it under a bound or a ridge.
    assert!(Quadratic::new(&Problem::linear(1, 2, &[1.0, -1.0], &[1.0, -1.0])).minimum().is_some());
    let mut bounded = Problem::linear(1, 2, &[1.0, -1.0], &[1.0, -0.5]);
    bounded.bound = Bound::Each(vec![f64::INFINITY, 3.0]);
    solved(&bounded, &[4.0, 3.0], -2.0, -2.0);
    let mut ridge = Problem::linear(1, 2, &[1.0, -1.0], &[1.0, -0.5]);
    ridge.l2 = 0.5;
    assert!(Quadratic::new(&ridge).minimum().is_some());
}

#[test]
fn pivots_and_enumeration_find_the_same_value() {
    let mut random = Random::new(2);
    for seed in 0..120 {
        let mut recipe =
            Recipe::plain(1 + random.index(5), 1 + random.index(4), random.pick(&Fill::ALL), random.pick(&Aim::ALL), seed);
        recipe.upper = random.pick(&UpperKind::ALL);
        recipe.l1 = random.chance(0.5);
        recipe.l2 = random.chance(0.5);
        recipe.weights = random.chance(0.5);
        let exact = Quadratic::new(&recipe.make());
        match (exact.minimum(), exact.minimum_by_enumeration()) {
            (Some(a), Some(b)) => assert!(a.value == b.value && a.objective == b.objective, "{recipe:?}"),
            (a, b) => assert!(a.is_none() && b.is_none(), "{recipe:?}"),
        }
    }
}

#[test]
fn no_feasible_grid_point_is_below_the_minimum() {
    let mut random = Random::new(3);
    for seed in 0..60 {
        let mut recipe = Recipe::plain(3, 2, random.pick(&Fill::ALL), random.pick(&Aim::ALL), seed);
        recipe.upper = random.pick(&UpperKind::ALL);
        recipe.l2 = random.chance(0.5);
        let problem = recipe.make();
        let exact = Quadratic::new(&problem);
        let Some(minimum) = exact.minimum() else { continue };
        for k in 0..64 {
            let grid = [f64::from(k % 8) * 0.4, f64::from(k / 8) * 0.4];
            let value = exact.value(&problem.clip(&grid));
            assert!(minimum.value <= value.into(), "{recipe:?} {grid:?}");
        }
    }
}

#[test]
fn planted_optima_are_the_exact_optima() {
    let mut random = Random::new(4);
    for _ in 0..60 {
        let cols = 1 + random.index(4);
        let (extra_rows, support) = (random.index(4), random.index(cols + 1));
        let (problem, x) = planted(&mut random, extra_rows, cols, support);
        let exact = Quadratic::new(&problem);
        let minimum = exact.minimum().expect("bounded");
        assert_eq!(Fraction::from(exact.value(&x)), minimum.value);
        assert_eq!(minimum.rounded().unwrap(), x); // unique: the columns are independent
    }
}
