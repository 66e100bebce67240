"""Generated files match the catalogue, everything public is documented, and no module needs one above it."""

import ast
import graphlib
import importlib
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import warnings

import pytest

import esker

TYPED = pathlib.Path(__file__).parent / "typed.py"


@pytest.fixture
def stubs(monkeypatch):
    monkeypatch.syspath_prepend(pathlib.Path(__file__).parents[1])
    return importlib.import_module("stubs")


def test_stubs_are_fresh(stubs):
    written = stubs.PATH.read_text()
    if written != stubs.text():
        warnings.warn("the stubs differ from the catalogue; regenerate them: PYTHONPATH=python python python/stubs.py", stacklevel=1)
    methods = set(re.findall(r"^    def ([a-z]\w*)\(self, ", written, re.MULTILINE))
    assert methods - {"texts"} <= {algorithm.method for algorithm in esker.ALGORITHMS.values()}, "the stubs have methods that do not exist"


def test_the_reference_is_fresh(stubs):
    remedy = "docs/reference.md is out of date; regenerate it: PYTHONPATH=python python python/stubs.py"
    (written, algorithms), (fresh, others) = (text.split("## Algorithms") for text in (stubs.REFERENCE.read_text(), stubs.reference()))
    assert written == fresh, remedy
    if algorithms != others:
        warnings.warn(remedy, stacklevel=1)


def test_everything_public_is_documented():
    for name in esker.__all__:
        thing = getattr(esker, name)
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing) and thing.__module__.startswith("esker"):
            for attribute, value in vars(thing).items():
                if not attribute.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                    assert inspect.getdoc(value), f"{name}.{attribute}"


def test_exceptions_are_a_tree():
    for name in esker.__all__:
        kind = getattr(esker, name)
        if inspect.isclass(kind) and issubclass(kind, BaseException) and not issubclass(kind, Warning):
            assert issubclass(kind, esker.Error), name
    assert issubclass(esker.VertexNotFoundError, KeyError) and issubclass(esker.Cancelled, Exception)
    assert str(esker.VertexNotFoundError("no vertex")) == "no vertex", "not in quotes, as a KeyError would be"


def test_no_modules_import_each_other():
    """Imports within functions count; those for annotations alone do not."""
    modules = {path.stem: ast.parse(path.read_text()) for path in pathlib.Path(esker.__file__).parent.glob("*.py") if path.stem != "__init__"}
    needs = {name: set(imported(tree, modules)) for name, tree in modules.items()}
    assert "_graph" in needs["_database"], "imports are found"
    list(graphlib.TopologicalSorter(needs).static_order())  # raises CycleError, which names the circle


def imported(node, modules):
    """The modules of a package that code imports relatively."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.ImportFrom) and child.level == 1:
            names = [child.module] if child.module else [alias.name for alias in child.names]
            yield from (name for name in names if name in modules)
        yield from imported(child, modules)


def test_types_tell_right_uses_from_wrong_ones():
    options = ["--strict", "--follow-imports=silent", "--cache-dir", os.devnull]
    run = subprocess.run([sys.executable, "-m", "mypy", *options, TYPED], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_pyright_tells_right_uses_from_wrong_ones(tmp_path):
    settings = {"include": ["."], "extraPaths": [os.fspath(TYPED.parents[1])], "reportUnnecessaryTypeIgnoreComment": "error"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    (tmp_path / "typed.py").write_text(TYPED.read_text())
    command = [sys.executable, "-m", "pyright", "--project", tmp_path, "--pythonpath", sys.executable]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    (tmp_path / "typed.py").write_text(TYPED.read_text().replace("  # type: ignore[arg-type]", "", 1))
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "1 error" in run.stdout, "a wrong use is an error"
