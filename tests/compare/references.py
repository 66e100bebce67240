"""Answers of other libraries, in Esker's terms, for a `graphs.Sample`.

Each function in `REFERENCES[algorithm]` yields pairs of a library's name and its values in vertex order; `None` is unreached.
A comment says where a library is left out because it defines a case differently.
"""

from collections import Counter
import math

import igraph
import networkit
import networkx as nx
import numpy as np
import scipy.sparse as sparse
from scipy.sparse import csgraph

NETWORKX_EDGES_MAX = 3000


class Views:
    """A sample as each library's graph, made once."""

    def __init__(self, sample):
        self.sample = sample
        self.n, self.directed, self.edges = sample.n, sample.directed, sample.edges
        self.loops = any(u == v for u, v, _ in self.edges)
        pairs = Counter((u, v) if self.directed else (min(u, v), max(u, v)) for u, v, _ in self.edges)
        self.parallel = any(count > 1 for count in pairs.values())
        self.small = len(self.edges) <= NETWORKX_EDGES_MAX

        self.nx = (nx.MultiDiGraph if self.directed else nx.MultiGraph)()
        self.nx.add_nodes_from(range(self.n))
        self.nx.add_edges_from((u, v, {"weight": w}) for u, v, w in self.edges)
        self.nx_single = (nx.DiGraph if self.directed else nx.Graph)(self.nx)
        self.nx_simple = nx.Graph(self.nx_single)
        self.nx_simple.remove_edges_from(list(nx.selfloop_edges(self.nx_simple)))

        pairs = [(u, v) for u, v, _ in self.edges]
        self.igraph = igraph.Graph(n=self.n, edges=pairs, directed=self.directed)
        self.weights = [w for _, _, w in self.edges]
        self.igraph_simple = self.igraph.as_undirected().simplify()

        self.networkit = networkit.Graph(self.n, weighted=True, directed=self.directed)
        for u, v, w in self.edges:
            self.networkit.addEdge(u, v, w)
        self.networkit_simple = networkit.Graph(self.n)
        for edge in self.igraph_simple.get_edgelist():
            self.networkit_simple.addEdge(*edge)

        lightest = {}
        for u, v, w in self.edges:
            for pair in [(u, v)] if self.directed else [(u, v), (v, u)]:
                lightest[pair] = min(w, lightest.get(pair, math.inf))
        rows, columns = [u for u, _ in lightest], [v for _, v in lightest]
        self.scipy = sparse.csr_array((list(lightest.values()), (rows, columns)), shape=(self.n, self.n), dtype=float)
        apart = [(u, v) for u, v in lightest if u != v]
        ones = (np.ones(len(apart)), ([u for u, _ in apart], [v for _, v in apart]))
        self.arcs = sparse.csr_array(ones, shape=(self.n, self.n))
        self.pairs = ((self.arcs + self.arcs.T) > 0).astype(float)


def _finite(values):
    return [None if not math.isfinite(x) or x > 1e300 else x for x in values]


def bfs(g):
    source = g.sample.source
    if g.n == 0:
        return
    steps = nx.single_source_shortest_path_length(g.nx_single, source)
    yield "networkx", [steps.get(v) for v in range(g.n)]
    yield "igraph", _finite(g.igraph.distances(source)[0])
    yield "networkit", _finite(networkit.distance.BFS(g.networkit, source).run().getDistances())
    ones = g.scipy.copy()
    ones.data[:] = 1
    yield "scipy", _finite(csgraph.shortest_path(ones, indices=source, unweighted=True))


def sssp(g):
    source = g.sample.source
    if g.n == 0:
        return
    lengths = nx.single_source_dijkstra_path_length(g.nx, source)
    yield "networkx", [lengths.get(v) for v in range(g.n)]
    if g.edges:
        yield "igraph", _finite(g.igraph.distances(source, weights=g.weights)[0])
    yield "networkit", _finite(networkit.distance.Dijkstra(g.networkit, source).run().getDistances())
    yield "scipy", _finite(csgraph.dijkstra(g.scipy, indices=source))


def pagerank(g):
    if g.n == 0:
        return
    # Each parallel edge counts, which in NetworkX is a weight.
    for _, _, data in g.nx.edges(data=True):
        data["one"] = 1
    ranks = nx.pagerank(g.nx, tol=1e-14, max_iter=5000, weight="one")
    yield "networkx", [ranks[v] for v in range(g.n)]
    # igraph and NetworKit count an undirected self-loop twice.
    if g.directed or not g.loops:
        yield "igraph", g.igraph.pagerank()
    # NetworKit loses what isolated vertices of an undirected graph would give.
    if g.directed or not g.loops and nx.number_of_isolates(g.nx) == 0:
        sinks = networkit.centrality.SinkHandling.DistributeSinks
        plain = networkit.graphtools.toUnweighted(g.networkit)
        rank = networkit.centrality.PageRank(plain, 0.85, 1e-14, distributeSinks=sinks)
        yield "networkit", rank.run().scores()


def _least_labels(n, components):
    labels = [None] * n
    for members in components:
        least = min(members)
        for v in members:
            labels[v] = least
    return labels


def _from_numbers(n, numbers):
    groups = {}
    for v, number in enumerate(numbers):
        groups.setdefault(number, []).append(v)
    return _least_labels(n, groups.values())


def wcc(g):
    find = nx.weakly_connected_components if g.directed else nx.connected_components
    yield "networkx", _least_labels(g.n, find(g.nx))
    yield "igraph", _least_labels(g.n, g.igraph.connected_components(mode="weak"))
    if g.n:
        yield "scipy", _from_numbers(g.n, csgraph.connected_components(g.scipy, connection="weak")[1])
        family = networkit.components
        find = family.WeaklyConnectedComponents if g.directed else family.ConnectedComponents
        yield "networkit", _least_labels(g.n, find(g.networkit).run().getComponents())


def scc(g):
    yield "igraph", _least_labels(g.n, g.igraph.connected_components(mode="strong"))
    if g.n:
        yield "scipy", _from_numbers(g.n, csgraph.connected_components(g.scipy, connection="strong")[1])
    if g.directed:
        yield "networkx", _least_labels(g.n, nx.strongly_connected_components(g.nx))
        if g.n:
            find = networkit.components.StronglyConnectedComponents(g.networkit).run()
            yield "networkit", _least_labels(g.n, find.getComponents())


def betweenness(g):
    # Of parallel edges, igraph counts each as a path of its own; NetworkX and NetworKit do not, or not always.
    yield "igraph", g.igraph.betweenness()
    if not g.parallel and g.small and g.n:
        scores = nx.betweenness_centrality(g.nx_single, normalized=False)
        yield "networkx", [scores[v] for v in range(g.n)]
    if g.sample.simple and g.n > 2:
        plain = networkit.graphtools.toUnweighted(g.networkit)
        scores = networkit.centrality.Betweenness(plain).run().scores()
        yield "networkit", [score if g.directed else score / 2 for score in scores]


def triangles(g):
    yield "networkx", [sum(nx.triangles(g.nx_simple).values()) // 3]
    yield "igraph", [len(g.igraph_simple.list_triangles())]
    if g.n:
        yield "scipy", [round((g.pairs @ g.pairs * g.pairs).sum() / 6)]
        found = networkit.sparsification.TriangleEdgeScore
        g.networkit_simple.indexEdges()
        yield "networkit", [sum(found(g.networkit_simple).run().scores()) // 3]


def lcc(g):
    """Graphalytics: edges between the neighbours (in either direction) by ordered pairs of these."""
    if g.n:
        degrees = np.asarray(g.pairs.sum(axis=1))
        edges = np.asarray((g.pairs @ g.arcs * g.pairs).sum(axis=1))
        yield "scipy", list(edges / np.maximum(degrees * (degrees - 1), 1))
    if g.directed:
        if g.small:
            apart = g.nx_single.copy()
            apart.remove_edges_from(list(nx.selfloop_edges(apart)))
            around = [g.nx_simple[v] for v in range(g.n)]
            pairs = [max(1, len(a) * (len(a) - 1)) for a in around]
            yield "networkx", [apart.subgraph(a).number_of_edges() / p for a, p in zip(around, pairs)]
        return
    coefficients = nx.clustering(g.nx_simple)
    yield "networkx", [coefficients[v] for v in range(g.n)]
    yield "igraph", g.igraph_simple.transitivity_local_undirected(mode="zero")
    if g.n:
        yield "networkit", networkit.centrality.LocalClusteringCoefficient(g.networkit_simple).run().scores()


def cdlp(g, rounds, initial=None):
    """Graphalytics' definition, over NetworkX: no library propagates labels synchronously."""
    labels = list(initial or range(g.n))
    for _ in range(rounds):
        counts = [Counter() for _ in range(g.n)]
        for u, v, _ in g.edges:
            counts[u][labels[v]] += 1
            if g.directed or u != v:
                counts[v][labels[u]] += 1
        labels = [
            min(around, key=lambda label: (-around[label], label)) if around else labels[v]
            for v, around in enumerate(counts)
        ]
    yield "definition", labels


REFERENCES = {
    "bfs": bfs,
    "sssp": sssp,
    "pagerank": pagerank,
    "wcc": wcc,
    "betweenness": betweenness,
    "triangles": triangles,
    "lcc": lcc,
    "cdlp": cdlp,
    "scc": scc,
}

# Of numbers that are sums of fractions: the largest relative and absolute difference.
TOLERANCES = {
    "pagerank": (1e-8, 1e-11),
    "betweenness": (1e-8, 1e-8),
    "lcc": (1e-12, 1e-15),
    "sssp": (1e-12, 0),
}


def difference(algorithm, ours, theirs):
    """The first place where two answers differ beyond the tolerance, as a text; `None` if there is none."""
    if len(ours) != len(theirs):
        return f"{len(ours)} values instead of {len(theirs)}"
    relative, absolute = TOLERANCES.get(algorithm, (0, 0))
    for v, (a, b) in enumerate(zip(ours, theirs)):
        if a is None or b is None:
            equal = a is None and b is None
        else:
            equal = abs(a - b) <= absolute + relative * abs(b)
        if not equal:
            return f"vertex {v}: {a} instead of {b}"
    return None
