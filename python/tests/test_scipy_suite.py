"""SciPy's own tests of nnls, with ours in its place. None is skipped."""

import importlib.util
import inspect
from pathlib import Path

import pytest
import scipy.optimize

import nonneg

FILE = Path(scipy.optimize.__file__).parent / "tests" / "test_nnls.py"
AT_LEAST = 12
calls = 0


def counted_nnls(A, b, **options):
    global calls
    calls += 1
    return nonneg.nnls(A, b, **options)


def load():
    """SciPy's test file as a module of its own, in which `nnls` is ours."""
    spec = importlib.util.spec_from_file_location("scipys_test_nnls", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.nnls is scipy.optimize.nnls
    module.nnls = counted_nnls
    return module


suite = load() if FILE.exists() else None
cases = getattr(suite, "TestNNLS", object)
names = [name for name, _ in inspect.getmembers(cases, inspect.isfunction) if name.startswith("test")]


def test_the_suite_is_there():
    assert FILE.exists(), f"SciPy came without its tests: {FILE}"
    assert len(names) >= AT_LEAST, names


@pytest.mark.parametrize("name", names)
def test_scipys(name):
    before = calls
    case = cases()
    case.setup_method()
    getattr(case, name)()
    assert calls > before, "our nnls was not called"
