"""The graph type of the backend, and conversions from and to NetworkX."""

from __future__ import annotations

import math
import weakref
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Hashable, Iterable, NamedTuple

import networkx as nx
import numpy as np

from .. import _columns
from .._edges import networkx_graph
from .._esker import OrderedLists, read_adjacency
from .._graph import Graph
from .._opening import create
from .._result import Result

if TYPE_CHECKING:
    Node = Hashable

#: With fewer edges, one thread is as fast as several.
_SINGLE_THREAD_EDGES = 200_000

#: Up to this number of edges and nodes, components are computed in Python, because making a graph of Esker takes longer.
_TINY = 1_000


class Lists(NamedTuple):
    """Adjacency lists as NetworkX has them."""

    lengths: np.ndarray
    """The length of the list of each row."""
    targets: np.ndarray
    """The targets of all lists."""
    weights: np.ndarray | None = None
    """The weight of each arc; ``None`` if all are the integer 1."""
    whole: np.ndarray | None = None
    """Whether each weight is an integer, if integers and floats are mixed."""
    origin: Any = None
    """A weak reference to the graph of NetworkX."""

    @property
    def sources(self) -> np.ndarray:
        """The source of each arc."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


class NxGraph:
    """The nodes, numbered by row, and a graph of Esker with the rows as vertices."""

    __networkx_backend__ = "esker"

    def __init__(
        self,
        edges: Graph | tuple[np.ndarray, np.ndarray] | None,
        nodes: list[Any] | None,
        directed: bool,
        weight: str | None = None,
        weights: Any = None,
        lists: Lists | None = None,
    ) -> None:
        #: A graph; or the rows of sources and targets, or lists, from which a graph is made when an algorithm needs it.
        self._given = edges
        self._lists = lists
        self._nodes = nodes
        self._directed = directed
        #: The name of the weight attribute.
        self.weight = weight
        self._weights = weights
        self.__networkx_cache__: dict[Any, Any] = {}

    @cached_property
    def _edges(self) -> Graph | tuple[np.ndarray, np.ndarray]:
        if self._lists is None:
            return self._given
        source, target = self._lists.sources, self._lists.targets
        return (source, target) if self._directed else (source[target >= source], target[target >= source])

    @cached_property
    def graph(self) -> Graph:
        """The graph for algorithms."""
        if isinstance(self._edges, Graph):
            return self._edges
        return _of_rows(*self._edges, len(self), self._directed, self.weights)

    @cached_property
    def weights(self) -> Any:
        """The weight of each edge; ``None`` if all are 1."""
        if self._lists is None:
            return self._weights
        weights = self._lists.weights
        if weights is None or (weights == 1).all():
            return None
        if self._directed:
            return weights
        source, target = self._lists.sources, self._lists.targets
        there, back = target >= source, target <= source
        order = np.lexsort((source[back], target[back]))
        aligned = np.lexsort((target[there], source[there]))
        if (weights[there][aligned] != weights[back][order]).any():
            raise NotImplementedError("esker does not support undirected edges with different weights in the two directions")
        return weights[there]

    @property
    def has_weights(self) -> bool:
        """Whether edges have weights other than the integer 1."""
        return (self._weights if self._lists is None else self._lists.weights) is not None

    def has_property(self, name: str) -> bool:
        """Whether this is a graph of Esker whose edges have a property of this name other than its weight."""
        return isinstance(self._given, Graph) and name != self.weight and name in self._given.edge_properties

    def weighed_by(self, name: str | None) -> NxGraph:
        """This graph with another property of the edges of a graph of Esker as its weight, if it has one of this name."""
        if name is None or not self.has_property(name):
            return self
        known = self.__dict__.setdefault("_by_property", {})
        if name not in known:
            known[name] = NxGraph(self._given, None, self._directed, name, name)
        return known[name]

    @cached_property
    def weight_values(self) -> np.ndarray:
        """The weight of each edge of :attr:`graph`."""
        # A graph that was made here has a weight of its own name.
        name = self.weight if isinstance(self._given, Graph) else self.graph.weight
        values = np.asarray(self.graph.edges().properties[name])
        if values.dtype.kind not in "iufb":
            kind = self.graph.edge_properties[name]
            raise NotImplementedError(f"the edge property {name!r} is of type {kind}, but weights are numbers")
        return values

    @property
    def weighted(self) -> bool:
        """Whether edges have weights other than 1."""
        return self.weights is not None

    @cached_property
    def ordered(self) -> OrderedLists | None:
        """The lists in the order of NetworkX; ``None`` for a graph of Esker, which is not copied."""
        if self._lists is None and isinstance(self._given, Graph):
            return None
        if self._lists is None:
            source, target = self.arcs
            order = np.argsort(source, kind="stable")
            lists = Lists(np.bincount(source, minlength=len(self)), target[order])
        else:
            lists = self._lists
        return OrderedLists(_columns.column(lists.lengths, "lengths"), _columns.column(lists.targets, "targets"))

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
        return isinstance(self._given, Graph) and self._given.multigraph

    def number_of_nodes(self) -> int:
        return len(self)

    def number_of_edges(self) -> int:
        return self._given.num_edges if isinstance(self._given, Graph) else len(self._edges[0])

    def __len__(self) -> int:
        return len(self._given) if isinstance(self._given, Graph) else len(self._nodes or ())

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

    # -- algorithms

    @cached_property
    def threads(self) -> int | None:
        """Number of threads for a run."""
        return 1 if self.number_of_edges() < _SINGLE_THREAD_EDGES else None

    def run(self, method: str, sources: Iterable[int] | None = None, **options: Any) -> Result:
        """Runs an algorithm; sources are rows."""
        if method in ("sssp", "bellman_ford") and isinstance(self._given, Graph) and self.weight != self._given.weight:
            options["weight"] = self.weight
        if sources is not None:
            options["source"] = [self._ids[row] for row in sources]
            if len(options["source"]) == 1:
                options["source"] = options["source"][0]
        return getattr(self.graph, method)(threads=self.threads, **options)

    def values(self, method: str, *args: Any, **options: Any) -> np.ndarray:
        """The principal column of a result, by row; columns of vertices contain rows."""
        return self.run(method, *args, **options).to_numpy(dense=True)

    def depths(self, sources: Iterable[int]) -> np.ndarray:
        """Number of steps from the nearest of the source rows; -1 if unreached."""
        depths = self.run("bfs", sources).to_numpy(dense=True).astype(np.int64)
        depths[depths > len(self)] = -1
        return depths

    def steps(self, source: int, cutoff: float | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """The rows reached from a row in the order of NetworkX, with the steps and the parent of each; ``None`` without ordered lists."""
        if self.ordered is None:
            return None
        found = self.ordered.breadth_first(source, steps_max(cutoff))
        rows, steps, parents = (np.asarray(column) for column in found[:3])
        return rows, steps, parents

    def by_node(self, values: np.ndarray) -> dict[Any, Any]:
        """Values by node."""
        return dict(zip(self.nodes, values.tolist()))

    @cached_property
    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Source and target rows of all edges; an undirected edge appears once."""
        if not isinstance(self._edges, Graph):
            return self._edges
        table = self._edges.edges(properties=False)
        return table.source.astype(np.int64), table.target.astype(np.int64)

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
    def clustering(self) -> np.ndarray:
        """The local clustering coefficient of each row."""
        return self.values("lcc")

    @cached_property
    def num_components(self) -> int:
        """Number of components."""
        return len(np.unique(self.components))

    @cached_property
    def arcs(self) -> tuple[np.ndarray, np.ndarray]:
        """Source and target rows of all arcs: an undirected edge is two arcs, a self-loop one."""
        if self._lists is not None:
            return self._lists.sources, self._lists.targets
        source, target = self.edges
        if not self.is_directed():
            apart = source != target
            source, target = np.concatenate([source, target[apart]]), np.concatenate([target, source[apart]])
        return source, target

    @cached_property
    def arc_weights(self) -> np.ndarray:
        """The weight of each arc, in the order of :attr:`arcs`."""
        if self._lists is not None:
            return self._lists.weights
        values, (source, target) = self.weight_values, self.edges
        return values if self.is_directed() else np.concatenate([values, values[source != target]])

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
        """The same nodes with all edges reversed, in the order of the predecessors of NetworkX."""
        if not self.is_directed():
            return self
        origin = self._lists.origin() if self._lists is not None and self._lists.origin is not None else None
        if origin is not None:
            try:
                lists = _lists_of([origin._pred[node] for node in self.nodes], self.row_of, True)
            except KeyError:
                lists = None
            if lists is not None and len(lists.targets) == len(self.arcs[0]) and len(lists.lengths) == len(self):
                return NxGraph(None, self.nodes, True, lists=lists)
        source, target = self.edges
        return NxGraph((target, source), self.nodes, True)


def steps_max(cutoff: float | None) -> int | None:
    """The number of steps that NetworkX takes for a cutoff, which need not be an integer."""
    if cutoff is None or cutoff >= 2**62:
        return None
    return max(0, math.ceil(cutoff))


def _of_rows(source: np.ndarray, target: np.ndarray, count: int, directed: bool, weights: Any) -> Graph:
    database = create(None, directed=directed, order="keep", num_vertices=count, threads=1 if len(source) < _SINGLE_THREAD_EDGES else None)
    edges = _columns.edges(source, target, {}, weights)
    with database.batch() as batch:
        batch._first = edges
    return database.graph()


#: The key in the cache of a graph of NetworkX for the number of edges, if it was too large to convert.
EDGES = "esker_edges"


def too_large(edges: int) -> str | None:
    """The reason why a graph of so many edges is not converted, or ``None``."""
    config = getattr(getattr(nx.config, "backends", None), "esker", None)
    limit = getattr(config, "max_edges", None)
    if limit is None or edges <= limit:
        return None
    return (
        f"the graph has more than {limit:,} edges, so converting it would take long; convert it once with "
        "esker.from_edges, or raise networkx.config.backends.esker.max_edges"
    )


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
        NotImplementedError: A weight is not a number, or the graph is too large.
    """
    if isinstance(G, (NxGraph, Graph)):
        return G
    if len(edge_attrs or {}) > 1:
        raise NotImplementedError("esker supports only one edge attribute at a time")
    if hasattr(G, "_graph"):
        # A view is not told when its graph changes, so no conversion of it is kept.
        G.__networkx_cache__ = None
    nodes = list(G)
    row_of = {node: row for row, node in enumerate(nodes)}
    attribute, default = next(iter(edge_attrs.items())) if edge_attrs else (None, None)
    adjacency = [G._adj[node] for node in nodes]
    edges = sum(map(len, adjacency)) // (1 if G.is_directed() else 2)
    reason = too_large(edges)
    if reason is not None:
        cache = getattr(G, "__networkx_cache__", None)
        if cache is not None:
            cache[EDGES] = edges
        raise NotImplementedError(reason)
    lists = _lists_of(adjacency, row_of, G.is_directed(), attribute, 1 if default is None else default)
    graph = NxGraph(None, nodes, G.is_directed(), attribute, lists=lists._replace(origin=weakref.ref(G)))
    graph.__dict__["row_of"] = row_of
    return graph


def _lists_of(adjacency: list[Any], row_of: dict[Any, int], directed: bool, attribute: Any = None, default: Any = 1) -> Lists:
    """The lists of the neighbours of each row, with the values of an attribute as weights."""
    found = read_adjacency(adjacency, row_of, directed, attribute, default)
    if found is not None:
        lengths, targets, weights, whole = (None if column is None else np.asarray(column) for column in found)
        return Lists(lengths, targets, weights, None if whole is None else whole.view(bool))
    # Views, or weights that need a closer look.
    lengths = np.fromiter(map(len, adjacency), dtype=np.int64, count=len(adjacency))
    targets = map(row_of.__getitem__, chain.from_iterable(adjacency))
    rows = np.fromiter(targets, dtype=np.int64, count=int(lengths.sum()))
    if attribute is None:
        return Lists(lengths, rows)
    values = [value.get(attribute, default) for others in adjacency for value in others.values()]
    return Lists(lengths, rows, *_weights(values, attribute))


def _weights(values: list[Any], attribute: str) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Weights as an array, ``None`` if all are the integer 1; and which are integers, if some are and others not."""
    kinds = set(map(type, values))
    for kind in kinds:
        if kind is bool or not issubclass(kind, (int, float, np.integer, np.floating)):
            value = next(value for value in values if type(value) is kind)
            raise NotImplementedError(f"esker supports weights that are integers or floats, but an edge has {attribute}={value!r}")
    whole_kinds = {kind for kind in kinds if issubclass(kind, (int, np.integer))}
    if whole_kinds:
        if not all(-(2**53) < value < 2**53 for value in values if type(value) in whole_kinds):
            raise NotImplementedError(f"esker supports integer weights below 2^53, but {attribute} has larger ones")
    whole = kinds == whole_kinds
    weights = np.asarray(values, dtype=np.int64 if whole else np.float64)
    if not np.isfinite(weights).all():
        value = float(weights[~np.isfinite(weights)][0])
        raise NotImplementedError(f"esker supports finite weights only, but an edge has {attribute}={value!r}")
    if whole:
        return (None if (weights == 1).all() else weights), None
    mixed = np.array([type(value) in whole_kinds for value in values]) if whole_kinds else None
    return weights, mixed


def convert_to_nx(obj: Any, *, name: str | None = None) -> Any:
    """Converts the return value of a function: graphs become graphs of NetworkX."""
    if isinstance(obj, Graph):
        return obj.to_networkx()
    if isinstance(obj, NxGraph):
        if obj._nodes is None:
            return obj.graph.to_networkx()
        values = {obj.weight: np.asarray(obj.weights)} if obj.weighted else {}
        return networkx_graph(obj.nodes, *obj.edges, values, directed=obj.is_directed())
    return obj
