"""Databases that become equal to files and tables: :meth:`Database.sync`."""

from __future__ import annotations

import json
import logging
import os
import warnings
from typing import TYPE_CHECKING, Any

from . import _columns, _esker, _progress
from ._counted import counted
from ._errors import EskerWarning, InvalidError, MistypedError, NotFoundError
from ._reports import SyncReport
from ._selectors import names_vertices, path_text, read_settings
from ._settings import build_settings

if TYPE_CHECKING:
    from ._database import Database

LOG = logging.getLogger("esker")


def paths_of(edges: Any) -> list[str] | None:
    """The paths, if that is what is given; ``None`` for a table, a graph or columns."""
    if isinstance(edges, (str, bytes, os.PathLike)):
        return [path_text(edges)]
    if isinstance(edges, (list, tuple)) and edges and all(isinstance(one, (str, bytes, os.PathLike)) for one in edges):
        return [path_text(one) for one in edges]
    return None


def synced(
    database: Database,
    edges: Any,
    *,
    flags: dict[str, bool],
    columns: dict[str, Any],
    bad_lines: str,
    rejects: Any,
    message: str,
    event_time: Any,
    threads: int | None,
    progress: Any,
) -> SyncReport:
    """Makes the newest version equal to files, if paths are given, or to a table."""
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise MistypedError(f"{name} must be True or False, not {flag!r}")
    if not isinstance(message, str):
        raise MistypedError(f"message must be a string, not {message!r:.60}")
    if database._native is None:
        raise InvalidError(f"{database.path} has no edges yet, which decide its ids and properties: use import_, or a batch, for the first ones")
    files = paths_of(edges)
    native, chosen = database._to_change(), (flags["keep_vertices"], flags["allow_empty"], flags["dry_run"])
    with _progress.listening(progress, "sync") as callback:
        kept = None if rejects is None else path_text(rejects)
        build = build_settings(bad_lines=bad_lines, rejects=kept, threads=threads, event_time=event_time, progress=callback)
        if files is None:
            if rejects is not None:
                raise InvalidError("rejects says what becomes of rows of files that cannot be read; leave it out for tables")
            table = columns.pop("vertices")
            if table is not None and names_vertices(table):
                raise InvalidError("vertices is a file or a number, which belongs to files; give a table of vertices beside a table of edges")
            given = [name for name, value in columns.items() if value not in (None, False) and name != "weight"]
            if given:
                raise InvalidError(f"{given[0]} says how to read files, not tables; leave it out")
            source, target, properties, vertices = _as_columns(database, edges, columns["weight"])
            beside = None if table is None else _columns.table_of_vertices(table, "vertices")
            text = _esker.sync_columns(native, source, target, properties, vertices, beside, build, message or "sync", chosen)
        else:
            for one in files:
                if one != "-" and not any(sign in one for sign in "*?[") and not os.path.exists(one):
                    raise NotFoundError(f"{one} does not exist; check the path")
            if columns["weight"] is False:
                raise InvalidError("weight=False has no effect: the weight of the database is read where the files have it; leave it out")
            read = read_settings(time=None, properties=None, ids="auto", schema=None, **columns)
            text = _esker.sync_files(native, files, read, build, message or f"sync {' '.join(map(os.path.basename, files))}", chosen)
    return _report(text, rejects is not None)


def _as_columns(database: Database, edges: Any, weight: Any) -> tuple[Any, Any, list[tuple[str, Any]], Any]:
    """The columns of a table, a graph, tuples or a pair of columns, by the names of the properties in the database."""
    if isinstance(edges, tuple) and len(edges) == 2 and not any(isinstance(one, tuple) for one in edges):
        ends = edges
    else:
        ends = (edges, None)
    with_batch = database.batch()
    try:
        found = with_batch._read(ends[0], ends[1], None, weight)
        properties = with_batch._fitting(found, True)
    finally:
        with_batch.close()
    vertices = found.vertices
    if vertices is None and found.num_vertices is not None:
        import numpy

        vertices = _columns.column(numpy.arange(found.num_vertices), "vertices")
    return found.source, found.target, properties, vertices


def _report(text: str, kept: bool) -> SyncReport:
    found = json.loads(text)
    for note in found["notes"]:
        LOG.info("%s", note)
    if found["rejected"] and not kept:
        first = found["rejected_sample"][0]
        told = f"skipped {counted(found['rejected'], 'malformed line')}, the first at {first['path']}:{first['line']}: {first['reason']}"
        warnings.warn(told, EskerWarning, stacklevel=4)
    for told in found["warnings"]:
        warnings.warn(told, EskerWarning, stacklevel=4)
    return SyncReport(version=found["version"], **found["changes"], rows=found["rows"], rejected=found["rejected"])
