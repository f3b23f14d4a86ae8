"""Examples run, everything is documented, and the import is light."""

import ast
import doctest
import importlib
import inspect
import json
import pkgutil
from importlib import resources

import pytest
from common import run_python

import nonneg
from nonneg import _nonneg

MODULES = ["nonneg", *(f"nonneg.{info.name}" for info in pkgutil.iter_modules(nonneg.__path__) if info.name != "_nonneg")]


def public():
    """Public names and what they stand for. The estimator may be missing so far."""
    found = {}
    for name in nonneg.__all__:
        try:
            found[name] = getattr(nonneg, name)
        except ModuleNotFoundError as error:
            assert (name, error.name) == ("NonNegativeRegression", "nonneg._regression")
    return found


CALLED = [
    name for name, value in public().items() if inspect.isfunction(value) or name in ("Problem", "NonNegativeRegression", "NMF")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, raise_on_error=False)
    assert failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(found) >= 6


@pytest.mark.parametrize("name", [name for name, value in public().items() if callable(value)])
def test_everything_public_has_a_docstring(name):
    value = public()[name]
    assert inspect.getdoc(value)
    assert value.__module__.startswith("nonneg")


@pytest.mark.parametrize("name", CALLED)
def test_what_users_call_has_a_runnable_example(name):
    text = inspect.getdoc(public()[name])
    assert "Examples\n--------" in text
    assert ">>> " in text.split("Examples\n--------")[1]


@pytest.mark.parametrize("name", CALLED)
def test_every_parameter_is_documented(name):
    value = public()[name]
    text = inspect.getdoc(value)
    section = text.split("Parameters\n----------")[1].split("\n\n")[0]
    heads = [line.split(":")[0] for line in section.splitlines() if not line.startswith(" ")]
    documented = {name.strip() for head in heads for name in head.split(",")}
    assert set(inspect.signature(value).parameters) <= documented


@pytest.mark.parametrize("name", ["Solution", "Certificate"])
def test_every_attribute_is_documented(name):
    value = getattr(nonneg, name)
    text = "".join(inspect.getdoc(kind) for kind in value.__mro__ if kind.__module__.startswith("nonneg"))
    missing = [field for field in value.__dataclass_fields__ if f"\n{field} : " not in text]
    assert not missing


@pytest.mark.parametrize("name", ["solve", "verify"])
def test_methods_of_problem_are_documented(name):
    assert inspect.getdoc(getattr(nonneg.Problem, name))


def test_py_typed_is_there():
    assert resources.files("nonneg").joinpath("py.typed").is_file()


def test_the_stub_lists_the_public_names_of_the_compiled_module():
    tree = ast.parse(resources.files("nonneg").joinpath("_nonneg.pyi").read_text())
    listed = {}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign):
            listed[node.target.id] = None
        elif isinstance(node, ast.FunctionDef):
            listed[node.name] = None
        elif isinstance(node, ast.ClassDef):
            methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            listed[node.name] = {method for method in methods if not method.startswith("_")}
    there = {name for name in dir(_nonneg) if not name.startswith("_")} | {"__version__"}
    assert set(listed) == there
    for name, members in listed.items():
        if members is not None:
            assert members == {member for member in dir(getattr(_nonneg, name)) if not member.startswith("_")}, name


@pytest.mark.parametrize("name", ["nnls", "solve", "verify"])
def test_the_stub_has_the_signatures_of_the_compiled_module(name):
    tree = ast.parse(resources.files("nonneg").joinpath("_nonneg.pyi").read_text())
    (node,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    assert [argument.arg for argument in node.args.args] == list(inspect.signature(getattr(_nonneg, name)).parameters)


def test_dir_lists_the_public_names():
    assert set(nonneg.__all__) <= set(dir(nonneg))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"nonneg.*nothing_like_that"):
        _ = nonneg.nothing_like_that


def test_version_is_that_of_the_package():
    from importlib.metadata import version

    assert nonneg.__version__ == version("nonneg")


def test_methods_are_those_of_the_contract():
    contract = ["auto", "si-nnls", "si-nnls-norestart", "active-set", "cd", "apcg", "fista"]
    contract += ["oa-ds", "lawson-hanson", "fnnls", "tnt-nn"]
    assert set(contract) <= set(nonneg.METHODS)
    assert len(nonneg.METHODS) == len(set(nonneg.METHODS))


def test_import_and_solve_need_numpy_alone():
    loaded = json.loads(
        run_python(
            """
import json, sys
import numpy as np
import nonneg
nonneg.nnls(np.eye(2), np.ones(2))
repr(nonneg.solve(np.eye(2), [1, 2]))
nonneg.Problem([[1.0]]).solve([1.0])
dir(nonneg)
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})))
"""
        )
    )
    assert "nonneg" in loaded
    assert not {"scipy", "sklearn", "pandas", "polars", "matplotlib"} & set(loaded)
