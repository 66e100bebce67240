//! How the edges of one tile are coded: raw pairs, rows, bits; decoding by vector instructions.

pub(crate) mod vector;
pub(crate) mod rows;
pub(crate) mod packed;
pub(crate) mod batch_mask;
pub(crate) mod codec;
pub(crate) mod segment;
