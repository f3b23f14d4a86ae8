//! What a certificate claims holds in exact arithmetic, for any x on problems of every kind; and it is tight.

mod common;
#[path = "common/exact_tests.rs"]
mod exact_tests;

use nonneg::{Solver, Status};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use common::check_x::certified_gap;
use common::claims::Solved;
use common::dyadic::{Dyadic, Fraction, times_power_of_two};
use common::exact::Quadratic;
use common::problems::{Aim, Fill, Recipe, Scale, planted, recipes};
use common::random::Random;
use common::{Goal, Problem, Storage};

/// Always the same cases.
fn cases(count: u32) -> Config {
    Config { cases: count, rng_seed: RngSeed::Fixed(20), failure_persistence: None, max_shrink_iters: 2000, ..Config::default() }
}

/// Every claim about these points holds exactly.
fn every_claim_holds(solved: &Solved, points: Vec<Vec<f64>>) -> Result<(), TestCaseError> {
    for x in points {
        match solved.problem.verify(&x) {
            Ok(certificate) => solved.check(&x, &certificate)?,
            Err(nonneg::Error::Unbounded(_)) => prop_assert!(solved.minimum.is_none(), "not unbounded: {:?}", solved.problem),
            Err(error) => return Err(TestCaseError::fail(format!("{error}: {:?}, x = {x:?}", solved.problem))),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(1500))]
    #[test]
    fn every_claim_holds_on_plain_problems(recipe in recipes(&Fill::NONNEGATIVE, &Aim::RHS, &[Scale::None], false)) {
        let solved = Solved::new(recipe.make());
        every_claim_holds(&solved, solved.points(&mut Random::new(recipe.seed ^ 1)))?;
    }
}

proptest! {
    #![proptest_config(cases(2500))]
    #[test]
    fn every_claim_holds_with_bounds_penalties_weights_and_signs(recipe in recipes(&Fill::ALL, &Aim::ALL, &[Scale::None], true)) {
        let solved = Solved::new(recipe.make());
        every_claim_holds(&solved, solved.points(&mut Random::new(recipe.seed ^ 1)))?;
    }
}

proptest! {
    #![proptest_config(cases(1500))]
    #[test]
    fn every_claim_holds_for_absurd_x(recipe in recipes(&Fill::ALL, &Aim::ALL, &[Scale::None], true)) {
        let solved = Solved::new(recipe.make());
        every_claim_holds(&solved, solved.absurd_points(&mut Random::new(recipe.seed ^ 1)))?;
    }
}

proptest! {
    #![proptest_config(cases(1500))]
    #[test]
    fn every_claim_holds_on_plain_problems_of_huge_and_tiny_numbers(
        recipe in recipes(&Fill::NONNEGATIVE, &Aim::RHS, &[Scale::Whole, Scale::Columns, Scale::Rows], false)
    ) {
        let solved = Solved::new(recipe.make());
        every_claim_holds(&solved, solved.points(&mut Random::new(recipe.seed ^ 1)))?;
    }
}

proptest! {
    #![proptest_config(cases(2500))]
    #[test]
    fn every_claim_holds_for_huge_and_tiny_numbers(recipe in recipes(&Fill::ALL, &Aim::ALL, &Scale::ALL, true)) {
        let solved = Solved::new(recipe.make());
        every_claim_holds(&solved, solved.points(&mut Random::new(recipe.seed ^ 1)))?;
    }
}

proptest! {
    #![proptest_config(cases(1500))]
    #[test]
    fn every_claim_holds_for_absurd_x_on_huge_and_tiny_numbers(recipe in recipes(&Fill::ALL, &Aim::ALL, &Scale::ALL, true)) {
        let solved = Solved::new(recipe.make());
        every_claim_holds(&solved, solved.absurd_points(&mut Random::new(recipe.seed ^ 1)))?;
    }
}

proptest! {
    #![proptest_config(cases(1500))]
    /// Tightness: a certificate that never proves anything would be sound too.
    #[test]
    fn the_exact_minimiser_is_certified_to_1e_10(
        recipe in recipes(&Fill::NONNEGATIVE, &Aim::ALL, &[Scale::None], true)
    ) {
        certified_at_the_minimiser(&recipe)?;
    }
}

proptest! {
    #![proptest_config(cases(800))]
    #[test]
    fn the_exact_minimiser_of_a_scaled_problem_is_certified_to_1e_10(
        recipe in recipes(&Fill::NONNEGATIVE, &[Aim::Positive, Aim::Mixed, Aim::LinearBounded], &[Scale::Whole, Scale::Columns], false)
    ) {
        certified_at_the_minimiser(&recipe)?;
    }
}

fn certified_at_the_minimiser(recipe: &Recipe) -> Result<(), TestCaseError> {
    let plain_size = Solved::new(Recipe { scale: Scale::None, ..recipe.clone() }.make());
    let solved = Solved::new(recipe.make());
    let Some(minimum) = &solved.minimum else { return Ok(()) };
    // Scaling does not change the condition, but computing it in f64 would overflow: take it from the unscaled problem.
    let Some(x) = minimum.rounded() else { return Ok(()) };
    if minimum.value.is_zero() || plain_size.condition() > 1e3 {
        return Ok(());
    }
    let certificate = solved.problem.verify(&x).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let gap = certificate.relative_gap;
    prop_assert!(gap.is_some_and(|gap| gap <= 1e-10), "relative_gap is {gap:?}{}", solved.context(&x, &certificate));
    Ok(())
}

#[test]
fn most_small_problems_are_well_enough_conditioned_for_the_tightness_tests() {
    let mut counted = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let aim = random.pick(&[Aim::Positive, Aim::Mixed, Aim::NearlyOrthogonal, Aim::InRange]);
        let recipe = Recipe::plain(1 + random.index(8), 1 + random.index(6), random.pick(&Fill::NONNEGATIVE), aim, seed);
        counted += usize::from(Solved::new(recipe.make()).condition() <= 1e3);
    }
    assert!(counted >= 150, "only {counted} of 300");
}

#[test]
fn planted_optima_of_larger_problems_are_certified() {
    let mut random = Random::new(5);
    for case in 0..40 {
        let cols = 1 + random.index(60);
        let (extra_rows, support) = (random.index(40), random.index(cols + 1));
        let (mut problem, x) = planted(&mut random, extra_rows, cols, support);
        problem.storage = random.pick(&Storage::ALL);
        let exact = Quadratic::new(&problem);
        let (value, objective) = (Fraction::from(exact.value(&x)), Fraction::from(exact.objective(&x)));
        let certificate = problem.verify(&x).unwrap();
        assert!(Fraction::from(certificate.lower_bound.unwrap()) <= objective, "case {case}");
        if !value.is_zero() {
            assert!(certificate.relative_gap.unwrap() <= 1e-10, "case {case}: {:?}", certificate.relative_gap);
            let solution = problem.solve(&Solver::new().tolerance(1e-8)).unwrap();
            assert_eq!(solution.status, Status::Solved, "case {case}");
            let above = &Fraction::from(exact.value(&solution.x)) - &value;
            assert!(above <= &Fraction::from(1e-8) * &value.abs(), "case {case}: the claim is wrong");
        }
    }
}

#[test]
fn zero_is_certified_where_it_is_clearly_optimal() {
    for b in [[-1.0, -2.0], [0.0, 0.0], [-1.0, 0.0]] {
        let certificate = Problem::new(2, 2, &[1.0, 2.0, 3.0, 1.0], &b).verify(&[0.0, 0.0]).unwrap();
        assert_eq!(certificate.relative_gap, Some(0.0), "b = {b:?}");
        assert!(certificate.lower_bound.unwrap() <= certificate.objective.unwrap());
    }
}

#[test]
fn zero_is_certified_where_the_linear_term_cancels_exactly() {
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let fill = random.pick(&[Fill::Dense, Fill::Integers, Fill::Sparse]);
        let problem = Recipe::plain(2 + 2 * random.index(4), 1 + random.index(6), fill, Aim::Orthogonal, seed).make();
        let n = problem.cols;
        assert!(Quadratic::new(&problem).linear.iter().all(Dyadic::is_zero));
        let certificate = problem.verify(&vec![0.0; n]).unwrap();
        assert_eq!(certificate.relative_gap, Some(0.0), "{problem:?}");
        let solution = problem.solve(&Solver::new()).unwrap();
        assert_eq!((solution.x, solution.status), (vec![0.0; n], Status::Solved), "{problem:?}");
    }
}

#[test]
fn a_nonzero_x_is_never_certified_where_zero_is_optimal() {
    let problem = Problem::new(2, 2, &[1.0, 2.0, 3.0, 1.0], &[-1.0, -2.0]);
    for x in [[1.0, 0.0], [0.0, 1e-300], [5e-324, 5e-324]] {
        assert_eq!(problem.verify(&x).unwrap().relative_gap, None, "x = {x:?}");
    }
}

proptest! {
    #![proptest_config(cases(600))]
    #[test]
    fn a_solution_that_says_solved_is_within_its_tolerance(
        recipe in recipes(&Fill::ALL, &Aim::ALL, &[Scale::None, Scale::Columns], true),
        tolerance in proptest::sample::select(vec![1e-1, 1e-3, 1e-6, 1e-9, 1e-12]),
    ) {
        let solved = Solved::new(recipe.make());
        let problem = &solved.problem;
        let solver = Solver::new().tolerance(tolerance).max_passes(3000.0).seed(recipe.seed);
        match problem.solve(&solver) {
            Ok(solution) => {
                let (x, certificate) = (&solution.x, &solution.certificate);
                prop_assert_eq!(x, &problem.clip(x), "infeasible{}", solved.context(x, certificate));
                solved.check(x, certificate)?;
                if solution.status == Status::Solved {
                    prop_assert!(certificate.relative_gap.is_some_and(|gap| gap <= tolerance), "{}", solved.context(x, certificate));
                    prop_assert!(solved.within(x, tolerance), "not solved{}", solved.context(x, certificate));
                }
                // Anybody can check the claim from x alone. (For signed A the run may have used a better dual point.)
                let again = problem.verify(x).unwrap();
                if solution.status == Status::Solved {
                    prop_assert!(again.relative_gap.is_some_and(|gap| gap <= tolerance), "{}", solved.context(x, &again));
                }
                prop_assert!(problem.is_signed() || certificate == &again, "{again:?}{}", solved.context(x, certificate));
            }
            Err(nonneg::Error::Unbounded(_)) => prop_assert!(solved.minimum.is_none(), "not unbounded: {problem:?}"),
            Err(error) => return Err(TestCaseError::fail(format!("{error}: {problem:?}"))),
        }
    }
}

proptest! {
    #![proptest_config(cases(1500))]
    /// Two certificates written apart: verify is never below, and hardly above.
    #[test]
    fn verify_agrees_with_check_x(recipe in recipes(&Fill::NONNEGATIVE, &Aim::RHS, &[Scale::None], false)) {
        let solved = Solved::new(recipe.make());
        let condition = solved.condition();
        for x in solved.points(&mut Random::new(recipe.seed ^ 2)) {
            let certificate = solved.problem.verify(&x).unwrap();
            let Some(checked) = certified_gap(&solved.problem, &x) else { continue };
            if let Some(gap) = certificate.relative_gap {
                prop_assert!(
                    gap >= checked.gap - checked.rounding,
                    "check_x.py gives {:e} ± {:e}{}", checked.gap, checked.rounding, solved.context(&x, &certificate)
                );
            }
            if condition <= 1e2 {
                prop_assert!(
                    certificate.relative_gap.is_some_and(|gap| gap <= checked.gap * (1.0 + 1e-6) + 1e-11 + checked.rounding),
                    "check_x.py gives {:e} ± {:e}{}", checked.gap, checked.rounding, solved.context(&x, &certificate)
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(800))]
    /// Where no bound can be proved, convergence is judged by the natural residual alone.
    #[test]
    fn the_natural_residual_is_what_its_formula_says(recipe in recipes(&Fill::ALL, &Aim::ALL, &[Scale::None], true)) {
        let solved = Solved::new(recipe.make());
        if (0..recipe.cols).any(|j| solved.exact.hessian[j][j].is_zero()) {
            return Ok(()); // an empty column has no curvature to measure a step in
        }
        let (at_zero, size_at_zero) = solved.natural_residual(&vec![0.0; recipe.cols]);
        for x in solved.points(&mut Random::new(recipe.seed ^ 6)) {
            let certificate = solved.problem.verify(&x).unwrap();
            let (expected, size) = solved.natural_residual(&x);
            let found = certificate.natural_residual;
            prop_assert!(
                found.is_some_and(|r| (r - expected).abs() <= 1e-12 * size),
                "{found:?}, expected {expected:e}{}", solved.context(&x, &certificate)
            );
            let clear = at_zero > 1e-6 * size_at_zero && expected > 1e-6 * size; // the quotient keeps its digits
            let found = certificate.relative_residual;
            prop_assert!(
                !clear || found.is_some_and(|r| (r - expected / at_zero).abs() <= 1e-5 * r),
                "{found:?}, expected {expected:e}/{at_zero:e}{}", solved.context(&x, &certificate)
            );
        }
    }
}

proptest! {
    #![proptest_config(cases(400))]
    /// How A is stored changes nothing but the order of sums.
    #[test]
    fn every_storage_gives_the_same_certificate(recipe in recipes(&Fill::ALL, &Aim::ALL, &[Scale::None], true)) {
        let mut problem = Recipe { storage: Storage::DenseF32, ..recipe.clone() }.make();
        let solved = Solved::new(problem.clone());
        for x in solved.points(&mut Random::new(recipe.seed ^ 3)) {
            let claims: Vec<_> = Storage::ALL.map(|storage| {
                problem.storage = storage;
                problem.verify(&x).map(|certificate| (certificate.objective, certificate.relative_gap))
            }).into();
            for claim in &claims {
                match (claim, &claims[0]) {
                    (Ok((objective, gap)), Ok((first_objective, first_gap))) => {
                        prop_assert!(close(*objective, *first_objective), "{claims:?}: {problem:?}, x = {x:?}");
                        prop_assert!(close(*gap, *first_gap) || solved.condition() > 1e2, "{claims:?}: {problem:?}, x = {x:?}");
                    }
                    _ => prop_assert!(claim.is_err() && claims[0].is_err(), "{claims:?}: {problem:?}, x = {x:?}"),
                }
            }
        }
    }
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-10 * (1.0 + a.abs()),
        _ => a == b,
    }
}

proptest! {
    #![proptest_config(cases(400))]
    /// Powers of two in the columns, in b and in the weights leave the gap as it is, bit for bit.
    #[test]
    fn the_gap_is_invariant_under_powers_of_two(recipe in recipes(&Fill::ALL, &Aim::RHS, &[Scale::None], false), weights: bool) {
        let solved = Solved::new(Recipe { weights, ..recipe.clone() }.make());
        if (0..recipe.cols).any(|j| solved.exact.hessian[j][j].is_zero()) {
            return Ok(()); // an empty column has no size to scale
        }
        let mut random = Random::new(recipe.seed ^ 4);
        let columns: Vec<i64> = (0..recipe.cols).map(|_| random.integer(-250, 250)).collect();
        let (rhs, weight) = (random.integer(-250, 250), random.integer(-100, 100) * 2);
        let mut scaled = solved.problem.clone();
        scaled.storage = if scaled.storage.is_f32() { Storage::Dense } else { scaled.storage };
        let reference = Problem { storage: scaled.storage, ..solved.problem.clone() };
        for j in 0..recipe.cols {
            let column = &mut scaled.a[j * recipe.rows..(j + 1) * recipe.rows];
            column.iter_mut().for_each(|v| *v = times_power_of_two(*v, columns[j]));
        }
        let Goal::Rhs(b) = &mut scaled.goal else { unreachable!("only right-hand sides are drawn") };
        b.iter_mut().for_each(|v| *v = times_power_of_two(*v, rhs));
        if let Some(weights) = &mut scaled.weights {
            weights.iter_mut().for_each(|v| *v = times_power_of_two(*v, weight));
        }
        for x in solved.points(&mut random) {
            let scaled_x: Vec<f64> = x.iter().zip(&columns).map(|(&v, column)| times_power_of_two(v, rhs - column)).collect();
            let same = scaled_x.iter().zip(&x).zip(&columns).all(|((&s, &v), column)| times_power_of_two(s, column - rhs) == v);
            if !same {
                continue; // x does not fit the other units
            }
            let (plain, other) = (reference.verify(&x).unwrap(), scaled.verify(&scaled_x).unwrap());
            prop_assert_eq!(
                (plain.relative_gap, plain.relative_residual, plain.support),
                (other.relative_gap, other.relative_residual, other.support),
                "x = {:?}: {:?}\nscaled: {:?}", x, reference, scaled
            );
        }
    }
}

proptest! {
    #![proptest_config(cases(500))]
    /// The dual point that comes with a bound proves that bound.
    #[test]
    fn the_dual_point_proves_the_lower_bound(recipe in recipes(&Fill::NONNEGATIVE, &Aim::ALL, &[Scale::None], true)) {
        let solved = Solved::new(recipe.make());
        for x in solved.points(&mut Random::new(recipe.seed ^ 5)) {
            let certificate = match solved.problem.verify(&x) {
                Ok(certificate) => certificate,
                Err(_) => continue, // unbounded: another test looks at that
            };
            let Some(bound) = certificate.lower_bound else { continue };
            if bound == 0.0 && matches!(solved.problem.goal, Goal::Rhs(_)) {
                continue; // ½‖Ax − b‖² ≥ 0 needs no proof
            }
            prop_assert_eq!(certificate.dual.len(), solved.problem.rows, "{}", solved.context(&x, &certificate));
            let (proved, size) = dual_value(&solved, &certificate.dual);
            // The dual is rounded to f64 after the bound was computed: hence the allowance.
            let allowed = &Fraction::from(bound) - &(&Fraction::from(1e-12) * &size);
            prop_assert!(proved >= allowed, "D(y) = {:e}, claimed {bound:e}{}", proved.to_f64(), solved.context(&x, &certificate));
        }
    }
}

/// D(y) + ½‖b‖²_W in exact arithmetic for A ≥ 0, and the size of what was added up:
/// D(y) = −½yᵀWy − Σ max over 0 ≤ x ≤ uⱼ of dⱼx − ½λ₂x², with dⱼ = cⱼ − A:ⱼᵀWy and uⱼ = min(cⱼ/(Lⱼ + λ₂), ℓⱼ).
fn dual_value(solved: &Solved, y: &[f64]) -> (Fraction, Fraction) {
    let (problem, exact) = (&solved.problem, &solved.exact);
    let (y, zero): (Vec<Dyadic>, _) = (y.iter().map(|&v| v.into()).collect(), Fraction::from(0.0));
    let weight = |i: usize| Dyadic::from(problem.weight(i));
    let square = (0..problem.rows).fold(Dyadic::zero(), |sum, i| &sum + &(&(&y[i] * &y[i]) * &weight(i)));
    let mut value = &Fraction::from(exact.constant.clone()) - &Fraction::from(square.half());
    let mut size = &Fraction::from(exact.constant.clone()) + &Fraction::from(square);
    for j in 0..problem.cols {
        let product = (0..problem.rows).fold(Dyadic::zero(), |sum, i| {
            let weighted = &Dyadic::from(problem.entry(i, j)) * &weight(i);
            &sum + &(&weighted * &y[i])
        });
        let (linear, curvature) = (&exact.linear[j], &exact.hessian[j][j]);
        let excess = Fraction::from(linear - &product);
        if !linear.is_positive() || excess <= zero {
            continue;
        }
        let from_data = curvature.is_positive().then(|| Fraction::from(linear.clone()).over(curvature));
        let given = exact.upper[j].clone().map(Fraction::from);
        let ridge = Dyadic::from(problem.l2);
        let unconstrained = ridge.is_positive().then(|| excess.over(&ridge));
        // The maximiser; where nothing bounds it there is no finite bound, and none may be claimed.
        let x = [from_data, given, unconstrained].into_iter().flatten().min().expect("something bounds x");
        let gain = &(&excess * &x) - &(&(&x * &x) * &ridge.into()).half();
        value = &value - &gain;
        size = &size + &(&x * &Fraction::from(&(linear + &product) + &problem.l1.into()));
    }
    (value, size)
}
