"""Streams of edges that are committed as they come."""

import asyncio
import datetime
import gc
import time

import numpy as np
import pytest

import esker


def stream_database(path=None, **options):
    """A database of timed edges, with one edge at the time 0."""
    db = esker.create(path, multigraph=True, schema={"time": "i64"}, **options) if path else esker.create(multigraph=True, schema={"time": "i64"}, **options)
    with db.batch(event_time=datetime.datetime.fromtimestamp(0, datetime.timezone.utc)) as batch:
        batch.add_edges(["a"], ["b"], properties={"time": [0]})
    return db


def chunk(first, count):
    times = np.arange(first, first + count)
    return {"source": [f"v{one}" for one in times], "target": [f"v{one + 1}" for one in times], "time": times}


def test_edges_are_committed_by_number_with_the_watermark_as_their_time(tmp_path):
    db = stream_database(tmp_path / "s.esker")
    with db.stream(commit_every=100, time_unit="s") as stream:
        for first in range(1, 1001, 50):
            assert stream.add_edges(chunk(first, 50)) is stream
    assert stream.report.edges == 1000 and stream.report.late == 0 and stream.report.versions == list(range(2, 12))
    assert stream.state.committed == 1000 and str(stream.state.watermark) == "1970-01-01T00:16:39"
    assert db.graph().num_edges == 1001
    assert sorted(db.graph().edges().to_pandas()["time"]) == list(range(1001))
    events = [version.time.timestamp() for version in db.versions()]
    assert events == sorted(events) and events[-1] == 999.0
    with pytest.raises(esker.ClosedError, match="the stream is closed"):
        stream.add_edges(chunk(5000, 1))
    db.close()
    assert esker.open(tmp_path / "s.esker").graph().num_edges == 1001


def test_edges_are_committed_by_time_while_the_source_is_silent():
    db = stream_database()
    with db.stream(commit_every="50ms") as stream:
        stream.add_edges(chunk(1, 10))
        deadline = time.monotonic() + 30
        while db.graph().num_edges < 11 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert db.graph().num_edges == 11
        assert "open" in repr(stream)
    assert stream.report.edges == 10 and "ended" in repr(stream)


def test_late_edges_are_counted_refused_or_put_into_a_file(tmp_path):
    late = {"source": ["x"], "target": ["y"], "time": [3]}
    db = stream_database()
    with db.stream(commit_every=10) as stream:
        stream.add_edges(chunk(1, 20)).add_edges(late)
    assert (stream.report.edges, stream.report.late) == (21, 1)
    rejects = tmp_path / "late.csv"
    with db.stream(commit_every=10, late=rejects) as stream:
        stream.add_edges(chunk(21, 20)).add_edges(late)
    assert (stream.report.edges, stream.report.late) == (20, 1) and rejects.read_text().splitlines()[1] == "x,y,3"
    with pytest.raises(esker.InvalidError, match="late"):
        with db.stream(commit_every=10, late="refuse") as stream:
            stream.add_edges(chunk(41, 20)).add_edges(late)
    assert stream.report.edges >= 10
    patient = stream_database()
    with patient.stream(commit_every=10, delay=100) as stream:
        stream.add_edges(chunk(1, 20)).add_edges(late)
    assert stream.report.late == 0


def test_what_was_handed_over_before_an_exception_is_committed():
    db = stream_database()
    with pytest.raises(ZeroDivisionError):
        with db.stream() as stream:
            stream.add_edges(chunk(1, 30))
            raise ZeroDivisionError
    assert stream.report.edges == 30 and db.graph().num_edges == 31


def test_tuples_tables_and_asynchronous_generators_are_streamed():
    pyarrow = pytest.importorskip("pyarrow")
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges([0], [1])

    async def source():
        for first in range(10, 50, 10):
            await asyncio.sleep(0)
            yield [(first + one, first + one + 1) for one in range(10)]

    async def run():
        with db.stream(commit_every=7) as stream:
            async for edges in source():
                stream.add_edges(edges)
        return stream.report

    assert asyncio.run(run()).edges == 40
    table = pyarrow.table({"source": range(100, 110), "target": range(101, 111)})
    with db.stream() as stream:
        for batch in pyarrow.RecordBatchReader.from_stream(table):
            stream.add_edges(batch)
    assert db.graph().num_edges == 51 and stream.state.watermark is None


def test_what_does_not_fit_the_database_is_refused_and_the_stream_goes_on():
    db = stream_database()
    with db.stream(commit_every=10) as stream:
        stream.add_edges(chunk(1, 5))
        with pytest.raises(esker.InvalidError, match='no property "time"'):
            stream.add_edges(["a"], ["b"])
        with pytest.raises(esker.MistypedError, match="ids of this graph are strings"):
            stream.add_edges([1], [2], properties={"time": [9]})
        with pytest.raises(esker.InvalidError, match="same length"):
            stream.add_edges(["a"], ["b", "c"], properties={"time": [9]})
        stream.add_edges(chunk(6, 5))
    assert stream.report.edges == 10
    for wrong in ({"commit_every": 0}, {"commit_every": "soon"}, {"late": "never"}, {"delay": "-1s"}, {"time": "when"}):
        with pytest.raises(esker.InvalidError):
            with db.stream(**wrong):
                pass
    with pytest.raises(esker.MistypedError, match="late must be"):
        db.stream(late=3)


def test_a_database_that_is_read_is_not_streamed_into(tmp_path):
    stream_database(tmp_path / "s.esker").close()
    with pytest.raises(esker.ReadOnlyError):
        esker.open(tmp_path / "s.esker").stream()


def test_what_does_not_fit_the_types_of_the_database_is_refused_and_nothing_after_it_is_lost():
    db = stream_database()
    with db.stream(commit_every="1s", time_unit="s") as stream:
        stream.add_edges(chunk(1, 5))
        ends = {"source": ["a"], "target": ["b"]}
        for wrong, message in (
            ("x", 'the property "time" holds numbers, not strings; convert them'),
            (float("nan"), r"time\[0\] is null"),
            (datetime.date(2024, 1, 1), "2024-01-01.*not of type i64"),
            (None, r"time\[0\] is null"),
        ):
            with pytest.raises(esker.MistypedError if wrong == "x" else esker.InvalidError, match=message):
                stream.add_edges(ends["source"], ends["target"], properties={"time": [wrong]})
        stream.add_edges(chunk(6, 5))
    assert stream.report.edges == 10 and db.graph().num_edges == 11
    numbers = esker.create()
    with numbers.batch() as batch:
        batch.add_edges([0], [1])
    with numbers.stream() as stream:
        with pytest.raises(esker.InvalidError, match=r"source\[1\] is -1"):
            stream.add_edges([2, -1], [3, 4])
        stream.add_edges([4], [5])
    assert stream.report.edges == 1


def test_the_first_edges_of_a_stream_decide_the_types_of_a_new_database(tmp_path):
    start = int(datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc).timestamp())
    for path in (None, tmp_path / "s.esker"):
        with esker.create(path) as db:
            with db.stream(commit_every=2, time="time", time_unit="s") as stream:
                assert stream.state is None
                stream.add_edges(["a", "b"], ["b", "c"], weight=[5, 0.5], properties={"time": [start, start + 1], "kind": ["x", "y"]})
            graph = db.graph()
            assert stream.report.edges == 2 and graph.weight == "weight" and graph.edge("a", "b") == {"weight": 5.0, "time": start, "kind": "x"}
            # The versions are of the times of their edges.
            assert db.graph(at="2024-01-02").num_edges == 2 and db.graph(version=1).num_edges == 0
    with esker.create(duplicates="sum") as db, db.stream() as stream:
        stream.add_edges([0, 0], [1, 1], weight=[2, 3])
    assert stream.report.edges == 2 and esker.create().stream().report is None


def test_a_path_of_late_edges_is_a_text_too(tmp_path):
    db = stream_database()
    with db.stream(commit_every=10, late=str(tmp_path / "late.csv")) as stream:
        stream.add_edges(chunk(1, 20)).add_edges({"source": ["x"], "target": ["y"], "time": [3]})
    assert stream.report.late == 1 and "x,y,3" in (tmp_path / "late.csv").read_text()


def rows(first, count):
    return "".join(f"v{one},v{one + 1},{one}\n" for one in range(first, first + count))


def test_a_file_is_streamed_and_read_on_from_the_first_edge_that_no_version_has(tmp_path):
    db = stream_database(tmp_path / "s.esker")
    file = tmp_path / "a.csv"
    file.write_text("source,target,time\n" + rows(1, 30))
    with db.stream(file, commit_every=10, time_unit="s") as stream:
        with pytest.raises(esker.InvalidError, match="a.csv: begin another stream"):
            stream.add_edges(chunk(99, 1))
    assert (stream.report.edges, stream.report.versions, stream.report.passed_over) == (30, [2, 3, 4], 0)
    with file.open("a") as grown:
        grown.write(rows(31, 5))
    again = db.stream(str(file))
    again.close()
    assert (again.report.edges, again.report.passed_over) == (5, 30)
    whole = db.stream(file, from_start=True, late=tmp_path / "late.csv")
    whole.close()
    # All are late now: the watermark has passed them, but for the last one.
    assert whole.report.late == 34 and whole.report.edges == 1
    odd = tmp_path / "odd.txt"
    odd.write_text("x;y;100\nx;y;soon\n")
    with pytest.raises(esker.Error):
        db.stream(odd, source=1, target=2, delimiter=";").close()
    # The first line was an edge.
    assert db.graph().num_edges == 38


def test_a_file_that_is_followed_ends_with_the_block(tmp_path):
    db = stream_database(tmp_path / "s.esker")
    file = tmp_path / "a.csv"
    file.write_text("")
    with db.stream(file, follow=True, commit_every="20ms", time_unit="s") as stream:
        file.write_text("source,target,time\n" + rows(1, 3))
        deadline = time.monotonic() + 30
        while db.graph().num_edges < 4 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert db.graph().num_edges == 4
    assert stream.report.edges == 3
    empty = tmp_path / "none.csv"
    empty.write_text("")
    with db.stream(empty, follow=True) as nothing:
        pass
    assert nothing.report.edges == 0
    # What was read before an exception is committed; the rest of the file is not awaited.
    with pytest.raises(ZeroDivisionError):
        with db.stream(file, follow=True):
            raise ZeroDivisionError


@pytest.mark.parametrize("follows", [True, False, None], ids=["a file that is followed", "a file", "edges"])
def test_a_stream_that_is_forgotten_lets_go_of_the_database(tmp_path, follows):
    db = stream_database(tmp_path / "s.esker")
    file = tmp_path / "a.csv"
    file.write_text("source,target,time\n" + rows(1, 3))
    if follows is None:
        stream = db.stream(time_unit="s")
        stream.add_edges(chunk(1, 20))
    else:
        stream = db.stream(file, follow=follows, time_unit="s")
    with pytest.raises(esker.LockedError):
        esker.open(tmp_path / "s.esker", mode="rw")
    del stream, db
    gc.collect()
    with esker.open(tmp_path / "s.esker", mode="rw") as again:
        assert again.graph().num_edges >= 1


def test_a_stream_is_paced_and_removes_old_edges(tmp_path):
    db = stream_database()
    begin = time.monotonic()
    with db.stream(rate=100, expire="10s", time_unit="s") as stream:
        stream.add_edges(chunk(1, 20))
    assert time.monotonic() - begin > 0.15
    # Edges of the last ten seconds stay, until 20.
    assert stream.report.edges == 20 and stream.report.expired == stream.state.expired == 11
    assert sorted(db.graph().edges().to_pandas()["time"]) == list(range(11, 21))
    file = tmp_path / "a.csv"
    file.write_text("source,target,time\n" + rows(21, 3))
    begin = time.monotonic()
    db.stream(file, replay=20, time_unit="s").close()
    assert time.monotonic() - begin > 0.09 and db.graph().num_edges == 13


def test_what_a_stream_cannot_do_is_refused(tmp_path):
    db = stream_database()
    file = tmp_path / "a.csv"
    file.write_text("source,target,time\n")
    for wrong, message in (
        ({"follow": True}, "follow has no effect without a file"),
        ({"delimiter": ";"}, "delimiter has no effect without a file"),
        ({"rate": 0}, "rate must be more than 0"),
        ({"rate": 5, "replay": 2}, "exclude each other"),
        ({"expire": "soon"}, "is not a length of time"),
        ({"file": tmp_path}, "is not a file"),
        ({"file": file, "late": file}, "the file that is read"),
    ):
        with pytest.raises(esker.InvalidError, match=message):
            db.stream(**wrong)
    with pytest.raises(esker.NotFoundError):
        db.stream(tmp_path / "no.csv")
    with pytest.raises(esker.MistypedError, match="rate must be a number"):
        db.stream(rate="5")
