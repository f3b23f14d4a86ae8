//! Restarts make convergence linear: every further digit of the natural residual costs about the same.

mod paper;

use nonneg::{Method, Solution, Solver};
use paper::Small;

/// Passes until the natural residual first is below 10^-k times that of x = 0, for k = 1, 2, …
fn passes_per_digit(solution: &Solution, digits: i32) -> Vec<Option<f64>> {
    let start = solution.trace[0].natural_residual.unwrap();
    let reached = |k: i32| solution.trace.iter().find(|row| row.natural_residual.unwrap() <= start * 10f64.powi(-k));
    (1..=digits).map(|k| reached(k).map(|row| row.passes)).collect()
}

#[test]
fn passes_grow_linearly_with_the_digits_and_without_restarts_they_do_not() {
    for seed in 1..=4 {
        let small = Small::random(120, 60, 1.0, seed);
        let matrix = small.dense();
        let solver = Solver::new().tolerance(0.0).max_passes(20000.0).seed(seed);

        let restarted = solver.clone().method(Method::SiNnls).solve(&matrix, &small.b).unwrap();
        let passes: Vec<f64> = passes_per_digit(&restarted, 9).into_iter().map(|p| p.expect("reached")).collect();
        // Linear: the second half of the digits costs about what the first did.
        let (first, second) = (passes[4] - passes[0], passes[8] - passes[4]);
        assert!(second <= 3.0 * first, "seed {seed}: {passes:?}");
        assert!(restarted.stats.restarts >= 9);

        // Without restarts each further digit costs several times the last one.
        let plain = solver.method(Method::SiNnlsNoRestart).solve(&matrix, &small.b).unwrap();
        assert_eq!(plain.stats.restarts, 0);
        let passes = passes_per_digit(&plain, 9);
        let (three, seven) = (passes[2].expect("three digits"), passes[6].unwrap_or(20000.0));
        assert!(seven >= 20.0 * three, "seed {seed}: {passes:?}");
        assert_eq!(passes[8], None, "seed {seed}: nine digits need restarts");
    }
}
