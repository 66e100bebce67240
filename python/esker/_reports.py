"""Versions, reports of imports, and differences between versions."""

from __future__ import annotations

import datetime
import json
import logging
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _html
from ._counted import counted
from ._errors import EskerWarning
from ._esker import DifferenceStream

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

LOG = logging.getLogger("esker")


class Version(NamedTuple):
    """A version of a database."""

    number: int
    time: datetime.datetime
    """The event time, in UTC: that given with ``event_time``, else the time of the commit. ``at`` selects by it."""
    message: str
    vertices: int
    """Number of vertices, including removed ones."""
    edges: int | None
    """Number of edges; ``None`` while the commit is only in the log (use ``db.graph(number).num_edges``)."""
    tags: tuple[str, ...] = ()
    committed: datetime.datetime | None = None
    """Time of the commit, in UTC."""


class Versions(list):  # type: ignore[type-arg]
    """The versions of a database, oldest first: a list of :class:`Version`."""

    def _repr_html_(self) -> str:
        head = ("version", "time", "vertices", "edges", "tags", "message")
        rows = [(one.number, f"{one.time:%Y-%m-%d %H:%M:%S}", one.vertices, one.edges, ", ".join(one.tags), one.message) for one in self]
        return _html.table(f"{counted(len(self), 'version')}", head, rows[::-1])


class ImportReport(dict):  # type: ignore[type-arg]
    """Report of an import, with items also available as attributes: ``rows`` read, ``vertices`` and ``edges`` stored, ``duplicates`` and
    ``self_loops`` left out, ``rejected`` lines with a ``rejected_sample``, ``warnings``, ``seconds``, and seconds by ``stages``."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self) -> str:
        counts = ("rows", "vertices", "edges", "duplicates", "self_loops", "rejected")
        shown = [f"{name}={self[name]:,}" for name in counts if name in self]
        return f"<esker.ImportReport: {', '.join(shown)}, {self['seconds']:.3g} s>"


class DifferenceTable:
    """Changes of edges, or of vertices, between two versions. Each reading compares the versions anew."""

    __slots__ = ("_native", "_name")

    def __init__(self, native: DifferenceStream, name: str) -> None:
        self._native, self._name = native, name

    def __repr__(self) -> str:
        return f"<esker.DifferenceTable of {self._name}>"

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._native.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas data frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """A Polars data frame."""
        import polars

        return polars.DataFrame(self)


class Comparison:
    """How much the values of an algorithm changed from one graph to another, made by :meth:`esker.Database.compare`: a table with a row for each vertex
    of either graph, the greatest change first.

    The columns: ``vertex``; its values ``a`` and ``b``; ``change``, from ``a`` to ``b``, null where one of them is missing; ``in_a`` and ``in_b``, 1 if
    the graph has the vertex. Libraries that read Arrow accept it.
    """

    __slots__ = ("_native", "algorithm", "changed", "missing_in_a", "missing_in_b")

    def __init__(self, native: Any, algorithm: str, counts: dict[str, Any]) -> None:
        self._native = native
        self.algorithm: str = algorithm
        """The name of the algorithm."""
        self.changed: int = counts["changed"]
        """The number of vertices whose value changed, or that one graph lacks."""
        self.missing_in_a: int = counts["missing_in_a"]
        """The number of vertices that only ``b`` has."""
        self.missing_in_b: int = counts["missing_in_b"]
        """The number of vertices that only ``a`` has."""

    def __repr__(self) -> str:
        return f"<esker.Comparison of {self.algorithm}: changed={self.changed:,}, missing_in_a={self.missing_in_a:,}, missing_in_b={self.missing_in_b:,}>"

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._native.__arrow_c_stream__(requested_schema)

    def top(self, count: int = 10) -> list[tuple[Any, Any, Any, float | None]]:
        """The first ``count`` rows, those of the greatest change: the id, both values, and the change; ``None`` for what is missing."""
        rows = self.to_arrow().slice(0, count)
        columns = (rows.column(name).to_pylist() for name in ("vertex", "a", "b", "change"))
        return list(zip(*columns))

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas data frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """A Polars data frame."""
        import polars

        return polars.DataFrame(self)


class Difference(NamedTuple):
    """The differences between two versions."""

    changes: list[dict[str, Any]]
    """The changes in order. Each has a ``change`` (``edge added``, ``edge removed``, ``edge changed``, ``vertex added``, ``vertex removed``,
    ``value changed``) and names its vertices, properties and values."""
    edges_added: int
    edges_removed: int
    edges_changed: int
    vertices_added: int
    vertices_removed: int
    values_changed: int
    edges: DifferenceTable
    """The changes of edges as an Arrow stream: ``change`` (``added``, ``removed``, ``changed``), ``source``, ``target``, and for each
    property ``weight`` its values ``old_weight`` and ``new_weight``, null in the version that does not have the edge."""
    vertices: DifferenceTable
    """The changes of vertices as an Arrow stream: ``change``, ``vertex``, and for each property ``age`` its values ``old_age`` and
    ``new_age``, both null where it did not change."""

    def _repr_html_(self) -> str:
        counts = [f"{value:,} {name.replace('_', ' ')}" for name, value in zip(self._fields[1:7], self[1:7]) if value]
        names = list(dict.fromkeys(name for change in self.changes[: _html.ROWS] for name in change))
        rows = [[_plain(change.get(name)) for name in names] for change in self.changes[: _html.ROWS]]
        return _html.table(", ".join(counts) or "no differences", names, rows, len(self.changes))


def _plain(value: Any) -> Any:
    """A value of a change for a table."""
    return json.dumps(value) if isinstance(value, (dict, list)) else value


class SyncReport(NamedTuple):
    """What :meth:`Database.sync` has changed."""

    version: int | None
    """The new version; ``None`` if nothing was to change, or nothing was to be committed."""
    edges_added: int
    edges_removed: int
    edges_changed: int
    """The number of edges with other values."""
    vertices_added: int
    vertices_removed: int
    values_changed: int
    """The number of values of vertices that changed."""
    rows: int
    """The number of edges that were read."""
    rejected: int
    """The number of malformed lines that were skipped."""


class Backup(NamedTuple):
    """What a copy of a database holds, and how it was made."""

    version: int
    """The newest version of the copy."""
    kept_files: int
    """The number of files that the copy before it had already."""
    shared_files: int
    """The number of files that it shares with the database on the disk, as reflinks or hard links."""
    copied_files: int
    """The number of files that were copied."""
    copied_bytes: int
    """Their bytes."""
    verified_bytes: int
    """The bytes of the files that were verified."""


class Recovery(NamedTuple):
    """What a database has lost, and what is left."""

    problem: str | None
    """What is wrong; ``None`` if nothing is missing."""
    newest: int
    """The newest version that is left."""
    lost: tuple[int, int] | None
    """The first and the last version that are lost, if any. After a crash, later ones may have existed that nothing knows of."""
    lost_records: int
    """The number of changes of tags, retention and the like that are lost."""


def read_report(text: str, duplicates: str | None, rule: str) -> ImportReport:
    """Parses a report, logs its notes, and warns of skipped lines, of columns that are not read, of texts that are not UTF-8, and of duplicate edges if ``duplicates``, the rule asked for,
    is ``None``. ``rule`` is the rule of the database."""
    report = ImportReport(json.loads(text))
    for note in report.get("notes", ()):
        LOG.info("%s", note)
    if report.get("rejected"):
        first = report["rejected_sample"][0]
        warnings.warn(
            f"skipped {counted(report['rejected'], 'malformed line')}, the first at {first['path']}:{first['line']}: {first['reason']}",
            EskerWarning,
            stacklevel=3,
        )
    for told in report.get("warnings", ()):
        warnings.warn(told, EskerWarning, stacklevel=3)
    if report.get("duplicates") and duplicates is None:
        warnings.warn(duplicates_message(report["duplicates"], report.get("rule") or rule, report.get("time")), EskerWarning, stacklevel=3)
    return report


def duplicates_message(count: int, rule: str, time: str | None = None) -> str:
    """The warning about duplicate edges. ``time`` is the property that tells them apart."""
    offer = f"; to keep an edge for each {time!r}, create the database with duplicates='keep'" if time else ""
    fate = {"sum": "added up", "min": "compared", "max": "compared"}.get(rule, "left out")
    return f"{fate} {counted(count, 'edge')} given more than once, by the rule {rule!r}; pass duplicates= to choose a rule{offer}"
