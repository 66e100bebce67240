"""Parallel edges: one of several is deleted by its values, and an export comes back."""

from __future__ import annotations

import collections
import random
import warnings

import pyarrow
import pytest

import esker


@pytest.mark.parametrize("directed", [True, False])
def test_some_of_several_edges_are_deleted_by_their_values_and_counted(directed):
    db = esker.create(directed=directed, multigraph=True)
    with db.batch() as batch:
        batch.add_edges([1, 1, 1, 2], [2, 2, 2, 3], properties={"kind": ["road", "rail", "road", "road"]})
    with db.batch() as batch:
        batch.delete_edges({"source": [1, 2], "target": [2, 3], "kind": ["rail", "sea"]})
    assert batch.deleted == 1 and db.graph().num_edges == 3
    with db.batch() as batch:
        batch.delete_edges([1], [2], properties={"kind": ["road"]})
    assert batch.deleted == 2 and db.graph().num_edges == 1
    with db.batch() as batch:
        batch.delete_edges([1, 2], [2, 3])
    assert batch.deleted == 1 and db.graph().num_edges == 0
    with pytest.raises(esker.InvalidError, match="no property 'sort'"):
        db.batch().delete_edges({"source": [1], "target": [2], "sort": ["rail"]})


def test_random_deletions_leave_what_a_multiset_says():
    random.seed(7)
    db = esker.create(multigraph=True)
    model = collections.Counter({(0, 1, "a"): 1})
    with db.batch() as batch:
        batch.add_edges([0], [1], properties={"kind": ["a"]})
    for _ in range(30):
        expected = 0
        with db.batch() as batch:
            for _ in range(3):
                u, v, kind = random.randrange(3), random.randrange(3), random.choice("ab")
                if random.random() < 0.6:
                    batch.add_edges([u], [v], properties={"kind": [kind]})
                    model[u, v, kind] += 1
                else:
                    batch.delete_edges([u], [v], properties={"kind": [kind]})
                    expected += model.pop((u, v, kind), 0)
        assert batch.deleted == expected and db.graph().num_edges == sum(model.values())
        assert len(list(db.graph().edge_properties)) == 1


def test_an_undirected_multigraph_comes_back_from_both_of_its_arcs(tmp_path):
    db = esker.create(directed=False, multigraph=True)
    with db.batch() as batch:
        batch.add_edges([1, 1, 2, 3], [2, 2, 3, 3])
    for name, both in (("x.gr", False), ("x.csv", True)):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            db.export(tmp_path / name, both_ends=both)
        assert any("import it with both_ends=True" in str(one.message) for one in said)
        again = esker.create(directed=False, multigraph=True)
        again.import_(tmp_path / name, both_ends=True)
        assert again.graph().num_edges == 4
    with pytest.raises(esker.InvalidError, match="both_ends has no effect on directed edges"):
        esker.create().import_(tmp_path / "x.csv", both_ends=True, directed=True)


@pytest.mark.parametrize("directed", [True, False])
def test_an_edge_is_deleted_by_its_id(directed):
    with esker.create(directed=directed, multigraph=True) as db:
        with db.batch() as batch:
            batch.add_edges([1, 1, 1], [2, 2, 2], properties={"kind": ["road", "road", "road"]})
        db.define_edge_property("edge_id", "edge-id")
        with db.batch() as batch:
            batch.add_edges({"source": [1], "target": [2], "kind": ["road"]})
        with db.batch() as batch:
            batch.delete_edges({"source": [1], "target": [2], "edge_id": ["v1.2"]})
        assert batch.deleted == 1
        db.compact()
        ids = [pyarrow.table(db.graph(version).edges())["edge_id"].to_pylist() for version in (1, 2, 3)]
        assert [sorted(column) for column in ids] == [
            ["v1.1", "v1.2", "v1.3"],
            ["v1.1", "v1.2", "v1.3", "v2.1"],
            ["v1.1", "v1.3", "v2.1"],
        ]
        for refused, why in (
            ({"source": [1], "target": [2], "edge_id": ["v1.2"]}, "no edge from 1 to 2 has the id v1.2"),
            ({"source": [1], "target": [2], "edge_id": ["1.2"]}, "is not the id of an edge"),
            ({"source": [1], "target": [2], "edge_id": [7]}, "edge_id"),
        ):
            with pytest.raises(esker.Error, match=why), db.batch() as batch:
                batch.delete_edges(refused)
        with pytest.raises(esker.Error, match="the database gives edges their ids"), db.batch() as batch:
            batch.add_edges({"source": [1], "target": [2], "kind": ["road"], "edge_id": ["v9.9"]})
        assert db.graph().num_edges == 3
