//! Verifies a minimum spanning forest.

use esker_graph::{Rows, VertexId, Weight, vertex};

use super::forest::{DisjointSets, forest};
use super::wrong::{Wrong, ensure};

/// Checks that `edges` are a spanning forest of the undirected graph `out` with `trees` trees, that their weights are
/// those of the graph, and that no spanning forest is lighter: all minimum spanning forests have the same weights,
/// which Kruskal's algorithm computes here.
///
/// # Errors
/// The first violated property.
pub fn msf<W: Weight + PartialOrd>(
    out: &Rows<'_, W>,
    edges: &[(VertexId, VertexId, W)],
    trees: usize,
) -> Result<(), Wrong> {
    let ends: Vec<_> = edges.iter().map(|&(u, v, _)| (u, v)).collect();
    forest(out, &ends, trees)?;
    for &(u, v, weight) in edges {
        let is_one = out.between(u, v).contains(&weight);
        ensure(is_one, || format!("the graph has no edge {u} - {v} of weight {weight:?}"))?;
    }
    let mut found: Vec<W> = edges.iter().map(|edge| edge.2).collect();
    sort(&mut found, |&weight| weight);
    for (i, (found, least)) in found.iter().zip(kruskal(out)).enumerate() {
        ensure(*found == least, || format!("weight number {i} is {found:?} but could be {least:?}"))?;
    }
    Ok(())
}

/// The weights of a minimum spanning forest, ascending.
fn kruskal<W: Weight + PartialOrd>(out: &Rows<'_, W>) -> Vec<W> {
    let mut all = Vec::new();
    for u in (0..out.num_vertices()).map(vertex) {
        let (targets, weights) = out.list(u);
        all.extend(targets.iter().zip(weights).filter(|(v, _)| u < **v).map(|(&v, &w)| (u, v, w)));
    }
    sort(&mut all, |edge| edge.2);
    let mut sets = DisjointSets::new(out.num_vertices());
    all.into_iter().filter(|&(u, v, _)| sets.unite(u, v)).map(|edge| edge.2).collect()
}

fn sort<T, W: PartialOrd>(items: &mut [T], weight: impl Fn(&T) -> W) {
    items.sort_by(|a, b| weight(a).partial_cmp(&weight(b)).unwrap_or(std::cmp::Ordering::Equal));
}
