"""Interrupts, progress, threads, forks, and inputs of every wrong kind."""

import asyncio
import copy
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import duckdb
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import esker


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(7)
    return esker.from_edges(rng.integers(0, 20_000, 200_000), rng.integers(0, 20_000, 200_000), directed=False, duplicates="last")


def interrupted_after(seconds, work):
    """Interrupts ``work`` with SIGINT; returns the seconds until it stops."""
    sent = []

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(seconds, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
    finally:
        timer.cancel()
    return time.monotonic() - sent[0]


def test_interrupts_of_runs(large):
    # 100 ms on an idle machine; test machines are busy, and development builds are slow.
    assert interrupted_after(0.2, lambda: large.betweenness(threads=1)) < 2
    assert large.wcc().components >= 1, "the graph is whole"


def test_signals_are_handled_while_many_objects_are_made():
    texts = pa.array([f"vertex-{i}" for i in range(1000)])
    ends = np.random.default_rng(1).integers(0, 1000, (2, 600_000))
    graph = esker.from_edges(*(texts.take(end) for end in ends), duplicates="keep")
    table = graph.edges()
    assert len(table.source) == 600_000
    ranks = esker.from_edges(np.arange(150_000), np.arange(150_000) + 1).pagerank()
    db = esker.create()
    for number in range(2):
        with db.batch() as batch:
            batch.add_edges(np.arange(100_000), np.arange(100_000) + number)
    before = signal.getsignal(signal.SIGALRM)
    for work in (table.ids, lambda: ranks.top(150_000), lambda: db.diff(1, 2)):
        handled = []
        signal.signal(signal.SIGALRM, lambda *_: handled.append(time.monotonic()))
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        try:
            work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        # Arrays of 600,000 texts, rows of a ranking, and changes took a call each that ended before any signal was handled.
        assert len(handled) >= 5, len(handled)


def test_a_handle_cancels_from_another_thread(large):
    async def both():
        handle = esker.Cancel()

        def work():
            with handle:
                return large.betweenness(threads=1)

        task = asyncio.create_task(asyncio.to_thread(work))
        await asyncio.sleep(0.2)
        begin = time.monotonic()
        handle.cancel()
        with pytest.raises(esker.Cancelled):
            await task
        return handle, time.monotonic() - begin

    handle, seconds = asyncio.run(both())
    assert seconds < 2 and handle.cancelled, "the loop goes on"
    assert large.wcc().components >= 1, "outside of the block, nothing is cancelled"
    with handle:
        for use in (large.wcc, large.edges, lambda: esker.from_edges([0], [1])):
            with pytest.raises(esker.Cancelled):
                use()
        # A block within it is cancelled, too, whoever wrote it.
        with esker.Cancel() as inner, pytest.raises(esker.Cancelled):
            large.wcc()
        assert not inner.cancelled
        with pytest.raises(esker.Cancelled):
            large.wcc()


def test_a_handle_cancels_whatever_takes_long(tmp_path):
    import itertools

    db = esker.create()
    with db.batch() as batch:
        batch.add_edges(np.arange(400_000), np.arange(400_000) + 1)
    nothing, file = db.graph(), tmp_path / "edges.csv"
    for work in (
        lambda: esker.from_edges((i, i + 1) for i in itertools.count()),
        lambda: esker.from_edges(itertools.count(), itertools.count()),
        lambda: [nothing.to_networkx() for _ in itertools.count()],
        lambda: [db.export(file, overwrite=True) for _ in itertools.count()],
        lambda: [db.diff(1, 1) for _ in itertools.count()],
    ):
        handle = esker.Cancel()
        timer = threading.Timer(0.2, handle.cancel)
        timer.start()
        with handle, pytest.raises(esker.Cancelled):
            work()
        timer.join()
    assert db.graph().num_edges == 400_000


def test_interrupts_of_imports_leave_no_database(path, tmp_path):
    n = 10_000_000
    rng = np.random.default_rng(1)
    source, target = rng.integers(0, n, n), rng.integers(0, n, n)

    def work():
        with esker.create(path) as db, db.batch() as batch:
            batch.add_edges(source, target)

    assert interrupted_after(0.2, work) < 2
    # The exception closed the database, which creates an empty one.
    assert not os.path.exists(path) or esker.open(path).graph().num_edges == 0
    assert [name for name in os.listdir(tmp_path) if "staging" in name] == []


def test_a_cancelled_commit_changes_nothing(path):
    db = esker.create(path)
    with db.batch() as batch:
        batch.add_edges([0], [1])
    n = 1_000_000
    ends = np.random.default_rng(1).integers(0, n, (2, n))
    batch = db.batch()
    batch.add_edges(*ends)
    handle = esker.Cancel()
    timer = threading.Timer(0.05, handle.cancel)
    with handle, pytest.raises(esker.Cancelled):
        timer.start()
        batch.commit()
    assert len(db.versions()) == 1 and db.graph().num_vertices == 2
    with db.batch() as batch:
        batch.add_edges([1], [2])
    assert db.graph().num_edges == 2


def test_the_interpreter_runs_meanwhile(large):
    count, stop = [0], threading.Event()

    def tick():
        while not stop.wait(0.001):
            count[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    large.betweenness(samples=30, threads=1)
    stop.set()
    thread.join()
    assert count[0] > 3


def test_progress(large, capfd):
    told = []
    large.betweenness(samples=20, threads=1, progress=told.append)
    assert told and told[-1].stage == "betweenness" and told[-1].round >= 1
    assert told[-1].total == 20 and told[-1].fraction == told[-1].done / 20
    assert [one.done for one in told] == sorted(one.done for one in told)
    stages = []
    large.biconnectivity(progress=stages.append)
    assert all(one.fraction is None or 0 <= one.fraction <= 1 for one in stages)

    def stop(progress):
        raise StopIteration

    with pytest.raises(StopIteration):
        large.betweenness(threads=1, progress=stop)
    large.pagerank(progress=True)
    large.pagerank(progress=False)
    db = esker.create(None, progress=told.append)
    with db.batch() as batch:
        batch.add_edges(np.arange(500_000), np.arange(500_000) + 1)
    assert isinstance(told[-1], esker.Progress)


def test_threads_share_a_graph(large):
    expected, found = large.wcc().components, []
    threads = [threading.Thread(target=lambda: found.append(large.wcc(threads=2).components)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_threads_commit_together(path):
    with esker.create(path) as db:
        with db.batch() as batch:
            batch.add_edges([0], [1])

        def work(first):
            for i in range(5):
                with db.batch() as batch:
                    batch.add_edges([first + i], [first + i + 1])

        threads = [threading.Thread(target=work, args=(100 * i,)) for i in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert db.graph().num_edges == 21 and len(db.versions()) == 21


def test_forked_workers_read(path, web):
    graph = web.graph()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_reached, [graph] * 4) == [3] * 4
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_reached, [graph]) == [3]


def _reached(graph):
    return graph.bfs("alice").reached


def test_a_fork_does_not_write(path):
    code = f"""
        import esker, os, sys
        db = esker.create({path!r})
        with db.batch() as batch:
            batch.add_edges([1], [2])
        graph = db.graph()
        pid = os.fork()
        if pid == 0:
            try:
                db.batch().add_vertices([3])
            except esker.ForkedError as error:
                assert "forked" in str(error)
                assert graph.wcc().components == 1, "what was read before can be read"
                db.close()
                os._exit(7)
            os._exit(8)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        with db.batch() as batch:
            batch.add_edges([2], [3])
        db.close()
        assert esker.open({path!r}).graph().num_edges == 2
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=60)


def test_what_a_killed_writer_leaves(path):
    """Every acknowledged version is complete, and concurrent readers see complete versions only."""
    with esker.create(path) as db, db.batch() as batch:
        batch.add_edges(range(10), range(1, 11))
    code = """
        import esker, numpy, sys
        db = esker.open(sys.argv[1], "rw")
        for round in range(10**9):
            first = db.graph().num_edges
            with db.batch() as batch:
                batch.add_edges(numpy.arange(first, first + 10), numpy.arange(first + 1, first + 11))
            print(batch.version, flush=True)
            if round % 5 == 4:
                db.compact()
    """
    reader = esker.open(path)
    for rounds in (7, 12):
        writer = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), path], stdout=subprocess.PIPE, text=True)
        for _ in range(rounds):
            told = int(writer.stdout.readline())
            seen = reader.refresh().graph()
            assert seen.version >= told and seen.num_edges == 10 * seen.version and seen.wcc().components == 1
        writer.kill()
        writer.communicate()
        with esker.open(path, "rw") as db:
            graph = db.graph()
            assert graph.version >= told and graph.num_edges == 10 * graph.version and db.check() == []


@pytest.fixture(scope="module")
def unfrozen(tmp_path_factory):
    """A database whose writer was killed after it committed 300,000 edges one after another, so that all of them are in the log."""
    path = str(tmp_path_factory.mktemp("killed") / "web.esker")
    with esker.create(path) as db, db.batch() as batch:
        batch.add_edges([0], [1])
    code = """
        import esker, numpy, os, signal, sys
        db = esker.open(sys.argv[1], "rw")
        rng = numpy.random.default_rng(1)
        for round in range(30):
            with db.batch() as batch:
                batch.add_edges(*rng.integers(0, 50_000, (2, 10_000)))
        os.kill(os.getpid(), signal.SIGKILL)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code), path])
    return path


def test_reading_a_long_log_keeps_the_limit_shows_progress_and_can_be_interrupted(unfrozen):
    begin = time.monotonic()
    for mode in ("r", "rw"):
        with pytest.raises(esker.MemoryLimitError, match="(from|in) the log"):
            esker.open(unfrozen, mode, memory="1MiB", scratch=False).graph()
    assert time.monotonic() - begin < 2, "nothing was read before it was refused"

    def interrupt(progress):
        os.kill(os.getpid(), signal.SIGINT)

    store = esker.open(unfrozen, progress=interrupt)
    assert len(store.versions()) == 31, "versions are listed without reading the changes"
    with pytest.raises(KeyboardInterrupt):
        store.graph()
    seen = []
    graph = esker.open(unfrozen, memory="1GiB", progress=seen.append).graph()
    assert graph.version == 31 and seen and {one.stage for one in seen} == {"reading the log"}


def test_check_reads_the_log(unfrozen):
    assert esker.open(unfrozen).check() == []
    log = max(pathlib.Path(unfrozen, "log").iterdir(), key=lambda file: file.stat().st_size)
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 1
    log.write_bytes(content)
    (problem,) = esker.open(unfrozen).check()
    assert log.name in problem
    content[len(content) // 2] ^= 1
    log.write_bytes(content)


def test_check_names_what_a_writer_that_died_has_left(unfrozen):
    left = pathlib.Path(unfrozen, "layers", "77.columns")
    left.write_bytes(b"12345")
    with pytest.warns(esker.EskerWarning, match=r"77\.columns \(5 bytes\) is in no version"):
        assert esker.open(unfrozen).check() == []
    esker.open(unfrozen, mode="rw").close()
    assert not left.exists() and esker.open(unfrozen).check() == []


def test_forks_of_what_is_in_memory(large):
    expected = large.wcc().components
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(len, [large]) == [len(large)]
    pid = os.fork()
    if pid == 0:
        os._exit(0 if large.wcc(threads=2).components == expected else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_what_outlives_its_handle(path, web):
    graph, batch = web.graph(), web.batch()
    result, table, rows = graph.pagerank(), graph.edges(), graph.to_scipy()
    column = result.to_numpy()
    web.close()
    del graph
    assert result.top(1) and len(result.to_arrow()) == 4 and column.sum() == pytest.approx(1, abs=1e-6)
    assert len(table.to_pandas()) == 3 and rows.sum() == 11.0
    with pytest.raises(esker.ClosedError):
        batch.add_edges(["x"], ["y"], weight=[1.0])
    with pytest.raises(esker.ClosedError):
        web.store(result)


# Four, for an array of three rows and three columns might be an adjacency matrix.
EDGES = [(0, 1, 2.0), (1, 2, 0.5), (0, 2, 1.0), (2, 1, 3.0)]


@pytest.mark.parametrize(
    "give",
    [
        lambda s, t, w: {"source": s, "target": t, "weight": w},
        lambda s, t, w: {"source": np.array(s), "target": np.array(t, dtype=np.int32), "weight": np.array(w, dtype=np.float32)},
        lambda s, t, w: {"source": np.array(s)[::1], "target": np.array([t, t]).T[:, 0], "weight": np.array(w, dtype=">f8")},
        lambda s, t, w: {"source": pa.array(s), "target": pa.chunked_array([t[:1], t[1:]]), "weight": pa.array(w)},
        lambda s, t, w: {"source": pd.Series(s), "target": pd.Series(t, dtype="Int64"), "weight": pd.Series(w)},
        lambda s, t, w: {"source": pl.Series(s), "target": pl.Series(t), "weight": pl.Series(w)},
        lambda s, t, w: {"source": iter(s), "target": tuple(t), "weight": (x for x in w)},
        lambda s, t, w: {"source": pd.DataFrame({"from": s, "to": t, "weight": w})},
        lambda s, t, w: {"source": pl.DataFrame({"source": s, "target": t, "weight": w})},
        lambda s, t, w: {"source": pa.table({"src": s, "dst": t, "weight": w})},
        lambda s, t, w: {"source": {"u": s, "v": t, "weight": w}},
        lambda s, t, w: {"source": pd.DataFrame(list(zip(s, t, w)))},
        lambda s, t, w: {"source": pl.LazyFrame({"source": s, "target": t, "weight": w})},
        lambda s, t, w: {"source": pa.table({"src": s, "dst": t, "weight": w}).to_reader()},
        lambda s, t, w: {"source": duckdb.from_arrow(pa.table({"src": s, "dst": t, "weight": w}))},
        lambda s, t, w: {"source": esker.from_edges(s, t, weight=w).edges()},
        lambda s, t, w: {"source": list(zip(s, t, w))},
        lambda s, t, w: {"source": np.array([s, t, w]).T},
        lambda s, t, w: {"source": scipy.sparse.coo_array((w, (s, t)), shape=(3, 3))},
        lambda s, t, w: {"source": nx.DiGraph([(u, v, {"weight": x}) for u, v, x in zip(s, t, w)])},
    ],
)
def test_every_kind_of_edges(give):
    source, target, weight = (list(column) for column in zip(*EDGES))
    graph = esker.from_edges(**give(source, target, weight))
    assert graph.num_edges == len(EDGES) and graph.weight == "weight"
    assert {(u, v, graph.edge(u, v)["weight"]) for u, v, _ in EDGES} == set(EDGES)


def test_texts_of_every_kind():
    texts = ["ä", "b", "ä"]
    kinds = (list, np.array, pa.array, pd.Series, pl.Series, lambda t: pa.array(t).dictionary_encode(), lambda t: pd.Series(t, dtype="category"))
    for kind in kinds:
        graph = esker.from_edges(kind(texts), kind(["c", "c", "b"]))
        assert sorted(graph) == ["b", "c", "ä"] and graph.num_edges == 3


@pytest.mark.parametrize(
    "edges, error",
    [
        (([0.5], [1]), ValueError),
        (([1, "a"], [1, 2]), TypeError),
        (("ab", "cd"), TypeError),
        ((np.zeros((2, 2), dtype=int), [1]), TypeError),
        ((np.array([1 + 2j]), [1]), TypeError),
        (([None], [1]), ValueError),
        ((pa.array([1, None]), [1, 2]), ValueError),
        ((pd.Series([1, None], dtype="Int64"), [1, 2]), ValueError),
        (([1, 2], [1]), ValueError),
        (([-1], [1]), ValueError),
        ((np.array([1, -7]), [1, 2]), ValueError),
        (([2**64], [1]), ValueError),
        ((["a"], [1]), TypeError),
        ((5, None), TypeError),
        (([(1, 2), (3,)], None), ValueError),
        ((object(), [1]), TypeError),
        ((pa.array([[1]]), [1]), TypeError),
        (([b"a"], [b"b"]), TypeError),
        ((["ab", "cd"], None), TypeError),
        ((np.zeros((3, 3, 3)), None), TypeError),
        ((np.array([1, 2, 3]), None), TypeError),
        ((np.ma.MaskedArray([1, 2], mask=[False, True]), [1, 2]), ValueError),
        ((["\ud800"], ["x"]), ValueError),
        ((nx.Graph([(1, "a")]), None), TypeError),
    ],
)
def test_wrong_edges(edges, error):
    with pytest.raises(error) as raised:
        esker.from_edges(*edges)
    assert isinstance(raised.value, esker.Error)


def test_wrong_weights():
    for weight, error in ((["heavy"], TypeError), ([float("inf")], ValueError), ([1.0, 2.0], ValueError)):
        with pytest.raises(error):
            esker.from_edges([1], [2], weight=weight)
    for weight in ([float("nan"), 2.0], [None, 2], pl.Series([None, 2.0])):
        graph = esker.from_edges([1, 2], [2, 3], weight=weight)
        assert graph.edge(1, 2) == {} and graph.edge(2, 3) == {"weight": 2}
        with pytest.raises(ValueError, match="from 1 to 2 has no value of"):
            graph.sssp(1)
    with pytest.raises(ValueError):
        esker.from_edges([0], [5], num_vertices=3)


def test_empty_inputs():
    for empty in ([], np.array([], dtype=np.int64), pa.array([], pa.int32()), pl.Series([], dtype=pl.Int64), pd.Series([], dtype=object), pa.nulls(0)):
        assert len(esker.from_edges(empty, empty)) == 0
        assert len(esker.from_edges(empty, empty, num_vertices=3)) == 3
    assert len(esker.from_edges([])) == len(esker.from_edges(pd.DataFrame(columns=["source", "target"]))) == 0


def test_graphs_of_networkx_stay_what_they_are():
    several = nx.MultiGraph([(1, 2), (1, 2)])
    assert esker.from_edges(several).num_edges == 2
    assert esker.from_edges(several, multigraph=False).num_edges == 1
    some = nx.path_graph(3)
    some.edges[0, 1]["weight"] = 2.5
    assert esker.from_edges(some).sssp(0)[2] == 3.5, "an edge without a weight weighs 1, as NetworkX has it"
    assert esker.from_edges(some, weight=False).sssp(0)[2] == 2


def test_ids_and_numbers_of_every_type():
    graph = esker.from_edges([1, 2, 3], [2, 3, 1])
    one, two = np.int64(1), np.uint8(2)
    assert one in graph and graph.has_edge(one, two) and not graph.has_edge(two, one)
    assert graph.neighbors(one) == [2] and graph.bfs(one)[two] == 1 and graph.edge(one, two) == {}
    assert graph.has_edge((1,), 2).tolist() == [True] and graph.neighbors((1,)) == [[2]], "a tuple is a column of ids"
    for wrong in (True, 1.0, np.float64(1), np.True_, "1", b"1", (1,), None):
        assert wrong not in graph and (isinstance(wrong, tuple) or graph.has_edge(wrong, 2) is False)
        if isinstance(wrong, tuple):
            continue
        with pytest.raises(TypeError) as raised:
            graph.neighbors(wrong)
        assert isinstance(raised.value, esker.Error)
    for wrong in ([1.5], ["a"], np.array([0.0])):
        for use in (graph.ids, lambda numbers: graph.subgraph(numbers, dense=True)):
            with pytest.raises(esker.MistypedError):
                use(wrong)
    for wrong in ([-1], [3], [2**64 - 1]):
        with pytest.raises(esker.InvalidError):
            graph.ids(wrong)
    assert len(graph.ego(1, 10**30)) == 3
    for use in (graph.degree, graph.neighbors, graph.ego):
        with pytest.raises(ValueError, match="direction must be one of"):
            use(1, direction="up")


def test_settings_of_every_size():
    graph = esker.from_edges([1, 2, 3], [2, 3, 1])
    for memory in (10**40, "1000000000000TB"):
        assert graph.pagerank(memory=memory).converged
    with pytest.raises(esker.MistypedError, match="progress"):
        graph.pagerank(progress=5)


@given(
    edges=st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 30)), max_size=40),
    directed=st.booleans(),
)
def test_any_integers_are_ids(edges, directed):
    graph = esker.from_edges([u for u, _ in edges], [v for _, v in edges], directed=directed, duplicates="last")
    reference = (nx.DiGraph if directed else nx.Graph)(edges)
    assert graph.num_edges == reference.number_of_edges()
    assert set(reference) <= set(graph)
    for node in reference:
        assert sorted(graph.neighbors(node)) == sorted(reference[node])
    back = graph.to_networkx()
    assert nx.utils.edges_equal(back.edges, reference.edges, directed=directed)


@given(edges=st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), min_size=1, max_size=30))
def test_any_texts_are_ids(edges):
    try:
        graph = esker.from_edges([u for u, _ in edges], [v for _, v in edges], duplicates="last")
    except (ValueError, UnicodeError):
        assert any("\ud800" <= c <= "\udfff" or c == "" for edge in edges for c in (*edge[0], *edge[1], *edge))
        return
    assert set(graph) == {end for edge in edges for end in edge}
    assert all(graph.has_edge(u, v) for u, v in edges)
    first = edges[0][0]
    assert graph.bfs(first)[first] == 0 and graph.bfs(first).path_to(edges[0][1])[0] == first


@given(
    given=st.one_of(
        st.none(), st.integers(), st.floats(), st.text(max_size=3), st.binary(max_size=3), st.lists(st.integers() | st.floats() | st.text(max_size=2), max_size=3)
    )
)
def test_whatever_is_given_is_taken_or_refused(given):
    graph = esker.from_edges([0, 1], [1, 2])
    for use in (
        lambda: graph.bfs(given),
        lambda: graph.neighbors(given),
        lambda: graph.pagerank(damping=given, rounds=given),
        lambda: graph.pagerank(threads=given, seed=given, memory=given),
        lambda: esker.from_edges(given, given, duplicates="last"),
        lambda: graph.ego(given, given),
        lambda: graph.subgraph(given),
        lambda: graph.bfs(0).top(given),
        lambda: graph.bfs(0)[given],
        lambda: given in graph,
    ):
        try:
            use()
        except (esker.Error, UnicodeEncodeError):
            pass
