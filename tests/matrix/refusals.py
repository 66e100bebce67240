"""Requests that may be refused: each exception with a part of its message, the reason, and when it applies."""

from dataclasses import dataclass
from typing import Callable

from questions import READS_WEIGHTS, needs_undirected
from views import ends_of_windows, graph_of

# Algorithms that read single lists, of which tiles hold none.
POINTS = {"scc", "cdlp", "triangles", "lcc", "truss", "cliques", "matching", "reciprocity", "cycle", "similarity"}


@dataclass
class Case:
    """A request with what it is about."""

    world: object
    question: object
    graph: object

    @property
    def is_directed(self):
        return self.world.directed and not self.question.view.as_undirected

    @property
    def reads_weights(self):
        return self.question.algorithm in READS_WEIGHTS or "by weight" in self.question.options

    @property
    def encoding(self):
        reading = self.question.reading
        return reading[1] if reading else None

    @property
    def residency(self):
        reading = self.question.reading
        return reading[3] if reading else None

    def graphs(self, of_windows=False):
        """The graph, or those of all versions, or of all windows if these are wanted too."""
        asked = self.question
        if asked.door == "versions":
            versions = [self.world.versions[number] for number in range(asked.version, asked.last + 1)]
            return [graph_of(self.world, version, asked.view) for version in versions]
        if asked.door == "windows" and of_windows:
            version = self.world.versions[asked.version]
            return [graph_of(self.world, version, asked.view, until) for until in ends_of_windows(version, asked.every)]
        return [self.graph] if self.graph is not None else []

    def named_vertices(self):
        options = self.question.options
        for name in ("source", "target", "teleport-to"):
            value = options.get(name, [])
            yield from value if isinstance(value, list) else [value]

    def needs_undirected(self):
        return needs_undirected(self.question.algorithm, self.question.options)


@dataclass
class Refusal:
    reason: str
    message: str
    applies: Callable
    must: bool = False  # Whether an answer would be wrong.


REFUSALS = [
    Refusal(
        "a vertex that is not in the view", "", must=True,
        applies=lambda case: any(v not in graph.vertices for graph in case.graphs() for v in case.named_vertices()),
    ),
    Refusal(
        "a window of a view without edges", "", must=False,
        applies=lambda case: case.graph is None,
    ),
    Refusal(
        "an algorithm for undirected graphs on a directed one", "undirected", must=True,
        applies=lambda case: case.is_directed and case.needs_undirected(),
    ),
    Refusal(
        "negative lengths or weights", "negative",
        applies=lambda case: case.question.algorithm in ("sssp", "wbfs", "pagerank") and case.reads_weights
        and any(w < 0 for graph in case.graphs(of_windows=True) for _, _, w in graph.edges),
    ),
    Refusal(
        "weights that are no integers, where small integers are lengths", "integer",
        applies=lambda case: case.question.algorithm == "wbfs" and any(isinstance(w, float) for _, _, w in case.graph.edges)
        or case.question.algorithm == "wbfs" and case.world.axes["weights"] in ("halves", "extreme"),
    ),
    Refusal(
        "a sum that overflows", "too long",
        applies=lambda case: case.reads_weights,
    ),
    Refusal(
        "sums of weights that their type does not hold", "have a sum",
        applies=lambda case: case.question.view.joins() and case.question.view.combine == "sum",
    ),
    Refusal(
        "an algorithm that reads single lists, on tiles", "tiles hold no lists",
        applies=lambda case: case.encoding == "tiles" and case.question.algorithm in POINTS,
    ),
    Refusal(
        "a window whose edges are joined or weighed, on tiles", "tiles hold no lists",
        applies=lambda case: case.encoding == "tiles" and (case.question.view.joins() or case.question.view.window and case.reads_weights),
    ),
    Refusal(
        "single in-lists that tiles alone lack, where no copy in memory may hold them", "single in-lists are read",
        applies=lambda case: case.world.axes["encoding"] == "tiles only" and case.world.axes["directions"] == "no in-edges"
        and case.residency == "mapped",
    ),
    Refusal(
        "pooled or headed lists of tiles alone", "kept as tiles only",
        applies=lambda case: case.world.axes["encoding"] == "tiles only" and case.residency in ("pooled", "headed"),
    ),
]


def reason_of(case, text):
    """The listed exception that a refusal is; `None` if it is not listed."""
    return next((r.reason for r in REFUSALS if r.message in text and r.applies(case)), None)


def must_refuse(case):
    return next((r.reason for r in REFUSALS if r.must and r.applies(case)), None)
