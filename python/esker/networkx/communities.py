"""Functions of NetworkX on communities."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from .._graph import Graph
from .centrality import arc_weights, has_weights
from .graph import NxGraph
from .offer import offer, unless
from .structure import node_groups

Node = Any


def _found(G: NxGraph, method: str, weight: str | None, resolution: float, seed: Any) -> list[set[Node]]:
    options: dict[str, Any] = {"resolution": float(resolution), "seed": seed.randint(1, 2**31 - 1) if seed is not None else 0}
    if has_weights(G, weight):
        values = G.weight_values
        if not np.isfinite(values).all() or (values < 0).any():
            raise NotImplementedError("esker finds communities by weights that are finite and not negative")
        options["weight"] = G.weight if isinstance(G._given, Graph) else G.graph.weight
    return node_groups(G, G.values(method, **options)) if len(G) else []


def _refuse(given: dict[str, Any]) -> str | None:
    resolution = given["resolution"]
    if not isinstance(resolution, (int, float, np.number)) or not 0 < resolution < float("inf"):
        return f"esker does not support resolution={resolution!r}"
    return unless(max_level=None, threshold=0.0000001)(given) if "threshold" in given else unless(max_level=None)(given)


@offer("undirected only", refuse=_refuse)
def louvain_communities(
    G: Any,
    weight: str | None = "weight",
    resolution: float = 1,
    threshold: float = 0.0000001,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Node]]:
    return _found(G, "louvain", weight, resolution, seed)


@offer("undirected", refuse=_refuse)
def leiden_communities(
    G: Any, weight: str | None = "weight", resolution: float = 1, max_level: int | None = None, seed: Any = None
) -> list[set[Node]]:
    return _found(G, "leiden", weight, resolution, seed)


@offer()
def modularity(G: Any, communities: Any, weight: str | None = "weight", resolution: float = 1) -> float:
    communities = communities if isinstance(communities, list) else list(communities)
    labels = np.full(len(G), -1)
    for label, community in enumerate(communities):
        rows = [G.row_of.get(node, -1) for node in community]
        if -1 in rows or (labels[rows] >= 0).any():
            raise nx.community.quality.NotAPartition(G, communities)
        labels[rows] = label
    if (labels < 0).any():
        raise nx.community.quality.NotAPartition(G, communities)
    source, target = G.arcs
    weights = arc_weights(G, weight)
    weights = np.ones(len(source)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not G.is_directed():
        weights = np.where(source == target, 2 * weights, weights)
    total = weights.sum()
    if total == 0:
        raise ZeroDivisionError("the weights of the edges add up to 0")
    count = len(communities)
    inside = np.bincount(labels[source], weights * (labels[source] == labels[target]), minlength=count)
    leaving = np.bincount(labels[source], weights, minlength=count)
    arriving = np.bincount(labels[target], weights, minlength=count)
    return float((inside / total - resolution * (leaving / total) * (arriving / total)).sum())
