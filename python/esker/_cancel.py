"""Cancels calls from another thread."""

from __future__ import annotations

import contextvars
import threading
from types import TracebackType
from typing import Iterator, NamedTuple

from ._errors import Cancelled
from ._esker import CancelHandle


class Cancel:
    """Cancels from any thread what runs in its ``with`` block, which raises :class:`Cancelled` soon after :meth:`cancel`: algorithms, imports,
    commits, exports, what runs on clusters, and the reading of objects, also of an iterator that never ends.

    >>> handle = esker.Cancel()
    >>> def rank():
    ...     with handle:
    ...         return graph.pagerank()
    >>> task = asyncio.create_task(asyncio.to_thread(rank))
    >>> handle.cancel()

    One handle serves any number of threads. In nested blocks, each of the handles cancels. A commit stops as well,
    and changes nothing, unless it is being written to the log: then it finishes first.
    """

    def __init__(self) -> None:
        self._cancelled = False
        # The native handles of the open blocks that this handle cancels: its own, and those within them.
        self._blocks: set[CancelHandle] = set()

    def __enter__(self) -> Cancel:
        outer = _HANDLES.get()
        block = _Block(CancelHandle(), self, outer)
        with _LOCK:
            for one in block.handles():
                one._blocks.add(block.native)
                if one._cancelled:
                    block.native.cancel()
        _HANDLES.set(block)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        block = _HANDLES.get()
        if block is None:
            return
        with _LOCK:
            for one in block.handles():
                one._blocks.discard(block.native)
        _HANDLES.set(block.outer)

    def __repr__(self) -> str:
        return f"<esker.Cancel, {'cancelled' if self.cancelled else 'not cancelled'}>"

    def cancel(self) -> None:
        """Cancels what runs, and what begins later in a block of this handle."""
        with _LOCK:
            self._cancelled = True
            for block in self._blocks:
                block.cancel()

    @property
    def cancelled(self) -> bool:
        """Whether :meth:`cancel` was called."""
        return self._cancelled


class _Block(NamedTuple):
    """An open block."""

    native: CancelHandle
    owner: Cancel
    outer: _Block | None

    def handles(self) -> Iterator[Cancel]:
        """The handles that cancel what runs in the block."""
        block: _Block | None = self
        while block is not None:
            yield block.owner
            block = block.outer


#: Held for moments only.
_LOCK = threading.Lock()
#: The innermost block that this thread or task is in.
_HANDLES: contextvars.ContextVar[_Block | None] = contextvars.ContextVar("esker_cancel", default=None)


def current() -> CancelHandle | None:
    """The native handle of the innermost block.

    Raises:
        Cancelled: It was cancelled already.
    """
    block = _HANDLES.get()
    if block is None:
        return None
    if block.native.cancelled:
        raise Cancelled("cancelled")
    return block.native


def is_cancelled() -> bool:
    """Whether the innermost block was cancelled. The native half asks now and then."""
    block = _HANDLES.get()
    return block is not None and block.native.cancelled
