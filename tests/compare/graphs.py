"""Random graphs of every kind, from a seed: directed or not, weighted, with loops, duplicates and isolated vertices."""

import random
from dataclasses import dataclass


@dataclass
class Sample:
    """A graph as its edges (from, to, weight) on the vertices 0..n."""

    name: str
    directed: bool
    n: int
    edges: list
    source: int

    @property
    def simple(self):
        """Whether there are no self-loops and no parallel edges."""
        if any(u == v for u, v, _ in self.edges):
            return False
        pairs = {(u, v) if self.directed else (min(u, v), max(u, v)) for u, v, _ in self.edges}
        return len(pairs) == len(self.edges)


def _uniform(rng, n):
    m = int(n * rng.choice([0.3, 1, 1.5, 3, 8]))
    return [(rng.randrange(n), rng.randrange(n)) for _ in range(m)]


def _skewed(rng, n):
    end = lambda: int(n * rng.random() ** 3)
    return [(end(), end()) for _ in range(int(n * rng.choice([1, 3, 6])))]


def _attachment(rng, n):
    ends, edges = [0], []
    for v in range(1, n):
        for u in {rng.choice(ends) for _ in range(3)}:
            edges.append((v, u) if rng.random() < 0.5 else (u, v))
            ends += [u, v]
    return edges


def _small_world(rng, n):
    step = lambda: 1 + rng.randrange(3) if rng.random() < 0.9 else rng.randrange(n)
    return [(v, (v + step()) % n) for v in range(n) for _ in range(2)]


def _tree(rng, n):
    return [(rng.randrange(v), v) for v in range(1, n)]


def _star(rng, n):
    return [(0, v) if rng.random() < 0.7 else (v, 0) for v in range(1, n)]


def _path(rng, n):
    return [(v - 1, v) for v in range(1, n)]


def _cycle(rng, n):
    return [(v, (v + 1) % n) for v in range(n)]


def _cliques(rng, n):
    size = rng.choice([3, 5, 12])
    return [(u, v) for u in range(n) for v in range(n) if u // size == v // size and (u < v or rng.random() < 0.3)]


def _grid(rng, n):
    width = max(1, int(n**0.5))
    right = [(v, v + 1) for v in range(n - 1) if (v + 1) % width]
    return right + [(v, v + width) for v in range(n - width)]


def _bipartite(rng, n):
    half = max(1, n // 2)
    return [(rng.randrange(half), half + rng.randrange(n - half)) for _ in range(2 * n)] if n > 1 else []


def _acyclic(rng, n):
    pairs = [(rng.randrange(n), rng.randrange(n)) for _ in range(2 * n)]
    return [(min(p), max(p)) for p in pairs if p[0] != p[1]]


def _none(rng, n):
    return []


KINDS = {
    name[1:]: make
    for name, make in list(globals().items())
    if name.startswith("_") and callable(make) and not name.startswith("__")
}


def _spoil(rng, n, edges):
    """Loops, duplicates, edges both ways, other numbers for the vertices, isolated ones."""
    edges = list(edges)
    if edges and rng.random() < 0.4:
        edges += [rng.choice(edges) for _ in range(rng.randrange(1 + len(edges) // 3))]
    if edges and rng.random() < 0.3:
        edges += [rng.choice(edges)[::-1] for _ in range(rng.randrange(1 + len(edges) // 2))]
    if rng.random() < 0.4:
        edges += [(v, v) for v in (rng.randrange(n) for _ in range(rng.randrange(4)))]
    if rng.random() < 0.3:
        n += rng.randrange(1, 10)
    if rng.random() < 0.5:
        names = list(range(n))
        rng.shuffle(names)
        edges = [(names[u], names[v]) for u, v in edges]
    rng.shuffle(edges)
    return n, edges


def _simplified(edges, directed):
    kept = {}
    for u, v in edges:
        if u != v:
            kept.setdefault((u, v) if directed else (min(u, v), max(u, v)), (u, v))
    return list(kept.values())


def samples(count, seed):
    """The first `count` graphs of a seed; every third is large enough for rows of bits and shared frontiers."""
    for i in range(count):
        rng = random.Random(f"{seed}/{i}")
        kind = list(KINDS)[i % len(KINDS)]
        directed = rng.random() < 0.6
        n = rng.choice([0, 1, 1, 2, 3, 5] + [8, 13, 30, 60, 120] * 4)
        edges = KINDS[kind](rng, n) if n else []
        if n and rng.random() < 0.6:
            n, edges = _spoil(rng, n, edges)
        if rng.random() < 0.5:
            edges = _simplified(edges, directed)
        weight = rng.choice([
            lambda: 1,
            lambda: rng.randrange(1, 256),
            lambda: rng.choice([0, 1, 2, 1000]),
            lambda: rng.random() * 10,
            lambda: 2.0 ** rng.randrange(-20, 20),
        ])
        weighted = [(u, v, float(weight())) for u, v in edges]
        yield Sample(f"{kind}-{i}", directed, n, weighted, rng.randrange(n) if n else 0)


def large(count, seed):
    """Graphs of thousands of vertices, skewed, so that hubs, bitmaps and several threads take part."""
    for i in range(count):
        rng = random.Random(f"large/{seed}/{i}")
        n = rng.choice([1500, 3000])
        end = lambda: int(n * rng.random() ** 2)
        edges = [(end(), end()) for _ in range(n * rng.choice([2, 20]))]
        names = list(range(n))
        if i % 2:
            rng.shuffle(names)
        weighted = [(names[u], names[v], float(rng.randrange(1, 256))) for u, v in edges]
        yield Sample(f"large-{i}", i % 4 < 2, n, weighted, rng.randrange(n))
