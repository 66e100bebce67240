"""Questions about several vertices, whose ids come as columns and tables of any library."""

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pytest

import esker

KINDS = {
    "list": list,
    "tuple": tuple,
    "generator": lambda ids: (id for id in ids),
    "numpy": numpy.array,
    "pandas": pandas.Series,
    "pandas of Arrow": lambda ids: pandas.Series(pyarrow.array(ids).to_pandas(types_mapper=pandas.ArrowDtype)),
    "index": pandas.Index,
    "polars": polars.Series,
    "arrow": pyarrow.array,
    "chunks": lambda ids: pyarrow.chunked_array([ids[:1], ids[1:]]),
    "columns": lambda ids: {"more": [[1]] * len(ids), "id": ids},
    "pandas table": lambda ids: pandas.DataFrame({"more": 0, "id": ids}),
    "polars table": lambda ids: polars.DataFrame({"id": ids, "name": ids}),
    "lazy table": lambda ids: polars.DataFrame({"id": ids}).lazy(),
    "arrow table": lambda ids: pyarrow.table({"person": ids}),
    "duckdb": lambda ids: relation(pyarrow.table({"vertex": ids})),
}


def relation(table):
    connection = duckdb.connect()
    connection.register("picked", table)
    return connection.sql("select * from picked")


def graph_of(kind):
    source, target = [1, 1, 2, 3, 5, 7], [2, 3, 3, 1, 5, 1]
    name = (lambda id: id) if kind == "integers" else (lambda id: f"v{id}")
    graph = esker.from_edges([name(id) for id in source], [name(id) for id in target], vertices={"id": [name(1), name(9)], "age": [4, 5]})
    return graph, [name(id) for id in (3, 1, 9, 3, 5)]


@pytest.mark.parametrize("ids", ["integers", "texts"])
@pytest.mark.parametrize("kind", KINDS)
def test_columns_and_tables_of_ids_are_taken_alike(kind, ids):
    graph, picked = graph_of(ids)
    given = lambda: KINDS[kind](picked)
    for direction in ("out", "in", "both"):
        degrees = graph.degree(given(), direction=direction)
        assert degrees.dtype == graph.degree().dtype and degrees.tolist() == [graph.degree(id, direction=direction) for id in picked]
        if direction != "both":
            assert graph.neighbors(given(), direction=direction) == [graph.neighbors(id, direction=direction) for id in picked]
    assert graph.properties(given()) == [graph.properties(id) for id in picked]
    assert graph.vertices(given()).tolist() == graph.vertices(picked).tolist()
    part = graph.subgraph(given())
    assert sorted(part.ids().tolist()) == sorted(set(picked)) and part.num_edges == graph.subgraph(picked).num_edges


def test_few_of_many_vertices_are_looked_up_one_by_one():
    count = 10_000
    graph = esker.from_edges(numpy.arange(count), (numpy.arange(count) * 7 + 1) % count)
    picked = [5, 9_999, 0]
    assert graph.degree(picked, direction="both").tolist() == [graph.degree(id, direction="both") for id in picked]
    many = numpy.arange(0, count, 3)
    assert graph.degree(many, direction="in").tolist() == [graph.degree(id, direction="in") for id in many.tolist()]
    assert graph.degree([]).tolist() == [] and graph.neighbors([]) == [] and graph.properties(numpy.array([], int)) == []


def test_ids_that_are_none_are_refused():
    graph, _ = graph_of("integers")
    for call in (graph.degree, graph.neighbors, graph.properties, graph.subgraph):
        with pytest.raises(esker.VertexNotFoundError, match="77"):
            call(pandas.Series([1, 77]))
        with pytest.raises(esker.Error, match="integers, got strings"):
            call(["a"])
        with pytest.raises(esker.Error, match="must be strings, not 3"):
            call(pandas.DataFrame({3: [1], "id": [2], "x": [1], "y": [1]}))
        with pytest.raises(esker.Error, match=r"ids\[1\] is (null|NaN)"):
            call(pandas.Series([1, None]))
    assert graph.degree(1) == 2 and graph.degree(numpy.int64(1)) == 2 and graph.neighbors(1) == [2, 3]
