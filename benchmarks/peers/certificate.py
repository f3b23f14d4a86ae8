"""The certified relative gap of any x for A >= 0: one judge for every solver, ours included.

u_j = c_j/‖A_j‖² bounds every optimum, so f* >= D(y) = -½‖y‖² - Σ u_j (c_j - A_jᵀy)_+ for every y. Here y = τAx with the
best τ. And f* <= f̂, the best value known without more work, so (f(x) - f*)/|f*| <= (f(x) - D)/|f̂|.
"""
import numpy as np
import scipy.sparse as sp


class Certificate:
    """What does not depend on x is computed once per problem."""

    def __init__(self, A, b):
        self.A, self.b = A, np.asarray(b, dtype=np.float64).ravel()
        if sp.issparse(A):
            assert A.nnz == 0 or A.data.min() >= 0, "A has negative entries"
            norms = np.asarray(A.multiply(A).sum(axis=0)).ravel()
        else:
            assert A.size == 0 or A.min() >= 0, "A has negative entries"
            norms = np.einsum("ij,ij->j", A, A)
        self.c = A.T @ self.b
        self.keep = (norms > 0) & (self.c > 0)
        self.c_kept = self.c[self.keep]
        self.u = self.c_kept / norms[self.keep]

    def score(self, x):
        """gap, objective ½‖Ax-b‖², support. Tiny negative entries count as zeros; a wrong x has an infinite gap."""
        x = np.asarray(x, dtype=np.float64).ravel()
        if x.shape != (self.A.shape[1],) or not np.isfinite(x).all():
            return {"gap": float("inf"), "objective": None, "support": None}
        x = np.maximum(x, 0.0)
        ax = self.A @ x
        return {"gap": float(self._gap(x, ax)), "objective": float(0.5 * np.sum((ax - self.b) ** 2)),
                "support": int((x > 0).sum())}

    def _gap(self, x, ax):
        yy, cx = ax @ ax, self.c @ x
        f = 0.5 * yy - cx
        if not self.keep.any():                          # x = 0 is optimal, f* = 0
            return 0.0 if f <= 0 else float("inf")
        g = (self.A.T @ ax)[self.keep]
        c, u = self.c_kept, self.u
        bound = max(-0.5 * t * t * yy - np.sum(u * np.maximum(0.0, c - t * g)) for t in (self._tau(g, yy), 1.0))
        best = min(f, -0.5 * np.max(c * u), -0.5 * cx**2 / yy if yy > 0 and cx > 0 else 0.0)
        return max(0.0, f - bound) / abs(best)

    def _tau(self, g, yy):
        """The τ that maximises the concave D(τAx): its slope Σ_{τ < c_j/g_j} u_j g_j - τ yy falls through zero once."""
        if yy <= 0:
            return 0.0
        breaks = np.full(len(g), np.inf)
        np.divide(self.c_kept, g, out=breaks, where=g > 0)
        order = np.argsort(breaks)
        slope = np.append(np.cumsum((self.u * g)[order][::-1])[::-1], 0.0)     # slope[k]: the first k terms are off
        edges = np.append(breaks[order], np.inf)
        k = int(np.argmax(slope / yy <= edges))
        return max(slope[k] / yy, edges[k - 1] if k else 0.0)
