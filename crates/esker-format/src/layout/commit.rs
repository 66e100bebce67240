//! Tables of a commit's payload in the log.

use crate::file::field::layout;
use crate::layout::manifest::PropertyRecord;

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
    /// A change of a vertex property's value.
    pub struct VertexChange {
        /// Number of the property. 2^32 - 1: the value says whether the vertex is removed, 1 or 0.
        property: u32,
        /// The vertex.
        vertex: u64,
        /// The new value; none: the vertex loses the value.
        value: Option<VertexValue>,
    }
}

layout! {
    /// The value of a vertex property.
    pub struct VertexValue {
        /// The bits of a number, zero-extended to 64; 0 for a text.
        bits: u64,
        /// The bytes of a text, if it is one.
        text: Option<Vec<u8>>,
    }
}

layout! {
    /// What listing the versions needs to know of a commit, the summary of a record of the log.
    pub struct CommitSummary {
        /// Event time: milliseconds since 1970, UTC.
        time_ms: u64,
        /// The author's message.
        message: String,
        /// Number of vertices after the commit, removed ones included.
        num_vertices: u64,
        /// By how much the commit changes the number of removed vertices.
        removed_growth: i64,
        /// Number of edges added, changed and removed.
        num_edges: u64,
        /// Number of other changes: of properties of vertices, and of vertices added and removed.
        num_others: u64,
    }
}

layout! {
    /// The second time of a commit, right after its `CommitSummary`. It is left out if it equals the event
    /// time.
    pub struct CommitTimes {
        /// Time of the commit: milliseconds since 1970, UTC.
        committed_ms: u64,
    }
}

layout! {
    /// The start of a commit, the payload of a record of the log. Then follow: the new external ids (64 bits
    /// each, or a text: u32 bytes, then UTF-8); the sources of all edges, their targets (both vertex ids) and
    /// their rows (u32; 2^32 - 1: the edge is removed); for each edge property the bits of the values of all
    /// rows, zero-extended to 64.
    pub struct CommitHeader {
        /// Event time: milliseconds since 1970, UTC.
        time_ms: u64,
        /// The author's message.
        message: String,
        /// Number of vertices after the commit.
        num_vertices: u64,
        /// Whether external ids are texts.
        text_ids: bool,
        /// Number of vertices that the commit adds, at the end of the id range.
        num_new_ids: u64,
        /// Vertex properties that the commit defines.
        new_properties: Vec<PropertyRecord>,
        /// Texts that the commit adds to dictionaries, in the order of their codes.
        new_texts: Vec<CommitText>,
        /// Changes of vertices, in order.
        vertices: Vec<VertexChange>,
        /// Numbers of the edge properties that edges may be without: MANIFEST says so too. None: no property.
        optional: Option<Vec<u32>>,
        /// Number of edges added, changed and removed.
        num_edges: u64,
        /// Number of rows of edge properties.
        num_rows: u64,
        /// Number of edge properties.
        num_edge_properties: u32,
    }
}
