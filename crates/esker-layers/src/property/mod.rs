//! Properties of edges and vertices.
//!
//! Edges: values of fixed width lie in columns beside the arcs (`layer`). Texts are stored as codes in such a
//! column, and a [`Dictionary`] maps each code to its text.
//!
//! Vertices: a layer has a [`PropertyColumn`] for each property that its versions changed, with one entry for
//! each vertex whose value changed and each version, of those the layer distinguishes, that changed it. A
//! [`VertexProperty`] reads a version through the columns of a stack of layers. A [`PropertyArray`] holds the
//! values of all vertices of a version. The array of the next layer is made by applying that layer's changes,
//! and shares the pages that did not change (LLAMA, section 4.6).

mod dictionary;
mod vector;
mod value;
mod files;
mod column;
mod write;
mod merge;
mod array;
mod view;
mod removed;

pub use array::{PropertyArray, TextArray};
pub use column::{PropertyChange, PropertyColumn, PropertyLayer};
pub use dictionary::{Dictionary, DictionarySegment, merge_dictionaries};
pub use files::{PropertyFiles, REMOVED_NUMBER, removed_record};
pub use merge::merge_columns;
pub use removed::{RemovedVertices, removed_by_version, removed_throughout};
pub use value::PropertyValue;
pub use vector::VectorValue;
pub use view::VertexProperty;
pub use write::PropertyWriter;

#[cfg(test)]
mod dictionary_tests;
#[cfg(test)]
mod tests;
