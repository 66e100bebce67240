"""An open database: read versions, import, change."""

from __future__ import annotations

import contextlib
import datetime
import functools
import json
import os
import shutil
import warnings
from types import TracebackType
from typing import Any, Iterable, Iterator, Literal, Mapping

from . import _cancel, _columns, _esker, _html, _progress
from ._batch import Batch, lose_batches
from ._collections import without_collections
from ._counted import counted
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
from ._follow import Follow, OnAlert, started
from ._graph import Graph
from ._parts import PartView
from ._reports import Backup, Comparison, Difference, DifferenceTable, ImportReport, SyncReport, Version, Versions, read_report
from ._result import Result
from ._selectors import At, Path, database_path, expect_distinct, expect_path_exists, path_text, read_settings, schema_items, selector
from ._settings import (
    Duplicates,
    Encoding,
    EventTime,
    Memory,
    Order,
    ProgressOption,
    build_settings,
    event_time_text,
    head_length,
    memory_bytes,
    run_settings,
)
from ._streaming import EdgeStream
from ._streaming import started as streaming
from ._syncing import synced
from ._windows import Copies, Time, Window, Windows, WindowTable, compared, length_text, moving_window, of_window, on_versions, series


class Database:
    """A database: a context manager, made by :func:`esker.open` or :func:`esker.create`.

    Any number of threads and processes can read at the same time, also while one process writes. A database open for reading shows the
    versions that existed when it was opened; :meth:`refresh` updates it.
    """

    def __init__(
        self,
        native: Any,
        path: str | None,
        new: dict[str, Any] | None = None,
        reading: Mapping[str, Any] | None = None,
    ) -> None:
        self._native = native
        # The settings for reading the commits in the log.
        self._reading = {} if reading is None else reading
        self._path = path
        # The settings of a database that does not exist yet. Its first edges create it, because the import pipeline is the fastest way in.
        self._new = new
        self._closed = False
        # What identifies the database: its directory, or this handle if it is in memory.
        self._owner: Any = None if native is None else _owner_of(path, self)

    # -- life

    def __enter__(self) -> Database:
        self._expect_open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else "new" if self._native is None else "rw" if self.writable else "r"
        return f"<esker.Database {self.path!r} ({state})>"

    def _repr_html_(self) -> str:
        if self.closed or self._native is None:
            return _html.table(repr(self)[1:-1], (), [])
        return f"{_html.table(repr(self)[1:-1], (), [])}{self.versions()._repr_html_()}"

    def __reduce__(self) -> Any:
        raise InvalidError("a database cannot be pickled; pickle a graph, or open the path again")

    @property
    def path(self) -> str:
        """The path of the database; ``:memory:`` for a database in memory."""
        return self._path or ":memory:"

    @property
    def closed(self) -> bool:
        """Whether the database is closed."""
        return self._closed

    @property
    def writable(self) -> bool:
        """Whether the database is open for writing."""
        return not self._closed and (self._native is None or self._native.writable)

    def close(self) -> None:
        """Closes the database. Its graphs stay readable. Closing twice has no effect."""
        if self._closed:
            return
        lose_batches(self, "the database was closed")
        if self._native is None and self._path is not None:
            self._create(_columns.no_edges())
        if self._native is not None:
            self._native.close()
        self._closed = True

    def refresh(self) -> Database:
        """Updates a database open for reading to the current versions; returns the database."""
        self._expect_open()
        if self._native is not None and not self._native.writable and self._path is not None:
            expect_path_exists(self._path)
            self._native = open_native(self._path, False, "always", self._reading)
        return self

    def _expect_open(self) -> None:
        if self._closed:
            raise ClosedError(f"{self.path} is closed; open it again")

    def _expect_writable(self) -> None:
        self._expect_open()
        if not self.writable:
            raise ReadOnlyError(f"{self.path} is open for reading only; open it with mode='rw'")

    def _expect_in_place(self) -> None:
        """Checks that the directory is still the one that was opened, so that changes are not written into a removed one."""
        if self._native is None or self._path is None:
            return
        if _owner_of(self._path, self) != self._owner or not os.path.exists(os.path.join(self._path, "MANIFEST")):
            raise NotFoundError(f"{self._path} was moved, removed or replaced after it was opened, so it cannot be changed; open it again")

    def _to_change(self) -> Any:
        """The native database, for a change."""
        native = self._created()
        self._expect_in_place()
        return native

    def _created(self) -> Any:
        """The native database; creates an empty one if it is new."""
        self._expect_open()
        if self._native is None:
            self._create(_columns.no_edges())
        return self._native

    # -- reading

    def graph(self, version: At = None, *, at: At = None) -> Graph:
        """A version of the graph; the newest by default.

        Args:
            version: The number of the version.
            at: A number, a tag, a time, or ``"latest"``. A time selects the newest version at that event time; ``"2026-11-01"`` means the end of that
                day.

        Raises:
            VersionNotFoundError: No such version.
        """
        wanted, native = selector(version, at), self._created()
        with log_settings(self._reading) as settings:
            return Graph(native.graph(wanted, settings), self._path, self._owner)

    def window(
        self,
        length: str | int | datetime.timedelta,
        *,
        at: Time = None,
        version: At = None,
        time: str | None = None,
        time_unit: Literal["s", "ms", "us", "ns"] | None = None,
        copies: Copies = "all",
        all_vertices: bool = False,
        timezone: str | None = None,
        closed: Literal["left", "right"] | None = None,
    ) -> Window:
        """The graph of the edges of one length of time.

        Args:
            length: Such as ``"90s"``, ``"15m"``, ``"1h"``, ``"7d"``, ``"2w"``, or a number in the unit of the times.
            at: The end, which the window includes; a day or a minute ends with its last moment. By default the latest time.
            version: As for :meth:`graph`.
            time: The edge property that holds the times; by default the only one that can.
            time_unit: The unit of times that are numbers; guessed from the latest if not given.
            copies: What becomes of several edges from one vertex to another: each is an edge (``"all"``), only the last (``"distinct"``), or one
                with their number (``"count"``), or with the sum, the least or the greatest of their weights, as its weight.
            all_vertices: Keeps the vertices without an edge in the window.
            timezone: The zone whose days and weeks windows follow, and of times without an offset; by default that of the property, else UTC.
            closed: Which end belongs to a window; by default the end, but steps of the calendar end with their last moment.
        """
        options = {"time": time, "time_unit": time_unit, "copies": copies, "all_vertices": all_vertices, "timezone": timezone, "closed": closed}
        return of_window(self.graph(version), length, at, **options)

    def rolling(
        self,
        length: str | int | datetime.timedelta | Iterable[str | int | datetime.timedelta],
        every: str | int | datetime.timedelta | None = None,
        *,
        every_edges: int | None = None,
        align: Literal["calendar", "first"] | Time = "calendar",
        start: Time = None,
        end: Time = None,
        version: At = None,
        time: str | None = None,
        time_unit: Literal["s", "ms", "us", "ns"] | None = None,
        copies: Copies = "all",
        all_vertices: bool = False,
        timezone: str | None = None,
        closed: Literal["left", "right"] | None = None,
    ) -> Windows:
        """Windows of one length that follow each other: their ends are ``every`` apart, by default a length, and follow the calendar.
        With ``align="first"`` steps begin with the first edge instead, or with a time that is given. With ``every_edges=n``, a window
        ends after every ``n`` edges, in the order of their times, and the last window with the last edge. With several lengths, each end
        has a window of each length, and ``every`` is the shortest by default.

        The first is that of the step in which ``start`` lies, the last that of ``end``; by default those of the first and the last edge. The other
        arguments are those of :meth:`window`.

        >>> for window in db.rolling("24h", every="1h"):
        ...     print(window.until, window.wcc().components)
        >>> db.rolling("7d").run("pagerank", top=10).to_pandas()
        >>> db.rolling(["1h", "24h"], every="1h").run("wcc").to_pandas()
        """
        options = {"time": time, "time_unit": time_unit, "copies": copies, "all_vertices": all_vertices, "timezone": timezone, "closed": closed}
        return series(self.graph(version), length, (every, every_edges, align), start, end, **options)

    def expanding(
        self,
        every: str | int | datetime.timedelta | None = None,
        *,
        every_edges: int | None = None,
        align: Literal["calendar", "first"] | Time = "calendar",
        start: Time = None,
        end: Time = None,
        version: At = None,
        time: str | None = None,
        time_unit: Literal["s", "ms", "us", "ns"] | None = None,
        copies: Copies = "all",
        all_vertices: bool = False,
        timezone: str | None = None,
        closed: Literal["left", "right"] | None = None,
    ) -> Windows:
        """Windows that all begin with the first edge, and whose ends are ``every`` or ``every_edges`` apart, as for
        :meth:`rolling`."""
        if every is None and every_edges is None:
            raise InvalidError("every or every_edges is missing")
        options = {"time": time, "time_unit": time_unit, "copies": copies, "all_vertices": all_vertices, "timezone": timezone, "closed": closed}
        return series(self.graph(version), None, (every, every_edges, align), start, end, **options)

    def follow(
        self,
        algorithm: str,
        *,
        start: At = None,
        resume: bool = False,
        wait: bool = True,
        weight: str | None = None,
        undirected: bool = False,
        window: str | int | datetime.timedelta | None = None,
        every: str | int | datetime.timedelta | None = None,
        every_edges: int | None = None,
        time: str | None = None,
        time_unit: Literal["s", "ms", "us", "ns"] | None = None,
        copies: Copies = "all",
        all_vertices: bool = False,
        alert: str | None = None,
        alert_new: bool = False,
        min_change: float | None = None,
        on_alert: OnAlert = None,
        threads: int | None = None,
        memory: Memory = None,
        seed: int = 0,
        progress: ProgressOption = None,
        **options: Any,
    ) -> Follow:
        """An answer that follows the versions of this database, also those that other processes commit.

        The answer is computed once; then each version costs what it changed, unless computing anew is cheaper, or there is no update for the
        algorithm and its options. Values are those of a run on that version. With ``window``, they are those of the edges of one length of
        time until the latest edge; edges that age are taken out as those that come are taken in.

        Args:
            algorithm: The name of an algorithm whose values belong to vertices, or that has figures only.
            start: The version to begin with, as for :meth:`graph`: the newest by default.
            resume: Goes on from the state that :meth:`Follow.keep` of an earlier one with the same algorithm, options and window kept, at its
                version; :attr:`Follow.refused` says why a state is of no use. If its version was forgotten, the first step has what
                changed between it and the version with which the answer begins. Not together with ``start``.
            wait: Whether an iteration waits for the next version, or ends with the newest that there is.
            weight: Edge property that is the weight; by default that of the import.
            undirected: Reads a directed graph as undirected, as for the algorithms; the answer is then computed anew at each step.
            window: The length of a window, as for :meth:`window`; ``time``, ``time_unit``, ``copies`` and ``all_vertices`` as there.
            every: Moves the window when the latest edge passes the end of a step of this length; by default it moves with each version.
            every_edges: Moves the window when this number of edges has come since, in the order of their times.
            alert: Raises an alert for each row that begins to meet a condition on its columns, such as ``"rank > 0.1 and id like 'x%'"``; once, and not
                again until the row has ceased to meet it. Of groups, ``size`` is their number of vertices: ``"size > 1000"``. Rows of the first
                answer that meet it raise alerts, too. See :meth:`Follow.alerts`.
            alert_new: Raises an alert for each row that was not in the answer before, or had no value; those of the first answer are not new.
            min_change: A value that moved by less than this since it was told last has not changed. Not together with ``resume``.
            on_alert: Called with each alert when it is raised: by this call, and then by :meth:`Follow.poll` and iterations.
            threads: Threads; by default as many as there are processors.
            memory: Memory limit, such as ``"2GiB"``.
            seed: Seed of everything random.
            progress: As for the algorithms.
            options: The options of the algorithm.

        >>> for step in db.follow("wcc"):
        ...     for vertex, old, new in step.changed:
        ...         print(step.version, vertex, old, new)
        >>> for one in db.follow("wcc", alert="size > 1000").alerts():
        ...     print(one["version"], one["component"], one["vertices"])
        """
        settings = {"threads": threads, "memory": memory, "seed": seed, "progress": progress}
        raised = (alert, alert_new, min_change, on_alert)
        moving = moving_window(window, every, every_edges, time=time, time_unit=time_unit, copies=copies, all_vertices=all_vertices)
        return started(self, algorithm, (start, resume), wait, (weight, bool(undirected)), moving, raised, settings, options)

    def versions(self) -> Versions:
        """All versions, oldest first."""
        native = self._created()
        tags: dict[int, list[str]] = {}
        for name, number in native.tags():
            tags.setdefault(number, []).append(name)
        utc = datetime.timezone.utc
        return Versions(
            Version(
                one["number"],
                datetime.datetime.fromtimestamp(one["time_ms"] / 1000, utc),
                one["message"],
                one["vertices"],
                one["edges"],
                tuple(tags.get(one["number"], ())),
                datetime.datetime.fromtimestamp(one["committed_ms"] / 1000, utc),
            )
            for one in json.loads(native.versions())
        )

    def run_versions(
        self,
        algorithm: str,
        first: At = None,
        last: At = None,
        *,
        top: int | None = None,
        keep_names: bool = False,
        progress: ProgressOption = None,
        **options: Any,
    ) -> WindowTable:
        """Runs an algorithm on several versions, from ``first`` to ``last``, both included; by default on all.

        Args:
            algorithm: Its name.
            first: The first version, given as for :meth:`graph`; by default the oldest.
            last: The last version; by default the newest.
            top: Only this many rows of each version, those with the largest values or the largest groups.
            keep_names: Whether a group is named as the one of the version before with which it shares most members, instead of by one of its
                members; ``events`` of the table then tells what became of each group.
            progress: As for runs; a stage is some successive versions.
            options: Those of the algorithm.

        Returns:
            One table over all versions: the column ``version`` has the number of the version; the others are those of the result, or, for an
            algorithm without columns, its figures.

        >>> db.run_versions("wcc", 3).to_pandas().groupby("version")["component"].nunique()
        """
        numbers = [one["number"] for one in json.loads(self._created().versions())]
        begin = numbers[0] if first is None else self.graph(first).version
        end = self.graph(last).version
        numbers = [number for number in numbers if begin <= number <= end]
        if not numbers:
            raise InvalidError(f"the first version, {begin}, is after the last, {end}")
        return on_versions([functools.partial(self.graph, number) for number in numbers], algorithm, top, keep_names, progress, options)

    def compare(
        self,
        algorithm: str,
        a: At | Graph | Window | PartView,
        b: At | Graph | Window | PartView = "latest",
        *,
        progress: ProgressOption = None,
        **options: Any,
    ) -> Comparison:
        """Runs an algorithm on two graphs of this database, and compares the values of each vertex.

        Numbers are subtracted. Labels of groups, such as components and communities, are compared by the members of the groups: the change of a
        vertex is 0 if its group has the same members in both graphs, and nearly 1 if it has others (the Jaccard distance).

        Args:
            algorithm: Its name.
            a: The first graph: a version, given as for :meth:`graph`, or a graph of this database, a window or another part of one.
            b: The second one.
            progress: As for runs.
            options: Those of the algorithm, ``weight`` and ``undirected``, and the settings of a run.

        >>> db.compare("pagerank", 3, "latest").top(10)
        >>> db.compare("leiden", db.window("7d", at="2024-01-08"), db.window("7d"), undirected=True).to_pandas()
        """
        sides = [one if isinstance(one, (Graph, Window, PartView)) else self.graph(one) for one in (a, b)]
        return compared(sides, algorithm, progress, options)

    @property
    def tags(self) -> dict[str, int]:
        """The version number of each tag."""
        return dict(self._created().tags())

    @property
    def info(self) -> dict[str, Any]:
        """A description of the newest version, the number of versions, and the size on disk in bytes."""
        native = self._created()
        facts = json.loads(self.graph()._native.facts())
        return {**facts, "path": self.path, "versions": len(json.loads(native.versions())), "bytes": native.bytes()}

    @property
    def schema(self) -> dict[str, dict[str, str]]:
        """The types of the properties of the newest version: ``{"edges": {name: type}, "vertices": {name: type}}``."""
        graph = self.graph()
        return {"edges": graph.edge_properties, "vertices": graph.vertex_properties}

    def diff(self, a: At, b: At = "latest", *, summary_only: bool = False, threads: int | None = None, memory: Memory = None, progress: ProgressOption = None) -> Difference:
        """The differences from version ``a`` to version ``b``, given as in :meth:`graph`: as a list, and as Arrow tables
        ``edges`` and ``vertices``. With ``summary_only``, the list is empty."""
        first, last = selector(a, None), selector(b, None)
        if first is None or last is None:
            raise InvalidError("diff needs two versions")
        with _progress.listening(progress, "diff") as callback:
            settings = run_settings(threads=threads, memory=memory, progress=callback)
            before, after, summary, lists = self._created().diff(first, last, summary_only, settings)
        tables = {
            name: DifferenceTable(self._created().diff_stream(str(before), str(after), name == "edges"), name)
            for name in ("edges", "vertices")
        }
        changes: list[dict[str, Any]] = []
        with without_collections():
            for one in lists:
                changes += json.loads(one)
                _cancel.current()
        return Difference(changes, **json.loads(summary), **tables)

    def check(self, *, at: At = None, threads: int | None = None, progress: ProgressOption = None) -> list[str]:
        """Verifies every byte of the layers of a version, by default the newest, and of the log; returns the problems found, an empty list if there
        are none.

        A warning names what a writer that died has left: the next writer removes it.
        """
        with _progress.listening(progress, "check") as callback:
            settings = run_settings(threads=threads, progress=callback)
            problems, _, left = _esker.check_database(self._created(), selector(None, at), settings)
        for path, num_bytes in left:
            message = f"{path} ({counted(num_bytes, 'byte')}) is in no version: a writer died, or is writing there; the next writer removes it"
            warnings.warn(message, EskerWarning, stacklevel=2)
        return problems

    def backup(
        self,
        path: Path,
        *,
        apart: bool = False,
        threads: int | None = None,
        progress: ProgressOption = None,
    ) -> Backup:
        """Makes a copy of the database, or brings the copy up to date that an earlier call made; :func:`esker.restore` makes a database of it.

        The copy has every version that was committed before the call, by this handle or another process. It is made beside its place, verified,
        and put there in one step. Files that never change are shared with the database as reflinks where the file system has them, else as hard
        links; on another file system they are copied. Of a copy that was made before, only new files are shared or copied, and verified.
        ``esker.open`` reads a copy; opened for writing, it becomes a database of its own, which no later call replaces.

        Args:
            path: The directory of the copy: a new name, or that of an earlier copy of this database.
            apart: Copy all files that are new, instead of sharing them.
            threads: Threads that verify.
            progress: Progress.

        Raises:
            InvalidError: Something else is at ``path``, or a copy of other versions; or the database is in memory.
            CorruptError: The database is damaged.
        """
        if not isinstance(apart, bool):
            raise MistypedError(f"apart must be True or False, not {apart!r:.60}")
        self._created()
        if self._path is None:
            raise InvalidError("a database in memory has no backups; export it, or create it at a path")
        with _progress.listening(progress, "backup") as callback:
            settings = run_settings(threads=threads, progress=callback)
            return Backup(**json.loads(_esker.back_up(self._path, database_path(path), apart, settings)))

    def export(
        self,
        file: Path,
        *,
        at: At = None,
        format: str | None = None,
        ids: Literal["external", "numbers"] = "external",
        properties: bool = True,
        both_ends: bool = False,
        overwrite: bool = False,
        vertices: Path | None = None,
        vertex_properties: Path | None = None,
    ) -> int:
        """Writes a version to a file, in any format that :meth:`import_` reads, chosen by the file extension; returns the number of edges.

        A warning says what the format cannot keep: CSV, for one, lists edges only and does not name vertices without edges. ``vertices`` is
        a file for the ids of all vertices, one per line, which ``import_(..., vertices=file)`` reads; ``vertex_properties`` is a CSV of their
        properties, which ``esker set`` reads. ``ids="numbers"`` writes vertex numbers; ``both_ends`` writes undirected edges in both directions;
        ``properties=False`` omits weights and other properties.
        """
        for flag, value in (("properties", properties), ("both_ends", both_ends), ("overwrite", overwrite)):
            if not isinstance(value, bool):
                raise MistypedError(f"{flag} must be True or False, not {value!r:.60}")
        for what, text in (("format", format), ("ids", ids)):
            if not isinstance(text, str) and (what == "ids" or text is not None):
                raise MistypedError(f"{what} must be a string, not {text!r:.60}")
        expect_distinct(file=file, vertices=vertices, vertex_properties=vertex_properties)
        for one in (file, vertices, vertex_properties):
            if one is not None and not overwrite and os.path.lexists(one):
                raise ExistsError(f"{os.fspath(one)} already exists; give another path, or pass overwrite=True")
        settings = {
            "format": format,
            "ids": ids,
            "properties": properties,
            "both_ends": both_ends,
            "overwrite": overwrite,
            "vertices": None if vertices is None else os.fspath(vertices),
            "vertex_properties": None if vertex_properties is None else os.fspath(vertex_properties),
        }
        edges, losses = _esker.export_version(self._created(), os.fspath(file), selector(None, at), settings)
        for loss in losses:
            warnings.warn(f"{os.fspath(file)}: {loss}", EskerWarning, stacklevel=2)
        return edges

    # -- writing

    def batch(self, message: str = "", *, duplicates: Duplicates | None = None, event_time: EventTime = None) -> Batch:
        """Starts a batch of changes. They become one version when the ``with`` block ends; an exception discards all of them.

        Args:
            message: The message of the version.
            duplicates: What becomes of edges that exist or are given several times, as in :meth:`import_`; by default the rule of the
                database.
            event_time: When what the batch records happened, by default now, or required where earlier versions were given theirs.
                :meth:`graph` selects versions by it, so it must not be before that of an earlier version.
        """
        self._expect_writable()
        if not isinstance(message, str):
            raise MistypedError(f"message must be a string, not {type(message).__name__}")
        _esker.check_settings(build_settings(duplicates=duplicates, event_time=event_time), "always")
        time = event_time_text(event_time)
        if self._native is not None:
            self._native.expect_event_time(time)
        return Batch(self, message, duplicates, time)

    def stream(
        self,
        file: Path | None = None,
        *,
        commit_every: str | int | datetime.timedelta = "1s",
        follow: bool = False,
        from_start: bool = False,
        rate: float | None = None,
        replay: float | None = None,
        time: str | None = None,
        time_unit: Literal["s", "ms", "us", "ns"] | None = None,
        delay: str | int | datetime.timedelta | None = None,
        late: Literal["next", "refuse"] | Path = "next",
        op: str | int | None = None,
        expire: str | int | datetime.timedelta | None = None,
        duplicates: Duplicates | None = None,
        bad_lines: Literal["stop", "skip"] = "stop",
        rejects: Path | None = None,
        source: str | int | None = None,
        target: str | int | None = None,
        weight: str | int | bool | None = None,
        format: str | None = None,
        delimiter: str | None = None,
        header: bool | None = None,
    ) -> EdgeStream:
        """Starts a stream of edges, which a thread commits as they are handed over, or as it reads them from a file. It ends with the ``with``
        block, after a last commit, also of what was handed over before an exception.

        The event time of each version is the watermark: the time up to which all edges have come, if none comes later than the delay allows.
        An edge is late if its time is not after the watermark of an earlier version. In a new database, the types of the first edges become
        those of the database, whose version 1 is empty and of 1970.

        The end of the block waits until a file is read to its end; with ``follow`` it ends the reading. A file that is streamed again, also
        after a crash, is read on from the first edge that no version has.

        Args:
            file: The file to read; by default edges are handed over with :meth:`EdgeStream.add_edges`.
            commit_every: A time, such as ``"500ms"``, after which a version is made, or a number of edges.
            follow: Whether to wait at the end of the file for what will be appended to it.
            from_start: Whether to read the file from its start, also if versions have edges of it.
            rate: How many edges a second are taken at most.
            replay: Takes edges this many times as fast as they happened.
            time: The edge property that holds the times; by default the only one that can, but for the weight.
            time_unit: The unit of times that are numbers; guessed from the first if not given.
            delay: By how much edges may be out of order, such as ``"10s"``, or a number in the unit of the times.
            late: What becomes of late edges, which are always counted: the next version gets them, ``"refuse"`` ends the stream with an
                error, and a path, such as ``"late.csv"``, is a CSV file to which they are appended.
            op: The column that says what happens to the edge of each row, whatever the case: ``insert``, ``add``, ``i``, ``+``, ``create`` or
                ``c``; ``delete``, ``remove``, ``d`` or ``-``; ``update``, ``upsert``, ``u`` or ``replace``, where the rule for duplicates is
                ``"last"``. By default all rows add. A removal needs the ends alone, and the kind where edges have kinds. It removes all
                edges between the two vertices, or that of the kind, and one that finds none is counted (``not_found``).
            expire: Removes edges that are older than the latest by so much or more, such as ``"30d"``: whenever a sixteenth of it has passed, and
                at the end; by default at the age that :meth:`declare_stream` set.
            duplicates: What becomes of edges that exist or are given several times; by default the rule of the database.
            bad_lines: Malformed lines of the file, as for :meth:`import_`; so are ``source``, ``target``, ``weight``, ``format``,
                ``delimiter`` and ``header``.
            rejects: A CSV file to which the rows of the file are appended that cannot be read, each with its file, line and reason; the others
                are taken.

        >>> with db.stream(commit_every="500ms", delay="10s") as stream:
        ...     for table in tables:
        ...         stream.add_edges(table)
        >>> stream.report.edges
        >>> db.stream("today.csv", expire="30d").close()
        >>> db.stream("changes.csv", op="op").close()
        """
        self._expect_writable()
        columns = {"source": source, "target": target, "weight": weight, "format": format, "delimiter": delimiter, "header": header}
        return streaming(
            self,
            file,
            commit_every=commit_every,
            follow=follow,
            from_start=from_start,
            rate=rate,
            replay=replay,
            time=time,
            time_unit=time_unit,
            delay=delay,
            late=late,
            op=op,
            expire=expire,
            duplicates=duplicates,
            bad_lines=bad_lines,
            rejects=rejects,
            **columns,
        )

    def store(self, result: Result, name: str | None = None, *, column: str | None = None, message: str | None = None) -> int:
        """Makes a vertex property what a column of a result holds; returns the number of the version. Vertices without a value, such as those
        outside a window, lose the one that a property of this name has. Vertices that the newest version does not have are left out.

        Args:
            result: A result for a graph of this database.
            name: The name of the property; by default the name of the column.
            column: The column; by default the principal one.
            message: The message of the version.
        """
        if name is not None and not isinstance(name, str):
            raise MistypedError(f"name must be a string, not {name!r:.60}")
        if not isinstance(result, Result):
            raise MistypedError(f"store needs a result of an algorithm, not {type(result).__name__}")
        self._expect_own(result)
        if result._has_edges:
            raise UnsuitableError(f"the rows of {result.algorithm} are edges; only vertex properties can be stored")
        import numpy

        kept = result.column(column)
        values, missing = kept.to_numpy(), kept.is_missing()
        ids = result.ids()
        if kept.kind in ("index", "count"):
            if kept.kind == "count" and len(values) and int(values[~missing].max(initial=0)) >= 1 << 63:
                raise UnsuitableError("cannot store the column: a count exceeds 2^63 - 1")
            values = values.astype("int64")
        name = name or kept.name
        newest = self.graph()
        there = newest.ids()
        some = ~missing & numpy.isin(ids, there)
        with self.batch(message or f"{result.algorithm}: {name}") as batch:
            batch.set_vertices(ids[some], **{name: values[some]})
            if name in newest.vertex_properties:
                # Values of an earlier result of the same name.
                others = there[~numpy.isin(there, ids[some])]
                batch.set_vertices(others, **{name: [None] * len(others)})
        assert batch.version is not None
        return batch.version

    def _expect_own(self, result: Result) -> None:
        """Checks that a result is for a graph of this database."""
        if result.graph._owner != self._owner:
            of = result.graph._path or "a database in memory"
            raise UnsuitableError(
                f"the result is for a graph of {of}, not of {self.path}; store it there, or give its ids and values to set_vertices"
            )

    def tag(self, name: str, version: At = "latest") -> None:
        """Tags a version. Tagged versions are always retained. An existing tag is moved."""
        if not isinstance(name, str):
            raise MistypedError(f"the name of a tag must be a string, not {type(name).__name__}; write db.tag(name, version)")
        self._to_change().tag(name, selector(version, None) or "latest")

    def untag(self, name: str) -> None:
        """Deletes a tag."""
        if not isinstance(name, str):
            raise MistypedError(f"the name of a tag must be a string, not {type(name).__name__}")
        self._to_change().untag(name)

    def forget(self, version: At) -> None:
        """Forgets a version."""
        chosen = selector(version, None)
        if chosen is None:
            raise InvalidError("forget needs a version")
        self._to_change().forget(chosen)

    def retain(self, *, last: int | None = None, since: At = None) -> None:
        """Sets the retention: keep the ``last`` versions, versions ``since`` a time, or, without arguments, all versions."""
        if last is not None and since is not None:
            raise InvalidError("give last or since, not both")
        if last is not None and (isinstance(last, bool) or not hasattr(last, "__index__")):
            raise MistypedError(f"last must be an integer, not {type(last).__name__}")
        if last is not None and not 0 < last < 1 << 64:
            raise InvalidError(f"last must be at least 1, not {last}")
        self._to_change().retain(last, selector(since, None))

    def expire(
        self,
        age: str | int | datetime.timedelta | None = None,
        *,
        message: str | None = None,
        time: str | None = None,
        time_unit: Literal["s", "ms", "us", "ns"] | None = None,
        threads: int | None = None,
        memory: Memory = None,
        progress: Any = None,
    ) -> int:
        """Removes the edges that are older than the latest edge by ``age`` or more, as a new version; returns their number.

        What stays is the window of that length. Older versions keep their edges as long as they are retained, and the space is free after the
        merge that follows. The version has the event time of the one before, and its message says what was removed.

        Args:
            age: Such as ``"30d"``, or a number in the unit of the times. By default that of :meth:`declare_stream`.
            message: The message of the version instead.
            time: The edge property that holds the times. By default that of :meth:`declare_stream`, or the only one that can, but for the
                weight.
            time_unit: The unit of times that are numbers. By default guessed from the latest.
            threads: Worker threads. By default one for each processor.
            memory: The memory limit, in bytes or as ``"2GiB"``.
            progress: As for runs.
        """
        with _progress.listening(progress, "expire") as callback:
            settings = run_settings(threads=threads, memory=memory, progress=callback)
            length = None if age is None else length_text(age, "age")
            return _esker.expire(self._to_change(), length, (time, time_unit), message, settings)[1]

    @property
    def declared_stream(self) -> dict[str, Any] | None:
        """The stream that the database was declared to be: ``time``, ``time_unit``, ``delay`` and ``expire``. See :meth:`declare_stream`."""
        declared = _esker.declared_stream(self._created())
        return None if declared is None else dict(zip(("time", "time_unit", "delay", "expire"), declared))

    def declare_stream(
        self,
        *,
        time: str | None = None,
        time_unit: Literal["s", "ms", "us", "ns"] | None = None,
        delay: str | int | datetime.timedelta | Literal[False] | None = None,
        expire: str | int | datetime.timedelta | Literal[False] | None = None,
    ) -> None:
        """Declares the database a stream of timed edges; what is not given stays. The database keeps it for all processes. Windows and streams
        take the times from the edge property ``time``, in ``time_unit``. Edges may be out of order by ``delay``. Edges that are older than the
        latest by ``expire`` or more are removed by streams, :meth:`expire` and :meth:`compact`. ``False`` stands for no delay, and for edges that
        stay."""
        lengths = [
            "" if length is False else None if length is None else length_text(length, name)
            for length, name in ((delay, "delay"), (expire, "expire"))
        ]
        _esker.declare_stream(self._to_change(), time, time_unit, *lengths)

    @property
    def reading(self) -> dict[str, Any] | None:
        """How files are read, as the database remembers it of its import or of the first file that was added: ``format``, the columns
        ``source`` and ``target``, those of ``properties``, ``header``, ``delimiter`` and the like. A number is the place of a column without a
        name, from 1. :meth:`import_` and :meth:`stream` find the columns of later files by it; their arguments count for one call."""
        return json.loads(_esker.remembered(self._created())[0])

    def forget_reading(self) -> None:
        """Forgets :attr:`reading`: the columns of the next file that is added are found as in an import, and remembered."""
        _esker.forget_reading(self._to_change())

    def make_ids_texts(self, *, threads: int | None = None, memory: Memory = None, progress: ProgressOption = None) -> bool:
        """Makes integer ids texts, their digits, in all versions, so that later edges may have any text as ids. This writes all layers anew
        and is not undone. Returns whether the ids were integers. Graphs made before keep integers."""
        with _progress.listening(progress, "make_ids_texts") as callback:
            settings = run_settings(threads=threads, memory=memory, progress=callback)
            return _esker.make_ids_texts(self._to_change(), settings)

    @property
    def write_options(self) -> dict[str, Any]:
        """How commits become layers: ``copy``, ``freeze`` in bytes, and ``merge``. See :meth:`set_write_options`."""
        copy, freeze, merge = self._created().write_options()
        return {"copy": copy, "freeze": freeze, "merge": merge}

    def set_write_options(
        self,
        *,
        copy: Literal["mixed", "chain", "copy"] | None = None,
        freeze: Memory = None,
        merge: bool | None = None,
    ) -> None:
        """Sets how commits become layers; what is not given stays. The database keeps it for all processes that write to it. ``copy``: the
        changed lists that a new layer holds whole, ``mixed`` (short lists and the few longest), ``chain`` (none) or ``copy`` (all).
        ``freeze``: commits that take this much memory become a layer, in bytes or as ``"16MiB"``. ``merge``: whether layers are merged in
        the background after freezing."""
        if copy is not None and not isinstance(copy, str):
            raise MistypedError(f"copy must be a string, not {type(copy).__name__}")
        if merge is not None and not isinstance(merge, bool):
            raise MistypedError(f"merge must be True or False, not {merge!r}")
        self._to_change().set_write_options((copy, memory_bytes(freeze, "freeze"), merge))

    def compact(
        self,
        *,
        encoding: Literal["plain", "compressed", "tiles"] | None = None,
        only: bool = False,
        heads: int | bool = False,
        renumber: Literal["auto", "always", "never"] = "auto",
        threads: int | None = None,
        memory: Memory = None,
        progress: ProgressOption = None,
    ) -> dict[str, int]:
        """Merges all layers into one; all versions stay readable. Edges that reached the age of :meth:`declare_stream` are removed before, as a
        new version. ``encoding`` is the encoding of the merged layer, ``plain`` or ``compressed``,
        unchanged by default; both remove tiles, and ``tiles`` builds them. With ``only=True``, no
        lists are stored beside the tiles: that takes the least disk space, but single lists are decoded from tiles; the database stays so
        until ``plain`` or ``compressed`` brings lists back. ``heads`` stores neighbours of highest degree of each vertex, as many as
        given; ``True`` stores as many as the memory holds. Algorithms with ``residency="headed"`` then read them instead of all lists. A
        database with tiles or heads keeps them; groups of tiles in which no edge changed are copied. ``renumber`` says whether vertices that
        are removed in every version are left out for good, with their properties; the others get new numbers, in graphs made from then on.
        ``auto`` does so if they are more than one of eight and the memory is enough. Returns the layers and bytes before and
        after, the bytes that were written (all, those of tiles, those of heads), and the vertices left out. Of tiles, it has how many groups did not change (copied; some
        are shared with the old layer), how many were rebuilt, and their bytes. A warning says why heads were not kept: they
        need memory."""
        length = head_length(heads, only)
        with _progress.listening(progress, "compact") as callback:
            settings = run_settings(threads=threads, memory=memory, progress=callback)
            found, left_out = self._to_change().compact(encoding, only, length, renumber, settings)
        if left_out is not None:
            warnings.warn(left_out, EskerWarning, stacklevel=2)
        return dict(found)

    def define_edge_property(
        self, name: str, type: str = "f64", *, weight: bool = False, threads: int | None = None, progress: ProgressOption = None
    ) -> None:
        """Adds an edge property. ``type`` is ``text`` or a number type as shown by ``info`` (``i64``, ``f64`` and so on). Existing edges get 0 or the
        empty text, in all versions. With ``weight=True``, the property becomes the weight. This merges all layers.

        With the type ``edge-id``, where parallel edges are kept, the database gives edges ids that tell them apart, such as ``v7.2``. That is the version
        that added the edge, and its place among the edges between the same vertices that this version added. An id never changes. Edges that exist
        get ids, too, with version 0 if the database has had more versions than one. Do not give values of the property with new edges.

        >>> db.define_edge_property("edge_id", "edge-id")
        """
        for what, text in (("name", name), ("type", type)):
            if not isinstance(text, str):
                raise MistypedError(f"{what} must be a string, not {text!r:.60}")
        with _progress.listening(progress, "define") as callback:
            self._to_change().define(name, type, weight, run_settings(threads=threads, progress=callback))

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
        ids: Literal["auto", "int", "text"] = "auto",
        delimiter: str | None = None,
        header: bool | None = None,
        quotes: bool | None = None,
        vertices: Any = None,
        both_ends: bool = False,
        directed: bool | None = None,
        in_edges: bool = True,
        order: Order = "auto",
        encoding: Encoding | None = None,
        only: bool = False,
        heads: int | bool = False,
        duplicates: Duplicates | None = None,
        self_loops: Literal["keep", "drop"] = "keep",
        bad_lines: Literal["stop", "skip"] = "stop",
        rejects: Path | None = None,
        threads: int | None = None,
        memory: Memory = None,
        progress: ProgressOption = None,
        message: str = "",
        event_time: EventTime = None,
        batch_edges: int | None = None,
        schema: Mapping[str, str] | None = None,
        default: Mapping[str, Any] | None = None,
        kind: str | None = None,
        null: str | Iterable[str] | None = None,
        date_format: str | Mapping[str, str] | None = None,
        decimal_comma: bool | None = None,
        timezone: str | None = None,
    ) -> ImportReport:
        """Imports files; the format and the compression are detected. A new database is created by the import pipeline. Into a database with
        edges, the files are added as one commit, or as one commit per ``batch_edges`` edges.

        Args:
            files: A path, a pattern (``"part-*.csv"``), or several of them.
            source: Column of the source: a name from the header, or a number from 1.
            target: Column of the target.
            weight: Column of the weight; ``False`` ignores weights.
            time: Column of the time, stored as a property; ``False`` ignores times.
            properties: Other columns to store, or ``"all"``.
            format: The format, such as ``csv``, ``parquet`` or ``mtx``; by default detected from the file extension and the content.
            ids: The type of ids: ``int``, ``text``, or ``auto``.
            delimiter: The character between columns of a CSV.
            header: Whether the first line of a CSV contains the column names.
            quotes: Whether ``"`` quotes fields.
            vertices: Vertices, which need not have edges, and their properties, in the same commit: a file of ids, one per line, or a
                table in a file; a table of pandas, Polars, Arrow or DuckDB, or columns by name, as for :meth:`Batch.set_vertices`, where
                the last row of a vertex holds; or a number n: the vertices are 0 to n - 1.
            both_ends: Whether the files have each undirected edge twice, in both directions, as ``export(..., both_ends=True)`` writes it.
            directed: Whether edges are directed; by default as the format says, else directed.
            in_edges: Whether to store lists of in-edges.
            order: Internal numbering of the vertices: ``auto``, ``keep`` or ``degree``.
            encoding: How a new database stores the graph: ``plain`` (fastest), ``compressed`` (smallest lists) or ``tiles``, as for
                :func:`esker.create`, as are ``only`` and ``heads``.
            only: Whether tiles are stored instead of lists.
            heads: The length of heads to store; ``True`` for as long as the memory holds.
            duplicates: What becomes of edges given more than once: ``last``, the default of a new database, keeps the last, which replaces
                those before it. ``first`` keeps the first, ``keep`` all, ``sum`` one with the sum of the weights, ``min`` and ``max`` one with
                the smallest or largest weight; ``error`` raises an exception; ``rows`` keeps one of the rows with the same values, and other
                parallel edges. The rule of a new database holds for later changes, too.
            self_loops: ``keep`` or ``drop``.
            bad_lines: Malformed lines: ``stop`` raises an exception, ``skip`` skips them.
            rejects: A CSV file to write that gets the rows that cannot be read, each with its file, line and reason; the others are taken.
            threads: Number of worker threads; by default one per processor.
            memory: Memory limit of the import, such as ``"2GiB"``; by default 4 GiB.
            progress: ``True`` shows a progress bar; a callable is called with a :class:`Progress`.
            message: The message of the version.
            event_time: When what the edges record happened, as in :meth:`batch`.
            batch_edges: Number of edges per commit, when adding to a database with edges.
            schema: The types of properties by name, as for :func:`esker.create`; a column that is declared becomes a property.
            kind: Column of the kinds of edges, texts. Edges of different kinds stay beside each other; ``duplicates`` applies to those of one
                kind.
            default: Values of properties by name for edges that have none.
            null: A word, or several, that stand for no value in every column of a table of text, as an empty field does.
            date_format: The format of dates in a table, in the words of ``strptime``, such as ``"%d.%m.%Y"``, or formats by column.
            decimal_comma: Whether numbers of a table have a decimal comma, as in ``1.234,56``; None as the database remembers it, else False.
            timezone: The zone of times without an offset in a table, such as ``"Europe/Berlin"``.

        Raises:
            InputError: A line is malformed; the message gives the file, the line and a remedy.
        """
        self._expect_writable()
        if not isinstance(files, (str, bytes, os.PathLike)) and not hasattr(files, "__iter__"):
            raise MistypedError(f"expected a path or several paths, got {type(files).__name__}")
        inputs = [path_text(one) for one in ([files] if isinstance(files, (str, bytes, os.PathLike)) else files)]
        for one in inputs:
            if one != "-" and not any(c in one for c in "*?[") and not os.path.exists(one):
                raise NotFoundError(f"{one} does not exist; check the path")
        new = self._new or {}
        only = only or (encoding is None and new.get("only", False))
        length = head_length(heads, only)
        if weight is None:
            weight = new.get("weight")
        if both_ends and (new.get("directed") if directed is None else directed):
            raise InvalidError("both_ends has no effect on directed edges: each row is an edge of its own; leave it out")
        count = new.get("num_vertices")
        if count is not None and vertices is not None:
            raise InvalidError(f"the database was created with num_vertices={count}; leave out vertices={vertices!r:.60}, or num_vertices")
        vertices = count if vertices is None else vertices
        kind = kind or new.get("kind")
        schema = {**(new.get("schema") or {}), **({} if kind is None else {kind: "text"}), **dict(schema_items(schema))}
        read = read_settings(
            format,
            source,
            target,
            weight,
            time,
            properties,
            ids,
            delimiter,
            header,
            quotes,
            vertices,
            schema,
            both_ends,
            default,
            date_format,
            decimal_comma,
            timezone,
            null,
        )
        with _progress.listening(progress if progress is not None else new.get("progress"), "import") as callback:
            settings = build_settings(
                directed=new.get("directed") if directed is None else directed,
                in_edges=in_edges and new.get("in_edges", True),
                order=order if order != "auto" else new.get("order", "auto"),
                encoding=encoding or new.get("encoding", "plain"),
                only=only,
                duplicates=duplicates or new.get("duplicates"),
                kind=kind,
                self_loops=self_loops,
                bad_lines=bad_lines,
                rejects=None if rejects is None else path_text(rejects),
                threads=threads if threads is not None else new.get("threads"),
                memory=memory if memory is not None else new.get("memory"),
                message=message,
                event_time=event_time,
                progress=callback,
            )
            if self._native is None:
                text, created = _esker.import_files(inputs, self._path, read, settings, bool(new.get("replace")))
                self._adopt(created, new.get("heads") if length is None else length)
            else:
                self._expect_in_place()
                before = self.graph()
                self._expect_no_layout(before, directed, in_edges, order, encoding, only, length, kind)
                report = json.loads(self._native.feed(inputs, read, settings, message, batch_edges, False))
                # What the changes made of the graph, as in the report of a new database.
                report.update(vertices=self.graph().num_vertices - before.num_vertices, edges=report["rows"])
                text = json.dumps(report)
        return read_report(text, settings["duplicates"], self._native.rule())

    def sync(
        self,
        edges: Any,
        *,
        keep_vertices: bool = False,
        allow_empty: bool = False,
        dry_run: bool = False,
        message: str = "",
        event_time: EventTime = None,
        source: str | int | None = None,
        target: str | int | None = None,
        weight: str | int | bool | None = None,
        format: str | None = None,
        delimiter: str | None = None,
        header: bool | None = None,
        quotes: bool | None = None,
        vertices: Any = None,
        both_ends: bool = False,
        null: str | Iterable[str] | None = None,
        default: Mapping[str, Any] | None = None,
        date_format: str | Mapping[str, str] | None = None,
        decimal_comma: bool | None = None,
        timezone: str | None = None,
        bad_lines: Literal["stop", "skip"] = "stop",
        rejects: Path | None = None,
        threads: int | None = None,
        progress: ProgressOption = None,
    ) -> SyncReport:
        """Makes the newest version equal to files or a table of all edges, in one commit: for snapshots, such as one of each day.

        Afterwards the graph has the edges and the vertices that an import of them into a new database would have. Edges that are not among
        them are removed, those with other values get them, the rest is added; so vertices that no edge names are removed, with their properties.
        Files are read as :meth:`import_` reads them into a database with edges: with the columns that the database remembers, and by
        its rule for duplicates. Where edges are parallel, those with the same values are the same ones. If nothing has changed, there is no
        new version.

        Args:
            edges: A path, several, or a pattern; or edges as for :meth:`Batch.add_edges`: a table, a graph, a matrix, tuples, or a pair of columns.
            keep_vertices: Whether vertices stay that no edge names.
            allow_empty: Whether an input without edges may remove all edges.
            dry_run: Whether to count the changes and commit nothing.
            message: The message of the version.
            event_time: When what changed happened, as in :meth:`batch`.
            source: Column of the source in files, as are ``target`` and ``weight``; of a table, ``weight`` names the weight.
            target: Column of the target.
            weight: Column of the weight.
            format: The format of the files, by default detected; ``delimiter``, ``header``, ``quotes``, ``both_ends``, ``null``, ``default``,
                ``date_format``, ``decimal_comma`` and ``timezone`` are those of :meth:`import_`.
            delimiter: The character between columns of a CSV.
            header: Whether the first line of a CSV contains the column names.
            quotes: Whether ``"`` quotes fields.
            vertices: Vertices, which need not have edges, and their properties: a file, a table as for :meth:`import_`, or, beside files, a
                number n: the vertices are 0 to n - 1.
            both_ends: Whether the files have each undirected edge twice.
            null: Words that stand for no value.
            default: Values of properties by name for edges that have none.
            date_format: The format of dates.
            decimal_comma: Whether numbers have a decimal comma.
            timezone: The zone of times without an offset.
            bad_lines: Malformed lines: ``stop`` raises an exception, ``skip`` skips them, and their edges are removed.
            rejects: A CSV file to write that gets the rows that cannot be read, as for :meth:`import_`; their edges are removed.
            threads: Number of worker threads.
            progress: As for :meth:`import_`.

        >>> db.sync("today.csv", message="monday")
        """
        self._expect_writable()
        return synced(
            self,
            edges,
            flags={"keep_vertices": keep_vertices, "allow_empty": allow_empty, "dry_run": dry_run},
            columns={
                "source": source,
                "target": target,
                "weight": weight,
                "format": format,
                "delimiter": delimiter,
                "header": header,
                "quotes": quotes,
                "vertices": vertices,
                "both_ends": both_ends,
                "null": null,
                "default": default,
                "date_format": date_format,
                "decimal_comma": decimal_comma,
                "timezone": timezone,
            },
            bad_lines=bad_lines,
            rejects=rejects,
            message=message,
            event_time=event_time,
            threads=threads,
            progress=progress,
        )

    def _expect_no_layout(
        self, graph: Graph, directed: bool | None, in_edges: bool, order: str, encoding: str | None, only: bool, heads: int | None,
        kind: str | None,
    ) -> None:
        """Refuses arguments that only a new database can follow."""
        if directed not in (None, graph.directed):
            raise InvalidError(f"{self.path} is {'directed' if graph.directed else 'undirected'}; leave out directed={directed}")
        for given, what in (
            (not in_edges, "in_edges=False"),
            (order != "auto", f"order={order!r}"),
            (encoding is not None, f"encoding={encoding!r}"),
            (only, "only=True"),
            (heads is not None, "heads"),
            (kind is not None, f"kind={kind!r}"),
        ):
            if given:
                raise InvalidError(f"{what} has no effect on a database with edges; leave it out (compact() changes the encoding)")

    def _create(
        self,
        edges: _columns.Edges,
        message: str = "",
        progress: Any = None,
        duplicates: Duplicates | None = None,
        event_time: str | None = None,
        table: _columns.VertexTable | None = None,
    ) -> ImportReport:
        """Creates the database from its first edges, and a table of vertices."""
        new = self._new or {}
        directed = new.get("directed")
        if directed is None:
            directed = edges.directed
        expected = new.get("weight")
        if not len(edges.source) and not edges.properties:
            # What was declared holds for later edges.
            names = {**dict(schema_items(new.get("schema"))), **({} if expected is None else {expected: None})}
            weight = expected if expected is not None else "weight" if "weight" in names else None
            edges = edges._replace(properties=[(name, _columns.column([], name)) for name in names], weight=weight)
        if expected is not None and edges.weight is None and len(edges.source) and expected not in dict(edges.properties):
            raise InvalidError(f"the database was created with weight={expected!r}, but the edges have no such property")
        settings = build_settings(
            directed=directed,
            in_edges=new.get("in_edges", True),
            order=new.get("order", "auto"),
            encoding=new.get("encoding", "plain"),
            only=new.get("only", False),
            duplicates=duplicates or new.get("duplicates"),
            kind=new.get("kind"),
            event_time=event_time,
            threads=new.get("threads"),
            memory=new.get("memory"),
            message=message,
            progress=progress,
        )
        count = new.get("num_vertices")
        if edges.num_vertices is not None:
            if count is not None and count < edges.num_vertices:
                raise InvalidError(f"num_vertices is {count}, but the matrix has {counted(edges.num_vertices, 'row')}")
            count = edges.num_vertices if count is None else count
        text, created = _esker.import_columns(
            edges.source,
            edges.target,
            edges.properties,
            edges.vertices,
            table,
            edges.weight,
            count,
            schema_items(new.get("schema")),
            self._path,
            settings,
            bool(new.get("replace")),
        )
        self._adopt(created, new.get("heads"))
        return read_report(text, settings["duplicates"], self._native.rule())

    def _undo_creation(self, new: dict[str, Any]) -> None:
        """Deletes a database created by a failed batch, unless it has further versions."""
        if self._native is None or len(json.loads(self._native.versions())) > 1:
            return
        self._native.close()
        if self._path is not None:
            shutil.rmtree(self._path)
        self._native, self._new, self._owner = None, new, None

    def _adopt(self, created: Any, heads: int | None) -> None:
        """Takes over a database created in memory, or opens the one created on disk; stores heads of this length."""
        new = self._new or {}
        if created is None:
            reading = {"threads": new.get("threads"), "memory": new.get("memory"), "scratch": new.get("scratch", True)}
            created = open_native(self._path, True, new.get("sync", "always"), reading)
        self._native, self._new = created, None
        self._owner = _owner_of(self._path, self)
        if heads is not None:
            created.compact(None, False, heads, "never", run_settings(threads=new.get("threads"), memory=new.get("memory")))


@contextlib.contextmanager
def log_settings(reading: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The settings for reading the commits in the log, as the native half takes them."""
    with _progress.listening(reading.get("progress"), "reading the log") as callback:
        yield run_settings(reading.get("threads"), reading.get("memory"), progress=callback)


def open_native(path: str, writable: bool, sync: str, reading: Mapping[str, Any]) -> Any:
    """Opens a database in the native half."""
    with log_settings(reading) as settings:
        return _esker.open(path, writable, sync, reading.get("scratch", True), settings)


def _owner_of(path: str | None, handle: Database) -> Any:
    """What identifies a database: its directory, also if it moves to another path; the handle if it is in memory; ``None`` if there is none."""
    if path is None:
        return id(handle), handle
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
