"""Edges as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Mapping

from . import _columns
from ._collections import without_collections
from ._counted import counted
from ._esker import TableStream, write_adjacency

if TYPE_CHECKING:
    import networkx
    import numpy
    import pandas
    import polars
    import pyarrow

    from ._graph import Graph


#: Number of rows of a chunk of texts.
_CHUNK = 1 << 20

#: Number of texts that are selected at once.
_TAKEN = 1 << 15


def _named(name: str) -> str:
    """The name of the column of a property, which is no other column's."""
    return f"property.{name}" if name in ("source", "target") else name


class EdgeTable:
    """Edges as columns: ``source`` and ``target`` as vertex numbers, which are places in :meth:`esker.Graph.ids`, and properties by name.

    All edges of a graph are read when a column is first used. As an Arrow stream, they are read batch by batch, as the reader of the
    stream asks for them, and take the memory of a batch.
    """

    __slots__ = ("graph", "source", "target", "properties", "_read")

    def __init__(self, graph: Graph, source: Any, target: Any, properties: dict[str, Any]) -> None:
        import numpy

        from ._texts import Texts

        self._read: tuple[Callable[[], Any], bool] | None = None
        self.graph: Graph = graph
        """The graph of the edges."""
        self.source: numpy.ndarray = numpy.asarray(source)
        """Vertex numbers of the sources."""
        self.target: numpy.ndarray = numpy.asarray(target)
        """Vertex numbers of the targets."""
        self.properties: dict[str, numpy.ndarray] = {
            name: _columns.typed(_values(values), graph.edge_properties.get(name, "")) for name, values in properties.items()
        }
        """Values of each property; text values are objects, times with a zone are in UTC. Missing values are masked, and missing texts ``None``,
        of which the answers of comparisons are masked."""
        for name, values in self.properties.items():
            if graph.edge_properties.get(name) == "text":
                self.properties[name] = values.view(Texts)

    @classmethod
    def _later(cls, graph: Graph, read: Callable[[], tuple[Any, Any, dict[str, Any]]], properties: bool) -> EdgeTable:
        """All edges of a graph, to be read when they are needed."""
        table = cls.__new__(cls)
        table.graph, table._read = graph, (read, properties)
        return table

    def __getattr__(self, name: str) -> Any:
        # Called for columns that are not read yet.
        if name not in ("source", "target", "properties"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        assert self._read is not None
        self.__init__(self.graph, *self._read[0]())  # type: ignore[misc]
        return getattr(self, name)

    def __len__(self) -> int:
        return self.graph.num_edges if self._read else len(self.source)

    def __repr__(self) -> str:
        names = list(self.properties if self._read is None else self.graph.edge_properties if self._read[1] else ())
        return f"<esker.EdgeTable of {counted(len(self), 'edge')} with {names or 'no properties'}>"

    def vertices(self) -> numpy.ndarray:
        """The ids of the vertices, including vertices without edges."""
        return self.graph.ids()

    def _only(self, keep: numpy.ndarray) -> EdgeTable:
        """The edges with a true flag in `keep`."""
        return EdgeTable(self.graph, self.source[keep], self.target[keep], {name: values[keep] for name, values in self.properties.items()})

    def ids(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The ids of sources and targets."""
        if not self.graph._facts["text_ids"]:
            return self.graph.ids(self.source), self.graph.ids(self.target)
        ids, source, target = self._texts()
        return _taken(ids, source), _taken(ids, target)

    def _texts(self) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """Text ids, each made once; and the rows among them of sources and targets."""
        import numpy

        if len(self) < self.graph.num_vertices:
            numbers, rows = numpy.unique(numpy.concatenate([self.source, self.target]), return_inverse=True)
            return self.graph.ids(numbers), *numpy.split(rows, 2)
        return self.graph.ids(), self.source, self.target

    def _columns(self) -> dict[str, Any]:
        source, target = self.ids()
        return {"source": source, "target": target, **{_named(name): values for name, values in self.properties.items()}}

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas data frame with the ids of sources and targets, and the properties."""
        import pandas

        kinds = {_named(name): kind for name, kind in self.graph.edge_properties.items()}
        text = pandas.Series([""]).dtype
        if self.graph._facts["text_ids"] and getattr(text, "storage", None) == "pyarrow":
            # pandas keeps texts as Arrow does; to make Python objects of them first takes five times as long.
            ends = {name: pandas.Series(pandas.array(texts, dtype=text)) for name, texts in self._arrow_texts().items()}
            columns = {**ends, **{_named(name): values for name, values in self.properties.items()}}
        else:
            columns = self._columns()
        return pandas.DataFrame({name: _columns.series(values, kinds.get(name)) for name, values in columns.items()}, copy=False)

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table with the ids of sources and targets, and the properties."""
        import pyarrow

        kinds = self.graph.edge_properties
        if self.graph._facts["text_ids"]:
            columns = self._arrow_texts()
        else:
            columns = dict(zip(("source", "target"), map(pyarrow.array, self.ids())))
        return pyarrow.table({**columns, **{_named(name): _columns.arrow(values, kinds.get(name)) for name, values in self.properties.items()}})

    def _arrow_texts(self) -> dict[str, Any]:
        """The text ids of sources and targets as Arrow columns."""
        import pyarrow

        columns = {}
        ids, *ends = self._texts()
        texts = pyarrow.array(ids, pyarrow.string())
        for name, rows in zip(("source", "target"), ends):
            chunks = [texts.take(pyarrow.array(rows[at : at + _CHUNK])) for at in range(0, len(rows), _CHUNK)]
            columns[name] = pyarrow.chunked_array(chunks, pyarrow.string())
        return columns

    def to_polars(self) -> polars.DataFrame:
        """A Polars data frame with the ids of sources and targets, and the properties."""
        import polars

        try:
            return polars.from_arrow(_columns.for_polars(self.to_arrow()))
        except ImportError:  # without pyarrow
            return polars.DataFrame({n: v.tolist() if v.dtype == object else v for n, v in self._columns().items()})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        if self._read is not None:
            return TableStream(self.graph._native, "edges", self._read[1]).__arrow_c_stream__(requested_schema)
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_networkx(self) -> networkx.Graph:
        """A NetworkX graph with ids as nodes, and with all properties of edges and vertices."""
        nodes = self.vertices().tolist()
        properties = {name: _zoned(values, self.graph.edge_properties.get(name, "")) for name, values in self.properties.items()}
        graph = networkx_graph(nodes, self.source, self.target, properties, directed=self.graph.directed, multigraph=self.graph.multigraph)
        if self.graph.vertex_properties:
            for one in nodes:
                graph.nodes[one].update(self.graph.properties(one))
        return graph


class VertexTable:
    """The vertices of a graph with their ids and properties. As an Arrow stream, they are read batch by batch."""

    __slots__ = ("graph",)

    def __init__(self, graph: Graph) -> None:
        self.graph: Graph = graph
        """The graph of the vertices."""

    def __len__(self) -> int:
        return self.graph.num_vertices

    def __repr__(self) -> str:
        return f"<esker.VertexTable of {counted(len(self), 'vertex', 'vertices')} with {list(self.graph.vertex_properties) or 'no properties'}>"

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return TableStream(self.graph._native, "vertices", True).__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table with the ids in the column ``vertex``, and the properties, null where a vertex has none."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas data frame with the ids and the properties."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """A Polars data frame with the ids and the properties."""
        import polars

        try:
            return polars.from_arrow(_columns.for_polars(self.to_arrow()))
        except ImportError:  # without pyarrow
            return polars.DataFrame(self)


def _taken(texts: numpy.ndarray, rows: numpy.ndarray) -> numpy.ndarray:
    """The texts of rows. NumPy holds the interpreter's lock for a whole selection of objects, so each is short: signals are handled between."""
    import numpy

    found = numpy.empty(len(rows), dtype=object)
    for at in range(0, len(rows), _TAKEN):
        found[at : at + _TAKEN] = texts[rows[at : at + _TAKEN]]
    return found


def networkx_graph(
    nodes: list[Any], source: Any, target: Any, properties: Mapping[str, Any], *, directed: bool, multigraph: bool = False
) -> networkx.Graph:
    """A NetworkX graph of nodes and of edges between them, given as rows of nodes and the values of each property."""
    import networkx

    kinds = {
        (False, False): networkx.Graph,
        (True, False): networkx.DiGraph,
        (False, True): networkx.MultiGraph,
        (True, True): networkx.MultiDiGraph,
    }
    graph = kinds[directed, multigraph]()
    columns = [(name, _columns.objects(values)) for name, values in properties.items()]
    # The list outlives the call: to free all dictionaries there would delay Ctrl-C.
    made: list[Any] = []
    with without_collections():
        graph.add_nodes_from(nodes)
        ends = _columns.column(source, "source"), _columns.column(target, "target")
        write_adjacency(graph._adj, graph._pred if directed else None, nodes, *ends, columns, None if multigraph else made)
    return graph


def _zoned(values: Any, kind: str) -> Any:
    """The values of a property; times with a zone, which NumPy does not have, as objects in UTC."""
    if not (kind.startswith("timestamp[") and "," in kind):
        return values
    import datetime

    import numpy

    found = numpy.empty(len(values), dtype=object)
    found[:] = [one.replace(tzinfo=datetime.timezone.utc) if isinstance(one, datetime.datetime) else one for one in _columns.objects(values)]
    return found


def _values(values: Any) -> numpy.ndarray:
    import numpy

    if not isinstance(values, tuple):
        return values if isinstance(values, numpy.ma.MaskedArray) else numpy.asarray(values)
    numbers, texts, missing = values
    found = numpy.asarray(numbers)
    if texts is not None:
        found = numpy.array(texts, dtype=object)[found]
    if missing is None:
        return found
    gone = numpy.asarray(missing) != 0
    if texts is None:
        return numpy.ma.MaskedArray(found, mask=gone)
    found[gone] = None
    return found
