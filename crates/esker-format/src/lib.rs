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
mod memory_limit;
pub mod io;
pub mod value;
mod file;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod archive_tests;
mod layout;
pub mod notation;
#[cfg(test)]
mod document;

pub use error::{Error, ErrorKind, LockHolder, Reported, Result, Sought};
pub use file::archive::{Archive, archive_path, archived_name};
pub use file::archive_writer::ArchiveWriter;
pub use file::column::{Column, ColumnReader, PageHint};
pub use file::field::{FieldInput, FieldValue};
pub use file::header::{
    ColumnKind, ColumnSpec, DatabaseId, Element, ElementType, IdSecret, Origin, Stamp, header_page,
    read_header_page, stamp_of,
};
pub use file::search::lower_bound;
pub use file::size::{BLOCK_BYTES, FORMAT_VERSION, PAGE_BYTES};
pub use file::values::{ValueSlice, Values};
pub use file::values_writer::{VALUES_AT_ONCE, ValuesWriter};
pub use file::widen::Widening;
pub use file::writer::{ColumnWriter, WRITE_BYTES, united};
pub use heap::{return_large_blocks, trimmed_budget};
pub use layout::commit::{CommitHeader, CommitSummary, CommitText, CommitTimes, VertexChange, VertexValue};
pub use layout::edit::Edit;
pub use layout::heads::{CHOSEN_HEAD_LEN_MAX, HeadOrder, HeadsRecord};
pub use layout::live::{LIVE_DIRECTORY, LiveArray, LiveContent, LiveFound, left_live_files};
pub use layout::log::{LOG_MAGIC, LogRecordHeader, LogRecordKind, SegmentHeader};
pub use layout::logical::{
    DateText, LogicalType, PropertyType, TimeUnit, Timestamp, VECTOR_LEN_MAX, parse_boolean, parse_date,
};
pub use layout::manifest::{
    DictionaryRecord, Encoding, GraphShape, IdMapKind, IdMapRecord, LayerRecord, LogMark, MANIFEST_MAGIC,
    ManifestHead, ManifestHeader, Owner, PropertyRecord, RecordHeader, SectionRecord, VertexOrder,
};
pub use layout::missing::{MISSING_TEXT, missing_bits};
pub use layout::options::{CopyPolicy, SpanRecord, SpanUnit, StreamRecord, StreamUnit, WriteOptions};
pub use layout::reading::{
    ColumnRecord, DateFormatRecord, DefaultRecord, EventTimes, NotationRecord, PropertyColumnRecord,
    ReadingRecord, TableRecord,
};
pub use layout::tile::{KeptForms, SharedTiles, TileCoding, TilesRecord};
pub use layout::version::{Duplicates, KeptMessage, Retention, TagRecord, VersionRecord};
pub use memory_limit::MemoryLimit;
pub use value::edge_id::EdgeId;

/// The example of README.md, run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
