//! What is computed of finished communities: their connected parts, their quality, their names.

use esker_graph::{NONE, Run, Stop, VertexId, vertex};

use super::adjacency::{Adjacency, PartBuffers, each_entry};
use crate::primitive::{UnionFind, VertexArray};

/// Vertices that threads take at once.
const GRAIN: usize = 1 << 10;

/// Makes each connected part of a community a community of its own. Returns whether any was in parts.
pub(super) fn split<E: From<Stop> + Send>(
    run: &Run,
    lists: &dyn Adjacency<Error = E>,
    of: &VertexArray,
    communities: usize,
) -> Result<bool, E> {
    let sets = UnionFind::new(run, of.len());
    run.share_ranges(of.len(), GRAIN, PartBuffers::default, |buffers, range| {
        range.map(vertex).try_for_each(|v| {
            each_entry(lists, v, buffers, |u, units| {
                if u < v && units > 0 && of.get(u) == of.get(v) {
                    sets.link(u, v);
                }
            })
        })
    })?;
    let is_split = sets.flatten(run)? != communities;
    if is_split {
        crate::primitive::each_vertex(run, of.len(), |v| of.set(v, sets.above(v)))?;
    }
    Ok(is_split)
}

/// The strength of each vertex: the sum of the weights of its edges, a self-loop twice.
pub(super) fn strengths<E: From<Stop> + Send>(
    run: &Run,
    lists: &dyn Adjacency<Error = E>,
) -> Result<Vec<u64>, E> {
    let sums = crate::primitive::VertexValues::filled(run, lists.num_nodes(), 0_u64);
    run.share_ranges(lists.num_nodes(), GRAIN, PartBuffers::default, |buffers, range| {
        range.map(vertex).try_for_each(|v| {
            let mut sum = 0;
            each_entry(lists, v, buffers, |u, units| sum += if u == v { 2 * units } else { units })?;
            sums.set(v, sum);
            Ok::<(), E>(())
        })
    })?;
    Ok(sums.into_vec())
}

/// Twice the weight of all edges inside communities.
pub(super) fn inside<E: From<Stop> + Send>(
    run: &Run,
    lists: &dyn Adjacency<Error = E>,
    of: &VertexArray,
) -> Result<u64, E> {
    let new_state = || (PartBuffers::default(), 0);
    let sums = run.share_ranges(of.len(), GRAIN, new_state, |(buffers, sum), range| {
        range.map(vertex).try_for_each(|v| {
            let own = of.get(v);
            each_entry(lists, v, buffers, |u, units| {
                if u == v {
                    *sum += 2 * units;
                } else if of.get(u) == own {
                    *sum += units;
                }
            })
        })
    })?;
    Ok(sums.into_iter().map(|(_, sum)| sum).sum())
}

/// The member of each vertex's community that has the longest list, the first of several: the name of the
/// community.
pub(super) fn names<E: From<Stop> + Send>(
    run: &Run,
    lists: &dyn Adjacency<Error = E>,
    of: &VertexArray,
) -> Result<Vec<VertexId>, Stop> {
    let mut best = vec![NONE; of.len()];
    for v in (0..of.len()).map(vertex) {
        if v % (1 << 16) == 0 {
            run.check()?;
        }
        let best = &mut best[of.get(v) as usize];
        if *best == NONE || lists.degree(v) > lists.degree(*best) {
            *best = v;
        }
    }
    Ok(VertexArray::from_fn(run, of.len(), |v| best[of.get(vertex(v)) as usize]).into_vec())
}
