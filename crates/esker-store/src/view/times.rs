//! The times of all edges of a version.

use esker_format::{PropertyRecord, Result};
use esker_graph::Run;
use esker_layers::graph::Access;

use crate::version::Version;

impl Version {
    /// The least and the greatest time of all edges; `None` if there are none. Edges without a time do not
    /// count. Reads the times of the layers
    /// that state the least and the greatest, or of all where that does not suffice: edges were deleted, or a
    /// layer is older than such statements.
    ///
    /// # Errors
    /// As [`View::window`](super::View::window).
    pub fn time_range(&self, time: &str, run: &Run) -> Result<Option<(i64, i64)>> {
        let record = self.time_property(time)?;
        match self.stack().value_range(record.number) {
            // No time is the least, and what stands for a missing one is.
            Some(stated)
                if stated.0 > i64::MIN
                    && self.has_time(record, stated.0, run)?
                    && self.has_time(record, stated.1, run)? =>
            {
                Ok(Some(stated))
            }
            _ => self.scanned_range(record, run),
        }
    }

    /// The greatest time of all edges: see [`Version::time_range`].
    ///
    /// # Errors
    /// As [`View::window`](super::View::window).
    pub fn latest_time(&self, time: &str, run: &Run) -> Result<Option<i64>> {
        let record = self.time_property(time)?;
        match self.stack().value_range(record.number) {
            Some((_, stated)) if stated > i64::MIN && self.has_time(record, stated, run)? => Ok(Some(stated)),
            _ => Ok(self.scanned_range(record, run)?.map(|range| range.1)),
        }
    }

    /// The least and the greatest time, found by reading all.
    fn scanned_range(&self, record: &PropertyRecord, run: &Run) -> Result<Option<(i64, i64)>> {
        self.view().times(self.stack(), record, &Access::default(), run)?.time_range(run)
    }

    /// Whether an edge has a time that is the least or the greatest of those that layers state.
    fn has_time(&self, record: &PropertyRecord, stated: i64, run: &Run) -> Result<bool> {
        if self.stack().has_all_arcs() {
            return Ok(true);
        }
        let stack = self.stack().within(record.number, stated..=stated);
        let found = self.view().times(&stack, record, &Access::default(), run)?.time_range(run)?;
        Ok(found.is_some_and(|(least, greatest)| least == stated || greatest == stated))
    }
}
