"""Non-negative matrix factorisation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nonneg import _nonneg
from nonneg._input import to_integer, to_matrix, to_name, to_number


class Factors(NamedTuple):
    """W and H with V ≈ WH, and what it took: ``W, H = nonneg.nmf(V, 10)[:2]``.

    Attributes
    ----------
    W : ndarray, shape (m, k)
    H : ndarray, shape (k, n)
    objective : float
        ``½‖V − WH‖²`` plus penalties.
    residual_norm : float
        ``‖V − WH‖``.
    violation : float
        The projected gradient, as a part of that at the start: zero at a stationary point.
    n_iter : int
        Steps, each of both factors.
    status : str
        ``"converged"``, ``"iteration_limit"`` or ``"time_limit"``.
    trace : ndarray
        The objective after every step: it never rises.
    seconds : float
        Wall-clock time.
    """

    W: np.ndarray
    H: np.ndarray
    objective: float
    residual_norm: float
    violation: float
    n_iter: int
    status: str
    trace: np.ndarray
    seconds: float


def nmf(
    V: Any,
    k: int,
    *,
    method: str = "hals",
    init: str = "nndsvd",
    tol: float = 1e-4,
    max_iter: int = 200,
    l1: float = 0.0,
    l2: float = 0.0,
    seed: int = 0,
    time_limit: float | None = None,
    threads: int | None = None,
) -> Factors:
    """Factor V ≥ 0: minimise ``½‖V − WH‖² + l1·(ΣW + ΣH) + ½·l2·(‖W‖² + ‖H‖²)`` over ``W, H ≥ 0``.

    Parameters
    ----------
    V : array_like or sparse, shape (m, n)
        Without negative entries.
    k : int
        Columns of W.
    method : str
        ``"hals"``: a few sweeps over the coordinates of one factor, then of the other. ``"exact"``: exact non-negative least
        squares in turn, by :func:`solve_many`.
    init : str
        ``"nndsvd"`` (from singular vectors), ``"nndsvda"`` (the same with zeros filled) or ``"random"``.
    tol : float
        Stop when the projected gradient has fallen to this part of what it was.
    max_iter : int
        Steps at most.
    l1, l2 : float
        Penalties.
    seed : int
        Of the starting point. Same seed, same answer, on any number of threads.
    time_limit : float, optional
        Seconds after which the factors so far come back.
    threads : int, optional
        Default: all cores.

    Returns
    -------
    Factors
        A named tuple that begins with W and H.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> V = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 3.0]])
    >>> W, H = nonneg.nmf(V, 2, tol=1e-8)[:2]
    >>> bool(abs(W @ H - V).max() < 1e-4)
    True
    """
    limit = None if time_limit is None else to_number(time_limit, "time_limit")
    number = None if threads is None else to_integer(threads, "threads", 1)
    fields = _nonneg.nmf(
        to_matrix(V, "V"),
        to_integer(k, "k", 1),
        to_name(method, "method"),
        to_name(init, "init"),
        to_number(tol, "tol"),
        to_integer(max_iter, "max_iter", 1),
        to_number(l1, "l1"),
        to_number(l2, "l2"),
        to_integer(seed, "seed", 0, 2**64 - 1),
        limit,
        number,
    )
    return Factors(**fields)
