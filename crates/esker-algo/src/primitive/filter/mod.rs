//! A filter: part of the edges of a graph that is never changed, one bit an edge.
//!
//! As in Sage [1]: the list of each vertex is cut into blocks of 64 edges, each of which has a word of bits, its number in
//! the list and the number of active edges before it. An edge is removed by clearing its bit. Blocks without active edges
//! are skipped, and moved away once half of those of a vertex are empty, so later passes cost what is left of the list,
//! not what it was. Words are taken apart bit by bit with trailing-zero counts.
//!
//! A filter is a graph itself ([`esker_graph::Graph`], [`esker_graph::Lists`]), so algorithms run on what is left. Where nothing was removed it
//! hands on the slices of the graph inside. It may be of an undirected graph as such, or of one or both directions
//! ([`Sides`]): a predicate that prefers one direction of an edge makes a directed graph of an undirected one.
//!
//! [`Filter::pack`] looks at the lists of some vertices only. The other ends of the edges that it removes still have them;
//! they are marked as *dirty* until [`Filter::settle`] removes them there too.
//!
//! Memory: m/32 words (16 bytes for 64 edges) and at most 4 words and n/64 a vertex, for each direction. Making one does not
//! read a list; every other operation reads those of the vertices that it is about.
//!
//! [1] L. Dhulipala et al., "Sage: Parallel Semi-Asymmetric Graph Algorithms for NVRAMs", VLDB 2020, section 4.2.

mod blocks;
mod edges;
mod scan;

pub use edges::{Filter, Sides, memory_bytes};
