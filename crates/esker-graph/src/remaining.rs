//! The vertices that are left when some are removed, numbered anew without gaps.

use std::sync::Arc;

use crate::id::{VertexId, vertex};
use crate::run::Stop;

/// Vertices that a block covers.
const BLOCK: usize = 64;

/// Of 64 consecutive vertices, which are removed, and how many are before them. Sixteen bytes, so that looking up
/// the place of a vertex touches one cache line of a table of n/4 bytes, where a plain array would take 4n.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    removed: u64,
    removed_before: u64,
}

/// The vertices of `0..n` without the removed ones. Each has a place, `0..len`, in the same order.
///
/// Memory: 4 bytes (8 with `id64`) for each vertex that is left, and a quarter of a byte for each of all.
#[derive(Debug, Clone)]
pub struct Remaining {
    origins: Arc<[VertexId]>,
    blocks: Vec<Block>,
}

impl Remaining {
    /// All vertices of `0..num_vertices` but `removed`, which is ascending and distinct. O(n).
    ///
    /// # Errors
    /// [`Stop::Unsuitable`] if it is not, or has others.
    pub fn new(num_vertices: usize, removed: &[VertexId]) -> Result<Self, Stop> {
        let ascending = removed.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || removed.last().is_some_and(|&v| v as usize >= num_vertices) {
            return Err(Stop::Unsuitable(format!(
                "the removed vertices are not ascending ones of the {num_vertices} that there are"
            )));
        }
        let mut blocks = vec![Block::default(); num_vertices.div_ceil(BLOCK)];
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
        Ok(Self { origins: origins.into(), blocks })
    }

    /// The memory it takes.
    pub fn bytes(num_vertices: u64, removed: u64) -> u64 {
        let left = num_vertices.saturating_sub(removed);
        left * size_of::<VertexId>() as u64 + num_vertices.div_ceil(BLOCK as u64) * size_of::<Block>() as u64
    }

    /// Number of vertices that are left.
    pub fn len(&self) -> usize {
        self.origins.len()
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    /// The vertices that are left, ascending: the one at each place.
    pub fn origins(&self) -> &Arc<[VertexId]> {
        &self.origins
    }

    /// The vertex at a place. Panics if there is none.
    #[inline(always)]
    pub fn origin(&self, place: VertexId) -> VertexId {
        self.origins[place as usize]
    }

    /// The place of a vertex; `None` if it is removed. Panics if it is none of `0..n`.
    #[inline(always)]
    pub fn place(&self, v: VertexId) -> Option<VertexId> {
        let removed = self.blocks[v as usize / BLOCK].removed >> (v as usize % BLOCK) & 1 != 0;
        (!removed).then(|| self.rank(v))
    }

    /// The number of vertices before `v` that are left: its place, if it is left itself. Panics if it is none of `0..n`.
    #[inline(always)]
    pub fn rank(&self, v: VertexId) -> VertexId {
        let block = &self.blocks[v as usize / BLOCK];
        let mut removed = block.removed_before;
        // Most blocks have none, and counting bits is slow on processors that Esker must run on.
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
            for v in (0..n).map(vertex) {
                let place = left.binary_search(&v);
                assert_eq!(remaining.place(v), place.ok().map(vertex));
                assert_eq!(remaining.rank(v), vertex(place.unwrap_or_else(|rank| rank)));
            }
            assert!((0..left.len()).all(|place| remaining.origin(vertex(place)) == left[place]));
        }
    }

    #[test]
    fn what_is_not_ascending_is_refused() {
        Remaining::new(4, &[2, 1]).expect_err("descending");
        Remaining::new(4, &[1, 1]).expect_err("twice");
        Remaining::new(4, &[4]).expect_err("too large");
    }
}
