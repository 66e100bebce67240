"""Progress reports: a bar of tqdm or rich if installed, else a line of text, or a callback."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, Callable, Iterator, NamedTuple

from ._counted import counted
from ._errors import MistypedError


class Progress(NamedTuple):
    """The argument of a progress callback."""

    stage: str
    """The name of the current stage, such as ``betweenness``."""
    fraction: float | None
    """The fraction of the stage that is done, 0 to 1; ``None`` if unknown."""
    round: int | None
    """The round of an algorithm, from 1."""
    count: int
    """Number of active vertices in the round, or of edges read so far."""
    done: int | None = None
    """The parts of the stage that are done, such as sources of searches or peeled vertices; ``None`` if unknown."""
    total: int | None = None
    """The number of all parts of the stage; ``None`` if unknown."""


@contextlib.contextmanager
def listening(progress: Any, name: str) -> Iterator[Callable[..., None] | None]:
    """The callback for the native half that implements the option ``progress``."""
    if progress is None or progress is False:
        yield None
    elif callable(progress):
        yield lambda *args: progress(Progress(*args)) and None
    elif progress is not True:
        raise MistypedError(f"progress must be True, False or a callable, not {type(progress).__name__}")
    else:
        bar = _bar(name)
        try:
            yield lambda *args: bar.show(Progress(*args))
        finally:
            bar.close()


def _bar(name: str) -> Any:
    for make in (_Tqdm, _Rich):
        try:
            return make(name)
        except ImportError:
            pass
    return _Plain(name)


def _count_text(now: Progress) -> str:
    return f"round {now.round:,}, {now.count:,} active" if now.round else counted(now.count, "edge")


def _position(now: Progress) -> int:
    """How far a bar is: in percent, or in rounds where no fraction is known."""
    return (now.round or 0) if now.fraction is None else round(100 * now.fraction)


class _Tqdm:
    def __init__(self, name: str) -> None:
        from tqdm.auto import tqdm

        self._new, self._bar, self._name = tqdm, None, name
        self._stage = "", False

    def show(self, now: Progress) -> None:
        known = now.fraction is not None
        if self._bar is None or (now.stage, known) != self._stage:
            self.close()
            self._stage = now.stage, known
            self._bar = self._new(desc=now.stage, total=100 if known else None, unit="%" if known else " rounds")
        at = _position(now)
        self._bar.set_postfix_str(_count_text(now), refresh=False)
        self._bar.update(max(0, at - self._bar.n))

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class _Rich:
    def __init__(self, name: str) -> None:
        from rich.progress import Progress as Bars

        self._bars = Bars(transient=True)
        self._task = self._bars.add_task(name, total=None)
        self._bars.start()

    def show(self, now: Progress) -> None:
        total = 100 if now.fraction is not None else None
        at = _position(now)
        text = f"{now.stage}, {_count_text(now)}"
        self._bars.update(self._task, total=total, completed=at, description=text)

    def close(self) -> None:
        self._bars.stop()


class _Plain:
    def __init__(self, name: str) -> None:
        self._next, self._shown = time.monotonic() + 0.5, False

    def show(self, now: Progress) -> None:
        if time.monotonic() < self._next:
            return
        self._next, self._shown = time.monotonic() + 0.2, True
        done = "" if now.fraction is None else f"{100 * now.fraction:.0f} %, "
        sys.stderr.write(f"\r{now.stage}: {done}{_count_text(now)}\x1b[K")
        sys.stderr.flush()

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
