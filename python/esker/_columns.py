"""Converts ids, values and edges from other libraries to columns for the native half. Imports only libraries that are installed."""

from __future__ import annotations

import sys
from typing import Any, Mapping, NamedTuple

from ._errors import InvalidError, MistypedError
from ._esker import Column

_SOURCES = ("source", "src", "from", "u", "tail")
_TARGETS = ("target", "dst", "to", "v", "head")


def column(data: Any, what: str) -> Column:
    """Makes a column from NumPy, Arrow, pandas, Polars, an object with ``__array__`` or the buffer protocol, or an iterable."""
    if isinstance(data, Column):
        return data
    if isinstance(data, (str, bytes)):
        raise MistypedError(f"{what}: expected a sequence of integers, floats or strings, got a single string")
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(data, masked.MaskedArray) and data.ndim == 1 and data.mask.any():
        return Column(data.tolist(), what)
    kind = type(data).__module__.partition(".")[0]
    if kind == "pandas":
        data = _from_pandas(data)
    elif kind == "polars" and str(getattr(data, "dtype", "")) == "Null":
        data = data.to_list()
    if not hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__arrow_c_array__"):
        numpy = sys.modules.get("numpy")
        if hasattr(data, "__array__") and numpy is not None or kind == "torch":
            import numpy

            data = _from_numpy(numpy.asarray(data), what)
    return Column(data, what)


def _from_pandas(data: Any) -> Any:
    """The NumPy array of a pandas series if it is backed by one; otherwise Arrow data or a list, which keep missing values."""
    if getattr(data.dtype, "kind", "O") in "iufb" and hasattr(data.dtype, "byteorder"):
        return data.to_numpy()
    if hasattr(data, "__arrow_c_stream__") and "pyarrow" in sys.modules:
        return data
    return [None if missing else value for value, missing in zip(data, data.isna())]


def _from_numpy(data: Any, what: str) -> Any:
    import numpy

    if data.ndim != 1:
        raise MistypedError(f"{what}: expected a one-dimensional array, got {data.ndim} dimensions")
    if data.dtype.kind in "UOTS":
        return data.tolist()
    if data.dtype.kind == "b":
        return data.astype(numpy.uint8)
    if data.dtype.kind not in "iuf" or data.dtype.itemsize > 8:
        raise MistypedError(f"{what}: expected integers, floats or strings, got {data.dtype}")
    if data.dtype.itemsize == 2 and data.dtype.kind == "f":
        return data.astype(numpy.float32)
    return numpy.require(data, data.dtype.newbyteorder("="), ["C", "A"])


class Edges(NamedTuple):
    """Edges as columns."""

    source: Column
    target: Column
    properties: list[tuple[str, Column]]
    vertices: Column | None = None
    directed: bool | None = None
    num_vertices: int | None = None
    multigraph: bool = False


def edges(source: Any, target: Any, properties: Mapping[str, Any], weight: Any = None) -> Edges:
    """Makes columns of edges from two columns and properties, or from one object that contains edges."""
    if target is None:
        return _of_object(source, properties, weight)
    columns = [(name, column(values, name)) for name, values in properties.items() if values is not None]
    if weight is not None:
        columns.insert(0, ("weight", column(weight, "weight")))
    return Edges(column(source, "source"), column(target, "target"), columns)


def _of_object(data: Any, properties: Mapping[str, Any], weight: Any) -> Edges:
    if properties:
        raise InvalidError("property columns need both source and target columns")
    if weight is not None and not isinstance(weight, (str, bool)):
        raise InvalidError("a weight column needs both source and target columns; otherwise weight must be the name of a column")
    if hasattr(data, "tocoo") and hasattr(data, "shape"):
        return _of_matrix(data, weight)
    if hasattr(data, "get_edgelist") and hasattr(data, "vs"):
        return _of_igraph(data, weight)
    if hasattr(data, "is_multigraph") and hasattr(data, "edges") and hasattr(data, "nodes"):
        return _of_networkx(data, weight)
    data = _table(data)
    names = _names(data)
    if names is not None:
        return _of_table(data, names, weight)
    shape = getattr(data, "shape", None)
    if shape is not None and len(shape) > 2:
        raise MistypedError(f"an array of edges must have two dimensions, not {len(shape)}")
    if shape is not None and len(shape) == 2:
        if shape[1] not in (2, 3):
            raise InvalidError(f"an array of edges must have two columns, or three with the weight, not {shape[1]}")
        source, target = (_integral(data[:, at]) for at in (0, 1))
        ends = Edges(column(source, "source"), column(target, "target"), [])
        return ends if shape[1] == 2 else ends._replace(properties=[("weight", column(data[:, 2], "weight"))])
    return _of_tuples(data)


def _table(data: Any) -> Any:
    """Converts a lazy query, an Arrow stream or a data frame without header to a table with named columns."""
    kind = type(data).__module__.partition(".")[0]
    if kind == "polars" and hasattr(data, "collect"):
        return data.collect()
    if kind == "pandas" and hasattr(data, "iloc") and len(data.columns) in (2, 3) and not any(isinstance(name, str) for name in data.columns):
        return data.set_axis(["source", "target", "weight"][: len(data.columns)], axis=1)
    if hasattr(data, "__arrow_c_stream__") and kind not in ("pandas", "polars") and not hasattr(data, "column_names"):
        import pyarrow

        try:
            return pyarrow.table(data)
        except (TypeError, ValueError):  # no named columns
            return data
    return data


def _integral(ids: Any) -> Any:
    """Converts ids to integers if they are integral floats, as in an array with weights."""
    if ids.dtype.kind != "f" or not ((ids == ids.round()) & (abs(ids) < 2**53)).all():
        return ids
    return ids.astype("int64")


def _of_tuples(data: Any) -> Edges:
    try:
        rows = [row if isinstance(row, (str, bytes)) else tuple(row) for row in data]
    except TypeError:
        raise MistypedError(
            f"cannot read edges from {type(data).__name__}; pass columns source and target, a table, a sparse "
            "matrix, a graph, or tuples (source, target) or (source, target, weight)"
        ) from None
    if any(isinstance(row, (str, bytes)) for row in rows):
        raise MistypedError("edges must be tuples (source, target) or (source, target, weight), not strings")
    widths = {len(row) for row in rows}
    if not widths <= {2} and not widths <= {3}:
        raise InvalidError(
            f"edges must all be tuples (source, target) or all (source, target, weight); got tuples of lengths {sorted(widths)}"
        )
    if widths == {3} and isinstance(rows[0][2], dict):
        keys = list(dict.fromkeys(key for row in rows for key in row[2]))
        properties = [(key, column([row[2].get(key) for row in rows], key)) for key in keys]
    elif widths == {3}:
        properties = [("weight", column([row[2] for row in rows], "weight"))]
    else:
        properties = []
    return Edges(column([row[0] for row in rows], "source"), column([row[1] for row in rows], "target"), properties)


def _names(data: Any) -> list[str] | None:
    """The names of the columns of a table; ``None`` for other objects."""
    if isinstance(data, Mapping):
        return list(data)
    names = getattr(data, "column_names", None)  # pyarrow
    if names is None:
        names = getattr(data, "columns", None)  # pandas, Polars
        if names is not None and not all(isinstance(name, str) for name in names):
            return None
    return None if names is None or callable(names) else list(names)


def _of_table(data: Any, names: list[str], weight: Any) -> Edges:
    def find(usual: tuple[str, ...], other: int, what: str) -> str:
        for name in usual:
            if name in names:
                return name
        if len(names) == 2:
            return names[other]
        raise InvalidError(
            f"no column is called {' or '.join(usual[:3])}; rename the column of the {what}, or pass two columns; the columns are {names}"
        )

    source, target = find(_SOURCES, 0, "source"), find(_TARGETS, 1, "target")
    others = [name for name in names if name not in (source, target)]
    if isinstance(weight, str) and weight not in others:
        raise InvalidError(f"no column is called {weight!r}; the columns are {names}")
    properties = [(name, column(data[name], name)) for name in others]
    return Edges(column(data[source], source), column(data[target], target), properties)


def _of_matrix(data: Any, weight: Any) -> Edges:
    if data.shape[0] != data.shape[1]:
        raise InvalidError(f"an adjacency matrix must be square, not {data.shape[0]} x {data.shape[1]}")
    matrix = data.tocoo()
    properties = [] if weight is False else [("weight", column(matrix.data, "weight"))]
    ends = Edges(column(matrix.row, "row"), column(matrix.col, "col"), properties)
    return ends._replace(num_vertices=int(data.shape[0]))


def _of_igraph(data: Any, weight: Any) -> Edges:
    pairs = data.get_edgelist()
    named = "name" in data.vs.attributes()
    ids = data.vs["name"] if named else range(data.vcount())
    ends = Edges(
        column([ids[u] for u, _ in pairs], "source"),
        column([ids[v] for _, v in pairs], "target"),
        [(name, column(data.es[name], name)) for name in data.es.attributes() if weight is not False],
    )
    return ends._replace(vertices=column(list(ids), "vertices"), directed=data.is_directed(), multigraph=data.has_multiple())


def _of_networkx(data: Any, weight: Any) -> Edges:
    pairs = list(data.edges(data=True))
    names = list(dict.fromkeys(key for _, _, values in pairs for key in values)) if weight is not False else []
    usual = {"weight": 1}  # NetworkX's default
    ends = Edges(
        column([u for u, _, _ in pairs], "source"),
        column([v for _, v, _ in pairs], "target"),
        [(name, column([values.get(name, usual.get(name)) for _, _, values in pairs], name)) for name in names],
    )
    vertices = column(list(data.nodes), "vertices")
    return ends._replace(vertices=vertices, directed=data.is_directed(), multigraph=data.is_multigraph())
