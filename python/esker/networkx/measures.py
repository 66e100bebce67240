"""Functions of NetworkX on spectral centrality, order, mixing, cuts and link prediction."""

from __future__ import annotations

from typing import Any, Iterable, Iterator

import networkx as nx
import numpy as np

from .._graph import Graph
from .centrality import arc_weights, has_weights
from .graph import NxGraph
from .offer import offer, unless

Node = Any

# -- spectral centrality


def weight_option(G: NxGraph, weight: str | None) -> dict[str, Any]:
    """The option by which an algorithm reads the weights of this name; none if all are 1."""
    if not has_weights(G, weight):
        return {}
    values = G.weight_values
    if not np.isfinite(values).all() or (values < 0).any():
        raise NotImplementedError("esker supports weights here that are finite and not negative")
    return {"weight": G.weight if isinstance(G._given, Graph) else G.graph.weight}


def _iterated(G: NxGraph, method: str, max_iter: int, tol: float, **options: Any) -> dict[Node, float]:
    if max_iter < 1 or not tol > 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    found = G.run(method, rounds=int(max_iter), tolerance=float(tol), **options)
    if not found.converged:
        raise nx.PowerIterationFailedConvergence(max_iter)
    return G.by_node(found.to_numpy(dense=True))


@offer(refuse=unless(nstart=None))
def eigenvector_centrality(
    G: Any, max_iter: int = 100, tol: float = 1.0e-6, nstart: Any = None, weight: str | None = None
) -> dict[Node, float]:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    return _iterated(G, "eigenvector", max_iter, tol, **weight_option(G, weight))


def _refuse_katz(given: dict[str, Any]) -> str | None:
    for name, least in (("alpha", 0.0), ("beta", -np.inf)):
        value = given[name]
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not least < value < np.inf:
            return f"esker does not support {name}={value!r}"
    return unless(nstart=None)(given)


@offer(refuse=_refuse_katz)
def katz_centrality(
    G: Any,
    alpha: float = 0.1,
    beta: float = 1.0,
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    nstart: Any = None,
    normalized: bool = True,
    weight: str | None = None,
) -> dict[Node, float]:
    if len(G) == 0:
        return {}
    options = weight_option(G, weight)
    return _iterated(G, "katz", max_iter, tol, alpha=float(alpha), beta=float(beta), raw=not normalized, **options)


# -- order


def _generations(G: NxGraph) -> list[list[int]]:
    """The rows of each generation, in the order in which NetworkX comes to them; those on cycles and behind them are in none."""
    if not G.is_directed():
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    found = G.run("order").column("generation")
    missing = found.is_missing()
    of = np.where(missing, -1, found.to_numpy(dense=True).astype(np.int64))
    count = int(of.max(initial=-1)) + 1
    if count == 0:
        return []
    source, target = G.arcs
    # The last edge to a vertex frees it: the one that comes last of those from the generation before.
    last = (of[source] >= 0) & (of[source] + 1 == of[target])
    source, target = source[last], target[last]
    ends = np.searchsorted(np.sort(of[target]), np.arange(count + 1))
    by_generation = np.argsort(of[target], kind="stable")
    rows = np.argsort(of, kind="stable")[int(missing.sum()) :]
    firsts = np.searchsorted(of[rows], np.arange(count + 1))
    place = np.zeros(len(G), dtype=np.int64)
    generations = [rows[: firsts[1]]]
    freed = np.full(len(G), -1, dtype=np.int64)
    for generation in range(1, count):
        place[generations[-1]] = np.arange(len(generations[-1]))
        arcs = by_generation[ends[generation] : ends[generation + 1]]
        np.maximum.at(freed, target[arcs], place[source[arcs]] * len(of[target]) + arcs)
        members = rows[firsts[generation] : firsts[generation + 1]]
        generations.append(members[np.argsort(freed[members], kind="stable")])
    return [one.tolist() for one in generations]


_CHANGED = "Graph contains a cycle or graph changed during iteration"


def _expect_unchanged(G: NxGraph, rows: list[int]) -> None:
    """Raises what NetworkX raises if the graph of NetworkX has changed at these rows since the conversion."""
    origin = G._lists.origin() if G._lists is not None and G._lists.origin is not None else None
    if origin is None:
        return
    lengths = G._lists.lengths
    for row in rows:
        found = origin._adj.get(G.nodes[row])
        if found is None or len(found) > lengths[row]:
            raise RuntimeError("Graph changed during iteration")
        if len(found) < lengths[row]:
            raise nx.NetworkXUnfeasible(_CHANGED)


def _ordered(G: NxGraph) -> Iterator[list[Node]]:
    count = 0
    for rows in _generations(G):
        _expect_unchanged(G, rows)
        count += len(rows)
        yield [G.nodes[row] for row in rows]
    if count < len(G):
        raise nx.NetworkXUnfeasible(_CHANGED)


@offer()
def topological_generations(G: Any) -> Iterator[list[Node]]:
    return _ordered(G)


@offer()
def topological_sort(G: Any) -> Iterator[Node]:
    return (node for generation in _ordered(G) for node in generation)


def _longest(G: NxGraph, weight: str | None) -> tuple[list[int], float]:
    """The rows of a longest path, and its length."""
    if len(G) == 0:
        return [], 0
    if not has_weights(G, weight) and G.weighted:
        raise NotImplementedError("esker supports longest paths by the weight of the graph only")
    found = G.run("order", parents=True)
    if not found.acyclic:
        raise nx.NetworkXUnfeasible(_CHANGED)
    name = "longest_path" if "longest_path" in found.columns else "generation"
    lengths, parents = found.to_numpy(name, dense=True), found.to_numpy("parent", dense=True)
    row = int(np.argmax(lengths))
    length, path = lengths[row].item(), [row]
    while parents[row] != row:
        row = int(parents[row])
        path.append(row)
    whole = not G.has_weights or G.weight_values.dtype.kind in "iu"
    return path[::-1], int(length) if whole else length


@offer("directed", refuse=unless(default_weight=1, topo_order=None))
def dag_longest_path(G: Any, weight: str | None = "weight", default_weight: float = 1, topo_order: Any = None) -> list[Node]:
    return [G.nodes[row] for row in _longest(G, weight)[0]]


@offer("directed", refuse=unless(default_weight=1))
def dag_longest_path_length(G: Any, weight: str | None = "weight", default_weight: float = 1) -> float:
    return _longest(G, weight)[1]


# -- mixing


def _degrees(G: NxGraph, which: str) -> np.ndarray:
    if not G.is_directed():
        return G.degrees
    return {"out": G.out_degrees, "in": G.in_degrees}.get(which, G.degrees)


def _refuse_ends(given: dict[str, Any]) -> str | None:
    if given["x"] not in ("in", "out") or given["y"] not in ("in", "out"):
        return f"esker does not support x={given['x']!r} and y={given['y']!r}"
    return unless(weight=None, nodes=None)(given)


def _correlation(G: NxGraph, x: str, y: str) -> float:
    source, target = G.arcs
    xs, ys = _degrees(G, x)[source].astype(np.float64), _degrees(G, y)[target].astype(np.float64)
    if len(xs) < 2 or (xs == xs[0]).all() or (ys == ys[0]).all():
        raise NotImplementedError("degrees that do not vary have no correlation")
    xs, ys = xs - xs.mean(), ys - ys.mean()
    return float((xs * ys).sum() / np.sqrt((xs * xs).sum() * (ys * ys).sum()))


@offer(refuse=_refuse_ends)
def degree_assortativity_coefficient(G: Any, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None) -> float:
    return _correlation(G, x, y)


@offer(refuse=_refuse_ends)
def degree_pearson_correlation_coefficient(G: Any, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None) -> float:
    return _correlation(G, x, y)


@offer("undirected", refuse=unless(normalized=False))
def rich_club_coefficient(G: Any, normalized: bool = True, Q: float = 100, seed: Any = None) -> dict[int, float]:
    if G.loops.any():
        raise Exception("rich_club_coefficient is not implemented for graphs with self loops.")
    source, target = G.edges
    if len(source) == 0:
        return {}
    lesser = np.sort(np.minimum(G.degrees[source], G.degrees[target]))
    degrees = np.sort(G.degrees)
    found = {}
    for k in range(int(degrees[-1]) + 1):
        rich = len(degrees) - int(np.searchsorted(degrees, k, side="right"))
        if rich > 1:
            edges = len(lesser) - int(np.searchsorted(lesser, k, side="right"))
            found[k] = 2 * edges / (rich * (rich - 1))
    return found


@offer("undirected only", refuse=unless(source="out", target="out", nodes=None, weight=None))
def average_neighbor_degree(G: Any, source: str = "out", target: str = "out", nodes: Any = None, weight: Any = None) -> dict[Node, float]:
    sources, targets = G.arcs
    sums = np.bincount(sources, G.degrees[targets], minlength=len(G))
    return G.by_node(np.divide(sums, G.degrees, out=np.zeros(len(G)), where=G.degrees > 0))


@offer("undirected only", refuse=unless(source="in+out", target="in+out", nodes=None, weight=None))
def average_degree_connectivity(
    G: Any, source: str = "in+out", target: str = "in+out", nodes: Any = None, weight: Any = None
) -> dict[int, float]:
    sources, targets = G.arcs
    sums = np.bincount(sources, G.degrees[targets], minlength=len(G))
    found = {}
    for degree in dict.fromkeys(G.degrees.tolist()):
        chosen = G.degrees == degree
        norm = degree * int(chosen.sum())
        found[degree] = sums[chosen].sum().item() / norm if norm else 0
    return found


# -- cuts


def _sides(G: NxGraph, S: Iterable[Node], T: Iterable[Node] | None) -> tuple[np.ndarray, np.ndarray]:
    """Whether each row is on either side."""
    inside, outside = np.zeros(len(G), dtype=bool), np.zeros(len(G), dtype=bool)
    inside[[G.row_of[node] for node in S if node in G]] = True
    if T is None:
        return inside, ~inside
    outside[[G.row_of[node] for node in T if node in G]] = True
    if (inside & outside).any():
        raise NotImplementedError("esker supports sides without a common node")
    return inside, outside


def _weights(G: NxGraph, weight: str | None) -> np.ndarray:
    weights = arc_weights(G, weight)
    return np.ones(len(G.arcs[0]), dtype=np.int64) if weights is None else np.asarray(weights)


def _cut(G: NxGraph, inside: np.ndarray, outside: np.ndarray, weight: str | None) -> Any:
    (source, target), weights = G.arcs, _weights(G, weight)
    leaving = weights[inside[source] & outside[target]].sum()
    return (leaving + weights[outside[source] & inside[target]].sum() if G.is_directed() else leaving).item()


def _volume(G: NxGraph, inside: np.ndarray, weight: str | None) -> Any:
    (source, target), weights = G.arcs, _weights(G, weight)
    total = weights[inside[source]].sum()
    return (total if G.is_directed() else total + weights[inside[source] & (source == target)].sum()).item()


@offer()
def cut_size(G: Any, S: Any, T: Any = None, weight: str | None = None) -> Any:
    return _cut(G, *_sides(G, S, T), weight)


@offer()
def volume(G: Any, S: Any, weight: str | None = None) -> Any:
    return _volume(G, _sides(G, S, None)[0], weight)


@offer()
def conductance(G: Any, S: Any, T: Any = None, weight: str | None = None) -> float:
    inside, outside = _sides(G, S, T)
    return _cut(G, inside, outside, weight) / min(_volume(G, inside, weight), _volume(G, outside, weight))


@offer()
def normalized_cut_size(G: Any, S: Any, T: Any = None, weight: str | None = None) -> float:
    inside, outside = _sides(G, S, T)
    return _cut(G, inside, outside, weight) * (1 / _volume(G, inside, weight) + 1 / _volume(G, outside, weight))


@offer()
def partition_quality(G: Any, partition: Any) -> tuple[float, float]:
    partition = partition if isinstance(partition, list) else list(partition)
    labels = np.full(len(G), -1)
    for label, community in enumerate(partition):
        rows = [G.row_of.get(node, -1) for node in community]
        if -1 in rows or (labels[rows] >= 0).any():
            raise nx.NetworkXError("`partition` is not a valid partition of the nodes of G")
        labels[rows] = label
    if (labels < 0).any():
        raise nx.NetworkXError("`partition` is not a valid partition of the nodes of G")
    source, target = G.edges
    n, twice = len(G), 2 if G.is_directed() else 1
    sizes = np.array([len(community) for community in partition], dtype=np.int64)
    apart = (n * n - int((sizes * sizes).sum())) // 2 * twice
    inside = int(np.count_nonzero(labels[source] == labels[target]))
    missing = apart - (len(source) - inside)
    return inside / len(source), (inside + missing) / (n * (n - 1) // 2 * twice)


# -- link prediction


def _pairs(G: NxGraph, ebunch: Any) -> Iterator[tuple[Node, Node]]:
    """The given pairs; without any, those that no edge joins, in the order of NetworkX."""
    if ebunch is not None:
        return iter(ebunch)
    (source, target), near = G.arcs, [set() for _ in range(len(G))]
    for u, v in zip(source.tolist(), target.tolist()):
        near[u].add(G.nodes[v])

    def apart() -> Iterator[tuple[Node, Node]]:
        nodes = set(G.nodes)
        while nodes:
            u = nodes.pop()
            for v in nodes - near[G.row_of[u]]:
                yield u, v

    return apart()


def _predicted(G: NxGraph, ebunch: Any, measure: str) -> Iterator[tuple[Node, Node, float]]:
    if G.loops.any():
        raise NotImplementedError("esker leaves self-loops out of neighbourhoods, and NetworkX does not")
    if ebunch is not None:
        ebunch = [tuple(pair) for pair in ebunch]
        for node in (node for pair in ebunch for node in pair):
            if node not in G:
                raise nx.NodeNotFound(f"Node {node} not in G.")
        if any(u == v for u, v in ebunch):
            raise NotImplementedError("esker does not compare a node with itself")

    def predict() -> Iterator[tuple[Node, Node, float]]:
        last, values = None, np.zeros(0)
        for u, v in _pairs(G, ebunch):
            if last is None or u != last:
                column = G.run("similarity", [G.row_of[u]], measure=measure).column()
                last, values = u, np.where(column.is_missing(), 0, column.to_numpy(dense=True))
            yield u, v, values[G.row_of[v]].item()

    return predict()


@offer("undirected")
def jaccard_coefficient(G: Any, ebunch: Any = None) -> Iterator[tuple[Node, Node, float]]:
    return _predicted(G, ebunch, "jaccard")


@offer("undirected")
def adamic_adar_index(G: Any, ebunch: Any = None) -> Iterator[tuple[Node, Node, float]]:
    return _predicted(G, ebunch, "adamic-adar")


@offer("undirected")
def resource_allocation_index(G: Any, ebunch: Any = None) -> Iterator[tuple[Node, Node, float]]:
    return _predicted(G, ebunch, "resource-allocation")


@offer("undirected")
def preferential_attachment(G: Any, ebunch: Any = None) -> Iterator[tuple[Node, Node, int]]:
    if G.loops.any():
        raise NotImplementedError("esker leaves self-loops out of neighbourhoods, and NetworkX does not")
    pairs = list(ebunch) if ebunch is not None else None
    for node in (node for pair in pairs or () for node in pair):
        if node not in G:
            raise nx.NodeNotFound(f"Node {node} not in G.")
    degrees, row_of = G.degrees.tolist(), G.row_of
    return ((u, v, degrees[row_of[u]] * degrees[row_of[v]]) for u, v in _pairs(G, pairs))
