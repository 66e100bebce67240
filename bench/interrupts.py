#!/usr/bin/env python3
"""Measures how soon Python's calls end after Ctrl-C, and after a handle or asyncio cancels them.

Each call runs to the end, and is then interrupted at several moments spread over that time. The table shows the time of the whole
call, and the median and the longest time from the signal to the exception, in ms. Everything is in a temporary directory. Usage:

    python bench/interrupts.py [--edges 2000000] [--tries 8] [--only top,diff]"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
from typing import Any, Callable, Iterator

import numpy as np

import esker

#: The longest that a call without an end runs before it is interrupted, in seconds.
ENDLESS = 1.0


class Case:
    """A call to interrupt. ``prepare`` makes it anew for each try."""

    def __init__(self, name: str, prepare: Callable[[], Callable[[], Any]], *, endless: bool = False) -> None:
        self.name, self.prepare, self.endless = name, prepare, endless


def cases(m: int, directory: str) -> Iterator[Case]:
    n = m // 5
    rng = np.random.default_rng(1)
    u, v, weight = rng.integers(0, n, m), rng.integers(0, n, m), rng.random(m)
    names = np.array([f"vertex-{i}" for i in range(n)], dtype=object)
    u_texts, v_texts = names[u].tolist(), names[v].tolist()

    def path(name: str) -> str:
        return os.path.join(directory, name)

    used: list[str] = []

    def fresh() -> str:
        for one in used:
            shutil.rmtree(one, ignore_errors=True)
        used.append(path(f"new-{len(used)}.esker"))
        return used[-1]

    def copied(of: str) -> esker.Database:
        to = fresh()
        shutil.copytree(path(of), to)
        return esker.open(to, "rw")

    csv = path("edges.csv")
    np.savetxt(csv, np.stack([u, v], axis=1), fmt="%d", delimiter=",", header="source,target", comments="")
    text_csv = path("texts.csv")
    with open(text_csv, "w") as file:
        file.write("source,target\n")
        file.writelines(f"{a},{b}\n" for a, b in zip(u_texts, v_texts))
    half = m // 2
    with esker.create(path("two.esker")) as db:
        with db.batch() as batch:
            batch.add_edges(u[:half], v[:half], weight=weight[:half])
        with db.batch() as batch:
            batch.add_edges(u[half:], v[half:], weight=weight[half:])
    with esker.create(path("texts.esker")) as db, db.batch() as batch:
        batch.add_edges(u_texts[:half], v_texts[:half])
    db = esker.open(path("two.esker"))
    graph, text_graph = db.graph(), esker.open(path("texts.esker")).graph()
    rank, text_rank = graph.pagerank(), text_graph.pagerank()
    groups = graph.cdlp(iterations=1)

    def always(work: Callable[[], Any]) -> Callable[[], Callable[[], Any]]:
        return lambda: work

    def commit(database: Callable[[], esker.Database], columns: tuple[Any, Any], **options: Any) -> Callable[[], Callable[[], Any]]:
        def prepare() -> Callable[[], Any]:
            batch = database().batch()
            batch.add_edges(*columns, **options)
            return batch.commit

        return prepare

    def add(database: Callable[[], esker.Database], columns: tuple[Any, Any], **options: Any) -> Callable[[], Callable[[], Any]]:
        def prepare() -> Callable[[], Any]:
            batch = database().batch()
            return lambda: batch.add_edges(*columns, **options)

        return prepare

    def two() -> esker.Database:
        return copied("two.esker")

    def of_texts() -> esker.Database:
        return copied("texts.esker")

    def networkx_graph() -> Any:
        import networkx

        found = networkx.Graph()
        found.add_weighted_edges_from(zip(u[:half].tolist(), v[:half].tolist(), weight[:half].tolist()))
        return found

    def backend(given: Any) -> Callable[[], Any]:
        from esker.networkx.backend import convert_from_nx

        return lambda: convert_from_nx(given, edge_attrs={"weight": 1})

    yield Case("top(500000)", always(lambda: rank.top(500_000)))
    yield Case("top of texts", always(lambda: text_rank.top(500_000)))
    yield Case("top of groups", always(lambda: groups.top(500_000)))
    yield Case("result to pandas", always(rank.to_pandas))
    yield Case("result of texts to pandas", always(text_rank.to_pandas))
    yield Case("result of texts to_dict", always(text_rank.to_dict))
    yield Case("pagerank", always(lambda: graph.pagerank(tolerance=0, rounds=40)))
    yield Case("betweenness", always(lambda: graph.betweenness(list(range(16)))))
    yield Case("triangles", always(graph.triangles))
    yield Case("diff", always(lambda: db.diff(1, 2)))
    yield Case("diff, summary only", always(lambda: db.diff(1, 2, summary_only=True)))
    yield Case("diff to Arrow", always(lambda: db.diff(1, 2, summary_only=True).edges.to_arrow()))
    yield Case("compact", lambda: two().compact)
    yield Case("compact to tiles", lambda: (lambda changed: lambda: changed.compact(encoding="tiles"))(two()))
    yield Case("check", always(db.check))
    yield Case("verify", always(lambda: graph.sssp(int(u[0]), verify=True)))
    yield Case("edges().ids()", always(lambda: graph.edges().ids()))
    yield Case("edges of texts .ids()", always(lambda: text_graph.edges().ids()))
    yield Case("edges to pandas", always(graph.to_pandas))
    yield Case("edges of texts to pandas", always(text_graph.to_pandas))
    yield Case("edges to Arrow", always(graph.to_arrow))
    yield Case("edges to Polars", always(graph.to_polars))
    yield Case("to_networkx", always(lambda: graph.to_networkx()))
    yield Case("export to CSV", always(lambda: db.export(path("out.csv"), overwrite=True)))
    yield Case("filter", always(lambda: graph.filter(lambda edges: edges.properties["weight"] > 0.5)))
    yield Case("reverse().edges()", always(lambda: graph.reverse().edges().source))
    yield Case("from_edges, NumPy", always(lambda: esker.from_edges(u, v)))
    yield Case("from_edges, lists of texts", always(lambda: esker.from_edges(u_texts, v_texts)))
    yield Case("from_edges, tuples", (lambda pairs: lambda: lambda: esker.from_edges(pairs))(list(zip(u.tolist(), v.tolist()))))
    yield Case("create from texts on disk", lambda: commit(lambda: esker.create(fresh()), (u_texts, v_texts))())
    yield Case("add integers", add(two, (u, v), weight=weight))
    yield Case("commit integers", commit(two, (u, v), weight=weight))
    yield Case("add texts", add(of_texts, (v_texts, u_texts)))
    yield Case("commit texts", commit(of_texts, (v_texts, u_texts)))
    yield Case("import", lambda: lambda: esker.import_(csv, fresh()))
    yield Case("import of texts", lambda: lambda: esker.import_(text_csv, fresh()))
    yield Case("import of texts as a commit", lambda: (lambda changed: lambda: changed.import_(text_csv))(of_texts()))
    try:
        given = networkx_graph()
    except ImportError:
        pass
    else:
        yield Case("from_edges, NetworkX", always(lambda: esker.from_edges(given)))
        yield Case("backend for NetworkX", always(backend(given)))
        del given
    endless = itertools.repeat
    yield Case("endless tuples", always(lambda: esker.from_edges((i, i + 1) for i in itertools.count())), endless=True)
    yield Case("endless integers", always(lambda: esker.from_edges(itertools.count(), itertools.count())), endless=True)
    yield Case("endless texts", always(lambda: esker.from_edges((f"a{i}" for i in itertools.count()), endless("b"))), endless=True)
    yield Case("endless tuples for a batch", lambda: (lambda b: lambda: b.add_edges((i, i + 1) for i in itertools.count()))(two().batch()), endless=True)


class Interrupt(BaseException):
    """Raised by the signal, which is the one of a timer: its moment is known, whatever holds the interpreter's lock."""


def interrupted(work: Callable[[], Any], moment: float) -> float | None:
    """Seconds from the signal to the exception; ``None`` if the call had ended before."""
    kept = None
    start = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, moment)
    try:
        kept = work()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Interrupt:
        return time.perf_counter() - start - moment
    del kept
    return None


def cancelled(work: Callable[[], Any], moment: float) -> float | None:
    """Seconds from a handle's cancellation in another thread to the exception."""
    handle, begun = esker.Cancel(), []

    def cancel() -> None:
        begun.append(time.perf_counter())
        handle.cancel()

    timer = threading.Timer(moment, cancel)
    timer.start()
    try:
        with handle:
            work()
        return None
    except esker.Cancelled:
        return time.perf_counter() - begun[0]
    finally:
        timer.cancel()
        timer.join()


def of_asyncio(work: Callable[[], Any], moment: float) -> float | None:
    """Seconds from the time that asyncio allows a call to its exception, with the thread of the call at its end."""

    async def run() -> float | None:
        handle = esker.Cancel()

        def call() -> None:
            with handle:
                work()

        task = asyncio.ensure_future(asyncio.to_thread(call))
        await asyncio.sleep(moment)
        start = time.perf_counter()
        handle.cancel()
        try:
            await task
            return None
        except esker.Cancelled:
            return time.perf_counter() - start

    return asyncio.run(run())


WAYS = {"Ctrl-C": interrupted, "handle": cancelled, "asyncio": of_asyncio}


def measured(case: Case, tries: int, way: Callable[[Callable[[], Any], float], float | None]) -> tuple[float, list[float]]:
    """The time of the whole call, and the delays."""
    whole = ENDLESS
    if not case.endless:
        for _ in range(2):  # the first may import a library
            work = case.prepare()
            start = time.perf_counter()
            kept = work()
            whole = time.perf_counter() - start
            del kept
    delays = []
    for _ in range(tries):
        delay = way(case.prepare(), max(0.001, random.uniform(0.05, 0.95) * whole))
        if delay is not None:
            delays.append(delay)
    return whole, delays


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=2_000_000)
    parser.add_argument("--tries", type=int, default=8)
    parser.add_argument("--only", help="beginnings of names, with commas between them")
    parser.add_argument("--way", choices=WAYS, default="Ctrl-C", help="what ends the calls [default: Ctrl-C]")
    given = parser.parse_args()
    only = tuple(given.only.split(",")) if given.only else ("",)

    def stop(*_: Any) -> None:
        raise Interrupt

    signal.signal(signal.SIGALRM, stop)
    random.seed(1)
    with tempfile.TemporaryDirectory() as directory:
        print(f"{'call':30} {'ms':>7} {'median':>7} {'longest':>7} {'tries':>5}")
        for case in cases(given.edges, directory):
            if not case.name.startswith(only):
                continue
            whole, delays = measured(case, given.tries, WAYS[given.way])
            figures = f"{statistics.median(delays) * 1e3:7.0f} {max(delays) * 1e3:7.0f}" if delays else f"{'-':>7} {'-':>7}"
            note = "  over 100 ms" if delays and max(delays) > 0.1 else ""
            print(f"{case.name:30} {whole * 1e3:7.0f} {figures} {len(delays):5}{note}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
