//! V ≈ WH: the objective never rises, what is reported is true, and the end is a stationary point.

mod common;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use nonneg::{CscMatrix, DenseMatrix, Error, Factors, Nmf, NmfMethod, NmfStart, Status};

use common::random::Random;

/// An m×n matrix of rank k, with noise, some entries zero; column after column.
fn mixture(m: usize, n: usize, k: usize, noise: f64, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut draw = |count: usize| (0..count).map(|_| if random.chance(0.4) { 0.0 } else { random.unit() }).collect::<Vec<f64>>();
    let (w, h) = (draw(m * k), draw(k * n));
    let mut random = Random::new(seed ^ 77);
    let entry = |i: usize| (0..k).map(|p| w[p * m + i % m] * h[i / m * k + p]).sum::<f64>();
    (0..m * n).map(|i| (entry(i) + noise * random.between(-1.0, 1.0)).max(0.0)).collect()
}

fn dense(m: usize, n: usize, values: &[f64]) -> DenseMatrix<f64> {
    DenseMatrix::new(m, n, values.to_vec()).unwrap()
}

/// Vᵢⱼ − (WH)ᵢⱼ, column after column.
fn residual(v: &[f64], m: usize, k: usize, factors: &Factors) -> Vec<f64> {
    let (w, h) = (&factors.w, &factors.h);
    (0..v.len()).map(|e| v[e] - (0..k).map(|p| w[e % m * k + p] * h[e / m * k + p]).sum::<f64>()).collect()
}

fn check(v: &[f64], m: usize, k: usize, settings: &Nmf, factors: &Factors) {
    assert!(factors.w.iter().chain(&factors.h).all(|&x| x >= 0.0 && x.is_finite()));
    let r = residual(v, m, k, factors);
    let fit: f64 = r.iter().map(|r| r * r).sum();
    let size: f64 = v.iter().map(|v| v * v).sum();
    assert!((factors.residual_norm.powi(2) - fit).abs() <= 1e-12 * size, "{} {fit}", factors.residual_norm.powi(2));
    let all = || factors.w.iter().chain(&factors.h);
    let penalties = settings.l1 * all().sum::<f64>() + 0.5 * settings.l2 * all().map(|x| x * x).sum::<f64>();
    assert!((factors.objective - (0.5 * fit + penalties)).abs() <= 1e-10 * (size + penalties));
    assert_eq!((factors.trace.len(), factors.trace.last().copied()), (factors.iterations, Some(factors.objective)));
    assert!(factors.trace.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12 * size), "{:?}", factors.trace);
}

#[test]
fn the_objective_never_rises_and_is_what_it_says() {
    for seed in 0..6 {
        let (m, n, k) = (23, 31, 4);
        let v = mixture(m, n, k, 0.1, seed);
        for method in [NmfMethod::Hals, NmfMethod::Exact] {
            for start in [NmfStart::Nndsvda, NmfStart::Nndsvd, NmfStart::Random] {
                for (l1, l2) in [(0.0, 0.0), (0.05, 0.0), (0.02, 0.3)] {
                    let settings = Nmf { l1, l2, seed, ..Nmf::new(k).method(method).start(start).max_iterations(30) };
                    let factors = settings.run(&dense(m, n, &v)).unwrap();
                    check(&v, m, k, &settings, &factors);
                }
            }
        }
    }
}

#[test]
fn a_matrix_of_low_rank_is_found_again() {
    let (m, n, k) = (40, 30, 3);
    let v = mixture(m, n, k, 0.0, 5);
    let size = v.iter().map(|v| v * v).sum::<f64>().sqrt();
    for method in [NmfMethod::Hals, NmfMethod::Exact] {
        let factors = Nmf::new(k).method(method).tolerance(1e-7).max_iterations(2000).run(&dense(m, n, &v)).unwrap();
        assert!(factors.residual_norm < 1e-2 * size, "{method:?}: {} of {size}", factors.residual_norm);
    }
}

/// At the end no entry can gain: the gradient is zero where it is positive, and not negative where it is zero.
#[test]
fn the_end_is_a_stationary_point() {
    let (m, n, k) = (20, 25, 3);
    let v = mixture(m, n, k, 0.2, 9);
    let factors = Nmf::new(k).tolerance(1e-9).max_iterations(20_000).run(&dense(m, n, &v)).unwrap();
    assert_eq!(factors.status, Status::Converged);
    let r = residual(&v, m, k, &factors);
    for p in 0..k {
        for i in 0..m {
            let slope: f64 = (0..n).map(|j| -r[j * m + i] * factors.h[j * k + p]).sum();
            let x = factors.w[i * k + p];
            assert!(slope > -1e-5 && (x == 0.0 || slope < 1e-5), "W: {x} {slope}");
        }
        for j in 0..n {
            let slope: f64 = (0..m).map(|i| -r[j * m + i] * factors.w[i * k + p]).sum();
            let x = factors.h[j * k + p];
            assert!(slope > -1e-5 && (x == 0.0 || slope < 1e-5), "H: {x} {slope}");
        }
    }
}

#[test]
fn storage_threads_and_powers_of_two_change_nothing() {
    let (m, n, k) = (70, 130, 5);
    let v: Vec<f64> = mixture(m, n, k, 0.1, 3).iter().map(|v| f64::from(*v as f32)).collect();
    let settings = Nmf::new(k).max_iterations(20);
    let plain = settings.run(&dense(m, n, &v)).unwrap();
    for threads in [1, 3] {
        let other = Nmf { threads: Some(threads), ..settings.clone() }.run(&dense(m, n, &v)).unwrap();
        assert!(plain.w == other.w && plain.h == other.h && plain.trace == other.trace);
    }
    let single = DenseMatrix::new(m, n, v.iter().map(|&v| v as f32).collect()).unwrap();
    assert_eq!(settings.run(&single).unwrap().w, plain.w);
    let triplets: Vec<(usize, usize, f64)> = (0..m * n).filter(|&e| v[e] != 0.0).map(|e| (e % m, e / m, v[e])).collect();
    let sparse: CscMatrix = CscMatrix::from_triplets(m, n, &triplets).unwrap();
    let other = settings.run(&sparse).unwrap();
    assert!((other.objective - plain.objective).abs() <= 1e-9 * plain.objective);
    let scaled: Vec<f64> = v.iter().map(|v| v * 2f64.powi(80)).collect();
    let other = settings.run(&dense(m, n, &scaled)).unwrap();
    assert!((other.objective / 2f64.powi(160) - plain.objective).abs() <= 1e-9 * plain.objective);
    assert_eq!(other.iterations, plain.iterations);
}

#[test]
fn another_v_is_transformed_by_exact_least_squares() {
    let (m, n, k) = (20, 30, 3);
    let v = dense(m, n, &mixture(m, n, k, 0.1, 2));
    let settings = Nmf::new(k).tolerance(1e-8).max_iterations(5000);
    let factors = settings.run(&v).unwrap();
    let h = settings.transform(&v, &factors.w).unwrap();
    let largest = factors.h.iter().copied().fold(0.0, f64::max);
    assert!(h.iter().zip(&factors.h).all(|(a, b)| (a - b).abs() < 1e-3 * largest));
}

#[test]
fn odd_shapes_are_factored() {
    for (m, n, k) in [(1, 1, 1), (1, 5, 2), (6, 1, 3), (4, 3, 7), (3, 3, 1)] {
        let v = mixture(m, n, 2, 0.3, 1);
        for start in [NmfStart::Nndsvda, NmfStart::Nndsvd, NmfStart::Random] {
            let settings = Nmf::new(k).start(start);
            check(&v, m, k, &settings, &settings.run(&dense(m, n, &v)).unwrap());
        }
    }
    let zero = Nmf::new(2).run(&dense(3, 4, &[0.0; 12])).unwrap();
    assert!(zero.residual_norm == 0.0 && zero.objective == 0.0);
    let empty_columns = dense(3, 3, &[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 2.0, 4.0, 6.0]);
    assert!(Nmf::new(1).tolerance(1e-9).run(&empty_columns).unwrap().residual_norm < 1e-6);
}

#[test]
fn bad_input_is_refused() {
    let v = dense(2, 2, &[1.0, 2.0, 3.0, 4.0]);
    let setting = |settings: Nmf, wanted: &str| match settings.run(&v).unwrap_err() {
        Error::Setting { name, .. } => assert_eq!(name, wanted),
        other => panic!("{other}"),
    };
    setting(Nmf::new(0), "rank");
    setting(Nmf::new(1).tolerance(f64::NAN), "tolerance");
    setting(Nmf { l1: -1.0, ..Nmf::new(1) }, "l1");
    setting(Nmf { threads: Some(0), ..Nmf::new(1) }, "threads");
    let message = Nmf::new(1).run(&dense(2, 2, &[1.0, 2.0, -3.0, 4.0])).unwrap_err().to_string();
    assert!(message.contains("negative") && message.contains('1'), "{message}");
    let empty = DenseMatrix::new(0, 3, Vec::<f64>::new()).unwrap();
    assert!(Nmf::new(1).run(&empty).is_err());
}

#[test]
fn limits_return_the_factors_so_far() {
    let (m, n, k) = (30, 30, 3);
    let v = dense(m, n, &mixture(m, n, k, 0.3, 4));
    assert_eq!(Nmf::new(k).max_iterations(1).run(&v).unwrap().status, Status::PassLimit);
    let late = Nmf { time_limit: Some(Duration::ZERO), ..Nmf::new(k) }.run(&v).unwrap();
    assert_eq!((late.status, late.iterations), (Status::TimeLimit, 1));
    let stopped = Nmf { interrupt: Some(Arc::new(AtomicBool::new(true))), ..Nmf::new(k) }.run(&v).unwrap();
    assert_eq!((stopped.status, stopped.iterations), (Status::Interrupted, 1));
}
