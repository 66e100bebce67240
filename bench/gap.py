#!/usr/bin/env python3
"""Compares Esker with the GAP benchmark suite, and with GBBS if it is given, on the same graphs, in one session.

Usage:
    python3 bench/gap.py --gap DIR [--gbbs DIR] [--scale 20 --scale 22] [--grid 2048] [--trials 5] [--data DIR]

DIR holds the peers' programs, already built: bfs, sssp, pr, cc, bc, tc and converter for GAP. GAP's converter makes the Kronecker
graphs (degree 16, its seed), Esker the grid; both are imported into Esker databases with default options. Every kernel runs from the
same source vertices, in turn (peer, Esker, peer, Esker ...), on the same number of threads; the table gives the median of the seconds
that each program reports for the kernel, and the ratio Esker/peer. Esker reads a mapped plain layer of the store, verified before the
clock starts, as GAP reads its file before the clock starts.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

DELTA = {"kron": "2", "grid": "2"}


def output(command, threads):
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), PARLAY_NUM_THREADS=str(threads))
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def peer_seconds(text):
    """Trial times of a GAP program."""
    return [float(found) for found in re.findall(r"Trial Time:\s+([0-9.]+)", text)]


def peer_rounds(text):
    """Number of iterations of GAP's PageRank, which prints a line `round  error` for each."""
    return len(re.findall(r"^\s*\d+\s+[0-9.e+-]+\s*$", text, re.MULTILINE))


def esker_run(esker, database, algorithm, options, threads):
    command = [esker, "run", algorithm, database, "--json", "--threads", str(threads), *options]
    return json.loads(output(command, threads))


def sources_of(esker, database, count):
    """Some vertices of the largest hub's component, evenly spread over the ids that a search from the hub reaches."""
    ranked = esker_run(esker, database, "pagerank", ["--rounds", "3", "--top", "1"], 2)
    hub = str(ranked["top"][0]["vertex"])
    reached = output([esker, "run", "bfs", database, "--source", hub, "--output", "-"], 2).splitlines()[1:]
    ids = [line.split(",")[0] for line in reached if not line.endswith(",")]
    step = max(1, len(ids) // count)
    return [hub] + ids[step // 2 :: step][: count - 1]


def compare(name, peer, esker, rows):
    """`peer` and `esker` return seconds; they are called in turn."""
    theirs, ours = [], []
    for pair in zip(peer, esker):
        theirs.append(pair[0]())
        ours.append(pair[1]())
    their, our = statistics.median(theirs), statistics.median(ours)
    rows.append((name, their, our, our / their))
    print(f"  {name:<24} peer {their:9.4f} s   esker {our:9.4f} s   ratio {our / their:6.2f}", flush=True)


def kernels(arguments, graph, weighted_graph, database, weighted_database, kind, rows):
    gap, esker, threads = Path(arguments.gap), arguments.esker, arguments.threads
    sources = sources_of(esker, database, arguments.trials)

    def peer(program, file, options):
        return lambda: statistics.mean(
            peer_seconds(output([gap / program, "-f", file, "-n", "1", *options], threads))
        )

    def own(algorithm, file, options):
        return lambda: esker_run(esker, file, algorithm, options, threads)["seconds"]

    def pagerank_peer():
        text = output([gap / "pr", "-f", graph, "-n", "1", "-l", "-i", "20", "-t", "0"], threads)
        return peer_seconds(text)[0] / 20

    def pagerank_own():
        found = esker_run(esker, database, "pagerank", ["--rounds", "20", "--tolerance", "0"], threads)
        return found["seconds"] / found["rounds"]

    trials = range(arguments.trials)
    compare("bfs", [peer("bfs", graph, ["-r", s]) for s in sources],
            [own("bfs", database, ["--source", s]) for s in sources], rows)
    compare("pagerank, an iteration", [pagerank_peer for _ in trials], [pagerank_own for _ in trials], rows)
    compare("components", [peer("cc", graph, []) for _ in trials], [own("wcc", database, []) for _ in trials], rows)
    delta = DELTA[kind]
    compare("sssp", [peer("sssp", weighted_graph, ["-r", s, "-d", delta]) for s in sources],
            [own("sssp", weighted_database, ["--source", s]) for s in sources], rows)
    if kind == "grid":
        # Numbers of shortest paths exceed 10^308 there: Esker refuses, GAP overflows to infinity.
        return
    compare("betweenness, one source", [peer("bc", graph, ["-r", s, "-i", "1"]) for s in sources],
            [own("betweenness", database, ["--source", s]) for s in sources], rows)
    if kind == "kron" and arguments.triangles:
        few = trials[: 3]
        compare("triangles", [peer("tc", graph, []) for _ in few], [own("triangles", database, []) for _ in few], rows)


def kronecker(arguments, scale, folder):
    gap = Path(arguments.gap)
    graph, weighted = folder / f"kron{scale}.sg", folder / f"kron{scale}.wsg"
    if not graph.exists():
        output([gap / "converter", "-g", str(scale), "-b", graph], arguments.threads)
    if not weighted.exists():
        output([gap / "converter", "-g", str(scale), "-w", "-b", weighted], arguments.threads)
    return graph, weighted


def grid(arguments, side, folder):
    graph, weighted = folder / f"grid{side}.sg", folder / f"grid{side}.wsg"
    common = [arguments.esker, "generate", "grid", "--rows", str(side), "--columns", str(side)]
    for file, options in ((graph, []), (weighted, ["--weights", "255"])):
        if not file.exists():
            database = folder / f"{file.name}.esker"
            output([*common, *options, database], arguments.threads)
            output([arguments.esker, "export", database, file], arguments.threads)
    return graph, weighted


def databases(arguments, graph, weighted, folder):
    made = []
    for file in (graph, weighted):
        database = folder / f"{file.name}.esker"
        if not database.exists():
            output([arguments.esker, "import", file, database], arguments.threads)
        made.append(database)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gap", required=True, help="folder of GAP's programs")
    parser.add_argument("--esker", default="target/release/esker")
    parser.add_argument("--scale", type=int, action="append", help="Kronecker scales [default: 20 and 22]")
    parser.add_argument("--grid", type=int, default=2048, help="side of the grid; 0: none")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--data", default="target/bench", help="where graphs are kept between runs")
    parser.add_argument("--triangles", action=argparse.BooleanOptionalAction, default=True)
    arguments = parser.parse_args()
    folder = Path(arguments.data)
    folder.mkdir(parents=True, exist_ok=True)
    for scale in arguments.scale or [20, 22]:
        print(f"Kronecker, scale {scale}")
        files = kronecker(arguments, scale, folder)
        kernels(arguments, *files, *databases(arguments, *files, folder), "kron", [])
    if arguments.grid:
        print(f"grid, {arguments.grid} x {arguments.grid}")
        files = grid(arguments, arguments.grid, folder)
        kernels(arguments, *files, *databases(arguments, *files, folder), "grid", [])


if __name__ == "__main__":
    main()
