"""Functions of NetworkX on PageRank and betweenness."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from .. import _columns
from .._settings import run_settings
from .graph import NxGraph
from .offer import offer, unless

Node = Any


def _vector(G: NxGraph, given: dict[Node, float] | None) -> np.ndarray | None:
    """The normalised weight of each row, 0 for nodes without one; ``None`` for equal weights."""
    if given is None:
        return None
    weights = np.array([given.get(node, 0) for node in G.nodes], dtype=np.float64)
    if weights.sum() == 0:
        raise ZeroDivisionError("the weights sum to 0")
    return weights / weights.sum()


def _refuse_pagerank(given: dict[str, Any]) -> str | None:
    if given["nstart"] is not None:
        return "esker does not support nstart; it starts from equal scores"
    same = given["dangling"] is None or given["dangling"] == given["personalization"]
    return None if same else "esker supports dangling only if it equals personalization"


@offer(refuse=_refuse_pagerank)
def pagerank(
    G: Any,
    alpha: float = 0.85,
    personalization: dict[Node, float] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Any = None,
    weight: str | None = "weight",
    dangling: Any = None,
) -> dict[Node, float]:
    if len(G) == 0:
        return {}
    if weight is not None and G.weighted and G.weight == weight:
        raise NotImplementedError("esker's PageRank does not support weights, and the edges of this graph have weights")
    if G._remaining is not None and personalization is not None:
        raise NotImplementedError("esker does not support personalization for a graph with removed vertices")
    teleport = _vector(G, personalization)
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    column = None if teleport is None else _columns.column(teleport, "personalization")
    settings = run_settings(threads=G.threads, deterministic=True)
    scores, converged = G.graph._native.pagerank(float(alpha), len(G) * float(tol), int(max_iter), column, settings)
    if not converged:
        raise nx.PowerIterationFailedConvergence(max_iter)
    return G.by_node(np.asarray(scores))


@offer(refuse=unless(k=None, weight=None, endpoints=False))
def betweenness_centrality(
    G: Any, k: int | None = None, normalized: bool = True, weight: Any = None, endpoints: bool = False, seed: Any = None
) -> dict[Node, float]:
    return G.by_node(G.values("betweenness", scale="fraction" if normalized and len(G) > 2 else "pairs"))
