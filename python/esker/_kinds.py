"""The edges of some kinds of a graph."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ._algorithms import Algorithm, Algorithms
from ._counted import counted
from ._errors import InvalidError, MistypedError
from ._esker import kind_view
from ._settings import run_settings

if TYPE_CHECKING:
    from ._graph import Graph
    from ._result import Result


class KindView(Algorithms):
    """The edges of some kinds, from :meth:`Graph.of_kinds`, with every algorithm as a method. It is a way of reading, not a copy."""

    __slots__ = ("graph", "kinds", "all_vertices", "_natives")

    def __init__(self, graph: Graph, kinds: tuple[str, ...], all_vertices: bool) -> None:
        for kind in kinds:
            if not isinstance(kind, str):
                raise MistypedError(f"a kind must be a string, not {type(kind).__name__}")
        if not kinds:
            raise InvalidError("name a kind of edges, or several")
        self.graph: Graph = graph
        """The whole graph."""
        self.kinds: tuple[str, ...] = kinds
        """The kinds."""
        self.all_vertices: bool = bool(all_vertices)
        """Whether the vertices without such an edge are in it."""
        self._natives: dict[Any, Any] = {}
        self._native(None, False)

    @property
    def num_edges(self) -> int:
        """Number of edges of these kinds."""
        return int(json.loads(self._native(None, False).facts())["edges"])

    @property
    def num_vertices(self) -> int:
        """Number of vertices with such an edge, or of all with ``all_vertices``."""
        return int(json.loads(self._native(None, False).facts())["vertices"])

    def __repr__(self) -> str:
        return f"<esker.KindView of {counted(self.num_vertices, 'vertex', 'vertices')} and {counted(self.num_edges, 'edge')} of {', '.join(self.kinds)}>"

    def _native(self, weight: str | None, undirected: bool) -> Any:
        choice = weight, undirected
        if choice not in self._natives:
            self._natives[choice] = kind_view(self.graph._native, list(self.kinds), self.all_vertices, choice, run_settings())
        return self._natives[choice]

    def _call(self, algorithm: Algorithm, given: dict[str, Any]) -> Result:
        return self.graph._call_on(lambda *choice: (self._native(*choice), (None, False)), algorithm, given)
