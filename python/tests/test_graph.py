"""Graphs: ids, lists, algorithms, conversions."""

import inspect

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

import esker


@pytest.fixture(scope="module")
def karate():
    graph = nx.karate_club_graph()
    for attributes in graph.nodes.values():
        attributes.clear()
    return graph, esker.from_edges(graph)


def test_one_of_a_kind_is_named_in_the_singular():
    graph = esker.from_edges([0], [0])
    assert repr(graph).startswith("<esker.Graph of 1 vertex and 1 directed edge,")
    assert repr(graph.edges()).startswith("<esker.EdgeTable of 1 edge with")
    assert repr(graph.vertices()).startswith("<esker.VertexTable of 1 vertex with")
    assert "1 row" in repr(graph.wcc()) and "1 rows" not in repr(graph.wcc())


def test_every_algorithm_of_the_catalogue_is_a_method(karate):
    _, graph = karate
    for algorithm in esker.ALGORITHMS.values():
        source = [0] if any(option.required for option in algorithm.options) else []
        target = {"target": 33} if algorithm.name == "flow" else {}
        result = getattr(graph, algorithm.method)(*source, **target, seed=3, verify=True)
        assert result.algorithm == algorithm.name and result.seconds >= 0
        assert result.facts or result.columns
        assert set(result.columns) <= set(algorithm.columns) and set(result.facts) <= set(algorithm.figures)
        estimate = getattr(graph.estimate, algorithm.method)(*source, **target, threads=1)
        if source:
            with pytest.raises(TypeError, match="source"):
                getattr(graph.estimate, algorithm.method)(**target)
        assert estimate.memory_bytes > 0 and estimate.fits("1GiB") and not estimate.fits(1)
        for owner in (esker.Graph, type(graph.estimate)):
            method = getattr(owner, algorithm.method)
            assert "threads" in inspect.signature(method).parameters
            assert all(option.keyword in method.__doc__ for option in algorithm.options)


def test_answers_are_those_of_networkx(karate):
    reference, graph = karate
    unweighted = nx.Graph(reference.edges)
    ranks = graph.pagerank(tolerance=1e-10)
    for vertex, rank in nx.pagerank(unweighted, tol=1e-12).items():
        assert ranks[vertex] == pytest.approx(rank, abs=1e-8)
    assert graph.bfs(0).to_dict() == dict(nx.single_source_shortest_path_length(reference, 0))
    assert graph.sssp(0).to_dict() == pytest.approx(nx.single_source_dijkstra_path_length(reference, 0))
    assert graph.triangles().triangles == sum(nx.triangles(reference).values()) // 3
    assert graph.kcore().to_dict() == nx.core_number(reference)
    path = graph.sssp(0, parents=True).path_to(26)
    assert nx.path_weight(reference, path, "weight") == graph.sssp(0)[26]
    lazily = graph.bfs(0).path_to(26)
    assert lazily[0] == 0 and lazily[-1] == 26 and nx.is_path(reference, lazily)
    depths = nx.single_source_shortest_path_length(reference, 16)
    near = {vertex: depth if depth <= 2 else None for vertex, depth in depths.items()}
    assert graph.bfs(16, max_depth=2).to_dict() == graph.bfs(16, target=0, verify=True).to_dict() == near
    lengths = nx.single_source_dijkstra_path_length(reference, 16)
    found = graph.sssp(16, target=1, verify=True).to_dict()
    assert found == {vertex: length if length <= lengths[1] else None for vertex, length in lengths.items()}


def test_options_are_checked(karate):
    _, graph = karate
    for wrong in ({"damping": "x"}, {"dampin": 0.5}, {"rounds": 1.5}, {"threads": 1.5}, {"seed": "x"}, {"memory": 1.5}):
        with pytest.raises(TypeError):
            graph.pagerank(**wrong)
    for wrong in ({"damping": 2.0}, {"rounds": -1}, {"threads": 0}, {"seed": -1}, {"memory": "much"}):
        with pytest.raises(ValueError):
            graph.pagerank(**wrong)
    with pytest.raises(TypeError, match="it takes damping, tolerance, rounds, teleport_to"):
        graph.pagerank(dampin=0.5)
    with pytest.raises(TypeError, match="source"):
        graph.bfs()
    with pytest.raises(ValueError):
        graph.bfs([])
    with pytest.raises(KeyError, match="no vertex"):
        graph.bfs(99)
    with pytest.raises(KeyError, match="not negative"):
        graph.bfs(-1)
    with pytest.raises(TypeError, match="integers"):
        graph.bfs("0")
    with pytest.raises(MemoryError) as error:
        graph.pagerank(memory=1)
    assert error.value.needed_bytes > 1 == error.value.limit_bytes
    assert graph.pagerank(memory=error.value.needed_bytes).converged
    with pytest.raises(ValueError, match="method"):
        graph.wcc(method="guess")


def test_several_sources(karate):
    reference, graph = karate
    found = graph.bfs([0, 33])
    both = [nx.single_source_shortest_path_length(reference, source) for source in (0, 33)]
    assert found.to_dict() == {v: min(lengths[v] for lengths in both) for v in reference}


def test_lists(web):
    graph = web.graph()
    assert graph.neighbors("alice") == ["bob", "dave"]
    assert graph.neighbors("alice", direction="in") == ["carol"]
    assert graph.degree("alice") == 2 and graph.degree("alice", direction="both") == 3
    assert graph.degree().tolist() == [2, 0, 1, 0]
    assert graph.ids(graph.neighbors(graph.vertex("alice"), dense=True)).tolist() == ["bob", "dave"]
    assert not graph.has_edge("alice", "nobody") and graph.has_edge("carol", "alice")
    assert "alice" in graph and 3 not in graph and None not in graph
    assert list(graph) == ["alice", "bob", "carol", "dave"]
    with pytest.raises(ValueError):
        graph.edge("dave", "alice")
    with pytest.raises(ValueError, match="direction"):
        graph.neighbors("alice", direction="up")
    with pytest.raises(ValueError):
        graph.neighbors(99, dense=True)


def test_edges_and_parts(web):
    graph = web.graph()
    table = graph.edges()
    assert len(table) == 3 and table.properties["weight"].tolist() == [1.0, 7.0, 3.0]
    frame = table.to_pandas()
    assert frame.values.tolist() == [["alice", "bob", 1.0], ["alice", "dave", 7.0], ["carol", "alice", 3.0]]
    assert table.to_polars().rows() == table.to_arrow().to_pandas().apply(tuple, axis=1).tolist()
    ego = graph.ego("dave").to_networkx()
    assert set(ego.nodes) == {"alice", "dave"} and ego.edges["alice", "dave"] == {"weight": 7.0}
    assert set(graph.ego("dave", 2)) == {"alice", "bob", "carol", "dave"}
    assert set(graph.ego("carol", 2, direction="out")) == {"carol", "alice", "bob", "dave"}
    assert list(graph.ego("bob", 0)) == ["bob"] and graph.ego("bob", 0).num_edges == 0
    part = graph.subgraph(["alice", "carol"]).to_networkx()
    assert list(part.edges(data="weight")) == [("carol", "alice", 3.0)]
    with pytest.raises(KeyError):
        graph.subgraph(["nobody"])


def test_networkx_round_trip(karate):
    reference, graph = karate
    back = graph.to_networkx()
    assert nx.utils.graphs_equal(nx.Graph(back.edges), nx.Graph(reference.edges))
    assert all(back.edges[edge]["weight"] == reference.edges[edge]["weight"] for edge in reference.edges)


def test_scipy_without_a_copy(karate):
    reference, graph = karate
    matrix = graph.to_scipy()
    assert (matrix.toarray() == nx.to_numpy_array(reference)).all()
    assert matrix.indices.base is not None and not matrix.indices.flags.owndata, "the targets are mapped"
    assert not matrix.data.flags.owndata and not matrix.data.flags.writeable
    assert (graph.to_scipy(weight=False).toarray() == (nx.to_numpy_array(reference) > 0)).all()
    again = esker.from_edges(matrix.tocsr(), directed=True).to_scipy()
    assert (again.toarray() == matrix.toarray()).all()
    assert scipy.sparse.csgraph.connected_components(matrix)[0] == graph.wcc().components


def test_compressed_graphs_answer_alike(karate):
    reference, graph = karate
    small = esker.from_edges(reference, encoding="compressed")
    assert small.info["encoding"] == "compressed" and graph.info["encoding"] == "plain"
    assert small.bfs(0).to_dict() == graph.bfs(0).to_dict()
    assert (small.to_scipy().toarray() == graph.to_scipy().toarray()).all()
    with pytest.raises(ValueError, match="encoding"):
        esker.from_edges([1], [2], encoding="zip")


def test_scipy_of_layers(web):
    graph = web.graph()
    expected = np.zeros((4, 4))
    for u, v, weight in (("alice", "bob", 1.0), ("alice", "dave", 7.0), ("carol", "alice", 3.0)):
        expected[graph.vertex(u), graph.vertex(v)] = weight
    assert (graph.to_scipy().toarray() == expected).all()
    assert (graph.to_scipy(direction="in").toarray() == expected.T).all()


def test_removed_vertices_are_not_there(web):
    with web.batch() as batch:
        batch.delete_vertices(["bob"])
        batch.set_vertices(["alice", "dave"], age=[1, 2])
    graph = web.graph()
    assert len(graph) == 3 and "bob" not in graph and list(graph) == ["alice", "carol", "dave"]
    with pytest.raises(KeyError):
        graph.bfs("bob")
    found = graph.bfs("carol")
    assert found.to_dict() == {"alice": 1, "carol": 0, "dave": 2}
    assert found["dave"] == 2 and found.path_to("dave") == ["carol", "alice", "dave"]
    assert len(graph.edges()) == 2 and graph.subgraph(["carol", "alice"]).edges().ids()[1].tolist() == ["alice"]
    assert list(graph.subgraph([1], dense=True)) == ["carol"], "numbers have no gaps"
    with pytest.raises(ValueError, match="no vertex number 3"):
        graph.subgraph([3], dense=True)
    assert graph.property("age").tolist() == [1, None, 2]
    assert graph.pagerank().to_pandas()["vertex"].tolist() == ["alice", "carol", "dave"]
    assert web.store(found) and web.graph().properties("dave") == {"age": 2, "depth": 2}


def test_directed_graphs_are_read_as_undirected_and_weighted_by_any_property():
    edges = [(1, 2, 5, 1.5), (2, 1, 3, 8.0), (2, 3, 4, 2.5), (4, 3, 7, 0.5), (4, 1, 9, 2.0)]
    source, target, weight, toll = zip(*edges)
    g = esker.from_edges(list(source), list(target), weight=list(weight), properties={"toll": list(toll)}, directed=True)
    reference = nx.DiGraph()
    for u, v, w, t in edges:
        reference.add_edge(u, v, weight=w, toll=t)
    undirected = nx.Graph()
    for u, v, w, t in edges:
        kept = undirected.get_edge_data(u, v, {"weight": w, "toll": t})
        undirected.add_edge(u, v, weight=min(w, kept["weight"]), toll=min(t, kept["toll"]))

    with pytest.raises(esker.Error, match="undirected=True"):
        g.msf()
    for name in ("weight", "toll"):
        forest = g.msf(undirected=True, weight=name, verify=True)
        assert forest.weight == nx.minimum_spanning_tree(undirected, weight=name).size(weight=name)
        assert g.sssp(4, weight=name).to_dict() == nx.single_source_dijkstra_path_length(reference, 4, weight=name)
        found = g.sssp(1, weight=name, undirected=True).to_dict()
        assert found == nx.single_source_dijkstra_path_length(undirected, 1, weight=name)
        ranks = nx.pagerank(reference, tol=1e-12, weight=name)
        assert g.pagerank(weight=name, tolerance=1e-12).to_dict() == pytest.approx(ranks)
    assert g.pagerank(tolerance=1e-12).to_dict() == pytest.approx(nx.pagerank(reference, tol=1e-12, weight=None))
    assert g.kcore(undirected=True).to_dict() == nx.core_number(undirected)
    assert g.estimate.msf(undirected=True, weight="toll").memory_bytes > 0
    with pytest.raises(esker.Error, match="no property 'tol'|no property \"tol\""):
        g.sssp(1, weight="tol")
    with pytest.raises(esker.MistypedError):
        g.wcc(weight="toll")
    with pytest.raises(esker.MistypedError, match="undirected must be True or False"):
        g.kcore(undirected=1)


def _edges(graph):
    """The edges with their properties, an undirected one from its smaller end."""
    table = graph.edges()
    names = list(table.properties)
    ends = zip(*(end.tolist() for end in table.ids()))
    ends = ends if graph.directed else (tuple(sorted(pair)) for pair in ends)
    values = zip(*(values.tolist() for values in table.properties.values())) if names else ((),) * len(table)
    return sorted((*pair, *value) for pair, value in zip(ends, values))


@pytest.fixture(params=["integers", "texts", "sparse", "removed", "multigraph", "undirected", "unweighted"])
def varied(request):
    """Graphs of all kinds, with properties of vertices."""
    kind = request.param
    rng = np.random.default_rng(5)
    label = {"texts": "v{}".format, "sparse": lambda i: 2**40 + 1000 * i}.get(kind, lambda i: i)
    pairs = [(u, v) for u, v in rng.integers(0, 12, (40, 2)).tolist()]
    pairs = pairs if kind == "multigraph" else list(dict.fromkeys(pairs if kind != "undirected" else (tuple(sorted(one)) for one in pairs)))
    db = esker.create(directed=kind != "undirected", multigraph=kind == "multigraph")
    values = {} if kind == "unweighted" else {"weight": [float(1 + i % 5) / 2 for i in range(len(pairs))], "properties": {"kind": ["ab"[i % 2] for i in range(len(pairs))]}}
    with db.batch() as batch:
        batch.add_edges([label(u) for u, _ in pairs], [label(v) for _, v in pairs], **values)
    with db.batch() as batch:
        batch.add_vertices([label(20)])
        batch.set_vertices([label(1), label(20)], age=[1, 20], name=["one", None])
        if kind == "removed":
            batch.delete_vertices([label(2), label(5)])
    return db.graph(), label


def test_reversed_graphs_run_backwards(varied):
    graph, label = varied
    found = graph.reverse()
    turn = (lambda edge: (edge[1], edge[0], *edge[2:])) if graph.directed else tuple
    assert _edges(found) == sorted(map(turn, _edges(graph))) and set(found) == set(graph)
    assert found.directed == graph.directed and found.multigraph == graph.multigraph and found.weight == graph.weight
    assert found.properties(label(20)) == {"age": 20} and found.properties(label(1)) == graph.properties(label(1))
    assert sorted(found.neighbors(label(1))) == sorted(graph.neighbors(label(1), direction="in"))
    assert _edges(found.reverse()) == _edges(graph)


def test_graphs_without_directions(varied):
    graph, label = varied
    found = graph.undirected()
    assert not found.directed and set(found) == set(graph)
    best = {}
    for u, v, *values in _edges(graph):
        best.setdefault((min(u, v), max(u, v)), []).append(values)
    if graph.multigraph:
        assert _edges(found) == sorted((*pair, *values) for pair, several in best.items() for values in several)
    else:
        assert [edge[:2] for edge in _edges(found)] == sorted(best)
        assert all(values[:1] == min(best[u, v])[:1] and values in best[u, v] for u, v, *values in _edges(found))
    reference = nx.Graph([(u, v) for u, v, *_ in _edges(graph)])
    reference.add_nodes_from(graph)
    assert found.wcc().components == graph.wcc().components == nx.number_connected_components(reference)
    if not graph.multigraph:
        reference.remove_edges_from(list(nx.selfloop_edges(reference)))
        assert found.kcore().to_dict() == nx.core_number(reference)


def test_parts_are_graphs(varied):
    graph, label = varied
    wanted = [label(i) for i in (7, 1, 3, 20, 4, 1)]
    found = graph.subgraph(wanted)
    assert set(found) == set(wanted) and _edges(found) == [edge for edge in _edges(graph) if {*edge[:2]} <= set(wanted)]
    assert found.properties(label(20)) == {"age": 20} and found.bfs(label(20)).reached == 1
    dense = graph.subgraph(graph.vertices(wanted), dense=True)
    assert _edges(dense) == _edges(found) and set(dense) == set(found)
    near = graph.ego(label(1), direction="both")
    assert set(near) == {label(1), *graph.neighbors(label(1)), *graph.neighbors(label(1), direction="in")}
    assert graph.subgraph([]).num_vertices == 0


def test_filters_leave_out_vertices_without_an_edge_unless_all_are_kept(varied):
    graph, _ = varied
    if graph.weight is None:
        with pytest.raises(KeyError, match="kind"):
            graph.filter({"kind": "a"})
        assert graph.filter(lambda edges: edges.source != edges.target).num_edges == sum(u != v for u, v in _edges(graph))
        return
    for where, wants in (
        ({"kind": "a"}, lambda weight, kind: kind == "a"),
        ({"kind": ["a", "c"], "weight": {0.5, 1.0}}, lambda weight, kind: kind == "a" and weight <= 1),
        (lambda edges: edges.properties["weight"] > 1, lambda weight, kind: weight > 1),
        (graph.edges().properties["weight"] > 9, lambda weight, kind: False),
    ):
        found = graph.filter(where)
        wanted = [edge for edge in _edges(graph) if wants(*edge[2:])]
        assert _edges(found) == wanted and set(found) == {end for edge in wanted for end in edge[:2]}
        whole = graph.filter(where, all_vertices=True)
        assert _edges(whole) == wanted and set(whole) == set(graph)
        assert whole.pagerank().to_dict().keys() == set(graph)
    for wrong, error in (([True], ValueError), (lambda edges: edges.source, TypeError), (3, TypeError)):
        with pytest.raises(error):
            graph.filter(wrong)
