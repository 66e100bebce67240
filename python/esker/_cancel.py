"""Cancels calls from another thread."""

from __future__ import annotations

import contextvars
from types import TracebackType
from typing import Any

from ._errors import Cancelled
from ._esker import CancelHandle


class Cancel:
    """Cancels from any thread what runs in its ``with`` block, which raises :class:`Cancelled` soon after :meth:`cancel`: algorithms, imports,
    commits, exports, and the reading of objects, also of an iterator that never ends.

    >>> handle = esker.Cancel()
    >>> def rank():
    ...     with handle:
    ...         return graph.pagerank()
    >>> task = asyncio.create_task(asyncio.to_thread(rank))
    >>> handle.cancel()

    One handle serves any number of threads. In nested blocks, the inner handle counts. A commit stops as well,
    and changes nothing, unless it is being written to the log: then it finishes first.
    """

    def __init__(self) -> None:
        self._native = CancelHandle()

    def __enter__(self) -> Cancel:
        _HANDLES.set((self, _HANDLES.get()))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        outer = _HANDLES.get()
        _HANDLES.set(outer[1] if outer else None)

    def __repr__(self) -> str:
        return f"<esker.Cancel, {'cancelled' if self.cancelled else 'not cancelled'}>"

    def cancel(self) -> None:
        """Cancels what runs, and what begins later in a block of this handle."""
        self._native.cancel()

    @property
    def cancelled(self) -> bool:
        """Whether :meth:`cancel` was called."""
        return self._native.cancelled


#: The handles of the blocks that this thread or task is in: the innermost, and those around it.
_HANDLES: contextvars.ContextVar[Any] = contextvars.ContextVar("esker_cancel", default=None)


def current() -> CancelHandle | None:
    """The handle of the innermost block.

    Raises:
        Cancelled: It was cancelled already.
    """
    handles = _HANDLES.get()
    if handles is None:
        return None
    if handles[0].cancelled:
        raise Cancelled("cancelled")
    return handles[0]._native


def is_cancelled() -> bool:
    """Whether the handle of the innermost block was cancelled. The native half asks now and then."""
    handles = _HANDLES.get()
    return handles is not None and handles[0].cancelled
