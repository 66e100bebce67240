"""Pictures in notebooks: the widget's values, and what comes back."""

from __future__ import annotations

import gzip
import json
import pathlib
import subprocess
import sys

import numpy
import pytest

import esker


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "friends.csv"
    path.write_text("from,to\nann,bob\nbob,cid\ncid,ann\ncid,dan\ndan,eve\neve,fay\nfay,dan\n")
    return esker.import_(path, tmp_path / "friends.esker", directed=False)


def test_the_widget_has_what_the_picture_has(database):
    g = database.graph()
    picture = g.draw(title="Friends")
    widget = picture.show(height=300)
    assert widget.height == 300
    scene = widget.scene
    json.dumps(scene)
    assert [vertex["id"] for vertex in scene["vertices"]] == picture.ids
    assert [[vertex["x"], vertex["y"]] for vertex in scene["vertices"]] == picture.positions.tolist()
    ends = {frozenset((picture.ids[source], picture.ids[target])) for source, target, _ in scene["edges"]}
    assert ends == {frozenset(pair) for pair in ("ann bob", "bob cid", "cid ann", "cid dan", "dan eve", "eve fay", "fay dan") for pair in [pair.split()]}
    assert (scene["directed"], scene["found"]) == (False, 6)
    few = g.show(vertices=3)
    assert (len(few.scene["vertices"]), few.scene["found"]) == (3, 6)
    assert set(g.ego("ann").show(height=200).picture.ids) == {"ann", "bob", "cid"}
    assert g.show("ann").picture.ids[0] == "ann"


def test_selection_and_positions_come_back(database):
    widget = database.graph().show()
    assert widget.selected.tolist() == []
    widget.set_state({"chosen": [2, 0]})
    assert widget.selected.tolist() == [widget.picture.ids[2], widget.picture.ids[0]]
    before = widget.positions
    widget.set_state({"moved": {"1": [7.5, -2.25]}})
    after = widget.positions
    assert after[1].tolist() == [7.5, -2.25]
    assert numpy.array_equal(numpy.delete(after, 1, axis=0), numpy.delete(before, 1, axis=0))
    numbers = esker.create(directed=False)
    with numbers.batch() as batch:
        batch.add_edges([5, 7], [7, 9])
    widget = numbers.graph().show()
    widget.set_state({"chosen": [0]})
    assert widget.selected.dtype == numpy.int64
    assert widget.selected.tolist() == [7]


def test_where_there_is_no_widget_the_picture_stands(database):
    widget = database.graph().show()
    bundle = widget._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data["image/svg+xml"] == widget.picture.svg
    assert "application/vnd.jupyter.widget-view+json" in data


def test_colours_and_sizes_are_those_of_results(database):
    g = database.graph()
    groups, ranks = g.leiden(), g.pagerank()
    picture = g.draw(colour=groups, size=ranks)
    scene = picture._scene()
    community = {one: groups[one] for one in picture.ids}
    colours = {vertex["id"]: vertex["colour"] for vertex in scene["vertices"]}
    for one in picture.ids:
        for other in picture.ids:
            assert (colours[one] == colours[other]) == (community[one] == community[other])
    sizes = {vertex["id"]: vertex["size"] for vertex in scene["vertices"]}
    assert sorted(picture.ids, key=lambda one: sizes[one]) == sorted(picture.ids, key=lambda one: (ranks[one]))
    assert f"rank: {ranks['dan']}" in picture.svg
    assert groups.show("ann").scene["legend"]
    assert ranks.show(colour="communities").scene["legend"] != ranks.show().scene["legend"]


def test_rows_and_vertices_are_told_apart(tmp_path):
    database = esker.create(tmp_path / "rows.esker")
    with database.batch() as batch:
        batch.add_edges([30, 10, 20, 40], [10, 20, 30, 10])
    with database.batch() as batch:
        batch.delete_vertices([20])
    g = database.graph()
    depths = g.bfs(30)
    picture = g.draw(colour=depths)
    notes = {int(part.split("\n")[0].strip()): part for part in picture.svg.replace("</title>", "<title>").split("<title>") if "depth:" in part}
    assert {one: int(note.split("depth:")[1].split()[0]) for one, note in notes.items()} == {30: 0, 10: 1}
    components = g.wcc()
    assert {line["text"].split(" ")[0] for line in g.draw(colour=components)._scene()["legend"]} == {str(components[10])}


def test_bad_requests_are_refused(database):
    g = database.graph()
    with pytest.raises(esker.InvalidError, match="height"):
        g.draw().show(height=0)
    with pytest.raises(esker.InvalidError, match="value for each vertex"):
        g.draw(colour=g.triangles())
    with pytest.raises(esker.Error, match="a size is a number"):
        g.draw(size=g.leiden())
    other = esker.create(directed=False)
    with other.batch() as batch:
        batch.add_edges([1], [2])
    with pytest.raises(esker.InvalidError, match="colour is a result of"):
        g.draw(colour=other.graph().pagerank())


def test_without_anywidget_the_package_is_named(database):
    code = (
        "import sys; sys.modules['anywidget'] = None\n"
        "import esker\n"
        f"g = esker.open({str(database.path)!r}).graph()\n"
        "try: g.show()\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert "esker[notebook]" in done.stdout


def test_the_program_is_a_module_with_a_renderer():
    program = gzip.decompress(pathlib.Path(esker.__file__).with_name("widget.js.gz").read_bytes()).decode()
    assert "export" in program
    assert "http://" not in program.replace("http://www.w3.org/", "")
