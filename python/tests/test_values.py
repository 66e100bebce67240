"""The table of typed values in docs/values.md, each of which goes through every door of Python. Those of files are in crates/esker/tests/esker/doors.rs."""

import math
import pathlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import esker

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "values.md"

VALUES = {
    "the integer 7": 7,
    "the integer -1": -1,
    "the float 1.0": 1.0,
    "the float 1.5": 1.5,
    "the float 2^53": 2.0**53,
    "infinity": math.inf,
    "NaN": math.nan,
    "nothing": None,
    "the text 7": "7",
    "the empty text": "",
}

#: What makes a column of one value.
COLUMNS = {
    "list": lambda value: [value],
    "iterator": lambda value: iter([value]),
    "numpy": lambda value: np.array([value]),
    "pandas": lambda value: pd.Series([value], dtype="Int64" if value is None else None),
    "polars": lambda value: pl.Series([value]),
    "arrow": lambda value: pa.array([value], pa.int64() if value is None else None),
    "chunks": lambda value: pa.chunked_array([pa.array([value], pa.int64() if value is None else None)]),
}


def rows():
    """The rows of the table: the value, and what it is as an id, as a number of an edge and as one of a vertex."""
    section = PAGE.read_text().split("\n## Values that have a type\n")[1].split("\n## ")[0]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in section.splitlines() if line.startswith("| ")]
    return cells[1:]


def doors():
    for name, *promises in rows():
        for column, make in COLUMNS.items():
            if name != "nothing" or column != "numpy":
                yield pytest.param(VALUES[name], make, promises, id=f"{name} in {column}")


def outcome(promise, change, read):
    """Compares what a change did with what the page promises."""
    if promise == "refused":
        with pytest.raises((ValueError, TypeError)):
            change()
        return
    change()
    found = read()
    assert found is None if promise == "none" else found == float(promise)


def test_the_page_has_all_values():
    assert [name for name, *_ in rows()] == list(VALUES)


@pytest.mark.parametrize(("value", "make", "promises"), doors())
def test_a_value_means_the_same_through_every_door(path, value, make, promises):
    as_id, of_edge, of_vertex = promises
    with esker.create(path) as db:
        with db.batch() as batch:
            batch.add_edges([2], [3], weight=[0.5])
            batch.set_vertices([2], size=[0.5])

        def change(work):
            with db.batch() as batch:
                work(batch)

        def weight():
            edges = db.graph().edges()
            return dict(zip(edges.ids()[0].tolist(), edges.properties["weight"].tolist()))[3]

        outcome(of_edge, lambda: change(lambda b: b.add_edges([3], [2], weight=make(value))), weight)
        outcome(of_vertex, lambda: change(lambda b: b.set_vertices([3], size=make(value))), lambda: db.graph().properties(3).get("size"))
    with esker.create(path + "2") as db:
        with db.batch() as batch:
            batch.add_edges([2], [3])

        def source():
            ends = zip(*(end.tolist() for end in db.graph().edges(properties=False).ids()))
            return next(u for u, v in ends if v == 2)

        outcome(as_id, lambda: change(lambda b: b.add_edges(make(value), [2])), source)
        if as_id == "refused":
            with pytest.raises((ValueError, TypeError)):
                change(lambda b: b.add_vertices(make(value)))
        else:
            assert db.graph().ids(db.graph().vertices(make(value))).tolist() == [float(as_id)]


@pytest.mark.parametrize("ids", [[1.0, 2.0], np.array([1.0, 2.0]), pd.Series([1, 2], dtype=float), pl.Series([1.0, 2.0])])
def test_ids_that_became_floats_are_integers_if_they_are_whole(ids):
    graph = esker.from_edges({"source": ids, "target": [2, 3]})
    assert graph.ids().tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match=r"source\[1\] is 2.5, which is no id, as it is not whole"):
        esker.from_edges({"source": [1.0, 2.5], "target": [2, 3]})
    with pytest.raises(ValueError, match=r"source\[0\] is empty"):
        esker.from_edges({"source": ["", "a"], "target": ["a", "b"]})


def test_a_text_is_no_number_and_keeps_its_zeros():
    assert esker.from_edges([("01234", "1234")]).ids().tolist() == ["01234", "1234"]
    with pytest.raises(ValueError, match="infinite|finite"):
        esker.from_edges({"source": [1], "target": [2], "weight": [math.inf]})


#: Bytes that an id or a text may have.
LONGEST = 65_536

#: What makes a column of texts.
TEXTS = {
    "list": list,
    "iterator": iter,
    "numpy": np.array,
    "objects": lambda texts: np.array(texts, dtype=object),
    "pandas": pd.Series,
    "polars": pl.Series,
    "arrow": pa.array,
    "large": lambda texts: pa.array(texts, pa.large_string()),
    "views": lambda texts: pa.array(texts, pa.string_view()),
    "dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "chunks": lambda texts: pa.chunked_array([[texts[0]], texts[1:]]),
}


def long_doors():
    """What is done with two texts, and which of them is refused if it is too long."""
    yield "from_edges", lambda db, texts: esker.from_edges({"source": texts, "target": ["a", "b"]}), r"source\[1\]"
    yield "from_edges text", lambda db, texts: esker.from_edges([1, 2], [2, 3], properties={"note": texts}), r"note\[1\]"

    def batch(work):
        def change(db, texts):
            with db.batch() as batch:
                work(batch, texts)

        return change

    yield "add_edges", batch(lambda b, texts: b.add_edges(["a", "b"], texts, properties={"note": ["x", "y"]})), r"target\[1\]"
    yield "add_edges text", batch(lambda b, texts: b.add_edges(["a", "b"], ["b", "c"], properties={"note": texts})), r"note\[1\]"
    yield "add_vertices", batch(lambda b, texts: b.add_vertices(texts)), r"\[1\]"
    yield "set_vertices", batch(lambda b, texts: b.set_vertices(["a", "b"], bio=texts)), r"bio\[1\]"
    yield "stream", lambda db, texts: push(db, texts), r"\[1\]"


def push(db, texts):
    with db.stream(commit_every=1) as stream:
        stream.add_edges(["a", "b"], texts, properties={"note": ["x", "y"]})


@pytest.mark.parametrize("make", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize(("change", "place"), [door[1:] for door in long_doors()], ids=[door[0] for door in long_doors()])
def test_the_longest_texts_are_taken_and_longer_ones_refused(path, make, change, place):
    with esker.create(path) as db:
        with db.batch() as batch:
            batch.add_edges(["a"], ["b"])
        db.define_edge_property("note", "text")
        change(db, make(["a", "é" * (LONGEST // 2)]))
        before = db.graph().version
        with pytest.raises(ValueError, match=place + " is longer than 65536 bytes, the most that an id or a text may have: shorten it"):
            change(db, make(["a", "x" * (LONGEST + 1)]))
        assert db.graph().version == before


def test_an_id_that_is_too_long_to_be_there_is_looked_up_and_not_found(path):
    graph = esker.from_edges([("a", "b")])
    assert "x" * (LONGEST + 1) not in graph
    with pytest.raises(KeyError):
        graph.degree("x" * (LONGEST + 1))


def test_many_long_texts_are_imported_in_small_blocks():
    texts = [f"{number:06}" + "x" * (LONGEST - 6) for number in range(200)]
    graph = esker.from_edges({"source": texts, "target": texts[1:] + texts[:1]}, memory="64MiB")
    assert graph.num_vertices == 200
    assert graph.has_edge(texts[7], texts[8])
