"""Functions of NetworkX on distances by steps: eccentricity, closeness and others, with one search from each node."""

from __future__ import annotations

from typing import Any, Iterable, Iterator

import networkx as nx
import numpy as np

from .graph import NxGraph
from .measures import weight_option
from .offer import offer, unless
from .paths import path_between, two_nodes

Node = Any


def _searches(G: NxGraph, rows: Iterable[int] | None = None) -> Iterator[tuple[int, np.ndarray]]:
    """Yields each of the given rows (all by default) with the steps from it to all rows."""
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


@offer("undirected", refuse=two_nodes("u", "v"))
def efficiency(G: Any, u: Node, v: Node) -> float:
    try:
        return 1 / (len(path_between(G, u, v)) - 1)
    except nx.NetworkXNoPath:
        return 0


@offer("undirected")
def global_efficiency(G: Any) -> float:
    n = len(G)
    if n * (n - 1) == 0:
        return 0
    return float(sum((1 / depths[depths > 0]).sum() for _, depths in _searches(G))) / (n * (n - 1))


@offer()
def closeness_centrality(G: Any, u: Node = None, distance: Any = None, wf_improved: bool = True) -> Any:
    by_length = weight_option(G, distance)
    if u is None and wf_improved:
        return G.by_node(G.values("closeness", **by_length))
    if by_length:
        raise NotImplementedError("esker supports closeness by distance of all nodes, improved")
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


@offer(refuse=unless(nbunch=None, sources=None))
def harmonic_centrality(G: Any, nbunch: Any = None, distance: Any = None, sources: Any = None) -> dict[Node, float]:
    values = dict(zip(G.nodes, G.values("harmonic", **weight_option(G, distance)).tolist()))
    return {node: values[node] or 0 for node in set(iter(G.nodes))}  # the order of NetworkX
