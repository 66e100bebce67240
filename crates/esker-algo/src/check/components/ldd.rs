//! Verifies a low-diameter decomposition.

use esker_graph::{NONE, VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `clusters` divides the undirected graph `out` into connected clusters, each named by its
/// centre, and that no vertex is more than `radius` edges from its centre within its cluster. Returns the
/// number of arcs between clusters.
///
/// # Errors
/// The first violated property.
pub fn ldd<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    clusters: &[VertexId],
    radius: usize,
) -> Result<u64, Rejection> {
    let out = out.into();
    let depths = depths(out, clusters)?;
    for (v, &depth) in depths.iter().enumerate() {
        out.ensure(depth as usize <= radius, || {
            format!("vertex {v} is {depth} edges from its centre {}, more than {radius}", clusters[v])
        })?;
    }
    let mut between = 0;
    for (v, own) in clusters.iter().enumerate() {
        between += out.list(vertex(v))?.0.iter().filter(|&&u| clusters[u as usize] != *own).count() as u64;
    }
    Ok(between)
}

/// Checks the trees of a decomposition: a centre is its own parent at depth 0, and any other vertex is one
/// level below a neighbour in its cluster.
///
/// # Errors
/// The first violated property.
pub fn ldd_trees<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    clusters: &[VertexId],
    parents: &[VertexId],
    depths: &[VertexId],
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    let fit = [clusters.len(), parents.len(), depths.len()] == [n; 3];
    out.ensure(fit, || format!("the arrays do not have one value for each of {n} vertices"))?;
    for v in (0..n).map(vertex) {
        let (cluster, parent, depth) = (clusters[v as usize], parents[v as usize], depths[v as usize]);
        if cluster == v {
            let root = parent == v && depth == 0;
            out.ensure(root, || format!("centre {v} has parent {parent} and depth {depth}"))?;
            continue;
        }
        out.ensure(!out.between(v, parent).is_empty(), || {
            format!("no edge from {v} to its parent {parent}")
        })?;
        let above = (clusters[parent as usize], depths[parent as usize]);
        out.ensure(depth > 0 && above == (cluster, depth - 1), || {
            format!(
                "vertex {v} of cluster {cluster} at depth {depth} has parent {parent} of cluster {} at depth {}",
                above.0, above.1
            )
        })?;
    }
    Ok(())
}

/// The number of edges to each vertex from its centre, within its cluster.
pub(crate) fn depths<W: Weight>(
    out: WatchedRows<'_, W>,
    clusters: &[VertexId],
) -> Result<Vec<VertexId>, Rejection> {
    let n = out.num_vertices();
    out.ensure(clusters.len() == n, || format!("{} clusters for {n} vertices", clusters.len()))?;
    let centres: Vec<VertexId> = (0..n).map(vertex).filter(|&v| clusters[v as usize] == v).collect();
    let mut depths = vec![NONE; n];
    centres.iter().for_each(|&v| depths[v as usize] = 0);
    let mut queue = std::collections::VecDeque::from(centres);
    while let Some(v) = queue.pop_front() {
        for &u in out.list(v)?.0 {
            if clusters[u as usize] == clusters[v as usize] && depths[u as usize] == NONE {
                depths[u as usize] = depths[v as usize] + 1;
                queue.push_back(u);
            }
        }
    }
    if let Some(v) = depths.iter().position(|&depth| depth == NONE) {
        return Err(Rejection::Wrong(format!(
            "vertex {v} is not connected to its centre within its cluster"
        )));
    }
    Ok(depths)
}
