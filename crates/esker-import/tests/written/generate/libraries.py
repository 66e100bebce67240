"""Files of the corpus that graph libraries of Python write.

    pip install networkx==3.6.1 igraph==1.0.0 networkit==11.3 rustworkx==0.18.1 scipy==1.17.1 scikit-network==0.33.5 \\
        numpy pydot pandas pyarrow raphtory==0.17.0 ladybug==0.22.0
    PYTHONHASHSEED=0 python libraries.py
"""

import gzip
import json
import os
from importlib.metadata import version

import igraph
import networkit
import networkx
import networkx as nx
import numpy as np
import rustworkx
import scipy.io
import scipy.sparse

from told import path, tell

ASK = ["cannot tell"]


def write(library: str, name: str, call: str, graph: tuple | None, variables: dict, **more: object) -> None:
    """Runs `call`, in which `path` is the name of the file."""
    file = path(library, name)
    if "refused" in more and "with" not in more:
        graph = None
    exec(call, {**globals(), **variables, "path": file, "json": json, "os": os, "gzip": gzip})
    tell(file, f"{library} {version(library)}", call, graph, **more)


# NetworkX


def of_networkx(graph: networkx.Graph, edges: bool = True, vertices: bool = True) -> tuple:
    """The graph in the words of the corpus, with or without attributes."""
    return (
        graph.is_directed(),
        {v: values if vertices else {} for v, values in graph.nodes(data=True)},
        [(u, v, values if edges else {}) for u, v, values in graph.edges(data=True)],
    )


def networkx_files() -> None:
    people = nx.DiGraph()
    people.add_node("ann", age=30, score=1.5, active=True, note='says "hi" & <bye>')
    people.add_node("bob", age=2**40)
    people.add_node("zoë lee")
    people.add_edge("ann", "bob", weight=2, kind="likes")
    people.add_edge("bob", "zoë lee", weight=0.5, kind="knows")
    people.add_edge("zoë lee", "ann", weight=3, kind="likes, a lot")
    people.add_edge("ann", "ann", weight=1, kind="")
    multi = nx.MultiGraph()
    multi.add_nodes_from(range(6))
    multi.add_weighted_edges_from([(0, 1, 1.25), (0, 1, 2.5), (2, 2, 3), (1, 3, 1e-7), (3, 4, 1e300)])
    simple = nx.Graph([(0, 1), (1, 2), (2, 0), (3, 4)])
    looped = nx.Graph([(0, 1), (1, 1), (2, 3)])
    families = nx.florentine_families_graph()
    club = nx.karate_club_graph().subgraph(range(12)).copy()
    gaps = nx.Graph()
    gaps.add_edge("a", "b", since=2001, via="post")
    gaps.add_edge("b", "c", via="phone")
    gaps.add_edge("c", "d")
    gaps.add_node("e", size=3)
    gaps.add_node("a", size=None)
    codes = nx.DiGraph([("007", "010"), ("010", "7"), ("7", "007")])
    graphs = {"people": people, "multi": multi, "simple": simple, "looped": looped, "families": families,
              "club": club, "gaps": gaps, "codes": codes}

    def put(name: str, call: str, graph: networkx.Graph, told: tuple | None = None, **more: object) -> None:
        write("networkx", name, call, told or of_networkx(graph), {"graph": graph}, **more)

    put("people.graphml", "nx.write_graphml_xml(graph, path)", people, weight="weight")
    put("people-11.gexf", "nx.write_gexf(graph, path, version='1.1draft')", people, weight="weight")
    put("multi.graphml.gz", "nx.write_graphml_xml(graph, path)", multi, weight="weight")
    # A truth value is written as 1.
    directed, vertices, edges = of_networkx(people)
    numbers = (directed, {**vertices, "ann": {**vertices["ann"], "active": 1}}, edges)
    put("people.gml", "nx.write_gml(graph, path)", people, numbers, weight="weight")
    put("multi.gml", "nx.write_gml(graph, path)", multi, weight="weight")
    put("codes.gml", "nx.write_gml(graph, path)", codes)
    put("club.gml.gz", "nx.write_gml(graph, path)", club, weight="weight")
    put("families.json", "json.dump(nx.node_link_data(graph), open(path, 'w'))", families)
    put("codes.json", "json.dump(nx.node_link_data(graph, edges='links'), open(path, 'w'))", codes)
    put("renamed.json", "json.dump(nx.node_link_data(graph, source='from', target='to', nodes='vertices'), open(path, 'w'))",
        club)
    put("people.adjacency.json", "json.dump(nx.adjacency_data(graph), open(path, 'w'))", people, refused=["adjacency data", "node_link_data"])
    put("families.cyjs", "json.dump(nx.cytoscape_data(graph), open(path, 'w'))", families,
        maybe=["name", "value", "id"])
    tree = nx.DiGraph([("root", "a"), ("root", "b"), ("a", "c")])
    write("networkx", "tree.json", "json.dump(nx.tree_data(graph, 'root'), open(path, 'w'))", None, {"graph": tree},
          refused=["JSON"])
    put("gaps.json", "json.dump(nx.node_link_data(graph), open(path, 'w'))", gaps)
    put("gaps.graphml", "graph.nodes['a'].clear(); nx.write_graphml_xml(graph, path)", gaps)
    put("gaps.gexf", "nx.write_gexf(graph, path)", gaps, maybe=["label"])
    put("families.edgelist", "nx.write_edgelist(graph, path, data=False)", families,
        of_networkx(families, False), **{"with": "undirected"})
    put("simple.edgelist", "nx.write_edgelist(graph, path, data=False)", simple, of_networkx(simple, False),
        **{"with": "undirected"})
    put("people.tab.edgelist", "nx.write_edgelist(graph, path, delimiter='\\t', data=['weight', 'kind'])", people,
        (True, {}, [(u, v, {"column3": d["weight"], "column4": d["kind"]}) for u, v, d in people.edges(data=True)]),
        **{"with": "delimiter=tab property=all"})
    put("codes.edgelist", "nx.write_edgelist(graph, path)", codes, of_networkx(codes))
    put("multi.edgelist", "nx.write_edgelist(graph, path)", multi, (False, {}, of_networkx(multi)[2]),
        **{"with": "undirected"})
    put("multi.keys.txt", "open(path, 'w').writelines(f'{line}\\n' for line in nx.generate_multiline_adjlist(graph))",
        multi, refused=["columns"])
    put("club.weighted.edgelist", "nx.write_weighted_edgelist(graph, path)", club, of_networkx(club, vertices=False),
        **{"with": "undirected"})
    put("club.adjlist", "nx.write_adjlist(graph, path)", club, of_networkx(club, False, False),
        **{"with": "undirected"})
    put("looped.adjlist", "nx.write_adjlist(graph, path)", looped, **{"with": "undirected"})
    put("people.adjlist", "nx.write_adjlist(graph, path, delimiter=';')", people,
        refused=["';'", "delimiter"])
    grid = nx.grid_2d_graph(2, 3)
    put("grid.adjlist", "nx.write_adjlist(graph, path)", grid, refused=["tuples", "GraphML"])
    put("grid.edgelist", "nx.write_edgelist(graph, path)", grid, refused=["columns"])
    put("grid.graphml", "nx.write_graphml_xml(graph, path)", grid)
    put("people.net", "nx.write_pajek(graph, path)", people)
    put("multi.net", "nx.write_pajek(graph, path)", multi)
    put("simple.g6", "nx.write_graph6(graph, path, header=False)", simple)
    put("looped.s6", "nx.write_sparse6(graph, path)", looped)
    put("people.dot", "nx.nx_pydot.write_dot(graph, path)", people)
    put("gaps.csv", "nx.to_pandas_edgelist(graph).to_csv(path, index=False)", gaps,
        (True, {}, [(u, v, {**d}) for u, v, d in gaps.edges(data=True)]), **{"with": "property=all"})
    put("families.matrix.csv", "nx.to_pandas_adjacency(graph).to_csv(path)", families,
        refused=["matrix"])
    put("simple.matrix.txt", "np.savetxt(path, nx.to_numpy_array(graph), fmt='%d')", simple, refused=["matrix", "Matrix Market"])
    put("club.matrix.mtx", "scipy.io.mmwrite(path, nx.to_scipy_sparse_array(graph, dtype=int))", club,
        (False, {}, [(u + 1, v + 1, {"weight": d["weight"]}) for u, v, d in club.edges(data=True)]))
    put("people.tex", "nx.write_latex(graph, path)", people, refused=["one column"])
    put("simple.network.txt", "nx.write_network_text(graph, path)", simple, refused=["columns"])


# igraph


def igraph_files() -> None:
    trade = igraph.Graph(n=5, edges=[(0, 1), (1, 2), (2, 0), (2, 0), (3, 3)], directed=True)
    trade.vs["name"] = ["Ålesund", "Bergen", "Oslo S", "Vardø", "Moss"]
    trade.vs["people"] = [52163, 291940, None, 1, 2.5]
    trade.es["weight"] = [1, 2.5, 3, 0.1, 4]
    trade.es["good"] = ["fish", "oil, crude", "fish", 'a "box"', ""]
    ring = igraph.Graph.Ring(5)

    def told(graph: igraph.Graph, ids: list, weights: bool = True, kinds: bool = True, vertices: bool = True) -> tuple:
        names = [name for name in graph.es.attributes() if (weights if name == "weight" else kinds)]
        return (
            graph.is_directed(),
            {ids[v.index]: v.attributes() if vertices else {} for v in graph.vs},
            [(ids[e.source], ids[e.target], {name: e[name] for name in names}) for e in graph.es],
        )

    def put(name: str, call: str, graph: igraph.Graph, graph_told: tuple | None, **more: object) -> None:
        write("igraph", name, call, graph_told, {"graph": graph}, **more)

    keys, names = [f"n{v}" for v in range(5)], trade.vs["name"]
    numbers, ones = list(range(5)), list(range(1, 6))
    put("trade.graphml", "graph.write_graphml(path)", trade, told(trade, keys), weight="weight")
    put("trade.graphml.gz", "graph.write_graphmlz(path)", trade, told(trade, keys), weight="weight")
    put("trade.gml", "graph.write_gml(path)", trade, told(trade, names), maybe=["id", "name"], weight="weight")
    put("trade.net", "graph.write_pajek(path)", trade, told(trade, names, kinds=False, vertices=False), maybe=["id", "people"])
    put("trade.dot", "graph.write_dot(path)", trade, told(trade, numbers))
    put("trade.leda", "graph.write_leda(path)", trade, told(trade, names, kinds=False), maybe=["name", "people"])
    put("ring.graphml", "graph.write_graphml(path)", ring, told(ring, keys))
    put("ring.edgelist", "graph.write_edgelist(path)", ring, told(ring, numbers), **{"with": "undirected"})
    put("ring.matrix.txt", "graph.write_adjacency(path)", ring, None, refused=["matrix"])
    put("ring.net", "graph.write_pajek(path)", ring, told(ring, ones))
    put("ring.dimacs", "graph.es['capacity'] = [3, 1, 4, 1, 5]; graph.write_dimacs(path, 0, 2, 'capacity')",
        igraph.Graph.Ring(5, directed=True),
        (True, {}, [(v + 1, (v + 1) % 5 + 1, {"capacity": (3, 1, 4, 1, 5)[v]}) for v in range(5)]),
        maybe=["role", "source", "sink", "node"])
    safe = igraph.Graph(n=4, edges=[(0, 1), (1, 2)], directed=False)
    safe.vs["name"] = ["$a", "b", "c", "lone"]
    safe.es["weight"] = [2, 0.5]
    ids = safe.vs["name"]
    put("safe.ncol", "graph.write_ncol(path)", safe, (False, {}, told(safe, ids)[2]), **{"with": "undirected"})
    put("safe.lgl", "graph.write_lgl(path)", safe, (False, {v: {} for v in ids}, told(safe, ids)[2]))
    put("safe.pickle", "graph.write_pickle(path)", safe, None, refused=["binary"])
    put("safe.svg", "graph.write_svg(path)", safe, None, refused=["XML"])
    put("trade.csv", "graph.get_edge_dataframe().to_csv(path)", trade, (True, {}, told(trade, numbers)[2]),
        maybe=["edge ID"], **{"with": "property=all"})


# NetworKit


def networkit_files() -> None:
    graph = networkit.Graph(5, weighted=True, directed=False)
    for u, v, weight in [(0, 1, 2.5), (1, 2, 1), (2, 0, 12345678), (3, 3, 0.5)]:
        graph.addEdge(u, v, weight)
    arcs = networkit.Graph(4, weighted=False, directed=True)
    for u, v in [(0, 1), (1, 0), (2, 1)]:
        arcs.addEdge(u, v)

    def told(graph: networkit.Graph, first: int, weights: bool, lone: bool = True, digits: bool = True) -> tuple:
        number = (lambda w: w) if digits else (lambda w: float(f"{w:.6g}"))
        edges = [(u + first, v + first, {"weight": number(w)} if weights else {}) for u, v, w in graph.iterEdgesWeights()]
        vertices = {v + first: {} for v in graph.iterNodes()} if lone else {}
        return graph.isDirected(), vertices, edges

    def put(name: str, form: str, graph: networkit.Graph, graph_told: tuple | None, **more: object) -> None:
        write("networkit", name, f"networkit.writeGraph(graph, path, networkit.Format.{form})", graph_told,
              {"graph": graph}, **more)

    undirected = {"with": "undirected"}
    put("weights.gml", "GML", graph, told(graph, 0, False))
    put("weights.graphml", "GraphML", graph, told(graph, 0, True))
    put("weights.dot", "DOT", graph, (False, {}, told(graph, 0, False)[2]))
    put("weights.tab-one.txt", "EdgeListTabOne", graph, told(graph, 1, True, False, False), **undirected)
    put("weights.space-zero.txt", "EdgeListSpaceZero", graph, told(graph, 0, True, False, False), **undirected)
    put("weights.comma-one.txt", "EdgeListCommaOne", graph, told(graph, 1, True, False, False), **undirected)
    put("weights.snap.txt", "SNAP", graph, told(graph, 0, True, False, False), **undirected)
    put("arcs.gml", "GML", arcs, told(arcs, 0, False))
    put("arcs.tab-zero.txt", "EdgeListTabZero", arcs, told(arcs, 0, False, False))
    put("arcs.gt", "GraphToolBinary", arcs, None, refused=["binary"])
    put("arcs.nkb", "NetworkitBinary", arcs, None, refused=["binary"])
    simple = networkit.Graph(4, weighted=True)
    simple.addEdge(0, 1, 2)
    simple.addEdge(1, 3, 0.5)
    put("simple.metis.graph", "METIS", simple, told(simple, 1, True))


# rustworkx, SciPy, scikit-network


def rustworkx_files() -> None:
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(["a", "b c", "d"])
    graph.add_edge(0, 1, 1.5)
    graph.add_edge(1, 2, 2.0)
    plain = {"graph": graph}
    write("rustworkx", "weights.dot", "graph.to_dot(edge_attr=lambda w: {'weight': str(w)}, filename=path)",
          (True, {v: {} for v in range(3)}, [(0, 1, {"weight": 1.5}), (1, 2, {"weight": 2})]), plain)
    write("rustworkx", "weights.edgelist", "graph.write_edge_list(path, deliminator=';', weight_fn=str)",
          (True, {}, [(0, 1, {"weight": 1.5}), (1, 2, {"weight": 2})]), plain)
    write("rustworkx", "plain.json", "rustworkx.node_link_json(graph, path=path)",
          (True, {v: {} for v in range(3)}, [(0, 1), (1, 2)]), plain)
    undirected = rustworkx.generators.cycle_graph(4)
    write("rustworkx", "cycle.edgelist", "graph.write_edge_list(path)",
          (False, {}, list(undirected.edge_list())), {"graph": undirected}, **{"with": "undirected"})


def scipy_files() -> None:
    values = scipy.sparse.coo_array(([2.5, -1, 3], ([0, 1, 3], [1, 2, 0])), shape=(4, 4))
    ones = [(int(i) + 1, int(j) + 1, {"weight": float(v)}) for i, j, v in zip(*values.coords, values.data)]
    lone = {v: {} for v in range(1, 5)}
    put = lambda name, call, told, matrix, **more: write("scipy", name, call, told, {"matrix": matrix}, **more)
    put("general.mtx", "scipy.io.mmwrite(path, matrix, comment='made here')", (True, lone, ones), values)
    put("pattern.mtx", "scipy.io.mmwrite(path, matrix, field='pattern')", (True, lone, [e[:2] for e in ones]), values)
    symmetric = scipy.sparse.coo_array(values + values.T)
    put("symmetric.mtx.gz", "scipy.io.mmwrite(gzip.open(path, 'wb'), matrix)",
        (False, lone, ones), symmetric)
    skew = scipy.sparse.coo_array(values - values.T)
    both = [edge for u, v, d in ones for edge in ((u, v, d), (v, u, {"weight": -d["weight"]}))]
    put("skew.mtx", "scipy.io.mmwrite(path, matrix, symmetry='skew-symmetric')", (True, lone, both), skew)
    put("whole.mtx", "scipy.io.mmwrite(path, matrix)", (True, lone, [(u, v, {"weight": int(d["weight"] * 2)}) for u, v, d in ones]),
        scipy.sparse.coo_array((values * 2).astype(int)))
    put("complex.mtx", "scipy.io.mmwrite(path, matrix * 1j)", None, values, refused=["complex"])
    put("dense.mtx", "scipy.io.mmwrite(path, matrix.toarray())", None, values, refused=["array"])
    put("wide.mtx", "scipy.io.mmwrite(path, matrix.tocsr()[:3].tocoo())", None, values, refused=["3 x 4"])
    put("csr.npz", "scipy.sparse.save_npz(path, matrix.tocsr())", (True, {v - 1: {} for v in lone},
        [(u - 1, v - 1, d) for u, v, d in ones]), values)
    put("coo.npz", "scipy.sparse.save_npz(path, matrix, compressed=False)", (True, {v - 1: {} for v in lone},
        [(u - 1, v - 1, d) for u, v, d in ones]), values)
    put("edges.npy", "np.save(path, np.array(matrix.coords))", None, values, refused=["NumPy"])
    put("csc.hb", "scipy.io.hb_write(path, matrix.tocsc())", None, values, refused=["column"])
    put("sparse.mat", "scipy.io.savemat(path, {'m': matrix})", None, values, refused=["binary"])
    put("edges.txt", "np.savetxt(path, np.array(matrix.coords).T)", (True, {}, [(u - 1, v - 1) for u, v, _ in ones]), values,
        refused=["floating-point", "ids"])
    put("edges.csv", "np.savetxt(path, np.array([*matrix.coords, matrix.data]).T, delimiter=',', header='i,j,weight', fmt='%g')",
        (True, {}, [(u - 1, v - 1, d) for u, v, d in ones]), values)


if __name__ == "__main__":
    networkx_files()
    igraph_files()
    networkit_files()
    rustworkx_files()
    scipy_files()
