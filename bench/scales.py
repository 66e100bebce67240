#!/usr/bin/env python3
"""Time and memory an arc over scales and threads, and the cost of a second program beside a run.

Usage:
    python3 bench/scales.py [--families kron,uniform] [--scales 16,18,20,22] [--threads 1,2] [--trials 5] [--work DIR] [--json FILE]
    python3 bench/scales.py --beside [--families kron,grid] [--scales 18] [--trials 5] [--work DIR]

The graphs have weights 1 to 255 and 16 edges a vertex (a grid: two). The first table has nanoseconds an arc of each kernel (of PageRank: a
round), medians of the seconds that runs report, on as many threads as its rows say; bytes an arc that the mapped lists take; and bytes a
vertex that the arrays of the kernel take, as a run reserves them before it begins. Searches start from a vertex that reaches most others.

With --beside, each kernel runs alone; beside a second run of the same kernel; beside two programs that only compute; and beside these at a
low priority (`nice -n 19`), of the run in one column and of the programs in the other. Cells are ratios to the time alone. All are of one
session: Linux shares processors by session first (`autogroup`), and there a priority counts only within a session.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

KERNELS = {
    "bfs": ["--source", "SOURCE"],
    "pagerank": ["--rounds", "10", "--tolerance", "0"],
    "wcc": [],
    "sssp": ["--source", "SOURCE"],
    "kcore": [],
}
ROUNDS = {"pagerank": 10}
SPIN = [sys.executable, "-c", "while True: pass"]


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


class Graph:
    def __init__(self, arguments, family, scale):
        self.program, self.name = arguments.esker, f"{family} {scale}"
        self.path = Path(arguments.work) / f"{family}{scale}.esker"
        if not self.path.exists():
            side = 1 << scale // 2
            sizes = {
                "grid": ["--rows", side, "--columns", side],
                "uniform": ["--vertices", 1 << scale, "--edges", 16 << scale],
            }.get(family, ["--scale", scale])
            call(self.program, "generate", family, *sizes, "--undirected", "--weights", 255, self.path)
        info = json.loads(call(self.program, "info", self.path, "--json"))
        self.vertices, self.arcs = info["vertices"], 2 * info["edges"]
        self.source = next(v for v in range(self.vertices) if self.reached(v) > self.vertices // 4)

    def reached(self, source):
        found = json.loads(call(self.program, "run", "bfs", self.path, "--json", "--source", source))
        return found["answers"]["reached"]

    def command(self, kernel, threads):
        options = [self.source if option == "SOURCE" else option for option in KERNELS[kernel]]
        words = [self.program, "run", kernel, self.path, "--json", "--threads", threads, *options]
        return [str(word) for word in words]

    def run(self, kernel, threads, *prefix):
        """Seconds (of a round, where the number of rounds is given), bytes of the lists, and bytes of the kernel's arrays."""
        found = json.loads(call(*prefix, *self.command(kernel, threads)))
        plan = found["plan"]
        return found["seconds"] / ROUNDS.get(kernel, 1), plan["candidates"][0]["graph_bytes"], plan["arrays_bytes"]


def scales(arguments, families, sizes, kernels):
    found = {}
    for family in families:
        head = [f"{kernel}, ns an arc" for kernel in kernels]
        print(f"\n| {family}, threads | " + " | ".join(head) + " | lists, bytes an arc | " +
              " | ".join(f"{kernel}, bytes a vertex" for kernel in kernels) + " |\n|---" + "|---" * (2 * len(kernels) + 1) + "|")
        for scale in sizes:
            graph = Graph(arguments, family, scale)
            for threads in map(int, arguments.threads.split(",")):
                rows = {kernel: [graph.run(kernel, threads) for _ in range(arguments.trials)] for kernel in kernels}
                seconds = {kernel: statistics.median(row[0] for row in rows[kernel]) for kernel in kernels}
                list_bytes = rows[kernels[0]][0][1]
                arrays = {kernel: rows[kernel][0][2] for kernel in kernels}
                found[f"{family} {scale} {threads}"] = {"seconds": seconds, "lists": list_bytes, "arrays": arrays, "arcs": graph.arcs,
                                                        "vertices": graph.vertices}
                print(f"| {scale}, {threads} | " + " | ".join(f"{seconds[kernel] / graph.arcs * 1e9:.2f}" for kernel in kernels) +
                      f" | {list_bytes / graph.arcs:.2f} | " +
                      " | ".join(f"{arrays[kernel] / graph.vertices:.0f}" for kernel in kernels) + " |", flush=True)
    return found


@contextlib.contextmanager
def beside(commands, again):
    """Keeps the commands running, begun again when they end where `again` says so."""
    script = "while true; do \"$@\" > /dev/null 2>&1; done"
    words = [["sh", "-c", script, "sh", *command] if again else command for command in commands]
    running = [subprocess.Popen(command, preexec_fn=os.setpgrp) for command in words]
    try:
        yield
    finally:
        for process in running:
            os.killpg(process.pid, 9)
            process.wait()


def beside_others(arguments, families, sizes, kernels):
    found, threads = {}, os.cpu_count()
    print("\n| graph, kernel | alone, ms | a second run | two programs | two programs, the run nice | two programs, these nice |\n"
          "|---|---|---|---|---|---|")
    nice = ["nice", "-n", "19"]
    for family in families:
        for scale in sizes:
            graph = Graph(arguments, family, scale)
            for kernel in kernels:
                ways = {
                    "alone": ([], (), False),
                    "second": ([graph.command(kernel, threads)], (), True),
                    "programs": ([SPIN] * threads, (), False),
                    "nice run": ([SPIN] * threads, nice, False),
                    "nice programs": ([nice + SPIN] * threads, (), False),
                }
                taken = {}
                for way, (others, prefix, again) in ways.items():
                    with beside(others, again):
                        taken[way] = statistics.median(graph.run(kernel, threads, *prefix)[0] for _ in range(arguments.trials))
                found[f"{graph.name} {kernel}"] = taken
                ratios = [f"{taken[way] / taken['alone']:.2f}" for way in list(ways)[1:]]
                print(f"| {graph.name}, {kernel} | {taken['alone'] * 1000:.1f} | " + " | ".join(ratios) + " |", flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--esker", default="target/release/esker")
    parser.add_argument("--families", default="kron,uniform", help="of `esker generate`")
    parser.add_argument("--scales", default="16,18,20,22")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--kernels", default=",".join(KERNELS))
    parser.add_argument("--beside", action="store_true", help="what other programs cost a run")
    parser.add_argument("--prepare", action="store_true", help="only make the graphs")
    parser.add_argument("--work", default="target/bench/scales", help="where graphs are kept between runs")
    parser.add_argument("--json", help="file for all measurements")
    arguments = parser.parse_args()
    Path(arguments.work).mkdir(parents=True, exist_ok=True)
    families, kernels = arguments.families.split(","), arguments.kernels.split(",")
    sizes = [int(scale) for scale in arguments.scales.split(",")]
    if arguments.prepare:
        for family in families:
            for scale in sizes:
                Graph(arguments, family, scale)
        return
    measure = beside_others if arguments.beside else scales
    found = measure(arguments, families, sizes, kernels)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
