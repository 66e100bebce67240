"""Generated files match the catalogue, and everything public is documented."""

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
