//! What every reader gives an import: inputs, blocks, batches, formats, and the conversion of values.

pub mod source;
pub mod typed;
pub(crate) mod waiting;
pub mod input;
pub mod live;
pub mod known_vertices;
pub mod known_kinds;
pub mod rotated;
pub mod operation;
pub mod format;
pub(crate) mod required;
pub(crate) mod head;
pub(crate) mod input_format;
pub mod generated;
pub(crate) mod prepared;
pub(crate) mod both_ends;
pub(crate) mod defaults;
pub mod absent;
pub(crate) mod of_kinds;
