"""The graph type of the backend, and conversions from and to NetworkX."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, Hashable, Iterable

import networkx as nx
import numpy as np

from .. import _columns
from .._graph import Graph
from .._opening import create
from .._result import Result

if TYPE_CHECKING:
    Node = Hashable

#: With fewer edges, one thread is as fast as several.
_SINGLE_THREAD_EDGES = 200_000

#: Up to this number of edges and nodes, components are computed in Python, because making a graph of Esker takes longer.
_TINY = 1_000


class NxGraph:
    """The nodes, numbered by row, and a graph of Esker with the rows as vertices."""

    __networkx_backend__ = "esker"

    def __init__(
        self,
        edges: Graph | tuple[np.ndarray, np.ndarray],
        nodes: list[Any] | None,
        directed: bool,
        weight: str | None = None,
        weights: Any = None,
    ) -> None:
        #: A graph, or the rows of sources and targets, from which a graph is made when an algorithm needs it.
        self._edges = edges
        self._nodes = nodes
        self._directed = directed
        #: The name of the weight attribute.
        self.weight = weight
        self._weights = weights
        self.__networkx_cache__: dict[Any, Any] = {}

    @cached_property
    def graph(self) -> Graph:
        """The graph for algorithms."""
        if isinstance(self._edges, Graph):
            return self._edges
        return _of_rows(*self._edges, len(self), self._directed, self._weights)

    @property
    def weighted(self) -> bool:
        """Whether edges have weights other than 1."""
        return self._weights is not None

    @classmethod
    def of(cls, graph: Any) -> NxGraph:
        """Converts the argument of a function."""
        if isinstance(graph, cls):
            return graph
        if isinstance(graph, Graph):
            if graph._nx_cache is None:
                graph._nx_cache = cls(graph, None, graph.directed, graph.weight, graph.weight)
            return graph._nx_cache
        raise NotImplementedError(f"the backend esker does not support {type(graph).__name__}")

    # -- the interface of NetworkX backends

    def is_directed(self) -> bool:
        return self._directed

    def is_multigraph(self) -> bool:
        return isinstance(self._edges, Graph) and self._edges.multigraph

    def number_of_nodes(self) -> int:
        return len(self)

    def number_of_edges(self) -> int:
        return self._edges.num_edges if isinstance(self._edges, Graph) else len(self._edges[0])

    def __len__(self) -> int:
        return len(self._edges) if isinstance(self._edges, Graph) else len(self._nodes or ())

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Any:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.row_of
        except TypeError:
            return False

    # -- rows

    @cached_property
    def nodes(self) -> list[Any]:
        """The node of each row."""
        return self.graph.ids().tolist() if self._nodes is None else self._nodes

    @cached_property
    def row_of(self) -> dict[Any, int]:
        """The row of each node."""
        return {node: row for row, node in enumerate(self.nodes)}

    @cached_property
    def _ids(self) -> Any:
        """The id of each row in the graph."""
        return range(len(self)) if self._nodes is not None else self.nodes

    def row(self, node: Node, what: str = "Node", missing: str = "is not in G") -> int:
        """The row of a node; raises NetworkX's exception for an unknown node."""
        try:
            return self.row_of[node]
        except (KeyError, TypeError):
            raise nx.NodeNotFound(f"{what} {node} {missing}") from None

    @cached_property
    def _remaining(self) -> np.ndarray | None:
        some = self.graph._native.remaining()
        return None if some is None else np.asarray(some)

    def rows_of_vertices(self, vertices: np.ndarray) -> np.ndarray:
        """The rows of vertex numbers."""
        return vertices if self._remaining is None else np.searchsorted(self._remaining, vertices)

    # -- algorithms

    @cached_property
    def threads(self) -> int | None:
        """Number of threads for a run."""
        return 1 if self.number_of_edges() < _SINGLE_THREAD_EDGES else None

    def run(self, method: str, sources: Iterable[int] | None = None, **options: Any) -> Result:
        """Runs an algorithm; sources are rows."""
        if sources is not None:
            options["source"] = [self._ids[row] for row in sources]
            if len(options["source"]) == 1:
                options["source"] = options["source"][0]
        return getattr(self.graph, method)(threads=self.threads, **options)

    def values(self, method: str, *args: Any, **options: Any) -> np.ndarray:
        """The principal column of a result, by row; columns of vertices contain rows."""
        column = self.run(method, *args, **options).column()
        values = column.to_numpy(dense=True)
        return self.rows_of_vertices(values) if column.kind == "vertex" else values

    def depths(self, sources: Iterable[int]) -> np.ndarray:
        """Number of steps from the nearest of the source rows; -1 if unreached."""
        depths = self.run("bfs", sources).to_numpy(dense=True).astype(np.int64)
        depths[depths > len(self)] = -1
        return depths

    def by_node(self, values: np.ndarray) -> dict[Any, Any]:
        """Values by node."""
        return dict(zip(self.nodes, values.tolist()))

    @cached_property
    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Source and target rows of all edges; an undirected edge appears once."""
        if not isinstance(self._edges, Graph):
            return self._edges
        table = self._edges.edges(properties=False)
        source, target = (self.rows_of_vertices(end).astype(np.int64) for end in (table.source, table.target))
        return source, target

    @cached_property
    def components(self) -> np.ndarray:
        """The label of the weakly connected component of each row. Tiny graphs are handled in Python."""
        if isinstance(self._edges, Graph) or len(self._edges[0]) + len(self) > _TINY or "graph" in self.__dict__:
            return self.values("wcc")
        labels = list(range(len(self)))
        for u, v in zip(*(end.tolist() for end in self._edges)):
            while labels[u] != u:
                u = labels[u]
            while labels[v] != v:
                v = labels[v]
            labels[max(u, v)] = min(u, v)
        for row, label in enumerate(labels):
            labels[row] = labels[label]
        return np.array(labels, dtype=np.int64)

    @cached_property
    def num_components(self) -> int:
        """Number of components."""
        return len(np.unique(self.components))

    @cached_property
    def arcs(self) -> tuple[np.ndarray, np.ndarray]:
        """Source and target rows of all arcs: an undirected edge is two arcs, a self-loop one."""
        source, target = self.edges
        if not self.is_directed():
            apart = source != target
            source, target = np.concatenate([source, target[apart]]), np.concatenate([target, source[apart]])
        return source, target

    @cached_property
    def loops(self) -> np.ndarray:
        """Number of self-loops of each row."""
        source, target = self.arcs
        return np.bincount(source[source == target], minlength=len(self))

    @cached_property
    def out_degrees(self) -> np.ndarray:
        """Number of arcs from each row."""
        return np.bincount(self.arcs[0], minlength=len(self))

    @cached_property
    def in_degrees(self) -> np.ndarray:
        """Number of arcs to each row."""
        return np.bincount(self.arcs[1], minlength=len(self))

    @cached_property
    def degrees(self) -> np.ndarray:
        """Degrees as NetworkX counts them: a self-loop counts twice."""
        return self.out_degrees + (self.in_degrees if self.is_directed() else self.loops)

    @cached_property
    def reverse(self) -> NxGraph:
        """The same nodes with all edges reversed."""
        if not self.is_directed():
            return self
        source, target = self.edges
        return NxGraph((target, source), self.nodes, True)


def _of_rows(source: np.ndarray, target: np.ndarray, count: int, directed: bool, weights: Any) -> Graph:
    database = create(None, directed=directed, order="keep", num_vertices=count, threads=1 if len(source) < _SINGLE_THREAD_EDGES else None)
    edges = _columns.edges(source, target, {}, weights)
    with database.batch() as batch:
        batch._first = (edges, None)
    return database.graph()


def convert_from_nx(
    G: Any,
    edge_attrs: dict[str, Any] | None = None,
    node_attrs: dict[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> Any:
    """Converts a graph of NetworkX. Keeps only the numeric edge attribute that a function needs.

    Raises:
        NotImplementedError: A weight is not a number.
    """
    if isinstance(G, (NxGraph, Graph)):
        return G
    if len(edge_attrs or {}) > 1:
        raise NotImplementedError("esker supports only one edge attribute at a time")
    nodes = list(G)
    row_of = {node: row for row, node in enumerate(nodes)}
    attribute, default = next(iter(edge_attrs.items())) if edge_attrs else (None, None)
    source, target, weights = [], [], None
    if attribute is None:
        for u, v in G.edges():
            source.append(row_of[u])
            target.append(row_of[v])
    else:
        values = []
        for u, v, value in G.edges(data=attribute, default=1 if default is None else default):
            source.append(row_of[u])
            target.append(row_of[v])
            values.append(value)
        weights = _weights(values, attribute)
    ends = tuple(np.asarray(end, dtype=np.int64) for end in (source, target))
    graph = NxGraph(ends, nodes, G.is_directed(), attribute, weights)
    graph.__dict__["row_of"] = row_of
    return graph


def _weights(values: list[Any], attribute: str) -> np.ndarray | None:
    """Weights as an array; ``None`` if all are 1."""
    whole = True
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise NotImplementedError(f"esker supports weights that are integers or floats, but an edge has {attribute}={value!r}")
        if not math.isfinite(value):
            raise NotImplementedError(f"esker supports finite weights only, but an edge has {attribute}={value!r}")
        whole = whole and isinstance(value, (int, np.integer))
    if all(value == 1 for value in values):
        return None
    if whole and not all(-(2**53) < value < 2**53 for value in values):
        raise NotImplementedError(f"esker supports integer weights below 2^53, but {attribute} has larger ones")
    return np.asarray(values, dtype=np.int64 if whole else np.float64)


def convert_to_nx(obj: Any, *, name: str | None = None) -> Any:
    """Converts the return value of a function: graphs become graphs of NetworkX."""
    if isinstance(obj, Graph):
        return obj.to_networkx()
    if isinstance(obj, NxGraph):
        if obj._nodes is None:
            return obj.graph.to_networkx()
        graph = nx.DiGraph() if obj.is_directed() else nx.Graph()
        graph.add_nodes_from(obj.nodes)
        ends = [[obj.nodes[row] for row in end.tolist()] for end in obj.edges]
        if obj.weighted:
            graph.add_weighted_edges_from(zip(*ends, np.asarray(obj._weights).tolist()), weight=obj.weight)
        else:
            graph.add_edges_from(zip(*ends))
        return graph
    return obj
