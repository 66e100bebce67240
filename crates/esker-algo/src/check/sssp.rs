//! Checks shortest paths.

use esker_graph::{NONE, Rows, VertexId, vertex};

use super::wrong::{Wrong, ensure};
use crate::lengths::Length;

/// Checks that `distances` (and `parents`, if given) are those of shortest paths from `source` along `out`.
///
/// The source is at distance 0; no edge leads from a reached vertex to one farther away than the edge is long; and a
/// search along the edges that are just as long reaches every vertex that has a distance. Together these make the
/// distances exact. Each parent is the near end of such an edge, and parents form a tree.
///
/// # Errors
/// The first breach.
pub fn sssp<W: Length>(
    out: &Rows<'_, W>,
    source: VertexId,
    distances: &[W::Distance],
    parents: Option<&[VertexId]>,
) -> Result<(), Wrong> {
    let n = out.num_vertices();
    ensure(distances.len() == n, || format!("{} distances for {n} vertices", distances.len()))?;
    let at = |v: VertexId| distances[v as usize];
    ensure(at(source) == W::of_steps(0), || format!("the source is at distance {:?}", at(source)))?;
    let mut reached = vec![false; n];
    reached[source as usize] = true;
    let mut stack = vec![source];
    while let Some(u) = stack.pop() {
        let (targets, edges) = out.list(u);
        for (&v, &edge) in targets.iter().zip(edges) {
            let Some(over) = W::extend(at(u), edge) else { continue };
            ensure(at(v) <= over, || format!("{v} is at {:?} but by way of {u} at {over:?}", at(v)))?;
            if at(v) == over && !reached[v as usize] {
                reached[v as usize] = true;
                stack.push(v);
            }
        }
    }
    for (v, &reached) in reached.iter().enumerate() {
        let given = distances[v];
        ensure(reached == (given != W::UNREACHED), || {
            format!("no path is {given:?} long, the distance of {v}")
        })?;
    }
    parents.map_or(Ok(()), |parents| check_parents(out, source, distances, parents))
}

fn check_parents<W: Length>(
    out: &Rows<'_, W>,
    source: VertexId,
    distances: &[W::Distance],
    parents: &[VertexId],
) -> Result<(), Wrong> {
    let n = distances.len();
    ensure(parents.len() == n, || format!("{} parents for {n} vertices", parents.len()))?;
    ensure(parents[source as usize] == source, || "the source is not its own parent".to_owned())?;
    let mut sound = vec![false; n];
    sound[source as usize] = true;
    for first in 0..n {
        let mut chain = Vec::new();
        let mut v = first;
        while !sound[v] && parents[v] != NONE {
            ensure(chain.len() < n, || format!("the parents above {first} form a circle"))?;
            chain.push(v);
            v = parents[v] as usize;
            ensure(v < n, || format!("parent {v} of {n} vertices"))?;
        }
        let reached = distances[first] != W::UNREACHED;
        ensure(reached == sound[v], || format!("the parents above {first} end at {v}"))?;
        for &below in &chain {
            let parent = parents[below];
            let (targets, edges) = out.list(parent);
            let tight = targets.iter().zip(edges).any(|(&target, &edge)| {
                target == vertex(below)
                    && W::extend(distances[parent as usize], edge) == Some(distances[below])
            });
            ensure(tight, || format!("no edge from {parent}, the parent of {below}, is on a shortest path"))?;
            sound[below] = true;
        }
    }
    Ok(())
}
