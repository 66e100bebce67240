#!/usr/bin/env python3
"""Times single commits: batches of one edge, one after another, in one process. Usage:

    python bench/single_commits.py [--commits 100000] [--sync never] [--parts 10]
    python bench/single_commits.py --command target/release/esker --commits 2000

Prints, for each of some parts of equal length, the median milliseconds of `db.batch()` with `add_edges`, and of the commit; with
`--command`, of a whole `esker commit` for each. They must not grow with the number of commits before them."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time


def by_python(path: str, count: int, sync: str):
    """The seconds of each commit: of the batch, and of the commit itself."""
    import esker

    db = esker.create(path, sync=sync)
    with db.batch() as batch:
        batch.add_edges([0], [1])
    for number in range(count):
        begin = time.perf_counter()
        batch = db.batch()
        batch.add_edges([number % 1000], [number % 977])
        middle = time.perf_counter()
        batch.commit()
        yield middle - begin, time.perf_counter() - middle
    db.close()


def by_command(path: str, count: int, command: str):
    """The seconds of each command."""
    edges = os.path.join(os.path.dirname(path), "edge.txt")
    with open(edges, "w") as file:
        file.write("0 1\n")
    subprocess.run([command, "import", edges, path, "--directed"], check=True, capture_output=True)
    for number in range(count):
        change = f"+ {number % 1000} {number % 977}\n".encode()
        begin = time.perf_counter()
        subprocess.run([command, "commit", path], input=change, check=True, capture_output=True)
        yield 0.0, time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commits", type=int, default=100_000)
    parser.add_argument("--sync", default="never")
    parser.add_argument("--parts", type=int, default=10)
    parser.add_argument("--command")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "single.esker")
        times = by_command(path, given.commits, given.command) if given.command else by_python(path, given.commits, given.sync)
        part = max(1, given.commits // given.parts)
        kept: list[tuple[float, float]] = []
        print("commits  batch, ms  commit, ms")
        for number, one in enumerate(times, 1):
            kept.append(one)
            if len(kept) == part:
                batch, commit = (statistics.median(column) * 1000 for column in zip(*kept))
                print(f"{number:7}  {batch:9.3f}  {commit:10.3f}", flush=True)
                kept = []


if __name__ == "__main__":
    main()
