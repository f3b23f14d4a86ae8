"""Matrices that are easy to get wrong, and what it means that two are the same. Nothing here calls nonneg."""

import numpy as np
import scipy.sparse as sp

# Short of a digit or an exponent, none of these survives. The smallest is not normal.
HARD = [0.1, 1 / 3, -2.5, 1e-7, 123456789.125, np.pi * 1e200, 2.0**53 - 1, -5e-324, 1e23, 4.35]


def dense(dtype="f8"):
    """7 by 5: an empty row; one empty column in the middle, and the last one. Integers where the type is no float."""
    A = np.zeros((7, 5), dtype)
    places = [(0, 0), (6, 0), (3, 0), (1, 1), (2, 1), (0, 3), (1, 3), (4, 3), (6, 3), (2, 0)]
    kind = np.dtype(dtype).kind
    for number, place in enumerate(places):
        if kind == "f":
            A[place] = HARD[number] if A.itemsize == 8 else np.float32(number + 1) / np.float32(7)
        else:
            A[place] = -number - 1 if kind == "i" and number % 2 else number + 1
    return A


def sparse(dtype="f8", layout="csc"):
    return sp.coo_matrix(dense(dtype)).asformat(layout)


def rhs():
    return np.array([1.0, -0.1, 0.0, 1 / 3, 1e-12, 7.25, -3e5])


def problem():
    """A ≥ 0 of full rank, so that there is one solution only, with zeros in it; and b."""
    rng = np.random.default_rng(3)
    A = rng.random((40, 12)) * (rng.random((40, 12)) < 0.5)
    return A, A @ np.maximum(rng.standard_normal(12), 0.0) + 0.1 * rng.standard_normal(40)


def as_read(dtype):
    """Single precision stays, all else becomes double."""
    return "f4" if dtype in ("f4", ">f4") else "f8"


def assert_same(got, expected):
    """Every bit of every entry, the shape, the type, and dense or sparse."""
    assert sp.issparse(got) == sp.issparse(expected), f"{type(got)} instead of {type(expected)}"
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    if sp.issparse(got):
        got, expected = sp.csc_array(got), sp.csc_array(expected)
        got.sum_duplicates()
        expected.sum_duplicates()
        np.testing.assert_array_equal(got.indptr, expected.indptr)
        np.testing.assert_array_equal(got.indices, expected.indices)
        got, expected = got.data, expected.data
    np.testing.assert_array_equal(got, expected)


def assert_same_numbers(got, expected):
    """As assert_same, whether dense or sparse and of whatever type."""
    got, expected = (np.asarray(A.toarray() if sp.issparse(A) else A, "f8") for A in (got, expected))
    assert got.shape == expected.shape
    np.testing.assert_array_equal(got, expected)
