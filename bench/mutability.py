#!/usr/bin/env python3
"""The cost of mutability: compares a graph in layers with the same graph imported whole, and with LLAMA if it is given.

Usage:
    python3 bench/mutability.py --input EDGES [--directed] --work DIR [--layers 1 10 200] [--llama DIR]
    python3 bench/mutability.py --generate kron --scale 22 --work DIR

The edges, each once, are split as LLAMA's authors do (P. Macko, PhD thesis, Harvard 2015, sections 4.9.1 and 6.3): a
random 80 % is the base, and each other edge falls into one of K parts, uniformly at random. The script imports the base (version
1), adds each part in one commit and freezes it into its own layer, without merging: K + 1 layers and versions. Then
BFS from the vertex of highest degree and ten iterations of PageRank run on the newest version, in turn with the graph
imported whole (and LLAMA); then `compact`, and the newest version again. Before and after, some older versions are compared
with databases of exactly their edges.

The same as in the thesis: the split, K (1, 5, 10, 50, 100, 200), the root, ten iterations, all threads; only additions.
Different: (1) LLAMA's snapshots are made by its bulk loader, one file each, in one process, each synced; here each part
goes through log, delta and freeze, is a durable version of its own, and `load` holds one process for each part. (2) The
thesis compares with LLAMA in one snapshot or a bare CSR in the same program; here `whole` is a database of one layer.
(3) The thesis has a plain queue BFS and PageRank in float; Esker's BFS turns direction, its PageRank has doubles.
LLAMA's programs pull over in-edges, a second copy of the graph even if it is symmetric: both of its sizes are given.
(4) LLAMA numbers vertices as the file does; Esker as `import` decides, and vertices that the base lacks come last.
(5) Figures are medians of runs in turn, not means of five; times of algorithms are those that the programs report.

--llama names a folder of LLAMA's benchmark programs, one a task: bfs_count-persistent and pagerank-persistent (its
defaults: explicit linking, copy-on-write vertex table). They load the same parts: X-Stream binaries if files that end
in .dat, both ends of an undirected edge written, lie beside the text (--splits), else the text.
--splits names a folder that holds the splits already: full.el, base.el, k10/001.el ... and info.txt with `root=`;
--suffix names another ending of these that Esker is to read, such as `packed` (Graph500's binary) beside LLAMA's .dat.
"""

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

BASE_SHARE = 0.8
ITERATIONS = 10
MIB = 1 << 20


def output(command, limit_s=None, **environment):
    """Standard output, and seconds of the whole process. Output is None beyond the time limit."""
    begin = time.monotonic()
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=limit_s,
                              env=dict(os.environ, **environment))
    except subprocess.TimeoutExpired:
        return None, limit_s
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout, time.monotonic() - begin


def mebibytes(folder):
    return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()) / MIB


class Esker:
    """The command and its verbs: the only place that spells them."""

    def __init__(self, program, threads, directed):
        self.program, self.threads = program, threads
        self.direction = "--directed" if directed else "--undirected"

    def call(self, *words):
        return output([self.program, *words])

    def create(self, files, database):
        """Seconds of importing the files together into a new database."""
        return self.call("import", *files, database, self.direction, "--force")[1]

    def add(self, database, file, message):
        """Seconds of one commit of all edges of a file, frozen into a layer of its own."""
        return self.call("add", database, file, "--message", message, "--freeze")[1]

    def compact(self, database):
        return self.call("compact", database, "--json")[1]

    def versions(self, database):
        """Numbers of all versions."""
        found = json.loads(self.call("log", database, "--json")[0])
        entries = found["versions"] if isinstance(found, dict) else found
        return sorted(entry["version"] for entry in entries)

    def export(self, database, file):
        self.call("export", database, file, "--no-properties", "--force")

    def generate(self, family, scale, database):
        self.call("generate", family, "--scale", scale, database, self.direction, "--force")

    def run(self, database, algorithm, options, version):
        at = [] if version is None else ["--at", version]
        command = ["run", algorithm, database, *at, "--json", "--threads", self.threads, "--trials", 3, *options]
        return json.loads(self.call(*command)[0])

    def bfs(self, database, root, version=None):
        """Seconds, and the values that must agree: the numbers of edges and of reached vertices."""
        found = self.run(database, "bfs", ["--source", root], version)
        return found["seconds"], (found["edges"], found["answers"]["reached"])

    def pagerank(self, database, version=None):
        """Seconds of an iteration."""
        found = self.run(database, "pagerank", ["--rounds", ITERATIONS, "--tolerance", 0], version)
        return found["seconds"] / found["rounds"]


class Llama:
    """LLAMA's programs over a persistent database of its own; one with out-edges alone, one with in-edges too."""

    def __init__(self, folder, threads, directed, work, limit_s):
        self.folder, self.work, self.limit_s = Path(folder), Path(work), limit_s
        self.threads, self.directed = threads, directed

    def inputs(self, files):
        """Names that LLAMA's loaders accept, and the options that go with them."""
        binaries = [file.with_suffix(".dat") for file in files]
        if all(file.exists() for file in binaries):
            return binaries, []
        links = []
        for file in files:
            links.append(file.with_suffix(".snap"))
            if not links[-1].exists():
                links[-1].symlink_to(file.with_suffix(".el").name)
        return links, [] if self.directed else ["-U"]

    def call(self, task, words):
        text, _ = output([self.folder / f"{task}-persistent", "-N", "-t", self.threads, *words], self.limit_s,
                         OMP_NUM_THREADS=str(self.threads))
        return text

    def load(self, files, root):
        """Seconds and MiB of both databases, or None if it took too long."""
        names, options = self.inputs(files)
        found = {}
        for kind, task in (("out", "bfs_count"), ("both", "pagerank")):
            database = self.work / f"llama-{kind}"
            shutil.rmtree(database, ignore_errors=True)
            text = self.call(task, ["-L", "-d", database, *options, "-R", root, "-n", 1, *names])
            if text is None:
                return None
            found[kind] = (float(re.search(r"Load Time\s*:\s*([0-9.]+)", text)[1]), mebibytes(database))
        return found

    def bfs(self, root):
        text = self.call("bfs_count", ["-d", self.work / "llama-out", "-R", root])
        return seconds_of(text), (int(float(re.search(r"Return value:\s*([0-9.]+)", text)[1])),)

    def pagerank(self):
        return seconds_of(self.call("pagerank", ["-d", self.work / "llama-both", "-n", ITERATIONS])) / ITERATIONS

    def clean(self):
        for kind in ("out", "both"):
            shutil.rmtree(self.work / f"llama-{kind}", ignore_errors=True)


def seconds_of(text):
    return float(re.search(r"^Time\s*:\s*([0-9.]+)", text, re.MULTILINE)[1])


class Splits:
    """Files of a graph: `full`, `base`, and the parts of each K."""

    def __init__(self, folder, suffix):
        self.folder, self.suffix = Path(folder), suffix
        self.full, self.base = self.folder / f"full.{suffix}", self.folder / f"base.{suffix}"
        self.info = self.folder / "info.txt"

    def parts(self, count):
        return [self.folder / f"k{count}" / f"{part:03}.{self.suffix}" for part in range(1, count + 1)]

    def root(self):
        return re.search(r"^root=(.*)$", self.info.read_text(), re.MULTILINE)[1]

    def make(self, edges, directed, counts, seed):
        """Splits `edges`, one edge a line, each once. Whether an edge is in the base does not depend on K."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if edges != self.full:
            shutil.copyfile(edges, self.full)
        rest = self.folder / "rest"
        draw, degree = random.Random(seed).random, defaultdict(int)
        with open(self.full, "rb") as lines, open(self.base, "wb") as base, open(rest, "wb") as others:
            for line in lines:
                source, target = line.split()[:2]
                degree[source] += 1
                if not directed:
                    degree[target] += 1
                (base if draw() < BASE_SHARE else others).write(line)
        for count in counts:
            draw = random.Random(f"{seed} {count}").random
            self.parts(count)[0].parent.mkdir(exist_ok=True)
            files = [open(part, "wb") for part in self.parts(count)]
            with open(rest, "rb") as lines:
                for line in lines:
                    files[int(draw() * count)].write(line)
            for file in files:
                file.close()
        rest.unlink()
        hub = max(degree, key=degree.get).decode()
        self.info.write_text(f"root={hub}\nseed={seed}\ndirected={int(directed)}\n")


def medians(trials, measures):
    """Calls all measures in turn, `trials` times; the median of each, by name. None stays None."""
    taken = {name: [] for name in measures}
    for _ in range(trials):
        for name, measure in measures.items():
            taken[name].append(measure())
    return {name: statistics.median(values) for name, values in taken.items()}


class Comparison:
    """One graph, measured at several numbers of layers."""

    def __init__(self, arguments, splits, esker, llama):
        self.arguments, self.splits, self.esker, self.llama = arguments, splits, esker, llama
        self.work, self.root = Path(arguments.work), splits.root()
        self.whole = self.work / "whole.esker"
        self.whole_load_s = statistics.median(
            esker.create([splits.full], self.whole) for _ in range(arguments.load_trials))
        self.whole_mib = mebibytes(self.whole)
        self.rows = []

    def kernels(self, database, version=None, reference=None, llama=False):
        """Median seconds of BFS and PageRank on a version, on its reference, and of LLAMA."""
        esker, root, reference = self.esker, self.root, reference or self.whole
        expected = esker.bfs(reference, root)[1]

        def searched(measured):
            seconds, found = measured
            if found != expected[-len(found):]:
                sys.exit(f"BFS on {database}, version {version}: {found} edges or vertices reached, not {expected}")
            return seconds

        searches = {"reference": lambda: searched(esker.bfs(reference, root)),
                    "layers": lambda: searched(esker.bfs(database, root, version))}
        ranks = {"reference": lambda: esker.pagerank(reference), "layers": lambda: esker.pagerank(database, version)}
        if llama:
            searches["llama"] = lambda: searched(self.llama.bfs(root))
            ranks["llama"] = self.llama.pagerank
        trials = self.arguments.trials
        return {"bfs": medians(trials, searches), "pagerank": medians(trials, ranks)}

    def record(self, layers, state, load_s, mib, kernels, version=None, llama=None):
        row = {"layers": layers, "state": state, "version": version, "load_s": load_s, "mib": mib, **kernels}
        if llama:
            row["llama"] = {kind: {"load_s": load, "mib": size} for kind, (load, size) in llama.items()}
        self.rows.append(row)
        cells = [f"{layers:>4} {state:<22}"]
        cells.append("" if load_s is None else f"load {load_s:8.2f} s ({load_s / self.whole_load_s:5.2f})")
        cells.append("" if mib is None else f"size {mib:8.1f} MiB ({mib / self.whole_mib:5.2f})")
        for name in ("bfs", "pagerank"):
            times = kernels[name]
            cells.append(f"{name} {times['layers']:.4f} s ({times['layers'] / times['reference']:.2f})")
        print("  ".join(cell for cell in cells if cell), flush=True)
        if llama:
            out, both = llama["out"], llama["both"]
            print(f"       LLAMA: load {out[0]:.2f} s, with in-edges {both[0]:.2f} s; "
                  f"size {out[1]:.1f}, {both[1]:.1f} MiB; bfs {kernels['bfs']['llama']:.4f} s, "
                  f"pagerank {kernels['pagerank']['llama']:.4f} s", flush=True)

    def load_llama(self, files):
        if self.llama is None:
            return None
        loaded = self.llama.load(files, self.root)
        if loaded is None:
            print("       LLAMA: took longer than --limit")
        return loaded

    def one_layer(self):
        """The whole graph in one layer; its own reference, so that the ratio shows the noise."""
        llama = self.load_llama([self.splits.full])
        self.record(1, "whole", self.whole_load_s, self.whole_mib, self.kernels(self.whole, llama=llama), llama=llama)

    def layered(self, count):
        """Base and `count` parts, unmerged and merged, newest and older versions."""
        database, parts = self.work / "layers.esker", self.splits.parts(count)
        load_s = self.esker.create([self.splits.base], database)
        for number, part in enumerate(parts, 1):
            load_s += self.esker.add(database, part, f"part {number}")
        versions = self.esker.versions(database)
        if len(versions) != count + 1:
            sys.exit(f"{database} has {len(versions)} versions, not {count + 1}")
        llama = self.load_llama([self.splits.base, *parts])
        kernels = self.kernels(database, llama=llama)
        self.record(count + 1, "unmerged", load_s, mebibytes(database), kernels, llama=llama)
        if self.llama:
            self.llama.clean()
        self.older(database, count, versions, "unmerged")
        compact_s = self.esker.compact(database)
        if self.esker.versions(database) != versions:
            sys.exit(f"{database}: compact has lost versions")
        self.record(count + 1, "merged", compact_s, mebibytes(database), self.kernels(database))
        self.older(database, count, versions, "merged")
        shutil.rmtree(database)

    def older(self, database, count, versions, state):
        """Some versions before the newest, evenly spread, the import among them."""
        wanted = min(self.arguments.older, count)
        for place in sorted({index * count // wanted for index in range(wanted)}):
            reference = self.work / "older.esker"
            self.esker.create([self.splits.base, *self.splits.parts(count)[:place]], reference)
            version = versions[place]
            measured = self.kernels(database, version, reference)
            self.record(count + 1, f"{state}, version {version}", None, None, measured, version)
            shutil.rmtree(reference)


def table(rows, directed):
    """Markdown: seconds, and ratios to the whole graph and, where measured, to LLAMA.

    LLAMA's load and size are those with in-edges if the graph is directed, as Esker keeps these too, else without.
    """
    whole = rows[0]
    lines = ["| layers | state | load s | size MiB | BFS s | PageRank s | load | size | BFS | PageRank "
             "| to LLAMA: load, size, BFS, PageRank |", "|---" * 11 + "|"]
    for row in rows:
        bfs, rank, peer = row["bfs"], row["pagerank"], ""
        if "llama" in row:
            theirs = row["llama"]["both" if directed else "out"]
            ratios = (row["load_s"] / theirs["load_s"], row["mib"] / theirs["mib"], bfs["layers"] / bfs["llama"],
                      rank["layers"] / rank["llama"])
            peer = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        own = [("", "")] * 2
        if row["load_s"] is not None:
            own = [(f"{row[key]:.2f}", f"{row[key] / whole[key]:.2f}") for key in ("load_s", "mib")]
        own += [(f"{times['layers']:.4f}", f"{times['layers'] / times['reference']:.2f}") for times in (bfs, rank)]
        cells = [row["layers"], row["state"], *(value for value, _ in own), *(ratio for _, ratio in own), peer]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def edges_once(arguments, esker, work):
    """A file with each edge of the input once: what Esker exports of the imported or generated graph."""
    database, file = work / "input.esker", work / "edges.el"
    if not file.exists():
        if arguments.input:
            esker.create([arguments.input], database)
        else:
            esker.generate(arguments.generate, arguments.scale, database)
        esker.export(database, file)
        shutil.rmtree(database)
    return file


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--esker", default="target/release/esker")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--input", type=Path, help="file of edges")
    source.add_argument("--generate", choices=["kron", "rmat"])
    source.add_argument("--splits", help="folder of splits that are there already")
    parser.add_argument("--suffix", default="el", help="ending of the files in --splits that Esker reads")
    parser.add_argument("--scale", type=int, default=20, help="of --generate")
    parser.add_argument("--directed", action="store_true")
    parser.add_argument("--layers", type=int, nargs="*", default=[1, 5, 10, 50, 100, 200],
                        help="numbers of parts, K; none: only the whole graph")
    parser.add_argument("--older", type=int, default=3, help="how many older versions to read")
    parser.add_argument("--work", required=True, help="folder for splits and databases")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=5, help="runs in turn, each the median of three")
    parser.add_argument("--load-trials", type=int, default=1)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--llama", help="folder of LLAMA's programs")
    parser.add_argument("--limit", type=float, default=300, help="seconds that one call of LLAMA may take")
    parser.add_argument("--json", type=Path, help="write all measurements here")
    return parser.parse_args()


def main():
    arguments = parsed()
    work = Path(arguments.work)
    work.mkdir(parents=True, exist_ok=True)
    esker = Esker(arguments.esker, arguments.threads, arguments.directed)
    splits = Splits(arguments.splits or work / "splits", arguments.suffix if arguments.splits else "el")
    ready = splits.info.exists() and all(splits.parts(count)[-1].exists() for count in arguments.layers)
    if not arguments.splits and not ready:
        splits.make(edges_once(arguments, esker, work), arguments.directed, arguments.layers, arguments.seed)
    llama = arguments.llama and Llama(arguments.llama, arguments.threads, arguments.directed, work, arguments.limit)
    comparison = Comparison(arguments, splits, esker, llama)
    comparison.one_layer()
    for count in arguments.layers:
        comparison.layered(count)
    print("\n" + table(comparison.rows, arguments.directed))
    if arguments.json:
        arguments.json.write_text(json.dumps(comparison.rows, indent=1))


if __name__ == "__main__":
    main()
