"""Problem: one A, prepared for many solves."""

import numpy as np
import pytest
from common import text_like, uniform
from numpy.testing import assert_allclose, assert_array_equal

import nonneg


@pytest.fixture(params=["dense", "sparse"])
def data(request):
    return uniform() if request.param == "dense" else text_like(60, 30)


def test_agrees_with_solve(data):
    A, b = data
    solution = nonneg.Problem(A).solve(b, tol=1e-10)
    expected = nonneg.solve(A, b, tol=1e-10)
    assert solution.status == "solved"
    assert_allclose(solution.x, expected.x, atol=1e-4)
    assert_allclose(solution.objective, expected.objective, rtol=1e-9)


def test_other_right_hand_sides(data):
    A, b = data
    problem = nonneg.Problem(A)
    for k in range(5):
        other = np.roll(b, k)
        solution = problem.solve(other, tol=1e-10)
        assert solution.status == "solved"
        assert_allclose(solution.residual_norm, nonneg.nnls(A, other)[1], rtol=1e-8)


def test_a_solve_does_not_depend_on_those_before(data):
    A, b = data
    used = nonneg.Problem(A)
    for k in range(5):
        used.solve(np.roll(b, k), columns=range(k, 20), upper=0.3)
    assert_array_equal(used.solve(b).x, nonneg.Problem(A).solve(b).x)


@pytest.mark.parametrize("method", nonneg.METHODS)
def test_every_method(data, method):
    A, b = data
    solution = nonneg.Problem(A).solve(b, method=method)
    assert solution.status == "solved" and solution.method == method


@pytest.mark.parametrize("method", nonneg.METHODS)
def test_columns_by_number_and_by_flag(data, method):
    A, b = data
    chosen = np.array([3, 5, 8, 21, 29])
    problem = nonneg.Problem(A)
    by_number = problem.solve(b, columns=chosen, tol=1e-10, method=method)
    by_flag = problem.solve(b, columns=np.isin(np.arange(30), chosen), tol=1e-10, method=method)
    by_list = problem.solve(b, columns=chosen.tolist(), tol=1e-10, method=method)
    assert by_number.status == "solved"
    assert by_number.x.shape == (30,)
    assert_array_equal(np.delete(by_number.x, chosen), 0.0)
    expected = nonneg.nnls(A[:, chosen], b)
    assert_allclose(by_number.x[chosen], expected[0], atol=1e-4)
    assert_allclose(by_number.residual_norm, expected[1], rtol=1e-8)
    assert_array_equal(by_flag.x, by_number.x)
    assert_array_equal(by_list.x, by_number.x)


@pytest.mark.parametrize("columns", [[], np.zeros(30, dtype=bool)], ids=["empty", "flags"])
def test_no_columns_at_all(data, columns):
    A, b = data
    solution = nonneg.Problem(A).solve(b, columns=columns)
    assert solution.status == "solved"
    assert_array_equal(solution.x, np.zeros(30))
    assert_allclose(solution.residual_norm, np.linalg.norm(b), rtol=1e-12)


def test_all_columns_is_no_subset(data):
    A, b = data
    problem = nonneg.Problem(A)
    everything = problem.solve(b, columns=np.ones(30, dtype=bool), tol=1e-10)
    assert_allclose(everything.objective, problem.solve(b, tol=1e-10).objective, rtol=1e-9)


def test_order_and_repeats_of_columns_do_not_matter(data):
    A, b = data
    problem = nonneg.Problem(A)
    plain = problem.solve(b, columns=[2, 7, 9], tol=1e-10)
    for same in ([9, 7, 2], [2, 2, 7, 9, 9]):
        solution = problem.solve(b, columns=same, tol=1e-10)
        assert solution.status == "solved"
        assert_allclose(solution.x, plain.x, atol=1e-6)


@pytest.mark.parametrize("wrong", [[30], [-1], [0, 99], np.ones(29, dtype=bool), [[1, 2]]], ids=str)
def test_columns_that_do_not_exist_are_refused(data, wrong):
    A, b = data
    with pytest.raises(ValueError, match="columns"):
        nonneg.Problem(A).solve(b, columns=wrong)


@pytest.mark.parametrize("wrong", [[0.5], ["a"], "all"], ids=str)
def test_columns_of_another_type_are_refused(data, wrong):
    A, b = data
    with pytest.raises(TypeError, match="columns"):
        nonneg.Problem(A).solve(b, columns=wrong)


def test_warm_start(data):
    A, b = data
    problem = nonneg.Problem(A)
    cold = problem.solve(b, method="si-nnls", tol=1e-8)
    warm = problem.solve(b, method="si-nnls", tol=1e-8, x0=cold.x)
    assert warm.status == "solved" and warm.passes < cold.passes


def test_warm_start_on_a_subset_uses_only_its_columns(data):
    A, b = data
    problem = nonneg.Problem(A)
    solution = problem.solve(b, columns=[1, 2, 3], x0=np.ones(30))
    assert solution.status == "solved"
    assert_array_equal(np.delete(solution.x, [1, 2, 3]), 0.0)


def test_weights_and_ridge(data):
    A, b = data
    weights = np.linspace(0.2, 2.0, 60)
    solution = nonneg.Problem(A, weights=weights, l2=0.3).solve(b, tol=1e-10)
    expected = nonneg.solve(A, b, weights=weights, l2=0.3, tol=1e-10)
    assert solution.status == "solved"
    assert_allclose(solution.x, expected.x, atol=1e-4)
    assert_allclose(solution.objective, expected.objective, rtol=1e-9)


def test_weights_are_copied(data):
    A, b = data
    weights = np.linspace(0.2, 2.0, 60)
    problem = nonneg.Problem(A, weights=weights)
    before = problem.solve(b)
    weights[:] = 0.0
    assert_array_equal(problem.solve(b).x, before.x)


def test_other_options(data):
    A, b = data
    problem = nonneg.Problem(A)
    assert (problem.solve(b, upper=0.2).x <= 0.2).all()
    assert problem.solve(b, l1=1e9).support == 0
    with_c = problem.solve(c=A.T @ b, tol=1e-10)
    assert_allclose(with_c.objective + 0.5 * b @ b, problem.solve(b, tol=1e-10).objective, rtol=1e-7)
    assert problem.solve(b, max_passes=0).status == "pass_limit"
    assert problem.solve(b, method="si-nnls", batch_size=4).method == "si-nnls-bs4"
    assert problem.solve(b, callback=lambda row: True).status == "interrupted"


def test_verify(data):
    A, b = data
    problem = nonneg.Problem(A)
    solution = problem.solve(b)
    certificate = problem.verify(b, solution.x)
    assert isinstance(certificate, nonneg.Certificate)
    assert_allclose(certificate.relative_gap, solution.relative_gap, rtol=1e-3, atol=1e-12)
    assert_allclose(certificate.relative_gap, nonneg.verify(A, b, solution.x).relative_gap, rtol=1e-3, atol=1e-12)


def test_verify_on_a_subset(data):
    A, b = data
    problem = nonneg.Problem(A)
    x = problem.solve(b, columns=[1, 2, 3], tol=1e-9).x
    assert problem.verify(b, x, columns=[1, 2, 3]).relative_gap <= 1.001e-9
    assert problem.verify(b, x).relative_gap > 1e-4


def test_verify_needs_x(data):
    A, b = data
    with pytest.raises(TypeError, match=r"\bx\b"):
        nonneg.Problem(A).verify(b)


def test_shape_and_repr(data):
    A, _ = data
    problem = nonneg.Problem(A)
    assert problem.shape == (60, 30)
    assert "60 × 30" in repr(problem)


def test_keeps_its_matrix_alive():
    A, b = uniform()
    expected = nonneg.solve(A, b).residual_norm
    problem = nonneg.Problem(np.asfortranarray(A))
    junk = [np.random.default_rng(k).random((60, 30)) for k in range(50)]
    assert_allclose(problem.solve(b).residual_norm, expected, rtol=1e-5)
    assert len(junk) == 50


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"weights": np.ones(3)}, "weights"),
        ({"weights": -np.ones(60)}, "weights"),
        ({"l2": -1.0}, "l2"),
        ({"l2": np.nan}, "l2"),
    ],
    ids=str,
)
def test_bad_preparations_are_refused(data, options, name):
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        nonneg.Problem(data[0], **options)


def test_bad_solves_are_refused(data):
    A, b = data
    problem = nonneg.Problem(A)
    with pytest.raises(ValueError, match=r"\bb\b"):
        problem.solve(b[:-1])
    with pytest.raises(TypeError, match=r"\bb\b.*\bc\b"):
        problem.solve()
    with pytest.raises(TypeError, match=r"\bb\b.*\bc\b"):
        problem.solve(b, c=A.T @ b)
    with pytest.raises(ValueError, match=r"\bx0\b"):
        problem.solve(b, x0=np.ones(4))
    with pytest.raises(ValueError, match=r"\bupper\b"):
        problem.solve(b, upper=-1.0)
