"""Clusters: one graph in several databases, each held by a process of its own. The command ``esker`` does the work."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, Iterator, Literal, Mapping, NamedTuple, Sequence, cast

from . import _cancel, _cluster_command, _cluster_errors, _errors
from ._cluster_command import Finished
from ._counted import counted
from ._database import Database
from ._opening import open as open_database
from ._selectors import At, Path, database_path, path_text, selector
from ._settings import Memory, memory_bytes

if TYPE_CHECKING:
    import pyarrow

#: The options of algorithms.
_OPTIONS = ("max_depth", "damping", "tolerance", "rounds", "delta", "iterations")


def cluster(
    path: Path,
    *,
    shards: int | None = None,
    database: Path | Database | None = None,
    directed: bool = True,
    ids: Literal["int", "text"] = "int",
    weights: Literal["int", "float"] | None = None,
    hub_degree: int | None = None,
    seed: int | None = None,
    hosts: Path | None = None,
    secret: Path | None = None,
    command: Path | None = None,
) -> Cluster:
    """Opens a cluster, or makes one if ``shards`` or ``hosts`` is given: one graph in several databases, each held by a process of its own.

    The command ``esker``, built with clusters, does the work. It is looked for beside Python and on ``PATH``.

    Args:
        path: The directory of the cluster.
        shards: The number of shards, and of worker processes, of a new cluster.
        database: A database, or its path. The new cluster gets the vertices, edges and weights of its newest version, and takes over whether
            edges are directed and the types of ids and weights.
        directed: Whether the edges of a new cluster are directed.
        ids: The type of the ids of a new cluster.
        weights: The type of the weights of a new cluster, if its edges have weights.
        hub_degree: The edges of a vertex from which on they are spread over all shards; by default as the command decides.
        seed: The seed of the hash that gives vertices to shards; by default random.
        hosts: A file that lists the machines of a new cluster, a line for each shard, where ``esker cluster worker`` waits.
        secret: The file with the secret that these workers know.
        command: The command ``esker``, if it is elsewhere.

    Raises:
        NotFoundError: There is no cluster at ``path``, or no command.
        ExistsError: Something is at the ``path`` of a new cluster.
    """
    found = Cluster(path, command)
    if shards is None and hosts is None:
        if not os.path.exists(found.path):
            raise _errors.NotFoundError(f"{found.path} does not exist: give shards to make a cluster there, or hosts")
        found.log()
        return found
    given = {"shards": shards, "hub-degree": hub_degree, "seed": seed}
    if database is not None:
        found._call("split", _database(database), found.path, given=given)
    else:
        places = {"hosts": None if hosts is None else _file(hosts), "secret": None if secret is None else _file(secret)}
        flags = [] if directed else ["--undirected"]
        found._call("create", found.path, *flags, given={**given, **places, "ids": ids, "weights": weights})
    return found


class ClusterChange(NamedTuple):
    """What a change of a cluster did."""

    versions: list[int]
    """The versions that it made; none if there were no edges."""
    edges: int
    """The edges that were given."""
    workers: list[dict[str, Any]]
    """What each worker process counted: messages, bytes, peak memory, and where the time went."""


class ClusterStep(NamedTuple):
    """What a version of a cluster changed in an answer."""

    version: int
    """The version."""
    changes: pyarrow.Table
    """The vertices whose values changed, with the columns ``vertex``, ``old`` and ``new``."""


class Cluster:
    """A cluster, as :func:`esker.cluster` opens it. Each call starts the worker processes that it needs; they end with it."""

    def __init__(self, path: Path, command: Path | None = None) -> None:
        self._path = database_path(path)
        self._command = _cluster_command.find(command)

    @property
    def path(self) -> str:
        """The directory."""
        return self._path

    @property
    def version(self) -> int:
        """The newest version."""
        return int(self.log()[0]["version"])

    def __repr__(self) -> str:
        return f"<esker.Cluster {self.path!r}>"

    def add(
        self,
        edges: Any,
        *,
        source: str | int | None = None,
        target: str | int | None = None,
        weight: str | None = None,
        header: bool | None = None,
        message: str | None = None,
        batch: int | None = None,
        memory: Memory = None,
    ) -> ClusterChange:
        """Adds edges as a version; of a weighted cluster, those that exist get the new weight.

        Args:
            edges: Files, or a table with the columns ``source`` and ``target`` (Arrow, pandas, Polars, or a dict of arrays).
            source: The column of sources of files, a name or a number from 1, if it has another name than usual.
            target: The column of targets.
            weight: The column of the weights, if it has another name than usual.
            header: Whether the first line of a CSV names the columns, where nothing tells.
            message: The message of the version.
            batch: Make a version after this number of edges or somewhat more, since each worker reads blocks of a mebibyte.
            memory: Memory limit of each worker, such as ``"256MiB"``: versions are made whenever the edges fill half of it.
        """
        with _files(edges) as files:
            given = {"weight": weight, "message": message or _message("add", edges), "batch": batch, "memory": memory}
            return self._change("add", files, {**given, "src": source, "dst": target}, *_header(header))

    def delete(
        self,
        edges: Any,
        *,
        source: str | int | None = None,
        target: str | int | None = None,
        header: bool | None = None,
        message: str | None = None,
        batch: int | None = None,
        memory: Memory = None,
    ) -> ClusterChange:
        """Deletes edges as a version. Edges that do not exist are passed over; vertices stay.

        Args:
            edges: As in :meth:`add`.
            source: As in :meth:`add`.
            target: As in :meth:`add`.
            header: As in :meth:`add`.
            message: The message of the version.
            batch: As in :meth:`add`.
            memory: Memory limit of each worker.
        """
        with _files(edges) as files:
            given = {"message": message or _message("delete", edges), "batch": batch, "memory": memory}
            return self._change("delete", files, {**given, "src": source, "dst": target}, *_header(header))

    def stream(
        self,
        file: Path,
        *,
        commit_every: str | int = "1s",
        source: str | None = None,
        from_start: bool = False,
        follow: bool = False,
        weight: str | None = None,
        header: bool | None = None,
        memory: Memory = None,
    ) -> ClusterChange:
        """Adds the edges of a file or pipe as they come, until its end. The same call again takes only the edges that no version has.

        Args:
            file: The file.
            commit_every: A version is made after this time or this number of edges.
            source: The name of the stream in versions; by default the path of the file.
            from_start: Read the stream from its start, also if versions have edges of it.
            follow: Wait at the end of the file for what will be appended to it, until Ctrl-C, which commits what was read.
            weight: The column of the weights.
            header: As in :meth:`add`.
            memory: Memory limit of each worker.
        """
        given = {"commit-every": commit_every, "source": source, "weight": weight, "memory": memory}
        flags = [name for name, wanted in (("--from-start", from_start), ("--follow", follow)) if wanted]
        change = self._change("stream", [_file(file)], given, *flags, *_header(header))
        _cancel.current()  # The command commits what it has read, and succeeds.
        return change

    def run(
        self, algorithm: str, *, source: int | str | Sequence[int | str] | None = None, at: At = None, memory: Memory = None, **options: Any
    ) -> pyarrow.Table:
        """Runs an algorithm on all shards together, and gathers the answer: ``degrees``, ``bfs``, ``wcc``, ``pagerank``, ``kcore``,
        ``colouring``, ``sssp``, ``triangles`` or ``cdlp``.

        The rows are in the order of the ids, which must be texts or less than 2^63. The metadata ``esker`` of the schema is
        JSON with rounds, figures, and what workers counted.

        Args:
            algorithm: Its name.
            source: The vertex to begin with; of ``bfs`` several are allowed.
            at: The version: a number, a time, or ``"latest"``; by default the newest.
            memory: Memory limit of each worker.
            options: Options of the algorithm: ``max_depth`` of ``bfs``, ``damping``, ``tolerance`` and ``rounds`` of ``pagerank``, ``delta`` of ``sssp``,
                ``iterations`` of ``cdlp``.

        Raises:
            MemoryLimitError: ``memory`` is too little; the message names a limit that suffices.
            UnsuitableError: The cluster has integer ids from 2^63 on; :meth:`merge` makes a database, which has answers for all ids.
        """
        import pyarrow.ipc

        unknown = [name for name in options if name not in _OPTIONS]
        if unknown:
            raise _errors.MistypedError(f"run has no option {unknown[0]!r}; it gathers all values, and takes {', '.join(_OPTIONS)}")
        several = hasattr(source, "__iter__") and not isinstance(source, str)
        sources = [f"--source={one}" for one in cast("Sequence[int | str]", source)] if several else []
        given = {"source": None if several else source, "at": at, "memory": memory}
        given |= {name.replace("_", "-"): value for name, value in options.items()}
        with tempfile.TemporaryDirectory() as place:
            file = os.path.join(place, "answer.arrow")
            self._call("run", algorithm, self.path, *sources, "--output", file, given=given)
            with pyarrow.OSFile(file) as opened:
                return pyarrow.ipc.open_file(opened).read_all()

    def estimate(self, algorithm: str, *, at: At = None) -> list[dict[str, Any]]:
        """What a run needs in the worker of each shard: memory, and bytes that it sends, in all or a round.

        Args:
            algorithm: Its name.
            at: The version: a number, a time, or ``"latest"``; by default the newest.
        """
        shards: list[dict[str, Any]] = self._json("estimate", algorithm, self.path, given={"at": at})["shards"]
        return shards

    @contextlib.contextmanager
    def follow(
        self,
        algorithm: Literal["wcc", "bfs", "colouring"],
        *,
        source: int | str | None = None,
        start: int | None = None,
        initial: bool = False,
        once: bool = False,
        memory: Memory = None,
    ) -> Iterator[Iterator[ClusterStep]]:
        """Keeps an answer up to date while others change the cluster. Use it with ``with``: it gives an iterator of steps, which waits for
        versions; the workers end with the block.

        Args:
            algorithm: ``wcc``, ``bfs`` or ``colouring``.
            source: The vertex to begin with, of ``bfs``.
            start: The first version; by default the newest.
            initial: Whether the first step has the values of all vertices.
            once: Whether to end with the newest version that there is.
            memory: Memory limit of each worker.
        """
        first = self.version if start is None else start
        flags = [name for name, wanted in (("--initial", initial), ("--once", once)) if wanted]
        words = self._words("follow", algorithm, self.path, "--arrow", *flags, given={"source": source, "from": first, "memory": memory})
        with _cluster_command.running(words) as command:

            def steps() -> Iterator[ClusterStep]:
                import pyarrow.ipc

                with contextlib.suppress(pyarrow.ArrowInvalid):  # The command ended before the stream did, and says why.
                    for version, batch in enumerate(pyarrow.ipc.open_stream(command.output), first):
                        _cancel.current()
                        yield ClusterStep(version, pyarrow.Table.from_batches([batch]))
                done = command.finish()
                if done.code != 0:
                    raise _cluster_errors.failure(done)

            yield steps()

    def info(self, *, at: At = None) -> dict[str, Any]:
        """The sizes of the cluster and of its shards.

        Args:
            at: The version: a number, a time, or ``"latest"``; by default the newest.
        """
        return self._json("info", self.path, given={"at": at})

    def log(self) -> list[dict[str, Any]]:
        """The versions, newest first."""
        versions: list[dict[str, Any]] = self._json("log", self.path)["versions"]
        return versions

    def check(self) -> dict[str, Any]:
        """Verifies every shard, and that they fit together: ``sound`` says whether, ``problems`` what is not."""
        done = self._run("check", self.path, "--json")
        if done.code != 0 and not done.output:
            raise _cluster_errors.failure(done)
        report: dict[str, Any] = json.loads(done.output)
        return report

    def edges(self, *, at: At = None) -> pyarrow.Table:
        """All edges, each once: the columns ``source``, ``target`` and, if edges have weights, ``weight``. Integer ids are ``int64``, or
        ``uint64`` if one of them needs it.

        Args:
            at: The version: a number, a time, or ``"latest"``; by default the newest.
        """
        import pyarrow.csv

        facts = self.info(at=at)
        weights = {} if facts["weights"] == "none" else {"weight": pyarrow.int64() if facts["weights"] == "int" else pyarrow.float64()}
        kinds = [pyarrow.int64(), pyarrow.uint64()] if facts["ids"] == "int" else [pyarrow.string()]
        with tempfile.TemporaryDirectory() as place:
            file = os.path.join(place, "edges.csv")
            self.export(file, at=facts["version"])
            parsing = pyarrow.csv.ParseOptions(newlines_in_values=True)

            def read(kind: Any) -> pyarrow.Table:
                types = {"source": kind, "target": kind, **weights}
                converting = pyarrow.csv.ConvertOptions(column_types=types, strings_can_be_null=False)
                return pyarrow.csv.read_csv(file, parse_options=parsing, convert_options=converting)

            for kind in kinds[:-1]:
                with contextlib.suppress(pyarrow.ArrowInvalid):  # An id exceeds the type.
                    return read(kind)
            return read(kinds[-1])

    def export(self, file: Path, *, at: At = None) -> None:
        """Writes all edges to a new CSV file, each once.

        Args:
            file: The file.
            at: The version: a number, a time, or ``"latest"``; by default the newest.
        """
        self._call("export", self.path, _file(file), given={"at": at})

    def rebalance(self, path: Path, shards: int, *, at: At = None, seed: int | None = None) -> Cluster:
        """Makes a cluster with another number of shards of a version of this one, which stays.

        Args:
            path: The directory of the new cluster.
            shards: Its number of shards.
            at: The version: a number, a time, or ``"latest"``; by default the newest.
            seed: The seed of the hash that gives vertices to shards.
        """
        made = Cluster(path, self._command)
        self._call("rebalance", self.path, made.path, given={"shards": shards, "at": at, "seed": seed})
        return made

    def merge(self, path: Path, *, at: At = None) -> Database:
        """Makes a database of a version of the cluster, and opens it for reading.

        Args:
            path: The directory of the database.
            at: The version: a number, a time, or ``"latest"``; by default the newest.
        """
        made = database_path(path)
        self._call("merge", self.path, made, given={"at": at})
        return open_database(made)

    def _change(self, verb: str, files: list[str], given: dict[str, Any], *flags: str) -> ClusterChange:
        report = self._json(verb, self.path, *files, *flags, given=given)
        return ClusterChange(report["versions"], report["edges"], report["workers"])

    def _words(self, *words: str, given: dict[str, Any] | None = None) -> list[str]:
        values = dict(given or {})
        values["memory"] = memory_bytes(values.get("memory"))
        values["at"] = selector(None, values.get("at"))
        options = [f"--{name}={value}" for name, value in values.items() if value is not None]
        return [self._command, "cluster", *words, *options]

    def _run(self, *words: str, given: dict[str, Any] | None = None) -> Finished:
        return _cluster_command.run(self._words(*words, given=given))

    def _call(self, *words: str, given: dict[str, Any] | None = None) -> str:
        done = self._run(*words, given=given)
        if done.code != 0:
            raise _cluster_errors.failure(done)
        return done.output

    def _json(self, *words: str, given: dict[str, Any] | None = None) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self._call(*words, "--json", given=given))
        return report


def _header(header: bool | None) -> list[str]:
    """The option of a header."""
    return [] if header is None else ["--header" if header else "--no-header"]


def _file(path: Path) -> str:
    """The path of a file as the command takes it: a dash begins options."""
    text = path_text(path)
    return f"./{text}" if text.startswith("-") else text


def _database(database: Path | Database) -> str:
    """The path of a database."""
    if not isinstance(database, Database):
        return database_path(database)
    if database._path is None:
        raise _errors.InvalidError("a cluster is made of a database on disk: create the database with a path")
    database._created()
    return database._path


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _message(verb: str, edges: Any) -> str | None:
    """The message of a version whose edges come from memory: the name of a file that is gone says nothing."""
    return None if _is_path(edges) or _are_paths(edges) else f"{verb} edges from Python"


def _are_paths(edges: Any) -> bool:
    return isinstance(edges, (list, tuple)) and len(edges) > 0 and all(map(_is_path, edges))


@contextlib.contextmanager
def _files(edges: Any) -> Iterator[list[str]]:
    """The files of edges; a table is written to one."""
    if _is_path(edges):
        yield [_file(edges)]
    elif _are_paths(edges):
        yield [_file(one) for one in edges]
    else:
        import pyarrow.parquet

        table = _table(edges)
        with tempfile.TemporaryDirectory() as place:
            file = os.path.join(place, "edges.parquet")
            pyarrow.parquet.write_table(table, file)
            try:
                yield [file]
            except _errors.Error as error:
                raise _cluster_errors.of_table(error, file) from None


def _table(edges: Any) -> pyarrow.Table:
    """The table of edges that are no files."""
    import pyarrow

    if isinstance(edges, Mapping):
        edges = {name: _column(name, values) for name, values in edges.items()}
        lengths = {name: len(values) for name, values in edges.items()}
        if len(set(lengths.values())) > 1:
            (first, count), *others = lengths.items()
            other, differs = next(one for one in others if one[1] != count)
            raise _errors.InvalidError(
                f"columns must have the same length: {first} has {counted(count, 'element')}, {other} has {differs}"
            )
    try:
        table = pyarrow.table(edges)
    except (TypeError, ValueError) as error:
        kinds = "files, or a table with the columns source and target (Arrow, pandas, Polars, or a dict of arrays)"
        raise _errors.MistypedError(f"edges must be {kinds}, not {type(edges).__name__}") from error
    if table.num_rows == 0:  # An empty list has no type.
        of_type = [field.with_type(pyarrow.int64()) if pyarrow.types.is_null(field.type) else field for field in table.schema]
        return table.cast(pyarrow.schema(of_type))
    return table


def _column(name: Any, values: Any) -> Any:
    """The Arrow array of a column. Integers from 2^63 on need the unsigned type."""
    import pyarrow

    if isinstance(values, (pyarrow.Array, pyarrow.ChunkedArray)):
        return values
    try:
        return pyarrow.array(values)
    except OverflowError:
        try:
            return pyarrow.array(values, pyarrow.uint64())
        except (OverflowError, TypeError, ValueError) as error:
            raise _errors.InvalidError(f"the column {name!r} has integers that no type holds: ids are from 0 to 2^64 - 1") from error
    except (TypeError, ValueError) as error:
        raise _errors.MistypedError(f"the column {name!r} is no array of integers, numbers or texts: {error}") from error
