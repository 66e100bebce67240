//! One complete mapped layer: its lists, single or many at a time, plain or compressed.

pub(crate) mod points;
pub(crate) mod mapped_weights;
pub(crate) mod dense;
pub(crate) mod list_decoder;
pub(crate) mod compressed;
pub(crate) mod batches;
#[cfg(test)]
pub(crate) mod tests;
