//! The layout of every file of a database.
//!
//! A layout is a table of fields (`field`). The table generates the struct, its encoding and decoding, and its
//! chapter of `docs/format.md`, so the three cannot drift apart. Arrays are stored in column files: [`ColumnWriter`]
//! writes one, [`Column`] maps one and verifies its checksums at first use. An [`Archive`] keeps the small columns of a
//! layer together in one file.

#[cfg(target_endian = "big")]
compile_error!("big-endian machines are not supported: arrays are mapped as stored, in little-endian order");

mod size;
mod field;
mod header;
mod writer;
mod column;
mod archive;
mod archive_writer;
#[cfg(test)]
mod archive_tests;
mod search;
mod values;
mod tile;
mod manifest;
mod commit;
mod log;
#[cfg(test)]
mod document;

pub use archive::{Archive, ArchiveEntry, ArchiveHeader, SMALL_BYTES, archived_name, remove_archive};
#[cfg(test)]
pub(crate) use archive_tests::{read_all_of, rewrite_archive};
pub use archive_writer::ArchiveWriter;
pub use column::Column;
pub use commit::{CommitHeader, CommitText, VertexChange, VertexValue};
pub use field::{Input, Value};
pub use header::{ColumnHeader, ColumnKind, ColumnSpec, DatabaseId, Element, ElementType};
pub(crate) use header::{header_page, read_header_page};
pub use log::{LOG_MAGIC, LogRecordHeader, LogRecordKind, SegmentHeader};
pub use manifest::{
    DictionaryRecord, Edit, EditKind, Encoding, GraphShape, IdMapKind, IdMapRecord, LayerRecord,
    MANIFEST_MAGIC, ManifestHeader, Owner, PropertyRecord, RecordHeader, Retention, RetentionKind,
    RetentionRecord, SectionRecord, TagRecord, VersionRecord, VertexOrder,
};
pub(crate) use search::lower_bound;
pub use size::{BLOCK_BYTES, FORMAT_VERSION, PAGE_BYTES};
pub use tile::{TileCoding, TilesRecord};
pub use values::{ValueSlice, Values};
pub use writer::{ColumnSummary, ColumnWriter, Region};
