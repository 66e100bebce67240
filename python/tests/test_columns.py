"""Which columns of a table, a matrix or a graph are sources, targets, weights and properties."""

import collections
import subprocess
import sys

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import esker

#: Two steps of cost 1 are nearer than one of cost 9.
COSTS = {"source": [0, 1, 0], "target": [1, 2, 2], "cost": [1.0, 1.0, 9.0], "weight": [5.0, 5.0, 5.0]}


def edges_of(graph):
    source, target = graph.edges(properties=False).ids()
    return sorted(zip(source.tolist(), target.tolist()))


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_the_named_column_of_a_table_is_the_weight(make):
    graph = esker.from_edges(make(COSTS), weight="cost")
    assert graph.weight == "cost" and graph.edge_properties.keys() == {"cost", "weight"}
    assert graph.sssp(0)[2] == 2
    assert esker.from_edges(make(COSTS)).sssp(0)[2] == 5
    assert esker.from_edges(make(COSTS), weight=False).edge_properties == {}
    with pytest.raises(ValueError, match="no column is called 'price'"):
        esker.from_edges(make(COSTS), weight="price")


def test_the_named_weight_in_batches(path):
    with esker.create(path) as db:
        with db.batch() as batch:
            batch.add_edges({name: COSTS[name] for name in ("source", "target", "cost")}, weight="cost")
        assert db.graph().weight == "cost" and db.graph().sssp(0)[2] == 2
        with db.batch() as batch:
            batch.add_edges(pd.DataFrame({"source": [2], "target": [3], "price": [4.0]}), weight="price")
            batch.add_edges([3], [4], weight=[1])
        assert db.graph().sssp(0)[4] == 7
        with db.batch() as batch:
            with pytest.raises(ValueError, match="both be the weight"):
                batch.add_edges(pd.DataFrame({"source": [2], "target": [3], "price": [4.0], "cost": [1.0]}), weight="price")
            with pytest.raises(ValueError, match="no property 'colour'"):
                batch.add_edges(pd.DataFrame({"source": [2], "target": [3], "cost": [4.0], "colour": ["red"]}))


def test_weights_have_the_name_given_to_create():
    db = esker.create(weight="cost")
    with db.batch() as batch:
        batch.add_edges([0, 1, 0], [1, 2, 2], weight=[1, 1, 9])
    assert db.graph().weight == "cost" and db.graph().sssp(0)[2] == 2
    with pytest.raises(ValueError, match="weight='cost'"), esker.create(weight="cost").batch() as batch:
        batch.add_edges([(0, 1)])
    with pytest.raises(ValueError, match="weight"), esker.create().batch() as batch:
        batch.add_edges([0], [1])
        batch.add_edges([(1, 2, 0.5)])


def test_the_weight_given_to_create_holds_for_files(tmp_path):
    file = tmp_path / "edges.csv"
    file.write_text("source,target,cost\n0,1,1\n1,2,1\n0,2,9\n")
    db = esker.create(weight="cost")
    db.import_(file)
    assert db.graph().weight == "cost" and db.graph().sssp(0)[2] == 2


def test_the_weights_of_other_objects_have_a_name():
    matrix = scipy.sparse.coo_array(([1.0, 1.0, 9.0], ([0, 1, 0], [1, 2, 2])), shape=(3, 3))
    # An array of three rows and three columns could be an adjacency matrix.
    for given in (matrix, [(0, 1, 1), (1, 2, 1), (0, 2, 9)], np.array([(0, 1, 1), (1, 2, 1), (0, 2, 9), (2, 3, 1)])):
        graph = esker.from_edges(given, weight="cost")
        assert graph.weight == "cost" and graph.sssp(0)[2] == 2
        assert esker.from_edges(given, weight=False).weight is None
    graph = nx.DiGraph([(0, 1, {"cost": 1}), (1, 2, {}), (0, 2, {"cost": 9})])
    assert esker.from_edges(graph, weight="cost").sssp(0)[2] == 2
    assert esker.from_edges(list(graph.edges(data=True))[:2], weight="cost").weight == "cost"
    for given in (graph, [(0, 1)], np.array([(0, 1)])):
        with pytest.raises(ValueError, match="price"):
            esker.from_edges(given, weight="price")


@pytest.mark.parametrize("names", [("x", "source"), ("target", "x"), ("to", "x"), ("x", "src"), ("Target", "Source"), ("dst", "src")])
def test_a_known_name_counts_wherever_it_stands(names):
    # The first column holds the targets.
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        assert edges_of(esker.from_edges(make(dict(zip(names, ([1, 2], [0, 1])))))) == [(0, 1), (1, 2)]


def test_unknown_names_count_by_position():
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        assert edges_of(esker.from_edges(make({"a": [0, 1], "b": [1, 2]}))) == [(0, 1), (1, 2)]
        graph = esker.from_edges(make({"a": [0], "price": [2.5], "b": [1]}), weight="price")
        assert edges_of(graph) == [(0, 1)] and graph.edge(0, 1) == {"price": 2.5}


def test_ambiguous_columns_are_refused():
    for table, said in (
        ({"src": [0], "from": [1], "dst": [2]}, "both be the source"),
        ({"source": [0], "to": [1], "dst": [2]}, "both be the target"),
        ({"a": [0], "b": [1], "c": [2]}, "no column is called source"),
        ({"source": [0], "b": [1], "c": [2]}, "no column is called target"),
    ):
        with pytest.raises(esker.InvalidError, match=said):
            esker.from_edges(pd.DataFrame(table))
    twice = pd.DataFrame([[0, 1, 2]], columns=["source", "target", "target"])
    people = pd.DataFrame([[1, 2, 3]], columns=["id", "n", "n"])
    for change in esker.Batch.set_vertices, esker.Batch.add_vertices:
        for table in people, pa.Table.from_arrays([pa.array([value]) for value in (1, 2, 3)], ["id", "n", "n"]):
            with pytest.raises(esker.InvalidError, match="two columns are called 'n'"), esker.create().batch() as batch:
                change(batch, table)
    with pytest.raises(esker.InvalidError, match="two columns are called 'target'"):
        esker.from_edges(twice)
    with pytest.raises(esker.InvalidError, match="must be strings"):
        esker.from_edges(pd.DataFrame([[0, 1, 2]], columns=["source", "target", 7]))
    exact = pd.DataFrame({"u": [0.5], "v": [0.5], "source": [0], "target": [1]})
    assert esker.from_edges(exact).edge(0, 1) == {"u": 0.5, "v": 0.5}


def test_a_dictionary_of_neighbours_is_not_a_table():
    for given in ({0: [1], 1: [0]}, {"a": ["b"], "b": ["a"]}):
        with pytest.raises(esker.InvalidError):
            esker.from_edges(given)


def test_fields_of_structured_arrays_count():
    kind = [("target", "i8"), ("weight", "f8"), ("source", "i8")]
    array = np.array([(1, 2.5, 0), (2, 0.5, 1)], dtype=kind)
    for given in (array, array.view(np.recarray)):
        graph = esker.from_edges(given)
        assert edges_of(graph) == [(0, 1), (1, 2)] and graph.sssp(0)[2] == 3
    with pytest.raises(TypeError, match="one dimension"):
        esker.from_edges(array.reshape(1, 2))


def test_fields_of_rows_count():
    Row = collections.namedtuple("Row", "weight target source")
    for rows in ([Row(2.5, 1, 0), Row(0.5, 2, 1)], [Row(2.5, 1, 0)._asdict(), Row(0.5, 2, 1)._asdict()]):
        graph = esker.from_edges(rows)
        assert edges_of(graph) == [(0, 1), (1, 2)] and graph.sssp(0)[2] == 3
    for rows in ([{0, 1}], [(0, 1), {1, 2}], [{"source": 0}, (0, 1)]):
        with pytest.raises(TypeError):
            esker.from_edges(rows)


def test_unknown_keywords_are_refused():
    for use in (esker.from_edges, esker.create().batch().add_edges):
        with pytest.raises(TypeError, match="weights"):
            use([0], [1], weights=[2.0])
    graph = esker.from_edges([0], [1], properties={"kind": ["road"], "weight": [2]})
    assert graph.edge(0, 1) == {"kind": "road", "weight": 2} and graph.weight == "weight"
    with pytest.raises(ValueError, match="both the weight"):
        esker.from_edges([0], [1], properties={"weight": [2]}, weight=[3])
    with pytest.raises(TypeError, match="columns by name"):
        esker.from_edges([0], [1], properties=["kind"])


def test_entries_of_a_matrix_that_occur_twice_are_summed():
    matrix = scipy.sparse.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 2])), shape=(3, 3))
    for options in ({}, {"directed": False}, {"multigraph": True}):
        graph = esker.from_edges(matrix, **options)
        assert graph.num_edges == 2 and graph.sssp(0).to_dict() == {0: 0, 1: 3, 2: 7}
    assert matrix.nnz == 3, "the matrix of the caller stays as it is"


def test_an_asymmetric_matrix_is_not_undirected():
    with pytest.raises(ValueError, match=r"\(0, 1\) and \(1, 0\) differ"):
        esker.from_edges(scipy.sparse.csr_array([[0, 1.0], [2.0, 0]]), directed=False)
    symmetric = scipy.sparse.csr_array([[5.0, 1.0], [1.0, 0]])
    for options in ({}, {"multigraph": True}):
        graph = esker.from_edges(symmetric, directed=False, **options)
        assert graph.num_edges == 2 and graph.edge(1, 0) == {"weight": 1.0}
    triangle = scipy.sparse.csr_array([[0, 1.0], [0, 0]])
    assert esker.from_edges(triangle, directed=False).num_edges == 1
    assert esker.from_edges(scipy.sparse.csr_array([[0, 1.0], [2.0, 0]]), directed=False, weight=False).num_edges == 1
    with pytest.raises(ValueError, match="differ"), esker.create(directed=False).batch() as batch:
        batch.add_edges(scipy.sparse.csr_array([[0, 1.0], [2.0, 0]]))


def test_graphs_that_change_their_direction_lose_nothing():
    path = nx.path_graph(3)
    path.edges[0, 1]["weight"] = 2
    for graph in (esker.from_edges(path, directed=True), _through_batch(path)):
        assert graph.directed and edges_of(graph) == [(0, 1), (1, 0), (1, 2), (2, 1)]
        assert graph.sssp(2).to_dict() == {0: 3, 1: 1, 2: 0}
    both = nx.DiGraph([(0, 1, {"weight": 2}), (1, 0, {"weight": 3})])
    with pytest.raises(ValueError, match="different values"):
        esker.from_edges(both, directed=False)
    assert esker.from_edges(both, directed=False, weight=False).num_edges == 1
    both.edges[1, 0]["weight"] = 2
    assert esker.from_edges(both, directed=False).edge(1, 0) == {"weight": 2}


def _through_batch(graph):
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges(graph)
    return db.graph()


def test_texts_are_not_weights():
    text = pd.DataFrame({"source": [0], "target": [1], "weight": ["heavy"]})
    for use in (
        lambda: esker.from_edges([0], [1], weight=["heavy"]),
        lambda: esker.from_edges([(0, 1, "heavy")]),
        lambda: esker.from_edges(text),
        lambda: esker.from_edges(text.rename(columns={"weight": "cost"}), weight="cost"),
        lambda: esker.from_edges(np.array([["a", "b", "1"]])),
        lambda: esker.from_edges(nx.Graph([(0, 1, {"weight": "heavy"})])),
    ):
        with pytest.raises(TypeError, match="weights are numbers"):
            use()
    assert esker.from_edges(text, weight=False).weight is None
    assert esker.from_edges([(0, 1, {"kind": "heavy"})]).edge(0, 1) == {"kind": "heavy"}


@pytest.mark.parametrize(
    "edges",
    [
        [(1, 2), (2, 3)],
        [("a", "b"), ("b", "ä")],
        [(1, 2, 3), (2, 3, 0.5)],
        [(1, 2, 0.5), (2, 3, 3)],
        [(2**63, 2), (2, 2**64 - 1)],
        [(np.int64(1), 2), (2, 3)],
        [(True, 2), (2, 3)],
        [[1, 2], (2, 3)],
    ],
)
def test_tuples_and_their_columns_make_the_same_graph(edges):
    graph = esker.from_edges(edges)
    columns = [list(column) for column in zip(*edges)]
    other = esker.from_edges(columns[0], columns[1], weight=columns[2] if len(columns) > 2 else None)
    assert edges_of(graph) == edges_of(other) == sorted((u, v) for u, v, *_ in edges)
    assert graph.edge_properties == other.edge_properties
    assert {name: values.tolist() for name, values in graph.edges().properties.items()} == {
        name: values.tolist() for name, values in other.edges().properties.items()
    }


def test_tuples_that_cannot_be_read_are_refused():
    for edges, error in (
        ([(1, 2), ("a", "b")], TypeError),
        ([(1, "a")], TypeError),
        ([(1, 2), (1, 2, 3)], ValueError),
        ([(1,)], ValueError),
        ([(1, 2, 3, 4)], ValueError),
        ([(None, 2)], ValueError),
        ([(-1, 2)], ValueError),
        ([(1.5, 2)], ValueError),
        ([("a\ud800", "b")], ValueError),
        ([(1, 2, "heavy")], TypeError),
    ):
        with pytest.raises(error):
            esker.from_edges(edges)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("label", [lambda i: i, lambda i: 10 * i, lambda i: 2**40 * i, lambda i: f"n{i}"])
def test_graphs_of_networkx_come_and_go_unchanged(kind, label):
    rng = np.random.default_rng(7)
    graph = kind()
    graph.add_nodes_from(label(i) for i in range(12))
    for u, v in rng.integers(0, 10, (30, 2)).tolist():
        graph.add_edge(label(u), label(v), weight=float(u + v) / 4, kind="even" if (u + v) % 2 == 0 else "odd")
    removed = label(3)
    for _ in range(2):
        back = esker.from_edges(graph).to_networkx()
        assert type(back) is kind and set(back) == set(graph)
        assert _described(back) == _described(graph)
        assert all(back.edges[edge] is back.get_edge_data(*edge[1::-1], *edge[2:]) for edge in back.edges) or graph.is_directed()
        graph.remove_node(removed)
        removed = label(4)


def _described(graph):
    def ends(u, v):
        return (u, v) if graph.is_directed() else tuple(sorted((u, v), key=str))

    return sorted((*map(str, ends(u, v)), sorted(values.items())) for u, v, values in graph.edges(data=True))


def test_removed_vertices_are_not_in_networkx():
    with esker.create(directed=False) as db:
        with db.batch() as batch:
            batch.add_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])
        with db.batch() as batch:
            batch.delete_vertices(["b"])
        graph = db.graph()
    whole = graph.to_networkx()
    assert sorted(whole) == ["a", "c", "d", "e"] and _described(whole) == [("c", "d", []), ("d", "e", [])]
    table = graph.edges()
    assert sorted(map(tuple, zip(*table.ids()))) == [("c", "d"), ("d", "e")]
    assert table.to_arrow().to_pydict() == {"source": table.ids()[0].tolist(), "target": table.ids()[1].tolist()}


def test_the_lists_of_networkx_are_read_like_views():
    from esker.networkx.graph import convert_from_nx

    for kind in (nx.Graph, nx.DiGraph):
        for label in (int, float, str, lambda i: 2**40 * i, lambda i: (i, "x"), lambda i: -i):
            graph = kind()
            graph.add_nodes_from(map(label, range(8)))
            for u, v in np.random.default_rng(3).integers(0, 8, (20, 2)).tolist():
                graph.add_edge(label(u), label(v), weight=[1, 2, 0.5][(u + v) % 3])
            view = graph.subgraph(list(graph))
            for attrs in (None, {"weight": 1}, {"other": 3}):
                plain, viewed = (convert_from_nx(one, edge_attrs=attrs)._lists for one in (graph, view))
                for found, expected in zip(plain[:4], viewed[:4]):
                    assert (found is None) == (expected is None)
                    if found is not None:
                        assert found.dtype == expected.dtype and found.tolist() == expected.tolist()


ATTRIBUTES = {
    "none": [{}, {}, {}],
    "weights": [{"weight": 1.5}, {"weight": 2.5}, {"weight": 0.5}],
    "integers and floats": [{"weight": 1}, {"weight": 2.5}, {"weight": 3}],
    "several": [{"kind": "a", "weight": 1}, {"kind": "b", "weight": 2}, {"kind": "", "weight": 3}],
    "another order": [{"kind": "a", "weight": 1}, {"weight": 2, "kind": "b"}, {"kind": "c", "weight": 3}],
    "some missing": [{"weight": 2.5}, {}, {"weight": 3.5}],
    "truth values": [{"open": True}, {"open": False}, {"open": True}],
    "integers": [{"weight": 1}, {"weight": -2}, {"weight": 2**62}],
    "an integer that no float equals": [{"weight": 0.5}, {"weight": 2**53 + 1}, {"weight": 3}],
    "other names": [{"weight": 1}, {"length": 2}, {"weight": 3}],
    "texts": [{"kind": "a"}, {"kind": "b"}, {"kind": ""}],
}


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("name", ATTRIBUTES)
@pytest.mark.parametrize("nodes", ["abcd", [3, -1, 2, 5]])
def test_attributes_of_networkx_are_read_in_one_pass_and_like_views(kind, name, nodes):
    if nodes != "abcd":
        nodes = [10 + node for node in nodes]
    graph, (a, b, c, d) = kind(), nodes
    graph.add_edges_from((u, v, dict(one)) for (u, v), one in zip([(a, b), (c, b), (b, d)], ATTRIBUTES[name]))
    if name == "an integer that no float equals":
        for one in (graph, graph.subgraph(list(graph))):
            with pytest.raises(esker.InvalidError):
                esker.from_edges(one)
        return
    direct, view = (esker.from_edges(one).edges().to_arrow() for one in (graph, graph.subgraph(list(graph))))
    order = [("source", "ascending"), ("target", "ascending")]
    assert direct.select(view.column_names).sort_by(order) == view.sort_by(order)
    found = esker._columns.read_edges([graph._adj[node] for node in graph], {node: row for row, node in enumerate(graph)}, kind is nx.DiGraph)
    usual = name in ("none", "weights", "integers and floats", "several", "integers", "texts")
    assert (found is not None) == usual
    assert not usual or [column for column, _ in found[2]] == list(ATTRIBUTES[name][0])


@pytest.mark.parametrize("directed", [False, True])
def test_large_graphs_of_integers_are_read_like_views(directed):
    from esker.networkx.graph import convert_from_nx

    graph = nx.gnm_random_graph(300, 4000, seed=5, directed=directed)
    graph.add_edges_from((v, v) for v in range(0, 300, 7))
    for weights in ([1], [1, 2, 3], [0.5, 1.25], [1, 0.5]):
        nx.set_edge_attributes(graph, {edge: weights[at % len(weights)] for at, edge in enumerate(graph.edges)}, "weight")
        view = graph.subgraph(list(graph))
        plain, viewed = (convert_from_nx(one, edge_attrs={"weight": 1})._lists for one in (graph, view))
        for found, expected in zip(plain[:4], viewed[:4]):
            assert (found is None) == (expected is None)
            assert found is None or (found.dtype == expected.dtype and found.tolist() == expected.tolist())
        assert nx.utils.graphs_equal(esker.from_edges(graph).to_networkx(), esker.from_edges(view).to_networkx())
    # An object of another type far behind, and a node that is none.
    graph.add_edge(250, 251, weight=True)
    graph._adj[299][1000] = {"weight": 1}
    with pytest.raises(KeyError, match="1000"):
        convert_from_nx(graph, edge_attrs={"weight": 1})


def test_equal_nodes_of_other_types_are_one_node():
    from esker.networkx.graph import convert_from_nx

    graph = nx.Graph([(1, 2)])
    graph.add_edge(2.0, 3)
    graph.add_edge(True, 3)
    assert convert_from_nx(graph)._lists.targets.tolist() == [1, 2, 0, 2, 1, 0]


def test_texts_and_dictionaries_of_networkx_are_told_apart():
    from esker.networkx.graph import convert_from_nx

    graph = nx.Graph()
    for u, v in zip("abca", "bcad"):
        graph.add_edge("node " + u, "node " + v, weight=ord(v))
    graph.add_edge("node b", "node b", weight=7)
    read = convert_from_nx(graph, edge_attrs={"weight": 1})._lists
    assert read.targets.tolist() == [1, 2, 3, 0, 2, 1, 1, 0, 0], "equal texts are one node, though each was made anew"
    assert read.weights.tolist() == [98, 97, 100, 98, 99, 7, 99, 97, 100]
    # Not what NetworkX makes, but what it allows: each direction with a dictionary of its own.
    graph._adj["node c"]["node a"] = {"weight": 5}
    assert convert_from_nx(graph, edge_attrs={"weight": 1})._lists.weights.tolist() == [98, 97, 100, 98, 99, 7, 99, 5, 100]
    graph._adj["node d"]["nobody"] = {"weight": 5}
    with pytest.raises(KeyError, match="nobody"):
        convert_from_nx(graph)
    many = nx.cycle_graph([f"node {i}" for i in range(1000)])
    assert nx.utils.graphs_equal(esker.from_edges(many).to_networkx(), nx.Graph(many.edges))


def test_graphs_for_networkx_have_neighbours_in_the_order_of_edges():
    ends = np.random.default_rng(5).integers(0, 30, (2, 200))
    for directed in (False, True):
        table = esker.from_edges(*ends, directed=directed, weight=np.arange(200), duplicates="last").edges()
        expected = nx.DiGraph() if directed else nx.Graph()
        expected.add_nodes_from(table.vertices().tolist())
        expected.add_weighted_edges_from(zip(*(end.tolist() for end in table.ids()), table.properties["weight"].tolist()))
        graph = table.to_networkx()
        assert nx.utils.graphs_equal(graph, expected)
        for found, wanted in ((graph._adj, expected._adj), *([(graph._pred, expected._pred)] if directed else [])):
            assert [list(found[node]) for node in graph] == [list(wanted[node]) for node in expected]
        assert directed or all(graph._adj[u][v] is graph._adj[v][u] for u, v in graph.edges)


def test_the_tuples_of_an_iterator_are_not_kept():
    import tracemalloc

    def edges(last):
        yield from ((i, i + 1, 0.5) for i in range(100_000))
        yield last

    tracemalloc.start()
    try:
        graph = esker.from_edges(edges((100_000, 100_001, 1.5)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert graph.num_edges == 100_001 and peak < 5_000_000, f"{peak:,} bytes"
    # The rest of an iterator whose tuples turn out to differ is read as a list is.
    for last, error in (((1, 2), "lengths"), ((1, 2, "a"), "weight"), ((100_000, 100_001, None), None)):
        outcomes = []
        for given in (edges(last), list(edges(last))):
            try:
                outcomes.append(esker.from_edges(given).edges().to_arrow().to_pydict())
            except (ValueError, TypeError) as raised:
                outcomes.append(str(raised))
        assert outcomes[0] == outcomes[1] and (error is None or error in outcomes[0]), outcomes[0]
    for ids in (range(9), ["a", "b"], [1, 2.5], [1, None], [True, 2]):
        outcomes = [str(esker._esker.Column(given, "ids").kind) for given in (iter(ids), list(ids))]
        assert outcomes[0] == outcomes[1]


def test_threads_go_on_while_objects_are_read():
    import threading
    import time

    counts, ends = [0], threading.Event()

    def count():
        while not ends.is_set():
            for _ in range(1000):
                pass
            counts[0] += 1

    items = list(range(3_000_000))
    thread = threading.Thread(target=count)
    thread.start()
    shares = [0.0]
    try:
        # On a busy machine one try says little.
        while max(shares) <= 0.3 and len(shares) < 10:
            rates = []
            for work in (lambda: time.sleep(0.3), lambda: [esker._esker.Column(items, "items") for _ in range(3)]):
                before, start = counts[0], time.perf_counter()
                work()
                rates.append((counts[0] - before) / (time.perf_counter() - start))
            shares.append(rates[1] / rates[0])
    finally:
        ends.set()
        thread.join()
    assert max(shares) > 0.3, shares


def test_objects_that_were_made_in_numbers_are_not_looked_at_at_once():
    # The collector took 200 ms for them after Ctrl-C.
    import gc

    from esker._collections import without_collections

    assert gc.isenabled() and not gc.get_freeze_count()
    with without_collections():
        made = [[] for _ in range(200_000)]
        assert not gc.isenabled() and gc.get_count()[0] >= len(made)
    assert gc.isenabled() and gc.get_count()[0] < 10_000 and not gc.get_freeze_count()
    gc.freeze()
    try:
        with without_collections():
            made = [[] for _ in range(2_000)]
        assert gc.get_freeze_count(), "what the program froze stays so"
    finally:
        gc.unfreeze()
    del made


def test_endless_iterators_end_on_an_interrupt():
    # In a process of its own: Hypothesis looks on at every garbage collection, and an interrupt that arrives meanwhile is lost.
    program = """
import itertools, signal, esker
signal.signal(signal.SIGALRM, signal.default_int_handler)
for make in (itertools.count, lambda: zip(itertools.count(), itertools.count())):
    for use in (esker.from_edges, lambda ids: esker.from_edges(ids, [1])):
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        try:
            use(make())
        except KeyboardInterrupt:
            print("interrupted")
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert run.stdout.split() == ["interrupted"] * 4, run.stderr


def test_types_come_from_the_columns_and_widen_by_themselves():
    for whole in (np.array([1.0, 2.0]), pa.array([1.0, 2.0]), pd.Series([1.0, 2.0])):
        graph = esker.from_edges([0, 1], [1, 2], weight=whole)
        assert graph.edge_properties == {"weight": "f32"}, "floats, though all are whole"
        assert isinstance(graph.edge(0, 1)["weight"], float)
    db = esker.create()
    for number, (weights, kind) in enumerate((([1, 2], "i32"), ([1, 1 << 40], "i64"), ([0.5, 0.1], "f64"))):
        with db.batch() as batch:
            batch.add_edges([number, 100], [200, number], weight=np.array(weights))
        assert db.graph().edge_properties == {"weight": kind}
    assert sorted(pa.table(db.graph().edges())["weight"].to_pylist()) == [0.1, 0.5, 1.0, 1.0, 2.0, float(1 << 40)]
    assert sorted(pa.table(db.graph(1).edges())["weight"].to_pylist()) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("ids", "kind"),
    [([True, False], "bool"), (np.array([True, False]), "bool"), (pd.date_range("2020", periods=2), "timestamp"), (pa.array([18262, 3], pa.date32()), "date")],
)
def test_truth_values_and_times_are_no_ids(ids, kind):
    with pytest.raises(esker.Error, match=f"ids must be strings or integers, not values of type {kind}"):
        esker.from_edges(ids, ids)
    graph = esker.from_edges([0, 1], [1, 0])
    with pytest.raises(esker.Error, match=kind):
        graph.subgraph(ids)


def test_properties_that_are_called_like_columns_hide_none():
    graph = esker.from_edges([1, 2], [4, 5], properties={"source": [7, 8]})
    for table in (graph.to_pandas(), graph.to_arrow().to_pandas(), graph.to_polars().to_pandas(), pa.table(graph.edges()).to_pandas()):
        assert table.to_dict("list") == {"source": [1, 2], "target": [4, 5], "property.source": [7, 8]}
    with esker.create() as db:
        with db.batch() as batch:
            batch.add_edges([1], [2])
        with db.batch() as batch:
            batch.set_vertices([1, 2], vertex=[5, 6])
        assert db.graph().vertices().to_pandas().to_dict("list") == {"vertex": [1, 2], "property.vertex": [5, 6]}


@pytest.mark.parametrize("name", ["Weight", "W", "edge_weight"])
def test_a_usual_name_of_the_weight_counts_in_any_case_as_in_files(name):
    graph = esker.from_edges(pd.DataFrame({"Src": [1, 2], "DST": [2, 3], name: [3.5, 1.0]}))
    assert graph.weight == name and dict(graph.sssp(1).items()) == {1: 0.0, 2: 3.5, 3: 4.5}
    with pytest.raises(esker.Error, match="could both be the weight"):
        esker.from_edges(pd.DataFrame({"source": [1], "target": [2], "w": [1.0], "Weight": [2.0]}))


def test_names_of_ends_are_those_of_files():
    with pytest.raises(esker.Error, match="no column is called source|ambiguous"):
        esker.from_edges(pd.DataFrame({"head": [9], "tail": [2], "more": [1]}))
    assert edges_of(esker.from_edges(pd.DataFrame({"head": [9], "tail": [2]}))) == [(9, 2)]


def test_names_of_igraph_that_repeat_are_no_ids():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph([(0, 1), (0, 1)], directed=True, n=3)
    graph.vs["name"] = ["a", "a", "b"]
    with pytest.raises(esker.Error, match="same name"):
        esker.from_edges(graph)


def test_times_of_networkx_graphs_have_their_zone():
    times = pd.Series(pd.date_range("2020-01-01", periods=2, tz="Asia/Tokyo"))
    graph = esker.from_edges([0, 1], [1, 2], properties={"at": times})
    found = [value["at"] for _, _, value in graph.to_networkx().edges(data=True)]
    assert [one.tzinfo is not None for one in found] == [True, True] and sorted(found) == list(times)


def test_a_filter_by_a_value_of_another_type_is_refused():
    graph = esker.from_edges([0, 1], [1, 2], properties={"kind": ["a", "b"], "cost": [1, 2]})
    for where in ({"cost": "1"}, {"cost": ">1"}, {"kind": 1}, {"kind": None}):
        with pytest.raises(esker.Error, match="no value of it equals"):
            graph.filter(where)
    assert edges_of(graph.filter({"cost": np.int64(1)})) == edges_of(graph.filter({"kind": ["a"]})) == [(0, 1)]


def test_vertices_of_teleport_have_no_weights_and_are_some():
    graph = esker.from_edges([0, 1], [1, 2])
    with pytest.raises(esker.Error, match="without weights"):
        graph.pagerank(teleport_to={0: 1, 1: 2})
    with pytest.raises(esker.Error, match="at least one vertex"):
        graph.pagerank(teleport_to=[])


def test_a_result_that_is_stored_again_replaces_the_first():
    with esker.create() as db:
        with db.batch() as batch:
            batch.add_edges([0, 1], [1, 2])
        db.store(db.graph().bfs(0), "depth")
        db.store(db.graph().bfs(1), "depth")
        depths = db.graph().vertices().to_pandas().set_index("vertex")["depth"]
        assert depths.isna()[0] and depths[1] == 0 and depths[2] == 1


def test_a_stored_result_leaves_no_value_of_an_earlier_one_where_it_has_none():
    with esker.create() as db:
        with db.batch() as batch:
            batch.add_edges([0, 1, 2], [1, 2, 3], properties={"amount": [1, 2, 1]})
        whole = db.graph().pagerank()
        db.store(whole, "rank")
        part = db.graph().where("amount = 2").pagerank()
        db.store(part, "rank")
        ranks = db.graph().vertices().to_pandas().set_index("vertex")["rank"].dropna()
        assert ranks.to_dict() == pytest.approx(part.to_dict())
        with db.batch() as batch:
            batch.delete_vertices([3])
        db.store(whole, "rank")
        assert 3 not in db.graph() and db.graph().property("rank").tolist() == pytest.approx([whole[id] for id in db.graph().ids()])


def test_timestamps_of_pandas_are_times():
    with esker.create() as db:
        with db.batch("first", event_time=pd.Timestamp("2024-05-01")) as batch:
            batch.add_edges([0], [1])
        with db.batch("second", event_time=pd.Timestamp("2024-05-03", tz="UTC")) as batch:
            batch.add_edges([1], [2])
        assert db.graph(at=pd.Timestamp("2024-05-02")).num_edges == 1
        assert db.graph(at=pd.Timestamp("2024-05-04")).num_edges == 2


def test_networkx_never_ignores_a_weight():
    graph = esker.from_edges([0, 1, 2], [1, 2, 0], properties={"toll": [1.0, 2.0, 3.0]})
    assert dict(nx.single_source_dijkstra_path_length(graph, 0, weight="toll")) == {0: 0, 1: 1.0, 2: 3.0}
    with pytest.raises(NotImplementedError):
        nx.betweenness_centrality(graph, weight="toll")
    assert dict(nx.single_source_dijkstra_path_length(graph, 0, weight="unknown")) == {0: 0, 1: 1, 2: 2}


def test_a_datetime_names_its_own_version():
    with esker.create() as db:
        for step in range(12):
            with db.batch() as batch:
                batch.add_edges([step], [step + 1])
        for version in db.versions():
            assert db.graph(at=version.time).version == max(one.number for one in db.versions() if one.time == version.time)


def test_attributes_of_vertices_of_networkx_are_left_out_with_a_warning():
    graph = nx.path_graph(3)
    graph.nodes[1]["name"] = "x"
    with pytest.warns(esker.EskerWarning, match="left out the attributes 'name' of vertices"):
        assert esker.from_edges(graph).num_edges == 2
