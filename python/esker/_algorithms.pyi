"""Written by python/stubs.py from the catalogue: do not edit."""

import inspect
from typing import Any, Callable, Iterable, NamedTuple

from ._graph import Estimate, Id
from ._progress import Progress
from ._result import Result

SETTINGS: tuple[tuple[str, str, Any, str], ...]

class Option(NamedTuple):
    name: str
    value: str
    help: str
    @property
    def keyword(self) -> str: ...
    @property
    def is_id(self) -> bool: ...
    @property
    def is_required(self) -> bool: ...
    @property
    def annotation(self) -> str: ...

class Algorithm(NamedTuple):
    name: str
    summary: str
    options: tuple[Option, ...]
    weighted: bool
    undirected: bool
    @property
    def method(self) -> str: ...
    def texts(self, given: dict[str, Any], to_text: Callable[[Any], str]) -> list[tuple[str, str]]: ...

ALGORITHMS: dict[str, Algorithm]

def document(algorithm: Algorithm, estimating: bool) -> str: ...
def signature(algorithm: Algorithm, estimating: bool) -> inspect.Signature: ...

class Algorithms:
    def _call(self, algorithm: Algorithm, given: dict[str, Any]) -> Any: ...

    def bfs(self, source: Id | Iterable[Id], *, parents: bool = False, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Breadth-first search: number of steps from the sources.

        Args:
            source: Vertex to begin from; may be given several times.
            parents: Also give the vertex before each on its path.
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``bfs`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def sssp(self, source: Id, *, delta: float | None = None, parents: bool = False, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Shortest paths from one source by weight, none negative.

        Reads the weights of edges; where there are none, each edge counts 1.

        Args:
            source: Vertex to begin from.
            delta: Width of a bucket [default: chosen from the weights].
            parents: Also give the vertex before each on its path.
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``sssp`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def wbfs(self, source: Id, *, parents: bool = False, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Weighted breadth-first search: shortest paths by integral weights, a bucket for each distance.

        Reads the weights of edges; where there are none, each edge counts 1.

        Args:
            source: Vertex to begin from.
            parents: Also give the vertex before each on its path.
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``wbfs`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def bellman_ford(self, source: Id, *, parents: bool = False, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Shortest paths from one source by weights that may be negative, or a negative cycle.

        Reads the weights of edges; where there are none, each edge counts 1.

        Args:
            source: Vertex to begin from.
            parents: Also give the vertex before each on its path.
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``bellman_ford`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def widest(self, source: Id, *, method: str | None = None, parents: bool = False, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Widest paths from one source: those whose least weight is largest.

        Reads the weights of edges; where there are none, each edge counts 1.

        Args:
            source: Vertex to begin from.
            method: buckets: the widest first; rounds: as Bellman-Ford [default: buckets].
            parents: Also give the vertex before each on its path.
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``widest`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def pagerank(self, *, damping: float | None = None, tolerance: float | None = None, rounds: int | None = None, teleport_to: Id | Iterable[Id] | None = None, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """PageRank: how often a random surfer comes by.

        Args:
            damping: Chance of following an edge [default: 0.85].
            tolerance: Stop once all scores together change by less in a round; 0: never.
            rounds: Most rounds.
            teleport_to: Jump to this vertex; may be given several times [default: any].
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``pagerank`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def betweenness(self, source: Id | Iterable[Id] | None = None, *, samples: int | None = None, scale: str | None = None, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Betweenness centrality: share of shortest paths (by steps) that lead through a vertex.

        Args:
            source: Only paths from this vertex; may be given several times [default: from all: exact].
            samples: Only paths from this many vertices, drawn by the seed.
            scale: sum, pairs or fraction [default: sum with source, else fraction, as NetworkX normalises].
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``betweenness`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def wcc(self, *, method: str | None = None, beta: float | None = None, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Weakly connected components: which vertices are joined, whatever the direction.

        Args:
            method: union-find, or contraction: of the clusters of a decomposition, of undirected graphs [default: union-find].
            beta: Rate of the decomposition [default: 0.2].
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``wcc`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def scc(self, *, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Strongly connected components: which vertices reach each other.

        Args:
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``scc`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def cdlp(self, *, iterations: int | None = None, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Communities by label propagation, as Graphalytics defines it.

        Args:
            iterations: Number of iterations [default: 10].
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``cdlp`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def triangles(self, *, method: str | None = None, samples: int | None = None, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Number of triangles, whatever the direction; self-loops and parallel edges do not count.

        Args:
            method: lists, on a copy by degree if that pays; filter: a bit an edge and no copy, of undirected graphs; sample: an estimate, of undirected graphs [default: lists].
            samples: Pairs of neighbours that method sample draws [default: 100000].
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``triangles`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def lcc(self, *, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Local clustering coefficient: how many of the possible edges between a vertex's neighbours exist.

        Args:
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``lcc`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def kcore(self, *, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Coreness: the largest k such that a vertex is left when all of fewer than k neighbours are removed.

        Args:
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``kcore`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def truss(self, *, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Trussness of each edge: the largest k such that it is left when all in fewer than k - 2 triangles are removed.

        Args:
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``truss`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def cliques(self, *, k: int | None = None, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Number of cliques of k vertices.

        Args:
            k: Vertices of a clique [default: 4].
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``cliques`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def densest(self, *, epsilon: float | None = None, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Densest subgraph, approximately: vertices with the most edges among them for each of them.

        Args:
            epsilon: The density is at least 1 / (2 + 2 epsilon) of the largest [default: 0.001].
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``densest`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def mis(self, *, first: str | None = None, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Maximal independent set: no two neighbours, and none could be added.

        Args:
            first: Who comes first: degree (the least) or random [default: degree].
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``mis`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def colouring(self, *, first: str | None = None, ties: str | None = None, passes: int | None = None, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Colours such that no two neighbours have the same, few of them.

        Args:
            first: Who is coloured first: llf (largest log of the degree), lf (largest degree), sl (smallest last), random [default: llf].
            ties: Who of equal degree (llf, lf): random, or number, the first imported [default: random].
            passes: Passes; each after the first begins with the last colours, and may save some [default: 2].
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``colouring`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def matching(self, *, method: str | None = None, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Maximal matching: edges without a common end, and none could be added.

        For undirected graphs.

        Args:
            method: claims, or priorities: random ones over a filter [default: claims; priorities if deterministic].
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``matching`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def setcover(self, *, epsilon: float | None = None, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Set cover, approximately: few vertices whose out-neighbours are all that any vertex has.

        Args:
            epsilon: How far apart gains may be that count as the same; more is faster [default: 0.01].
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``setcover`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def biconnectivity(self, *, bridges: bool = False, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Blocks that no single vertex holds together, articulation points and bridges.

        For undirected graphs.

        Args:
            bridges: Answer with the bridges instead of the vertices.
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``biconnectivity`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def forest(self, *, method: str | None = None, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Spanning forest: edges that join what is joined, without a cycle.

        For undirected graphs.

        Args:
            method: union-find, or search: a breadth-first one of each component [default: union-find; search if deterministic].
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``forest`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def msf(self, *, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Minimum spanning forest: the spanning forest of the least weight.

        Reads the weights of edges; where there are none, each edge counts 1.

        For undirected graphs.

        Args:
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``msf`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def spanner(self, *, k: int | None = None, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Spanner: few edges that keep every distance within a factor.

        For undirected graphs.

        Args:
            k: Distances grow by O(k), edges are about n^(1 + 1/k) [default: the logarithm of the number of vertices].
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``spanner`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def ldd(self, *, beta: float | None = None, threads: int | None = None, memory: int | str | None = None, seed: int = 0, deterministic: bool = False, progress: bool | Callable[[Progress], object] | None = None, verify: bool = False, encoding: str | None = None, residency: str | None = None, head: int | None = None) -> Result:
        """Low-diameter decomposition: clusters of small radius with few edges between them.

        For undirected graphs.

        Args:
            beta: About this part of the edges lies between clusters, whose radius is about log n / beta [default: 0.2].
            threads: Worker threads; one a processor if not given.
            memory: The most memory of the run's own arrays, as '2GiB'; a run that needs more is refused with the number that it needs.
            seed: Of everything random.
            deterministic: The same answer for any number of threads.
            progress: True shows a bar; a callable is told of each round.
            verify: Checks the answer by a slow serial verifier.
            encoding: What is read: 'lists' or 'tiles'.
            residency: How it is kept in memory: 'mapped', 'pooled' or 'headed' (lists); see docs/memory.md.
            head: With headed lists, the neighbours of each vertex that are kept; as many as fit if not given.

        Returns:
            A :class:`esker.Result`.

        Method, source, work and memory are in the header of ``ldd`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

class Estimates:
    def _call(self, algorithm: Algorithm, given: dict[str, Any]) -> Any: ...

    def bfs(self, source: Id | Iterable[Id] = None, *, parents: bool = False, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``bfs`` will need: memory and bytes of lists read.

        Args:
            source: Vertex to begin from; may be given several times.
            parents: Also give the vertex before each on its path.
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``bfs`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def sssp(self, source: Id = None, *, delta: float | None = None, parents: bool = False, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``sssp`` will need: memory and bytes of lists read.

        Args:
            source: Vertex to begin from.
            delta: Width of a bucket [default: chosen from the weights].
            parents: Also give the vertex before each on its path.
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``sssp`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def wbfs(self, source: Id = None, *, parents: bool = False, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``wbfs`` will need: memory and bytes of lists read.

        Args:
            source: Vertex to begin from.
            parents: Also give the vertex before each on its path.
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``wbfs`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def bellman_ford(self, source: Id = None, *, parents: bool = False, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``bellman_ford`` will need: memory and bytes of lists read.

        Args:
            source: Vertex to begin from.
            parents: Also give the vertex before each on its path.
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``bellman_ford`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def widest(self, source: Id = None, *, method: str | None = None, parents: bool = False, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``widest`` will need: memory and bytes of lists read.

        Args:
            source: Vertex to begin from.
            method: buckets: the widest first; rounds: as Bellman-Ford [default: buckets].
            parents: Also give the vertex before each on its path.
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``widest`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def pagerank(self, *, damping: float | None = None, tolerance: float | None = None, rounds: int | None = None, teleport_to: Id | Iterable[Id] | None = None, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``pagerank`` will need: memory and bytes of lists read.

        Args:
            damping: Chance of following an edge [default: 0.85].
            tolerance: Stop once all scores together change by less in a round; 0: never.
            rounds: Most rounds.
            teleport_to: Jump to this vertex; may be given several times [default: any].
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``pagerank`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def betweenness(self, source: Id | Iterable[Id] | None = None, *, samples: int | None = None, scale: str | None = None, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``betweenness`` will need: memory and bytes of lists read.

        Args:
            source: Only paths from this vertex; may be given several times [default: from all: exact].
            samples: Only paths from this many vertices, drawn by the seed.
            scale: sum, pairs or fraction [default: sum with source, else fraction, as NetworkX normalises].
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``betweenness`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def wcc(self, *, method: str | None = None, beta: float | None = None, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``wcc`` will need: memory and bytes of lists read.

        Args:
            method: union-find, or contraction: of the clusters of a decomposition, of undirected graphs [default: union-find].
            beta: Rate of the decomposition [default: 0.2].
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``wcc`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def scc(self, *, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``scc`` will need: memory and bytes of lists read.

        Args:
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``scc`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def cdlp(self, *, iterations: int | None = None, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``cdlp`` will need: memory and bytes of lists read.

        Args:
            iterations: Number of iterations [default: 10].
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``cdlp`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def triangles(self, *, method: str | None = None, samples: int | None = None, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``triangles`` will need: memory and bytes of lists read.

        Args:
            method: lists, on a copy by degree if that pays; filter: a bit an edge and no copy, of undirected graphs; sample: an estimate, of undirected graphs [default: lists].
            samples: Pairs of neighbours that method sample draws [default: 100000].
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``triangles`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def lcc(self, *, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``lcc`` will need: memory and bytes of lists read.

        Args:
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``lcc`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def kcore(self, *, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``kcore`` will need: memory and bytes of lists read.

        Args:
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``kcore`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def truss(self, *, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``truss`` will need: memory and bytes of lists read.

        Args:
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``truss`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def cliques(self, *, k: int | None = None, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``cliques`` will need: memory and bytes of lists read.

        Args:
            k: Vertices of a clique [default: 4].
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``cliques`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def densest(self, *, epsilon: float | None = None, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``densest`` will need: memory and bytes of lists read.

        Args:
            epsilon: The density is at least 1 / (2 + 2 epsilon) of the largest [default: 0.001].
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``densest`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def mis(self, *, first: str | None = None, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``mis`` will need: memory and bytes of lists read.

        Args:
            first: Who comes first: degree (the least) or random [default: degree].
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``mis`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def colouring(self, *, first: str | None = None, ties: str | None = None, passes: int | None = None, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``colouring`` will need: memory and bytes of lists read.

        Args:
            first: Who is coloured first: llf (largest log of the degree), lf (largest degree), sl (smallest last), random [default: llf].
            ties: Who of equal degree (llf, lf): random, or number, the first imported [default: random].
            passes: Passes; each after the first begins with the last colours, and may save some [default: 2].
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``colouring`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def matching(self, *, method: str | None = None, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``matching`` will need: memory and bytes of lists read.

        Args:
            method: claims, or priorities: random ones over a filter [default: claims; priorities if deterministic].
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``matching`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def setcover(self, *, epsilon: float | None = None, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``setcover`` will need: memory and bytes of lists read.

        Args:
            epsilon: How far apart gains may be that count as the same; more is faster [default: 0.01].
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``setcover`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def biconnectivity(self, *, bridges: bool = False, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``biconnectivity`` will need: memory and bytes of lists read.

        Args:
            bridges: Answer with the bridges instead of the vertices.
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``biconnectivity`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def forest(self, *, method: str | None = None, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``forest`` will need: memory and bytes of lists read.

        Args:
            method: union-find, or search: a breadth-first one of each component [default: union-find; search if deterministic].
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``forest`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def msf(self, *, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``msf`` will need: memory and bytes of lists read.

        Args:
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``msf`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def spanner(self, *, k: int | None = None, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``spanner`` will need: memory and bytes of lists read.

        Args:
            k: Distances grow by O(k), edges are about n^(1 + 1/k) [default: the logarithm of the number of vertices].
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``spanner`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """

    def ldd(self, *, beta: float | None = None, threads: int | None = None, deterministic: bool = False) -> Estimate:
        """What ``ldd`` will need: memory and bytes of lists read.

        Args:
            beta: About this part of the edges lies between clusters, whose radius is about log n / beta [default: 0.2].
            threads: Worker threads; one a processor if not given.
            deterministic: The same answer for any number of threads.

        Returns:
            An :class:`esker.Estimate`.

        Method, source, work and memory are in the header of ``ldd`` in
        ``crates/esker-algo/src/algorithm``; ``esker.Graph.estimate`` tells the memory for a graph.
        """
