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

pub use arrays::Arrays;
pub(crate) use coded::AHEAD_BYTES;
pub use coded::{
    BLOCK_LEN, Coded, CodedColumns, CodedLists, Coder, GroupWalk, Index, Parts, Place, Places, ROOM,
};
pub use codes::{CodeSlice, Codes, code_type};
pub use columns::SectionColumn;
pub(crate) use extents::part_of;
pub use extents::{AllLists, Extents, List, Window};
pub use lists::{Body, ListColumns};
pub use plain::{DictionaryFiles, PlainLayer, PlainWriter};
pub(crate) use section::for_runs;
pub use section::{Address, Dead, Past, Section};
pub use write::{ArcChunk, SectionChunk, SectionShape, SectionWriter};
