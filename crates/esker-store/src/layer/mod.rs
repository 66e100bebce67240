//! Layers: immutable parts of a graph on disk, each in its own directory and in one of several encodings.

mod columns;
mod codes;
mod coded;
mod extents;
mod arrays;
mod lists;
mod section;
mod plain;
mod body;
mod order;
mod write;

pub(crate) use arrays::Arrays;
pub(crate) use body::BodyWriter;
pub use coded::CodedLists;
#[cfg(test)]
pub(crate) use coded::Coder;
pub(crate) use coded::{AHEAD_BYTES, BLOCK_LEN, Coded, CodedColumns, Index, Place, Places};
pub(crate) use codes::{CodeSlice, code_type};
pub use columns::SectionColumn;
pub use extents::AllLists;
pub(crate) use extents::{Extents, List, Window, part_of};
pub(crate) use lists::Body;
pub use lists::ListColumns;
pub use plain::{DictionaryFiles, PlainLayer, PlainWriter};
pub use section::Section;
pub(crate) use section::{Address, for_runs};
pub(crate) use write::AnyWriter;
pub use write::{ArcChunk, SectionChunk, SectionShape, SectionWriter};
