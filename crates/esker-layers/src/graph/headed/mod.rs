//! Lists whose heads are in memory and whose tails are on disk (Iwabuchi, thesis, chapter 3: NETALX).
//!
//! The first *k* neighbours of every vertex are kept in memory; what a list has beyond is read when a visitor asks for more. Where vertices
//! are numbered by descending degree, the first neighbours are those of the highest degree, among which a bottom-up search finds a parent in
//! most cases; so few tails are read, each in small chunks until one is found. A scan that wants whole lists reads long runs. Reads go past the
//! page cache, sorted, merged where they are near, many at a time.
//!
//! Every page that is read is compared with a checksum of its own, taken when the heads were gathered: checksums on disk are of blocks of 64 KiB,
//! which are sixteen times as much as a search in small chunks reads.

mod share;
mod side;
mod tails;
mod needs;
mod source;

pub use needs::{HeadedNeeds, Heads};
pub(crate) use source::HeadedSource;
