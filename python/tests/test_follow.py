"""Answers that follow the versions of a database."""

import numpy as np
import pytest

import esker


def grown(path=None):
    """A database of a few edges, open for writing."""
    db = esker.create(path) if path else esker.create()
    with db.batch() as batch:
        batch.add_edges(["a", "b", "d"], ["b", "c", "e"])
    return db


def test_a_follower_yields_what_each_version_changed(tmp_path):
    db = grown(tmp_path / "g.esker")
    reader = esker.open(tmp_path / "g.esker")
    for follower in db.follow("wcc"), reader.follow("wcc"):
        assert follower.poll() is None and follower.figures == {"components": 2}
        assert follower.top(1) == [("a", 3)]
    live = [db.follow("wcc"), reader.follow("wcc")]
    with db.batch() as batch:
        batch.add_edges(["c"], ["d"])
        batch.add_vertices(["f"])
    with db.batch() as batch:
        batch.delete_edges(["a"], ["b"])
    with db.batch() as batch:
        batch.delete_vertices(["e"])
    for follower in live:
        steps = [next(follower) for _ in range(3)]
        assert [step.version for step in steps] == [follower.version - 2, follower.version - 1, follower.version]
        assert sorted(steps[0].changed) == [("d", "d", "a"), ("e", "d", "a"), ("f", None, "f")]
        assert sorted(steps[1].changed) == [(one, "a", "b") for one in "bcde"]
        assert steps[2].changed == [("e", "b", None)]
        assert follower.figures == {"components": 3} and follower.top(1) == [("b", 3)]
        assert "wcc at version" in repr(follower)
    assert [step.version for step in db.follow("wcc", start=live[0].version - 3, wait=False)] == [step.version for step in steps]
    db.close()
    with pytest.raises(esker.ClosedError):
        live[0].poll()


def test_a_random_history_is_followed_as_computed_anew():
    rng = np.random.default_rng(5)
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges([0], [1])
    follower = db.follow("wcc", wait=False)
    given = db.graph().wcc().to_dict()
    for _ in range(40):
        with db.batch() as batch:
            batch.add_edges(*rng.integers(0, 30, (2, 3)))
            batch.delete_edges(*rng.integers(0, 30, (2, 3)))
    for step in follower:
        given.update((vertex, new) for vertex, _, new in step.changed)
        assert given == db.graph(step.version).wcc().to_dict()
    assert follower.version == db.graph().version


def test_searches_and_ranks_take_their_options():
    db = grown()
    steps, ranks = db.follow("bfs", source="a", wait=False), db.follow("pagerank", damping=0.5, wait=False)
    assert steps.figures == {"reached": 3}
    with db.batch() as batch:
        batch.add_edges(["a", "e"], ["e", "c"])
    assert next(steps).changed == [("e", None, 1)]
    assert {vertex for vertex, _, _ in next(ranks).changed} >= {"a", "e"}
    expected = db.graph().pagerank(damping=0.5, tolerance=1e-9)
    assert [vertex for vertex, _ in ranks.top(2)] == [vertex for vertex, _ in expected.top(2)]
    assert ranks.top(1)[0][1] == pytest.approx(expected.top(1)[0][1], abs=1e-6) and ranks.figures["error"] <= 1e-6
    with pytest.raises(esker.MistypedError, match="bfs needs source"):
        db.follow("bfs")


def test_figures_alone_are_followed_too():
    db = grown()
    follower = db.follow("triangles", wait=False)
    with db.batch() as batch:
        batch.add_edges(["a"], ["c"])
    assert next(follower).changed == [] and follower.figures == {"triangles": 1}


def test_what_cannot_be_followed_is_refused():
    db = grown()
    with pytest.raises(esker.InvalidError, match="scc cannot be followed; wcc, bfs"):
        db.follow("scc")
    with pytest.raises(esker.InvalidError, match="no algorithm is called 'nothing'"):
        db.follow("nothing")
    with pytest.raises(esker.MistypedError, match="wcc has no option 'depth'"):
        db.follow("wcc", depth=3)
    with pytest.raises(esker.MistypedError, match="count must be an integer"):
        db.follow("wcc").top("all")
