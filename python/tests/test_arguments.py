"""The arguments beside A: lengths, signs, contradictions."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from ways_in import COLS, ROWS

import nonneg


@pytest.mark.parametrize("length", [0, 1, ROWS - 1, ROWS + 1])
@pytest.mark.parametrize("name", ["b", "weights"])
def test_one_number_per_row(small, name, length):
    A, b = small
    arguments = {"b": b, name: np.ones(length)}
    with pytest.raises(ValueError, match=rf"\b{name}\b.*{length}.*{ROWS}"):
        nonneg.solve(A, **arguments)


@pytest.mark.parametrize("length", [0, 1, COLS - 1, COLS + 1])
@pytest.mark.parametrize("name", ["upper", "x0", "c"])
def test_one_number_per_column(small, name, length):
    A, _ = small
    arguments = {"c" if name == "c" else "b": np.ones(ROWS), name: np.ones(length)}
    with pytest.raises(ValueError, match=rf"\b{name}\b.*{length}.*{COLS}"):
        nonneg.solve(A, **arguments)


@pytest.mark.parametrize("name", ["b", "weights", "upper", "x0", "c"])
@pytest.mark.parametrize("shape", [(ROWS, 2), (2, COLS), (1, 2, 3)], ids=str)
def test_vectors_have_one_dimension(small, name, shape):
    A, b = small
    arguments = {"c" if name == "c" else "b": b, name: np.ones(shape)}
    with pytest.raises(ValueError, match=rf"\b{name}\b.*dimension"):
        nonneg.solve(A, **arguments)


@pytest.mark.parametrize("name", ["weights", "upper", "x0", "c"])
@pytest.mark.parametrize("values", ["text", ["a"] * COLS, np.ones(COLS) * 1j, [None] * COLS], ids=str)
def test_vectors_hold_numbers(small, name, values):
    A, b = small
    arguments = {"c" if name == "c" else "b": b, name: values}
    with pytest.raises((TypeError, ValueError), match=rf"\b{name}\b"):
        nonneg.solve(A, **arguments)


@pytest.mark.parametrize("upper", [-1.0, np.nan, -np.inf, [1.0, 1.0, -1.0, 1.0, 1.0], [1.0, 1.0, np.nan, 1.0, 1.0]], ids=str)
def test_wrong_upper_bounds_are_refused(small, upper):
    A, b = small
    with pytest.raises(ValueError, match=r"\bupper\b"):
        nonneg.solve(A, b, upper=upper)


def test_negative_weights_are_refused(small):
    A, b = small
    with pytest.raises(ValueError, match=r"\bweights\b.*0"):
        nonneg.solve(A, b, weights=-np.ones(ROWS))


@pytest.mark.parametrize("upper", [1, np.float32(1.0), np.array(1.0), True], ids=repr)
def test_upper_may_be_any_kind_of_number(small, upper):
    A, b = small
    assert_array_equal(nonneg.solve(A, b, upper=upper).x, nonneg.solve(A, b, upper=1.0).x)


def test_vectors_may_be_lists_columns_or_series(small):
    A, b = small
    plain = nonneg.solve(A, b, weights=np.ones(ROWS), upper=np.ones(COLS), x0=np.ones(COLS))
    ways = [
        list,
        pd.Series,
        pl.Series,
        lambda v: v[:, None],
        lambda v: v.astype("f4"),
        lambda v: v.astype(">f8"),
        lambda v: np.repeat(v, 2)[::2],
    ]
    for make in ways:
        solution = nonneg.solve(A, make(b), weights=make(np.ones(ROWS)), upper=make(np.ones(COLS)), x0=make(np.ones(COLS)))
        assert_array_equal(solution.x, plain.x)


def test_b_or_c_but_one_of_them(small):
    A, b = small
    for call in (nonneg.solve, lambda *given, **named: nonneg.verify(*given, x=np.zeros(COLS), **named)):
        with pytest.raises((TypeError, ValueError), match=r"\bb\b.*\bc\b"):
            call(A)
        with pytest.raises((TypeError, ValueError), match=r"\bb\b.*\bc\b"):
            call(A, b, c=A.T @ b)
