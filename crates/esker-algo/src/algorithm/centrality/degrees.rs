//! Degrees: the number of edges that leave each vertex, that come to it, or both.
//!
//! Reads what the graph knows of the lengths of its lists, and no list. Parallel edges count each. A
//! self-loop of an undirected graph counts once; of a directed one, once in each direction.
//!
//! Work: O(n). Memory: 8 bytes a vertex. Reads: no list.

use esker_graph::{Direction, Graph, Run, vertex};
use rayon::prelude::*;

use crate::estimate::{Estimate, Shape};
use crate::primitive::need_in_edges;

/// Which edges of a directed graph count. An undirected graph has one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DegreeOf {
    /// Those that leave the vertex.
    #[default]
    Out,
    /// Those that come to it.
    In,
    /// All.
    Both,
}

impl DegreeOf {
    /// The directions of the lists whose lengths add up to the degree.
    pub fn directions(self, is_directed: bool) -> &'static [Direction] {
        match self {
            Self::In if is_directed => &[Direction::In],
            Self::Both if is_directed => &[Direction::Out, Direction::In],
            _ => &[Direction::Out],
        }
    }
}

/// The degrees of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VertexDegrees {
    /// The degree of each vertex.
    pub degrees: Vec<u64>,
    /// The largest degree; 0 without vertices.
    pub largest: u64,
}

/// Vertices in one unit of work.
const GRAIN: usize = 1 << 13;

/// Estimates memory and reads; both are exact.
pub fn estimate(shape: Shape) -> Estimate {
    Estimate { memory_bytes: shape.num_vertices * size_of::<u64>() as u64, read_bytes: 0 }
}

/// Finds the degree of every vertex.
///
/// # Errors
/// [`esker_graph::Stop::Unsuitable`] for edges that come to vertices of a directed graph stored without
/// in-edges; [`esker_graph::Stop::OverBudget`]; cancellation.
pub fn degrees<G: Graph>(graph: &G, run: &Run, of: DegreeOf) -> Result<VertexDegrees, G::Error> {
    let run = &run.begin("degrees", estimate(Shape::of(graph)).memory_bytes)?;
    let directions = of.directions(graph.is_directed());
    if directions.contains(&Direction::In) {
        need_in_edges(graph, "degrees of direction in or both")?;
    }
    run.round(graph.num_vertices())?;
    let mut degrees = vec![0; graph.num_vertices()];
    let largest = run.install(|| {
        let units = degrees.par_chunks_mut(GRAIN).enumerate().map(|(unit, degrees)| {
            run.check()?;
            let mut largest = 0;
            for (v, degree) in (unit * GRAIN..).map(vertex).zip(degrees) {
                *degree = directions.iter().map(|&direction| graph.degree(direction, v) as u64).sum();
                largest = largest.max(*degree);
            }
            Ok::<_, esker_graph::Stop>(largest)
        });
        units.try_reduce(|| 0, |a, b| Ok(a.max(b)))
    })?;
    Ok(VertexDegrees { degrees, largest })
}
