"""Pictures of graphs."""

import numpy
import pytest

import esker
from esker import InvalidError, VertexNotFoundError


@pytest.fixture
def graph(tmp_path):
    edges = tmp_path / "friends.csv"
    edges.write_text("source,target\nann,bob\nbob,cem\ncem,ann\ncem,dee\ndee,eva\n")
    people = tmp_path / "people.csv"
    people.write_text("id,age,city\nann,30,Rome\nbob,40,Rome\ncem,50,<b>\n")
    return esker.import_(str(edges), str(tmp_path / "friends.esker"), vertices=str(people)).graph()


def test_a_picture_has_the_vertices_that_are_asked_for(graph):
    assert sorted(graph.draw().ids) == ["ann", "bob", "cem", "dee", "eva"]
    assert sorted(graph.draw("ann").ids) == ["ann", "bob", "cem"]
    assert sorted(graph.draw(["ann", "eva"], hops=0).ids) == ["ann", "eva"]
    few = graph.draw(vertices=2, layout="layers")
    assert (sorted(few.ids), few.found) == (["ann", "cem"], 5)
    assert repr(few) == "<esker.Picture of 2 of 5 vertices>"


def test_a_picture_is_text_positions_and_a_file(graph, tmp_path):
    picture = graph.draw(colour="city", size="age", title="<i>friends</i>")
    assert picture._repr_svg_() == picture.svg and picture.svg.startswith("<svg ")
    assert "<b>" not in picture.svg and "<i>" not in picture.svg and "Rome (2)" in picture.svg
    assert picture.positions.shape == (5, 2) and numpy.isfinite(picture.positions).all()
    assert (graph.draw(threads=1).positions == graph.draw(threads=2).positions).all()
    picture.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == picture.svg
    with pytest.raises(esker.ExistsError):
        picture.save(tmp_path / "a.svg")
    for place in tmp_path / "friends.esker" / "a.svg", tmp_path / "friends.esker" / "log" / "a.svg":
        with pytest.raises(InvalidError, match="lies in the database .*friends.esker, where no other files may be"):
            picture.save(place)
    assert not (tmp_path / "friends.esker" / "a.svg").exists()
    picture.save(tmp_path / "a.svg", replace=True)
    with pytest.raises(InvalidError, match="does not end in .svg"):
        picture.save(tmp_path / "a.png")


def test_views_are_drawn_as_they_are(graph):
    assert "marker-end" in graph.draw().svg
    assert "marker-end" not in graph.undirected().draw().svg
    down = {one: y for one, (_, y) in zip(graph.draw("dee", layout="layers").ids, graph.draw("dee", layout="layers").positions)}
    turned = graph.reverse().draw("dee", layout="layers")
    up = {one: y for one, (_, y) in zip(turned.ids, turned.positions)}
    assert down["cem"] < down["dee"] < down["eva"] and up["cem"] > up["dee"] > up["eva"]


def test_a_picture_that_makes_no_sense_is_refused(graph):
    for given in ({"hops": -1}, {"vertices": 0}, {"layout": "round"}, {"labels": 1.5}, {"size": "city"}):
        with pytest.raises(InvalidError):
            graph.draw(**given)
    for name, value, takes in (
        ("colour", 3, "colour must be 'communities', the name of a vertex property, or a result, not int"),
        ("size", ["age"], "size must be the name of a vertex property, or a result, not list"),
        ("title", 3, "title must be a text, not int"),
        ("layout", None, "layout must be 'forces' or 'layers', not NoneType"),
    ):
        with pytest.raises(TypeError, match=takes):
            graph.draw(**{name: value})
    with pytest.raises(VertexNotFoundError):
        graph.draw("zoe")
