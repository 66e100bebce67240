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


@offer()
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
    teleport, start, ends = (_vector(G, given) for given in (personalization, nstart, dangling))
    weights = arc_weights(G, weight)
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    # What is no probability makes sense to NetworkX alone.
    is_usual = 0 <= alpha <= 1 and tol >= 0
    if is_usual and weights is None and teleport is None and start is None and ends is None:
        settings = run_settings(threads=G.threads, deterministic=True)
        found, converged = G.graph._native.pagerank(float(alpha), len(G) * float(tol), int(max_iter), settings)
        if not converged:
            raise nx.PowerIterationFailedConvergence(max_iter)
        return G.by_node(np.asarray(found))
    return G.by_node(_iterated(G, weights, alpha, teleport, start, ends, tol, max_iter))


def has_weights(G: NxGraph, weight: str | None) -> bool:
    """Whether edges have weights of this name other than 1."""
    if weight is None or not G.weighted and not G.has_property(weight):
        return False
    if G.weight != weight:
        raise NotImplementedError(f"the weight of this graph is {G.weight!r}, not {weight!r}")
    return True


def arc_weights(G: NxGraph, weight: str | None) -> np.ndarray | None:
    """The weight of each arc; ``None`` if all are 1."""
    return G.arc_weights if has_weights(G, weight) else None


def _iterated(
    G: NxGraph, weights: Any, alpha: float, teleport: Any, start: Any, ends: Any, tol: float, max_iter: int
) -> np.ndarray:
    """Scores by the power iteration of NetworkX: weights of edges, and weights of nodes for starts, jumps and ends."""
    n, (source, target) = len(G), G.arcs
    share = np.ones(len(source)) if weights is None else np.asarray(weights, dtype=np.float64)
    total = np.bincount(source, share, minlength=n)
    # As in NetworkX, edges whose weights cancel each other out at their source lead nowhere.
    share = share * np.divide(1.0, total, out=np.zeros(n), where=total != 0)[source]
    same = np.full(n, 1 / n)
    teleport = same if teleport is None else teleport
    ends = teleport if ends is None else ends
    scores = same if start is None else start
    for _ in range(max_iter):
        last = scores
        moved = np.bincount(target, share * last[source], minlength=n)
        scores = alpha * (moved + last[total == 0].sum() * ends) + (1 - alpha) * teleport
        if np.absolute(scores - last).sum() < n * tol:
            return scores
    raise nx.PowerIterationFailedConvergence(max_iter)


@offer(refuse=unless(weight=None, endpoints=False))
def betweenness_centrality(
    G: Any, k: int | None = None, normalized: bool = True, weight: Any = None, endpoints: bool = False, seed: Any = None
) -> dict[Node, float]:
    n = len(G)
    if k is None or k == n:
        return G.by_node(G.values("betweenness", scale="fraction" if normalized and n > 2 else "pairs"))
    drawn = nx.utils.create_py_random_state(seed).sample(G.nodes, k)
    rows = np.array([G.row_of[node] for node in drawn], dtype=np.int64)
    if n < 3:
        return dict.fromkeys(G.nodes, 0.0)
    if k == 0:
        raise ZeroDivisionError("k must not be 0")
    values = np.array(G.values("betweenness", rows.tolist(), scale="sum"), dtype=np.float64)
    # A sampled node is no target of its own paths, so it has one source fewer than the others.
    pairs = (n - 2) if normalized else (1 if G.is_directed() else 2) / (n - 1)
    scale = np.full(n, 1 / (k * pairs))
    scale[rows] = 1 / ((k - 1) * pairs) if k > 1 else np.nan
    return G.by_node(values * scale)
