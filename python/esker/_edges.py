"""Edges as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx
    import numpy
    import pandas
    import polars
    import pyarrow

    from ._graph import Graph


class EdgeTable:
    """Edges as columns: ``source`` and ``target`` as vertex numbers, and properties by name."""

    __slots__ = ("graph", "source", "target", "properties", "_vertices")

    def __init__(self, graph: Graph, vertices: Any, source: Any, target: Any, properties: dict[str, Any]) -> None:
        import numpy

        self.graph: Graph = graph
        """The graph of the edges."""
        self.source: numpy.ndarray = numpy.asarray(source)
        """Vertex numbers of the sources."""
        self.target: numpy.ndarray = numpy.asarray(target)
        """Vertex numbers of the targets."""
        self.properties: dict[str, numpy.ndarray] = {name: _values(values) for name, values in properties.items()}
        """Values of each property; text values are objects."""
        self._vertices = vertices

    def __len__(self) -> int:
        return len(self.source)

    def __repr__(self) -> str:
        return f"<esker.EdgeTable of {len(self):,} edges with {list(self.properties) or 'no properties'}>"

    def vertices(self) -> numpy.ndarray:
        """The ids of the vertices, including vertices without edges."""
        return self.graph.ids() if self._vertices is None else self.graph.ids(self._vertices)

    def ids(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The ids of sources and targets."""
        return self.graph.ids(self.source), self.graph.ids(self.target)

    def _columns(self) -> dict[str, Any]:
        source, target = self.ids()
        return {"source": source, "target": target, **self.properties}

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas data frame with the ids of sources and targets, and the properties."""
        import pandas

        return pandas.DataFrame(self._columns(), copy=False)

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table with the ids of sources and targets, and the properties."""
        import pyarrow

        return pyarrow.table({name: pyarrow.array(values) for name, values in self._columns().items()})

    def to_polars(self) -> polars.DataFrame:
        """A Polars data frame with the ids of sources and targets, and the properties."""
        import polars

        columns = self._columns()
        return polars.DataFrame({n: v.tolist() if v.dtype == object else v for n, v in columns.items()})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_networkx(self) -> networkx.Graph:
        """A NetworkX graph with ids as nodes, and with all properties of edges and vertices."""
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
