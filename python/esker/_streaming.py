"""Streams of edges that are committed as they come."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, Iterable, Literal, Mapping, NamedTuple

from . import _columns
from ._batch import Batch
from ._counted import counted
from ._errors import ClosedError, InvalidError, MistypedError, NotFoundError
from ._esker import stream_edges
from ._selectors import Path, expect_distinct, path_text, read_settings
from ._settings import run_settings
from ._windows import length_text

if TYPE_CHECKING:
    import datetime

    import numpy

    from ._database import Database
    from ._settings import Duplicates


class StreamState(NamedTuple):
    """How far a stream is."""

    version: int | None
    """The newest version that the stream made."""
    edges: int
    """Number of edges read."""
    committed: int
    """Number of edges committed."""
    late: int
    """Number of late edges."""
    watermark: numpy.datetime64 | None
    """The time up to which all edges have come; ``None`` without times or versions."""
    lag: float
    """Seconds that the oldest edge of the last commit waited until it was durable."""
    expired: int
    """Number of edges removed because they were too old."""
    removed: int
    """Number of edges that rows removed."""
    not_found: int
    """Number of rows that were to remove an edge which was not there."""


class StreamReport(NamedTuple):
    """What a stream committed."""

    versions: list[int]
    """The numbers of the versions."""
    edges: int
    """Number of edges committed."""
    duplicates: int
    """Number of edges that were left out or united with another, as the rule for duplicates says."""
    late: int
    """Number of late edges."""
    passed_over: int
    """Number of edges of a file that earlier versions had."""
    expired: int
    """Number of edges removed because they were too old."""
    removed: int
    """Number of edges that rows removed."""
    not_found: int
    """Number of rows that were to remove an edge which was not there."""


class EdgeStream:
    """A stream of edges, made by :meth:`esker.Database.stream`: a context manager. A thread commits what :meth:`add_edges` hands over, or what
    it reads from a file."""

    __slots__ = ("_batch", "_options", "_file", "_native", "report")

    def __init__(self, database: Database, options: dict[str, Any], file: dict[str, Any] | None) -> None:
        # Reads edges of any form as columns for this database; it is never committed.
        self._batch, self._options, self._file = Batch(database, ""), options, file
        # A stream into a new database begins with its first edges, which decide the types of ids and properties.
        begins = database._native is not None or file is not None
        self._native: Any = stream_edges(database._created(), options, file) if begins else None
        self.report: StreamReport | None = None
        """What was committed, once the stream has ended."""

    def __enter__(self) -> EdgeStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
            return
        # The exception of the block comes first; what was handed over or read before it is committed.
        try:
            if self._native is not None:
                self._native.stop_reading()
            self.close()
        except Exception as second:
            if error is not None and hasattr(error, "add_note"):
                error.add_note(f"the stream ended with an error, too: {second}")

    def __repr__(self) -> str:
        state = self.state
        committed = 0 if state is None else state.committed
        return f"<esker.EdgeStream, {'open' if self.report is None else 'ended'}, {counted(committed, 'edge')} committed>"

    def add_edges(
        self,
        source: Any,
        target: Any = None,
        *,
        weight: Iterable[float] | str | Literal[False] | None = None,
        properties: Mapping[str, Any] | None = None,
    ) -> EdgeStream:
        """Hands edges over, given as for :meth:`esker.Batch.add_edges`. Returns the stream. With ``op``, the table or the ``properties`` have
        a column of that name more, whose strings say what happens to each edge.

        Waits while the stream is some chunks behind. What does not fit the database is refused, and the stream goes on. Raises the error that ended the stream, such as that of a late edge with
        ``late="refuse"``.
        """
        if self.report is not None:
            raise ClosedError("the stream is closed; begin a new one")
        if self._file is not None:
            raise InvalidError(f"the stream reads {self._file['path']}: begin another stream to hand edges over")
        edges, operations = self._divided(self._batch._read(source, target, properties, weight))
        vertices = edges.vertices
        if vertices is None and edges.num_vertices is not None:
            import numpy

            vertices = _columns.column(numpy.arange(edges.num_vertices), "vertices")
        if self._native is None:
            self._begin(edges)
        self._native.push(edges.source, edges.target, self._batch._fitting(edges, target is None), vertices, operations)
        return self

    def _divided(self, edges: _columns.Edges) -> tuple[_columns.Edges, Any]:
        """The edges without the column that says what happens to them, and that column."""
        name = self._options["op"]
        if name is None:
            return edges, None
        operations = dict(edges.properties).get(name)
        if operations is None:
            raise InvalidError(f"the edges have no column {name!r}, which op names: it says what happens to each edge")
        database = self._batch._database
        known = [] if database._native is None else database._created().schema()[2]
        if name in known:
            return edges, operations
        return edges._replace(properties=[(own, values) for own, values in edges.properties if own != name]), operations

    def _begin(self, edges: _columns.Edges) -> None:
        """Creates the database, without edges but with the types of these, and begins the stream."""
        database = self._batch._database
        if database._native is None:
            nothing = _columns.column([], "rows")
            properties = [(name, values.take(nothing)) for name, values in edges.properties]
            first = edges._replace(
                source=edges.source.take(nothing), target=edges.target.take(nothing), properties=properties, vertices=None, num_vertices=None
            )
            # Later versions have the times of their edges.
            database._create(first, event_time="1970-01-01T00:00:00Z")
        self._native = stream_edges(database._created(), self._options, None)

    @property
    def state(self) -> StreamState | None:
        """How far the stream is, as known about once a second, and at its end; ``None`` before."""
        found = None if self._native is None else self._native.state()
        if found is None:
            return None
        version, edges, committed, late, watermark, lag, *removed = found
        if watermark is None:
            return StreamState(version, edges, committed, late, None, lag, *removed)
        import numpy

        return StreamState(version, edges, committed, late, numpy.datetime64(*watermark), lag, *removed)

    def close(self) -> None:
        """Commits what was handed over, and ends the stream. A file is read to its end first, unless it is followed."""
        if self.report is not None:
            return
        try:
            if self._native is not None:
                self._native.close()
        finally:
            ended = None if self._native is None else self._native.report()
            self.report = StreamReport(*(ended or ([], 0, 0, 0, 0, 0, 0, 0)))


def _pace(rate: float | None, replay: float | None) -> tuple[float | None, float | None]:
    """The edges a second, and how many times as fast as they happened; at most one of them is given."""
    for name, given in (("rate", rate), ("replay", replay)):
        if given is not None and (isinstance(given, bool) or not isinstance(given, (int, float))):
            raise MistypedError(f"{name} must be a number, not {type(given).__name__}")
        if given is not None and not 0 < given < float("inf"):
            raise InvalidError(f"{name} must be more than 0, not {given}")
    if rate is not None and replay is not None:
        raise InvalidError("rate and replay exclude each other")
    return None if rate is None else float(rate), None if replay is None else float(replay)


def _operation_column(op: str | int | None, file: Path | None) -> str | None:
    """The name of the column that says what happens to edges; of a file, perhaps its number."""
    if op is None:
        return None
    if isinstance(op, bool) or not isinstance(op, (str, int)):
        raise MistypedError(f"op must be the name of a column, or its number in a file, not {type(op).__name__}")
    if file is None and isinstance(op, int):
        raise InvalidError(f"op must be the name of a column of the edges that are handed over, not {op}")
    return str(op)


def _file(file: Path | None, follow: bool, from_start: bool, bad_lines: str, rejects: Path | None, columns: dict[str, Any]) -> dict[str, Any] | None:
    """What is read of a file; ``None`` without one."""
    if file is None:
        flags = {"follow": follow, "from_start": from_start, "bad_lines": bad_lines != "stop", "rejects": rejects is not None}
        given = {**{name: True for name, wanted in flags.items() if wanted}, **columns}
        unused = next((name for name, value in given.items() if value is not None), None)
        if unused is not None:
            raise InvalidError(f"{unused} has no effect without a file")
        return None
    path = os.path.realpath(path_text(file))
    if not os.path.exists(path):
        raise NotFoundError(f"{path_text(file)} does not exist; check the path")
    if not os.path.isfile(path):
        raise InvalidError(f"{path_text(file)} is not a file: hand the edges over with add_edges")
    read = read_settings(
        columns["format"], columns["source"], columns["target"], columns["weight"], None, None, "auto", columns["delimiter"], columns["header"], None, None, None
    )
    return {"path": path, "follow": bool(follow), "from_start": bool(from_start), "bad_lines": bad_lines, "rejects": None if rejects is None else path_text(rejects), "read": read}


def started(
    database: Database,
    file: Path | None,
    *,
    commit_every: str | int | datetime.timedelta,
    follow: bool,
    from_start: bool,
    rate: float | None,
    replay: float | None,
    time: str | None,
    time_unit: str | None,
    delay: str | int | datetime.timedelta | None,
    late: Any,
    op: str | int | None,
    expire: str | int | datetime.timedelta | None,
    duplicates: Duplicates | None,
    bad_lines: str,
    rejects: Path | None,
    **columns: Any,
) -> EdgeStream:
    """Begins a stream."""
    if isinstance(late, os.PathLike) or isinstance(late, str) and ("." in late or os.sep in late):
        late = f"reject:{os.fspath(late)}"
    elif not isinstance(late, str):
        raise MistypedError(f"late must be 'next', 'refuse' or a path, not {type(late).__name__}")
    of_file = _file(file, follow, from_start, bad_lines, rejects, columns)
    expect_distinct(late=late[len("reject:") :] or None if late.startswith("reject:") else None, rejects=rejects)
    if of_file is not None and late.startswith("reject:") and os.path.realpath(late[len("reject:") :]) == of_file["path"]:
        raise InvalidError("late edges cannot be appended to the file that is read")
    rate, replay = _pace(rate, replay)
    options = {
        "every": length_text(commit_every, "commit_every"),
        "time": time,
        "unit": time_unit,
        "delay": None if delay is None else length_text(delay, "delay"),
        "late": late,
        "op": _operation_column(op, file),
        "duplicates": duplicates,
        "expire": None if expire is None else length_text(expire, "expire"),
        "rate": rate,
        "replay": replay,
        # The stream ends after the last expiry, whatever signal comes.
        "run": {**run_settings(), "cancel": None},
    }
    return EdgeStream(database, options, of_file)
