"""Edges without a value: from every kind of column, and to every kind of table."""

import datetime
import math
import operator

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import esker

SOURCE, TARGET = [1, 2, 3], [2, 3, 1]
DAY = datetime.date(2024, 1, 5)
TIME = datetime.datetime(2024, 1, 5, 10, 30, tzinfo=datetime.timezone.utc)

#: By name: values of each type, the middle one missing, and the type that the property gets.
COLUMNS = {
    "n": (pa.array([4, None, -6]), "i64", [4, None, -6]),
    "u": (pa.array([4, None, 2**63], pa.uint64()), "u64", [4, None, 2**63]),
    "x": (pa.array([0.5, None, 2.5]), "f32", [0.5, None, 2.5]),
    "t": (pa.array(["a", None, ""]), "text", ["a", None, ""]),
    "b": (pa.array([True, None, False]), "bool", [True, None, False]),
    "d": (pa.array([DAY, None, DAY]), "date", [DAY, None, DAY]),
    "s": (pa.array([TIME, None, TIME], pa.timestamp("us", "UTC")), "timestamp[us, UTC]", [TIME, None, TIME]),
}

#: The column of Arrow as others have it.
MAKERS = {
    "arrow": lambda column: column,
    "chunks": lambda column: pa.chunked_array([column[:1], column[1:]]),
    "pandas": lambda column: column.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda column: pl.from_arrow(column),
    "list": lambda column: column.to_pylist(),
}


def given(table):
    """The rows of an Arrow table of edges in order."""
    return table.sort_by([("source", "ascending")]).to_pydict()


@pytest.mark.parametrize("library", MAKERS)
@pytest.mark.parametrize("is_added", [False, True])
def test_edges_lack_what_columns_lack(library, is_added, path):
    # No type holds what is beyond 2^63 beside what came before.
    columns = {name: one for name, one in COLUMNS.items() if name != "u" or not is_added}
    properties = {name: MAKERS[library](column) for name, (column, _, _) in columns.items()}
    if is_added:
        full = {name: column.drop_null().take([0, 0, 0]) for name, (column, _, _) in columns.items()}
        with esker.create(path) as db:
            for ends, values in ((([7, 8, 9], [8, 9, 7]), full), ((SOURCE, TARGET), properties)):
                with db.batch() as batch:
                    batch.add_edges(*ends, properties=values)
            g = db.graph()
    else:
        g = esker.from_edges(SOURCE, TARGET, properties=properties)
    if not is_added:
        assert {name: kind for name, kind in g.edge_properties.items()} == {name: kind for name, (_, kind, _) in COLUMNS.items()}
    table = g.edges()
    frame = table.to_pandas().sort_values("source")
    assert frame.drop(columns=["source", "target"]).isna().all(axis=1).tolist()[:3] == [False, True, False]
    assert frame["n"].tolist()[0] == 4 and frame["t"].tolist()[2] == ""
    for found in (given(table.to_arrow()), given(pa.table(table)), given(table.to_polars().to_arrow())):
        for name, (_, _, expected) in columns.items():
            assert found[name][:3] == pytest.approx(expected, nan_ok=True) if name == "x" else found[name][:3] == expected, name
    between = g.to_networkx().edges[2, 3]
    assert between == {}
    again = esker.from_edges(g)
    assert given(again.edges().to_arrow()) == given(table.to_arrow())


def test_nan_is_missing():
    for weights in (np.array([0.5, math.nan, 2.5]), [0.5, math.nan, 2.5], pd.Series([0.5, None, 2.5]), np.ma.MaskedArray([0.5, 7, 2.5], mask=[0, 1, 0])):
        g = esker.from_edges(SOURCE, TARGET, weight=weights)
        found = g.edges().properties["weight"]
        assert found.tolist() == [0.5, None, 2.5] or sorted(zip(g.ids()[g.edges().source].tolist(), found.tolist())) == [(1, 0.5), (2, None), (3, 2.5)]
        assert g.filter(lambda edges: edges.properties["weight"] >= 0).num_edges == 2
        assert g.filter({"weight": [0.5, 0]}).num_edges == 1
        for refused in (lambda: g.sssp(1), lambda: g.to_scipy(), lambda: g.undirected()):
            with pytest.raises(esker.InvalidError, match="no value of"):
                refused()
    with pytest.raises(esker.InvalidError, match="finite"):
        esker.from_edges(SOURCE, TARGET, weight=[0.5, math.inf, 1])


def test_what_is_unknown_of_a_missing_value_is_not_true():
    """No comparison with a value keeps an edge without one, of any type of property, nor does its opposite."""
    columns = {
        "t": (["a", None, "b"], "a"),
        "n": (pa.array([1, None, 2]), 1),
        "x": (pa.array([0.5, None, 1.5]), 0.5),
        "d": (pa.array([0, None, 1], pa.date32()), np.datetime64("1970-01-01")),
        "b": (pa.array([False, None, True]), False),
    }
    g = esker.from_edges(SOURCE, TARGET, properties={name: column for name, (column, _) in columns.items()})
    compared = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
    for name, (_, value) in columns.items():
        for compare in compared:
            expected = int(compare(0, 0)) + int(compare(1, 0))
            kept = [
                g.filter(lambda edges: compare(edges.properties[name], value)),
                g.filter(compare(g.edges().properties[name], value)),
                g.filter(lambda edges: ~~compare(edges.properties[name], value)),
            ]
            assert [graph.num_edges for graph in kept] == [expected] * 3, (name, compare)
            opposite = g.filter(lambda edges: ~compare(edges.properties[name], value))
            assert opposite.num_edges == 2 - expected, (name, compare)
    texts = g.edges().properties["t"]
    assert g.filter(lambda edges: edges.properties["t"] == edges.properties["t"]).num_edges == 2
    # Which are missing can be told, and the objects are as they were.
    assert g.filter(texts == None).num_edges == 1 and g.filter(texts != None).num_edges == 2  # noqa: E711
    assert sorted(map(str, texts)) == ["None", "a", "b"] and texts.tolist().count(None) == 1


def test_a_kind_is_needed(path):
    with pytest.raises(esker.InvalidError, match="kind"):
        esker.from_edges(SOURCE, TARGET, properties={"k": ["a", None, "b"]}, kind="k")
