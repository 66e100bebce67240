"""Opening and creating databases."""

from __future__ import annotations

import json
import os
from typing import Any, Iterable, Literal, Mapping, overload

from . import _columns, _esker, _progress
from ._database import Database, open_native
from ._errors import ExistsError, InvalidError, MistypedError
from ._graph import Graph, Makers
from ._reports import LOG, Backup, Recovery
from ._selectors import Path, database_path, expect_path_exists, schema_items
from ._settings import Duplicates, Encoding, Memory, Order, ProgressOption, Sync, build_settings, head_length, run_settings, thread_count


def open(
    path: Path,
    mode: Literal["r", "rw"] = "r",
    *,
    sync: Sync = "always",
    threads: int | None = None,
    memory: Memory = None,
    scratch: bool = True,
    progress: ProgressOption = None,
) -> Database:
    """Opens a database.

    Commits that a writer left in the log, because it was killed, are read once: by a writer now, by a reader when a graph first needs
    them. That takes time and memory in proportion to their edges.

    Args:
        path: The directory of the database.
        mode: ``"r"`` for reading, ``"rw"`` for reading and writing. Only one process at a time can write.
        sync: When commits are synced to disk: ``"always"`` before they return, ``"interval"`` within 100 ms, ``"never"`` left to the
            operating system.
        threads: Threads for background work.
        memory: Memory limit, such as ``"2GiB"``, for the commits in the log and, for a writer, for the commits to come.
        scratch: Whether a commit of a writer that exceeds ``memory`` lies in a scratch file in the database until it is written, which is
            slower; otherwise it is refused.
        progress: Progress of reading the log.

    Raises:
        MemoryLimitError: The commits in the log do not fit into ``memory``; a reader raises it at the first :meth:`Database.graph`, a writer
            now if ``scratch`` is False or there is no room for a scratch file.
        NotFoundError: ``path`` does not exist.
        InvalidError: ``path`` is not a database.
        LockedError: Another process, or another handle of this one, has it open for writing.
    """
    if mode not in ("r", "rw"):
        raise InvalidError(f"mode must be 'r' or 'rw', not {mode!r}")
    name = database_path(path)
    expect_path_exists(name)
    if not isinstance(scratch, bool):
        raise MistypedError(f"scratch must be True or False, not {scratch!r}")
    reading = {"threads": threads, "memory": memory, "scratch": scratch, "progress": progress}
    return Database(open_native(name, mode == "rw", sync, reading), name, reading=reading)


def recover(path: Path, *, accept_loss: bool = False) -> Recovery:
    """Says what a database has lost: its log or manifest may be missing, cut, or older than the rest.

    Args:
        path: The directory of the database.
        accept_loss: Give up what is missing and keep the rest. The numbers of lost versions are not used again.

    Raises:
        NotFoundError: ``path`` does not exist.
        InvalidError: ``path`` is not a database.
        LockedError: Another process has it open for writing.
    """
    name = database_path(path)
    expect_path_exists(name)
    found = json.loads(_esker.recover(name, accept_loss))
    lost = found["lost"] and (found["lost"][0], found["lost"][1])
    return Recovery(found["problem"], found["newest"], lost, found["lost_records"])


def restore(
    backup: Path,
    path: Path,
    *,
    replace: bool = False,
    apart: bool = False,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Backup:
    """Makes a database of a backup that :meth:`Database.backup` made, and verifies every file. The backup stays as it is.

    Args:
        backup: The directory of the backup, or of any database.
        path: The directory of the database to make.
        replace: Replace the database if there is one.
        apart: Copy all files, instead of sharing those that never change with the backup on the disk.
        threads: Threads that verify.
        progress: Progress.

    Raises:
        NotFoundError: ``backup`` does not exist.
        ExistsError: ``path`` exists.
        CorruptError: The backup is damaged.
    """
    for flag, value in (("replace", replace), ("apart", apart)):
        if not isinstance(value, bool):
            raise MistypedError(f"{flag} must be True or False, not {value!r:.60}")
    name, target = database_path(backup), database_path(path)
    expect_path_exists(name)
    if os.path.lexists(target) and not replace:
        raise ExistsError(f"{target} already exists; give another path, or pass replace=True")
    with _progress.listening(progress, "restore") as callback:
        settings = run_settings(threads=threads, progress=callback)
        return Backup(**json.loads(_esker.restore_backup(name, target, replace, apart, settings)))


def create(
    path: Path | None = None,
    *,
    directed: bool = True,
    in_edges: bool = True,
    multigraph: bool = False,
    duplicates: Duplicates | None = None,
    order: Order = "auto",
    encoding: Encoding = "plain",
    only: bool = False,
    heads: int | bool = False,
    weight: str | None = None,
    num_vertices: int | None = None,
    schema: Mapping[str, str] | None = None,
    replace: bool = False,
    sync: Sync = "always",
    threads: int | None = None,
    memory: Memory = None,
    scratch: bool = True,
    progress: ProgressOption = None,
    kind: str | None = None,
) -> Database:
    """Creates a database and opens it for writing.

    The first edges, from :meth:`Database.import_` or the first ``add_edges`` of a batch, go through the import pipeline. They determine
    the type of ids (integers or text) and the edge properties. If vertices are added before, or the graph is read, edges have only the properties
    of ``schema``, and those that :meth:`Database.define_edge_property` adds.

    Args:
        path: The directory to create; if not given, the database is in memory.
        directed: Whether edges are directed.
        in_edges: Whether to store lists of in-edges.
        multigraph: Whether to keep parallel edges: short for ``duplicates="keep"``.
        duplicates: What becomes of edges that exist or are given several times, now and in later changes, as in :meth:`Database.import_`;
            by default the last is kept.
        order: Internal numbering of the vertices: ``auto``, ``keep`` or ``degree``.
        encoding: Encoding of the lists: ``plain`` (fastest) or ``compressed`` (smallest). ``tiles`` stores tiles beside plain lists, for
            algorithms that go through the whole graph.
        only: Whether tiles are stored instead of lists: the least disk space, but single lists are decoded from tiles.
        heads: Stores this number of neighbours of highest degree of each vertex, or as many as the memory holds if True. Algorithms with
            ``residency="headed"`` read them instead of all lists. If there is no memory for them, the database has none.
        weight: The name of the edge property that is the weight; by default ``weight``, if the edges have it.
        num_vertices: The number of vertices, with ids ``0..num_vertices``; they need not have edges.
        schema: The types of edge properties by name, such as ``{"since": "date"}``: ``text``, ``bool``, ``date``, ``timestamp[us]`` or
            ``timestamp[us, UTC]`` with the unit ``s``, ``ms``, ``us`` or ``ns`` and the zone, or a number type such as ``i64``. The first
            edges must have these properties and values of these types. The types of others are those of the values.
        replace: Whether to replace an existing database.
        sync: As in :func:`esker.open`.
        threads: Threads of the import.
        memory: Memory limit of the import and of later commits, such as ``"2GiB"``.
        scratch: As in :func:`esker.open`.
        progress: Progress of the import.
        kind: The edge property of texts that is the kind of an edge, as in :meth:`Database.import_`.
    """
    name = None if path is None else database_path(path)
    if name is not None and os.path.lexists(name) and not replace:
        raise ExistsError(f"{name} already exists; open it, give another path, or pass replace=True")
    if num_vertices is not None and (isinstance(num_vertices, bool) or not hasattr(num_vertices, "__index__") or num_vertices < 0):
        raise InvalidError(f"num_vertices must be a non-negative integer, not {num_vertices!r}")
    if not isinstance(multigraph, bool):
        raise MistypedError(f"multigraph must be True or False, not {multigraph!r}")
    if not isinstance(scratch, bool):
        raise MistypedError(f"scratch must be True or False, not {scratch!r}")
    rule = _rule(multigraph, duplicates)
    new = {
        "directed": directed,
        "in_edges": in_edges,
        "duplicates": rule,
        "order": order,
        "encoding": encoding,
        "only": only,
        "heads": head_length(heads, only),
        "weight": weight,
        "num_vertices": num_vertices,
        "schema": {**({} if kind is None else {kind: "text"}), **dict(schema_items(schema))},
        "kind": kind,
        "replace": replace,
        "sync": sync,
        "threads": threads,
        "memory": memory,
        "scratch": scratch,
        "progress": progress,
    }
    if weight is not None and not isinstance(weight, str):
        raise MistypedError(f"weight must be the name of a property, not {type(weight).__name__}")
    checked = build_settings(directed=directed, in_edges=in_edges, duplicates=rule, kind=kind, order=order, encoding=encoding, only=only, threads=threads, memory=memory)
    _esker.check_settings(checked, sync)
    return Database(None, name, new)


def _rule(multigraph: bool | None, duplicates: Duplicates | None) -> Duplicates | None:
    """The rule for duplicates, of two arguments that must agree."""
    if duplicates is not None and multigraph and duplicates != "keep":
        raise InvalidError(f"a multigraph keeps parallel edges; leave out multigraph=True or duplicates={duplicates!r}")
    return "keep" if multigraph else duplicates


@overload
def from_edges(
    edges: Any,
    /,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | Literal[False] | None = None,
    directed: bool | None = None,
    multigraph: bool | None = None,
    duplicates: Duplicates | None = None,
    in_edges: bool = True,
    order: Order = "auto",
    encoding: Encoding = "plain",
    num_vertices: int | None = None,
    vertices: Any = None,
    schema: Mapping[str, str] | None = None,
    threads: int | None = None,
    memory: Memory = None,
    progress: ProgressOption = None,
    kind: str | None = None,
) -> Graph: ...
@overload
def from_edges(
    source: Any,
    target: Any,
    *,
    weight: Iterable[float] | None = None,
    properties: Mapping[str, Any] | None = None,
    directed: bool | None = None,
    multigraph: bool | None = None,
    duplicates: Duplicates | None = None,
    in_edges: bool = True,
    order: Order = "auto",
    encoding: Encoding = "plain",
    num_vertices: int | None = None,
    vertices: Any = None,
    schema: Mapping[str, str] | None = None,
    threads: int | None = None,
    memory: Memory = None,
    progress: ProgressOption = None,
    kind: str | None = None,
) -> Graph: ...
def from_edges(
    edges: Any = None,
    others: Any = None,
    /,
    *,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    properties: Mapping[str, Any] | None = None,
    directed: bool | None = None,
    multigraph: bool | None = None,
    duplicates: Duplicates | None = None,
    in_edges: bool = True,
    order: Order = "auto",
    encoding: Encoding = "plain",
    num_vertices: int | None = None,
    vertices: Any = None,
    schema: Mapping[str, str] | None = None,
    threads: int | None = None,
    memory: Memory = None,
    progress: ProgressOption = None,
    kind: str | None = None,
) -> Graph:
    """Makes a graph in memory from edges, given as for :meth:`Batch.add_edges`, with the options of :func:`esker.create`.
    ``vertices`` are the ids of vertices that need no edges, or a table with their properties, as for :meth:`Batch.set_vertices`. In a table of edges,
    ``source`` and ``target`` name the columns of the ends where they are called otherwise.

    >>> g = esker.from_edges(payments, source="payer", target="payee", vertices=accounts)
    >>> g = esker.from_edges([0, 1, 0], [1, 2, 1], properties={"medium": ["mail", "call", "call"]}, kind="medium")
    >>> g = esker.from_edges(table, weight="cost")
    >>> g = esker.from_edges(scipy_matrix, directed=False)
    """
    for name, value in (("directed", directed), ("multigraph", multigraph)):
        if value is not None and not isinstance(value, bool):
            raise MistypedError(f"{name} must be True or False, not {value!r}")
    (given, other), named = _ends(edges, others, source, target)
    edges = _columns.edges(given, other, properties, weight, directed=directed, duplicates=duplicates, ends=named)
    if directed is None:
        directed = edges.directed if edges.directed is not None else True
    if multigraph is False and duplicates is None:
        duplicates = "last"
    database = create(
        None,
        directed=directed,
        multigraph=edges.multigraph if multigraph is None and duplicates is None else bool(multigraph),
        duplicates=duplicates,
        in_edges=in_edges,
        order=order,
        encoding=encoding,
        num_vertices=num_vertices,
        schema=schema,
        threads=threads,
        memory=memory,
        progress=progress,
        kind=kind,
    )
    if vertices is not None and (edges.vertices is not None or edges.num_vertices is not None):
        raise InvalidError(f"a {type(given).__name__} says itself which vertices there are; leave out vertices")
    with database.batch() as batch:
        batch._first = edges
        if vertices is not None:
            batch._change_vertices(*_columns.of_vertices(vertices, "vertices"))
    return database.graph()


def _ends(edges: Any, others: Any, source: Any, target: Any) -> tuple[tuple[Any, Any], tuple[str, str] | None]:
    """The columns of both ends, or a table and the names of its columns of ends, if they are named."""
    if edges is None:
        return (source, target), None
    if others is None and target is not None and not isinstance(target, str):
        others, target = target, None
    if source is None and target is None:
        return (edges, others), None
    for name, value in (("source", source), ("target", target)):
        if not isinstance(value, str):
            raise MistypedError(f"source and target name the columns of a table together, but {name} is {value!r:.60}")
    if others is not None:
        raise InvalidError("source and target name columns of a table; leave them out where the columns themselves are given")
    return (edges, None), (source, target)


def import_(files: Path | Iterable[Path], path: Path | None = None, *, replace: bool = False, **options: Any) -> Database:
    """Imports files into a new database at ``path``, or in memory, and opens it for writing. ``options`` are the options of
    :meth:`Database.import_`. The report is logged and stored in ``database.report``."""
    database = create(path, replace=replace)
    assert database._new is not None
    database._new["directed"] = None
    report = database.import_(files, **options)
    database.report = report  # type: ignore[attr-defined]
    LOG.info("%r", report)
    return database


def rebuilt(settings: dict[str, Any], ids: Any, source: Any, target: Any, properties: Mapping[str, Any], values: dict[str, Any]) -> Graph:
    """A graph in memory from its edges, and from the values of its vertices."""
    weight = settings["weight"] if settings["weight"] in properties else None
    schema = {name: kind for name, kind in settings["schema"].items() if name in properties}
    kinds = settings["vertex_schema"]
    settings = {name: value for name, value in settings.items() if name != "vertex_schema"}
    database = create(None, **{**settings, "weight": weight, "schema": schema})
    others = {name: _columns.column(column, name, schema[name]) for name, column in properties.items() if name != weight}
    with database.batch() as batch:
        batch.add_edges(source, target, weight=properties.get(weight) if weight is not None else None, properties=others)
        batch._first = None if batch._first is None else batch._first._replace(vertices=_columns.column(ids, "ids"))
    if values:
        with database.batch() as batch:
            typed = {name: _columns.column(column, name, kinds.get(name)) for name, column in values.items() if column.ndim == 1}
            batch.set_vertices(ids, **{name: typed.get(name, column) for name, column in values.items()})
    return database.graph()


def reopened(path: str, version: int) -> Graph:
    """A version of the database at ``path``."""
    return open(path).graph(version=version)


Graph._makers = Makers(reopened, rebuilt)
