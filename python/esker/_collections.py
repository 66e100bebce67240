"""Making many objects."""

from __future__ import annotations

import contextlib
import gc
from typing import Iterator


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Keeps the garbage collector from looking at all objects again and again while they are made."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            if not gc.get_freeze_count():
                # Makes all objects old ones, at once. As young ones, they would all be looked at now: after Ctrl-C, that is a long wait.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
