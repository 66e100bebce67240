"""Negative integers as ids: every door of a database of integer ids refuses them and says what to do, and none makes texts of them."""

import networkx
import numpy
import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

import esker

SOURCE, TARGET = [-7, 2], [2, 3]
TABLE = {"source": SOURCE, "target": TARGET}
ROWS = {"id": SOURCE, "age": [1, 2]}
ARROW, FLOATS = pyarrow.table(TABLE), pyarrow.table({"source": [-7.0, 2.0], "target": [2.0, 3.0]})

EDGES = {
    "columns": lambda: TABLE,
    "floats": lambda: FLOATS,
    "pandas": lambda: pandas.DataFrame(TABLE),
    "pandas of objects": lambda: pandas.DataFrame(TABLE, dtype=object),
    "polars": lambda: polars.DataFrame(TABLE),
    "arrow": lambda: ARROW,
    "tuples": lambda: list(zip(SOURCE, TARGET)),
    "networkx": lambda: networkx.DiGraph(list(zip(SOURCE, TARGET))),
}
VERTICES = {
    "ids": lambda: SOURCE,
    "array": lambda: numpy.array(SOURCE, numpy.int8),
    "columns": lambda: ROWS,
    "pandas": lambda: pandas.DataFrame(ROWS),
    "polars": lambda: polars.DataFrame(ROWS),
    "arrow": lambda: pyarrow.table(ROWS),
    "floats": lambda: pyarrow.table({"id": [-7.0, 2.0], "age": [1, 2]}),
}
CONVERT = r"\[0\] is -7(\.0)?, but ids must be strings or integers from 0 to 2\^64 - 1; convert all ids to strings"
AS_TEXTS = "is negative; import with ids='text' to take all ids as texts"
WIDEN = r"is negative; make the ids of the database texts with make_ids_texts\(\)"


def database():
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges([1], [2])
    return db


def commit(db, method, *given, **more):
    with db.batch() as batch:
        getattr(batch, method)(*given, **more)


DOORS = {
    "from_edges": lambda edges: esker.from_edges(edges),
    "first batch": lambda edges: commit(esker.create(), "add_edges", edges),
    "later batch": lambda edges: commit(database(), "add_edges", edges),
    "delete": lambda edges: commit(database(), "delete_edges", edges),
    "sync": lambda edges: database().sync(edges),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", EDGES)
def test_edges_with_negative_ids_are_refused(door, kind):
    with pytest.raises(esker.Error, match=CONVERT):
        DOORS[door](EDGES[kind]())


@pytest.mark.parametrize("kind", VERTICES)
def test_vertices_with_negative_ids_are_refused(kind, tmp_path):
    given = VERTICES[kind]()
    file = tmp_path / "edges.csv"
    file.write_text("source,target\n1,2\n")
    for door in (
        lambda: esker.from_edges([1], [2], vertices=given),
        lambda: commit(esker.create(), "add_vertices", given),
        lambda: commit(database(), "add_vertices", given),
    ):
        with pytest.raises(esker.Error, match=CONVERT):
            door()
    with pytest.raises(esker.Error, match=AS_TEXTS):
        esker.import_(file, vertices=given)
    for door in (
        lambda db: db.import_(file, vertices=given),
        lambda db: db.sync(file, vertices=given),
        lambda db: db.sync({"source": [1], "target": [2]}, vertices=given),
    ):
        with pytest.raises(esker.Error, match=WIDEN):
            door(database())
    graph = esker.import_(file, ids="text", vertices=given).graph()
    assert sorted(graph.ids().tolist()) == ["-7", "1", "2"]


@pytest.mark.parametrize("columns", [ARROW, FLOATS], ids=["integers", "floats"])
@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_files_with_negative_ids_are_refused_or_texts(columns, form, tmp_path):
    file = tmp_path / f"edges.{form}"
    (pyarrow.parquet.write_table if form == "parquet" else pyarrow.feather.write_feather)(columns, file)
    for ids in ("auto", "int"):
        with pytest.raises(esker.Error, match=AS_TEXTS):
            esker.import_(file, ids=ids)
    assert sorted(esker.import_(file, ids="text").graph().ids().tolist()) == ["-7", "2", "3"]
    db = database()
    with pytest.raises(esker.Error, match=WIDEN):
        db.import_(file)
    db.make_ids_texts()
    db.import_(file)
    assert sorted(db.graph().ids().tolist()) == ["-7", "1", "2", "3"]


def test_networkx_keeps_its_nodes_and_a_look_up_finds_none():
    ranks = networkx.pagerank(networkx.DiGraph([(-7, 2), (2, 2**70)]), backend="esker")
    assert set(ranks) == {-7, 2, 2**70}
    graph = database().graph()
    assert -7 not in graph and 2**70 not in graph
    for call in (graph.degree, graph.neighbors, graph.properties):
        with pytest.raises(esker.Error, match="no vertex has the id -7"):
            call(-7)
