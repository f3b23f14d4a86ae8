"""nnls has SciPy's signature and meaning."""

import inspect

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from common import gaussian, optimality, spectra, uniform
from numpy.testing import assert_allclose, assert_array_equal

import nonneg

SHAPES = [(60, 20), (200, 50), (30, 30), (100, 100), (20, 60), (40, 41), (1, 5), (5, 1), (1, 1)]


def check_like_scipy(A, b):
    """Same x and same residual norm as SciPy, where the solution is the only one."""
    x, rnorm = nonneg.nnls(A, b)
    expected, expected_rnorm = scipy.optimize.nnls(A, b, maxiter=100 * A.shape[1])
    scale = np.abs(expected).max(initial=1e-300)
    assert_allclose(x, expected, rtol=1e-8, atol=1e-8 * scale)
    assert_allclose(rnorm, expected_rnorm, rtol=1e-10, atol=1e-12 * np.linalg.norm(b))
    assert optimality(A, b, x) < 1e-12


def test_signature_is_scipys():
    ours, scipys = inspect.signature(nonneg.nnls), inspect.signature(scipy.optimize.nnls)
    assert list(ours.parameters) == list(scipys.parameters)
    assert [p.kind for p in ours.parameters.values()] == [p.kind for p in scipys.parameters.values()]


def test_returns_an_array_and_a_float():
    x, rnorm = nonneg.nnls(np.eye(3), np.array([1.0, -1.0, 2.0]))
    assert x.dtype == np.float64 and x.shape == (3,) and x.flags.writeable
    assert type(rnorm) is float and rnorm == 1.0
    assert_array_equal(x, [1.0, 0.0, 2.0])


def test_zeros_are_positive_zeros():
    x, _ = nonneg.nnls(np.eye(3), -np.ones(3))
    assert_array_equal(np.signbit(x), False)


@pytest.mark.parametrize("shape", [s for s in SHAPES if s[0] >= s[1]], ids=str)
@pytest.mark.parametrize("make", [uniform, gaussian])
@pytest.mark.parametrize("seed", range(3))
def test_same_as_scipy_on_tall_and_square_problems(make, shape, seed):
    check_like_scipy(*make(*shape, seed=seed))


@pytest.mark.parametrize("seed", range(3))
def test_same_as_scipy_on_square_and_tall_problems_that_the_model_does_not_fit(seed):
    rng = np.random.default_rng(seed)
    for m, n in [(80, 40), (40, 40)]:
        check_like_scipy(rng.standard_normal((m, n)), rng.standard_normal(m))


@pytest.mark.parametrize("make", [uniform, gaussian, spectra])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_residual_norm_is_scipys_and_the_optimality_conditions_hold(make, shape, seed):
    A, b = make(*shape, seed=seed)
    x, rnorm = nonneg.nnls(A, b)
    _, expected = scipy.optimize.nnls(A, b, maxiter=1000 * A.shape[1])
    size = np.linalg.norm(b)
    assert_allclose(rnorm, expected, rtol=1e-9, atol=1e-11 * size)
    assert_allclose(rnorm, np.linalg.norm(A @ x - b), rtol=1e-10, atol=1e-13 * size)
    assert optimality(A, b, x) < 1e-11


@pytest.mark.parametrize("shape", [(50, 20), (20, 20), (20, 50)], ids=str)
@pytest.mark.parametrize("rank", [1, 3, 10])
@pytest.mark.parametrize("signed", [False, True])
def test_rank_deficient(shape, rank, signed):
    rng = np.random.default_rng(rank)
    draw = rng.standard_normal if signed else rng.random
    A = draw((shape[0], rank)) @ draw((rank, shape[1]))
    b = rng.standard_normal(shape[0]) + 1.0
    x, rnorm = nonneg.nnls(A, b)
    assert optimality(A, b, x) < 1e-11
    reference = scipy.optimize.lsq_linear(A, b, (0, np.inf), method="bvls", tol=1e-14)
    assert_allclose(rnorm, np.sqrt(2 * reference.cost), rtol=1e-7, atol=1e-10)


def test_equal_columns():
    A, b = uniform(30, 10)
    A = np.hstack([A, A, A])
    x, rnorm = nonneg.nnls(A, b)
    assert_allclose(rnorm, scipy.optimize.nnls(A[:, :10], b)[1], rtol=1e-12)
    assert optimality(A, b, x) < 1e-12


def test_zero_columns_and_zero_rows_change_nothing():
    A, b = uniform(30, 10)
    plain, rnorm = nonneg.nnls(A, b)
    padded = np.zeros((33, 13))
    padded[:30, 1:11] = A
    x, padded_rnorm = nonneg.nnls(padded, np.append(b, np.zeros(3)))
    assert_allclose(x, np.concatenate([[0.0], plain, [0.0, 0.0]]), rtol=1e-12)
    assert_allclose(padded_rnorm, rnorm, rtol=1e-13)


def test_zero_matrix():
    x, rnorm = nonneg.nnls(np.zeros((3, 2)), np.array([3.0, 4.0, 0.0]))
    assert_array_equal(x, [0.0, 0.0])
    assert rnorm == 5.0


def test_zero_right_hand_side():
    x, rnorm = nonneg.nnls(uniform(6, 3)[0], np.zeros(6))
    assert_array_equal(x, np.zeros(3))
    assert rnorm == 0.0


def test_lists():
    x, rnorm = nonneg.nnls([[1, 0], [1, 0], [0, 1]], [2, 1, 1])
    assert_allclose(x, [1.5, 1.0], rtol=1e-15)
    assert_allclose(rnorm, np.sqrt(0.5), rtol=1e-15)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "bool", "float16", "float32", "longdouble"])
def test_other_number_types(dtype):
    A = np.random.default_rng(0).integers(0, 2, (12, 5)).astype(dtype)
    b = np.arange(12).astype(np.int32)
    expected = scipy.optimize.nnls(A.astype(float), b.astype(float))
    x, rnorm = nonneg.nnls(A, b)
    assert_allclose(x, expected[0], rtol=1e-12, atol=1e-13)
    assert_allclose(rnorm, expected[1], rtol=1e-12)


def test_float32_is_exact_for_its_own_numbers():
    A, b = uniform(40, 15)
    A, b = A.astype(np.float32), b.astype(np.float32)
    x, _ = nonneg.nnls(A, b)
    assert x.dtype == np.float64
    assert_allclose(x, scipy.optimize.nnls(A.astype(float), b.astype(float))[0], rtol=1e-9, atol=1e-10)


def test_layout_does_not_matter():
    A, b = uniform(40, 15)
    wide = np.zeros((40, 30))
    wide[:, ::2] = A
    twice = np.repeat(b, 2)
    for same in (np.ascontiguousarray(A), np.asfortranarray(A), wide[:, ::2], A[::-1][::-1], A[:, ::-1][:, ::-1]):
        assert_array_equal(nonneg.nnls(same, b)[0], nonneg.nnls(A, b)[0])
    assert_array_equal(nonneg.nnls(A, twice[::2])[0], nonneg.nnls(A, b)[0])


@pytest.mark.parametrize("form", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_sparse(form, kind):
    rng = np.random.default_rng(3)
    dense = rng.random((30, 12)) * (rng.random((30, 12)) < 0.4)
    b = rng.random(30)
    A = getattr(sp, f"{form}_{kind}")(dense)
    x, rnorm = nonneg.nnls(A, b)
    expected = scipy.optimize.nnls(dense, b)
    assert_allclose(x, expected[0], rtol=1e-10, atol=1e-12)
    assert_allclose(rnorm, expected[1], rtol=1e-12)


def test_large_sparse_and_signed():
    rng = np.random.default_rng(5)
    A = sp.random(2000, 300, density=0.02, random_state=rng, data_rvs=rng.standard_normal, format="csc")
    b = rng.standard_normal(2000)
    x, rnorm = nonneg.nnls(A, b)
    assert_allclose(x, scipy.optimize.nnls(A.toarray(), b)[0], rtol=1e-8, atol=1e-10)
    assert_allclose(rnorm, np.linalg.norm(A @ x - b), rtol=1e-12)


def test_b_may_be_one_column():
    A, b = uniform(20, 8)
    assert_array_equal(nonneg.nnls(A, b[:, None])[0], nonneg.nnls(A, b)[0])


@pytest.mark.parametrize("shape", [(20, 2), (1, 20), (20, 1, 1), (20, 0), ()], ids=str)
def test_b_of_another_shape_is_refused(shape):
    with pytest.raises(ValueError, match=r"\bb\b"):
        nonneg.nnls(uniform(20, 8)[0], np.ones(shape))


def test_b_of_two_columns_is_refused_with_scipys_words():
    with pytest.raises(ValueError, match="Expected a 1D array"):
        nonneg.nnls(uniform(20, 8)[0], np.ones((20, 2)))


@pytest.mark.parametrize("length", [0, 19, 21])
def test_b_of_another_length_is_refused(length):
    with pytest.raises(ValueError, match=rf"\bb\b.*{length}.*20"):
        nonneg.nnls(uniform(20, 8)[0], np.ones(length))


@pytest.mark.parametrize("shape", [(20,), (4, 5, 1), ()], ids=str)
def test_a_must_have_two_dimensions(shape):
    with pytest.raises(ValueError, match=r"\bA\b"):
        nonneg.nnls(np.ones(shape), np.ones(20))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_that_are_not_finite_are_refused(bad, order):
    A, b = uniform(20, 8)
    wrong = np.array(A, order=order)
    wrong[13, 4] = bad
    with pytest.raises(ValueError, match=r"(?=.*\bA\b)(?=.*row 13)(?=.*column 4)"):
        nonneg.nnls(wrong, b)
    wrong = b.copy()
    wrong[7] = bad
    with pytest.raises(ValueError, match=r"\bb\b.*\b7\b"):
        nonneg.nnls(A, wrong)


def test_maxiter_reached_raises():
    A, b = uniform(60, 30)
    with pytest.raises(RuntimeError, match="Maximum number of iterations reached"):
        nonneg.nnls(A, b, maxiter=1)


def test_maxiter_large_enough_changes_nothing():
    A, b = uniform(60, 30)
    assert_array_equal(nonneg.nnls(A, b, maxiter=1000)[0], nonneg.nnls(A, b)[0])


@pytest.mark.parametrize("none", [None, 0])
def test_maxiter_of_nothing_or_zero_is_the_default(none):
    A, b = uniform(60, 30)
    assert_array_equal(nonneg.nnls(A, b, maxiter=none)[0], nonneg.nnls(A, b)[0])


def test_maxiter_may_be_a_numpy_integer():
    nonneg.nnls(np.eye(2), np.ones(2), maxiter=np.int64(10))


def test_maxiter_must_be_a_whole_positive_number():
    with pytest.raises(ValueError, match="maxiter"):
        nonneg.nnls(np.eye(2), np.ones(2), maxiter=-1)
    with pytest.raises(TypeError, match="maxiter"):
        nonneg.nnls(np.eye(2), np.ones(2), maxiter="many")
    with pytest.raises(TypeError, match="maxiter"):
        nonneg.nnls(np.eye(2), np.ones(2), maxiter=2.5)


def test_maxiter_must_be_a_keyword():
    with pytest.raises(TypeError):
        nonneg.nnls(np.eye(2), np.ones(2), 10)


def test_atol_warns_and_is_ignored():
    A, b = uniform(20, 8)
    with pytest.warns(DeprecationWarning, match="{'atol'}") as seen:
        x, _ = nonneg.nnls(A, b, atol=1e10)
    assert seen[0].filename == __file__
    assert_array_equal(x, nonneg.nnls(A, b)[0])


@pytest.mark.parametrize("make", [uniform, gaussian])
def test_columns_of_any_size(make):
    """Scaling a column scales its entry of x the other way, over 400 orders of magnitude."""
    A, b = make(40, 20)
    plain, rnorm = nonneg.nnls(A, b)
    scale = 10.0 ** np.linspace(-200, 200, 20)
    x, scaled_rnorm = nonneg.nnls(A * scale, b)
    assert_array_equal(x > 0.0, plain > 0.0)
    assert_allclose(x * scale, plain, rtol=1e-9)
    assert_allclose(scaled_rnorm, rnorm, rtol=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1e-150, 1e150, 1e200])
def test_a_and_b_of_any_size(size):
    A, b = uniform(40, 20)
    plain, rnorm = nonneg.nnls(A, b)
    x, small_b = nonneg.nnls(A, b * size)
    assert_allclose(x / size, plain, rtol=1e-9)
    assert_allclose(small_b / size, rnorm, rtol=1e-12)
    x, same = nonneg.nnls(A * size, b)
    assert_allclose(x * size, plain, rtol=1e-9)
    assert_allclose(same, rnorm, rtol=1e-12)


def test_inputs_stay_as_they_are():
    for order in "CF":
        A, b = uniform(20, 8)
        A = np.array(A, order=order)
        kept = A.copy(), b.copy()
        nonneg.nnls(A, b)
        assert_array_equal(A, kept[0])
        assert_array_equal(b, kept[1])


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 3)], ids=str)
def test_nothing_to_fit(shape):
    """No columns: x is empty and the residual is b. No rows: x is zero."""
    x, rnorm = nonneg.nnls(np.zeros(shape), np.full(shape[0], 2.0))
    assert_array_equal(x, np.zeros(shape[1]))
    assert_allclose(rnorm, 2.0 * np.sqrt(shape[0]))


def test_hilbert_matrix():
    """Condition number above 1e15: the optimality conditions still hold to rounding."""
    n = 15
    A = 1.0 / (np.arange(n)[:, None] + np.arange(n) + 1.0)
    b = np.random.default_rng(0).random(n)
    x, rnorm = nonneg.nnls(A, b)
    assert optimality(A, b, x) < 1e-13
    assert_allclose(rnorm, np.linalg.norm(A @ x - b), rtol=1e-12)


def test_answers_are_the_same_every_time():
    A, b = spectra(80, 60)
    first = nonneg.nnls(A, b)
    for _ in range(3):
        again = nonneg.nnls(A, b)
        assert_array_equal(again[0], first[0])
        assert again[1] == first[1]


def test_a_solution_beyond_float64_raises_and_says_so():
    with pytest.raises(RuntimeError, match="does not fit float64"):
        nonneg.nnls(np.array([[1e-200], [1e-200]]), [1e200, 1e200])
