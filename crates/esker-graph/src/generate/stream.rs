//! The interface between a family of graphs and the generator: edges by number.

use std::ops::Range;

/// The edges of a graph, by number. Each number, called a slot, has one edge or, where a regular numbering
/// has gaps, none.
pub(super) trait GeneratedEdges: Send + Sync {
    /// Number of vertices.
    fn num_vertices(&self) -> u64;

    /// Exact number of edges.
    fn num_edges(&self) -> u64;

    /// The number of slots, at least the number of edges.
    fn num_slots(&self) -> u64 {
        self.num_edges()
    }

    /// Whether some slots have no edge.
    fn has_gaps(&self) -> bool {
        self.num_slots() != self.num_edges()
    }

    /// Whether the edges are directed.
    fn is_directed(&self) -> bool {
        false
    }

    /// Source and target of the edge at this slot.
    fn edge(&self, slot: u64) -> Option<(u64, u64)>;

    /// Whether the family defines lengths of edges.
    fn has_lengths(&self) -> bool {
        false
    }

    /// The length of the edge at this slot.
    fn length(&self, _slot: u64) -> i64 {
        1
    }

    /// Appends the edges among `slots` to the two columns.
    fn fill(&self, slots: Range<u64>, sources: &mut Vec<u64>, targets: &mut Vec<u64>) {
        for (source, target) in slots.filter_map(|slot| self.edge(slot)) {
            sources.push(source);
            targets.push(target);
        }
    }
}
