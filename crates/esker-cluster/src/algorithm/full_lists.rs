//! All neighbours of the own vertices, whatever the directions of edges, by address: the shard that owns a
//! vertex and its number there.
//!
//! In a directed cluster the arcs to a vertex lie with the owners of their sources, which tell the owner of
//! the vertex; so do the shards that have parts of the list of a delegate. Loops are left out, and neighbours
//! are distinct. Memory: 8 bytes for each end of an edge, and 24 a vertex.

use esker_format::Result;
use esker_graph::{Direction, Graph, Lists, VertexId};

use super::local::Local;
use crate::net::engine::Engine;

/// Bits of an address that number a vertex within its shard.
const NUMBER_BITS: u32 = 48;

/// The shard of an address.
pub(crate) fn shard_of(address: u64) -> usize {
    (address >> NUMBER_BITS) as usize
}

/// The number of an address within its shard.
pub(crate) fn number_of(address: u64) -> usize {
    (address & ((1 << NUMBER_BITS) - 1)) as usize
}

/// The address of a vertex.
pub(crate) fn address(shard: usize, number: usize) -> u64 {
    (shard as u64) << NUMBER_BITS | number as u64
}

/// The neighbours of each own vertex, ascending by address; of a ghost none.
pub(crate) fn full_lists(local: &Local<'_, '_>, engine: &mut Engine<'_>) -> Result<Vec<Vec<u64>>> {
    let (graph, routes) = (local.graph, local.routes);
    let n = graph.num_vertices();
    let mut addresses: Vec<u64> = (0..n).map(|v| address(routes.shard(), v)).collect();
    let own = |v: VertexId| Some(address(routes.shard(), v as usize));
    routes.to_ghosts(engine, 0, own, |ghost, owned| addresses[ghost as usize] = owned)?;
    let mut lists = vec![Vec::new(); n];
    let directions: &[Direction] =
        if graph.is_directed() { &[Direction::Out, Direction::In] } else { &[Direction::Out] };
    for v in routes.owned() {
        for &direction in directions {
            let list: &mut Vec<u64> = &mut lists[v as usize];
            graph.with_list(direction, v, |targets, _| {
                list.extend(targets.iter().map(|&target| addresses[target as usize]));
            })?;
        }
    }
    if graph.is_directed() || routes.has_delegates() {
        let mut told = Vec::new();
        let mut tell = |direction, ghost: VertexId| {
            graph.with_list(direction, ghost, |others, _| {
                told.extend(others.iter().map(|&other| (ghost, addresses[other as usize])));
            })
        };
        if graph.is_directed() {
            let mut ghosts = (0..n).map(esker_graph::vertex).filter(|&v| !routes.is_owned(v));
            ghosts.try_for_each(|ghost| tell(Direction::In, ghost))?;
        }
        routes.delegated_ghosts().iter().try_for_each(|&ghost| tell(Direction::Out, ghost))?;
        routes.tell_owners(engine, 0, told.into_iter(), |v, source| lists[v as usize].push(source))?;
    }
    for (v, list) in lists.iter_mut().enumerate() {
        list.sort_unstable();
        list.dedup();
        let own = addresses[v];
        list.retain(|&other| other != own);
        list.shrink_to_fit();
    }
    Ok(lists)
}
