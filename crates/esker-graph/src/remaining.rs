//! Renumbering of the vertices that remain after some are removed.

use std::sync::Arc;

use crate::id::{VertexId, vertex};
use crate::stop::Stop;

/// Vertices per block.
const BLOCK: usize = 64;

/// For 64 consecutive vertices: which are removed, and how many are removed before them. At sixteen bytes, a
/// lookup touches one cache line of a table of n/4 bytes; a plain array would take 4n.
#[derive(Debug, Clone, Copy, Default)]
struct RemovedBlock {
    removed: u64,
    removed_before: u64,
}

/// The vertices of `0..n` without the removed ones. Each has a *place* in `0..len`, in the same order.
///
/// Memory: 4 bytes (8 with `id64`) per remaining vertex, and a quarter of a byte per vertex of `0..n`.
#[derive(Debug, Clone)]
pub struct Remaining {
    origins: Arc<[VertexId]>,
    blocks: Vec<RemovedBlock>,
    num_before: usize,
}

impl Remaining {
    /// All vertices of `0..num_vertices` except `removed`, which must be ascending and distinct. Takes O(n).
    ///
    /// # Errors
    /// [`Stop::Unsuitable`] if `removed` is not ascending and distinct, or not within `0..num_vertices`.
    pub fn new(num_vertices: usize, removed: &[VertexId]) -> Result<Self, Stop> {
        let ascending = removed.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || removed.last().is_some_and(|&v| v as usize >= num_vertices) {
            return Err(Stop::unsuitable(format!(
                "the removed vertices must be ascending, distinct and less than {num_vertices}"
            )));
        }
        let mut blocks = vec![RemovedBlock::default(); num_vertices.div_ceil(BLOCK)];
        for &v in removed {
            blocks[v as usize / BLOCK].removed |= 1 << (v as usize % BLOCK);
        }
        let mut removed_before = 0;
        for block in &mut blocks {
            block.removed_before = removed_before;
            removed_before += u64::from(block.removed.count_ones());
        }
        let mut origins = Vec::with_capacity(num_vertices - removed.len());
        let mut first = 0;
        for &v in removed {
            origins.extend((first..v as usize).map(vertex));
            first = v as usize + 1;
        }
        origins.extend((first..num_vertices).map(vertex));
        Ok(Self { origins: origins.into(), blocks, num_before: num_vertices })
    }

    /// The bytes that a renumbering takes.
    pub fn bytes(num_vertices: u64, removed: u64) -> u64 {
        let left = num_vertices.saturating_sub(removed);
        left * size_of::<VertexId>() as u64
            + num_vertices.div_ceil(BLOCK as u64) * size_of::<RemovedBlock>() as u64
    }

    /// Number of remaining vertices.
    pub fn len(&self) -> usize {
        self.origins.len()
    }

    /// Number of vertices before any was removed.
    pub fn num_before(&self) -> usize {
        self.num_before
    }

    /// Whether no vertex remains.
    pub fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    /// The remaining vertices, ascending; the vertex at place `i` is at index `i`.
    pub fn origins(&self) -> &Arc<[VertexId]> {
        &self.origins
    }

    /// The vertex at a place. Panics if `place` is not less than `len`.
    #[inline(always)]
    pub fn origin(&self, place: VertexId) -> VertexId {
        self.origins[place as usize]
    }

    /// The place of a vertex; `None` if it is removed. Panics if `v` is not less than `n`.
    #[inline(always)]
    pub fn place(&self, v: VertexId) -> Option<VertexId> {
        let removed = self.blocks[v as usize / BLOCK].removed >> (v as usize % BLOCK) & 1 != 0;
        (!removed).then(|| self.rank(v))
    }

    /// The number of remaining vertices before `v`: its place, if it remains. Panics if `v` is not less than
    /// `n`.
    #[inline(always)]
    pub fn rank(&self, v: VertexId) -> VertexId {
        let block = &self.blocks[v as usize / BLOCK];
        let mut removed = block.removed_before;
        // Most blocks have no removed vertex, and counting bits is slow on the older processors that Esker
        // supports.
        if block.removed != 0 {
            removed += u64::from((block.removed & ((1 << (v as usize % BLOCK)) - 1)).count_ones());
        }
        v - removed as VertexId
    }
}

#[cfg(test)]
mod tests {
    use super::Remaining;
    use crate::id::{VertexId, vertex};

    #[test]
    fn places_and_origins_are_inverse() {
        let cases: [(usize, Vec<VertexId>); 6] = [
            (0, vec![]),
            (1, vec![0]),
            (200, vec![]),
            (200, vec![0, 63, 64, 127, 199]),
            (300, (0..300).filter(|v| v % 7 != 3).collect()),
            (130, (0..128).collect()),
        ];
        for (n, removed) in cases {
            let remaining = Remaining::new(n, &removed).expect("ascending");
            let left: Vec<_> = (0..n).map(vertex).filter(|v| !removed.contains(v)).collect();
            assert_eq!(remaining.origins()[..], left);
            assert_eq!((remaining.len(), remaining.is_empty()), (left.len(), left.is_empty()));
            assert_eq!(remaining.num_before(), n);
            for v in (0..n).map(vertex) {
                let place = left.binary_search(&v);
                assert_eq!(remaining.place(v), place.ok().map(vertex));
                assert_eq!(remaining.rank(v), vertex(place.unwrap_or_else(|rank| rank)));
            }
            assert!((0..left.len()).all(|place| remaining.origin(vertex(place)) == left[place]));
        }
    }

    #[test]
    fn removed_vertices_must_be_ascending_and_in_range() {
        Remaining::new(4, &[2, 1]).expect_err("descending");
        Remaining::new(4, &[1, 1]).expect_err("twice");
        Remaining::new(4, &[4]).expect_err("too large");
    }
}
