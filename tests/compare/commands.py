"""Answers of the command `esker`: each graph goes through a file, an import, and the files of results."""

import csv
import gzip
import json
from pathlib import Path
import random
import subprocess
import tempfile

# Arguments of each algorithm; SOURCE stands for the id of the source.
ARGUMENTS = {
    "bfs": ["--source", "SOURCE"],
    "sssp": ["--source", "SOURCE"],
    "pagerank": ["--tolerance", "1e-13", "--rounds", "1000"],
    "wcc": [],
    "betweenness": ["--scale", "pairs"],
    "triangles": [],
    "lcc": [],
    "cdlp": [],
    "scc": [],
}


def _names(rng, sample):
    """External ids of the vertices: dense, sparse, or texts with all that a CSV must quote."""
    style = rng.choice(["dense", "sparse", "text"])
    if style == "dense":
        return style, list(range(sample.n))
    if style == "sparse":
        return style, rng.sample(range(10**12), sample.n)
    return style, [rng.choice(["v", "a b", 'x"y', "ü,"]) + str(v) for v in range(sample.n)]


def _write(rng, sample, style, names, folder):
    """Writes the edges in a format that can hold them; returns the path."""
    if style != "text" and rng.random() < 0.5:
        path = folder / "edges.wel"
        path.write_text("".join(f"{names[u]} {names[v]} {w!r}\n" for u, v, w in sample.edges))
        return path
    path = folder / rng.choice(["edges.csv", "edges.csv.gz"])
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["from", "to", "weight"])
        writer.writerows((names[u], names[v], repr(w)) for u, v, w in sample.edges)
    return path


def _call(arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def _values(text, names):
    """The second column of a result, in the order of `names`; empty fields are `None`."""
    rows = list(csv.reader(text.splitlines()))
    by_name = {row[0]: row[1] for row in rows[1:]}
    if len(by_name) != len(names):
        raise RuntimeError(f"{len(by_name)} results for {len(names)} vertices")
    return [by_name[str(name)] or None for name in names]


def _first_of_group(labels):
    """Labels as the number of the first vertex with the same one."""
    first = {}
    return [first.setdefault(label, v) for v, label in enumerate(labels)]


def _answers(program, rng, sample, rounds, folder):
    style, names = _names(rng, sample)
    edges = _write(rng, sample, style, names, folder)
    vertices, database = folder / "vertices.txt", folder / "graph.esker"
    vertices.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    threads = ["--threads", rng.choice([1, 2])]
    kind = "--directed" if sample.directed else "--undirected"
    policies = [kind, "--duplicates", "keep", "--order", rng.choice(["auto", "keep", "degree"])]
    ids = ["--ids", "text" if style == "text" else "int", "--vertices", vertices]
    _call([program, "import", edges, database, *policies, *ids, *threads])
    answers = {}
    for name, arguments in ARGUMENTS.items():
        if name == "cdlp":
            # Ties between texts are broken by the numbers that the import gave them.
            if style == "text":
                continue
            arguments = ["--iterations", rounds]
        arguments = [names[sample.source] if a == "SOURCE" else a for a in arguments]
        command = [program, "run", name, database, *arguments, *threads]
        if name == "triangles":
            answers[name] = [json.loads(_call([*command, "--json"]))["answers"]["triangles"]]
            continue
        values = _values(_call([*command, "--output", "-"]), names)
        if name in ("wcc", "scc"):
            answers[name] = _first_of_group(values)
        else:
            read = int if name in ("bfs", "cdlp") else float
            answers[name] = [None if value is None else read(value) for value in values]
    return answers, names if style != "text" else None


def command_answers(program, all_samples, rounds, seed=1):
    """For each sample the answers as lists by algorithm, and the labels with which propagation begins."""
    for i, sample in enumerate(all_samples):
        if sample.n == 0:
            yield {}, None
            continue
        with tempfile.TemporaryDirectory(prefix="esker-compare-") as folder:
            yield _answers(program, random.Random(f"{seed}/{i}"), sample, rounds, Path(folder))
