"""Numbers with their nouns, for messages."""

from __future__ import annotations


def counted(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun: ``1 edge``, ``2 edges``, ``1,234 vertices``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
