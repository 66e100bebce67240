//! Verifies a truss decomposition.

use std::collections::HashMap;

use esker_graph::{VertexId, Weight, vertex};

use crate::check::neighbourhood::{common, neighbourhoods};
use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `edges` are those of the undirected simple graph that underlies `out`, each once, and that
/// `trussness` is the largest `k` of a truss that contains each. For ascending `k`, repeatedly removes edges
/// in fewer than `k` - 2 triangles of remaining edges; these must be the edges of lesser trussness. Takes
/// time O(sum of the lesser degrees of the ends of all edges).
///
/// # Errors
/// The first violated property.
pub fn truss<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    edges: &[(VertexId, VertexId)],
    trussness: &[VertexId],
) -> Result<(), Rejection> {
    let out = out.into();
    let lists = neighbourhoods(out)?;
    let total: usize = lists.iter().map(Vec::len).sum();
    out.ensure(edges.len() * 2 == total && trussness.len() == edges.len(), || {
        let count = total / 2;
        format!("{} edges and {} values, but the graph has {count} edges", edges.len(), trussness.len())
    })?;
    let mut given = HashMap::new();
    for (&(u, v), &value) in edges.iter().zip(trussness) {
        let known = lists.get(u as usize).is_some_and(|list| list.binary_search(&v).is_ok());
        let first = given.insert((u.min(v), u.max(v)), value).is_none();
        out.ensure(known && first && value >= 2, || {
            format!("edge {u} - {v} is not in the graph, is repeated, or has trussness {value}, less than 2")
        })?;
    }
    let mut remaining = RemainingEdges::new(out, &lists)?;
    let mut weak: Vec<VertexPair> = Vec::new();
    let mut k = 2;
    while let Some(&least) = remaining.triangles.values().min() {
        // All remaining edges are in trusses of one less.
        k = (k + 1).max(least + 3);
        weak.extend(remaining.triangles.iter().filter(|one| one.1 + 2 < k).map(|one| *one.0));
        while let Some((u, v)) = weak.pop() {
            // An edge comes here again if it became weak after it was listed.
            if remaining.triangles.remove(&(u, v)).is_none() {
                continue;
            }
            let value = given[&(u, v)];
            out.ensure(value == vertex(k as usize - 1), || {
                format!(
                    "edge {u} - {v} is in a {}-truss but not in a {k}-truss, and has trussness {value}",
                    k - 1
                )
            })?;
            remaining.without(u, v, |pair, triangles| {
                if triangles + 2 < k {
                    weak.push(pair);
                }
            });
        }
    }
    Ok(())
}

/// An edge, its lesser end first.
type VertexPair = (VertexId, VertexId);

/// The edges that were not removed, with the number of triangles of such edges that each is in.
struct RemainingEdges<'a> {
    lists: &'a [Vec<VertexId>],
    triangles: HashMap<VertexPair, u64>,
}

impl<'a> RemainingEdges<'a> {
    fn new<W: Weight>(out: WatchedRows<'_, W>, lists: &'a [Vec<VertexId>]) -> Result<Self, Rejection> {
        let mut triangles = HashMap::new();
        for (u, list) in lists.iter().enumerate() {
            for &v in list.iter().filter(|&&v| u < v as usize) {
                out.check()?;
                triangles.insert((vertex(u), v), common(list, &lists[v as usize]));
            }
        }
        Ok(Self { lists, triangles })
    }

    /// Takes a removed edge out of the triangles that it was in. Shows the other edges of these, with the
    /// triangles that they are in now.
    fn without(&mut self, u: VertexId, v: VertexId, mut shown: impl FnMut(VertexPair, u64)) {
        let (few, many) =
            if self.lists[u as usize].len() < self.lists[v as usize].len() { (u, v) } else { (v, u) };
        for &w in &self.lists[few as usize] {
            let [one, other] = [few, many].map(|end| (end.min(w), end.max(w)));
            if self.triangles.contains_key(&one) && self.triangles.contains_key(&other) {
                for pair in [one, other] {
                    let triangles = self.triangles.get_mut(&pair).expect("both are edges");
                    *triangles -= 1;
                    shown(pair, *triangles);
                }
            }
        }
    }
}
