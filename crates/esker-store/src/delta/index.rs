//! Where the list of every vertex lies, by its id: what makes a scan as quick as its lists.
//!
//! A changing graph finds a vertex by hashing; an analysis that asks for millions of degrees and lists is served from two arrays
//! over all ids, 12 bytes a vertex. They are made at the first scan after a change, in a pass over the vertex tables, and go with the next.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use esker_graph::{Run, Stop, VertexId};

use super::layout::Payload;
use super::prefetch::ask_for;
use super::shard::Place;
use super::side::{Side, with_shards};

/// The bit of a place that is a chunk.
const CHUNK: u64 = 1 << 63;
const CLASS_SHIFT: u32 = 32;
const SHARD_SHIFT: u32 = 40;

/// Degrees and places of one side. Atomic only so that shards can fill them in side by side; they do not change afterwards.
#[derive(Debug)]
pub(super) struct Index {
    degrees: Vec<AtomicU32>,
    places: Vec<AtomicU64>,
}

/// The indexes of a graph between two changes.
#[derive(Debug)]
pub(super) struct Indexes {
    pub(super) out: Index,
    pub(super) incoming: Option<Index>,
}

impl Indexes {
    pub(super) fn bytes(&self) -> usize {
        self.out.bytes() + self.incoming.as_ref().map_or(0, Index::bytes)
    }
}

/// Where an indexed list lies.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Indexed {
    pub(super) shard: u16,
    /// Class of the chunk.
    pub(super) class: u8,
    /// Handle of the chunk.
    pub(super) chunk: u32,
    /// Whether it lies in the low-degree table and not in a chunk.
    pub(super) low: bool,
}

impl Index {
    pub(super) fn new<P: Payload>(side: &Side<P>, num_vertices: usize, run: &Run) -> Result<Self, Stop> {
        let mut index = Self { degrees: Vec::new(), places: Vec::new() };
        let no_memory = |e: std::collections::TryReserveError| {
            Stop::Unsuitable(format!("no memory to index the graph: {e}"))
        };
        index.degrees.try_reserve_exact(num_vertices).map_err(no_memory)?;
        index.places.try_reserve_exact(num_vertices).map_err(no_memory)?;
        index.degrees.resize_with(num_vertices, AtomicU32::default);
        index.places.resize_with(num_vertices, AtomicU64::default);
        with_shards!(&side.shards, shards => {
            run.share::<_, Stop>(shards.len(), || (), |(), number| {
                shards[number].each_source(|v, degree, place| index.set(v, degree, number, place));
                Ok(())
            })?
        });
        Ok(index)
    }

    fn set(&self, v: VertexId, degree: usize, shard: usize, place: Place) {
        self.degrees[v as usize].store(degree as u32, Ordering::Relaxed);
        let place = match place {
            Place::Low => 0,
            Place::Chunk(chunk, class) => CHUNK | (class as u64) << CLASS_SHIFT | u64::from(chunk),
        };
        self.places[v as usize].store(place | (shard as u64) << SHARD_SHIFT, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(super) fn degree(&self, v: VertexId) -> usize {
        self.degrees[v as usize].load(Ordering::Relaxed) as usize
    }

    /// Where the list of a vertex lies that has one.
    #[inline(always)]
    pub(super) fn place(&self, v: VertexId) -> Indexed {
        let place = self.places[v as usize].load(Ordering::Relaxed);
        Indexed {
            shard: (place >> SHARD_SHIFT) as u16,
            class: (place >> CLASS_SHIFT) as u8,
            chunk: place as u32,
            low: place & CHUNK == 0,
        }
    }

    /// Asks for what a look-up of `v` reads.
    #[inline(always)]
    pub(super) fn touch(&self, v: VertexId) {
        ask_for(&self.degrees, v as usize);
        ask_for(&self.places, v as usize);
    }

    pub(super) fn bytes(&self) -> usize {
        self.degrees.len() * 4 + self.places.len() * 8
    }
}
