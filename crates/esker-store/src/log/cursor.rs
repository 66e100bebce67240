//! A place in a segment of the log.

use esker_format::{LogMark, Result};
use esker_graph::Cancel;

use super::options::LogStart;
use super::record::{ReadOutcome, RecordBuffer, RecordPart, is_proven, read, verify_payload};
use super::segment::{FIRST_RECORD, Segment, manifest_is_stale};

/// A segment that is being read.
#[derive(Debug)]
pub(super) struct SegmentCursor {
    pub(super) segment: Segment,
    /// Offset of the next record.
    pub(super) position: u64,
    /// Last known length of the file.
    pub(super) file_bytes: u64,
    /// Whether a later segment exists, so that this one no longer grows.
    pub(super) is_complete: bool,
    /// Where the record before `position` begins if it is of kind `Close`: everything before it was synced.
    pub(super) closed_at: Option<u64>,
    /// Whether a record said that a later segment exists.
    pub(super) continues: bool,
    /// How often a bad record was read at `position`: it counts as damage only on the third read, with a
    /// proof that it was once good.
    pub(super) doubts: u32,
}

impl SegmentCursor {
    pub(super) fn new(segment: Segment, start: &LogStart) -> Result<Self> {
        let known = segment.header.manifest_records;
        if known > start.manifest.records {
            return Err(manifest_is_stale(segment.file.path(), known, start));
        }
        let file_bytes = segment.file.len()?;
        let position = FIRST_RECORD;
        let (is_complete, closed_at, continues) = (false, None, false);
        Ok(Self { segment, position, file_bytes, is_complete, closed_at, continues, doubts: 0 })
    }

    /// Reads at the position. Without its payload, a record counts only if it is certain that it was synced.
    pub(super) fn read(
        &self,
        part: RecordPart,
        buffer: &mut RecordBuffer,
        mark: Option<LogMark>,
        cancel: &Cancel,
    ) -> Result<ReadOutcome> {
        let (file, address) = (self.segment.file.as_ref(), self.segment.address(self.position));
        let outcome = read(file, self.file_bytes, address, part, buffer, cancel)?;
        let ReadOutcome::Record(header, end) = &outcome else { return Ok(outcome) };
        if part == RecordPart::Whole {
            return Ok(outcome);
        }
        let is_marked = |mark: LogMark| mark.segment == self.segment.header.number && *end <= mark.bytes;
        let is_known = self.is_complete || mark.is_some_and(is_marked);
        let is_needed =
            part == RecordPart::Verified || !(is_known || is_proven(file, self.file_bytes, address, *end)?);
        if !is_needed {
            return Ok(outcome);
        }
        let wrong = verify_payload(file, address, header, *end, cancel)?;
        Ok(wrong.map_or(outcome, ReadOutcome::Bad))
    }
}
