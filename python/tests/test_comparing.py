"""How much values change from one graph to another."""

import pytest

import esker


@pytest.fixture
def grown(path):
    """Three versions: a path, more edges, and a vertex that goes."""
    with esker.create(path) as db:
        with db.batch("first") as batch:
            batch.add_edges(["a", "b"], ["b", "c"], properties={"at": [10, 20]})
        with db.batch("second") as batch:
            batch.add_edges(["a", "a"], ["d", "c"], properties={"at": [30, 40]})
        with db.batch("third") as batch:
            batch.delete_vertices(["b"])
        yield db


def test_versions_are_compared_by_the_values_of_their_vertices(grown):
    found = grown.compare("degrees", 1, 2, direction="out")
    assert found.top(2) == [("a", 1, 3, 2.0), ("d", None, 0, None)]
    assert (found.changed, found.missing_in_a, found.missing_in_b) == (2, 1, 0)
    table = found.to_arrow()
    assert table.column_names == ["vertex", "a", "b", "change", "in_a", "in_b"]
    assert table.column("in_a").to_pylist() == [1, 0, 1, 1]
    assert found.to_pandas()["change"].iloc[0] == 2.0
    assert "changed=2" in repr(found)
    last = grown.compare("degrees", 2, direction="out")
    assert last.missing_in_b == 1
    assert ("b", 1, None, None) in last.top()


def test_groups_are_compared_by_their_members(grown):
    rows = grown.compare("wcc", 1, 2).top()
    assert [(vertex, change) for vertex, _, _, change in rows] == [("a", 0.25), ("b", 0.25), ("c", 0.25), ("d", None)]


def test_parts_of_versions_are_compared(grown):
    windows = [grown.window(11, at=end, version=2) for end in (20, 40)]
    found = grown.compare("degrees", *windows, direction="out")
    assert found.top(1) == [("a", 1, 2, 1.0)]
    part = grown.graph(2).where("at >= 30")
    assert grown.compare("degrees", part, 2, direction="out", undirected=True).top(1) == [("a", 2, 3, 1.0)]


def test_integer_ids_are_compared_whatever_the_order_of_rows(tmp_path):
    with esker.create(tmp_path / "i.esker") as db:
        with db.batch() as batch:
            batch.add_edges([70, 30], [30, 90])
        with db.batch() as batch:
            batch.add_edges([30, 5], [70, 30])
        assert db.compare("degrees", 1, direction="out").top(2) == [(30, 1, 2, 1.0), (5, None, 1, None)]


def test_what_cannot_be_compared_is_refused(grown):
    with pytest.raises(esker.InvalidError, match="two databases"):
        grown.compare("wcc", 1, esker.from_edges(["a"], ["b"]))
    with pytest.raises(esker.InvalidError, match="value for each vertex"):
        grown.compare("msf", 1, undirected=True)
    with pytest.raises(esker.InvalidError, match="no effect on a comparison"):
        grown.compare("wcc", 1, verify=True)
    with pytest.raises(esker.VersionNotFoundError):
        grown.compare("wcc", 1, 9)
