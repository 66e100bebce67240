//! Maximum matching of a bipartite graph: as many edges as can be of which no two share an end.
//!
//! Searches from the least vertex of each component colour the vertices by the parity of their distance:
//! those are the two sides. An edge within a side closes an odd cycle; then there is no answer but the least
//! such edge.
//!
//! A greedy matching comes first, vertices of small degree before others. Then phases [1]: a search from all
//! free vertices of the left side, along an edge to the right and back along an edge of the matching, divides
//! the left side into layers, up to the first from which a free vertex on the right is reached. A search in
//! depth over the layers finds paths to such vertices that share no vertex, as many as it can, and each
//! exchanges the edges of its path. The lengths of shortest paths grow from phase to phase, so there are
//! O(sqrt(n)) of them. Where a search reaches no free vertex, the matching is maximum: the vertices on the
//! right that it reached, and those on the left that it did not, cover all edges, and each has a mate among
//! the others, so that no cover is smaller and no matching larger [2]. They are handed out as its proof.
//!
//! One thread searches, and takes lists in their order, so the answer never depends on threads. Work: O(m
//! sqrt(n)). Memory: O(n) words: 4 ids and 11 bytes a vertex. Reads: every list twice for the sides,
//! then in each phase the lists of the left side that lie in its layers, some of them again for each 64
//! neighbours.
//!
//! [1] J. Hopcroft, R. Karp, "An n^(5/2) Algorithm for Maximum Matchings in Bipartite Graphs", SIAM J.
//!     Comput. 2(4), 1973.
//! [2] D. König, "Gráfok és mátrixok", Matematikai és Fizikai Lapok 38, 1931.

use esker_graph::{Direction, Lists, NONE, Run, VertexId, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::need_undirected;

/// Vertices that threads take at once.
const GRAIN: usize = 1 << 8;
/// Lists between two checks for cancellation.
const UNCHECKED: usize = 1 << 10;
/// The greatest degrees of the vertices that choose, in turn.
const CLASSES: [usize; 3] = [1, 4, usize::MAX];
/// The most neighbours that a search takes out of a list at once.
const CANDIDATES: usize = 64;

/// A maximum matching, and its proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BipartiteMatching {
    /// The matched neighbour of each vertex; [`NONE`] if it is free.
    pub mates: Vec<VertexId>,
    /// Number of edges.
    pub edges: usize,
    /// Whether each vertex is on the right side. The least vertex of each component is on the left.
    pub right: Vec<bool>,
    /// A vertex cover with as many vertices as the matching has edges, so that both are best.
    pub cover: Vec<bool>,
    /// Number of phases.
    pub phases: usize,
}

/// Whether a graph is bipartite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bipartite {
    /// It is, and this is its maximum matching.
    Matched(BipartiteMatching),
    /// It is not: this edge, the least of those that are, lies on an odd cycle within one colour of all
    /// searches.
    OddEdge(VertexId, VertexId),
}

/// Estimates memory, an upper bound, and reads of the sides and two phases.
pub fn estimate(shape: Shape) -> Estimate {
    let (n, id) = (shape.num_vertices, size_of::<VertexId>() as u64);
    Estimate { memory_bytes: n * (4 * id + 11) + 64, read_bytes: 4 * shape.list_bytes() }
}

/// Finds a maximum matching of an undirected graph, if it is bipartite.
///
/// ```
/// use esker_algo::algorithm::sets::hopcroft_karp::{Bipartite, hopcroft_karp};
/// use esker_graph::{Csr, Run};
///
/// let run = Run::with_threads(2)?;
/// let path = Csr::undirected(4, &[(2, 0, ()), (0, 1, ()), (1, 3, ())])?;
/// let Bipartite::Matched(found) = hopcroft_karp(&path.graph(), &run)? else { panic!() };
/// assert_eq!((found.edges, found.mates), (2, vec![2, 3, 0, 1]));
/// let triangle = Csr::undirected(3, &[(0, 1, ()), (1, 2, ()), (2, 0, ())])?;
/// assert_eq!(hopcroft_karp(&triangle.graph(), &run)?, Bipartite::OddEdge(1, 2));
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a directed graph; [`esker_graph::Stop::OverBudget`]; the first list
/// that cannot be read; cancellation.
pub fn hopcroft_karp<G: Lists>(graph: &G, run: &Run) -> Result<Bipartite, G::Error> {
    let run = &run.begin("hopcroft-karp", estimate(Shape::of(graph)).memory_bytes)?;
    need_undirected(graph, "a bipartite matching")?;
    let right = sides(graph, run)?;
    if let Some((u, v)) = odd_edge(graph, run, &right)? {
        return Ok(Bipartite::OddEdge(u, v));
    }
    let mut matcher = BipartiteMatcher::new(graph, run, right);
    matcher.match_greedily()?;
    let mut phases = 1;
    while matcher.layer()? {
        matcher.augment()?;
        phases += 1;
    }
    Ok(Bipartite::Matched(matcher.finish(phases)))
}

/// Whether each vertex has an odd distance from the least vertex of its component.
fn sides<G: Lists>(graph: &G, run: &Run) -> Result<Vec<bool>, G::Error> {
    let n = graph.num_vertices();
    run.round(n)?;
    let (mut right, mut is_seen, mut queue) = (vec![false; n], vec![false; n], Vec::new());
    for source in (0..n).map(vertex) {
        if (source as usize).is_multiple_of(UNCHECKED) {
            run.check()?;
        }
        if is_seen[source as usize] {
            continue;
        }
        is_seen[source as usize] = true;
        queue.clear();
        queue.push(source);
        let mut at = 0;
        while let Some(&u) = queue.get(at) {
            at += 1;
            if at.is_multiple_of(UNCHECKED) {
                run.check()?;
            }
            let other = !right[u as usize];
            graph.with_list(Direction::Out, u, |list, _| {
                for &v in list {
                    if !is_seen[v as usize] {
                        (is_seen[v as usize], right[v as usize]) = (true, other);
                        queue.push(v);
                    }
                }
            })?;
        }
    }
    Ok(right)
}

/// The least edge within a side.
fn odd_edge<G: Lists>(
    graph: &G,
    run: &Run,
    right: &[bool],
) -> Result<Option<(VertexId, VertexId)>, G::Error> {
    run.round(graph.num_vertices())?;
    let found = run.share_ranges(
        graph.num_vertices(),
        GRAIN,
        || None::<(VertexId, VertexId)>,
        |least, range| {
            for u in range.map(vertex) {
                if least.is_some_and(|(least, _)| least < u) {
                    continue;
                }
                let side = right[u as usize];
                let within = graph.with_list(Direction::Out, u, |list, _| {
                    list.iter().copied().find(|&v| right[v as usize] == side)
                })?;
                *least = within.map(|v| (u, v)).or(*least);
            }
            Ok::<(), G::Error>(())
        },
    )?;
    Ok(found.into_iter().flatten().min())
}

/// A vertex on the path of a search.
struct PathVertex {
    left: VertexId,
    /// Where its neighbours among the candidates begin.
    first: VertexId,
    /// How much of its list was looked at.
    looked: usize,
}

/// A matching that grows.
struct BipartiteMatcher<'a, G> {
    graph: &'a G,
    run: &'a Run,
    right: Vec<bool>,
    mates: Vec<VertexId>,
    /// The layer of each vertex on the left; [`NONE`] for one that no search reached, or that a path of this
    /// phase passes or cannot pass.
    layers: Vec<VertexId>,
    /// The last layer: its vertices have free neighbours.
    last: VertexId,
    /// The vertices on the left in the order of their layers.
    queue: Vec<VertexId>,
    path: Vec<PathVertex>,
    /// Neighbours of the vertices of the path that may be next, each list in reverse.
    candidates: Vec<VertexId>,
    lists_read: usize,
}

impl<'a, G: Lists> BipartiteMatcher<'a, G> {
    fn new(graph: &'a G, run: &'a Run, right: Vec<bool>) -> Self {
        let n = right.len();
        let left = right.iter().filter(|&&right| !right).count();
        Self {
            graph,
            run,
            right,
            mates: vec![NONE; n],
            layers: vec![NONE; n],
            last: NONE,
            queue: Vec::with_capacity(left),
            path: Vec::with_capacity(n / 2 + 1),
            candidates: Vec::with_capacity(n + 1),
            lists_read: 0,
        }
    }

    /// Obeys cancellation now and then.
    fn check(&mut self) -> Result<(), G::Error> {
        self.lists_read += 1;
        if self.lists_read.is_multiple_of(UNCHECKED) {
            self.run.check()?;
        }
        Ok(())
    }

    /// Matches each vertex on the left with its first free neighbour, those of small degree first.
    fn match_greedily(&mut self) -> Result<(), G::Error> {
        let n = self.right.len();
        for (class, &degree_max) in CLASSES.iter().enumerate() {
            self.run.round(n)?;
            let degree_min = if class == 0 { 1 } else { CLASSES[class - 1] + 1 };
            for u in (0..n).map(vertex) {
                let degree = self.graph.degree(Direction::Out, u);
                if self.right[u as usize] || !(degree_min..=degree_max).contains(&degree) {
                    continue;
                }
                self.check()?;
                let mates = &self.mates;
                let free = self.graph.with_list(Direction::Out, u, |list, _| {
                    list.iter().copied().find(|&v| mates[v as usize] == NONE)
                })?;
                if let Some(v) = free {
                    (self.mates[u as usize], self.mates[v as usize]) = (v, u);
                }
            }
        }
        Ok(())
    }

    /// Divides the left side into layers. Returns whether a free vertex on the right was reached.
    fn layer(&mut self) -> Result<bool, G::Error> {
        let n = self.right.len();
        self.layers.fill(NONE);
        self.queue.clear();
        for u in (0..n).map(vertex) {
            let is_free = !self.right[u as usize] && self.mates[u as usize] == NONE;
            if is_free && self.graph.degree(Direction::Out, u) > 0 {
                self.layers[u as usize] = 0;
                self.queue.push(u);
            }
        }
        self.run.round(self.queue.len())?;
        let mut at = 0;
        while let Some(&u) = self.queue.get(at) {
            at += 1;
            self.check()?;
            let Self { graph, mates, layers, queue, .. } = self;
            let layer = layers[u as usize];
            let reached = graph.with_list(Direction::Out, u, |list, _| {
                for &v in list {
                    let next = mates[v as usize];
                    if next == NONE {
                        return true;
                    }
                    if layers[next as usize] == NONE {
                        layers[next as usize] = layer + 1;
                        queue.push(next);
                    }
                }
                false
            })?;
            if reached {
                self.last = layer;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Exchanges the edges of paths through the layers that share no vertex, until there are no more.
    fn augment(&mut self) -> Result<(), G::Error> {
        let free = self.queue.iter().take_while(|&&u| self.layers[u as usize] == 0).count();
        self.run.round(free)?;
        for root in 0..free {
            self.augment_from(self.queue[root])?;
        }
        Ok(())
    }

    /// The same for a path that begins at a vertex.
    fn augment_from(&mut self, root: VertexId) -> Result<(), G::Error> {
        self.path.clear();
        self.candidates.clear();
        self.path.push(PathVertex { left: root, looked: 0, first: 0 });
        while let Some(&PathVertex { left: u, first, .. }) = self.path.last() {
            if self.candidates.len() == first as usize && !self.look_further()? {
                // No path goes on from here in this phase.
                self.layers[u as usize] = NONE;
                self.path.pop();
                continue;
            }
            let Some(v) = self.candidates.pop() else { continue };
            let next = self.mates[v as usize];
            if next == NONE {
                self.exchange(v);
                return Ok(());
            }
            if self.leads_on(u, v) {
                let first = vertex(self.candidates.len());
                self.path.push(PathVertex { left: next, looked: 0, first });
            }
        }
        Ok(())
    }

    /// Whether a path goes from `u` over `v`: to its mate in the next layer, or to its end in the last one.
    fn leads_on(&self, u: VertexId, v: VertexId) -> bool {
        let (layer, next) = (self.layers[u as usize], self.mates[v as usize]);
        match next {
            NONE => layer == self.last,
            next => layer < self.last && self.layers[next as usize] == layer + 1,
        }
    }

    /// Takes more neighbours of the last vertex of the path as candidates. Returns whether there are any.
    fn look_further(&mut self) -> Result<bool, G::Error> {
        self.check()?;
        let Some(&PathVertex { left: u, looked, first }) = self.path.last() else { return Ok(false) };
        let first = first as usize;
        // All of them together take no more than an id a vertex.
        let room = (self.right.len() / 2).saturating_sub(first).clamp(1, CANDIDATES);
        let mut candidates = std::mem::take(&mut self.candidates);
        let looked = self.graph.with_list(Direction::Out, u, |list, _| {
            let mut at = looked.min(list.len());
            while at < list.len() && candidates.len() < first + room {
                if self.leads_on(u, list[at]) {
                    candidates.push(list[at]);
                }
                at += 1;
            }
            at
        })?;
        candidates[first..].reverse();
        self.candidates = candidates;
        if let Some(end) = self.path.last_mut() {
            end.looked = looked;
        }
        Ok(self.candidates.len() > first)
    }

    /// Matches the vertices of the path with the next ones, and the last of it with `end`.
    fn exchange(&mut self, end: VertexId) {
        let mut v = end;
        while let Some(PathVertex { left: u, .. }) = self.path.pop() {
            let before = self.mates[u as usize];
            (self.mates[u as usize], self.mates[v as usize]) = (v, u);
            self.layers[u as usize] = NONE;
            v = before;
        }
    }

    /// The matching after a search that reached no free vertex.
    fn finish(self, phases: usize) -> BipartiteMatching {
        let Self { right, mates, layers, .. } = self;
        let cover = |(v, &mate): (usize, &VertexId)| {
            let is_reached = |u: VertexId| layers[u as usize] != NONE;
            mate != NONE && if right[v] { is_reached(mate) } else { !is_reached(vertex(v)) }
        };
        let cover: Vec<bool> = mates.iter().enumerate().map(cover).collect();
        let edges = mates.iter().filter(|&&mate| mate != NONE).count() / 2;
        BipartiteMatching { mates, edges, right, cover, phases }
    }
}
