"""Former differences from NetworkX, one test for each."""

import math

import networkx as nx
import pytest

import esker
from esker.networkx import backend


def both(name, *args, **kwargs):
    """The answers of Esker and of NetworkX, generators as lists."""
    answers = []
    for options in ({"backend": "esker"}, {}):
        answer = getattr(nx, name)(*args, **kwargs, **options)
        answers.append(list(answer) if hasattr(answer, "__next__") else answer)
    return answers


def outcomes(name, *args, **kwargs):
    """The types of the exceptions of Esker and of NetworkX."""
    raised = []
    for options in ({"backend": "esker"}, {}):
        with pytest.raises(Exception) as error:
            getattr(nx, name)(*args, **kwargs, **options)
        raised.append(error.type)
    return raised


def upside_down():
    """A graph whose lists are not in the order of its nodes."""
    graph = nx.Graph()
    graph.add_nodes_from([0, 1, 2, 3, 4, 5])
    graph.add_weighted_edges_from([(2, 5, 1.5), (2, 4, 1), (2, 0, 2), (0, 3, 1), (5, 3, 1.5), (3, 1, 4)])
    return graph


@pytest.mark.parametrize(
    "name",
    [
        "single_source_shortest_path_length", "single_target_shortest_path_length", "single_source_shortest_path", "single_target_shortest_path",
        "single_source_dijkstra_path_length", "single_source_dijkstra_path", "single_source_bellman_ford_path_length", "single_source_bellman_ford_path",
    ],
)
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_keys_are_in_the_order_of_discovery(name, kind):
    graph = upside_down() if kind is nx.Graph else upside_down().to_directed()
    for node in graph:
        found, expected = both(name, graph, node)
        assert list(found.items()) == list(expected.items())


@pytest.mark.parametrize("name", ["bridges", "biconnected_components", "biconnected_component_edges", "articulation_points"])
def test_blocks_and_bridges_are_in_the_order_of_networkx(name):
    for seed in range(20):
        graph = nx.gnp_random_graph(14, 0.15, seed=seed)
        graph = nx.relabel_nodes(graph, {node: (node * 5) % 14 for node in graph})
        found, expected = both(name, graph)
        assert found == expected


def test_other_orders_are_those_of_networkx():
    graph = nx.DiGraph([("b", "c"), ("a", "d"), ("x", "y")])
    for name in ("attracting_components", "strongly_connected_components"):
        found, expected = both(name, graph)
        assert found == expected
    for name in ("harmonic_centrality", "greedy_color"):
        found, expected = both(name, upside_down())
        assert list(found) == list(expected)


def test_lengths_are_of_the_type_that_networkx_gives():
    graph = upside_down()
    for name in ("single_source_dijkstra_path_length", "single_source_bellman_ford_path_length"):
        found, expected = both(name, graph, 2)
        assert {node: type(length) for node, length in found.items()} == {node: type(length) for node, length in expected.items()}
        assert {type(length) for length in found.values()} == {int, float}
    found, expected = both("clustering", nx.path_graph(3))
    assert repr(found) == repr(expected) == "{0: 0, 1: 0, 2: 0}"
    found, expected = both("harmonic_centrality", nx.empty_graph(2))
    assert repr(found) == repr(expected)
    floats = nx.Graph([(0, 1, {"weight": 1.0})])
    assert repr(both("dijkstra_path_length", floats, 0, 1)) == "[1.0, 1.0]", "weights of 1.0 are floats"


@pytest.mark.parametrize("cutoff", [-1, -0.5, 0, 0.5, 1, 1.5, 2, math.inf])
@pytest.mark.parametrize("name", ["single_source_shortest_path_length", "single_source_shortest_path", "single_source_dijkstra_path_length", "single_source_dijkstra_path"])
def test_cutoffs_can_be_negative_or_fractional(name, cutoff):
    found, expected = both(name, nx.path_graph(6), 2, cutoff=cutoff)
    assert found == expected


def test_none_is_a_target_as_in_networkx():
    graph = nx.path_graph(3)
    for name in ("dijkstra_path", "bellman_ford_path"):
        found, expected = both(name, graph, 0, None)
        assert found == expected
    assert outcomes("bidirectional_shortest_path", graph, 0, None) == [nx.NodeNotFound] * 2
    assert outcomes("dijkstra_path_length", graph, 0, None) == [nx.NetworkXNoPath] * 2
    assert isinstance(backend.can_run("has_path", (graph, 0, None), {}), str)


def test_self_loops_in_biconnected_component_edges():
    graph = nx.Graph([(0, 0), (0, 1), (1, 1), (1, 2)])
    found, expected = both("biconnected_component_edges", graph)
    assert found == expected and any((1, 1) in edges for edges in found)


def test_is_isolate_of_a_missing_node():
    graph = nx.empty_graph(2)
    assert outcomes("is_isolate", graph, 7) == [nx.NetworkXError] * 2
    assert both("is_isolate", graph, 1) == [True, True]
    with pytest.raises(nx.NetworkXError):
        nx.is_isolate(esker.from_edges([0], [1]), 7)


@pytest.mark.parametrize("name", ["has_path", "bidirectional_shortest_path", "dijkstra_path", "dijkstra_path_length", "bellman_ford_path", "bellman_ford_path_length"])
def test_nodes_that_cannot_be_nodes(name):
    for ends in (([1], 2), ([1], [1])):
        found, expected = outcomes(name, nx.path_graph(3), *ends)
        assert found is expected


def test_a_target_that_cannot_be_a_node_is_looked_at_after_the_search():
    graph = nx.Graph([(0, 1, {"weight": -1})])
    for name in ("bellman_ford_path", "bellman_ford_path_length"):
        assert outcomes(name, graph, 0, [1]) == [nx.NetworkXUnbounded] * 2


def test_weights_beyond_doubles():
    for weight in (2**53 + 1, 10**400):
        graph = nx.Graph([(0, 1, {"weight": weight})])
        with pytest.raises(NotImplementedError):
            nx.dijkstra_path_length(graph, 0, 1, backend="esker")
        with nx.config(backend_priority=["esker"]):
            assert nx.dijkstra_path_length(graph, 0, 1) == weight


def test_negative_edge_cycle():
    for edges in ([], [(0, 0, -1)], [(0, 1, -1)], [(0, 1, 1), (1, 0, -2)], [(0, 1, 2), (1, 0, -2)]):
        for kind in (nx.Graph, nx.DiGraph):
            graph = kind()
            graph.add_weighted_edges_from(edges)
            found, expected = both("negative_edge_cycle", graph)
            assert found is expected


def test_negative_weights_in_undirected_graphs():
    graph = nx.Graph([(0, 1, {"weight": -1})])
    for name in ("bellman_ford_path_length", "bellman_ford_path"):
        assert outcomes(name, graph, 0, 1) == [nx.NetworkXUnbounded] * 2


def test_undirected_views_of_directed_graphs_with_unequal_weights():
    graph = nx.DiGraph([(0, 1, {"weight": 5}), (1, 0, {"weight": 1}), (1, 2, {"weight": 2}), (2, 1, {"weight": 7})])
    view = graph.to_undirected(as_view=True)
    for node in view:
        found, expected = both("single_source_dijkstra_path_length", view, node)
        assert found == expected
    with pytest.raises(NotImplementedError) as raised:
        nx.pagerank(view, backend="esker")
    assert "two directions" in str(raised.value.__cause__)


def test_pagerank_with_weights_starts_and_personalization():
    graph = nx.gnp_random_graph(60, 0.05, seed=3, directed=True)
    for u, v in graph.edges:
        graph.edges[u, v]["weight"] = 1 + (u * v) % 7
    start = {node: 1 + node for node in graph}
    for options in ({}, {"personalization": {0: 1, 5: 3}}, {"nstart": start}, {"dangling": {1: 1, 2: 3}}, {"weight": None, "nstart": start}, {"personalization": {0: 1}, "max_iter": 30, "tol": 1e-3}):
        found, expected = both("pagerank", graph, **options)
        assert found == pytest.approx(expected, abs=1e-12)
    assert outcomes("pagerank", graph, personalization={0: 1}, max_iter=2) == [nx.PowerIterationFailedConvergence] * 2


def test_pagerank_with_weights_that_cancel_each_other_out():
    graph = nx.Graph([(0, 4, {"weight": 1}), (2, 1, {"weight": 8}), (4, 3, {"weight": -1}), (1, 3, {"weight": 1})])
    found, expected = both("pagerank", graph)
    assert found == pytest.approx(expected, abs=1e-12)


def test_betweenness_of_a_sample():
    for graph in (nx.gnp_random_graph(30, 0.1, seed=2), nx.gnp_random_graph(30, 0.1, seed=2, directed=True)):
        for k in (1, 5, 30):
            for normalized in (True, False):
                found, expected = both("betweenness_centrality", graph, k=k, normalized=normalized, seed=11)
                assert found == pytest.approx(expected, nan_ok=True)
    assert outcomes("betweenness_centrality", nx.path_graph(4), k=5, seed=1) == [ValueError] * 2


def counting(graph):
    """Counts the calls that take time proportional to the graph."""
    calls = []
    kind = type(graph)

    class Counted(kind):
        def number_of_edges(self, u=None, v=None):
            calls.append("number_of_edges")
            return super().number_of_edges(u, v)

        def size(self, weight=None):
            calls.append("size")
            return super().size(weight)

    graph.__class__ = Counted
    return calls


def test_nothing_looks_at_the_whole_graph_before_the_dispatch():
    graph = nx.gnp_random_graph(400, 0.05, seed=1)
    calls = counting(graph)
    assert backend.can_run("pagerank", (graph,), {}) is True and backend.should_run("pagerank", (graph,), {}) is True
    for name, args in (("is_isolate", (graph, 3)), ("shortest_path", (graph, 0, 9)), ("has_path", (graph, 0, 9)), ("degree_centrality", (graph,))):
        assert "NetworkX answers" in backend.should_run(name, args, {}), name
    assert "part" in backend.should_run("single_source_shortest_path_length", (graph, 0), {"cutoff": 2})
    assert "small" in backend.should_run("pagerank", (nx.path_graph(500),), {})
    assert calls == []
    with nx.config(backend_priority=["esker"]):
        nx.is_isolate(graph, 3)
        nx.shortest_path(graph, 0, 9)
    assert "esker" not in graph.__networkx_cache__.get("backends", {}), "the graph was not converted"


def test_a_few_searches_convert_no_graph_and_many_do():
    # A search can end at once; converting 100,000 edges for it took ten times as long as NetworkX.
    graph = nx.gnp_random_graph(400, 0.05, seed=1)
    with nx.config(backend_priority=["esker"]):
        for _ in range(backend.SEARCHES_BEFORE):
            assert "esker" not in graph.__networkx_cache__.get("backends", {})
            nx.descendants(graph, 0)
        assert "esker" not in graph.__networkx_cache__.get("backends", {}), "not converted for a few"
        found = nx.descendants(graph, 0)
        assert "esker" in graph.__networkx_cache__["backends"], "converted for more"
    assert found == nx.descendants(graph, 0, backend="networkx")
    graph.add_edge(0, 400)
    assert "a part" in backend.should_run("ancestors", (graph, 0), {}), "counted anew after a change"


def test_questions_that_a_part_of_a_graph_answers_convert_none():
    # NetworkX finds a cycle of odd length or a node of odd degree at once; a conversion took 30 to 90 ms for 100,000 edges.
    for name in ("is_bipartite", "is_eulerian", "is_directed_acyclic_graph", "single_source_dijkstra_path_length"):
        graph = nx.gnp_random_graph(400, 0.05, seed=1)
        with nx.config(backend_priority=["esker"]):
            getattr(nx, name)(graph, *([0] if name.startswith("single") else []))
        assert "esker" not in graph.__networkx_cache__.get("backends", {}), name


def test_a_graph_of_esker_answers_local_questions_locally(web):
    graph = web.graph()
    assert nx.shortest_path(graph, "carol", "dave") == ["carol", "alice", "dave"]
    assert nx.has_path(graph, "dave", "carol") is False and nx.efficiency(esker.from_edges(nx.path_graph(4)), 0, 3) == 1 / 3
    assert nx.is_isolate(graph, "dave") is False
    assert "edges" not in graph._nx_cache.__dict__ and "nodes" in graph._nx_cache.__dict__


def test_a_view_is_converted_anew_after_its_graph_changed():
    graph = nx.path_graph(6)
    for view in (graph.subgraph([0, 1, 2, 3]), nx.subgraph_view(graph, filter_node=lambda node: node < 4)):
        assert nx.single_source_shortest_path_length(view, 0, backend="esker") == {0: 0, 1: 1, 2: 2, 3: 3}
        graph.remove_edge(1, 2)
        assert nx.single_source_shortest_path_length(view, 0, backend="esker") == {0: 0, 1: 1}
        graph.add_edge(1, 2)
