#!/usr/bin/env python3
"""What a step of a stream costs, from the arrival of its edges to PageRank on the window, in turn with a peer if one is given.

Usage:
    python3 bench/windows_peers.py --work DIR [--scale 20] [--step 1000000] [--window 10] [--steps 14] [--copies all] [--repeated 0.5]
    python3 bench/windows_peers.py --work DIR --peer PROGRAM

The directed edges of a Kronecker graph come in a random order, which is their time; with --repeated, each edge is with that
probability a copy of one of the former window. `esker stream` takes a step of CSV lines from a pipe and commits it, synced;
`esker follow` answers with ten rounds of PageRank on the window of so many steps. The clock runs from the first byte handed to the one
until the rows of the other are read; then the next step comes. Memory is the peak of each process, and what of it is not pages of files.

--peer names a program that is called with FILE STEP WINDOW STEPS ROUNDS: a file of pairs of 32-bit integers, and the counts.
It prints a line with names of columns, then a line for each step: `step advance pagerank whole peak_mib`, times in seconds.
Figures are the least and the median over the steps with a full window, of all turns.
"""

import argparse
import array
import json
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

ROUNDS = 10
TOP = 10
HEADER = b"from,to,time\n"


def text(*words):
    return [str(word) for word in words]


def edges_of(esker, work, options):
    """The pairs of the stream, in their order."""
    count = options.step * options.steps
    graph = work / "graph.el"
    degree = -(-count // (1 << options.scale))
    subprocess.run(text(esker, "generate", "kron", graph, "--scale", options.scale, "--degree", degree, "--force", "-q"),
                   check=True, stdout=subprocess.DEVNULL)
    draw = random.Random(options.seed)
    with open(graph, "rb") as lines:
        pairs = [line.split() for line in lines]
    draw.shuffle(pairs)
    if not options.repeated:
        return pairs[:count]
    found, fresh = [], iter(pairs)
    former = (options.window - 1) * options.step
    for place in range(count):
        begin = place - place % options.step
        if begin and draw.random() < options.repeated:
            found.append(found[draw.randrange(max(0, begin - former), begin)])
        else:
            found.append(next(fresh))
    return found


def write(work, pairs):
    """The same edges as CSV with times, and as pairs of 32-bit integers."""
    with open(work / "edges.csv", "wb") as file:
        file.write(HEADER)
        file.writelines(b"%s,%s,%d\n" % (*pair, place) for place, pair in enumerate(pairs))
    with open(work / "edges.bin", "wb") as file:
        array.array("I", (int(end) for pair in pairs for end in pair)).tofile(file)


def peak_mib(process):
    """Peak of a process, and its memory now that is not pages of files."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return [int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1024 for name in ("VmHWM", "RssAnon")]


def rows_of(follow, version):
    """The rows of a version; earlier ones are passed over."""
    found = []
    while len(found) < TOP:
        line = follow.stdout.readline()
        if not line:
            sys.exit("`esker follow` ended")
        row = json.loads(line)
        if row["version"] == version:
            found.append(row)
    return found


def turn(esker, work, options):
    """Seconds of each whole step but the first, and the peaks of both processes."""
    database, first = work / "stream.esker", work / "first.csv"
    shutil.rmtree(database, ignore_errors=True)
    with open(work / "edges.csv", "rb") as lines:
        next(lines)
        steps = [b"".join(islice(lines, options.step)) for _ in range(options.steps)]
    first.write_bytes(HEADER + steps[0])
    subprocess.run(text(esker, "import", first, database, "--directed", "--duplicates", "keep", "--time", "time",
                        "--event-time", "1970-01-01", "-q"), check=True, stdout=subprocess.DEVNULL)
    stream = subprocess.Popen(text(esker, "stream", database, "-", "--commit-every", options.step, "--format", "csv", "-q"),
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    length = options.window * options.step
    follow = subprocess.Popen(text(esker, "follow", "pagerank", database, "--window", length, "--copies", options.copies, "-q",
                                   "-p", f"rounds={ROUNDS}", "-p", "tolerance=0", "--top", TOP, "--format", "jsonl"),
                              stdout=subprocess.PIPE, text=True)
    try:
        rows_of(follow, 1)
        stream.stdin.write(HEADER)
        found, peaks = [], [[0, 0], [0, 0]]
        for version, step in enumerate(steps[1:], 2):
            begin = time.monotonic()
            stream.stdin.write(step)
            stream.stdin.flush()
            rows_of(follow, version)
            found.append(time.monotonic() - begin)
            peaks = [list(map(max, peak, peak_mib(process))) for peak, process in zip(peaks, (stream, follow))]
        stream.stdin.close()
        stream.wait()
    finally:
        for process in (stream, follow):
            process.terminate()
            process.wait()
    return found, peaks


def turn_of_peer(program, work, options):
    """The columns of a peer, by name."""
    words = text(program, work / "edges.bin", options.step, options.window, options.steps, ROUNDS)
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [map(float, line.split()) for line in lines[1:]]
    return dict(zip(lines[0].split(), map(list, zip(*rows))))


def figures(values):
    return f"{min(values):.2f}, {statistics.median(values):.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--esker", default="esker")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--peer")
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--step", type=int, default=1_000_000)
    parser.add_argument("--window", type=int, default=10)
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--copies", choices=("all", "distinct", "weighted"), default="all")
    parser.add_argument("--repeated", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    if options.steps < options.window or options.window < 2:
        parser.error("a window of at least two steps, and at least as many steps")
    options.work.mkdir(parents=True, exist_ok=True)
    write(options.work, edges_of(options.esker, options.work, options))
    ours, peaks, theirs = [], [[0, 0], [0, 0]], {}
    for _ in range(options.turns):
        whole, peak = turn(options.esker, options.work, options)
        ours += whole[options.window - 2:]
        peaks = [list(map(max, *pair)) for pair in zip(peaks, peak)]
        if options.peer:
            for name, column in turn_of_peer(options.peer, options.work, options).items():
                theirs.setdefault(name, []).extend(column[options.window - 1:])
    print("| | whole step, s | advancing, s | PageRank, s | peak, MiB |\n|---|---|---|---|---|")
    (stream, own), (follow, owned) = peaks
    print(f"| Esker | {figures(ours)} | | | stream {stream:.0f} ({own:.0f} its own), follow {follow:.0f} ({owned:.0f}) |")
    if theirs:
        columns = " | ".join(figures(theirs[name]) for name in ("whole", "advance", "pagerank"))
        print(f"| peer | {columns} | {max(theirs['peak_mib']):.0f} |")


if __name__ == "__main__":
    main()
