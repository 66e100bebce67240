#!/usr/bin/env python3
"""Sums over edges by a key: `esker edges --group-by` beside DuckDB on Parquet of the same rows, in turn.

Usage:
    python3 bench/grouping.py --esker PROGRAM --work DIR [--edges 10000000] [--threads 2] [--trials 7]

Needs duckdb, numpy and pyarrow. The rows have two ends of a million vertices, the first of them skewed, an amount, a currency of eight
and a city of five thousand texts. Esker is timed as a whole command; DuckDB as a query of an open connection, and as a whole process
of Python. All files are in the page cache. Prints the least and the median of the trials in seconds.
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy
import pyarrow
import pyarrow.parquet

VERTICES = 1_000_000
CURRENCIES = ["EUR", "CHF", "USD", "GBP", "JPY", "SEK", "NOK", "DKK"]
CITIES = 5000


def write_rows(path: Path, edges: int) -> None:
    random = numpy.random.default_rng(1)
    cities = pyarrow.array([f"city{number}" for number in range(CITIES)])
    rows = {
        "source": (VERTICES * random.random(edges) ** 3).astype(numpy.int64),
        "target": (VERTICES * random.random(edges)).astype(numpy.int64),
        "amount": numpy.round(random.exponential(100, edges), 2),
        "currency": pyarrow.array(CURRENCIES).take(pyarrow.array(random.integers(0, len(CURRENCIES), edges))),
        "city": cities.take(pyarrow.array(random.integers(0, CITIES, edges))),
    }
    pyarrow.parquet.write_table(pyarrow.table(rows), path)


def seconds(work) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--esker", required=True)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--trials", type=int, default=7)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    rows, database = given.work / "rows.parquet", given.work / "rows.esker"
    write_rows(rows, given.edges)
    of_import = ["--duplicates", "keep", "--property", "all", "--force", "--quiet"]
    subprocess.run([given.esker, "import", rows, database, *of_import], check=True)
    connection = duckdb.connect()
    connection.execute(f"set threads = {given.threads}")
    for key in ["currency", "city", "source"]:
        query = f"select {key}, sum(amount), count(*) from '{rows}' group by {key} order by 2 desc limit 10"
        script = f"import duckdb; c = duckdb.connect(); c.execute('set threads = {given.threads}'); c.execute({query!r}).fetchall()"
        grouping = ["--group-by", key, "--sum", "amount", "--count", "--top", "10", "--threads", str(given.threads)]
        command = [given.esker, "edges", database, *grouping]
        runs = {
            "esker": lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL),
            "duckdb, a query": lambda: connection.execute(query).fetchall(),
            "duckdb, a process": lambda: subprocess.run([sys.executable, "-c", script], check=True),
        }
        connection.execute(query).fetchall()
        times = {name: [] for name in runs}
        for _ in range(given.trials):
            for name, work in runs.items():
                times[name].append(seconds(work))
        for name, taken in times.items():
            print(f"{key:9} {name:18} {min(taken):.3f} {statistics.median(taken):.3f}")


if __name__ == "__main__":
    main()
