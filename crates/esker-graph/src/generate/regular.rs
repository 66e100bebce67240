//! Paths, stars and complete graphs, which have no randomness.

use crate::stop::Stop;

use super::limits;
use super::stream::GeneratedEdges;
use super::uniform::{checked_vertices, num_pairs, pair};

/// A path: the edges `0 - 1`, `1 - 2` and so on.
#[derive(Debug)]
pub(super) struct PathGraph(u64);

impl PathGraph {
    pub(super) fn new(num_vertices: u64) -> Result<Self, Stop> {
        Ok(Self(limits::vertices(num_vertices.into())?))
    }
}

impl GeneratedEdges for PathGraph {
    fn num_vertices(&self) -> u64 {
        self.0
    }

    fn num_edges(&self) -> u64 {
        self.0.saturating_sub(1)
    }

    fn edge(&self, slot: u64) -> Option<(u64, u64)> {
        Some((slot, slot + 1))
    }
}

/// A star: edges from vertex 0 to all others.
#[derive(Debug)]
pub(super) struct Star(u64);

impl Star {
    pub(super) fn new(num_vertices: u64) -> Result<Self, Stop> {
        Ok(Self(limits::vertices(num_vertices.into())?))
    }
}

impl GeneratedEdges for Star {
    fn num_vertices(&self) -> u64 {
        self.0
    }

    fn num_edges(&self) -> u64 {
        self.0.saturating_sub(1)
    }

    fn edge(&self, slot: u64) -> Option<(u64, u64)> {
        Some((0, slot + 1))
    }
}

/// A complete graph: an edge between every two vertices.
#[derive(Debug)]
pub(super) struct Complete {
    num_vertices: u64,
    num_edges: u64,
}

impl Complete {
    pub(super) fn new(num_vertices: u64) -> Result<Self, Stop> {
        let num_vertices = checked_vertices(num_vertices)?;
        Ok(Self { num_vertices, num_edges: limits::edges(num_pairs(num_vertices))? })
    }
}

impl GeneratedEdges for Complete {
    fn num_vertices(&self) -> u64 {
        self.num_vertices
    }

    fn num_edges(&self) -> u64 {
        self.num_edges
    }

    fn edge(&self, slot: u64) -> Option<(u64, u64)> {
        Some(pair(self.num_vertices, slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(stream: &impl GeneratedEdges) -> Vec<(u64, u64)> {
        (0..stream.num_slots()).filter_map(|slot| stream.edge(slot)).collect()
    }

    #[test]
    fn small_graphs_have_the_expected_edges() {
        assert_eq!(all(&PathGraph::new(4).unwrap()), [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(all(&Star::new(4).unwrap()), [(0, 1), (0, 2), (0, 3)]);
        assert_eq!(all(&Complete::new(4).unwrap()), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
        for n in [0, 1] {
            assert_eq!(all(&PathGraph::new(n).unwrap()), []);
            assert_eq!(all(&Star::new(n).unwrap()), []);
            assert_eq!(all(&Complete::new(n).unwrap()), []);
        }
    }
}
