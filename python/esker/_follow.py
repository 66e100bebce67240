"""Answers that follow the versions of a database."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, NamedTuple, Optional

from . import _cancel, _progress
from ._algorithms import ALGORITHMS
from ._errors import InvalidError, MistypedError
from ._esker import follow
from ._selectors import At, selector
from ._settings import Memory, run_settings

if TYPE_CHECKING:
    import numpy

    from ._database import Database

#: What is called with each alert.
OnAlert = Optional[Callable[[Dict[str, Any]], object]]

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
    alerts: list[dict[str, Any]] = []
    """The alerts that the version raised; see :meth:`Follow.alerts`."""


class Follow:
    """An answer that follows the versions of a database, made by :meth:`esker.Database.follow`.

    An iteration waits for the next version, and yields what it changed.
    """

    __slots__ = ("algorithm", "first_alerts", "_untold", "_native", "_wait", "_on_alert", "_raises")

    def __init__(self, native: Any, algorithm: str, wait: bool, on_alert: OnAlert, raises: bool) -> None:
        self.algorithm: str = algorithm
        """The name of the algorithm."""
        self._native, self._wait, self._on_alert, self._raises = native, wait, on_alert, raises
        texts, end = native.first_alerts()
        self.first_alerts: list[dict[str, Any]] = self._raised(texts, native.version, end)
        """The alerts of the first answer: rows that meet the condition."""
        self._untold = self.first_alerts

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
        version, changed, recomputed, end, texts = step
        self._untold = []
        return FollowStep(version, changed, recomputed, _moment(end), self._raised(texts, version, end))

    def _raised(self, texts: list[str], version: int, end: tuple[int, str] | None) -> list[dict[str, Any]]:
        """Alerts as dictionaries, under the version and the end of its window, after they were handed over."""
        alerts = [{**json.loads(text), "version": version} for text in texts]
        for alert in alerts:
            if end is not None:
                alert["until"] = _moment(end)
            if self._on_alert is not None:
                self._on_alert(alert)
        return alerts

    def alerts(self) -> Iterator[dict[str, Any]]:
        """Yields the alerts that ``alert`` and ``alert_new`` raise, first those of the first answer unless a version came since, and then of each
        version as it comes. Each is yielded once.

        An alert is a dictionary as the line of ``esker follow --alert``: ``alert`` is ``"condition"``, ``"new"`` or ``"both"``; then come the columns of the row,
        such as ``vertex`` and ``rank``, or ``component`` and ``vertices``; ``before``, a dictionary of the values that it had, or ``None``; the
        ``version``; and ``until``, the last time of the window, if there is one.

        Raises:
            InvalidError: Nothing raises an alert.
        """
        if not self._raises:
            raise InvalidError("nothing raises an alert: give db.follow alert, a condition, or alert_new=True")
        return self._told()

    def _told(self) -> Iterator[dict[str, Any]]:
        first, self._untold = self._untold, []
        yield from first
        for step in self:
            yield from step.alerts

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


def _moment(end: tuple[int, str] | None) -> numpy.datetime64 | None:
    if end is None:
        return None
    import numpy

    return numpy.datetime64(*end)


def checked_alerts(alert: Any, alert_new: Any, min_change: Any) -> tuple[str | None, bool, float | None]:
    """What raises alerts, checked."""
    if alert is not None and not isinstance(alert, str):
        raise MistypedError(f"alert must be a condition such as 'rank > 0.1', not {type(alert).__name__}")
    if not isinstance(alert_new, bool):
        raise MistypedError(f"alert_new must be True or False, not {alert_new!r}")
    if min_change is not None and (isinstance(min_change, bool) or not hasattr(min_change, "__float__")):
        raise MistypedError(f"min_change must be a number, not {type(min_change).__name__}")
    return alert, alert_new, None if min_change is None else float(min_change)


def started(
    database: Database,
    algorithm: str,
    begin: tuple[At, bool],
    wait: bool,
    choice: tuple[str | None, bool],
    window: tuple[Any, ...] | None,
    alerts: tuple[Any, Any, Any, Any],
    settings: dict[str, Any],
    options: dict[str, Any],
) -> Follow:
    """Computes the answer to follow, at ``begin``: a version, and whether to go on from what was kept."""
    start, resume = begin
    if resume and start is not None:
        raise InvalidError("start names a version to begin with, and resume begins with the version of a state: give one of them")
    *raised, on_alert = alerts
    rule = checked_alerts(*raised)
    if on_alert is not None and not callable(on_alert):
        raise MistypedError(f"on_alert must be callable, not {type(on_alert).__name__}")
    if on_alert is not None and rule[0] is None and not rule[1]:
        raise InvalidError("on_alert has no effect without alerts: alert and alert_new raise them")
    if resume and rule[2] is not None:
        raise InvalidError("a state does not hold what was told last: give resume or min_change")
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
        made = follow(native, found.name, texts, choice, wanted, window, bool(resume), rule, run_settings(**settings, progress=callback))
    return Follow(made, found.name, wait, on_alert, rule[0] is not None or rule[1])
