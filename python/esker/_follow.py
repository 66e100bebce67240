"""Answers that follow the versions of a database."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple

from . import _cancel, _progress
from ._algorithms import ALGORITHMS
from ._errors import InvalidError, MistypedError
from ._esker import follow
from ._selectors import At, selector
from ._settings import Memory, run_settings

if TYPE_CHECKING:
    import numpy

    from ._database import Database

#: Seconds between two looks for a new version.
_LOOK_EVERY = 0.02


class FollowStep(NamedTuple):
    """What one version changed of an answer."""

    version: int
    """The number of the version."""
    changed: list[tuple[Any, Any, Any]]
    """The vertices with another value: id, old value, new value. ``None`` stands for no value, such as that of a removed vertex."""
    recomputed: bool
    """Whether the answer was computed anew: because that was cheaper than an update, or there is none."""
    until: numpy.datetime64 | None = None
    """The last time of the window; ``None`` without a window."""


class Follow:
    """An answer that follows the versions of a database, made by :meth:`esker.Database.follow`.

    An iteration waits for the next version, and yields what it changed.
    """

    __slots__ = ("algorithm", "_native", "_wait")

    def __init__(self, native: Any, algorithm: str, wait: bool) -> None:
        self.algorithm: str = algorithm
        """The name of the algorithm."""
        self._native, self._wait = native, wait

    @property
    def version(self) -> int:
        """The number of the version that the answer is of."""
        return self._native.version

    @property
    def figures(self) -> dict[str, int | float | bool]:
        """The figures of the answer, such as the number of components."""
        return self._native.facts()

    def top(self, count: int = 10) -> list[tuple[Any, Any]]:
        """The vertices with the largest values, or the largest groups and their sizes, as :meth:`esker.Result.top`."""
        if isinstance(count, bool) or not hasattr(count, "__index__"):
            raise MistypedError(f"count must be an integer, not {type(count).__name__}")
        if count < 0:
            raise InvalidError(f"count must not be negative, not {count}")
        rows: list[tuple[Any, Any]] = []
        self._native.top(count.__index__(), rows)
        return rows

    @property
    def refused(self) -> str | None:
        """Why the state that was kept is of no use, so that the answer was computed anew; ``None`` if there is no such reason."""
        return self._native.refused

    def keep(self) -> bool:
        """Keeps the state in the directory of the database, durably, for ``follow(..., resume=True)``; also after this process has ended.

        Returns whether it can be kept: not of lengths and widths of paths, nor of what is computed anew at each step.
        """
        return self._native.keep()

    def poll(self) -> FollowStep | None:
        """What the next version changed; ``None`` if there is no newer version. Does not wait."""
        step = self._native.next()
        if step is None:
            return None
        version, changed, recomputed, end = step
        if end is None:
            return FollowStep(version, changed, recomputed)
        import numpy

        return FollowStep(version, changed, recomputed, numpy.datetime64(*end))

    def __iter__(self) -> Iterator[FollowStep]:
        return self

    def __next__(self) -> FollowStep:
        while (step := self.poll()) is None:
            if not self._wait:
                raise StopIteration
            _cancel.current()
            time.sleep(_LOOK_EVERY)
        return step

    def __repr__(self) -> str:
        return f"<esker.Follow of {self.algorithm} at version {self.version}>"


def started(
    database: Database,
    algorithm: str,
    begin: tuple[At, bool],
    wait: bool,
    choice: tuple[str | None, bool],
    window: tuple[Any, ...] | None,
    settings: dict[str, Any],
    options: dict[str, Any],
) -> Follow:
    """Computes the answer to follow, at ``begin``: a version, and whether to go on from what was kept."""
    start, resume = begin
    if resume and start is not None:
        raise InvalidError("start names a version to begin with, and resume begins with the version of a state: give one of them")
    if not isinstance(algorithm, str):
        raise MistypedError(f"algorithm must be a string, not {type(algorithm).__name__}")
    found = next((one for one in ALGORITHMS.values() if algorithm in (one.name, one.method)), None)
    if found is None:
        raise InvalidError(f"no algorithm is called {algorithm!r}: esker.ALGORITHMS lists them")
    known = {option.keyword for option in found.options}
    unknown = [name for name in options if name not in known]
    if unknown:
        raise MistypedError(f"{found.method} has no option {unknown[0]!r}; it has {', '.join(sorted(known)) or 'none'}")
    wanted = selector(start, None)
    texts = found.texts(options, database.graph(start)._existing_id_text)
    native = database._created()
    with _progress.listening(settings.pop("progress"), found.name) as callback:
        made = follow(native, found.name, texts, choice, wanted, window, bool(resume), run_settings(**settings, progress=callback))
    return Follow(made, found.name, wait)
