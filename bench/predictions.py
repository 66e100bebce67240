#!/usr/bin/env python3
"""Compares the times and bytes that plans predict with those that runs take, over the catalogue, encodings and residencies.

    python3 bench/predictions.py k18.esker u18.esker layers.esker k21.esker
    python3 bench/predictions.py --only pagerank,bfs --access lists/mapped,tiles/pooled --rows rows.jsonl k21.esker

Each run is a process of its own: `esker run ALGORITHM DATABASE --encoding E --residency R --json`. Databases should be in the page
cache, as after a first run; with --cold they are dropped from it before each run. Pooled and headed runs get a limit half way between
the least and what would hold the whole graph. What a database or an algorithm does not allow is left out, and counted.

Reports, for each algorithm and in all, how many predictions of time are within a factor (1.5) of the actual time, and likewise for bytes
from the disk; differences below 10 ms and 4 MiB count as within. Times are of whole runs; with --kernels of the algorithm alone, with its
reading while it computes, as in the table of docs/decisions/predicted-times.md. Run `esker doctor --renew` before.
"""

import argparse
import collections
import json
import math
import statistics
import subprocess

# Algorithms with the options that they need; SOURCE is --source.
ALGORITHMS = {
    "bfs": "--source SOURCE",
    "sssp": "--source SOURCE",
    "wbfs": "--source SOURCE",
    "bellman-ford": "--source SOURCE",
    "widest": "--source SOURCE",
    "betweenness": "--source SOURCE",
    "closeness": "--samples 16",
    "harmonic": "--samples 16",
    "eccentricity": "",
    "eigenvector": "",
    "katz": "",
    "hits": "",
    "order": "",
    "cycle": "",
    "similarity": "--source SOURCE",
    "flow": "--source SOURCE --target SOURCE",
    "pagerank": "",
    "wcc": "",
    "scc": "",
    "cdlp": "",
    "leiden": "",
    "louvain": "",
    "quality": "",
    "triangles": "",
    "lcc": "",
    "degrees": "",
    "strength": "",
    "reciprocity": "",
    "assortativity": "",
    "kcore": "",
    "densest": "",
    "cliques": "",
    "truss": "",
    "mis": "",
    "colouring": "",
    "matching": "",
    "setcover": "",
    "forest": "",
    "msf": "",
    "spanner": "",
    "ldd": "",
    "biconnectivity": "",
}

ACCESSES = ["lists/mapped", "lists/memory", "lists/pooled", "lists/headed", "tiles/mapped", "tiles/pooled"]
LEAST_SECONDS = 0.010
LEAST_BYTES = 4 << 20


def esker(options, *arguments):
    """The report of a command, or its error."""
    try:
        child = subprocess.run(
            [options.esker, *arguments, "--json"], capture_output=True, text=True, timeout=options.timeout
        )
    except subprocess.TimeoutExpired:
        return None, "timeout"
    if child.returncode != 0:
        return None, (child.stderr.strip() or f"exit code {child.returncode}").splitlines()[-1]
    return json.loads(child.stdout), None


def limit_of(options, algorithm, given, database, encoding, residency):
    """A limit that holds half of what the graph could take, or none."""
    if residency not in ("pooled", "headed"):
        return []
    report, error = esker(options, "estimate", algorithm, database, *given, "--encoding", encoding, "--residency", residency)
    if error or not report["plan"]:
        return None
    for one in report["plan"]["candidates"]:
        if (one["encoding"], one["residency"]) == (encoding, residency):
            return ["--memory", str((one["least_memory_bytes"] + one["whole_memory_bytes"]) // 2)]
    return None


def measure(options, database, algorithm, access):
    """A row of what was predicted and what it took, or why there is none."""
    encoding, residency = access.split("/")
    given = ALGORITHMS[algorithm].replace("SOURCE", options.source).split()
    limit = limit_of(options, algorithm, given, database, encoding, residency)
    if limit is None:
        return None, "no plan"
    arguments = ["run", algorithm, database, *given, "--encoding", encoding, "--residency", residency, *limit]
    best = None
    for _ in range(options.trials):
        if options.cold:
            from limited import drop_from_cache

            drop_from_cache(database)
        report, error = esker(options, *arguments)
        if error:
            return None, error
        actual = report["plan"]["actual"]
        taken = actual.get("seconds", report["seconds"])
        if best is None or taken < best["seconds"]:
            read = sum(one["read_bytes"] for one in actual["reads"])
            best = {
                "database": database,
                "algorithm": algorithm,
                "access": access,
                "vertices": report["vertices"],
                "edges": report["edges"],
                "rounds": report["rounds"],
                "kernel": report["seconds"],
                "seconds": taken,
                "predicted": actual.get("predicted_seconds"),
                "predicted_kernel": sum(report["plan"]["predicted"][f"{part}_seconds"] for part in ("reading", "computing")),
                "parts": actual.get("parts"),
                "bytes": actual.get("disk_bytes", read),
                "predicted_bytes": actual.get("predicted_disk_bytes"),
                "reads": actual["reads"],
            }
    return best, None


def within(predicted, actual, least, factor):
    """Whether a prediction is good, or both are too little to matter."""
    if abs(predicted - actual) < least:
        return True
    return 0 < predicted and 1 / factor <= actual / predicted <= factor


def show(title, rows, factor):
    """One line of a table."""
    times = [within(row["predicted"], row["seconds"], LEAST_SECONDS, factor) for row in rows]
    strict = [within(row["predicted"], row["seconds"], 0, factor) for row in rows]
    sizes = [within(row["predicted_bytes"], row["bytes"], LEAST_BYTES, factor) for row in rows]
    ratios = [row["seconds"] / row["predicted"] for row in rows]
    middle = math.exp(statistics.median(math.log(ratio) for ratio in ratios))
    worst = max(ratios, key=lambda ratio: abs(math.log(ratio)))
    print(
        f"| {title} | {len(rows)} | {sum(times)} | {sum(strict)} | {sum(sizes)} | {middle:.2f} | {worst:.2f} |", flush=True
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("databases", nargs="*")
    parser.add_argument("--esker", default="target/release/esker")
    parser.add_argument("--only", help="algorithms, separated by commas")
    parser.add_argument("--access", help="encodings and residencies, as lists/mapped, separated by commas")
    parser.add_argument("--source", default="5", help="id of the vertex where searches start")
    parser.add_argument("--trials", type=int, default=2, help="runs of each, of which the fastest counts")
    parser.add_argument("--timeout", type=float, default=60, help="seconds after which a run is left out")
    parser.add_argument("--cold", action="store_true", help="drop the database from the page cache before each run; needs root")
    parser.add_argument("--factor", type=float, default=1.5)
    parser.add_argument("--rows", help="file to append the rows to; given without databases: to report of")
    parser.add_argument("--kernels", action="store_true", help="compare times of the algorithm alone, with its reading")
    options = parser.parse_args()
    algorithms = options.only.split(",") if options.only else list(ALGORITHMS)
    accesses = options.access.split(",") if options.access else ACCESSES
    rows, left_out = [], collections.Counter()
    if not options.databases:
        with open(options.rows, encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
    for database in options.databases:
        for algorithm in algorithms:
            for access in accesses:
                row, error = measure(options, database, algorithm, access)
                if row is None:
                    left_out[error] += 1
                    continue
                rows.append(row)
                if options.rows:
                    with open(options.rows, "a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
    if options.kernels:
        rows = [{**row, "seconds": row["kernel"], "predicted": row.get("predicted_kernel")} for row in rows]
    known = [row for row in rows if row["predicted"]]
    print("| | runs | time within | of these by ratio alone | bytes within | actual / predicted: median | worst |")
    print("|---|---|---|---|---|---|---|")
    for key in ("algorithm", "access", "database"):
        for value in sorted({row[key] for row in known}):
            show(value, [row for row in known if row[key] == value], options.factor)
    if known:
        show("**all**", known, options.factor)
    for error, count in left_out.most_common():
        print(f"left out: {count} x {error}")


if __name__ == "__main__":
    main()
