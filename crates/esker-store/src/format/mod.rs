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

pub(crate) use archive::archived_name;
pub use archive::{Archive, remove_archive};
#[cfg(test)]
pub(crate) use archive_tests::{read_all_of, rewrite_archive};
pub use archive_writer::ArchiveWriter;
pub use column::Column;
pub(crate) use commit::CommitHeader;
pub use commit::{CommitText, VertexChange, VertexValue};
pub(crate) use field::{Input, Value};
pub use header::{ColumnKind, ColumnSpec, DatabaseId, Element, ElementType};
pub(crate) use header::{header_page, read_header_page};
pub(crate) use log::{LOG_MAGIC, LogRecordHeader, LogRecordKind, SegmentHeader};
pub use manifest::{
    DictionaryRecord, Edit, Encoding, GraphShape, IdMapKind, IdMapRecord, LayerRecord, Owner, PropertyRecord,
    Retention, SectionRecord, TagRecord, VersionRecord, VertexOrder,
};
pub(crate) use manifest::{MANIFEST_MAGIC, ManifestHeader, RecordHeader};
pub(crate) use search::lower_bound;
pub(crate) use size::FORMAT_VERSION;
pub use size::{BLOCK_BYTES, PAGE_BYTES};
pub(crate) use tile::TileCoding;
pub use tile::TilesRecord;
pub(crate) use values::ValueSlice;
pub use values::Values;
pub use writer::{ColumnSummary, ColumnWriter, Region};
