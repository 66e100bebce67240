"""What becomes of duplicate edges, and when the changes of a version happened."""

import datetime
import warnings

import pytest

import esker

FIRST = ([1, 2, 1], [2, 3, 2], [5, 1, 7])
LATER = ([1, 1], [2, 2], [4, 9])


@pytest.mark.parametrize(
    ("rule", "first", "then"), [("last", 7, 9), ("first", 5, 5), ("sum", 12, 25), ("min", 5, 4), ("max", 7, 9)]
)
def test_the_rule_of_a_database_holds_for_later_batches(rule, first, then):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        db = esker.create(duplicates=rule)
        with db.batch() as batch:
            batch.add_edges(*FIRST[:2], weight=FIRST[2])
        assert batch.report.duplicates == 1
        assert db.graph().edge(1, 2) == {"weight": first}
        assert db.info["duplicates"] == rule
        with db.batch(duplicates=rule) as batch:
            batch.add_edges(*LATER[:2], weight=LATER[2])
        assert db.graph().edge(1, 2) == {"weight": then}
        assert batch.duplicates == (1 if rule == "last" else 2)
        assert esker.from_edges(*FIRST[:2], weight=FIRST[2], duplicates=rule).edge(1, 2) == {"weight": first}


def test_the_default_is_the_same_for_first_and_later_edges_and_is_told():
    db = esker.create()
    with pytest.warns(esker.EskerWarning, match="left out 1 edge given more than once, by the rule 'last'"):
        with db.batch() as batch:
            batch.add_edges(*FIRST[:2], weight=FIRST[2])
    assert db.graph().edge(1, 2) == {"weight": 7}
    with pytest.warns(esker.EskerWarning, match="left out 1 edge given more than once, by the rule 'last'"):
        with db.batch() as batch:
            batch.add_edges(*LATER[:2], weight=LATER[2])
    assert db.graph().edge(1, 2) == {"weight": 9}
    with db.batch() as batch:
        batch.add_edges([1], [2], weight=[3])
    assert db.graph().edge(1, 2) == {"weight": 3}


def test_rules_that_cannot_be_followed():
    with pytest.raises(ValueError, match="more than once"):
        esker.from_edges([1, 1], [2, 2], duplicates="error")
    with pytest.raises(ValueError, match="no weight"):
        esker.from_edges([1, 1], [2, 2], duplicates="sum")
    with pytest.raises(ValueError, match="duplicates must be one of"):
        esker.create(duplicates="most")
    with pytest.raises(ValueError, match="multigraph"):
        esker.create(multigraph=True, duplicates="first")
    db = esker.create(multigraph=True)
    with db.batch() as batch:
        batch.add_edges([1, 1], [2, 2])
    assert db.graph().num_edges == 2
    with pytest.raises(ValueError, match="keeps parallel edges"):
        db.batch(duplicates="last").add_edges([1], [2])
    db = esker.create(duplicates="error")
    with db.batch() as batch:
        batch.add_edges(["a"], ["b"])
    with pytest.raises(ValueError, match="from a to b"):
        with db.batch() as batch:
            batch.add_edges(["a"], ["b"])
    assert len(db.versions()) == 1


def test_times_of_a_file_tell_edges_apart(tmp_path):
    file = tmp_path / "calls.csv"
    file.write_text("source,target,timestamp\n1,2,100\n1,2,200\n2,3,300\n")
    with pytest.warns(esker.EskerWarning, match="for each 'timestamp'.*duplicates='keep'"):
        assert esker.import_(file).graph().num_edges == 2
    assert esker.import_(file, duplicates="keep").graph().num_edges == 3


def test_a_history_has_the_times_of_its_events(path, tmp_path):
    begin = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=1)
    noon = datetime.datetime(2012, 1, 1, 12, tzinfo=datetime.timezone.utc)
    with esker.create(path) as db:
        with db.batch("a", event_time="2011-06-01") as batch:
            batch.add_edges([1], [2])
        with db.batch("b", event_time=noon) as batch:
            batch.add_edges([2], [3])
        file = tmp_path / "c.el"
        file.write_text("3 4\n")
        db.import_(file, event_time=datetime.date(2013, 1, 1))
        with pytest.raises(ValueError, match="2012.*before 2013-01-01T00:00:00Z"):
            with db.batch(event_time=noon) as batch:
                batch.add_edges([9], [9])
        with pytest.raises(TypeError, match="event_time"):
            db.batch(event_time=2011)
        with pytest.raises(ValueError, match="is not a time"):
            db.batch(event_time="yesterday")
    with esker.open(path) as db:
        assert [db.graph(at=at).num_edges for at in ("2011-06-01", "2012-01-01", "2012-12-31", "latest")] == [1, 2, 2, 3]
        with pytest.raises(KeyError):
            db.graph(at="2011-05-31")
        assert [version.time.year for version in db.versions()] == [2011, 2012, 2013]
        assert all(begin <= version.committed for version in db.versions())
        assert db.graph(2).time == noon and db.graph(2).committed >= begin


def test_sums_over_commits_are_exact():
    for weights, expected in (((16777216.0, 1.0), 16777217.0), ((2**31 - 1, 1), 2**31), ((0.5, 2.0**-30), 0.5 + 2.0**-30), ((2.0**127,) * 4, 2.0**129)):
        db = esker.create(duplicates="sum")
        for weight in weights:
            with warnings.catch_warnings():
                # The rule was chosen, so nobody is warned of it.
                warnings.simplefilter("error")
                with db.batch() as batch:
                    batch.add_edges([0], [1], weight=[weight])
        assert db.graph().edge(0, 1) == {"weight": expected}
