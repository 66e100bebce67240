"""Converts ids, values and edges from other libraries to columns for the native half. Imports only libraries that are installed."""

from __future__ import annotations

import datetime
import decimal
import sys
import warnings
from typing import Any, Mapping, NamedTuple

from ._counted import counted
from ._errors import EskerWarning, InvalidError, MistypedError
from ._esker import Column, VertexTable, columns_of_tuples, keys_of_dictionaries, read_edges, read_tuples, vertex_table
from ._naming import expect_once, roles

#: Number of tuples that are freed at once.
_FREED = 1 << 16


def column(data: Any, what: str, kind: str | None = None) -> Column:
    """Makes a column from NumPy, Arrow, pandas, Polars, an object with ``__array__`` or the buffer protocol, or an iterable. ``kind`` is
    the type of the property that the values come from, to keep the time zone, which NumPy does not have."""
    if isinstance(data, Column):
        return data
    if isinstance(data, (str, bytes)):
        raise MistypedError(f"{what}: expected a sequence of integers, floats or strings, got a single string")
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(data, masked.MaskedArray) and data.ndim == 1 and data.mask.any():
        if data.dtype.kind in "bM":
            numbers, logical = _numbers(data.data, what)
            return Column([None if gone else one for one, gone in zip(numbers.tolist(), data.mask.tolist())], what, kind or logical)
        return Column(data.tolist(), what)
    library = type(data).__module__.partition(".")[0]
    if library == "pandas":
        data, kind = _from_pandas(data, kind)
        if kind is not None and isinstance(data, list):
            return Column(data, what, kind)
    elif library == "polars" and str(getattr(data, "dtype", "")) == "Null":
        data = data.to_list()
    if not hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__arrow_c_array__"):
        numpy = sys.modules.get("numpy")
        if hasattr(data, "__array__") and numpy is not None or library == "torch":
            import numpy

            data = numpy.asarray(data)
            if data.dtype.kind in "bM" and data.ndim == 1:
                numbers, logical = _numbers(data, what)
                if data.dtype.kind == "M" and numpy.isnat(data).any():
                    numbers = [None if gone else one for one, gone in zip(numbers.tolist(), numpy.isnat(data).tolist())]
                return Column(numbers, what, kind or logical)
            data = _from_numpy(data, what)
    try:
        return Column(data, what)
    except Exception as error:
        if isinstance(error, (InvalidError, MistypedError)) and "C Data interface" not in str(error) or not hasattr(data, "dtype"):
            raise
        # Of another library, which names no column.
        raise MistypedError(f"{what}: values of type {data.dtype} cannot be read ({error}); convert the column, or leave it out") from error


def _numbers(data: Any, what: str) -> tuple[Any, str]:
    """The numbers that stand for truth values or times, and their type."""
    import numpy

    if data.dtype.kind == "b":
        return data.astype(numpy.uint8), "bool"
    unit, count = numpy.datetime_data(data.dtype)
    if unit == "generic" or unit not in ("D", "s", "ms", "us", "ns") or count != 1:
        raise MistypedError(f"{what}: expected times in the unit D, s, ms, us or ns, got {data.dtype}; convert them with astype")
    data = data.astype(data.dtype.newbyteorder("=")).view(numpy.int64)
    return data, "date" if unit == "D" else f"timestamp[{unit}]"


def _mask(values: Any) -> Any:
    """The flags of the missing values of a masked array; ``None`` of another."""
    import numpy

    return numpy.ma.getmaskarray(values) if isinstance(values, numpy.ma.MaskedArray) else None


def typed(values: Any, kind: str) -> Any:
    """The NumPy array of the values of a property of type ``kind``. Times with a zone are in UTC."""
    if values.dtype.kind not in "iu":
        return values
    mask = _mask(values)
    if mask is not None:
        import numpy

        return numpy.ma.MaskedArray(typed(values.data, kind), mask=mask)
    if kind == "bool":
        return values.astype(bool)
    if kind == "date":
        return values.astype("datetime64[D]")
    if kind.startswith("timestamp["):
        return values.view(f"datetime64[{_unit_and_zone(kind)[0]}]")
    return values


def _unit_and_zone(kind: str) -> tuple[str, str | None]:
    """The unit and the zone of a type such as ``timestamp[us, UTC]``."""
    unit, _, zone = kind[len("timestamp[") : -1].partition(", ")
    return unit, zone or None


def arrow(values: Any, kind: str | None) -> Any:
    """The Arrow array of the values of a property of type ``kind``."""
    import pyarrow

    mask = _mask(values)
    found = pyarrow.array(values if mask is None else values.data, pyarrow.string() if kind == "text" else None, mask=mask)
    if kind is None or not kind.startswith("timestamp["):
        return found
    unit, zone = _unit_and_zone(kind)
    return found.cast(pyarrow.timestamp(unit, zone))


def for_polars(table: Any) -> Any:
    """An Arrow table whose times with an offset as their zone, which Polars does not take, are in UTC."""
    import pyarrow

    for at, field in enumerate(table.schema):
        if pyarrow.types.is_timestamp(field.type) and (field.type.tz or "").startswith(("+", "-")):
            kind = pyarrow.timestamp(field.type.unit, "UTC")
            table = table.set_column(at, pyarrow.field(field.name, kind, field.nullable), table.column(at).cast(kind))
    return table


def series(values: Any, kind: str | None) -> Any:
    """The values of a property of type ``kind`` for a data frame of pandas. Missing values are ``NA``, ``NaN`` in floats and ``NaT`` in times."""
    mask = _mask(values)
    if mask is not None:
        values = _with_missing(values.data, mask)
    zone = _unit_and_zone(kind)[1] if kind is not None and kind.startswith("timestamp[") else None
    if zone is None:
        return values
    import pandas

    return pandas.Series(values).dt.tz_localize("UTC").dt.tz_convert(zone)


def all_given(values: Any, name: str) -> Any:
    """The values of an edge property, none of which may be missing."""
    mask = _mask(values)
    if mask is not None and mask.any():
        raise InvalidError(f"{counted(int(mask.sum()), 'edge has', 'edges have')} no value of {name!r}: give them one, or leave them out with Graph.filter")
    return values if mask is None else values.data


def _with_missing(values: Any, mask: Any) -> Any:
    """The values for pandas, of which those with a true flag in `mask` are missing."""
    import numpy
    import pandas

    if values.dtype.kind == "b":
        return pandas.arrays.BooleanArray(values, mask)
    if values.dtype.kind in "iu":
        return pandas.arrays.IntegerArray(values, mask)
    return numpy.where(mask, values.dtype.type("NaT" if values.dtype.kind == "M" else "nan"), values)


def objects(values: Any) -> list[Any]:
    """The values as Python objects, ``None`` where one is missing; times that Python's types do not hold exactly as those of NumPy."""
    mask = _mask(values)
    if mask is not None:
        return [None if gone else one for one, gone in zip(objects(values.data), mask.tolist())]
    if values.dtype.kind != "M" or values.dtype.str.endswith("[D]"):
        return values.tolist()
    micro = values.astype("datetime64[us]")
    return micro.tolist() if (micro.astype(values.dtype) == values).all() else list(values)


def _from_pandas(data: Any, kind: str | None) -> tuple[Any, str | None]:
    """The NumPy array of a pandas series or index if it is backed by one; otherwise Arrow data or a list, which keep missing values; and
    the type of times with a zone."""
    zone = getattr(data.dtype, "tz", None)
    if zone is not None and hasattr(data.dtype, "unit"):
        times = data.to_numpy(f"datetime64[{data.dtype.unit}]")
        numbers = times.view("int64").tolist()
        missing = data.isna()
        return [None if gone else one for one, gone in zip(numbers, missing)], kind or f"timestamp[{data.dtype.unit}, {zone}]"
    if getattr(data.dtype, "kind", "O") in "iufbM" and hasattr(data.dtype, "byteorder"):
        return data.to_numpy(), kind
    if hasattr(data, "__arrow_c_stream__") and "pyarrow" in sys.modules:
        return data, kind
    return [None if missing else value for value, missing in zip(data, data.isna())], None


def _from_numpy(data: Any, what: str) -> Any:
    import numpy

    if data.ndim != 1:
        raise MistypedError(f"{what}: expected a one-dimensional array, got {data.ndim} dimensions")
    if data.dtype.kind in "UOTS":
        return data.tolist()
    if data.dtype.kind not in "iuf" or data.dtype.itemsize > 8:
        raise MistypedError(f"{what}: expected integers, floats, strings, truth values or times, got {data.dtype}")
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
    weight: str | None = None
    """The name of the property that is the weight."""


def no_edges() -> Edges:
    """No edges, between ids of any kind."""
    return Edges(column([], "source"), column([], "target"), [])


def decide(found: Edges | None) -> bool:
    """Whether the edges, if there are any, decide the types of ids and properties."""
    if found is None:
        return False
    has_vertices = found.vertices is not None or found.num_vertices is not None
    return bool(len(found.source) or has_vertices or found.properties or found.source.holds == "texts")


class Vectors:
    """Vectors of fixed length: the rows of a two-dimensional array, or an Arrow array of lists of fixed size."""

    def __init__(self, values: Any, what: str) -> None:
        import numpy

        if hasattr(values, "type"):
            values = values.combine_chunks() if hasattr(values, "combine_chunks") else values
            numbers = numpy.full((len(values), values.type.list_size), numpy.nan, values.type.value_type.to_pandas_dtype())
            numbers[numpy.asarray(values.is_valid())] = numpy.asarray(values.flatten()).reshape(-1, values.type.list_size)
            values = numbers
        rows = values.astype(numpy.result_type(values.dtype, numpy.float32)).filled(numpy.nan) if isinstance(values, numpy.ma.MaskedArray) else numpy.asarray(values)
        if rows.dtype.kind not in "iuf" or rows.dtype.itemsize > 8:
            raise MistypedError(f"{what}: expected a two-dimensional array of numbers, got {rows.dtype}")
        floats = rows.astype(numpy.float32 if rows.dtype.kind == "f" and rows.dtype.itemsize < 8 else numpy.float64)
        if rows.dtype.kind in "iu" and (floats.astype(rows.dtype) != rows).any():
            raise InvalidError(f"{what}: an integer exceeds 2^53, so no float equals it; convert the array with astype(float) if it may be rounded")
        self._count, self.length = floats.shape
        self.numbers = Column(numpy.ascontiguousarray(floats).reshape(-1), what)

    def __len__(self) -> int:
        return self._count


def for_all(values: Any, what: str, count: int) -> Column | Vectors:
    """A column of values or of vectors, or of one value that is repeated ``count`` times."""
    if getattr(values, "ndim", 1) == 2 or str(getattr(values, "type", "")).startswith("fixed_size_list<"):
        return Vectors(values, what)
    if values is None or isinstance(values, (str, int, float, datetime.date, decimal.Decimal)) or getattr(values, "shape", None) == ():
        values = [values] * count
    return column(values, what)


class Reading(NamedTuple):
    """How to read an object that contains edges."""

    weight: str | bool | None = None
    """The name of the weight; ``None`` for the usual one, ``False`` to ignore all values."""
    usual_weight: str = "weight"
    directed: bool | None = None
    """Whether the edges will be directed; ``None``: as the object says."""
    duplicates: str | None = None
    """The rule for duplicates, if the call gives one."""
    selects: bool = False
    """Whether the columns of a table say which edges are meant, so that none is ignored."""
    ends: tuple[str, str] | None = None
    """The names of the columns of source and target, if they are chosen."""

    @property
    def name(self) -> str:
        """The name for values without a name."""
        return self.weight if isinstance(self.weight, str) else self.usual_weight


def edges(
    source: Any,
    target: Any,
    properties: Mapping[str, Any] | None = None,
    weight: Any = None,
    usual_weight: str = "weight",
    directed: bool | None = None,
    duplicates: str | None = None,
    selects: bool = False,
    ends: tuple[str, str] | None = None,
) -> Edges:
    """Makes columns of edges from two columns and properties, or from one object that contains edges.

    Args:
        source: The column of the sources, or the object.
        target: The column of the targets; ``None`` for an object.
        properties: Columns of properties by name, with two columns of ends.
        weight: The column of the weight; for an object, the name of its weight, or ``False`` to ignore its values.
        usual_weight: The name of the weight where `weight` gives none.
        directed: Whether the edges will be directed, if that is known.
        duplicates: The rule for duplicates, if the call gives one.
        ends: The names of the columns of source and target in a table, if they are chosen.
        selects: Whether the columns of a table say which edges are meant: then ``weight=False`` ignores the values of other objects alone.
    """
    if properties is not None and not isinstance(properties, Mapping):
        raise MistypedError(f"properties must be columns by name, as in {{'kind': kinds}}, not {type(properties).__name__}")
    if target is None:
        if properties:
            raise InvalidError("property columns need both source and target columns")
        if weight is not None and weight is not False and not isinstance(weight, str):
            raise InvalidError("a weight column needs both source and target columns; otherwise weight must be the name of a column")
        return _with_numbers_as_weight(_of_object(source, Reading(weight, usual_weight, directed, duplicates, selects, ends)))
    if isinstance(weight, (str, bool)):
        raise MistypedError(f"weight must be a column of numbers if source and target are columns, not {weight!r}")
    columns = [(_checked(name), column(values, name)) for name, values in (properties or {}).items() if values is not None]
    if weight is not None:
        if usual_weight in dict(columns):
            raise InvalidError(f"weight and properties[{usual_weight!r}] are both the weight; give one of them")
        columns.insert(0, (usual_weight, column(weight, "weight")))
    found = Edges(column(source, "source"), column(target, "target"), columns)
    return _with_numbers_as_weight(found._replace(weight=usual_weight if usual_weight in dict(columns) else None))


def _checked(name: Any) -> str:
    """The name of a property."""
    if not isinstance(name, str):
        raise MistypedError(f"the names of properties must be strings, not {name!r}")
    return name


def _with_numbers_as_weight(found: Edges) -> Edges:
    """Checks that the weights are numbers."""
    if found.weight is not None and dict(found.properties)[found.weight].holds == "texts":
        raise MistypedError(
            f"the weight {found.weight!r} holds strings, but weights are numbers; convert it, or give it another name as a property"
        )
    kind = None if found.weight is None else dict(found.properties)[found.weight].kind
    if kind not in (None, "bool"):
        raise MistypedError(f"the weight {found.weight!r} holds values of type {kind}, but weights are numbers; give it another name as a property")
    return found


def _of_object(data: Any, reading: Reading) -> Edges:
    if reading.ends is not None:
        data = _table(data)
        names = _names(data)
        if names is None:
            raise InvalidError(f"source and target name columns of a table, but {type(data).__name__} has no named columns; leave them out")
        return _of_table(data, names, reading)
    # A graph of Esker, known by its parts as the others are: its module is above this one.
    if hasattr(data, "edge_properties") and hasattr(data, "_native"):
        return _of_graph(data, reading)
    if hasattr(data, "tocoo") and hasattr(data, "shape"):
        return _of_matrix(data, reading)
    if hasattr(data, "get_edgelist") and hasattr(data, "vs"):
        return _of_igraph(data, reading)
    if hasattr(data, "is_multigraph") and hasattr(data, "edges") and hasattr(data, "nodes"):
        return _of_networkx(data, reading)
    data = _table(data)
    names = _names(data)
    if names is not None:
        return _of_table(data, names, reading)
    shape = getattr(data, "shape", None)
    if shape is not None and len(shape) > 2:
        raise MistypedError(f"an array of edges must have two dimensions, not {len(shape)}")
    if shape is not None and len(shape) == 2:
        return _of_array(data, reading)
    return _of_tuples(data, reading)


def _of_graph(graph: Any, reading: Reading) -> Edges:
    """The edges of a graph of Esker."""
    if reading.directed not in (None, graph.directed):
        raise InvalidError("the graph is directed; pass graph.undirected()" if graph.directed else "the graph is undirected; leave out directed=True")
    table, kinds = graph.edges(), graph.edge_properties
    source, target = (column(end, what) for end, what in zip(table.ids(), ("source", "target")))
    edges = Edges(source, target, [], vertices=column(graph.ids(), "vertices"), directed=graph.directed, multigraph=graph.multigraph)
    if reading.weight is False:
        return edges
    weight = reading.weight if isinstance(reading.weight, str) else graph.weight
    if weight is not None and weight not in kinds:
        raise InvalidError(f"no edge has the property {weight!r}; the properties are {list(kinds)}")
    _warn_of_attributes(set(graph.vertex_properties))
    return edges._replace(properties=[(name, column(values, name, kinds[name])) for name, values in table.properties.items()], weight=weight)


#: Shapes of arrays that can hold rows of edges, and as well the two rows of an edge index, or an adjacency matrix.
_AMBIGUOUS = {(2, 2), (2, 3), (3, 3)}


def _of_array(data: Any, reading: Reading) -> Edges:
    import numpy

    data = numpy.asarray(data)
    if data.shape in _AMBIGUOUS or data.shape[1] not in (2, 3):
        raise InvalidError(_which_array(data.shape))
    source, target = (_integral(data[:, at]) for at in (0, 1))
    ends = Edges(column(source, "source"), column(target, "target"), [])
    if data.shape[1] == 2 and isinstance(reading.weight, str):
        raise InvalidError(f"no column is called {reading.weight!r}; the array has two columns")
    if data.shape[1] == 2 or reading.weight is False:
        return ends
    return ends._replace(properties=[(reading.name, column(data[:, 2], "weight"))], weight=reading.name)


def _which_array(shape: tuple[int, int]) -> str:
    """Why an array of a shape is not read, and what to pass instead."""
    ways = []
    if shape[1] in (2, 3):
        weight = ", weight=a[:, 2]" if shape[1] == 3 else ""
        ways.append(f"for rows of edges pass the columns a[:, 0], a[:, 1]{weight}")
    if shape[0] == 2:
        ways.append("for an edge index, sources above targets, pass a[0], a[1]")
    if shape[0] == shape[1]:
        ways.append("for an adjacency matrix pass scipy.sparse.coo_array(a)")
    if shape in _AMBIGUOUS:
        return f"an array of shape {shape} can be read in {counted(len(ways), 'way')}: {'; '.join(ways)}"
    others = f"; {'; '.join(ways)}" if ways else ""
    return f"an array of edges must have two columns, or three with the weight, not {shape[1]}{others}"


def _expect_rows(shape: tuple[int, ...]) -> None:
    """Checks that a table without names is not of a shape in which it could be something else than rows of edges."""
    if tuple(shape) in _AMBIGUOUS:
        raise InvalidError(_which_array((shape[0], shape[1])).replace("a[", "a.to_numpy()[").replace("(a)", "(a.to_numpy())"))


def _table(data: Any) -> Any:
    """Converts a lazy query, an Arrow stream or a data frame without header to a table with named columns."""
    kind = type(data).__module__.partition(".")[0]
    if kind == "polars" and hasattr(data, "collect"):
        data = data.collect()
    if kind == "polars" and getattr(data, "columns", None) == [f"column_{at}" for at in range(len(data.columns))]:
        _expect_rows(data.shape)  # Polars gave the names
    if kind == "polars":
        return data
    if kind == "pandas" and hasattr(data, "iloc") and hasattr(data, "columns") and len(data.columns) in (2, 3) and not any(isinstance(name, str) for name in data.columns):
        _expect_rows(data.shape)
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


def _of_tuples(data: Any, reading: Reading) -> Edges:
    if isinstance(data, (tuple, list)) and len(data) == 2 and all(hasattr(one, "dtype") and getattr(one, "shape", ()) != () for one in data):
        # Two edges, or the columns of many.
        raise InvalidError("two arrays in one object can be two edges, or sources and targets: pass sources and targets as two arguments, and rows as an array")
    try:
        found, rows = read_tuples(data)
    except TypeError:
        raise MistypedError(
            f"cannot read edges from {type(data).__name__}; pass columns source and target, a table, a sparse "
            "matrix, a graph, or tuples (source, target) or (source, target, weight)"
        ) from None
    if found is not None and len(found) == 2 and isinstance(reading.weight, str):
        raise InvalidError(f"no column is called {reading.weight!r}; the edges are tuples (source, target)")
    if found is not None:
        ends = Edges(found[0], found[1], [])
        return ends if len(found) == 2 or reading.weight is False else ends._replace(properties=[(reading.name, found[2])], weight=reading.name)
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys(name for row in rows for name in row))
        return _of_table({name: [row.get(name) for row in rows] for name in names}, names, reading)
    fields = getattr(rows[0], "_fields", None) if rows else None
    if fields is not None and all(getattr(row, "_fields", None) == fields for row in rows):
        return _of_table(dict(zip(fields, map(list, zip(*rows)))), list(fields), reading, by_position=True)
    for row in rows:
        if isinstance(row, (str, bytes, Mapping, set, frozenset)) or not hasattr(row, "__iter__"):
            raise MistypedError(f"edges must be tuples (source, target) or (source, target, weight), but one has type {type(row).__name__}")
    rows = [tuple(row) for row in rows]
    widths = {len(row) for row in rows}
    if not widths <= {2} and not widths <= {3}:
        raise InvalidError(
            f"edges must all be tuples (source, target) or all (source, target, weight); got tuples of lengths {sorted(widths)}"
        )
    ends = Edges(column([row[0] for row in rows], "source"), column([row[1] for row in rows], "target"), [])
    if widths == {3} and any(isinstance(row[2], Mapping) for row in rows):
        if not all(isinstance(row[2], Mapping) for row in rows):
            raise MistypedError("the third elements of edges must all be dictionaries of properties, or all be weights")
        return _with_values(ends, [row[2] for row in rows], reading, {})
    if widths == {3} and reading.weight is not False:
        return ends._replace(properties=[(reading.name, column([row[2] for row in rows], "weight"))], weight=reading.name)
    if rows and isinstance(reading.weight, str):
        raise InvalidError(f"no column is called {reading.weight!r}; the edges are tuples (source, target)")
    return ends


def _with_values(ends: Edges, rows: list[Mapping[str, Any]], reading: Reading, defaults: Mapping[str, Any]) -> Edges:
    """Edges with properties, given as a dictionary for each edge. ``defaults`` holds values for edges without one."""
    if reading.weight is False:
        return ends
    names = keys_of_dictionaries(rows)
    if names is None:
        names = dict.fromkeys(name for row in rows for name in row)
    return _with_columns(ends, {name: [row.get(name, defaults.get(name)) for row in rows] for name in names}, reading)


def _with_columns(ends: Edges, columns: Mapping[str, Any], reading: Reading) -> Edges:
    """Edges with properties, given as columns by name."""
    if reading.weight is False:
        return ends
    if len(ends.source) and isinstance(reading.weight, str) and reading.weight not in columns:
        raise InvalidError(f"no edge has the property {reading.weight!r}; the properties are {list(columns)}")
    properties = [(_checked(name), column(values, name)) for name, values in columns.items()]
    return ends._replace(properties=properties, weight=reading.name if reading.name in columns else None)


def _names(data: Any) -> list[Any] | None:
    """The names of the columns of a table; ``None`` for other objects."""
    if isinstance(data, Mapping):
        return list(data)
    fields = getattr(getattr(data, "dtype", None), "names", None)  # a structured array
    if fields is not None:
        if len(getattr(data, "shape", ())) != 1:
            raise MistypedError(f"a structured array of edges must have one dimension, not {len(data.shape)}")
        return list(fields)
    names = getattr(data, "column_names", None)  # pyarrow
    if names is None:
        names = getattr(data, "columns", None)  # pandas, Polars
        if names is not None and not callable(names) and not any(isinstance(name, str) for name in names):
            return None
    return None if names is None or callable(names) else list(names)


def _of_table(data: Any, names: list[Any], reading: Reading, by_position: bool | None = None) -> Edges:
    # A dictionary with other names can be one of neighbours.
    by_position = not isinstance(data, Mapping) if by_position is None else by_position
    found = roles(names, None if reading.selects else reading.weight, reading.usual_weight, by_position, reading.ends)
    properties = [(name, one) for name in found.properties for one in _kept(data, name)]
    ends = Edges(column(data[found.source], found.source), column(data[found.target], found.target), properties)
    return ends._replace(weight=found.weight)


#: Usual names of the column of ids in a table of vertices, the most usual first.
_IDS = ("id", "ids", "vertex", "vertices", "vertexid", "node", "nodes", "nodeid")


def of_vertices(data: Any, what: str) -> tuple[Column, dict[str, Column | Vectors]]:
    """The ids of vertices and the values of their properties, given as a table, or as a column of ids alone."""
    if str(type(data).__name__) not in ("Series", "Array", "ChunkedArray"):
        data = _table(data)
    names = _names(data)
    if names is None:
        return column(data, what), {}
    place = id_place(names)
    ids = column(data[names[place]], names[place])
    values = {name: one for at, name in enumerate(names) if at != place for one in _of_vertex(data[name], name, len(ids))}
    return ids, values


def of_ids(data: Any) -> Column:
    """A column of ids: of a table, that which has the ids of vertices."""
    if str(type(data).__name__) not in ("Series", "Array", "ChunkedArray", "Index"):
        data = _table(data)
    names = _names(data)
    return column(data, "ids") if names is None else column(data[names[id_place(names)]], str(names[id_place(names)]))


def id_place(names: list[Any]) -> int:
    """The place of the column of ids among the named columns of a table of vertices: by their names, or else the first."""
    wrong = next((name for name in names if not isinstance(name, str)), None)
    if wrong is not None:
        raise InvalidError(f"the names of columns must be strings, not {wrong!r}")
    if not names:
        raise InvalidError("a table of vertices needs a column of ids, such as 'id'")
    expect_once(names)
    plain = ["".join(c for c in name.lower() if c.isalnum()) for name in names]
    usual = [plain.index(name) for name in (*_IDS, "name", "key") if name in plain]
    return 0 if plain[0] in _IDS or not usual else usual[0]


def table_of_vertices(data: Any, what: str) -> VertexTable:
    """A table of vertices, as the import reads it beside edges."""
    return as_vertex_table(*of_vertices(data, what))


def as_vertex_table(ids: Column, values: Mapping[str, Column | Vectors]) -> VertexTable:
    """The ids of vertices and the values of their properties as a table."""
    named = [(name, one.numbers, one.length) if isinstance(one, Vectors) else (name, one, None) for name, one in values.items()]
    return vertex_table(ids, named)


def _of_vertex(values: Any, name: str, count: int) -> list[Column | Vectors]:
    """The column of a table of vertices as a property: lists of numbers are vectors. None, with a warning, if it holds records or the like."""
    kind = str(getattr(values, "type", None) or getattr(values, "dtype", "")).lower()
    if type(values).__module__.startswith("polars") and kind.startswith(("list(", "array(")):
        values = values.to_arrow()
        kind = str(values.type)
    if type(values).__module__.startswith("pandas") and "list<" in kind:
        import pyarrow

        values = pyarrow.array(values)
        kind = str(values.type)
    if kind.startswith(("list<", "large_list<", "fixed_size_list<")):
        single = str(values.type.value_type) in ("float", "halffloat")
        return _vectors(values.to_pylist(), name, "float32" if single else "float64")
    first = next((value for value in values if value is not None), None) if kind in ("", "object") else None
    if isinstance(first, (list, tuple)) or getattr(first, "ndim", 0) == 1:
        rows = [None if value is None or isinstance(value, float) else value for value in values]
        return _vectors(rows, name, "float32" if str(getattr(first, "dtype", "")) == "float32" else "float64")
    if isinstance(first, (dict, set)) or kind.startswith(("struct", "map", "list", "large_list")):
        warnings.warn(f"left out the column {name!r}: it holds {kind if kind != 'object' else type(first).__name__}, which is no property", EskerWarning, stacklevel=5)
        return []
    return [for_all(values, name, count)]


def _vectors(rows: list[Any], what: str, numbers: str) -> list[Column | Vectors]:
    """Lists of one length as vectors; none, with a warning, if there is no list."""
    import numpy

    length = next((len(row) for row in rows if row is not None), None)
    if not length:
        warnings.warn(f"left out the column {what!r}: none of its lists has a number", EskerWarning, stacklevel=6)
        return []
    found = numpy.full((len(rows), length), numpy.nan, numbers)
    for at, row in enumerate(rows):
        if row is None:
            continue
        if len(row) != length:
            raise InvalidError(f"{what}[{at}] has {counted(len(row), 'number')}, but the first vector has {length}: give all the same length")
        try:
            found[at] = row
        except (TypeError, ValueError):
            raise MistypedError(f"{what}[{at}] is no vector of numbers: {row!r:.60}") from None
    return [Vectors(found, what)]


def _kept(data: Any, name: Any) -> list[Column]:
    """The column of a table as a property; none, with a warning, if it holds lists or the like."""
    kind = str(getattr(data[name], "type", None) or getattr(data[name], "dtype", "")).lower()
    if kind == "object":
        first = next((value for value in data[name] if value is not None), None)
        kind = type(first).__name__ if isinstance(first, (list, dict, tuple, set)) or getattr(first, "ndim", 0) else kind
    if kind.startswith(("list", "large_list", "fixed_size_list", "struct", "array(", "map", "dict", "tuple", "set", "ndarray")):
        message = f"left out the column {name!r}: it holds values of type {kind}, and properties are numbers, texts, truth values, dates or times"
        warnings.warn(message, EskerWarning, stacklevel=5)
        return []
    return [column(data[name], name)]


def _of_matrix(data: Any, reading: Reading) -> Edges:
    if len(data.shape) != 2 or data.shape[0] != data.shape[1]:
        raise InvalidError(f"an adjacency matrix must be square, not {' x '.join(map(str, data.shape))}")
    matrix = _summed(data.tocoo(copy=True), reading.duplicates)
    row, col, values = matrix.row, matrix.col, matrix.data
    if reading.directed is False:
        row, col, values = _once(row, col, values, reading.weight is not False)
    ends = Edges(column(row, "row"), column(col, "col"), [])._replace(num_vertices=int(data.shape[0]))
    if reading.weight is False:
        return ends
    return ends._replace(properties=[(reading.name, column(values, "weight"))], weight=reading.name)


def _summed(matrix: Any, rule: str | None) -> Any:
    """A matrix with one entry for each pair: the sum, which no type cuts short."""
    import numpy

    values = matrix.data
    if values.dtype.kind in "iu" and values.dtype.itemsize < 8:
        matrix.data = values.astype(numpy.int64)
    elif values.dtype.kind == "f" and values.dtype.itemsize < 8:
        matrix.data = values.astype(numpy.float64)
    about = matrix.copy()
    matrix.sum_duplicates()
    if matrix.nnz == len(values):
        return matrix
    if rule not in (None, "sum"):
        raise InvalidError(
            f"the entries of a matrix for one pair are summed, so duplicates={rule!r} has no effect; pass the columns matrix.row and "
            "matrix.col with weight=matrix.data, after matrix = matrix.tocoo()"
        )
    if matrix.data.dtype.kind in "iu":
        about.data = about.data.astype(numpy.float64)
        about.sum_duplicates()
        # An integer that wrapped around is off by 2^64.
        if (numpy.abs(about.data - matrix.data.astype(numpy.float64)) > 2.0**62).any():
            raise InvalidError("the entries of the matrix for one pair add up to more than 64 bits hold; convert it to floats")
    return matrix


def _once(row: Any, col: Any, values: Any, compare: bool) -> tuple[Any, Any, Any]:
    """The entries of an undirected graph, each edge once. Entries on both sides of the diagonal must be equal."""
    import numpy

    low, high = numpy.minimum(row, col), numpy.maximum(row, col)
    order = numpy.lexsort((high, low))
    low, high, values = low[order], high[order], values[order]
    again = numpy.zeros(len(low), dtype=bool)
    again[1:] = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
    at = numpy.flatnonzero(again)
    differ = at[values[at] != values[at - 1]] if compare else at[:0]
    if len(differ):
        u, v = int(low[differ[0]]), int(high[differ[0]])
        raise InvalidError(
            f"the matrix is not symmetric: entries ({u}, {v}) and ({v}, {u}) differ; pass directed=True, or make the matrix symmetric"
        )
    return low[~again], high[~again], values[~again]


def _turned(pairs: list[tuple[Any, Any]], values: list[Mapping[str, Any]], data_directed: bool, reading: Reading, several: bool) -> Any:
    """The edges of a graph for a graph that is directed or not.

    An undirected edge becomes two directed ones. Two opposite edges become an undirected one, and must have equal values, unless `several`
    edges between two vertices are kept.
    """
    if reading.directed is True and not data_directed:
        back = [at for at, (u, v) in enumerate(pairs) if u != v]
        return pairs + [pairs[at][::-1] for at in back], values + [values[at] for at in back]
    if reading.directed is not False or not data_directed or several:
        return pairs, values
    kept: dict[tuple[Any, Any], Mapping[str, Any]] = {}
    for (u, v), value in zip(pairs, values):
        if (v, u) not in kept:
            kept[u, v] = value
        elif reading.weight is not False and kept[v, u] != value:
            raise InvalidError(
                f"the edges from {u!r} to {v!r} and back have different values; pass directed=True, or convert the graph to an undirected one"
            )
    return list(kept), list(kept.values())


def _of_igraph(data: Any, reading: Reading) -> Edges:
    named = "name" in data.vs.attributes()
    ids = data.vs["name"] if named else range(data.vcount())
    if named and len(set(ids)) < len(ids):
        raise InvalidError("several vertices of the igraph graph have the same name, and names are the ids; rename them, or delete the attribute")
    _warn_of_attributes(set(data.vs.attributes()) - {"name"})
    directed, several, names = data.is_directed(), data.has_multiple(), data.es.attributes()
    vertices = column(ids if named else _counted(len(ids)), "vertices")
    if reading.directed in (None, directed):
        pairs = data.get_edgelist()
        ends = columns_of_tuples(pairs) if pairs else [column([], "source"), column([], "target")]
        while pairs:  # freed at once, they would hold the interpreter's lock for long
            del pairs[-_FREED:]
        assert ends is not None
        if named:
            ends = [vertices.take(end) for end in ends]
        edges = Edges(ends[0], ends[1], [], vertices=vertices, directed=directed, multigraph=several)
        return _with_columns(edges, {name: data.es[name] for name in names}, reading)
    pairs, values = data.get_edgelist(), [one.attributes() for one in data.es]
    pairs, values = _turned(pairs, values, directed, reading, several)
    ends = Edges(column([ids[u] for u, _ in pairs], "source"), column([ids[v] for _, v in pairs], "target"), [])
    ends = ends._replace(vertices=vertices, directed=directed, multigraph=several)
    return _with_values(ends, values, reading, {})


def _counted(count: int) -> Any:
    import numpy

    return numpy.arange(count)


def _warn_of_attributes(names: Any) -> None:
    if names:
        listed = ", ".join(map(repr, sorted(map(str, names))))
        warnings.warn(f"left out the attributes {listed} of vertices: give their values to set_vertices", EskerWarning, stacklevel=6)


def _of_networkx(data: Any, reading: Reading) -> Edges:
    directed, several = data.is_directed(), data.is_multigraph()
    _warn_of_attributes({name for attributes in data.nodes._nodes.values() for name in attributes})
    found = None
    if not several and reading.directed in (None, directed) and isinstance(getattr(data, "_adj", None), dict):
        nodes = list(data)
        found = read_edges([data._adj[node] for node in nodes], {node: row for row, node in enumerate(nodes)}, directed)
    if found is not None:
        vertices = column(nodes, "vertices")
        source, target = (vertices.take(column(end, "rows")) for end in found[:2])
        edges = Edges(source, target, [], vertices=vertices, directed=directed, multigraph=several)
        return _with_columns(edges, dict(found[2]), reading)
    triples = list(data.edges(data=True))
    pairs, values = [(u, v) for u, v, _ in triples], [value for _, _, value in triples]
    pairs, values = _turned(pairs, values, directed, reading, several)
    source, target = column([u for u, _ in pairs], "source"), column([v for _, v in pairs], "target")
    vertices = column(list(data.nodes), "vertices")
    edges = Edges(source, target, [], vertices=vertices, directed=directed, multigraph=several)
    return _with_values(edges, values, reading, {reading.name: 1})  # NetworkX's default
