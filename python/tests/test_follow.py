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


def test_a_state_that_was_kept_is_gone_on_from(tmp_path):
    db = grown(tmp_path / "g.esker")
    follower = db.follow("wcc", resume=True)
    first = follower.version
    assert follower.keep() and follower.refused is None
    with db.batch() as batch:
        batch.add_edges(["c"], ["d"])
    with pytest.raises(esker.InvalidError, match="give one of them"):
        db.follow("wcc", start=first, resume=True)
    for one in db, esker.open(tmp_path / "g.esker"):
        resumed = one.follow("wcc", resume=True, wait=False)
        assert resumed.version == first and resumed.figures == {"components": 2}
        assert [sorted(step.changed) for step in resumed] == [[("d", "d", "a"), ("e", "d", "a")]]
        assert one.follow("wcc").version == first + 1
    (state,) = (tmp_path / "g.esker" / "live").iterdir()
    state.write_bytes(state.read_bytes()[:-1] + b"?")
    damaged = db.follow("wcc", resume=True)
    assert damaged.version == first + 1 and "checksum" in damaged.refused
    assert not db.follow("cdlp").keep()


def test_the_first_step_after_a_version_that_was_forgotten_has_what_changed_since(tmp_path):
    db = grown(tmp_path / "g.esker")
    follower = db.follow("wcc")
    assert follower.keep()
    with db.batch() as batch:
        batch.add_edges(["c"], ["d"])
    db.retain(last=1)
    db.compact()
    for one in db, esker.open(tmp_path / "g.esker"):
        resumed = one.follow("wcc", resume=True, wait=False)
        assert "forgotten" in resumed.refused and resumed.version == db.graph().version
        (step,) = resumed
        assert step.version == resumed.version and sorted(step.changed) == [("d", "d", "a"), ("e", "d", "a")]


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
    assert ranks.top(1)[0][1] == pytest.approx(expected.top(1)[0][1], abs=1e-5) and ranks.figures["error"] <= 5e-6
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
    with pytest.raises(esker.InvalidError, match="forest answers with edges and cannot be followed"):
        db.follow("forest")
    with pytest.raises(esker.InvalidError, match="no algorithm is called 'nothing'"):
        db.follow("nothing")
    with pytest.raises(esker.MistypedError, match="wcc has no option 'depth'"):
        db.follow("wcc", depth=3)
    with pytest.raises(esker.MistypedError, match="count must be an integer"):
        db.follow("wcc").top("all")


def timed():
    db = esker.create(schema={"time": "i64"}, multigraph=True, directed=True)
    for source, target, at in [("a", "b", 10), ("b", "c", 20), ("c", "d", 70), ("d", "e", 130)]:
        with db.batch() as batch:
            batch.add_edges([source], [target], properties={"time": [at]})
    return db


def test_a_window_is_followed_as_it_moves():
    db = timed()
    first = db.versions()[-3].number
    follower = db.follow("wcc", start=first, window=60, time_unit="s", wait=False)
    steps = list(follower)
    assert [str(step.until) for step in steps] == ["1970-01-01T00:01:10", "1970-01-01T00:02:10"] and all(step.recomputed for step in steps)
    assert sorted(steps[1].changed) == [("b", "b", None), ("c", "b", None), ("d", "b", "d"), ("e", None, "d")]
    assert follower.top(3) == [("d", 2)]
    stepwise = db.follow("wcc", start=first, window=60, every=60, time_unit="s", wait=False)
    assert [str(step.until) for step in stepwise] == ["1970-01-01T00:01:00", "1970-01-01T00:02:00"]
    assert stepwise.poll() is None
    with pytest.raises(esker.InvalidError, match="every has no effect without window"):
        db.follow("wcc", every="1h")
    with pytest.raises(esker.InvalidError, match="copies must be one of"):
        db.follow("wcc", window=60, copies="some")


def test_any_algorithm_is_followed():
    db = grown()
    follower = db.follow("closeness", wait=False)
    with db.batch() as batch:
        batch.add_edges(["a"], ["c"])
    step = next(follower)
    assert step.recomputed and [vertex for vertex, _, _ in step.changed] == ["c"]
    coefficients = db.follow("lcc", wait=False)
    with db.batch() as batch:
        batch.add_edges(["a"], ["d"])
    (step,) = coefficients
    assert dict((vertex, new) for vertex, _, new in step.changed) == {"a": pytest.approx(1 / 6)}


def test_a_version_that_did_not_move_the_window_may_be_undone(tmp_path):
    db = esker.create(tmp_path / "t.esker", schema={"time": "i64"}, multigraph=True, directed=True)

    def add(source, target, at):
        with db.batch() as batch:
            batch.add_edges([source], [target], properties={"time": [at]})

    for edge in [("a", "b", 10), ("b", "c", 70), ("c", "d", 75)]:
        add(*edge)
    follower = esker.open(tmp_path / "t.esker").follow("wcc", window=60, every=60, time_unit="s", wait=False)
    writing = db.follow("wcc", window=60, every=60, time_unit="s", wait=False)
    add("d", "e", 80)
    assert follower.poll() is None and writing.poll() is None
    db.forget(db.versions()[-1].number)
    assert follower.poll() is None and writing.poll() is None
    add("e", "f", 130)
    assert str(follower.poll().until) == str(writing.poll().until) == "1970-01-01T00:02:00"


def test_an_answer_on_edges_without_their_directions_is_followed():
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges(["a", "b"], ["b", "c"])
    follow = db.follow("matching", undirected=True, wait=False)
    with db.batch() as batch:
        batch.add_edges(["c"], ["d"])
    steps = list(follow)
    assert [step.recomputed for step in steps] == [True]
    # Read against their directions, all edges but the middle one are matched, or the middle one.
    assert dict(follow.top(4)) in ({"a": "b", "b": "a", "c": "d", "d": "c"}, {"b": "c", "c": "b"})
    with pytest.raises(esker.UnsuitableError, match="undirected=True"):
        db.follow("matching")


def test_alerts_are_raised_once_by_steps_iterators_and_callbacks(tmp_path):
    db = grown(tmp_path / "g.esker")
    called = []
    follower = db.follow("wcc", alert="size > 3", alert_new=True, on_alert=called.append)
    asked = db.follow("wcc", alert="size > 2", wait=False)
    assert follower.first_alerts == [] and called == []
    first = {"alert": "condition", "component": "a", "vertices": 3, "before": None, "version": asked.version}
    assert asked.first_alerts == [first]
    with db.batch() as batch:
        batch.add_edges(["c", "x"], ["d", "y"])
    with db.batch() as batch:
        batch.add_edges(["e"], ["f"])
    steps = [next(follower), next(follower)]
    grew = {"alert": "condition", "component": "a", "vertices": 5, "before": {"vertices": 3}, "version": steps[0].version}
    came = {"alert": "new", "component": "x", "vertices": 2, "before": None, "version": steps[0].version}
    # The component stays beyond the threshold: it raises no second alert.
    assert [step.alerts for step in steps] == [[grew, came], []]
    assert called == [grew, came]
    assert list(asked.alerts()) == [first]
    assert list(asked.alerts()) == []


def test_alerts_go_on_from_a_state_that_was_kept(tmp_path):
    db = grown(tmp_path / "g.esker")
    alert = {"alert": "size > 3"}
    follower = db.follow("wcc", **alert)
    assert follower.keep()
    with db.batch() as batch:
        batch.add_edges(["c"], ["d"])
    resumed = db.follow("wcc", resume=True, wait=False, **alert)
    assert resumed.first_alerts == [] and [one["vertices"] for one in resumed.alerts()] == [5]
    assert resumed.keep()
    assert list(db.follow("wcc", resume=True, wait=False, **alert).alerts()) == []
    # Another condition has other alerts to tell: the state is not its own.
    other = db.follow("wcc", resume=True, wait=False, alert="size > 4")
    assert [one["vertices"] for one in other.alerts()] == [5]


def test_small_changes_are_left_out_until_they_add_up(tmp_path):
    db = esker.create(tmp_path / "g.esker")
    with db.batch() as batch:
        batch.add_edges([0, 0], [1, 2])
    follower = db.follow("degrees", direction="out", min_change=2, alert="degree >= 3", wait=False)
    for target in (3, 4):
        with db.batch() as batch:
            batch.add_edges([0], [target])
    steps = list(follower)
    assert [[one for one in step.changed if one[1] is not None] for step in steps] == [[], [(0, 2, 4)]]
    assert [[one["degree"] for one in step.alerts] for step in steps] == [[], [4]]
    with pytest.raises(esker.InvalidError, match="min_change"):
        follower.keep()


def test_alerts_of_a_moving_window_name_its_end(tmp_path):
    db = esker.create(tmp_path / "g.esker", schema={"at": "timestamp[s]"})
    with db.batch() as batch:
        batch.add_edges([0], [1], properties={"at": np.array([100], "datetime64[s]")})
    follower = db.follow("degrees", direction="out", window="10s", alert="degree > 1", wait=False)
    with db.batch() as batch:
        batch.add_edges([0, 0], [2, 3], properties={"at": np.array([200, 201], "datetime64[s]")})
    (alert,) = follower.alerts()
    assert (alert["vertex"], alert["degree"], alert["until"]) == (0, 2, np.datetime64(201, "s"))


def test_alerts_that_make_no_sense_are_refused(tmp_path):
    db = grown(tmp_path / "g.esker")
    for given, match in [
        ({"alert": "nothing > 3"}, "nothing"),
        ({"on_alert": print}, "no effect"),
        ({"alert": "size > 3", "min_change": 1}, "least change"),
        ({"resume": True, "min_change": 1}, "resume or min_change"),
    ]:
        with pytest.raises(esker.InvalidError, match=match):
            db.follow("wcc", **given)
    with pytest.raises(esker.InvalidError, match="nothing raises an alert: give db.follow alert, a condition, or alert_new=True"):
        db.follow("wcc").alerts()
    for given in {"alert": 3}, {"alert_new": 1}, {"alert_new": True, "on_alert": 3}, {"min_change": "x"}:
        with pytest.raises(esker.MistypedError):
            db.follow("wcc", **given)
