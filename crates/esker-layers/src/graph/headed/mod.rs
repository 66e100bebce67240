//! Lists with their heads in memory and their tails on disk (Iwabuchi, thesis, chapter 3: NETALX).
//!
//! The head of a list is its first *k* neighbours. A tail is read only when a visitor asks for more. If vertices are numbered by descending
//! degree, heads hold the neighbours of highest degree, and a bottom-up search usually finds a parent there. So it reads few tails, in small
//! chunks until it finds one. A scan of whole lists reads long runs. Reads go past the page cache; they are sorted, merged where they are
//! near, and many are under way at a time.
//!
//! Each page read is compared with its own checksum, computed when the heads were gathered. The checksums of the lists cover blocks of 64 KiB,
//! sixteen times what a search in small chunks reads.
//!
//! Heads are gathered by reading all lists, or taken from files beside the lists where they were gathered before ([`StoredHeads`]).

mod share;
mod side;
mod tails;
mod lists;
mod stored;
mod load;
mod needs;
mod write;
mod source;

pub use needs::{HeadedNeeds, Heads};
pub(crate) use source::HeadedSource;
pub use stored::{StoredHeads, heads_directory};
pub use write::write_heads;
