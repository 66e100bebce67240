"""Decides which columns of a table are the source, the target and the weight of edges: by name, then by position."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from ._errors import InvalidError

#: Usual names of the columns, letters and digits only, as for files.
_SOURCES = frozenset(
    "src source from u sourceid srcid fromid startid start fromnodeid fromnode sourcenode node1 vertex1 id1 v1".split()
)
_TARGETS = frozenset(
    "dst target to v targetid dstid toid endid end tonodeid tonode targetnode node2 vertex2 id2 v2 dest destination".split()
)
_WEIGHTS = frozenset("weight w wgt edgeweight".split())


class Roles(NamedTuple):
    """The columns of a table by their part in the edges."""

    source: str
    target: str
    weight: str | None
    properties: list[str]
    """All columns except the ends, the weight included."""


def expect_once(names: Sequence[Any]) -> None:
    """Refuses columns of the same name.

    Raises:
        InvalidError: Two columns have one name.
    """
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise InvalidError(f"two columns are called {twice!r}; rename one of them")


def roles(names: Sequence[Any], weight: str | bool | None, usual_weight: str, by_position: bool = True, ends: tuple[str, str] | None = None) -> Roles:
    """Finds the columns of edges.

    Args:
        names: The names of all columns in order.
        weight: The name of the column of the weight; ``None`` means `usual_weight`, if a column has that name; ``False`` no column.
        usual_weight: The usual name of the weight.
        by_position: Whether two columns with other names are source and target in this order.
        ends: The names of the columns of the source and the target, if they are chosen.

    Raises:
        InvalidError: No column, or more than one, can be an end, or no column has the name of the weight.
    """
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise InvalidError(f"the names of columns must be strings, not {wrong[0]!r}; a table needs columns source and target")
    expect_once(names)
    for name in (weight, *(ends or ())):
        if isinstance(name, str) and name not in names:
            raise InvalidError(f"no column is called {name!r}; the columns are {list(names)}")
    others = [name for name in names if name not in (ends or ())]
    chosen = weight if isinstance(weight, str) else usual_weight if usual_weight in others else None
    if chosen is None and weight is None and usual_weight == "weight":
        chosen = _named(others, usual_weight, _WEIGHTS)
    if ends is not None:
        return Roles(*ends, None, []) if weight is False else Roles(*ends, chosen, others)
    free = [name for name in names if name != chosen]
    source, target = _named(free, "source", _SOURCES), _named(free, "target", _TARGETS)
    rest = [name for name in free if name not in (source, target)]
    if by_position and len(free) == 2:
        source = source or rest.pop(0)
        target = target or rest.pop(0)
    for end, what in ((source, "source"), (target, "target")):
        if end is None:
            raise InvalidError(
                f"no column is called {what}; rename the column of the {what}, or pass two columns; the columns are {list(names)}"
            )
    assert source is not None and target is not None
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
