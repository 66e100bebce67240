//! A dynamic graph: a degree-aware set of Robin Hood hash tables, DegAwareRHH [1, chapter 4].
//!
//! Vertices are divided over shards by their hash. In a shard, the edges of a low-degree vertex are in the
//! *low-degree table*, keyed by (source, target). Any other vertex has an entry in the *vertex table* and an
//! *edge chunk*, a table of its targets. All tables use open addressing, linear probing and one control byte
//! a slot, and hold control bytes, keys and payloads in separate arrays. Chunks come from a pool of size
//! classes and are named by 32-bit handles. All memory comes from a [`esker_format::io::Scratch`]: the heap,
//! or a scratch file, which lets a graph exceed the machine's memory.
//!
//! * A slot is empty, live or dead. Removal marks it dead and keeps its probe distance. A table with many
//!   dead slots is rebuilt.
//! * A table grows when 90 % of it is used, or when it is more than half used and a key is 126 slots or more
//!   from home. If it is less used, it is rebuilt with another hash seed instead, which defeats keys chosen
//!   to collide.
//! * Growing copies one table to another in order of hash, so both are read and written sequentially.
//! * In a multigraph, copies of an edge are numbered, and the number is part of the key: thousands of copies
//!   cause no long probes.
//!
//! Differences from [1]: shards share one address space instead of being processes; capacities lie between
//! powers of two (less memory); slots are in order of hash (sequential growth). A vertex moves back to the
//! low-degree table only at half the threshold.
//!
//! [1] K. Iwabuchi, "NETALX and DegAwareRHH", thesis, chapter 4.

mod hash;
mod robin;
mod compact;
mod layout;
mod table;
mod pool;
mod chunk;
mod shard;
mod sharded;
mod index;
mod graph;
mod batch;
mod scan;
#[cfg(test)]
mod tests;

pub use batch::{Applied, Update};
pub use graph::{DynamicEdges, DynamicGraph, DynamicGraphOptions};
pub use layout::Payload;
pub use scan::Unweighted;
