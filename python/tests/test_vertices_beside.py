"""Tables of vertices that come in with edges: in one commit, as the command reads those of files."""

import itertools

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import esker

#: The last row of a vertex holds; 2 has edges and no values, 9 and 11 have values and no edges.
TABLE = {
    "id": [1, 9, 2, 9, 11],
    "small": [1, None, None, 70_000, 3],
    "wide": [2**63, 1, None, 2, 2**64 - 1],
    "rate": [0.5, None, None, 2.0, float("nan")],
    "name": ["Ann", "x", None, "Nina", ""],
    "fine": [True, None, None, False, True],
    "born": [None, None, None, "2000-01-01", "1969-12-31"],
    "seen": [None, None, None, "2000-01-01T10:00:00", "1969-12-31T23:59:59.5"],
    "place": [[0.5, 1.0], None, None, [2.0, -1.0], [0.0, 0.0]],
}


def arrow(text_ids):
    table = pyarrow.table(
        {
            "id": pyarrow.array([f"v{id}" for id in TABLE["id"]] if text_ids else TABLE["id"]),
            "small": pyarrow.array(TABLE["small"], pyarrow.int32()),
            "wide": pyarrow.array(TABLE["wide"], pyarrow.uint64()),
            "rate": pyarrow.array(TABLE["rate"], pyarrow.float64()),
            "name": pyarrow.array(TABLE["name"]),
            "fine": pyarrow.array(TABLE["fine"]),
            "born": pyarrow.array(TABLE["born"]).cast(pyarrow.date32()),
            "seen": pyarrow.array(TABLE["seen"]).cast(pyarrow.timestamp("us")),
            "place": pyarrow.array(TABLE["place"], pyarrow.list_(pyarrow.float32(), 2)),
        }
    )
    return table


def relation(table):
    connection = duckdb.connect()
    connection.register("people", table)
    return connection.sql("select * from people")


#: Kinds of tables, and the columns that the library cannot hand over as what they are.
KINDS = {
    "arrow": lambda table: table,
    "chunked": lambda table: pyarrow.concat_tables([table.slice(0, 2), table.slice(2)]),
    "polars": polars.from_arrow,
    "lazy": lambda table: polars.from_arrow(table).lazy(),
    "duckdb": relation,
    "pandas-arrow": lambda table: table.to_pandas(types_mapper=pandas.ArrowDtype),
}
EDGES = ([1, 2], [2, 3])


def edges(text_ids):
    return [[f"v{id}" if text_ids else id for id in ends] for ends in EDGES]


def file_of_edges(tmp_path, text_ids):
    file = tmp_path / "edges.csv"
    file.write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in zip(*edges(text_ids))))
    return file


def content(graph):
    """Everything that a graph says of its vertices."""
    rows = {id: graph.properties(id) for id in graph.ids().tolist()}
    plain = {id: {name: value.tolist() if hasattr(value, "tolist") else value for name, value in row.items()} for id, row in rows.items()}
    return dict(graph.vertex_properties), {id: {name: value for name, value in row.items() if value is not None} for id, row in plain.items()}


@pytest.mark.parametrize("kind,text_ids,door", itertools.product(KINDS, [False, True], ["import_", "from_edges", "batch", "add", "sync", "sync table"]))
@pytest.mark.filterwarnings("ignore:.*value.* of vertex property")
def test_every_table_comes_in_as_that_of_a_file(kind, text_ids, door, tmp_path):
    table, file = arrow(text_ids), file_of_edges(tmp_path, text_ids)
    of_file = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(table, of_file)
    expected = content(esker.import_(file, vertices=of_file).graph())
    given = KINDS[kind](table)
    source, target = edges(text_ids)
    if door == "from_edges":
        graph = esker.from_edges(source, target, vertices=given)
    elif door == "import_":
        graph = esker.import_(file, tmp_path / "g.esker", vertices=given).graph()
    elif door == "batch":
        db = esker.create()
        with db.batch() as batch:
            batch.add_edges(source, target)
            batch.set_vertices(given)
        graph = db.graph()
    else:
        db = esker.create(tmp_path / "g.esker")
        with db.batch() as batch:
            batch.add_edges(source[:1], target[:1])
        if door == "add":
            db.import_(file, vertices=given)
        elif door == "sync":
            db.sync(file, vertices=given)
        else:
            db.sync({"source": source, "target": target}, vertices=given)
        graph = db.graph()
        of_command = esker.create(tmp_path / "other.esker")
        with of_command.batch() as batch:
            batch.add_edges(source[:1], target[:1])
        getattr(of_command, "import_" if door == "add" else "sync")(file, vertices=of_file)
        expected = content(of_command.graph())
    assert content(graph) == expected
    assert graph.num_edges == 2 and graph.version == (1 if door in ("from_edges", "import_", "batch") else 2)
    nine, eleven = ("v9", "v11") if text_ids else (9, 11)
    assert graph.degree(nine) == 0 and graph.properties(nine)["name"] == "Nina" and graph.properties(nine)["small"] == 70_000
    assert graph.properties(eleven)["wide"] == 2**64 - 1 and graph.properties(eleven).get("rate") is None


@pytest.mark.parametrize("door", ["import_", "from_edges", "add"])
def test_columns_of_numpy_and_pandas_come_in(door, tmp_path):
    file = file_of_edges(tmp_path, False)
    tables = [
        pandas.DataFrame({"id": [1.0, 9.0], "age": [4, 5], "born": pandas.to_datetime(["2000-01-01", None]), "group": pandas.Categorical(["a", None])}),
        {"id": numpy.array([1, 9], numpy.int16), "age": numpy.array([4, 5], numpy.uint8), "born": numpy.array(["2000-01-01", "NaT"], "M8[s]"), "group": ["a", None]},
    ]
    for at, table in enumerate(tables):
        if door == "from_edges":
            graph = esker.from_edges(*EDGES, vertices=table)
        else:
            db = esker.import_(file, tmp_path / f"{at}.esker", **({"vertices": table} if door == "import_" else {}))
            if door == "add":
                db.import_(file, vertices=table)
            graph = db.graph()
        assert graph.properties(1)["age"] == 4 and graph.properties(1)["group"] == "a" and str(graph.properties(1)["born"])[:10] == "2000-01-01"
        assert graph.properties(9) == {"age": 5} and graph.degree(9) == 0
        assert graph.vertex_properties["born"].startswith("timestamp[")


def test_ids_alone_and_empty_tables_come_in(tmp_path):
    file = file_of_edges(tmp_path, False)
    for given in ([7, 8], numpy.array([7, 8]), pandas.Series([7, 8]), polars.Series([7, 8]), pyarrow.array([7, 8]), {"id": [7, 8]}):
        assert sorted(esker.import_(file, vertices=given).graph().ids().tolist()) == [1, 2, 3, 7, 8]
    for given in ([], {"id": [], "age": []}, pandas.DataFrame({"id": [], "age": []})):
        assert sorted(esker.import_(file, vertices=given).graph().ids().tolist()) == [1, 2, 3]


def test_rows_that_are_no_vertices_are_refused_or_rejected(tmp_path):
    file = file_of_edges(tmp_path, False)
    for given in (pandas.DataFrame({"id": [1, None], "age": [1, 2]}), pyarrow.table({"id": [1, None], "age": [1, 2]})):
        with pytest.raises(esker.Error, match="vertices:2: "):
            esker.import_(file, vertices=given)
        with pytest.raises(esker.Error, match=r"id\[1\] is |vertices:2: "):
            esker.from_edges(*EDGES, vertices=given)
        (tmp_path / "bad.csv").unlink(missing_ok=True)
        with pytest.warns(esker.EskerWarning, match="skipped 1 malformed line|1 row could not be taken"):
            graph = esker.import_(file, vertices=given, rejects=tmp_path / "bad.csv").graph()
        assert graph.properties(1) == {"age": 1} and "vertices,2" in (tmp_path / "bad.csv").read_text()
    with pytest.raises(esker.Error, match="are texts, but those of the edges are integers"):
        esker.import_(file, vertices={"id": ["a"], "age": [1]})
    with pytest.raises(esker.Error, match="ids of this graph are integers, got strings"):
        esker.from_edges(*EDGES, vertices={"id": ["a"], "age": [1]})
    with pytest.raises(esker.Error, match="columns must have the same length"):
        esker.import_(file, vertices={"id": [1, 2], "age": [1]})
    with pytest.raises(esker.Error, match="must be strings, not 3"):
        esker.import_(file, vertices=pandas.DataFrame({"id": [1], 3: [1]}))
    # Ids of texts take integers as texts.
    graph = esker.import_(file, ids="text", vertices={"id": [1, 77], "age": [5, 6]}).graph()
    assert sorted(graph.ids().tolist()) == ["1", "2", "3", "77"] and graph.properties("77")["age"] == 6


def test_a_format_that_numbers_its_vertices_takes_a_table_of_them(tmp_path):
    matrix = tmp_path / "m.mtx"
    matrix.write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n")
    graph = esker.import_(matrix, vertices={"id": [3, 1], "age": [30, 10]}).graph()
    assert [graph.properties(id).get("age") for id in (1, 2, 3)] == [10, None, 30] and graph.num_vertices == 3
    with pytest.raises(esker.Error, match="vertices:2: the vertex 4 is none of the edges, whose format numbers its vertices from 1 to 3"):
        esker.import_(matrix, vertices={"id": [3, 4], "age": [30, 10]})


def test_many_vertices_come_in_and_the_last_row_of_each_holds(tmp_path):
    count = 150_000
    ids = numpy.random.default_rng(7).integers(0, count // 2, count)
    file = file_of_edges(tmp_path, False)
    with pytest.warns(esker.EskerWarning, match="of vertex property .* replaced"):
        graph = esker.import_(file, vertices={"id": ids, "row": numpy.arange(count)}).graph()
    last = dict(zip(ids.tolist(), range(count)))
    for id in list(last)[::997]:
        assert graph.properties(id)["row"] == last[id]


def test_a_table_beside_a_table_of_edges_is_no_file(tmp_path):
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges(*EDGES)
    with pytest.raises(esker.Error, match="vertices is a file or a number, which belongs to files"):
        db.sync({"source": [1], "target": [2]}, vertices=5)
