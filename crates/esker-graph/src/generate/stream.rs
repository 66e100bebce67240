//! What a family of graphs gives the generator: its edges by number.

use std::ops::Range;

/// The edges of a graph, numbered. Each number stands for one edge or, where a regular numbering has gaps, for none.
pub(super) trait Stream: Send + Sync {
    /// Number of vertices.
    fn num_vertices(&self) -> u64;

    /// Number of edges, exactly.
    fn num_edges(&self) -> u64;

    /// The numbers of edges are `0..num_slots`; at least as many as there are edges.
    fn num_slots(&self) -> u64 {
        self.num_edges()
    }

    /// Whether some numbers stand for no edge.
    fn has_gaps(&self) -> bool {
        self.num_slots() != self.num_edges()
    }

    /// Whether the edges have a direction.
    fn is_directed(&self) -> bool {
        false
    }

    /// Source and target of the edge with this number.
    fn edge(&self, slot: u64) -> Option<(u64, u64)>;

    /// Whether the edges have lengths of their own.
    fn has_lengths(&self) -> bool {
        false
    }

    /// The length of the edge with this number.
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
