//! Layers: immutable parts of a graph on disk, each in a directory of its own, in one of several encodings.

mod columns;
mod codes;
mod lists;
mod section;
mod plain;
mod order;
mod write;

pub use codes::{CodeSlice, Codes, code_type};
pub use columns::SectionColumn;
pub use lists::ListColumns;
pub use plain::{DictionaryFiles, PlainLayer, PlainWriter};
pub(crate) use section::for_runs;
pub use section::{Address, Dead, Past, Section};
pub use write::{ArcChunk, SectionChunk, SectionShape, SectionWriter};
