"""Truth values, dates and times are types of properties: as the columns have them, or as declared."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import esker

UTC = datetime.timezone.utc
BERLIN = "Europe/Berlin"


def table():
    """Three edges with a property of each type."""
    times = [datetime.datetime(2024, 2, 29, 10, 0, 0, 250000), datetime.datetime(1969, 12, 31, 23, 59, 59), datetime.datetime(2024, 3, 1)]
    return pa.table(
        {
            "source": pa.array([1, 2, 3]),
            "target": pa.array([2, 3, 1]),
            "paid": pa.array([True, False, True]),
            "day": pa.array([time.date() for time in times]),
            "start": pa.array(times, pa.timestamp("ms")),
            "exact": pa.array([1, -1, 1_700_000_000_123_456_789], pa.timestamp("ns")),
            "seen": pa.array(times, pa.timestamp("us", BERLIN)),
            "note": pa.array(["a", "b", "a"]),
        }
    )


TYPES = {
    "paid": "bool",
    "day": "date",
    "start": "timestamp[ms]",
    "exact": "timestamp[ns]",
    "seen": f"timestamp[us, {BERLIN}]",
    "note": "text",
}


def sorted_table(found):
    return found.cast(table().schema).sort_by("source")


def test_arrow_types_are_kept():
    graph = esker.from_edges(table())
    assert graph.edge_properties == TYPES
    assert sorted_table(graph.to_arrow()).equals(table())
    found = graph.to_arrow().schema
    assert [found.field(name).type for name in ("paid", "day", "start", "exact", "seen")] == [
        table().schema.field(name).type for name in ("paid", "day", "start", "exact", "seen")
    ]
    assert sorted_table(graph.to_polars().to_arrow()).equals(table())
    edge = graph.edge(1, 2)
    assert edge["paid"] is True and edge["day"] == datetime.date(2024, 2, 29)
    assert edge["start"] == datetime.datetime(2024, 2, 29, 10, 0, 0, 250000)
    assert edge["seen"] == datetime.datetime(2024, 2, 29, 10, 0, 0, 250000, UTC)
    assert edge["exact"] == np.datetime64(1, "ns")


@pytest.mark.parametrize("make", [lambda t: t, pl.from_arrow, lambda t: t.to_pandas(), lambda t: {n: t[n].to_pylist() for n in t.column_names}])
def test_types_of_tables_of_other_libraries(make):
    graph = esker.from_edges(make(table().drop_columns(["exact"])))
    kinds = {name: kind.split("[")[0] for name, kind in graph.edge_properties.items()}
    assert kinds["paid"] == "bool" and kinds["day"] in ("date", "text") and kinds["start"] == kinds["seen"] == "timestamp"
    assert graph.edge(2, 3)["start"] == datetime.datetime(1969, 12, 31, 23, 59, 59)
    assert graph.edge(2, 3)["seen"] == datetime.datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert graph.edge(2, 3)["paid"] is False


def test_parquet_files_are_kept(tmp_path):
    pq.write_table(table(), tmp_path / "t.parquet")
    with esker.import_(tmp_path / "t.parquet", tmp_path / "db", properties="all") as db:
        assert db.schema == {"edges": TYPES, "vertices": {}} and db.graph().edge_properties == TYPES
        db.export(tmp_path / "out.parquet")
    assert sorted_table(pq.read_table(tmp_path / "out.parquet")).equals(table())
    with esker.open(tmp_path / "db") as db:
        assert sorted_table(db.graph().to_arrow()).equals(table())


def test_pandas_and_numpy_have_dates_times_and_zones():
    graph = esker.from_edges(table())
    frame = graph.to_pandas().sort_values("source")
    assert frame["paid"].dtype == bool and str(frame["seen"].dtype).endswith(f"{BERLIN}]")
    assert frame["seen"].iloc[0] == pd.Timestamp("2024-02-29 10:00:00.25", tz="UTC")
    again = esker.from_edges(frame)
    assert again.edge_properties["seen"].endswith(f"{BERLIN}]") and again.edge_properties["paid"] == "bool"
    properties = graph.edges().properties
    assert properties["day"].dtype == "datetime64[D]" and properties["start"].dtype == "datetime64[ms]"
    made = esker.from_edges([0, 1], [1, 0], properties={"on": np.array([True, False]), "at": np.array(["2024-01-01", "2024-01-02"], "M8[s]")})
    assert made.edge_properties == {"on": "bool", "at": "timestamp[s]"}
    nx_graph = graph.to_networkx()
    assert nx_graph.edges[1, 2]["day"] == datetime.date(2024, 2, 29) and nx_graph.edges[2, 3]["exact"] == np.datetime64(-1, "ns")


def test_views_keep_types():
    graph = esker.from_edges(table())
    for view in (graph.reverse(), graph.undirected(), graph.subgraph([1, 2, 3]), graph.filter({"paid": True})):
        assert view.edge_properties == TYPES


def test_declared_types_are_held_and_others_refused(tmp_path):
    schema = {"weight": "f64", "since": "date", "on": "bool"}
    with esker.create(tmp_path / "db", schema=schema) as db:
        with db.batch() as batch:
            batch.add_edges([1, 2], [2, 3], weight=[1, 2], properties={"since": ["2024-01-01", "2024-01-02"], "on": [0, 1]})
        assert db.schema["edges"] == schema
        with db.batch() as batch:
            batch.add_edges([3], [4], weight=[3], properties={"since": [datetime.date(2024, 1, 3)], "on": [True]})
        with pytest.raises(ValueError, match="since.*'?\"?soon\"?'? ?,? which is not a date|not a date"), db.batch() as batch:
            batch.add_edges([4], [5], weight=[3], properties={"since": ["soon"], "on": [True]})
        assert db.graph().edge(3, 4) == {"weight": 3.0, "since": datetime.date(2024, 1, 3), "on": True}
    with pytest.raises(ValueError, match=r"n\[1\] is \"300\", which is not an integer from 0 to 255"):
        esker.from_edges([0, 1], [1, 2], properties={"n": [1, 300]}, schema={"n": "u8"})
    assert esker.from_edges([0], [1], properties={"n": [7]}, schema={"n": "u8"}).edge(0, 1) == {"n": 7}
    with pytest.raises(ValueError, match="the schema declares 'm'|the schema declares \"m\""):
        esker.from_edges([0], [1], schema={"m": "u8"})
    with pytest.raises(ValueError, match="unknown type"):
        esker.from_edges([0], [1], properties={"n": [1]}, schema={"n": "int"})
    with pytest.raises(TypeError, match="types by name"):
        esker.create(schema=["n"])


def test_files_are_imported_with_declared_types(tmp_path):
    (tmp_path / "e.csv").write_text("source,target,since,kind\n1,2,2024-01-01,1\n2,3,yesterday,0\n")
    with pytest.raises(esker.InputError, match="e.csv:3.*since, of type date, is not a date"):
        esker.import_(tmp_path / "e.csv", schema={"since": "date"})
    with esker.import_(tmp_path / "e.csv", schema={"since": "text", "kind": "bool"}) as db:
        assert db.schema["edges"] == {"since": "text", "kind": "bool"}


def test_unsigned_integers_of_64_bits_are_kept(tmp_path):
    hashes = np.array([2**64 - 1, 2**63, 5], dtype=np.uint64)
    with esker.create(tmp_path / "db", schema={"hash": "u64"}) as db:
        with db.batch() as batch:
            batch.add_edges([1, 2, 3], [2, 3, 4], properties={"hash": hashes})
        with db.batch() as batch:
            batch.add_edges([4], [5], properties={"hash": [2**64 - 2]})
        assert db.schema["edges"] == {"hash": "u64"} and db.graph().edge(4, 5) == {"hash": 2**64 - 2}
    graph = esker.from_edges([1, 2, 3], [2, 3, 4], properties={"hash": hashes})
    assert graph.edge_properties == {"hash": "u64"} and graph.edge(1, 2) == {"hash": 2**64 - 1}
    frame = graph.to_pandas().sort_values("source")
    assert frame["hash"].dtype == np.uint64 and frame["hash"].tolist() == hashes.tolist()
    found = graph.to_arrow().sort_by("source")
    assert found.schema.field("hash").type == pa.uint64() and found["hash"].to_pylist() == hashes.tolist()
    assert graph.edges().properties["hash"].dtype == np.uint64
    assert esker.from_edges(frame).edge_properties == graph.reverse().edge_properties == {"hash": "u64"}
    pq.write_table(found, tmp_path / "t.parquet")
    with esker.import_(tmp_path / "t.parquet", properties="all") as db:
        assert db.schema["edges"] == {"hash": "u64"} and db.graph().edge(2, 3) == {"hash": 2**63}
        with db.batch() as batch:
            batch.set_vertices([1, 2], tag=hashes[:2])
        assert db.schema["vertices"] == {"tag": "u64"} and db.graph().properties(2) == {"tag": 2**63}


def test_vertex_properties_have_types_and_widen():
    with esker.create() as db:
        with db.batch() as batch:
            batch.add_edges([(1, 2), (2, 3)])
        with db.batch() as batch:
            born = [datetime.date(1990, 5, 1), None, datetime.date(2001, 12, 31)]
            seen = pd.Series(pd.to_datetime(["2024-01-01", None, "2024-01-02"])).dt.tz_localize(BERLIN)
            batch.set_vertices([1, 2, 3], born=born, seen=seen, on=[True, None, False], age=[3, 4, 5])
        kinds = db.schema["vertices"]
        assert (kinds["born"], kinds["on"], kinds["age"]) == ("date", "bool", "i64") and kinds["seen"].endswith(f"{BERLIN}]")
        with db.batch() as batch:
            batch.set_vertices([2], age=[4.5])
        graph = db.graph()
        assert graph.vertex_properties["age"] == "f64" and graph.property("age").tolist() == [3.0, 4.5, 5.0]
        assert graph.properties(1) == {
            "born": datetime.date(1990, 5, 1),
            "seen": datetime.datetime(2023, 12, 31, 23, tzinfo=UTC),
            "on": True,
            "age": 3.0,
        }
        assert graph.property("born").tolist() == born and graph.property("on").tolist() == [True, None, False]
        view = graph.subgraph([1, 2])
        assert view.vertex_properties == graph.vertex_properties and view.property("born").tolist() == born[:2]


def test_list_columns_are_named_as_left_out(tmp_path):
    found = table().append_column("tags", pa.array([["x"], [], ["y", "z"]]))
    with pytest.warns(esker.EskerWarning, match="left out the column 'tags': it holds values of type list"):
        assert esker.from_edges(found).edge_properties == TYPES
    with pytest.warns(esker.EskerWarning, match="tags"):
        assert esker.from_edges(pl.from_arrow(found)).edge_properties.keys() == TYPES.keys()
    pq.write_table(found, tmp_path / "t.parquet")
    with pytest.warns(esker.EskerWarning, match="Leaving out columns of .*t.parquet that hold neither numbers nor texts: tags"):
        esker.import_(tmp_path / "t.parquet", properties="all").close()


def test_numbers_and_times_are_not_taken_for_each_other():
    day, moment = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)
    for first, second in ((1, day), (day, 7), (moment, 7), (1, moment), ("x", day), (True, day), (day, True), (0.5, day)):
        db = esker.create()
        with db.batch() as batch:
            batch.add_edges([0], [1], properties={"k": [first]}).set_vertices([0], k=first)
        with pytest.raises((ValueError, TypeError), match="not of type|not values of type"), db.batch() as batch:
            batch.add_edges([1], [2], properties={"k": [second]})
        with pytest.raises((ValueError, TypeError), match="not of type|not values of type"), db.batch() as batch:
            batch.set_vertices([1], k=second)
        assert db.graph().num_edges == 1 and db.graph().edge(0, 1) == {"k": first}
    with pytest.raises(ValueError, match="not of type date"):
        esker.from_edges([0], [1], properties={"k": [7]}, schema={"k": "date"})
    # A truth value is a number where numbers are asked for.
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges([0], [1], properties={"k": [5]})
    with db.batch() as batch:
        batch.add_edges([1], [2], properties={"k": [True]})
    assert db.graph().edge(1, 2) == {"k": 1}


def test_the_first_edges_decide_the_types_also_after_batches_that_have_none():
    for nothing in (lambda batch: None, lambda batch: batch.add_edges([], []), lambda batch: batch.add_edges(pd.DataFrame({"source": [], "target": []}))):
        db = esker.create()
        with db.batch() as batch:
            nothing(batch)
        assert batch.version is None
        with db.batch() as batch:
            batch.add_edges(["a"], ["b"], weight=[2])
        assert batch.version == 1 and db.graph().edge("a", "b") == {"weight": 2}
    empty = pa.table({"source": pa.array([], pa.string()), "target": pa.array([], pa.string()), "k": pa.array([], pa.string())})
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges(empty)
    with db.batch() as batch:
        batch.add_edges(["a"], ["b"], properties={"k": ["x"]})
    assert batch.version == 2 and db.graph().edge("a", "b") == {"k": "x"}
    assert esker.from_edges([], []).num_vertices == 0


def test_vertices_may_come_before_the_first_edges():
    db = esker.create()
    with db.batch() as batch:
        batch.add_vertices(["z"]).set_vertices(["a", "y"], age=[1, 2]).add_edges(["a"], ["b"], weight=[3])
        assert len(batch) == 4
    graph = db.graph()
    assert sorted(graph) == ["a", "b", "y", "z"] and graph.weight == "weight" and graph.properties("y") == {"age": 2}
    db = esker.create(weight="cost", schema={"since": "date"})
    with db.batch() as batch:
        batch.add_vertices(["z", "a"])
    assert batch.version == 1 and list(db.graph()) == ["z", "a"]
    with db.batch() as batch:
        batch.add_edges(["a"], ["z"], weight=[2.5], properties={"since": [datetime.date(2020, 1, 1)]})
    assert db.graph().weight == "cost" and db.graph().edge("a", "z") == {"cost": 2.5, "since": datetime.date(2020, 1, 1)}
    with pytest.raises(esker.InvalidError, match="same length"), esker.create().batch() as batch:
        batch.set_vertices([1, 2], age=[1])
    assert esker.from_edges([0], [1], vertices=[7, 1]).num_vertices == 3
    with pytest.raises(esker.InvalidError, match="leave out vertices"):
        import networkx

        esker.from_edges(networkx.path_graph(3), vertices=[7])


def test_one_value_of_any_type_serves_all_vertices():
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges([0], [1]).set_vertices([0, 1], day=datetime.date(2020, 1, 1), at=pd.Timestamp("2020-01-01"), on=True)
    assert db.graph().properties(1)["day"] == datetime.date(2020, 1, 1) and db.schema["vertices"]["at"].startswith("timestamp")
