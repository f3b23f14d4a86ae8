"""``nnls``, as SciPy has it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from nonneg import _nonneg
from nonneg._input import is_sparse, to_array, to_integer, to_matrix, to_vector


def nnls(A: Any, b: Any, *, maxiter: int | None = None, atol: float | None = None) -> tuple[np.ndarray, float]:
    """Least squares over x ≥ 0, exact to rounding: a drop-in replacement for ``scipy.optimize.nnls``.

    Parameters
    ----------
    A : array_like or sparse, shape (m, n)
        Of any signs and any rank.
    b : array_like, shape (m,) or (m, 1)
        Right-hand side.
    maxiter : int, optional
        How often columns may enter or leave. Default: as often as it takes (10 n, in theory).
    atol : float, optional
        Ignored, as in SciPy, with a DeprecationWarning.

    Returns
    -------
    x : ndarray, shape (n,)
        The solution.
    rnorm : float
        ``‖Ax − b‖``.

    Raises
    ------
    RuntimeError
        When ``maxiter`` is reached, or x does not fit float64.

    See Also
    --------
    solve : For large problems, penalties, bounds, weights, and a certificate.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> A = np.array([[1, 0], [1, 0], [0, 1]])
    >>> x, rnorm = nonneg.nnls(A, np.array([2, 1, 1]))
    >>> x
    array([1.5, 1. ])
    >>> nonneg.nnls(A, np.array([-1, -1, -1]))[0]
    array([0., 0.])
    """
    if atol is not None:
        warnings.warn("{'atol'} is deprecated and ignored", DeprecationWarning, stacklevel=2)
    limit = None if maxiter is None else to_integer(maxiter, "maxiter", 0) or None
    answer = None
    if type(A) is np.ndarray and type(b) is np.ndarray:
        answer = _nonneg.nnls(A, b, limit)
    if answer is None:
        answer = _nonneg.nnls(to_matrix(A), _right_hand_side(b), limit)
    x, rnorm, finished = answer
    if not finished:
        if x.max(initial=0.0) == np.finfo(np.float64).max:
            raise RuntimeError("The solution does not fit float64: give A or b in other units.")
        raise RuntimeError("Maximum number of iterations reached.")
    return x, rnorm


def _right_hand_side(b: Any) -> np.ndarray:
    array = b if is_sparse(b) else to_array(b, "b")
    shape = array.shape
    if len(shape) > 2 or (len(shape) == 2 and shape[1] != 1):
        raise ValueError(f"Expected a 1D array (or a 2D one with one column), but the shape of b is {shape}")
    return to_vector(array, "b")
