//! Which vertices and edges are drawn.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use esker_algo::drawing::DrawnGraph;
use esker_graph::{Direction, Run, VertexId, vertex};

use crate::error::{Error, Result};
use crate::local::{Incidence, LocalGraph};

/// All edges from one vertex to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SceneEdge {
    /// Place of the source among the vertices of the scene; of an undirected edge, that of the lesser number.
    pub source: u32,
    /// Place of the target.
    pub target: u32,
    /// The number of edges.
    pub count: u32,
}

/// The vertices and edges that are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scene {
    /// The vertices, without repetition: those asked for first, then by the number of their edges.
    pub vertices: Vec<VertexId>,
    /// The edges among them, by source and target.
    pub edges: Vec<SceneEdge>,
    /// Whether edges have a direction.
    pub is_directed: bool,
    /// The number of vertices that there are in the graph, or so near; of those beyond a distance at which
    /// some are left out, none is counted.
    pub found: usize,
    /// Whether steps ended early, as some vertices were left out: there may be more than were found.
    pub is_cut_short: bool,
    /// Whether an edge from a vertex to itself counts at both its ends.
    pub(super) counts_loops_twice: bool,
}

impl Scene {
    /// The `most` vertices of a graph that have most edges. Conditions leave out vertices without an edge.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none; [`esker_store::Error::Corrupt`]; cancellation.
    pub fn whole(graph: LocalGraph<'_>, most: usize, run: &Run) -> Result<Self> {
        let (version, mut kept, mut found) = (graph.version(), BinaryHeap::new(), 0);
        let removed = version.removed(run)?;
        for v in (0..version.num_vertices()).map(vertex).filter(|&v| !removed.is_removed(v)) {
            if v % (1 << 10) == 0 {
                run.check()?;
            }
            let degree = degree_of(graph, v)?;
            if degree == 0 && graph.has_conditions() {
                continue;
            }
            found += 1;
            kept.push(Reverse((degree, Reverse(v))));
            if kept.len() > most {
                kept.pop();
            }
        }
        let vertices = kept.into_sorted_vec().into_iter().map(|Reverse((_, Reverse(v)))| v).collect();
        Self::of(graph, vertices, found, false, run)
    }

    /// Vertices and what is at most `hops` steps from them, along and against edges: `most` vertices, those
    /// near first, of the others those with most edges. Steps go no further from where some are left out.
    ///
    /// # Errors
    /// As [`Self::whole`]; [`Error::Usage`] if in-edges are not stored, or more vertices are given than are
    /// drawn.
    pub fn around(
        graph: LocalGraph<'_>,
        middle: &[VertexId],
        hops: usize,
        most: usize,
        run: &Run,
    ) -> Result<Self> {
        let directions = Incidence::Both.directions(graph.version())?;
        let (mut vertices, mut met) = (Vec::new(), HashSet::new());
        vertices.extend(middle.iter().copied().filter(|&v| met.insert(v)));
        if vertices.len() > most {
            return Err(Error::usage(format!(
                "{} vertices are asked for, and {most} drawn at most",
                vertices.len()
            )));
        }
        let (mut frontier, mut is_cut_short) = (0..vertices.len(), false);
        for hop in 1..=hops {
            let mut next = Vec::new();
            for &v in &vertices[frontier.clone()] {
                run.check()?;
                for &direction in directions {
                    let edges = graph.edges(direction, v)?;
                    next.extend(edges.targets().iter().copied().filter(|&other| met.insert(other)));
                }
            }
            let room = most - vertices.len();
            frontier = vertices.len()..vertices.len() + next.len().min(room);
            let is_cut = next.len() > room;
            let mut next = next.into_iter().map(|v| Ok((Reverse(degree_of(graph, v)?), v)));
            let mut next: Vec<_> = next.by_ref().collect::<Result<_>>()?;
            next.sort_unstable();
            vertices.extend(next.into_iter().take(room).map(|(_, v)| v));
            if is_cut || frontier.is_empty() {
                is_cut_short = is_cut && hop < hops;
                break;
            }
        }
        Self::of(graph, vertices, met.len(), is_cut_short, run)
    }

    fn of(
        graph: LocalGraph<'_>,
        vertices: Vec<VertexId>,
        found: usize,
        is_cut_short: bool,
        run: &Run,
    ) -> Result<Self> {
        let Some(&first) = vertices.first() else {
            return Err(Error::usage("there is no vertex to draw".to_owned()));
        };
        let is_directed = graph.version().is_directed();
        let counts_loops_twice = is_directed && crate::local::degrees(graph, first)?.1.is_some();
        let places: HashMap<VertexId, u32> = vertices.iter().copied().zip(0..).collect();
        let mut counts = BTreeMap::<(u32, u32), u32>::new();
        for (&v, source) in vertices.iter().zip(0..) {
            run.check()?;
            for &other in graph.edges(Direction::Out, v)?.targets() {
                if let Some(&target) = places.get(&other).filter(|_| is_directed || v <= other) {
                    let count = counts.entry((source, target)).or_default();
                    *count = count.saturating_add(1);
                }
            }
        }
        let edge = |((source, target), count)| SceneEdge { source, target, count };
        let edges = counts.into_iter().map(edge).collect();
        Ok(Self { vertices, edges, is_directed, found, is_cut_short, counts_loops_twice })
    }

    /// What is placed.
    pub(super) fn drawn(&self) -> DrawnGraph {
        let edges = self.edges.iter().map(|edge| (edge.source, edge.target)).collect();
        DrawnGraph { num_vertices: self.vertices.len(), edges }
    }
}

/// The number of edges of a vertex, of both directions if both are stored; an edge from it to itself counts
/// in each.
pub(super) fn degree_of(graph: LocalGraph<'_>, v: VertexId) -> Result<usize> {
    let (out, incoming) = crate::local::degrees(graph, v)?;
    let is_directed = graph.version().is_directed();
    Ok(out + incoming.filter(|_| is_directed).unwrap_or(0))
}
