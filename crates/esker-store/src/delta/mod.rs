//! A graph that changes edge by edge: a degree-aware set of Robin Hood hash tables, DegAwareRHH [1, chapter 4].
//!
//! Vertices are divided over shards by their hash. In a shard, a vertex with few edges has them in a *low-degree table* of
//! (source, target); one with more has an entry in the *vertex table* and an *edge chunk*, a table of its targets. All are
//! open-addressed, linearly probed, with one control byte a slot, and hold control bytes, keys and payloads in arrays apart.
//! Chunks come from a pool of size classes, named by 32-bit handles. All memory comes from a [`crate::io::Scratch`]: the heap, or
//! a scratch file, which lets a graph outgrow the machine's memory.
//!
//! * A slot is empty, live or dead; removal leaves it dead with its probe distance. A table that has many dead slots is laid out anew.
//! * A table grows when 90 % of it is used, or when a key is 126 slots or more from home while half of it is used; if less is, its
//!   hashes change instead, so keys that collide on purpose do not last.
//! * Growing pours one table into another in the order of the hashes, reading and writing both from end to end.
//! * In a multigraph, copies of an edge are numbered, and the number is part of the key: thousands of copies make no long probes.
//!
//! Differences to [1]: shards in one address space instead of processes; capacities between powers of two (less memory); hashes keep order
//! (sequential growth); a vertex moves back to the low-degree table at half the threshold only.
//!
//! [1] K. Iwabuchi, "NETALX and DegAwareRHH", thesis, chapter 4.

mod hash;
mod prefetch;
mod robin;
mod compact;
mod layout;
mod table;
mod pool;
mod chunk;
mod shard;
mod side;
mod index;
mod graph;
mod batch;
mod scan;
mod rows;
#[cfg(test)]
mod tests;

pub use batch::{Applied, Update};
pub use graph::{DynamicGraph, DynamicGraphOptions, Edges};
pub use layout::Payload;
pub use rows::SortedLists;
pub use scan::Unweighted;
