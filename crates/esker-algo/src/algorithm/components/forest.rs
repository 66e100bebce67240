//! Spanning forest: a cycle-free set of edges of an undirected graph that connects every connected component.
//!
//! By union-find, as `wcc` finds components: the edges whose links united two sets form a spanning forest
//! [1]. Which edges these are depends on timing. A `deterministic` run instead finds the components, then
//! searches them breadth-first from their least vertices with least parents. [`ForestMethod::Search`] does
//! the same with any parents, so its trees are as shallow as possible.
//!
//! State: a union-find parent per vertex. Work: O(n + m) in practice. Memory: one id per vertex, and two ids
//! per edge of the forest, doubled while the workers' lists are joined; by search, five ids per vertex and
//! n/4 bytes. Reads: the first entries of every list, then the lists outside the largest component; a search
//! reads every list once more, a deterministic one twice.
//!
//! [1] L. Dhulipala, C. Hong, J. Shun, "ConnectIt: A Framework for Static and Incremental Parallel Graph
//!     Connectivity Algorithms", VLDB 2020, section 3.

use esker_graph::{Direction, Flow, Graph, NONE, Piece, Run, Select, VertexId, Visitor, Weight, vertex};

use crate::algorithm::components::wcc::{WccOptions, wcc};
use crate::algorithm::paths::bfs::{self, BfsOptions, bfs};
use crate::estimate::{Estimate, Shape};
use crate::primitive::{UnionFind, need_undirected};

/// How a forest is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForestMethod {
    /// By union-find; a deterministic run uses `Search`.
    #[default]
    UnionFind,
    /// By breadth-first searches from the least vertex of each component.
    Search,
}

/// Options of [`forest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForestOptions {
    /// The method.
    pub method: ForestMethod,
    /// Neighbours of each vertex that are linked before the largest component is determined.
    pub sampled_neighbours: usize,
    /// Vertices sampled to find the largest component.
    pub sampled_vertices: usize,
}

impl Default for ForestOptions {
    fn default() -> Self {
        Self { method: ForestMethod::UnionFind, sampled_neighbours: 2, sampled_vertices: 1024 }
    }
}

/// A spanning forest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forest {
    /// The edges. Those found by search are pairs of parent and child, ascending by child.
    pub edges: Vec<(VertexId, VertexId)>,
    /// Number of trees, which are the components of the graph, isolated vertices included.
    pub trees: usize,
    /// The method used.
    pub method: ForestMethod,
}

/// Estimates memory and reads. Reads are an upper bound.
pub fn estimate(shape: Shape, options: &ForestOptions, deterministic: bool) -> Estimate {
    let id_bytes = size_of::<VertexId>() as u64;
    if options.method == ForestMethod::UnionFind && !deterministic {
        let memory_bytes = shape.num_vertices * 5 * id_bytes;
        return Estimate { memory_bytes, read_bytes: shape.list_bytes() };
    }
    let search = bfs::estimate(shape, &BfsOptions { depths: false, ..BfsOptions::default() }, deterministic);
    Estimate {
        memory_bytes: search.memory_bytes + shape.num_vertices * 2 * id_bytes,
        read_bytes: shape.list_bytes() + search.read_bytes,
    }
}

/// Links the ends of edges and collects the edges that united two sets.
struct LinkEdges<'a> {
    sets: &'a UnionFind,
    /// The scan skips vertices whose parent this is.
    skip: VertexId,
    /// Neighbours taken from each piece.
    head: usize,
}

impl<W: Weight> Visitor<W> for LinkEdges<'_> {
    /// The edges that united two sets.
    type State = Vec<(VertexId, VertexId)>;

    fn new_state(&self) -> Self::State {
        Vec::new()
    }

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        self.skip == NONE || self.sets.above(v) != self.skip
    }

    #[inline(always)]
    fn visit(&self, edges: &mut Self::State, v: VertexId, piece: Piece<'_, W>) -> Flow {
        let head = piece.targets.len().min(self.head);
        for &other in &piece.targets[..head] {
            if self.sets.link(v, other) {
                edges.push((v, other));
            }
            self.sets.shorten(v);
        }
        if self.head == usize::MAX { Flow::More } else { Flow::Enough }
    }
}

/// Finds a spanning forest of an undirected graph.
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for a directed graph; [`esker_graph::Stop::OverBudget`]; the first list
/// that cannot be read; cancellation.
pub fn forest<G: Graph>(graph: &G, run: &Run, options: &ForestOptions) -> Result<Forest, G::Error> {
    let needed = estimate(Shape::of(graph), options, run.deterministic()).memory_bytes;
    let run = &run.begin("spanning forest", needed)?;
    need_undirected(graph, "spanning forest")?;
    if options.method == ForestMethod::Search || run.deterministic() {
        search(graph, run, options)
    } else {
        run.install(|| unite(graph, run, options))
    }
}

fn unite<G: Graph>(graph: &G, run: &Run, options: &ForestOptions) -> Result<Forest, G::Error> {
    let n = graph.num_vertices();
    let sets = UnionFind::new(run, n);
    run.round(n)?;
    let sample = LinkEdges { sets: &sets, skip: NONE, head: options.sampled_neighbours };
    let mut found = graph.scan(run, Direction::Out, Select::All, &sample)?;
    sets.flatten(run)?;
    run.round(n)?;
    // The scan meets an edge that leaves the largest component from its other end.
    let skip = sets.frequent_root(options.sampled_vertices);
    let rest = LinkEdges { sets: &sets, skip, head: usize::MAX };
    found.extend(graph.scan(run, Direction::Out, Select::All, &rest)?);
    drop(sets);
    let mut edges = Vec::with_capacity(found.iter().map(Vec::len).sum());
    found.into_iter().for_each(|part| edges.extend(part));
    Ok(Forest { trees: n - edges.len(), edges, method: ForestMethod::UnionFind })
}

fn search<G: Graph>(graph: &G, run: &Run, options: &ForestOptions) -> Result<Forest, G::Error> {
    let sampling = WccOptions {
        sampled_neighbours: options.sampled_neighbours,
        sampled_vertices: options.sampled_vertices,
        ..WccOptions::default()
    };
    let found = wcc(graph, run, &sampling)?;
    let is_root = |&(v, label): &(usize, &VertexId)| v == *label as usize;
    let roots: Vec<_> = found.labels.iter().enumerate().filter(is_root).map(|(v, _)| vertex(v)).collect();
    drop(found.labels);
    let parents = bfs(graph, run, &roots, &BfsOptions { depths: false, ..BfsOptions::default() })?.parents;
    let mut edges = Vec::with_capacity(parents.len() - found.components);
    let arcs = parents.into_iter().enumerate().map(|(v, parent)| (parent, vertex(v)));
    edges.extend(arcs.filter(|(parent, v)| parent != v));
    Ok(Forest { edges, trees: found.components, method: ForestMethod::Search })
}
