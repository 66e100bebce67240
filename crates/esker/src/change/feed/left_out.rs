//! Rows that are left out of what is fed: counted, shown, and kept in a file.

use esker_import::read::source::{EdgeBatch, Rejected, id_at};
use esker_import::rejects::RejectsFile;
use esker_store::Result;

use crate::change::feed_options::FeedReport;

/// Largest number of rejected lines in a report.
const SAMPLE_MAX: usize = 10;

/// Whether an edge goes from a vertex to itself.
pub(super) fn is_loop(rows: &EdgeBatch, row: usize) -> bool {
    id_at(&rows.source, row) == id_at(&rows.target, row)
}

/// The rejected rows of the block in hand.
#[derive(Default)]
pub(super) struct LeftOut {
    /// Those that are not written yet.
    rows: Vec<Rejected>,
    /// How many edges of the block were taken.
    pub(super) taken_before: usize,
}

impl LeftOut {
    /// Looks out for the rejected rows of a block, but for those before edges that are passed over, which
    /// were kept before.
    pub(super) fn begin(&mut self, rejected: &[Rejected], passed_over: u64) {
        self.taken_before = 0;
        let is_new = |bad: &&Rejected| bad.edges_before as u64 >= passed_over;
        self.rows = rejected.iter().filter(is_new).cloned().collect();
    }

    /// Writes the rejected rows of the block that come before its edge of this number to a file, if there is
    /// one.
    pub(super) fn keep(&mut self, file: Option<&RejectsFile>, edge: usize) -> Result<()> {
        let Some(file) = file else { return Ok(()) };
        let count = self.rows.partition_point(|bad| bad.edges_before <= edge);
        file.write(&self.rows.drain(..count).collect::<Vec<_>>())
    }
}

/// Counts the rejected rows of a block.
pub(super) fn count_rejected(report: &mut FeedReport, rejected: &[Rejected]) {
    report.rejected += rejected.len() as u64;
    let room = SAMPLE_MAX.saturating_sub(report.rejected_sample.len());
    report.rejected_sample.extend(rejected.iter().take(room).cloned());
}
