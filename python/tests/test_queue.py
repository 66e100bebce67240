"""Changes of other processes while a database is open for writing."""

import subprocess
import sys
from pathlib import Path

import esker
import pytest

COMMAND = Path(sys.prefix).parent / "debug" / "esker"


@pytest.mark.skipif(not COMMAND.exists(), reason="the command is not built")
def test_commands_hand_their_changes_to_an_open_database(tmp_path):
    path = tmp_path / "web.esker"
    (tmp_path / "web.csv").write_text("source,target\na,b\nb,c\n")
    esker.import_(tmp_path / "web.csv", path).close()

    def run(*line):
        return subprocess.run([COMMAND, *line], cwd=tmp_path, capture_output=True, text=True, timeout=60)

    (tmp_path / "gone.csv").write_text("source,target\na,b\n")
    with esker.open(path, mode="rw") as db:
        deleted = run("delete", path, "gone.csv")
        assert deleted.returncode == 0 and "takes over the commit" in deleted.stderr, deleted
        assert db.graph().num_edges == 1
        with db.batch() as batch:
            batch.add_edges([("c", "d")])
        assert run("set", path, "--vertex", "d", "age=3").returncode == 0
        assert [version.number for version in db.versions()] == [1, 2, 3, 4]
        refused = run("compact", path)
        assert refused.returncode == 1 and "another process" in refused.stderr
    again = run("delete", path, "gone.csv", "--new")
    assert again.returncode == 0 and "takes over" not in again.stderr, "nobody has it open any more"
    assert run("check", path).returncode == 0
