#!/usr/bin/env python3
"""Measures how fast edges get from other libraries into Esker and back: millions of edges per second, and per second
of all processors, which counts on a busy machine; the best of three runs.

Ids are integers or texts with gaps, edges are drawn at random. `rate kept` is the part of its rate that a second thread of Python keeps
while the edges are read. Libraries that are not installed are left out. Usage:

    python bench/convert.py [--edges 1000000] [--vertices 200000] [--only numpy,tuples]

    python bench/convert.py --calls [--edges 100000] [--only pagerank,is_isolate]

compares, for the functions of NetworkX that Esker offers, the first call with the conversion with NetworkX's own."""

from __future__ import annotations

import argparse
import inspect
import signal
import sys
import threading
import time

import numpy as np


def drawn(n: int, m: int):
    """Random edges without self-loops, each pair once, as two arrays of ranks."""
    rng = np.random.default_rng(1)
    low, high = rng.integers(0, n, m + m // 8), rng.integers(0, n, m + m // 8)
    low, high = np.minimum(low, high), np.maximum(low, high)
    keys = rng.permutation(np.unique((low * n + high)[low != high]))[:m]
    return keys // n, keys % n


def cases(n: int, m: int):
    """The name of each conversion, and a function that prepares it and returns the conversion itself."""
    import esker

    rank = np.arange(n) * 7 + 3
    source, target = drawn(n, m)
    u, v, weight = rank[source], rank[target], np.random.default_rng(2).random(len(source))
    texts = [f"vertex-{i}" for i in range(n)]
    u_texts, v_texts = ([texts[i] for i in end.tolist()] for end in (source, target))
    into = esker.from_edges

    def networkx_graph(kind="Graph", weights=False, names=False):
        import networkx as nx

        graph = getattr(nx, kind)()
        ends = (u_texts, v_texts) if names else (u.tolist(), v.tolist())
        if weights:
            graph.add_weighted_edges_from(zip(*ends, weight.tolist()))
        else:
            graph.add_edges_from(zip(*ends))
        return graph

    def backend(**options):
        from esker.networkx.backend import convert_from_nx

        graph = networkx_graph(**options)
        attrs = {"weight": 1} if options.get("weights") else None
        return lambda: convert_from_nx(graph, edge_attrs=attrs)

    def backend_whole():
        from esker.networkx.backend import convert_from_nx

        graph = networkx_graph()
        return lambda: convert_from_nx(graph).graph

    def arrow():
        import pyarrow

        table = pyarrow.table({"source": u, "target": v})
        return lambda: into(table)

    def arrow_texts():
        import pyarrow

        table = pyarrow.table({"source": pyarrow.array(u_texts), "target": pyarrow.array(v_texts)})
        return lambda: into(table)

    def polars():
        import polars

        frame = polars.DataFrame({"source": u, "target": v})
        return lambda: into(frame)

    def pandas():
        import pandas

        frame = pandas.DataFrame({"source": u, "target": v, "weight": weight})
        return lambda: into(frame)

    def duckdb():
        import duckdb
        import pyarrow

        table = pyarrow.table({"source": u, "target": v})
        database = duckdb.connect()
        database.register("t", table)
        return lambda: into(database.sql("select * from t"))

    def igraph():
        import igraph as library

        graph = library.Graph(n=n, edges=np.stack([source, target], axis=1))
        return lambda: into(graph)

    def lists():
        ends = u.tolist(), v.tolist()
        return lambda: into(*ends)

    def tuples():
        edges = list(zip(u.tolist(), v.tolist()))
        return lambda: into(edges)

    def weighted_tuples():
        edges = list(zip(u.tolist(), v.tolist(), weight.tolist()))
        return lambda: into(edges)

    def out(ends, convert):
        def prepare():
            graph = into(*ends)
            return lambda: convert(graph)

        return prepare

    yield "numpy", lambda: lambda: into(u, v)
    yield "numpy weighted", lambda: lambda: into(u, v, weight=weight)
    yield "arrow", arrow
    yield "polars", polars
    yield "pandas weighted", pandas
    yield "duckdb", duckdb
    yield "texts", lambda: lambda: into(u_texts, v_texts)
    yield "arrow texts", arrow_texts
    yield "igraph", igraph
    yield "lists", lists
    yield "tuples", tuples
    yield "tuples weighted", weighted_tuples
    yield "networkx", lambda: (lambda graph: lambda: into(graph))(networkx_graph())
    yield "networkx weighted", lambda: (lambda graph: lambda: into(graph))(networkx_graph(weights=True))
    yield "backend", backend
    yield "backend whole", backend_whole
    yield "backend directed", lambda: backend(kind="DiGraph")
    yield "backend weighted", lambda: backend(weights=True)
    yield "backend texts", lambda: backend(names=True)
    yield "out pandas", out((u, v), lambda graph: graph.to_pandas())
    yield "out pandas texts", out((u_texts, v_texts), lambda graph: graph.to_pandas())
    yield "out arrow texts", out((u_texts, v_texts), lambda graph: graph.to_arrow())
    yield "out polars texts", out((u_texts, v_texts), lambda graph: graph.to_polars())
    yield "out ids texts", out((u_texts, v_texts), lambda graph: graph.edges(properties=False).ids())
    yield "out networkx", out((u, v), lambda graph: graph.to_networkx())
    yield "out networkx texts", out((u_texts, v_texts), lambda graph: graph.to_networkx())


class Second:
    """A second thread of Python that counts."""

    def __init__(self) -> None:
        self.count, self._ends = 0, False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ends:
            for _ in range(1000):
                pass
            self.count += 1

    def rate(self, work) -> float:
        """Counts per second while `work` runs."""
        before, start = self.count, time.perf_counter()
        work()
        return (self.count - before) / (time.perf_counter() - start)

    def end(self) -> None:
        self._ends = True
        self._thread.join()


def conversions(given: argparse.Namespace) -> None:
    only = given.only.split(",") if given.only else None
    for name, prepare in cases(given.vertices, given.edges):
        if only is not None and not any(name.startswith(one) for one in only):
            continue
        try:
            work = prepare()
        except ImportError as error:
            print(f"{name:20} not measured: {error}")
            continue
        seconds, busy = [], []
        for _ in range(3):
            start, used = time.perf_counter(), time.process_time()
            found = work()
            seconds.append(time.perf_counter() - start)
            busy.append(time.process_time() - used)
            del found
        second = Second()
        alone = second.rate(lambda: time.sleep(0.5))
        kept = second.rate(work) / alone
        second.end()
        rates = (given.edges / min(one) / 1e6 for one in (seconds, busy))
        print("{:20} {:6.2f} M/s   {:6.2f} M per CPU second   rate kept {:4.0%}".format(name, *rates, kept), flush=True)


def within(seconds: float, work) -> float:
    """What `work` returns; infinity if it takes longer."""

    def stop(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return work()
    except TimeoutError:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def calls(given: argparse.Namespace) -> None:
    import networkx as nx

    from esker.networkx.backend import OFFERED, should_run

    source, target = drawn(given.vertices, given.edges)
    weight = np.random.default_rng(2).integers(1, 9, len(source)).tolist()
    graphs = {}
    for kind in ("Graph", "DiGraph"):
        graphs[kind] = getattr(nx, kind)()
        graphs[kind].add_weighted_edges_from(zip(source.tolist(), target.tolist(), weight))
    only = given.only.split(",") if given.only else None
    for name in OFFERED:
        if name.startswith("all_pairs") or (only is not None and name not in only):
            continue
        function = getattr(nx, name)
        for kind, graph in graphs.items():
            needed = [p.name for p in inspect.signature(OFFERED[name].function).parameters.values() if p.default is p.empty][1:]
            given_to = {"source": 1, "target": int(target[0]), "n": 1, "k": 3, "distance": 2}
            if any(one not in given_to for one in needed):
                continue
            arguments = {one: given_to[one] for one in needed}
            declined = should_run(name, (graph,), arguments)
            if declined is not True:
                continue

            def timed(**options):
                start = time.perf_counter()
                try:
                    found = function(graph, **arguments, **options)
                    if hasattr(found, "__next__"):
                        for _ in found:
                            pass
                except NotImplementedError:
                    return None
                except (nx.NetworkXException, KeyError):
                    pass
                return time.perf_counter() - start

            graph.__networkx_cache__.clear()
            first = timed(backend="esker")
            if first is None:
                continue
            if first < 0.02:
                graph.__networkx_cache__.clear()
                first = min(first, timed(backend="esker"))
            again = timed(backend="esker")
            graph.__networkx_cache__.clear()
            own = within(3, lambda: timed(backend="networkx"))
            note = "" if own >= first else "  SLOWER"
            print(f"{name:40} {kind:8} first {first:7.3f} s  again {again:7.3f} s  NetworkX {own:7.3f} s{note}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, help="[default: 1,000,000; 100,000 with --calls]")
    parser.add_argument("--vertices", type=int)
    parser.add_argument("--only", help="beginnings of names, with commas between them")
    parser.add_argument("--calls", action="store_true")
    given = parser.parse_args()
    given.edges = given.edges or (100_000 if given.calls else 1_000_000)
    given.vertices = given.vertices or max(2, given.edges // 5)
    (calls if given.calls else conversions)(given)


if __name__ == "__main__":
    sys.exit(main())
