//! Memory for the columns that an import writes at the same time.

use esker_format::{BLOCK_BYTES, Error, Result, VALUES_AT_ONCE, WRITE_BYTES};
use esker_graph::Stop;

/// The buffers of the columns that are written at the same time: those of one direction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnBuffers {
    columns: usize,
    /// What each column gathers before it writes.
    pub(crate) each_bytes: usize,
}

impl ColumnBuffers {
    /// What converting values takes beside the buffer of a column.
    const VALUES_BYTES: usize = VALUES_AT_ONCE * size_of::<u64>();
    /// The share of the memory limit that the buffers may have.
    const SHARE: u64 = 4;

    /// Divides memory among the columns of `properties`, and those of the lists.
    ///
    /// # Errors
    /// If the smallest buffers do not fit: so that an import is refused before it begins.
    pub(crate) fn new(properties: usize, limit_bytes: u64) -> Result<Self> {
        let columns = properties + 4;
        let share = usize::try_from(limit_bytes / Self::SHARE / 4).unwrap_or(usize::MAX) / columns;
        let each_bytes = share.clamp(BLOCK_BYTES, WRITE_BYTES) / BLOCK_BYTES * BLOCK_BYTES;
        let buffers = Self { columns, each_bytes };
        let needed_bytes = Self::SHARE * buffers.all_bytes();
        if each_bytes == BLOCK_BYTES && needed_bytes > limit_bytes {
            let what = format!("an import of {}", esker_graph::counted(properties, "property", "properties"));
            return Err(Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes: limit_bytes }));
        }
        Ok(buffers)
    }

    /// What all of them take.
    pub(crate) fn all_bytes(&self) -> u64 {
        (self.columns * (self.each_bytes + Self::VALUES_BYTES)) as u64
    }
}
