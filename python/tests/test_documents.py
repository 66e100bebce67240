"""Runs all Python blocks of the documents, in order, in one session per document."""

import pathlib
import re

import pytest

from esker.networkx.info import FUNCTIONS

ROOT = pathlib.Path(__file__).parents[2]


def run_blocks(path, session):
    text = path.read_text()
    blocks = list(re.finditer(r"```python\n(.*?)```", text, re.DOTALL))
    assert blocks
    for block in blocks:
        line = text[: block.start()].count("\n") + 1
        exec(compile("\n" * line + block.group(1), path.name, "exec"), session)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["python.md", "gallery.md", "tutorials/python.md"])
def test_documents_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_blocks(ROOT / "docs" / name, {"DEPENDENCIES": ROOT / "examples" / "debian" / "dependencies.tsv.gz"})
    if name == "gallery.md":
        pictures = sorted(picture.name for picture in tmp_path.glob("*.png"))
        assert pictures == ["components.png", "degrees.png", "near.png", "ranks.png", "steps.png"]


def test_the_readme_runs(tmp_path, monkeypatch):
    """Runs the README with the names that its block uses but does not define."""
    import networkx
    import pyarrow
    import pyarrow.parquet

    monkeypatch.chdir(tmp_path)
    edges = {"source": ["alice", "carol", "bob"], "target": ["carol", "bob", "alice"], "weight": [0.5, 2.0, 3.0]}
    pyarrow.parquet.write_table(pyarrow.table(edges), "edges.parquet")
    given = {"sources": ["alice", "dave"], "targets": ["bob", "alice"], "weights": [1.5, 2.5]}
    session = {"networkx": networkx, "G": networkx.path_graph(4), **given}
    run_blocks(ROOT / "README.md", session)
    assert session["db"].graph().num_edges == 4
    session["db"].close()


def test_the_list_for_networkx_is_fresh():
    rows = "".join(f"| `{name}` | {note} |\n" for name, note in sorted(FUNCTIONS.items()))
    text = (ROOT / "docs" / "networkx.md").read_text()
    assert text.endswith(f"| function | offered |\n|---|---|\n{rows}"), "the table in docs/networkx.md differs from info.py"
