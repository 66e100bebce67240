"""Functions of NetworkX on shortest paths by number of steps."""

from __future__ import annotations

from typing import Any, Iterator

import networkx as nx
import numpy as np

from .graph import NxGraph
from .offer import offer

Node = Any


def lengths_from(G: NxGraph, source: int, cutoff: float | None = None) -> dict[Node, int]:
    """The number of steps from a row to each reached node, nearest first."""
    depths = G.depths([source])
    reached = np.flatnonzero(depths >= 0 if cutoff is None else (depths >= 0) & (depths <= cutoff))
    order = reached[np.argsort(depths[reached], kind="stable")]
    return {G.nodes[row]: depth for row, depth in zip(order.tolist(), depths[order].tolist())}


def _tree(G: NxGraph, source: int, method: str) -> tuple[np.ndarray, np.ndarray]:
    """The parent of each row in a tree of paths from `source`, and the reached rows, parents before children."""
    found = G.run(method, [source], parents=True, deterministic=True)
    first, parents = found.column(), found.column("parent")
    missing = first.is_missing(dense=True)
    rows = np.flatnonzero(~missing)
    before = np.full(len(G), -1)
    known = ~parents.is_missing(dense=True)
    before[known] = G.rows_of_vertices(parents.to_numpy(dense=True)[known])
    return before, rows[np.argsort(first.to_numpy(dense=True)[rows], kind="stable")]


def _path(G: NxGraph, before: np.ndarray, row: int, source: int) -> list[Node]:
    path = [row]
    while row != source:
        row = int(before[row])
        path.append(row)
    return [G.nodes[one] for one in path[::-1]]


def paths_from(G: NxGraph, source: int, method: str, keep: np.ndarray | None = None) -> dict[Node, list[Node]]:
    before, rows = _tree(G, source, method)
    return {G.nodes[row]: _path(G, before, row, source) for row in rows.tolist() if keep is None or keep[row]}


def _within(G: NxGraph, source: int, cutoff: float | None) -> np.ndarray | None:
    return None if cutoff is None else G.depths([source]) <= cutoff


@offer()
def single_source_shortest_path_length(G: Any, source: Node, cutoff: int | None = None) -> dict[Node, int]:
    return lengths_from(G, G.row(source, "Source"), cutoff)


@offer()
def single_target_shortest_path_length(G: Any, target: Node, cutoff: int | None = None) -> dict[Node, int]:
    return lengths_from(G.reverse, G.row(target, "Target"), cutoff)


@offer()
def single_source_shortest_path(G: Any, source: Node, cutoff: int | None = None) -> dict[Node, list[Node]]:
    row = G.row(source, "Source", "not in G")
    return paths_from(G, row, "bfs", _within(G, row, cutoff))


@offer()
def single_target_shortest_path(G: Any, target: Node, cutoff: int | None = None) -> dict[Node, list[Node]]:
    row = G.row(target, "Target", "not in G")
    found = paths_from(G.reverse, row, "bfs", _within(G.reverse, row, cutoff))
    return {node: path[::-1] for node, path in found.items()}


@offer()
def all_pairs_shortest_path_length(G: Any, cutoff: int | None = None) -> Iterator[tuple[Node, dict[Node, int]]]:
    return ((node, lengths_from(G, row, cutoff)) for row, node in enumerate(G.nodes))


@offer()
def all_pairs_shortest_path(G: Any, cutoff: int | None = None) -> Iterator[tuple[Node, dict[Node, list[Node]]]]:
    return ((node, paths_from(G, row, "bfs", _within(G, row, cutoff))) for row, node in enumerate(G.nodes))


def one_path(G: NxGraph, source: Node, target: Node, method: str) -> list[Node]:
    start, end = G.row(source, "Source"), G.row(target, "Target")
    before, rows = _tree(G, start, method)
    if end not in rows:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return _path(G, before, end, start)


@offer()
def bidirectional_shortest_path(G: Any, source: Node, target: Node) -> list[Node]:
    return one_path(G, source, target, "bfs")


@offer()
def has_path(G: Any, source: Node, target: Node) -> bool:
    start, end = G.row(source, "Source"), G.row(target, "Target")
    return bool(G.depths([start])[end] >= 0)


def _reached(G: NxGraph, node: Node) -> set[Node]:
    if node not in G:
        raise nx.NetworkXError(f"The node {node} is not in the graph.")
    row = G.row_of[node]
    return {G.nodes[one] for one in np.flatnonzero(G.depths([row]) >= 0).tolist() if one != row}


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
    depths = G.depths([G.row_of[source]])
    return {G.nodes[row] for row in np.flatnonzero(depths == distance).tolist() if distance >= 0}
