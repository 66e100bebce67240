#!/usr/bin/env python3
"""Asks requests of random databases through the command `esker`, and compares the answers with an oracle in Python.

Databases are drawn without repetition from all combinations of `worlds.AXES`, in an order that the seed decides, and so are the requests on each.
Every request is one line of the log. A run goes on where the log ends. Usage:

    matrix.py --esker target/release/esker --state DIR [--seed N] [--minutes M] [--requests N] [--worlds N]
    matrix.py --state DIR --report
"""

import argparse
import csv
import json
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import datetime
from pathlib import Path

import refusals
import views
import worlds
from oracle import CHECKS, Answer, Wrong, expect_fact
from questions import question

FIGURES = {"triangles", "cliques"}  # Have no rows.
STRIDE = 611_953  # Has no factor in common with the number of worlds.


def numbers(seed, only):
    """Numbers of worlds, each once."""
    first = random.Random(seed).randrange(worlds.COUNT)
    for i in range(worlds.COUNT):
        number = (first + i * STRIDE) % worlds.COUNT
        axes = worlds.axes_of(number)
        if worlds.is_possible(axes) and all(str(axes[name]) in values for name, values in only.items()):
            yield number


def run(esker, args):
    return subprocess.run([esker, *args], capture_output=True, text=True, timeout=120)


def parse(world, done, algorithm):
    """The answer of `esker run ... --output - --json`."""
    printed = done.stdout if algorithm in FIGURES else done.stderr
    report = json.loads(printed[printed.index("{"):])
    facts = report["answers"] | {f"graph {name}": report[name] for name in ("vertices", "edges") if name in report}
    lines = list(csv.reader(done.stdout.splitlines())) if algorithm not in FIGURES else []
    return answer_of(world, lines[0], lines[1:], facts) if lines else Answer(facts=facts)


def parse_tables(world, done, keys):
    """The answers of a table of several, by their first columns."""
    lines = list(csv.reader(done.stdout.splitlines()))
    tables = {}
    for row in lines[1:]:
        tables.setdefault(tuple(row[:keys]), []).append(row[keys:])
    return {key: answer_of(world, lines[0][keys:], rows, None) for key, rows in tables.items()}


def answer_of(world, header, rows, facts):
    answer = Answer(facts=facts)
    field = lambda text: text if text != "" else None
    if header[:2] == ["source", "target"]:
        answer.columns = header[2:]
        answer.edges = [
            ((world.vertex(row[0]), world.vertex(row[1])), dict(zip(answer.columns, map(field, row[2:])))) for row in rows
        ]
    elif header[0] == "vertex":
        answer.columns = header[1:]
        for row in rows:
            v = world.vertex(row[0])
            if v in answer.vertices:
                raise Wrong(f"two rows of {v}")
            answer.vertices[v] = dict(zip(answer.columns, map(field, row[1:])))
    return answer


def least_memory(text):
    """The limit that a refusal names, if it is one for lack of memory."""
    found = re.search(r"limit to at least (\d+(?:\.\d+)?) ?([KMG]iB)", text)
    return found and found.group(1) + found.group(2)


def seconds_of(time):
    """A time such as 1970-01-01T00:02:29Z."""
    return int(datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp())


def within(options, graph):
    """Options with the named vertices that a window has; `None` if it has none of those with which a search begins."""
    lists = {name: [v for v in value if v in graph.vertices] for name, value in options.items() if isinstance(value, list)}
    if not all(lists.values()):
        return None
    gone = "target" in options and options["target"] not in graph.vertices
    return {name: value for name, value in {**options, **lists}.items() if not (gone and name == "target")}


class Asked:
    """A request that was asked."""

    def __init__(self, esker, database, world, asked):
        self.world, self.asked = world, asked
        self.graph = views.graph_of(world, world.versions[asked.version], asked.view)
        self.case = refusals.Case(world, asked, self.graph)
        self.status, self.detail = self._ask(esker, database)

    def _ask(self, esker, database):
        done, tries = self._within_limit(esker, database)
        text = " ".join(done.stderr.split())
        if done.returncode < 0 or "panicked" in text:
            return "wrong", f"ended with {done.returncode}: {text[-400:]}"
        if done.returncode:
            reason = refusals.reason_of(self.case, text)
            return ("refused", f"{reason}: {text}") if reason else ("unlisted", text)
        must = refusals.must_refuse(self.case)
        if must and self.asked.door != "windows":
            return "wrong", f"ran in spite of {must}"
        if self.graph is None:
            return "right", ""
        try:
            self._compare(done)
        except Wrong as wrong:
            return "wrong", str(wrong)
        except Exception as error:  # An answer of another form than the oracle expects.
            return "wrong", f"{type(error).__name__}: {error}"
        # Of several versions, each names its own.
        return ("right", "") if tries < 3 or self.asked.door == "versions" else ("limit", "the limit that a refusal named did not suffice")

    def _within_limit(self, esker, database):
        """Runs within the least limit that refusals name, or as asked; how often it ran."""
        if self.asked.limit == "least":
            self.asked.limit = "1MiB"
        for tries in range(1, 9):
            done = run(esker, self.args(database))
            named = least_memory(done.stderr) if done.returncode else None
            if named is None or self.asked.limit is None:
                break
            self.asked.limit = named
        return done, tries

    def _compare(self, done):
        world, asked, check = self.world, self.asked, CHECKS[self.asked.algorithm]
        if asked.door == "versions":
            tables = parse_tables(world, done, 1)
            for number in range(asked.version, asked.last + 1):
                graph = views.graph_of(world, world.versions[number], asked.view)
                check(graph, asked.options, tables.get((str(number),), Answer(facts=None)), world.vertex)
        elif asked.door == "windows":
            tables = {seconds_of(key[0]): answer for key, answer in parse_tables(world, done, 2).items()}
            version = world.versions[asked.version]
            for until in views.ends_of_windows(version, asked.every):
                graph = views.graph_of(world, version, asked.view, until)
                options = within(asked.options, graph)
                if options is not None:
                    check(graph, options, tables.pop(until, Answer(facts=None)), world.vertex)
            if tables:
                raise Wrong(f"windows that there are not: {list(tables)}")
        else:
            answer = parse(world, done, asked.algorithm)
            expect_fact(answer, "graph vertices", len(self.graph.vertices))
            if "graph edges" in answer.facts:
                expect_fact(answer, "graph edges", len(self.graph.edges))
            check(self.graph, asked.options, answer, world.vertex)

    def args(self, database):
        if self.asked.door != "run":
            return self.asked.args(database) + ["--output", "-"]
        rows = [] if self.asked.algorithm in FIGURES else ["--output", "-"]
        return self.asked.args(database) + rows + ["--json"]

    def record(self, index):
        return {"index": index, "world": self.world.number, "args": self.args("g.esker"), "status": self.status, "detail": self.detail}


def sentence(text):
    """A refusal without its numbers and names."""
    return re.sub(r"\S*\.esker\S*|\d+(\.\d+)?( ?[KMG]iB)?|\bv\d+\b", "…", text)[:170]


def explore(options):
    """Goes on with the log."""
    state = Path(options.state)
    state.mkdir(parents=True, exist_ok=True)
    log = state / f"log-{options.seed}.jsonl"
    done = sum(1 for _ in log.open()) if log.exists() else 0
    end, asked = time.monotonic() + options.minutes * 60, 0
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    try:
        with log.open("a") as out:
            index = 0
            for number in numbers(options.seed, options.only):
                if index + options.per_world <= done:
                    index += options.per_world
                    continue
                if time.monotonic() > end or asked >= options.requests:
                    break
                asked += explore_world(options, number, index, done, folder, out)
                index += options.per_world
                shutil.rmtree(folder)
                folder.mkdir()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report(options)


def is_empty(world, asked):
    """Whether the view has no edges, or not the vertices that the request names: a refusal that says little."""
    graph = views.graph_of(world, world.versions[asked.version], asked.view)
    return any(refusal.applies(refusals.Case(world, asked, graph)) for refusal in refusals.REFUSALS[:2])


def explore_world(options, number, index, done, folder, out):
    world = worlds.World(number, options.seed)
    try:
        database = world.make(options.esker, folder)
    except RuntimeError as error:
        database = None
        fault = str(error)
    seen, count = set(), 0
    rng = random.Random(f"{options.seed}/{number}/requests")
    while len(seen) < options.per_world:
        asked = question(world, rng)
        key = repr(asked)
        if key in seen or is_empty(world, asked) and rng.random() < 0.9:
            continue
        seen.add(key)
        at = index + len(seen) - 1
        if at < done:
            continue
        if database is None:
            record = {"index": at, "world": number, "args": [], "status": "unmade", "detail": fault}
        else:
            found = Asked(options.esker, database, world, asked)
            record = found.record(at)
            if found.status in ("wrong", "unlisted") and options.verbose:
                print(found.status, number, shlex.join(record["args"]), found.detail[:300], flush=True)
        out.write(json.dumps(record) + "\n")
        out.flush()
        count += 1
    return count


def report(options):
    counts, reasons, unlisted, wrong = Counter(), Counter(), Counter(), []
    for log in sorted(Path(options.state).glob("log-*.jsonl")):
        for line in log.open():
            record = json.loads(line)
            counts[record["status"]] += 1
            if record["status"] == "refused":
                reasons[record["detail"].split(":")[0]] += 1
            if record["status"] in ("unlisted", "unmade"):
                unlisted[sentence(record["detail"])] += 1
            if record["status"] in ("wrong", "limit"):
                wrong.append(record)
    print(f"{sum(counts.values())} requests: {dict(counts)}")
    for reason, count in reasons.most_common():
        print(f"{count:6} refused: {reason}")
    for text, count in unlisted.most_common(60):
        print(f"{count:6} refused, not listed: {text}")
    wrong.sort(key=lambda record: record["status"] == "limit")
    for record in wrong[:options.show]:
        print(f"{record['status']}: world {record['world']}: {shlex.join(record['args'])}: {record['detail'][:300]}")


def show(options):
    """Prints how a world is made."""
    print(worlds.World(options.world, options.seed).script())


def axes_only(text):
    pairs = [part.split("=") for part in text.split(",")]
    return {name: values.split("|") for name, values in pairs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--esker", default="target/release/esker")
    parser.add_argument("--state", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--requests", type=int, default=10**9)
    parser.add_argument("--per-world", type=int, default=40)
    parser.add_argument("--world", type=int, help="print the commands that make this world")
    parser.add_argument("--only", type=axes_only, default={}, help="such worlds alone, as in 'encoding=tiles|plain,directions=no in-edges'")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if options.world is not None:
        return show(options)
    report(options) if options.report else explore(options)


if __name__ == "__main__":
    sys.exit(main())
