#!/usr/bin/env python3
"""What each form of a graph costs: kernels on one graph in several forms, in turn with the same on its plain form.

Usage:
    python3 bench/costs.py [--families kron,uniform,grid] [--scale 20] [--trials 5] [--work DIR] [--esker PROGRAM] [--json FILE]

Forms, each a database of the same edges with weights 1 to 255, but for a hundredth in the last two:
    compressed  difference-coded lists
    layers      nine tenths of the edges in one layer, the others in ten commits, each a layer of its own
    merged      these eleven layers after `compact`
    older       the version before the last commit, within the merged layer
                (these three are numbered by the degrees of nine tenths of the edges, the others by those of all)
    removed     one vertex of a hundred removed, and not renumbered

The first row of a table has milliseconds on the plain form, those below it ratios to that: medians of the seconds that runs report for
the kernel. The second row has a second series of runs on the plain form, so it shows the noise. Files are verified before the clock
starts.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

KERNELS = {
    "bfs": ["--source", "SOURCE"],
    "pagerank": ["--rounds", "10", "--tolerance", "0"],
    "wcc": [],
    "sssp": ["--source", "SOURCE"],
    "betweenness": ["--source", "SOURCE"],
    "kcore": [],
    "triangles": [],
}
FORMS = ["plain", "compressed", "layers", "merged", "older", "removed"]
COMMITS = 10


def call(program, *words):
    done = subprocess.run([str(word) for word in (program, *words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


class Forms:
    """One graph in all forms: the words that name a database and its version, and a vertex to start from."""

    def __init__(self, arguments, family):
        self.program, self.family = arguments.esker, family
        self.work = Path(arguments.work) / f"{family}{arguments.scale}"
        if not (self.work / "made").exists():
            shutil.rmtree(self.work, ignore_errors=True)
            self.work.mkdir(parents=True)
            self.make(arguments.scale)
        self.source = (self.work / "made").read_text()

    def words(self, form):
        return [self.database("merged"), "--at", COMMITS] if form == "older" else [self.database(form)]

    def database(self, form):
        return self.work / f"{form}.esker"

    def call(self, *words):
        return call(self.program, *words)

    def make(self, scale):
        edges, generated = self.work / "edges.wel", self.work / "generated.esker"
        side = 1 << scale // 2
        sizes = {
            "grid": ["--rows", side, "--columns", side],
            "road": ["--rows", side, "--columns", side],
            "uniform": ["--vertices", 1 << scale, "--edges", 16 << scale],
        }.get(self.family, ["--scale", scale])
        self.call("generate", self.family, *sizes, "--undirected", "--weights", 255, generated)
        self.call("export", generated, edges)
        shutil.rmtree(generated)
        self.call("import", edges, self.database("plain"), "--undirected")
        for form in ("compressed", "removed"):
            shutil.copytree(self.database("plain"), self.database(form))
        self.call("compact", self.database("compressed"), "--encoding", "compressed")

        base, *parts = self.split(edges)
        self.call("import", base, self.database("layers"), "--undirected")
        self.call("options", self.database("layers"), "--merge", "never")
        for part in parts:
            self.call("add", self.database("layers"), part, "--freeze")
        shutil.copytree(self.database("layers"), self.database("merged"))
        self.call("compact", self.database("merged"))

        with open(edges) as lines:
            vertices = sorted({line.split()[0] for line in lines})
        random.Random(2).shuffle(vertices)
        source, *gone = vertices[: 1 + len(vertices) // 100]
        listed = self.work / "gone.txt"
        listed.write_text("".join(f"{vertex}\n" for vertex in gone))
        self.call("delete", self.database("removed"), "--vertices", listed)
        self.call("compact", self.database("removed"), "--renumber", "never")
        for file in (edges, base, *parts):
            file.unlink()
        (self.work / "made").write_text(source)

    def split(self, edges):
        """A file of nine tenths of the lines, and files of a hundredth each."""
        draw = random.Random(1)
        names = [self.work / "base.wel", *(self.work / f"commit{commit}.wel" for commit in range(COMMITS))]
        files = [open(name, "w") for name in names]
        with open(edges) as lines:
            for line in lines:
                at = draw.randrange(10 * COMMITS)
                files[at + 1 if at < COMMITS else 0].write(line)
        for file in files:
            file.close()
        return names

    def seconds(self, kernel, form, threads):
        options = [self.source if option == "SOURCE" else option for option in KERNELS[kernel]]
        found = self.call("run", kernel, *self.words(form), "--json", "--threads", threads, *options)
        return json.loads(found)["seconds"]


def measure(forms, arguments):
    """Medians by kernel and form, and of a second series on the plain form."""
    found = {}
    for kernel in arguments.kernels.split(","):
        taken = {form: [] for form in (*FORMS, "again")}
        for _ in range(arguments.trials):
            for form, seconds in taken.items():
                seconds.append(forms.seconds(kernel, "plain" if form == "again" else form, arguments.threads))
        found[kernel] = {form: statistics.median(seconds) for form, seconds in taken.items()}
        cells = [f"{form} {seconds / found[kernel]['plain']:.2f}" for form, seconds in found[kernel].items()]
        print(f"{forms.family} {kernel}: {found[kernel]['plain'] * 1000:.1f} ms; {', '.join(cells[1:])}", file=sys.stderr, flush=True)
    return found


def table(family, found):
    print(f"\n| {family} | " + " | ".join(found) + " |\n|---|" + "---|" * len(found))
    print("| plain, ms | " + " | ".join(f"{cells['plain'] * 1000:.1f}" for cells in found.values()) + " |")
    for form in ("again", *FORMS[1:]):
        name = "plain" if form == "again" else form
        print(f"| {name} | " + " | ".join(f"{cells[form] / cells['plain']:.2f}" for cells in found.values()) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--esker", default="target/release/esker")
    parser.add_argument("--families", default="kron,uniform,grid", help="of `esker generate`")
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--kernels", default=",".join(KERNELS))
    parser.add_argument("--work", default="target/bench/costs", help="where databases are kept between runs")
    parser.add_argument("--json", help="file for the seconds of all cells")
    parser.add_argument("--prepare", action="store_true", help="only make the databases")
    arguments = parser.parse_args()
    found = {}
    for family in arguments.families.split(","):
        forms = Forms(arguments, family)
        if not arguments.prepare:
            found[family] = measure(forms, arguments)
            table(family, found[family])
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
