#!/usr/bin/env python3
"""Runs algorithms on a database in every residency inside a memory limit, cold, and compares each with a run in memory.

    sudo python3 bench/residencies.py --memory 1GiB k24.esker bfs:source=1 wcc pagerank:rounds=3:tolerance=0
    sudo python3 bench/residencies.py --memory 6GiB --heads 1,2,4,8,16,32,64,128,256 --only headed k24.esker bfs:source=1

Each run is a process of its own in a memory cgroup, after dropping the database from the page cache. The database should have plain lists
and tiles (`esker compact --encoding tiles`); residencies that it cannot provide are left out (compressed lists have no heads, but
`parts`). `whole`, the reference, is mapped lists without a limit and with a warm page cache. `planned` is the command's own choice.

Reports the encoding and residency; seconds of the algorithm (the median of --trials) and of the whole command; edges per second, and
their share of `whole`; bytes read from the disk in each trial, including opening (opening with heads reads all lists once: the next
column is without that); the peak of resident memory where it exceeds the limit.
Needs root, and cgroups of version 1 or 2; see limited.py.
"""

import argparse
import json
import os
import subprocess
import sys
import time

from limited import Cgroup, drop_from_cache, measure_disk, parse_bytes

RESIDENCIES = {
    "mapped": ["--encoding", "lists", "--residency", "mapped"],
    "tiles": ["--encoding", "tiles", "--residency", "mapped"],
    "pooled": ["--encoding", "tiles", "--residency", "pooled"],
    "headed": ["--residency", "headed"],
    "parts": ["--encoding", "lists", "--residency", "pooled"],
    "planned": [],
}


def request_options(request):
    """`bfs:source=1` as the arguments of `esker run`."""
    algorithm, *given = request.split(":")
    options = []
    for option in given:
        name, _, value = option.partition("=")
        options += [f"--{name}"] + ([value] if value else [])
    return algorithm, options


def measure(options, request, extra, limit):
    """One run of the command; in a cgroup if there is a limit."""
    algorithm, given = request_options(request)
    command = [options.esker, "run", algorithm, options.database, "--json", "--threads", str(options.threads)]
    command += ["--trials", str(options.trials), *given, *extra]
    if limit is None:
        return finish(command, None)
    command += ["--memory", str(options.run_memory or int(limit * 0.9))]
    drop_from_cache(options.database)
    with Cgroup(limit) as cgroup:
        return finish(command, cgroup)


def finish(command, cgroup):
    begin = time.perf_counter()
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=cgroup.enter_from_child if cgroup else None,
    )
    output, error = child.communicate()
    if child.returncode != 0:
        return {"error": (error.strip() or f"exit code {child.returncode}").splitlines()[-1]}
    report = json.loads(output)
    report["command_seconds"] = time.perf_counter() - begin
    return report


def row(name, report, whole, trials):
    if "error" in report:
        return f"| {name} | {report['error']} | | | | | | | |"
    plan = report["plan"]
    heads = plan.get("heads")
    kept = f"{plan['encoding']}, {plan['residency']}" + (f", first {heads['length']}: {heads['share']:.0%}" if heads else "")
    read = report["bytes_read"] / trials
    lists = next(one["graph_bytes"] for one in plan["candidates"] if one["residency"] == "headed")
    beyond = f"{max(read - lists, 0) / 1e9:.2f}" if heads else ""
    rate = report["edges_per_second"]
    over = (report["peak_memory_bytes"] - plan["memory_limit_bytes"]) / (1 << 20)
    return (
        f"| {name} | {kept} | {report['seconds']:.3f} | {report['command_seconds']:.1f} | {rate / 1e6:.0f} "
        f"| {rate / whole:.2f} | {read / 1e9:.2f} | {beyond} "
        f"| {report['peak_memory_bytes'] / (1 << 20):.0f}{f', {over:.0f} over' if over > 0 else ''} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database")
    parser.add_argument("requests", nargs="+", metavar="ALGORITHM[:OPTION=VALUE]...")
    parser.add_argument("--memory", type=parse_bytes, default=4 << 30, help="limit of the cgroup")
    parser.add_argument("--run-memory", type=parse_bytes, help="--memory of the runs [default: nine tenths of the limit]")
    parser.add_argument("--heads", default="", metavar="K,...", help="a run with heads for each of these; else as many as fit")
    parser.add_argument("--only", help="of " + ", ".join(RESIDENCIES) + ", separated by commas")
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--esker", default="target/release/esker")
    parser.add_argument("--json", action="store_true", help="the reports as they are, a line each")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(RESIDENCIES)
    unknown = [name for name in chosen if name not in RESIDENCIES]
    if unknown:
        sys.exit(f"no residency is called {unknown[0]}: there are {', '.join(RESIDENCIES)}")
    if not options.json:
        sequential, random_reads = measure_disk(options.database)
        print(f"disk: {sequential / 1e9:.2f} GB/s in sequence, {random_reads:,.0f} random reads of 4 KiB a second")
        print(f"limit of the cgroup: {options.memory / (1 << 20):.0f} MiB")
    for request in options.requests:
        warm = measure(options, request, RESIDENCIES["mapped"], None)
        reports = [("whole", measure(options, request, RESIDENCIES["mapped"], None) if "error" not in warm else warm)]
        for name in chosen:
            heads = options.heads.split(",") if name == "headed" and options.heads else [None]
            for head in heads:
                extra = RESIDENCIES[name] + (["--head", head] if head else [])
                reports.append((name, measure(options, request, extra, options.memory)))
        if options.json:
            for name, report in reports:
                print(json.dumps({"request": request, "residency": name, **report}))
            continue
        whole = reports[0][1].get("edges_per_second", float("nan"))
        print(f"\n{request}\n")
        print("| | reads | algorithm, s | command, s | M edges/s | of whole | read, GB | after opening, GB | peak, MiB |")
        print("|---|---|---|---|---|---|---|---|---|")
        for name, report in reports:
            print(row(name, report, whole, options.trials if name != "whole" else 1), flush=True)


if __name__ == "__main__":
    main()
