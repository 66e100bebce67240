//! A version that is more than one complete layer, with any residency of the complete layer's lists.
//!
//! The lists of the complete layer come from its own source, whatever that is: a pool, heads, tiles. What
//! later layers add is gathered in memory (`gather`), or swept in each scan where there is no room. An
//! *overlay* says what is left out of the complete layer: arcs that were deleted since, or born after the
//! version. A filter between the source and the visitor leaves them out; for vertices that did not change it
//! costs a test of a bit for each piece. Tiles leave them out themselves.
//!
//! Lists that a later layer holds whole are compared with those of the complete layer. Where they cannot be,
//! because scans leave layers out or later layers are swept, the overlay leaves out the old lists as a whole.
//!
//! A scan visits the later layers first: a visitor that has enough there does not make the source read. Over
//! heads, which lie in memory, what was added to a list follows its head (`following`). Heads and tails leave
//! deleted arcs out themselves, if there are no weights.

mod hidden_lists;
mod dead_tiles;
mod difference;
mod patches;
mod growing;
mod later;
mod needs;
mod overlay;
mod gather;
mod changes;
mod following;
mod filter;
mod source;

pub use needs::StackedNeeds;
pub(crate) use source::StackedSide;
