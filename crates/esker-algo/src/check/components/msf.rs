//! Verifies a minimum spanning forest.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use esker_graph::{VertexId, Weight, vertex};

use crate::check::components::forest::{DisjointSets, forest};
use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `edges` are a spanning forest of the undirected graph `out` with `trees` trees, that their
/// weights are those of the graph, and that no spanning forest is lighter. All minimum spanning forests have
/// the same weights, which Kruskal's algorithm computes here.
///
/// # Errors
/// The first violated property.
pub fn msf<'a, W: Weight + PartialOrd>(
    out: impl Into<WatchedRows<'a, W>>,
    edges: &[(VertexId, VertexId, W)],
    trees: usize,
) -> Result<(), Rejection> {
    let out = out.into();
    let ends: Vec<_> = edges.iter().map(|&(u, v, _)| (u, v)).collect();
    forest(out, &ends, trees)?;
    for &(u, v, weight) in edges {
        let is_one = out.between(u, v).contains(&weight);
        out.ensure(is_one, || format!("the graph has no edge {u} - {v} of weight {weight:?}"))?;
    }
    let mut found: Vec<W> = edges.iter().map(|edge| edge.2).collect();
    found.sort_by(ascending);
    for (i, (found, least)) in found.iter().zip(kruskal(out)?).enumerate() {
        out.ensure(*found == least, || format!("weight number {i} is {found:?} but could be {least:?}"))?;
    }
    Ok(())
}

/// Edges that are sorted between two looks at the token.
const SORTED_LEN: usize = 1 << 16;

/// The weights of a minimum spanning forest, ascending.
fn kruskal<W: Weight + PartialOrd>(out: WatchedRows<'_, W>) -> Result<Vec<W>, Rejection> {
    let mut all = Vec::new();
    for u in (0..out.num_vertices()).map(vertex) {
        let (targets, weights) = out.list(u)?;
        all.extend(targets.iter().zip(weights).filter(|(v, _)| u < **v).map(|(&v, &w)| (u, v, w)));
    }
    // Sorted in pieces, which are merged then.
    let mut heads = BinaryHeap::new();
    for piece in all.chunks_mut(SORTED_LEN) {
        out.check()?;
        piece.sort_by(|a, b| ascending(&a.2, &b.2));
        heads.push(PieceHead(piece));
    }
    let (mut sets, mut weights) = (DisjointSets::new(out.num_vertices()), Vec::new());
    while let Some(PieceHead(piece)) = heads.pop() {
        out.check()?;
        let Some((&(u, v, weight), rest)) = piece.split_first() else { continue };
        if !rest.is_empty() {
            heads.push(PieceHead(rest));
        }
        if sets.unite(u, v) {
            weights.push(weight);
        }
    }
    Ok(weights)
}

fn ascending<W: PartialOrd>(a: &W, b: &W) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Equal)
}

/// A piece of sorted edges; the greatest one begins with the least weight.
struct PieceHead<'a, W>(&'a [(VertexId, VertexId, W)]);

impl<W: PartialOrd> Ord for PieceHead<'_, W> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0.first(), other.0.first()) {
            (Some(a), Some(b)) => ascending(&b.2, &a.2),
            _ => Ordering::Equal,
        }
    }
}

impl<W: PartialOrd> PartialOrd for PieceHead<'_, W> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<W: PartialOrd> PartialEq for PieceHead<'_, W> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<W: PartialOrd> Eq for PieceHead<'_, W> {}
