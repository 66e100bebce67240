//! Verifies a truss decomposition.

use std::collections::HashMap;

use esker_graph::{Rows, VertexId, Weight, vertex};

use super::neighbourhood::neighbourhoods;
use super::wrong::{Wrong, ensure};

/// Checks that `edges` are those of the undirected simple graph that underlies `out`, each once, and that `trussness`
/// is the largest `k` of a truss that contains each. For ascending `k`, repeatedly removes edges in fewer than `k` - 2
/// triangles of remaining edges; these must be the edges of lesser trussness.
///
/// # Errors
/// The first violated property.
pub fn truss<W: Weight>(
    out: &Rows<'_, W>,
    edges: &[(VertexId, VertexId)],
    trussness: &[VertexId],
) -> Result<(), Wrong> {
    let mut lists = neighbourhoods(out);
    let total: usize = lists.iter().map(Vec::len).sum();
    ensure(edges.len() * 2 == total && trussness.len() == edges.len(), || {
        let count = total / 2;
        format!("{} edges and {} values, but the graph has {count} edges", edges.len(), trussness.len())
    })?;
    let mut given = HashMap::new();
    for (&(u, v), &value) in edges.iter().zip(trussness) {
        let known = lists.get(u as usize).is_some_and(|list| list.binary_search(&v).is_ok());
        let first = given.insert((u.min(v), u.max(v)), value).is_none();
        ensure(known && first && value >= 2, || {
            format!("edge {u} - {v} is not in the graph, is repeated, or has trussness {value}, less than 2")
        })?;
    }
    for k in 3.. {
        while let Some((u, v)) = weak(&lists, k) {
            let value = given[&(u.min(v), u.max(v))];
            ensure(value == vertex(k - 1), || {
                format!(
                    "edge {u} - {v} is in a {}-truss but not in a {k}-truss, and has trussness {value}",
                    k - 1
                )
            })?;
            for (u, v) in [(u, v), (v, u)] {
                lists[u as usize].retain(|&w| w != v);
            }
        }
        if lists.iter().all(Vec::is_empty) {
            return Ok(());
        }
    }
    Ok(())
}

/// An edge in fewer than `k` - 2 triangles.
fn weak(lists: &[Vec<VertexId>], k: usize) -> Option<(VertexId, VertexId)> {
    (0..lists.len()).find_map(|u| {
        let list = &lists[u];
        let few = |v: &&VertexId| super::neighbourhood::common(list, &lists[**v as usize]) + 2 < k as u64;
        list.iter().find(few).map(|&v| (vertex(u), v))
    })
}
