"""One order everywhere: whatever gives an array of the vertices gives it in the order of ids(), and every vertex number is a place in it."""

import pickle

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import esker


class Model:
    """Edges and vertices as plain Python has them."""

    def __init__(self, directed, several):
        self.directed, self.several = directed, several
        self.vertices, self.edges, self.marks = set(), [], {}

    def key(self, u, v):
        return (u, v) if self.directed else tuple(sorted((u, v)))

    def add(self, u, v, weight):
        if not self.several:
            self.edges = [edge for edge in self.edges if self.key(*edge[:2]) != self.key(u, v)]
        self.edges.append((u, v, weight))
        self.vertices |= {u, v}

    def delete(self, v):
        self.vertices.discard(v)
        self.marks.pop(v, None)
        self.edges = [edge for edge in self.edges if v not in edge[:2]]

    def arcs(self):
        return [(u, v, w) for u, v, w in self.edges] + ([] if self.directed else [(v, u, w) for u, v, w in self.edges if u != v])


IDS = {"dense": lambda i: i, "shifted": lambda i: i + 5, "sparse": lambda i: (i * 7919 + 3) % 10_007, "texts": lambda i: f"v{i * 7919 % 101}"}
EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), min_size=1, max_size=30)
CASES = dict(
    ids=st.sampled_from(list(IDS)),
    order=st.sampled_from(["auto", "keep", "degree"]),
    directed=st.booleans(),
    several=st.booleans(),
    first=EDGES,
    later=EDGES,
    deleted=st.sets(st.integers(0, 11), max_size=4),
    renumber=st.sampled_from([None, "never", "always"]),
)


def made(ids, order, directed, several, first, later, deleted, renumber):
    """A database with some history, and its model."""
    of, model = IDS[ids], Model(directed, several)
    db = esker.create(directed=directed, multigraph=several, order=order, duplicates=None if several else "last")

    rule = None if several else "last"

    def add(batch, edges, start):
        ends = [(of(u), of(v)) for u, v in edges]
        batch.add_edges([u for u, _ in ends], [v for _, v in ends], weight=[start + at for at in range(len(ends))])
        for at, (u, v) in enumerate(ends):
            model.add(u, v, start + at)

    with db.batch(duplicates=rule) as batch:
        add(batch, first, 1)
    marked = sorted(model.vertices)[::2]
    with db.batch() as batch:
        batch.set_vertices(marked, mark=[7 * at for at in range(len(marked))])
        model.marks.update((v, 7 * at) for at, v in enumerate(marked))
    if deleted:
        gone = [of(i) for i in deleted]
        with db.batch() as batch:
            batch.add_vertices(gone)
            batch.delete_vertices(gone)
        for v in gone:
            model.delete(v)
    with db.batch(duplicates=rule) as batch:
        # Other vertices than the first edges have, too.
        add(batch, [(u + 6, v) for u, v in later if u + 6 not in deleted and v not in deleted] or [(30, 31)], 100)
    if renumber is not None:
        db.compact(renumber=renumber)
    return db, model


def expect_agreement(graph, model):
    """Compares every array with the model, by the ids."""
    ids = graph.ids().tolist()
    at = {id: row for row, id in enumerate(ids)}
    n, arcs = len(ids), model.arcs()
    assert set(ids) == model.vertices and n == len(model.vertices) == graph.num_vertices == len(graph)
    if not isinstance(ids[0], str):
        assert ids == sorted(ids)
    assert list(graph) == ids and [graph.vertex(id) for id in ids] == graph.vertices(ids).tolist() == list(range(n))
    expect_lists(graph, model, ids, at, arcs)
    expect_edges(graph, model, ids, at, arcs)
    expect_results(graph, model, ids, at)
    marks = [model.marks.get(id) for id in ids]
    assert graph.property("mark").tolist() == marks
    assert [graph.properties(id).get("mark") for id in ids] == marks
    table = graph.vertices().to_arrow()
    assert table["vertex"].to_pylist() == ids and table["mark"].to_pylist() == marks
    frame = graph.features("pagerank", "kcore", "degree", "mark", steps=graph.bfs(ids[0]), own=np.arange(n))
    assert frame.index.tolist() == ids and frame["own"].tolist() == list(range(n))
    assert frame["degree"].tolist() == graph.degree().tolist() and frame["pagerank"].tolist() == graph.pagerank().values()
    assert [None if value != value else value for value in frame["mark"].astype(object).where(frame["mark"].notna(), None)] == marks
    for method, array in (("kcore", frame["kcore"]), ("bfs", frame["steps"])):
        result = graph.kcore() if method == "kcore" else graph.bfs(ids[0])
        assert [None if missing else value for value, missing in zip(array, array.isna())] == result.values()


def expect_lists(graph, model, ids, at, arcs):
    out, back = ([sum(1 for arc in arcs if arc[end] == id) for id in ids] for end in (0, 1))
    assert graph.degree().tolist() == out and [graph.degree(id) for id in ids] == out
    assert graph.degree(direction="in").tolist() == back
    for id in ids[:4]:
        expected = sorted(at[v] for u, v, _ in arcs if u == id)
        assert [at[v] for v in graph.neighbors(id)] == expected == graph.neighbors(at[id], dense=True).tolist()
    pairs = [(u, v) for u in ids[:5] for v in ids[:5]] + [(ids[0], "nothing" if isinstance(ids[0], str) else 10**6)]
    has = {(u, v) for u, v, _ in arcs}
    assert graph.has_edge(*zip(*pairs)).tolist() == [pair in has for pair in pairs] == [graph.has_edge(*pair) for pair in pairs]
    assert graph.has_edge(ids[0], np.array(ids)).tolist() == [(ids[0], v) in has for v in ids]
    for direction, turn in (("out", 1), ("in", -1)):
        matrix = graph.to_scipy(direction=direction)
        assert matrix.shape == (len(ids), len(ids)) and matrix.nnz == len(arcs)
        found = matrix.tocoo(copy=True)
        assert sorted(zip(found.row.tolist(), found.col.tolist(), found.data.tolist())) == sorted(
            (*(at[u], at[v])[::turn], weight) for u, v, weight in arcs
        )
        assert (graph.to_scipy(direction=direction, weight=False).toarray().sum(axis=1) == (out if turn == 1 else back)).all()


def expect_edges(graph, model, ids, at, arcs):
    table = graph.edges()
    rows = list(zip(table.source.tolist(), table.target.tolist()))
    assert rows == sorted(rows), "by source, then by target"
    assert model.directed or all(u <= v for u, v in rows)
    named = [(ids[u], ids[v], weight) for (u, v), weight in zip(rows, table.properties["weight"].tolist())]

    def counted(edges):
        return sorted(((*((u, v) if model.directed else (u, v) if at[u] <= at[v] else (v, u)), w) for u, v, w in edges), key=str)

    assert counted(named) == counted(model.edges)
    assert list(zip(*(end.tolist() for end in table.ids()))) == [edge[:2] for edge in named]
    for tables in (pa.table(graph.edges()), graph.to_arrow(), pa.table(graph.to_polars())):
        assert list(zip(*(tables[name].to_pylist() for name in ("source", "target", "weight")))) == named
    assert [tuple(row) for row in graph.to_pandas().itertuples(index=False)] == named
    assert list(graph.to_networkx()) == ids


def expect_results(graph, model, ids, at):
    reference = graph.to_networkx()
    ranks = graph.pagerank(tolerance=1e-12)
    assert ranks.ids().tolist() == ids == list(ranks) and ranks.vertices.tolist() == list(range(len(ids)))
    assert [ranks[id] for id in ids] == ranks.to_numpy().tolist() == ranks.to_numpy(dense=True).tolist() == ranks.values()
    for table in (pa.table(ranks), ranks.to_arrow(), pa.table(ranks.to_polars()), pa.Table.from_pandas(ranks.to_pandas())):
        assert table["vertex"].to_pylist() == ids and table["rank"].to_pylist() == ranks.values()
    if not model.several:
        plain = nx.create_empty_copy(reference)
        plain.add_edges_from(reference.edges())
        expected = nx.pagerank(plain, tol=1e-12, max_iter=10_000)
        assert ranks.to_numpy() == pytest.approx([expected[id] for id in ids], abs=1e-6)
        found = nx.pagerank(graph, weight=None, tol=1e-12, max_iter=10_000, backend="esker")
        assert list(found) == ids and list(found.values()) == pytest.approx([expected[id] for id in ids], abs=1e-6)
    steps = nx.single_source_shortest_path_length(reference, ids[-1])
    found = graph.bfs(ids[-1], parents=True)
    assert found.values() == [steps.get(id) for id in ids] and found.column().is_missing().tolist() == [id not in steps for id in ids]
    parents, numbers = found.parent.to_numpy().tolist(), found.parent.to_numpy(dense=True).tolist()
    for id in steps:
        assert parents[at[id]] == ids[numbers[at[id]]] == found.get(id, column="parent")
        assert id == ids[-1] or reference.has_edge(parents[at[id]], id)
    assert found.path_to(ids[-1]) == [ids[-1]]
    top = ranks.top(len(ids))
    assert [id for id, _ in top] == sorted(ids, key=lambda id: (-ranks[id], at[id]))
    labels = graph.wcc().to_numpy().tolist()
    parts = {frozenset(id for id, label in zip(ids, labels) if label == one) for one in labels}
    assert parts == set(map(frozenset, nx.weakly_connected_components(reference) if model.directed else nx.connected_components(reference)))


@settings(max_examples=20)
@given(**CASES)
def test_all_arrays_are_in_one_order(**case):
    db, model = made(**case)
    graph = db.graph()
    expect_agreement(graph, model)
    copy = pickle.loads(pickle.dumps(graph))
    assert dict(zip(copy.ids().tolist(), copy.degree().tolist())) == dict(zip(graph.ids().tolist(), graph.degree().tolist()))
    for result in (graph.bfs(graph.ids().tolist()[0], parents=True), graph.wcc()):
        again = pickle.loads(pickle.dumps(result))
        assert again.to_dict() == result.to_dict() and again.ids().tolist() == again.graph.ids().tolist()


@settings(max_examples=20)
@given(**CASES)
def test_views_have_the_order_too(**case):
    db, model = made(**case)
    graph = db.graph()
    ids = graph.ids().tolist()
    back = Model(model.directed, model.several)
    back.vertices, back.marks = model.vertices, model.marks
    back.edges = [(v, u, w) if model.directed else (u, v, w) for u, v, w in model.edges]
    expect_agreement(graph.reverse(), back)
    part = Model(model.directed, model.several)
    part.vertices = set(ids[::2])
    part.marks = {v: mark for v, mark in model.marks.items() if v in part.vertices}
    part.edges = [edge for edge in model.edges if part.vertices.issuperset(edge[:2])]
    for one in (graph.subgraph(ids[::2]), graph.subgraph(np.arange(0, len(ids), 2), dense=True)):
        if part.edges and part.marks:
            expect_agreement(one, part)
    for every in (True, False):
        chosen = Model(model.directed, model.several)
        chosen.edges = [edge for edge in model.edges if edge[2] % 2 == 0]
        chosen.vertices = model.vertices if every else {end for edge in chosen.edges for end in edge[:2]}
        chosen.marks = {v: mark for v, mark in model.marks.items() if v in chosen.vertices}
        if chosen.edges and chosen.marks:
            expect_agreement(graph.filter(lambda edges: edges.properties["weight"] % 2 == 0, all_vertices=every), chosen)


@settings(max_examples=20)
@given(**{**CASES, "several": st.just(True)})
def test_results_of_windows_have_the_order_too(**case):
    db, model = made(**case)
    graph = db.graph()
    ids = graph.ids().tolist()
    for length in (1_000, 40):
        window = db.window(length, time="weight", time_unit="s")
        latest = max(w for _, _, w in model.edges)
        inside = [edge for edge in model.edges if edge[2] > latest - length]
        degrees = window.degrees(direction="out")
        there = [id for id in ids if any(id in edge[:2] for edge in inside)]
        assert degrees.ids().tolist() == there == [ids[row] for row in degrees.vertices]
        ends = [end for u, v, _ in inside for end in ([u] if model.directed or u == v else [u, v])]
        assert degrees.values() == [ends.count(id) for id in there] == [degrees[id] for id in there]
        assert pa.table(degrees)["vertex"].to_pylist() == there
        assert pa.table(degrees)["degree"].to_pylist() == degrees.values()
        frame = graph.features("degree", recent=degrees)
        assert frame["recent"].dropna().index.tolist() == there and frame["recent"].dropna().tolist() == degrees.values()


def test_features_after_a_deletion_belong_to_the_same_vertices():
    """Two features in one frame had a correlation of -0.004, because their arrays were in two orders and of two lengths."""
    rng = np.random.default_rng(3)
    ends = rng.zipf(1.5, (2, 20_000)) % 2_000
    db = esker.create(order="degree", duplicates="last")
    with db.batch() as batch:
        batch.add_edges(*ends)
    with db.batch() as batch:
        batch.delete_vertices(db.graph().ids()[::50])
    frame = db.graph().features("in_degree", rank="pagerank")
    assert frame.corr(method="spearman").loc["in_degree", "rank"] > 0.9
    db.store(db.graph().pagerank(), "kept")
    frame = db.graph().features("pagerank", "kept")
    assert frame.corr().loc["pagerank", "kept"] > 0.999_999


def test_a_feature_that_could_be_two_things_is_refused():
    db = esker.create()
    with db.batch() as batch:
        batch.add_edges([0, 1], [1, 2])
        batch.set_vertices([0, 1], pagerank=[5, 6])
    graph = db.graph()
    with pytest.raises(ValueError, match=r"pagerank=g.property\('pagerank'\) or pagerank=g.pagerank\(\)"):
        graph.features("pagerank")
    assert graph.features(pagerank=graph.property("pagerank"))["pagerank"].isna().tolist() == [False, False, True]
    with pytest.raises(KeyError, match="no feature 'nothing'"):
        graph.features("nothing")
    with pytest.raises(ValueError, match="value for each of the 3 vertices"):
        graph.features(own=[1, 2])
    with pytest.raises(ValueError, match="twice"):
        graph.features("kcore", "kcore")
    with pytest.raises(TypeError, match="by keyword"):
        graph.features(graph.kcore())
    with db.batch() as batch:
        batch.add_edges([2], [3])
    with pytest.raises(ValueError, match="another graph or version"):
        db.graph().features(old=graph.kcore())
    with pytest.raises(esker.UnsuitableError, match="edges"):
        esker.from_edges([0, 1], [1, 2], directed=False).features("msf")


@pytest.mark.parametrize("order", ["keep", "degree"])
def test_pairs_of_arrays_are_answered_one_by_one(order):
    graph = esker.from_edges([0, 1, 2], [1, 2, 0], order=order)
    assert graph.has_edge([0, 1, 1], [1, 0, 2]).tolist() == [True, False, True]
    assert graph.has_edge(np.array([], dtype=int), []).tolist() == []
    with pytest.raises(ValueError, match="same length"):
        graph.has_edge([0, 1], [1])
    with pytest.raises(TypeError):
        graph.has_edge(["a"], ["b"])
    with pytest.raises(TypeError, match="expected one id"):
        graph.kcore().get(np.array([0, 1]))


def test_parallel_edges_are_entries_of_their_own_in_every_layout():
    db = esker.create(multigraph=True)
    for weight in (1, 2):  # in one layer, then in two
        with db.batch() as batch:
            batch.add_edges([0, 0], [1, 1], weight=[weight, weight])
        matrix = db.graph().to_scipy()
        assert matrix.nnz == 2 * weight == db.graph().num_edges and matrix.sum() == sum(2 * w for w in range(1, weight + 1))
