//! Verifies a spanner.

use std::collections::HashSet;

use esker_graph::{Csr, Direction, VertexId, Weight, vertex};

use crate::check::components::ldd::depths;
use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `edges` are edges of the undirected graph `out`; that along them every vertex is at most
/// `radius` edges from its centre, within its cluster. Also checks that one of them joins every two clusters
/// that an edge of the graph joins. So the ends of any edge of the graph are at most 4 radius + 1 edges
/// apart.
///
/// # Errors
/// The first violated property.
pub fn spanner<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    edges: &[(VertexId, VertexId)],
    clusters: &[VertexId],
    radius: usize,
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    let mut listed = Vec::with_capacity(edges.len());
    for &(u, v) in edges {
        let is_edge = (u.max(v) as usize) < n && out.list(u)?.0.binary_search(&v).is_ok();
        out.ensure(is_edge, || format!("{u} - {v} is not an edge of the graph"))?;
        listed.push((u, v, ()));
    }
    let csr = Csr::undirected(n, &listed).map_err(|stop| Rejection::Wrong(stop.to_string()))?;
    let graph = csr.graph();
    let spanner = graph.rows(Direction::Out).expect("out-lists are always kept");
    for (v, &depth) in depths(out.beside(spanner), clusters)?.iter().enumerate() {
        out.ensure(depth as usize <= radius, || {
            format!("vertex {v} is {depth} edges from its centre {}, more than {radius}", clusters[v])
        })?;
    }
    let between = |u: VertexId, v: VertexId| (clusters[u as usize], clusters[v as usize]);
    let joined: HashSet<_> = edges.iter().flat_map(|&(u, v)| [between(u, v), between(v, u)]).collect();
    for u in (0..n).map(vertex) {
        for &v in out.list(u)?.0 {
            let (a, b) = between(u, v);
            out.ensure(a == b || joined.contains(&(a, b)), || {
                format!("edge {u} - {v} joins the clusters {a} and {b}, but no edge of the spanner does")
            })?;
        }
    }
    Ok(())
}
