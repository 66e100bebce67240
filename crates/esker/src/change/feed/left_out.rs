//! Rows that are left out of what is fed: counted, shown, and kept in a file.

use esker_import::read::source::Rejected;
use esker_store::Result;

use super::Feeder;

/// Largest number of rejected lines in a report.
const SAMPLE_MAX: usize = 10;

/// The rejected rows of the block in hand.
#[derive(Default)]
pub(super) struct LeftOut {
    /// Those that are not written yet.
    rows: Vec<Rejected>,
    /// How many edges of the block were taken.
    pub(super) taken_before: usize,
}

impl Feeder<'_> {
    /// Looks out for the rejected rows of a block, but for those before edges that are passed over, which were
    /// kept before.
    pub(super) fn begin_rejected(&mut self, rejected: &[Rejected]) {
        self.left_out.taken_before = 0;
        if self.options.rejects.is_some() {
            let passed_over = self.policy.left_to_pass();
            let is_new = |bad: &&Rejected| bad.edges_before as u64 >= passed_over;
            self.left_out.rows = rejected.iter().filter(is_new).cloned().collect();
        }
    }

    /// Writes the rejected rows of the block that come before its edge of this number.
    pub(super) fn keep_rejected(&mut self, edge: usize) -> Result<()> {
        let Some(file) = &self.options.rejects else { return Ok(()) };
        let count = self.left_out.rows.partition_point(|bad| bad.edges_before <= edge);
        file.write(&self.left_out.rows.drain(..count).collect::<Vec<_>>())
    }

    /// Counts the rejected rows of a block.
    pub(super) fn count_rejected(&mut self, rejected: &[Rejected]) {
        self.report.rejected += rejected.len() as u64;
        let room = SAMPLE_MAX.saturating_sub(self.report.rejected_sample.len());
        self.report.rejected_sample.extend(rejected.iter().take(room).cloned());
    }
}
