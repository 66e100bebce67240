//! A commit before the changes of its batch are resolved.

use std::time::UNIX_EPOCH;

use esker_format::memory::with_room;
use esker_format::{Error, Result};

use crate::commit::{Batch, Commit, CommitOptions, NewIds};
use crate::database::batch::resolve::Writer;
use crate::manifest::{check_event_time, format_time};

impl Writer {
    /// The commit of a batch without its changes.
    pub(crate) fn begin_commit(&self, batch: &Batch, options: &CommitOptions) -> Result<Commit> {
        let now_ms = UNIX_EPOCH.elapsed().map_or(0, |age| age.as_millis() as u64);
        Ok(Commit {
            version: self.next_version,
            time_ms: self.event_time(options, now_ms)?,
            // Times never decrease from version to version, whatever the clock does.
            committed_ms: now_ms.max(self.last_committed_ms),
            message: options.message.clone(),
            num_vertices: 0,
            new_ids: NewIds::new(self.tail.is_text()),
            new_properties: Vec::new(),
            new_texts: Vec::new(),
            edges: with_room(batch.ops.len())?,
            rows: Vec::new(),
            optional: batch.optional_properties(),
            vertices: Vec::new(),
            checksum: 0,
            paging: None,
        })
    }

    /// The event time of the next commit: as given, else `now_ms`.
    fn event_time(&self, options: &CommitOptions, now_ms: u64) -> Result<u64> {
        let last = self.last_time_ms;
        let Some(time_ms) = options.time_ms else { return Ok(now_ms.max(last)) };
        check_event_time(time_ms)?;
        if options.raises_time {
            return Ok(time_ms.max(last));
        }
        if time_ms < last {
            return Err(Error::invalid(format!(
                "the time {} is before {}, the time of version {}: times of versions never go back; commit in the order of time",
                format_time(time_ms),
                format_time(last),
                self.next_version - 1
            )));
        }
        Ok(time_ms)
    }
}
