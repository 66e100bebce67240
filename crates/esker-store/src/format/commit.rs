//! Tables of the payload of a commit in the log.

use super::field::layout;
use super::manifest::PropertyRecord;

layout! {
    /// A text that a commit adds to the dictionary of an edge property.
    pub struct CommitText {
        /// Number of the property.
        property: u32,
        /// Its bytes.
        text: Vec<u8>,
    }
}

layout! {
    /// The value of a property of a vertex changes.
    pub struct VertexChange {
        /// Number of the property; 2^32 - 1: whether the vertex is removed, as a number, 1 or 0.
        property: u32,
        /// The vertex.
        vertex: u64,
        /// The value from now on, or none.
        value: Option<VertexValue>,
    }
}

layout! {
    /// The value of a property of a vertex.
    pub struct VertexValue {
        /// The bits of a number, widened to 64; 0 for a text.
        bits: u64,
        /// The bytes of a text, if it is one.
        text: Option<Vec<u8>>,
    }
}

layout! {
    /// The start of a commit, the payload of a record of the log. There follow: the new ids (64 bits each, or a text: u32 bytes, then these);
    /// for all edges their sources, then their targets (vertex ids), then their rows (u32, 2^32 - 1: the edge is removed); for
    /// each edge property the bits of the values of all rows, widened to 64.
    pub struct CommitHeader {
        /// When: milliseconds since 1970, UTC.
        time_ms: u64,
        /// What its author says of it.
        message: String,
        /// Number of vertices after it.
        num_vertices: u64,
        /// Whether external ids are texts.
        text_ids: bool,
        /// Number of vertices that it adds: the last ones.
        num_new_ids: u64,
        /// Vertex properties that it defines.
        new_properties: Vec<PropertyRecord>,
        /// Texts that it adds to dictionaries, in the order of their codes.
        new_texts: Vec<CommitText>,
        /// What it does to vertices, in order.
        vertices: Vec<VertexChange>,
        /// Number of edges added, set and removed.
        num_edges: u64,
        /// Number of rows of edge properties.
        num_rows: u64,
        /// Number of edge properties.
        num_edge_properties: u32,
    }
}
