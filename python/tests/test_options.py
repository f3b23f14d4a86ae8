"""solve: its options, and those that make no sense."""

import numpy as np
import pytest
import scipy.optimize
from common import objective, spectra, text_like, uniform
from numpy.testing import assert_allclose, assert_array_equal

import nonneg

METHODS = nonneg.METHODS
UNBOUNDED = ["lawson-hanson", "fnnls", "tnt-nn"]  # methods that take no upper bounds
BOUNDED = [method for method in METHODS if method not in UNBOUNDED]


# -- options --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", BOUNDED)
def test_upper_bound_for_all_columns(method):
    A, b = uniform()
    solution = nonneg.solve(A, b, upper=0.4, method=method, tol=1e-9)
    expected = scipy.optimize.lsq_linear(A, b, (0.0, 0.4), method="bvls", tol=1e-14)
    assert solution.status == "solved"
    assert (solution.x <= 0.4).all()
    assert_allclose(solution.objective, expected.cost, rtol=1e-6)


@pytest.mark.parametrize("upper", [1e-2, 1e-6, 1e-20, 1e-200])
@pytest.mark.parametrize("method", ["auto", "si-nnls", "cd", "fista"])
def test_bounds_so_small_that_every_column_reaches_them(method, upper):
    A, b = uniform()
    solution = nonneg.solve(A, b, upper=upper, method=method, time_limit=20)
    assert solution.status == "solved"
    assert_allclose(solution.x, np.full(30, upper), rtol=1e-3)


@pytest.mark.parametrize("method", UNBOUNDED)
def test_methods_without_upper_bounds_say_so(method):
    with pytest.raises(ValueError, match=f"{method}.*upper bounds"):
        nonneg.solve(*uniform(), upper=0.4, method=method)


def test_upper_bound_for_each_column():
    A, b = uniform()
    upper = np.linspace(0.0, 1.0, 30)
    upper[5] = np.inf
    solution = nonneg.solve(A, b, upper=upper, tol=1e-10)
    expected = scipy.optimize.lsq_linear(A, b, (0.0, np.maximum(upper, 1e-300)), method="bvls", tol=1e-14)
    assert solution.status == "solved"
    assert (solution.x <= upper).all() and solution.x[0] == 0.0
    assert_allclose(solution.objective, expected.cost, rtol=1e-8)


def test_upper_bounds_of_infinity_change_nothing():
    A, b = uniform()
    assert_array_equal(nonneg.solve(A, b, upper=np.inf).x, nonneg.solve(A, b).x)


@pytest.mark.parametrize("method", METHODS)
def test_ridge_is_rows_below(method):
    A, b = uniform()
    solution = nonneg.solve(A, b, l2=0.5, tol=1e-10, method=method)
    stacked = np.vstack([A, np.sqrt(0.5) * np.eye(30)])
    x, rnorm = nonneg.nnls(stacked, np.append(b, np.zeros(30)))
    assert solution.status == "solved"
    assert_allclose(solution.x, x, atol=1e-3)
    assert_allclose(solution.objective, 0.5 * rnorm**2, rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_l1_is_a_shift_of_the_linear_term(method):
    A, b = uniform()
    solution = nonneg.solve(A, b, l1=2.0, tol=1e-10, method=method)
    shifted = nonneg.solve(A, c=A.T @ b - 2.0, tol=1e-10)
    assert solution.status == shifted.status == "solved"
    assert_allclose(solution.objective, objective(A, b, solution.x) + 2.0 * solution.x.sum(), rtol=1e-12)
    assert_allclose(solution.objective, shifted.objective + 0.5 * b @ b, rtol=1e-7)


def test_a_large_l1_leaves_nothing():
    A, b = uniform()
    assert_array_equal(nonneg.solve(A, b, l1=1e9).x, np.zeros(30))


@pytest.mark.parametrize("method", METHODS)
def test_weights_scale_rows(method):
    A, b = uniform()
    weights = np.linspace(0.0, 3.0, 60)
    solution = nonneg.solve(A, b, weights=weights, tol=1e-10, method=method)
    root = np.sqrt(weights)
    x, rnorm = nonneg.nnls(A * root[:, None], b * root)
    assert solution.status == "solved"
    assert_allclose(solution.x, x, atol=1e-3)
    assert_allclose(solution.residual_norm, rnorm, rtol=1e-6)
    assert_allclose(solution.objective, 0.5 * rnorm**2, rtol=1e-6)


def test_everything_at_once():
    A, b = text_like()
    weights, upper = np.linspace(0.5, 2.0, 80), np.linspace(0.1, 2.0, 40)
    solution = nonneg.solve(A, b, weights=weights, upper=upper, l1=0.05, l2=0.1, tol=1e-10)
    assert solution.status == "solved"
    x = solution.x
    value = 0.5 * weights @ (A @ x - b) ** 2 + 0.05 * x.sum() + 0.05 * x @ x
    assert_allclose(solution.objective, value, rtol=1e-12)
    root = np.sqrt(weights)
    stacked = np.vstack([A.toarray() * root[:, None], np.sqrt(0.1) * np.eye(40)])
    right = np.append(b * root, np.zeros(40) - 0.05 / np.sqrt(0.1))  # completes the square of the l1 term
    expected = scipy.optimize.lsq_linear(stacked, right, (0.0, upper), method="bvls", tol=1e-14)
    assert_allclose(x, expected.x, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_c_instead_of_b(method):
    A, b = uniform()
    with_b = nonneg.solve(A, b, tol=1e-10)
    with_c = nonneg.solve(A, c=A.T @ b, tol=1e-10, method=method)
    assert with_c.status == "solved"
    assert_allclose(with_c.objective + 0.5 * b @ b, with_b.objective, rtol=1e-6)
    assert with_c.residual_norm is None
    assert repr(with_c) and with_c._repr_html_()


def test_x0_at_the_optimum_is_kept():
    A, b = spectra()
    first = nonneg.solve(A, b, method="si-nnls", tol=1e-8)
    again = nonneg.solve(A, b, method="si-nnls", tol=1e-8, x0=first.x)
    assert again.status == "solved"
    assert again.passes < first.passes


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("x0", [0.0, 100.0, -100.0, 1e-300])
def test_any_x0_leads_to_the_answer(method, x0):
    A, b = text_like()
    upper = 5.0 if method in BOUNDED else None
    solution = nonneg.solve(A, b, method=method, x0=np.full(40, x0), upper=upper)
    assert solution.status == "solved" and (solution.x >= 0.0).all() and (solution.x <= 5.0).all()


@pytest.mark.parametrize("batch_size", [2, 7, 40, 1000])
@pytest.mark.parametrize("metric", [None, "scale-invariant", "spectral"])
def test_batch_size(batch_size, metric):
    A, b = text_like()
    solution = nonneg.solve(A, b, method="si-nnls", batch_size=batch_size, metric=metric)
    assert solution.status == "solved"
    assert solution.method == f"si-nnls-bs{batch_size}"


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_same_bits(method):
    A, b = text_like()
    first, again = (nonneg.solve(A, b, method=method, seed=5) for _ in range(2))
    assert_array_equal(first.x, again.x)
    assert first.passes == again.passes


@pytest.mark.parametrize("method", ["si-nnls", "apcg"])
def test_another_seed_is_another_way_to_the_same_optimum(method):
    A, b = text_like()
    first, other = (nonneg.solve(A, b, method=method, seed=seed) for seed in (1, 2))
    assert (first.x != other.x).any()
    assert first.status == other.status == "solved"


def test_the_largest_seed():
    assert nonneg.solve(*uniform(), seed=2**64 - 1).status == "solved"


@pytest.mark.parametrize("method", ["auto", "si-nnls", "fista", "lawson-hanson"])
@pytest.mark.parametrize("dense", [True, False])
def test_the_number_of_threads_changes_no_bit(method, dense):
    A, b = text_like(3000, 300, density=0.1)
    A = A.toarray(order="F") if dense else A
    one, two, all_cores = (nonneg.solve(A, b, method=method, threads=threads) for threads in (1, 2, None))
    assert one.status == "solved"
    assert_array_equal(one.x, two.x)
    assert_array_equal(one.x, all_cores.x)
    assert one.relative_gap == two.relative_gap == all_cores.relative_gap


def test_a_memory_limit_of_nothing_still_solves():
    assert nonneg.solve(*uniform(), memory_limit=0).status == "solved"


def test_more_threads_than_cores():
    assert nonneg.solve(*uniform(), threads=200).status == "solved"


# -- options that make no sense -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("tol", -1.0),
        ("tol", np.nan),
        ("tol", np.inf),
        ("method", "simplex"),
        ("metric", "metre"),
        ("batch_size", 0),
        ("batch_size", -1),
        ("seed", -1),
        ("seed", 2**64),
        ("threads", 0),
        ("threads", -2),
        ("time_limit", -1.0),
        ("time_limit", np.nan),
        ("max_passes", -1.0),
        ("max_passes", np.nan),
        ("memory_limit", -1),
        ("l1", -1.0),
        ("l1", np.nan),
        ("l1", np.inf),
        ("l2", -1.0),
        ("l2", np.nan),
        ("l2", np.inf),
    ],
)
def test_wrong_values_are_refused_by_name(option, value):
    with pytest.raises((ValueError, OverflowError), match=rf"\b{option}\b"):
        nonneg.solve(*uniform(), **{option: value})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("tol", "small"),
        ("tol", None),
        ("method", None),
        ("method", 3),
        ("metric", 3),
        ("batch_size", "two"),
        ("batch_size", 2.5),
        ("seed", 1.5),
        ("seed", "lucky"),
        ("threads", "all"),
        ("threads", 1.5),
        ("time_limit", "1h"),
        ("max_passes", "few"),
        ("memory_limit", "4GiB"),
        ("l1", "much"),
        ("l2", [1.0, 2.0]),
        ("callback", 3),
    ],
)
def test_wrong_types_are_refused_by_name(option, value):
    """The message says which keyword, not what a field of the compiled part is called."""
    with pytest.raises(TypeError, match=rf"\b{option}\b") as raised:
        nonneg.solve(*uniform(), **{option: value})
    assert "Settings" not in str(raised.value) and "Parts" not in str(raised.value)


def test_an_unknown_method_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="simplex") as raised:
        nonneg.solve(*uniform(), method="simplex")
    assert all(method in str(raised.value) for method in METHODS)


def test_a_misspelt_option_is_a_type_error():
    with pytest.raises(TypeError, match="tolerance"):
        nonneg.solve(*uniform(), tolerance=1e-6)


def test_numpy_numbers_are_numbers():
    options = {"tol": np.float32(1e-4), "seed": np.int32(3), "threads": np.int64(1), "max_passes": np.int16(500)}
    assert nonneg.solve(*uniform(), **options).status == "solved"
