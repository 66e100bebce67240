"""Databases: open, create, import, change, look back."""

from __future__ import annotations

import builtins
import datetime
import json
import logging
import os
import shutil
import warnings
from types import TracebackType
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple, Union

from . import _columns, _esker, _progress
from ._errors import (
    ClosedError,
    EskerWarning,
    ExistsError,
    InvalidError,
    MistypedError,
    NotFoundError,
    ReadOnlyError,
    UnsuitableError,
)
from ._graph import Graph
from ._result import Result
from ._settings import Memory, ProgressOption, build_settings, run_settings, thread_count

if TYPE_CHECKING:
    from ._graph import Id

#: What names a version: a number, a tag, a time, ``latest``.
At = Union[int, str, datetime.datetime, datetime.date, None]
Path = Union[str, "os.PathLike[str]"]

_log = logging.getLogger("esker")


class Version(NamedTuple):
    """A version of a database."""

    number: int
    time: datetime.datetime
    """When it was published, in UTC."""
    message: str
    vertices: int
    """Number of vertices, those that were removed included."""
    edges: int | None
    """Number of edges; ``None`` while the commit is in the log alone: ``db.graph(number).num_edges`` knows it."""
    tags: tuple[str, ...] = ()


class ImportReport(dict):  # type: ignore[type-arg]
    """What an import did: ``rows`` read, ``vertices`` and ``edges`` stored, ``duplicates`` and ``self_loops`` left out, ``rejected``
    lines with a ``rejected_sample``, ``seconds`` and seconds by ``stages``; as attributes and as a dictionary."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self) -> str:
        counts = ("rows", "vertices", "edges", "duplicates", "self_loops", "rejected")
        told = [f"{name}={self[name]:,}" for name in counts if name in self]
        return f"<esker.ImportReport: {', '.join(told)}, {self['seconds']:.3g} s>"


class Difference(NamedTuple):
    """What differs between two versions."""

    changes: list[dict[str, Any]]
    """In order: each has a ``kind`` (``edge added``, ``edge removed``, ``edge changed``, ``vertex added``, ``vertex removed``, ``value
    changed``) and what it is about."""
    edges_added: int
    edges_removed: int
    edges_changed: int
    vertices_added: int
    vertices_removed: int
    values_changed: int


def _selector(version: At, at: At) -> str | None:
    """The text that names a version."""
    if version is not None and at is not None:
        raise InvalidError("give either version or at, not both")
    given = version if version is not None else at
    if given is None:
        return None
    if isinstance(given, datetime.datetime):
        if given.tzinfo is None:
            given = given.astimezone()
        return given.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(given, datetime.date):
        return given.isoformat()
    if isinstance(given, bool) or not (isinstance(given, str) or hasattr(given, "__index__")):
        raise MistypedError(f"a version is a number, a tag, a time, or 'latest', not {type(given).__name__}")
    return given if isinstance(given, str) else str(given.__index__())


def _read_settings(
    format: str | None,
    source: str | int | None,
    target: str | int | None,
    weight: str | int | bool | None,
    time: str | int | bool | None,
    properties: Iterable[str] | str | None,
    ids: str,
    delimiter: str | None,
    header: bool | None,
    quotes: bool | None,
    vertices: Path | None,
) -> dict[str, Any]:
    def pick(column: Any) -> str | None:
        return None if column is None or column is True else "" if column is False else str(column)

    return {
        "format": format,
        "source": None if source is None else str(source),
        "target": None if target is None else str(target),
        "weight": pick(weight),
        "time": pick(time),
        "properties": None if properties in (None, "all") else [str(name) for name in properties],
        "all_properties": properties == "all",
        "ids": ids,
        "delimiter": delimiter,
        "header": header,
        "quotes": quotes,
        "vertices": None if vertices is None else os.fspath(vertices),
    }


class Database:
    """A database. From :func:`esker.open` or :func:`esker.create`; a context manager.

    Any number of threads and processes read at the same time, also while one process writes. A database that was opened for reading
    shows what there was when it was opened (:meth:`refresh` looks again).
    """

    def __init__(self, native: Any, path: str | None, new: dict[str, Any] | None = None) -> None:
        self._native = native
        self._path = path
        # A database that was created is made by what first comes into it: the import pipeline is the fastest way in.
        self._new = new
        self._closed = False

    # -- life

    def __enter__(self) -> Database:
        self._expect_open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else "new" if self._native is None else "rw" if self.writable else "r"
        return f"<esker.Database {self.path!r} ({state})>"

    def __reduce__(self) -> Any:
        raise InvalidError("a database cannot be pickled: pickle a graph, or open the path again")

    @property
    def path(self) -> str:
        """Where it is; ``:memory:`` if it is in memory."""
        return self._path or ":memory:"

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    @property
    def writable(self) -> bool:
        """Whether it can be changed."""
        return not self._closed and (self._native is None or self._native.writable)

    def close(self) -> None:
        """Closes it. Graphs that came from it stay readable. Closing twice does nothing."""
        if self._closed:
            return
        if self._native is None and self._path is not None:
            self._materialise(_columns.Edges(_columns.column([], "source"), _columns.column([], "target"), []), None)
        if self._native is not None:
            self._native.close()
        self._closed = True

    def refresh(self) -> Database:
        """Looks again what there is, if the database is open for reading; itself."""
        self._expect_open()
        if self._native is not None and not self._native.writable and self._path is not None:
            _expect_path_exists(self._path)
            self._native = _esker.open(self._path, False, "always", 0)
        return self

    def _expect_open(self) -> None:
        if self._closed:
            raise ClosedError(f"{self.path} is closed: open it again")

    def _made(self) -> Any:
        """The native database; one that is new becomes an empty one."""
        self._expect_open()
        if self._native is None:
            self._materialise(_columns.Edges(_columns.column([], "source"), _columns.column([], "target"), []), None)
        return self._native

    # -- reading

    def graph(self, version: At = None, *, at: At = None) -> Graph:
        """A version of the graph, the newest if none is named.

        Args:
            version: The number of a version.
            at: A number, a tag, a time (the newest version that is not after it; ``"2026-11-01"`` means the end of that day), or
                ``"latest"``.

        Raises:
            VersionNotFoundError: If there is none.
        """
        return Graph(self._made().graph(_selector(version, at)), self._path)

    def versions(self) -> list[Version]:
        """All versions, oldest first."""
        native = self._made()
        tags: dict[int, list[str]] = {}
        for name, number in native.tags():
            tags.setdefault(number, []).append(name)
        utc = datetime.timezone.utc
        return [
            Version(
                one["number"],
                datetime.datetime.fromtimestamp(one["time_ms"] / 1000, utc),
                one["message"],
                one["vertices"],
                one["edges"],
                tuple(tags.get(one["number"], ())),
            )
            for one in json.loads(native.versions())
        ]

    @property
    def tags(self) -> dict[str, int]:
        """Tags and the numbers of their versions."""
        return dict(self._made().tags())

    @property
    def info(self) -> dict[str, Any]:
        """The newest version, the number of versions, and bytes on disk."""
        native = self._made()
        facts = json.loads(native.graph(None).facts())
        return {**facts, "path": self.path, "versions": len(json.loads(native.versions())), "bytes": native.bytes()}

    def diff(self, a: At, b: At = "latest", *, summary_only: bool = False, **settings: Any) -> Difference:
        """What came, went and changed from version ``a`` to ``b``, named as in :meth:`graph`."""
        first, last = _selector(a, None), _selector(b, None)
        if first is None or last is None:
            raise InvalidError("diff wants two versions")
        progress = settings.pop("progress", None)
        with _progress.listening(progress, "diff") as callback:
            found = json.loads(
                self._made().diff(first, last, summary_only, run_settings(**settings, progress=callback))
            )
        return Difference(found["changes"], **found["summary"])

    def check(self, *, threads: int | None = None, progress: ProgressOption = None) -> list[str]:
        """Verifies every byte of the newest version's layers; what is wrong. Empty: the database is sound."""
        with _progress.listening(progress, "check") as callback:
            problems, _ = self._made().check(run_settings(threads=threads, progress=callback))
        return problems

    def export(
        self, file: Path, *, at: At = None, format: str | None = None, properties: bool = True, overwrite: bool = False
    ) -> int:
        """Writes a version to a file of any format that :meth:`import_` reads, told by its ending; the number of edges written."""
        if not overwrite and os.path.lexists(file):
            raise ExistsError(f"{os.fspath(file)} exists: name another file, or overwrite=True")
        return self._made().export(os.fspath(file), _selector(None, at), format, properties, overwrite)

    # -- writing

    def batch(self, message: str = "") -> Batch:
        """Changes that become one version when the ``with`` block ends; if it ends by an exception, none of them does."""
        self._expect_open()
        if not self.writable:
            raise ReadOnlyError(f"{self.path} is open for reading: open it with mode='rw'")
        if not isinstance(message, str):
            raise MistypedError(f"a message is a text, not {type(message).__name__}")
        return Batch(self, message)

    def store(self, result: Result, name: str | None = None, *, column: str | None = None, message: str | None = None) -> int:
        """Keeps a column of a result as a vertex property; the version. Vertices without a value have none.

        Args:
            result: Of a graph of this database.
            name: The property; the name of the column if not given.
            column: The column; the principal one if not given.
            message: Of the version.
        """
        if not isinstance(result, Result):
            raise MistypedError(f"store takes a result of an algorithm, not {type(result).__name__}")
        if result._has_edges:
            raise UnsuitableError(f"the rows of {result.algorithm} are edges: only properties of vertices can be stored")
        kept = result.column(column)
        values, missing = kept.to_numpy(), kept.is_missing()
        ids = result.ids()
        if kept.kind in ("index", "count"):
            if kept.kind == "count" and len(values) and int(values[~missing].max(initial=0)) >= 1 << 63:
                raise UnsuitableError("a count exceeds 2^63 - 1: it cannot be stored")
            values = values.astype("int64")
        some = ~missing
        with self.batch(message or f"{result.algorithm}: {name or kept.name}") as batch:
            batch.set_vertices(ids[some], **{name or kept.name: values[some]})
        assert batch.version is not None
        return batch.version

    def tag(self, name: str, version: At = "latest") -> None:
        """Names a version; versions with tags are always kept."""
        self._made().tag(name, _selector(version, None) or "latest")

    def untag(self, name: str) -> None:
        """Takes a tag away."""
        self._made().untag(name)

    def forget(self, version: At) -> None:
        """Drops a version."""
        chosen = _selector(version, None)
        if chosen is None:
            raise InvalidError("name the version to forget")
        self._made().forget(chosen)

    def retain(self, *, last: int | None = None, since: At = None) -> None:
        """Which versions are kept: the ``last`` so many, those ``since`` a time, or if neither is given all."""
        if last is not None and since is not None:
            raise InvalidError("give either last or since, not both")
        if last is not None and (isinstance(last, bool) or not hasattr(last, "__index__")):
            raise MistypedError(f"last is a whole number, not {type(last).__name__}")
        if last is not None and not 0 < last < 1 << 64:
            raise InvalidError(f"last is at least 1, not {last}")
        self._made().retain(last, _selector(since, None))

    def compact(
        self, *, encoding: str | None = None, threads: int | None = None, progress: ProgressOption = None
    ) -> dict[str, int]:
        """Merges all layers into one; no version is lost. ``encoding`` is ``plain`` or ``compressed``; as it was, if not given.
        ``tiles`` makes tiles beside the lists. Layers and bytes, before and after."""
        with _progress.listening(progress, "compact") as callback:
            found = self._made().compact(encoding, run_settings(threads=threads, progress=callback))
        return dict(zip(("layers_before", "layers", "bytes_before", "bytes"), found))

    def define_edge_property(
        self, name: str, type: str = "f64", *, weight: bool = False, threads: int | None = None, progress: ProgressOption = None
    ) -> None:
        """Gives edges one more property: ``type`` is ``text``, or as ``info`` names types (``i64``, ``f64``, ...). All edges that there are have 0, or
        the empty text, in every version. With ``weight``, algorithms take it for the weight. All layers are written anew as one for it."""
        with _progress.listening(progress, "define") as callback:
            self._made().define(name, type, weight, run_settings(threads=threads, progress=callback))

    def import_(
        self,
        files: Path | Iterable[Path],
        *,
        source: str | int | None = None,
        target: str | int | None = None,
        weight: str | int | bool | None = None,
        time: str | int | bool | None = None,
        properties: Iterable[str] | str | None = None,
        format: str | None = None,
        ids: str = "auto",
        delimiter: str | None = None,
        header: bool | None = None,
        quotes: bool | None = None,
        vertices: Path | None = None,
        directed: bool | None = None,
        in_edges: bool = True,
        order: str = "auto",
        encoding: str | None = None,
        duplicates: str = "drop",
        self_loops: str = "keep",
        bad_lines: str = "stop",
        threads: int | None = None,
        memory: Memory = None,
        progress: ProgressOption = None,
        message: str = "",
        batch_edges: int | None = None,
    ) -> ImportReport:
        """Imports files: the format and the compression are recognised. Into a new database through the import pipeline; into one
        that has edges as one commit, or one for each ``batch_edges``.

        Args:
            files: A path, a pattern (``"part-*.csv"``), or several.
            source: Column of the source: a name from the header, or a number from 1.
            target: Column of the target.
            weight: Column of the weight; ``False`` takes none.
            time: Column of the time, kept as a property; ``False`` takes none.
            properties: Other columns to keep, or ``"all"``.
            format: As ``csv``, ``parquet``, ``mtx``; if the ending and the content do not tell.
            ids: ``int``, ``text``, or ``auto``.
            delimiter: Between columns of a CSV.
            header: Whether the first line of a CSV names the columns.
            quotes: Whether ``"`` quotes fields.
            vertices: A file with one id a line, for vertices without edges.
            directed: As the format says, else directed, if not given.
            in_edges: Whether lists of incoming edges are kept.
            order: Numbering of the vertices: ``auto``, ``keep``, ``degree``.
            encoding: How lists are kept: ``plain`` (fastest) or ``compressed`` (smallest).
            duplicates: Edges that come several times: ``drop`` (the first stays), ``keep``, ``sum`` of the weights, ``min``: the smallest weight.
            self_loops: ``keep`` or ``drop``.
            bad_lines: ``stop`` or ``skip``.
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the import, as ``"2GiB"``; 4 GiB if not given.
            progress: True shows a bar; a callable is told.
            message: Of the version.
            batch_edges: Edges of a commit, where edges are added.

        Raises:
            InputError: A line cannot be understood; it says file, line and remedy.
        """
        self._expect_open()
        if not self.writable:
            raise ReadOnlyError(f"{self.path} is open for reading: open it with mode='rw'")
        if not isinstance(files, (str, bytes, os.PathLike)) and not hasattr(files, "__iter__"):
            raise MistypedError(f"a path or several are wanted, not {type(files).__name__}")
        inputs = [_path_text(one) for one in ([files] if isinstance(files, (str, bytes, os.PathLike)) else files)]
        for one in inputs:
            if one != "-" and not any(c in one for c in "*?[") and not os.path.exists(one):
                raise NotFoundError(f"{one} does not exist: check the name")
        read = _read_settings(format, source, target, weight, time, properties, ids, delimiter, header, quotes, vertices)
        new = self._new or {}
        with _progress.listening(progress, "import") as callback:
            settings = build_settings(
                directed=new.get("directed") if directed is None else directed,
                in_edges=in_edges and new.get("in_edges", True),
                order=order if order != "auto" else new.get("order", "auto"),
                encoding=encoding or new.get("encoding", "plain"),
                duplicates=duplicates if duplicates != "drop" else new.get("duplicates", "drop"),
                self_loops=self_loops,
                bad_lines=bad_lines,
                threads=threads,
                memory=memory,
                message=message,
                progress=callback,
            )
            if self._native is None:
                text, made = _esker.import_files(inputs, self._path, read, settings, bool(new.get("replace")))
                self._adopt(made)
            else:
                text = self._native.feed(inputs, read, settings, message, batch_edges, False)
        return _report(text)

    def _materialise(self, edges: _columns.Edges, vertices: Any, message: str = "", progress: Any = None) -> ImportReport:
        """Makes a database that is new of its first edges."""
        new = self._new or {}
        directed = new.get("directed")
        if directed is None:
            directed = edges.directed
        weight = new.get("weight", "weight")
        names = [name for name, _ in edges.properties]
        settings = build_settings(
            directed=directed,
            in_edges=new.get("in_edges", True),
            order=new.get("order", "auto"),
            encoding=new.get("encoding", "plain"),
            duplicates=new.get("duplicates", "drop"),
            threads=new.get("threads"),
            memory=new.get("memory"),
            message=message,
            progress=progress,
        )
        count = edges.num_vertices if edges.num_vertices is not None else new.get("num_vertices")
        text, made = _esker.import_columns(
            edges.source,
            edges.target,
            edges.properties,
            vertices if vertices is not None else edges.vertices,
            weight if weight in names else None,
            count,
            self._path,
            settings,
            bool(new.get("replace")),
        )
        self._adopt(made)
        return _report(text)

    def _unmake(self, new: dict[str, Any]) -> None:
        """Takes back what a batch that failed has made of a new database, unless there is more in it by now."""
        if self._native is None or len(json.loads(self._native.versions())) > 1:
            return
        self._native.close()
        if self._path is not None:
            shutil.rmtree(self._path)
        self._native, self._new = None, new

    def _adopt(self, made: Any) -> None:
        new = self._new or {}
        if made is None:
            made = _esker.open(self._path, True, new.get("sync", "always"), thread_count(new.get("threads")))
        self._native, self._new = made, None


def _report(text: str) -> ImportReport:
    report = ImportReport(json.loads(text))
    for note in report.get("notes", ()):
        _log.info("%s", note)
    if report.get("rejected"):
        first = report["rejected_sample"][0]
        warnings.warn(
            f"{report['rejected']} lines could not be understood and were left out, the first at "
            f"{first['path']}:{first['line']}: {first['reason']}",
            EskerWarning,
            stacklevel=3,
        )
    if report.get("rounded"):
        warnings.warn(f"{report['rounded']} values were rounded to the type of their property", EskerWarning, stacklevel=3)
    return report


class Batch:
    """Changes that become one version together. From :meth:`Database.batch`; a context manager.

    They take effect in the order given. Columns are NumPy arrays, Arrow arrays, series of pandas or Polars, or iterables; edges may
    also come as one object: a table with columns ``source`` and ``target``, a SciPy sparse matrix, a NetworkX or igraph graph, or tuples.

    >>> with db.batch("monday") as b:
    ...     b.add_edges(sources, targets, weight=weights)
    ...     b.delete_edges([1, 2], [3, 4])
    """

    def __init__(self, database: Database, message: str) -> None:
        self._database, self._message = database, message
        self._native: Any = None
        self._first: tuple[_columns.Edges, Any] | None = None
        self._ended = False
        # What the database was to be, if this batch makes it.
        self._made_of: dict[str, Any] | None = None
        self.version: int | None = None
        """The version that it became."""
        self.report: ImportReport | None = None
        """What the import did, if the database was new."""

    def __enter__(self) -> Batch:
        self._expect_open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None and not self._ended:
            self.commit()
        elif kind is not None and not self._ended and self._made_of is not None:
            self._database._unmake(self._made_of)
        self._ended = True
        self._native = self._first = None

    def __repr__(self) -> str:
        return f"<esker.Batch of {len(self):,} changes>"

    def __len__(self) -> int:
        """Number of changes so far."""
        edges = self._first[0] if self._first is not None else None
        return (len(self._native) if self._native is not None else 0) + (len(edges.source) if edges is not None else 0)

    def _expect_open(self) -> None:
        if self._ended:
            raise ClosedError("the batch was committed or dropped: begin another")
        self._database._expect_open()

    def _changes(self) -> Any:
        """The native batch, once it is known that more than first edges come."""
        self._expect_open()
        if self._first is not None or self._database._native is None:
            self._flush()
        if self._native is None:
            self._native = self._database._made().batch()
        return self._native

    def _flush(self) -> None:
        """Makes the database, if it is new, of the first edges."""
        if self._database._native is not None:
            return
        empty = _columns.Edges(_columns.column([], "source"), _columns.column([], "target"), [])
        edges, vertices = self._first or (empty, None)
        made_of = self._database._new
        with _progress.listening((self._database._new or {}).get("progress"), "import") as callback:
            self.report = self._database._materialise(edges, vertices, self._message, callback)
        self.version, self._first, self._made_of = 1, None, made_of

    def add_edges(self, source: Any, target: Any = None, *, weight: Any = None, **properties: Any) -> Batch:
        """Adds edges, or sets the properties of those that are there; ends that are new become vertices. Returns the batch.

        Args:
            source: The ids where edges begin; or, if ``target`` is not given, an object that holds edges.
            target: The ids where they end.
            weight: Their weights. With an object that holds edges: ``False`` leaves its values aside.
            **properties: Columns of other properties, by name. Every edge has a value of each property of the database.
        """
        self._expect_open()
        edges = _columns.edges(source, target, properties, weight)
        if len(edges.source) != len(edges.target):
            raise InvalidError(f"source has {len(edges.source)} elements, and target has {len(edges.target)}: columns are of one length")
        if self._database._native is None and self._native is None and self._first is None:
            for name, values in edges.properties:
                if len(values) != len(edges.source):
                    raise InvalidError(f"{name} has {len(values)} elements, and there are {len(edges.source)} edges")
            self._first = (edges, edges.vertices)
            return self
        changes = self._changes()
        if edges.vertices is not None:
            changes.add_vertices(edges.vertices)
        known = self._database.graph().edge_properties if weight is None and not properties and target is None else None
        columns = [(name, values) for name, values in edges.properties if known is None or name in known]
        changes.add_edges(edges.source, edges.target, columns)
        return self

    def delete_edges(self, source: Any, target: Any = None) -> Batch:
        """Removes edges, given as to :meth:`add_edges`; those that are not there do not matter. Returns the batch."""
        changes = self._changes()
        edges = _columns.edges(source, target, {}, None)
        changes.remove_edges(edges.source, edges.target)
        return self

    def add_vertices(self, ids: Any) -> Batch:
        """Adds vertices, unless they are there. Returns the batch."""
        self._changes().add_vertices(_columns.column(ids, "ids"))
        return self

    def delete_vertices(self, ids: Any) -> Batch:
        """Removes vertices with their edges. Returns the batch."""
        self._changes().remove_vertices(_columns.column(ids, "ids"))
        return self

    def set_vertices(self, ids: Any, **properties: Any) -> Batch:
        """Sets properties of vertices, which are added if they are not there: for each property a column beside ``ids``, or one value
        for all. Where a value is missing (``None``, null, ``NaN``), it is taken away. Returns the batch."""
        if not properties:
            raise InvalidError("name the properties to set, as in set_vertices(ids, rank=ranks)")
        changes = self._changes()
        column = _columns.column(ids, "ids")
        for name, values in properties.items():
            if values is None or isinstance(values, (str, int, float)) or getattr(values, "shape", None) == ():
                values = [values] * len(column)
            changes.set_vertices(column, name, _columns.column(values, name))
        return self

    def commit(self) -> int:
        """Makes the changes a version, durably; its number. The end of a ``with`` block does it by itself."""
        self._expect_open()
        if self._first is not None or self._database._native is None:
            self._flush()
        if self._native is not None:
            if self._native.rounded:
                message = f"{self._native.rounded} values were rounded to the type of their property"
                warnings.warn(message, EskerWarning, stacklevel=3)
            self.version = self._database._made().commit(self._native, self._message)
        elif self.version is None:
            self.version = self._database._made().commit(self._database._made().batch(), self._message)
        self._ended = True
        return self.version


def _path_text(path: Any) -> str:
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise MistypedError(f"a path is wanted, not {type(path).__name__}")
    text = os.fsdecode(path)
    if not text or "\0" in text:
        raise InvalidError(f"{text!r} is no path")
    return text


def _expect_path_exists(path: str) -> None:
    if not os.path.exists(path):
        raise NotFoundError(f"{path} does not exist: check the name, or esker.create it")


def open(path: Path, mode: str = "r", *, sync: str = "always", threads: int | None = None) -> Database:
    """Opens a database.

    Args:
        path: The directory.
        mode: ``"r"``: for reading. ``"rw"``: for writing too; one process at a time.
        sync: When a commit is durable: ``"always"`` before it is acknowledged; ``"interval"`` within 100 ms; ``"never"``, when the
            operating system likes.
        threads: For what is done in the background.

    Raises:
        NotFoundError: There is nothing at ``path``.
        InvalidError: It is no database, or another process writes to it.
    """
    if mode not in ("r", "rw"):
        raise InvalidError(f"mode is 'r' or 'rw', not {mode!r}")
    name = _path_text(path)
    _expect_path_exists(name)
    return Database(_esker.open(name, mode == "rw", sync, thread_count(threads)), name)


def create(
    path: Path | None = None,
    *,
    directed: bool = True,
    in_edges: bool = True,
    multigraph: bool = False,
    order: str = "auto",
    encoding: str = "plain",
    weight: str = "weight",
    num_vertices: int | None = None,
    replace: bool = False,
    sync: str = "always",
    threads: int | None = None,
    memory: Memory = None,
    progress: ProgressOption = None,
) -> Database:
    """Makes a database, open for writing.

    What comes first into it, by :meth:`Database.import_` or by the first ``add_edges`` of a batch, goes through the import pipeline and
    says what ids are (integers or texts) and which properties edges have.

    Args:
        path: The directory to make; in memory if it is not given.
        directed: Whether edges have a direction.
        in_edges: Whether lists of incoming edges are kept.
        multigraph: Whether there may be several edges between the same two vertices; else the first stays.
        order: Numbering of the vertices: ``auto``, ``keep``, ``degree``.
        encoding: How lists are kept: ``plain`` (fastest) or ``compressed`` (smallest).
        weight: The name of the edge property that is the weight, if it comes.
        num_vertices: Ids are ``0..num_vertices``, whether they have edges or not.
        replace: Whether a database that stands there is replaced.
        sync: As in :func:`esker.open`.
        threads: Of the import.
        memory: Of the import, as ``"2GiB"``.
        progress: Of the import.
    """
    name = None if path is None else _path_text(path)
    if name is not None and builtins.bool(os.path.lexists(name)) and not replace:
        raise ExistsError(f"{name} exists: open it, name another, or replace=True")
    if num_vertices is not None and (isinstance(num_vertices, bool) or not hasattr(num_vertices, "__index__") or num_vertices < 0):
        raise InvalidError(f"num_vertices is a whole number, not {num_vertices!r}")
    new = {
        "directed": directed,
        "in_edges": in_edges,
        "duplicates": "keep" if multigraph else "drop",
        "order": order,
        "encoding": encoding,
        "weight": weight,
        "num_vertices": num_vertices,
        "replace": replace,
        "sync": sync,
        "threads": threads,
        "memory": memory,
        "progress": progress,
    }
    if not isinstance(weight, str):
        raise MistypedError(f"weight is the name of a property, not {type(weight).__name__}")
    checked = build_settings(directed=directed, order=order, encoding=encoding, threads=threads, memory=memory)
    _esker.check_settings(checked, sync)
    return Database(None, name, new)


def from_edges(source: Any, target: Any = None, *, directed: bool | None = None, weight: Any = None, **options: Any) -> Graph:
    """A graph in memory of edges as :meth:`Batch.add_edges` takes them; ``options`` are those of :func:`esker.create`, or columns of
    properties.

    >>> g = esker.from_edges([0, 1, 2], [1, 2, 0])
    >>> g = esker.from_edges(scipy_matrix, directed=False)
    """
    names = ("in_edges", "multigraph", "order", "encoding", "num_vertices", "threads", "memory", "progress")
    chosen = {name: options.pop(name) for name in names if name in options}
    edges = _columns.edges(source, target, options, weight)
    if directed is None:
        directed = edges.directed if edges.directed is not None else True
    chosen.setdefault("multigraph", edges.multigraph)
    database = create(None, directed=directed, **chosen)
    with database.batch() as batch:
        batch._first = (edges, edges.vertices)
    return database.graph()


def import_(files: Path | Iterable[Path], path: Path | None = None, *, replace: bool = False, **options: Any) -> Database:
    """Imports files to a new database at ``path``, or in memory, and opens it for writing; ``options`` are those of
    :meth:`Database.import_`. The report is logged, and is in ``database.report``."""
    database = create(path, replace=replace)
    assert database._new is not None
    database._new["directed"] = None
    report = database.import_(files, **options)
    database.report = report  # type: ignore[attr-defined]
    _log.info("%r", report)
    return database
