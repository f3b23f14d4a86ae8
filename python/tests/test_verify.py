"""verify: the certificate of any x from any solver."""

import numpy as np
import pytest
import scipy.optimize
from common import endless, objective, text_like, uniform
from numpy.testing import assert_allclose, assert_array_equal

import nonneg


def test_certifies_scipys_answer():
    A, b = uniform()
    x, rnorm = scipy.optimize.nnls(A, b)
    certificate = nonneg.verify(A, b, x)
    assert isinstance(certificate, nonneg.Certificate)
    assert certificate.certified is True and certificate.relative_gap < 1e-10
    assert_allclose(certificate.residual_norm, rnorm, rtol=1e-12)
    assert certificate.support == np.count_nonzero(x)


def test_says_the_same_as_solve():
    A, b = text_like()
    options = {"upper": 0.7, "l1": 0.01, "l2": 0.02, "weights": np.linspace(0.5, 1.5, 80)}
    solution = nonneg.solve(A, b, **options)
    certificate = nonneg.verify(A, b, solution.x, **options)
    for name in ("objective", "residual_norm", "lower_bound", "natural_residual"):
        assert_allclose(getattr(certificate, name), getattr(solution, name), rtol=1e-9, atol=1e-12, err_msg=name)
    assert_allclose(certificate.relative_gap, solution.relative_gap, rtol=1e-3, atol=1e-12)
    assert certificate.support == solution.support


@pytest.mark.parametrize("seed", range(5))
def test_never_claims_too_much(seed):
    """The proved gap of a random point is at least its true gap."""
    A, b = uniform(seed=seed)
    best = 0.5 * nonneg.nnls(A, b)[1] ** 2
    x = np.random.default_rng(seed).exponential(size=30)
    certificate = nonneg.verify(A, b, x)
    true_gap = (objective(A, b, x) - best) / abs(best - 0.5 * b @ b)
    assert certificate.relative_gap >= true_gap * (1 - 1e-12)
    assert certificate.lower_bound <= best


def test_with_c():
    A, b = uniform()
    certificate = nonneg.verify(A, c=A.T @ b, x=nonneg.nnls(A, b)[0])
    assert certificate.relative_gap < 1e-10 and certificate.residual_norm is None


def test_an_endless_problem_has_no_bound():
    A, b = endless()
    certificate = nonneg.verify(A, b, nonneg.nnls(A, b)[0])
    assert certificate.certified is False and certificate.relative_gap is None and certificate.lower_bound is None
    assert certificate.relative_residual < 1e-10
    assert "nothing proved" in repr(certificate)


def test_repr_says_what_is_proved():
    A, b = uniform()
    certificate = nonneg.verify(A, b, nonneg.nnls(A, b)[0])
    assert "of the best possible, proved" in repr(certificate)
    assert "of the best possible, proved" in certificate._repr_html_()


def test_has_no_truth_value():
    A, b = uniform()
    with pytest.raises(TypeError, match="relative_gap"):
        bool(nonneg.verify(A, b, np.zeros(30)))


def test_x_is_needed():
    A, b = uniform()
    with pytest.raises(TypeError, match=r"\bx\b"):
        nonneg.verify(A, b)


@pytest.mark.parametrize("shape", [0, 29, 31, (30, 2), (30, 1, 1), ()], ids=str)
def test_x_of_another_shape_is_refused(shape):
    A, b = uniform()
    with pytest.raises(ValueError, match=r"\bx\b"):
        nonneg.verify(A, b, np.zeros(shape))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_x_that_is_not_finite_is_refused(bad):
    A, b = uniform()
    with pytest.raises(ValueError, match=r"\bx\b"):
        nonneg.verify(A, b, np.full(30, bad))


def test_x_outside_of_the_bounds_is_refused():
    A, b = uniform()
    x = np.zeros(30)
    x[17] = -1e-9
    with pytest.raises(ValueError, match=r"\bx\b.*17"):
        nonneg.verify(A, b, x)
    x[17] = 0.5
    with pytest.raises(ValueError, match=r"\bx\b.*17"):
        nonneg.verify(A, b, x, upper=0.4)


def test_x_may_be_a_list_a_column_or_integers():
    A, b = uniform(4, 2)
    expected = nonneg.verify(A, b, np.array([1.0, 2.0])).relative_gap
    for x in ([1, 2], (1.0, 2.0), np.array([1, 2]), np.array([[1.0], [2.0]])):
        assert nonneg.verify(A, b, x).relative_gap == expected


def test_x_is_not_written_to():
    A, b = uniform()
    x = np.random.default_rng(0).random(30)
    kept = x.copy()
    nonneg.verify(A, b, x)
    assert_array_equal(x, kept)
