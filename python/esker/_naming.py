"""Decides which columns of a table are the source, the target and the weight of edges: by names as for files, then by position."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from ._errors import InvalidError
from ._esker import edge_ends

#: Usual names of the weight, letters and digits only, as for files.
_WEIGHTS = frozenset("weight w wgt edgeweight".split())


class Roles(NamedTuple):
    """The columns of a table by their part in the edges."""

    source: str
    target: str
    weight: str | None
    properties: list[str]
    """All columns except the ends, the weight included."""


def roles(names: Sequence[Any], weight: str | bool | None, usual_weight: str, by_position: bool = True) -> Roles:
    """Finds the columns of edges.

    Args:
        names: The names of all columns in order.
        weight: The name of the column of the weight; ``None`` means `usual_weight`, if a column has that name; ``False`` no column.
        usual_weight: The usual name of the weight.
        by_position: Whether two columns with other names are source and target in this order.

    Raises:
        InvalidError: No column, or more than one, can be an end, or no column has the name of the weight.
    """
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise InvalidError(f"the names of columns must be strings, not {wrong[0]!r}; a table needs columns source and target")
    twice = [name for at, name in enumerate(names) if name in names[:at]]
    if twice:
        raise InvalidError(f"two columns are called {twice[0]!r}; rename one of them")
    if isinstance(weight, str) and weight not in names:
        raise InvalidError(f"no column is called {weight!r}; the columns are {list(names)}")
    chosen = weight if isinstance(weight, str) else usual_weight if usual_weight in names else None
    if chosen is None and weight is None and usual_weight == "weight":
        chosen = _named(names, usual_weight, _WEIGHTS)
    exact = tuple(names.index(end) for end in ("source", "target") if end in names)
    found = exact if len(exact) == 2 else edge_ends(list(names), names.index(chosen) if chosen else None, not by_position)
    if found is None:
        raise InvalidError(
            "cannot tell which columns hold the ends of the edges; call them 'source' and 'target', or pass two columns; "
            f"the columns are {list(names)}"
        )
    source, target = (names[end] for end in found)
    if weight is False:
        return Roles(source, target, None, [])
    return Roles(source, target, chosen, [name for name in names if name not in (source, target)])


def _named(names: Sequence[str], exact: str, usual: frozenset[str]) -> str | None:
    """The column with a usual name. The documented name comes first; several others are ambiguous."""
    if exact in names:
        return exact
    found = [name for name in names if "".join(c for c in name.lower() if c.isalnum()) in usual]
    if len(found) > 1:
        raise InvalidError(
            f"the columns {' and '.join(map(repr, found))} could both be the {exact}; call one of them {exact!r}, or pass two columns"
        )
    return found[0] if found else None
