"""Functions of NetworkX on shortest paths by weight."""

from __future__ import annotations

from typing import Any, Iterator

import networkx as nx
import numpy as np

from .._errors import UnsuitableError
from .graph import NxGraph
from .offer import offer, weight_by_name
from .paths import lengths_from, one_path, paths_from

Node = Any


def _check_weight(G: NxGraph, weight: str | None) -> str:
    """The algorithm for weights of this name: ``bfs`` without weights, ``sssp``, or ``bellman_ford`` if a weight is negative."""
    if weight is None or not G.weighted:
        return "bfs"
    if G.weight != weight:
        raise NotImplementedError(f"the weight of this graph is {G.weight!r}, not {weight!r}")
    least = G.__dict__.get("least_weight")
    if least is None:
        values = np.asarray(G.graph.edges().properties[G.graph.weight])
        least = G.__dict__["least_weight"] = values.min() if len(values) else 0
    return "bellman_ford" if least < 0 else "sssp"


def _dijkstra_method(G: NxGraph, weight: str | None) -> str:
    method = _check_weight(G, weight)
    if method == "bellman_ford":
        raise NotImplementedError("esker does not support negative weights here; NetworkX would report contradictory paths")
    return method


def _bellman_ford_method(G: NxGraph, weight: str | None) -> str:
    method = _check_weight(G, weight)
    if method == "bellman_ford" and not G.is_directed():
        raise NotImplementedError("an undirected edge of negative weight is a negative cycle")
    return method


def _weighted_lengths(G: NxGraph, source: int, method: str, cutoff: float | None = None) -> dict[Node, Any]:
    if method == "bfs":
        return lengths_from(G, source, cutoff)
    found = _search(G, source, method)
    column = found.column()
    values = column.to_numpy(dense=True)
    rows = np.flatnonzero(~column.is_missing(dense=True))
    rows = rows[np.argsort(values[rows], kind="stable")]
    pairs = zip(rows.tolist(), values[rows].tolist())
    return {G.nodes[row]: length for row, length in pairs if cutoff is None or length <= cutoff}


def _search(G: NxGraph, source: int, method: str, **options: Any) -> Any:
    try:
        found = G.run(method, [source], **options)
    except UnsuitableError as error:
        if "negative" in str(error) and "cycle" in str(error):
            raise nx.NetworkXUnbounded("Negative cycle detected.") from error
        raise
    if found.facts.get("negative_cycle"):
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    return found


def _weighted_paths(G: NxGraph, source: int, method: str, cutoff: float | None = None) -> dict[Node, list[Node]]:
    if method == "bellman_ford":
        _search(G, source, method)
    keep = None
    if cutoff is not None:
        kept = _weighted_lengths(G, source, method, cutoff)
        keep = np.array([node in kept for node in G.nodes], dtype=bool)
    return paths_from(G, source, method, keep)


def _length_to(G: NxGraph, source: Node, target: Node, method: str, message: str) -> Any:
    found = _weighted_lengths(G, G.row(source, "Node"), method)
    try:
        return found[target]
    except KeyError:
        raise nx.NetworkXNoPath(message) from None


def _path_to(G: NxGraph, source: Node, target: Node, method: str, message: str) -> list[Node]:
    try:
        return _weighted_paths(G, G.row(source, "Node"), method)[target]
    except KeyError:
        raise nx.NetworkXNoPath(message) from None


def _path_refusal(given: dict[str, Any]) -> str | None:
    if given["source"] is None or given["target"] is None:
        return "esker returns a single path, so it needs source and target"
    if given["weight"] is not None and given["target"] is not None and "lengths" not in given:
        return "esker can return another of several shortest paths; dijkstra_path and bellman_ford_path allow that"
    if given["method"] not in ("dijkstra", "bellman-ford"):
        return f"esker supports the methods dijkstra and bellman-ford, not {given['method']!r}"
    return weight_by_name(given)


def _chosen_method(G: NxGraph, weight: str | None, method: str) -> str:
    return _dijkstra_method(G, weight) if method == "dijkstra" else _bellman_ford_method(G, weight)


@offer(refuse=_path_refusal)
def shortest_path(
    G: Any, source: Node = None, target: Node = None, weight: Any = None, method: str = "dijkstra"
) -> list[Node]:
    return one_path(G, source, target, "bfs")


def _lengths_refusal(given: dict[str, Any]) -> str | None:
    if given["source"] is None:
        return "esker returns lengths from a single source, so it needs source"
    return _path_refusal({**given, "target": 0, "lengths": True})


@offer(refuse=_lengths_refusal)
def shortest_path_length(
    G: Any, source: Node = None, target: Node = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    kind = "bfs" if weight is None else _chosen_method(G, weight, method)
    if target is None:
        return _weighted_lengths(G, G.row(source, "Source" if weight is None else "Node"), kind)
    G.row(target, "Target")
    return _length_to(G, source, target, kind, f"Node {target} not reachable from {source}")


@offer(refuse=weight_by_name)
def dijkstra_path(G: Any, source: Node, target: Node, weight: Any = "weight") -> list[Node]:
    return _path_to(G, source, target, _dijkstra_method(G, weight), f"No path to {target}.")


@offer(refuse=weight_by_name)
def dijkstra_path_length(G: Any, source: Node, target: Node, weight: Any = "weight") -> Any:
    if source == target and source in G:
        return 0
    return _length_to(G, source, target, _dijkstra_method(G, weight), f"Node {target} not reachable from {source}")


@offer(refuse=weight_by_name)
def single_source_dijkstra(
    G: Any, source: Node, target: Node = None, cutoff: float | None = None, weight: Any = "weight"
) -> Any:
    row, method = G.row(source), _dijkstra_method(G, weight)
    if target is not None and target == source:
        return 0, [target]
    lengths, paths = _weighted_lengths(G, row, method, cutoff), _weighted_paths(G, row, method, cutoff)
    if target is None:
        return lengths, paths
    try:
        return lengths[target], paths[target]
    except KeyError:
        raise nx.NetworkXNoPath(f"No path to {target}.") from None


@offer(refuse=weight_by_name)
def single_source_dijkstra_path(
    G: Any, source: Node, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Node, list[Node]]:
    return _weighted_paths(G, G.row(source), _dijkstra_method(G, weight), cutoff)


@offer(refuse=weight_by_name)
def single_source_dijkstra_path_length(
    G: Any, source: Node, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Node, Any]:
    return _weighted_lengths(G, G.row(source), _dijkstra_method(G, weight), cutoff)


@offer(refuse=weight_by_name)
def all_pairs_dijkstra_path_length(
    G: Any, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Node, dict[Node, Any]]]:
    method = _dijkstra_method(G, weight)
    return ((node, _weighted_lengths(G, row, method, cutoff)) for row, node in enumerate(G.nodes))


@offer(refuse=weight_by_name)
def all_pairs_dijkstra_path(
    G: Any, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Node, dict[Node, list[Node]]]]:
    method = _dijkstra_method(G, weight)
    return ((node, _weighted_paths(G, row, method, cutoff)) for row, node in enumerate(G.nodes))


@offer(refuse=weight_by_name)
def bellman_ford_path(G: Any, source: Node, target: Node, weight: Any = "weight") -> list[Node]:
    return _path_to(G, source, target, _bellman_ford_method(G, weight), f"Node {target} not reachable from {source}")


@offer(refuse=weight_by_name)
def bellman_ford_path_length(G: Any, source: Node, target: Node, weight: Any = "weight") -> Any:
    if source == target:
        G.row(source)
        return 0
    message = f"node {target} not reachable from {source}"
    return _length_to(G, source, target, _bellman_ford_method(G, weight), message)


@offer(refuse=weight_by_name)
def single_source_bellman_ford(G: Any, source: Node, target: Node = None, weight: Any = "weight") -> Any:
    row, method = G.row(source), _bellman_ford_method(G, weight)
    if target is not None and source == target:
        return 0, [source]
    lengths, paths = _weighted_lengths(G, row, method), _weighted_paths(G, row, method)
    if target is None:
        return lengths, paths
    try:
        return lengths[target], paths[target]
    except KeyError:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}") from None


@offer(refuse=weight_by_name)
def single_source_bellman_ford_path(G: Any, source: Node, weight: Any = "weight") -> dict[Node, list[Node]]:
    return _weighted_paths(G, G.row(source), _bellman_ford_method(G, weight))


@offer(refuse=weight_by_name)
def single_source_bellman_ford_path_length(G: Any, source: Node, weight: Any = "weight") -> dict[Node, Any]:
    return _weighted_lengths(G, G.row(source), _bellman_ford_method(G, weight))


@offer(refuse=weight_by_name)
def all_pairs_bellman_ford_path_length(G: Any, weight: Any = "weight") -> Iterator[tuple[Node, dict[Node, Any]]]:
    method = _bellman_ford_method(G, weight)
    return ((node, _weighted_lengths(G, row, method)) for row, node in enumerate(G.nodes))


@offer(refuse=weight_by_name)
def all_pairs_bellman_ford_path(G: Any, weight: Any = "weight") -> Iterator[tuple[Node, dict[Node, list[Node]]]]:
    method = _bellman_ford_method(G, weight)
    return ((node, _weighted_paths(G, row, method)) for row, node in enumerate(G.nodes))


@offer(refuse=weight_by_name)
def negative_edge_cycle(G: Any, weight: Any = "weight", heuristic: bool = True) -> bool:
    if len(G) == 0 or _check_weight(G, weight) != "bellman_ford":
        return False
    if not G.is_directed():
        return True
    # Add a row with edges of weight 0 to all rows, so that a search from it reaches every cycle.
    n = len(G)
    table = G.graph.edges()
    source, target = (G.rows_of_vertices(end).astype(np.int64) for end in (table.source, table.target))
    values = np.concatenate([np.asarray(table.properties[G.graph.weight]), np.zeros(n)])
    ends = np.concatenate([source, np.full(n, n)]), np.concatenate([target, np.arange(n)])
    try:
        _search(NxGraph(ends, list(range(n + 1)), True, "weight", values), n, "bellman_ford")
    except nx.NetworkXUnbounded:
        return True
    return False
