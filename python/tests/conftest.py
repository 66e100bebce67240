"""What tests share."""

import os

import hypothesis
import pytest

import esker

# Machines that test are busy: a slow example is no failure, and the same examples come each time.
hypothesis.settings.register_profile("esker", deadline=None, derandomize=True, max_examples=40)
hypothesis.settings.load_profile("esker")


@pytest.fixture
def path(tmp_path):
    """Where a database may be made."""
    return os.fspath(tmp_path / "test.esker")


@pytest.fixture
def web(path):
    """A small database with texts as ids and weights, open for writing: two versions."""
    with esker.create(path) as db:
        with db.batch("first") as batch:
            batch.add_edges(["alice", "bob", "carol"], ["bob", "carol", "alice"], weight=[1.0, 2.5, 3.0])
        with db.batch("second") as batch:
            batch.add_edges(["alice"], ["dave"], weight=[7.0])
            batch.delete_edges(["bob"], ["carol"])
        yield db
