"""The scikit-learn estimator."""

from __future__ import annotations

import warnings
from math import ceil
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from nonneg._input import is_sparse
from nonneg._problem import Problem

#: Features, and entries of X, up to which "auto" is "lawson-hanson": it is as fast there, and where the coefficients are not
#: unique its choice does not depend on whether samples are weighted or repeated.
FEW_FEATURES, FEW_ENTRIES = 64, 1_000_000


class NonNegativeRegression(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Linear regression with coefficients ≥ 0, with a certificate.

    Minimises ``½Σ wᵢ(y − Xβ − β₀)ᵢ² + l1·Σβⱼ + ½·l2·‖β‖²`` over ``β ≥ 0``; the intercept β₀ takes any value and is not
    penalised. For ``n`` samples, ``ElasticNet(alpha, l1_ratio, positive=True)`` is ``l1 = n·alpha·l1_ratio`` and
    ``l2 = n·alpha·(1 − l1_ratio)``.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is an intercept. It is a column of its own: sparse X stays sparse.
    l1, l2 : float, default=0.0
        Penalties.
    tol : float, default=1e-9
        The relative gap to be proved (or natural residual, where nothing can be proved).
    method : str, default="auto"
        One of ``nonneg.METHODS``. ``"auto"`` is ``"lawson-hanson"`` for small problems with up to 64 features.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    max_passes : float, default=None
        Stop after so many passes over X, with a ConvergenceWarning.
    threads : int, default=None
        Default: all cores.
    random_state : int, default=0
        Seed of the methods that draw columns at random.

    Attributes
    ----------
    coef_ : ndarray, shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray, shape (n_targets,)
    certificate_ : Solution, or a list of them
        What was proved, with all else that :func:`nonneg.solve` returns. Its ``x`` ends with the intercept.
    n_iter_ : int
        Passes over X, rounded up; of the target that took most.
    n_features_in_ : int
    feature_names_in_ : ndarray
        If X has column names.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 2.0]])
    >>> model = nonneg.NonNegativeRegression().fit(X, X @ [2.0, 0.0] + 1.0)
    >>> model.coef_.round(6), round(float(model.intercept_), 6)
    (array([2., 0.]), 1.0)
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        l1: float = 0.0,
        l2: float = 0.0,
        tol: float = 1e-9,
        method: str = "auto",
        warm_start: bool = False,
        max_passes: float | None = None,
        threads: int | None = None,
        random_state: int = 0,
    ):
        self.fit_intercept = fit_intercept
        self.l1 = l1
        self.l2 = l2
        self.tol = tol
        self.method = method
        self.warm_start = warm_start
        self.max_passes = max_passes
        self.threads = threads
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NonNegativeRegression:
        """Fit to samples X and targets y.

        Parameters
        ----------
        X : array_like or sparse, shape (n_samples, n_features)
        y : array_like, shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array_like, shape (n_samples,), optional

        Returns
        -------
        self
        """
        X, y = validate_data(
            self, X, y, accept_sparse=("csc", "csr"), dtype=[np.float64, np.float32], multi_output=True, y_numeric=True
        )
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        features = X.shape[1]
        problem = Problem(_with_ones(X) if self.fit_intercept else X, weights=sample_weight, l2=self.l2)
        free = [features] if self.fit_intercept else None
        targets = y.reshape(-1, 1) if y.ndim == 1 else y
        starts = self._starts(targets.shape[1], features)
        small = features <= FEW_FEATURES and X.shape[0] * features <= FEW_ENTRIES
        method = "lawson-hanson" if small and self.method == "auto" else self.method
        solutions = [
            problem.solve(
                targets[:, k],
                free=free,
                x0=starts[k],
                l1=self.l1,
                tol=self.tol,
                method=method,
                max_passes=self.max_passes,
                threads=self.threads,
                seed=self.random_state,
            )
            for k in range(targets.shape[1])
        ]
        short = [solution for solution in solutions if not solution.converged]
        if short:
            warnings.warn(f"{short[0].status}: {short[0]._words()} (asked for {self.tol:g})", ConvergenceWarning, stacklevel=2)

        coef = np.stack([solution.x[:features] for solution in solutions])
        intercept = np.array([solution.x[features] if self.fit_intercept else 0.0 for solution in solutions])
        single = y.ndim == 1
        self.coef_ = coef[0] if single else coef
        self.intercept_ = intercept[0] if single else intercept
        self.certificate_ = solutions[0] if single else solutions
        self.n_iter_ = max(1, max(ceil(solution.passes) for solution in solutions))
        return self

    def _starts(self, targets: int, features: int) -> list[np.ndarray | None]:
        """Where to start from, one for each target."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return [None] * targets
        coef, intercept = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        if coef.shape != (targets, features):
            return [None] * targets
        return list(np.column_stack([coef, intercept]) if self.fit_intercept else coef)

    def predict(self, X: Any) -> np.ndarray:
        """Xβ + β₀.

        Parameters
        ----------
        X : array_like or sparse, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples,) or (n_samples, n_targets)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), reset=False)
        return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _with_ones(X: Any) -> Any:
    """X and a column of ones."""
    rows, columns = X.shape
    if not is_sparse(X):
        wider = np.empty((rows, columns + 1), dtype=X.dtype, order="F")
        wider[:, :columns] = X
        wider[:, columns] = 1.0
        return wider
    import scipy.sparse

    return scipy.sparse.hstack([X, np.ones((rows, 1), dtype=X.dtype)], format="csc")
