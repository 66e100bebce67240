"""Windows: the graphs of the edges of one length of time."""

from __future__ import annotations

import datetime
import itertools
import json
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Literal, Sequence, Tuple, Union, get_args

from . import _progress
from ._algorithms import ALGORITHMS, Algorithm, Algorithms
from ._counted import counted
from ._errors import InvalidError, MistypedError
from ._esker import GroupNames, WindowAlerts, compare_answers, version_answers, window, window_alerts, window_answers, window_ends, window_range, window_times
from ._follow import checked_alerts
from ._reports import Comparison
from ._result import Result
from ._settings import is_moment, moment_text, run_settings, time_text, view_choice

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow

    from ._graph import Graph
    from ._parts import PartView

#: An end of a window: a time, or a number in the unit of the times.
Time = Union[int, str, datetime.datetime, datetime.date, "numpy.datetime64", None]
#: What becomes of several edges from one vertex to another.
Copies = Literal["all", "distinct", "count", "sum", "min", "max", "last"]


#: From the end of a window to that of the next: a length, or a number of edges; and where the first step begins.
_Steps = Tuple[Union[str, None], Union[int, None], str]

#: A window or a version, and its rows.
_Step = Tuple["dict[str, Any]", Any]

#: Windows whose results lie in memory at the same time.
_AT_ONCE = 64


def _time(value: Time, name: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, datetime.date):
        return time_text(value)
    if is_moment(value):
        return moment_text(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise MistypedError(f"{name} must be a time or a number, not {type(value).__name__}")
    return str(value.__index__())


def length_text(value: Any, name: str) -> str:
    """A length of time, or a number, as text."""
    if isinstance(value, datetime.timedelta):
        return f"{value // datetime.timedelta(microseconds=1)}us"
    if getattr(getattr(value, "dtype", None), "kind", None) == "m":
        return _span_text(value, name)
    if isinstance(value, bool) or not (isinstance(value, str) or hasattr(value, "__index__")):
        raise MistypedError(f"{name} must be a length of time such as '1h', or a number, not {type(value).__name__}")
    return value if isinstance(value, str) else str(value.__index__())


def _span_text(value: Any, name: str) -> str:
    """A ``numpy.timedelta64`` as text, in its unit."""
    import numpy

    unit = numpy.datetime_data(value.dtype)[0]
    if unit not in ("W", "D", "h", "m", "s", "ms", "us", "ns") or numpy.isnat(value):
        raise InvalidError(f"{name} must be a length of time in weeks or a smaller unit, not {value!r}")
    return f"{value.astype(f'timedelta64[{unit}]').astype('int64')}{unit.lower()}"


def _checked(copies: Copies) -> Copies:
    if not isinstance(copies, str):
        raise MistypedError(f"copies must be a string, not {type(copies).__name__}")
    if copies not in get_args(Copies):
        raise InvalidError(f"copies must be one of {', '.join(map(repr, get_args(Copies)))}, not {copies!r}")
    return copies


def _step(every: Any, every_edges: Any) -> tuple[str | None, int | None]:
    """How far the end of a window is from the next: a length of time, or a number of edges."""
    if every_edges is None:
        return (None if every is None else length_text(every, "every")), None
    if every is not None:
        raise InvalidError("every and every_edges exclude each other")
    if isinstance(every_edges, bool) or not hasattr(every_edges, "__index__"):
        raise MistypedError(f"every_edges must be a number, not {type(every_edges).__name__}")
    if every_edges.__index__() < 1:
        raise InvalidError(f"every_edges must be at least 1, not {every_edges}")
    return None, every_edges.__index__()


def moving_window(
    length: Any, every: Any, every_edges: Any, *, time: str | None, time_unit: str | None, copies: Copies, all_vertices: bool
) -> tuple[Any, ...] | None:
    """The description of a window that moves with the versions; ``None`` for none."""
    if length is None:
        given = {"every": every, "every_edges": every_edges, "time": time, "time_unit": time_unit, "copies": None if copies == "all" else copies}
        unused = [name for name, value in given.items() if value is not None] + (["all_vertices"] if all_vertices else [])
        if unused:
            raise InvalidError(f"{unused[0]} has no effect without window")
        return None
    step = _step(every, every_edges)
    return length_text(length, "window"), step, time, time_unit, _checked(copies), bool(all_vertices)


class _Stream:
    """A version whose edges have times, and what its windows share."""

    __slots__ = ("graph", "times", "copies", "all_vertices")

    def __init__(
        self,
        graph: Graph,
        time: str | None,
        time_unit: str | None,
        copies: Copies,
        all_vertices: bool,
        timezone: str | None = None,
        closed: str | None = None,
    ) -> None:
        self.graph, self.copies, self.all_vertices = graph, _checked(copies), bool(all_vertices)
        for name, text in (("timezone", timezone), ("closed", closed)):
            if text is not None and not isinstance(text, str):
                raise MistypedError(f"{name} must be a string, not {type(text).__name__}")
        self.times = window_times(graph._native, time, time_unit, (timezone, closed), run_settings())

    def window(self, length: str | None, until: str | None = None, end: int | None = None) -> Window:
        return Window(self, *window_range(self.times, length, until, end))

    def ranges(self, windows: list[Window]) -> tuple[str, list[tuple[int, int]], Copies, bool]:
        """The ranges of some windows, and what they share."""
        return self.times[0], [window._range for window in windows], self.copies, self.all_vertices

    def moment(self, time: int) -> numpy.datetime64:
        import numpy

        return numpy.datetime64(time, self.times[1])


class Window(Algorithms):
    """The graph of the edges of a window, made by :meth:`esker.Database.window`, with every algorithm as a method.

    A window is a range over the times of edges, not a copy. Vertices without an edge in it are not in it, unless ``all_vertices``.
    For the edges themselves, or properties of vertices, use ``graph``, the whole version.
    """

    __slots__ = ("graph", "_stream", "_range", "_natives")

    def __init__(self, stream: _Stream, after: int, until: int) -> None:
        self.graph: Graph = stream.graph
        """The whole version."""
        self._stream, self._range = stream, (after, until)
        self._natives: dict[Any, Any] = {}

    @property
    def after(self) -> numpy.datetime64:
        """The time before the window: its edges are later."""
        return self._stream.moment(self._range[0])

    @property
    def until(self) -> numpy.datetime64:
        """The last time of the window."""
        return self._stream.moment(self._range[1])

    @property
    def num_edges(self) -> int:
        """Number of edges in the window."""
        return self._count("edges")

    @property
    def num_vertices(self) -> int:
        """Number of vertices in the window."""
        return self._count("vertices")

    def __repr__(self) -> str:
        return f"<esker.Window of {counted(self.num_vertices, 'vertex', 'vertices')} and {counted(self.num_edges, 'edge')}, after {self.after} until {self.until}>"

    def _count(self, what: str) -> int:
        return json.loads(self._native(None, False).facts())[what]

    def _native(self, weight: str | None, undirected: bool) -> Any:
        choice = weight, undirected
        if choice not in self._natives:
            stream = self._stream
            settings = run_settings()
            self._natives[choice] = window(
                self.graph._native, stream.times[0], self._range, stream.copies, stream.all_vertices, choice, settings
            )
        return self._natives[choice]

    def _call(self, algorithm: Algorithm, given: dict[str, Any]) -> Result:
        return self.graph._call_on(lambda *choice: (self._native(*choice), (None, False)), algorithm, given)

    def run(self, algorithm: str, **options: Any) -> Result:
        """Runs the algorithm of this name, with its options, as its method does."""
        return getattr(self, _method(algorithm))(**options)


class Windows:
    """Windows that follow each other, from :meth:`esker.Database.rolling` and :meth:`esker.Database.expanding`. Each is
    computed when the iteration reaches it."""

    __slots__ = ("_stream", "_lengths", "_ends")

    def __init__(self, stream: _Stream, lengths: list[str | None], steps: _Steps, start: str | None, end: str | None) -> None:
        every, every_edges, align = steps
        if every is None and every_edges is None:
            # The shortest length begins last.
            every = max(lengths, key=lambda length: window_range(stream.times, length, None, 0)[0])
        if every_edges is not None and align != "calendar":
            raise InvalidError("align has no effect with every_edges")
        self._stream, self._lengths = stream, lengths
        self._ends: list[int] = window_ends(stream.graph._native, stream.times, (every, every_edges), align, (start, end), run_settings())

    def __len__(self) -> int:
        return len(self._ends) * len(self._lengths)

    def __iter__(self) -> Iterator[Window]:
        return (self._stream.window(length, end=end) for end in self._ends for length in self._lengths)

    def __getitem__(self, index: int) -> Window:
        end, length = divmod(range(len(self))[index], len(self._lengths))
        return self._stream.window(self._lengths[length], end=self._ends[end])

    def __repr__(self) -> str:
        length = "of growing length" if self._lengths == [None] else f"of {', '.join(map(str, self._lengths))}"
        return f"<esker.Windows: {counted(len(self), 'window')} {length}>"

    def run(self, algorithm: str, *, top: int | None = None, keep_names: bool = False, progress: Any = None, **options: Any) -> WindowTable:
        """Runs an algorithm on each window.

        Args:
            algorithm: Its name.
            top: Only this many rows of each window, those with the largest values or the largest groups.
            keep_names: Whether a group is named as the one of the window before with which it shares most members, instead of by one of its
                members; ``events`` of the table then tells what became of each group. Windows of each length are named by themselves.
            progress: As for runs; a stage is some successive windows.
            options: Those of the algorithm.

        Returns:
            One table over all windows: the column ``until`` has the last time of the window, and, of windows of several lengths, ``length``
            their length; the others are those of the result, or, for an algorithm without columns, its figures.
        """
        asked, given, plain = _asked(algorithm, options)
        tables = []
        histories = [_GroupHistory(asked, keep_names) for _ in self._lengths]
        events = []
        with _progress.listening(progress, algorithm) as callback:
            for start in range(0, len(self), _AT_ONCE):
                some = [self[index] for index in range(start, min(start + _AT_ONCE, len(self)))]
                if callback is not None:
                    callback(str(some[0].until), start / len(self), None, 0, start, len(self))
                results: Iterable[Result] = (one._call(asked, given) for one in some)
                if plain:
                    results = self._results(some, asked, given)
                for index, one, result in zip(range(start, len(self)), some, results):
                    length = self._lengths[index % len(self._lengths)] if len(self._lengths) > 1 else None
                    step = {"until": one.until, "length": length}
                    events.append((step, histories[index % len(self._lengths)].next(result)))
                    tables.append((step, _rows(result, top)))
        return WindowTable(tables, events if keep_names else None)

    def _results(self, windows: list[Window], algorithm: Algorithm, given: dict[str, Any]) -> list[Result]:
        """The results of an algorithm on some windows, which share one reading of their edges."""
        stream = self._stream

        def run(name: str, texts: Any, settings: Any, weight: str | None, undirected: bool) -> Any:
            return window_answers(stream.graph._native, stream.ranges(windows), (weight, undirected), name, texts, settings)

        return stream.graph._call_on_several(run, algorithm, given)

    def alerts(
        self,
        algorithm: str,
        alert: str | None = None,
        *,
        alert_new: bool = False,
        min_change: float | None = None,
        progress: Any = None,
        **options: Any,
    ) -> Iterator[dict[str, Any]]:
        """Yields the alerts that an algorithm raises on one window after another, those of each length by itself.

        Args:
            algorithm: Its name.
            alert: Raises an alert for each row that begins to meet a condition on its columns, as for :meth:`esker.Database.follow`.
            alert_new: Raises an alert for each row that was not in the answer of the window before; those of the first window are not new.
            min_change: A value that moved by less than this since it was told last has not changed.
            progress: As for runs; a stage is some successive windows.
            options: Those of the algorithm.

        Returns:
            Dictionaries as those of :meth:`esker.Follow.alerts`: ``until`` is the last time of the window, and ``length`` its length.

        >>> for one in db.rolling("1h", every="15m").alerts("degrees", "degree > 100"):
        ...     print(one["until"], one["vertex"], one["degree"])
        """
        asked, given, plain = _asked(algorithm, options)
        if not plain:
            raise InvalidError("verify, encoding, residency and head have no effect on alerts")
        state = WindowAlerts(self._stream.graph._native, asked.name, checked_alerts(alert, alert_new, min_change), len(self._lengths))
        return self._alerts(state, asked, given, progress)

    def _alerts(self, state: Any, asked: Algorithm, given: dict[str, Any], progress: Any) -> Iterator[dict[str, Any]]:
        stream, graph = self._stream, self._stream.graph
        _, texts, settings = graph._prepared(asked, given)
        choice = view_choice(given.get("weight"), given.get("undirected", False))
        with _progress.listening(progress, asked.name) as callback:
            for start in range(0, len(self), _AT_ONCE):
                some = [self[index] for index in range(start, min(start + _AT_ONCE, len(self)))]
                if callback is not None:
                    callback(str(some[0].until), start / len(self), None, 0, start, len(self))
                run = run_settings(**settings, progress=None)
                raised = window_alerts(graph._native, stream.ranges(some), choice, asked.name, texts, run, state, start)
                for index, one, of_window in zip(range(start, len(self)), some, raised):
                    step = {"until": one.until, "length": self._lengths[index % len(self._lengths)]}
                    for text in of_window:
                        yield {**json.loads(text), **step}


class _Asked(Algorithms):
    """What an algorithm and its options are, checked."""

    __slots__ = ()

    def _call(self, algorithm: Algorithm, given: dict[str, Any]) -> Any:
        return algorithm, given


def _asked(algorithm: str, options: dict[str, Any]) -> tuple[Algorithm, dict[str, Any], bool]:
    """An algorithm, its options, checked, and whether graphs may be read together."""
    asked, given = getattr(_Asked(), _method(algorithm))(**options)
    return asked, given, not any(given.get(name) for name in ("verify", "encoding", "residency", "head"))


class _GroupHistory:
    """The groups of successive results, whose names stay if ``keeps_names``."""

    __slots__ = ("_names",)

    def __init__(self, algorithm: Algorithm, keeps_names: bool) -> None:
        self._names = GroupNames(algorithm.name) if keeps_names else None

    def next(self, result: Result) -> list[tuple[str, Any, int, int, Any, int]]:
        """Names the groups of the next result, and returns what became of each that changed."""
        return [] if self._names is None else self._names.pass_on(result._native, run_settings())


def _event_tables(events: list[_Step]) -> list[_Step]:
    """What became of groups, as Arrow tables of the same types."""
    import pyarrow

    names = ("event", "group", "vertices", "before", "other", "shared")
    ids = [one for _, rows in events for row in rows for one in (row[1], row[4]) if one is not None]
    of_ids = pyarrow.string() if ids and isinstance(ids[0], str) else pyarrow.uint64() if any(one >= 1 << 63 for one in ids) else pyarrow.int64()
    types = (pyarrow.string(), of_ids, pyarrow.int64(), pyarrow.int64(), of_ids, pyarrow.int64())
    tables = []
    for step, rows in events:
        columns = zip(*rows) if rows else ((),) * len(names)
        tables.append((step, pyarrow.table({name: pyarrow.array(list(values), kind) for name, values, kind in zip(names, columns, types)})))
    return tables


def on_versions(
    graphs: Sequence[Callable[[], Graph]], algorithm: str, top: int | None, keep_names: bool, progress: Any, options: dict[str, Any]
) -> WindowTable:
    """The results of an algorithm on several versions, oldest first, which ``graphs`` open."""
    asked, given, plain = _asked(algorithm, options)
    tables: list[_Step] = []
    history = _GroupHistory(asked, keep_names)
    events: list[_Step] = []
    with _progress.listening(progress, algorithm) as callback:
        for start in range(0, len(graphs), _AT_ONCE):
            some = [graph() for graph in graphs[start : start + _AT_ONCE]]
            if callback is not None:
                callback(f"version {some[0].version}", start / len(graphs), None, 0, start, len(graphs))
            results = _together(some, asked, given) if plain else []
            alone = (one._call(asked, given) for one in some[len(results) :])
            for one, result in zip(some, itertools.chain(results, alone)):
                events.append(({"version": one.version}, history.next(result)))
                tables.append(({"version": one.version}, _rows(result, top)))
    return WindowTable(tables, events if keep_names else None)


def compared(sides: Sequence[Graph | Window | PartView], algorithm: str, progress: Any, options: dict[str, Any]) -> Comparison:
    """What differs between the results of an algorithm on two graphs."""
    asked, given, plain = _asked(algorithm, options)
    if not plain:
        raise InvalidError("verify, encoding, residency and head have no effect on a comparison")
    choice, views = view_choice(given.get("weight"), given.get("undirected", False)), []
    for side in sides:
        of_part = getattr(side, "graph", None)  # that of a window or another part
        views.append((side._native, choice) if of_part is None else (side._native(*choice), (None, False)))
        # The vertices that options name are in both.
        _, texts, settings = (side if of_part is None else of_part)._prepared(asked, given)
    with _progress.listening(progress, algorithm) as callback:
        native, counts = compare_answers(*views[0], *views[1], asked.name, texts, run_settings(**settings, progress=callback))
    return Comparison(native, asked.name, counts)


def _together(graphs: list[Graph], algorithm: Algorithm, given: dict[str, Any]) -> list[Result]:
    """The results on the first of some versions, as many as are computed together."""

    def run(name: str, texts: Any, settings: Any, weight: str | None, undirected: bool) -> Any:
        return version_answers([graph._native for graph in graphs], (weight, undirected), name, texts, settings)

    return graphs[-1]._call_on_several(run, algorithm, given, graphs)


class WindowTable:
    """The results of an algorithm on several windows as one table, made by :meth:`Windows.run`, or on several versions, by
    :meth:`esker.Database.run_versions`."""

    __slots__ = ("_tables", "_events")

    def __init__(self, tables: list[_Step], events: list[_Step] | None = None) -> None:
        self._tables, self._events = tables, events

    @property
    def events(self) -> WindowTable:
        """What became of each group, of a table made with ``keep_names``. Column ``event``: the group ``appears``, ``persists`` with other
        members, ``splits`` from another, ``merges`` into another, or ``vanishes``. Column ``group`` has its name, ``vertices`` and ``before``
        its sizes now and before, ``other`` the group from which it split or into which it merged, ``shared`` the number of vertices that it
        shares with that, or else with itself before. Groups of one vertex are left out."""
        if self._events is None:
            raise InvalidError("this table has no events: windows.run and db.run_versions make them with keep_names=True")
        return WindowTable(_event_tables(self._events))

    def __len__(self) -> int:
        return sum(table.num_rows for _, table in self._tables)

    def __repr__(self) -> str:
        what = "version" if self._tables and "version" in self._tables[0][0] else "window"
        return f"<esker.WindowTable of {counted(len(self), 'row')} over {counted(len(self._tables), what)}>"

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table."""
        import pyarrow

        def named(step: dict[str, Any], table: pyarrow.Table) -> pyarrow.Table:
            for name, value in reversed(step.items()):
                if value is not None:
                    table = table.add_column(0, name, pyarrow.repeat(pyarrow.scalar(value), table.num_rows))
            return table

        if not self._tables:
            return pyarrow.table({"until": pyarrow.array([], pyarrow.timestamp("s"))})
        return pyarrow.concat_tables(_alike([named(*one) for one in self._tables]))

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas data frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """A Polars data frame."""
        import polars

        return polars.DataFrame(self.to_arrow())


def _method(algorithm: str) -> str:
    """The name of the method of an algorithm."""
    if not isinstance(algorithm, str):
        raise MistypedError(f"the name of an algorithm must be a string, not {type(algorithm).__name__}")
    if algorithm.replace("_", "-") not in ALGORITHMS:
        raise InvalidError(f"no algorithm is called {algorithm!r}; they are {', '.join(ALGORITHMS)}")
    return algorithm.replace("-", "_")


def _rows(result: Result, top: int | None) -> pyarrow.Table:
    """The rows of a result, or its figures, as an Arrow table."""
    import pyarrow

    if not len(result):
        figures = {name: [value] for name, value in result.facts.items()}
        return pyarrow.table(result) if result.columns else pyarrow.table(figures)
    if top is None:
        return pyarrow.table(result)
    column = result.column()
    keys, values = zip(*result.top(top)) if top else ((), ())
    names = (column.name, "vertices") if column.ranking != "largest" else ("edge" if result._has_edges else "vertex", column.name)
    return pyarrow.table({name: _array(list(of_name)) for name, of_name in zip(names, (keys, values))})


def _alike(tables: list[Any]) -> list[Any]:
    """Arrow tables with columns of the same types: ids that one table has without a sign have none in all."""
    import pyarrow

    unsigned = {field.name for table in tables for field in table.schema if field.type == pyarrow.uint64()}

    def alike(field: Any) -> Any:
        return field.with_type(pyarrow.uint64()) if field.name in unsigned and field.type == pyarrow.int64() else field

    return [table.cast(pyarrow.schema([alike(field) for field in table.schema])) for table in tables] if unsigned else tables


def _array(values: list[Any]) -> Any:
    """Ids or values as an Arrow array: integers beyond those of 64 bits with a sign are without one."""
    import pyarrow

    is_large = any(isinstance(value, int) and value >= 1 << 63 for value in values)
    return pyarrow.array(values, pyarrow.uint64() if is_large else None)


def of_window(graph: Graph, length: Any, at: Time, **options: Any) -> Window:
    """A window of a version."""
    return _Stream(graph, **options).window(length_text(length, "length"), _time(at, "at"))


def _lengths(length: Any) -> list[str | None]:
    """The lengths of windows, one or several, as texts; no length is that of windows that grow."""
    if length is None:
        return [None]
    several = isinstance(length, Iterable) and not isinstance(length, str) and not hasattr(length, "dtype")
    lengths = [length_text(one, "length") for one in length] if several else [length_text(length, "length")]
    if not lengths:
        raise InvalidError("length is empty: give one length of time, or several")
    return list(lengths)


def series(graph: Graph, length: Any, steps: tuple[Any, Any, Any], start: Time, end: Time, **options: Any) -> Windows:
    """Windows of a version that follow each other; without a length, they grow from the first edge on."""
    every, every_edges, align = steps
    ends = _time(start, "start"), _time(end, "end")
    step = _step(every, every_edges)
    aligned = _time(align, "align")
    if aligned is None:
        raise InvalidError("align must be 'calendar', 'first' or a time, not None")
    return Windows(_Stream(graph, **options), _lengths(length), (*step, aligned), *ends)
