"""Functions of NetworkX on shortest paths by number of steps."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import networkx as nx
import numpy as np

from .graph import NxGraph, steps_max
from .offer import Refusal, offer

Node = Any


def lengths_from(G: NxGraph, source: int, cutoff: float | None = None) -> dict[Node, int]:
    """The number of steps from a row to each reached node, in the order of discovery."""
    found = G.steps(source, cutoff)
    if found is None:
        depths, most = G.depths([source]), steps_max(cutoff)
        reached = np.flatnonzero(depths >= 0 if most is None else (depths >= 0) & (depths <= most))
        rows = reached[np.argsort(depths[reached], kind="stable")]
        steps = depths[rows]
    else:
        rows, steps, _ = found
    return dict(zip(map(G.nodes.__getitem__, rows.tolist()), steps.tolist()))


def _tree(G: NxGraph, source: int, method: str) -> tuple[np.ndarray, np.ndarray]:
    """The parent of each row in a tree of paths from `source`, and the reached rows, parents before children."""
    found = G.run(method, [source], parents=True, deterministic=True)
    first, parents = found.column(), found.column("parent")
    missing = first.is_missing()
    rows = np.flatnonzero(~missing)
    before = np.full(len(G), -1)
    known = ~parents.is_missing()
    before[known] = parents.to_numpy(dense=True)[known]
    return before, rows[np.argsort(first.to_numpy(dense=True)[rows], kind="stable")]


def _path(G: NxGraph, before: np.ndarray, row: int, source: int) -> list[Node]:
    path = [row]
    while row != source:
        row = int(before[row])
        path.append(row)
    return [G.nodes[one] for one in path[::-1]]


def paths_from(G: NxGraph, source: int, cutoff: float | None = None) -> dict[Node, list[Node]]:
    """A shortest path by steps from a row to each reached node, in the order of discovery."""
    found = G.steps(source, cutoff)
    if found is not None:
        return paths_of(G, found[0], found[2])
    before, rows = _tree(G, source, "bfs")
    most = steps_max(cutoff)
    near = None if most is None else G.depths([source]) <= most
    return {G.nodes[row]: _path(G, before, row, source) for row in rows.tolist() if near is None or near[row]}


def paths_of(G: NxGraph, rows: np.ndarray, parents: np.ndarray) -> dict[Node, list[Node]]:
    """The paths in a tree, given as rows and the parent of each, -1 for the root."""
    nodes, numbers = G.nodes, rows.tolist()
    parent_of = dict(zip(numbers, parents.tolist()))
    paths: dict[int, list[Node]] = {-1: []}
    for row in numbers:
        missing = []
        while row not in paths:
            missing.append(row)
            row = parent_of[row]
        for one in reversed(missing):
            paths[one] = [*paths[parent_of[one]], nodes[one]]
    return {nodes[row]: paths[row] for row in numbers}


def tree_paths(G: NxGraph, source: int, method: str, keep: np.ndarray | None = None) -> dict[Node, list[Node]]:
    """The paths of a search of Esker from a row to the rows to keep."""
    before, rows = _tree(G, source, method)
    return {G.nodes[row]: _path(G, before, row, source) for row in rows.tolist() if keep is None or keep[row]}


@offer()
def single_source_shortest_path_length(G: Any, source: Node, cutoff: int | None = None) -> dict[Node, int]:
    return lengths_from(G, G.row(source, "Source"), cutoff)


@offer()
def single_target_shortest_path_length(G: Any, target: Node, cutoff: int | None = None) -> dict[Node, int]:
    return lengths_from(G.reverse, G.row(target, "Target"), cutoff)


@offer()
def single_source_shortest_path(G: Any, source: Node, cutoff: int | None = None) -> dict[Node, list[Node]]:
    row = G.row(source, "Source", "not in G")
    return paths_from(G, row, cutoff)


@offer()
def single_target_shortest_path(G: Any, target: Node, cutoff: int | None = None) -> dict[Node, list[Node]]:
    row = G.row(target, "Target", "not in G")
    found = paths_from(G.reverse, row, cutoff)
    return {node: path[::-1] for node, path in found.items()}


@offer()
def all_pairs_shortest_path_length(G: Any, cutoff: int | None = None) -> Iterator[tuple[Node, dict[Node, int]]]:
    return ((node, lengths_from(G, row, cutoff)) for row, node in enumerate(G.nodes))


@offer()
def all_pairs_shortest_path(G: Any, cutoff: int | None = None) -> Iterator[tuple[Node, dict[Node, list[Node]]]]:
    return ((node, paths_from(G, row, cutoff)) for row, node in enumerate(G.nodes))


def neighbours(G: NxGraph, back: bool) -> Callable[[int], list[int]]:
    """The function from a row to its successors, or to its predecessors."""
    if G.ordered is not None:
        ordered = G.reverse.ordered if back else G.ordered
        assert ordered is not None
        return ordered.list
    direction = "in" if back and G.is_directed() else "out"
    graph = G.graph
    return lambda row: graph.neighbors(row, direction=direction, dense=True).tolist()


def one_path(G: NxGraph, start: int, end: int) -> list[int] | None:
    """A shortest path by steps between two rows, by a search from both; the same path as in NetworkX."""
    if start == end:
        return [start]
    before: dict[int, int | None] = {start: None}
    after: dict[int, int | None] = {end: None}
    forward, backward = [start], [end]
    successors, predecessors = neighbours(G, back=False), neighbours(G, back=True)
    while forward and backward:
        if len(forward) <= len(backward):
            level, forward = forward, []
            seen, others, beside, fringe = before, after, successors, forward
        else:
            level, backward = backward, []
            seen, others, beside, fringe = after, before, predecessors, backward
        for row in level:
            for other in beside(row):
                if other not in seen:
                    fringe.append(other)
                    seen[other] = row
                if other in others:
                    return _chain(before, other)[::-1] + _chain(after, other)[1:]
    return None


def _chain(links: dict[int, int | None], row: int | None) -> list[int]:
    """The rows from a row along the links to the end."""
    rows = []
    while row is not None:
        rows.append(row)
        row = links[row]
    return rows


def path_between(G: NxGraph, source: Node, target: Node) -> list[Node]:
    """A shortest path by steps between two nodes."""
    for node, what in ((source, "Source"), (target, "Target")):
        if node not in G:
            raise nx.NodeNotFound(f"{what} {node} is not in G")
    found = one_path(G, G.row_of[source], G.row_of[target])
    if found is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return [G.nodes[row] for row in found]


@offer()
def bidirectional_shortest_path(G: Any, source: Node, target: Node) -> list[Node]:
    return path_between(G, source, target)


def two_nodes(source: str, target: str) -> Refusal:
    """Rejects ``None``, which NetworkX takes for all nodes."""

    def refuse(given: dict[str, Any]) -> str | None:
        if given[source] is None or given[target] is None:
            return f"esker looks for a path between two nodes, so it needs {source} and {target}"
        return None

    return refuse


@offer(refuse=two_nodes("source", "target"))
def has_path(G: Any, source: Node, target: Node) -> bool:
    try:
        path_between(G, source, target)
    except nx.NetworkXNoPath:
        return False
    return True


def _reached(G: NxGraph, node: Node) -> set[Node]:
    hash(node)  # raises TypeError for a node that cannot be one, as NetworkX does
    if node not in G:
        raise nx.NetworkXError(f"The node {node} is not in the graph.")
    return set(list(lengths_from(G, G.row_of[node]))[1:])


@offer()
def descendants(G: Any, source: Node) -> set[Node]:
    return _reached(G, source)


@offer()
def ancestors(G: Any, source: Node) -> set[Node]:
    return _reached(G.reverse, source)


@offer()
def descendants_at_distance(G: Any, source: Node, distance: int) -> set[Node]:
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    if not 0 <= distance <= len(G):
        return set()
    return {node for node, steps in lengths_from(G, G.row_of[source], distance).items() if steps == distance}
