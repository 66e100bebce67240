//! Verifies biconnectivity.

use std::collections::HashMap;

use esker_graph::{VertexId, Weight, vertex};

use crate::check::neighbourhood::neighbourhoods;
use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `block` names the block of each edge of the undirected graph `out`, and that
/// `articulation_points` and `bridges` (ascending by their second ends) follow from the blocks and are
/// complete.
///
/// Finds the blocks by depth-first search [1] and compares which edges share a block, not the names.
///
/// [1] J. Hopcroft, R. Tarjan, "Algorithm 447: efficient algorithms for graph manipulation", CACM 16, 1973.
///
/// # Errors
/// The first violated property.
pub fn biconnectivity<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    block: impl Fn(VertexId, VertexId) -> VertexId,
    articulation_points: &[VertexId],
    bridges: &[(VertexId, VertexId)],
    count: usize,
) -> Result<(), Rejection> {
    let out = out.into();
    let lists = neighbourhoods(out)?;
    let blocks = blocks(out, &lists)?;
    let mut names = HashMap::new();
    let mut homes = vec![Vec::new(); lists.len()];
    for (i, edges) in blocks.iter().enumerate() {
        let name = block(edges[0].0, edges[0].1);
        out.ensure(names.insert(name, i).is_none(), || format!("two blocks have the name {name}"))?;
        for &(u, v) in edges {
            let (there, back) = (block(u, v), block(v, u));
            out.ensure(there == name && back == name, || {
                format!("edge {u} - {v} is in blocks {there} and {back} but its block is {name}")
            })?;
            homes[u as usize].push(i);
            homes[v as usize].push(i);
        }
    }
    out.ensure(count == blocks.len(), || {
        format!("the count is {count} but there are {} blocks", blocks.len())
    })?;
    let in_several = |v: &VertexId| homes[*v as usize].iter().any(|&home| home != homes[*v as usize][0]);
    let points: Vec<VertexId> = (0..lists.len()).map(vertex).filter(in_several).collect();
    out.ensure(points == articulation_points, || {
        format!("the articulation points are {points:?}, not {articulation_points:?}")
    })?;
    let sorted = |mut edges: Vec<(VertexId, VertexId)>| {
        edges.iter_mut().for_each(|edge| *edge = (edge.0.min(edge.1), edge.0.max(edge.1)));
        edges.sort_unstable();
        edges
    };
    let is_single = |edges: &&Vec<(VertexId, VertexId)>| {
        edges.len() == 1 && out.between(edges[0].0, edges[0].1).len() == 1
    };
    let single = sorted(blocks.iter().filter(is_single).map(|edges| edges[0]).collect());
    out.ensure(single == sorted(bridges.to_vec()), || {
        format!("the bridges are {single:?}, not {bridges:?}")
    })?;
    out.ensure(bridges.is_sorted_by_key(|edge| edge.1), || "the bridges are not ascending".to_owned())
}

/// The edges of each block of an undirected simple graph.
fn blocks<W: Weight>(
    out: WatchedRows<'_, W>,
    lists: &[Vec<VertexId>],
) -> Result<Vec<Vec<(VertexId, VertexId)>>, Rejection> {
    let n = lists.len();
    let (mut found, mut low, mut time) = (vec![0usize; n], vec![0usize; n], 0);
    let (mut edges, mut blocks) = (Vec::new(), Vec::new());
    for root in 0..n {
        if found[root] != 0 {
            continue;
        }
        time += 1;
        (found[root], low[root]) = (time, time);
        // A vertex, its parent, and the number of its neighbours visited so far.
        let mut path = vec![(root, root, 0)];
        while let Some((v, parent, next)) = path.last_mut() {
            out.check()?;
            let (v, parent) = (*v, *parent);
            if let Some(&u) = lists[v].get(*next) {
                *next += 1;
                let u = u as usize;
                if found[u] == 0 {
                    time += 1;
                    (found[u], low[u]) = (time, time);
                    edges.push((vertex(v), vertex(u)));
                    path.push((u, v, 0));
                } else if u != parent && found[u] < found[v] {
                    edges.push((vertex(v), vertex(u)));
                    low[v] = low[v].min(found[u]);
                }
                continue;
            }
            path.pop();
            if v != parent {
                low[parent] = low[parent].min(low[v]);
                if low[v] >= found[parent] {
                    let tree_edge = (vertex(parent), vertex(v));
                    let first = edges
                        .iter()
                        .rposition(|&edge| edge == tree_edge)
                        .expect("the tree edge is on the stack");
                    blocks.push(edges.split_off(first));
                }
            }
        }
    }
    Ok(blocks)
}
