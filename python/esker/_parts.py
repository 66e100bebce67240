"""The edges of a graph that are of some kinds, those that meet conditions, and those without some vertices."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Iterable, Mapping

from ._algorithms import Algorithm, Algorithms
from ._counted import counted
from ._errors import InvalidError, MistypedError
from ._esker import group_edges, part_view
from ._settings import run_settings

if TYPE_CHECKING:
    from ._graph import Graph
    from ._result import Result


class PartView(Algorithms):
    """A part of the edges, from :meth:`Graph.where`, :meth:`Graph.of_kinds` and :meth:`Graph.without`, with every algorithm as a method. It is a
    way of reading, not a copy."""

    __slots__ = ("graph", "kinds", "conditions", "all_vertices", "left_out", "_natives")

    def __init__(
        self, graph: Graph, kinds: tuple[str, ...], conditions: tuple[str, ...], all_vertices: bool, left_out: tuple[Any, ...] = ()
    ) -> None:
        for what, texts in (("a kind", kinds), ("a condition", conditions)):
            for text in texts:
                if not isinstance(text, str):
                    raise MistypedError(f"{what} must be a string, not {type(text).__name__}")
        self.graph: Graph = graph
        """The whole graph."""
        self.kinds: tuple[str, ...] = kinds
        """The kinds; empty if edges of any kind are in it."""
        self.conditions: tuple[str, ...] = conditions
        """The conditions, all of which each edge meets."""
        self.all_vertices: bool = bool(all_vertices)
        """Whether the vertices without such an edge are in it."""
        self.left_out: tuple[Any, ...] = left_out
        """The ids of vertices that are left out with their edges."""
        self._natives: dict[Any, Any] = {}
        self._native(None, False)

    def where(self, *conditions: str) -> PartView:
        """Those of these edges that meet more conditions, as :meth:`Graph.where` takes them."""
        return PartView(self.graph, self.kinds, self.conditions + some(conditions, "a condition"), self.all_vertices, self.left_out)

    def of_kinds(self, *kinds: str) -> PartView:
        """Those of these edges that are of some kinds."""
        if self.kinds:
            raise InvalidError(f"the edges are already those of {', '.join(self.kinds)}; name all kinds at once")
        return PartView(self.graph, some(kinds, "a kind of edges"), self.conditions, self.all_vertices, self.left_out)

    def without(self, *vertices: Any) -> PartView:
        """These edges without some vertices and their edges."""
        left_out = self.left_out + some(vertices, "a vertex")
        return PartView(self.graph, self.kinds, self.conditions, self.all_vertices, left_out)

    @property
    def num_edges(self) -> int:
        """Number of these edges."""
        return int(json.loads(self._native(None, False).facts())["edges"])

    @property
    def num_vertices(self) -> int:
        """Number of vertices with such an edge, or of all with ``all_vertices``."""
        return int(json.loads(self._native(None, False).facts())["vertices"])

    def __repr__(self) -> str:
        vertices, edges = counted(self.num_vertices, "vertex", "vertices"), counted(self.num_edges, "edge")
        kinds = f" of {', '.join(self.kinds)}" if self.kinds else ""
        conditions = f" where {' and '.join(self.conditions)}" if self.conditions else ""
        left_out = f" without {', '.join(map(str, self.left_out))}" if self.left_out else ""
        return f"<esker.PartView of {vertices} and {edges}{kinds}{conditions}{left_out}>"

    def _native(self, weight: str | None, undirected: bool) -> Any:
        choice = weight, undirected
        if choice not in self._natives:
            part = {
                "kinds": list(self.kinds),
                "conditions": list(self.conditions),
                "without": [self.graph._existing_id_text(vertex) for vertex in self.left_out],
                "all_vertices": self.all_vertices,
            }
            self._natives[choice] = part_view(self.graph._native, part, choice, run_settings())
        return self._natives[choice]

    def _call(self, algorithm: Algorithm, given: dict[str, Any]) -> Result:
        return self.graph._call_on(lambda *choice: (self._native(*choice), (None, False)), algorithm, given)


def some(given: tuple[str, ...], what: str) -> tuple[str, ...]:
    if not given:
        raise InvalidError(f"name {what}, or several")
    return given


def groups(
    graph: Graph, keys: tuple[str, ...], count: bool, measures: Mapping[str, Iterable[str] | str], where: Iterable[str] | str, order: dict[str, Any]
) -> dict[str, list[Any]]:
    """The columns of :meth:`Graph.group_by`."""
    named = [(measure, name) for measure, names in measures.items() for name in _texts(names, measure)]
    asked = {"by": list(_texts(keys, "a key")), "measures": [*named, *([("count", None)] if count else [])], "conditions": list(_texts(where, "where"))}
    columns, rows = group_edges(graph._native, {**asked, **order}, run_settings())
    values = json.loads(rows)
    return {column: [row[place] for row in values] for place, column in enumerate(columns)}


def _texts(given: Iterable[str] | str, what: str) -> tuple[str, ...]:
    texts = (given,) if isinstance(given, str) else tuple(given)
    for text in texts:
        if not isinstance(text, str):
            raise MistypedError(f"{what} must be a string, not {type(text).__name__}")
    return texts
