//! Every refusal of the library, with its message: it names what is wrong, where, and what was expected.

mod common;

use nonneg::{
    CscMatrix, CscView, CsrMatrix, CsrView, DenseMatrix, DenseView, Error, LeastSquares, Method, Result, Solver, verify,
};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

fn message<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    }
}

/// 2×3, nothing special.
fn matrix() -> DenseMatrix {
    DenseMatrix::new(2, 3, vec![1.0, 2.0, 0.0, 1.0, 3.0, 1.0]).unwrap()
}

/// The same refusal from `solve` and from `verify`.
#[track_caller]
fn refused(problem: &LeastSquares, expected: &str) {
    assert_eq!(message(problem.validate()), expected);
    assert_eq!(message(Solver::new().solve_problem(problem)), expected);
    assert_eq!(message(verify(problem, &vec![0.0; problem.matrix.cols()])), expected);
}

#[test]
fn a_right_hand_side_of_the_wrong_length() {
    let a = matrix();
    refused(&LeastSquares::new(&a, &[1.0]), "b has 1 entries, expected 2 (one per row of A)");
    refused(&LeastSquares::new(&a, &[1.0, 2.0, 3.0]), "b has 3 entries, expected 2 (one per row of A)");
    assert_eq!(message(Solver::new().solve(&a, &[])), "b has 0 entries, expected 2 (one per row of A)");
}

#[test]
fn a_linear_term_of_the_wrong_length() {
    let a = matrix();
    refused(&LeastSquares::with_linear(&a, &[1.0, 2.0]), "c has 2 entries, expected 3 (one per column of A)");
}

#[test]
fn weights_bounds_and_starts_of_the_wrong_length() {
    let (a, b) = (matrix(), [1.0, 2.0]);
    let problem = || LeastSquares::new(&a, &b);
    refused(&problem().weights(&[1.0; 3]), "weights has 3 entries, expected 2 (one per row of A)");
    refused(&problem().upper([1.0; 2].as_slice()), "upper has 2 entries, expected 3 (one per column of A)");
    refused(&problem().start(&[0.0; 4]), "x0 has 4 entries, expected 3 (one per column of A)");
}

#[test]
fn numbers_that_are_not_finite() {
    let (a, b) = (matrix(), [1.0, 2.0]);
    let problem = || LeastSquares::new(&a, &b);
    refused(&LeastSquares::new(&a, &[1.0, NAN]), "b[1] is NaN, expected a finite number");
    refused(&LeastSquares::new(&a, &[-INF, 1.0]), "b[0] is -inf, expected a finite number");
    refused(&LeastSquares::with_linear(&a, &[0.0, 1.0, INF]), "c[2] is inf, expected a finite number");
    refused(&problem().weights(&[1.0, NAN]), "weights[1] is NaN, expected a finite number ≥ 0");
    refused(&problem().weights(&[INF, 1.0]), "weights[0] is inf, expected a finite number ≥ 0");
    refused(&problem().start(&[0.0, NAN, 0.0]), "x0[1] is NaN, expected a finite number");
    refused(&problem().start(&[0.0, 0.0, INF]), "x0[2] is inf, expected a finite number");
    refused(&problem().upper(NAN), "upper[0] is NaN, expected a number ≥ 0");
    refused(&problem().upper([1.0, NAN, 1.0].as_slice()), "upper[1] is NaN, expected a number ≥ 0");
    refused(&problem().l1(NAN), "l1 is NaN, expected a finite number ≥ 0");
    refused(&problem().l1(INF), "l1 is inf, expected a finite number ≥ 0");
    refused(&problem().l2(NAN), "l2 is NaN, expected a finite number ≥ 0");
    refused(&problem().l2(INF), "l2 is inf, expected a finite number ≥ 0");
}

#[test]
fn negative_weights_bounds_and_penalties() {
    let (a, b) = (matrix(), [1.0, 2.0]);
    let problem = || LeastSquares::new(&a, &b);
    refused(&problem().weights(&[1.0, -0.5]), "weights[1] is -0.5, expected a finite number ≥ 0");
    refused(&problem().upper(-1.0), "upper[0] is -1, expected a number ≥ 0");
    refused(&problem().upper([1.0, 0.0, -2.5].as_slice()), "upper[2] is -2.5, expected a number ≥ 0");
    refused(&problem().l1(-1.0), "l1 is -1, expected a finite number ≥ 0");
    refused(&problem().l2(-0.25), "l2 is -0.25, expected a finite number ≥ 0");
}

#[test]
fn weights_too_far_apart() {
    let (a, b) = (matrix(), [1.0, 2.0]);
    let text = message(LeastSquares::new(&a, &b).weights(&[1e150, 1e-150]).validate());
    assert!(text.starts_with("weights[1] is "), "{text}");
    assert!(text.ends_with("expected zero, or at least 1e-240 times the largest weight"), "{text}");
}

#[test]
fn limits_of_what_is_accepted() {
    let (a, b) = (matrix(), [1.0, 2.0]);
    let problem = || LeastSquares::new(&a, &b);
    for accepted in [
        problem(),
        problem().upper(INF),
        problem().upper(0.0),
        problem().upper([0.0, INF, 1.0].as_slice()),
        problem().weights(&[0.0, 0.0]),
        problem().start(&[-1.0, 1e300, 0.0]),
        problem().l1(0.0).l2(0.0),
    ] {
        let solution = Solver::new().solve_problem(&accepted).unwrap_or_else(|error| panic!("{error}: {accepted:?}"));
        assert!(solution.status.is_success(), "{:?}: {accepted:?}", solution.status);
    }
}

#[test]
fn empty_matrices() {
    for (rows, cols) in [(0, 0), (0, 3), (2, 0)] {
        let expected = format!("the matrix is empty ({rows}×{cols})");
        let dense = DenseMatrix::<f64>::new(rows, cols, vec![]).unwrap();
        refused(&LeastSquares::new(&dense, &vec![0.0; rows]), &expected);
        let csc = CscMatrix::<f64>::from_triplets(rows, cols, &[]).unwrap();
        refused(&LeastSquares::new(&csc, &vec![0.0; rows]), &expected);
        let csr = CsrMatrix::<f64>::new(rows, cols, vec![0; rows + 1], vec![], vec![]).unwrap();
        refused(&LeastSquares::new(&csr, &vec![0.0; rows]), &expected);
    }
}

#[test]
fn dense_matrices_that_are_not_full_or_not_finite() {
    assert_eq!(message(DenseMatrix::new(2, 2, vec![1.0; 3])), "3 values do not fill a 2×2 dense matrix");
    assert_eq!(message(DenseMatrix::from_row_major(2, 2, &[1.0; 5])), "5 values do not fill a 2×2 dense matrix");
    assert_eq!(message(DenseView::new(usize::MAX, 2, &[1.0])), format!("1 values do not fill a {}×2 dense matrix", usize::MAX));
    assert_eq!(message(DenseMatrix::new(2, 2, vec![1.0, 1.0, 1.0, NAN])), "column 1, row 1: NaN is not a finite number");
    assert_eq!(message(DenseView::new(2, 2, &[1.0, -INF, 1.0, 1.0])), "column 0, row 1: -inf is not a finite number");
    assert_eq!(message(DenseMatrix::new(1, 1, vec![f32::INFINITY])), "column 0, row 0: inf is not a finite number");
    let text = message(DenseMatrix::from_row_major(2, 3, &[1.0, 1.0, 1.0, NAN, 1.0, 1.0]));
    assert_eq!(text, "column 0, row 1: NaN is not a finite number", "row-major: entry 3 is in row 1");
}

/// The owned and the borrowed CSC refuse alike.
#[track_caller]
fn csc_refused(rows: usize, cols: usize, ptr: &[usize], idx: &[u32], values: &[f64], expected: &str) {
    assert_eq!(message(CscMatrix::new(rows, cols, ptr.to_vec(), idx.to_vec(), values.to_vec())), expected);
    assert_eq!(message(CscView::new(rows, cols, ptr, idx, values)), expected);
}

#[track_caller]
fn csr_refused(rows: usize, cols: usize, ptr: &[usize], idx: &[u32], values: &[f64], expected: &str) {
    assert_eq!(message(CsrMatrix::new(rows, cols, ptr.to_vec(), idx.to_vec(), values.to_vec())), expected);
    assert_eq!(message(CsrView::new(rows, cols, ptr, idx, values)), expected);
}

#[test]
fn sparse_pointers_that_do_not_fit() {
    csc_refused(2, 2, &[0, 1], &[0], &[1.0], "2 column pointers, expected 3 (one more than columns)");
    csc_refused(2, 2, &[], &[0], &[1.0], "0 column pointers, expected 3 (one more than columns)");
    csc_refused(2, 2, &[1, 1, 1], &[0], &[1.0], "column pointers run from 1 to 1, expected 0 to 1 (the number of values)");
    csc_refused(
        2,
        2,
        &[0, 1, 1],
        &[0, 1],
        &[1.0, 1.0],
        "column pointers run from 0 to 1, expected 0 to 2 (the number of values)",
    );
    csc_refused(2, 3, &[0, 2, 1, 2], &[0, 1], &[1.0, 1.0], "column pointers decrease at column 1: 2 > 1");
    csc_refused(2, 3, &[0, 9, 1, 2], &[0, 1], &[1.0, 1.0], "column pointers decrease at column 1: 9 > 1");
    csr_refused(2, 2, &[0, 1], &[0], &[1.0], "2 row pointers, expected 3 (one more than rows)");
    csr_refused(3, 2, &[0, 2, 1, 2], &[0, 1], &[1.0, 1.0], "row pointers decrease at row 1: 2 > 1");
}

#[test]
fn sparse_indices_and_values_that_do_not_match() {
    csc_refused(2, 1, &[0, 2], &[0], &[1.0, 1.0], "1 row indices but 2 values");
    csc_refused(2, 1, &[0, 1], &[0, 1], &[1.0], "2 row indices but 1 values");
    csr_refused(1, 2, &[0, 1], &[0, 1], &[1.0], "2 column indices but 1 values");
}

#[test]
fn sparse_indices_out_of_range() {
    csc_refused(2, 2, &[0, 1, 2], &[0, 2], &[1.0, 1.0], "column 1: row index 2 is out of range, there are 2 rows");
    csc_refused(2, 3, &[0, 0, 0, 1], &[7], &[1.0], "column 2: row index 7 is out of range, there are 2 rows");
    csr_refused(
        2,
        2,
        &[0, 1, 2],
        &[0, u32::MAX],
        &[1.0, 1.0],
        "row 1: column index 4294967295 is out of range, there are 2 columns",
    );
}

#[test]
fn sparse_values_that_are_not_finite() {
    csc_refused(2, 2, &[0, 1, 2], &[0, 1], &[1.0, NAN], "column 1, row 1: NaN is not a finite number");
    csr_refused(2, 2, &[0, 1, 2], &[0, 1], &[-INF, 1.0], "row 0, column 0: -inf is not a finite number");
}

#[test]
fn a_view_with_duplicate_or_unsorted_entries() {
    let text = "column 1: row indices are not strictly increasing";
    assert_eq!(message(CscView::<f64, u32>::new(3, 2, &[0, 1, 3], &[0, 1, 1], &[1.0; 3])), text);
    assert_eq!(message(CscView::<f64, u64>::new(3, 2, &[0, 1, 3], &[0, 2, 1], &[1.0; 3])), text);
    let text = "row 0: column indices are not strictly increasing";
    assert_eq!(message(CsrView::<f32, u32>::new(2, 3, &[0, 2, 3], &[1, 0, 1], &[1.0; 3])), text);
}

#[test]
fn an_owned_matrix_sorts_and_sums_them_instead() {
    let given = CscMatrix::<f64>::new(3, 2, vec![0, 1, 4], vec![0, 2, 1, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let tidy = CscMatrix::<f64>::new(3, 2, vec![0, 1, 3], vec![0, 1, 2], vec![1.0, 3.0, 6.0]).unwrap();
    assert_eq!(given, tidy);
}

#[test]
fn duplicates_whose_sum_overflows() {
    let text = message(CscMatrix::new(2, 1, vec![0, 2], vec![1u32, 1], vec![f64::MAX, f64::MAX]));
    assert_eq!(text, "column 0: the sum of duplicate entries in row 1 overflows");
    let text = message(CscMatrix::<f32, u32>::from_triplets(2, 1, &[(0, 0, f32::MAX), (0, 0, f32::MAX)]));
    assert_eq!(text, "column 0: the sum of duplicate entries in row 0 overflows");
}

#[test]
fn triplets_outside_the_matrix() {
    assert_eq!(message(CscMatrix::<f64>::from_triplets(2, 3, &[(2, 0, 1.0)])), "entry (2, 0) lies outside the 2×3 matrix");
    assert_eq!(message(CscMatrix::<f64>::from_triplets(2, 3, &[(0, 3, 1.0)])), "entry (0, 3) lies outside the 2×3 matrix");
}

#[test]
fn more_rows_than_the_index_type_counts() {
    let rows = u32::MAX as usize + 1;
    let text = message(CscMatrix::<f64, u32>::new(rows, 1, vec![0, 0], vec![], vec![]));
    assert_eq!(text, "4294967296 rows do not fit the 4-byte index type");
}

#[test]
fn settings_outside_their_range() {
    let (a, b) = (matrix(), [1.0, 2.0]);
    let settings = [
        (Solver::new().tolerance(NAN), "tolerance is NaN, expected a finite number ≥ 0"),
        (Solver::new().tolerance(-1e-9), "tolerance is -0.000000001, expected a finite number ≥ 0"),
        (Solver::new().tolerance(INF), "tolerance is inf, expected a finite number ≥ 0"),
        (Solver::new().batch_size(0), "batch_size is 0, expected at least 1"),
        (Solver::new().threads(0), "threads is 0, expected at least 1"),
        (Solver::new().max_passes(NAN), "max_passes is NaN, expected a number ≥ 0"),
        (Solver::new().max_passes(-1.0), "max_passes is -1, expected a number ≥ 0"),
    ];
    for (solver, expected) in settings {
        assert_eq!(message(solver.validate()), expected);
        assert_eq!(message(solver.solve(&a, &b)), expected);
    }
}

#[test]
fn a_method_that_does_not_exist() {
    let text = message("simplex".parse::<Method>());
    assert!(text.starts_with("method is simplex, expected "), "{text}");
    for method in Method::ALL {
        assert!(text.contains(method.name()), "{text} does not list {}", method.name());
        assert_eq!(method.name().parse::<Method>(), Ok(method));
    }
}

#[test]
fn an_x_that_verify_cannot_take() {
    let (a, b) = (matrix(), [1.0, 2.0]);
    let problem = LeastSquares::new(&a, &b);
    let check = |x: &[f64]| message(verify(&problem, x));
    assert_eq!(check(&[0.0; 2]), "x has 2 entries, expected 3 (one per column of A)");
    assert_eq!(check(&[0.0, NAN, 0.0]), "x[1] is NaN, expected a finite number ≥ 0");
    assert_eq!(check(&[INF, 0.0, 0.0]), "x[0] is inf, expected a finite number ≥ 0");
    assert_eq!(check(&[0.0, 0.0, -1e-18]), "x[2] is -0.000000000000000001, expected a finite number ≥ 0");
    let bounded = problem.clone().upper([1.0, 2.0, INF].as_slice());
    assert_eq!(message(verify(&bounded, &[1.0, 2.5, 9.0])), "x[1] is 2.5, expected at most its upper bound");
    assert!(verify(&bounded, &[1.0, 2.0, 9.0]).is_ok());
    assert!(verify(&bounded, &[-0.0, 0.0, 0.0]).is_ok(), "minus zero is zero");
}

/// Column 1 is empty and the objective rewards it without limit.
#[track_caller]
fn unbounded_in_column_1(problem: &LeastSquares) {
    match Solver::new().solve_problem(problem) {
        Err(error @ Error::Unbounded(_)) => {
            let text = error.to_string();
            assert!(text.starts_with("the objective is unbounded below: "), "{text}");
            assert!(text.contains("column 1"), "{text} does not name the column");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_unbounded_objective_names_the_column() {
    let a = DenseMatrix::new(2, 3, vec![1.0, 2.0, 0.0, 0.0, 3.0, 1.0]).unwrap();
    let sparse = CscMatrix::<f64>::from_triplets(2, 3, &[(0, 0, 1.0), (1, 0, 2.0), (0, 2, 3.0), (1, 2, 1.0)]).unwrap();
    let signed = DenseMatrix::new(2, 3, vec![1.0, -2.0, 0.0, 0.0, 3.0, 1.0]).unwrap();
    let c = [1.0, 1e-200, 1.0];
    unbounded_in_column_1(&LeastSquares::with_linear(&a, &c));
    unbounded_in_column_1(&LeastSquares::with_linear(&sparse, &c));
    unbounded_in_column_1(&LeastSquares::with_linear(&signed, &c));
    unbounded_in_column_1(&LeastSquares::with_linear(&a, &c).upper([1.0, INF, 1.0].as_slice()));
    unbounded_in_column_1(&LeastSquares::with_linear(&a, &[1.0, 3.0, 1.0]).l1(2.0));
    // A row of weight zero empties the column too.
    let full = DenseMatrix::new(2, 3, vec![1.0, 2.0, 0.0, 5.0, 3.0, 1.0]).unwrap();
    unbounded_in_column_1(&LeastSquares::with_linear(&full, &c).weights(&[1.0, 0.0]));
}

#[test]
fn what_bounds_an_empty_column_is_accepted() {
    let a = DenseMatrix::new(2, 3, vec![1.0, 2.0, 0.0, 0.0, 3.0, 1.0]).unwrap();
    let c = [1.0, 0.5, 1.0];
    let problem = || LeastSquares::with_linear(&a, &c);
    let zero = LeastSquares::with_linear(&a, &[1.0, 0.0, 1.0]);
    for accepted in [problem().upper(4.0), problem().l2(0.1), problem().l1(0.5), zero] {
        let solution = Solver::new().solve_problem(&accepted).unwrap_or_else(|error| panic!("{error}: {accepted:?}"));
        assert!(solution.status.is_success(), "{:?}: {accepted:?}", solution.status);
    }
}

/// Opposite columns with a reward for moving both: no empty column, and no minimum either. If it is not recognised,
/// nothing may be claimed.
#[test]
fn an_unbounded_signed_objective_is_never_called_solved() {
    let a = DenseMatrix::new(1, 2, vec![1.0, -1.0]).unwrap();
    let problem = LeastSquares::with_linear(&a, &[1.0, -0.5]);
    match Solver::new().max_passes(1e4).solve_problem(&problem) {
        Err(error) => assert!(matches!(error, Error::Unbounded(_)), "{error}"),
        Ok(solution) => {
            assert!(!solution.status.is_success(), "{:?} with x = {:?}", solution.status, solution.x);
            assert_eq!(solution.certificate.lower_bound, None);
            assert_eq!(solution.certificate.relative_gap, None);
        }
    }
}
