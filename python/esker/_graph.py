"""A version of a graph."""

from __future__ import annotations

import datetime
import itertools
import json
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Iterable, Iterator, Literal, NamedTuple, Union, overload

from . import _columns, _html, _progress, _views, pyg
from ._algorithms import Algorithm, Algorithms, Estimates
from ._counted import counted
from ._edges import EdgeTable, VertexTable
from ._errors import InvalidError, MistypedError, PropertyNotFoundError, VertexNotFoundError
from ._drawing import Picture
from ._esker import Answer, count_kinds, csr, draw, ids_with_prefix, shortest_paths
from ._features import Feature, features
from ._result import Result
from ._settings import Direction, Memory, memory_bytes, run_settings, view_choice

if TYPE_CHECKING:
    import networkx
    import numpy
    import pandas
    import polars
    import pyarrow
    import scipy.sparse

    from ._notebook import PictureWidget
    from ._parts import PartView

#: An external id of a vertex.
Id = Union[int, str]


class Estimate(NamedTuple):
    """The estimated memory and reads of a run."""

    memory_bytes: int
    """Peak memory of the algorithm's own arrays, including the result but not the graph."""
    read_bytes: int
    """Bytes of neighbour lists read by the whole run, from the page cache if they fit."""
    graph_bytes: int
    """Bytes of the neighbour lists on disk, which are mapped."""
    plan: dict[str, Any] | None = None
    """What a run would read, where it would keep it, why, the predicted seconds, and the other candidates, for the given ``memory``,
    ``encoding``, ``residency`` and ``head``; ``None`` if none of these is given."""

    def fits(self, memory: Memory) -> bool:
        """Whether the run fits a memory limit such as ``'2GiB'``."""
        limit = memory_bytes(memory)
        return limit is None or self.memory_bytes <= limit


class ShortestPath(NamedTuple):
    """A path between two vertices."""

    vertices: list[Any]
    """The ids of its vertices, both ends included."""
    length: int | float
    """Its length; an exact integer if the lengths of edges are integers."""
    lengths: list[int | float]
    """The length from its start to each of its vertices."""


def _is_id(value: object) -> bool:
    return isinstance(value, str) or hasattr(value, "__index__") and not isinstance(value, bool)


def _is_one(value: object) -> bool:
    """Whether a value is no column of values."""
    return isinstance(value, (str, bytes)) or getattr(value, "shape", None) == () or not any(hasattr(value, name) for name in ("__iter__", "__arrow_c_stream__", "collect"))


def _expect_direction(direction: str) -> None:
    if direction not in ("out", "in", "both"):
        raise InvalidError(f"direction must be one of 'out', 'in', 'both', not {direction!r}")


def _reading(given: dict[str, Any]) -> tuple[str | None, str | None, int | None]:
    """What is read and how it is kept, taken out of the arguments of a run; checked."""
    encoding, residency, head = given.pop("encoding", None), given.pop("residency", None), given.pop("head", None)
    for name, value in (("encoding", encoding), ("residency", residency)):
        if value is not None and not isinstance(value, str):
            raise MistypedError(f"{name} must be a string, not {type(value).__name__}")
    if head is not None and (isinstance(head, bool) or not hasattr(head, "__index__")):
        raise MistypedError(f"head must be a number of neighbours, not {type(head).__name__}")
    if head is not None and head < 1:
        raise InvalidError(f"head must be at least 1, not {head}")
    return encoding, residency, None if head is None else head.__index__()


class _Estimates(Estimates):
    __slots__ = ("_graph",)

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def _call(self, algorithm: Algorithm, given: dict[str, Any]) -> Estimate:
        settings = run_settings(**{name: given.pop(name) for name in ("threads", "deterministic", "memory") if name in given})
        reading = _reading(given)
        choice = view_choice(given.pop("weight", None), given.pop("undirected", False))
        texts = algorithm.texts(given, self._graph._id_text)
        planned = settings["memory"] is not None or reading != (None, None, None)
        *sizes, plan = self._graph._native.estimate(algorithm.name, texts, settings, choice, reading if planned else None)
        return Estimate(*sizes, None if plan is None else json.loads(plan))


class Makers(NamedTuple):
    """How graphs are made that no database hands out. Functions of a module above, which gives them: it makes databases."""

    reopen: Callable[[str, int], Graph]
    """Opens a version of the database at a path."""
    rebuild: Callable[..., Graph]
    """Makes a graph in memory, from what :func:`esker._views.settings_of` says, edges, and values of vertices."""


class Graph(Algorithms):
    """A version of a graph, made by :meth:`esker.Database.graph`. It is immutable; changes of the database do not affect it.

    Every algorithm of the catalogue is a method: ``g.pagerank(damping=0.85)``, ``g.bfs("alice")``; ``g.estimate.pagerank()`` estimates the
    memory and reads of a run. Methods for single vertices take and return external ids, as in the input.

    All arrays are in one order: element ``i`` of :meth:`degree`, of :meth:`property`, of the results of algorithms and of any other array
    of the graph belongs to element ``i`` of :meth:`ids`. That is its vertex number, in :meth:`to_scipy`, in edges and wherever
    ``dense=True`` asks for numbers. Numbers have no gaps, also if vertices are removed. Integer ids ascend, so that the vertex ``i`` has the
    number ``i`` if the ids are the integers from 0; texts are in the order in which the database keeps them.
    """

    __slots__ = ("_native", "_facts", "_path", "_nx_cache", "_owner", "__weakref__", "__networkx_cache__")

    __networkx_backend__ = "esker"

    _makers: ClassVar[Makers]

    def __init__(self, native: Any, path: str | None, owner: Any = None) -> None:
        self._native = native
        self._owner = owner
        self._path = path
        self._facts: dict[str, Any] = {**json.loads(native.facts()), "path": path or ":memory:"}
        self._nx_cache: Any = None
        self.__networkx_cache__: dict[Any, Any] = {}

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        return f"<esker.Graph of {counted(self.num_vertices, 'vertex', 'vertices')} and {counted(self.num_edges, f'{kind} edge')}, version {self.version}>"

    def __reduce__(self) -> Any:
        if self._path is not None:
            return self._makers.reopen, (self._path, self.version)
        table = self.edges()
        properties = {name: self.property(name) for name in self.vertex_properties}
        return self._makers.rebuild, (_views.settings_of(self), self.ids(), *table.ids(), table.properties, properties)

    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: Any) -> Graph:
        return self

    def _repr_html_(self) -> str:
        kinds = [("edge property", name, kind) for name, kind in self.edge_properties.items()]
        kinds += [("vertex property", name, kind) for name, kind in self.vertex_properties.items()]
        rows = [("path", self._facts["path"], ""), ("time", f"{self.time:%Y-%m-%d %H:%M:%S}", ""), ("weight", self.weight, ""), *kinds]
        return _html.table(repr(self)[1:-1], ("", "", ""), rows)

    def __len__(self) -> int:
        return self.num_vertices

    def __bool__(self) -> bool:
        return True

    def __contains__(self, vertex: object) -> bool:
        """Whether a vertex with this id exists."""
        return _is_id(vertex) and self._native.has_vertex(vertex)

    def __iter__(self) -> Iterator[Id]:
        """The ids of all vertices."""
        return iter(self.ids().tolist())

    @property
    def num_vertices(self) -> int:
        """Number of vertices, without removed ones."""
        return self._facts["vertices"]

    @property
    def num_edges(self) -> int:
        """Number of edges; an undirected edge counts once."""
        return self._facts["edges"]

    @property
    def directed(self) -> bool:
        """Whether edges are directed."""
        return self._facts["directed"]

    @property
    def kinds(self) -> dict[str, int]:
        """The number of edges of each kind, if edges have kinds. Reads the kinds of all edges."""
        return dict(count_kinds(self._native, run_settings()))

    @property
    def multigraph(self) -> bool:
        """Whether parallel edges are kept."""
        return self._facts["multigraph"]

    @property
    def version(self) -> int:
        """The number of the version."""
        return self._facts["version"]

    @property
    def time(self) -> datetime.datetime:
        """The event time of the version, in UTC: that given with ``event_time``, else the time of the commit."""
        return datetime.datetime.fromtimestamp(self._facts["time_ms"] / 1000, datetime.timezone.utc)

    @property
    def committed(self) -> datetime.datetime:
        """Time of the commit, in UTC."""
        return datetime.datetime.fromtimestamp(self._facts["committed_ms"] / 1000, datetime.timezone.utc)

    @property
    def weight(self) -> str | None:
        """The name of the edge property that is the weight; ``None`` without weights."""
        return self._facts["weight"]

    @property
    def edge_properties(self) -> dict[str, str]:
        """The edge properties and their types."""
        return {one["name"]: one["type"] for one in self._facts["edge_properties"]}

    @property
    def vertex_properties(self) -> dict[str, str]:
        """The vertex properties and their types."""
        return {one["name"]: one["type"] for one in self._facts["vertex_properties"]}

    @property
    def info(self) -> dict[str, Any]:
        """A description of the graph: sizes, properties, ids, encoding."""
        return json.loads(json.dumps(self._facts))

    @property
    def estimate(self) -> _Estimates:
        """Estimates memory and reads of the algorithms: ``g.estimate.pagerank()``. With ``memory``, ``encoding``, ``residency`` or ``head``, also
        plans the run, as ``esker run --explain`` does, or raises the :class:`MemoryLimitError` that would refuse it."""
        return _Estimates(self)

    # -- algorithms

    def _id_text(self, vertex: Any) -> str:
        """Checks the type of an id and formats it as the value of an option."""
        if self._facts["text_ids"]:
            if isinstance(vertex, str):
                return vertex
            raise MistypedError(f"the ids of this graph are strings, but {vertex!r} is of type {type(vertex).__name__}")
        if isinstance(vertex, (bool, str)) or not hasattr(vertex, "__index__"):
            raise MistypedError(f"the ids of this graph are integers, but {vertex!r} is of type {type(vertex).__name__}")
        if vertex.__index__() < 0:
            raise VertexNotFoundError(f"no vertex has the id {vertex}: ids are not negative")
        return str(vertex.__index__())

    def _call(self, algorithm: Algorithm, given: dict[str, Any]) -> Result:
        def native(weight: str | None, undirected: bool) -> tuple[Any, tuple[str | None, bool]]:
            return self._native, (weight, undirected)

        return self._call_on(native, algorithm, given)

    def _call_on(self, native_of: Callable[[str | None, bool], tuple[Any, Any]], algorithm: Algorithm, given: dict[str, Any]) -> Result:
        """Runs an algorithm on the native graph for a weight and for directions that are read or not, and with what is left to choose."""
        options, texts, settings = self._prepared(algorithm, given)
        with _progress.listening(given.get("progress"), algorithm.name) as callback:
            settings = run_settings(**settings, progress=callback)
            residency = _reading(dict(given))
            graph, choice = native_of(*view_choice(given.get("weight"), given.get("undirected", False)))
            native = graph.run(algorithm.name, texts, settings, bool(given.get("verify")), residency, choice)
        again = None
        if "parent" in algorithm.columns:
            again = lambda: self._call_on(native_of, algorithm, {**given, "parents": True, "progress": None, "verify": False})  # noqa: E731
        return Result(native, self, algorithm.name, options, again)

    def _prepared(self, algorithm: Algorithm, given: dict[str, Any]) -> tuple[dict[str, Any], Any, dict[str, Any]]:
        """The options of an algorithm, the same as texts, and the settings of its run."""
        options = {name: given[name] for name in (option.keyword for option in algorithm.options) if name in given}
        options = {name: value for name, value in options.items() if value is not None and value is not False}
        texts = algorithm.texts(options, self._existing_id_text)
        names = ("threads", "memory", "seed", "deterministic")
        settings = {name: given[name] for name in names if name in given}
        return options, texts, settings

    def _call_on_several(
        self, run: Callable[..., Any], algorithm: Algorithm, given: dict[str, Any], graphs: Iterable[Graph] | None = None
    ) -> list[Result]:
        """The results of an algorithm on several graphs over the vertices of this one, which ``run`` computes together. Their ids are those of
        ``graphs``, by default of this one."""
        options, texts, settings = self._prepared(algorithm, given)
        choice = view_choice(given.get("weight"), given.get("undirected", False))
        natives = run(algorithm.name, texts, run_settings(**settings, progress=None), *choice)
        of_each = itertools.repeat(self) if graphs is None else graphs
        return [Result(native, graph, algorithm.name, options, None) for native, graph in zip(natives, of_each)]

    def _existing_id_text(self, vertex: Any) -> str:
        """Like :meth:`_id_text`, and checks that the vertex exists."""
        text = self._id_text(vertex)
        self._native.expect_vertex(vertex)
        return text

    def _checked_id(self, vertex: Any) -> Any:
        """An id, after a check of its type."""
        if not _is_id(vertex):
            expected = "strings" if self._facts["text_ids"] else "integers"
            raise MistypedError(f"the ids of this graph are {expected}, but {vertex!r} is of type {type(vertex).__name__}")
        if isinstance(vertex, int) and vertex < 0 and not self._facts["text_ids"]:
            raise VertexNotFoundError(f"no vertex has the id {vertex}: ids are not negative")
        return vertex

    def shortest_paths(
        self,
        source: Id,
        target: Id,
        count: int = 1,
        *,
        weight: str | None = None,
        avoid: Iterable[Id] = (),
        max_steps: int | None = None,
        progress: ProgressOption = None,
    ) -> list[ShortestPath]:
        """The shortest paths between two vertices, the shortest first, each without a vertex twice; fewer than ``count`` if there are no more, and
        none if the target is not reached. A path is told by its vertices: of parallel edges only the shortest counts. Reads no more of the graph
        than the search meets, unless it may hold a negative length: then it reads all lengths, because a negative one anywhere is an error.

        Args:
            source: The id where paths begin.
            target: The id where they end.
            count: The number of paths.
            weight: The edge property that is the length of an edge; by default each edge is one step.
            avoid: Ids of vertices that no path may meet. The ends are none of them.
            max_steps: The greatest number of edges of a path, whatever their lengths.
            progress: As for the algorithms.

        >>> for path in g.shortest_paths("alice", "bob", 3):
        ...     print(path.length, path.vertices)
        """
        if isinstance(count, bool) or not hasattr(count, "__index__"):
            raise MistypedError(f"count must be an integer, not {type(count).__name__}")
        if count < 1:
            raise InvalidError(f"count must be at least 1, not {count}")
        if weight is not None and not isinstance(weight, str):
            raise MistypedError(f"weight must be the name of an edge property, not {weight!r}")
        if max_steps is not None:
            if isinstance(max_steps, bool) or not hasattr(max_steps, "__index__"):
                raise MistypedError(f"max_steps must be an integer, not {type(max_steps).__name__}")
            if max_steps < 0:
                raise InvalidError(f"max_steps must not be negative, not {max_steps}")
            max_steps = max_steps.__index__()
        if isinstance(avoid, (str, bytes)):
            raise MistypedError(f"avoid must be several ids, as in [{avoid!r}], not one")
        avoided = [self._checked_id(vertex) for vertex in avoid]
        ends = self._checked_id(source), self._checked_id(target)
        with _progress.listening(progress, "paths") as callback:
            settings = run_settings(threads=1, progress=callback)
            found = shortest_paths(self._native, *ends, count.__index__(), weight, avoided, max_steps, settings)
        return [ShortestPath(ids, lengths[-1], lengths) for ids, lengths in found]

    def draw(
        self,
        ego: Id | Iterable[Id] | None = None,
        *,
        hops: int = 1,
        vertices: int = 300,
        layout: Literal["forces", "layers"] = "forces",
        rounds: int = 300,
        colour: str | Result | None = None,
        size: str | Result | None = None,
        labels: int | None = None,
        title: str | None = None,
        seed: int = 1,
        threads: int | None = None,
        memory: Memory = None,
        progress: ProgressOption = None,
    ) -> Picture:
        """A picture of the vertices with most edges, or of what is around some: notebooks show it, and ``save`` writes it as SVG.

        >>> g.draw()
        >>> g.draw("alice", hops=2, colour="communities").save("alice.svg")
        >>> g.draw(colour=g.leiden(), size=g.pagerank()).show()

        Args:
            ego: An id, or several, around which to draw; by default the vertices with most edges are drawn.
            hops: The greatest number of steps from them, along and against edges.
            vertices: The greatest number of vertices: those near first, of the others those with most edges.
            layout: ``forces`` brings together what is joined (ForceAtlas2); ``layers`` goes from the top along the edges.
            rounds: Rounds of ``forces``; more take longer and untangle more.
            colour: ``communities`` of what is drawn, a vertex property, or a result of this version: its first column.
            size: The vertex property, or the result of this version, that is the size, a number; by default the number of edges.
            labels: How many ids are shown, those of the largest vertices; by default all of up to 60 vertices, and 30 of more.
            title: For people who do not see the picture.
            seed: Of the first places.
            threads: As for the algorithms.
            memory: As for the algorithms.
            progress: As for the algorithms.
        """
        counts = {"hops": (hops, 0), "vertices": (vertices, 1), "rounds": (rounds, 0), "labels": (0 if labels is None else labels, 0)}
        for name, (count, least) in counts.items():
            if isinstance(count, bool) or not hasattr(count, "__index__") or count < least:
                raise InvalidError(f"{name} must be an integer from {least} on, not {count!r}")
        for name, text, takes in (
            ("colour", colour, "'communities', the name of a vertex property, or a result"),
            ("size", size, "the name of a vertex property, or a result"),
            ("title", title, "a text"),
        ):
            if not isinstance(text, str) and text is not None and not (name != "title" and isinstance(text, Result)):
                raise MistypedError(f"{name} must be {takes}, not {type(text).__name__}")
        if not isinstance(layout, str):
            raise MistypedError(f"layout must be 'forces' or 'layers', not {type(layout).__name__}")
        middle = [] if ego is None else [ego] if _is_one(ego) else list(ego)
        how: dict[str, Any] = {"hops": hops, "vertices": vertices, "layout": layout, "rounds": rounds, "labels": labels}
        for name, values in (("colour", colour), ("size", size)):
            how[name], how[f"{name}_of"] = (None, self._answer_of(values, name)) if isinstance(values, Result) else (values, None)
        how["title"] = repr(self)[1:-1] if title is None else title
        with _progress.listening(progress, "draw") as callback:
            settings = run_settings(threads=threads, memory=memory, seed=seed, deterministic=True, progress=callback)
            return Picture(*draw(self._native, [self._checked_id(one) for one in middle], how, settings))

    def show(self, ego: Id | Iterable[Id] | None = None, *, height: int = 480, **options: Any) -> PictureWidget:
        """A picture that a notebook shows and lets one move in: that of :meth:`draw`, which has the other options. Needs the package ``anywidget``.

        >>> g.show("alice", hops=2)

        Args:
            ego: As for :meth:`draw`.
            height: In pixels.
            options: Those of :meth:`draw`.
        """
        return self.draw(ego, **options).show(height=height)

    def _answer_of(self, result: Result, name: str) -> Any:
        """The native answer of a result, if it is of this version."""
        if not result.graph._native.is_same_version(self._native):
            raise InvalidError(f"{name} is a result of {result.graph!r}, and the picture is of {self!r}")
        if not isinstance(result._native, Answer):
            raise InvalidError(f"{name} is a result that was pickled, whose values have no places here: run {result.algorithm} again")
        return result._native

    # -- vertices

    def vertex(self, vertex: Id) -> int:
        """The number of the vertex with an id: its place in :meth:`ids`.

        Raises:
            VertexNotFoundError: No vertex has the id.
        """
        return self._native.vertex_of(self._checked_id(vertex))

    @overload
    def vertices(self, ids: None = None) -> VertexTable: ...
    @overload
    def vertices(self, ids: Any) -> numpy.ndarray: ...
    def vertices(self, ids: Any = None) -> Any:
        """The numbers of the vertices with the given ids: an array, a column, an iterable, or a table of pandas, Polars, Arrow or DuckDB
        with them in its column ``id`` or the like, or else in the first. Without ``ids``, all vertices with their ids and properties: a table
        that is read as an Arrow stream, batch by batch.

        Raises:
            VertexNotFoundError: No vertex has one of the ids.
        """
        import numpy

        if ids is None:
            return VertexTable(self)
        return numpy.asarray(self._native.vertices_of(_columns.of_ids(ids)))

    def ids(self, vertices: Any = None) -> numpy.ndarray:
        """The ids of the given vertex numbers, or of all vertices in the order of all arrays: an array of integers, or of string objects."""
        import numpy

        found = self._native.ids(None if vertices is None else _columns.column(vertices, "vertices"))
        return numpy.array(found, dtype=object) if isinstance(found, list) else numpy.asarray(found)

    def ids_with_prefix(self, prefix: str, top: int = 20) -> list[str]:
        """The ids that begin with ``prefix``, in the order of their bytes: the first ``top``. Reads all ids, and keeps no more than the answer.

        Raises:
            InvalidError: The ids are integers.

        >>> g.ids_with_prefix("lib", 3)
        """
        if not isinstance(prefix, str):
            raise MistypedError(f"prefix must be a str, not {type(prefix).__name__}")
        if isinstance(top, bool) or not hasattr(top, "__index__"):
            raise MistypedError(f"top must be an integer, not {type(top).__name__}")
        if top < 0:
            raise InvalidError(f"top must not be negative, not {top}")
        return ids_with_prefix(self._native, prefix, top.__index__(), run_settings(threads=1))[0]

    @overload
    def properties(self, vertex: Id) -> dict[str, Any]: ...
    @overload
    def properties(self, vertex: Any) -> list[dict[str, Any]]: ...
    def properties(self, vertex: Any) -> Any:
        """The properties of a vertex that have a value; of several ids, given as for :meth:`vertices`, a list of these."""
        if not _is_one(vertex):
            return [self._native.vertex_values(one) for one in self._listed(vertex)]
        return self._native.vertex_values(self._checked_id(vertex))

    def _listed(self, vertices: Any) -> list[Any]:
        """Several ids of vertices, all of which exist."""
        return self.ids(self.vertices(vertices)).tolist()

    def property(self, name: str) -> numpy.ma.MaskedArray | numpy.ndarray:
        """A vertex property: a value for each element of :meth:`ids`, of vectors a row. Missing values are masked; in a text property, an array of string objects,
        they are ``None``. Times with a zone are in UTC."""
        import numpy

        if name not in self.vertex_properties:
            raise PropertyNotFoundError(f"no vertex property {name!r}; the vertex properties are {list(self.vertex_properties)}")
        found = self._native.property(name, run_settings())
        if isinstance(found, list):
            return numpy.array(found, dtype=object)
        if len(found) == 3:
            vectors = numpy.asarray(found[0]).reshape(-1, found[2])
            return numpy.ma.MaskedArray(vectors, mask=numpy.repeat(numpy.asarray(found[1]) == 0, found[2]).reshape(vectors.shape))
        values, present = numpy.asarray(found[0]), numpy.asarray(found[1])
        return numpy.ma.MaskedArray(_columns.typed(values, self.vertex_properties[name]), mask=present == 0)

    # -- lists

    @overload
    def degree(self, vertex: None = None, *, direction: Direction = "out") -> numpy.ndarray: ...
    @overload
    def degree(self, vertex: Id, *, direction: Direction = "out") -> int: ...
    @overload
    def degree(self, vertex: Any, *, direction: Direction = "out") -> numpy.ndarray: ...
    def degree(self, vertex: Any = None, *, direction: Direction = "out") -> Any:
        """The degree of a vertex; of several ids, given as for :meth:`vertices`, an array of their degrees. Without ``vertex``, an array of
        all degrees: a value for each element of :meth:`ids`.

        ``direction`` is ``out``, ``in`` or ``both``.
        """
        import numpy

        _expect_direction(direction)
        if direction == "both" and self.directed:
            vertex = vertex if vertex is None or _is_one(vertex) else self._listed(vertex)
            return self.degree(vertex, direction="out") + self.degree(vertex, direction="in")
        side = "out" if direction == "both" else direction
        if vertex is None:
            return numpy.asarray(self._native.degrees(side))
        if _is_one(vertex):
            return self._native.degree(self._checked_id(vertex), side)
        numbers = self.vertices(vertex)
        if len(numbers) > self.num_vertices // 64:
            return numpy.asarray(self._native.degrees(side))[numbers]
        return numpy.array([self._native.degree(one, side) for one in self.ids(numbers).tolist()], dtype=numpy.uint64)

    @overload
    def neighbors(self, vertex: Id, *, direction: Direction = "out", dense: Literal[False] = False) -> list[Any]: ...
    @overload
    def neighbors(self, vertex: int, *, direction: Direction = "out", dense: Literal[True]) -> numpy.ndarray: ...
    @overload
    def neighbors(self, vertex: Any, *, direction: Direction = "out", dense: Literal[False] = False) -> list[list[Any]]: ...
    def neighbors(self, vertex: Any, *, direction: Direction = "out", dense: bool = False) -> Any:
        """The ids of the neighbours of a vertex, as a list, in the order of :meth:`ids`; of several ids, given as for :meth:`vertices`, a list
        of such lists. With ``dense=True``, takes a vertex number and returns an array of vertex numbers, ascending."""
        import numpy

        if dense:
            return numpy.asarray(self._native.neighbors(vertex, direction))
        if not _is_one(vertex):
            return [self.neighbors(one, direction=direction) for one in self._listed(vertex)]
        found = self._native.neighbor_ids(self._checked_id(vertex), direction)
        return found if isinstance(found, list) else numpy.asarray(found).tolist()

    @overload
    def has_edge(self, source: Id, target: Id) -> bool: ...
    @overload
    def has_edge(self, source: Any, target: Any) -> numpy.ndarray: ...
    def has_edge(self, source: Any, target: Any) -> Any:
        """Whether an edge from ``source`` to ``target`` exists. With columns of ids, an array of truth values: one for each pair; one id
        beside a column belongs to all pairs."""
        if _is_one(source) and _is_one(target):
            return _is_id(source) and _is_id(target) and self._native.has_edge(source, target)
        import numpy

        ends = {name: None if _is_one(end) else _columns.column(end, name) for name, end in (("source", source), ("target", target))}
        count = max(len(column) for column in ends.values() if column is not None)
        pairs = [
            _columns.column([self._checked_id(one)] * count, name) if column is None else column
            for (name, column), one in zip(ends.items(), (source, target))
        ]
        return numpy.asarray(self._native.has_edges(*pairs)).astype(bool)

    def edge(self, source: Id, target: Id) -> dict[str, Any]:
        """The properties of an edge; of the first of parallel edges.

        Raises:
            InvalidError: No such edge.
        """
        found = self._native.edge_values(self._checked_id(source), self._checked_id(target))
        if not found:
            raise InvalidError(f"no edge from {source!r} to {target!r}")
        return found[0]

    def edges(self, *, properties: bool = True, progress: Any = None) -> EdgeTable:
        """All edges as columns, by source and then by target in the order of :meth:`ids`; an undirected edge appears once, at the end that comes
        first. They are read when a column is first used; as an Arrow stream, as in
        ``pyarrow.RecordBatchReader.from_stream(g.edges())``, batch by batch. With ``progress``, they are read at once."""
        if progress:
            with _progress.listening(progress, "edges") as callback:
                return EdgeTable(self, *self._native.edges(None, properties, run_settings(progress=callback)))
        settings = run_settings()
        return EdgeTable._later(self, lambda: self._native.edges(None, properties, settings), properties)

    # -- graphs made of this one, in memory

    def reverse(self) -> Graph:
        """The same graph with all edges reversed. An undirected graph is returned as it is."""
        return _views.reverse(self)

    def undirected(self) -> Graph:
        """The same graph without directions. Of two edges in opposite directions, the one with the smaller weight is kept; in a multigraph,
        both are."""
        return _views.undirected(self)

    def subgraph(self, vertices: Iterable[Any], *, dense: bool = False) -> Graph:
        """The graph of some vertices and of the edges between them. ``vertices`` are ids, given as for :meth:`vertices`, or vertex numbers with
        ``dense=True``."""
        return _views.part(self, vertices if dense else self.vertices(vertices))

    def ego(self, vertex: Id, radius: int = 1, *, direction: Direction = "both") -> Graph:
        """The graph of the vertices within ``radius`` steps of a vertex. ``direction`` is ``out``, ``in`` or ``both``."""
        if isinstance(radius, bool) or not hasattr(radius, "__index__") or radius < 0:
            raise InvalidError(f"radius must be a non-negative integer, not {radius!r}")
        _expect_direction(direction)
        radius = min(int(radius), self.num_vertices)  # no path is longer
        return _views.part(self, self._native.within(self._checked_id(vertex), radius, direction))

    def filter(self, where: _views.Where, *, all_vertices: bool = False) -> Graph:
        """The graph of the edges that are wanted, and of the vertices that have one.

        Args:
            where: A condition in the words of SQL, such as ``"amount > 100 and source.country = 'DE'"``; or values of edge properties,
                ``{"kind": "depends"}`` or ``{"kind": ["depends", "suggests"]}``; or a function that takes the edges, an
                :class:`EdgeTable`, and returns ``True`` or ``False`` for each; or these flags themselves.
            all_vertices: Keeps the vertices that are left without an edge.
        """
        return _views.chosen(self, where, all_vertices)

    def where(self, *conditions: str, all_vertices: bool = False) -> PartView:
        """The edges that meet conditions, for the algorithms, and the vertices that have one. It is a way of reading, not a copy.

        >>> g.where("amount > 100 and source.country in ('DE', 'CH')").pagerank()

        Args:
            conditions: Conditions in the words of SQL, as ``esker run --where`` takes them; an edge meets all of them.
            all_vertices: Keeps the vertices that are left without an edge.
        """
        from ._parts import PartView, some

        return PartView(self, (), some(conditions, "a condition"), all_vertices)

    def of_kinds(self, *kinds: str, all_vertices: bool = False) -> PartView:
        """The edges of some kinds, for the algorithms, and the vertices that have one. It is a way of reading, not a copy.

        >>> g.of_kinds("follows", "likes").pagerank()

        Args:
            kinds: The kinds.
            all_vertices: Keeps the vertices that are left without an edge.
        """
        from ._parts import PartView, some

        return PartView(self, some(kinds, "a kind of edges"), (), all_vertices)

    def without(self, *vertices: Id) -> PartView:
        """What is left without some vertices and their edges, for the algorithms, as ``esker run --what-if-without`` reads it. It is a way of
        reading, not a copy; the other vertices stay.

        >>> g.without("alice", "bob").wcc()

        Args:
            vertices: The ids of the vertices.
        """
        from ._parts import PartView, some

        return PartView(self, (), (), False, some(vertices, "a vertex"))

    def group_by(
        self,
        *keys: str,
        count: bool = False,
        sum: Iterable[str] | str = (),
        mean: Iterable[str] | str = (),
        min: Iterable[str] | str = (),
        max: Iterable[str] | str = (),
        where: Iterable[str] | str = (),
        every: str | None = None,
        time: str | None = None,
        sort: str | None = None,
        ascending: bool | None = None,
        top: int | None = None,
    ) -> dict[str, list[Any]]:
        """Groups the edges, as ``esker edges`` does; returns columns, which ``pandas.DataFrame``, ``polars.DataFrame`` and ``pyarrow.table`` take.

        >>> g.group_by("source", sum="amount", count=True, where="currency = 'EUR'", top=10)

        Args:
            keys: ``source``, ``target``, ``vertex`` (each edge counts for both ends), a property of edges, or of ends, as in
                ``target.country``; four at most. Without keys, all edges are one group.
            count: Counts the edges of a group.
            sum: Properties that are added up, in columns such as ``sum_amount``. Missing values are left out, as by the others.
            mean: Properties of which the mean is taken.
            min: Properties of which the least value is taken.
            max: Properties of which the greatest value is taken.
            where: Conditions that edges must meet, as :meth:`where` takes them.
            every: A length of time, such as ``7d``: edges are also grouped by steps of it, whose ends are the column ``until``.
            time: The property that holds the times, if it is not known.
            sort: The column by which groups are sorted; by default ``until``, else the first measure, the greatest first.
            ascending: Whether the least comes first.
            top: How many groups at most.
        """
        from ._parts import groups

        measures = {"sum": sum, "mean": mean, "min": min, "max": max}
        return groups(self, keys, count, measures, where, {"every": every, "time": time, "sort": sort, "ascending": ascending, "top": top})

    # -- other libraries

    def to_networkx(self) -> networkx.Graph:
        """A NetworkX graph with ids as nodes and all properties."""
        return self.edges().to_networkx()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.edges().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """The edges as an Arrow table."""
        return self.edges().to_arrow()

    def to_pandas(self) -> pandas.DataFrame:
        """The edges as a pandas data frame: the ids of sources and targets, and the properties."""
        return self.edges().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The edges as a Polars data frame: the ids of sources and targets, and the properties."""
        return self.edges().to_polars()

    def to_scipy(self, *, direction: Literal["out", "in"] = "out", weight: bool | str = True) -> scipy.sparse.csr_array:
        """The adjacency matrix: row and column ``i`` belong to element ``i`` of :meth:`ids`. Rows are sources, or targets with
        ``direction="in"``. ``weight`` names the edge property that gives the values: by default the weight; ``False``: ones. Parallel edges
        are entries of their own, which SciPy adds.

        For a version in a single plain layer without parallel edges, targets and weights are mapped, not copied. That needs two things: SciPy's index type has the same width, and the
        database numbers the vertices in the order of their ids, as with ``order="keep"``. Do not write to them.
        """
        import numpy
        import scipy.sparse

        if not isinstance(weight, (bool, str)):
            raise MistypedError(f"weight must be the name of an edge property, True or False, not {type(weight).__name__}")
        name = self.weight if weight is True else weight or None
        if name is not None and self.edge_properties.get(name, "text") not in _views.NUMBERS:
            kind = self.edge_properties.get(name)
            raise InvalidError(f"no edge property of numbers is called {name!r}: {'there is none' if kind is None else f'its type is {kind}'}")
        if direction not in ("out", "in"):
            raise InvalidError(f"direction must be one of 'out', 'in', not {direction!r}")
        rows = csr(self._native, direction, name is not None, run_settings()) if name in (None, self.weight) else None
        n = self.num_vertices
        if rows is None:
            table = self.edges()
            ends = (table.source, table.target) if direction == "out" else (table.target, table.source)
            values = numpy.ones(len(table)) if name is None else _columns.all_given(table.properties[name], name)
            if not self.directed:
                loops = ends[0] != ends[1]
                ends = tuple(numpy.concatenate([ends[i], ends[1 - i][loops]]) for i in (0, 1))
                values = numpy.concatenate([values, values[loops]])
            # Not by way of a matrix of coordinates, which would add parallel edges.
            order = numpy.lexsort((ends[1], ends[0]))
            offsets = numpy.concatenate([[0], numpy.cumsum(numpy.bincount(ends[0], minlength=n))])
            return scipy.sparse.csr_array((values[order], ends[1][order].astype(numpy.int64), offsets), shape=(n, n))
        offsets, targets, weights = rows
        targets = numpy.asarray(targets)
        targets = targets.view(numpy.int32 if targets.itemsize == 4 else numpy.int64)
        offsets = numpy.asarray(offsets).view(numpy.int64)
        values = numpy.ones(len(targets)) if weights is None else numpy.asarray(weights)
        if self.multigraph:  # SciPy adds parallel edges in place
            targets, offsets, values = targets.copy(), offsets.copy(), values.copy()
        matrix = scipy.sparse.csr_array((n, n), dtype=values.dtype)
        matrix.indptr = offsets if targets.itemsize == 8 else offsets.astype(numpy.int32)
        matrix.indices, matrix.data = targets, values
        if targets.itemsize == 4 and len(targets) >= 1 << 31:
            matrix.indptr, matrix.indices = offsets, targets.astype(numpy.int64)
        matrix.has_sorted_indices = True
        return matrix

    def features(self, *names: str, **named: Feature) -> pandas.DataFrame:
        """Values of the vertices as one pandas data frame: a row for each vertex in the order of :meth:`ids`, with its id as the index, and a
        column for each feature.

        Args:
            names: Names of features, which also name the columns: an algorithm, such as ``"pagerank"``, which runs with its default options
                and gives its principal column; ``"degree"``, ``"in_degree"`` or ``"out_degree"``; or a vertex property.
            named: Columns by name: a :class:`Result` of this graph or of its windows, a column of one, a name as above, or an array with a
                value for each element of :meth:`ids`.

        >>> g.features("pagerank", "kcore", "degree", "age", steps=g.bfs("alice"))
        """
        return features(self, names, named)

    def to_pyg(self, x: Iterable[str] | None = None, y: str | None = None) -> Any:
        """A pair of PyTorch Geometric stores (``FeatureStore``, ``GraphStore``): node ``i`` is element ``i`` of :meth:`ids`. Requires
        torch_geometric.

        Args:
            x: The vertex properties used as features; by default all numeric ones except ``y``.
            y: The vertex property used as label.
        """
        return pyg.stores(self, x, y)

    # -- the interface of NetworkX backends

    def is_directed(self) -> bool:
        """Same as :attr:`directed`, for NetworkX."""
        return self.directed

    def is_multigraph(self) -> bool:
        """Same as :attr:`multigraph`, for NetworkX."""
        return self.multigraph

    def number_of_nodes(self) -> int:
        """Same as :attr:`num_vertices`, for NetworkX."""
        return self.num_vertices

    def number_of_edges(self) -> int:
        """Same as :attr:`num_edges`, for NetworkX."""
        return self.num_edges
