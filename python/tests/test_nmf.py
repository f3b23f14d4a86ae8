"""nmf and NMF."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.decomposition
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import nonneg


def mixture(m=40, n=30, k=4, noise=0.05, seed=0):
    rng = np.random.default_rng(seed)
    W, H = (rng.random((m, k)) * (rng.random((m, k)) < 0.6), rng.random((k, n)) * (rng.random((k, n)) < 0.6))
    return np.maximum(W @ H + noise * rng.standard_normal((m, n)), 0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([nonneg.NMF(), nonneg.NMF(1, method="exact"), nonneg.NMF(init="random", l2=0.1)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", ["hals", "exact"])
@pytest.mark.parametrize("init", ["nndsvda", "nndsvd", "random"])
def test_factors_are_what_they_say(method, init):
    V = mixture()
    factors = nonneg.nmf(V, 4, method=method, init=init, max_iter=50)
    W, H = factors[:2]
    assert W.shape == (40, 4) and H.shape == (4, 30) and W.min() >= 0 and H.min() >= 0
    assert_allclose(factors.residual_norm, np.linalg.norm(V - W @ H), rtol=1e-6)
    assert_allclose(factors.objective, factors.residual_norm**2 / 2, rtol=1e-12)
    assert (np.diff(factors.trace) <= 1e-9).all() and len(factors.trace) == factors.n_iter


@pytest.mark.parametrize("seed", range(5))
def test_as_good_as_scikit_learns(seed):
    V = mixture(noise=0.1, seed=seed)
    theirs = sklearn.decomposition.NMF(4, init="nndsvda", tol=1e-6, max_iter=5000).fit(V)
    ours = nonneg.nmf(V, 4, tol=1e-6, max_iter=5000)
    assert ours.residual_norm <= 1.03 * theirs.reconstruction_err_


@pytest.mark.parametrize("make", [sp.csc_array, sp.csr_matrix, sp.coo_array, np.asfortranarray, pd.DataFrame, np.float32])
def test_any_matrix_is_taken(make):
    V = np.round(mixture() * 16) / 16
    assert_allclose(nonneg.nmf(make(V), 3, max_iter=30).objective, nonneg.nmf(V, 3, max_iter=30).objective, rtol=1e-6)


def test_the_number_of_threads_changes_no_bit():
    V = mixture(200, 150)
    first, second = (nonneg.nmf(V, 5, threads=threads) for threads in (1, 3))
    assert_array_equal(first.W, second.W)
    assert_array_equal(first.H, second.H)


def test_the_estimator_is_scikit_learns():
    X = mixture(60, 20)
    model = nonneg.NMF(4, tol=1e-7, max_iter=3000)
    W = model.fit_transform(X)
    assert_allclose(np.linalg.norm(X - model.inverse_transform(W)), model.reconstruction_err_, rtol=1e-6)
    assert_allclose(model.transform(X), W, atol=1e-3 * W.max())
    assert model.components_.shape == (4, 20) and model.n_components_ == 4 and model.n_iter_ > 1
    assert list(model.get_feature_names_out()) == ["nmf0", "nmf1", "nmf2", "nmf3"]
    pipeline = make_pipeline(MaxAbsScaler(), nonneg.NMF(3)).fit(sp.csr_array(X))
    assert pipeline.transform(sp.csr_array(X)).shape == (60, 3)


def test_too_few_steps_warn():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        nonneg.NMF(3, max_iter=1).fit(mixture())
    assert nonneg.nmf(mixture(), 3, max_iter=1).status == "iteration_limit"
    assert nonneg.nmf(mixture(), 3, time_limit=0).status == "time_limit"


def test_bad_input_is_refused_by_name():
    V = mixture()
    for arguments, message in [
        ({"V": -V}, "V.*negative"),
        ({"V": V * np.nan}, "^V: "),
        ({"V": V[0]}, "V has the shape"),
        ({"k": 0}, "k"),
        ({"k": 2.5}, "k"),
        ({"tol": -1}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"l1": -1}, "l1"),
        ({"method": "mu"}, "method.*hals.*exact"),
        ({"init": "zeros"}, "init.*nndsvda"),
        ({"time_limit": -1}, "time_limit"),
    ]:
        with pytest.raises((ValueError, TypeError), match=message):
            nonneg.nmf(**({"V": V, "k": 2} | arguments))
