//! The memory that a layer takes with parts of its lists in a pool.

use esker_format::{Error, Result};

use crate::graph::points::PointReads;
use crate::layer::{Body, ListColumns, PlainLayer, Section};
use crate::pool::PoolOptions;

/// What a thread decodes into, at most.
const WORKER_BYTES: u64 = 1 << 20;

/// The memory that a layer takes with parts of its lists in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PooledNeeds {
    /// Bytes of memory beside the parts: buffers, a bit a vertex, what point reads and weights bring to memory before it is given up.
    pub fixed_bytes: u64,
    /// Bytes of where lists lie, which is mapped, and in the end in memory.
    pub mapped_bytes: u64,
    /// Bytes of parts, at least.
    pub least_bytes: u64,
    /// Bytes of all lists: of all parts, were nothing left on disk.
    pub list_bytes: u64,
}

impl PooledNeeds {
    /// Of a complete layer.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is none.
    pub fn of(layer: &PlainLayer, threads: usize) -> Result<Self> {
        let mut needs = Self {
            fixed_bytes: WORKER_BYTES * threads as u64 + layer.out().main().num_lists() as u64 / 8,
            mapped_bytes: 0,
            least_bytes: 0,
            list_bytes: 0,
        };
        for lists in sides(layer) {
            if !lists.is_dense() {
                return Err(Error::Invalid("only complete layers are kept in parts".to_owned()));
            }
            let (mapped, kept) = match lists.body() {
                Body::Arrays(arrays) => {
                    (arrays.offsets_column().file_bytes(), arrays.targets_column().file_bytes())
                }
                Body::Coded(coded) => {
                    let columns = coded.columns();
                    (columns.groups.file_bytes() + columns.sizes.file_bytes(), columns.lists.file_bytes())
                }
            };
            needs.fixed_bytes += PointReads::TOUCHED_BYTES_MAX;
            needs.mapped_bytes += mapped;
            needs.least_bytes += PoolOptions::of_lists().bytes_min();
            needs.list_bytes += kept;
        }
        Ok(needs)
    }
}

fn sides(layer: &PlainLayer) -> impl Iterator<Item = &ListColumns> {
    std::iter::once(layer.out()).chain(layer.incoming()).map(Section::main)
}
