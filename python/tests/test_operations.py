"""Streams whose rows say what happens to their edges."""

import pyarrow
import pyarrow.parquet
import pytest

import esker


@pytest.fixture
def db(tmp_path):
    (tmp_path / "first.csv").write_text("source,target,weight\nx,y,1\n")
    with esker.import_(tmp_path / "first.csv", tmp_path / "g.esker", duplicates="last") as database:
        yield database


def rows(database):
    edges = database.graph().edges().to_arrow().to_pylist()
    return sorted((edge["source"], edge["target"], edge["weight"]) for edge in edges)


ROWS = {
    "source": ["a", "b", "a", "a", "b", "q"],
    "target": ["b", "c", "b", "b", "c", "r"],
    "weight": [5, 5, None, 6, 7, None],
    "op": ["insert", "ADD", "d", "+", "update", "-"],
}
LEFT = [("a", "b", 6), ("b", "c", 7), ("x", "y", 1)]


def test_tables_that_are_handed_over_insert_and_delete(db):
    with db.stream(op="op") as stream:
        stream.add_edges(pyarrow.table(ROWS))
    assert rows(db) == LEFT
    report = stream.report
    assert (report.edges, report.removed, report.not_found) == (6, 1, 1)
    assert stream.state.removed == 1 and stream.state.not_found == 1
    with db.stream(op="op") as stream:
        stream.add_edges(["a", "x"], ["b", "y"], properties={"weight": [None, None], "op": ["delete", "remove"]})
    assert rows(db) == LEFT[1:2]
    assert db.graph().edge_properties == {"weight": "i32"} or "op" not in db.graph().edge_properties


def test_files_insert_and_delete(db, tmp_path):
    table = pyarrow.table(ROWS)
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    db.stream(tmp_path / "a.parquet", op="op").close()
    assert rows(db) == LEFT
    (tmp_path / "b.csv").write_text("what,source,target,weight\n-,a,b,\n-,a,b,\nx,1,2,3\n")
    stream = db.stream(tmp_path / "b.csv", op="what", rejects=tmp_path / "bad.csv")
    stream.close()
    assert (stream.report.removed, stream.report.not_found) == (1, 1)
    assert "which is none of insert" in (tmp_path / "bad.csv").read_text()
    assert rows(db) == LEFT[1:]


def test_a_new_database_has_no_property_for_what_happens(tmp_path):
    database = esker.create(tmp_path / "new.esker", duplicates="last")
    with database.stream(op="op") as stream:
        stream.add_edges({"source": [1, 2, 1], "target": [2, 3, 2], "op": ["i", "i", "d"]})
    edges = database.graph().edges().to_arrow().to_pylist()
    assert edges == [{"source": 2, "target": 3}]
    database.close()


def test_what_cannot_be_done_is_refused_and_the_stream_goes_on(db):
    with db.stream(op="op", duplicates="first") as stream:
        def refused(op, weight=1):
            with pytest.raises(esker.InvalidError) as error:
                stream.add_edges({"source": ["a"], "target": ["b"], "weight": [weight], "op": pyarrow.array([op], "string")})
            return str(error.value)

        assert "which is none of insert, add" in refused("gone")
        assert "the rule for duplicates does not: duplicates='last' does" in refused("update")
        assert "is null, but a value is required" in refused(None)
        with pytest.raises(esker.InvalidError, match="no column 'op'"):
            stream.add_edges({"source": ["a"], "target": ["b"], "weight": [1]})
        with pytest.raises(TypeError, match="said in strings"):
            stream.add_edges({"source": ["a"], "target": ["b"], "weight": [1], "op": [1]})
        stream.add_edges({"source": ["x"], "target": ["y"], "weight": [None], "op": ["Delete"]})
    assert rows(db) == []
    for wrong in (3, True, ["op"]):
        with pytest.raises((esker.InvalidError, TypeError), match="op must be"):
            db.stream(op=wrong)


def test_removals_need_no_time_but_a_kind(tmp_path):
    (tmp_path / "first.csv").write_text("source,target,kind,sent\n1,2,road,100\n")
    with esker.import_(tmp_path / "first.csv", tmp_path / "k.esker", kind="kind", properties=["sent"], duplicates="last") as database:
        with database.stream(op="op", time="sent", time_unit="s") as stream:
            with pytest.raises(esker.InvalidError, match="a value is required"):
                stream.add_edges({"source": [1], "target": [2], "kind": ["rail"], "sent": pyarrow.array([None], "int64"), "op": ["+"]})
            with pytest.raises(esker.InvalidError, match="a value is required"):
                stream.add_edges({"source": [1], "target": [2], "kind": pyarrow.array([None], "string"), "sent": [101], "op": ["-"]})
            stream.add_edges({"source": [1, 1], "target": [2, 2], "kind": ["rail", "road"], "sent": [101, None], "op": ["+", "-"]})
        assert (stream.report.removed, stream.report.not_found) == (1, 0)
        assert [edge["kind"] for edge in database.graph().edges().to_arrow().to_pylist()] == ["rail"]
