//! Tables of the log. `log/README.md` explains how they work together.

use crate::file::field::{codes, layout};
use crate::file::header::DatabaseId;

/// The first bytes of a log segment.
pub const LOG_MAGIC: [u8; 8] = *b"Eskerlog";

layout! {
    /// The start of a segment of the log. Zeros follow up to byte 4092, which begins the CRC-32C of all bytes
    /// before it. Then records follow.
    pub struct SegmentHeader {
        /// `Eskerlog`.
        magic: [u8; 8],
        /// Version of the format.
        format_version: u32,
        /// The database.
        database: DatabaseId,
        /// Number of the segment, which is also its name.
        number: u64,
        /// The version of its first record.
        first_version: u64,
        /// Number of the last record of MANIFEST when the segment was created: MANIFEST must have at least as
        /// many.
        manifest_records: u64,
        /// The checksum in the header of the record of the commit before its first. 0: an import.
        previous: u32,
    }
}

codes! {
    /// The kind of a log record.
    pub enum LogRecordKind: u16 {
        /// A commit. The log does not interpret its payload.
        Commit = 1,
        /// The writer closed after syncing everything before this record. The summary is a `ManifestHead`; no
        /// payload. `version` is that of the last commit.
        Close = 2,
        /// MANIFEST has got a record since. The summary is a `ManifestHead`; no payload. `version` is that of
        /// the last commit.
        Manifest = 3,
        /// The next segment exists. No summary and no payload; `version` is that of the last commit.
        Continue = 4,
    }
}

layout! {
    /// The start of a record of the log, at a multiple of eight bytes. The summary follows, then the payload,
    /// then zeros up to the next such multiple.
    pub struct LogRecordHeader {
        /// `ESKr`.
        mark: [u8; 4],
        /// CRC-32C of the database (16 bytes), the number of the segment (8), the record's offset in it (8),
        /// and the rest of this header.
        checksum: u32,
        /// Bytes of the payload.
        payload_bytes: u64,
        /// The version that the commit creates.
        version: u64,
        /// Number of bytes of the segment that were synced when the record was written.
        durable_bytes: u64,
        /// CRC-32C of the payload and the zeros after it.
        payload_checksum: u32,
        /// The kind of the record.
        kind: LogRecordKind,
        /// Flags for the reader of the payload.
        flags: u16,
        /// Bytes of the summary.
        summary_bytes: u32,
        /// CRC-32C of the summary.
        summary_checksum: u32,
        /// `checksum` of the record of the commit before, so that each commit depends on all commits before
        /// it. 0: an import. Other kinds: that of the last commit.
        previous: u32,
        /// 0.
        unused: u32,
    }
}
