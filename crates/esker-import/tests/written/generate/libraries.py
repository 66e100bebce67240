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
    put("people.gml", "nx.write_gml(graph, path)", people, weight="weight")
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


if __name__ == "__main__":
    networkx_files()
