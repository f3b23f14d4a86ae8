"""NonNegativeRegression: scikit-learn's own checks, and its own estimators."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from nonneg import NonNegativeRegression


@parametrize_with_checks(
    [NonNegativeRegression(), NonNegativeRegression(fit_intercept=False, l1=0.1, l2=0.2), NonNegativeRegression(method="cd")]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def data(seed=0, samples=80, features=7, targets=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, features))
    shape = features if targets is None else (features, targets)
    y = X @ rng.standard_normal(shape) + 2.0 + 0.1 * rng.standard_normal(samples if targets is None else (samples, targets))
    return X, y


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("targets", [None, 1, 3])
@pytest.mark.parametrize("weighted", [True, False])
def test_equals_linear_regression(fit_intercept, targets, weighted):
    X, y = data(targets=targets)
    weights = np.random.default_rng(1).random(len(X)) if weighted else None
    expected = LinearRegression(positive=True, fit_intercept=fit_intercept).fit(X, y, weights)
    model = NonNegativeRegression(fit_intercept=fit_intercept, tol=1e-12).fit(X, y, weights)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, atol=1e-7)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-7)
    assert model.coef_.shape == expected.coef_.shape


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("alpha", "l1_ratio"), [(0.1, 1.0), (0.05, 0.5), (0.3, 0.1)])
def test_equals_elastic_net(fit_intercept, alpha, l1_ratio):
    X, y = data(1)
    expected = ElasticNet(
        alpha=alpha, l1_ratio=l1_ratio, positive=True, fit_intercept=fit_intercept, tol=1e-12, max_iter=100_000
    )
    expected.fit(X, y)
    l1, l2 = len(X) * alpha * l1_ratio, len(X) * alpha * (1 - l1_ratio)
    model = NonNegativeRegression(fit_intercept=fit_intercept, l1=l1, l2=l2, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, atol=1e-6)


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_samples(make, fit_intercept):
    X, y = data(2)
    X[np.random.default_rng(2).random(X.shape) < 0.7] = 0.0
    dense = NonNegativeRegression(fit_intercept=fit_intercept, tol=1e-12).fit(X, y)
    sparse = NonNegativeRegression(fit_intercept=fit_intercept, tol=1e-12).fit(make(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-8)
    np.testing.assert_allclose(sparse.predict(make(X)), dense.predict(X), atol=1e-8)


def test_what_was_proved():
    X, y = data(3)
    model = NonNegativeRegression().fit(X, y)
    assert model.certificate_.certified and model.certificate_.relative_gap <= 1e-9
    assert model.n_iter_ >= 1
    assert [solution.certified for solution in NonNegativeRegression().fit(*data(3, targets=2)).certificate_] == [True, True]


def test_names_of_features():
    X, y = data(4)
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    model = NonNegativeRegression().fit(frame, y)
    assert list(model.feature_names_in_) == list("abcdefg")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("gfedcba")])


def test_pipeline_grid_search_and_clone():
    X, y = data(5)
    y = X @ np.arange(7.0) + 1.0
    pipeline = make_pipeline(MaxAbsScaler(), NonNegativeRegression())
    search = GridSearchCV(pipeline, {"nonnegativeregression__l1": [0.0, 1.0, 100.0]}, cv=3).fit(X, y)
    assert search.best_params_["nonnegativeregression__l1"] in (0.0, 1.0)
    assert np.isfinite(cross_val_score(clone(pipeline), X, y, cv=3)).all()
    assert clone(NonNegativeRegression(l1=3.0)).l1 == 3.0


def test_warm_start_costs_less():
    X, y = data(6, samples=400, features=100)
    model = NonNegativeRegression(warm_start=True, fit_intercept=False, method="cd").fit(abs(X), y)
    first, coef = model.n_iter_, model.coef_.copy()
    model.fit(abs(X), y)
    assert model.n_iter_ < first
    np.testing.assert_allclose(model.coef_, coef, atol=1e-6)


def test_running_out_of_passes_warns():
    X, y = data(7, samples=300, features=100)
    with pytest.warns(ConvergenceWarning, match="pass_limit"):
        NonNegativeRegression(max_passes=5, tol=1e-12).fit(X, y)
