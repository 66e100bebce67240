"""Methods for the algorithms, generated from the catalogue of the native half."""

from __future__ import annotations

import inspect
from typing import Any, Callable, NamedTuple

from . import _esker
from ._errors import InvalidError, MistypedError

#: Parameters of every algorithm: name, type, default, description.
SETTINGS: tuple[tuple[str, str, Any, str], ...] = (
    ("threads", "int | None", None, "Worker threads; one a processor if not given."),
    ("memory", "int | str | None", None, "The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs."),
    ("seed", "int", 0, "Of everything random."),
    ("deterministic", "bool", False, "The same answer for any number of threads."),
    ("progress", "bool | Callable[[Progress], object] | None", None, "True shows a bar; a callable is told of each round."),
    ("verify", "bool", False, "Checks the answer by a slow serial verifier."),
    ("encoding", "str | None", None, "What is read: 'lists' or 'tiles'."),
    ("residency", "str | None", None, "How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md."),
    ("head", "int | None", None, "With headed lists, the neighbours of each vertex that are kept; as many as fit if not given."),
)
_TYPES = {
    "ID": "Id | Iterable[Id] | None",
    "NUMBER": "float | None",
    "N": "int | None",
    "COUNT": "int | None",
    "": "bool",
}


class Option(NamedTuple):
    """An option of an algorithm."""

    name: str
    """Its name in the catalogue."""
    value: str
    help: str

    @property
    def keyword(self) -> str:
        """The name of the parameter in Python."""
        return self.name.replace("-", "_")

    @property
    def is_id(self) -> bool:
        """Whether it names vertices."""
        return self.value == "ID"

    @property
    def is_required(self) -> bool:
        """Whether there is no default."""
        return self.is_id and "[default" not in self.help

    @property
    def annotation(self) -> str:
        """Its type."""
        if self.is_required:
            return "Id | Iterable[Id]" if "several" in self.help else "Id"
        return _TYPES.get(self.value, "str | None")


class Algorithm(NamedTuple):
    """An entry of the catalogue."""

    name: str
    summary: str
    options: tuple[Option, ...]
    weighted: bool
    undirected: bool

    @property
    def method(self) -> str:
        """The name of the method in Python."""
        return self.name.replace("-", "_")

    def texts(self, given: dict[str, Any], to_text: Callable[[Any], str]) -> list[tuple[str, str]]:
        """Options as pairs of name and text, for the native half. ``to_text`` checks an id and formats it."""
        texts = []
        for option in self.options:
            value = given.get(option.keyword)
            if value is None or (option.value == "" and value is False):
                if option.is_required:
                    raise MistypedError(f"{self.method} needs {option.keyword}, the id of a vertex")
                continue
            if option.is_id:
                several = not isinstance(value, (str, bytes)) and hasattr(value, "__iter__")
                ids = list(value) if several else [value]
                if option.is_required and not ids:
                    raise InvalidError(f"{self.method} needs at least one {option.keyword}")
                texts += [(option.name, to_text(one)) for one in ids]
            elif option.value == "":
                texts.append((option.name, "true"))
            else:
                texts.append((option.name, _text(option, value)))
        return texts


def _text(option: Option, value: Any) -> str:
    if option.value in ("N", "COUNT"):
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise MistypedError(f"{option.keyword} must be an integer, not {type(value).__name__}")
        if value.__index__() < 0:
            raise InvalidError(f"{option.keyword} must not be negative, but is {value}")
        return str(value.__index__())
    if option.value == "NUMBER":
        if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
            raise MistypedError(f"{option.keyword} must be a number, not {type(value).__name__}")
        return repr(float(value))
    if not isinstance(value, str):
        raise MistypedError(f"{option.keyword} must be a string, not {type(value).__name__}")
    return value


ALGORITHMS: dict[str, Algorithm] = {
    name: Algorithm(name, summary, tuple(Option(*option) for option in options), weighted, undirected)
    for name, summary, options, weighted, undirected in _esker.catalogue()
}


def _help(text: str) -> str:
    """The text of an option's help, with its default as Python says it."""
    return text.replace("--", "")


def document(algorithm: Algorithm, estimating: bool) -> str:
    """The docstring of a method."""
    lines = [algorithm.summary.rstrip(".") + ".", ""]
    if estimating:
        lines[0] = f"Estimates the memory and the bytes of lists read by ``{algorithm.method}``."
    else:
        if algorithm.weighted:
            lines += ["Uses the weights of edges; without weights, every edge has weight 1.", ""]
        if algorithm.undirected:
            lines += ["For undirected graphs only.", ""]
    lines.append("Args:")
    for option in algorithm.options:
        lines.append(f"    {option.keyword}: {_help(option.help).rstrip('.')}.")
    settings = [one for one in SETTINGS if not estimating or one[0] in ("threads", "deterministic")]
    lines += [f"    {name}: {text}" for name, _, _, text in settings]
    lines += ["", "Returns:"]
    lines.append("    An :class:`esker.Estimate`." if estimating else "    A :class:`esker.Result`.")
    lines += [
        "",
        f"The header of ``{algorithm.name.replace('-', '_')}`` in ``crates/esker-algo/src/algorithm`` describes",
        "method, source, work and memory; ``esker.Graph.estimate`` estimates the memory for a graph.",
    ]
    return "\n".join(lines)


def signature(algorithm: Algorithm, estimating: bool) -> inspect.Signature:
    """The signature of a method: sources by position or name, all other parameters by name only."""
    Kind = inspect.Parameter
    parameters = [Kind("self", Kind.POSITIONAL_OR_KEYWORD)]
    ids = sorted((o for o in algorithm.options if o.is_id and o.name == "source"), key=lambda o: not o.is_required)
    for option in ids:
        default = Kind.empty if option.is_required and not estimating else None
        parameters.append(Kind(option.keyword, Kind.POSITIONAL_OR_KEYWORD, default=default, annotation=option.annotation))
    for option in algorithm.options:
        if option not in ids:
            default = False if option.value == "" else None
            parameters.append(Kind(option.keyword, Kind.KEYWORD_ONLY, default=default, annotation=option.annotation))
    for name, annotation, default, _ in SETTINGS:
        if not estimating or name in ("threads", "deterministic"):
            parameters.append(Kind(name, Kind.KEYWORD_ONLY, default=default, annotation=annotation))
    returns = "Estimate" if estimating else "Result"
    return inspect.Signature(parameters, return_annotation=returns)


def _method(algorithm: Algorithm, owner: str, estimating: bool) -> Callable[..., Any]:
    shape = signature(algorithm, estimating)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            bound = shape.bind(self, *args, **kwargs)
        except TypeError as error:
            raise MistypedError(f"{algorithm.method}: {error}") from None
        given = dict(bound.arguments)
        del given["self"]
        return self._call(algorithm, given)

    method.__name__ = algorithm.method
    method.__qualname__ = f"{owner}.{algorithm.method}"
    method.__doc__ = document(algorithm, estimating)
    method.__signature__ = shape  # type: ignore[attr-defined]
    return method


class Algorithms:
    """The algorithms of the catalogue as methods of a graph."""

    __slots__ = ()

    def _call(self, algorithm: Algorithm, given: dict[str, Any]) -> Any:
        raise NotImplementedError


class Estimates:
    """Estimates for the algorithms of the catalogue, by methods of the same names: ``g.estimate.pagerank()``."""

    __slots__ = ()

    def _call(self, algorithm: Algorithm, given: dict[str, Any]) -> Any:
        raise NotImplementedError


for _algorithm in ALGORITHMS.values():
    setattr(Algorithms, _algorithm.method, _method(_algorithm, "Graph", False))
    setattr(Estimates, _algorithm.method, _method(_algorithm, "Estimates", True))
