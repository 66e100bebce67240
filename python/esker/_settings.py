"""Settings of runs and imports: threads, memory, seed, progress."""

from __future__ import annotations

import datetime
import os
import re
from typing import TYPE_CHECKING, Any, Callable, Literal, Union

if TYPE_CHECKING:
    import numpy

from . import _cancel, _progress
from ._errors import InvalidError, MistypedError

Memory = Union[int, str, None]
ProgressOption = Union[bool, Callable[["_progress.Progress"], object], None]

Order = Literal["auto", "keep", "degree"]
Encoding = Literal["plain", "compressed", "tiles"]
Sync = Literal["always", "interval", "never"]
Direction = Literal["out", "in", "both"]
#: What becomes of edges that exist or are given several times.
Duplicates = Literal["keep", "first", "last", "sum", "min", "max", "error", "rows"]
#: When what a version records happened.
EventTime = Union[str, datetime.datetime, datetime.date, "numpy.datetime64", None]

#: Larger than the memory of any machine.
_MEMORY_MAX = (1 << 63) - 1
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)


def is_moment(value: Any) -> bool:
    """Whether a value is a ``numpy.datetime64``."""
    return getattr(getattr(value, "dtype", None), "kind", None) == "M" and getattr(value, "shape", None) == ()


def moment_text(time: Any) -> str:
    """A ``numpy.datetime64`` as the native half takes it: in UTC, a day or a moment to the nanosecond."""
    import numpy

    if numpy.isnat(time):
        raise InvalidError("NaT is not a time")
    if numpy.datetime_data(time.dtype)[0] in ("Y", "M", "W", "D"):
        return str(time.astype("datetime64[D]"))
    seconds = time.astype("datetime64[s]")
    fraction = time - seconds
    nanoseconds = fraction.astype("timedelta64[ns]")
    if nanoseconds != fraction:
        raise InvalidError(f"{time} is finer than a nanosecond: round it with .astype('datetime64[ns]')")
    return f"{seconds}.{nanoseconds.astype(int):09}Z"


def time_text(time: datetime.datetime | datetime.date) -> str:
    """A time as the native half takes it; a time without a zone is in UTC, as in arrays."""
    if not isinstance(time, datetime.datetime):
        return time.isoformat()
    if type(time) is not datetime.datetime and hasattr(time, "to_datetime64"):  # pandas
        return moment_text(time.to_datetime64())
    if time.tzinfo is None:
        time = time.replace(tzinfo=datetime.timezone.utc)
    # A text that ends with its seconds would mean the whole second, and one with six digits a whole microsecond.
    return time.astimezone(datetime.timezone.utc).replace(tzinfo=None).isoformat(timespec="microseconds") + "000Z"


def event_time_text(time: EventTime) -> str | None:
    """An event time as text."""
    if time is None or isinstance(time, str):
        return time
    if is_moment(time):
        return moment_text(time)
    if not isinstance(time, datetime.date):
        raise MistypedError(f"event_time must be a datetime, a date or a string such as '2011-06-01', not {type(time).__name__}")
    return time_text(time)


def memory_bytes(memory: Memory, name: str = "memory") -> int | None:
    """A size in bytes; it is a number of bytes, or a string such as ``"2GiB"`` or ``"512MB"``."""
    if memory is None:
        return None
    if isinstance(memory, str):
        match = _SIZE.fullmatch(memory)
        if not match:
            raise InvalidError(f"{name} must be a size such as '2GiB' or '512MB', not {memory!r}")
        number, unit, binary = match.groups()
        base = 1024 if binary else 1000
        return min(int(float(number) * base ** " kmgt".index(unit.lower() or " ")), _MEMORY_MAX)
    if isinstance(memory, bool) or not hasattr(memory, "__index__"):
        raise MistypedError(f"{name} must be a number of bytes or a string such as '2GiB', not {type(memory).__name__}")
    if memory < 0:
        raise InvalidError(f"{name} must not be negative, but is {memory}")
    return min(int(memory), _MEMORY_MAX)


def thread_count(threads: int | None) -> int:
    """The number of threads; by default one per processor available to this process. 0 means unknown, which the library resolves."""
    if threads is None:
        try:
            return len(os.sched_getaffinity(0))
        except AttributeError:
            return 0
    if isinstance(threads, bool) or not hasattr(threads, "__index__"):
        raise MistypedError(f"threads must be an integer, not {type(threads).__name__}")
    if not 0 < threads <= 1024:
        raise InvalidError(f"threads must be from 1 to 1024, not {threads}")
    return int(threads)


def run_settings(
    threads: int | None = None,
    memory: Memory = None,
    seed: int = 0,
    deterministic: bool = False,
    progress: Any = None,
) -> dict[str, Any]:
    """The settings of a run, checked."""
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise MistypedError(f"seed must be an integer, not {type(seed).__name__}")
    if not 0 <= seed < 1 << 64:
        raise InvalidError(f"seed must be from 0 to 2^64 - 1, not {seed}")
    if not isinstance(deterministic, bool):
        raise MistypedError(f"deterministic must be True or False, not {deterministic!r}")
    return {
        "threads": thread_count(threads),
        "memory": memory_bytes(memory),
        "seed": int(seed),
        "deterministic": deterministic,
        "progress": progress,
        "cancel": _cancel.current(),
    }


def head_length(heads: int | bool, only: bool) -> int | None:
    """The length of the heads to store: ``None`` for none, 0 for as long as the memory holds."""
    if heads is not True and heads is not False and (not hasattr(heads, "__index__") or heads < 1):
        raise InvalidError(f"heads must be a positive number, True or False, not {heads!r}")
    if heads and only:
        raise InvalidError("only=True stores no lists, and heads are of lists: leave out heads or only")
    return 0 if heads is True else None if heads is False else int(heads)


def build_settings(
    *,
    directed: bool | None = None,
    in_edges: bool = True,
    order: str = "auto",
    encoding: str = "plain",
    only: bool = False,
    duplicates: str | None = None,
    kind: str | None = None,
    self_loops: str = "keep",
    bad_lines: str = "stop",
    rejects: str | None = None,
    threads: int | None = None,
    memory: Memory = None,
    message: str | None = None,
    event_time: EventTime = None,
    progress: Any = None,
) -> dict[str, Any]:
    """The settings of an import. Checks types; the native half checks names."""
    for name, flag in (("directed", directed), ("in_edges", in_edges), ("only", only)):
        if not isinstance(flag, bool) and (name != "directed" or flag is not None):
            raise MistypedError(f"{name} must be True or False, not {flag!r}")
    texts = {"order": order, "encoding": encoding, "duplicates": duplicates, "kind": kind, "self_loops": self_loops, "bad_lines": bad_lines}
    for name, value in texts.items():
        if not isinstance(value, str) and (name not in ("duplicates", "kind") or value is not None):
            raise MistypedError(f"{name} must be a string, not {type(value).__name__}")
    return {
        "directed": directed,
        "in_edges": in_edges,
        "order": order,
        "encoding": encoding,
        "only": only,
        "duplicates": duplicates,
        "kind": kind,
        "self_loops": self_loops,
        "bad_lines": bad_lines,
        "rejects": rejects,
        "threads": thread_count(threads),
        "memory": memory_bytes(memory),
        "message": message or None,
        "event_time": event_time_text(event_time),
        "progress": progress,
        "cancel": _cancel.current(),
    }


def view_choice(weight: Any, undirected: Any) -> tuple[str | None, bool]:
    """The edge property that is the weight, and whether directions are dropped; checked."""
    if weight is not None and not isinstance(weight, str):
        raise MistypedError(f"weight must be the name of an edge property, not {type(weight).__name__}")
    if not isinstance(undirected, bool):
        raise MistypedError(f"undirected must be True or False, not {undirected!r}")
    return weight, undirected
