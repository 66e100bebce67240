"""Compares the answers of all algorithms with NetworkX, igraph, NetworKit and SciPy on random graphs of every kind.

    compare.py --answers PROGRAM [--count N] [--large N] [--seed N]
    compare.py --esker PROGRAM [--count N] [--seed N]

The first form runs the example `answers` of esker-algo on graphs in memory. The second writes each graph to a file, imports it
and runs the algorithms with the command `esker`: this covers ids, formats, storage and result files as well. Ends
with status 1, after naming the graphs, if an answer differs. `run.sh` in this folder installs and builds everything, and runs both.
"""

import argparse
from collections import Counter
import subprocess
import sys

from commands import command_answers
from graphs import large, samples
from references import REFERENCES, Views, difference

ROUNDS = 5
THREADS = [1, 2, 3, 8]


def library_answers(program, all_samples):
    """Answers of the example, sample by sample, as lists by name; and `None`, for labels begin as numbers."""
    text = []
    for i, s in enumerate(all_samples):
        kind = "directed" if s.directed else "undirected"
        rounds = i % (2 * ROUNDS)
        text.append(f"graph {kind} {s.n} {len(s.edges)} {s.source} {THREADS[i % len(THREADS)]} {rounds}\n")
        text += [f"{u} {v} {w!r}\n" for u, v, w in s.edges]
    done = subprocess.run([program], input="".join(text), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{program}: {done.stderr}")
    answers = {}
    for line in done.stdout.splitlines():
        if line == "end":
            yield answers, None
            answers = {}
            continue
        name, *values = line.split()
        read = float if name in ("sssp", "pagerank", "betweenness", "lcc") else int
        answers[name] = [None if value == "-" else read(value) for value in values]


def parents_fault(sample, depths, parents):
    """What is wrong with the parents of a breadth-first search, given its depths; `None` if nothing is."""
    arcs = {(u, v) for u, v, _ in sample.edges}
    if not sample.directed:
        arcs |= {(v, u) for u, v in arcs}
    for v, parent in enumerate(parents):
        if depths[v] is None or v == sample.source:
            right = parent == (None if depths[v] is None else v)
        else:
            right = parent is not None and (parent, v) in arcs and depths[parent] == depths[v] - 1
        if not right:
            return f"vertex {v} at depth {depths[v]} has parent {parent}"
    return None


def compare(sample, answers, rounds, initial, counts):
    """Faults in the answers to one sample, as texts; counts comparisons. Propagation of labels began with `initial`."""
    views = Views(sample)
    faults = []
    for name, reference in REFERENCES.items():
        if name not in answers:
            continue
        arguments = (views, rounds, initial) if name == "cdlp" else (views,)
        for library, theirs in reference(*arguments):
            counts[f"{name} by {library}"] += 1
            fault = difference(name, answers[name], theirs)
            if fault:
                faults.append(f"{sample.name}: {name} by {library}: {fault}")
    if "parents" in answers:
        counts["parents"] += 1
        fault = parents_fault(sample, answers["bfs"], answers["parents"])
        faults += [f"{sample.name}: {fault}"] if fault else []
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", metavar="PROGRAM", help="the built example `answers`")
    parser.add_argument("--esker", metavar="PROGRAM", help="the built command `esker`")
    parser.add_argument("--count", type=int, default=600, help="graphs of up to 130 vertices")
    parser.add_argument("--large", type=int, default=12, help="graphs of thousands of vertices")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if bool(options.answers) == bool(options.esker):
        parser.error("give one of --answers and --esker")
    all_samples = list(samples(options.count, options.seed)) + list(large(options.large, options.seed))
    counts, faults = Counter(), []
    if options.answers:
        answers = library_answers(options.answers, all_samples)
        rounds = lambda i: i % (2 * ROUNDS)
    else:
        answers = command_answers(options.esker, all_samples, ROUNDS)
        rounds = lambda i: ROUNDS
    for i, (sample, (answer, initial)) in enumerate(zip(all_samples, answers, strict=True)):
        faults += compare(sample, answer, rounds(i), initial, counts)
    for name in sorted(counts):
        print(f"{counts[name]:6} {name}")
    kinds = Counter("directed" if s.directed else "undirected" for s in all_samples)
    print(f"{len(all_samples)} graphs ({dict(kinds)}), {sum(counts.values())} answers compared, {len(faults)} differ")
    for fault in faults[:50]:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
