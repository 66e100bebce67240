//! Memory of the files of a layer while a freeze or a merge writes them.

use std::path::Path;
use std::sync::Arc;

use esker_format::io::Disk;
use esker_format::{ArchiveWriter, BLOCK_BYTES, WRITE_BYTES};
use esker_graph::Budget;

/// The share of the memory limit for the buffers of the columns of one direction.
const BUFFERS_SHARE: u64 = 16;
/// The share for small files, which are gathered in memory until the layer is complete.
const GATHERED_SHARE: u64 = 4;
/// Columns of a direction beside the properties: those of lists, tombstones, past arcs and versions.
const LIST_COLUMNS: u64 = 17;

/// Divides a share of a memory limit among the columns of a layer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayerBuffers {
    /// What each column gathers before it writes.
    pub(crate) each_bytes: usize,
    /// What all small files may take in memory.
    gathered_bytes: u64,
}

impl LayerBuffers {
    /// For a layer with `num_properties` edge properties, whose values stand in two columns of a direction:
    /// of living and of past arcs.
    pub(crate) fn new(num_properties: usize, budget: &Budget) -> Self {
        let limit = budget.limit_bytes();
        let columns = LIST_COLUMNS + 2 * num_properties as u64;
        let share = usize::try_from(limit / BUFFERS_SHARE / columns).unwrap_or(usize::MAX);
        let each_bytes = share.clamp(BLOCK_BYTES, WRITE_BYTES) / BLOCK_BYTES * BLOCK_BYTES;
        let gathered_bytes = if limit == u64::MAX { limit } else { limit / GATHERED_SHARE };
        Self { each_bytes, gathered_bytes }
    }

    /// An archive for the files of a layer.
    pub(crate) fn archive(&self, disk: &Arc<dyn Disk>, directory: &Path) -> ArchiveWriter {
        let mut archive = ArchiveWriter::new(disk, directory);
        archive.limit_gathered(self.gathered_bytes);
        archive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_columns_divide_a_share_of_the_limit_and_few_have_all_they_want() {
        let each =
            |properties: usize, limit: u64| LayerBuffers::new(properties, &Budget::new(limit)).each_bytes;
        assert_eq!(each(200, u64::MAX), WRITE_BYTES);
        assert_eq!(each(0, 1 << 30), WRITE_BYTES);
        assert_eq!(each(200, 1 << 20), BLOCK_BYTES);
        let columns = LIST_COLUMNS as usize + 2 * 20;
        assert!(each(20, 64 << 20) * columns <= 4 << 20);
        assert!(each(20, 64 << 20) >= BLOCK_BYTES);
    }
}
