"""Vectors of fixed length as properties of vertices."""

import pickle

import numpy as np
import pytest

import esker


@pytest.fixture
def database():
    database = esker.create(None)
    with database.batch() as batch:
        batch.add_edges([1, 2, 3], [2, 3, 4])
    return database


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_of_an_array_come_back(database, kind):
    rows = np.random.default_rng(1).normal(size=(3, 5)).astype(kind)
    rows[1] = np.nan
    with database.batch() as batch:
        batch.set_vertices([1, 2, 3], embedding=rows)
    graph = database.graph()
    width = np.dtype(kind).itemsize * 8
    assert graph.vertex_properties == {"embedding": f"vector[f{width}, 5]"}
    found = graph.property("embedding")
    assert found.dtype == kind and found.shape == (4, 5)
    assert (found[0] == rows[0]).all() and (found[2] == rows[2]).all()
    assert found.mask[1].all() and found.mask[3].all() and not found.mask[0].any()
    assert graph.properties(1) == {"embedding": rows[0].astype(float).tolist()} and graph.properties(2) == {}
    for again in (pickle.loads(pickle.dumps(graph)), graph.reverse()):
        assert (again.property("embedding").filled(0) == found.filled(0)).all()
        assert again.vertex_properties == graph.vertex_properties


def test_arrow_has_lists_of_fixed_size(database):
    arrow = pytest.importorskip("pyarrow")
    values = arrow.array([[1.5, 2.0], None, [3.0, -4.0]], arrow.list_(arrow.float32(), 2))
    with database.batch() as batch:
        batch.set_vertices([1, 2, 3], v=values)
    found = arrow.table(database.graph().vertices()).column("v").combine_chunks()
    assert found.type.list_size == 2 and found.type.value_type == arrow.float32()
    assert found.to_pylist() == [[1.5, 2.0], None, [3.0, -4.0], None]


def test_what_does_not_fit_is_refused(database):
    with database.batch() as batch:
        batch.set_vertices([1], v=np.ones((1, 3), np.float32))
    for values, reason in [
        (np.ones((1, 2), np.float32), r"the property \"v\" is of type vector\[f32, 3\], not vector\[f32, 2\]"),
        (np.ones((1, 3)), r"not vector\[f64, 3\]; convert the array"),
        ([7], "holds vectors of type"),
        (["x"], "holds vectors of type"),
    ]:
        with pytest.raises(esker.MistypedError, match=reason):
            with database.batch() as batch:
                batch.set_vertices([1], v=values)
    for values, reason in [
        (np.array([[1, np.inf, 2]], np.float32), r"v\[0\] has a number that is not finite"),
        (np.ones((1, 0), np.float32), "a vector has 1 to 8192 numbers, not 0"),
        (np.array([[2**53 + 1]]), "exceeds 2\\^53"),
    ]:
        with pytest.raises(esker.InvalidError, match=reason):
            with database.batch() as batch:
                batch.set_vertices([1], v=values)
    with pytest.raises(esker.MistypedError, match="two-dimensional array of numbers, got"):
        database.batch().set_vertices([1], v=np.array([["a"]]))
