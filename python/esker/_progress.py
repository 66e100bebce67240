"""Progress bars: of tqdm or rich where they are installed, a plain line where not, or a callback."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, Callable, Iterator, NamedTuple

from ._errors import MistypedError


class Progress(NamedTuple):
    """What a callback is told."""

    stage: str
    """What is being done."""
    fraction: float | None
    """How much of the stage is done, 0 to 1, if that can be known."""
    round: int | None
    """The round of an algorithm, from 1."""
    count: int
    """Vertices that are active in the round, or edges read so far."""


@contextlib.contextmanager
def listening(progress: Any, name: str) -> Iterator[Callable[..., None] | None]:
    """What the native half calls, for the option ``progress``."""
    if progress is None or progress is False:
        yield None
    elif callable(progress):
        yield lambda *told: progress(Progress(*told)) and None
    elif progress is not True:
        raise MistypedError(f"progress is True, False or something to call, not {type(progress).__name__}")
    else:
        bar = _bar(name)
        try:
            yield lambda *told: bar.show(Progress(*told))
        finally:
            bar.close()


def _bar(name: str) -> Any:
    for make in (_Tqdm, _Rich):
        try:
            return make(name)
        except ImportError:
            pass
    return _Plain(name)


def _remark(told: Progress) -> str:
    return f"{told.count:,} active" if told.round else f"{told.count:,} edges"


class _Tqdm:
    def __init__(self, name: str) -> None:
        from tqdm.auto import tqdm

        self._new, self._bar, self._name = tqdm, None, name
        self._stage = ""

    def show(self, told: Progress) -> None:
        if self._bar is None or told.stage != self._stage:
            self.close()
            self._stage = told.stage
            known = told.fraction is not None
            self._bar = self._new(desc=told.stage, total=100 if known else None, unit="%" if known else " rounds")
        at = told.round or round(100 * (told.fraction or 0.0))
        self._bar.set_postfix_str(_remark(told), refresh=False)
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

    def show(self, told: Progress) -> None:
        total = 100 if told.fraction is not None else None
        at = told.round or 100 * (told.fraction or 0.0)
        text = f"{told.stage}, {_remark(told)}"
        self._bars.update(self._task, total=total, completed=at, description=text)

    def close(self) -> None:
        self._bars.stop()


class _Plain:
    def __init__(self, name: str) -> None:
        self._next, self._shown = time.monotonic() + 0.5, False

    def show(self, told: Progress) -> None:
        if time.monotonic() < self._next:
            return
        self._next, self._shown = time.monotonic() + 0.2, True
        done = f"round {told.round}" if told.round else f"{100 * (told.fraction or 0.0):.0f} %"
        sys.stderr.write(f"\r{told.stage}: {done}, {_remark(told)}\x1b[K")
        sys.stderr.flush()

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
