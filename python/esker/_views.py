"""Graphs made of a graph: parts of it, with edges reversed, or without directions. They are in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Collection, Mapping, Union

from . import _columns
from ._counted import counted
from ._edges import EdgeTable
from ._errors import InvalidError, MistypedError, PropertyNotFoundError
from ._esker import edges_that_meet
from ._settings import run_settings

if TYPE_CHECKING:
    import numpy

    from ._graph import Graph

#: Types of properties that are numbers.
NUMBERS = frozenset("i8 i16 i32 i64 u8 u16 u32 u64 f32 f64".split())

#: A condition, values of edge properties, a function of the edges, or a flag for each edge.
Where = Union[str, Mapping[str, Any], Callable[["EdgeTable"], Any], Collection[bool]]


def of_edges(graph: Graph, table: EdgeTable, numbers: numpy.ndarray | None = None, **settings: Any) -> Graph:
    """A graph of some edges and some vertices, by default all vertices, with their ids and properties."""
    import numpy

    ids = _columns.column(graph.ids(numbers), "ids")
    ends = (end if numbers is None else numpy.searchsorted(numbers, end) for end in (table.source, table.target))
    source, target = (ids.take(_columns.column(end, "rows")) for end in ends)
    rows: Any = slice(None) if numbers is None else numbers
    values = {name: graph.property(name)[rows] for name in graph.vertex_properties}
    return graph._makers.rebuild({**settings_of(graph), **settings}, ids, source, target, table.properties, values)


def settings_of(graph: Graph) -> dict[str, Any]:
    """What :func:`rebuilt` needs to know of a graph beside its edges and vertices."""
    return {
        "directed": graph.directed,
        "multigraph": graph.multigraph,
        "weight": graph.weight,
        "schema": graph.edge_properties,
        "vertex_schema": graph.vertex_properties,
    }


def reverse(graph: Graph) -> Graph:
    """The graph with all edges reversed."""
    if not graph.directed:
        return graph
    table = graph.edges()
    table.source, table.target = table.target, table.source
    return of_edges(graph, table)


def undirected(graph: Graph) -> Graph:
    """The graph without directions; of edges in both directions, the one with the smaller weight."""
    if not graph.directed:
        return graph
    table = graph.edges()
    if not graph.multigraph:
        table = _smallest(table, graph.weight)
    return of_edges(graph, table, directed=False)


def _smallest(table: EdgeTable, weight: str | None) -> EdgeTable:
    """Of edges between the same two vertices, the one with the smallest weight; of several, the first."""
    import numpy

    low, high = numpy.minimum(table.source, table.target), numpy.maximum(table.source, table.target)
    keys = (high, low) if weight is None else (_columns.all_given(table.properties[weight], weight), high, low)
    order = numpy.lexsort(keys)
    low, high = low[order], high[order]
    first = numpy.ones(len(order), dtype=bool)
    first[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    keep = numpy.zeros(len(order), dtype=bool)
    keep[order[first]] = True
    return table._only(keep)


def part(graph: Graph, numbers: Any) -> Graph:
    """The graph of some vertices, given by number, and of the edges between them."""
    import numpy

    numbers = numpy.unique(numpy.asarray(graph._native.checked_rows(_columns.column(numbers, "vertices"))))
    found = graph._native.edges(_columns.column(numbers, "vertices"), True, run_settings())
    return of_edges(graph, EdgeTable(graph, *found), numbers)


def chosen(graph: Graph, where: Where, all_vertices: bool) -> Graph:
    """The graph of the chosen edges, and of the vertices that have one, or of all vertices."""
    import numpy

    if isinstance(where, str):
        return _with(graph, EdgeTable(graph, *edges_that_meet(graph._native, [where], run_settings())), all_vertices)
    table = graph.edges()
    if isinstance(where, Mapping):
        keep = numpy.ones(len(table), dtype=bool)
        for name, wanted in where.items():
            if name not in table.properties:
                raise PropertyNotFoundError(f"no edge property {name!r}; the edge properties are {list(table.properties)}")
            several = list(wanted) if isinstance(wanted, (list, tuple, set, frozenset, numpy.ndarray)) else [wanted]
            values = table.properties[name]
            for one in several:
                _expect_comparable(one, name, graph.edge_properties[name])
            keep &= numpy.array([value in several for value in values], dtype=bool) if values.dtype == object else numpy.ma.filled(numpy.ma.isin(values, several), False)
    else:
        # What is unknown of a missing value is not true.
        keep = numpy.asarray(numpy.ma.filled(where(table) if callable(where) else where, False))
    if keep.dtype != bool or keep.ndim != 1:
        raise MistypedError(f"where must be a condition in words, values by property, such as {{'kind': 'depends'}}, or True or False for each edge; got {where!r:.60}")
    if len(keep) != len(table):
        raise InvalidError(f"where gives {counted(len(keep), 'value')} for {counted(len(table), 'edge')}")
    return _with(graph, table._only(keep), all_vertices)


def _with(graph: Graph, table: EdgeTable, all_vertices: bool) -> Graph:
    """The graph of some edges, and of the vertices that have one, or of all vertices."""
    import numpy

    if all_vertices:
        return of_edges(graph, table)
    return of_edges(graph, table, numpy.unique(numpy.concatenate([table.source, table.target])))


def _expect_comparable(wanted: Any, name: str, kind: str) -> None:
    """Checks that a value can equal one of a property of type ``kind``."""
    is_text, is_number = isinstance(wanted, str), hasattr(wanted, "__float__") or hasattr(wanted, "__index__")
    fits = is_text if kind == "text" else is_number if kind in NUMBERS else not is_text and wanted is not None
    if not fits:
        raise MistypedError(f"the edge property {name!r} is of type {kind}, and no value of it equals {wanted!r}; give a value of that type")
