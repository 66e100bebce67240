//! What is drawn: the vertices and edges of a part of a graph.

use esker_graph::Stop;

/// A place on the plane: x to the right, y down.
pub type Place = [f64; 2];

/// The part of a graph that is drawn.
#[derive(Debug, Clone, Default)]
pub struct DrawnGraph {
    /// The number of vertices.
    pub num_vertices: usize,
    /// The two ends of each edge; loops and parallel edges may be among them.
    pub edges: Vec<(u32, u32)>,
}

impl DrawnGraph {
    /// Refuses more vertices than places have numbers for, and edges of other vertices.
    pub(super) fn check(&self) -> Result<(), Stop> {
        if self.num_vertices >= u32::MAX as usize {
            return Err(Stop::unsuitable("a drawing has fewer than 4 thousand million vertices".to_owned()));
        }
        let outside = |&&(u, v): &&(u32, u32)| u.max(v) as usize >= self.num_vertices;
        match self.edges.iter().find(outside) {
            Some((u, v)) => Err(Stop::unsuitable(format!(
                "the edge {u} {v} has an end that is none of the {} vertices of the drawing",
                self.num_vertices
            ))),
            None => Ok(()),
        }
    }
}

/// The neighbours of each vertex: lists one after another, and where each begins.
pub(super) struct Neighbours {
    starts: Vec<u32>,
    pub(super) targets: Vec<u32>,
}

impl Neighbours {
    /// Along the edges, or against them as well: then without loops, and each neighbour once.
    pub(super) fn of(graph: &DrawnGraph, both_ways: bool) -> Self {
        let mut arcs: Vec<(u32, u32)> = graph.edges.clone();
        if both_ways {
            arcs.extend(graph.edges.iter().map(|&(u, v)| (v, u)));
        }
        arcs.retain(|(u, v)| u != v);
        arcs.sort_unstable();
        arcs.dedup();
        let mut starts = vec![0_u32; graph.num_vertices + 1];
        for &(u, _) in &arcs {
            starts[u as usize + 1] += 1;
        }
        for v in 0..graph.num_vertices {
            starts[v + 1] += starts[v];
        }
        Self { starts, targets: arcs.into_iter().map(|(_, v)| v).collect() }
    }

    pub(super) fn of_vertex(&self, v: usize) -> &[u32] {
        &self.targets[self.starts[v] as usize..self.starts[v + 1] as usize]
    }
}
