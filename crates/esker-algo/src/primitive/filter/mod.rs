//! A filter: a subset of the edges of an immutable graph, at one bit per edge.
//!
//! As in Sage [1], the list of each vertex is divided into blocks of 64 edges. Each block has a word of bits,
//! its position in the list, and the number of active edges before it. Clearing its bit removes an edge.
//! Scans skip blocks without active edges; once more than half the blocks of a vertex are empty, the empty
//! ones are dropped, so later passes cost as much as the remaining list, not the original one. Words are
//! decoded bit by bit with trailing-zero counts.
//!
//! A filter is a graph itself ([`esker_graph::Graph`], [`esker_graph::Lists`]), so algorithms run on the
//! remaining edges. For lists without removed edges it passes on the slices of the wrapped graph.
//! [`FilteredDirections`] says which lists it covers: an undirected graph as a whole, or one or both
//! directions. A predicate that accepts only one direction of each edge turns an undirected graph into a
//! directed one.
//!
//! [`Filter::pack`] filters the lists of some vertices only. The lists at the other ends of the removed edges
//! still contain them; those vertices are marked *dirty* until [`Filter::settle`] removes the edges there
//! too.
//!
//! Memory per direction: m/32 words (16 bytes per 64 edges), and at most 4 words and n/64 per vertex. Making
//! a filter reads no list; every other operation reads only the lists of the vertices it concerns.
//!
//! [1] L. Dhulipala et al., "Sage: Parallel Semi-Asymmetric Graph Algorithms for NVRAMs", VLDB 2020, section
//!     4.2.

mod blocks;
mod edges;
mod scan;

pub use edges::{Filter, FilteredDirections, memory_bytes};
