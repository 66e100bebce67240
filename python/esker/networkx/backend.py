"""The backend module for the entry point ``networkx.backends``."""

from __future__ import annotations

from itertools import islice
from typing import Any

import networkx as nx

from . import centrality, communities, distances, measures, paths, structure, weighted_paths
from .graph import NxGraph, convert_from_nx, convert_to_nx
from .offer import OFFERED

__all__ = ["NxGraph", "can_run", "convert_from_nx", "convert_to_nx", "should_run", *OFFERED]

for _name, _offer in OFFERED.items():
    globals()[_name] = _offer.function

#: Functions of one node and its neighbours.
CONSTANT = frozenset(("is_isolate",))
#: Functions of two nodes, or of the near of one, which NetworkX answers without looking at the whole graph.
LOCAL = frozenset(
    "shortest_path bidirectional_shortest_path has_path efficiency dijkstra_path dijkstra_path_length "
    "bellman_ford_path bellman_ford_path_length descendants_at_distance cut_size volume conductance normalized_cut_size".split()
)
#: Functions of nodes and their neighbours, by the argument that names the nodes.
OF_NODES = {"triangles": "nodes", "clustering": "nodes", "average_clustering": "nodes"}
#: Up to this number of nodes, NetworkX answers before the conversion ends.
FEW_NODES = 16
#: Functions of degrees.
DEGREES = frozenset(
    "isolates number_of_isolates number_of_selfloops degree_centrality in_degree_centrality out_degree_centrality is_regular is_k_regular "
    "is_tree is_forest is_arborescence is_branching average_neighbor_degree average_degree_connectivity rich_club_coefficient".split()
)

#: Functions that search from one node, and so look at no more than what is reached from it, or that stop when a part of the graph tells.
SEARCHES = frozenset(
    "single_source_shortest_path single_source_shortest_path_length single_target_shortest_path "
    "single_target_shortest_path_length single_source_dijkstra single_source_dijkstra_path single_source_dijkstra_path_length "
    "single_source_bellman_ford single_source_bellman_ford_path single_source_bellman_ford_path_length descendants ancestors "
    "is_strongly_connected is_aperiodic is_bipartite is_eulerian is_semieulerian has_eulerian_path".split()
)
#: Functions that NetworkX answers, or refuses, at once for an undirected graph.
ONLY_DIRECTED = frozenset("is_directed_acyclic_graph is_aperiodic flow_hierarchy".split())
#: How many searches in a graph NetworkX answers before the graph is converted. A conversion takes as long as one or two searches of
#: everything, so the calls take at most about twice the time of the better choice.
SEARCHES_BEFORE = 2
#: The key in the cache of a graph of NetworkX for their number. NetworkX empties the cache when the graph changes.
SEARCHED = "esker_searched"

#: Functions with a search from each node, whose start takes Esker longer than NetworkX the whole search of a small graph.
FROM_EACH = frozenset(
    "eccentricity diameter radius center periphery global_efficiency wiener_index average_shortest_path_length harmonic_centrality".split()
)
#: With fewer nodes NetworkX is faster at these.
FROM_EACH_LEAST = 400
#: Functions of pairs of nodes: with few pairs, NetworkX is faster.
OF_PAIRS = frozenset("jaccard_coefficient adamic_adar_index resource_allocation_index preferential_attachment".split())

#: The modules that register the functions.
MODULES = (structure, paths, distances, weighted_paths, centrality, communities, measures)


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a call is supported; if not, the reason."""
    offered = OFFERED.get(name)
    if offered is None:
        return f"esker does not offer {name}"
    if getattr(args[0] if args else kwargs.get("G"), "__networkx_backend__", "networkx") == "esker":
        # The function itself raises the reason, which NetworkX shows then. Nothing has to be converted.
        return True
    reason = offered.refusal(args, {key: value for key, value in kwargs.items() if key != "backend"})
    return True if reason is None else reason


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a call is worth the conversion of the graph; if not, the reason. Takes constant time."""
    graph = args[0] if args else kwargs.get("G")
    if getattr(graph, "__networkx_backend__", "networkx") == "esker":
        return True
    if name in CONSTANT:
        return f"{name} looks at one node only, so NetworkX answers faster"
    if name in OF_NODES and _are_few(graph, args, kwargs, OF_NODES[name]):
        return f"{name} looks at a few nodes only, so NetworkX answers faster"
    cache = getattr(graph, "__networkx_cache__", None)
    cache = {} if cache is None else cache
    if cache.get("backends", {}).get("esker"):
        return True
    has_target = name == "shortest_path_length" and (kwargs.get("target") is not None or args[2:3] not in ((), (None,)))
    if name in LOCAL or has_target or kwargs.get("cutoff") is not None:
        return f"{name} looks at a part of the graph, so NetworkX answers before the conversion ends"
    if name in FROM_EACH and isinstance(graph, nx.Graph) and len(graph) < FROM_EACH_LEAST:
        return f"{name} searches from each node, and NetworkX answers faster for fewer than {FROM_EACH_LEAST} nodes"
    if name in OF_PAIRS:
        return f"{name} looks at the neighbours of pairs of nodes, so NetworkX answers before the conversion ends"
    if name in DEGREES:
        return f"{name} only counts neighbours, so NetworkX answers before the conversion ends"
    if name in ONLY_DIRECTED and isinstance(graph, nx.Graph) and not graph.is_directed():
        return f"{name} is about directed graphs, so NetworkX answers at once"
    if name in SEARCHES and isinstance(graph, nx.Graph) and isinstance(cache, dict):
        searched = cache.get(SEARCHED, 0)
        if searched < SEARCHES_BEFORE:
            cache[SEARCHED] = searched + 1
            return f"{name} may look at a part of the graph only; the graph is converted if more such calls follow"
    if isinstance(graph, nx.Graph) and _is_small(graph):
        return "converting such a small graph takes longer than running NetworkX"
    return True


def _are_few(graph: Any, args: tuple[Any, ...], kwargs: dict[str, Any], argument: str) -> bool:
    """Whether a call names few nodes: as its second argument."""
    nodes = args[1] if len(args) > 1 else kwargs.get(argument)
    if nodes is None:
        return False
    try:
        return nodes in graph or len(nodes) <= FEW_NODES
    except TypeError:  # what is no node, or has no length
        return not hasattr(nodes, "__iter__")


def _is_small(graph: Any) -> bool:
    """Whether a graph has probably fewer than 1,000 edges, judged by its first nodes."""
    n = len(graph)
    lengths = [len(others) for others in islice(graph._adj.values(), 16)]
    return n * sum(lengths) < 1_000 * len(lengths) * (1 if graph.is_directed() else 2) if lengths else True
