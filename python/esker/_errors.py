"""The exceptions of Esker. All derive from :class:`Error`, and also from the matching built-in exception if there is one."""

from __future__ import annotations


class Error(Exception):
    """Base class of all exceptions of Esker."""

    def __str__(self) -> str:  # KeyError would show the message in quotes
        return str(self.args[0]) if self.args else ""


class InvalidError(Error, ValueError):
    """An argument is invalid for this graph or database; the message says what is accepted."""


class MistypedError(Error, TypeError):
    """An argument has the wrong type, such as floats as ids, or strings if ids are integers."""


class NotFoundError(Error, FileNotFoundError):
    """The file or database does not exist."""


class ExistsError(Error, FileExistsError):
    """The path of a new database or file already exists."""


class PermissionDeniedError(Error, PermissionError):
    """The operating system denied permission."""


class StorageError(Error, OSError):
    """An operation on a file failed; ``errno`` and ``filename`` give the error and the file."""


class LockedError(Error, OSError):
    """Another process, or another handle of this one, has the database open for writing."""


class CorruptError(Error):
    """A file of a database is damaged; ``path`` and ``offset`` give the place."""

    path: str = ""
    offset: int = 0


class LostError(Error):
    """A file of a database, or a part of it, is missing or was replaced by an older copy; ``path`` names it. See :func:`esker.recover`."""

    path: str = ""


class InputError(Error, ValueError):
    """An input is malformed; ``path``, ``line``, ``text`` and ``reason`` say where and why."""

    path: str = ""
    line: int | None = None
    text: str = ""
    reason: str = ""


class VertexNotFoundError(Error, KeyError):
    """No vertex has the id."""


class VersionNotFoundError(Error, KeyError):
    """No version has the number or tag, or all versions are newer than the time."""


class PropertyNotFoundError(Error, KeyError):
    """No property or column has the name."""


class UnsuitableError(Error, ValueError):
    """The graph or the result is unsuitable for the operation: directed, for example, or with negative weights."""


class MemoryLimitError(Error, MemoryError):
    """The run does not fit the memory limit ``limit_bytes``; a limit of ``needed_bytes`` would suffice."""

    needed_bytes: int = 0
    limit_bytes: int = 0


class ClosedError(Error, ValueError):
    """The database or the batch is closed."""


class ReadOnlyError(Error, PermissionError):
    """The database is open for reading only."""


class ForkedError(Error, RuntimeError):
    """The database was opened for writing before the process forked."""


class Cancelled(Error):
    """The work was cancelled by an :class:`esker.Cancel`. Ctrl-C raises ``KeyboardInterrupt``, which would also end the loop of asyncio."""


class WrongAnswerError(Error, AssertionError):
    """The verifier (``verify=True``) rejected an answer: a bug in Esker."""


class EskerWarning(UserWarning):
    """Category of all warnings of Esker."""
