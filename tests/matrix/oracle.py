"""What a right answer is: each algorithm as its page defines it, in a few lines of plain Python over a list of edges.

Nothing here comes from Esker. A `check_...` function takes a `Graph`, the options of the request and an `Answer`; it raises `Wrong` with the first
difference. Where there are several right answers (forests, colourings, parents), it checks the properties of a right one.
"""

import heapq
import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations


class Wrong(Exception):
    """An answer that is not right."""


@dataclass
class Graph:
    """A graph as a view shows it: edges (u, v, weight), each once; parallel edges as often as they count."""

    directed: bool
    vertices: list
    edges: list

    def arcs(self):
        """Edges as they can be followed: an undirected one both ways, a self-loop once."""
        for u, v, w in self.edges:
            yield u, v, w
            if not self.directed and u != v:
                yield v, u, w

    def out(self):
        lists = {v: [] for v in self.vertices}
        for u, v, w in self.arcs():
            lists[u].append((v, w))
        return lists

    def around(self):
        """Neighbours in either direction as often as edges lead there, without self-loops."""
        lists = {v: [] for v in self.vertices}
        for u, v, _ in self.edges:
            if u != v:
                lists[u].append(v)
                lists[v].append(u)
        return lists

    def simple(self):
        """Neighbours of the undirected simple graph."""
        return {v: set(around) for v, around in self.around().items()}

    def pairs(self):
        """The ends of edges, for lookups."""
        return {(u, v) for u, v, _ in self.arcs()}


@dataclass
class Answer:
    """Rows of an answer: by vertex, or by edge; values are texts, None where a field is empty."""

    vertices: dict = field(default_factory=dict)
    edges: list = field(default_factory=list)
    columns: list = field(default_factory=list)
    facts: dict = field(default_factory=dict)  # None where a table has the rows alone.

    def column(self, graph, name, parse):
        name = name if name in self.columns else "value"
        expect(set(self.vertices), set(graph.vertices), "vertices with a row")
        return {v: None if row[name] is None else parse(row[name]) for v, row in self.vertices.items()}


def number(text):
    try:
        return int(text)
    except ValueError:
        return float(text)


def near(a, b, tolerance=1e-9):
    if a is None or b is None:
        return a is b
    return a == b or abs(a - b) <= tolerance * max(abs(a), abs(b), 1e-3)


def expect(found, wanted, what):
    if found != wanted:
        if isinstance(found, (set, frozenset)):
            raise Wrong(f"{what}: {sorted(map(str, found - wanted))} too many, {sorted(map(str, wanted - found))} missing")
        raise Wrong(f"{what}: {found}, not {wanted}")


def expect_values(found, wanted, what, tolerance=1e-9):
    for v in wanted:
        if not near(found[v], wanted[v], tolerance):
            raise Wrong(f"{what} of {v}: {found[v]}, not {wanted[v]}")


def expect_fact(answer, name, wanted, tolerance=1e-9):
    if answer.facts is None:
        return
    found = answer.facts.get(name)
    same = found == wanted if isinstance(wanted, bool) or found is None else near(found, wanted, tolerance)
    if not same:
        raise Wrong(f"{name}: {found}, not {wanted}")


def groups(labels):
    """The sets of vertices that share a label."""
    sets = defaultdict(set)
    for v, label in labels.items():
        sets[label].add(v)
    return sets


# Paths


def steps(graph, sources):
    out, depth, queue = graph.out(), {v: 0 for v in sources}, list(sources)
    for u in queue:
        for v, _ in out[u]:
            if v not in depth:
                depth[v] = depth[u] + 1
                queue.append(v)
    return depth


def check_bfs(graph, options, answer, vertex):
    sources = {vertex(s) for s in options["source"]}
    depth = steps(graph, sources)
    most = min(options.get("max-depth", math.inf), depth.get(vertex(options.get("target")), math.inf))
    depth = {v: depth[v] if v in depth and depth[v] <= most else None for v in graph.vertices}
    expect_values(answer.column(graph, "depth", int), depth, "depth")
    expect_fact(answer, "reached", sum(d is not None for d in depth.values()))
    if "parents" in options:
        pairs = graph.pairs()
        for v, parent in answer.column(graph, "parent", vertex).items():
            right = (
                parent is None if depth[v] is None
                else parent == v if v in sources
                else parent is not None and depth[parent] == depth[v] - 1 and (parent, v) in pairs
            )
            if not right:
                raise Wrong(f"parent of {v}: {parent}")


def lengths(graph, source):
    """Distances by rounds of Bellman-Ford; None if a negative cycle can be reached."""
    distance = {source: 0}
    arcs = list(graph.arcs())
    for _ in range(len(graph.vertices) + 1):
        before = dict(distance)
        for u, v, w in arcs:
            if u in distance and distance[u] + w < distance.get(v, math.inf):
                distance[v] = distance[u] + w
        if before == distance:
            return distance
    return None


def check_distances(graph, options, answer, vertex):
    source = vertex(options["source"][0])
    distance = lengths(graph, source)
    most = distance.get(vertex(options.get("target")), math.inf)
    wanted = {v: distance[v] if v in distance and distance[v] <= most else None for v in graph.vertices}
    expect_values(answer.column(graph, "distance", number), wanted, "distance")
    expect_fact(answer, "reached", sum(d is not None for d in wanted.values()))
    if "parents" in options:
        check_parents(graph, answer, vertex, source, wanted, lambda d, w: d + w)


def check_parents(graph, answer, vertex, source, values, join):
    """Each parent is at the end of an edge that gives the value, and leads to the source."""
    edges = defaultdict(list)
    for u, v, w in graph.arcs():
        edges[u, v].append(w)
    parents = answer.column(graph, "parent", vertex)
    for v, parent in parents.items():
        if v == source:
            expect(parent, source, "parent of the source")
        elif values[v] is None:
            expect(parent, None, f"parent of {v}")
        else:
            fits = any(near(join(values[parent], w), values[v]) for w in edges[parent, v])
            if not fits:
                raise Wrong(f"parent of {v}: {parent}, from where no edge gives {values[v]}")
            seen = {v}
            while parent != source:
                if parent in seen:
                    raise Wrong(f"the parents of {v} lead round")
                seen.add(parent)
                parent = parents[parent]


def check_bellman_ford(graph, options, answer, vertex):
    source = vertex(options["source"][0])
    if lengths(graph, source) is not None:
        expect_fact(answer, "negative_cycle", False)
        return check_distances(graph, options, answer, vertex)
    expect_fact(answer, "negative_cycle", True)
    least = {}
    for u, v, w in graph.arcs():
        least[u, v] = min(w, least.get((u, v), math.inf))
    cycle = [ends for ends, _ in answer.edges]
    expect_fact(answer, "cycle_edges", len(cycle))
    for (_, end), (begin, _) in zip(cycle, cycle[1:] + cycle[:1]):
        expect(begin, end, "the cycle goes on at")
    if not all(ends in least for ends in cycle) or sum(least[ends] for ends in cycle) >= 0:
        raise Wrong(f"{cycle} is no negative cycle")


def check_widest(graph, options, answer, vertex):
    source = vertex(options["source"][0])
    width, out = {source: math.inf}, graph.out()
    changed = True
    while changed:
        changed = False
        for u in list(width):
            for v, w in out[u]:
                if min(width[u], w) > width.get(v, -math.inf):
                    width[v] = min(width[u], w)
                    changed = True
    wanted = {v: None if v == source else width.get(v) for v in graph.vertices}
    expect_values(answer.column(graph, "width", number), wanted, "width")
    expect_fact(answer, "reached", len(width))
    if "parents" in options:
        values = {**wanted, source: math.inf}
        check_parents(graph, answer, vertex, source, values, min)


def check_betweenness(graph, options, answer, vertex):
    sources = [vertex(s) for s in options.get("source", [])] or graph.vertices
    out, score = graph.out(), {v: Fraction(0) for v in graph.vertices}
    for s in sources:
        depth = steps(graph, [s])
        order = sorted(depth, key=depth.get)
        paths = {v: int(v == s) for v in order}
        ahead = {u: [v for v, _ in out[u] if depth[v] == depth[u] + 1] for u in order}
        for u in order:
            for v in ahead[u]:
                paths[v] += paths[u]
        share = {v: Fraction(0) for v in order}
        for u in reversed(order):
            share[u] = sum((Fraction(paths[u], paths[v]) * (1 + share[v]) for v in ahead[u]), Fraction(0))
            if u != s:
                score[u] += share[u]
    n, scale = len(graph.vertices), options.get("scale", "sum" if "source" in options else "fraction")
    all_sources = Fraction(n, max(1, len(sources)))
    factor = {
        "sum": 1,
        "pairs": all_sources if graph.directed else all_sources / 2,
        "fraction": all_sources / ((n - 1) * (n - 2)) if n > 2 else all_sources,
    }[scale]
    expect_values(answer.column(graph, "betweenness", float), {v: float(x * factor) for v, x in score.items()}, "betweenness")


def check_closeness(graph, options, answer, vertex):
    sources = {vertex(s) for s in options.get("source", [])} or set(graph.vertices)
    depths = {s: steps(graph, [s]) for s in sources}
    wanted = {}
    for v in graph.vertices:
        found = [depths[s][v] for s in sources if s != v and v in depths[s]]
        others = len(sources - {v})
        wanted[v] = len(found) / others * (len(found) / sum(found)) if found else 0.0
    expect_values(answer.column(graph, "closeness", float), wanted, "closeness")


def check_harmonic(graph, options, answer, vertex):
    sources = {vertex(s) for s in options.get("source", [])} or set(graph.vertices)
    depths = {s: steps(graph, [s]) for s in sources}
    wanted = {v: sum(1 / depths[s][v] for s in sources if depths[s].get(v)) for v in graph.vertices}
    expect_values(answer.column(graph, "harmonic", float), wanted, "harmonic centrality")


def check_eccentricity(graph, options, answer, vertex):
    wanted = {v: max(steps(graph, [v]).values()) for v in graph.vertices}
    expect_values(answer.column(graph, "eccentricity", int), wanted, "eccentricity")


# Order


def generations(graph):
    """The generation of each vertex that is neither on a cycle nor behind one."""
    left = Counter(v for _, v, _ in graph.arcs())
    out, of = graph.out(), {}
    free = [v for v in graph.vertices if not left[v]]
    while free:
        of.update(dict.fromkeys(free, len(set(of.values()))))
        ahead = Counter(v for u in free for v, _ in out[u])
        free = [v for v in ahead if left[v] == ahead[v]]
        left -= ahead
    return of


def check_order(graph, options, answer, vertex):
    of = generations(graph)
    found = answer.column(graph, "generation", int)
    expect_values(found, {v: of.get(v) for v in graph.vertices}, "generation")
    expect_fact(answer, "acyclic", len(of) == len(graph.vertices))
    expect_fact(answer, "unordered", len(graph.vertices) - len(of))
    if "longest_path" in answer.columns:
        longest, out = {v: 0 for v in of}, graph.out()
        for u in sorted(of, key=of.get):
            for v, w in out[u]:
                if v in of:
                    longest[v] = max(longest[v], longest[u] + w)
        lengths = {v: longest.get(v) for v in graph.vertices}
        expect_values(answer.column(graph, "longest_path", float), lengths, "longest path")


def check_cycle(graph, options, answer, vertex):
    edges = [ends for ends, _ in answer.edges]
    for (u, v), (next_u, _) in zip(edges, edges[1:] + edges[:1]):
        if (u, v) not in graph.pairs() or v != next_u:
            raise Wrong(f"{u} - {v} is no edge, or not the one before {next_u}")
    lengths = [1 + depth for s in graph.vertices for v, depth in steps(graph, [s]).items() if (v, s) in graph.pairs()]
    expect(len(edges), min(lengths, default=0), "edges of a shortest cycle")
    expect_fact(answer, "acyclic", not lengths)


# Connectivity


def components(graph):
    around, label = graph.around(), {}
    for root in graph.vertices:
        if root not in label:
            label[root], stack = root, [root]
            for u in stack:
                for v in around[u]:
                    if v not in label:
                        label[v] = root
                        stack.append(v)
    return label


def expect_groups(answer, graph, name, wanted, vertex):
    labels = answer.column(graph, name, vertex)
    found = groups(labels)
    expect({frozenset(s) for s in found.values()}, {frozenset(s) for s in groups(wanted).values()}, name)
    for label, members in found.items():
        if label not in members:
            raise Wrong(f"{name} {label} is not one of {members}")
    expect_fact(answer, "components", len(found))
    return found


def check_wcc(graph, options, answer, vertex):
    expect_groups(answer, graph, "component", components(graph), vertex)


def check_scc(graph, options, answer, vertex):
    reach = {v: set(steps(graph, [v])) for v in graph.vertices}
    order = {v: i for i, v in enumerate(graph.vertices)}
    wanted = {v: min((u for u in reach[v] if v in reach[u]), key=order.get) for v in graph.vertices}
    found = expect_groups(answer, graph, "component", wanted, vertex)
    expect_fact(answer, "largest", max(map(len, found.values()), default=0))


def expect_forest(graph, answer):
    """Edges of the graph that join what is joined, without a cycle."""
    pairs, label = graph.pairs(), {v: v for v in graph.vertices}
    for (u, v), _ in answer.edges:
        if (u, v) not in pairs:
            raise Wrong(f"{u} - {v} is no edge")
        a, b = label[u], label[v]
        if a == b:
            raise Wrong(f"{u} - {v} closes a cycle")
        label = {x: a if y == b else y for x, y in label.items()}
    trees = len(set(components(graph).values()))
    expect(len(answer.edges), len(graph.vertices) - trees, "edges of the forest")
    expect_fact(answer, "trees", trees)
    expect_fact(answer, "edges", len(answer.edges))


def check_forest(graph, options, answer, vertex):
    expect_forest(graph, answer)


def check_msf(graph, options, answer, vertex):
    expect_forest(graph, answer)
    label, total = {v: v for v in graph.vertices}, 0
    for u, v, w in sorted(graph.edges, key=lambda edge: edge[2]):
        a, b = label[u], label[v]
        if a != b:
            label = {x: a if y == b else y for x, y in label.items()}
            total += w
    expect_fact(answer, "weight", total)
    least = {}
    for u, v, w in graph.arcs():
        least[u, v] = min(w, least.get((u, v), math.inf))
    for (u, v), row in answer.edges:
        if not near(number(row["weight" if "weight" in row else "value"]), least[u, v]):
            raise Wrong(f"weight of {u} - {v}: {row}, not {least[u, v]}")


def blocks_of(simple):
    """Blocks as sets of edges, by Hopcroft and Tarjan."""
    low, number, stack, found = {}, {}, [], []

    def visit(u, parent):
        number[u] = low[u] = len(number)
        for v in simple[u]:
            if v not in number:
                stack.append((u, v))
                visit(v, u)
                low[u] = min(low[u], low[v])
                if low[v] >= number[u]:
                    block = set()
                    while True:
                        edge = stack.pop()
                        block.add(frozenset(edge))
                        if edge == (u, v):
                            break
                    found.append(block)
            elif v != parent and number[v] < number[u]:
                stack.append((u, v))
                low[u] = min(low[u], number[v])

    for v in simple:
        if v not in number:
            visit(v, None)
    return found


def check_biconnectivity(graph, options, answer, vertex):
    blocks = blocks_of(graph.simple())
    of_vertex = Counter(v for block in blocks for v in frozenset().union(*block))
    points = {v for v, count in of_vertex.items() if count > 1}
    times = Counter(frozenset(edge[:2]) for edge in graph.edges)
    bridges = {edge for block in blocks for edge in block if len(block) == 1 and times[edge] == 1}
    expect_fact(answer, "blocks", len(blocks))
    expect_fact(answer, "articulation_points", len(points))
    expect_fact(answer, "bridges", len(bridges))
    expect_fact(answer, "components", len(set(components(graph).values())))
    if "bridges" in options:
        expect({frozenset(ends) for ends, _ in answer.edges}, bridges, "bridges")
        return
    found = answer.column(graph, "articulation_point", int)
    expect({v for v, mark in found.items() if mark}, points, "articulation points")
    # The label of a vertex is the block of the edge to its parent: all vertices of a block share it, but for the one nearest to the root.
    labels = groups({v: b for v, b in answer.column(graph, "block", vertex).items() if b is not None})
    members = [frozenset().union(*block) for block in blocks]
    expect(len(labels), len(blocks), "labels of blocks")
    for label, labelled in labels.items():
        if not any(labelled < block and len(labelled) == len(block) - 1 for block in members):
            raise Wrong(f"block {label}: {labelled} are no block without one vertex")


def check_ldd(graph, options, answer, vertex):
    labels = answer.column(graph, "cluster", vertex)
    found = groups(labels)
    expect_fact(answer, "clusters", len(found))
    for centre, members in found.items():
        inside = [e for e in graph.edges if e[0] in members and e[1] in members]
        depth = steps(Graph(False, list(members), inside), [centre]) if centre in members else {}
        if set(depth) != members or max(depth.values()) > answer.facts["radius"]:
            raise Wrong(f"cluster {centre}: {members} within {answer.facts['radius']} steps")


def check_spanner(graph, options, answer, vertex):
    pairs, chosen = graph.pairs(), [ends for ends, _ in answer.edges]
    if not all(ends in pairs for ends in chosen):
        raise Wrong("an edge of the spanner is none of the graph")
    expect(len({frozenset(ends) for ends in chosen}), len(chosen), "different edges")
    expect_fact(answer, "edges", len(chosen))
    spanner = Graph(False, graph.vertices, [(u, v, 1) for u, v in chosen])
    for u, v in pairs:
        if steps(spanner, [u]).get(v, math.inf) > answer.facts["stretch_bound"]:
            raise Wrong(f"{u} - {v} is stretched beyond {answer.facts['stretch_bound']}")


# Sets and colours


def check_mis(graph, options, answer, vertex):
    members = {v for v, mark in answer.column(graph, "member", int).items() if mark}
    for v, around in graph.simple().items():
        if (v in members) == bool(around & members):
            raise Wrong(f"{v} is {'' if v in members else 'not '}a member, and its neighbours {around & members} are")
    expect_fact(answer, "size", len(members))


def check_matching(graph, options, answer, vertex):
    mates, simple = answer.column(graph, "mate", vertex), graph.simple()
    for v, mate in mates.items():
        if mate is not None and (mate not in simple[v] or mates[mate] != v):
            raise Wrong(f"mate of {v}: {mate}")
        if mate is None and any(mates[u] is None for u in simple[v]):
            raise Wrong(f"{v} and a neighbour are free")
    expect_fact(answer, "edges", sum(mate is not None for mate in mates.values()) // 2)


def check_colouring(graph, options, answer, vertex):
    colours = answer.column(graph, "colour", int)
    simple = graph.simple()
    for v, around in simple.items():
        if any(colours[u] == colours[v] for u in around):
            raise Wrong(f"{v} has the colour of a neighbour")
    expect(set(colours.values()), set(range(answer.facts["colours"])), "colours")
    if options.get("first") == "sl" and graph.vertices and len(set(colours.values())) > max(coreness(graph).values()) + 1:
        raise Wrong("more colours than the degeneracy and one")


def check_setcover(graph, options, answer, vertex):
    pairs = graph.pairs()
    owners, gains = answer.column(graph, "owner", vertex), answer.column(graph, "gain", int)
    covered = {v for _, v in pairs}
    expect({v for v, owner in owners.items() if owner is not None}, covered, "covered")
    for v, owner in owners.items():
        if owner is not None and (owner, v) not in pairs:
            raise Wrong(f"{owner} does not cover {v}")
    counts = Counter(owner for owner in owners.values() if owner is not None)
    expect_values(gains, {v: counts[v] for v in graph.vertices}, "gain")
    expect_fact(answer, "sets", len(counts))
    expect_fact(answer, "covered", len(covered))


# Density


def check_degrees(graph, options, answer, vertex):
    degree = {v: 0 for v in graph.vertices}
    way = options.get("direction", "out")
    for u, v, _ in graph.edges if graph.directed else graph.arcs():
        if not graph.directed or way in ("out", "both"):
            degree[u] += 1
        if graph.directed and way in ("in", "both"):
            degree[v] += 1
    expect_values(answer.column(graph, "degree", int), degree, "degree")
    expect_fact(answer, "largest", max(degree.values(), default=0))


def coreness(graph):
    around, core, k = graph.around(), {}, 0
    degree = {v: len(list_) for v, list_ in around.items()}
    while degree:
        v = min(degree, key=degree.get)
        k = max(k, degree.pop(v))
        core[v] = k
        for u in around[v]:
            if u in degree:
                degree[u] -= 1
    return core


def check_kcore(graph, options, answer, vertex):
    core = coreness(graph)
    expect_values(answer.column(graph, "coreness", int), core, "coreness")
    expect_fact(answer, "k_max", max(core.values(), default=0))


def density(graph, members):
    return sum(u != v and u in members and v in members for u, v, _ in graph.edges) / max(1, len(members))


def check_densest(graph, options, answer, vertex):
    members = {v for v, mark in answer.column(graph, "member", int).items() if mark}
    found = density(graph, members)
    expect_fact(answer, "density", found)
    expect_fact(answer, "vertices", len(members))
    core, bound = coreness(graph), answer.facts["density_bound"]
    best = max((density(graph, {v for v in core if core[v] >= k}) for k in core.values()), default=0)
    if best > bound * (1 + 1e-9) or best > found * (2 + 2 * options.get("epsilon", 0.001)) * (1 + 1e-9):
        raise Wrong(f"a core has density {best}: {found} found, bound {bound}")


def cliques_of(simple, k):
    order = {v: i for i, v in enumerate(simple)}

    def count(candidates, k):
        if k == 1:
            return len(candidates)
        return sum(count({u for u in candidates & simple[v] if order[u] > order[v]}, k - 1) for v in candidates)

    return count(set(simple), k)


def check_cliques(graph, options, answer, vertex):
    expect_fact(answer, "cliques", cliques_of(graph.simple(), options.get("k", 4)))


def check_triangles(graph, options, answer, vertex):
    if options.get("method") != "sample":
        expect_fact(answer, "triangles", cliques_of(graph.simple(), 3))
    elif not answer.facts["low"] <= answer.facts["triangles"] <= answer.facts["high"]:
        raise Wrong(f"the estimate is outside its bounds: {answer.facts}")


def check_lcc(graph, options, answer, vertex):
    simple, pairs = graph.simple(), graph.pairs()
    wanted = {}
    for v, around in simple.items():
        closed = sum((a, b) in pairs for a in around for b in around if a != b)
        wanted[v] = closed / (len(around) * (len(around) - 1)) if len(around) > 1 else 0.0
    expect_values(answer.column(graph, "coefficient", float), wanted, "coefficient")
    expect_fact(answer, "triangles", cliques_of(simple, 3))
    expect_fact(answer, "average", sum(wanted.values()) / max(1, len(wanted)))


def check_truss(graph, options, answer, vertex):
    simple = graph.simple()
    triangles = cliques_of(simple, 3)
    edges = {frozenset((u, v)) for u in simple for v in simple[u]}
    trussness, k = {}, 2
    while edges:
        support = {edge: len(simple[min(edge, key=str)] & simple[max(edge, key=str)]) for edge in edges}
        leaving = [edge for edge in edges if support[edge] <= k - 2]
        if not leaving:
            k += 1
        for edge in leaving:
            u, v = edge
            trussness[edge] = k
            simple[u].discard(v), simple[v].discard(u)
            edges.discard(edge)
    found = {frozenset(ends): int(row["trussness" if "trussness" in row else "value"]) for ends, row in answer.edges}
    expect(found, trussness, "trussness")
    expect(len(found), len(answer.edges), "rows")
    expect_fact(answer, "largest", max(trussness.values(), default=0))
    expect_fact(answer, "triangles", triangles)


# Ranks and communities


def check_pagerank(graph, options, answer, vertex):
    damping, n = options.get("damping", 0.85), len(graph.vertices)
    targets = [vertex(t) for t in options.get("teleport-to", [])]
    jump = {v: targets.count(v) / len(targets) if targets else 1 / n for v in graph.vertices}
    by_weight = options.get("by weight")
    strength, arcs = defaultdict(float), [(u, v, w if by_weight else 1) for u, v, w in graph.arcs()]
    for u, _, w in arcs:
        strength[u] += w
    rank = dict(jump)
    for _ in range(3000):
        lost = sum(rank[v] for v in graph.vertices if not strength[v])
        new = {v: (1 - damping) * jump[v] + damping * jump[v] * lost for v in graph.vertices}
        for u, v, w in arcs:
            if strength[u]:
                new[v] += damping * rank[u] * w / strength[u]
        change, rank = sum(abs(new[v] - rank[v]) for v in new), new
        if change < 1e-15:
            break
    found = answer.column(graph, "rank", float)
    error = sum(abs(found[v] - rank[v]) for v in rank)
    tolerance = options.get("tolerance", 5e-6)
    if error > tolerance + 1e-13:
        worst = max(rank, key=lambda v: abs(found[v] - rank[v]))
        raise Wrong(f"ranks differ by {error} in all; rank of {worst}: {found[worst]}, not {rank[worst]}")
    expect_fact(answer, "converged", True)
    if answer.facts is not None and not error - 1e-13 <= answer.facts["error"] <= tolerance:
        raise Wrong(f"error: {answer.facts['error']}, where the ranks differ by {error} in all")


def check_cdlp(graph, options, answer, vertex):
    key = (lambda v: v.encode()) if any(isinstance(v, str) for v in graph.vertices) else (lambda v: v)
    label = {v: v for v in graph.vertices}
    around = {v: [] for v in graph.vertices}
    for u, v, _ in graph.edges:
        around[u].append(v)
        if graph.directed or u != v:
            around[v].append(u)
    converged = False
    for _ in range(options.get("iterations", 10)):
        new = {}
        for v in graph.vertices:
            counts = Counter(label[u] for u in around[v])
            new[v] = min(counts, key=lambda x: (-counts[x], key(x))) if counts else label[v]
        converged, label = new == label, new
    expect_values_exactly(answer.column(graph, "community", vertex), label, "community")
    expect_fact(answer, "communities", len(set(label.values())))


def expect_values_exactly(found, wanted, what):
    for v in wanted:
        expect(found[v], wanted[v], f"{what} of {v}")


# Edges and neighbours of each vertex


def check_strength(graph, options, answer, vertex):
    weights, direction = {v: [] for v in graph.vertices}, options["direction"]
    for u, v, w in graph.arcs():
        if direction in ("out", "both") or not graph.directed:
            weights[u].append(w)
        if graph.directed and direction in ("in", "both"):
            weights[v].append(w)
    expect_values(answer.column(graph, "strength", float), {v: sum(ws) for v, ws in weights.items()}, "strength")
    for name, pick in (("mean", lambda ws: sum(ws) / len(ws)), ("least", min), ("greatest", max)):
        if name in answer.columns:
            wanted = {v: pick(ws) if ws else None for v, ws in weights.items()}
            expect_values(answer.column(graph, name, float), wanted, name)


def check_reciprocity(graph, options, answer, vertex):
    pairs = {(u, v) for u, v in graph.pairs() if u != v}
    ahead, behind = ({v: set() for v in graph.vertices} for _ in range(2))
    for u, v in pairs:
        ahead[u].add(v)
        behind[v].add(u)
    all_of = {v: len(ahead[v]) + len(behind[v]) for v in graph.vertices}
    wanted = {v: 2 * len(ahead[v] & behind[v]) / all_of[v] if all_of[v] else None for v in graph.vertices}
    expect_values(answer.column(graph, "reciprocity", float), wanted, "reciprocity")
    expect_fact(answer, "overall", sum((v, u) in pairs for u, v in pairs) / len(pairs) if pairs else 0)


def check_similarity(graph, options, answer, vertex):
    source, near = vertex(options["source"][0]), graph.simple()
    wanted = dict.fromkeys(graph.vertices)
    for v in graph.vertices:
        common = near[source] & near[v]
        if v != source and common:
            wanted[v] = len(common) / len(near[source] | near[v])
            if options.get("measure") == "adamic-adar":
                wanted[v] = sum(1 / math.log(len(near[w])) for w in common)
    expect_values(answer.column(graph, "similarity", float), wanted, "similarity")


CHECKS = {
    "bfs": check_bfs,
    "wbfs": check_distances,
    "sssp": check_distances,
    "bellman-ford": check_bellman_ford,
    "widest": check_widest,
    "betweenness": check_betweenness,
    "closeness": check_closeness,
    "harmonic": check_harmonic,
    "eccentricity": check_eccentricity,
    "order": check_order,
    "cycle": check_cycle,
    "strength": check_strength,
    "reciprocity": check_reciprocity,
    "similarity": check_similarity,
    "wcc": check_wcc,
    "scc": check_scc,
    "forest": check_forest,
    "msf": check_msf,
    "biconnectivity": check_biconnectivity,
    "ldd": check_ldd,
    "spanner": check_spanner,
    "mis": check_mis,
    "matching": check_matching,
    "colouring": check_colouring,
    "setcover": check_setcover,
    "degrees": check_degrees,
    "kcore": check_kcore,
    "densest": check_densest,
    "triangles": check_triangles,
    "lcc": check_lcc,
    "cliques": check_cliques,
    "truss": check_truss,
    "pagerank": check_pagerank,
    "cdlp": check_cdlp,
}
