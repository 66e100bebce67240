"""What cannot be read or has no effect is refused, with an exception of Esker that names it; nothing is rounded, cut short or left out unsaid."""

import datetime
import decimal
import os
import threading
import zoneinfo

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import esker


def table(**columns):
    return pd.DataFrame({"source": [1], "target": [2], **columns})


@pytest.mark.parametrize(
    "read, message",
    [
        (lambda: esker.from_edges([b"a"], [b"b"]), r"source: expected .* but source\[0\] has type bytes"),
        (lambda: esker.from_edges([0, 1], [1, 2], properties={"k": ["a", 2]}), r"k\[1\] has type int, but the elements before it are strings"),
        (lambda: esker.from_edges([0, 1], [1, 2], properties={"k": [None, 2, "a"][1:]}), r"k\[1\] has type str, but the elements before it are numbers"),
        (lambda: esker.from_edges([0], [1], properties={3: [1]}), "names of properties must be strings, not 3"),
        (lambda: esker.from_edges([0, 1], [1, 2], weight=[2**70, 1]), r"weight\[0\] is 1180591620717411303424.*pass values as floats"),
        (lambda: esker.from_edges(pd.DataFrame({"source": [1, "2"], "target": [2, 3]}, dtype=object)), "source: values of type object cannot be read"),
        (lambda: esker.from_edges(table(c=[1j])), "c: values of type complex128|c: expected"),
        (lambda: esker.from_edges(pl.DataFrame({"source": pl.Series([1], dtype=pl.Int128), "target": [2]})), "source: values of type Int128 cannot be read"),
        (lambda: esker.from_edges(pa.table({"source": [1], "target": [2], "b": [b"x"]})), "b: expected .* got Arrow type Binary; convert"),
        (lambda: esker.from_edges(sp.coo_array(np.array([0, 1, 2]))), "must be square, not 3"),
        (lambda: esker.from_edges(nx.Graph([(0, 1, {7: 3})])), "names of properties must be strings, not 7"),
        (lambda: esker.from_edges([0], [1], weight=[decimal.Decimal("12345678901234567")] + []), "12345678901234567"),
        (lambda: esker.from_edges([0], [1], multigraph="no"), "multigraph must be True or False"),
        (lambda: esker.from_edges([0], [1], in_edges="no"), "in_edges must be True or False"),
        (lambda: esker.import_(__file__, header="yes"), "header must be True or False"),
    ],
)
def test_what_cannot_be_read_is_named(read, message):
    with pytest.raises(esker.Error, match=message):
        read()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda g: g.pagerank(head=-1), "head must be at least 1"),
        (lambda g: g.pagerank(residency=3), "residency must be a string"),
        (lambda g: g.pagerank(deterministic="x"), "deterministic must be True or False"),
        (lambda g: g.to_scipy(weight="toll"), "no edge property of numbers is called 'toll'"),
        (lambda g: g.to_scipy(weight="kind"), "its type is text"),
        (lambda g: g.bellman_ford(0).path_to(1), "found no paths"),
    ],
)
def test_arguments_of_graphs_are_checked(call, message):
    g = esker.from_edges([0, 1], [1, 0], weight=[-1, -2], properties={"kind": ["a", "b"]})
    with pytest.raises(esker.Error, match=message):
        call(g)


def test_arguments_of_databases_are_checked(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\n5,6\n")
    with esker.create(tmp_path / "db") as db:
        with db.batch() as batch:
            batch.add_edges([0], [1])
        result = db.graph().kcore(undirected=True)
        for call, message in (
            (lambda: db.define_edge_property(5), "name must be a string"),
            (lambda: db.export(tmp_path / "x.csv", properties=["i"]), "properties must be True or False"),
            (lambda: db.store(result, 5), "name must be a string"),
            (lambda: db.import_(tmp_path / "e.csv", directed=False), "is directed; leave out directed=False"),
            (lambda: db.import_(tmp_path / "e.csv", order="degree"), "order='degree' has no effect"),
            (lambda: db.import_(tmp_path / "e.csv", encoding="compressed"), "encoding='compressed' has no effect"),
            (lambda: db.import_(tmp_path / "e.csv", in_edges=False), "in_edges=False has no effect"),
        ):
            with pytest.raises(esker.Error, match=message):
                call()
        report = db.import_(tmp_path / "e.csv")
        assert (report.vertices, report.edges, report.rows) == (2, 1, 1)
        with pytest.raises(TypeError, match="zzz"):
            db.diff(1, 2, zzz=3)


def test_columns_of_lists_in_pandas_are_left_out_and_named():
    for values in ([[1, 2]], [{"a": 1}], [(1, 2)], [np.arange(2)]):
        with pytest.warns(esker.EskerWarning, match="left out the column 'l'"):
            assert esker.from_edges(table(l=values)).edge_properties == {}
    assert esker.from_edges(table(l=["x"])).edge_properties == {"l": "text"}


def test_zones_of_times_are_kept():
    tokyo = pd.date_range("2020", periods=1, tz="Asia/Tokyo")
    berlin = datetime.datetime(2020, 1, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
    for times, kind in (
        (tokyo, f"timestamp[{tokyo.unit}, Asia/Tokyo]"),
        (pd.Series(tokyo), f"timestamp[{tokyo.unit}, Asia/Tokyo]"),
        ([berlin], "timestamp[us, Europe/Berlin]"),
        ([tokyo[0].to_pydatetime().replace(tzinfo=datetime.timezone.utc)], "timestamp[us, UTC]"),
    ):
        g = esker.from_edges([0], [1], properties={"at": times})
        assert g.edge_properties == {"at": kind}
        assert g.edge(0, 1)["at"] == pd.Timestamp(times[0]).to_pydatetime()
    mixed = [berlin, berlin.astimezone(zoneinfo.ZoneInfo("Asia/Tokyo"))]
    assert esker.from_edges([0, 1], [1, 2], properties={"at": mixed}).edge_properties == {"at": "timestamp[us, UTC]"}
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges([0], [1]).set_vertices([0, 1], at=pd.DatetimeIndex([tokyo[0], pd.NaT]))
    assert db.graph().properties(0)["at"] == tokyo[0].to_pydatetime() and "at" not in db.graph().properties(1)
    # Polars takes no offsets as zones.
    g = esker.from_edges([0], [1], properties={"at": pa.array([1], pa.timestamp("s", "+05:30"))})
    assert g.to_polars()["at"].to_list() == [datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.timezone.utc)]


def test_sums_of_matrices_are_exact_or_refused():
    def matrix(values, dtype):
        return sp.coo_matrix((np.array(values, dtype=dtype), ([0, 0], [1, 1])), shape=(2, 2))

    assert esker.from_edges(matrix([100, 100], "i1")).edge(0, 1) == {"weight": 200}
    assert esker.from_edges(matrix([2**24, 1], "f4")).edge(0, 1) == {"weight": 2**24 + 1}
    with pytest.raises(esker.InvalidError, match="more than 64 bits"):
        esker.from_edges(matrix([2**63 - 1, 1], "i8"))
    for rule in ("error", "keep", "last", "max"):
        with pytest.raises(esker.InvalidError, match="are summed, so duplicates="):
            esker.from_edges(matrix([1, 2], "i8"), duplicates=rule)
    assert esker.from_edges(matrix([1, 2], "i8"), duplicates="sum").edge(0, 1) == {"weight": 3}
    assert esker.from_edges(matrix([1, 2], "i8").tocsr(), duplicates="error").edge(0, 1) == {"weight": 3}


def test_decimals_of_databases_are_numbers():
    duckdb = pytest.importorskip("duckdb")
    assert esker.from_edges(duckdb.sql("select 1 as source, 2 as target, 1.5 as weight")).edge(1, 2) == {"weight": 1.5}
    assert esker.from_edges(duckdb.sql("select 1 as source, 2 as target, sum(3) as weight")).edge(1, 2) == {"weight": 3}
    wide = pa.table({"source": [1], "target": [2], "weight": pa.array([decimal.Decimal(2**70)], pa.decimal128(30, 0))})
    with pytest.raises(esker.InvalidError, match="weight: a decimal .* exceeds 64 bits"):
        esker.from_edges(wide)


def test_graphs_of_esker_are_edges_too():
    g = esker.from_edges(["a", "b"], ["b", "c"], weight=[1, 2], directed=False, properties={"day": [datetime.date(2020, 1, 1)] * 2}, vertices=["z"])
    again = esker.from_edges(g)
    assert again.to_pandas().equals(g.to_pandas()) and set(again) == set(g) and again.weight == "weight" and not again.directed
    assert again.edge_properties == g.edge_properties
    assert pa.table(g).num_rows == 2 and pl.DataFrame(g).height == 2
    with pytest.raises(esker.InvalidError, match="leave out directed"):
        esker.from_edges(g, directed=True)


def test_any_property_is_the_value_of_a_matrix():
    g = esker.from_edges([0, 1], [1, 0], weight=[1, 2], properties={"toll": [0.5, 0.25]})
    assert g.to_scipy(weight="toll").toarray().tolist() == [[0, 0.5], [0.25, 0]]
    assert g.to_scipy(weight="weight").toarray().tolist() == g.to_scipy().toarray().tolist() == [[0, 1], [2, 0]]
    assert g.to_scipy(weight=False).toarray().tolist() == [[0, 1], [1, 0]]


def test_the_weight_of_any_name_is_kept_by_tables(tmp_path):
    with esker.create(weight="cost") as db:
        with db.batch() as batch:
            batch.add_edges([0, 1], [1, 2], weight=[2.5, 1.0], properties={"weight": [7, 8]})
        for name in ("e.parquet", "e.arrow"):
            db.export(tmp_path / name)
            graph = esker.import_(tmp_path / name, properties="all").graph()
            assert graph.weight == "cost" and graph.sssp(0)[2] == 3.5
            assert esker.import_(tmp_path / name, weight="weight", properties="all").graph().weight == "weight"
            assert esker.import_(tmp_path / name, weight=False, properties="all").graph().weight is None


def test_an_outer_handle_cancels_what_runs_in_an_inner_block():
    g = esker.from_edges([0, 1], [1, 2])
    outer, inner = esker.Cancel(), esker.Cancel()
    with outer:
        with inner:
            g.pagerank()
            threading.Thread(target=outer.cancel).start()
            with pytest.raises(esker.Cancelled):
                while True:
                    g.pagerank()
            assert outer.cancelled and not inner.cancelled
        with pytest.raises(esker.Cancelled):
            g.pagerank()
    g.pagerank()
    with inner:
        g.pagerank()
    # A handle that is cancelled cancels blocks within it that begin later.
    with outer, pytest.raises(esker.Cancelled):
        with esker.Cancel():
            g.pagerank()


def test_a_handle_ends_the_wait_for_a_version():
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges([0], [1])
    handle = esker.Cancel()
    threading.Timer(0.1, handle.cancel).start()
    with handle, pytest.raises(esker.Cancelled):
        for _ in db.follow("wcc"):
            pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_database_in_memory_stays_in_its_process():
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges([0], [1])
    graph = db.graph()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            db.graph()
        except esker.ForkedError as error:
            os.write(writer, f"{graph.num_edges} {error}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 1000).decode().endswith("a database in memory stays in that process, but its graphs can be read here")


def test_a_limit_that_a_refusal_names_is_enough_for_an_undirected_reading():
    rng = np.random.default_rng(1)
    g = esker.from_edges(rng.integers(0, 2000, 15000), rng.integers(0, 2000, 15000), duplicates="last")
    for name in ("kcore", "triangles", "colouring", "truss", "wcc"):
        with pytest.raises(esker.MemoryLimitError) as refused:
            getattr(g, name)(undirected=True, memory=1)
        getattr(g, name)(undirected=True, memory=refused.value.needed_bytes)


def test_runs_are_planned(tmp_path):
    with esker.create(tmp_path / "db") as db:
        with db.batch() as batch:
            batch.add_edges(range(1000), range(1, 1001))
        g = db.graph()
        assert g.estimate.pagerank().plan is None
        found = g.estimate.pagerank(memory="1GiB")
        assert found.plan["residency"] == "mapped" and found.plan["memory_limit_bytes"] == 1 << 30 and found.plan["predicted"]["seconds"] > 0
        assert {one["residency"] for one in found.plan["candidates"]} >= {"mapped", "pooled", "headed"}
        assert g.estimate.bfs(0, residency="headed", head=1).plan["heads"]["length"] == 1
        assert g.estimate.bfs(0, residency="pooled").plan["residency"] == "pooled"
        with pytest.raises(esker.MemoryLimitError):
            g.estimate.pagerank(memory=10)
        with pytest.raises(esker.InvalidError, match="tiles"):
            g.estimate.pagerank(encoding="tiles")


def test_estimates_refuse_what_runs_refuse(tmp_path):
    with esker.create(tmp_path / "db") as db:
        with db.batch() as batch:
            batch.add_edges(range(10), range(1, 11))
        g = db.graph()
        for name, given in [("bfs", {"source": 70}), ("bfs", {}), ("bfs", {"source": []}), ("flow", {"source": 1}), ("quality", {"labels": "nope"}), ("msf", {})]:
            with pytest.raises(esker.Error) as run:
                getattr(g, name)(**given)
            with pytest.raises(type(run.value)):
                getattr(g.estimate, name)(**given)
        assert g.estimate.bfs(1).memory_bytes > 0 and g.estimate.msf(undirected=True).memory_bytes > 0


@pytest.mark.parametrize("shape", [(2, 2), (2, 3), (3, 3)])
def test_arrays_that_can_be_read_in_several_ways_are_refused(shape):
    """An edge index of two or three edges, and an adjacency matrix of three vertices, were read as rows of edges."""
    array = np.arange(shape[0] * shape[1]).reshape(shape)
    forms = [array, array.astype(float), pd.DataFrame(array), pl.DataFrame(array), pl.DataFrame(array).lazy()]
    for form in forms:
        with pytest.raises(ValueError, match="can be read in") as refused:
            esker.from_edges(form)
        remedies = [shape[1] in (2, 3) and "rows of edges pass the columns", shape[0] == 2 and "edge index", shape[0] == shape[1] and "coo_array"]
        assert all(remedy in str(refused.value) for remedy in remedies if remedy), refused.value
        with pytest.raises(ValueError, match="can be read in"):
            esker.create().batch().add_edges(form)
    # What the remedies say.
    rows = esker.from_edges(array[:, 0], array[:, 1])
    assert rows.num_edges == shape[0]
    if shape[0] == 2:
        assert esker.from_edges(array[0], array[1]).num_edges == shape[1]
    if shape[0] == shape[1]:
        assert esker.from_edges(sp.coo_array(array)).num_vertices == shape[0]


def test_arrays_of_one_meaning_are_read_and_others_say_what_to_pass():
    assert esker.from_edges(np.array([[0, 1], [1, 2], [2, 3]])).num_edges == 3
    assert esker.from_edges(np.array([[0, 1, 5], [1, 2, 6], [2, 3, 7], [3, 4, 8]])).weight == "weight"
    assert esker.from_edges(np.array([[0, 1]])).num_edges == esker.from_edges(np.array([[0, 1, 2]])).num_edges == 1
    with pytest.raises(ValueError, match=r"two columns, or three with the weight, not 7; for an edge index.* pass a\[0\], a\[1\]"):
        esker.from_edges(np.zeros((2, 7), dtype=int))
    with pytest.raises(ValueError, match="not 5; for an adjacency matrix pass scipy.sparse.coo_array"):
        esker.from_edges(np.zeros((5, 5)))
    for pair in ((np.array([0, 1]), np.array([1, 2])), [np.arange(3), np.arange(3)], (pd.Series([0, 1]), pd.Series([1, 2]))):
        with pytest.raises(ValueError, match="two arrays in one object"):
            esker.from_edges(pair)
    assert esker.from_edges([(0, 1), (1, 2)]).num_edges == 2
