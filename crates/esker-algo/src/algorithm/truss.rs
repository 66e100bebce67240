//! Truss decomposition: for each edge the largest `k` so that it belongs to a `k`-truss, a part of the graph in which every
//! edge is in at least `k` - 2 triangles.
//!
//! Of the undirected simple graph that underlies a graph; an edge in no triangle has 2. The number of triangles of each
//! edge (its support) is counted on lists of earlier neighbours in order of descending degree, as in `triangles`; then
//! edges are peeled off, those of the least support first, all of one support in parallel rounds [1]: an edge that goes
//! takes one from the support of the other two of each of its triangles. Of two edges of a triangle that go at once, the
//! one with the lesser number does so.
//!
//! Outside the semi-asymmetric model: the answer alone takes three ids an edge. Work O(m^1.5 log n). Memory: 13 ids and a byte
//! an edge, 24 bytes and six ids a vertex, and an id a vertex and thread. Reads: every list twice. The answer never
//! depends on threads.
//!
//! [1] H. Kabir, K. Madduri, "Shared-Memory Graph Truss Decomposition", HiPC 2017.

use esker_graph::{Bitmap, Direction, Lists, NONE, Run, Stop, VertexId, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{Earlier, Orientation, Oriented, VertexArray};

/// A truss decomposition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truss {
    /// The edges of the simple graph, each once.
    pub edges: Vec<(VertexId, VertexId)>,
    /// For each of them the largest `k` of a truss that it belongs to.
    pub trussness: Vec<VertexId>,
    /// The largest of these; 0 without edges.
    pub largest: VertexId,
    /// Triangles of the graph.
    pub triangles: u64,
    /// Rounds of peeling.
    pub rounds: usize,
}

/// What a decomposition will take on `threads` threads; upper bounds.
pub fn estimate(shape: Shape, threads: usize) -> Estimate {
    let id = size_of::<VertexId>() as u64;
    let (n, edges) = (shape.num_vertices, if shape.directed { shape.num_arcs } else { shape.num_arcs / 2 });
    let orientation = Orientation { by_degree: true, mutual: false };
    let copy = Oriented::<Stop>::memory_bytes(n, shape.num_arcs, shape.directed, orientation);
    Estimate {
        memory_bytes: copy + edges * (12 * id + 1) + n * (8 + 2 * id) + threads as u64 * n * id,
        read_bytes: shape.list_bytes() * if shape.directed { 4 } else { 2 },
    }
}

/// Finds the trussness of every edge.
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed graph without in-edges, or for 2^32 edges or more unless ids are of 64 bits;
/// [`Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn truss<G: Lists>(graph: &G, run: &Run) -> Result<Truss, G::Error> {
    if !graph.has(Direction::In) {
        let what = "trusses of a directed graph need its in-edges: import it with them, or as undirected";
        return Err(Stop::Unsuitable(what.to_owned()).into());
    }
    if graph.num_arcs() / 2 >= u64::from(NONE) {
        return Err(Stop::Unsuitable("trusses of so many edges need ids of 64 bits".to_owned()).into());
    }
    run.begin("truss decomposition", estimate(Shape::of(graph), run.threads()).memory_bytes)?;
    run.round(graph.num_vertices())?;
    let lists = Oriented::new(graph, run, Orientation { by_degree: true, mutual: false })?;
    let mut edges = Edges::new(&lists)?;
    let support = edges.support(&lists, run)?;
    let triangles = support.iter().map(|count| count as u64).sum::<u64>() / 3;
    let name = |v| lists.original(v);
    let named: Vec<_> = edges.ends.iter().map(|&(u, v)| (name(u), name(v))).collect();
    drop(lists);
    let trussness = edges.peel(run, &support)?;
    let largest = trussness.iter().copied().max().unwrap_or(0);
    Ok(Truss { edges: named, trussness, largest, triangles, rounds: run.rounds() })
}

/// The edges, numbered by their later ends, and the neighbours of every vertex.
struct Edges {
    /// The number of the first edge to an earlier neighbour of each vertex.
    firsts: Vec<VertexId>,
    /// The earlier and the later end of each edge.
    ends: Vec<(VertexId, VertexId)>,
    starts: Vec<u64>,
    lens: Vec<VertexId>,
    /// The neighbours of each vertex, ascending, and the numbers of the edges to them.
    neighbours: Vec<(VertexId, VertexId)>,
}

impl Edges {
    fn new<E: Earlier>(lists: &E) -> Result<Self, E::Error> {
        let n = lists.num_vertices();
        let count = |sum: Result<usize, E::Error>, v| Ok(sum? + lists.with_earlier(v, |list, _| list.len())?);
        let total = (0..n).map(vertex).fold(Ok(0), count)?;
        let (mut firsts, mut ends, mut lens) = (Vec::with_capacity(n), Vec::with_capacity(total), vec![0; n]);
        for v in (0..n).map(vertex) {
            firsts.push(vertex(ends.len()));
            lists.with_earlier(v, |earlier, _| {
                ends.extend(earlier.iter().map(|&u| (u, v)));
                earlier.iter().for_each(|&u| lens[u as usize] += 1);
                lens[v as usize] += vertex(earlier.len());
            })?;
        }
        let mut starts = Vec::with_capacity(n);
        let mut sum = 0u64;
        for len in &mut lens {
            starts.push(sum);
            sum += u64::from(std::mem::take(len));
        }
        let mut neighbours = vec![(0, 0); sum as usize];
        let mut push = |v: VertexId, u: VertexId, edge: usize| {
            neighbours[starts[v as usize] as usize + lens[v as usize] as usize] = (u, vertex(edge));
            lens[v as usize] += 1;
        };
        // In order of their later ends: of each vertex first the earlier neighbours, then the later ones.
        for (edge, &(u, v)) in ends.iter().enumerate() {
            push(v, u, edge);
            push(u, v, edge);
        }
        Ok(Self { firsts, ends, starts, lens, neighbours })
    }

    /// The neighbours of `v` by edges that are left.
    #[inline(always)]
    fn of(&self, v: VertexId) -> &[(VertexId, VertexId)] {
        let start = self.starts[v as usize] as usize;
        &self.neighbours[start..start + self.lens[v as usize] as usize]
    }

    /// Number of triangles of each edge.
    fn support<E: Earlier>(&self, lists: &E, run: &Run) -> Result<VertexArray, E::Error> {
        let n = self.lens.len();
        let support = VertexArray::filled(run, self.ends.len(), 0);
        run.share_ranges(
            n,
            GRAIN,
            || vec![NONE; n],
            |edges: &mut Vec<VertexId>, range| {
                for v in range.map(vertex) {
                    run.check()?;
                    let first = self.firsts[v as usize];
                    let mark = |edges: &mut Vec<VertexId>, on: bool| {
                        lists.with_earlier(v, |earlier, _| {
                            for (i, &u) in earlier.iter().enumerate() {
                                edges[u as usize] = if on { first + vertex(i) } else { NONE };
                            }
                            earlier.len()
                        })
                    };
                    let len = mark(edges, true)?;
                    for i in 0..len {
                        let edge = first as usize + i;
                        let u = self.ends[edge].0;
                        let other = self.firsts[u as usize];
                        let found = lists.with_earlier(u, |earlier, _| {
                            let mut found = 0;
                            for (k, &w) in earlier.iter().enumerate() {
                                if edges[w as usize] != NONE {
                                    support.add(edges[w as usize], 1);
                                    support.add(other + vertex(k), 1);
                                    found += 1;
                                }
                            }
                            found
                        })?;
                        support.add(vertex(edge), found);
                    }
                    mark(edges, false)?;
                }
                Ok::<(), E::Error>(())
            },
        )?;
        Ok(support)
    }

    /// Takes edges away by ascending support; returns the trussness of each.
    fn peel(&mut self, run: &Run, support: &VertexArray) -> Result<Vec<VertexId>, Stop> {
        let m = self.ends.len();
        let gone = Bitmap::new(m);
        let current = Bitmap::new(m);
        let mut alive: Vec<VertexId> = (0..m).map(vertex).collect();
        let mut listed = m;
        while let Some(level) = alive.iter().map(|&edge| support.get(edge)).min() {
            let mut going: Vec<VertexId> =
                alive.iter().copied().filter(|&edge| support.get(edge) == level).collect();
            while !going.is_empty() {
                run.round(going.len())?;
                going.iter().for_each(|&edge| current.insert_alone(edge));
                let peel = Peel { edges: self, support, gone: &gone, current: &current, level };
                let next = run.share(going.len().div_ceil(UNIT), Vec::new, |next, unit| {
                    run.check()?;
                    let part = &going[unit * UNIT..going.len().min((unit + 1) * UNIT)];
                    part.iter().for_each(|&edge| peel.remove(edge, next));
                    Ok::<(), Stop>(())
                })?;
                for &edge in &going {
                    gone.insert_alone(edge);
                    current.set_word(edge as usize / 64, 0);
                }
                going = next.concat();
            }
            alive.retain(|&edge| !gone.get(edge));
            if alive.len() < listed / 2 {
                listed = alive.len();
                self.forget(&gone);
            }
        }
        // The support that an edge had when it went.
        Ok(support.iter().map(|level| level + 2).collect())
    }

    /// Takes edges that are gone out of the lists.
    fn forget(&mut self, gone: &Bitmap) {
        for v in 0..self.lens.len() {
            let start = self.starts[v] as usize;
            let mut len = 0;
            for i in start..start + self.lens[v] as usize {
                let entry = self.neighbours[i];
                if !gone.get(entry.1) {
                    self.neighbours[start + len] = entry;
                    len += 1;
                }
            }
            self.lens[v] = vertex(len);
        }
    }
}

/// Vertices that are handed to a worker at a time.
const GRAIN: usize = 64;
/// Edges that are handed to a worker at a time.
const UNIT: usize = 256;
/// How many times longer a list must be for binary searches in it to beat a pass over both.
const SEARCH_RATIO: usize = 8;

/// A round of peeling.
struct Peel<'a> {
    edges: &'a Edges,
    support: &'a VertexArray,
    gone: &'a Bitmap,
    /// Edges that go in this round.
    current: &'a Bitmap,
    level: VertexId,
}

impl Peel<'_> {
    /// Takes the triangles of `edge` from their other edges; those that come down to the level go next.
    fn remove(&self, edge: VertexId, next: &mut Vec<VertexId>) {
        let (u, v) = self.edges.ends[edge as usize];
        let (a, b) = (self.edges.of(u), self.edges.of(v));
        let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
        if short.len() * SEARCH_RATIO < long.len() {
            for &(w, one) in short {
                if let Ok(at) = long.binary_search_by_key(&w, |entry| entry.0) {
                    self.triangle(edge, one, long[at].1, next);
                }
            }
            return;
        }
        let (mut i, mut j) = (0, 0);
        while i < short.len() && j < long.len() {
            let (w, x) = (short[i].0, long[j].0);
            if w == x {
                self.triangle(edge, short[i].1, long[j].1, next);
            }
            i += usize::from(w <= x);
            j += usize::from(x <= w);
        }
    }

    #[inline(always)]
    fn triangle(&self, edge: VertexId, one: VertexId, two: VertexId, next: &mut Vec<VertexId>) {
        if self.gone.get(one) || self.gone.get(two) {
            return;
        }
        match (self.current.get(one), self.current.get(two)) {
            (false, false) => {
                self.lower(one, next);
                self.lower(two, next);
            }
            // Two go: the lesser of them takes the triangle from the third.
            (true, false) if edge < one => self.lower(two, next),
            (false, true) if edge < two => self.lower(one, next),
            _ => {}
        }
    }

    fn lower(&self, edge: VertexId, next: &mut Vec<VertexId>) {
        loop {
            let support = self.support.get(edge);
            if support <= self.level {
                return;
            }
            if self.support.claim(edge, support, support - 1) {
                if support - 1 == self.level {
                    next.push(edge);
                }
                return;
            }
        }
    }
}
