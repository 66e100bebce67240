#!/usr/bin/env python3
"""Writes python/esker/_algorithms.pyi from the catalogue, so that type checkers know the methods that are made at run time, and
docs/reference.md from signatures and docstrings.

Usage: PYTHONPATH=python python python/stubs.py. Tests compare the files with what this would write."""

from __future__ import annotations

import ast
import inspect
import pathlib
import re
from typing import Any, Iterator

import esker
from esker import _algorithms

PATH = pathlib.Path(__file__).parent / "esker" / "_algorithms.pyi"
REFERENCE = pathlib.Path(__file__).parents[1] / "docs" / "reference.md"
HEAD = '''"""Written by python/stubs.py from the catalogue: do not edit."""

from typing import Any, Callable, Iterable, NamedTuple

from ._graph import Estimate, Id
from ._progress import Progress
from ._result import Result

SETTINGS: tuple[tuple[str, str, Any, str], ...]

class Option(NamedTuple):
    name: str
    value: str
    help: str
    @property
    def keyword(self) -> str: ...
    @property
    def is_id(self) -> bool: ...
    @property
    def is_required(self) -> bool: ...
    @property
    def annotation(self) -> str: ...

class Algorithm(NamedTuple):
    name: str
    summary: str
    options: tuple[Option, ...]
    weighted: bool
    undirected: bool
    @property
    def method(self) -> str: ...
    def texts(self, given: dict[str, Any], to_text: Callable[[Any], str]) -> list[tuple[str, str]]: ...

ALGORITHMS: dict[str, Algorithm]

def document(algorithm: Algorithm, estimating: bool) -> str: ...
def signature(algorithm: Algorithm, estimating: bool) -> inspect.Signature: ...
'''


def methods(estimating: bool) -> str:
    """The methods of a class."""
    written = []
    for algorithm in _algorithms.ALGORITHMS.values():
        shape = str(_algorithms.signature(algorithm, estimating)).replace("'", "")
        text = _algorithms.document(algorithm, estimating).replace("\n", "\n        ").replace("        \n", "\n")
        written.append(f'    def {algorithm.method}{shape}:\n        """{text}\n        """\n')
    return "\n".join(written)


def text() -> str:
    """The whole file."""
    head = HEAD.replace("from typing import", "import inspect\nfrom typing import", 1)
    return (
        f"{head}\nclass Algorithms:\n    def _call(self, algorithm: Algorithm, given: dict[str, Any]) -> Any: ...\n\n"
        f"{methods(False)}\nclass Estimates:\n    def _call(self, algorithm: Algorithm, given: dict[str, Any]) -> Any: ...\n\n"
        f"{methods(True)}"
    )


#: What the reference tells of, in order: a heading, and names of `esker`.
CHAPTERS = (
    ("Functions", ("create", "open", "import_", "from_edges")),
    ("Databases", ("Database", "Batch", "Version", "Difference", "ImportReport")),
    ("Graphs", ("Graph", "EdgeTable", "Estimate")),
    ("Results", ("Result", "Column", "Progress")),
)


def markdown(docstring: str) -> str:
    """A docstring as Markdown: sections of arguments as lists, sessions as blocks."""
    lines, section = [], False
    for line in docstring.splitlines():
        if re.fullmatch(r"(Args|Raises|Returns):", line):
            section = True
            lines += [f"*{line}*", ""]
        elif section and (entry := re.fullmatch(r"    (\S[^:]*): (.*)", line)):
            lines.append(f"* `{entry[1]}`: {entry[2]}")
        elif section and line.startswith("    "):
            lines.append("  " + line.strip())
        else:
            section = section and not line
            lines.append(line)
    joined = re.sub(r":(?:class|meth|func|attr):`~?(?:esker\.)?([^`]*)`", r"`\1`", "\n".join(lines)).replace("``", "`")
    return re.sub(r"((?:^>>> .*\n?|^\.\.\. .*\n?)+)", lambda found: f"```python\n{found[1].rstrip()}\n```\n", joined, flags=re.MULTILINE).strip()


def call(name: str, function: Any) -> str:
    """A function with its parameters, without types."""
    shape = inspect.signature(function)
    parameters = [one.replace(annotation=inspect.Parameter.empty) for one in shape.parameters.values() if one.name != "self"]
    return f"{name}{shape.replace(parameters=parameters, return_annotation=inspect.Signature.empty)}"


def members(kind: type) -> Iterator[str]:
    """What a class has of its own, but for algorithms."""
    if issubclass(kind, tuple):
        yield from fields(kind)
    for name, value in vars(kind).items():
        if name.startswith("_") or not inspect.getdoc(value):
            continue
        if isinstance(value, property):
            yield f"**`{name}`**: {markdown(inspect.getdoc(value))}"
        elif inspect.isfunction(value):
            yield f"**`{call(name, value)}`**\n\n{markdown(inspect.getdoc(value))}"


def fields(kind: type) -> Iterator[str]:
    """The fields of a named tuple, with the texts below them."""
    body = ast.parse(inspect.getsource(kind)).body[0].body  # type: ignore[attr-defined]
    for field, below in zip(body, [*body[1:], None]):
        if isinstance(field, ast.AnnAssign):
            text = below.value.value if isinstance(below, ast.Expr) else ""  # type: ignore[attr-defined]
            yield f"**`{field.target.id}`**: {markdown(inspect.cleandoc(text))}".removesuffix(": ")  # type: ignore[union-attr]


def algorithm(one: _algorithms.Algorithm) -> str:
    """An algorithm, without what all of them take."""
    shape = _algorithms.signature(one, False)
    common = {name for name, *_ in _algorithms.SETTINGS} | {"self"}
    own = [p.replace(annotation=inspect.Parameter.empty) for name, p in shape.parameters.items() if name not in common]
    told = _algorithms.document(one, False).partition("\n    threads:")[0].removesuffix("Args:").rstrip()
    return f"**`{one.method}{shape.replace(parameters=own, return_annotation=inspect.Signature.empty)}`**\n\n{markdown(told)}"


def reference() -> str:
    """The page of everything that is public."""
    parts = [
        "# Reference of the Python package",
        "Written by `python/stubs.py` from signatures and docstrings: do not edit. The same is in `help()`; [python.md](python.md) is the guide.",
    ]
    for heading, names in CHAPTERS:
        parts.append(f"## {heading}")
        for name in names:
            value = getattr(esker, name)
            if inspect.isclass(value):
                parts += [f"### esker.{name}", markdown(inspect.getdoc(value)), *members(value)]
            else:
                parts += [f"### `{call(f'esker.{name}', value)}`", markdown(inspect.getdoc(value))]
    parts += ["## Algorithms", "Methods of `Graph`; each gives a `Result`. `g.estimate` has the same methods, which give an `Estimate`. All take:"]
    parts.append("\n".join(f"* `{name}={default!r}`: {text}" for name, _, default, text in _algorithms.SETTINGS))
    parts += [algorithm(one) for one in _algorithms.ALGORITHMS.values()]
    errors = [getattr(esker, name) for name in esker.__all__]
    errors = [one for one in errors if inspect.isclass(one) and issubclass(one, (BaseException, Warning))]
    row = "| `{}` | {} | {} |".format
    kinds = [", ".join(f"`{base.__name__}`" for base in one.__bases__ if base is not esker.Error) for one in errors]
    parts.append("## Exceptions")
    parts.append("\n".join(["| | is also a | |", "|---|---|---|"] + [row(e.__name__, k, markdown(inspect.getdoc(e))) for e, k in zip(errors, kinds)]))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PATH.write_text(text())
    REFERENCE.write_text(reference())
