"""One A, prepared for many solves."""

from __future__ import annotations

from typing import Any

from nonneg import _nonneg
from nonneg._input import to_matrix, to_number, to_vector
from nonneg._solution import Certificate, Solution
from nonneg._solve import Callback, _observer, _parts, _settings


class Problem:
    """A, prepared once: checks, norms, signs, and the Gram matrix as far as it helps.

    Solve again with another b, on some of the columns, or from a start. A must not change meanwhile.

    Parameters
    ----------
    A : array_like or sparse, shape (m, n)
        As for :func:`solve`.
    weights : array_like, shape (m,), optional
        Weights of the rows.
    l2 : float
        The ridge penalty.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> problem = nonneg.Problem(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    >>> first = problem.solve([2.0, 1.0, 1.0])
    >>> again = problem.solve([2.0, 1.0, 1.1], x0=first.x)
    >>> problem.solve([2.0, 1.0, 1.0], columns=[1]).x
    array([0., 1.])
    """

    def __init__(self, A: Any, *, weights: Any = None, l2: float = 0.0):
        weights = None if weights is None else to_vector(weights, "weights")
        self._prepared = _nonneg.Prepared(to_matrix(A), weights, to_number(l2, "l2"))

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n)."""
        return self._prepared.matrix.shape

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"Problem({rows:,} × {columns:,}, {self._prepared.matrix.nnz:,} entries)"

    def solve(
        self,
        b: Any = None,
        *,
        c: Any = None,
        columns: Any = None,
        x0: Any = None,
        tol: float = 1e-6,
        method: str = "auto",
        lower: Any = None,
        upper: Any = None,
        free: Any = None,
        l1: float = 0.0,
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
        """As :func:`solve`. ``columns`` (numbers from 0, or a flag for each) are those to use: x is zero elsewhere."""
        bounds = {"lower": lower, "upper": upper, "free": free}
        parts = _parts(self._prepared.matrix, b, c=c, x0=x0, l1=l1, l2=0.0, weights=None, columns=columns, **bounds)
        settings = _settings(tol, method, batch_size, metric, seed, time_limit, max_passes, threads, memory_limit)
        return Solution._of(*_nonneg.solve(self._prepared, parts, settings, _observer(callback, verbose)))

    def verify(
        self,
        b: Any = None,
        x: Any = None,
        *,
        c: Any = None,
        columns: Any = None,
        lower: Any = None,
        upper: Any = None,
        free: Any = None,
        l1: float = 0.0,
    ) -> Certificate:
        """As :func:`verify`."""
        if x is None:
            raise TypeError("verify() needs x, the point to certify")
        bounds = {"lower": lower, "upper": upper, "free": free}
        parts = _parts(self._prepared.matrix, b, c=c, l1=l1, l2=0.0, weights=None, columns=columns, **bounds)
        return Certificate(**_nonneg.verify(self._prepared, parts, to_vector(x, "x")))
