"""Random calls of every function of the NetworkX backend give what NetworkX gives: values, types, order and exceptions.

ESKER_CASES is the number of calls, by default a few hundred; ESKER_SEED the number of the first."""

import inspect
import math
import os
import random

import networkx as nx
import pytest

from esker.networkx.backend import OFFERED

CASES = int(os.environ.get("ESKER_CASES", "400"))
SEED = int(os.environ.get("ESKER_SEED", "0"))
CLASSES = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
#: Functions with several correct answers.
DRAWN = {"maximal_independent_set", "greedy_color"}
MISSING = "missing"


def graph_of(rng):
    """A random graph, with edges and nodes in a random order, some of them removed again."""
    graph = rng.choice(CLASSES[:2] if rng.random() < 0.9 else CLASSES)()
    n = rng.choice((0, 1, 2, 3, 5, 8, 12))
    label = rng.choice((int, str, lambda i: (i, "x"), lambda i: i + 0.5, lambda i: None.__class__ if i == 0 else i))
    nodes = [label(i) for i in range(n)]
    weigh = rng.choice((None, None, lambda: 1, lambda: rng.randint(0, 5), lambda: rng.random() * 4, lambda: rng.choice((1, 1.0, 2, 0.5)), lambda: float(rng.randint(0, 3)),
                        lambda: rng.randint(-1, 9), lambda: rng.choice((1, math.inf)), lambda: 2**60 + rng.randint(0, 3), lambda: rng.choice((1, True)), lambda: 10**400))
    rng.shuffle(nodes)
    graph.add_nodes_from(node for node in nodes if rng.random() < 0.7)
    for _ in range(rng.choice((0, n, 2 * n, 3 * n)) if n else 0):
        u, v = rng.choice(nodes), rng.choice(nodes)
        if u == v and rng.random() < 0.7:
            continue
        values = {} if weigh is None or rng.random() < 0.05 else {"weight": weigh()}
        graph.add_edge(u, v, **values)
    if len(graph) and rng.random() < 0.2:
        graph.remove_node(rng.choice(list(graph)))
    if graph.is_directed() and not graph.is_multigraph() and rng.random() < 0.1:
        return graph.to_undirected(as_view=True)
    if rng.random() < 0.1:
        return graph.subgraph([node for node in graph if rng.random() < 0.8])
    return graph


def argument(rng, graph, name, default):
    """A random value of a parameter; most are usual."""
    nodes = list(graph)

    def node():
        if nodes and rng.random() < 0.9:
            return rng.choice(nodes)
        return rng.choice((MISSING, None, [1], 1.5))

    some = [node() for _ in range(rng.randint(0, 4))]
    if name in ("source", "target", "n", "u", "v", "root"):
        if default is None and rng.random() < 0.4:
            return None
        return node()
    choices = {
        "cutoff": (None, 0, 1, 2, 2.5, 0.5, -1, -0.5, math.inf, 3),
        "distance": (None,) if default is None else (0, 1, 2, 1.5, -1),
        "weight": (default, None, "weight", "other"),
        "nodes": (None, some, set(nodes[:2])) + ((nodes[0],) if nodes else ()),
        "nbunch": (None, some),
        "k": (0, 1, 2, 3) if default is inspect.Parameter.empty else (None, 1, 2, len(nodes)),
        "normalized": (True, False),
        "endpoints": (False, False, True),
        "seed": (1, 7),
        "alpha": (0.85, 0.5),
        "max_iter": (100, 100, 2, 0),
        "tol": (1e-6, 1e-9),
        "personalization": (None, {node: rng.random() for node in nodes[:3]}, {MISSING: 1}),
        "nstart": (None, {node: 1 + rng.random() for node in nodes}),
        "dangling": (None, {node: 1 for node in nodes[:2]}),
        "method": (default, "dijkstra", "bellman-ford", "nothing"),
        "strategy": ("largest_first", "largest_first", "smallest_last", "random_sequential"),
        "interchange": (False, False, True),
        "count_zeros": (True, False),
        "wf_improved": (True, False),
        "usebounds": (False, False, True),
        "heuristic": (True, False),
        "sources": (None, some),
    }
    return rng.choice(choices.get(name, (default,)))


def plain(answer):
    """Generators as lists."""
    if hasattr(answer, "__next__"):
        answer = list(answer)
    if isinstance(answer, tuple):
        return tuple(map(plain, answer))
    return answer


def outcome(name, graph, arguments, **backend):
    random.seed(1)
    try:
        return plain(getattr(nx, name)(graph, **arguments, **backend))
    except NotImplementedError:
        raise
    except Exception as error:  # noqa: BLE001
        return type(error)


def same(found, expected, tolerance=1e-12):
    """Whether two answers have the same values, types and order; floats may differ in the last digits."""
    if type(found) is not type(expected):
        return False
    if isinstance(found, float):
        return found == pytest.approx(expected, rel=1e-9, abs=tolerance, nan_ok=True)
    if isinstance(found, dict):
        return list(found) == list(expected) and all(same(value, expected[key], tolerance) for key, value in found.items())
    if isinstance(found, (list, tuple)):
        return len(found) == len(expected) and all(same(*pair, tolerance) for pair in zip(found, expected))
    return found == expected


def is_valid(name, graph, arguments, found, expected):
    """Whether an answer is correct where several are."""
    if isinstance(found, type) or isinstance(expected, type):
        return found == expected
    if name == "maximal_independent_set":
        return all(v not in found for u in found for v in graph[u]) and all(u in found or set(graph[u]) & set(found) for u in graph)
    if name == "greedy_color":
        return list(found) == list(expected) if arguments.get("strategy") == "largest_first" else all(found[u] != found[v] for u, v in graph.edges())
    raise AssertionError(name)


def test_random_calls():
    answered, wrong = dict.fromkeys(sorted(OFFERED), 0), []
    # Functions on communities have tests of their own: NetworkX computes other ones, or none.
    names = [name for name in answered if hasattr(nx, name)]
    for case in range(SEED, SEED + CASES):
        rng = random.Random(case)
        name = names[case % len(names)]
        graph = graph_of(rng)
        if name == "negative_edge_cycle":
            graph = graph.copy()  # NetworkX changes the graph for a while, which a view forbids
        parameters = list(inspect.signature(OFFERED[name].function).parameters.values())[1:]
        arguments = {}
        for parameter in parameters:
            needed = parameter.default is inspect.Parameter.empty
            if needed or rng.random() < 0.4:
                arguments[parameter.name] = argument(rng, graph, parameter.name, parameter.default)
        tolerance = arguments.get("tol", 1e-6) if name == "pagerank" else 1e-12
        expected = outcome(name, graph, arguments)
        try:
            found = outcome(name, graph, arguments, backend="esker")
        except NotImplementedError:
            continue
        answered[name] += 1
        valid = is_valid(name, graph, arguments, found, expected) if name in DRAWN else same(found, expected, tolerance)
        if not valid:
            edges = list(graph.edges(data=True))
            wrong.append(f"ESKER_SEED={case}: {name} {type(graph).__name__} {list(graph)} {edges} {arguments}\n  found    {found!r}\n  expected {expected!r}")
    assert not wrong, f"{len(wrong)} of {CASES} calls\n" + "\n".join(wrong[:40])
    if CASES >= 50 * len(names):
        assert [name for name in names if answered[name] == 0] == [], "never answered"
