"""A version of a graph."""

from __future__ import annotations

import datetime
import json
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple, Union

from . import _columns, _esker, _progress
from ._algorithms import Algorithm, Algorithms, Estimates
from ._errors import InvalidError, MistypedError, PropertyNotFoundError, UnsuitableError, VertexNotFoundError
from ._result import _UNKNOWN, Result
from ._settings import Memory, memory_bytes, run_settings, thread_count

if TYPE_CHECKING:
    import networkx
    import numpy
    import pandas
    import polars
    import pyarrow
    import scipy.sparse

#: What identifies a vertex outside of the store.
Id = Union[int, str]


class Estimate(NamedTuple):
    """What a run will need."""

    memory_bytes: int
    """The most that the algorithm's own arrays take at one time, the result included; the graph is not part of it."""
    read_bytes: int
    """Bytes of neighbour lists that the whole run reads, from the page cache where they fit."""
    graph_bytes: int
    """Bytes of the neighbour lists on disk, which are mapped."""

    def fits(self, memory: Memory) -> bool:
        """Whether the run fits a limit, as ``'2GiB'``."""
        limit = memory_bytes(memory)
        return limit is None or self.memory_bytes <= limit


def _is_id(value: object) -> bool:
    return isinstance(value, str) or hasattr(value, "__index__") and not isinstance(value, bool)


def _expect_direction(direction: str) -> None:
    if direction not in ("out", "in", "both"):
        raise InvalidError(f"direction is one of 'out', 'in', 'both', not {direction!r}")


def _is_absent(value: Any) -> bool:
    return value is None or isinstance(value, tuple) and not value


class _Estimates(Estimates):
    __slots__ = ("_graph",)

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def _call(self, algorithm: Algorithm, given: dict[str, Any]) -> Estimate:
        threads, deterministic = thread_count(given.pop("threads", None)), bool(given.pop("deterministic", False))
        for option in algorithm.options:
            if option.is_required:
                given.setdefault(option.keyword, ())
        texts = [
            text
            for option in algorithm.options
            if not (option.is_id and _is_absent(given.get(option.keyword)))
            for text in algorithm._replace(options=(option,)).texts(given, self._graph._id_text)
        ]
        return Estimate(*self._graph._native.estimate(algorithm.name, texts, threads, deterministic))


class Graph(Algorithms):
    """A version of a graph: immutable, whatever happens to the database. From :meth:`esker.Database.graph`.

    Every algorithm of the catalogue is a method: ``g.pagerank(damping=0.85)``, ``g.bfs("alice")``; ``g.estimate.pagerank()`` tells
    what it will need. Methods that take or give single vertices speak of ids, as the input had them; arrays of vertices by number
    (``dense``) are for speed.
    """

    __slots__ = ("_native", "_facts", "_order", "_path", "_nx_cache", "__weakref__", "__networkx_cache__")

    __networkx_backend__ = "esker"

    def __init__(self, native: Any, path: str | None) -> None:
        self._native = native
        self._path = path
        self._facts: dict[str, Any] = {**json.loads(native.facts()), "path": path or ":memory:"}
        self._order: Any = _UNKNOWN
        self._nx_cache: Any = None
        self.__networkx_cache__: dict[Any, Any] = {}

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        return f"<esker.Graph of {self.num_vertices:,} vertices and {self.num_edges:,} {kind} edges, version {self.version}>"

    def __reduce__(self) -> Any:
        if self._path is None:
            raise InvalidError("a graph in memory cannot be pickled: make its database on disk")
        return _reopen, (self._path, self.version)

    def __len__(self) -> int:
        return self.num_vertices

    def __bool__(self) -> bool:
        return True

    def __contains__(self, vertex: object) -> bool:
        """Whether there is a vertex of an id."""
        return _is_id(vertex) and self._native.has_vertex(vertex)

    def __iter__(self) -> Iterator[Id]:
        """The ids of all vertices."""
        return iter(self.ids().tolist())

    @property
    def num_vertices(self) -> int:
        """Number of vertices that are there."""
        return self._facts["vertices"]

    @property
    def num_edges(self) -> int:
        """Number of edges; an undirected one counts once."""
        return self._facts["edges"]

    @property
    def directed(self) -> bool:
        """Whether edges have a direction."""
        return self._facts["directed"]

    @property
    def multigraph(self) -> bool:
        """Whether there may be several edges between the same two vertices."""
        return self._facts["multigraph"]

    @property
    def version(self) -> int:
        """The number of the version."""
        return self._facts["version"]

    @property
    def time(self) -> datetime.datetime:
        """When the version was published, in UTC."""
        return datetime.datetime.fromtimestamp(self._facts["time_ms"] / 1000, datetime.timezone.utc)

    @property
    def weight(self) -> str | None:
        """The name of the edge property that is the weight, if there is one."""
        return self._facts["weight"]

    @property
    def edge_properties(self) -> dict[str, str]:
        """The edge properties and their types."""
        return {one["name"]: one["type"] for one in self._facts["edge_properties"]}

    @property
    def vertex_properties(self) -> dict[str, str]:
        """The vertex properties and their types."""
        return {one["name"]: one["type"] for one in self._facts["vertex_properties"]}

    @property
    def info(self) -> dict[str, Any]:
        """All that is known without looking at a list."""
        return json.loads(json.dumps(self._facts))

    @property
    def estimate(self) -> _Estimates:
        """What the algorithms will need: ``g.estimate.pagerank()``."""
        return _Estimates(self)

    # -- algorithms

    def _id_text(self, vertex: Any) -> str:
        """An id of this graph's kind as a text, for an option."""
        if self._facts["text_ids"]:
            if isinstance(vertex, str):
                return vertex
            raise MistypedError(f"the ids of this graph are texts: {vertex!r} is {type(vertex).__name__}")
        if isinstance(vertex, (bool, str)) or not hasattr(vertex, "__index__"):
            raise MistypedError(f"the ids of this graph are integers: {vertex!r} is {type(vertex).__name__}")
        if vertex.__index__() < 0:
            raise VertexNotFoundError(f"no vertex has the id {vertex}: ids are not negative")
        return str(vertex.__index__())

    def _call(self, algorithm: Algorithm, given: dict[str, Any]) -> Result:
        options = {name: given[name] for name in (option.keyword for option in algorithm.options) if name in given}
        options = {name: value for name, value in options.items() if value is not None and value is not False}
        texts = algorithm.texts(options, self._checked)
        names = ("threads", "memory", "seed", "deterministic")
        settings = {name: given[name] for name in names if name in given}
        with _progress.listening(given.get("progress"), algorithm.name) as callback:
            settings = run_settings(**settings, progress=callback)
            reading = given.get("encoding"), given.get("residency"), given.get("head")
            native = self._native.run(algorithm.name, texts, settings, bool(given.get("verify")), reading)
        again = None
        if any(option.name == "parents" for option in algorithm.options):
            again = lambda: self._call(algorithm, {**given, "parents": True, "progress": None, "verify": False})  # noqa: E731
        return Result(native, self, algorithm.name, options, again)

    def _checked(self, vertex: Any) -> str:
        """As :meth:`_id_text`, of a vertex that there is."""
        text = self._id_text(vertex)
        self.vertex(vertex)
        return text

    # -- vertices

    @property
    def _is_identity(self) -> bool:
        """Whether the id of a vertex is its number."""
        return self._facts["ids"] == "identity" and self._facts["dense_base"] == 0

    def _in_id_order(self) -> numpy.ndarray | None:
        """Where ids are dense integers and vertices in another order: for each id in order, its vertex."""
        if self._order is _UNKNOWN:
            import numpy

            order = self._native.in_id_order()
            self._order = None if order is None else numpy.asarray(order)
        return self._order

    def vertex(self, vertex: Id) -> int:
        """The number of the vertex of an id.

        Raises:
            VertexNotFoundError: If there is none.
        """
        if not _is_id(vertex):
            wanted = "texts" if self._facts["text_ids"] else "integers"
            raise MistypedError(f"the ids of this graph are {wanted}: {vertex!r} is {type(vertex).__name__}")
        if isinstance(vertex, int) and vertex < 0 and not self._facts["text_ids"]:
            raise VertexNotFoundError(f"no vertex has the id {vertex}: ids are not negative")
        return self._native.vertex_of(vertex)

    def vertices(self, ids: Any) -> numpy.ndarray:
        """The numbers of the vertices of many ids: an array, a column or an iterable.

        Raises:
            VertexNotFoundError: If there is none for one of them.
        """
        import numpy

        return numpy.asarray(self._native.vertices_of(_columns.column(ids, "ids")))

    def ids(self, vertices: Any = None) -> numpy.ndarray:
        """The ids of vertices by number, or of all: integers, or objects that are texts."""
        import numpy

        found = self._native.ids(None if vertices is None else _columns.column(vertices, "vertices"))
        return numpy.array(found, dtype=object) if isinstance(found, list) else numpy.asarray(found)

    def properties(self, vertex: Id) -> dict[str, Any]:
        """The values of a vertex's properties, of those that it has."""
        return self._native.vertex_values(self.vertex(vertex))

    def property(self, name: str) -> numpy.ma.MaskedArray | numpy.ndarray:
        """A vertex property: a value for each row of :meth:`ids`, masked where there is none; texts are objects, ``None`` where there
        is none."""
        import numpy

        if name not in self.vertex_properties:
            raise PropertyNotFoundError(f"vertices have no property {name!r}: they have {list(self.vertex_properties)}")
        found = self._native.property(name, run_settings())
        some = self._native.remaining()
        rows = slice(None) if some is None else numpy.asarray(some)
        if isinstance(found, list):
            return numpy.array(found, dtype=object)[rows]
        values, present = numpy.asarray(found[0])[rows], numpy.asarray(found[1])[rows]
        return numpy.ma.MaskedArray(values, mask=present == 0)

    # -- lists

    def degree(self, vertex: Id | None = None, *, direction: str = "out") -> Any:
        """The number of edges of a vertex, or (as an array, in the order of the numbers of vertices) of all.

        ``direction`` is ``out``, ``in`` or ``both``.
        """
        import numpy

        _expect_direction(direction)
        if direction == "both" and self.directed:
            return self.degree(vertex, direction="out") + self.degree(vertex, direction="in")
        direction = "out" if direction == "both" else direction
        if vertex is not None:
            return self._native.degree(self.vertex(vertex), direction)
        return numpy.asarray(self._native.degrees(direction))

    def neighbors(self, vertex: Id, *, direction: str = "out", dense: bool = False) -> Any:
        """The ids of the neighbours of a vertex, ascending by number, as a list. ``dense``: of a vertex by number, as an array of
        numbers."""
        import numpy

        number = vertex if dense else self.vertex(vertex)
        found = numpy.asarray(self._native.neighbors(number, direction))
        return found if dense else self.ids(found).tolist()

    def has_edge(self, source: Id, target: Id) -> bool:
        """Whether there is an edge between the vertices of two ids."""
        try:
            ends = self.vertex(source), self.vertex(target)
        except (VertexNotFoundError, MistypedError, InvalidError):
            return False
        return self._native.has_edge(*ends)

    def edge(self, source: Id, target: Id) -> dict[str, Any]:
        """The properties of an edge; of the first of several.

        Raises:
            InvalidError: If there is none.
        """
        found = self._native.edge_values(self.vertex(source), self.vertex(target))
        if not found:
            raise InvalidError(f"there is no edge from {source!r} to {target!r}")
        return found[0]

    def edges(self, *, properties: bool = True, progress: Any = None) -> EdgeTable:
        """All edges as columns; an undirected one once."""
        with _progress.listening(progress, "edges") as callback:
            found = self._native.edges(None, properties, run_settings(progress=callback))
        return EdgeTable(self, None, *found)

    def subgraph(self, vertices: Iterable[Id], *, dense: bool = False) -> EdgeTable:
        """The edges among some vertices, given by their ids (``dense``: by their numbers)."""
        numbers = vertices if dense else self.vertices(vertices)
        column = _columns.column(numbers, "vertices")
        return EdgeTable(self, numbers, *self._native.edges(column, True, run_settings()))

    def ego(self, vertex: Id, radius: int = 1, *, direction: str = "both") -> EdgeTable:
        """The edges among the vertices within ``radius`` steps of one. ``direction`` is ``out``, ``in`` or ``both``."""
        import numpy

        if isinstance(radius, bool) or not hasattr(radius, "__index__") or radius < 0:
            raise InvalidError("radius is a whole number, not negative")
        _expect_direction(direction)
        radius = min(int(radius), self._facts["vertex_numbers"])  # no path is longer
        return self.subgraph(numpy.asarray(self._native.within(self.vertex(vertex), radius, direction)), dense=True)

    # -- other libraries

    def to_networkx(self) -> networkx.Graph:
        """A NetworkX graph with the ids as nodes and all properties."""
        return self.edges().to_networkx()

    def to_arrow(self) -> pyarrow.Table:
        """The edges as an Arrow table."""
        return self.edges().to_arrow()

    def to_scipy(self, *, direction: str = "out", weight: bool = True) -> scipy.sparse.csr_array:
        """The adjacency matrix by numbers of vertices: rows are sources (``direction="in"``: targets).

        Of a version in one plain layer, targets and weights are mapped, not copied, where SciPy's index type has their width; do
        not write to them. Edges without weights get ones.
        """
        import numpy
        import scipy.sparse

        rows = self._native.csr(direction, weight, run_settings())
        n = self._facts["vertex_numbers"]
        if rows is None:
            table = self.edges()
            ends = (table.source, table.target) if direction == "out" else (table.target, table.source)
            values = numpy.asarray(table.properties[self.weight]) if weight and self.weight else numpy.ones(len(table))
            if not self.directed:
                loops = ends[0] != ends[1]
                ends = tuple(numpy.concatenate([ends[i], ends[1 - i][loops]]) for i in (0, 1))
                values = numpy.concatenate([values, values[loops]])
            return scipy.sparse.coo_array((values, ends), shape=(n, n)).tocsr()
        offsets, targets, weights = rows
        targets = numpy.asarray(targets)
        targets = targets.view(numpy.int32 if targets.itemsize == 4 else numpy.int64)
        offsets = numpy.asarray(offsets).view(numpy.int64)
        values = numpy.ones(len(targets)) if weights is None else numpy.asarray(weights)
        matrix = scipy.sparse.csr_array((n, n), dtype=values.dtype)
        matrix.indptr = offsets if targets.itemsize == 8 else offsets.astype(numpy.int32)
        matrix.indices, matrix.data = targets, values
        if targets.itemsize == 4 and len(targets) >= 1 << 31:
            matrix.indptr, matrix.indices = offsets, targets.astype(numpy.int64)
        matrix.has_sorted_indices = True
        return matrix

    def to_pyg(self, x: Iterable[str] | None = None, y: str | None = None) -> Any:
        """A pair of PyTorch Geometric stores (``FeatureStore``, ``GraphStore``), by numbers of vertices; needs torch_geometric.

        Args:
            x: The vertex properties that are the features; all numeric ones but ``y`` if not given.
            y: The vertex property that is the label.
        """
        from . import pyg

        return pyg.stores(self, x, y)

    # -- what NetworkX asks of a graph of a backend

    def is_directed(self) -> bool:
        """As :attr:`directed`, for NetworkX."""
        return self.directed

    def is_multigraph(self) -> bool:
        """As :attr:`multigraph`, for NetworkX."""
        return self.multigraph

    def number_of_nodes(self) -> int:
        """As :attr:`num_vertices`, for NetworkX."""
        return self.num_vertices

    def number_of_edges(self) -> int:
        """As :attr:`num_edges`, for NetworkX."""
        return self.num_edges


def _reopen(path: str, version: int) -> Graph:
    from ._database import open

    return open(path).graph(version=version)


class EdgeTable:
    """Edges as columns: ``source`` and ``target`` by number of vertex, and properties by name."""

    __slots__ = ("graph", "source", "target", "properties", "_vertices")

    def __init__(self, graph: Graph, vertices: Any, source: Any, target: Any, properties: dict[str, Any]) -> None:
        import numpy

        self.graph: Graph = graph
        """The graph that they are of."""
        self.source: numpy.ndarray = numpy.asarray(source)
        """Numbers of the vertices where edges begin."""
        self.target: numpy.ndarray = numpy.asarray(target)
        """Numbers of the vertices where they end."""
        self.properties: dict[str, numpy.ndarray] = {name: _values(values) for name, values in properties.items()}
        """Values by name of the property; texts are objects."""
        self._vertices = vertices

    def __len__(self) -> int:
        return len(self.source)

    def __repr__(self) -> str:
        return f"<esker.EdgeTable of {len(self):,} edges with {list(self.properties) or 'no properties'}>"

    def vertices(self) -> numpy.ndarray:
        """The ids of the vertices, those without edges included."""
        return self.graph.ids() if self._vertices is None else self.graph.ids(self._vertices)

    def ids(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The ids of both ends."""
        return self.graph.ids(self.source), self.graph.ids(self.target)

    def _columns(self) -> dict[str, Any]:
        source, target = self.ids()
        return {"source": source, "target": target, **self.properties}

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas data frame with the ids of both ends, and the properties."""
        import pandas

        return pandas.DataFrame(self._columns(), copy=False)

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table with the ids of both ends, and the properties."""
        import pyarrow

        return pyarrow.table({name: pyarrow.array(values) for name, values in self._columns().items()})

    def to_polars(self) -> polars.DataFrame:
        """A Polars data frame with the ids of both ends, and the properties."""
        import polars

        columns = self._columns()
        return polars.DataFrame({n: v.tolist() if v.dtype == object else v for n, v in columns.items()})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_networkx(self) -> networkx.Graph:
        """A NetworkX graph with the ids as nodes and all properties, those of vertices included."""
        import networkx

        kinds = {
            (False, False): networkx.Graph,
            (True, False): networkx.DiGraph,
            (False, True): networkx.MultiGraph,
            (True, True): networkx.MultiDiGraph,
        }
        graph = kinds[self.graph.directed, self.graph.multigraph]()
        ids = self.vertices().tolist()
        graph.add_nodes_from(ids)
        if self.graph.vertex_properties:
            for one in ids:
                graph.nodes[one].update(self.graph.properties(one))
        source, target = (end.tolist() for end in self.ids())
        names = list(self.properties)
        if not names:
            graph.add_edges_from(zip(source, target))
        else:
            rows = zip(*(values.tolist() for values in self.properties.values()))
            graph.add_edges_from((u, v, dict(zip(names, row))) for u, v, row in zip(source, target, rows))
        return graph


def _values(values: Any) -> numpy.ndarray:
    import numpy

    if isinstance(values, tuple):
        codes, texts = values
        return numpy.array(texts, dtype=object)[numpy.asarray(codes)]
    return numpy.asarray(values)
