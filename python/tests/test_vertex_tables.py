"""Tables of vertices, and the ends of tables of edges by name."""

import numpy
import pandas
import polars
import pyarrow
import pytest

import esker

PEOPLE = {
    "name": ["Ann", None, "Cy"],
    "id": [1, 2, 9],
    "age": [40.0, None, 3.0],
    "born": pandas.to_datetime(["2000-01-01", None, "2026-05-01"]),
    "place": [[0.5, 1.0], None, [2.0, -1.0]],
}


def tables():
    frame = pandas.DataFrame(PEOPLE)
    arrow = pyarrow.Table.from_pandas(frame)
    place = arrow.column_names.index("place")
    fixed = pyarrow.array(PEOPLE["place"], pyarrow.list_(pyarrow.float64(), 2))
    return [frame, arrow, arrow.set_column(place, "place", fixed), polars.from_arrow(arrow), polars.from_arrow(arrow).lazy(), {**PEOPLE}]


@pytest.mark.parametrize("at", range(6))
def test_a_table_of_vertices_gives_them_their_properties(at):
    table = tables()[at]
    graph = esker.from_edges([1, 2], [2, 3], vertices=table)
    assert sorted(graph.ids().tolist()) == [1, 2, 3, 9]
    ann, none, cy = (graph.properties(vertex) for vertex in (1, 2, 9))
    assert (ann["name"], ann["age"], cy["name"], cy["age"]) == ("Ann", 40.0, "Cy", 3.0)
    assert all(none.get(name) is None for name in ("name", "age", "born", "place"))
    assert list(cy["place"]) == [2.0, -1.0] and graph.vertex_properties["place"].startswith("vector[f64, 2")
    assert str(cy["born"])[:10] == "2026-05-01"

    db = esker.create()
    with db.batch() as batch:
        batch.add_edges([1, 2], [2, 3])
    with db.batch() as batch:
        batch.set_vertices(table)
    again = db.graph()
    assert sorted(again.ids().tolist()) == [1, 2, 3, 9]
    assert again.vertex_properties == graph.vertex_properties
    with db.batch() as batch:
        batch.add_vertices({"id": [77], "age": [5.0]})
    assert 77 in db.graph().ids().tolist()


def test_tables_of_vertices_that_cannot_be_read_are_refused():
    with pytest.raises(esker.Error, match=r"place\[1\] has 1 number, but the first vector has 2"):
        esker.from_edges([1], [2], vertices={"id": [1, 2], "place": [[1.0, 2.0], [1.0]]})
    with pytest.raises(esker.Error, match="leave out the others"):
        with esker.create().batch() as batch:
            batch.set_vertices({"id": [1], "age": [2]}, rank=[3])
    with pytest.raises(esker.Error, match="at least one property"):
        with esker.create().batch() as batch:
            batch.set_vertices([1, 2])
    with pytest.warns(esker.EskerWarning, match="left out the column 'more'"):
        graph = esker.from_edges([1], [2], vertices={"id": [1], "more": [{"a": 1}], "age": [3]})
    assert list(graph.vertex_properties) == ["age"]


def test_the_ends_of_a_table_are_named():
    table = pandas.DataFrame({"amount": [2.5, 1.5], "payer": ["a", "b"], "payee": ["b", "c"], "source": ["web", "app"]})
    for frame in (table, polars.from_pandas(table), pyarrow.Table.from_pandas(table)):
        graph = esker.from_edges(frame, source="payer", target="payee", weight="amount")
        assert graph.weight == "amount" and set(graph.edge_properties) == {"amount", "source"}
        assert sorted(graph.ids().tolist()) == ["a", "b", "c"] and list(graph.neighbors("a")) == ["b"]
    with pytest.raises(esker.Error, match="no column is called 'sender'"):
        esker.from_edges(table, source="sender", target="payee")
    with pytest.raises(esker.Error, match="source and target name the columns of a table together"):
        esker.from_edges(table, source="payer")
    with pytest.raises(esker.Error, match="has no named columns"):
        esker.from_edges([(1, 2)], source="a", target="b")
    assert esker.from_edges(source=[1], target=[2]).num_edges == 1
    assert esker.from_edges([1], target=numpy.array([2])).num_edges == 1


def test_rejected_rows_of_a_sync_and_a_stream_go_to_a_file(tmp_path):
    db = esker.create(tmp_path / "g.esker")
    with db.batch() as batch:
        batch.add_edges([1, 2], [2, 3])
    file, bad = tmp_path / "edges.csv", tmp_path / "bad.csv"
    file.write_text("source,target\n1,2\nx,3\n4,5\n")
    with pytest.warns(esker.EskerWarning, match="1 row could not be taken and went to"):
        report = db.sync(file, rejects=bad)
    assert report.rejected == 1 and bad.read_text().splitlines()[1].endswith(',"x,3"')
    with pytest.raises(esker.Error, match="leave it out for tables"):
        db.sync({"source": [1], "target": [2]}, rejects=bad)
    late = tmp_path / "stream.csv"
    db.stream(file, rejects=late, from_start=True).close()
    assert late.read_text().splitlines()[1].endswith(',"x,3"')
    with pytest.raises(esker.Error, match="rejects has no effect without a file"):
        db.stream(rejects=late)


def test_ids_that_cannot_be_kept_are_refused_with_a_remedy():
    with pytest.raises(esker.Error, match=r"source\[0\] is -1, but ids .* convert all ids to strings"):
        esker.from_edges(pandas.DataFrame({"source": [-1, 2], "target": [3, 4]}))
    assert sorted(esker.from_edges(numpy.array([-1, 2]).astype(str), ["2", "3"]).ids().tolist()) == ["-1", "2", "3"]
    with pytest.raises(esker.Error, match="has type tuple; make a string of each"):
        esker.from_edges([((0, 0), (0, 1)), ((0, 1), (1, 1))])
