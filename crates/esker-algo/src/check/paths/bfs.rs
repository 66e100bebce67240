//! Verifies a breadth-first search.

use esker_graph::{NONE, VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `parents` (and `depths`, if given) are those of a breadth-first search from `sources` along
/// `out`.
///
/// Sources are their own parents, at depth 0; every other reached vertex has an edge from its parent, which
/// is one step nearer; no edge skips a level, and none leaves the reached set. Together these properties make
/// the depths exact.
///
/// # Errors
/// The first violated property.
pub fn bfs<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    sources: &[VertexId],
    parents: &[VertexId],
    depths: Option<&[VertexId]>,
) -> Result<(), Rejection> {
    bfs_within(out, sources, parents, depths, NONE)
}

/// As [`bfs`], of a search that ended with the vertices at `depth_max`: none is deeper, and only edges from
/// there may leave the reached set.
///
/// # Errors
/// The first violated property.
pub fn bfs_within<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    sources: &[VertexId],
    parents: &[VertexId],
    depths: Option<&[VertexId]>,
    depth_max: VertexId,
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(parents.len() == n, || format!("{} parents for {n} vertices", parents.len()))?;
    let found = depths_of(out, sources, parents)?;
    if let Some(depths) = depths {
        out.ensure(depths.len() == n, || format!("{} depths for {n} vertices", depths.len()))?;
        for v in 0..n {
            out.ensure(depths[v] == found[v], || {
                format!("vertex {v} has depth {} but {} parents lead to a source", depths[v], found[v])
            })?;
        }
    }
    for (v, &parent) in parents.iter().enumerate() {
        let v = vertex(v);
        if parent != NONE && parent != v {
            out.ensure(!out.between(parent, v).is_empty(), || {
                format!("vertex {v} has parent {parent} but no edge from it")
            })?;
        }
        let depth = found[v as usize];
        out.ensure(depth == NONE || depth <= depth_max, || {
            format!("vertex {v} has depth {depth}, beyond the limit {depth_max}")
        })?;
        if depth == NONE || depth == depth_max {
            continue;
        }
        for &next in out.list(v)?.0 {
            let (from, to) = (found[v as usize], found[next as usize]);
            out.ensure(to != NONE, || {
                format!("vertex {next} is unreached but has an edge from reached vertex {v}")
            })?;
            out.ensure(to <= from + 1, || {
                format!("edge {v} -> {next} leads from depth {from} to depth {to}")
            })?;
        }
    }
    Ok(())
}

/// The number of edges from each vertex up to its source along parents; `NONE` if unreached.
fn depths_of<W: Weight>(
    out: WatchedRows<'_, W>,
    sources: &[VertexId],
    parents: &[VertexId],
) -> Result<Vec<VertexId>, Rejection> {
    let n = parents.len();
    let mut depths = vec![NONE; n];
    for &source in sources {
        out.ensure((source as usize) < n, || format!("source {source} is not one of {n} vertices"))?;
        depths[source as usize] = 0;
        let parent = parents[source as usize];
        out.ensure(parent == source, || format!("source {source} has parent {parent}"))?;
    }
    let mut chain = Vec::new();
    for first in 0..n {
        out.check()?;
        let mut v = first;
        while depths[v] == NONE && parents[v] != NONE {
            chain.push(v);
            out.ensure(chain.len() <= n, || format!("the parents of vertex {first} form a cycle"))?;
            v = parents[v] as usize;
            out.ensure(v < n, || format!("parent {v} is not one of {n} vertices"))?;
        }
        let mut depth = depths[v];
        for below in chain.drain(..).rev() {
            out.ensure(depth != NONE, || format!("the parent of vertex {below} is unreached"))?;
            depth += 1;
            depths[below] = depth;
        }
    }
    Ok(depths)
}
