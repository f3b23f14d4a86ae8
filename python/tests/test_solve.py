"""solve: answers, statuses, limits, callbacks."""

import numpy as np
import pytest
import scipy.sparse as sp
from common import endless, gaussian, objective, optimality, spectra, text_like, uniform
from numpy.testing import assert_allclose, assert_array_equal

import nonneg

METHODS = nonneg.METHODS


def dual_bound(A, b, y):
    """A lower bound on min ½‖Ax‖² − bᵀAx over x ≥ 0, for A ≥ 0 and any y: no optimum has xⱼ above uⱼ = cⱼ/‖Aⱼ‖²."""
    A = sp.csc_array(A)
    c, squares = A.T @ b, (A * A).sum(axis=0)
    live = (squares > 0) & (c > 0)
    u = c[live] / squares[live]
    return -0.5 * y @ y - np.sum(u * np.maximum(0.0, c[live] - (A.T @ y)[live]))


# -- the contract ---------------------------------------------------------------------------------------------------------


def test_solution_has_the_attributes_of_the_contract():
    A, b = text_like()
    solution = nonneg.solve(A, b, tol=1e-6)
    assert isinstance(solution, nonneg.Solution) and isinstance(solution, nonneg.Certificate)
    assert solution.x.shape == (40,) and solution.x.dtype == np.float64
    assert (solution.x >= 0.0).all()
    assert solution.status == "solved" and solution.converged is True and solution.certified is True
    assert_allclose(solution.objective, objective(A, b, solution.x), rtol=1e-12)
    assert_allclose(solution.residual_norm, np.linalg.norm(A @ solution.x - b), rtol=1e-12)
    assert solution.lower_bound <= solution.objective
    assert 0.0 <= solution.relative_gap <= 1e-6
    assert solution.natural_residual >= 0.0
    assert solution.dual.shape == (80,)
    assert solution.passes > 0.0
    assert solution.restarts >= 0 and isinstance(solution.restarts, int)
    assert solution.support == np.count_nonzero(solution.x)
    assert solution.seconds > 0.0 and isinstance(solution.seconds, float)
    assert isinstance(solution.trace, nonneg.Trace)
    assert solution.method in METHODS
    assert solution.signed is False
    assert solution.dropped_columns >= 0


def test_seconds_have_parts():
    seconds = nonneg.solve(*uniform()).seconds
    assert seconds.total == float(seconds) == seconds["total"]
    assert min(seconds.presolve, seconds.solve, seconds.certify) >= 0.0
    assert seconds.presolve + seconds.solve + seconds.certify <= seconds.total * 1.001 + 1e-6
    with pytest.raises((KeyError, AttributeError)):
        seconds["lunch"]


def test_every_solve_gives_new_arrays():
    A, b = uniform()
    first = nonneg.solve(A, b)
    kept = first.x.copy()
    first.x[:] = 7.0
    assert_array_equal(nonneg.solve(A, b).x, kept)


# -- answers --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [text_like, uniform, spectra])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_solves(method, make):
    A, b = make()
    solution = nonneg.solve(A, b, method=method)
    assert solution.status == "solved"
    assert solution.relative_gap <= 1e-6
    best = nonneg.nnls(A, b)[1]
    gap = (objective(A, b, solution.x) - 0.5 * best**2) / abs(0.5 * best**2 - 0.5 * b @ b)
    assert gap <= solution.relative_gap + 1e-12
    assert solution.method == method
    assert method in repr(solution)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_converges_where_nothing_bounds_x(method):
    A, b = endless()
    solution = nonneg.solve(A, b, method=method)
    assert solution.status == "converged"
    assert solution.converged is True and solution.certified is False
    assert solution.relative_gap is None and solution.lower_bound is None
    assert solution.relative_residual <= 1e-6
    assert solution.signed is True
    if method != "si-nnls-norestart":  # an average, with tiny entries where the slope is not
        assert optimality(A, b, solution.x) < 1e-4


def test_a_signed_wide_problem_is_solved_where_x_fits_b():
    A, b = gaussian(20, 50)
    solution = nonneg.solve(A, b, tol=1e-9)
    assert solution.status == "solved" and solution.lower_bound == 0.0 and solution.residual_norm < 1e-3
    np.testing.assert_array_equal(solution.dual, b)


def test_an_intercept_beside_many_columns_is_solved_with_a_proof():
    rng = np.random.default_rng(0)
    A = np.hstack([rng.random((200, 600)) * (rng.random((200, 600)) < 0.1), np.ones((200, 1))])
    A[0, :600] = 3.0  # larger in one row than elsewhere: columns do not add up to the intercept
    b = A[:, :5].sum(axis=1) - 2.0 + 0.1 * rng.standard_normal(200)
    solution = nonneg.solve(A, b, free=[600])
    assert solution.status == "solved" and solution.certified
    _, norm = nonneg.nnls(np.hstack([A, -np.ones((200, 1))]), b)
    assert 0.5 * norm**2 * (1 - 1e-12) <= solution.objective <= 0.5 * norm**2 + 1e-6 * 0.5 * b @ b
    assert nonneg.verify(A, b, solution.x, free=[600]).relative_gap <= 1e-6


def test_a_signed_tall_problem_is_solved_with_a_proof():
    A, b = gaussian(60, 30)
    solution = nonneg.solve(A, b)
    assert solution.status == "solved" and solution.signed is True
    best = 0.5 * nonneg.nnls(A, b)[1] ** 2
    assert solution.lower_bound <= best * (1 + 1e-12) <= solution.objective * (1 + 2e-12)


@pytest.mark.parametrize("make", [text_like, uniform, spectra])
@pytest.mark.parametrize("method", METHODS)
def test_the_certificate_holds_by_an_independent_computation(method, make):
    A, b = make()
    solution = nonneg.solve(A, b, method=method)
    Ax = A @ solution.x
    value = 0.5 * Ax @ Ax - b @ Ax
    bound = dual_bound(A, b, solution.dual)
    assert max(0.0, value - bound) / abs(value) <= solution.relative_gap * (1 + 1e-6) + 1e-12
    shift = 0.5 * b @ b  # between ½‖Ax‖² − bᵀAx and ½‖Ax − b‖²
    assert solution.lower_bound <= bound + shift + 1e-12 * shift


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8, 1e-10])
@pytest.mark.parametrize("method", ["auto", "si-nnls", "cd"])
def test_tolerance_is_reached(tol, method):
    A, b = uniform()
    solution = nonneg.solve(A, b, tol=tol, method=method)
    assert solution.status == "solved" and solution.relative_gap <= tol


def test_a_looser_tolerance_takes_less_work():
    A, b = spectra()
    loose, tight = (nonneg.solve(A, b, tol=tol, method="si-nnls") for tol in (1e-2, 1e-8))
    assert loose.passes < tight.passes


def test_a_tolerance_below_rounding_stalls_at_the_best_x():
    A, b = uniform()
    solution = nonneg.solve(A, b, tol=0.0)
    assert solution.status == "stalled" and not solution.converged and not solution.certified
    assert solution.relative_gap < 1e-11
    assert "stalled" in repr(solution)


def test_nothing_to_gain():
    """b has no part along any column: x = 0, proved."""
    solution = nonneg.solve(uniform()[0], -np.ones(60))
    assert solution.status == "solved" and solution.relative_gap == 0.0
    assert_array_equal(solution.x, np.zeros(30))


def test_zero_matrix():
    solution = nonneg.solve(np.zeros((4, 3)), np.ones(4))
    assert solution.status == "solved"
    assert_array_equal(solution.x, np.zeros(3))
    assert solution.objective == 2.0


@pytest.mark.parametrize("method", ["auto", "si-nnls", "cd", "lawson-hanson"])
def test_columns_of_any_size(method):
    A, b = uniform(40, 20)
    scale = 10.0 ** np.linspace(-100, 100, 20)
    plain = nonneg.solve(A, b, method=method, tol=1e-9)
    scaled = nonneg.solve(A * scale, b, method=method, tol=1e-9)
    assert scaled.status == "solved"
    assert_allclose(scaled.objective, plain.objective, rtol=1e-6)


# -- limits ---------------------------------------------------------------------------------------------------------------


def test_pass_limit():
    A, b = spectra(300, 200)
    solution = nonneg.solve(A, b, method="si-nnls", tol=1e-12, max_passes=20)
    assert solution.status == "pass_limit" and not solution.converged and not solution.certified
    assert solution.relative_gap > 1e-12
    assert solution.passes < 100
    assert "pass limit" in repr(solution)


@pytest.mark.parametrize("method", METHODS)
def test_no_passes_at_all_still_gives_a_point_and_its_certificate(method):
    A, b = uniform()
    solution = nonneg.solve(A, b, method=method, max_passes=0)
    assert solution.status == "pass_limit"
    assert (solution.x >= 0.0).all() and solution.relative_gap > 0.0


@pytest.mark.parametrize("method", METHODS)
def test_no_time_at_all_still_gives_a_point_and_its_certificate(method):
    A, b = uniform()
    solution = nonneg.solve(A, b, method=method, time_limit=0)
    assert solution.status == "time_limit"
    assert (solution.x >= 0.0).all() and solution.relative_gap > 0.0


def test_time_limit_ends_a_long_run():
    A, b = spectra(300, 200)
    solution = nonneg.solve(A, b, method="fista-norestart", tol=1e-300, time_limit=0.2)
    assert solution.status == "time_limit"
    assert 0.2 <= solution.seconds < 60.0
    assert solution.relative_gap < 1.0


@pytest.mark.parametrize("limit", [1e9, 1e18, 1e30, 1e300, np.inf])
def test_endless_limits_are_none(limit):
    assert nonneg.solve(*uniform(), time_limit=limit, max_passes=limit).status == "solved"


def test_limits_keep_the_start_if_it_is_better_than_zero():
    A, b = uniform()
    best = nonneg.nnls(A, b)[0]
    solution = nonneg.solve(A, b, x0=best, max_passes=0)
    assert solution.objective <= objective(A, b, best) * (1 + 1e-12)


# -- callback, verbose ----------------------------------------------------------------------------------------------------


def test_callback_sees_the_trace():
    rows = []
    solution = nonneg.solve(*spectra(), method="si-nnls", callback=rows.append)
    assert all(isinstance(row, nonneg.TraceRow) for row in rows)
    # Whether a check leads to a restart is known only after it.
    events = ["check" if event == "restart" else event for event in solution.trace.event]
    assert [row.event for row in rows] == events
    assert_array_equal([row.passes for row in rows], solution.trace.passes)
    assert rows[0].event == "start" and rows[-1].event == "final"
    assert rows[-1].relative_gap == solution.relative_gap


def test_callback_sees_none_where_nothing_is_known():
    rows = []
    nonneg.solve(*endless(), callback=rows.append)
    assert all(row.relative_gap is None and row.lower_bound is None for row in rows)


def test_callback_stops_the_run_by_returning_something_true():
    seen = []

    def stop(row):
        seen.append(row)
        return len(seen) == 3

    solution = nonneg.solve(*spectra(), method="si-nnls-norestart", tol=1e-12, callback=stop)
    assert solution.status == "interrupted" and not solution.converged
    assert len(seen) <= 4  # the last row, of the answer, may come too
    assert (solution.x >= 0.0).all() and solution.relative_gap > 0.0
    assert "interrupted" in repr(solution)


@pytest.mark.parametrize("size", [(60, 30), (600, 300)], ids=["small", "large"])
@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, SystemExit])
def test_an_exception_in_the_callback_comes_through(size, error):
    calls = []

    def fail(row):
        calls.append(row)
        raise error("my own")

    with pytest.raises(error, match="my own") as raised:
        nonneg.solve(*uniform(*size), callback=fail)
    assert len(calls) == 1
    assert any(entry.name == "fail" for entry in raised.traceback)


@pytest.mark.parametrize("size", [(60, 30), (600, 300)], ids=["small", "large"])
def test_a_callback_may_solve_too(size):
    A, b = uniform(*size)
    inner = []
    outer = nonneg.solve(A, b, callback=lambda row: inner.append(nonneg.solve(A, b).x) and None)
    assert outer.status == "solved" and len(inner) == len(outer.trace.event)
    assert all((x == outer.x).all() for x in inner)


def test_a_result_without_truth_value_is_the_callbacks_error():
    with pytest.raises(ValueError, match="truth value"):
        nonneg.solve(*uniform(), callback=lambda row: np.zeros(2))


def test_quiet_unless_asked(capfd):
    nonneg.solve(*uniform())
    assert capfd.readouterr() == ("", "")


def test_verbose_prints_to_standard_error_only(capfd):
    solution = nonneg.solve(*uniform(), verbose=True)
    out, err = capfd.readouterr()
    assert out == ""
    first, *_, last = err.splitlines()
    assert "passes" in first and "gap" in first
    assert last.endswith("final") and f"{solution.relative_gap:.2e}" in last


def test_verbose_and_callback_together(capfd):
    rows = []
    nonneg.solve(*endless(), verbose=True, callback=rows.append)
    assert rows and "unknown" in capfd.readouterr().err
