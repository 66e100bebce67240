"""The shortest paths between two vertices, and other questions that the command answers, too."""

from itertools import islice

import networkx as nx
import numpy as np
import pytest

import esker


def test_shortest_paths_are_those_of_networkx():
    rng = np.random.default_rng(4)
    for directed in (True, False):
        source, target = rng.integers(0, 30, 120), rng.integers(0, 30, 120)
        properties = {"toll": rng.random(120) + 0.1}
        g = esker.from_edges(source, target, weight=rng.integers(1, 20, 120), properties=properties, directed=directed, duplicates="last")
        other = g.to_networkx()
        for u, v in ((0, 1), (3, 7), (5, 5)):
            for weight, name in (("weight", "weight"), ("toll", "toll"), (None, None)):
                found = g.shortest_paths(u, v, 5, weight=weight)
                lengths = [nx.path_weight(other, path, name) if name else len(path) - 1 for path in islice(nx.shortest_simple_paths(other, u, v, name), 5)]
                assert [path.length for path in found] == pytest.approx(lengths)
                for path in found:
                    assert path.vertices[0] == u and path.vertices[-1] == v and len(set(path.vertices)) == len(path.vertices)
                    assert path.lengths[-1] == path.length and len(path.lengths) == len(path.vertices) and nx.is_path(other, path.vertices)
                    assert type(path.length) is (float if weight == "toll" else int)


def test_shortest_paths_of_texts_and_of_what_is_not_there():
    g = esker.from_edges(["a", "b"], ["b", "c"], weight=[2**40, 2**40], properties={"kind": ["x", "y"]})
    assert g.shortest_paths("a", "c", weight="weight") == [(["a", "b", "c"], 2**41, [0, 2**40, 2**41])]
    assert g.shortest_paths("a", "c") == [(["a", "b", "c"], 2, [0, 1, 2])]
    assert g.shortest_paths("c", "a", 3) == []
    for wrong, kind in (
        (lambda: g.shortest_paths("a", "z"), esker.VertexNotFoundError),
        (lambda: g.shortest_paths("a", "b", 0), esker.InvalidError),
        (lambda: g.shortest_paths("a", "b", "two"), esker.MistypedError),
        (lambda: g.shortest_paths("a", "b", weight="kind"), esker.InvalidError),
        (lambda: g.shortest_paths("a", "b", weight=True), esker.MistypedError),
        (lambda: g.shortest_paths("a", "b", weight=False), esker.MistypedError),
        (lambda: g.shortest_paths("a", "b", avoid=["b"]), esker.InvalidError),
        (lambda: g.shortest_paths("a", "b", avoid=["z"]), esker.VertexNotFoundError),
        (lambda: g.shortest_paths("a", "b", avoid="c"), esker.MistypedError),
        (lambda: g.shortest_paths("a", "b", avoid=[1]), esker.MistypedError),
        (lambda: g.shortest_paths("a", "b", max_steps=-1), esker.InvalidError),
        (lambda: g.shortest_paths("a", "b", max_steps="two"), esker.MistypedError),
        (lambda: g.shortest_paths("a", "b", weight="nope"), esker.Error),
    ):
        with pytest.raises(kind):
            wrong()


def test_paths_avoid_vertices_and_keep_to_steps():
    g = esker.from_edges(["a", "b", "a", "c"], ["b", "c", "c", "d"], weight=[1, 1, 9, 1])
    assert [path.vertices for path in g.shortest_paths("a", "d", 9, weight="weight")] == [["a", "b", "c", "d"], ["a", "c", "d"]]
    assert [path.length for path in g.shortest_paths("a", "d", weight="weight", max_steps=2)] == [10]
    assert [path.vertices for path in g.shortest_paths("a", "d", 9, avoid=["b"])] == [["a", "c", "d"]]
    assert g.shortest_paths("a", "d", max_steps=1) == g.shortest_paths("a", "d", avoid=["b", "c"]) == []
    assert g.reverse().shortest_paths("d", "a", max_steps=2)[0].vertices == ["d", "c", "a"]


def test_ids_are_found_by_their_beginning():
    g = esker.from_edges(["lib2", "lib10", "x"], ["lib", "é", "lib1"])
    assert g.ids_with_prefix("lib") == ["lib", "lib1", "lib10", "lib2"]
    assert g.ids_with_prefix("lib", 2) == ["lib", "lib1"]
    assert g.ids_with_prefix("é", top=1) == ["é"]
    assert g.ids_with_prefix("none") == g.ids_with_prefix("lib", 0) == []
    with pytest.raises(esker.InvalidError, match="integers"):
        esker.from_edges([1], [2]).ids_with_prefix("1")
    for wrong, kind in ((lambda: g.ids_with_prefix(1), esker.MistypedError), (lambda: g.ids_with_prefix("a", -1), esker.InvalidError)):
        with pytest.raises(kind):
            wrong()


def test_exports_have_the_options_of_the_command(tmp_path):
    with esker.create(tmp_path / "db", directed=False) as db:
        with db.batch() as batch:
            batch.add_edges(["a"], ["b"]).set_vertices(["a"], age=7)
        with pytest.warns(esker.EskerWarning, match="directed=False") as said:
            db.export(tmp_path / "e.csv", both_ends=True, vertex_properties=tmp_path / "v.csv")
        assert len(said) == 1, "the properties of vertices are not lost"
        assert sorted((tmp_path / "e.csv").read_text().split()[1:]) == ["a,b", "b,a"]
        assert (tmp_path / "v.csv").read_text().split() == ["vertex,age", "a,7"]
        with pytest.warns(esker.EskerWarning):
            db.export(tmp_path / "n.csv", ids="numbers")
        assert (tmp_path / "n.csv").read_text().split()[1:] == ["0,1"]
        with pytest.raises(esker.ExistsError):
            db.export(tmp_path / "x.csv", vertex_properties=tmp_path / "v.csv")
        with pytest.raises(esker.InvalidError, match="ids must be one of"):
            db.export(tmp_path / "y.csv", ids="names")


def test_an_older_version_is_checked(tmp_path):
    with esker.create(tmp_path / "db") as db:
        for one in range(3):
            with db.batch() as batch:
                batch.add_edges([one], [one + 1])
    with esker.open(tmp_path / "db") as db:
        assert db.check(at=1) == db.check() == []
        with pytest.raises(esker.VersionNotFoundError):
            db.check(at=77)
