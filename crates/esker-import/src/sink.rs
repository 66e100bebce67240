//! Where the finished arrays of a layer go, column by column.

use esker_format::{ElementType, Result};
use esker_graph::Direction;

/// One array of a base layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Where the list of each vertex begins, and the number of arcs: u64, one more than there are vertices.
    Offsets(Direction),
    /// The lists, one after another: [`esker_graph::VertexId`] each.
    Targets(Direction),
    /// Compressed: sums before each group of lists, u64.
    Groups(Direction),
    /// Compressed: the sizes of the lists of each group, bytes.
    Sizes(Direction),
    /// Compressed: the lists, bytes.
    Lists(Direction),
    /// Compressed: where the blocks of long lists begin, u64.
    Blocks(Direction),
    /// A property beside the lists.
    Property {
        /// Index among the properties of the schema.
        property: usize,
        /// Beside which lists.
        direction: Direction,
        /// The type of each value.
        element: ElementType,
    },
}

/// Takes the columns of a layer.
pub trait LayerSink: Sync {
    /// Begins a column.
    ///
    /// # Errors
    /// If its file cannot be made.
    fn column(&self, kind: ColumnKind) -> Result<Box<dyn ColumnSink>>;
}

/// Takes one column, in order.
pub trait ColumnSink: Send {
    /// Appends values, little-endian. Whole values only.
    ///
    /// # Errors
    /// If they cannot be written.
    fn append(&mut self, values: &[u8]) -> Result<()>;

    /// Ends the column and makes it durable.
    ///
    /// # Errors
    /// If it cannot be written.
    fn finish(self: Box<Self>) -> Result<()>;
}
