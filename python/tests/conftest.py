"""Fixtures of the tests."""

import os
import signal

import hypothesis
import pytest

import esker

# Test machines are busy, so slow examples are not failures. The examples are the same in every run.
hypothesis.settings.register_profile("esker", deadline=None, derandomize=True, max_examples=40)
hypothesis.settings.load_profile("esker")


@pytest.fixture
def path(tmp_path):
    """A path for a new database."""
    return os.fspath(tmp_path / "test.esker")


@pytest.fixture
def web(path):
    """A small database with text ids, weights and two versions, open for writing."""
    with esker.create(path) as db:
        with db.batch("first") as batch:
            batch.add_edges(["alice", "bob", "carol"], ["bob", "carol", "alice"], weight=[1.0, 2.5, 3.0])
        with db.batch("second") as batch:
            batch.add_edges(["alice"], ["dave"], weight=[7.0])
            batch.delete_edges(["bob"], ["carol"])
        yield db


def pytest_configure(config):
    """A shell that starts the tests in the background has set interrupts to be ignored: tests that send them, and the processes that tests
    start, would wait for ever."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
