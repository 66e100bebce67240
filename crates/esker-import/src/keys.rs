//! Input and output of the numbering of sparse integers and texts.

use arrow_array::ArrayRef;
use esker_format::{IdMapKind, Result};
use esker_graph::VertexId;
use esker_layers::ids::IdFiles;

use super::sort::spool::Spool;

/// The ids of one batch.
#[derive(Debug)]
pub(crate) struct Keys {
    /// Where each edge leaves.
    pub source: ArrayRef,
    /// Where it arrives; as long as `source`.
    pub target: ArrayRef,
    /// Vertices named without an edge. They count as appearing after the edges of the batch.
    pub vertices: Option<ArrayRef>,
}

/// What the numbering found.
pub struct Numbered {
    /// How many distinct keys there are.
    pub num_vertices: u64,
    /// The numbers of source and target of every edge, in the order of the input. Finished: all in blocks.
    pub edges: Spool<[VertexId; 2]>,
    /// The numbers of the vertices named without an edge, in the order of the input, if they were to be kept.
    pub vertices: Spool<VertexId>,
    /// The keys, to be written once the vertex order is known.
    pub map: Box<dyn NumberedIds>,
}

/// The keys behind the numbers.
pub trait NumberedIds: Send {
    /// What the manifest calls a map of this kind.
    fn kind(&self) -> IdMapKind;

    /// The id of a number, for messages; found by a search in all ids.
    ///
    /// # Errors
    /// If temporary files cannot be read.
    fn name(&self, number: u64) -> Result<String>;

    /// Writes the map between external ids and vertices, both ways, to `files`. `renumbered` gives the vertex
    /// of each number, in order of the numbers; `None`: each number is its vertex.
    ///
    /// # Errors
    /// If files cannot be written or memory does not suffice; cancellation.
    fn write(self: Box<Self>, files: &IdFiles<'_>, renumbered: Option<&Spool<VertexId>>) -> Result<()>;
}
