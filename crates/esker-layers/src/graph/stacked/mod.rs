//! A version that is more than one complete layer, with any residency of the complete layer's lists.
//!
//! The lists of the complete layer come from its own source, whatever that is: a pool, heads, tiles. What later layers add comes from
//! sweeps over these, mapped. An *overlay* says what is left out of the complete layer: lists that a later layer replaced, and single
//! arcs that were deleted since, or born after the version. A filter between the source and the visitor leaves them out; for vertices
//! that did not change it costs a test of a bit for each piece.
//!
//! A scan visits the later layers first: a visitor that has enough there does not make the source read.

mod missing;
mod gone;
mod dead;
mod patches;
mod overlay;
mod filter;
mod later;
mod source;
mod needs;

pub use needs::StackedNeeds;
pub(super) use source::StackedSide;
