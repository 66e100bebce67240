"""Files of a database that another program overwrites while they are read."""

import pathlib

import numpy as np
import pytest

import esker


@pytest.fixture
def layered(path):
    """A database of one layer, and the files of that layer."""
    sources = np.arange(30_000)
    with esker.create(path) as db:
        with db.batch() as batch:
            batch.add_edges(sources, (sources * 7 + 1) % len(sources), weight=sources * 0.5)
        db.compact()
    return esker.open(path), [file for file in (pathlib.Path(path) / "layers").rglob("*") if file.is_file()]


def overwrite(files):
    for file in files:
        with file.open("r+b") as out:
            size = out.seek(0, 2)
            for at in range(8192, size, 4096):
                out.seek(at)
                out.write(b"\x5a" * 64)


#: What reads a graph.
READS = {
    "pagerank": lambda graph: graph.pagerank(),
    "edges": lambda graph: graph.edges().ids(),
    "degrees": lambda graph: graph.degree(),
    "neighbors": lambda graph: graph.neighbors(5),
    "degree": lambda graph: graph.degree(5),
    "has_edge": lambda graph: graph.has_edge(0, 1),
    "edge": lambda graph: graph.edge(0, 1),
    "matrix": lambda graph: graph.to_scipy(),
    "arrow": lambda graph: graph.to_arrow(),
    "export": lambda graph: list(graph.edges().to_arrow().column(0)),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_read_of_a_layer_that_was_overwritten_raises_an_error(layered, read):
    db, files = layered
    graph = db.graph()
    # Checksums are compared once.
    graph.pagerank(), read(graph)
    overwrite(files)
    with pytest.raises(esker.CorruptError, match="layers"):
        read(graph)
    db.close()


def test_a_database_beside_one_that_was_overwritten_is_read(layered, tmp_path):
    db, files = layered
    graph = db.graph()
    graph.wcc()
    other = esker.from_edges([(1, 2)])
    overwrite(files)
    assert other.has_edge(1, 2) and len(other.wcc()) == 2
    db.close()
