"""Values of the vertices of a graph as one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Union

from ._algorithms import ALGORITHMS
from ._counted import counted
from ._errors import InvalidError, MistypedError, PropertyNotFoundError, UnsuitableError
from ._result import Column, Result

if TYPE_CHECKING:
    import numpy
    import pandas

    from ._graph import Graph

#: A name, a result or one of its columns, or an array with a value for each vertex.
Feature = Union[str, Result, Column, "numpy.ndarray"]

#: The features that are degrees, and their directions.
_DEGREES = {"degree": "out", "in_degree": "in", "out_degree": "out"}


def features(graph: Graph, names: tuple[str, ...], named: Mapping[str, Feature]) -> pandas.DataFrame:
    """The data frame of :meth:`esker.Graph.features`."""
    import pandas

    columns: dict[str, Any] = {}
    for name in names:
        if not isinstance(name, str):
            raise MistypedError(f"features are given by name, or by keyword as in ranks=result, not as {type(name).__name__}")
        if name in columns:
            raise InvalidError(f"the feature {name!r} is given twice")
        columns[name] = _of_name(graph, name)
    for name, feature in named.items():
        if name in columns:
            raise InvalidError(f"the feature {name!r} is given twice")
        columns[name] = _values(graph, name, feature)
    return pandas.DataFrame(columns, index=pandas.Index(graph.ids(), name="vertex"), copy=False)


def _values(graph: Graph, name: str, feature: Any) -> Any:
    """The values of a feature that is given by keyword."""
    if isinstance(feature, str):
        return _of_name(graph, feature)
    if isinstance(feature, Result):
        return _of_column(graph, feature.column())
    if isinstance(feature, Column):
        return _of_column(graph, feature)
    shape = getattr(feature, "shape", None) or (len(feature),) if hasattr(feature, "__len__") else None
    if shape is None:
        raise MistypedError(f"{name} must be a name, a result, a column or an array, not {type(feature).__name__}")
    if shape != (graph.num_vertices,):
        raise InvalidError(f"{name} must have a value for each of the {counted(graph.num_vertices, 'vertex', 'vertices')}, but its shape is {shape}")
    return _masked(getattr(feature, "array", feature))


def _of_name(graph: Graph, name: str) -> Any:
    """The values of the feature of a name."""
    algorithm = next((one for one in ALGORITHMS.values() if name in (one.name, one.method)), None)
    is_computed = algorithm is not None or name in _DEGREES
    if name in graph.vertex_properties:
        if is_computed:
            method = "degree()" if algorithm is None else f"{algorithm.method}()"
            raise InvalidError(
                f"{name!r} is a vertex property, and can be computed, too: pass {name}=g.property({name!r}) or {name}=g.{method}"
            )
        return _masked(graph.property(name))
    if algorithm is not None:
        return _of_column(graph, getattr(graph, algorithm.method)().column())
    if name in _DEGREES:
        return graph.degree(direction=_DEGREES[name])
    raise PropertyNotFoundError(
        f"no feature {name!r}: it is no algorithm, none of {', '.join(_DEGREES)}, and none of the vertex properties {list(graph.vertex_properties)}"
    )


def _of_column(graph: Graph, column: Column) -> Any:
    """The values of a column of a result; missing ones where a window has no row for a vertex."""
    import pandas

    result = column._result
    of = result.graph
    if of is not graph and (of._owner is None or (of._owner, of.version) != (graph._owner, graph.version)):
        raise InvalidError(f"{column.name} is of another graph or version, so its rows are not those of this graph: run {result.algorithm} on this one")
    if result._has_edges:
        raise UnsuitableError(f"the rows of {result.algorithm} are edges, and features are values of vertices")
    values = pandas.Series(result.to_pandas()[column.name].array)
    if len(values) == graph.num_vertices:
        return values.array
    if values.dtype.kind in "iu":
        values = values.astype({"i": "Int64", "u": "UInt64"}[values.dtype.kind])
    return values.set_axis(result.vertices).reindex(range(graph.num_vertices)).array


def _masked(values: Any) -> Any:
    """Turns a masked array into an array in which missing values are marked as pandas marks them."""
    import numpy
    import pandas

    if not isinstance(values, numpy.ma.MaskedArray):
        return values
    missing = numpy.ma.getmaskarray(values)
    if not missing.any():
        return values.data
    if values.dtype.kind in "iu":
        return pandas.arrays.IntegerArray(values.data.copy(), missing)
    if values.dtype.kind == "b":
        return pandas.arrays.BooleanArray(values.data.copy(), missing)
    return numpy.where(missing, numpy.array("NaT" if values.dtype.kind == "M" else numpy.nan, dtype=values.dtype), values.data)
