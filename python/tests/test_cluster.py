"""Clusters from Python, with the command that the build of the cluster's tests leaves in target/debug."""

import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pyarrow
import pytest
from test_documents import run_blocks

import esker
from esker import _cluster_errors
from esker._cluster_command import Finished

ROOT = pathlib.Path(__file__).parents[2]
COMMAND = ROOT / "target" / "debug" / "esker"


def has_clusters():
    return COMMAND.exists() and subprocess.run([COMMAND, "cluster", "--help"], capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not has_clusters(), reason="needs `cargo build -p esker-cli --features cluster`")


@pytest.fixture
def texts(tmp_path):
    cluster = esker.cluster(tmp_path / "t.cluster", shards=3, ids="text", weights="float", seed=4, command=COMMAND)
    cluster.add({"source": ["a", "b", "x"], "target": ["b", "c", "y"], "weight": [1.5, 2.0, 0.1]}, message="first")
    return cluster


def test_changes_are_versions(texts):
    assert texts.add(pyarrow.table({"source": ["c"], "target": ["x, \"y\"\n"], "weight": [7.25]})).versions == [3]
    change = texts.delete({"source": ["a", "no"], "target": ["b", "one"]})
    assert (change.versions, change.edges, len(change.workers)) == ([4], 2, 3)
    assert texts.version == 4
    assert [one["message"] for one in texts.log()] == ["delete edges from Python", "add edges from Python", "first", "create"]
    assert texts.info(at=datetime.datetime.now(datetime.timezone.utc))["version"] == 4
    info = texts.info(at=3)
    assert (info["vertices"], info["edges"], info["weights"]) == (6, 4, "float")
    edges = texts.edges().sort_by("source")
    assert edges.to_pydict() == {"source": ["b", "c", "x"], "target": ["c", "x, \"y\"\n", "y"], "weight": [2.0, 7.25, 0.1]}
    assert texts.check()["sound"]


def test_answers_are_tables_with_their_types(texts):
    depths = texts.run("bfs", source="a")
    assert depths.schema.types == [pyarrow.string(), pyarrow.uint64()]
    assert depths.to_pydict() == {"vertex": ["a", "b", "c", "x", "y"], "depth": [0, 1, 2, None, None]}
    paths = texts.run("sssp", source="a", delta=0.5)
    assert paths["distance"].type == pyarrow.float64() and paths["distance"].to_pylist()[:3] == [0.0, 1.5, 3.5]
    assert texts.run("sssp", source="a", delta="auto").equals(texts.run("sssp", source="a"))
    groups = texts.run("wcc", at=2)
    assert groups["component"].to_pylist() == ["a", "a", "a", "x", "x"]
    about = json.loads(groups.schema.metadata[b"esker"])
    assert (about["version"], about["figures"]["components"], len(about["workers"])) == (2, 2.0, 3)
    ranks = texts.run("pagerank", damping=0.5, memory="256MiB")
    assert sum(ranks["rank"].to_pylist()) == pytest.approx(1)
    assert [sorted(one) for one in texts.estimate("wcc")] == [["bytes_sent_a_round", "memory_bytes"]] * 3


def test_mistakes_are_exceptions_that_say_what_is_wrong(texts, tmp_path):
    with pytest.raises(esker.VertexNotFoundError, match='has the id "z"'):
        texts.run("bfs", source="z")
    with pytest.raises(esker.VersionNotFoundError, match="no version 9"):
        texts.run("wcc", at=9)
    with pytest.raises(esker.VersionNotFoundError, match="there was no version yet at 2001-02-03"):
        texts.run("wcc", at=datetime.date(2001, 2, 3))
    with pytest.raises(esker.InvalidError, match="no algorithm of a cluster is called"):
        texts.run("scc")
    with pytest.raises(esker.MemoryLimitError, match="raise the limit to at least"):
        texts.run("wcc", memory="1MiB")
    with pytest.raises(esker.InvalidError, match="no column of weights"):
        texts.add({"source": ["a"], "target": ["b"]})
    (tmp_path / "bad.csv").write_text("source,target,weight\na,b,1\na,b,much\n")
    with pytest.raises(esker.Error, match="bad.csv"):
        texts.add(tmp_path / "bad.csv")
    with pytest.raises(esker.ExistsError):
        esker.cluster(texts.path, shards=2, command=COMMAND)
    with pytest.raises(esker.NotFoundError, match="give shards to make a cluster"):
        esker.cluster(tmp_path / "none", command=COMMAND)
    with pytest.raises(esker.InvalidError, match="is no cluster"):
        esker.cluster(tmp_path, command=COMMAND)
    with pytest.raises(esker.InvalidError, match=r"is a database, not a cluster: esker.cluster\(..., database=...\) makes one of it"):
        esker.cluster(os.path.join(texts.path, "shard-0"), command=COMMAND)
    with pytest.raises(esker.InvalidError, match="is a cluster, not a database"):
        esker.open(texts.path)
    with pytest.raises(esker.MistypedError, match="source and target"):
        texts.add(7)
    with pytest.raises(esker.NotFoundError, match="cargo install"):
        esker.cluster(texts.path, command=tmp_path / "absent")
    without = tmp_path / "esker"
    without.write_text("#!/bin/sh\necho \"error: unrecognized subcommand 'cluster'\" >&2\nexit 2\n")
    without.chmod(0o755)
    with pytest.raises(esker.NotFoundError, match="built without clusters"):
        esker.cluster(texts.path, command=without)


def said(kind, call):
    """What an exception of this kind says."""
    with pytest.raises(esker.Error) as caught:
        call()
    assert isinstance(caught.value, kind), repr(caught.value)
    message = str(caught.value)
    for words in "--", "Usage", "more information", "edges.parquet", "process", "`esker cluster", "replace=True":
        assert words not in message
    return message


def test_a_cancellation_after_the_change_names_the_version():
    line = '{"done":"version 13 is published","error":{"kind":"%s","message":{"parts":[{"Text":"the disk is full"}]}}}'
    done = Finished(3, "", f"a note\n{line % 'Cancelled'}\n")
    error = _cluster_errors.failure(done)
    assert type(error) is esker.Cancelled
    assert str(error) == "version 13 is published, then cancelled"
    other = _cluster_errors.failure(done._replace(errors=line % "Io"))
    assert type(other) is esker.StorageError
    assert str(other) == "version 13 is published, but then: the disk is full"


def test_messages_of_the_command_speak_python(texts, tmp_path):
    cluster = esker.cluster(tmp_path / "c", shards=2, weights="int", seed=4, command=COMMAND)

    def add(source, weight=(1,), target=(2,)):
        return lambda: cluster.add({"source": list(source), "target": list(target), "weight": list(weight)})

    add([1])()
    unchanged = "; all shards are at version 2 of the cluster"
    assert said(ValueError, add(["a"])) == "the table: integer ids are demanded, but the column of ids holds texts" + unchanged
    assert said(ValueError, add([1], [2.5])).startswith(
        "the table: the edge from 1 to 2 has the weight 2.5, but the weights of this cluster are integers: "
        "make one with esker.cluster(..., weights='float')"
    )
    assert said(ValueError, add([1], ["x"])) == 'the table: the weight column "weight" does not hold numbers: name another with weight, or none with weight=False' + unchanged
    assert said(ValueError, add([-1])).startswith(
        'row 1 of the table: the id in the column "source" is negative; import with ids=\'text\' to take all ids as texts: "-1"' + unchanged
    )
    others = said(ValueError, lambda: cluster.add({"x": [1], "y": [2], "z": [3], "weight": [1]}))
    assert "expected source, target, weight; found x, y, z, weight; name the ends with source and target" in others
    assert said(ValueError, lambda: cluster.add({"source": [1], "target": [2]})).startswith("the table has no column of weights, but")
    assert said(ValueError, add([1, 2], [1, 2])) == "columns must have the same length: source has 2 elements, target has 1"
    for one in cluster, texts:
        assert one.add({"source": [], "target": [], "weight": []}).versions == []
    assert said(ValueError, lambda: esker.cluster(tmp_path / "plain", shards=2, command=COMMAND).add({"source": [1], "target": [2]}, weight="w")).startswith(
        "the edges of this cluster have no weights: leave out their column, or make one with esker.cluster(..., weights='int')"
    )
    assert said(TypeError, lambda: cluster.run("wcc", top=3)).startswith("run has no option 'top'")
    assert said(ValueError, lambda: cluster.run("kcore")) == "kcore needs an undirected cluster: make one with esker.cluster(..., directed=False)"
    assert said(ValueError, lambda: cluster.run("pagerank", damping=3)) == "damping must be from 0 to 1, not 3"
    assert said(KeyError, lambda: cluster.run("bfs", source=77)) == 'no vertex of the cluster has the id "77"'
    no_tags = '"z" is no version: clusters have no tags, so give a number, a time such as 2026-11-21, or latest'
    assert said(esker.VersionNotFoundError, lambda: cluster.run("wcc", at="z")) == no_tags
    assert said(TypeError, lambda: cluster.run("wcc", at=1.5)) == "a version must be a number, a tag, a time or 'latest', not float"
    assert said(ValueError, lambda: cluster.run("wcc", memory="z")).startswith("memory must be a size")
    with pytest.raises(esker.InvalidError, match="invalid value 'z' for commit_every: .* number of edges$"):
        cluster.stream(tmp_path / "none", commit_every="z")
    new = tmp_path / "new"
    assert said(ValueError, lambda: esker.cluster(new, shards=2, ids="number", command=COMMAND)) == "invalid value 'number' for ids: it is one of int, text"
    assert said(ValueError, lambda: esker.cluster(tmp_path, command=COMMAND)).endswith("make one with esker.cluster(path, shards=...)")
    new.mkdir()
    (new / "out").touch()
    assert said(FileExistsError, lambda: cluster.merge(new)).endswith("new exists: give another name")
    cluster.merge(tmp_path / "merged").close()
    assert said(FileExistsError, lambda: cluster.merge(tmp_path / "merged")).endswith("merged exists: give another name")
    assert said(FileExistsError, lambda: cluster.export(new / "out")).endswith("out exists: give another name")
    (tmp_path / "bad.csv").write_text("source,target,weight\n1,2,1\n1,2,much\n")
    assert said(ValueError, lambda: cluster.add(tmp_path / "bad.csv")).startswith(
        f'{tmp_path}/bad.csv:3: weight is not a number; write it like -1.5e3: "1,2,much"'
    )


def test_ids_of_64_bits_are_read_or_refused_with_a_remedy(tmp_path):
    cluster = esker.cluster(tmp_path / "c", shards=2, seed=4, command=COMMAND)
    cluster.add({"source": [1], "target": [2**63 - 1]})
    assert cluster.edges().schema.types == [pyarrow.int64()] * 2
    big, bigger = 2**63, 2**64 - 1
    cluster.add({"source": [bigger, 1], "target": [big, 2]})
    edges = cluster.edges()
    assert edges.schema.types == [pyarrow.uint64()] * 2
    assert sorted(zip(*edges.to_pydict().values())) == [(1, 2), (1, 2**63 - 1), (bigger, big)]
    with pytest.raises(esker.UnsuitableError, match=r"exceeds 9223372036854775807, .* merge\(\) makes"):
        cluster.run("wcc")
    with pytest.raises(esker.UnsuitableError, match=r"merge\(\)"), cluster.follow("wcc", initial=True) as steps:
        next(steps)
    with cluster.merge(tmp_path / "d") as db:
        assert db.graph().wcc()[bigger] == big
    for wrong in [2**64], [bigger, -1]:
        with pytest.raises(esker.InvalidError, match="'source' has integers that no type holds"):
            cluster.add({"source": wrong, "target": [1] * len(wrong)})


def test_streams_go_on_where_they_were(tmp_path):
    cluster = esker.cluster(tmp_path / "c", shards=2, directed=False, command=COMMAND)
    file = tmp_path / "log.csv"
    file.write_text("source,target\n1,2\n2,3\n")
    assert cluster.stream(file).edges == 2
    with file.open("a") as log:
        log.write("3,4\n")
    change = cluster.stream(file, commit_every=100)
    assert (change.versions, change.edges) == ([3], 1)
    assert cluster.stream(file).versions == []


def test_searches_begin_with_several_vertices_and_end_at_a_depth(tmp_path):
    cluster = esker.cluster(tmp_path / "c", shards=3, directed=False, seed=4, command=COMMAND)
    change = cluster.add({"source": [1, 2, 3, 4, 6], "target": [2, 3, 4, 5, 7]}, batch=1)
    assert change.edges == 5
    depths = cluster.run("bfs", source=[1, 7], max_depth=2).to_pydict()
    assert depths == {"vertex": [1, 2, 3, 4, 5, 6, 7], "depth": [0, 1, 2, None, None, 1, 0]}
    assert cluster.run("bfs", source=1)["depth"].to_pylist() == [0, 1, 2, 3, 4, None, None]
    with pytest.raises(esker.InvalidError, match="sssp takes one value of source"):
        cluster.run("sssp", source=[1, 7])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
def test_a_stream_that_follows_a_file_ends_when_it_is_cancelled(tmp_path):
    cluster = esker.cluster(tmp_path / "c", shards=2, seed=4, command=COMMAND)
    file = tmp_path / "log.csv"
    file.write_text("source,target\n1,2\n2,3\n")
    assert cancelled(cluster.path, lambda: cluster.stream(file, commit_every=1, follow=True)) < 10
    assert cluster.info()["edges"] == 2


def test_an_answer_follows_versions(tmp_path):
    cluster = esker.cluster(tmp_path / "c", shards=2, seed=4, command=COMMAND)
    cluster.add({"source": [1, 5], "target": [2, 6]})
    with cluster.follow("wcc", initial=True) as steps:
        first = next(steps)
        assert first.version == 2
        assert first.changes.to_pydict() == {"vertex": [1, 2, 5, 6], "old": [None] * 4, "new": [1, 1, 5, 5]}
        adding = threading.Thread(target=cluster.add, args=({"source": [2, 2], "target": [5, 1]},))
        adding.start()
        step = next(steps)
        adding.join()
        assert (step.version, step.changes["new"].to_pylist()) == (3, [1, 1])
    cluster.add({"source": [6], "target": [5]})
    with cluster.follow("wcc", start=2, once=True) as steps:
        assert [(step.version, step.changes.num_rows) for step in steps] == [(2, 0), (3, 2), (4, 0)], "also what changes nothing"
    with pytest.raises(esker.MemoryLimitError), cluster.follow("wcc", memory="1MiB") as steps:
        next(steps)


def commands(path):
    """The commands and workers that have the cluster open."""
    found = []
    for place in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:
            continue
        of_cluster = (str(path).encode(), f"{path}/secret".encode())
        if len(words) > 2 and words[1] == b"cluster" and any(word in of_cluster for word in words):
            found.append(place.parent.name)
    return found


#: What a call that was cancelled says; the version is named where it was published before the cancellation came.
CANCELLED = r"^(version \d+ is published, then )?cancelled$"


def cancelled(path, work):
    """Cancels work once the workers run, and returns how long it took to end."""
    handle, at = esker.Cancel(), []

    def cancel():
        while len(commands(path)) < 3:
            time.sleep(0.01)
        time.sleep(0.3)
        at.append(time.monotonic())
        handle.cancel()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    with pytest.raises(esker.Cancelled, match=CANCELLED), handle:
        work()
    took = time.monotonic() - at[0]
    canceller.join()
    assert commands(path) == []
    return took


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
def test_a_cancellation_ends_the_command_and_its_workers(tmp_path):
    cluster = esker.cluster(tmp_path / "c", shards=2, seed=4, command=COMMAND)
    cluster.add({"source": [1, 5], "target": [2, 6]})

    def follow():
        with cluster.follow("wcc") as steps:
            for _ in steps:
                pass

    os.mkfifo(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDWR)
    works = [
        follow,
        lambda: cluster.run("pagerank", tolerance=0, rounds=1_000_000_000),
        lambda: cluster.stream(tmp_path / "pipe"),
        lambda: [cluster.add({"source": [7], "target": [8]}) for _ in range(1000)],
    ]
    for work in works:
        assert cancelled(cluster.path, work) < 10
    os.close(pipe)
    handle = esker.Cancel()
    handle.cancel()
    with handle, pytest.raises(esker.Cancelled):
        cluster.log()
    assert cluster.check()["sound"]
    with cluster.follow("wcc") as steps:
        next(steps)
    assert commands(cluster.path) == []
    with pytest.raises(esker.ClosedError):
        next(steps)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
@pytest.mark.parametrize("to_all", [False, True], ids=["to Python", "as of a terminal"])
def test_ctrl_c_ends_the_command_and_its_workers(tmp_path, to_all):
    cluster = esker.cluster(tmp_path / "c", shards=2, seed=4, command=COMMAND)
    cluster.add({"source": [1, 5], "target": [2, 6]})

    def interrupt():
        while len(commands(cluster.path)) < 3:
            time.sleep(0.01)
        time.sleep(0.3)
        for process in [*commands(cluster.path)[: 3 * to_all], os.getpid()]:
            os.kill(int(process), signal.SIGINT)

    def follow():
        with cluster.follow("wcc") as steps:
            for _ in steps:
                pass

    for work in follow, lambda: cluster.run("pagerank", tolerance=0, rounds=1_000_000_000):
        interrupter = threading.Thread(target=interrupt)
        interrupter.start()
        with pytest.raises(KeyboardInterrupt):
            work()
        interrupter.join()
        assert commands(cluster.path) == []
    assert cluster.check()["sound"]


def test_paths_hold_when_the_process_changes_its_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cluster = esker.cluster("c", shards=2, seed=4, command=COMMAND)
    cluster.add({"source": [1, 5], "target": [2, 6]})
    pathlib.Path("-1.csv").write_text("source,target\n6,7\n")
    assert cluster.add("-1.csv").edges == 1
    wide, merged = cluster.rebalance(pathlib.Path("wide"), 3), cluster.merge("m")
    cluster.export("-")
    assert pathlib.Path("-").read_text().startswith("source,target")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert cluster.path == str(tmp_path / "c") and esker.cluster("../c", command=COMMAND).path == cluster.path
    assert cluster.version == 3 and len(wide.info()["shards"]) == 3 and merged.graph().num_edges == 3
    merged.close()


def test_clusters_of_databases_and_back(tmp_path, path):
    with esker.create(path) as db, db.batch("edges") as batch:
        batch.add_edges([1, 2, 3], [2, 3, 1])
    cluster = esker.cluster(tmp_path / "c", shards=2, database=path, command=COMMAND)
    with esker.open(path) as db:
        assert esker.cluster(tmp_path / "same", shards=2, database=db, command=COMMAND).edges().num_rows == 3
    with esker.create(tmp_path / "log.esker") as db:
        for source in 1, 2, 3:
            with db.batch() as batch:
                batch.add_edges([source], [source + 1])
        assert esker.cluster(tmp_path / "log", shards=2, database=db, command=COMMAND).edges().num_rows == 3
    with pytest.raises(esker.InvalidError, match="a database on disk"):
        esker.cluster(tmp_path / "none", shards=2, database=esker.create(), command=COMMAND)
    with pytest.raises(esker.NotFoundError, match="absent"):
        esker.cluster(tmp_path / "none", shards=2, database=tmp_path / "absent", command=COMMAND)
    with pytest.raises(esker.MistypedError, match="expected a path, got int"):
        esker.cluster(tmp_path / "none", shards=2, database=7, command=COMMAND)
    wide = cluster.rebalance(tmp_path / "wide", 5)
    assert wide.info()["edges"] == 3 and len(wide.info()["shards"]) == 5
    wide.export(tmp_path / "edges.csv")
    assert sorted((tmp_path / "edges.csv").read_text().split()) == ["1,2", "2,3", "3,1", "source,target"]
    with wide.merge(tmp_path / "again.esker") as db:
        assert db.graph().num_edges == 3


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{COMMAND.parent}:/usr/bin:/bin")
    run_blocks(ROOT / "docs" / "tutorials" / "cluster.md", {})


def test_a_cluster_on_several_machines(tmp_path):
    secret, files, workers = tmp_path / "secret", tmp_path / "edges.csv", []
    secret.touch(mode=0o600)
    secret.write_bytes(bytes(range(32)))
    files.write_text("source,target\n1,2\n2,3\n")
    words = [COMMAND, "cluster", "worker", "--secret", secret, "--directory"]
    try:
        for number in range(2):
            place = tmp_path / f"machine{number}"
            place.mkdir()
            workers.append(subprocess.Popen([*words, place, "--listen", f"127.0.0.{number + 2}:0"], stdout=subprocess.PIPE, text=True))
        lines = [worker.stdout.readline() for worker in workers]
        (tmp_path / "hosts.txt").write_text("".join(line.split()[2].rstrip(",") + "\n" for line in lines))
        made = esker.cluster(tmp_path / "c", hosts=tmp_path / "hosts.txt", secret=secret, command=COMMAND)
        made.add(files)
        again = esker.cluster(tmp_path / "c", command=COMMAND)
        assert again.run("bfs", source=1).to_pydict() == {"vertex": [1, 2, 3], "depth": [0, 1, 2]}
        assert again.edges().num_rows == 2 and again.check()["sound"]
        assert len(again.info()["shards"]) == 2 and not (tmp_path / "c" / "shard-0").exists()
    finally:
        for worker in workers:
            worker.terminate()
            worker.communicate()
