"""What the command ``esker`` says of a failure, as exceptions that speak Python."""

from __future__ import annotations

import re

from . import _errors
from ._cluster_command import DONE, INSTALL, INTERRUPTED, INTERRUPTED_AFTER, Finished

#: What a message of the command says, and the exception for it.
_KINDS: tuple[tuple[str, type[_errors.Error]], ...] = (
    ("raise the limit to at least", _errors.MemoryLimitError),
    ("the cluster has no version", _errors.VersionNotFoundError),
    ("clusters have no tags", _errors.VersionNotFoundError),
    ("there was no version yet at", _errors.VersionNotFoundError),
    ("no vertex of the cluster has the id", _errors.VertexNotFoundError),
    ("exists: give another", _errors.ExistsError),
    (": choose another name", _errors.ExistsError),
    ("another command is changing", _errors.LockedError),
    ("correct the input", _errors.InputError),
    ("integer ids are demanded", _errors.InputError),
    ("cannot tell which columns", _errors.InputError),
    ("the column of an end is nested", _errors.InputError),
    ("does not hold numbers", _errors.InputError),
    ("holds neither numbers nor texts", _errors.InputError),
    ("of this cluster are integers: make", _errors.InputError),
    ("of this cluster are floats", _errors.InputError),
    ("that is no number", _errors.InputError),
    ("is no cluster", _errors.InvalidError),
    ("is a database, not a cluster", _errors.InvalidError),
    ("needs an undirected cluster", _errors.UnsuitableError),
    ("is damaged", _errors.CorruptError),
    ("No such file or directory", _errors.NotFoundError),
    ("does not exist: check the path", _errors.NotFoundError),
    ("cannot find ", _errors.NotFoundError),
)
#: The exceptions for mistakes of the caller, whichever worker has found them.
_MISTAKES = (_errors.VertexNotFoundError, _errors.UnsuitableError, _errors.NotFoundError, _errors.InputError)
#: Words of the command, and those for the same in Python.
_WORDS = (
    (r"make one with `esker cluster create (?!--)[^`]*`", "make one with esker.cluster(path, shards=...)"),
    (r"`esker cluster create --undirected`", "esker.cluster(..., directed=False)"),
    (r"`esker cluster create --weights (\w+)`", r"esker.cluster(..., weights='\1')"),
    (r"with --weights int or float", "with weights='int' or 'float'"),
    (r"`esker cluster split`", "esker.cluster(..., database=...)"),
    (r"`esker cluster (\w+)`", r"\1()"),
    (r"import the edges with --duplicates last", "import them with duplicates='last'"),
    (r"exists: choose another name, or replace it with --force", "exists: choose another name"),
    (r"import it with --ids text", "a cluster with ids='text' takes it"),
    (r"import with --ids text to take all ids as texts", "a cluster with ids='text' takes all ids as texts"),
    (r", or none with --no-weight", ""),
    (r"(read it from its start|a new file of this name) with --from-start", r"\1 with from_start=True"),
    (r"and run the command again", "and call again"),
    (r"(\w+) (\S+) is not in (\S+?)\.\.=(\S+)", r"\1 must be from \3 to \4, not \2"),
    # Of the parser of options.
    (r"\s+\[possible values: ([^\]]*)\]", r": it is one of \1"),
)
_ARGUMENT = re.compile(r"'--([a-z-]+)(?:[ =]<[^>]*>)?'")


def failure(done: Finished) -> _errors.Error:
    """The exception for what a command that failed said."""
    code, said = done.code, done.errors
    if "unrecognized subcommand 'cluster'" in said:
        return _errors.NotFoundError(f"the command `esker` was built without clusters: {INSTALL}")
    if code in INTERRUPTED:
        return _errors.Cancelled("the command was interrupted")
    message = re.split(r"^(?:esker|error): ", said, flags=re.MULTILINE)[-1].strip()
    wide = re.search(r"the vertex id \d+ exceeds \d+(?=; write \.csv)", message)
    if wide is not None:
        remedy = "merge() makes a database of the cluster, whose graph has answers for all ids"
        return _errors.UnsuitableError(f"{wide[0]}, the greatest integer id in answers of a cluster: {remedy}")
    if code == DONE and message.endswith(INTERRUPTED_AFTER):
        return _errors.Cancelled(message.replace(INTERRUPTED_AFTER, ", then cancelled"))
    kinds = [kind for words, kind in _KINDS if words in message]
    kind = kinds[0] if kinds else _errors.InvalidError if code == 2 else _errors.Error
    if kind in _MISTAKES:
        message = re.sub(r"^the worker of shard \d+ \(process \d+\) failed: ", "", message)
    return kind(_in_python(message) or f"the command ended with exit code {code}")


def _in_python(message: str) -> str:
    """A message of the command in terms of Python, without the usage of the command."""
    message = re.split(r"\n\n(?:Usage:|For more information|  tip:)", message)[0]
    for words, meant in _WORDS:
        message = re.sub(words, meant, message)
    message = _ARGUMENT.sub(lambda found: found[1].replace("-", "_"), message)
    return _errors.in_python(message)


def of_table(error: _errors.Error, file: str) -> _errors.Error:
    """An error in edges that a file holds for the command: of the table that the caller gave."""
    message = re.sub(re.escape(file) + r":(\d+)(?=:)", r"row \1 of the table", str(error))
    return type(error)(message.replace(file, "the table"))
