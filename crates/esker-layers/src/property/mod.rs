//! Properties of edges and vertices.
//!
//! Edges: fixed-width values lie in columns beside the arcs (`layer`); texts are codes in such a column, and
//! a [`Dictionary`] leads from code to text.
//!
//! Vertices: each layer has, for each property that its versions changed, a [`PropertyColumn`] with one entry
//! for each vertex and version that it tells apart. A [`VertexProperty`] reads a version through the columns
//! of a stack of layers; a [`PropertyArray`] holds the values of all vertices, and shares its pages with the
//! arrays of other versions. It gets from one layer to the next by applying the changes of that layer (LLAMA,
//! section 4.6).

mod dictionary;
mod value;
mod files;
mod column;
mod write;
mod merge;
mod array;
mod view;
mod removed;

pub use array::{PropertyArray, TextArray};
pub use column::{Change, PropertyColumn, PropertyLayer};
pub use dictionary::{Dictionary, DictionarySegment};
pub use files::{PropertyFiles, REMOVED_NUMBER, removed_record};
pub use merge::merge_columns;
pub use removed::{RemovedVertices, removed_by_version, removed_throughout};
pub use value::PropertyValue;
pub use view::VertexProperty;
pub use write::PropertyWriter;

#[cfg(test)]
mod tests;
