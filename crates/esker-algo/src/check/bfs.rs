//! Checks a breadth-first search.

use esker_graph::{NONE, Rows, VertexId, Weight, vertex};

use super::wrong::{Wrong, ensure};

/// Checks that `parents` (and `depths`, if given) are those of a breadth-first search from `sources` along `out`.
///
/// Sources are their own parents, at depth 0; every other reached vertex has an edge from its parent, which is one
/// step nearer; no edge skips a level, and none leaves the reached set. Together these make the depths exact.
///
/// # Errors
/// The first breach.
pub fn bfs<W: Weight>(
    out: &Rows<'_, W>,
    sources: &[VertexId],
    parents: &[VertexId],
    depths: Option<&[VertexId]>,
) -> Result<(), Wrong> {
    let n = out.num_vertices();
    ensure(parents.len() == n, || format!("{} parents for {n} vertices", parents.len()))?;
    let found = depths_of(sources, parents)?;
    if let Some(depths) = depths {
        ensure(depths.len() == n, || format!("{} depths for {n} vertices", depths.len()))?;
        for v in 0..n {
            ensure(depths[v] == found[v], || {
                format!("depth of {v} is {} but {} steps lead to it", depths[v], found[v])
            })?;
        }
    }
    for (v, &parent) in parents.iter().enumerate() {
        let v = vertex(v);
        if parent != NONE && parent != v {
            ensure(!out.between(parent, v).is_empty(), || {
                format!("no edge from {parent}, the parent of {v}")
            })?;
        }
        if found[v as usize] == NONE {
            continue;
        }
        for &next in out.list(v).0 {
            let (from, to) = (found[v as usize], found[next as usize]);
            ensure(to != NONE, || format!("{next} is unreached though {v} has an edge to it"))?;
            ensure(to <= from + 1, || format!("edge {v} -> {next} leads from depth {from} to {to}"))?;
        }
    }
    Ok(())
}

/// Steps from each vertex to the source at the top of its chain of parents; `NONE` where unreached.
fn depths_of(sources: &[VertexId], parents: &[VertexId]) -> Result<Vec<VertexId>, Wrong> {
    let n = parents.len();
    let mut depths = vec![NONE; n];
    for &source in sources {
        ensure((source as usize) < n, || format!("source {source} of {n} vertices"))?;
        depths[source as usize] = 0;
        let parent = parents[source as usize];
        ensure(parent == source, || format!("the parent of source {source} is {parent}"))?;
    }
    let mut chain = Vec::new();
    for first in 0..n {
        let mut v = first;
        while depths[v] == NONE && parents[v] != NONE {
            chain.push(v);
            ensure(chain.len() <= n, || format!("the parents above {first} form a circle"))?;
            v = parents[v] as usize;
            ensure(v < n, || format!("parent {v} of {n} vertices"))?;
        }
        let mut depth = depths[v];
        for below in chain.drain(..).rev() {
            ensure(depth != NONE, || format!("{below} has a parent that is unreached"))?;
            depth += 1;
            depths[below] = depth;
        }
    }
    Ok(depths)
}
