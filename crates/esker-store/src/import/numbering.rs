//! What the import asks of whoever turns sparse integers and texts into dense vertices.

use arrow_array::ArrayRef;
use esker_graph::VertexId;

use super::spool::Spool;
use crate::error::Result;
use crate::format::IdMapKind;
use crate::ids::IdFiles;

/// The ids of one batch.
#[derive(Debug)]
pub struct Keys {
    /// Where each edge leaves.
    pub source: ArrayRef,
    /// Where it arrives; as long as `source`.
    pub target: ArrayRef,
    /// Vertices named without an edge. They count as appearing after the edges of the batch.
    pub vertices: Option<ArrayRef>,
}

/// Gives each distinct key a number, `0..` in order of first appearance: batch by batch, in a batch edge by edge, the
/// source before the target. All keys of one import are of one kind (integers or texts).
pub trait Numberer: Send {
    /// A batch after the work on it that needs no order.
    type Prepared: Send;

    /// Does the work on a batch that needs no order, such as hashing. Any thread, several at the same time.
    fn prepare(keys: Keys) -> Self::Prepared;

    /// Takes the next batch, in order of the input. Any thread, one at a time.
    ///
    /// # Errors
    /// If a temporary file cannot be written, or the keys do not fit [`VertexId`]; cancellation.
    fn push(&mut self, batch: Self::Prepared) -> Result<()>;

    /// Ends the input. All threads of the import are free to help.
    ///
    /// # Errors
    /// As [`Numberer::push`].
    fn finish(self) -> Result<Numbered>;
}

/// What a [`Numberer`] found.
pub struct Numbered {
    /// How many distinct keys there are.
    pub num_vertices: u64,
    /// The numbers of source and target of every edge, in the order of the input. Finished: all in blocks.
    pub edges: Spool<[VertexId; 2]>,
    /// The keys, to be written once the vertex order is known.
    pub map: Box<dyn IdMap>,
}

/// The keys behind the numbers.
pub trait IdMap: Send {
    /// What the manifest calls a map of this kind.
    fn kind(&self) -> IdMapKind;

    /// Writes the map between external ids and vertices, both ways, to `files`. `renumbered` gives the vertex of each number, in order of the numbers; `None`: each number is its vertex.
    ///
    /// # Errors
    /// If files cannot be written or memory does not suffice; cancellation.
    fn write(self: Box<Self>, files: &IdFiles<'_>, renumbered: Option<&Spool<VertexId>>) -> Result<()>;
}
