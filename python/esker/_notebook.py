"""The picture in a notebook: a widget on the part of the page of ``esker serve`` that draws. Needs the package ``anywidget``."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from ._counted import counted

if TYPE_CHECKING:
    import numpy

    from ._drawing import Picture

#: The program of the widget, which ``node web/build.mjs`` makes.
_PROGRAM = gzip.decompress(Path(__file__).with_name("widget.js.gz").read_bytes()).decode()


class PictureWidget(anywidget.AnyWidget):
    """A picture that one moves in, made by :meth:`esker.Picture.show`. A click selects a vertex, with Shift several; vertices can be dragged.
    Where there is no widget, as in an exported page, the SVG of the picture stands in its place."""

    _esm = _PROGRAM
    scene = traitlets.Dict().tag(sync=True)
    """What is drawn."""
    height = traitlets.Int(480).tag(sync=True)
    """In pixels."""
    chosen = traitlets.List(traitlets.Int()).tag(sync=True)
    """The places of the selected vertices among ``picture.ids``, in the order of selection."""
    moved = traitlets.Dict().tag(sync=True)
    """New coordinates of vertices that were dragged, by their place as text."""

    def __init__(self, picture: Picture, **given: Any) -> None:
        super().__init__(scene=picture._scene(), **given)
        self.picture = picture
        """The picture."""

    @property
    def selected(self) -> numpy.ndarray:
        """The ids of the selected vertices, in the order of selection."""
        import numpy

        ids = [self.picture.ids[place] for place in self.chosen if 0 <= place < len(self.picture.ids)]
        return numpy.array(ids, dtype=object if ids and isinstance(ids[0], str) else numpy.int64)

    @property
    def positions(self) -> numpy.ndarray:
        """The places of the vertices as they were dragged: a row with x and y for each of ``picture.ids``; y grows downwards."""
        places = self.picture.positions
        for place, (x, y) in self.moved.items():
            if int(place) < len(places):
                places[int(place)] = x, y
        return places

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if data is not None:
            data["image/svg+xml"] = self.picture.svg
        return bundle

    def __repr__(self) -> str:
        return f"<esker.PictureWidget of {counted(len(self.picture.ids), 'vertex', 'vertices')}>"
