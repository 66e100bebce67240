"""Results of algorithms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

from . import _esker, _html
from ._collections import without_collections
from ._counted import counted
from ._errors import InvalidError, MistypedError, PropertyNotFoundError, UnsuitableError, VertexNotFoundError

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow

    from ._graph import Graph, Id
    from ._notebook import PictureWidget

_NONE = (1 << 8 * _esker.vertex_id_bytes()) - 1
#: The NumPy type of vertex numbers.
_VERTEX = f"uint{8 * _esker.vertex_id_bytes()}"
#: The marker for "no value" in arrays of each kind; in floats it is infinity or NaN.
_MISSING = {"vertex": _NONE, "index": _NONE, "integer": -(1 << 63), "count": (1 << 64) - 1}


def _expect_one(vertex: object) -> None:
    """Checks that an id is not a column of ids, as a dictionary does."""
    if type(vertex).__hash__ is None:
        raise MistypedError(f"expected one id, not a {type(vertex).__name__}; look up ids one by one, or with Graph.vertices(ids)")


class Column:
    """One column of a :class:`Result`: a value for each row."""

    __slots__ = ("_result", "_index", "name", "kind", "ranking")

    def __init__(self, result: Result, index: int, name: str, kind: str, ranking: str) -> None:
        self._result, self._index = result, index
        self.name: str = name
        """The name: ``rank``, ``depth``, ``component`` and so on."""
        self.kind: str = kind
        """``vertex``, ``index``, ``integer``, ``count`` or ``float``."""
        self.ranking: str = ranking
        """How :meth:`Result.top` ranks the rows: ``largest`` (by value) or ``groups`` (by size of the group)."""

    def __len__(self) -> int:
        return len(self._result)

    def __repr__(self) -> str:
        return f"<esker.Column {self.name!r} of {counted(len(self), 'value')} ({self.kind})>"

    def _raw(self) -> numpy.ndarray:
        import numpy

        return numpy.asarray(self._result._native.column(self._index))

    def to_numpy(self, *, dense: bool = False) -> numpy.ndarray:
        """The values as a read-only array.

        Element ``i`` belongs to element ``i`` of :meth:`Result.ids`, as in all arrays of the graph. The values are copied once if the
        database numbers vertices in another order.

        Args:
            dense: Whether columns of vertices contain vertex numbers instead of ids.
        """
        raw = self._raw()
        if dense or self.kind != "vertex" or self._result.graph._native.rows_are_ids():
            return raw
        return _ids_of(self._result.graph, raw)

    def is_missing(self) -> numpy.ndarray:
        """Whether each value is missing (unreached, for example), in the order of :meth:`to_numpy`."""
        import numpy

        raw = self._raw()
        return ~numpy.isfinite(raw) if self.kind == "float" else raw == _MISSING[self.kind]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray:
        """The values, in the order of :meth:`to_numpy`. Missing ones are NaN, so integers are floats where some are missing."""
        import numpy

        values = self.to_numpy()
        if values.dtype.kind in "iu" and (missing := self.is_missing()).any():
            values = numpy.where(missing, numpy.nan, values)
        return numpy.array(values, dtype=dtype, copy=copy)

    def _value(self, row: int) -> Any:
        value = self._raw()[row].item()
        if self.kind == "float":
            return value if value - value == 0 else None
        if value == _MISSING[self.kind]:
            return None
        return self._result.graph._native.id_of(value) if self.kind == "vertex" else value

    def to_pandas(self) -> pandas.Series:
        """The values as a pandas series indexed by id."""
        frame = self._result.to_pandas()
        keys = [name for name in frame.columns if name not in self._result.columns]
        return frame.set_index(keys if len(keys) > 1 else keys[0])[self.name]

    def to_arrow(self) -> pyarrow.ChunkedArray:
        """The values as an Arrow array; missing values are null. Only columns of vertices are copied."""
        return self._result.to_arrow().column(self.name)

    def to_polars(self) -> polars.Series:
        """The values as a Polars series; missing values are null."""
        return self._result.to_polars()[self.name]


def _ids_of(graph: Graph, vertices: numpy.ndarray) -> numpy.ndarray:
    """The ids of vertices. A missing vertex becomes ``None`` if ids are text, else the largest integer."""
    import numpy

    missing = vertices == _NONE
    if not missing.any():
        return graph.ids(vertices)
    known = graph.ids(vertices[~missing])
    if known.dtype == object:
        ids = numpy.full(len(vertices), None, dtype=object)
    else:
        ids = numpy.full(len(vertices), numpy.iinfo(known.dtype).max, dtype=known.dtype)
    ids[~missing] = known
    return ids


class Result:
    """The result of an algorithm: columns with a value for each vertex (or each edge), and facts.

    A result is a mapping from ids to the values of its principal column. It can be pickled, if its graph can be.

    Facts are attributes (``result.components``), like ``rounds`` and ``seconds``. Libraries that read Arrow accept a result:
    ``pyarrow.table(result)``, ``polars.DataFrame(result)``, DuckDB. Values are not copied.

    >>> ranks = g.pagerank()
    >>> ranks.top(3)
    >>> ranks["alice"]
    >>> ranks.to_pandas()
    """

    __slots__ = ("_native", "graph", "algorithm", "options", "_columns", "_facts", "_again", "__weakref__")

    def __init__(self, native: Any, graph: Graph, algorithm: str, options: dict[str, Any], again: Any = None) -> None:
        self._native = native
        self.graph: Graph = graph
        """The graph of the run."""
        self.algorithm: str = algorithm
        """The name of the algorithm in the catalogue."""
        self.options: dict[str, Any] = options
        """The options given for the run."""
        self._columns = {name: Column(self, at, name, *rest) for at, (name, *rest) in enumerate(native.columns())}
        self._facts = native.facts()
        self._again = again

    @property
    def rounds(self) -> int:
        """Number of rounds of the algorithm."""
        return self._native.rounds

    @property
    def seconds(self) -> float:
        """Seconds of the algorithm alone, without opening and verifying the graph."""
        return self._native.seconds

    @property
    def edges_per_second(self) -> float:
        """Arcs processed by the algorithm per second."""
        return self._native.arcs / self.seconds if self.seconds else 0.0

    @property
    def facts(self) -> dict[str, Any]:
        """Facts about the whole graph and about the run."""
        return dict(self._facts)

    @property
    def cycle(self) -> list[Any] | None:
        """The ids of a cycle of negative length in its order, which ``bellman_ford`` found in place of distances; ``None`` if it found none."""
        return self.edges()[0].tolist() if self._facts.get("negative_cycle") else None

    def _cycle_text(self, most: int) -> str:
        """The cycle for a message, with at most ``most`` ids."""
        cycle = self.cycle or []
        shown = [*cycle, cycle[0]] if len(cycle) <= most else [*cycle[: most - 1], "...", cycle[-1], cycle[0]]
        return " -> ".join(map(str, shown))

    @property
    def columns(self) -> list[str]:
        """The names of the columns, the principal one first."""
        return list(self._columns)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            if name in self._facts:
                return self._facts[name]
            if name in self._columns:
                return self._columns[name]
            if self._facts.get("negative_cycle"):
                raise AttributeError(f"the result has no {name!r}: {self._no_columns()}")
            raise AttributeError(f"the result of {self.algorithm} has no {name!r}; it has {[*self._facts, *self._columns]}")
        raise AttributeError(name)

    def __copy__(self) -> Result:
        return self

    def __deepcopy__(self, memo: Any) -> Result:
        return self

    def __reduce__(self) -> Any:
        import numpy

        native = self._native
        kept = {
            "listed": native.columns(),
            "values": [numpy.asarray(native.column(at)) for at in range(len(self._columns))],
            "ends": None if native.edges() is None else [numpy.asarray(end) for end in native.edges()],
            "numbers": None if native.vertices() is None else numpy.asarray(native.vertices()),
            "count": native.len(),
            "figures": self._facts,
            "rounds": self.rounds,
            "seconds": self.seconds,
            "arcs": native.arcs,
        }
        if self.graph._path is None:  # the copy of the graph can number its vertices differently
            kept["ids"] = self.graph.ids(kept["numbers"])
            kept["ends"] = None if kept["ends"] is None else list(self.edges())
            for at, column in enumerate(self._columns.values()):
                if column.kind == "vertex":
                    kept["values"][at] = [column._value(row) for row in range(len(self))]
        return _restored, (self.graph, self.algorithm, self.options, kept)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._facts, *self._columns})

    def __len__(self) -> int:
        return self._native.len()

    def __repr__(self) -> str:
        facts = [f"{name}={value:,}" if type(value) is int else f"{name}={value:.6g}" if type(value) is float else f"{name}={value}" for name, value in self._facts.items()]
        what = [f"{counted(len(self), 'row')} of {', '.join(self._columns) or 'edges'}"] if len(self) else []
        cycle = [self._cycle_text(8)] if self._facts.get("negative_cycle") else []
        return f"<esker.Result of {self.algorithm}: {', '.join([*what, *facts, *cycle, f'{self.rounds} rounds', f'{self.seconds:.3g} s'])}>"

    def _repr_html_(self) -> str:
        rows = self.top(8) if self._columns else []
        head = ("edge" if self._has_edges else "vertex", next(iter(self._columns), ""))
        return _html.table(repr(self)[1:-1], head, [(str(key), value) for key, value in rows])

    @property
    def _has_edges(self) -> bool:
        """Whether rows are edges."""
        return self._native.has_edges()

    def _expect_vertices(self) -> None:
        if self._facts.get("negative_cycle"):
            raise UnsuitableError(self._no_columns())
        if self._has_edges:
            raise UnsuitableError(f"the rows of {self.algorithm} are edges; use edges()")

    def _no_columns(self) -> str:
        """Why there are no columns."""
        if self._facts.get("negative_cycle"):
            return f"no distance is the shortest, because paths can go round a cycle of negative length: {self._cycle_text(64)}"
        return f"the result of {self.algorithm} has no columns, only {'edges' if self._has_edges else 'facts'}: {self._facts}"

    @property
    def vertices(self) -> numpy.ndarray:
        """The vertex number of each row, ascending: those of all vertices, or of those in a window."""
        import numpy

        self._expect_vertices()
        some = self._native.vertices()
        return numpy.arange(len(self), dtype=_VERTEX) if some is None else numpy.asarray(some)

    def ids(self) -> numpy.ndarray:
        """The id of each row, in the order of :meth:`esker.Graph.ids`."""
        self._expect_vertices()
        return self.graph.ids(self._native.vertices())

    def edges(self, *, dense: bool = False) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The sources and targets of a result that consists of edges (a forest, for example): ids, or vertex numbers with ``dense=True``."""
        import numpy

        ends = self._native.edges()
        if ends is None:
            raise UnsuitableError(f"the rows of {self.algorithm} are vertices; use ids()")
        source, target = (numpy.asarray(end) for end in ends)
        return (source, target) if dense else (self.graph.ids(source), self.graph.ids(target))

    def column(self, name: str | None = None) -> Column:
        """A column by name; by default the principal one."""
        if not self._columns:
            raise UnsuitableError(self._no_columns())
        if name is None:
            return next(iter(self._columns.values()))
        try:
            return self._columns[name]
        except KeyError:
            raise PropertyNotFoundError(f"no column {name!r}; the columns are {self.columns}") from None

    def to_numpy(self, column: str | None = None, *, dense: bool = False) -> numpy.ndarray:
        """The values of a column, by default of the principal one; see :meth:`Column.to_numpy`."""
        return self.column(column).to_numpy(dense=dense)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray:
        return self.column().__array__(dtype, copy)

    def __getitem__(self, vertex: Id) -> Any:
        """The value of the vertex with an id, in the principal column; ``None`` if it is missing."""
        return self.column()._value(self._row(vertex))

    def get(self, vertex: Id, default: Any = None, *, column: str | None = None) -> Any:
        """The value of the vertex with an id, in a column, by default in the principal one; ``default`` if no vertex has the id."""
        _expect_one(vertex)
        values = self.column(column)
        return values._value(self._row(vertex)) if vertex in self else default

    def __contains__(self, vertex: object) -> bool:
        """Whether a row has this id; in a result that consists of edges, a pair of ids."""
        if self._has_edges:
            return vertex in set(self.keys())
        return vertex in self.graph and self._row_if_any(vertex) is not None  # type: ignore[arg-type]

    def _row_if_any(self, vertex: Id) -> int | None:
        """The row of the vertex with an id, which exists; ``None`` if the result has no row for it."""
        import numpy

        number = self.graph.vertex(vertex)
        some = self._native.vertices()
        if some is None:
            return number if number < len(self) else None
        some = numpy.asarray(some)
        row = int(numpy.searchsorted(some, number))
        return row if row < len(some) and int(some[row]) == number else None

    def _row(self, vertex: Id) -> int:
        """The row of the vertex with an id."""
        self._expect_vertices()
        row = self._row_if_any(vertex)
        if row is None:
            raise VertexNotFoundError(f"no row of the result has the id {vertex!r}: the vertex is not in the window")
        return row

    def __iter__(self) -> Iterator[Any]:
        """The id of each row, in the order of :meth:`ids`; in a result that consists of edges, pairs of ids."""
        return iter(self.keys())

    def keys(self) -> list[Any]:
        """The id of each row, in the order of :meth:`ids`; in a result that consists of edges, pairs of ids."""
        if self._has_edges:
            return list(zip(*(end.tolist() for end in self.edges())))
        return self.ids().tolist() if len(self) else []

    def values(self) -> list[Any]:
        """The values of the principal column, in the order of :meth:`ids`; a missing value is ``None``."""
        return _objects(self.column())

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Pairs of id and value of the principal column; a missing value is ``None``."""
        return zip(self.keys(), self.values())

    def to_dict(self) -> dict[Any, Any]:
        """The principal column as a dictionary by id."""
        return dict(self.items())

    def top(self, k: int = 10) -> list[tuple[Any, Any]]:
        """The top ``k`` rows of the principal column: the vertices with the largest values, or the labels and sizes of the largest groups; ties
        in the order of rows. Vertices without a value are skipped."""
        if isinstance(k, bool) or not hasattr(k, "__index__"):
            raise MistypedError(f"k must be an integer, not {type(k).__name__}")
        if k < 0:
            raise InvalidError(f"k must not be negative, but is {k}")
        self.column()
        count = min(int(k), len(self))
        if isinstance(self._native, _Kept):
            return self._native.top(count, self)
        rows: list[tuple[Any, Any]] = []
        with without_collections():
            self._native.top(count, rows)
        return rows

    def show(self, ego: Any = None, *, height: int = 480, **options: Any) -> PictureWidget:
        """A picture in a notebook whose colours are the first column, of the vertices with most edges or of what is around ``ego``; the options are
        those of :meth:`esker.Graph.draw`. Needs the package ``anywidget``.

        >>> g.leiden().show()
        >>> g.pagerank().show("alice", hops=2, size=g.degrees())
        """
        return self.graph.show(ego, height=height, **{"colour": self, **options})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        if not self._columns and not self._has_edges:
            raise UnsuitableError(f"the result of {self.algorithm} has no columns, only facts: {self._facts}")
        if isinstance(self._native, _Kept):
            return self._native.table(self).__arrow_c_stream__(requested_schema)
        return _esker.Stream(self._native).__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table: ids, then the columns; missing values are null. Only columns of vertices are copied."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """A Polars data frame: ids, then the columns; missing values are null."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas data frame: ids, then the columns. Missing values are ``NA``, or ``NaN`` in floats. A column without missing values is not
        copied."""
        import numpy
        import pandas

        if not self._columns and not self._has_edges:
            raise UnsuitableError(f"the result of {self.algorithm} has no columns, only facts: {self._facts}")
        if self._has_edges:
            source, target = self.edges()
            data: dict[str, Any] = {"source": source, "target": target}
        else:
            data = {"vertex": self.ids()}
        for column in self._columns.values():
            values, missing = column.to_numpy(), column.is_missing()
            if missing.any():
                if column.kind == "float":
                    values = numpy.where(missing, numpy.nan, values)
                elif values.dtype == object:
                    values = pandas.Series(values, dtype=object)
                else:
                    values = pandas.arrays.IntegerArray(values, missing, copy=False)
            data[column.name] = values
        return pandas.DataFrame(data, copy=False)

    def path_to(self, target: Id) -> list[Any]:
        """The ids on the path from the source to ``target`` found by the search, including both.

        If the result was computed without ``parents=True``, the first call runs the search again with parents.

        Raises:
            UnsuitableError: ``target`` was not reached, or the algorithm is not a search.
        """
        if "parent" not in self._columns:
            if self._again is None:
                raise UnsuitableError(f"{self.algorithm} is not a search, so its result has no paths")
            again = self._again()
            if "parent" not in again._columns:
                raise UnsuitableError(f"{self.algorithm} found no paths: {again._no_columns()}")
            self._native, self._columns = again._native, {
                name: Column(self, column._index, name, column.kind, column.ranking) for name, column in again._columns.items()
            }
            self._again = None
        parents, row, path = self._columns["parent"]._raw(), self._row(target), []
        some = self._native.vertices()
        if some is not None:
            import numpy

            some = numpy.asarray(some)
        if self.column()._value(row) is None and parents[row] == _NONE:
            raise UnsuitableError(f"{target!r} is not reached from the source")
        while len(path) <= len(self):
            number = row if some is None else int(some[row])
            path.append(number)
            before = int(parents[row])
            if before == number or before == _NONE:
                break
            row = before if some is None else int(numpy.searchsorted(some, before))
        return self.graph.ids(path[::-1]).tolist()


def _objects(column: Column) -> list[Any]:
    """The values as Python objects; a missing value is ``None``."""
    values = column.to_numpy().tolist()
    missing = column.is_missing()
    if missing.any():
        values = [None if none else value for value, none in zip(values, missing.tolist())]
    return values


class _Kept:
    """The values of a result that was pickled, in place of the native ones."""

    def __init__(self, kept: dict[str, Any]) -> None:
        self.kept = kept
        self.rounds, self.seconds, self.arcs = kept["rounds"], kept["seconds"], kept["arcs"]

    def columns(self) -> Any:
        return self.kept["listed"]

    def column(self, index: int) -> Any:
        values = self.kept["values"][index]
        values.flags.writeable = False
        return values

    def vertices(self) -> Any:
        return self.kept["numbers"]

    def edges(self) -> Any:
        return self.kept["ends"]

    def has_edges(self) -> bool:
        return self.kept["ends"] is not None

    def len(self) -> int:
        return self.kept["count"]

    def facts(self) -> Any:
        return self.kept["figures"]

    def table(self, result: Result) -> Any:
        """The Arrow table of a result."""
        import pyarrow

        if result._has_edges:
            found = dict(zip(("source", "target"), map(pyarrow.array, result.edges())))
        else:
            found = {"vertex": pyarrow.array(result.ids())}
        for column in result._columns.values():
            values = column.to_numpy()
            found[column.name] = pyarrow.array(values.tolist() if values.dtype == object else values, mask=column.is_missing())
        fields = [pyarrow.field(name, array.type, nullable=name in result._columns) for name, array in found.items()]
        return pyarrow.table(list(found.values()), schema=pyarrow.schema(fields))

    def top(self, count: int, result: Result) -> list[tuple[Any, Any]]:
        """The top rows of the principal column."""
        import numpy

        column = result.column()
        values, missing = column._raw(), column.is_missing()
        if column.ranking in ("groups", "blocks"):
            groups, sizes = numpy.unique(values[~missing], return_counts=True)
            order = numpy.argsort(-sizes, kind="stable")[:count]
            labels = groups[order].tolist()
            if column.kind == "vertex":
                labels = [result.graph._native.id_of(label) for label in labels]
            # The head of a block is in it too, but listed in another one.
            return list(zip(labels, (sizes[order] + (column.ranking == "blocks")).tolist()))
        rows = numpy.flatnonzero(~missing)
        rows = rows[numpy.argsort(-values[rows].astype(numpy.float64), kind="stable")][:count]
        if result._has_edges:
            source, target = result.edges()
            keys = list(zip(source[rows].tolist(), target[rows].tolist()))
        else:
            keys = result.graph.ids(result.vertices[rows]).tolist()
        return list(zip(keys, [column._value(row) for row in rows.tolist()]))


def _restored(graph: Graph, algorithm: str, options: dict[str, Any], kept: dict[str, Any]) -> Result:
    if "ids" in kept:
        _renumber(graph, kept)
    return Result(_Kept(kept), graph, algorithm, options)


def _renumber(graph: Graph, kept: dict[str, Any]) -> None:
    """Puts ids back to vertex numbers, and rows in the order of the numbers."""
    import numpy

    order = slice(None)
    if kept["ends"] is not None:
        kept["ends"] = [graph.vertices(end) for end in kept["ends"]]
    else:
        numbers = graph.vertices(kept["ids"])
        order = numpy.argsort(numbers, kind="stable")
        kept["numbers"] = numbers[order]
    for at, (_, kind, _) in enumerate(kept["listed"]):
        values = kept["values"][at]
        if kind == "vertex":
            some = numpy.array([value is not None for value in values], dtype=bool)
            numbers = numpy.full(len(values), _NONE, dtype=_VERTEX)
            if some.any():
                numbers[some] = graph.vertices([value for value in values if value is not None])
            values = numbers
        kept["values"][at] = values[order]
