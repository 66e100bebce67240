"""Functions of NetworkX on components, cohesion, degrees and other structure."""

from __future__ import annotations

import random
from typing import Any, Iterator

import networkx as nx
import numpy as np

from .._graph import Graph
from .graph import NxGraph
from .offer import offer, unless
from .paths import lengths_from, neighbours

Node = Any

# -- components


def node_groups(G: NxGraph, labels: np.ndarray) -> list[set[Node]]:
    """The sets of nodes with the same label, in the order of their first nodes."""
    groups: dict[int, set[Node]] = {}
    for node, label in zip(G.nodes, labels.tolist()):
        groups.setdefault(label, set()).add(node)
    return list(groups.values())


def _expect_nodes(G: NxGraph, message: str) -> None:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept(message)


@offer("undirected")
def connected_components(G: Any) -> Iterator[set[Node]]:
    return iter(node_groups(G, G.components))


@offer("undirected")
def number_connected_components(G: Any) -> int:
    return G.num_components


@offer("undirected")
def is_connected(G: Any) -> bool:
    _expect_nodes(G, "Connectivity is undefined for the null graph.")
    return G.num_components == 1


@offer("undirected")
def node_connected_component(G: Any, n: Node) -> set[Node]:
    return set(lengths_from(G, G.row_of[n]))


@offer("directed")
def weakly_connected_components(G: Any) -> Iterator[set[Node]]:
    return iter(node_groups(G, G.components))


@offer("directed")
def number_weakly_connected_components(G: Any) -> int:
    return G.num_components


@offer("directed")
def is_weakly_connected(G: Any) -> bool:
    _expect_nodes(G, "Connectivity is undefined for the null graph.")
    return G.num_components == 1


@offer("directed")
def strongly_connected_components(G: Any) -> Iterator[set[Node]]:
    labels = _strong(G)
    groups = dict(zip(dict.fromkeys(labels.tolist()), node_groups(G, labels)))
    return iter([groups[label] for label in _sinks_first(G, labels)])


def _strong(G: NxGraph) -> np.ndarray:
    """The label of the strong component of each row."""
    return G.values("scc") if G.ordered is None else np.asarray(G.ordered.strong())


def _sinks_first(G: NxGraph, labels: np.ndarray) -> list[int]:
    """The labels of strong components in reverse topological order. For a graph of NetworkX this is the order of NetworkX, in which a
    depth-first search finishes them."""
    if G.ordered is not None:
        return sorted(set(labels.tolist()))
    source, target = (labels[end] for end in G.arcs)
    apart = source != target
    ahead: dict[int, dict[int, None]] = {}
    for u, v in zip(source[apart].tolist(), target[apart].tolist()):
        ahead.setdefault(u, {})[v] = None
    order, seen = [], set()
    for first in dict.fromkeys(labels.tolist()):
        stack = [] if first in seen else [(first, iter(ahead.get(first, ())))]
        seen.add(first)
        while stack:
            label, others = stack[-1]
            other = next((other for other in others if other not in seen), None)
            if other is None:
                order.append(label)
                stack.pop()
            else:
                seen.add(other)
                stack.append((other, iter(ahead.get(other, ()))))
    return order


@offer("directed")
def number_strongly_connected_components(G: Any) -> int:
    return G.run("scc").components


@offer("directed")
def is_strongly_connected(G: Any) -> bool:
    _expect_nodes(G, "Connectivity is undefined for the null graph.")
    return G.run("scc").components == 1


def _attracting(G: NxGraph) -> list[set[Node]]:
    labels = _strong(G)
    source, target = G.arcs
    leaving = set(labels[source[labels[source] != labels[target]]].tolist())
    groups = dict(zip(dict.fromkeys(labels.tolist()), node_groups(G, labels)))
    return [groups[label] for label in _sinks_first(G, labels) if label not in leaving]


@offer("directed")
def attracting_components(G: Any) -> Iterator[set[Node]]:
    return iter(_attracting(G))


@offer("directed")
def number_attracting_components(G: Any) -> int:
    return len(_attracting(G))


@offer("directed")
def is_attracting_component(G: Any) -> bool:
    found = _attracting(G)
    return len(found) == 1 and len(found[0]) == len(G)


@offer()
def is_directed_acyclic_graph(G: Any) -> bool:
    return G.is_directed() and not G.loops.any() and G.run("scc").components == len(G)


@offer()
def is_aperiodic(G: Any) -> bool:
    if not G.is_directed():
        raise nx.NetworkXError("is_aperiodic not defined for undirected graphs")
    _expect_nodes(G, "Graph has no nodes.")
    if G.run("scc").components != 1:
        raise nx.NetworkXError("Graph is not strongly connected.")
    depths, (source, target) = G.depths([0]), G.arcs
    return bool(np.gcd.reduce(depths[source] - depths[target] + 1) == 1) if len(source) else False


@offer(refuse=unless(weight=None))
def flow_hierarchy(G: Any, weight: str | None = None) -> float:
    source, target = G.arcs
    if len(source) == 0:
        raise nx.NetworkXError("flow_hierarchy not applicable to empty graphs")
    if not G.is_directed():
        raise nx.NetworkXError("G must be a digraph in flow_hierarchy")
    labels = G.values("scc")
    return float(1 - np.count_nonzero(labels[source] == labels[target]) / len(source))


# -- blocks


def _blocks(G: NxGraph) -> tuple[np.ndarray, np.ndarray]:
    """The block of each row (-1 for the root of a component), and the head of each block, indexed by block."""
    found = G.run("biconnectivity").column("block")
    named = ~found.is_missing()
    blocks = np.full(len(G), -1)
    blocks[named] = found.to_numpy(dense=True)[named]
    heads = np.full(len(G), -1)
    if len(G):
        depths, (source, target) = G.depths(np.flatnonzero(~named).tolist()), G.arcs
        down = (blocks[source] != blocks[target]) & (depths[source] < depths[target])
        heads[blocks[target[down]]] = source[down]
    return blocks, heads


def _blocks_in_order(G: NxGraph) -> Iterator[list[tuple[Node, Node]]]:
    """The edges of each block in the order of NetworkX."""
    assert G.ordered is not None
    source, target, ends, _ = (np.asarray(column) for column in G.ordered.blocks())
    edges = [(G.nodes[u], G.nodes[v]) for u, v in zip(source.tolist(), target.tolist())]
    start = 0
    for end in ends.tolist():
        yield edges[start:end]
        start = end


@offer("undirected")
def biconnected_components(G: Any) -> Iterator[set[Node]]:
    if G.ordered is not None:
        return ({node for edge in edges for node in edge} for edges in _blocks_in_order(G))
    blocks, heads = _blocks(G)
    found: dict[int, set[Node]] = {}
    for row in np.flatnonzero(blocks >= 0).tolist():
        block = int(blocks[row])
        found.setdefault(block, {G.nodes[int(heads[block])]}).add(G.nodes[row])
    return iter(found.values())


@offer("undirected")
def biconnected_component_edges(G: Any) -> Iterator[list[tuple[Node, Node]]]:
    if G.ordered is not None:
        return _blocks_in_order(G)
    blocks, heads = _blocks(G)
    source, target = G.arcs
    found: dict[int, list[tuple[Node, Node]]] = {}
    for u, v in zip(*(end[source < target].tolist() for end in (source, target))):
        block = int(blocks[u])
        if block < 0 or blocks[v] != block and heads[block] != v:
            block = int(blocks[v])
        found.setdefault(block, []).append((G.nodes[u], G.nodes[v]))
    return iter(found.values())


@offer("undirected")
def is_biconnected(G: Any) -> bool:
    found = G.run("biconnectivity")
    return found.blocks == 1 and found.components == 1


@offer("undirected")
def articulation_points(G: Any) -> Iterator[Node]:
    if G.ordered is not None:
        cuts = np.asarray(G.ordered.blocks()[3]).tolist()
        return iter([G.nodes[row] for row in dict.fromkeys(cuts)])
    marks = G.run("biconnectivity").to_numpy("articulation_point", dense=True)
    return iter([G.nodes[row] for row in np.flatnonzero(marks).tolist()])


def _bridges(G: NxGraph, root: Node) -> list[tuple[Node, Node]]:
    source, target = (end.astype(np.int64) for end in G.run("biconnectivity", bridges=True).edges(dense=True))
    marks = np.minimum(source, target) * len(G) + np.maximum(source, target)
    source, target = G.edges  # in the order of NetworkX
    chosen = np.isin(np.minimum(source, target) * len(G) + np.maximum(source, target), marks)
    found = zip(source[chosen].tolist(), target[chosen].tolist())
    if root is not None:
        if root not in G:
            raise nx.NodeNotFound(f"Root node {root} not in graph")
        reached = G.depths([G.row_of[root]]) >= 0
        found = (edge for edge in found if reached[edge[0]])
    return [(G.nodes[u], G.nodes[v]) for u, v in found]


def _refuse_root(given: dict[str, Any]) -> str | None:
    if given["root"] is None or isinstance(given["G"], Graph):
        return None
    return "esker returns the bridges of the whole graph, in the order of NetworkX"


@offer("undirected", refuse=_refuse_root)
def bridges(G: Any, root: Node = None) -> Iterator[tuple[Node, Node]]:
    return iter(_bridges(G, root))


@offer("undirected")
def has_bridges(G: Any, root: Node = None) -> bool:
    return bool(_bridges(G, root))


# -- cohesion


@offer("undirected only")
def core_number(G: Any) -> dict[Node, int]:
    if G.loops.any():
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return G.by_node(G.values("kcore"))


def _chosen(G: NxGraph, values: np.ndarray, nodes: Any) -> Any:
    """The values of all nodes, of the given nodes, or of a single node, as NetworkX returns them."""
    if nodes is None:
        return G.by_node(values)
    if nodes in G:
        return values[G.row_of[nodes]].item()
    try:
        chosen = list(nodes)
    except TypeError:
        raise nx.NetworkXError(f"Node {nodes} is not in the graph.") from None
    try:
        return {node: values[G.row_of[node]].item() for node in chosen if node in G.row_of}
    except TypeError as error:
        raise nx.NetworkXError(f"{nodes} has an element that cannot be a node: {error}") from None


def _pairs(G: NxGraph) -> np.ndarray:
    """Number of ordered pairs of neighbours of each row."""
    degrees = G.out_degrees - G.loops
    return degrees * (degrees - 1)


@offer("undirected")
def triangles(G: Any, nodes: Any = None) -> Any:
    found = np.rint(G.clustering * _pairs(G) / 2).astype(np.int64)
    return _chosen(G, found, nodes)


def _clustering(G: NxGraph, nodes: Any) -> Any:
    """The clustering of nodes; the integer 0 without triangles, as in NetworkX."""
    found = _chosen(G, np.where(_pairs(G) > 0, G.clustering, 0.0), nodes)
    return {node: value or 0 for node, value in found.items()} if isinstance(found, dict) else found or 0


@offer("undirected only", refuse=unless(weight=None))
def clustering(G: Any, nodes: Any = None, weight: str | None = None) -> Any:
    return _clustering(G, nodes)


@offer("undirected only", refuse=unless(weight=None))
def average_clustering(G: Any, nodes: Any = None, weight: str | None = None, count_zeros: bool = True) -> float:
    values = list(_clustering(G, nodes).values())
    if not count_zeros:
        values = [value for value in values if abs(value) > 0]
    return sum(values) / len(values)


@offer("undirected only")
def transitivity(G: Any) -> float:
    pairs = _pairs(G)
    closed, all_pairs = float((G.values("lcc") * pairs).sum()), int(pairs.sum())
    return 0 if round(closed) == 0 else round(closed) / all_pairs


# -- degrees


def _centrality(G: NxGraph, degrees: np.ndarray) -> dict[Node, float]:
    if len(G) <= 1:
        return {node: 1 for node in G.nodes}
    return G.by_node(degrees * (1.0 / (len(G) - 1.0)))


@offer()
def degree_centrality(G: Any) -> dict[Node, float]:
    return _centrality(G, G.degrees)


@offer("directed")
def in_degree_centrality(G: Any) -> dict[Node, float]:
    return _centrality(G, G.in_degrees)


@offer("directed")
def out_degree_centrality(G: Any) -> dict[Node, float]:
    return _centrality(G, G.out_degrees)


@offer()
def isolates(G: Any) -> Iterator[Node]:
    return iter([G.nodes[row] for row in np.flatnonzero(G.degrees == 0).tolist()])


@offer()
def is_isolate(G: Any, n: Node) -> bool:
    if n not in G:
        if n is None or hasattr(n, "__iter__"):  # NetworkX compares the degrees of several nodes with 0
            return False
        raise nx.NetworkXError(f"Node {n} is not in the graph.")
    row = G.row_of[n]
    return not any(neighbours(G, back)(row) for back in (False, True))


@offer()
def number_of_isolates(G: Any) -> int:
    return int(np.count_nonzero(G.degrees == 0))


@offer()
def number_of_selfloops(G: Any) -> int:
    return int(G.loops.sum())


@offer()
def overall_reciprocity(G: Any) -> float:
    source, target = G.edges
    if len(source) == 0:
        raise nx.NetworkXError("Not defined for empty graphs")
    if not G.is_directed():
        return 0.0
    # Like NetworkX, counts the pairs of opposite edges that become one edge in the undirected graph.
    low, high = np.minimum(source, target), np.maximum(source, target)
    return (len(source) - len(np.unique(low * len(G) + high))) * 2 / len(source)


@offer(refuse=unless(nodes=None))
def reciprocity(G: Any, nodes: Any = None) -> float:
    return overall_reciprocity(G)


@offer()
def is_regular(G: Any) -> bool:
    _expect_nodes(G, "Graph has no nodes.")
    sides = (G.in_degrees, G.out_degrees) if G.is_directed() else (G.degrees,)
    return all(bool((side == side[0]).all()) for side in sides)


@offer("undirected")
def is_k_regular(G: Any, k: int) -> bool:
    return bool((G.degrees == k).all())


def _is_eulerian(G: NxGraph) -> bool:
    if G.is_directed():
        return bool((G.in_degrees == G.out_degrees).all()) and G.run("scc").components == 1
    return bool((G.degrees % 2 == 0).all()) and G.num_components == 1


@offer()
def is_eulerian(G: Any) -> bool:
    _expect_nodes(G, "Connectivity is undefined for the null graph.")
    return _is_eulerian(G)


def _has_eulerian_path(G: NxGraph) -> bool:
    _expect_nodes(G, "Connectivity is undefined for the null graph.")
    return int((G.degrees % 2).sum()) in (0, 2) and G.num_components == 1


@offer("undirected only", refuse=unless(source=None))
def has_eulerian_path(G: Any, source: Node = None) -> bool:
    return _has_eulerian_path(G)


@offer("undirected only")
def is_semieulerian(G: Any) -> bool:
    return _has_eulerian_path(G) and not _is_eulerian(G)


@offer("undirected only")
def s_metric(G: Any) -> float:
    source, target = G.arcs
    once = source <= target
    return float((G.degrees[source[once]] * G.degrees[target[once]]).sum())


@offer("undirected only")
def is_bipartite(G: Any) -> bool:
    if len(G) == 0:
        return True
    _, first = np.unique(G.components, return_index=True)
    depths, (source, target) = G.depths(first.tolist()), G.arcs
    return not ((depths[source] - depths[target]) % 2 == 0).any()


# -- trees


def _is_forest(G: NxGraph) -> bool:
    _expect_nodes(G, "G has no nodes.")
    return len(G) - G.number_of_edges() == G.num_components


@offer()
def is_forest(G: Any) -> bool:
    return _is_forest(G)


@offer()
def is_tree(G: Any) -> bool:
    _expect_nodes(G, "G has no nodes.")
    return len(G) - 1 == G.number_of_edges() and G.num_components == 1


@offer("directed")
def is_arborescence(G: Any) -> bool:
    return bool(is_tree(G) and G.in_degrees.max() <= 1)


@offer("directed")
def is_branching(G: Any) -> bool:
    return bool(_is_forest(G) and G.in_degrees.max() <= 1)


# -- functions with several correct answers


@offer("undirected", refuse=unless(nodes=None, seed=None))
def maximal_independent_set(G: Any, nodes: Any = None, seed: Any = None) -> list[Node]:
    drawn = random.getrandbits(32)
    marks = G.run("mis", first="random", seed=drawn, deterministic=True).to_numpy(dense=True)
    return [G.nodes[row] for row in np.flatnonzero(marks).tolist()]


_ORDERS = {"largest_first": "lf", "smallest_last": "sl", "random_sequential": "random"}


def _refuse_colouring(given: dict[str, Any]) -> str | None:
    if given["interchange"]:
        return "esker does not support interchange"
    strategy = given["strategy"]
    return None if isinstance(strategy, str) and strategy in _ORDERS else f"esker supports the strategies {', '.join(_ORDERS)}"


@offer("undirected only", refuse=_refuse_colouring)
def greedy_color(G: Any, strategy: Any = "largest_first", interchange: bool = False) -> dict[Node, int]:
    if G.loops.any():
        raise NotImplementedError("esker ignores self-loops when colouring, but a node with a self-loop has no valid colour")
    colours = G.values("colouring", first=_ORDERS[strategy], ties="number", passes=1, deterministic=True)
    # NetworkX returns the nodes in the order in which it colours them.
    rows = np.argsort(-G.degrees, kind="stable") if strategy == "largest_first" else np.arange(len(G))
    return {G.nodes[row]: colour for row, colour in zip(rows.tolist(), colours[rows].tolist())}
