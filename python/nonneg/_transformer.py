"""NMF as scikit-learn has it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from nonneg._many import solve_many
from nonneg._nmf import nmf


class NMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Non-negative matrix factorisation X ≈ WH, with the interface of ``sklearn.decomposition.NMF``.

    Parameters
    ----------
    n_components : int, default=None
        Rows of H; all features if None.
    init : str, default="nndsvd"
        As for :func:`nmf`.
    method : str, default="hals"
        As for :func:`nmf`.
    tol : float, default=1e-4
        As for :func:`nmf`.
    max_iter : int, default=200
        Steps at most.
    l1, l2 : float, default=0.0
        Penalties on W and H.
    random_state : int, default=0
        Seed of the starting point.
    threads : int, default=None
        Default: all cores.

    Attributes
    ----------
    components_ : ndarray, shape (n_components, n_features)
        H.
    n_components_ : int
    reconstruction_err_ : float
        ``‖X − WH‖``.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray
        If X has column names.

    Examples
    --------
    >>> import numpy as np, nonneg
    >>> X = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 3.0]])
    >>> model = nonneg.NMF(2, tol=1e-8)
    >>> W = model.fit_transform(X)
    >>> bool(abs(model.inverse_transform(W) - X).max() < 1e-4)
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        init: str = "nndsvd",
        method: str = "hals",
        tol: float = 1e-4,
        max_iter: int = 200,
        l1: float = 0.0,
        l2: float = 0.0,
        random_state: int = 0,
        threads: int | None = None,
    ):
        self.n_components = n_components
        self.init = init
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.l1 = l1
        self.l2 = l2
        self.random_state = random_state
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> NMF:
        """Learn H from X.

        Parameters
        ----------
        X : array_like or sparse, shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Learn H from X, and return W.

        Parameters
        ----------
        X : array_like or sparse, shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        ndarray, shape (n_samples, n_components)
        """
        X = self._checked(X, reset=True)
        rank = X.shape[1] if self.n_components is None else self.n_components
        seed = 0 if self.random_state is None else self.random_state
        factors = nmf(
            X,
            rank,
            method=self.method,
            init=self.init,
            tol=self.tol,
            max_iter=self.max_iter,
            l1=self.l1,
            l2=self.l2,
            seed=seed,
            threads=self.threads,
        )
        if factors.status == "iteration_limit":
            message = f"{factors.n_iter} steps (max_iter) did not reach tol={self.tol:g}: {factors.violation:.2g} is left"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        self.components_ = factors.H
        self.n_components_ = rank
        self.reconstruction_err_ = factors.residual_norm
        self.n_iter_ = factors.n_iter
        return factors.W

    def transform(self, X: Any) -> np.ndarray:
        """The best W for X, by exact non-negative least squares.

        Parameters
        ----------
        X : array_like or sparse, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        H = self.components_.T.astype(X.dtype)
        return solve_many(H, X.T, l1=self.l1, l2=self.l2, tol=1e-10, threads=self.threads).x.T

    def inverse_transform(self, W: Any) -> np.ndarray:
        """WH.

        Parameters
        ----------
        W : array_like or sparse, shape (n_samples, n_components)

        Returns
        -------
        ndarray, shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return W @ self.components_

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=[np.float64, np.float32], reset=reset)
        check_non_negative(X, "NMF")
        return X

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = []
        return tags
