"""Bounds other than x ≥ 0, and free columns, against SciPy's lsq_linear."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

import nonneg


def problem(seed, rows=30, cols=8, signed=False):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rows, cols)) if signed else rng.random((rows, cols))
    return A, rng.standard_normal(rows) * 3


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_bounds_as_in_lsq_linear(seed, signed):
    A, b = problem(seed, signed=signed)
    rng = np.random.default_rng(seed)
    lower = rng.choice([-np.inf, -1.0, 0.0, 0.3], 8)
    upper = np.where(rng.random(8) < 0.5, np.inf, np.maximum(lower, -1.0) + rng.random(8))
    expected = scipy.optimize.lsq_linear(A, b, bounds=(lower, upper), method="bvls", tol=1e-14)
    solution = nonneg.solve(A, b, lower=lower, upper=upper, tol=1e-10)
    assert solution.converged
    assert np.all(solution.x >= lower) and np.all(solution.x <= upper)
    np.testing.assert_allclose(solution.objective, expected.cost, rtol=1e-9)
    np.testing.assert_allclose(solution.x, expected.x, atol=1e-5)


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csc_array, scipy.sparse.csr_matrix])
def test_free_columns_take_any_sign(kind):
    A, b = problem(3)
    solution = nonneg.solve(kind(A), b, free=[0, 5], tol=1e-10)
    lower = np.zeros(8)
    lower[[0, 5]] = -np.inf
    expected = scipy.optimize.lsq_linear(A, b, bounds=(lower, np.inf), method="bvls", tol=1e-14)
    np.testing.assert_allclose(solution.x, expected.x, atol=1e-6)
    flags = np.isin(np.arange(8), [0, 5])
    np.testing.assert_array_equal(solution.x, nonneg.solve(kind(A), b, free=flags, tol=1e-10).x)


def test_a_certificate_with_free_columns_can_be_checked():
    A, b = problem(4)
    solution = nonneg.solve(A, b, free=[0])
    assert solution.certified and solution.relative_gap <= 1e-6
    again = nonneg.verify(A, b, solution.x, free=[0])
    assert again.relative_gap <= 1e-6
    assert nonneg.verify(A, b, solution.x + np.eye(8)[0], free=[0]).relative_gap > 1e-3


def test_a_problem_is_solved_again_with_other_bounds():
    A, b = problem(5)
    prepared = nonneg.Problem(A)
    for bounds in ({}, {"lower": -1.0, "upper": 0.5}, {"free": [1]}, {"lower": np.full(8, -np.inf)}):
        one, other = prepared.solve(b, tol=1e-11, **bounds), nonneg.solve(A, b, tol=1e-11, **bounds)
        np.testing.assert_allclose(one.x, other.x, atol=1e-7)
        assert prepared.verify(b, one.x, **bounds).objective == pytest.approx(one.objective)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lower": 1.0, "upper": 0.5}, "lower"),
        ({"lower": [0.0, 0.0]}, "lower has 2 entries, expected 8"),
        ({"lower": np.nan}, "lower"),
        ({"lower": -1.0, "l1": 0.1}, "penalties"),
        ({"free": [8]}, "free names column 8"),
        ({"free": [True, False]}, "free has 2 flags, expected 8"),
    ],
)
def test_bounds_that_make_no_sense(arguments, message):
    A, b = problem(6)
    with pytest.raises(ValueError, match=message):
        nonneg.solve(A, b, **arguments)
