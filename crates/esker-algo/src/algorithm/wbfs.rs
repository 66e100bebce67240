//! Weighted breadth-first search: shortest paths over edges of integral length, settled distance by distance.
//!
//! Dial's algorithm in parallel, as in Julienne [1] and Sage: a bucket for each distance. It is delta-stepping (file
//! `delta_stepping.rs`) with buckets of width 1, of which a window is open and the rest waits in one overflow: so every vertex
//! leaves its bucket once, unless edges of length 0 lead within it. Suits lengths that are small integers; for others,
//! `sssp` takes wider buckets.
//!
//! Work O(n + m) and a round for each distance that occurs. Memory and reading: as `sssp`.
//!
//! [1] L. Dhulipala, G. Blelloch, J. Shun, "Julienne: A Framework for Parallel Graph Algorithms using Work-efficient
//!     Bucketing", SPAA 2017.

use esker_graph::{Graph, Run, Stop, VertexId};

use super::sssp::{self, Sssp, SsspOptions};
use crate::estimate::{Estimate, Shape};
use crate::lengths::Length;

/// What is wanted of a weighted breadth-first search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WbfsOptions {
    /// Whether the edges by which vertices are reached are wanted; for these the lists are read once more.
    pub parents: bool,
}

/// What the search will take; the reading is what is expected.
pub fn estimate(shape: Shape, options: &WbfsOptions) -> Estimate {
    sssp::estimate(shape, &by_ones(options))
}

fn by_ones(options: &WbfsOptions) -> SsspOptions {
    SsspOptions { delta: Some(1.0), parents: options.parents }
}

/// Finds the distances from `source`. A graph without weights has edges of length 1.
///
/// # Errors
/// [`Stop::Unsuitable`] if lengths are not integers; otherwise as [`sssp::sssp`].
pub fn wbfs<G: Graph>(
    graph: &G,
    run: &Run,
    source: VertexId,
    options: &WbfsOptions,
) -> Result<Sssp<G::Weight>, G::Error>
where
    G::Weight: Length,
{
    if !<G::Weight as Length>::INTEGRAL {
        let message = "weighted breadth-first search takes integral lengths: use sssp for others";
        return Err(Stop::Unsuitable(message.to_owned()).into());
    }
    sssp::sssp(graph, run, source, &by_ones(options))
}
