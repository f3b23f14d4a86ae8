"""``solve`` and ``verify``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from math import inf
from typing import Any

from nonneg import _nonneg
from nonneg._input import to_bounds, to_columns, to_integer, to_matrix, to_name, to_number, to_vector
from nonneg._solution import Certificate, Solution, TraceRow

Callback = Callable[[TraceRow], Any]


def solve(
    A: Any,
    b: Any = None,
    *,
    c: Any = None,
    tol: float = 1e-6,
    method: str = "auto",
    x0: Any = None,
    lower: Any = None,
    upper: Any = None,
    free: Any = None,
    l1: float = 0.0,
    l2: float = 0.0,
    weights: Any = None,
    sum_to_one: bool = False,
    batch_size: int = 1,
    metric: str | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    max_passes: float | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    callback: Callback | None = None,
    verbose: bool = False,
) -> Solution:
    """Minimise ``½‖Ax − b‖² + l1·Σxⱼ + ½·l2·‖x‖²`` over ``x ≥ 0`` (or other bounds), with a certificate.

    Parameters
    ----------
    A : array_like or sparse, shape (m, n)
        NumPy, scipy.sparse, pandas, polars, or anything with ``__array__`` or DLPack. CSC and CSR, and dense arrays in Fortran
        order, of float64 or float32, are used without a copy (CSR is turned into columns inside); anything else is converted
        once. Never written to.
    b : array_like, shape (m,)
        Right-hand side.
    c : array_like, shape (n,), optional
        Instead of b: minimise ``½‖Ax‖² − cᵀx``.
    tol : float
        Stop when the proved relative gap ``(f(x) − f*)/|f*|`` is at most this.
    method : str
        One of ``nonneg.METHODS``. ``"auto"`` finds out.
    x0 : array_like, shape (n,), optional
        A start; it is clipped into the bounds.
    lower : float or array_like, shape (n,), optional
        Lower bounds other than zero; −inf is none. Not together with penalties, nor with c.
    upper : float or array_like, shape (n,), optional
        Upper bounds.
    free : array_like, optional
        Columns without bounds and penalties (a baseline, an intercept): numbers from 0, or one flag per column.
    l1, l2 : float
        Penalties.
    weights : array_like, shape (m,), optional
        Weights of the rows: ``½Σ wᵢ(Ax − b)ᵢ²``.
    sum_to_one : bool
        Whether x sums to one. The gap is then relative to the larger of ``½‖b‖²`` and ``½‖Ax‖²``; method and x0 mean nothing.
    batch_size, metric : int, str
        For SI-NNLS+: columns that move together, and in what metric (``"scale-invariant"`` or ``"spectral"``).
    seed : int
        Same seed, same answer, on any number of threads.
    time_limit : float, optional
        Seconds after which the best x so far comes back.
    max_passes : float, optional
        The same for work, in passes over A.
    threads : int, optional
        Default: all cores.
    memory_limit : int, optional
        Bytes for matrices that a method makes for itself.
    callback : callable, optional
        Called with a :class:`TraceRow` at every check (whether the method then restarts is seen in the trace). The run stops
        when it returns something true, and with its exception when it raises one.
    verbose : bool
        Print progress to standard error.

    Returns
    -------
    Solution
        Limits never raise: look at ``status``, or ``converged``.

    Raises
    ------
    ValueError, TypeError
        For bad input.
    KeyboardInterrupt
        For Ctrl-C, within a second.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> A = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> solution = nonneg.solve(A, [2.0, 1.0, 1.0])
    >>> solution.x, solution.status
    (array([1.5, 1. ]), 'solved')
    >>> solution.relative_gap < 1e-6
    True
    """
    matrix = to_matrix(A)
    parts = _parts(matrix, b, c=c, x0=x0, lower=lower, upper=upper, free=free, l1=l1, l2=l2, weights=weights)
    if sum_to_one:
        parts["sum_to_one"] = True
    settings = _settings(tol, method, batch_size, metric, seed, time_limit, max_passes, threads, memory_limit)
    return Solution._of(*_nonneg.solve(matrix, parts, settings, _observer(callback, verbose)))


def verify(
    A: Any,
    b: Any = None,
    x: Any = None,
    *,
    c: Any = None,
    lower: Any = None,
    upper: Any = None,
    free: Any = None,
    l1: float = 0.0,
    l2: float = 0.0,
    weights: Any = None,
    sum_to_one: bool = False,
) -> Certificate:
    """Certify any x from any solver.

    Parameters
    ----------
    A, b, c, lower, upper, free, l1, l2, weights, sum_to_one
        The problem, as for :func:`solve`.
    x : array_like, shape (n,)
        What to certify; it must be within the bounds.

    Returns
    -------
    Certificate
        With ``relative_gap`` None where nothing can be proved (some problems with negative entries in A).

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> A = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> nonneg.verify(A, [2.0, 1.0, 1.0], [1.5, 1.0]).relative_gap < 1e-12
    True
    >>> nonneg.verify(A, [2.0, 1.0, 1.0], [1.0, 1.0]).relative_gap > 0.01
    True
    """
    if x is None:
        raise TypeError("verify() needs x, the point to certify")
    matrix = to_matrix(A)
    parts = _parts(matrix, b, c=c, lower=lower, upper=upper, free=free, l1=l1, l2=l2, weights=weights)
    if sum_to_one:
        parts["sum_to_one"] = True
    return Certificate(**_nonneg.verify(matrix, parts, to_vector(x, "x")))


def _parts(
    matrix: _nonneg.Matrix,
    b: Any,
    *,
    c: Any,
    x0: Any = None,
    lower: Any,
    upper: Any,
    free: Any,
    l1: float,
    l2: float,
    weights: Any,
    columns: Any = None,
) -> dict[str, Any]:
    """The problem beside A, as the compiled part takes it."""
    if (b is None) == (c is None):
        raise TypeError("give b, or c instead of it" if b is None else "give b or c, not both")

    # Only what was given: most calls give little, and are to be quick.
    parts: dict[str, Any] = {"l1": to_number(l1, "l1"), "l2": to_number(l2, "l2")}
    if b is not None:
        parts["b"] = to_vector(b, "b")
    if c is not None:
        parts["c"] = to_vector(c, "c")
    if weights is not None:
        parts["weights"] = to_vector(weights, "weights")
    if lower is not None:
        parts["lower"] = to_bounds(lower, "lower")
    if upper is not None:
        parts["upper"] = to_bounds(upper, "upper")
    if free is not None:
        parts["free"] = to_columns(free, matrix.shape[1], "free")
    if x0 is not None:
        parts["x0"] = to_vector(x0, "x0")
    if columns is not None:
        parts["columns"] = to_columns(columns, matrix.shape[1], "columns")
    return parts


def _settings(
    tol: float,
    method: str,
    batch_size: int,
    metric: str | None,
    seed: int,
    time_limit: float | None,
    max_passes: float | None,
    threads: int | None,
    memory_limit: int | None,
) -> dict[str, Any]:
    settings: dict[str, Any] = {"tol": to_number(tol, "tol")}
    if not 0 <= settings["tol"] < inf:
        raise ValueError(f"tol is {tol}, expected a finite number ≥ 0")
    if method != "auto":
        settings["method"] = to_name(method, "method")
    if batch_size is not None:
        settings["batch_size"] = to_integer(batch_size, "batch_size", 1)
    if metric is not None:
        settings["metric"] = to_name(metric, "metric")
    if seed is not None:
        settings["seed"] = to_integer(seed, "seed", 0, 2**64 - 1)
    if time_limit is not None:
        settings["time_limit"] = to_number(time_limit, "time_limit")
    if max_passes is not None:
        settings["max_passes"] = to_number(max_passes, "max_passes")
    if threads is not None:
        settings["threads"] = to_integer(threads, "threads", 1)
    if memory_limit is not None:
        settings["memory_limit"] = to_integer(memory_limit, "memory_limit", 0)
    return settings


def _observer(callback: Callback | None, verbose: bool) -> Callable[..., Any] | None:
    """What the compiled part calls with every row."""
    if callback is None and not verbose:
        return None
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is {callback!r}, expected something to call")
    show = _Progress() if verbose else None

    def observe(*values: Any) -> Any:
        row = TraceRow(*values)
        if show is not None:
            show(row)
        return callback(row) if callback is not None else False

    return observe


class _Progress:
    """Prints a row now and then."""

    def __init__(self) -> None:
        self.next = 0.0
        print(f"{'passes':>10} {'seconds':>9} {'objective':>14} {'proved gap':>11} {'support':>9}  event", file=sys.stderr)

    def __call__(self, row: TraceRow) -> None:
        now = time.monotonic()
        if now < self.next and row.event != "final":
            return
        self.next = now + 0.5

        def number(value: float | None, form: str) -> str:
            return "unknown" if value is None else format(value, form)

        objective, gap = number(row.objective, ".7g"), number(row.relative_gap, ".2e")
        print(
            f"{row.passes:>10.1f} {row.seconds:>9.3f} {objective:>14} {gap:>11} {row.support:>9}  {row.event}", file=sys.stderr
        )
