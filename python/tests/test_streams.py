"""Edges and vertices as Arrow streams, whose batches are made as they are consumed."""

import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import esker


def reader(table):
    return pa.RecordBatchReader.from_stream(table)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("texts", [True, False])
def test_the_stream_of_edges_has_what_the_table_has(directed, texts):
    rng = np.random.default_rng(7)
    source, target = rng.integers(0, 300, 5_000), rng.integers(0, 300, 5_000)
    name = (lambda ids: [f"v{one}" for one in ids]) if texts else (lambda ids: ids)
    properties = {"kind": rng.choice(["a", "b"], 5_000), "at": rng.integers(0, 10**9, 5_000).astype("M8[s]"), "n": rng.integers(-9, 9, 5_000)}
    db = esker.create(directed=directed, duplicates="keep")
    with db.batch() as batch:
        batch.add_edges(name(source), name(target), weight=rng.random(5_000), properties=properties)
    with db.batch() as batch:
        batch.delete_vertices(name([3, 5]))
    graph = db.graph()
    lazy, eager = graph.edges(), graph.edges(progress=lambda _: None)
    assert repr(lazy) == repr(eager) and len(lazy) == len(eager) == graph.num_edges
    found = reader(lazy).read_all()
    assert lazy._read is not None, "the columns were not read"
    assert found.cast(eager.to_arrow().schema).equals(eager.to_arrow())
    assert pl.DataFrame(graph.edges()).equals(eager.to_polars())
    assert reader(graph.edges(properties=False)).schema.names == ["source", "target"]
    assert lazy.source.tolist() == eager.source.tolist() and lazy._read is None
    with pytest.raises(AttributeError, match="no attribute 'sources'"):
        graph.edges().sources


def test_the_stream_of_vertices_has_ids_and_properties():
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges([(1, 2), (2, 30)])
    with db.batch() as batch:
        batch.set_vertices([1, 30], name=["ann", "cid"], on=[True, False], age=[4, 5], size=[0.5, 1.5], day=np.array(["2024-01-01", "2024-01-02"], "M8[D]"))
        batch.add_vertices([7])
        batch.delete_vertices([2])
    table = db.graph().vertices()
    assert len(table) == 3 and repr(table) == "<esker.VertexTable of 3 vertices with ['name', 'on', 'age', 'size', 'day']>"
    found = table.to_arrow().sort_by("vertex")
    assert found["vertex"].to_pylist() == [1, 7, 30] and found["name"].to_pylist() == ["ann", None, "cid"]
    assert found["on"].to_pylist() == [True, None, False] and found["age"].to_pylist() == [4, None, 5]
    assert found.schema.field("day").type == pa.date32() and found["size"].to_pylist() == [0.5, None, 1.5]
    assert table.to_polars().shape == table.to_pandas().shape == (3, 6)
    assert db.graph().vertices([30, 1]).tolist() == [db.graph().vertex(30), db.graph().vertex(1)]


def test_a_batch_is_made_when_it_is_asked_for():
    graph = esker.from_edges(np.arange(200_000), np.arange(1, 200_001))
    batches = reader(graph.edges())
    first = batches.read_next_batch()
    assert len(first) == 16_384 and first["source"][0].as_py() == 0
    assert sum(len(batch) for batch in batches) + len(first) == 200_000
    assert [len(batch) for batch in reader(graph.vertices())] == [16_384] * 12 + [3_393]


@pytest.mark.parametrize("hub", [0, 30_000])
def test_no_batch_has_more_rows_than_texts_of_any_length_allow(hub):
    """A column of texts has less than 2 GiB, and a text up to 64 KiB; a list of edges has any length."""
    source = [hub] * 50_000 + list(range(40_000))
    target = list(range(50_000)) + list(range(1, 40_001))
    notes = [None if at % 7 == 0 else f"note {at % 1000}" for at in range(90_000)]
    graph = esker.from_edges([str(v) for v in source], [str(v) for v in target], properties={"note": notes, "n": list(range(90_000))}, duplicates="keep")
    batches = list(reader(graph.edges()))
    assert max(map(len, batches)) == 16_384 and sum(map(len, batches)) == 90_000
    for batch in batches:
        for u, v, note, n in zip(*(batch[name].to_pylist() for name in ("source", "target", "note", "n"))):
            assert (u, v, note) == (str(source[n]), str(target[n]), notes[n])
    assert sorted(n for batch in batches for n in batch["n"].to_pylist()) == list(range(90_000))
    assert max(len(batch) for batch in reader(graph.vertices())) <= 16_384


#: Prints how far the largest resident size, in MiB, grew while a stream was read.
PROGRAM = """
import sys, pyarrow as pa, esker
def resident(field):
    return next(int(line.split()[1]) >> 10 for line in open("/proc/self/status") if line.startswith(field))
graph = esker.open(sys.argv[1]).graph()
next(iter(pa.RecordBatchReader.from_stream(graph.edges())))
open("/proc/self/clear_refs", "w").write("5")  # the largest size counts from here
begin = resident("VmRSS")
if sys.argv[2] == "stream":
    rows = sum(len(batch) for batch in pa.RecordBatchReader.from_stream(graph.edges()))
else:
    rows = len(graph.edges().to_arrow())
assert rows == graph.num_edges
print(resident("VmHWM") - begin)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_stream_takes_the_memory_of_a_batch(path):
    n = 3_000_000
    rng = np.random.default_rng(1)
    with esker.create(path, encoding="compressed", duplicates="keep") as db, db.batch() as batch:
        batch.add_edges(rng.integers(0, n // 8, n), rng.integers(0, n // 8, n))

    def grown(how):
        return int(subprocess.run([sys.executable, "-c", PROGRAM, path, how], check=True, capture_output=True, text=True).stdout)

    stream, table = grown("stream"), grown("table")
    assert table > 60, "the table is in memory as a whole"
    assert stream < table / 2, (stream, table)


def test_differences_are_tables_of_edges_and_of_vertices():
    db = esker.create(directed=True, duplicates="last")
    with db.batch() as batch:
        batch.add_edges(["a", "b", "c"], ["b", "c", "d"], weight=[1.5, 2.5, 3.5], properties={"kind": ["x", "y", "z"]})
        batch.set_vertices(["a", "b"], age=[7, 8])
    first = db.graph().version
    with db.batch() as batch:
        batch.add_edges(["a", "d"], ["b", "e"], weight=[9.5, 4.5], properties={"kind": ["x", "w"]})
        batch.delete_edges(["b"], ["c"])
        batch.set_vertices(["a", "b"], age=[70, None])
        batch.set_vertices(["e"], name=["eve"])
    found = db.diff(first, summary_only=True)
    assert found.changes == [] and found.edges_changed == 1
    edges = found.edges.to_arrow()
    assert edges.schema.names == ["change", "source", "target", "old_weight", "new_weight", "old_kind", "new_kind"]
    assert sorted(map(tuple, edges.to_pandas().astype(object).where(edges.to_pandas().notna(), None).values.tolist())) == [
        ("added", "d", "e", None, 4.5, None, "w"),
        ("changed", "a", "b", 1.5, 9.5, "x", "x"),
        ("removed", "b", "c", 2.5, None, "y", None),
    ]
    vertices = found.vertices.to_polars().sort("vertex").rows()
    assert vertices == [("changed", "a", 7, 70, None, None), ("changed", "b", 8, None, None, None), ("added", "e", None, None, None, "eve")]
    back = db.diff(first + 1, first).edges.to_polars().sort("source").rows()
    assert [row[0] for row in back] == ["changed", "added", "removed"]
    assert repr(found.edges) == "<esker.DifferenceTable of edges>" and db.diff(first, first).vertices.to_arrow().num_rows == 0


def test_a_large_difference_comes_in_batches():
    n = 200_000
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges(np.arange(10), np.arange(10) + 1)
    with db.batch() as batch:
        batch.add_edges(np.arange(n) + 10, np.arange(n) + 11)
    stream = reader(db.diff(1, 2, summary_only=True).edges)
    rows = [batch.num_rows for batch in stream]
    assert sum(rows) == n and len(rows) > 2
    found = db.diff(1, 2)
    assert len(found.changes) == found.edges_added + found.vertices_added == 2 * n
    added = [(one["source"], one["target"]) for one in found.changes if one["change"] == "edge added"]
    assert len(set(added)) == n and (n + 9, n + 10) in added
