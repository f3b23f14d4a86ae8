"""The judge against itself dense and sparse, against brute force, and against the separate checker where that exists.

NONNEG_CHECKER names a file with `certified_gap(A, b, x)`, NONNEG_DATA a folder with lm22.npz; without them those parts
are skipped.
"""
import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

from certificate import Certificate

ROOT = Path(__file__).resolve().parents[2].parent
CHECKER = Path(os.environ.get("NONNEG_CHECKER", ROOT / "shared" / "check_x.py"))
DATA = Path(os.environ.get("NONNEG_DATA", ROOT / "shared" / "data"))


def random_problem(seed=0, m=60, n=25):
    rng = np.random.default_rng(seed)
    A = np.asfortranarray(rng.random((m, n)) * (rng.random((m, n)) < 0.4))
    return A, rng.standard_normal(m) + A @ np.maximum(0, rng.standard_normal(n)), rng


def separate_checker():
    if not CHECKER.exists():
        pytest.skip("no separate checker")
    spec = importlib.util.spec_from_file_location("check_x", CHECKER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.certified_gap


def points(A, b, rng):
    exact = nnls(A, b)[0]
    yield np.zeros(A.shape[1])
    yield exact
    for size in (1e-8, 1e-4, 1e-1, 1.0):
        yield exact * (1 + size * rng.random(len(exact)))
        yield np.maximum(0, exact + size * exact.max() * rng.standard_normal(len(exact)))


@pytest.mark.parametrize("seed", range(5))
def test_random_problem_as_the_separate_checker(seed):
    certified_gap = separate_checker()
    A, b, rng = random_problem(seed)
    for x in points(A, b, rng):
        gap, objective = certified_gap(A, b, x)
        for form in (A, sp.csc_matrix(A)):
            mine = Certificate(form, b).score(x)
            assert mine["gap"] == pytest.approx(gap, rel=1e-6, abs=1e-13)
            assert mine["objective"] == pytest.approx(objective, rel=1e-12)


def test_lm22_as_the_separate_checker():
    certified_gap = separate_checker()
    if not (DATA / "lm22.npz").exists():
        pytest.skip("no lm22")
    A, b = sp.csc_matrix(sp.load_npz(DATA / "lm22.npz"), dtype=float), np.load(DATA / "lm22.npz")["b"]
    judge = Certificate(A, b)
    for x in points(A.toarray(), b, np.random.default_rng(1)):
        assert judge.score(x)["gap"] == pytest.approx(certified_gap(A, b, x)[0], rel=1e-6, abs=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_the_gap_is_never_below_the_truth(seed):
    A, b, rng = random_problem(seed)
    f = lambda x: 0.5 * np.sum((A @ x) ** 2) - b @ (A @ x)
    best = f(nnls(A, b)[0])
    for x in points(A, b, rng):
        assert Certificate(A, b).score(x)["gap"] >= (f(x) - best) / abs(best) - 1e-13


def test_the_exact_answer_has_no_gap():
    A, b, _ = random_problem()
    assert Certificate(A, b).score(nnls(A, b)[0])["gap"] < 1e-12


def test_a_wrong_answer_has_an_infinite_gap():
    A, b, _ = random_problem()
    assert Certificate(A, b).score(np.full(A.shape[1], np.nan))["gap"] == np.inf
    assert Certificate(A, b).score(np.zeros(3))["gap"] == np.inf


def test_zero_is_optimal_where_nothing_points_down():
    A, b, _ = random_problem()
    assert Certificate(A, -np.abs(b)).score(np.zeros(A.shape[1]))["gap"] == 0.0
