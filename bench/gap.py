#!/usr/bin/env python3
"""Compares Esker with the GAP benchmark suite on the same graphs of several kinds, in one session.

Usage:
    python3 bench/gap.py --gap DIR [--kinds kron,uniform,grid,road,web,twitter] [--orders keep,degree,shuffled] [--scale 19]
                         [--kernels bfs,pagerank,components,sssp,betweenness,triangles] [--trials 3] [--data DIR] [--json FILE]

DIR holds GAP's programs, already built: bfs, sssp, pr, pr_spmv, cc, cc_sv, bc, tc and converter.

Kinds, of about 2^scale vertices:
    kron     GAP's Kronecker graph, degree 16
    uniform  GAP's uniform random graph, degree 16
    grid     a square grid
    road     a grid with gaps and diagonals
    web      directed: pages of a host copy each other's links, most of which stay within the host
    twitter  directed R-MAT

Orders, of Esker's vertices and of GAP's:
    keep      both as the graph was drawn
    degree    Esker by descending degree, as an import can arrange; GAP as drawn, for its graphs have no such option
    shuffled  both shuffled at random

Every kernel runs from the same sources, in turn (GAP, Esker, GAP ...), on the same number of threads, each in a process of its own; a
cell is the median of the seconds that the programs report for the kernel. Of GAP's variants (pr and pr_spmv, cc and cc_sv, widths of
buckets) the fastest counts. Esker reads a mapped plain layer of the store, verified before the clock starts, as GAP reads its file
before the clock starts. Weights are 1 to 255. Last come geometric means over all cells of a kernel.
"""

import argparse
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

KINDS = ["kron", "uniform", "grid", "road", "web", "twitter"]
ORDERS = ["keep", "degree", "shuffled"]
KERNELS = ["bfs", "pagerank", "components", "sssp", "betweenness", "triangles"]
DIRECTED = {"web", "twitter"}
DELTAS = ["2", "16", "64", "256"]
ROUNDS = 20
PAGES_OF_A_HOST = 64
LINKS_MAX = 32


def output(command, threads):
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def write_web(file, vertices, seed=1):
    """A copying model: a page copies the links of a page of its host, or links to a random page of the host, or to any page."""
    draw = random.Random(seed)
    links = []
    with open(file, "w") as lines:
        for page in range(vertices):
            host = page - page % PAGES_OF_A_HOST
            own = set()
            if page > host and draw.random() < 0.7:
                model = links[draw.randrange(host, page)]
                own.update(target for target in model if draw.random() < 0.8)
            wanted = min(LINKS_MAX, int(draw.paretovariate(1.3)) + 4)
            while len(own) < wanted:
                if draw.random() < 0.75:
                    own.add(draw.randrange(host, min(host + PAGES_OF_A_HOST, vertices)))
                else:
                    # Low numbers are popular.
                    own.add(int(vertices * draw.random() ** 3))
            links.append(sorted(own))
            lines.writelines(f"{page} {target} {draw.randrange(1, 256)}\n" for target in links[-1])


def shuffle(file, shuffled, vertices, seed=2):
    """Renumbers the vertices of an edge list with weights at random."""
    numbers = list(range(vertices))
    random.Random(seed).shuffle(numbers)
    with open(file) as drawn, open(shuffled, "w") as lines:
        for line in drawn:
            u, v, weight = line.split()
            lines.write(f"{numbers[int(u)]} {numbers[int(v)]} {weight}\n")


class Graph:
    """One graph in the files of GAP, and the databases of Esker."""

    def __init__(self, arguments, kind, shuffled):
        self.arguments, self.kind = arguments, kind
        self.name = f"{kind}{arguments.scale}" + ("-shuffled" if shuffled else "")
        folder = self.folder = Path(arguments.data)
        self.plain, self.weighted = folder / f"{self.name}.sg", folder / f"{self.name}.wsg"
        if self.plain.exists() and self.weighted.exists():
            return
        if kind in ("kron", "uniform") and not shuffled:
            family = "-g" if kind == "kron" else "-u"
            output([Path(arguments.gap) / "converter", family, arguments.scale, "-b", self.plain], arguments.threads)
            output([Path(arguments.gap) / "converter", family, arguments.scale, "-w", "-b", self.weighted], arguments.threads)
            return
        made = folder / f"{self.name}.made.esker"
        if shuffled:
            drawn = Graph(arguments, kind, False)
            database, _ = drawn.database("keep", drawn.weighted)
            edges, renumbered = folder / f"{self.name}.drawn.wel", folder / f"{self.name}.wel"
            output([arguments.esker, "export", database, edges, "--force"], arguments.threads)
            shuffle(edges, renumbered, self.vertices(database))
            self.make(made, renumbered)
            edges.unlink()
        elif kind == "web":
            edges = folder / f"{self.name}.wel"
            write_web(edges, 1 << arguments.scale)
            self.make(made, edges)
        else:
            side = math.isqrt(1 << arguments.scale)
            sizes = ["--rows", side, "--columns", side] if kind in ("grid", "road") else ["--scale", arguments.scale]
            family = "rmat" if kind == "twitter" else kind
            direction = ["--directed"] if kind in DIRECTED else []
            output([arguments.esker, "generate", family, *sizes, *direction, "--weights", "255", made, "--force"], arguments.threads)
        for file in (self.plain, self.weighted):
            output([arguments.esker, "export", made, file, "--force"], arguments.threads)

    def make(self, database, edges):
        direction = "--directed" if self.kind in DIRECTED else "--undirected"
        output([self.arguments.esker, "import", edges, database, direction, "--force"], self.arguments.threads)
        edges.unlink()

    def vertices(self, database):
        return json.loads(output([self.arguments.esker, "info", database, "--json"], 1))["vertices"]

    def database(self, order, file):
        """The database of a file in an order, and the seconds that its import took, if it was made now."""
        database = self.folder / f"{file.name}.{order}.esker"
        if database.exists():
            return database, None
        start = time.perf_counter()
        output([self.arguments.esker, "import", file, database, "--order", order], self.arguments.threads)
        return database, time.perf_counter() - start


class Comparison:
    """GAP and Esker on one graph in one order."""

    def __init__(self, arguments, graph, order):
        self.arguments, self.graph = arguments, graph
        self.label = f"{graph.name}, {order}"
        kept = "degree" if order == "degree" else "keep"
        self.database, seconds = graph.database(kept, graph.plain)
        self.weighted, _ = graph.database(kept, graph.weighted)
        self.cells = {}
        imported = "" if seconds is None else f", imported in {seconds:.2f} s"
        print(f"{self.label}{imported}", flush=True)

    def gap(self, program, weighted, *options):
        file = self.graph.weighted if weighted else self.graph.plain
        text = output([Path(self.arguments.gap) / program, "-f", file, "-n", "1", *options], self.arguments.threads)
        return float(re.search(r"Trial Time:\s+([0-9.]+)", text)[1])

    def esker(self, algorithm, weighted, *options):
        database = self.weighted if weighted else self.database
        command = [self.arguments.esker, "run", algorithm, database, "--json", "--threads", self.arguments.threads, *options]
        return json.loads(output(command, self.arguments.threads))["seconds"]

    def sources(self):
        """Vertices that reach more than half of all that have edges, drawn at random."""
        draw, found = random.Random(3), []
        vertices = self.graph.vertices(self.database)
        best = (0, "0")
        for _ in range(60):
            source = str(draw.randrange(vertices))
            command = [self.arguments.esker, "run", "bfs", self.database, "--json", "--source", source]
            reached = json.loads(output(command, self.arguments.threads))["answers"]["reached"]
            best = max(best, (reached, source))
            if reached > vertices // 4:
                found.append(source)
            if len(found) == self.arguments.trials:
                return found
        return (found or [best[1]]) * self.arguments.trials

    def cell(self, kernel, variants, own):
        """`variants`: calls of GAP for each of its ways; `own`: calls of Esker. Each list has one call a trial."""
        theirs, ours = {name: [] for name in variants}, []
        for trial, call in enumerate(own):
            for name, calls in variants.items():
                theirs[name].append(calls[trial]())
            ours.append(call())
        name, their = min(((name, statistics.median(found)) for name, found in theirs.items()), key=lambda one: one[1])
        our = statistics.median(ours)
        self.cells[kernel] = {"gap": their, "variant": name, "esker": our, "ratio": our / their}
        print(f"  {kernel:<12} GAP {their:9.4f} s  Esker {our:9.4f} s  ratio {our / their:5.2f}  {name}", flush=True)

    def run(self, kernels):
        trials = range(self.arguments.trials)
        sources = self.sources() if {"bfs", "sssp", "betweenness"} & set(kernels) else []
        if "bfs" in kernels:
            self.cell("bfs", {"": [lambda s=s: self.gap("bfs", False, "-r", s) for s in sources]},
                      [lambda s=s: self.esker("bfs", False, "--source", s) for s in sources])
        if "pagerank" in kernels:
            rounds = ["-i", str(ROUNDS), "-t", "0"]
            self.cell("pagerank", {name: [lambda name=name: self.gap(name, False, *rounds) / ROUNDS for _ in trials]
                                   for name in ("pr", "pr_spmv")},
                      [lambda: self.esker("pagerank", False, "--rounds", ROUNDS, "--tolerance", "0") / ROUNDS for _ in trials])
        if "components" in kernels:
            self.cell("components", {name: [lambda name=name: self.gap(name, False) for _ in trials] for name in ("cc", "cc_sv")},
                      [lambda: self.esker("wcc", False) for _ in trials])
        if "sssp" in kernels:
            delta = min(DELTAS, key=lambda width: self.gap("sssp", True, "-r", sources[0], "-d", width))
            self.cell("sssp", {f"delta {delta}": [lambda s=s: self.gap("sssp", True, "-r", s, "-d", delta) for s in sources]},
                      [lambda s=s: self.esker("sssp", True, "--source", s) for s in sources])
        if "betweenness" in kernels:
            self.cell("betweenness", {"": [lambda s=s: self.gap("bc", False, "-r", s, "-i", "1") for s in sources]},
                      [lambda s=s: self.esker("betweenness", False, "--source", s) for s in sources])
        if "triangles" in kernels and self.graph.kind not in DIRECTED:
            few = trials[:2]
            self.cell("triangles", {"": [lambda: self.gap("tc", False) for _ in few]},
                      [lambda: self.esker("triangles", False) for _ in few])


def table(rows, kernels):
    print("\n| graph, order | " + " | ".join(kernels) + " |\n|---|" + "---|" * len(kernels))
    for label, cells in rows:
        ratios = [f"{cells[kernel]['ratio']:.2f}" if kernel in cells else "" for kernel in kernels]
        print(f"| {label} | " + " | ".join(ratios) + " |")
    means = []
    for kernel in kernels:
        ratios = [cells[kernel]["ratio"] for _, cells in rows if kernel in cells]
        means.append(f"**{statistics.geometric_mean(ratios):.2f}**" if ratios else "")
    print("| geometric mean | " + " | ".join(means) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gap", required=True, help="folder of GAP's programs")
    parser.add_argument("--esker", default="target/release/esker")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--orders", default=",".join(ORDERS))
    parser.add_argument("--kernels", default=",".join(KERNELS[:5]), help="triangles take minutes on Kronecker graphs")
    parser.add_argument("--scale", type=int, default=19)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--data", default="target/bench", help="where graphs are kept between runs")
    parser.add_argument("--json", help="file for the seconds of all cells")
    parser.add_argument("--prepare", action="store_true", help="only make the graphs and databases")
    arguments = parser.parse_args()
    Path(arguments.data).mkdir(parents=True, exist_ok=True)
    kernels, rows = arguments.kernels.split(","), []
    for kind in arguments.kinds.split(","):
        for order in arguments.orders.split(","):
            comparison = Comparison(arguments, Graph(arguments, kind, order == "shuffled"), order)
            if not arguments.prepare:
                comparison.run(kernels)
                rows.append((comparison.label, comparison.cells))
    if rows:
        table(rows, kernels)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(dict(rows), indent=1) + "\n")


if __name__ == "__main__":
    main()
