"""One A, many right-hand sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nonneg import _nonneg
from nonneg._input import to_bounds, to_matrix, to_number, to_vector
from nonneg._solve import _settings


def solve_many(
    A: Any,
    B: Any,
    *,
    tol: float = 1e-6,
    upper: Any = None,
    l1: float = 0.0,
    l2: float = 0.0,
    weights: Any = None,
    sum_to_one: bool = False,
    time_limit: float | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
) -> ManySolution:
    """Minimise ``½‖Ax − b‖² + l1·Σxⱼ + ½·l2·‖x‖²`` over ``x ≥ 0`` for every column b of B, each with its certificate.

    Norms, Gram matrix and factorisations are shared, and columns run in parallel; a column starts from the support of the one
    before, so that neighbours side by side are quickest.

    Parameters
    ----------
    A : array_like or sparse, shape (m, n)
        As for :func:`solve`.
    B : array_like or sparse, shape (m, k)
        The right-hand sides, as columns. Fortran order, float64 or float32, is used without a copy.
    tol : float
        Each column stops when its proved relative gap is at most this.
    upper : float or array_like, shape (n,), optional
        Upper bounds.
    l1, l2 : float
        Penalties.
    weights : array_like, shape (m,), optional
        Weights of the rows.
    sum_to_one : bool
        Whether every x sums to one (abundances). The gap is then relative to the larger of ``½‖b‖²`` and ``½‖Ax‖²``.
    time_limit : float, optional
        Seconds after which the columns that are done come back.
    threads : int, optional
        Default: all cores. The answer does not depend on it.
    memory_limit : int, optional
        Bytes for the Gram matrix; without it columns are solved one by one.

    Returns
    -------
    ManySolution

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> A = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> solution = nonneg.solve_many(A, np.array([[2.0, 0.0], [1.0, 0.0], [1.0, -3.0]]))
    >>> solution.x
    array([[1.5, 0. ],
           [1. , 0. ]])
    >>> bool((solution.relative_gap <= 1e-6).all())
    True
    """
    matrix, right = to_matrix(A), to_matrix(B, "B")
    parts = {"l1": to_number(l1, "l1"), "l2": to_number(l2, "l2"), "sum_to_one": bool(sum_to_one)}
    if weights is not None:
        parts["weights"] = to_vector(weights, "weights")
    if upper is not None:
        parts["upper"] = to_bounds(upper, "upper")
    settings = _settings(tol, "auto", 1, None, 0, time_limit, None, threads, memory_limit)
    return ManySolution(**_nonneg.solve_many(matrix, right, settings, **parts))


@dataclass(eq=False, repr=False)
class ManySolution:
    """Answers to many problems, each with its certificate. Numbers that are not known are NaN.

    Attributes
    ----------
    x : ndarray, shape (n, k)
        The answers, as columns.
    status : str
        ``"solved"`` if every column is; otherwise the worst status there is (see :class:`Solution`).
    codes : ndarray of uint8, shape (k,)
        The status of each column, as a position in ``nonneg.STATUSES``.
    objective, residual_norm, lower_bound, relative_gap : ndarray, shape (k,)
        Of each column, as in :class:`Certificate`.
    support : ndarray of int, shape (k,)
        Entries of each x that are not zero.
    seconds : float
        Wall-clock time.
    """

    x: np.ndarray
    status: str
    codes: np.ndarray
    objective: np.ndarray
    residual_norm: np.ndarray
    lower_bound: np.ndarray
    relative_gap: np.ndarray
    support: np.ndarray
    seconds: float

    @property
    def converged(self) -> bool:
        """Whether every column reached the tolerance."""
        return self.status in ("solved", "converged")

    @property
    def certified(self) -> bool:
        """Whether that is proved."""
        return self.status == "solved"

    @property
    def statuses(self) -> list[str]:
        """The status of each column."""
        return [_nonneg.STATUSES[code] for code in self.codes]

    def __repr__(self) -> str:
        (n, k), names = self.x.shape, _nonneg.STATUSES
        counts = [f"{count:,} {names[code]}" for code, count in enumerate(np.bincount(self.codes)) if count]
        lines = ["ManySolution:", f"  columns    {k:,} of {n:,} numbers: {', '.join(counts) or 'none'}"]
        if k:
            worst = np.max(self.relative_gap)
            proved = "not all proved" if np.isnan(worst) else f"all within {worst:.2g} of the best possible, proved"
            lines.append(f"  gap        {proved}")
            lines.append(f"  support    {np.mean(self.support):.3g} of {n:,} in the mean")
        lines.append(f"  time       {self.seconds:.3g} s")
        return "\n".join(lines)
