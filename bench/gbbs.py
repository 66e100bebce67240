#!/usr/bin/env python3
"""Compares Esker with GBBS on the eighteen problems of Sage, on the same graph, in turn, in one session.

Usage:
    python3 bench/gbbs.py --gbbs DIR --graph G.adj --weighted W.adj --bench PROGRAM [--only bfs,mis] [--trials 3]
    python3 bench/gbbs.py --gbbs DIR --graph G.adj --weighted W.adj --esker target/release/esker [--order keep] [--compressed]

DIR holds the peer's programs, already built, under the names of their sources (BFS, wBFS, KCore ...), anywhere below
it. The graphs are in the peer's text form, AdjacencyGraph and WeightedAdjacencyGraph, symmetric. Esker's side is either
the benchmark `catalogue` of esker-algo (`cargo bench -p esker-algo --bench catalogue --no-run` says where it is), which reads
the same files into arrays, or the command, which imports them into databases once and reads through the store.
With --compressed, Esker's databases hold compressed lists, and the peer reads what its `compressor` made of each graph:
`compressor -s -o G.adj.bytepda G.adj`, and for weights the same program built with generate_weighted_main.

Every trial starts the peer, then Esker. Each runs the kernel twice, and the second run counts, because pages and threads are then warm.
(The command runs it three times, and the median counts.) The table gives the median of the trials' seconds, the ratio Esker/peer, the
largest resident memory of either process, and the results that the peer prints: numbers of colours, sets and matched edges, density.
PageRank is seconds per iteration, of ten.
"""

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class Problem:
    def __init__(self, name, program, options=(), weighted=False, source=False, answer=None, found=None, rounds=1):
        self.name, self.program, self.options = name, program, list(options)
        self.weighted, self.source, self.rounds = weighted, source, rounds
        # `found` reads the peer's answer from its output; `answer` is Esker's name of the same number.
        self.answer, self.found = answer, found


def last(pattern):
    def read(text):
        numbers = re.findall(pattern, text)
        return float(numbers[-1]) if numbers else None

    return read


def members(text):
    """The peer prints how many join an independent set in each round."""
    run = text.split("### Running Time")[-2]
    return float(sum(int(size) for size in re.findall(r"## round = \d+ size = (\d+)", run)))


def half(read):
    """The peer counts both directions of an edge."""
    return lambda text: None if read(text) is None else read(text) / 2


PROBLEMS = [
    Problem("bfs", "BFS", source=True),
    Problem("wbfs", "wBFS", weighted=True, source=True),
    Problem("bellman-ford", "BellmanFord", weighted=True, source=True),
    Problem("widest", "SSWidestPath", weighted=True, source=True),
    Problem("betweenness", "SSBetweennessCentrality", source=True),
    Problem("spanner", "Spanner"),
    Problem("ldd", "LowDiameterDecomposition", ["-beta", "0.2"]),
    Problem("wcc", "Connectivity"),
    Problem("forest", "SpanningForest"),
    Problem("biconnectivity", "Biconnectivity"),
    Problem("mis", "MaximalIndependentSet", answer="size", found=members),
    Problem("matching", "MaximalMatching", answer="edges", found=last(r"matching size is: (\d+)")),
    Problem("colouring", "GraphColoring", ["-stats"], answer="colours", found=last(r"num_colors = (\d+)")),
    Problem("setcover", "ApproximateSetCover", answer="sets", found=last(r"\|cover\|: (\d+)")),
    Problem("kcore", "KCore", answer="k_max", found=last(r"k_\{max\} = (\d+)")),
    Problem("densest", "DensestSubgraph", answer="density", found=half(last(r"Subgraph is: ([0-9.e+]+)"))),
    Problem("triangles", "Triangle", answer="triangles", found=last(r"[Tt]riangles = (\d+)")),
    Problem("pagerank", "PageRank", ["-eps", "0", "-iters", "10"], rounds=10),
]


class Failed(Exception):
    pass


def output(command, arguments):
    """The output of a program, and its largest resident memory in bytes."""
    count = str(arguments.threads)
    environment = dict(os.environ, OMP_NUM_THREADS=count, PARLAY_NUM_THREADS=count)
    with tempfile.TemporaryFile() as text:
        process = subprocess.Popen(list(map(str, command)), stdout=text, stderr=text, env=environment)
        end = time.monotonic() + arguments.patience
        while True:
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            if time.monotonic() > end:
                process.kill()
                os.wait4(process.pid, 0)
                raise Failed(f"did not end in {arguments.patience} s")
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        text.seek(0)
        printed = text.read().decode(errors="replace")
    if process.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))} failed:\n{printed[-2000:]}")
    return printed, usage.ru_maxrss * 1024


def peer_trial(problem, arguments, programs):
    if problem.program not in programs:
        raise Failed("not built")
    command = [programs[problem.program], "-s", *(["-w"] if problem.weighted else []), "-rounds", "2", *problem.options]
    if problem.source:
        command += ["-src", arguments.source]
    graph = arguments.weighted if problem.weighted else arguments.graph
    command += ["-c", peer_compressed(graph)] if arguments.compressed else [graph]
    text, memory = output(command, arguments)
    seconds = [float(found) for found in re.findall(r"### Running Time: ([0-9.e+-]+)", text)]
    if not seconds:
        raise Failed("printed no running time")
    return seconds[-1] / problem.rounds, memory, problem.found and problem.found(text)


def bench_trial(problem, arguments):
    graph = arguments.weighted if problem.weighted else arguments.graph
    common = ["--graph", graph, "--only", problem.name, "--trials", 2, "--threads", arguments.threads]
    text, memory = output([arguments.bench, *common, "--source", arguments.source], arguments)
    values = dict(re.findall(r"(\w+)=(\S+)", text))
    # Of two trials the last in time is not told; the lesser stands for the warm one.
    return float(values["least_s"]), memory, problem.answer and float(values[problem.answer])


def command_trial(problem, arguments, databases):
    command = [arguments.esker, "run", problem.name, databases[problem.weighted], "--json", "--threads", arguments.threads]
    command += ["--trials", 3]
    if problem.source:
        command += ["--source", arguments.source]
    if problem.name == "pagerank":
        command += ["--rounds", "10", "--tolerance", "0"]
    text, memory = output(command, arguments)
    found = json.loads(text)
    return found["seconds"] / problem.rounds, memory, problem.answer and float(found["answers"][problem.answer])


def peer_compressed(graph):
    return Path(f"{graph}.bytepda")


def import_once(arguments):
    databases = {}
    encoding = ["--encoding", "compressed"] if arguments.compressed else []
    for weighted, graph in ((False, arguments.graph), (True, arguments.weighted)):
        if not graph:
            continue
        database = Path(f"{graph}.{arguments.order}{'.compressed' if arguments.compressed else ''}.esker")
        if not database.exists():
            output([arguments.esker, "import", graph, database, "--undirected", "--order", arguments.order, *encoding], arguments)
        databases[weighted] = database
    return databases


def say_sizes(arguments, databases):
    """Bits per arc on both sides, of all data needed to find and read the lists."""
    info = json.loads(output([arguments.esker, "info", databases[False], "--json"], arguments)[0])
    peer = peer_compressed(arguments.graph).stat().st_size * 8 / info["arcs"]
    print(f"bits an arc: GBBS {peer:.2f}, Esker {info['list_bytes_per_arc'] * 8:.2f}")


def hub(graph):
    """The vertex of the highest degree, by the offsets of the text."""
    with open(graph, encoding="ascii") as lines:
        next(lines)
        n, arcs = int(next(lines)), int(next(lines))
        offsets = [int(next(lines)) for _ in range(n)] + [arcs]
    return max(range(n), key=lambda v: offsets[v + 1] - offsets[v])


def compare(problem, arguments, programs, own_trial):
    """Runs trials in turn. Leaves out a side that fails, and prints why."""
    results, failures = {"peer": [], "esker": []}, {}
    trials = {"peer": lambda: peer_trial(problem, arguments, programs), "esker": lambda: own_trial(problem)}
    for _ in range(arguments.trials):
        for side in [side for side in trials if side not in failures]:
            try:
                results[side].append(trials[side]())
            except Failed as failure:
                failures[side] = failure
    return {side: None if side in failures else found for side, found in results.items()}, failures


def row(problem, found, failures):
    seconds = {side: statistics.median(t[0] for t in trials) if trials else None for side, trials in found.items()}
    memory = {side: max(t[1] for t in trials) / 1e6 if trials else None for side, trials in found.items()}
    answers = {side: trials[-1][2] if trials else None for side, trials in found.items()}
    ratio = seconds["esker"] / seconds["peer"] if all(seconds.values()) else None
    show = lambda number, form: "-" if number is None else format(number, form)
    answer = f"{problem.answer}: {show(answers['peer'], '.10g')} / {show(answers['esker'], '.10g')}" if problem.answer else ""
    print(
        f"{problem.name:<16}{show(seconds['peer'], '.4f'):>10}{show(seconds['esker'], '.4f'):>10}{show(ratio, '.2f'):>8}"
        f"{show(memory['peer'], '.0f'):>9}{show(memory['esker'], '.0f'):>9}  {answer}",
        *(f" [{side}: {why}]" for side, why in failures.items()),
        flush=True,
    )
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gbbs", required=True, help="folder of the peer's programs")
    parser.add_argument("--graph", required=True, help="graph as AdjacencyGraph text")
    parser.add_argument("--weighted", help="graph as WeightedAdjacencyGraph text; without it four problems are left out")
    parser.add_argument("--bench", help="the benchmark `catalogue`")
    parser.add_argument("--esker", help="the command")
    parser.add_argument("--compressed", action="store_true", help="with --esker: compressed lists on both sides")
    parser.add_argument("--order", default="auto", help="with --esker: how its import numbers the vertices [default: auto]")
    parser.add_argument("--source", type=int, help="where searches begin [default: the vertex of the highest degree]")
    parser.add_argument("--only", help="problems, separated by commas")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--patience", type=float, default=150, help="seconds that a program is given")
    arguments = parser.parse_args()
    if bool(arguments.bench) == bool(arguments.esker):
        sys.exit("either --bench or --esker says what runs on Esker's side")
    if arguments.bench and arguments.compressed:
        sys.exit("--compressed needs --esker")
    missing = [graph for graph in (arguments.graph, arguments.weighted) if graph and not peer_compressed(graph).exists()]
    if arguments.compressed and missing:
        sys.exit(f"the peer's compressor has yet to make {peer_compressed(missing[0])}")
    if arguments.source is None:
        arguments.source = hub(arguments.graph)
    programs = {path.name: path for path in Path(arguments.gbbs).rglob("*") if path.is_file() and os.access(path, os.X_OK)}
    if arguments.bench:
        own_trial = lambda problem: bench_trial(problem, arguments)
    else:
        databases = import_once(arguments)
        own_trial = lambda problem: command_trial(problem, arguments, databases)
        if arguments.compressed:
            say_sizes(arguments, databases)
    wanted = arguments.only and arguments.only.split(",")
    print(f"{'':<16}{'GBBS s':>10}{'Esker s':>10}{'ratio':>8}{'GBBS MB':>9}{'Esker MB':>9}  answers GBBS / Esker")
    ratios = []
    for problem in PROBLEMS:
        if wanted and problem.name not in wanted or problem.weighted and not arguments.weighted:
            continue
        ratio = row(problem, *compare(problem, arguments, programs, own_trial))
        ratios += [ratio] if ratio else []
    if ratios:
        mean = math.exp(statistics.mean(map(math.log, ratios)))
        print(f"geometric mean of {len(ratios)} ratios: {mean:.2f}, largest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
