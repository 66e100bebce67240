//! The lists of a complete layer that stay on the disk, except for a bounded part in a pool or as heads.

use std::ops::Range;
use std::sync::Arc;

use esker_format::io::{Disk, File};
use esker_format::{Error, Result};
use esker_graph::{Run, VertexId};

use crate::graph::mapped::points::only_tiles;
use crate::layer::{Arrays, Body, Coded, CodedList, Index, ListColumns, ListExtents};

/// The lists of all vertices. Where each begins is verified; the lists themselves need not be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DenseLists<'a> {
    Arrays(DenseArrays<'a>),
    Coded(DenseCoded<'a>),
}

/// The plain lists of all vertices, and their verified offsets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DenseArrays<'a> {
    pub(crate) arrays: &'a Arrays,
    pub(crate) offsets: &'a [u64],
}

/// The compressed lists of all vertices, and their verified index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DenseCoded<'a> {
    pub(crate) coded: &'a Coded,
    pub(crate) index: Index<'a>,
}

impl DenseCoded<'_> {
    /// The list of a vertex, and where it lies.
    pub(crate) fn list(&self, v: usize) -> CodedList {
        CodedList { slot: v, place: self.index.place(v), length: self.index.bytes(v).len() }
    }
}

impl<'a> DenseLists<'a> {
    /// Verifies the offsets.
    pub(crate) fn new(lists: &'a ListColumns, run: &Run) -> Result<Self> {
        if !lists.is_dense() {
            return Err(not_complete());
        }
        Ok(match lists.body() {
            Body::Arrays(arrays) => Self::Arrays(DenseArrays { arrays, offsets: arrays.offsets(run)? }),
            Body::Coded(coded) => Self::Coded(DenseCoded { coded, index: coded.index(run)? }),
            Body::Tiled(_) => return Err(only_tiles(ONLY_LISTS)),
        })
    }

    pub(crate) fn extents(&self) -> ListExtents<'a> {
        match *self {
            Self::Arrays(lists) => ListExtents::Offsets(lists.offsets),
            Self::Coded(lists) => ListExtents::Index(lists.index),
        }
    }

    pub(crate) fn num_lists(&self) -> usize {
        self.extents().len()
    }

    #[inline(always)]
    pub(crate) fn degree(&self, v: VertexId) -> usize {
        match self {
            Self::Arrays(DenseArrays { offsets, .. }) => {
                (offsets[v as usize + 1] - offsets[v as usize]) as usize
            }
            Self::Coded(lists) => lists.index.degree(v as usize),
        }
    }

    /// The arcs of the list of `v`, counted over all lists.
    #[inline(always)]
    pub(crate) fn arcs(&self, v: VertexId) -> Range<u64> {
        let arcs = self.extents().range(v as usize);
        arcs.start as u64..arcs.end as u64
    }

    /// Number of arcs in the lists before `slot`.
    pub(crate) fn before(&self, slot: usize) -> usize {
        self.extents().before(slot)
    }

    /// The first list that begins at or after a byte of the data, or the number of lists.
    pub(crate) fn slot_at_byte(&self, byte: u64) -> usize {
        match self {
            Self::Arrays(DenseArrays { offsets, .. }) => {
                let lists = &offsets[..offsets.len() - 1];
                lists.partition_point(|offset| offset * (size_of::<VertexId>() as u64) < byte)
            }
            Self::Coded(lists) => lists.index.slot_at_byte(byte as usize),
        }
    }
}

/// The file of the lists.
impl DenseLists<'_> {
    /// The file, for reads past the page cache.
    pub(crate) fn open_direct(&self, disk: &dyn Disk) -> Result<Arc<dyn File>> {
        match self {
            Self::Arrays(DenseArrays { arrays, .. }) => arrays.targets_column().open_direct(disk),
            Self::Coded(DenseCoded { coded, .. }) => coded.columns().lists.open_direct(disk),
        }
    }

    /// Its bytes that hold the lists.
    pub(crate) fn data(&self) -> Range<u64> {
        let (first, bytes) = match self {
            Self::Arrays(DenseArrays { arrays, .. }) => {
                let targets = arrays.targets_column();
                (targets.first_byte(), targets.len() * size_of::<VertexId>())
            }
            Self::Coded(DenseCoded { coded, .. }) => {
                (coded.columns().lists.first_byte(), coded.columns().lists.len())
            }
        };
        first..first + bytes as u64
    }

    /// Compares a copy of a block with its checksum.
    pub(crate) fn verify_copy(&self, block: usize, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Arrays(DenseArrays { arrays, .. }) => arrays.targets_column().verify_copy(block, bytes),
            Self::Coded(DenseCoded { coded, .. }) => coded.columns().lists.verify_copy(block, bytes),
        }
    }
}

/// Bytes of the files that say where lists begin, and of those of the lists themselves.
///
/// # Errors
/// [`Error::Invalid`] if the layer is not complete.
pub(crate) fn file_bytes(lists: &ListColumns) -> Result<(u64, u64)> {
    if !lists.is_dense() {
        return Err(not_complete());
    }
    Ok(match lists.body() {
        Body::Tiled(_) => return Err(only_tiles(ONLY_LISTS)),
        Body::Arrays(arrays) => (arrays.offsets_column().file_bytes(), arrays.targets_column().file_bytes()),
        Body::Coded(coded) => {
            let columns = coded.columns();
            (columns.groups.file_bytes() + columns.sizes.file_bytes(), columns.lists.file_bytes())
        }
    })
}

const ONLY_LISTS: &str = "they cannot be pooled and have no heads";

fn not_complete() -> Error {
    Error::invalid("only complete layers are pooled or have heads".to_owned())
}
