"""solve_many: one A, many right-hand sides."""

import copy
import pickle
import threading

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from common import objective, uniform
from numpy.testing import assert_allclose, assert_array_equal

import nonneg


def mixtures(m, n, k, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.random((m, n))
    return A, A @ (rng.random((n, k)) * (rng.random((n, k)) < 0.3)) + 0.2 * rng.standard_normal((m, k))


@pytest.mark.parametrize(("m", "n", "k"), [(20, 8, 300), (50, 30, 40), (30, 80, 20), (5, 3, 1)])
def test_every_column_is_scipys(m, n, k):
    A, B = mixtures(m, n, k)
    many = nonneg.solve_many(A, B, tol=1e-10)
    assert many.x.shape == (n, k) and many.status == "solved" and many.certified and many.converged
    assert (many.relative_gap <= 1e-10).all() and (many.lower_bound <= many.objective).all()
    for j in range(k):
        x, norm = scipy.optimize.nnls(A, B[:, j])
        size = B[:, j] @ B[:, j]
        assert_allclose(many.residual_norm[j] ** 2, norm**2, rtol=0, atol=1e-10 * size)
        assert_allclose(many.objective[j], objective(A, B[:, j], many.x[:, j]), rtol=1e-12, atol=1e-14 * size)
        assert many.support[j] == np.count_nonzero(many.x[:, j])
        if n <= m:
            assert_allclose(many.x[:, j], x, atol=1e-4)


@pytest.mark.parametrize("kind", ["C", "F", "float32", "csc", "csr", "coo", "list", "int", "strided"])
def test_any_array_is_taken(kind):
    A, B = mixtures(12, 6, 9)
    A, B = np.round(A * 64) / 64, np.round(B * 64) / 64
    expected = nonneg.solve_many(A, B).x
    make = {
        "C": np.ascontiguousarray,
        "F": np.asfortranarray,
        "float32": np.float32,
        "csc": sp.csc_array,
        "csr": sp.csr_matrix,
        "coo": sp.coo_array,
        "list": lambda v: v.tolist(),
        "int": lambda v: v,
        "strided": lambda v: np.repeat(np.repeat(v, 2, axis=0), 3, axis=1)[::2, ::3],
    }[kind]
    if kind == "int":
        A, B = np.round(A * 64).astype(int), np.round(B * 64).astype(np.int16)
    assert_allclose(nonneg.solve_many(make(A), make(B)).x, expected, atol=1e-12)


def test_the_number_of_threads_changes_no_bit():
    A, B = mixtures(20, 10, 2000)
    answers = [nonneg.solve_many(A, B, threads=threads) for threads in (1, 2, 7)]
    for other in answers[1:]:
        assert_array_equal(answers[0].x, other.x)
        assert_array_equal(answers[0].relative_gap, other.relative_gap)


def test_options_are_those_of_solve():
    A, B = mixtures(15, 6, 10)
    weights, upper = np.linspace(0.0, 2.0, 15), np.linspace(0.1, 2.0, 6)
    options = {"weights": weights, "upper": upper, "l1": 0.05, "l2": 0.1, "tol": 1e-9}
    many = nonneg.solve_many(A, B, **options)
    for k in range(10):
        one = nonneg.solve(A, B[:, k], **options)
        assert_allclose(many.objective[k], one.objective, rtol=1e-7)
        assert_allclose(many.x[:, k], one.x, atol=1e-4)
    assert (many.x <= upper[:, None]).all() and (many.x >= 0).all()


def test_abundances_sum_to_one():
    rng = np.random.default_rng(1)
    A = rng.random((30, 5))
    true = rng.dirichlet(np.ones(5), 200).T
    many = nonneg.solve_many(A, A @ true, sum_to_one=True, tol=1e-10)
    assert many.status == "solved"
    assert_allclose(many.x.sum(axis=0), 1.0, atol=1e-13)
    assert_allclose(many.x, true, atol=1e-4)
    # b may be anything: x stays on the simplex.
    many = nonneg.solve_many(A, 10 * rng.standard_normal((30, 50)), sum_to_one=True, upper=0.6)
    assert many.status == "solved" and many.x.max() <= 0.6
    assert_allclose(many.x.sum(axis=0), 1.0, atol=1e-13)


def test_no_columns():
    A, _ = uniform(5, 3)
    many = nonneg.solve_many(A, np.empty((5, 0)))
    assert many.x.shape == (3, 0) and many.status == "solved" and many.statuses == []
    assert "none" in repr(many)


def test_limits_return_what_is_done():
    A, B = mixtures(20, 10, 5000)
    late = nonneg.solve_many(A, B, time_limit=0)
    assert late.status == "time_limit" and set(late.statuses) == {"time_limit"}
    assert np.isnan(late.relative_gap).all() and not late.converged
    assert "not all proved" in repr(late)


def test_bad_input_is_refused_by_name():
    A, B = mixtures(6, 3, 4)
    for B_bad, message in [
        (B[:-1], r"columns of B.*5.*6"),
        (B[:, 0], "B has the shape"),
        (np.where(B > 0, np.nan, B), "^B: "),
        (B + 1j, "B"),
        (B.astype(str), "B"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            nonneg.solve_many(A, B_bad)
    with pytest.raises(ValueError, match=r"^A: "):
        nonneg.solve_many(A * np.inf, B)
    with pytest.raises(ValueError, match="sum_to_one"):
        nonneg.solve_many(A, B, sum_to_one=True, upper=0.2)
    with pytest.raises(ValueError, match="upper"):
        nonneg.solve_many(A, B, upper=-1.0)
    with pytest.raises(ValueError, match="tol"):
        nonneg.solve_many(A, B, tol=-1)
    with pytest.raises(TypeError):
        nonneg.solve_many(A)


def test_inputs_are_not_written_to():
    A, B = mixtures(8, 4, 5)
    A, B = np.asfortranarray(A), np.asfortranarray(B)
    before = A.copy(), B.copy()
    A.flags.writeable = B.flags.writeable = False
    nonneg.solve_many(A, B, weights=np.ones(8))
    assert_array_equal(A, before[0])
    assert_array_equal(B, before[1])


def test_repr_pickle_and_copy():
    A, B = mixtures(8, 4, 5)
    many = nonneg.solve_many(A, B)
    text = repr(many)
    assert "5 solved" in text and "proved" in text
    for other in (pickle.loads(pickle.dumps(many)), copy.deepcopy(many)):
        assert_array_equal(other.x, many.x)
        assert other.status == many.status


def test_threads_at_once():
    A, B = mixtures(20, 12, 400)
    expected, wrong = nonneg.solve_many(A, B).x, []

    def work():
        for _ in range(10):
            if not np.array_equal(nonneg.solve_many(A, B).x, expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_a_single_x_may_sum_to_one():
    A, B = mixtures(20, 6, 8)
    many = nonneg.solve_many(A, B, sum_to_one=True, tol=1e-9)
    for k in range(8):
        one = nonneg.solve(A, B[:, k], sum_to_one=True, tol=1e-9)
        assert one.status == "solved" and one.certified
        assert_allclose(one.x.sum(), 1.0, atol=1e-13)
        assert_allclose(one.x, many.x[:, k], atol=1e-6)
        assert nonneg.verify(A, B[:, k], one.x, sum_to_one=True).relative_gap <= 1e-9
    with pytest.raises(ValueError, match="sum_to_one"):
        nonneg.verify(A, B[:, 0], np.ones(6), sum_to_one=True)
    with pytest.raises(ValueError, match="sum_to_one"):
        nonneg.solve(A, c=np.ones(6), sum_to_one=True)
