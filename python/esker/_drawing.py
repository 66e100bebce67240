"""Pictures of a part of a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._counted import counted
from ._errors import InvalidError

if TYPE_CHECKING:
    import numpy


class Picture:
    """A picture of a part of a graph, which notebooks show. ``svg`` is its text, ``ids`` the vertices that are drawn, and ``found`` the number of
    vertices that could be."""

    def __init__(self, svg: str, ids: list[Any], places: list[tuple[float, float]], found: int) -> None:
        self.svg = svg
        self.ids = ids
        self.found = found
        self._places = places

    @property
    def positions(self) -> numpy.ndarray:
        """The places of the vertices: a row with x and y for each of ``ids``; y grows downwards."""
        import numpy

        return numpy.array(self._places, dtype=numpy.float64).reshape(-1, 2)

    def save(self, path: str | Path, *, replace: bool = False) -> None:
        """Writes the picture to an SVG file. A file that stands there is refused, unless ``replace`` is set."""
        path = Path(path)
        if path.suffix.lower() != ".svg":
            raise InvalidError(f"{path} does not end in .svg, the only form of pictures")
        with open(path, "w" if replace else "x", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        shown = counted(len(self.ids), "vertex", "vertices")
        return f"<esker.Picture of {shown}>" if len(self.ids) == self.found else f"<esker.Picture of {len(self.ids)} of {self.found} vertices>"
