"""Batches of changes."""

from __future__ import annotations

import atexit
import logging
import os
import warnings
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any, Iterable, Literal, Mapping, overload

from . import _cancel, _columns, _progress
from ._counted import counted
from ._errors import ClosedError, EskerWarning, InvalidError
from ._reports import duplicates_message

if TYPE_CHECKING:
    from ._database import Database
    from ._reports import ImportReport
    from ._settings import Duplicates


#: The batches that are neither committed nor closed.
_OPEN: weakref.WeakSet[Batch] = weakref.WeakSet()


class Batch:
    """A batch of changes that become one version: a context manager, made by :meth:`Database.batch`. One that holds changes and is neither
    committed nor closed when it, its database or the process ends warns that they are lost.

    Changes apply in the order of the calls. Columns are NumPy arrays, Arrow arrays, pandas or Polars series, or iterables. Edges can also
    be a single object: a table with columns ``source`` and ``target``, a SciPy sparse matrix, a NetworkX or igraph graph, or tuples.

    >>> with db.batch("monday") as b:
    ...     b.add_edges(sources, targets, weight=weights)
    ...     b.delete_edges([1, 2], [3, 4])
    """

    def __init__(
        self, database: Database, message: str, duplicates: Duplicates | None = None, event_time: str | None = None
    ) -> None:
        self._database, self._message = database, message
        self._duplicates, self._event_time = duplicates, event_time
        self._native: Any = None
        # Edges and changes of vertices for a database that the first edges will create.
        self._first: _columns.Edges | None = None
        self._vertices: list[tuple[Any, dict[str, Any]]] = []
        self._ended = False
        # The settings of the database, if this batch has created it.
        self._created_with: dict[str, Any] | None = None
        self.version: int | None = None
        """The number of the committed version."""
        self.duplicates = 0
        """The number of edges that the commit left out or united with another, as the rule for duplicates says."""
        self.deleted = 0
        """The number of edges that the commit deleted, not counting those of deleted vertices."""
        self.report: ImportReport | None = None
        """The report of the import, if the batch created the database."""
        # Why the changes were lost, if they were.
        self._lost: str | None = None
        # A forked process does not tell of the batches of its parent.
        self._process = os.getpid()
        _OPEN.add(self)

    def __enter__(self) -> Batch:
        self._expect_open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None and (not self._ended or self._lost is not None):
            try:
                self.commit()
            finally:
                self._forget()
        else:
            self.close()

    def close(self) -> None:
        """Drops the changes, unless they are committed. The end of a ``with`` block that raises closes automatically."""
        if not self._ended and self._created_with is not None:
            self._database._undo_creation(self._created_with)
        self._forget()

    def _forget(self) -> None:
        """Drops what is not committed."""
        self._ended = True
        self._native = self._first = None
        self._vertices = []
        _OPEN.discard(self)

    def __del__(self) -> None:
        if not getattr(self, "_ended", True):
            self._lose("it went out of use")

    def _lose(self, end: str) -> None:
        """Drops the changes, and says that they are lost."""
        count = len(self)
        self._forget()
        if count == 0 or self._process != os.getpid():
            return
        message = (
            f"{counted(count, 'change')} of a batch for {self._database.path} {'is' if count == 1 else 'are'} lost: {end}, and it was neither "
            "committed nor closed; call commit() or close(), or use `with db.batch() as batch`"
        )
        self._lost = message
        # Python shows no such warning by default, and a log without handlers goes to the standard error.
        logging.getLogger("esker").warning(message)
        warnings.warn(message, ResourceWarning, stacklevel=3, source=self)

    def __repr__(self) -> str:
        return f"<esker.Batch of {len(self):,} changes>"

    def __len__(self) -> int:
        """Number of changes so far."""
        edges = 0 if self._first is None else len(self._first.source)
        vertices = sum(len(ids) * max(1, len(values)) for ids, values in self._vertices)
        return (0 if self._native is None else len(self._native)) + edges + vertices

    def _expect_open(self) -> None:
        if self._ended:
            raise ClosedError(self._lost or "the batch was committed or closed; begin a new batch")
        self._database._expect_open()

    @property
    def _is_first(self) -> bool:
        """Whether the database is new and has no edges yet."""
        return self._database._native is None and self._native is None and self._first is None

    def _changes(self) -> Any:
        """The native batch, after what creates the database."""
        self._expect_open()
        if self._first is not None or self._database._native is None:
            self._flush()
        if self._native is None:
            self._native = self._database._created().batch(self._duplicates)
        vertices, self._vertices = self._vertices, []
        for ids, values in vertices:
            if not values:
                self._native.add_vertices(ids)
            for name, column in values.items():
                if isinstance(column, _columns.Vectors):
                    self._native.set_vectors(ids, name, column.numbers, column.length)
                else:
                    self._native.set_vertices(ids, name, column)
        return self._native

    def _flush(self) -> None:
        """Creates the database, if it is new, from the first edges, or from vertices."""
        if self._database._native is not None:
            return
        edges, table, taken = self._first or _columns.no_edges(), None, 0
        if edges.vertices is None and self._vertices and edges.num_vertices is None:
            ids, values = self._vertices[0]
            edges = edges._replace(vertices=ids)
            table = _columns.as_vertex_table(ids, values) if values else None
            taken = 1
        created_with = self._database._new
        with _progress.listening((self._database._new or {}).get("progress"), "import") as callback:
            self.report = self._database._create(edges, self._message, callback, self._duplicates, self._event_time, table)
        self.version, self._first, self._created_with = 1, None, created_with
        del self._vertices[:taken]

    @overload
    def add_edges(self, edges: Any, /, *, weight: str | Literal[False] | None = None) -> Batch: ...
    @overload
    def add_edges(
        self, source: Any, target: Any, *, weight: Iterable[float] | None = None, properties: Mapping[str, Any] | None = None
    ) -> Batch: ...
    def add_edges(self, source: Any, target: Any = None, *, weight: Any = None, properties: Mapping[str, Any] | None = None) -> Batch:
        """Adds edges, or sets the properties of existing edges, unless the rule for duplicates is another; adds missing vertices. Returns the
        batch.

        Args:
            source: The ids of the sources; without ``target``, an object that contains edges: the nodes of a graph and the rows of a
                matrix are vertices, also without edges.
            target: The ids of the targets.
            weight: The weights, as a column of numbers. For an object that contains edges, the name of the weight, by default the weight of
                the database; ``False`` ignores all values of the object.
            properties: Columns of other properties by name, with ``target``. There must be a column for each property of the database; missing values are ``None``, null or NaN.
        """
        self._expect_open()
        edges = self._read(source, target, properties, weight)
        if len(edges.source) != len(edges.target):
            raise InvalidError(
                f"columns must have the same length: source has {counted(len(edges.source), 'element')}, target has {len(edges.target)}"
            )
        if self._is_first:
            for name, values in edges.properties:
                if len(values) != len(edges.source):
                    raise InvalidError(f"{name} has {counted(len(values), 'element')} for {counted(len(edges.source), 'edge')}")
            self._first = edges
            return self
        changes = self._changes()
        if edges.vertices is not None:
            changes.add_vertices(edges.vertices)
        elif edges.num_vertices is not None:
            import numpy

            changes.add_vertices(_columns.column(numpy.arange(edges.num_vertices), "vertices"))
        changes.add_edges(edges.source, edges.target, self._fitting(edges, target is None))
        return self

    def _read(
        self, source: Any, target: Any, properties: Mapping[str, Any] | None, weight: Any, selects: bool = False
    ) -> _columns.Edges:
        """Edges as columns, for this database."""
        if self._database._native is not None or self._native is not None:
            directed, usual, _ = self._database._created().schema()
            return _columns.edges(source, target, properties, weight, usual or "weight", directed, self._duplicates, selects)
        new = self._database._new or {}
        if self._first is not None:
            usual = self._first.weight or "weight"
            directed = new.get("directed") if new.get("directed") is not None else self._first.directed
        else:
            usual, directed = new.get("weight") or "weight", new.get("directed")
        return _columns.edges(source, target, properties, weight, usual, directed, self._duplicates)

    def _fitting(self, edges: _columns.Edges, is_object: bool) -> list[tuple[str, Any]]:
        """The properties of edges by their names in the database."""
        _, weight, known = self._database._created().schema()
        columns = dict(edges.properties)
        if edges.weight is not None and edges.weight != weight:
            if weight is None:
                remedy = "pass weight=False to ignore it" if is_object else "leave it out"
                raise InvalidError(
                    f"the edges have a weight, {edges.weight!r}, but the edges of this database have none; define it with "
                    f"define_edge_property({edges.weight!r}, weight=True), or {remedy}"
                )
            if weight in columns:
                raise InvalidError(f"{edges.weight!r} and {weight!r} could both be the weight; leave out one of them")
            columns = {weight if name == edges.weight else name: values for name, values in columns.items()}
        unknown = [name for name in columns if name not in known]
        if unknown:
            raise InvalidError(
                f"the edges of this database have no property {unknown[0]!r}, but {known or 'none'}; define it with "
                f"define_edge_property, or leave the column out"
            )
        return list(columns.items())

    def delete_edges(self, source: Any, target: Any = None, *, properties: Mapping[str, Any] | None = None) -> Batch:
        """Removes edges, given as for :meth:`add_edges`: all edges between two vertices or, with ``properties`` and for a table with further
        columns, those that have these values. Missing edges are ignored, but an
        error if they are named by their ids (:meth:`Database.define_edge_property`); ``deleted`` is the number of edges that the commit removed. Returns the
        batch.

        >>> batch.delete_edges({"source": [1], "target": [2], "kind": ["road"]})
        """
        changes = self._changes()
        # The third elements of tuples and the values of matrices and graphs select no edges, the columns of tables do.
        edges = self._read(source, target, properties, False if target is None else None, selects=True)
        known = self._database.graph().edge_properties
        unknown = [name for name, _ in edges.properties if name not in known]
        if unknown:
            raise InvalidError(
                f"the edges of this database have no property {unknown[0]!r}, but {list(known) or 'none'}; leave the column out"
            )
        changes.remove_edges(edges.source, edges.target, edges.properties)
        return self

    def add_vertices(self, ids: Any) -> Batch:
        """Adds vertices; existing ones are ignored. Of a table, the columns beside the ids are properties, as for :meth:`set_vertices`.
        Returns the batch."""
        return self._change_vertices(*_columns.of_vertices(ids, "ids"))

    def delete_vertices(self, ids: Any) -> Batch:
        """Removes vertices with their edges. Returns the batch."""
        self._changes().remove_vertices(_columns.column(ids, "ids"))
        return self

    def set_vertices(self, ids: Any, **properties: Any) -> Batch:
        """Sets properties of vertices; adds missing vertices. Each property is a column of the length of ``ids``, or one value for all vertices.
        The rows of a two-dimensional array are vectors; a row of ``NaN`` is a missing value.
        A missing value (``None``, null, ``NaN``) removes the property's value. A table of pandas, Polars or Arrow may stand for all: the column
        ``id`` or the like has the ids, or else the first, and every other column is a property; lists of numbers are vectors. Returns the batch.

        >>> batch.set_vertices(people)
        >>> batch.set_vertices(["ann", "bob"], age=[40, 31])
        """
        column, values = _columns.of_vertices(ids, "ids")
        if values and properties:
            raise InvalidError("a table has the properties in its columns; leave out the others, or give the ids alone")
        if values:
            return self._change_vertices(column, values)
        if not properties:
            raise InvalidError("give at least one property to set, as in set_vertices(ids, rank=ranks)")
        return self._change_vertices(column, {name: _columns.for_all(values, name, len(column)) for name, values in properties.items()})

    def _change_vertices(self, ids: Any, values: dict[str, Any]) -> Batch:
        """Adds vertices and sets values; in a new database after the first edges, which decide the types of ids and weights."""
        self._expect_open()
        for name, column in values.items():
            if len(column) != len(ids):
                raise InvalidError(
                    f"columns must have the same length: ids has {counted(len(ids), 'element')}, {name} has {len(column)}"
                )
        self._vertices.append((ids, values))
        # The vertices of a new database come in with its first edges, as one version.
        if self._native is not None or self._database._native is not None:
            self._changes()
        return self

    def commit(self) -> int | None:
        """Commits the changes as one version; returns its number: ``None`` if there is nothing that could decide what ids the vertices of a new
        database have. The end of a ``with`` block commits automatically."""
        self._expect_open()
        if self._database._native is None and not self._vertices and not _columns.decide(self._first):
            self._forget()
            return None
        self._flush()
        if self._vertices:
            self._changes()
        self._database._expect_in_place()
        if self._native is not None:
            self._finish(self._native)
        elif self.version is None:
            self._finish(self._database._created().batch(None))
        self._forget()
        return self.version

    def _finish(self, changes: Any) -> None:
        """Commits native changes."""
        native = self._database._created()
        self.version, self.duplicates, self.deleted = native.commit(changes, self._message, self._event_time, _cancel.current())
        rule = self._database._native.rule()
        # Who has chosen a rule knows that edges come several times.
        if self.duplicates and self._duplicates is None and rule == "last":
            warnings.warn(duplicates_message(self.duplicates, rule), EskerWarning, stacklevel=4)


def lose_batches(database: Database | None, end: str) -> None:
    """Says of each open batch, of a database or of all, that its changes are lost because of an end."""
    for batch in list(_OPEN):
        if database is None or batch._database is database:
            batch._lose(end)


atexit.register(lose_batches, None, "the process ended")
