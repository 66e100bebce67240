"""The NetworkX backend gives the same answers as NetworkX. test.sh also runs NetworkX's own tests on the backend."""

import inspect
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import esker
from esker.networkx import backend
from esker.networkx.info import FUNCTIONS, get_info
from esker.networkx.offer import OFFERED


def test_what_is_told_is_what_is_offered():
    assert set(FUNCTIONS) == set(OFFERED) and len(FUNCTIONS) >= 60
    for name, offer in OFFERED.items():
        theirs = inspect.signature(nx.utils.backends._registered_algorithms[name].orig_func)
        ours = inspect.signature(offer.function)
        assert list(ours.parameters) == list(theirs.parameters), name
        defaults = [parameter.default for parameter in theirs.parameters.values()]
        assert [parameter.default for parameter in ours.parameters.values()] == defaults, name
    assert set(get_info()["functions"]) == set(FUNCTIONS)


def test_networkx_is_imported_without_the_native_library():
    code = "import sys, networkx as nx; assert 'esker' in nx.config.backends; print('esker._esker' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def listed(answer):
    """Converts an answer for comparison: generators become lists, sets are sorted."""
    if isinstance(answer, dict):
        return {key: listed(value) for key, value in answer.items()}
    if hasattr(answer, "__next__"):
        answer = list(answer)
        if answer and all(isinstance(one, tuple) and len(one) == 2 and isinstance(one[1], dict) for one in answer):
            return dict(answer)
    if isinstance(answer, list) and all(isinstance(one, str) for one in answer):
        return sorted(answer)
    if isinstance(answer, list) and answer and isinstance(answer[0], set):
        return sorted(sorted(one) for one in answer)
    return answer


def outcome(name, *args, **kwargs):
    try:
        return listed(getattr(nx, name)(*args, **kwargs))
    except (nx.NetworkXException, ZeroDivisionError, KeyError, ValueError) as error:
        return type(error)


#: Functions with the graph as only argument and a unique answer.
ALONE = """
    number_connected_components is_connected number_weakly_connected_components is_weakly_connected number_strongly_connected_components
    is_strongly_connected number_attracting_components is_attracting_component is_directed_acyclic_graph is_biconnected has_bridges
    core_number triangles clustering average_clustering transitivity degree_centrality in_degree_centrality out_degree_centrality
    number_of_isolates number_of_selfloops overall_reciprocity is_regular is_eulerian has_eulerian_path is_semieulerian
    is_bipartite is_tree is_forest is_arborescence is_branching eccentricity diameter radius center periphery closeness_centrality
    harmonic_centrality average_shortest_path_length wiener_index global_efficiency connected_components weakly_connected_components
    strongly_connected_components attracting_components biconnected_components all_pairs_shortest_path_length
    all_pairs_dijkstra_path_length negative_edge_cycle betweenness_centrality pagerank flow_hierarchy
""".split()


@given(
    edges=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 5)), max_size=25),
    extra=st.integers(0, 12),
    directed=st.booleans(),
    loops=st.booleans(),
)
def test_answers_of_graphs_alone(edges, extra, directed, loops):
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from("abc"[: extra % 4])
    graph.add_weighted_edges_from((f"n{u}", f"n{v}", w) for u, v, w in edges if loops or u != v)
    for name in ALONE:
        options = {"weight": None} if name == "pagerank" else {}
        expected = outcome(name, graph, **options)
        try:
            found = outcome(name, graph, backend="esker", **options)
        except NotImplementedError:
            continue
        assert found == approx(expected, 1e-5 if name == "pagerank" else 1e-9), name


def approx(value, tolerance):
    """Like pytest.approx, but also for dictionaries of dictionaries."""
    if isinstance(value, dict) and value and not isinstance(next(iter(value.values())), (dict, list, set)):
        return pytest.approx(value, abs=tolerance)
    return pytest.approx(value, abs=tolerance) if isinstance(value, float) else value


def agree(name, graph, *args, tolerance=1e-9, **options):
    """Compares an answer with that of NetworkX, unless Esker does not support the call."""
    find = getattr(nx.community, name, None) or getattr(nx, name)

    def told(**backend):
        try:
            answer = find(graph, *args, **options, **backend)
            return list(answer) if hasattr(answer, "__next__") else answer
        except (nx.NetworkXException, ZeroDivisionError) as error:
            return type(error)

    expected = told()
    try:
        found = told(backend="esker")
    except NotImplementedError:
        return False
    if isinstance(expected, dict):
        assert list(found) == list(expected), name
    if isinstance(expected, list) and expected and isinstance(expected[0], tuple):
        assert [pair[:2] for pair in found] == [pair[:2] for pair in expected], name
        found, expected = ([pair[2] for pair in pairs] for pairs in (found, expected))
    if isinstance(expected, list) and expected and isinstance(expected[0], list):
        assert found == expected, name
        return True
    assert found == pytest.approx(expected, abs=tolerance) if not isinstance(expected, type) else found is expected, (name, found, expected)
    return True


@given(
    edges=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 5) | st.floats(0.125, 9)), min_size=1, max_size=40),
    directed=st.booleans(),
    loops=st.booleans(),
)
def test_measures(edges, directed, loops):
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_weighted_edges_from((u, v, w) for u, v, w in edges if loops or u != v)
    graph.add_nodes_from([20, 3, 21])
    nodes = list(graph)
    halves = [set(nodes[::2]), set(nodes[1::2])]
    for weight in (None, "weight"):
        assert agree("eigenvector_centrality", graph, weight=weight, tolerance=1e-5)
        assert agree("katz_centrality", graph, alpha=0.01, weight=weight, tolerance=1e-5)
        assert agree("katz_centrality", graph, alpha=0.005, beta=0.3, normalized=False, weight=weight, tolerance=1e-5)
        assert agree("harmonic_centrality", graph, distance=weight)
        assert agree("closeness_centrality", graph, distance=weight)
        for name in ("cut_size", "conductance", "normalized_cut_size"):
            # NetworkX cannot tell the rest for this one.
            assert name == "cut_size" and directed or agree(name, graph, nodes[::2], weight=weight)
            assert agree(name, graph, nodes[:2], nodes[2:4], weight=weight)
        assert agree("volume", graph, nodes[::2], weight=weight)
    assert graph.size() == 0 or agree("partition_quality", graph, halves)
    agree("degree_assortativity_coefficient", graph, tolerance=1e-8)
    if not directed:
        for name in ("average_neighbor_degree", "average_degree_connectivity"):
            assert agree(name, graph)
        if not any(graph.has_edge(node, node) for node in graph):
            assert agree("rich_club_coefficient", graph, normalized=False)
            for name in ("jaccard_coefficient", "adamic_adar_index", "resource_allocation_index", "preferential_attachment"):
                assert agree(name, graph)
                assert agree(name, graph, [(nodes[0], nodes[-1]), (nodes[-1], nodes[1])] if len(nodes) > 3 else [])


@given(
    edges=st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14), st.integers(-3, 5) | st.floats(0.125, 9)), max_size=60),
    order=st.permutations(range(15)),
    cyclic=st.booleans(),
)
def test_orders_of_directed_graphs(edges, order, cyclic):
    graph = nx.DiGraph()
    graph.add_nodes_from(order)
    graph.add_weighted_edges_from((order[u], order[v], w) for u, v, w in edges if cyclic or u < v)
    assert agree("topological_generations", graph)
    assert agree("topological_sort", graph)
    assert agree("dag_longest_path_length", graph)
    if nx.is_directed_acyclic_graph(graph):
        path = nx.dag_longest_path(graph, backend="esker")
        length = sum(graph[u][v]["weight"] for u, v in zip(path, path[1:]))
        assert length == pytest.approx(nx.dag_longest_path_length(graph))


def test_small_graphs_and_few_pairs_stay_with_networkx():
    graph = nx.gnm_random_graph(300, 5000, seed=1)
    for name in ("harmonic_centrality", "diameter", "global_efficiency"):
        assert "fewer than 400" in backend.should_run(name, (graph,), {})
    assert backend.should_run("diameter", (nx.gnm_random_graph(500, 5000, seed=1),), {}) is True
    assert "pairs of nodes" in backend.should_run("jaccard_coefficient", (graph,), {})


@given(
    edges=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.floats(0.125, 9) | st.integers(0, 5)), min_size=1, max_size=25),
    directed=st.booleans(),
)
def test_paths(edges, directed):
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_weighted_edges_from(edges)
    source = edges[0][0]
    for name in ("single_source_dijkstra", "single_source_bellman_ford"):
        lengths, paths = getattr(nx, name)(graph, source, backend="esker")
        expected, _ = getattr(nx, name)(graph, source)
        assert lengths == pytest.approx(expected)
        for node, path in paths.items():
            assert path[0] == source and path[-1] == node
            assert nx.path_weight(graph, path, "weight") == pytest.approx(expected[node])
    steps = nx.single_target_shortest_path(graph, source, backend="esker")
    expected = dict(nx.single_target_shortest_path_length(graph, source))
    assert {node: len(path) - 1 for node, path in steps.items()} == expected
    assert all(path[0] == node and path[-1] == source and nx.is_path(graph, path) for node, path in steps.items())
    assert nx.descendants(graph, source, backend="esker") == nx.descendants(graph, source)
    assert nx.ancestors(graph, source, backend="esker") == nx.ancestors(graph, source)


@given(
    edges=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 5) | st.floats(0.125, 9)), min_size=1, max_size=40),
    directed=st.booleans(),
    weight=st.sampled_from(["weight", None]),
    resolution=st.floats(0.2, 3),
)
def test_communities(edges, directed, weight, resolution):
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from("ab")
    graph.add_weighted_edges_from(edges)
    options = {"weight": weight, "resolution": resolution}
    halves = [set(list(graph)[::2]), set(list(graph)[1::2])]
    expected = nx.community.modularity(graph, halves, **options)
    assert nx.community.modularity(graph, halves, backend="esker", **options) == pytest.approx(expected, abs=1e-12)
    with pytest.raises(nx.community.quality.NotAPartition):
        nx.community.modularity(graph, halves[:1], backend="esker")
    if directed:
        return
    for find in (nx.community.louvain_communities, nx.community.leiden_communities):
        found = find(graph, seed=3, backend="esker", **options)
        assert found == find(graph, seed=3, backend="esker", **options)
        alone = nx.community.modularity(graph, [{node} for node in graph], **options)
        assert nx.community.modularity(graph, found, **options) >= alone - 1e-12
    assert all(nx.is_connected(graph.subgraph(group)) for group in found)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1, max_size=25))
def test_colours(edges):
    graph = nx.Graph((u, v) for u, v in edges if u != v)
    assert nx.greedy_color(graph, backend="esker") == nx.greedy_color(graph)
    for strategy in ("smallest_last", "random_sequential"):
        colours = nx.greedy_color(graph, strategy=strategy, backend="esker")
        assert all(colours[u] != colours[v] for u, v in graph.edges)


def test_negative_weights_and_cycles():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 4), ("b", "c", -3), ("a", "c", 2)])
    assert nx.bellman_ford_path_length(graph, "a", "c", backend="esker") == 1
    assert nx.bellman_ford_path(graph, "a", "c", backend="esker") == ["a", "b", "c"]
    assert not nx.negative_edge_cycle(graph, backend="esker")
    graph.add_edge("c", "a", weight=-2)
    assert nx.negative_edge_cycle(graph, backend="esker")
    with pytest.raises(nx.NetworkXUnbounded):
        nx.single_source_bellman_ford_path_length(graph, "a", backend="esker")
    with pytest.raises(NotImplementedError) as raised:
        nx.dijkstra_path_length(graph, "a", "c", backend="esker")
    assert "contradictory" in str(raised.value.__cause__)


def test_pagerank_as_networkx_has_it():
    graph = nx.gnp_random_graph(60, 0.05, seed=3, directed=True)
    for options in ({}, {"personalization": {0: 1, 5: 3}}, {"alpha": 0.5}, {"personalization": {0: 1}, "dangling": {0: 1}}):
        ours = nx.pagerank(graph, backend="esker", tol=1e-10, **options)
        assert ours == pytest.approx(nx.pagerank(graph, tol=1e-10, **options), abs=1e-7)
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.pagerank(graph, backend="esker", max_iter=2)


def test_refusals_say_why():
    graph = nx.path_graph(4)
    for name, args, reason in (
        ("connected_components", (nx.MultiGraph([(1, 2)]),), "parallel"),
        ("betweenness_centrality", (graph, None, True, "weight"), "weight='weight'"),
        ("clustering", (nx.DiGraph([(1, 2)]),), "undirected"),
        ("dijkstra_path", (graph, 0, 3, lambda u, v, d: 1), "name of an attribute"),
        ("hits", (graph,), "does not offer"),
    ):
        told = backend.can_run(name, args, {})
        assert isinstance(told, str) and reason in told, told
    assert backend.can_run("pagerank", (graph,), {}) is True
    assert "longer" in backend.should_run("pagerank", (graph,), {})
    with nx.config.backends.esker(max_edges=2):
        with pytest.raises(NotImplementedError) as raised:
            nx.pagerank(graph, backend="esker")
        assert "max_edges" in str(raised.value.__cause__)
        assert "max_edges" in backend.can_run("pagerank", (graph,), {})
    graph.add_edge(4, 5)
    bad = nx.Graph()
    bad.add_edge(0, 1, weight="heavy")
    with pytest.raises(NotImplementedError) as raised:
        nx.dijkstra_path(bad, 0, 1, backend="esker")
    assert "heavy" in str(raised.value.__cause__)


def test_eccentricity_of_a_node_of_nodes_and_of_neither():
    path = nx.path_graph(3)
    assert nx.eccentricity(path, 0, backend="esker") == 2
    assert nx.eccentricity(path, [1, 7], backend="esker") == {1: 1}
    with pytest.raises(nx.NetworkXError):
        nx.eccentricity(path, 7, backend="esker")


def test_an_esker_graph_is_taken_as_it_is(web):
    graph = web.graph()
    assert nx.number_weakly_connected_components(graph) == 1
    assert nx.shortest_path(graph, "carol", "dave") == ["carol", "alice", "dave"]
    assert nx.dijkstra_path_length(graph, "carol", "dave") == 10.0
    assert set(nx.pagerank(graph, weight=None)) == set(graph)
    with pytest.raises(nx.NodeNotFound):
        nx.single_source_shortest_path_length(graph, "nobody")
    with web.batch() as batch:
        batch.delete_vertices(["bob"])
    assert nx.degree_centrality(web.graph()) == {"alice": 1.0, "carol": 0.5, "dave": 0.5}
    assert nx.ancestors(web.graph(), "dave") == {"carol", "alice"}
    assert sorted(map(sorted, nx.strongly_connected_components(web.graph()))) == [["alice"], ["carol"], ["dave"]]


def test_conversions_are_cached():
    graph = nx.gnp_random_graph(50, 0.1, seed=1)
    nx.pagerank(graph, backend="esker", weight=None)
    kept = list(graph.__networkx_cache__["backends"]["esker"].values())
    nx.triangles(graph, backend="esker")
    assert list(graph.__networkx_cache__["backends"]["esker"].values())[0] is kept[0]
    graph.add_edge(0, 99)
    assert nx.number_of_isolates(graph, backend="esker") == nx.number_of_isolates(graph)
    assert 99 in nx.node_connected_component(graph, 0, backend="esker")


def test_a_graph_without_a_cache_is_taken():
    # The residual graphs of NetworkX's flows are such.
    graph = nx.path_graph(4)
    graph.__networkx_cache__ = None
    assert nx.shortest_path_length(graph, 0, 3, backend="esker") == 3
    with nx.config.backends.esker(max_edges=2), pytest.raises(NotImplementedError):
        nx.pagerank(graph, backend="esker")
    with nx.config(backend_priority=["esker"]):
        assert nx.node_connectivity(nx.gnp_random_graph(8, 0.5, seed=1)) == nx.node_connectivity(nx.gnp_random_graph(8, 0.5, seed=1), backend="networkx")


@pytest.mark.parametrize("directed", [False, True])
def test_any_property_of_an_esker_graph_is_a_weight(directed):
    rng = np.random.default_rng(3)
    source, target = rng.integers(0, 40, 160), rng.integers(0, 40, 160)
    properties = {"toll": rng.random(160) + 0.1, "steps": rng.integers(1, 5, 160), "kind": ["x"] * 160}
    for weight in (None, rng.integers(1, 9, 160)):
        g = esker.from_edges(source, target, weight=weight, properties=properties, directed=directed, duplicates="last")
        other = g.to_networkx()
        for name in ("toll", "steps", *(() if weight is None else ("weight",)), None):
            ranks = nx.pagerank(other, weight=name, tol=1e-10, backend="networkx")
            assert nx.pagerank(g, weight=name, tol=1e-10) == pytest.approx(ranks, abs=1e-7)
            assert nx.single_source_dijkstra_path_length(g, 0, weight=name) == pytest.approx(
                nx.single_source_dijkstra_path_length(other, 0, weight=name, backend="networkx")
            )
            assert nx.bellman_ford_path_length(g, 0, 1, weight=name) == pytest.approx(nx.bellman_ford_path_length(other, 0, 1, weight=name, backend="networkx"))
            assert not nx.negative_edge_cycle(g, weight=name)
            if name is not None:
                length = nx.path_weight(other, nx.dijkstra_path(g, 0, 1, weight=name), name)
                assert length == pytest.approx(nx.dijkstra_path_length(g, 0, 1, weight=name))
        with pytest.raises(NotImplementedError) as refused:
            nx.pagerank(g, weight="kind", backend="esker")
        assert "'kind' is of type text, but weights are numbers" in str(refused.value.__cause__)
    with pytest.raises(NotImplementedError) as refused:
        nx.betweenness_centrality(g, weight="toll", backend="esker")
    assert "does not support weight='toll'" in str(refused.value.__cause__)


def test_pagerank_with_what_is_no_probability_or_tolerance():
    graph = nx.gnp_random_graph(60, 0.1, seed=1, directed=True)
    for options in ({"alpha": 1.5}, {"alpha": -0.5}, {"tol": -1.0}, {"alpha": 1.5, "max_iter": 3}, {"tol": 0}):
        outcomes = []
        for backend in ("networkx", "esker"):
            try:
                outcomes.append(nx.pagerank(graph, backend=backend, **options))
            except nx.PowerIterationFailedConvergence as error:
                outcomes.append(str(error))
        assert outcomes[0] == pytest.approx(outcomes[1]) if isinstance(outcomes[0], dict) else outcomes[0] == outcomes[1], options


def test_questions_about_few_nodes_convert_no_graph():
    graph = nx.gnp_random_graph(300, 0.1, seed=1)
    for name, args in (("clustering", (0,)), ("triangles", (0,)), ("clustering", ([0, 1],)), ("average_clustering", ([0],)), ("shortest_path_length", (0, 1))):
        assert isinstance(backend.should_run(name, (graph, *args), {}), str), name
        assert isinstance(backend.should_run(name, (graph,), dict(zip(("nodes",) if len(args) == 1 else ("source", "target"), args))), str), name
    for name, args in (("clustering", ()), ("triangles", (None,)), ("average_clustering", (range(200),))):
        assert backend.should_run(name, (graph, *args), {}) is True
    # Of a graph of Esker, all nodes are computed once.
    g = esker.from_edges(graph)
    assert [nx.clustering(g, node) for node in range(300)] == [value for value in nx.clustering(graph).values()]


def test_negative_cycles_are_found_by_a_weight_of_any_name():
    graph = nx.DiGraph()
    graph.add_edge("a", "b", cost=-2)
    graph.add_edge("b", "a", cost=1)
    graph.add_edge("b", "c", cost=5)
    assert nx.negative_edge_cycle(graph, weight="cost", backend="esker")
    graph["b"]["a"]["cost"] = 3
    assert not nx.negative_edge_cycle(graph.copy(), weight="cost", backend="esker")
