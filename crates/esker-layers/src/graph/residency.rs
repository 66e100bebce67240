//! Where analyses read the graph.

use crate::pool::PoolOptions;

/// Where analyses read the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Residency {
    /// From the lists, mapped.
    #[default]
    Lists,
    /// From the tiles, mapped.
    Tiles,
    /// From the tiles, in a fixed memory.
    PooledTiles(PoolOptions),
    /// From the lists, plain or compressed, in a fixed memory.
    PooledLists(PoolOptions),
    /// From plain lists: the first neighbours of each vertex in memory, the others on disk.
    Headed(HeadedOptions),
}

/// How much of the lists is kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadedOptions {
    /// Neighbours kept of each vertex; `None`: as many as the memory holds.
    pub head_len: Option<usize>,
    /// The most memory to take: heads, checksums of pages, frames for reading. Offsets are mapped and not part of it.
    pub memory_bytes: u64,
}
