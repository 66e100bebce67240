"""Pictures of a part of a graph."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._counted import counted
from ._errors import InvalidError, MistypedError
from ._esker import save_picture
from ._selectors import path_text

if TYPE_CHECKING:
    import numpy

    from ._esker import PictureParts
    from ._notebook import PictureWidget


class Picture:
    """A picture of a part of a graph, which notebooks show. ``svg`` is its text, ``ids`` the vertices that are drawn, and ``found`` the number of
    vertices that could be."""

    def __init__(self, svg: str, ids: list[Any], places: list[tuple[float, float]], found: int, parts: PictureParts) -> None:
        self.svg = svg
        self.ids = ids
        self.found = found
        self._places = places
        self._parts = parts

    @property
    def positions(self) -> numpy.ndarray:
        """The places of the vertices: a row with x and y for each of ``ids``; y grows downwards."""
        import numpy

        return numpy.array(self._places, dtype=numpy.float64).reshape(-1, 2)

    def save(self, path: str | Path, *, replace: bool = False) -> None:
        """Writes the picture to an SVG file. A file that stands there is refused, unless ``replace`` is set.

        Raises:
            ExistsError: The file exists.
            InvalidError: The name does not end in ``.svg``, or the file would lie in a database.
        """
        text = path_text(path)
        if os.path.splitext(text)[1].lower() != ".svg":
            raise InvalidError(f"{text} does not end in .svg, the only form of pictures")
        if not isinstance(replace, bool):
            raise MistypedError(f"replace must be True or False, not {replace!r:.60}")
        save_picture(text, self.svg, replace)

    def show(self, *, height: int = 480) -> PictureWidget:
        """The same picture as a widget: a notebook shows it, and one moves in it, selects vertices and drags them. Needs the package ``anywidget``.

        Args:
            height: In pixels.
        """
        if isinstance(height, bool) or not hasattr(height, "__index__") or height < 1:
            raise InvalidError(f"height must be an integer from 1 on, not {height!r}")
        try:
            from ._notebook import PictureWidget
        except ModuleNotFoundError as error:
            raise ImportError(f"show needs the package {error.name}: pip install 'esker[notebook]'") from error
        return PictureWidget(self, height=int(height))

    def _scene(self) -> dict[str, Any]:
        """What the widget draws."""
        directed, edges, colours, sizes, legend = self._parts
        vertices = [
            {"id": str(one), "x": x, "y": y, "colour": colour, "size": size}
            for one, (x, y), colour, size in zip(self.ids, self._places, colours, sizes)
        ]
        lines = [{"colour": colour, "text": text} for colour, text in legend]
        return {"directed": directed, "vertices": vertices, "edges": edges, "legend": lines, "found": self.found}

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        shown = counted(len(self.ids), "vertex", "vertices")
        return f"<esker.Picture of {shown}>" if len(self.ids) == self.found else f"<esker.Picture of {len(self.ids)} of {self.found} vertices>"
