//! Weakly connected components: for every vertex the smallest vertex of its component.
//!
//! Afforest [1]: a union-find forest in which every vertex points at a lower one of its component. First each vertex is
//! linked to a few neighbours only, which in most graphs already makes the largest component nearly whole; what a
//! sample of the vertices says is the largest is then left out, and the lists of all other vertices are linked in full.
//! An edge that leaves the largest component is met from its other end; where that is not possible, in a directed
//! graph kept without in-edges, nothing is left out. Roots are always the lowest vertex, so the answer is the
//! same for any number of threads.
//!
//! Work O(n + m) in practice (links take O(log n) steps at worst). Memory: one id a vertex. Reads: the head of every
//! list; then the lists outside the largest component, in both directions if directed.
//!
//! [1] M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling",
//!     IPDPS 2018.

use esker_graph::{Direction, Flow, Graph, NONE, Piece, Run, Select, VertexId, Visitor, Weight, vertex};

use crate::estimate::{Estimate, Shape};
use crate::primitive::{VertexArray, each_vertex, vertex_count};

/// How components are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WccOptions {
    /// Neighbours of each vertex to which it is linked before the largest component is sought.
    pub sampled_neighbours: usize,
    /// Vertices looked at to find the largest component.
    pub sampled_vertices: usize,
}

impl Default for WccOptions {
    fn default() -> Self {
        Self { sampled_neighbours: 2, sampled_vertices: 1024 }
    }
}

/// The weakly connected components of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wcc {
    /// For each vertex the smallest vertex of its component.
    pub labels: Vec<VertexId>,
    /// Number of components.
    pub components: usize,
}

/// What finding components will take; the reading is an upper bound.
pub fn estimate(shape: Shape) -> Estimate {
    let directions = if shape.directed && shape.in_edges { 2 } else { 1 };
    Estimate {
        memory_bytes: shape.num_vertices * size_of::<VertexId>() as u64,
        read_bytes: shape.list_bytes() * directions,
    }
}

/// Finds the components.
///
/// # Errors
/// [`esker_graph::Stop::OverBudget`]; the first list that cannot be read; cancellation.
pub fn wcc<G: Graph>(graph: &G, run: &Run, options: &WccOptions) -> Result<Wcc, G::Error> {
    run.begin("weakly connected components", estimate(Shape::of(graph)).memory_bytes)?;
    run.install(|| unite(graph, run, options))
}

fn unite<G: Graph>(graph: &G, run: &Run, options: &WccOptions) -> Result<Wcc, G::Error> {
    let n = graph.num_vertices();
    let forest = Forest(VertexArray::from_fn(run, n, vertex));
    run.round(n)?;
    let sample = Link { forest: &forest, skip: NONE, head: options.sampled_neighbours };
    graph.scan(run, Direction::Out, Select::All, &sample)?;
    forest.flatten(run)?;
    run.round(n)?;
    let all_seen_from_elsewhere = graph.has(Direction::In);
    let skip = if all_seen_from_elsewhere { forest.frequent_root(options.sampled_vertices) } else { NONE };
    let rest = Link { forest: &forest, skip, head: usize::MAX };
    graph.scan(run, Direction::Out, Select::All, &rest)?;
    if graph.is_directed() && all_seen_from_elsewhere {
        graph.scan(run, Direction::In, Select::All, &rest)?;
    }
    forest.flatten(run)?;
    let components = vertex_count(run, n, |v| forest.0.get(v) == v)?;
    Ok(Wcc { labels: forest.0.into_vec(), components })
}

/// Each vertex points at itself or at a lower vertex of its component.
struct Forest(VertexArray);

impl Forest {
    /// Unites the trees of `u` and `v`: the higher root comes to point at the lower.
    #[inline(always)]
    fn link(&self, u: VertexId, v: VertexId) {
        let (mut p, mut q) = (self.0.get(u), self.0.get(v));
        while p != q {
            let (high, low) = if p > q { (p, q) } else { (q, p) };
            let above = self.0.get(high);
            if above == low || above == high && self.0.claim(high, high, low) {
                break;
            }
            p = self.0.get(above);
            q = self.0.get(low);
        }
    }

    /// Makes `v`, unless it is a root, point at the vertex above the one that it points at: the next links find short ways.
    #[inline(always)]
    fn shorten(&self, v: VertexId) {
        let above = self.0.get(v);
        // A root must be left alone: another thread may be about to link it.
        if above != v {
            self.0.set(v, self.0.get(above));
        }
    }

    /// Makes every vertex point at its root.
    fn flatten(&self, run: &Run) -> Result<(), esker_graph::Stop> {
        each_vertex(run, self.0.len(), |v| {
            let first = self.0.get(v);
            let mut root = first;
            loop {
                let above = self.0.get(root);
                if above == root {
                    break;
                }
                root = above;
            }
            if root != first {
                self.0.set(v, root);
            }
        })
    }

    /// The root of most of `count` vertices evenly spread; [`NONE`] in an empty forest.
    fn frequent_root(&self, count: usize) -> VertexId {
        let n = self.0.len();
        let mut roots: Vec<_> = (0..count.min(n))
            .map(|i| self.0.get(vertex((i as u128 * n as u128 / count.min(n) as u128) as usize)))
            .collect();
        roots.sort_unstable();
        let most = roots.chunk_by(|a, b| a == b).max_by_key(|same| same.len());
        most.map_or(NONE, |same| same[0])
    }
}

struct Link<'a> {
    forest: &'a Forest,
    /// Lists of vertices that point here are left out.
    skip: VertexId,
    /// Neighbours taken of each piece.
    head: usize,
}

impl<W: Weight> Visitor<W> for Link<'_> {
    type State = ();

    fn new_state(&self) {}

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.skip == NONE || self.forest.0.get(v) != self.skip
    }

    #[inline(always)]
    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, W>) -> Flow {
        let head = piece.targets.len().min(self.head);
        for &other in &piece.targets[..head] {
            self.forest.link(v, other);
            self.forest.shorten(v);
        }
        if self.head == usize::MAX { Flow::More } else { Flow::Enough }
    }
}
