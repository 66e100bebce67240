//! Layers: immutable parts of a graph on disk, each in a directory of its own, in one of several encodings.

mod plain;

pub use plain::{DictionaryFiles, PlainLayer, PlainWriter, Section};
