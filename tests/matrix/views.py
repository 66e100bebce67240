"""What a view of a version means, in terms of its edges alone."""

import operator
from collections import defaultdict
from dataclasses import dataclass, field

from oracle import Graph

OPERATORS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass
class View:
    where: list = field(default_factory=list)
    reverse: bool = False
    window: int = None
    copies: str = "all"
    combine: str = "count"
    all_vertices: bool = False
    as_undirected: bool = False
    weight: str = None

    def args(self):
        args = [part for name, sign, value in self.where for part in ("--where", f"{name}{sign}{value}")]
        args += ["--reverse"] * self.reverse + ["--as-undirected"] * self.as_undirected
        args += ["--weight", self.weight] if self.weight else []
        if self.window is not None:
            args = ["--window", f"{self.window}s", *args, "--time", "time", "--time-unit", "s", "--copies", self.copies]
            args += ["--combine", self.combine] if self.copies == "weighted" else []
        args += ["--all-vertices"] * self.all_vertices
        return args

    def leaves_out(self):
        """Whether edges may be left out, and with them vertices."""
        return self.window is not None or bool(self.where)

    def joins(self):
        return self.window is not None and self.copies != "all"

    def makes_weights(self):
        return self.window is not None and self.copies == "weighted"


def joined(edges, rule, directed):
    """One edge between two vertices: the last, of several at one time that of the least weight; or one whose weight is made of those of all."""
    sets = defaultdict(list)
    for edge in edges:
        sets[edge[:2] if directed else frozenset(edge[:2])].append(edge)
    for copies in sets.values():
        u, v, weight, _ = max(copies, key=lambda edge: (edge[3], -edge[2]))
        weights = [edge[2] for edge in copies]
        rules = {"distinct": lambda: weight, "last": lambda: weight, "count": lambda: len(copies)}
        rules.update(sum=lambda: sum(weights), min=lambda: min(weights), max=lambda: max(weights))
        yield u, v, rules[rule](), None


def ends_of_windows(version, every):
    """The times with which windows end: before the multiples of a length, from the step of the first edge to that of the last."""
    times = [edge.time for edge in version.edges]
    return range(min(times) // every * every + every - 1, max(times) // every * every + every, every) if times else []


def graph_of(world, version, view, until=None):
    """The graph that a view of a version shows, in a window that ends at a time or with the latest edge; `None` if there is no such time.

    First the window and the conditions leave out edges, and vertices that have none then; then edges are turned round; then directions are
    dropped; then edges between the same two vertices are joined.
    """
    weight = view.weight or ("weight" if world.axes["weights"] != "none" else None)
    edges = version.edges
    if view.window is not None:
        if not edges:
            return None
        until = max(edge.time for edge in edges) if until is None else until
        edges = [edge for edge in edges if until - view.window < edge.time <= until]
    tests = [(name, OPERATORS[sign], value) for name, sign, value in view.where]
    edges = [e for e in edges if all(test(e.value(name), value) for name, test, value in tests)]
    edges = [(e.u, e.v, e.value(weight) if weight else 1, e.time) for e in edges]
    vertices = list(version.vertices)
    if view.leaves_out() and not view.all_vertices:
        used = {v for edge in edges for v in edge[:2]}
        vertices = [v for v in vertices if v in used]
    if view.reverse:
        edges = [(v, u, w, time) for u, v, w, time in edges]
    directed = world.directed and not view.as_undirected
    if view.joins():
        edges = joined(edges, view.combine if view.copies == "weighted" else view.copies, directed)
    elif world.directed and not directed and world.axes["duplicates"] != "keep":
        edges = joined(edges, "min", directed)
    return Graph(directed, vertices, [edge[:3] for edge in edges])
