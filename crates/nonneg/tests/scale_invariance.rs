//! Rescaling columns and b by powers of two changes nothing but units: same iterates, passes and status, bit for bit.

mod paper;

use nonneg::{LeastSquares, Method, Solution, Solver};
use paper::{Random, Small};

/// Column j times 2^k[j], b times 2^shift.
fn rescaled(small: &Small, exponents: &[i32], shift: i32) -> Small {
    let power = |k: i32| 2f64.powi(k);
    let column = |(column, &k): (&Vec<f64>, &i32)| column.iter().map(|v| v * power(k)).collect();
    Small {
        rows: small.rows,
        columns: small.columns.iter().zip(exponents).map(column).collect(),
        b: small.b.iter().map(|v| v * power(shift)).collect(),
    }
}

fn assert_same(plain: &Solution, scaled: &Solution, exponents: &[i32], shift: i32) {
    assert_eq!(plain.status, scaled.status);
    assert_eq!(plain.stats.passes.to_bits(), scaled.stats.passes.to_bits());
    assert_eq!(plain.stats.restarts, scaled.stats.restarts);
    assert_eq!(plain.certificate.relative_gap, scaled.certificate.relative_gap);
    for (j, (x, y)) in plain.x.iter().zip(&scaled.x).enumerate() {
        assert_eq!((x * 2f64.powi(shift - exponents[j])).to_bits(), y.to_bits(), "x[{j}]");
    }
    assert_eq!(plain.trace.len(), scaled.trace.len());
    for (p, s) in plain.trace.iter().zip(&scaled.trace) {
        assert_eq!((p.passes, p.relative_gap, p.support, p.event), (s.passes, s.relative_gap, s.support, s.event));
        assert_eq!(p.natural_residual.map(|r| r * 2f64.powi(shift)), s.natural_residual);
        assert_eq!(p.objective.map(|f| f * 2f64.powi(2 * shift)), s.objective);
        assert_eq!(p.lower_bound.map(|f| f * 2f64.powi(2 * shift)), s.lower_bound);
    }
}

/// Exponents from −200 to 200, the ends among them.
fn exponents(cols: usize, seed: u64) -> Vec<i32> {
    let mut random = Random::new(seed);
    let mut exponents: Vec<i32> = (0..cols).map(|_| random.below(401) as i32 - 200).collect();
    exponents[0] = 200;
    exponents[1] = -200;
    exponents
}

#[test]
fn rescaling_by_powers_of_two_maps_the_run_bit_for_bit() {
    for seed in 0..6 {
        for (method, batch_size) in [(Method::SiNnls, 1), (Method::SiNnls, 4), (Method::SiNnlsNoRestart, 1)] {
            let small = Small::random(40, 25, if seed % 2 == 0 { 1.0 } else { 0.2 }, seed);
            let solver = Solver::new().method(method).batch_size(batch_size).tolerance(1e-7).max_passes(400.0).seed(seed);
            let plain = solver.solve(&small.sparse(), &small.b).unwrap();
            assert!(plain.trace.len() > 3, "the run has something to compare");
            let exponents = exponents(25, seed);
            for shift in [-200, -3, 0, 117, 200] {
                let scaled = rescaled(&small, &exponents, shift);
                assert_same(&plain, &solver.solve(&scaled.sparse(), &scaled.b).unwrap(), &exponents, shift);
            }
            let scaled = rescaled(&small, &exponents, 7);
            let plain = solver.solve(&small.dense(), &small.b).unwrap();
            assert_same(&plain, &solver.solve(&scaled.dense(), &scaled.b).unwrap(), &exponents, 7);
        }
    }
}

#[test]
fn weighted_problems_are_scale_invariant_too() {
    let small = Small::random(40, 25, 0.5, 3);
    let mut random = Random::new(5);
    let weights: Vec<f64> = (0..40).map(|_| random.unit()).collect();
    let exponents = exponents(25, 9);
    let scaled = rescaled(&small, &exponents, -150);
    let solver = Solver::new().tolerance(1e-7);
    let (plain_matrix, scaled_matrix) = (small.sparse(), scaled.sparse());
    let plain = solver.solve_problem(&LeastSquares::new(&plain_matrix, &small.b).weights(&weights)).unwrap();
    let other = solver.solve_problem(&LeastSquares::new(&scaled_matrix, &scaled.b).weights(&weights)).unwrap();
    assert_same(&plain, &other, &exponents, -150);
}

/// Beyond the range in which squares fit f64: the same x in other units, where those fit.
#[test]
fn entries_of_1e_200_and_1e200_are_ordinary() {
    let small = Small::random(30, 12, 1.0, 4);
    let solver = Solver::new().tolerance(1e-9);
    let plain = solver.solve(&small.dense(), &small.b).unwrap();
    for (columns, shift) in [(-664, 0), (664, 0), (-664, -664), (664, 664), (900, 300), (-900, -600)] {
        let exponents: Vec<i32> = (0..12).map(|j| if j % 2 == 0 { columns } else { columns / 2 }).collect();
        let scaled = rescaled(&small, &exponents, shift);
        let other = solver.solve(&scaled.dense(), &scaled.b).unwrap();
        assert_eq!(other.status, nonneg::Status::Solved, "columns 2^{columns}, b 2^{shift}");
        assert_eq!(plain.stats.passes, other.stats.passes);
        for j in 0..12 {
            assert_eq!(plain.x[j] * 2f64.powi(shift - exponents[j]), other.x[j], "columns 2^{columns}, b 2^{shift}, x[{j}]");
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let small = Small::random(300, 900, 0.1, 8);
    let matrix = small.sparse();
    for batch_size in [1, 7] {
        let solver = Solver::new().tolerance(1e-6).batch_size(batch_size);
        let one = solver.clone().threads(1).solve(&matrix, &small.b).unwrap();
        for threads in [2, 3, 8] {
            let many = solver.clone().threads(threads).solve(&matrix, &small.b).unwrap();
            assert_eq!(one.x, many.x);
            assert_eq!(one.certificate, many.certificate);
        }
    }
}
