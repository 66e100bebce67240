#!/usr/bin/env python3
"""Runs algorithms on a database inside a memory limit, cold, and reports the share of the disk's bandwidth that each used.

    sudo python3 bench/limited.py --memory 4GiB big.esker bfs:source=1 wcc kcore pagerank:iterations=1

Each run is a process of its own in a memory cgroup (which counts the page cache too), after dropping the database from the page cache.
Reports seconds of the whole command and of the algorithm alone, bytes read from the disk, the share of the command's time that reading
them takes at the disk's bandwidth (measured at the beginning, by direct reads of the largest file), and the peak of the cgroup.
Needs root, and cgroups of version 1 or 2.
"""

import argparse
import json
import mmap
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

CHUNK = 1 << 20
PAGE = 4096


def parse_bytes(text):
    for suffix, factor in (("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("", 1)):
        if text.endswith(suffix):
            return int(float(text.removesuffix(suffix)) * factor)
    raise argparse.ArgumentTypeError(f"not a size: {text}")


def read_many(path, positions, size, threads):
    """Reads `size` bytes at each position, direct, on several threads; seconds."""
    parts = [positions[i::threads] for i in range(threads)]

    def work(part):
        buffer = mmap.mmap(-1, size)
        file = os.open(path, os.O_RDONLY | os.O_DIRECT)
        for position in part:
            os.preadv(file, [buffer], position)
        os.close(file)

    begin = time.perf_counter()
    workers = [threading.Thread(target=work, args=(part,)) for part in parts]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - begin


def measure_disk(database):
    """Bytes a second in sequence, and random reads of 4 KiB a second."""
    files = [path for path in Path(database).rglob("*") if path.is_file()]
    path = max(files, key=lambda path: path.stat().st_size)
    length = path.stat().st_size // CHUNK * CHUNK
    if length == 0:
        sys.exit(f"{database} is too small to measure the disk with")
    positions = list(range(0, min(length, 4 << 30), CHUNK))
    sequential = len(positions) * CHUNK / read_many(path, positions, CHUNK, 4)
    draws = random.Random(1)
    positions = [draws.randrange(length // PAGE) * PAGE for _ in range(50_000)]
    return sequential, len(positions) / read_many(path, positions, PAGE, 32)


def drop_from_cache(database):
    for path in Path(database).rglob("*"):
        if path.is_file():
            file = os.open(path, os.O_RDONLY)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


class Cgroup:
    """A memory cgroup of its own for each run."""

    def __init__(self, limit):
        self.is_v2 = Path("/sys/fs/cgroup/cgroup.controllers").exists()
        root = Path("/sys/fs/cgroup") if self.is_v2 else Path("/sys/fs/cgroup/memory")
        self.path = root / f"limited-{os.getpid()}"
        self.limit = limit

    def __enter__(self):
        self.path.mkdir()
        (self.path / ("memory.max" if self.is_v2 else "memory.limit_in_bytes")).write_text(str(self.limit))
        return self

    def enter_from_child(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def peak(self):
        return int((self.path / ("memory.peak" if self.is_v2 else "memory.max_usage_in_bytes")).read_text())

    def __exit__(self, *_):
        for _ in range(50):
            try:
                self.path.rmdir()
                return
            except OSError:
                time.sleep(0.1)


def run(options, database, request):
    algorithm, *given = request.split(":")
    command = [options.esker, "run", algorithm, database, "--json", "--threads", str(options.threads)]
    command += ["--memory", str(options.run_memory or options.memory // 2)]
    for option in given:
        name, _, value = option.partition("=")
        command += [f"--{name}"] + ([value] if value else [])
    drop_from_cache(database)
    with Cgroup(options.memory) as cgroup:
        begin = time.perf_counter()
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=cgroup.enter_from_child
        )
        output, error = child.communicate()
        seconds = time.perf_counter() - begin
        io = child_input_bytes()
        peak = cgroup.peak()
    if child.returncode != 0:
        return {"request": request, "error": error.strip() or f"exit code {child.returncode}"}
    report = json.loads(output)
    return {
        "request": request,
        "seconds": seconds,
        "kernel_seconds": report["seconds"],
        "rounds": report.get("rounds"),
        "bytes_read": io,
        "peak_bytes": peak,
        "answers": report.get("answers"),
    }


_read_before = 0


def child_input_bytes():
    """Bytes that children read from disks since the last call."""
    global _read_before
    import resource

    now = resource.getrusage(resource.RUSAGE_CHILDREN).ru_inblock * 512
    read, _read_before = now - _read_before, now
    return read


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database")
    parser.add_argument("requests", nargs="+", metavar="ALGORITHM[:OPTION=VALUE]...")
    parser.add_argument("--memory", type=parse_bytes, default=4 << 30, help="limit of the cgroup")
    parser.add_argument("--run-memory", type=parse_bytes, help="--memory of the runs [default: half of the limit]")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--esker", default="target/release/esker")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sequential, random_reads = measure_disk(options.database)
    results = [run(options, options.database, request) for request in options.requests]
    if options.json:
        print(json.dumps({"bytes_a_second": sequential, "reads_a_second": random_reads, "runs": results}, indent=2))
        return
    print(f"disk: {sequential / 1e9:.2f} GB/s in sequence, {random_reads:,.0f} random reads of 4 KiB a second")
    print("| run | command, s | algorithm, s | rounds | read, GB | of the time that reading takes at full speed | peak, GB |")
    print("|---|---|---|---|---|---|---|")
    for result in results:
        if "error" in result:
            print(f"| {result['request']} | failed: {result['error'].splitlines()[-1]} | | | | | |")
            continue
        share = result["seconds"] * sequential / max(result["bytes_read"], 1)
        print(
            f"| {result['request']} | {result['seconds']:.1f} | {result['kernel_seconds']:.1f} | {result['rounds']} "
            f"| {result['bytes_read'] / 1e9:.2f} | {share:.1f} times | {result['peak_bytes'] / 1e9:.2f} |"
        )
    for result in results:
        if result.get("answers"):
            print(f"{result['request']}: {result['answers']}")


if __name__ == "__main__":
    main()
