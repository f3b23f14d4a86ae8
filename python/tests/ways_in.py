"""Every way in for an input: what it must answer, and what it must refuse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import nonneg

ROWS, COLS = 12, 5
FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]


def small():
    """Whole numbers, so that every number type holds them exactly."""
    rng = np.random.default_rng(0)
    A = rng.integers(0, 4, (ROWS, COLS)).astype(float)
    A[0] = 1.0
    return A, A @ np.array([1.0, 0.0, 2.0, 0.0, 3.0]) + rng.integers(0, 3, ROWS)


def check(A, b, expected_A, expected_b):
    """The same answer as for plain arrays, by every way in."""
    expected = nonneg.nnls(np.asfortranarray(expected_A, dtype=float), np.asarray(expected_b, dtype=float))
    solution = nonneg.solve(A, b, tol=1e-10)
    assert solution.status == "solved"
    assert_allclose(solution.x, expected[0], atol=1e-4)
    assert_allclose(solution.residual_norm, expected[1], rtol=1e-8)
    x, rnorm = nonneg.nnls(A, b)
    assert_allclose(x, expected[0], rtol=1e-9, atol=1e-10)
    assert_allclose(rnorm, expected[1], rtol=1e-10)
    assert nonneg.verify(A, b, expected[0]).relative_gap < 1e-10
    assert_allclose(nonneg.Problem(A).solve(b, tol=1e-10).residual_norm, expected[1], rtol=1e-8)


def refused(A, b, error, match):
    """By every way in."""
    with pytest.raises(error, match=match):
        nonneg.solve(A, b)
    with pytest.raises(error, match=match):
        nonneg.nnls(A, b)
    with pytest.raises(error, match=match):
        nonneg.verify(A, b, np.zeros(COLS))
    with pytest.raises(error, match=match):
        nonneg.Problem(A).solve(b)


def with_indices(A, dtype):
    A = A.copy()
    A.indices, A.indptr = A.indices.astype(dtype), A.indptr.astype(dtype)
    return A
