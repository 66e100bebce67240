//! Lists with their heads in memory and their tails on disk (Iwabuchi, thesis, chapter 3: NETALX).
//!
//! The head of a list is its *k* neighbours of highest degree or, where they are not chosen, the first *k*. A
//! bottom-up search usually finds a parent there. A tail is read only when a visitor asks for more: few of
//! them, in small chunks until a parent is found. A scan of whole lists reads long runs. Reads go past the
//! page cache; they are sorted, merged where they are near, and many are under way at a time.
//!
//! If vertices are numbered by descending degree, the head is the beginning of the list; so it is in
//! multigraphs, if it has more than 4096 neighbours, and if it is gathered for a run with weights. Else it is
//! chosen, and lies in memory by descending degree. The rest of such a list is spread over all of its pages.
//! So a search that misses in the head reads the list from its beginning and leaves out what the head had.
//! Scans of whole lists, and all scans with weights, take the list from the disk unless all of it is in the
//! head.
//!
//! Each page read is compared with its own checksum, computed when the heads were gathered. The checksums of
//! the lists cover blocks of 64 KiB, sixteen times what a search in small chunks reads.
//!
//! A compressed list is read and decoded as a whole when its head is not enough. Lists longer than half a
//! frame are read from the map, whose memory is then released.
//!
//! In a version of several layers, deleted arcs of the complete layer are removed from its heads once, before
//! the first scan, and from its tails as they are read. Beside weights they stay, because weights lie in the
//! order of the lists.
//!
//! Heads are gathered by reading all lists, or taken from files beside the lists where they were gathered
//! before ([`StoredHeads`]).

mod lists;
mod head_lengths;
mod degrees;
mod side;
mod stretches;
mod coded;
mod gather;
mod tails;
mod stored;
mod load;
mod dead_filter;
mod needs;
mod write;
mod source;

pub(crate) use degrees::ListDegrees;
pub use needs::{HeadedNeeds, Heads};
pub(crate) use source::{HeadSpec, HeadedSource};
pub use stored::{StoredHeads, heads_directory};
pub use write::write_heads;
