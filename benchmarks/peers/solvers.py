"""The peers: how each is called, with which tolerances, and in the form of A that suits it.

`prepare` is not timed (copies, formats); `solve` is. A peer's own tolerance measures something of its own, so each runs
several times from loose to tight, and what counts is the certified gap of the x that comes back. All start from zero.
"""
import numpy as np
import scipy.sparse as sp

DENSE_LIMIT = 50_000_000          # entries; above it a sparse A is not made dense


class Unsuited(Exception):
    """The peer cannot take this problem; the message says why."""


class Peer:
    loosest, tightest = 1e-3, 1e-13       # its own tolerances; None: it has none and runs once
    power = 1                             # the gap is about tolerance^(1/power), which guesses the next tolerance
    package = "scipy"
    dense_only = False

    def prepare(self, A, b):
        if self.dense_only and sp.issparse(A):
            if A.shape[0] * A.shape[1] > DENSE_LIMIT:
                raise Unsuited("needs a dense A, which would be too large")
            A = A.toarray(order="F")
        return A, b

    def solve(self, A, b, tol):
        raise NotImplementedError


class Skglm(Peer):
    """Working sets, coordinate descent, Anderson acceleration. Its tolerance is on the gradient of ‖Ax-b‖²/2m."""
    package = "skglm"

    def solve(self, A, b, tol):
        from skglm.datafits import Quadratic
        from skglm.penalties import PositiveConstraint
        from skglm.solvers import AndersonCD
        scale = np.max(A.T @ b) / len(b)
        solver = AndersonCD(max_iter=10**6, max_epochs=10**6, tol=tol * scale, fit_intercept=False)
        return solver.solve(A, b, Quadratic(), PositiveConstraint())[0]


class ScipyNnls(Peer):
    """Lawson and Hanson; exact, so one run."""
    loosest = None
    dense_only = True

    def solve(self, A, b, tol):
        from scipy.optimize import nnls
        return nnls(A, b, maxiter=100 * A.shape[1])[0]


class Adelie(Peer):
    """Bounded-variable least squares by coordinate descent with screening."""
    package = "adelie"
    loosest, tightest, power = 1e-6, 1e-22, 2      # of squared changes

    def prepare(self, A, b):
        import adelie
        if sp.issparse(A):
            return adelie.matrix.sparse(A, method="naive"), b
        return adelie.matrix.dense(A, method="naive"), b

    def solve(self, A, b, tol):
        import adelie
        n = A.shape[1]
        state = adelie.solver.bvls(A, b, np.zeros(n), np.full(n, np.inf), max_iters=10**9, tol=tol)
        return np.array(state.beta)


class Lbfgsb(Peer):
    """L-BFGS-B, twenty corrections; function and gradient cost one pass each."""

    def solve(self, A, b, tol):
        from scipy.optimize import minimize
        transposed = A.T

        def value_and_gradient(x):
            r = A @ x - b
            return 0.5 * r @ r, transposed @ r

        n = A.shape[1]
        options = {"maxcor": 20, "maxiter": 10**8, "maxfun": 10**8, "ftol": 1e-5 * tol, "gtol": tol * np.max(A.T @ b)}
        return minimize(value_and_gradient, np.zeros(n), jac=True, method="L-BFGS-B", bounds=[(0, None)] * n,
                        options=options).x


class Sklearn(Peer):
    """Lasso with a penalty that shrinks with the tolerance: its duality gap means nothing without a penalty."""
    package = "scikit-learn"
    tightest = 3e-12                  # a relative duality gap below 1e-13 is lost in rounding

    def solve(self, A, b, tol):
        from sklearn.linear_model import Lasso
        alpha = 0.1 * tol * np.max(A.T @ b) / len(b)
        model = Lasso(alpha=alpha, positive=True, fit_intercept=False, tol=0.1 * tol, max_iter=10**8, copy_X=False)
        return model.fit(A, b).coef_


class Celer(Peer):
    """Lasso with working sets and dual extrapolation; the penalty as for scikit-learn."""
    package = "celer"
    tightest = 3e-12                  # a relative duality gap below 1e-13 is lost in rounding

    def solve(self, A, b, tol):
        from celer import Lasso
        alpha = 0.1 * tol * np.max(A.T @ b) / len(b)
        model = Lasso(alpha=alpha, positive=True, fit_intercept=False, tol=0.1 * tol, max_iter=10**5, max_epochs=10**6)
        return model.fit(A, b).coef_


class Fnnls(Peer):
    """Bro and de Jong's active set on AᵀA; exact, so one run."""
    package = "fnnls"
    loosest = None
    dense_only = True

    def solve(self, A, b, tol):
        if not hasattr(np, "bool"):
            np.bool = bool                 # the package was written for an older numpy
        from fnnls import fnnls
        return fnnls(A, b)[0]


class LsqLinear(Peer):
    """Trust region reflective; inner solves by LSMR when A is sparse."""
    loosest = 1e-4

    def solve(self, A, b, tol):
        from scipy.optimize import lsq_linear
        options = {"method": "trf", "bounds": (0, np.inf), "tol": tol, "max_iter": 10**5}
        if sp.issparse(A):
            options |= {"lsq_solver": "lsmr", "lsmr_tol": "auto"}
        return lsq_linear(A, b, **options).x


class Clarabel(Peer):
    """Interior point on min ½‖r‖² with Ax - r = b, x >= 0."""
    package = "clarabel"
    loosest, tightest = 1e-6, 1e-12

    def prepare(self, A, b):
        m, n = A.shape
        A = sp.csc_matrix(A)
        P = sp.block_diag([sp.csc_matrix((n, n)), sp.identity(m)], format="csc")
        G = sp.bmat([[A, -sp.identity(m)], [-sp.identity(n), sp.csc_matrix((n, m))]], format="csc")
        return (P, G, m, n), b

    def solve(self, parts, b, tol):
        import clarabel
        P, G, m, n = parts
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_iter = 500
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
        cones = [clarabel.ZeroConeT(m), clarabel.NonnegativeConeT(n)]
        solver = clarabel.DefaultSolver(P, np.zeros(n + m), G, np.concatenate([b, np.zeros(n)]), cones, settings)
        return np.array(solver.solve().x)[:n]


PEERS = {
    "skglm": Skglm(),
    "scipy-nnls": ScipyNnls(),
    "adelie": Adelie(),
    "lbfgsb": Lbfgsb(),
    "sklearn": Sklearn(),
    "celer": Celer(),
    "fnnls": Fnnls(),
    "lsq-linear": LsqLinear(),
    "clarabel": Clarabel(),
}
