//! The memory that pooled lists need.

use esker_format::Result;
use esker_graph::Direction;

use crate::graph::mapped::dense::file_bytes;
use crate::graph::mapped::points::PointReads;
use crate::layer::{ListColumns, PlainLayer};
use crate::pool::PoolOptions;

/// The largest decoding buffer of a thread.
const WORKER_BYTES: u64 = 1 << 20;

/// The memory that a layer needs if its lists are pooled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PooledNeeds {
    /// Bytes besides the pool: buffers, a bit per vertex, mapped bytes of point reads and weights until they
    /// are released.
    pub fixed_bytes: u64,
    /// Bytes of mapped offsets; in the end all of them are in memory.
    pub mapped_bytes: u64,
    /// The least bytes of the pool.
    pub least_bytes: u64,
    /// Bytes of all lists.
    pub list_bytes: u64,
}

impl PooledNeeds {
    /// The needs of a complete layer.
    ///
    /// # Errors
    /// [`esker_format::Error::Invalid`] for any other layer.
    pub fn for_layer(layer: &PlainLayer, threads: usize) -> Result<Self> {
        Self::for_direction(None, layer, threads)
    }

    /// As [`PooledNeeds::for_layer`], if only one direction is pooled. The lists of the other are mapped.
    ///
    /// # Errors
    /// As [`PooledNeeds::for_layer`].
    pub fn for_direction(only: Option<Direction>, layer: &PlainLayer, threads: usize) -> Result<Self> {
        let mut needs = Self {
            fixed_bytes: WORKER_BYTES * threads as u64 + layer.out().main().num_lists() as u64 / 8,
            mapped_bytes: 0,
            least_bytes: 0,
            list_bytes: 0,
        };
        for (direction, lists) in sides(layer) {
            let (mapped, kept) = file_bytes(lists)?;
            needs.mapped_bytes += mapped;
            if only.is_some_and(|only| only != direction) {
                continue;
            }
            needs.fixed_bytes += PointReads::TOUCHED_BYTES_MAX;
            needs.least_bytes += PoolOptions::of_lists().bytes_min();
            needs.list_bytes += kept;
        }
        Ok(needs)
    }
}

fn sides(layer: &PlainLayer) -> impl Iterator<Item = (Direction, &ListColumns)> {
    let incoming = layer.incoming().map(|section| (Direction::In, section.main()));
    std::iter::once((Direction::Out, layer.out().main())).chain(incoming)
}
