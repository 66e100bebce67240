"""Handles as Python objects: mappings, pickles, notebooks, paths, and the classes of exceptions."""

import copy
import os
import pickle
import shutil
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest

import esker


def test_a_result_is_a_mapping(web):
    depths = web.graph().bfs("carol")
    assert list(depths) == depths.keys() == depths.ids().tolist() and len(depths) == 4
    assert "bob" in depths and "nobody" not in depths and 7 not in depths and [] not in depths
    assert depths.get("bob") == 2 and depths.get("nobody") is None and depths.get("nobody", -1) == -1
    assert web.graph().bfs("carol", parents=True).get("bob", column="parent") == "alice"
    assert dict(depths) == depths.to_dict() == dict(zip(depths.keys(), depths.values()))
    assert pd.Series(depths.to_dict()).to_dict() == depths.depth.to_pandas().to_dict()
    with pytest.raises(KeyError):
        depths["nobody"]
    forest = esker.from_edges([(0, 1), (1, 2)], directed=False).forest()
    assert sorted(map(sorted, forest)) == [[0, 1], [1, 2]] and next(iter(forest)) in forest and (0, 2) not in forest
    facts = web.graph().triangles()
    assert list(facts) == [] and len(facts) == 0


def test_a_mapping_without_removed_vertices(web):
    with web.batch() as batch:
        batch.delete_vertices(["bob"])
    ranks = web.graph().pagerank()
    assert list(ranks) == ["alice", "carol", "dave"] and "bob" not in ranks and ranks.get("bob", 0) == 0


def same_results(one, two):
    assert one.facts == two.facts and one.columns == two.columns and len(one) == len(two)
    assert one.rounds == two.rounds and one.seconds == two.seconds and one.algorithm == two.algorithm
    if one._has_edges:
        assert sorted(one) == sorted(two)
    elif one.columns:
        assert one.to_dict() == two.to_dict()
        # A copy of a graph in memory can have another order of vertices.
        assert one.to_arrow().sort_by("vertex").equals(two.to_arrow().sort_by("vertex"))
        assert one.to_polars().sort("vertex").equals(two.to_polars().sort("vertex"))
        pd.testing.assert_frame_equal(*(result.to_pandas().sort_values("vertex", ignore_index=True) for result in (one, two)))
        assert sorted(one.top(3), key=str) == sorted(two.top(3), key=str)


def test_results_can_be_pickled(web):
    for graph in (web.graph(), web.graph(1), esker.from_edges([("c", "a", 1), ("a", "b", 2), ("z", "c", 3)]), esker.from_edges([(7, 5), (5, 900), (900, 7)], directed=False)):
        some = next(iter(graph))
        results = [graph.pagerank(), graph.wcc(), graph.bfs(some, parents=True), graph.sssp(some)]
        results += [] if graph.directed else [graph.forest(), graph.triangles(), graph.kcore()]
        for result in results:
            same_results(result, pickle.loads(pickle.dumps(result)))
            same_results(result, copy.deepcopy(result))
    result = pickle.loads(pickle.dumps(web.graph().bfs("carol", parents=True)))
    assert result.path_to("bob") == ["carol", "alice", "bob"] and result.get("bob", column="parent") == "alice"
    assert "bob" in result and "<table>" in result._repr_html_()


def test_graphs_in_memory_can_be_pickled():
    db = esker.create(directed=False)
    with db.batch() as batch:
        batch.add_edges(["x", "y"], ["y", "z"], weight=[1.5, 2.0], properties={"kind": ["a", "b"]})
        batch.add_vertices(["alone", "gone"])
        batch.set_vertices(["x", "alone"], age=[3, 4], city=["Oslo", None])
        batch.delete_vertices(["gone"])
    graph = db.graph()
    again = pickle.loads(pickle.dumps(graph))
    assert set(again) == set(graph) == {"x", "y", "z", "alone"} and not again.directed and again.weight == "weight"
    assert again.edge("y", "x") == {"weight": 1.5, "kind": "a"}
    assert again.properties("x") == {"age": 3, "city": "Oslo"} and again.properties("alone") == {"age": 4}
    for edges in ([], [(0, 1), (0, 1)], [(5, 2**60)]):
        graph = esker.from_edges(edges, multigraph=True)
        again = pickle.loads(pickle.dumps(graph))
        assert list(again) == list(graph) and again.num_edges == graph.num_edges and again.multigraph
    assert copy.copy(graph) is graph and copy.deepcopy(graph) is graph


def test_tables_of_a_graph(web):
    graph = web.graph()
    assert graph.to_pandas().equals(graph.edges().to_pandas()) and list(graph.to_pandas().columns) == ["source", "target", "weight"]
    assert graph.to_polars().equals(graph.edges().to_polars()) and isinstance(graph.to_polars(), pl.DataFrame)
    assert graph.to_networkx().edges["alice", "dave"] == {"weight": 7.0}


def test_notebooks_show_tables(web):
    web.tag("start", 1)
    with web.batch("<script>") as batch:
        batch.set_vertices(["alice"], age=3)
    for thing, said in ((web, "second"), (web.graph(), "edge property"), (web.versions(), "start"), (web.diff(1, 2), "edges added"), (web.diff(2, 2), "no differences"), (web.graph().pagerank(), "rank")):
        text = thing._repr_html_()
        assert "<table>" in text and said in text and "<script>" not in text, text
    web.close()
    assert "closed" in web._repr_html_() and "new" in esker.create()._repr_html_()


def test_paths_are_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with esker.create("near.esker") as db:
        with db.batch() as batch:
            batch.add_edges([0], [1])
        assert os.path.isabs(db.path) and os.path.isabs(db.graph().info["path"])
    reader = esker.open("near.esker")
    pickled = pickle.dumps(reader.graph())
    fresh = esker.create("later.esker")
    os.mkdir("elsewhere")
    monkeypatch.chdir("elsewhere")
    assert pickle.loads(pickled).num_edges == 1 and reader.refresh().graph().num_edges == 1
    with fresh.batch() as batch:
        batch.add_edges([0], [1])
    fresh.close()
    assert os.listdir() == [] and os.path.isdir(tmp_path / "later.esker")


def test_a_result_of_another_graph_is_not_stored(tmp_path, web):
    others = [esker.from_edges(["alice"], ["bob"])]
    with esker.create(tmp_path / "other.esker") as other:
        with other.batch() as batch:
            batch.add_edges(["alice"], ["bob"])
        others.append(other.graph())
    for graph in others:
        with pytest.raises(esker.UnsuitableError, match="not of"):
            web.store(graph.pagerank())
    web.store(web.graph(1).pagerank())
    web.store(pickle.loads(pickle.dumps(web.graph().wcc())))
    web.store(esker.open(web.path).graph().bfs("carol"))
    memory = esker.create()
    with memory.batch() as batch:
        batch.add_edges([0], [1])
    memory.store(memory.graph().pagerank())
    with pytest.raises(esker.UnsuitableError):
        memory.store(others[0].pagerank())


def test_a_removed_database_is_not_changed(tmp_path, path, web):
    batch = web.batch()
    batch.add_edges(["x"], ["y"], weight=[1.0])
    shutil.rmtree(path)
    for change in (batch.commit, lambda: web.tag("x"), web.compact, lambda: web.retain(last=1), lambda: web.forget(1), lambda: web.define_edge_property("n")):
        with pytest.raises(esker.NotFoundError, match="was moved, removed or replaced"):
            change()
    with esker.create(path) as fresh, fresh.batch() as first:
        first.add_edges([0], [1])
    with pytest.raises(esker.NotFoundError, match="was moved, removed or replaced"):
        web.tag("x")
    with pytest.raises(esker.InvalidError, match="stopped writing to"):
        web.close()
    assert esker.open(path).tags == {}


def test_a_lock_is_an_error_of_its_own(path, web):
    with pytest.raises(esker.LockedError, match="written to by another handle of this process") as error:
        esker.open(path, "rw")
    assert isinstance(error.value, OSError) and not isinstance(error.value, ValueError)
    code = "import esker, sys\ntry: esker.open(sys.argv[1], 'rw')\nexcept esker.LockedError: print('locked')"
    assert subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True).stdout == "locked\n"


def test_every_damaged_file_is_told_by_the_same_error(tmp_path, path, web):
    web.close()
    files = [file for file in (tmp_path / "test.esker").rglob("*") if file.is_file() and file.name != "LOCK" and file.stat().st_size]
    for file in files:
        whole = file.read_bytes()
        file.write_bytes(bytes(byte ^ 0xFF for byte in whole))
        try:
            graph = esker.open(path).graph()
            graph.pagerank(), graph.edges().ids(), graph.ids()
        except esker.Error as error:
            assert isinstance(error, esker.CorruptError) and error.path, (file, repr(error))
        file.write_bytes(whole)


def test_a_refused_budget_is_a_memory_error():
    graph = esker.from_edges(np.arange(1000), np.arange(1000) + 1)
    with pytest.raises(esker.MemoryLimitError) as error:
        graph.pagerank(memory="1KiB")
    assert error.value.needed_bytes > error.value.limit_bytes == 1024


def test_a_commit_beyond_the_limit_lies_in_a_scratch_file(path):
    many = np.arange(200_000)
    with esker.create(path, memory="16MiB") as db:
        with db.batch() as batch:
            batch.add_edges([0, 1], [1, 2])
        with db.batch() as batch:
            batch.add_edges(many, many + 1)
        assert [version.number for version in db.versions()] == [1, 2]
        assert db.graph().num_edges == 200_000
    with esker.open(path, "rw", memory="16MiB") as db:
        with db.batch() as batch:
            batch.delete_edges(many, many + 1)
        assert db.graph().num_edges == 0 and db.graph(2).num_edges == 200_000
        assert db.check() == []
    with pytest.raises(TypeError, match="scratch must be True or False"):
        esker.open(path, "rw", scratch="always")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forks_while_a_commit_lies_in_a_scratch_file(path):
    many = np.arange(300_000)
    exits = []
    with esker.create(path, memory="16MiB") as db:
        ended = threading.Event()

        def commit():
            with db.batch() as batch:
                for part in range(4):
                    batch.add_edges(many, many + 1 + part)
            ended.set()

        writer = threading.Thread(target=commit)
        writer.start()
        while not ended.is_set() and len(exits) < 20:
            pid = os.fork()
            if pid == 0:
                other = esker.from_edges(many, many + 1)
                os._exit(0 if other.wcc().components == 1 else 1)
            exits.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        writer.join()
        assert exits and set(exits) == {0}, exits
        assert db.graph().num_edges == 1_200_000 and db.check() == []


def test_a_commit_beyond_the_limit_says_what_would_do(path, tmp_path):
    file = tmp_path / "many.el"
    file.write_text("".join(f"{vertex} {vertex + 1}\n" for vertex in range(200_000)))
    many = np.arange(200_000)
    with esker.create(path) as db, db.batch() as batch:
        batch.add_edges([0, 1], [1, 2])
    with esker.open(path, "rw", memory="16MiB", scratch=False) as db:
        with pytest.raises(esker.MemoryLimitError, match="to at least .* MiB, or commit fewer changes at a time") as error:
            with db.batch() as batch:
                batch.add_edges(many, many + 1)
        assert error.value.needed_bytes > error.value.limit_bytes == 16 << 20
        match = "a commit of 200000 changes needs .* MiB, or commit fewer changes at a time with batch_edges$"
        with pytest.raises(esker.MemoryLimitError, match=match) as error:
            db.import_(file)
        needed = error.value.needed_bytes
        assert needed > error.value.limit_bytes == 16 << 20
        assert [version.number for version in db.versions()] == [1]
        db.import_(file, batch_edges=10_000)
        assert len(db.versions()) == 21
    with esker.open(path, "rw", memory=needed) as db:
        db.import_(file)


def test_no_message_names_an_option_of_the_command(web, tmp_path):
    graph = web.graph()
    file = tmp_path / "edges.csv"
    file.write_text("a,b,c\nx,y,z\n")
    for use in (
        lambda: graph.bfs("alice", residency="pooled", head=3),
        lambda: graph.pagerank(encoding="tiles"),
        lambda: graph.betweenness(source="alice", samples=3),
        lambda: web.graph(99),
        lambda: esker.import_(file, weight="nothing"),
    ):
        with pytest.raises(esker.Error) as error:
            raise AssertionError(use())
        assert "--" not in str(error.value) and "`esker" not in str(error.value), str(error.value)


def test_an_older_manifest_is_lost_data_also_for_tags_and_options(tmp_path):
    with esker.create(tmp_path / "g.esker") as db:
        with db.batch() as batch:
            batch.add_edges([1], [2])
        older = (tmp_path / "g.esker/MANIFEST").read_bytes()
        db.tag("first", 1)
        db.set_write_options(merge=False)
        with db.batch() as batch:
            batch.add_edges([2], [3])
    (tmp_path / "g.esker/MANIFEST").write_bytes(older)
    with esker.open(tmp_path / "g.esker") as db:
        for what in ["tags", "write_options", "versions"]:
            with pytest.raises(esker.LostError, match="MANIFEST has"):
                facts = getattr(db, what)
                facts() if callable(facts) else facts


def _lost(code, *arguments):
    """Runs a program in a process of its own; what it writes to the standard error, and its exit code."""
    program = f"import esker, sys\n{textwrap.dedent(code)}"
    run = subprocess.run([sys.executable, *arguments, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    return run.stderr, run.returncode


@pytest.mark.parametrize(
    ("code", "end"),
    [
        ("db = esker.create(sys.argv[1]); batch = db.batch(); batch.add_edges([1, 2], [2, 3])", "the process ended"),
        ("db = esker.create(sys.argv[1]); db.batch().add_edges([1, 2], [2, 3])", "it went out of use"),
        ("with esker.create(sys.argv[1]) as db: batch = db.batch(); batch.add_edges([1, 2], [2, 3])", "the database was closed"),
    ],
)
def test_a_batch_that_is_neither_committed_nor_closed_says_so(tmp_path, code, end):
    """It lost its edges, and the process ended with code 0 and not a word."""
    for number, arguments in enumerate([[], ["-W", "default::ResourceWarning"]]):
        path = os.fspath(tmp_path / f"{number}.esker")
        told, status = _lost(code.replace("sys.argv[1]", repr(path)), *arguments)
        message = f"2 changes of a batch for {path} are lost: {end}, and it was neither committed nor closed; call commit() or close()"
        assert status == 0 and message in told, told
        assert (f"ResourceWarning: {message}" in told) == bool(arguments), told


def test_a_batch_that_is_committed_closed_empty_or_broken_off_says_nothing(tmp_path):
    told, status = _lost(
        f"""
        db = esker.create({os.fspath(tmp_path / "a.esker")!r})
        db.batch().add_edges([1], [2]).commit()
        db.batch().add_edges([2], [3]).close()
        empty = db.batch()
        try:
            with db.batch() as batch:
                batch.add_edges([3], [4])
                raise KeyError
        except KeyError:
            pass
        closed = db.batch().add_edges([4], [5])
        closed.close()
        try:
            closed.commit()
        except esker.ClosedError as error:
            assert "committed or closed" in str(error)
        assert db.graph().num_edges == 1
        """
    )
    assert (told, status) == ("", 0)


def test_a_block_whose_database_was_closed_within_it_raises(path, caplog):
    with pytest.warns(ResourceWarning, match="1 change of a batch .* is lost: the database was closed"):
        with pytest.raises(esker.ClosedError, match="1 change of a batch"):
            with esker.create(path) as db, db.batch() as batch:
                batch.add_edges([1], [2])
                db.close()
    assert "is lost" in caplog.text


def test_a_reader_shows_the_versions_from_when_it_was_opened(path):
    """It showed those of the first call that read the log, and of each that had to read it again."""
    writer = esker.create(path)
    for number in range(2):
        with writer.batch() as batch:
            batch.add_edges([number], [number + 1])
    reader, other = esker.open(path), esker.open(path)
    for number in range(2, 5):
        with writer.batch() as batch:
            batch.add_edges([number], [number + 1])
        writer.tag(f"tag-{number}", number)
    for step in (lambda: None, writer.compact, lambda: writer.batch().add_edges([9], [10]).commit()):
        step()
        assert reader.graph().version == 2 and [one.number for one in reader.versions()] == [1, 2] and reader.tags == {}
        with pytest.raises(KeyError, match="3"):
            reader.graph(3)
    assert other.graph().num_edges == 2, "its log was gone when it first read the changes"
    assert [one.number for one in reader.refresh().versions()] == [1, 2, 3, 4, 5, 6] and reader.graph().version == 6
    writer.close()
