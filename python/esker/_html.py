"""Tables for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any, Iterable, Sequence

#: Rows that a table shows.
ROWS = 50


def table(title: str, head: Sequence[str], rows: Sequence[Iterable[Any]], total: int | None = None) -> str:
    """A title above a table; of more rows than :data:`ROWS` the first are shown."""
    total = len(rows) if total is None else total

    def cells(values: Iterable[Any], tag: str) -> str:
        return "".join(f"<{tag}>{escape(_text(value))}</{tag}>" for value in values)

    lines = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows[:ROWS])
    header = f"<tr>{cells(head, 'th')}</tr>" if rows and any(head) else ""
    rest = f"<p>and {total - ROWS:,} more</p>" if total > ROWS else ""
    return f"<p>{escape(title)}</p><table>{header}{lines}</table>{rest}"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return format(value, ".6g")
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)
