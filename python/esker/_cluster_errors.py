"""What the command ``esker`` says of a failure, as exceptions that speak Python."""

from __future__ import annotations

import re

from . import _errors
from ._cluster_command import INSTALL, INTERRUPTED, Finished
from ._esker import command_failure

#: What an argument parser says that has no verb ``cluster``; it may be that of any version.
_WITHOUT_CLUSTERS = re.compile(r"subcommand 'cluster'")


def failure(done: Finished) -> _errors.Error:
    """The exception for what a command that failed said: the last line is JSON, of what goes wrong before or beside that, text."""
    if done.code in INTERRUPTED:
        return _errors.Cancelled("the command was interrupted")
    last = (done.errors.rstrip().splitlines() or [""])[-1]
    found = command_failure(last)
    if _WITHOUT_CLUSTERS.search(str(found or done.errors)):
        return _errors.NotFoundError(f"the command `esker` was built without clusters: {INSTALL}")
    return found or _errors.Error(last or f"the command ended with exit code {done.code}")


def of_table(error: _errors.Error, file: str) -> _errors.Error:
    """An error in edges that a file holds for the command: of the table that the caller gave."""
    message = re.sub(re.escape(file) + r":(\d+)(?=:)", r"row \1 of the table", str(error))
    return type(error)(message.replace(file, "the table"))
