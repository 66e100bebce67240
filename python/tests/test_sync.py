"""Databases that become equal to files and tables: `db.sync`."""

import random

import numpy as np
import pandas
import pytest

import esker


def content(graph):
    """The vertices, and the edges with their values."""
    edges = graph.edges().to_pandas()
    rows = [tuple("none" if pandas.isna(value) else str(value) for value in row) for row in edges.itertuples(index=False)]
    if not graph.directed:
        rows = [(*sorted(row[:2]), *row[2:]) for row in rows]
    return sorted(map(str, graph.ids())), sorted(rows)


def snapshot(draw, texts):
    count = draw.randrange(1, 12)
    names = [f"v{n}" for n in range(6)] if texts else list(range(0, 18, 3))
    return pandas.DataFrame(
        {
            "source": [draw.choice(names) for _ in range(count)],
            "target": [draw.choice(names) for _ in range(count)],
            "weight": [float(draw.randrange(3)) for _ in range(count)],
            "since": pandas.to_datetime([f"2026-0{draw.randrange(1, 4)}-01" for _ in range(count)]),
            "open": [draw.choice([True, False]) for _ in range(count)],
        }
    )


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("duplicates", ["last", "sum", "keep"])
def test_a_table_and_a_file_become_the_newest_version(tmp_path, texts, directed, duplicates):
    draw = random.Random(f"{texts} {directed} {duplicates}")

    def create(name, frame):
        db = esker.create(tmp_path / name, directed=directed, duplicates=duplicates)
        with db.batch() as batch:
            batch.add_edges(frame)
        return db

    db = create("g.esker", snapshot(draw, texts))
    for day in range(4):
        frame = snapshot(draw, texts)
        fresh = create(f"fresh{day}.esker", frame)
        if day % 2:
            frame.to_csv(tmp_path / "day.csv", index=False)
            given = tmp_path / "day.csv"
        else:
            given = frame
        dry = db.sync(given, dry_run=True)
        report = db.sync(given, message="a day")
        assert dry._replace(version=report.version) == report
        assert content(db.graph()) == content(fresh.graph())
        if report.version is not None:
            assert db.versions()[-1].message == "a day"
            difference = db.diff(report.version - 1, report.version)
            assert (difference.edges_added, difference.edges_removed) == (report.edges_added, report.edges_removed)
        assert db.sync(given).version is None


def test_what_cannot_be_synced_is_refused(tmp_path):
    db = esker.create(tmp_path / "g.esker")
    with pytest.raises(esker.InvalidError, match="import_"):
        db.sync([(1, 2)])
    with db.batch() as batch:
        batch.add_edges([1, 2], [2, 3], weight=[1, 2])
    with pytest.raises(esker.InvalidError, match='no property "weight"'):
        db.sync(([1], [2]))
    with pytest.raises(esker.InvalidError, match="delimiter"):
        db.sync([(1, 2, 5)], delimiter=";")
    with pytest.raises(esker.NotFoundError, match="absent"):
        db.sync(tmp_path / "absent.csv")
    with pytest.raises(esker.MistypedError, match="dry_run"):
        db.sync([(1, 2, 5)], dry_run="yes")
    with pytest.raises(esker.InvalidError, match="allow_empty=True"):
        db.sync({"source": np.array([], "i8"), "target": np.array([], "i8"), "weight": np.array([], "f8")})
    assert db.sync([(1, 2, 1)], keep_vertices=True)[1:7] == (0, 1, 0, 0, 0, 0)
    assert db.sync([(1, 2, 1)])[1:7] == (0, 0, 0, 0, 1, 0)
    assert sorted(db.graph().ids()) == [1, 2]
