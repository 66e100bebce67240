#!/usr/bin/env python3
"""Compares Esker's Python package with networkit, igraph, rustworkx, SciPy and python-graphblas, as far as they are installed.

Each library runs in a process of its own, one after another, on the same arrays of edges (R-MAT, undirected). It reports seconds for
building, PageRank, breadth-first search, components, betweenness from 16 sources and triangles, bytes per edge of its graph, and the peak
memory of its process. Seconds are the best of three runs, or of one run if it takes longer than ten seconds. Usage:

    python bench/python.py --scale 20 --degree 16 --threads 2 [--only esker,igraph]

It reports differing answers: all libraries must agree on components, reached vertices and triangles.

    python bench/python.py --columns DIR

repeats, from NumPy and from Arrow, the commits of ten million edges of `cargo bench -p esker-store --bench store -- commits --scale 20 --only columns --directory DIR`, and compares
the speeds."""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import subprocess
import sys
import time

SOURCES = 16


def rmat(scale: int, degree: int):
    """R-MAT edges with a = 0.57, b = c = 0.19: distinct, without self-loops, each pair once."""
    import numpy as np

    rng, n, m = np.random.default_rng(1), 1 << scale, degree << scale
    source, target = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    for _ in range(scale):
        draw = rng.random(m)
        source = source * 2 + (draw > 0.76)
        target = target * 2 + ((draw > 0.57) & (draw <= 0.76) | (draw > 0.95))
    shuffle = rng.permutation(n)
    low, high = np.minimum(shuffle[source], shuffle[target]), np.maximum(shuffle[source], shuffle[target])
    keys = np.unique((low * n + high)[low != high])
    keys = rng.permutation(keys)
    return n, keys // n, keys % n


def esker(n, source, target, threads):
    import esker as library

    start = time.perf_counter()
    graph = library.from_edges(source, target, directed=False, num_vertices=n, threads=threads)
    yield "build", time.perf_counter() - start, graph.num_edges
    yield "pagerank", lambda: graph.pagerank(threads=threads, tolerance=0, rounds=20), None
    yield "bfs", lambda: graph.bfs(int(source[0]), threads=threads), lambda found: found.reached
    yield "components", lambda: graph.wcc(threads=threads), lambda found: found.components
    yield "betweenness", lambda: graph.betweenness(source[:SOURCES].tolist(), threads=threads), None
    yield "triangles", lambda: graph.triangles(threads=threads), lambda found: found.triangles


def networkit(n, source, target, threads):
    import networkit as library
    import numpy as np

    library.setNumberOfThreads(threads)
    start = time.perf_counter()
    graph = library.GraphFromCoo((np.ones(len(source)), (source, target)), n=n, weighted=False, directed=False)
    yield "build", time.perf_counter() - start, graph.numberOfEdges()

    def pagerank():
        found = library.centrality.PageRank(graph, damp=0.85, tol=0)
        found.maxIterations = 20
        return found.run()

    yield "pagerank", pagerank, None
    yield "bfs", lambda: library.distance.BFS(graph, int(source[0]), storePaths=False).run(), lambda f: sum(d < n for d in f.getDistances())
    yield "components", lambda: library.components.ParallelConnectedComponents(graph).run(), lambda f: f.numberOfComponents()
    yield "triangles", lambda: library.globals.ClusteringCoefficient.exactGlobal(graph), None


def igraph(n, source, target, threads):
    import igraph as library
    import numpy as np

    start = time.perf_counter()
    graph = library.Graph(n=n, edges=np.stack([source, target], axis=1))
    yield "build", time.perf_counter() - start, graph.ecount()
    yield "pagerank", lambda: graph.pagerank(), None
    yield "bfs", lambda: graph.distances(int(source[0]))[0], lambda found: sum(d < n for d in found)
    yield "components", lambda: graph.connected_components(), len
    yield "betweenness", lambda: graph.betweenness(sources=source[:SOURCES].tolist()), None
    yield "triangles", lambda: len(graph.list_triangles()) if n <= 1 << 14 else None, lambda found: found


def rustworkx(n, source, target, threads):
    import rustworkx as library

    start = time.perf_counter()
    graph = library.PyGraph()  # no pair comes twice: to have that checked takes longer than all else
    graph.add_nodes_from(range(n))
    graph.add_edges_from_no_data(list(zip(source.tolist(), target.tolist())))
    yield "build", time.perf_counter() - start, graph.num_edges()
    yield "components", lambda: library.number_connected_components(graph), lambda found: found
    yield "bfs", lambda: library.node_connected_component(graph, int(source[0])), len


def scipy(n, source, target, threads):
    import numpy as np
    import scipy.sparse as sparse

    start = time.perf_counter()
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    graph = sparse.coo_array((np.ones(len(ends[0])), ends), shape=(n, n)).tocsr()
    yield "build", time.perf_counter() - start, graph.nnz // 2

    def pagerank():
        degrees = np.asarray(graph.sum(axis=1)).ravel()
        scores = np.full(n, 1 / n)
        for _ in range(20):
            shares = np.divide(scores, degrees, out=np.zeros(n), where=degrees > 0)
            scores = 0.85 * (graph.T @ shares + scores[degrees == 0].sum() / n) + 0.15 / n
        return scores

    yield "pagerank", pagerank, None
    bfs = lambda: sparse.csgraph.breadth_first_order(graph, int(source[0]), directed=False, return_predecessors=False)  # noqa: E731
    yield "bfs", bfs, len
    yield "components", lambda: sparse.csgraph.connected_components(graph, directed=False)[0], lambda found: found


def graphblas(n, source, target, threads):
    import graphblas as library
    import numpy as np

    library.ss.config["nthreads"] = threads
    start = time.perf_counter()
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    graph = library.Matrix.from_coo(*ends, 1, nrows=n, ncols=n, dtype="INT64")
    yield "build", time.perf_counter() - start, graph.nvals // 2
    lower = graph.select("tril").new()
    count = lambda: lower.mxm(lower.T, "plus_pair").new(mask=lower.S).reduce_scalar().value  # noqa: E731
    yield "triangles", count, lambda found: found


LIBRARIES = {f.__name__: f for f in (esker, networkit, igraph, rustworkx, scipy, graphblas)}


def memory(field: str) -> int:
    """A number of bytes from the status of this process in /proc."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(field))


def run_one(name: str, path: str, threads: int) -> dict:
    """Measures one library, in this process."""
    import numpy as np

    data = np.load(path)
    n, source, target = int(data["n"]), data["source"], data["target"]
    gc.collect()
    before, found = memory("VmRSS"), {}
    steps = LIBRARIES[name](n, source, target, threads)
    _, seconds, edges = next(steps)
    gc.collect()
    found["build"] = {"seconds": seconds, "answer": edges, "bytes_per_edge": round((memory("VmRSS") - before) / edges, 1)}
    for step, work, read in steps:
        best, answer = float("inf"), None
        for _ in range(3):
            start = time.perf_counter()
            answer = work()
            best = min(best, time.perf_counter() - start)
            if best > 10:
                break
        found[step] = {"seconds": best, "answer": read(answer) if read else None}
    return {"steps": found, "peak_bytes": memory("VmHWM")}


def columns(directory: str) -> None:
    """Ten million edges from arrays: in one commit beside the same of Rust, and as the first edges of a database. The best of three."""
    import esker as library
    import numpy as np
    import pyarrow

    def read(name, kind):
        return np.fromfile(os.path.join(directory, name), dtype=kind)

    def added(db, ends, weights):
        start = time.perf_counter()
        with db, db.batch("columns") as batch:
            batch.add_edges(*ends, **weights)
            filled = time.perf_counter()
            batch.commit()
            return filled - start, time.perf_counter() - filled

    source, target, weight = read("source.u64", "<u8").astype("i8"), read("target.u64", "<u8").astype("i8"), read("weight.f32", "<f4")
    with open(os.path.join(directory, "seconds.txt")) as lines:
        rust = {name: float(seconds) for name, seconds in (line.split() for line in lines)}
    path = os.path.join(directory, "python.esker")
    for name, kept in (("NumPy", np.asarray), ("Arrow", pyarrow.array)):
        ends = kept(source), kept(target)
        for kind, seconds in rust.items():
            weights = {"weight": kept(weight)} if kind == "weighted" else {}
            times, first = [], []
            for _ in range(3):
                shutil.copytree(os.path.join(directory, f"{kind}.esker"), path)
                times.append(added(library.open(path, "rw"), ends, weights))
                shutil.rmtree(path)
                first.append(sum(added(library.create(path), ends, weights)))
                shutil.rmtree(path)
            fill, commit = min(times, key=sum)
            print(
                f"{name}, {kind}: {fill:.3f} s into the batch, {commit:.3f} s to commit it, {len(source) / (fill + commit) / 1e6:.2f} M/s, "
                f"{seconds / (fill + commit):.0%} of Rust's; as first edges {len(source) / min(first) / 1e6:.1f} M/s"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=16)
    parser.add_argument("--degree", type=int, default=16)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--only", help="libraries, with commas between them")
    parser.add_argument("--seconds", type=float, default=600, help="a library that takes longer is ended, and not measured")
    parser.add_argument("--edges", default="/tmp/esker-bench-edges.npz", help="where the edges are kept")
    parser.add_argument("--columns", help="where the bench of commits has left its edges")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(run_one(given.one, given.edges, given.threads)))
        return
    if given.columns:
        columns(given.columns)
        return
    import numpy as np

    n, source, target = rmat(given.scale, given.degree)
    np.savez(given.edges, n=n, source=source, target=target)
    print(f"R-MAT scale {given.scale}: {n:,} vertices, {len(source):,} undirected edges, {given.threads} threads")
    answers: dict[str, dict[str, object]] = {}
    for name in given.only.split(",") if given.only else LIBRARIES:
        command = [sys.executable, __file__, "--one", name, "--edges", given.edges, "--threads", str(given.threads)]
        try:
            run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=given.seconds)
        except subprocess.TimeoutExpired:
            print(f"{name:10} not measured: longer than {given.seconds:.0f} s")
            continue
        if run.returncode:
            print(f"{name:10} not measured: {run.stderr.strip().splitlines()[-1] if run.stderr.strip() else run.returncode}")
            continue
        told = json.loads(run.stdout.splitlines()[-1])
        steps = told["steps"]
        times = "  ".join(f"{step} {one['seconds']:.3f} s" for step, one in steps.items())
        print(f"{name:10} {times}  {steps['build']['bytes_per_edge']} B/edge  peak {told['peak_bytes'] / 1e6:.0f} MB")
        for step, one in steps.items():
            if one["answer"] is not None:
                answers.setdefault(step, {})[name] = one["answer"]
    for step, found in answers.items():
        if len(set(found.values())) > 1:
            print(f"answers differ in {step}: {found}")
    os.remove(given.edges)


if __name__ == "__main__":
    main()
