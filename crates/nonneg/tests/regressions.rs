//! Every bug once had, by what it was.

use nonneg::{CscMatrix, DenseMatrix, LeastSquares, Method, Solver, Status, Upper, verify};

fn dense(rows: usize, cols: usize, values: &[f64]) -> DenseMatrix {
    DenseMatrix::new(rows, cols, values.to_vec()).unwrap()
}

const INF: f64 = f64::INFINITY;

#[test]
fn an_answer_does_not_exceed_an_upper_bound_too_small_for_the_columns_units() {
    for (values, b, upper) in [([1e-160, 0.0, 0.0, 1.0], [1e160, 1e160], 1e-5), ([1.0, 0.0, 0.0, 1.0], [1.0, 1.0], 5e-324)] {
        let (a, bounds) = (dense(2, 2, &values), [upper, INF]);
        let problem = LeastSquares::new(&a, &b).upper(&bounds[..]);
        let solution = Solver::new().solve_problem(&problem).unwrap();
        assert!(solution.x[0] <= upper, "{:?}", solution.x);
        verify(&problem, &solution.x).unwrap();
    }
}

#[test]
fn a_step_that_is_small_beside_a_huge_x_still_counts_in_the_residual() {
    let a = dense(1, 2, &[1.0, -1.0]);
    let start = [1e16, 1e16];
    let solution = Solver::new().solve_problem(&LeastSquares::new(&a, &[0.5]).start(&start)).unwrap();
    let fit = solution.x[0] - solution.x[1];
    assert!(solution.status != Status::Converged || (fit - 0.5).abs() < 1e-5, "{:?} {:?}", solution.x, solution.status);
}

#[test]
fn an_empty_column_worth_having_does_not_make_everything_converged() {
    let a = dense(1, 3, &[1.0, -1.0, 0.0]);
    let upper = [INF, INF, 1.0];
    let problem = LeastSquares::with_linear(&a, &[1.0, -1.0, 1.0]).upper(&upper[..]);
    let solution = Solver::new().solve_problem(&problem).unwrap();
    assert!(solution.status.is_success());
    assert!((solution.certificate.objective.unwrap() + 1.5).abs() < 1e-5, "{:?}", solution.x);
}

#[test]
fn verify_agrees_that_a_signed_problem_is_solved() {
    let a = dense(6, 1, &[1.0, 1.0, -1.0, -1.0, 2.0, 2.0]);
    let b = [2.0, -1.9999999999997726, 9.0, -8.999999999997954, 2.0, -1.9999999995343387];
    let problem = LeastSquares::new(&a, &b);
    let solution = Solver::new().tolerance(10.0).solve_problem(&problem).unwrap();
    if solution.status == Status::Solved {
        assert!(verify(&problem, &solution.x).unwrap().relative_gap.unwrap() <= 10.0);
    }
}

#[test]
fn a_ridge_term_that_underflows_does_not_shrink_the_gap() {
    let n = 4000;
    let a = DenseMatrix::new(1, n, vec![0.0; n]).unwrap();
    let c = vec![1.0; n];
    let problem = LeastSquares::with_linear(&a, &c).l2(1.0);
    let gap = verify(&problem, &vec![1.6e-162; n]).unwrap().relative_gap;
    assert!(gap.is_none_or(|gap| gap >= 1.0 - 1e-9), "{gap:?}"); // f(x) ≈ 0, so the true value is 1
}

#[test]
fn a_square_of_tau_that_underflows_does_not_raise_the_lower_bound() {
    let a = dense(1, 1, &[1.0]);
    let c = [1.0 + 2f64.powi(-50)];
    let problem = LeastSquares::with_linear(&a, &c).l1(1.0);
    let optimum = -0.5 * 2f64.powi(-100);
    let bound = verify(&problem, &[2f64.powi(490)]).unwrap().lower_bound;
    assert!(bound.is_none_or(|bound| bound <= optimum), "{bound:?} > {optimum}");
}

#[test]
fn a_tiny_upper_bound_does_not_inflate_the_best_objective_known() {
    let a = dense(2, 2, &[1.0, 0.0, 0.0, 1.0]);
    let upper = [5e-324, INF];
    let problem = LeastSquares::new(&a, &[1.0, -1.0]).upper(&upper[..]);
    let x = [0.0, 2f64.powi(-990)];
    // f* = −5e-324 (x₀ at its bound), f(x) ≈ 2^-990: the true relative error is above 1e25.
    let gap = verify(&problem, &x).unwrap().relative_gap;
    assert!(gap.is_none_or(|gap| gap >= 1e25), "{gap:?}");
}

#[test]
fn converged_is_judged_by_the_x_that_is_returned() {
    let a = dense(1, 2, &[-1e200, 1e200]);
    let solution = Solver::new().solve_problem(&LeastSquares::with_linear(&a, &[0.5, -0.5])).unwrap();
    assert!(solution.status != Status::Converged || solution.certificate.relative_residual.unwrap() <= 1e-6, "{solution:?}");
}

#[test]
fn half_the_square_of_b_is_rounded_down_when_it_underflows() {
    let a = dense(3, 1, &[1.0, 0.0, 0.0]);
    let b = [0.0, 1.4 * 2f64.powi(-537), 1.0];
    let weights = [2f64.powi(500), 2f64.powi(500), 0.0];
    let certificate = verify(&LeastSquares::new(&a, &b).weights(&weights), &[0.0]).unwrap();
    let optimum = 0.5 * 1.4 * 1.4 * 2f64.powi(-574);
    assert!(certificate.lower_bound.is_none_or(|bound| bound <= optimum));
}

#[test]
fn a_problem_without_a_row_that_counts_still_reports_its_residual() {
    let a = dense(2, 1, &[0.0, 0.0]);
    let certificate = verify(&LeastSquares::new(&a, &[1e-200, -1.0]).weights(&[0.25, 0.0]), &[0.0]).unwrap();
    let norm = certificate.residual_norm.unwrap();
    assert!((norm / 0.5e-200 - 1.0).abs() < 1e-12, "{norm}");
}

#[test]
fn a_column_of_wide_range_does_not_hide_that_zero_is_optimal() {
    let a = dense(2, 1, &[2e-166, 1.7e157]);
    let solution = Solver::new().solve(&a, &[0.0, 0.0]).unwrap();
    assert_eq!((solution.x[0], solution.status), (0.0, Status::Solved));
}

#[test]
fn an_infinite_start_does_not_become_the_answer() {
    let a = dense(2, 2, &[1.0, 2.0, -1.0, 1.0]);
    let start = [1e308, 1e308];
    let solution = Solver::new().solve_problem(&LeastSquares::new(&a, &[1.0, 5.0]).start(&start)).unwrap();
    assert!(solution.status.is_success(), "{solution:?}");
}

#[test]
fn c_minus_l1_exactly_zero_on_an_empty_column_is_not_positive() {
    let a = dense(1, 2, &[1.0, 0.0]);
    let solution = Solver::new().solve_problem(&LeastSquares::with_linear(&a, &[2.0, 1.0]).l1(1.0)).unwrap();
    assert_eq!(solution.status, Status::Solved);
}

#[test]
fn slow_progress_on_nearly_equal_columns_is_not_a_stall() {
    let a = dense(3, 2, &[1.0, 1.0, 1.0, 1.0, 1.0, 1.001]);
    let solution = Solver::new().tolerance(1e-9).solve(&a, &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(solution.status, Status::Solved);
}

#[test]
fn an_entry_that_overflows_in_a_row_without_weight_is_ignored() {
    let a = dense(2, 2, &[2e200, 4e-200, 4e200, 5e-200]);
    let problem = LeastSquares::new(&a, &[2.7e201, 3.6e-199]).weights(&[0.0, 1.5]).upper(Upper::None);
    let solution = Solver::new().solve_problem(&problem).unwrap();
    assert_eq!(solution.status, Status::Solved);
    assert!((4.0 * solution.x[0] + 5.0 * solution.x[1] - 36.0).abs() < 1e-2, "{:?}", solution.x);
}

/// Five times the same column, with different c: no block can enter, and its rounding errors were taken for a gain.
#[test]
fn tnt_nn_does_not_take_rounding_errors_of_a_refused_block_for_progress() {
    let column = [0.6322633116029199, 0.16577774770126527, 0.6639827134138656, 0.6570177622818244, 0.1851058017277257];
    let weights = [0.1054419064005371, 0.44311551829303053, 1.778419807723023, 0.3074015377522737, 0.9898550118351958];
    let c = [10.28250976002767, 11.28250976002767, 10.28250976002767, 10.78250976002767, 10.78250976002767];
    let rows = (0..25).map(|k| k % 5).collect();
    let a = CscMatrix::<f64, u32>::new(5, 5, (0..=5).map(|j| 5 * j).collect(), rows, column.repeat(5)).unwrap();
    let start = [2.3865322154411768, 2.3323603733030787, 0.0, 4.287726060690956, 0.0];
    let problem = LeastSquares::with_linear(&a, &c).weights(&weights).l1(8.643777991065154).start(&start);
    let solution = Solver::new().method(Method::TntNn).tolerance(1e-9).solve_problem(&problem).unwrap();
    assert_eq!(solution.status, Status::Solved);
    assert!(solution.x[1] > 2.6 && solution.certificate.support == 1, "{:?}", solution.x);
}

/// Weights of 1e-100 and 1, b where the weight is small: x goes up a valley that no method sees the end of, and f falls with every
/// step.
#[test]
fn a_run_along_an_endless_valley_ends() {
    let entries = [0.38, 0.17, -0.47, 0.47, 0.53, 0.15, -0.57, -0.4, -0.75, 0.32, 0.26, 0.75];
    let (a, b, weights) = (dense(2, 6, &entries), [0.45, 0.0], [1.1e-100, 0.8]);
    let problem = LeastSquares::new(&a, &b).weights(&weights);
    let solution = Solver::new().time_limit(std::time::Duration::from_secs(300)).solve_problem(&problem).unwrap();
    assert_eq!(solution.status, Status::Stalled);
}

/// Columns whose exponents are beyond what products without sizes allow take another kernel, which added up in another order.
#[test]
fn a_gap_keeps_its_bits_where_scaled_columns_take_another_kernel() {
    for rows in [8, 15, 16, 130, 143, 300] {
        let entry = |k: usize| 0.1 + ((k * k + 3 * k) % 97) as f64 / 97.0;
        let values: Vec<f64> = (0..3 * rows).map(entry).collect();
        let b: Vec<f64> = (0..rows).map(|i| entry(7 * i + 5)).collect();
        let exponents = [240, -240, 30];
        let scaled: Vec<f64> = values.iter().enumerate().map(|(k, v)| v * 2f64.powi(exponents[k / rows])).collect();
        let sparse = |values: &[f64]| {
            let indices = (0..3 * rows).map(|k| (k % rows) as u32).collect();
            CscMatrix::new(rows, 3, (0..=3).map(|j| j * rows).collect(), indices, values.to_vec()).unwrap()
        };
        for x in [[0.0; 3], [0.3, 0.1, 0.2]] {
            let y: Vec<f64> = x.iter().zip(exponents).map(|(x, k)| x * 2f64.powi(-k)).collect();
            let gap = |problem: LeastSquares, x: &[f64]| verify(&problem, x).unwrap().relative_gap.unwrap().to_bits();
            let plain = gap(LeastSquares::new(&dense(rows, 3, &values), &b), &x);
            assert_eq!(plain, gap(LeastSquares::new(&dense(rows, 3, &scaled), &b), &y), "{rows} rows, dense");
            assert_eq!(plain, gap(LeastSquares::new(&sparse(&values), &b), &x), "{rows} rows, sparse");
            assert_eq!(plain, gap(LeastSquares::new(&sparse(&scaled), &b), &y), "{rows} rows, sparse and scaled");
        }
    }
}
