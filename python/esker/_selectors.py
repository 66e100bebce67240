"""Arguments that name versions, columns and paths, as the native half takes them."""

from __future__ import annotations

import datetime
import os
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Union

from ._columns import table_of_vertices
from ._errors import InvalidError, MistypedError, NotFoundError
from ._settings import is_moment, moment_text, time_text

if TYPE_CHECKING:
    import numpy

#: A version selector: a number, a tag, a time, or ``latest``.
At = Union[int, str, datetime.datetime, datetime.date, "numpy.datetime64", None]
Path = Union[str, "os.PathLike[str]"]


def selector(version: At, at: At) -> str | None:
    """The version selector as text; ``None`` if none is given."""
    if version is not None and at is not None:
        raise InvalidError("give version or at, not both")
    given = version if version is not None else at
    if given is None:
        return None
    if isinstance(given, datetime.date):
        return time_text(given)
    if is_moment(given):
        return moment_text(given)
    if isinstance(given, bool) or not (isinstance(given, str) or hasattr(given, "__index__")):
        raise MistypedError(f"a version must be a number, a tag, a time or 'latest', not {type(given).__name__}")
    return given if isinstance(given, str) else str(given.__index__())


def read_settings(
    format: str | None,
    source: str | int | None,
    target: str | int | None,
    weight: str | int | bool | None,
    time: str | int | bool | None,
    properties: Iterable[str] | str | None,
    ids: str,
    delimiter: str | None,
    header: bool | None,
    quotes: bool | None,
    vertices: Any,
    schema: Mapping[str, str] | None,
    both_ends: bool = False,
    default: Mapping[str, Any] | None = None,
    date_format: str | Mapping[str, str] | None = None,
    decimal_comma: bool | None = None,
    timezone: str | None = None,
    null: str | Iterable[str] | None = None,
) -> dict[str, Any]:
    """The settings for reading files."""

    def pick(column: Any) -> str | None:
        return None if column is None or column is True else "" if column is False else str(column)

    for name, flag in (("header", header), ("quotes", quotes), ("both_ends", both_ends), ("decimal_comma", decimal_comma)):
        if flag is not None and not isinstance(flag, bool):
            raise MistypedError(f"{name} must be True or False, not {flag!r}")
    for name, text in (("format", format), ("ids", ids), ("delimiter", delimiter), ("timezone", timezone)):
        if text is not None and not isinstance(text, str):
            raise MistypedError(f"{name} must be a string, not {type(text).__name__}")
    return {
        "format": format,
        "source": None if source is None else str(source),
        "target": None if target is None else str(target),
        "weight": pick(weight),
        "time": pick(time),
        "properties": None if properties in (None, "all") else [str(name) for name in properties],
        "all_properties": properties == "all",
        "ids": ids,
        "delimiter": delimiter,
        "header": header,
        "quotes": quotes,
        "vertices": _vertices_text(vertices) if names_vertices(vertices) else None,
        "vertex_table": None if vertices is None or names_vertices(vertices) else table_of_vertices(vertices, "vertices"),
        "both_ends": both_ends,
        "schema": schema_items(schema),
        "default": _default_items(default),
        "date_format": _format_items(date_format),
        "null": _words(null),
        "decimal_comma": decimal_comma,
        "timezone": timezone,
    }


def _words(null: Any) -> list[str]:
    """Words that stand for no value."""
    words = [null] if isinstance(null, str) else [] if null is None else list(null) if hasattr(null, "__iter__") else null
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise MistypedError(f"null must be a word or several words, not {null!r:.60}")
    return words


def _format_items(formats: str | Mapping[str, str] | None) -> list[tuple[str | None, str]]:
    """Formats of dates, each with the name of its column; without one, it is of all columns."""
    if formats is None:
        return []
    items = [(None, formats)] if isinstance(formats, str) else list(formats.items()) if isinstance(formats, Mapping) else None
    if items is None or not all(isinstance(format, str) and isinstance(name, (str, type(None))) for name, format in items):
        raise MistypedError("date_format must be a format, or formats by name, as in {'day': '%d.%m.%Y'}")
    return items


def _default_items(default: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Values of edges that lack one, as names and texts."""
    if default is None:
        return []
    if not isinstance(default, Mapping) or not all(isinstance(name, str) for name in default):
        raise MistypedError("default must be values by name, as in {'weight': 1}")
    return [(name, str(value).lower() if isinstance(value, bool) else str(value)) for name, value in default.items()]


def schema_items(schema: Mapping[str, str] | None) -> list[tuple[str, str]]:
    """Declared properties as names and types."""
    if schema is None:
        return []
    if not isinstance(schema, Mapping):
        raise MistypedError(f"schema must be types by name, as in {{'since': 'date'}}, not {type(schema).__name__}")
    for name, kind in schema.items():
        if not isinstance(name, str) or not isinstance(kind, str):
            raise MistypedError(f"schema must be types by name, as in {{'since': 'date'}}, but it has {name!r}: {kind!r}")
    return list(schema.items())


def names_vertices(vertices: Any) -> bool:
    """Whether vertices are given as a file or a number, and not as a table."""
    return isinstance(vertices, (str, bytes, bool, int, os.PathLike))


def _vertices_text(vertices: Path | int) -> str:
    """A number of vertices, or the path of a file of their ids."""
    if isinstance(vertices, int) and not isinstance(vertices, bool):
        if vertices < 0:
            raise InvalidError(f"vertices must be a file or a non-negative number, not {vertices}")
        return str(vertices)
    text = path_text(vertices)
    return f"./{text}" if text.isdecimal() else text


def path_text(path: Any) -> str:
    """A path as text."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise MistypedError(f"expected a path, got {type(path).__name__}")
    text = os.fsdecode(path)
    if not text or "\0" in text:
        raise InvalidError(f"{text!r} is not a valid path")
    return text


def expect_distinct(**files: Any) -> None:
    """Refuses one file for two outputs.

    Raises:
        InvalidError: Two of the files are one.
    """
    seen: dict[str, str] = {}
    for name, file in files.items():
        if file is None:
            continue
        other = seen.setdefault(os.path.realpath(path_text(file)), name)
        if other != name:
            raise InvalidError(f"{other} and {name} both name the file {path_text(file)}; give them different files")


def database_path(path: Any) -> str:
    """The path of a database as text, absolute, so that it holds when the process changes its directory."""
    return os.path.abspath(path_text(path))


def expect_path_exists(path: str) -> None:
    """Checks that a path exists."""
    if not os.path.exists(path):
        raise NotFoundError(f"{path} does not exist; check the path, or create a database with esker.create")
