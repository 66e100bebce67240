//! From batches of edges to the columns of a base layer.

mod missing;
pub(crate) mod texts;
pub(crate) mod values;
mod ranges;
pub(crate) mod renumbered;
mod cells;
pub(crate) mod vertex_rows;
pub(crate) mod gather;
pub(crate) mod present;
pub(crate) mod edges;
pub(crate) mod order;
pub(crate) mod disk_order;
pub(crate) mod count;
pub(crate) mod scatter;
pub(crate) mod lists;
pub(crate) mod output;
pub(crate) mod direction;
pub(crate) mod buffers;
pub(crate) mod built;
pub(crate) mod vertex_values;
pub(crate) mod prepared;
mod twice;
pub(crate) mod pipeline;
