"""The exceptions of Esker: a tree under :class:`Error`, each also of Python's own type where there is one."""

from __future__ import annotations


class Error(Exception):
    """What all exceptions of Esker are."""

    def __str__(self) -> str:  # KeyError would show the representation of its message
        return str(self.args[0]) if self.args else ""


class InvalidError(Error, ValueError):
    """An argument makes no sense for this graph or database; the message says what would."""


class MistypedError(Error, TypeError):
    """An argument is of the wrong type: floats as ids, say, or texts where ids are integers."""


class NotFoundError(Error, FileNotFoundError):
    """There is no such file or database."""


class ExistsError(Error, FileExistsError):
    """Something stands where a database or file is to be made."""


class PermissionDeniedError(Error, PermissionError):
    """The operating system does not allow it."""


class StorageError(Error, OSError):
    """The operating system refused an operation on a file; ``errno`` and ``filename`` say which."""


class CorruptError(Error):
    """A file of a database is not what was written; ``path`` and ``offset`` say where."""

    path: str = ""
    offset: int = 0


class InputError(Error, ValueError):
    """An input could not be understood; ``path``, ``line``, ``text`` and ``reason`` say where and why."""

    path: str = ""
    line: int | None = None
    text: str = ""
    reason: str = ""


class VertexNotFoundError(Error, KeyError):
    """No vertex has the id."""


class VersionNotFoundError(Error, KeyError):
    """There is no such version, tag, or version so old."""


class PropertyNotFoundError(Error, KeyError):
    """There is no property of the name."""


class UnsuitableError(Error, ValueError):
    """The graph does not allow the computation: it is directed, say, or weights are negative."""


class MemoryLimitError(Error, MemoryError):
    """The run does not fit its memory; ``needed_bytes`` would suffice, and ``limit_bytes`` is what it was given."""

    needed_bytes: int = 0
    limit_bytes: int = 0


class ClosedError(Error, ValueError):
    """The database or the batch is closed."""


class ReadOnlyError(Error, PermissionError):
    """The database is open for reading."""


class ForkedError(Error, RuntimeError):
    """The database was opened for writing before the process forked."""


class Cancelled(Error, KeyboardInterrupt):
    """The work was cancelled. Ctrl-C itself raises the ``KeyboardInterrupt`` of the interpreter."""


class WrongAnswerError(Error, AssertionError):
    """``verify=True`` found an answer wrong: a defect of Esker."""


class EskerWarning(UserWarning):
    """What all warnings of Esker are."""
