"""Words for no value, files that lack columns, and timed edges that replace others."""

import warnings

import esker
import pytest


def test_words_for_no_value_and_missing_columns(tmp_path):
    (tmp_path / "a.csv").write_text("source,target,weight\n1,2,5\n2,3,gone\n")
    db = esker.create(tmp_path / "g.esker", directed=True)
    db.import_(tmp_path / "a.csv", null="gone")
    assert db.reading["nulls"] == ["gone"]
    (tmp_path / "b.csv").write_text("source,target,weight\n3,4,unknown\n4,5,gone\n")
    db.import_(tmp_path / "b.csv", null=["unknown"])
    (tmp_path / "c.csv").write_text("source,target\n5,6\n")
    with pytest.warns(esker.EskerWarning, match='no column "weight"'):
        db.import_(tmp_path / "c.csv")
    assert db.graph().num_edges == 5
    with pytest.raises(TypeError, match="null"):
        db.import_(tmp_path / "c.csv", null=5)


def test_a_warning_tells_of_timed_edges_that_replace_others(tmp_path):
    (tmp_path / "a.csv").write_text("source,target,at\n1,2,1600000000\n2,3,1600000060\n")
    db = esker.create(tmp_path / "g.esker", directed=True)
    db.import_(tmp_path / "a.csv", time="at")
    (tmp_path / "b.csv").write_text("source,target,at\n1,2,1600000120\n")
    with pytest.warns(esker.EskerWarning, match="1 edge of the same two vertices replaced an earlier one, and its at"):
        db.import_(tmp_path / "b.csv")
    (tmp_path / "c.csv").write_text("source,target,at\n8,9,1600000180\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        db.import_(tmp_path / "c.csv")
