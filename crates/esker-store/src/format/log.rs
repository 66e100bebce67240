//! Tables of the log. What they mean together is told in `log/README.md`.

use super::field::{codes, layout};
use super::header::DatabaseId;

/// A segment of the log begins with it.
pub const LOG_MAGIC: [u8; 8] = *b"ESKERlog";

layout! {
    /// The start of a segment of the log. Zeros follow up to byte 4092; there lies the CRC-32C of the bytes before. Records follow.
    pub struct SegmentHeader {
        /// `ESKERlog`.
        magic: [u8; 8],
        /// Version of the format.
        format_version: u32,
        /// The database.
        database: DatabaseId,
        /// Number of the segment, which is also its name.
        number: u64,
        /// The version of its first record.
        first_version: u64,
        /// Number of the last record of MANIFEST when the segment was made: so many must exist.
        manifest_records: u64,
    }
}

codes! {
    /// What a record of the log is for.
    pub enum LogRecordKind: u16 {
        /// A commit, whose payload the log does not look into.
        Commit = 1,
        /// Everything before it was synced, and the writer closed. No payload; `version` is that of the last commit.
        Close = 2,
    }
}

layout! {
    /// The start of a record of the log, at a multiple of eight bytes; the payload follows, and zeros up to such a multiple.
    pub struct LogRecordHeader {
        /// `ESKr`.
        mark: [u8; 4],
        /// CRC-32C of the database, the number of the segment, where in it the record begins (16 + 8 + 8 bytes), and the rest of this header.
        checksum: u32,
        /// Bytes of the payload.
        payload_bytes: u64,
        /// The version that the commit makes.
        version: u64,
        /// So many bytes of the segment were synced when the record was written.
        durable_bytes: u64,
        /// CRC-32C of the payload and the zeros after it.
        payload_checksum: u32,
        /// What the record is for.
        kind: LogRecordKind,
        /// For whoever reads the payload.
        flags: u16,
    }
}
