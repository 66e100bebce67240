"""Writes small graphs with each library's own writer, as test data: `pip install networkx igraph networkit rustworkx`, then
`python generate.py`. The names of files begin with the library and its version; `tests/written/main.rs` says what each means."""

import json
import os
import sys
from importlib.metadata import version

import igraph
import networkit
import networkx
import rustworkx

HERE = os.path.dirname(os.path.abspath(__file__))


def path(library: str, name: str) -> str:
    return os.path.join(HERE, f"{library}-{version(library)}-{name}")


def networkx_graphs() -> None:
    mixed = networkx.DiGraph()
    mixed.add_node("a", age=30, score=1.5, active=True, note="x & <y>")
    mixed.add_node("b", age=2**40)
    mixed.add_node("café")
    mixed.add_edge("a", "b", weight=2, kind="likes")
    mixed.add_edge("b", "café", weight=0.5, kind="knows")
    mixed.add_edge("café", "a", weight=3, kind="likes")
    networkx.write_graphml(mixed, path("networkx", "mixed.graphml"))
    networkx.write_gexf(mixed, path("networkx", "mixed.gexf"))
    networkx.write_gml(mixed, path("networkx", "mixed.gml"))
    networkx.write_edgelist(mixed, path("networkx", "mixed.edgelist"))
    networkx.write_weighted_edgelist(mixed, path("networkx", "mixed.weighted.edgelist"))
    networkx.write_adjlist(mixed, path("networkx", "mixed.adjlist"))
    networkx.write_multiline_adjlist(mixed, path("networkx", "mixed.multiline"))
    networkx.write_pajek(mixed, path("networkx", "mixed.net"))

    numbers = networkx.MultiGraph()
    numbers.add_nodes_from(range(5))
    numbers.add_edge(0, 1, weight=1)
    numbers.add_edge(0, 1, weight=2)
    numbers.add_edge(2, 2, weight=3)
    numbers.add_edge(1, 3, weight=2**53 + 1)
    networkx.write_graphml(numbers, path("networkx", "numbers.graphml"))
    networkx.write_gexf(numbers, path("networkx", "numbers.gexf"))
    networkx.write_gml(numbers, path("networkx", "numbers.gml"))
    with open(path("networkx", "numbers.node-link.json"), "w") as file:
        json.dump(networkx.node_link_data(numbers, edges="edges"), file)
    with open(path("networkx", "mixed.node-link.json"), "w") as file:
        json.dump(networkx.node_link_data(mixed, edges="links"), file)
    with open(path("networkx", "mixed.cytoscape.json"), "w") as file:
        json.dump(networkx.cytoscape_data(mixed), file)

    plain = networkx.Graph([(0, 1), (1, 2), (2, 0), (3, 4)])
    networkx.write_graph6(plain, path("networkx", "plain.g6"))
    networkx.write_sparse6(plain, path("networkx", "plain.s6"))

    defaults = networkx.Graph(edge_default={"weight": 1}, node_default={"group": "none"})
    defaults.add_edge("x", "y", weight=4)
    defaults.add_edge("y", "z")
    defaults.nodes["x"]["group"] = "one"
    networkx.write_graphml(defaults, path("networkx", "defaults.graphml"))


def igraph_graphs() -> None:
    graph = igraph.Graph(n=4, edges=[(0, 1), (1, 2), (2, 0), (3, 3)], directed=True)
    graph.vs["name"] = ["alice", "bob", "carol", "dave"]
    graph.vs["age"] = [30, 41, None, 7]
    graph.es["weight"] = [1, 2.5, 3, 0.1 + 0.2]
    graph.es["kind"] = ["a", "b", "a", ""]
    for form in ["graphml", "gml", "pajek", "ncol", "lgl", "dot", "leda"]:
        try:
            getattr(graph, f"write_{form}")(path("igraph", f"people.{form}"))
        except Exception as error:
            print("igraph", form, error, file=sys.stderr)
    flow = igraph.Graph(n=3, edges=[(0, 1), (1, 2)], directed=True)
    flow.es["capacity"] = [5, 4]
    flow.write_dimacs(path("igraph", "flow.dimacs"), 0, 2, "capacity")


def networkit_graphs() -> None:
    graph = networkit.Graph(4, weighted=True, directed=False)
    graph.addEdge(0, 1, 2.5)
    graph.addEdge(1, 2, 1)
    graph.addEdge(2, 0, 12345678)
    networkit.graphio.writeGraph(graph, path("networkit", "weights.gml"), networkit.Format.GML)
    networkit.graphio.writeGraph(graph, path("networkit", "weights.graphml"), networkit.Format.GraphML)
    networkit.graphio.writeGraph(graph, path("networkit", "weights.dot"), networkit.Format.DOT)


def rustworkx_graphs() -> None:
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from([{"name": "a", "size": 16777217.0}, {"name": "b", "size": 0.5}, {"name": "c", "size": 1.0}])
    graph.add_edge(0, 1, {"weight": "1.5"})
    graph.add_edge(1, 2, {"weight": "2"})
    rustworkx.node_link_json(
        graph,
        path=path("rustworkx", "pairs.node-link.json"),
        node_attrs=lambda node: {key: str(value) for key, value in node.items()},
        edge_attrs=lambda edge: edge,
    )
    try:
        rustworkx.write_graphml(graph, path("rustworkx", "pairs.graphml"))
    except Exception as error:
        print("rustworkx graphml", error, file=sys.stderr)


if __name__ == "__main__":
    networkx_graphs()
    igraph_graphs()
    networkit_graphs()
    rustworkx_graphs()
