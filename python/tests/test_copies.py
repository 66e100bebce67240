"""Backups."""

import os

import pytest

import esker


def test_a_backup_beside_its_writer_is_renewed_and_restored(tmp_path):
    path, copy, again = (tmp_path / name for name in ("web.esker", "copy.esker", "again.esker"))
    with esker.create(path) as db:
        with db.batch() as batch:
            batch.add_edges([1, 2], [2, 3])
        first = db.backup(copy)
        assert isinstance(first, esker.Backup) and first.version == db.graph().version and first.kept_files == 0
        with db.batch() as batch:
            batch.add_edges([3], [4])
        second = db.backup(copy)
        assert (second.version, second.kept_files) == (first.version + 1, 1)
        with pytest.raises(esker.MistypedError):
            db.backup(copy, apart="yes")
    assert esker.open(copy).graph().num_edges == 3
    made = esker.restore(copy, again, apart=True)
    assert (made.version, made.shared_files) == (second.version, 0)
    with pytest.raises(esker.ExistsError):
        esker.restore(copy, again)
    esker.restore(copy, again, replace=True)
    with esker.open(again, "rw") as db, db.batch() as batch:
        batch.add_edges([4], [5])
    with esker.open(copy, "rw") as db, db.batch() as batch:
        batch.add_edges([9], [5])
    with pytest.raises(esker.InvalidError, match="was written to since"):
        esker.open(path).backup(copy)
    with pytest.raises(esker.NotFoundError):
        esker.restore(tmp_path / "nothing", again)
    with pytest.raises(esker.InvalidError, match="in memory"):
        esker.create().backup(tmp_path / "memory.esker")


def test_a_writer_whose_database_was_moved_commits_nothing_more(tmp_path):
    path = tmp_path / "web.esker"
    db = esker.create(path)
    with db.batch() as batch:
        batch.add_edges([1, 2], [2, 3])
    os.rename(path, tmp_path / "away.esker")
    with pytest.raises(esker.NotFoundError, match="was moved, removed or replaced"):
        with db.batch() as batch:
            batch.add_edges([3], [4])
    # Nothing of what it acknowledged is lost, but it cannot know.
    with pytest.raises(esker.InvalidError, match="stopped writing to"):
        db.close()
    assert esker.open(tmp_path / "away.esker").graph(1).num_edges == 2


def test_no_database_is_made_within_another(tmp_path):
    path, rows = tmp_path / "web.esker", tmp_path / "rows.csv"
    rows.write_text("1,2\n2,3\n")
    db = esker.import_(rows, path)
    before = set(os.listdir(path)) - {"queue"}
    with pytest.raises(esker.Error, match="lies in the database"):
        esker.import_(rows, path / "inner.esker")
    with pytest.raises(esker.Error, match="lies in the database"):
        db.backup(path / "copy.esker")
    with pytest.raises(esker.Error, match="lies in the database"):
        esker.restore(path, path / "again.esker")
    assert set(os.listdir(path)) - {"queue"} == before
