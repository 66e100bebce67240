//! The vertex order: degrees, the locality that each order gives, and the renumbering by descending degree.
//!
//! The cost of an analysis is that of reading something of each neighbour. Such an access is cheap if the
//! neighbour lies near the vertex itself or among the few vertices whose data stay in cache. So the locality
//! of an order is the share of accesses to a neighbour that is *near* (at most [`NEAR_MAX`] away) or *hot*.
//! In the given order the first vertices are hot; in degree order, those with the most edges. Road networks
//! and crawls have it in the order in which they come; Kronecker and social graphs only in degree order;
//! uniformly random graphs never.

use esker_format::Result;
use esker_graph::VertexId;
use esker_graph::random::mix;

use crate::build::edges::Edges;
use crate::options::{NumberingOrder, OrderChoice};
use crate::sort::scratch::Workspace;

/// Neighbours closer than this (and than 1/64 of the vertices) count as near.
const NEAR_MAX: u64 = 1 << 16;

/// About how many edges the sample has.
const SAMPLE_EDGES: u64 = 1 << 16;

/// Degree order must make this much more of the accesses cheap, in percent of all, to be chosen.
const GAIN_MIN_PERCENT: u64 = 5;

/// Edges taken evenly from the whole input. The same whatever the limits and threads.
pub(crate) fn sample(work: &Workspace, edges: &Edges) -> Result<Vec<[VertexId; 2]>> {
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

/// Chooses between the orders by a sample of edges. `degree_of` gives degrees; `hot_degree` is the degree of
/// the last of the hot vertices in degree order, see [`hot_degree`].
pub(crate) fn choose(
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
    let order = if degree >= keep + GAIN_MIN_PERCENT { NumberingOrder::Degree } else { NumberingOrder::Keep };
    OrderChoice { order, reason }
}

/// Degrees from here on are counted together when the hot vertices are found.
pub(crate) const DEGREE_CLASSES: usize = 1 << 16;

/// The least degree of those vertices that come first in degree order, if not many more vertices have it: in
/// a graph where most degrees are equal none is hot. `counts[d]` is the number of vertices of degree `d`, the
/// last of those with at least that degree.
pub(crate) fn hot_degree(counts: &[u64], num_vertices: u64) -> u32 {
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

/// Vertices between two looks for cancellation.
const CHECK_EVERY: usize = 1 << 20;

/// Numbers of vertices by descending degree, ties by the number that they had: a counting sort, and for the
/// few degrees of [`DEGREE_CLASSES`] and more a sort by comparison. Memory: the result, and 16 bytes for each
/// of those few.
pub(crate) fn by_degree(
    work: &Workspace,
    num_vertices: u64,
    degree_of: impl Fn(usize) -> u32,
) -> Result<Vec<VertexId>> {
    let n = num_vertices as usize;
    let class_of = |v: usize| (degree_of(v) as usize).min(DEGREE_CLASSES - 1);
    let mut next = vec![0 as VertexId; DEGREE_CLASSES];
    for v in 0..n {
        if v % CHECK_EVERY == 0 {
            work.check()?;
        }
        next[class_of(v)] += 1;
    }
    let mut first = 0;
    for count in next.iter_mut().rev() {
        (*count, first) = (first, first + *count);
    }
    let mut renumbered = vec![0; n];
    let mut large = Vec::new();
    for (v, number) in renumbered.iter_mut().enumerate() {
        if v % CHECK_EVERY == 0 {
            work.check()?;
        }
        let class = class_of(v);
        *number = next[class];
        next[class] += 1;
        if class == DEGREE_CLASSES - 1 {
            large.push((std::cmp::Reverse(degree_of(v)), v));
        }
    }
    large.sort_unstable();
    for (number, &(_, v)) in large.iter().enumerate() {
        renumbered[v] = number as VertexId;
    }
    Ok(renumbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_of_every_size_are_in_order() {
        let degrees: Vec<u32> = (0..5000).map(|i| (mix(i) >> (mix(i + 7) % 33 + 31)) as u32).collect();
        let run = std::sync::Arc::new(esker_graph::Run::with_threads(1).unwrap());
        let work = Workspace::new(run, 0, std::env::temp_dir());
        let renumbered = by_degree(&work, 5000, |v| degrees[v]).unwrap();
        let mut expected: Vec<usize> = (0..5000).collect();
        expected.sort_by_key(|&v| (std::cmp::Reverse(degrees[v]), v));
        assert!(degrees.iter().filter(|&&degree| degree >= 1 << 16).count() > 10);
        for (number, &v) in expected.iter().enumerate() {
            assert_eq!(renumbered[v] as usize, number);
        }
    }
}
