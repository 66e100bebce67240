//! How analyses read a graph: which encoding, and how its bytes reach memory.

use crate::pool::PoolOptions;

/// The encoding of a graph that analyses read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GraphEncoding {
    /// The lists, plain or compressed as each layer stores them.
    #[default]
    Lists,
    /// The tiles next to the lists of a complete layer.
    Tiles,
}

/// How stored bytes reach memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Residency {
    /// Mapped files: the system's page cache decides what stays in memory.
    #[default]
    Mapped,
    /// Extents read past the page cache into a pool of fixed size.
    Pooled,
    /// Some neighbours of each vertex in memory, the others on disk.
    Headed,
    /// All lists of the version, copied to memory as plain rows.
    Memory,
}

impl Residency {
    /// The number of residencies.
    pub const COUNT: usize = Self::Memory as usize + 1;
}

/// An encoding, a residency, and the memory that the residency takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Mapped.
    Mapped(GraphEncoding),
    /// Pooled.
    Pooled(GraphEncoding, PoolOptions),
    /// Headed.
    Headed(HeadedOptions),
    /// Copied to memory: whole lists, whatever the layers of the version are.
    Memory,
}

impl Default for Access {
    fn default() -> Self {
        Self::Mapped(GraphEncoding::Lists)
    }
}

impl Access {
    /// The encoding.
    pub fn encoding(&self) -> GraphEncoding {
        match *self {
            Self::Mapped(encoding) | Self::Pooled(encoding, _) => encoding,
            Self::Headed(_) | Self::Memory => GraphEncoding::Lists,
        }
    }

    /// The residency.
    pub fn residency(&self) -> Residency {
        match self {
            Self::Mapped(_) => Residency::Mapped,
            Self::Pooled(..) => Residency::Pooled,
            Self::Headed(_) => Residency::Headed,
            Self::Memory => Residency::Memory,
        }
    }

    /// Bytes of memory that the graph may take; `None` if the page cache decides, or the whole graph is
    /// copied.
    pub fn memory_bytes(&self) -> Option<u64> {
        match self {
            Self::Mapped(_) | Self::Memory => None,
            Self::Pooled(_, options) => Some(options.bytes),
            Self::Headed(options) => Some(options.memory_bytes),
        }
    }
}

/// The part of the lists that is kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadedOptions {
    /// Neighbours kept of each vertex; `None`: as many as the memory holds.
    pub head_len: Option<usize>,
    /// The most memory to take: heads, checksums of pages, frames for reading. Offsets are mapped and not
    /// part of it. A window that reads weights beside times takes it for each.
    pub memory_bytes: u64,
}
