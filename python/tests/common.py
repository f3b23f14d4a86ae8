"""Problems and checks that several test files use. Nothing here calls nonneg."""

import subprocess
import sys

import numpy as np
import scipy.sparse as sp


def text_like(rows=80, cols=40, seed=0, density=0.2):
    """A sparse A ≥ 0 with a noisy right-hand side: about half of the solution is zero."""
    rng = np.random.default_rng(seed)
    A = sp.random(rows, cols, density=density, random_state=rng, data_rvs=rng.random).tocsc()
    b = A @ np.maximum(rng.standard_normal(cols), 0.0) + 0.1 * rng.standard_normal(rows)
    return A, b


def uniform(rows=60, cols=30, seed=0):
    """A dense A in [0, 1)."""
    rng = np.random.default_rng(seed)
    A = rng.random((rows, cols))
    return A, A @ np.maximum(rng.standard_normal(cols), 0.0) + 0.1 * rng.standard_normal(rows)


def gaussian(rows=60, cols=30, seed=0):
    """A dense A of both signs."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rows, cols))
    return A, A @ np.maximum(rng.standard_normal(cols), 0.0) + 0.1 * rng.standard_normal(rows)


def endless(rows=40, cols=30, seed=0):
    """A column and its opposite: nothing bounds x. No x fits the last row, so that no fit is a proof either."""
    A, b = gaussian(rows, cols, seed)
    A[:, 1] = -A[:, 0]
    A[-1], b[-1] = 0.0, 5.0
    return A, b


def spectra(rows=60, cols=30, seed=0):
    """Overlapping peaks: columns next to each other are nearly the same."""
    rng = np.random.default_rng(seed)
    place = np.linspace(0.0, 1.0, rows)[:, None]
    A = np.exp(-0.5 * ((place - np.sort(rng.random(cols))) / 0.03) ** 2)
    return A, A @ rng.exponential(size=cols) * (1.0 + 0.01 * rng.standard_normal(rows))


def objective(A, b, x):
    return 0.5 * np.sum((A @ x - b) ** 2)


def optimality(A, b, x):
    """The largest break of the optimality conditions of min ‖Ax − b‖ over x ≥ 0: zero exactly at an optimum.

    Free of units: columns are taken at unit length, and b too.
    """
    A = A.toarray() if sp.issparse(A) else np.asarray(A, dtype=float)
    lengths = np.sqrt(np.sum(A * A, axis=0))
    lengths[lengths == 0.0] = 1.0
    size = np.linalg.norm(b) or 1.0
    gradient = A.T @ (A @ x - b) / lengths / size
    assert (x >= 0.0).all()
    return np.max(np.where(x > 0.0, np.abs(gradient), np.maximum(0.0, -gradient)), initial=0.0)


def run_python(code, *arguments, timeout=60, **options):
    """Runs a program in a process of its own, warnings as errors; returns what it printed."""
    command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, **options)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout
