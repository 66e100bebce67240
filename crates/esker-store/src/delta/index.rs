//! An index from vertex id to degree and location of the list, for fast scans.
//!
//! A changing graph finds a vertex by hashing. An analysis reads millions of degrees and lists, so it uses
//! two arrays over all ids, 12 bytes a vertex. The first scan after a change builds them in a pass over the
//! vertex tables; the next change drops them.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use esker_graph::{Run, Stop, VertexId, prefetch};

use super::layout::Payload;
use super::shard::ListLocation;
use super::sharded::{ShardedLists, with_shards};

/// The bit of a location that marks a chunk.
const CHUNK: u64 = 1 << 63;
const CLASS_SHIFT: u32 = 32;
const SHARD_SHIFT: u32 = 40;

/// Degrees and locations of one direction. Atomic only so that shards can be indexed in parallel; constant
/// afterwards.
#[derive(Debug)]
pub(super) struct VertexIndex {
    degrees: Vec<AtomicU32>,
    locations: Vec<AtomicU64>,
}

/// The indexes of a graph between two changes.
#[derive(Debug)]
pub(super) struct VertexIndexes {
    pub(super) out: VertexIndex,
    pub(super) incoming: Option<VertexIndex>,
}

impl VertexIndexes {
    pub(super) fn bytes(&self) -> usize {
        self.out.bytes() + self.incoming.as_ref().map_or(0, VertexIndex::bytes)
    }
}

/// The location of a list, from the index.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct IndexedLocation {
    pub(super) shard: u16,
    /// Class of the chunk.
    pub(super) class: u8,
    /// Handle of the chunk.
    pub(super) chunk: u32,
    /// Whether the list is in the low-degree table and not in a chunk.
    pub(super) low: bool,
}

impl VertexIndex {
    pub(super) fn new<P: Payload>(
        side: &ShardedLists<P>,
        num_vertices: usize,
        run: &Run,
    ) -> Result<Self, Stop> {
        let mut index = Self { degrees: Vec::new(), locations: Vec::new() };
        let no_memory = |e: std::collections::TryReserveError| {
            Stop::unsuitable(format!(
                "there is no memory for the index of the dynamic graph ({e}): free some"
            ))
        };
        index.degrees.try_reserve_exact(num_vertices).map_err(no_memory)?;
        index.locations.try_reserve_exact(num_vertices).map_err(no_memory)?;
        index.degrees.resize_with(num_vertices, AtomicU32::default);
        index.locations.resize_with(num_vertices, AtomicU64::default);
        with_shards!(&side.shards, shards => {
            run.share::<_, Stop>(shards.len(), || (), |(), number| {
                shards[number].each_source(|v, degree, location| index.set(v, degree, number, location));
                Ok(())
            })?
        });
        Ok(index)
    }

    fn set(&self, v: VertexId, degree: usize, shard: usize, location: ListLocation) {
        self.degrees[v as usize].store(degree as u32, Ordering::Relaxed);
        let location = match location {
            ListLocation::Low => 0,
            ListLocation::Chunk(chunk, class) => CHUNK | (class as u64) << CLASS_SHIFT | u64::from(chunk),
        };
        self.locations[v as usize].store(location | (shard as u64) << SHARD_SHIFT, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(super) fn degree(&self, v: VertexId) -> usize {
        self.degrees[v as usize].load(Ordering::Relaxed) as usize
    }

    /// The location of the list of a vertex whose degree is not zero.
    #[inline(always)]
    pub(super) fn location(&self, v: VertexId) -> IndexedLocation {
        let location = self.locations[v as usize].load(Ordering::Relaxed);
        IndexedLocation {
            shard: (location >> SHARD_SHIFT) as u16,
            class: (location >> CLASS_SHIFT) as u8,
            chunk: location as u32,
            low: location & CHUNK == 0,
        }
    }

    /// Prefetches the index entries of `v`.
    #[inline(always)]
    pub(super) fn prefetch(&self, v: VertexId) {
        prefetch(&self.degrees, v as usize);
        prefetch(&self.locations, v as usize);
    }

    pub(super) fn bytes(&self) -> usize {
        self.degrees.len() * 4 + self.locations.len() * 8
    }
}
