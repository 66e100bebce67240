#!/usr/bin/env python3
"""Compares searches over heads with searches over all lists in memory, in turn.

    python3 bench/heads.py --shares 0.19,0.37 k23.esker bfs:source=1
    python3 bench/heads.py --heads 1,8,40,160 --rounds 9 k23.esker bfs:source=1 wcc

In each round, every way runs once, as a process of its own: mapped lists, all of them in the page cache, then heads of each length. So what
else the machine does meets all ways alike. Heads are given as lengths, or as shares of all lists in memory, whose lengths are looked for.

Reports the median over the rounds of the algorithm's seconds (of --trials in each process, their median); the median over the rounds of
the ratio to mapped lists in the same round; bytes of tails read in each trial. Tails are read past the page cache. `--memory` must hold
all heads.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

from residencies import request_options


def run(options, request, extra, trials):
    algorithm, given = request_options(request)
    command = [options.esker, "run", algorithm, options.database, "--json", "--threads", str(options.threads)]
    command += ["--trials", str(trials), "--memory", options.memory, *given, *extra]
    child = subprocess.run(command, capture_output=True, text=True)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)}: {child.stderr.strip().splitlines()[-1]}")
    return json.loads(child.stdout)


def headed(length):
    return ["--encoding", "lists", "--residency", "headed", "--head", str(length)]


def share_of(report):
    return report["plan"]["heads"]["share"]


def length_of(options, request, share):
    """The greatest length of heads with at most this share of all lists."""
    low, high = 0, 1
    while high < 1 << 20 and share_of(run(options, request, headed(high), 1)) <= share:
        low, high = high, high * 2
    while high - low > max(1, low // 32):
        middle = (low + high) // 2
        if share_of(run(options, request, headed(middle), 1)) <= share:
            low = middle
        else:
            high = middle
    return max(low, 1)


def measure(options, request):
    lengths = [int(length) for length in options.heads.split(",") if length]
    lengths += [length_of(options, request, float(share)) for share in options.shares.split(",") if share]
    ways = {"all lists": ["--encoding", "lists", "--residency", "mapped"]}
    ways |= {f"heads of {length}": headed(length) for length in lengths}
    seconds, ratios, reports = ({way: [] for way in ways} for _ in range(3))
    for _ in range(options.rounds):
        for way, extra in ways.items():
            report = run(options, request, extra, options.trials)
            reports[way].append(report)
            seconds[way].append(report["seconds"])
            ratios[way].append(seconds["all lists"][-1] / report["seconds"])
    print(f"\n{options.database}, {request}\n")
    print("| | share of the lists | seconds | speed of all lists | bytes read a trial, MB |")
    print("|---|---|---|---|---|")
    for way in ways:
        last = reports[way][-1]
        share = f"{share_of(last):.0%}" if last["plan"].get("heads") else "100%"
        tails = sum(read["read_bytes"] for read in last["plan"]["actual"]["reads"] if read["way"] == "tails")
        spread = f"{statistics.median(ratios[way]):.2f} ({min(ratios[way]):.2f} to {max(ratios[way]):.2f})"
        print(
            f"| {way} | {share} | {statistics.median(seconds[way]):.4f} | {spread} | {tails / options.trials / 1e6:.1f} |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database")
    parser.add_argument("requests", nargs="+", metavar="ALGORITHM[:OPTION=VALUE]...")
    parser.add_argument("--heads", default="", metavar="K,...", help="lengths of heads")
    parser.add_argument("--shares", default="", metavar="SHARE,...", help="shares of the lists, such as 0.19,0.37")
    parser.add_argument("--memory", default="4GiB", help="--memory of the runs")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--esker", default="target/release/esker")
    options = parser.parse_args()
    for request in options.requests:
        measure(options, request)


if __name__ == "__main__":
    main()
