"""Methods for the algorithms, generated from the catalogue of the native half."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Mapping, NamedTuple

from . import _esker
from ._errors import InvalidError, MistypedError

#: Parameters of every algorithm: name, type, default, description.
SETTINGS: tuple[tuple[str, str, Any, str], ...] = (
    ("threads", "int | None", None, "Worker threads; one a processor if not given."),
    ("memory", "int | str | None", None, "The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs."),
    ("seed", "int", 0, "Seed of all random choices."),
    ("deterministic", "bool", False, "The same answer for any number of threads."),
    ("progress", "bool | Callable[[Progress], object] | None", None, "True shows a bar; a callable is told of each round."),
    ("verify", "bool", False, "Checks the answer by a slow serial verifier."),
    ("encoding", "Literal['lists', 'tiles'] | None", None, "What is read: 'lists' or 'tiles'."),
    ("residency", "Literal['mapped', 'pooled', 'headed', 'memory'] | None", None, "How it is kept in memory: 'mapped', 'pooled', 'headed' (lists) or 'memory' (a copy of the lists); see docs/memory.md."),
    ("head", "int | None", None, "With headed lists, the neighbours of each vertex that are kept; as many as fit if not given."),
    (
        "undirected",
        "bool",
        False,
        "Reads a directed graph as undirected: edges both ways become one, with the smaller weight; in a multigraph, each becomes an edge.",
    ),
    ("weight", "str | None", None, "Of algorithms that read weights: the edge property that is the weight; that of the import if not given (``pagerank``: every edge counts alike)."),
)
_OF_ESTIMATES = ("threads", "memory", "deterministic", "encoding", "residency", "head", "undirected", "weight")
_TYPES = {"vertex": "Id | None", "integer": "int | None", "float": "float | None", "property": "str | None", "flag": "bool"}


def _literal(choices: tuple[str, ...]) -> str:
    """The type of one of some texts."""
    return f"Literal[{', '.join(map(repr, choices))}]"


class Option(NamedTuple):
    """An option of an algorithm."""

    name: str
    """Its name in the catalogue."""
    kind: str
    """``vertex``, ``integer``, ``float``, ``property``, ``choice`` or ``flag``."""
    choices: tuple[str, ...]
    """The values of a choice; of a number, the words that stand for one."""
    default: str
    """The default, in words; empty without one."""
    required: bool
    repeatable: bool
    """Whether it takes several values, as an iterable."""
    help: str

    @property
    def keyword(self) -> str:
        """The name of the parameter in Python."""
        return self.name.replace("-", "_")

    @property
    def annotation(self) -> str:
        """Its type."""
        if self.kind == "vertex":
            kinds = "Id | Iterable[Id]" if self.repeatable else "Id"
            return kinds if self.required else f"{kinds} | None"
        if self.kind == "choice":
            return f"{_literal(self.choices)} | None"
        if self.choices:
            return f"float | {_literal(self.choices)} | None"
        return _TYPES[self.kind]

    @property
    def description(self) -> str:
        """What it does, its values and its default."""
        text = self.help.replace("--", "").rstrip(".")
        text += f" ({', '.join(map(repr, self.choices))})" if self.kind == "choice" else ""
        text += "; one or several" if self.repeatable else ""
        return text + (f" [default: {self.default.replace('--', '')}]" if self.default else "") + "."

    def texts(self, value: Any, to_text: Callable[[Any], str]) -> list[str]:
        """A value as texts for the native half. ``to_text`` checks an id and formats it."""
        if self.kind == "vertex":
            if isinstance(value, Mapping):
                raise MistypedError(f"{self.keyword} takes vertices without weights: give a list of them")
            several = not isinstance(value, (str, bytes)) and hasattr(value, "__iter__")
            if several and not self.repeatable:
                value = list(value)
                if len(value) != 1:
                    raise InvalidError(f"{self.keyword} must be one vertex, not {len(value)}")
            ids = list(value) if several else [value]
            if not ids:
                raise InvalidError(f"{self.keyword} must name at least one vertex")
            return [to_text(one) for one in ids]
        if self.kind == "flag":
            return ["true"]
        if self.kind == "integer":
            if isinstance(value, bool) or not hasattr(value, "__index__"):
                raise MistypedError(f"{self.keyword} must be an integer, not {type(value).__name__}")
            if value.__index__() < 0:
                raise InvalidError(f"{self.keyword} must not be negative, but is {value}")
            return [str(value.__index__())]
        if self.kind == "float":
            if isinstance(value, str) and value in self.choices:
                return [value]
            if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
                raise MistypedError(f"{self.keyword} must be a number, not {type(value).__name__}")
            return [repr(float(value))]
        if not isinstance(value, str):
            raise MistypedError(f"{self.keyword} must be a string, not {type(value).__name__}")
        if self.kind == "choice" and value not in self.choices:
            raise InvalidError(f"{self.keyword} must be one of {', '.join(map(repr, self.choices))}, not {value!r}")
        return [value]


class Algorithm(NamedTuple):
    """An entry of the catalogue."""

    name: str
    summary: str
    options: tuple[Option, ...]
    weighted: bool
    takes_weight: bool
    undirected: bool
    columns: tuple[str, ...]
    """The columns of its answers."""
    figures: tuple[str, ...]
    """The figures of its answers."""

    @property
    def method(self) -> str:
        """The name of the method in Python."""
        return self.name.replace("-", "_")

    def texts(self, given: dict[str, Any], to_text: Callable[[Any], str]) -> list[tuple[str, str]]:
        """Options as pairs of name and text, for the native half. ``to_text`` checks an id and formats it."""
        pairs = []
        for option in self.options:
            value = given.get(option.keyword)
            if value is None or (option.kind == "flag" and value is False):
                if option.required:
                    raise MistypedError(f"{self.method} needs {option.keyword}")
                continue
            pairs += [(option.name, text) for text in option.texts(value, to_text)]
        return pairs


def _option(listed: dict[str, Any]) -> Option:
    return Option(**{**listed, "choices": tuple(listed["choices"])})


def _algorithm(listed: dict[str, Any]) -> Algorithm:
    options = tuple(map(_option, listed["options"]))
    return Algorithm(**{**listed, "options": options, "columns": tuple(listed["columns"]), "figures": tuple(listed["figures"])})


ALGORITHMS: dict[str, Algorithm] = {listed["name"]: _algorithm(listed) for listed in _esker.catalogue()}


def _answer(algorithm: Algorithm) -> str:
    """The columns and figures of an answer."""
    parts = [("column", algorithm.columns), ("figure", algorithm.figures)]
    return " and ".join(f"{kind}{'s' if len(names) > 1 else ''} ``{', '.join(names)}``" for kind, names in parts if names)


def _settings(algorithm: Algorithm, estimating: bool) -> list[tuple[str, str, Any, str]]:
    """The parameters of a method that are no options of its algorithm."""
    takes = lambda name: (not estimating or name in _OF_ESTIMATES) and (name != "weight" or algorithm.takes_weight)  # noqa: E731
    return [one for one in SETTINGS if takes(one[0])]


def document(algorithm: Algorithm, estimating: bool) -> str:
    """The docstring of a method."""
    lines = [algorithm.summary.rstrip(".") + ".", ""]
    if estimating:
        lines[0] = f"Estimates the memory and the bytes of lists read by ``{algorithm.method}``."
    else:
        if algorithm.weighted:
            lines += ["Uses the weights of edges; without weights, every edge has weight 1.", ""]
        if algorithm.undirected:
            lines += ["For undirected graphs; of a directed one, with ``undirected=True``.", ""]
    lines.append("Args:")
    for option in algorithm.options:
        lines.append(f"    {option.keyword}: {option.description}")
    lines += [f"    {name}: {text}" for name, _, _, text in _settings(algorithm, estimating)]
    lines += ["", "Returns:"]
    lines.append("    An :class:`esker.Estimate`." if estimating else f"    A :class:`esker.Result` with {_answer(algorithm)}.")
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
    ids = sorted((o for o in algorithm.options if o.kind == "vertex" and o.name == "source"), key=lambda o: not o.required)
    for option in ids:
        default = Kind.empty if option.required else None
        annotation = option.annotation if default is Kind.empty or not option.required else f"{option.annotation} | None"
        parameters.append(Kind(option.keyword, Kind.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation))
    for option in algorithm.options:
        if option not in ids:
            default = False if option.kind == "flag" else None
            parameters.append(Kind(option.keyword, Kind.KEYWORD_ONLY, default=default, annotation=option.annotation))
    for name, annotation, default, _ in _settings(algorithm, estimating):
        parameters.append(Kind(name, Kind.KEYWORD_ONLY, default=default, annotation=annotation))
    returns = "Estimate" if estimating else "Result"
    return inspect.Signature(parameters, return_annotation=returns)


def _known(shape: inspect.Signature, kwargs: dict[str, Any]) -> str:
    """The names of all parameters, if one of the given names is not among them."""
    names = [name for name in shape.parameters if name != "self"]
    return "" if set(kwargs) <= set(names) else f"; it takes {', '.join(names)}"


def _method(algorithm: Algorithm, owner: str, estimating: bool) -> Callable[..., Any]:
    shape = signature(algorithm, estimating)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            bound = shape.bind(self, *args, **kwargs)
        except TypeError as error:
            raise MistypedError(f"{algorithm.method}: {error}{_known(shape, kwargs)}") from None
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


for _one in ALGORITHMS.values():
    setattr(Algorithms, _one.method, _method(_one, "Graph", False))
    setattr(Estimates, _one.method, _method(_one, "Estimates", True))
