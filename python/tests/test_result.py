"""Results: columns without a copy, tables, display."""

import gc
import os
import resource
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import esker


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(1)
    return esker.from_edges(rng.integers(0, 5_000, 60_000), rng.integers(0, 5_000, 60_000), num_vertices=5_100, order="keep", duplicates="last")


def test_nothing_is_copied(graph):
    result = graph.pagerank()
    column = result._native.column(0)
    array = result.to_numpy()
    assert array.ctypes.data == column.address, "NumPy reads where the algorithm wrote"
    assert np.shares_memory(array, result.rank.to_numpy())
    table = pa.table(result)
    assert table["rank"].chunk(0).buffers()[1].address == column.address, "Arrow reads where the algorithm wrote"
    assert table["rank"].chunk(1).buffers()[1].address == column.address if table["rank"].num_chunks > 1 else True
    depth = graph.bfs(0)
    chunk = pa.table(depth)["depth"].chunk(0)
    assert chunk.buffers()[1].address == depth._native.column(0).address
    assert chunk.null_count == depth.column().is_missing().sum() > 0


def test_no_memory_is_taken(graph):
    result = graph.pagerank()
    result.to_numpy()
    tracemalloc.start()
    arrays = [result.to_numpy() for _ in range(100)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < arrays[0].nbytes * 5, "a hundred arrays take less than five copies"


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="asks Linux for the memory of the process")
def test_no_memory_of_the_process_is_taken():
    def resident():
        with open("/proc/self/statm") as status:
            return int(status.read().split()[1]) * resource.getpagesize()

    n = 1_000_000
    result = esker.from_edges(np.arange(n - 1), np.arange(1, n), order="keep").pagerank(rounds=1)
    bytes_of_a_column = result.to_numpy().nbytes
    pa.table(result)
    before = resident()
    arrays = [result.to_numpy() for _ in range(20)]
    assert resident() - before < bytes_of_a_column / 2, "NumPy reads where the algorithm wrote"
    before = resident()
    seen = sum(batch.num_rows for _ in range(5) for batch in pa.RecordBatchReader.from_stream(result))
    assert resident() - before < bytes_of_a_column / 2, "a stream has the ids of one batch at a time in memory"
    assert seen == 5 * n == 5 * len(arrays[0])
    before = resident()
    tables = [pa.table(result) for _ in range(5)]
    ids = sum(table["vertex"].nbytes for table in tables)
    assert resident() - before < ids + bytes_of_a_column, "of a table, the ids alone are its own"


def test_arrays_are_read_only_and_keep_their_owner(graph):
    array = graph.pagerank().to_numpy()
    expected = array.sum()
    gc.collect()
    assert array.sum() == expected == pytest.approx(1.0)
    with pytest.raises(ValueError):
        array[0] = 1.0
    with pytest.raises((BufferError, ValueError)):
        np.frombuffer(graph.pagerank()._native.column(0)).flags.writeable = True
    assert memoryview(graph.pagerank()._native.column(0)).readonly


def test_tables_agree(graph):
    result = graph.bfs(0)
    frame, polars, arrow = result.to_pandas(), result.to_polars(), result.to_arrow()
    assert list(frame.columns) == polars.columns == arrow.column_names == ["vertex", "depth"]
    assert frame["depth"].isna().sum() == polars["depth"].null_count() == arrow["depth"].null_count
    assert polars["depth"].to_list() == arrow["depth"].to_pylist()
    assert [None if pd.isna(depth) else int(depth) for depth in frame["depth"]] == arrow["depth"].to_pylist()
    assert pl.DataFrame(result).equals(polars)
    assert result.depth.to_pandas().index.name == "vertex"
    assert result.depth.to_arrow().equals(arrow["depth"]) and result.depth.to_polars().equals(polars["depth"])
    assert dict(result.items()) == result.to_dict() == dict(zip(frame["vertex"], arrow["depth"].to_pylist()))


def test_results_in_the_order_of_ids():
    # In degree order, the database numbers the vertex with id 7 first; arrays and numbers are still in the order of ids.
    source, target = [0, 1, 2, 3, 4, 5, 6], [7] * 7
    graph = esker.from_edges(source, target, order="degree")
    assert graph.info["order"] == "degree" and graph.vertex(7) == 7
    ranks = graph.pagerank()
    assert int(ranks.to_numpy().argmax()) == 7
    assert int(ranks.to_numpy(dense=True).argmax()) == 7
    assert ranks.ids().tolist() == list(range(8))
    assert ranks[7] == ranks.to_numpy()[7] == ranks.top(1)[0][1]
    assert ranks.top(1)[0][0] == 7
    components = graph.wcc()
    assert set(components.to_numpy().tolist()) == {7}, "labels are ids"
    assert set(components.to_numpy(dense=True).tolist()) == {7}
    assert components.to_arrow()["component"].to_pylist() == [7] * 8
    assert dict(zip(*[ranks.to_arrow()[name].to_pylist() for name in ("vertex", "rank")])) == ranks.to_dict()


def test_texts_as_ids(web):
    result = web.graph().bfs("carol", parents=True)
    assert result.columns == ["depth", "parent"]
    frame = result.to_pandas().set_index("vertex")
    assert frame.loc["bob", "parent"] == "alice" and frame.loc["carol", "parent"] == "carol"
    assert result.to_arrow()["vertex"].type == pa.string()
    assert result.get("bob", column="parent") == "alice" and result["carol"] == 0
    assert result.path_to("dave") == ["carol", "alice", "dave"]
    with pytest.raises(esker.UnsuitableError, match="not reached"):
        web.graph().bfs("dave").path_to("alice")
    assert web.graph().wcc().top(3) == [("alice", 4)]


def test_large_integers_as_ids():
    big = [2**63 + 5, 2**64 - 1]
    graph = esker.from_edges(np.array(big, dtype=np.uint64), np.array([1, 2], dtype=np.uint64))
    assert graph.ids().dtype == np.uint64 and big[1] in graph
    assert graph.bfs(big[0]).to_arrow()["vertex"].type == pa.uint64()
    assert graph.bfs(big[0]).path_to(1) == [big[0], 1]


def test_facts_and_display(graph):
    result = graph.wcc()
    assert result.components == result.facts["components"] > 1 and "components" in dir(result)
    assert "components" in repr(result) and "<table>" in result._repr_html_()
    assert "rows" not in graph.triangles()._repr_html_() and graph.triangles().columns == []
    assert len(graph.triangles()) == 0
    with pytest.raises(AttributeError, match="it has"):
        result.nothing
    with pytest.raises(KeyError):
        result.column("nothing")
    with pytest.raises(esker.UnsuitableError):
        graph.triangles().to_numpy()
    assert result.edges_per_second > 0 and repr(result.column())
    for wrong in (-1, "x", 1.5):
        with pytest.raises((ValueError, TypeError)):
            result.top(wrong)
    assert len(result.top(10**9)) == result.components


def test_edges_as_rows(graph):
    with pytest.raises(esker.UnsuitableError, match="undirected"):
        graph.forest()
    forest = esker.from_edges([0, 1, 2, 5], [1, 2, 0, 6], directed=False).forest()
    source, target = forest.edges()
    assert len(source) == len(target) == len(forest)
    assert forest.to_arrow().column_names == ["source", "target"] == list(forest.to_pandas().columns)
    with pytest.raises(esker.UnsuitableError):
        forest.ids()
    with pytest.raises(esker.UnsuitableError):
        graph.pagerank().edges()


def test_deterministic_runs_agree(graph):
    one = graph.pagerank(deterministic=True, threads=1).to_numpy()
    assert (one == graph.pagerank(deterministic=True, threads=3).to_numpy()).all()
    seeded = [graph.betweenness(samples=5, seed=4, threads=1).to_numpy() for _ in range(2)]
    assert (seeded[0] == seeded[1]).all()


def test_a_column_is_an_array(graph):
    ranks = graph.pagerank()
    assert np.asarray(ranks).sum() == pytest.approx(1.0)
    assert np.log(ranks.rank).shape == (5_100,)


def test_arrays_of_other_libraries_have_no_number_for_what_is_missing():
    depths = esker.from_edges(["a", "b", "c"], ["b", "c", "d"]).bfs("b")
    for values in (np.asarray(depths), pd.Series(depths).to_numpy()):
        known = dict(zip(depths.ids(), values))
        assert np.isnan(known["a"]) and known["d"] == 2
    assert np.asarray(esker.from_edges([0], [1]).bfs(0)).dtype.kind in "iu"


def test_a_negative_cycle_is_named():
    """The result said that there is one, and everything else that it has no columns."""
    graph = esker.from_edges(["a", "b", "c", "d"], ["b", "c", "b", "a"], weight=[1, -3, 2, 1])
    found = graph.bellman_ford("d", verify=True)
    assert found.negative_cycle and sorted(found.cycle) == ["b", "c"] and found.edges()[0].tolist() == found.cycle
    named = " -> ".join([*found.cycle, found.cycle[0]])
    assert named in repr(found)
    for use in (lambda: found["c"], lambda: found.distance, found.ids, found.to_numpy, lambda: found.path_to("c"), lambda: found.get("c")):
        with pytest.raises((esker.UnsuitableError, AttributeError), match=f"cycle of negative length: {named}"):
            use()
    assert graph.bellman_ford("d", parents=True).cycle == found.cycle
    fine = esker.from_edges([0, 1], [1, 2], weight=[1, -1]).bellman_ford(0)
    assert fine.cycle is None and not fine.negative_cycle and fine.values() == [0, 1, 0]
    long = esker.from_edges(range(100), [*range(1, 100), 0], weight=[-1] * 100).bellman_ford(0)
    assert len(long.cycle) == 100 and len(repr(long)) < 300
