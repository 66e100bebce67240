//! The vertex order: degrees, the locality that each order gives, and the renumbering by descending degree.
//!
//! The cost of an analysis is that of reading something of each neighbour. Such an access is cheap if the neighbour
//! lies near the vertex itself or among the few vertices whose data stay in cache. So the locality of an order is the
//! share of accesses to a neighbour that is *near* (at most [`NEAR_MAX`] away) or *hot* (in the given order: one of the
//! first; in degree order: one of those with the most edges). Road networks and crawls have it in the order in which
//! they come; Kronecker and social graphs only in degree order; uniformly random graphs never.

use esker_graph::VertexId;

use super::distinct::mix;
use super::edges::Edges;
use super::options::{OrderChoice, VertexOrder};
use super::radix::sort_parallel;
use super::scratch::Work;
use crate::error::{Error, Result};

/// Neighbours closer than this (and than 1/64 of the vertices) count as near.
const NEAR_MAX: u64 = 1 << 16;

/// About how many edges the sample has.
const SAMPLE_EDGES: u64 = 1 << 16;

/// Degree order must make this much more of the accesses cheap, in percent of all, to be chosen.
const GAIN_MIN_PERCENT: u64 = 5;

/// Edges taken evenly from the whole input. The same whatever the limits and threads.
pub(super) fn sample(work: &Work, edges: &Edges) -> Result<Vec<[VertexId; 2]>> {
    let stride = (edges.num_edges() / SAMPLE_EDGES).max(1);
    let mut sample = Vec::new();
    for block in 0..edges.num_blocks() {
        work.check()?;
        let (start, end) = (edges.block_start(block), edges.block_start(block + 1));
        for step in start / stride..=end / stride {
            // Noise, so that no period of the input is met.
            let index = step * stride + mix(step) % stride;
            if (start..end).contains(&index) {
                sample.push(edges.pair(block, (index - start) as usize)?);
            }
        }
    }
    Ok(sample)
}

/// How many vertices count as hot, and how far a near neighbour may be.
fn window(num_vertices: u64) -> u64 {
    (num_vertices / 64).clamp(1, NEAR_MAX)
}

/// Chooses between the orders by a sample of edges. `degree_of` gives degrees; `hot_degree` is the degree of the last
/// of the hot vertices in degree order, see [`hot_degree`].
pub(super) fn choose(
    sample: &[[VertexId; 2]],
    num_vertices: u64,
    hot_degree: u32,
    degree_of: impl Fn(VertexId) -> u32,
) -> OrderChoice {
    let window = window(num_vertices);
    let (mut keep, mut degree) = (0u64, 0u64);
    for &[u, v] in sample {
        let near = u64::from(u.abs_diff(v)) <= window;
        for end in [u, v] {
            keep += u64::from(near || u64::from(end) < window);
            degree += u64::from(degree_of(end) >= hot_degree);
        }
    }
    let percent = |count: u64| (100 * count).checked_div(2 * sample.len() as u64).unwrap_or(0);
    let (keep, degree) = (percent(keep), percent(degree));
    let reason = format!("as they come, {keep}% of neighbours are near or hot; by degree, {degree}%");
    let order = if degree >= keep + GAIN_MIN_PERCENT { VertexOrder::Degree } else { VertexOrder::Keep };
    OrderChoice { order, reason }
}

/// Degrees from here on are counted together when the hot vertices are found.
pub(super) const DEGREE_CLASSES: usize = 1 << 16;

/// The least degree of those vertices that come first in degree order, if not many more vertices have it: in a graph
/// where most degrees are equal none is hot. `counts[d]` is the number of vertices of degree `d`, the last of those
/// with at least that degree.
pub(super) fn hot_degree(counts: &[u64], num_vertices: u64) -> u32 {
    let room = window(num_vertices);
    let mut sum = 0;
    for (degree, &count) in counts.iter().enumerate().rev() {
        sum += count;
        if sum > room {
            return degree as u32 + 1;
        }
    }
    0
}

/// Numbers of vertices by descending degree, ties by the number that they had.
/// Memory while it runs: 16 bytes a vertex; see [`renumbering_bytes`].
pub(super) fn by_degree(work: &Work, degrees: &[u32]) -> Result<Vec<VertexId>> {
    let mut ranked: Vec<[u32; 2]> = Vec::new();
    if degrees.len() as u64 > 1 << 32 {
        return Err(Error::Invalid("too many vertices to be ordered in memory".to_owned()));
    }
    ranked.extend(degrees.iter().enumerate().map(|(v, &degree)| [u32::MAX - degree, v as u32]));
    let mut spare = ranked.clone();
    sort_parallel(&work.run, &mut ranked, &mut spare, |r| r[0])?;
    drop(spare);
    let mut renumbered = vec![0; degrees.len()];
    for (new, &[_, old]) in ranked.iter().enumerate() {
        renumbered[old as usize] = new as VertexId;
    }
    Ok(renumbered)
}

/// What [`by_degree`] needs, its result included.
pub(super) fn renumbering_bytes(num_vertices: u64) -> u64 {
    num_vertices * (16 + size_of::<VertexId>() as u64)
}
