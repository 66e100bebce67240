//! Bytes and values: files, blocks, checksums and the layout of every file of a database. Knows no graph.
//!
//! A layout is a table of fields (`field`). The table generates the struct, its encoding and decoding, and
//! its chapter of `docs/format.md`, so the three cannot drift apart. Arrays are stored in column files:
//! [`ColumnWriter`] writes one, [`Column`] maps one and verifies its checksums at first use. An [`Archive`]
//! keeps the small columns of a layer together in one file. [`io`] is the only door to the disk.

#[cfg(target_endian = "big")]
compile_error!("big-endian machines are not supported: arrays are mapped as stored, in little-endian order");

mod error;
pub mod memory;
mod heap;
pub mod io;
mod size;
mod prefetch;
mod field;
mod header;
pub mod calendar;
pub mod decimal;
mod edge_id;
mod logical;
mod writer;
mod column;
mod archive;
mod archive_writer;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod archive_tests;
mod search;
mod values;
mod values_writer;
mod widen;
mod tile;
mod heads;
mod version;
mod options;
mod manifest;
mod edit;
mod commit;
mod log;
mod live;
#[cfg(test)]
mod document;

pub use archive::{Archive, archive_path, archived_name};
pub use archive_writer::ArchiveWriter;
pub use column::{Column, ColumnReader, PageHint};
pub use commit::{CommitHeader, CommitSummary, CommitText, CommitTimes, VertexChange, VertexValue};
pub use edge_id::EdgeId;
pub use edit::Edit;
pub use error::{Error, Result};
pub use field::{FieldInput, FieldValue};
pub use header::{
    ColumnKind, ColumnSpec, DatabaseId, Element, ElementType, IdSecret, Origin, Stamp, header_page,
    read_header_page, stamp_of,
};
pub use heads::{CHOSEN_HEAD_LEN_MAX, HeadOrder, HeadsRecord};
pub use heap::{return_large_blocks, trimmed_budget};
pub use live::{LIVE_DIRECTORY, LiveArray, LiveContent, LiveFound, left_live_files};
pub use log::{LOG_MAGIC, LogRecordHeader, LogRecordKind, SegmentHeader};
pub use logical::{DateText, LogicalType, PropertyType, TimeUnit, Timestamp, parse_boolean, parse_date};
pub use manifest::{
    DictionaryRecord, Encoding, GraphShape, IdMapKind, IdMapRecord, LayerRecord, LogMark, MANIFEST_MAGIC,
    ManifestHead, ManifestHeader, Owner, PropertyRecord, RecordHeader, SectionRecord, VertexOrder,
};
pub use options::{CopyPolicy, SpanRecord, SpanUnit, StreamRecord, StreamUnit, WriteOptions};
pub use prefetch::prefetch;
pub use search::lower_bound;
pub use size::{BLOCK_BYTES, FORMAT_VERSION, PAGE_BYTES};
pub use tile::{KeptForms, SharedTiles, TileCoding, TilesRecord};
pub use values::{ValueSlice, Values};
pub use values_writer::{VALUES_AT_ONCE, ValuesWriter};
pub use version::{Duplicates, Retention, TagRecord, VersionRecord};
pub use widen::Widening;
pub use writer::{ColumnWriter, WRITE_BYTES, united};
