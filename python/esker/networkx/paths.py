"""Shortest paths, by steps and by weight, and what is made of their lengths."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator

import networkx as nx
import numpy as np

from .._errors import UnsuitableError
from .graph import NxGraph
from .offer import offer, unless, weight_by_name

Node = Any

# -- by steps


def _lengths(G: NxGraph, source: int, cutoff: float | None = None) -> dict[Node, int]:
    """Steps from a row, the nearest first."""
    depths = G.depths([source])
    reached = np.flatnonzero(depths >= 0 if cutoff is None else (depths >= 0) & (depths <= cutoff))
    order = reached[np.argsort(depths[reached], kind="stable")]
    return {G.nodes[row]: depth for row, depth in zip(order.tolist(), depths[order].tolist())}


def _trees(G: NxGraph, source: int, method: str) -> tuple[np.ndarray, np.ndarray]:
    """The row before each on a path from a row, and the rows that are reached, a parent always before its children."""
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


def _paths(G: NxGraph, source: int, method: str, keep: np.ndarray | None = None) -> dict[Node, list[Node]]:
    before, rows = _trees(G, source, method)
    return {G.nodes[row]: _path(G, before, row, source) for row in rows.tolist() if keep is None or keep[row]}


def _within(G: NxGraph, source: int, cutoff: float | None) -> np.ndarray | None:
    return None if cutoff is None else G.depths([source]) <= cutoff


@offer()
def single_source_shortest_path_length(G: Any, source: Node, cutoff: int | None = None) -> dict[Node, int]:
    return _lengths(G, G.row(source, "Source"), cutoff)


@offer()
def single_target_shortest_path_length(G: Any, target: Node, cutoff: int | None = None) -> dict[Node, int]:
    return _lengths(G.reverse, G.row(target, "Target"), cutoff)


@offer()
def single_source_shortest_path(G: Any, source: Node, cutoff: int | None = None) -> dict[Node, list[Node]]:
    row = G.row(source, "Source", "not in G")
    return _paths(G, row, "bfs", _within(G, row, cutoff))


@offer()
def single_target_shortest_path(G: Any, target: Node, cutoff: int | None = None) -> dict[Node, list[Node]]:
    row = G.row(target, "Target", "not in G")
    found = _paths(G.reverse, row, "bfs", _within(G.reverse, row, cutoff))
    return {node: path[::-1] for node, path in found.items()}


@offer()
def all_pairs_shortest_path_length(G: Any, cutoff: int | None = None) -> Iterator[tuple[Node, dict[Node, int]]]:
    return ((node, _lengths(G, row, cutoff)) for row, node in enumerate(G.nodes))


@offer()
def all_pairs_shortest_path(G: Any, cutoff: int | None = None) -> Iterator[tuple[Node, dict[Node, list[Node]]]]:
    return ((node, _paths(G, row, "bfs", _within(G, row, cutoff))) for row, node in enumerate(G.nodes))


def _one_path(G: NxGraph, source: Node, target: Node, method: str) -> list[Node]:
    start, end = G.row(source, "Source"), G.row(target, "Target")
    before, rows = _trees(G, start, method)
    if end not in rows:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return _path(G, before, end, start)


@offer()
def bidirectional_shortest_path(G: Any, source: Node, target: Node) -> list[Node]:
    return _one_path(G, source, target, "bfs")


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


# -- of all pairs, a search from each


def _searches(G: NxGraph, rows: Iterable[int] | None = None) -> Iterator[tuple[int, np.ndarray]]:
    """Steps from each row, or from some."""
    for row in range(len(G)) if rows is None else rows:
        yield row, G.depths([row])


def _eccentricities(G: NxGraph, rows: Iterable[int] | None = None) -> dict[int, int]:
    found = {}
    for row, depths in _searches(G, rows):
        if (depths < 0).any():
            if G.is_directed():
                raise nx.NetworkXError("Found infinite path length because the digraph is not strongly connected")
            raise nx.NetworkXError("Found infinite path length because the graph is not connected")
        found[row] = int(depths.max())
    return found


@offer(refuse=unless(sp=None, weight=None))
def eccentricity(G: Any, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    if v is None:
        return {G.nodes[row]: found for row, found in _eccentricities(G).items()}
    if v in G:
        return _eccentricities(G, [G.row_of[v]])[G.row_of[v]]
    try:
        nodes = iter(v)
    except TypeError as error:
        raise nx.NetworkXError("nbunch is not a node or a sequence of nodes.") from error
    chosen = [G.row_of[node] for node in nodes if node in G]
    return {G.nodes[row]: found for row, found in _eccentricities(G, chosen).items()}


_by_steps = unless(usebounds=False, weight=None)


def _given_or_found(G: NxGraph, e: Any) -> dict[Node, int]:
    return e if e is not None else {G.nodes[row]: found for row, found in _eccentricities(G).items()}


@offer(refuse=_by_steps)
def diameter(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> int:
    return max(_given_or_found(G, e).values())


@offer(refuse=_by_steps)
def radius(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> int:
    return min(_given_or_found(G, e).values())


@offer(refuse=_by_steps)
def center(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Node]:
    if e is None and len(G) == 0 and not G.is_directed():
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    found = _given_or_found(G, e)
    least = min(found.values())
    return [node for node in found if found[node] == least]


@offer(refuse=_by_steps)
def periphery(G: Any, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Node]:
    found = _given_or_found(G, e)
    most = max(found.values())
    return [node for node in found if found[node] == most]


@offer(refuse=unless(weight=None, method=None))
def average_shortest_path_length(G: Any, weight: Any = None, method: str | None = None) -> float:
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if n == 1:
        return 0
    if G.is_directed() and G.run("scc").components != 1:
        raise nx.NetworkXError("Graph is not strongly connected.")
    if not G.is_directed() and G.num_components != 1:
        raise nx.NetworkXError("Graph is not connected.")
    return sum(int(depths.sum()) for _, depths in _searches(G)) / (n * (n - 1))


@offer(refuse=unless(weight=None))
def wiener_index(G: Any, weight: Any = None) -> float:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if (G.run("scc").components if G.is_directed() else G.num_components) != 1:
        return float("inf")
    total = sum(int(depths.sum()) for _, depths in _searches(G))
    return total if G.is_directed() else total / 2


@offer("undirected")
def efficiency(G: Any, u: Node, v: Node) -> float:
    depth = int(G.depths([G.row(u, "Source")])[G.row(v, "Target")])
    if depth < 0:
        return 0
    return 1 / depth


@offer("undirected")
def global_efficiency(G: Any) -> float:
    n = len(G)
    if n * (n - 1) == 0:
        return 0
    return float(sum((1 / depths[depths > 0]).sum() for _, depths in _searches(G))) / (n * (n - 1))


@offer(refuse=unless(distance=None))
def closeness_centrality(G: Any, u: Node = None, distance: Any = None, wf_improved: bool = True) -> Any:
    n, towards, found = len(G), G.reverse, {}
    rows = range(n) if u is None else [G.row(u)]
    for row, depths in _searches(towards, rows):
        reached = depths >= 0
        total, count = int(depths[reached].sum()), int(reached.sum())
        closeness = 0.0
        if total > 0 and n > 1:
            closeness = (count - 1.0) / total
            if wf_improved:
                closeness *= (count - 1.0) / (n - 1)
        found[G.nodes[row]] = closeness
    return found if u is None else found[u]


@offer(refuse=unless(nbunch=None, distance=None, sources=None))
def harmonic_centrality(G: Any, nbunch: Any = None, distance: Any = None, sources: Any = None) -> dict[Node, float]:
    found = {}
    for row, depths in _searches(G.reverse):
        found[G.nodes[row]] = float((1 / depths[depths > 0]).sum())
    return found


# -- by weight


def _check_weight(G: NxGraph, weight: str | None) -> str:
    """The kind of search for weights of this name: ``bfs``, ``sssp``, or ``bellman_ford`` where some are negative."""
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
        raise NotImplementedError("esker refuses negative weights where NetworkX finds contradictory paths")
    return method


def _bellman_ford_method(G: NxGraph, weight: str | None) -> str:
    method = _check_weight(G, weight)
    if method == "bellman_ford" and not G.is_directed():
        raise NotImplementedError("an undirected edge of negative weight is a negative cycle")
    return method


def _weighted_lengths(G: NxGraph, source: int, method: str, cutoff: float | None = None) -> dict[Node, Any]:
    if method == "bfs":
        return _lengths(G, source, cutoff)
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
    return _paths(G, source, method, keep)


Method = Callable[[NxGraph, "str | None"], str]


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
        return "esker gives one path: name source and target"
    if given["weight"] is not None and given["target"] is not None and "lengths" not in given:
        return "esker may choose another of several shortest paths: dijkstra_path and bellman_ford_path allow that"
    if given["method"] not in ("dijkstra", "bellman-ford"):
        return f"esker knows the methods dijkstra and bellman-ford, not {given['method']!r}"
    return weight_by_name(given)


def _chosen_method(G: NxGraph, weight: str | None, method: str) -> str:
    return _dijkstra_method(G, weight) if method == "dijkstra" else _bellman_ford_method(G, weight)


@offer(refuse=_path_refusal)
def shortest_path(
    G: Any, source: Node = None, target: Node = None, weight: Any = None, method: str = "dijkstra"
) -> list[Node]:
    return _one_path(G, source, target, "bfs")


def _lengths_refusal(given: dict[str, Any]) -> str | None:
    if given["source"] is None:
        return "esker gives lengths from a source: name it"
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
    # A source from which everything is reached: a row more, with edges of no weight to all.
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
