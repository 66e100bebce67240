//! The vertices whose lists in the complete layer a version hides as a whole.

use esker_graph::VertexId;

use crate::stack::BitSet;

/// Vertices for which one bit says whether any of them is in the set.
const BLOCK_LEN: usize = 512;

/// A set of vertices that tells quickly that a range has none of them. Memory: a bit a vertex, and one for
/// each [`BLOCK_LEN`].
#[derive(Debug)]
pub(super) struct HiddenLists {
    vertices: BitSet,
    blocks: BitSet,
}

impl HiddenLists {
    pub(super) fn new(num_vertices: usize) -> Self {
        Self { vertices: BitSet::new(num_vertices), blocks: BitSet::new(num_vertices.div_ceil(BLOCK_LEN)) }
    }

    pub(super) fn insert(&mut self, v: VertexId) {
        self.vertices.insert(v as usize);
        self.blocks.insert(v as usize / BLOCK_LEN);
    }

    #[inline(always)]
    pub(super) fn has(&self, v: VertexId) -> bool {
        self.vertices.has(v as usize)
    }

    /// The vertices from `64 * index` on, a bit each.
    #[inline(always)]
    pub(super) fn word(&self, index: usize) -> u64 {
        self.vertices.word(index)
    }

    /// Whether there may be any from `first` to `last`.
    #[inline(always)]
    pub(super) fn near(&self, first: VertexId, last: VertexId) -> bool {
        self.blocks.near(first as usize / BLOCK_LEN, last as usize / BLOCK_LEN + 1)
    }

    /// Bytes for `num_vertices` vertices, at most.
    pub(super) fn bytes(num_vertices: u64) -> u64 {
        let of_bits = |bits: u64| bits.div_ceil(64) * 8;
        of_bits(num_vertices) + of_bits(num_vertices.div_ceil(BLOCK_LEN as u64))
    }
}
