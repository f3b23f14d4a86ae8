"""Certified non-negative least squares at any scale.

The problem is ``min ½‖Ax − b‖²`` over ``x ≥ 0``, for dense or sparse A of any size. Every answer comes with a proof of how
far it can be from the best possible one.

>>> import numpy as np, nonneg
>>> A = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
>>> nonneg.solve(A, [2.0, 1.0, 1.0]).x
array([1.5, 1. ])
"""

from nonneg._exact import nnls
from nonneg._many import ManySolution, solve_many
from nonneg._nmf import Factors, nmf
from nonneg._nonneg import METHODS, STATUSES, __version__
from nonneg._problem import Problem
from nonneg._solution import Certificate, Seconds, Solution, Trace, TraceRow
from nonneg._solve import solve, verify

__all__ = [
    "METHODS",
    "NMF",
    "STATUSES",
    "Certificate",
    "Factors",
    "ManySolution",
    "NonNegativeRegression",
    "Problem",
    "Seconds",
    "Solution",
    "Trace",
    "TraceRow",
    "__version__",
    "nmf",
    "nnls",
    "solve",
    "solve_many",
    "verify",
]


def __getattr__(name: str):
    # scikit-learn takes a second to import: only who asks for the estimator pays for it.
    if name == "NonNegativeRegression":
        from nonneg._regression import NonNegativeRegression

        return NonNegativeRegression
    if name == "NMF":
        from nonneg._transformer import NMF

        return NMF
    raise AttributeError(f"module 'nonneg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
