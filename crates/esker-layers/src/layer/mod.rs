//! Layers: immutable parts of a graph on disk, each in its own directory and in one of several encodings.

mod columns;
mod codes;
mod offsets;
mod coded;
mod tiled;
mod extents;
mod arrays;
mod lists;
mod section;
mod dictionary;
mod plain;
mod body;
mod order;
mod write;

pub use arrays::Arrays;
pub use body::BodyWriter;
pub use coded::EncodedLists;
pub use coded::ListPlace;
pub(crate) use coded::{AHEAD_BYTES, BLOCK_LEN, Coded, Index, ListPlaces};
pub use coded::{CodedColumns, Coder};
pub use coded::{CodedList, CodedLists};
pub use codes::{CodeSlice, Codes, code_type};
pub use columns::SectionColumn;
pub use dictionary::{DictionaryFiles, DictionaryWriter, TEXTS_MAX};
pub use extents::ListExtents;
pub use extents::{AllLists, List, ListTargets, part_of};
pub use lists::{Body, ListColumns};
#[cfg(test)]
pub(crate) use offsets::ListCounts;
pub use plain::{PlainLayer, PlainWriter};
pub(crate) use section::for_runs;
pub use section::{Address, Dead, Past, Section};
pub use tiled::TiledLists;
pub use write::{ArcChunk, SectionChunk, SectionShape, SectionWriter};
