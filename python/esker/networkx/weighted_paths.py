"""Functions of NetworkX on shortest paths by weight."""

from __future__ import annotations

import math
from typing import Any, Iterator

import networkx as nx
import numpy as np

from .. import _columns
from .._errors import UnsuitableError
from .graph import NxGraph
from .offer import offer, weight_by_name
from .paths import lengths_from, path_between, paths_of, tree_paths

Node = Any


def _check_weight(G: NxGraph, weight: str | None) -> str:
    """The algorithm for weights of this name: ``bfs`` without weights, ``sssp``, or ``bellman_ford`` if a weight is negative."""
    if weight is None or not G.has_weights and not G.has_property(weight):
        return "bfs"
    if G.weight != weight:
        raise NotImplementedError(f"the weight of this graph is {G.weight!r}, not {weight!r}")
    least = G.__dict__.get("least_weight")
    if least is None:
        values = G._lists.weights if G._lists is not None else G.weight_values
        least = G.__dict__["least_weight"] = values.min() if len(values) else 0
    return "bellman_ford" if least < 0 else "sssp"


def _dijkstra_method(G: NxGraph, weight: str | None) -> str:
    method = _check_weight(G, weight)
    if method == "bellman_ford":
        raise NotImplementedError("esker does not support negative weights here; NetworkX would report contradictory paths")
    return method


def _bellman_ford_method(G: NxGraph, weight: str | None) -> str:
    method = _check_weight(G, weight)
    if G.ordered is not None:
        return "bellman_ford bfs" if method == "bfs" else "bellman_ford"
    if method == "bellman_ford" and not G.is_directed():
        raise NotImplementedError("an undirected edge of negative weight is a negative cycle")
    return method


def _bellman_ford_row(G: NxGraph, source: Node, target: Node = None) -> int:
    if source != target:
        hash(source)  # raises TypeError for a node that cannot be one, as NetworkX does
    return G.row(source)


def _weighted_lengths(G: NxGraph, source: int, method: str, cutoff: float | None = None) -> dict[Node, Any]:
    if G.ordered is not None:
        return _in_order(G, source, method, cutoff)[0]
    if method == "bfs":
        return lengths_from(G, source, None if cutoff is None else math.floor(cutoff))
    found = _search(G, source, method)
    column = found.column()
    values = column.to_numpy(dense=True)
    rows = np.flatnonzero(~column.is_missing())
    rows = rows[np.argsort(values[rows], kind="stable")]
    pairs = zip(rows.tolist(), values[rows].tolist())
    return {G.nodes[row]: length for row, length in pairs if cutoff is None or length <= cutoff or row == source}


def _in_order(
    G: NxGraph, source: int, method: str, cutoff: float | None = None, target: int | None = None, paths: bool = False
) -> tuple[dict[Node, Any], dict[Node, list[Node]]]:
    """Lengths, and paths if asked for, as NetworkX finds them; Dijkstra's search ends at a target."""
    lists, ordered = G._lists, G.ordered
    assert ordered is not None
    weights = lists.weights if lists is not None and not method.endswith("bfs") else None
    column = _columns.column(np.ones(len(G.arcs[0]), dtype=np.int64) if weights is None else weights, "weights")
    try:
        if method.startswith("bellman_ford"):
            found = ordered.bellman_ford(column, source)
        else:
            found = ordered.dijkstra(column, source, target, None if cutoff is None else float(cutoff))
    except UnsuitableError as error:
        raise NotImplementedError(str(error)) from error
    if found is None:
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    rows, lengths, parents, arcs = (np.asarray(column) for column in found)
    values = lengths.tolist()
    if lengths.dtype.kind == "f":
        values[0] = 0
    if lists is not None and lists.whole is not None and weights is not None:
        _make_integers(rows, values, parents, arcs, lists.whole)
    by_node = dict(zip(map(G.nodes.__getitem__, rows.tolist()), values))
    return by_node, paths_of(G, rows, parents) if paths else {}


def _make_integers(rows: np.ndarray, values: list[Any], parents: np.ndarray, arcs: np.ndarray, whole: np.ndarray) -> None:
    """Makes lengths integers where all weights on the path are integers."""
    links = dict(zip(rows.tolist(), zip(parents.tolist(), arcs.tolist())))
    integral = {-1: True}
    for at, row in enumerate(rows.tolist()):
        missing = []
        while row not in integral:
            missing.append(row)
            row = links[row][0]
        for one in reversed(missing):
            parent, arc = links[one]
            integral[one] = integral[parent] and (arc < 0 or bool(whole[arc]))
        if integral[int(rows[at])]:
            values[at] = int(values[at])


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
    if G.ordered is not None:
        return _in_order(G, source, method, cutoff, paths=True)[1]
    if method == "bellman_ford":
        _search(G, source, method)
    keep = None
    if cutoff is not None:
        kept = _weighted_lengths(G, source, method, cutoff)
        keep = np.array([node in kept for node in G.nodes], dtype=bool)
    return tree_paths(G, source, method, keep)


def _target_row(G: NxGraph, target: Node) -> int | None:
    """The row of a node; ``None`` for what is no node, at which NetworkX, too, looks after the search only."""
    try:
        return G.row_of.get(target)
    except TypeError:
        return None


def _to(G: NxGraph, source: int, target: Node, method: str, message: str, cutoff: float | None = None) -> tuple[Any, list[Node]]:
    """The length of a shortest path between a row and a node, and the path."""
    row = _target_row(G, target)
    try:
        if G.ordered is not None:
            lengths, paths = _in_order(G, source, method, cutoff, row, paths=True)
            return lengths[target], paths[target]
        return _weighted_lengths(G, source, method, cutoff)[target], _weighted_paths(G, source, method, cutoff)[target]
    except KeyError:
        raise nx.NetworkXNoPath(message) from None


def _length_to(G: NxGraph, source: int, target: Node, method: str, message: str) -> Any:
    row = _target_row(G, target)
    try:
        if G.ordered is not None:
            return _in_order(G, source, method, target=row)[0][target]
        return _weighted_lengths(G, source, method)[target]
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


@offer(refuse=_path_refusal)
def shortest_path(
    G: Any, source: Node = None, target: Node = None, weight: Any = None, method: str = "dijkstra"
) -> list[Node]:
    return path_between(G, source, target)


def _lengths_refusal(given: dict[str, Any]) -> str | None:
    if given["source"] is None:
        return "esker returns lengths from a single source, so it needs source"
    return _path_refusal({**given, "target": 0, "lengths": True})


@offer(refuse=_lengths_refusal)
def shortest_path_length(
    G: Any, source: Node = None, target: Node = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    if weight is None:
        return lengths_from(G, G.row(source, "Source")) if target is None else len(path_between(G, source, target)) - 1
    if target is None:
        lengths = single_source_dijkstra_path_length if method == "dijkstra" else single_source_bellman_ford_path_length
        return lengths(G, source, weight=weight)
    return (dijkstra_path_length if method == "dijkstra" else bellman_ford_path_length)(G, source, target, weight)


@offer(refuse=weight_by_name)
def dijkstra_path(G: Any, source: Node, target: Node, weight: Any = "weight") -> list[Node]:
    return single_source_dijkstra(G, source, target, weight=weight)[1]


@offer(refuse=weight_by_name)
def dijkstra_path_length(G: Any, source: Node, target: Node, weight: Any = "weight") -> Any:
    row = G.row(source)
    if source == target:
        return 0
    return _length_to(G, row, target, _dijkstra_method(G, weight), f"Node {target} not reachable from {source}")


@offer(refuse=weight_by_name)
def single_source_dijkstra(
    G: Any, source: Node, target: Node = None, cutoff: float | None = None, weight: Any = "weight"
) -> Any:
    hash(source)  # raises TypeError for a node that cannot be one, as NetworkX does
    row, method = G.row(source), _dijkstra_method(G, weight)
    if target is not None and target == source:
        return 0, [target]
    if target is not None:
        return _to(G, row, target, method, f"No path to {target}.", cutoff)
    if G.ordered is not None:
        return _in_order(G, row, method, cutoff, paths=True)
    return _weighted_lengths(G, row, method, cutoff), _weighted_paths(G, row, method, cutoff)


@offer(refuse=weight_by_name)
def single_source_dijkstra_path(
    G: Any, source: Node, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Node, list[Node]]:
    hash(source)  # raises TypeError for a node that cannot be one, as NetworkX does
    return _weighted_paths(G, G.row(source), _dijkstra_method(G, weight), cutoff)


@offer(refuse=weight_by_name)
def single_source_dijkstra_path_length(
    G: Any, source: Node, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Node, Any]:
    hash(source)  # raises TypeError for a node that cannot be one, as NetworkX does
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
    return single_source_bellman_ford(G, source, target, weight)[1]


@offer(refuse=weight_by_name)
def bellman_ford_path_length(G: Any, source: Node, target: Node, weight: Any = "weight") -> Any:
    row = _bellman_ford_row(G, source, target)
    if source == target:
        return 0
    message = f"node {target} not reachable from {source}"
    return _length_to(G, row, target, _bellman_ford_method(G, weight), message)


@offer(refuse=weight_by_name)
def single_source_bellman_ford(G: Any, source: Node, target: Node = None, weight: Any = "weight") -> Any:
    row, method = _bellman_ford_row(G, source, target), _bellman_ford_method(G, weight)
    if target is not None and source == target:
        return 0, [source]
    if target is not None:
        return _to(G, row, target, method, f"Node {target} not reachable from {source}")
    return _weighted_lengths(G, row, method), _weighted_paths(G, row, method)


@offer(refuse=weight_by_name)
def single_source_bellman_ford_path(G: Any, source: Node, weight: Any = "weight") -> dict[Node, list[Node]]:
    return single_source_bellman_ford(G, source, None, weight)[1]


@offer(refuse=weight_by_name)
def single_source_bellman_ford_path_length(G: Any, source: Node, weight: Any = "weight") -> dict[Node, Any]:
    return _weighted_lengths(G, _bellman_ford_row(G, source), _bellman_ford_method(G, weight))


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
    source, target = table.source.astype(np.int64), table.target.astype(np.int64)
    values = np.concatenate([G.weight_values, np.zeros(n)])
    ends = np.concatenate([source, np.full(n, n)]), np.concatenate([target, np.arange(n)])
    try:
        _search(NxGraph(ends, list(range(n + 1)), True, "weight", values), n, "bellman_ford")
    except nx.NetworkXUnbounded:
        return True
    return False
