//! Verifies topological orders.

use esker_graph::{NONE, VertexId, vertex};

use crate::check::watched::{Rejection, WatchedRows};
use crate::primitive::Ranked;

/// What is claimed of an order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderClaim<'a> {
    /// The generation of each vertex; [`NONE`] on cycles and behind them.
    pub generations: &'a [VertexId],
    /// Number of generations.
    pub count: usize,
    /// Vertices without a generation.
    pub unordered: usize,
    /// The length of the longest path to each vertex; NaN without a generation.
    pub lengths: Option<&'a [f64]>,
    /// The previous vertex on it, or the vertex itself.
    pub parents: Option<&'a [VertexId]>,
}

/// Checks that each generation is the one after the last of the vertices before, that vertices without one
/// are those to which such a vertex leads or which lie on a cycle of such vertices, and lengths and parents
/// along all edges.
///
/// # Errors
/// The first violated property.
pub fn order<'a, W: Ranked>(
    out: impl Into<WatchedRows<'a, W>>,
    claimed: &OrderClaim<'_>,
) -> Result<(), Rejection> {
    let out = out.into();
    let (n, of) = (out.num_vertices(), claimed.generations);
    out.ensure(of.len() == n, || format!("{} generations for {n} vertices", of.len()))?;
    let (mut next, mut is_held) = (vec![0; n], vec![false; n]);
    let mut longest = vec![0.0_f64; n];
    let mut by_generation: Vec<usize> = (0..n).filter(|&v| of[v] != NONE).collect();
    by_generation.sort_by_key(|&v| of[v]);
    // Lengths of vertices are final once all earlier generations were followed.
    for &u in &by_generation {
        let (list, weights) = out.list(vertex(u))?;
        for (&v, weight) in list.iter().zip(weights) {
            let v = v as usize;
            out.ensure(of[v] == NONE || of[v] > of[u], || format!("the edge from {u} to {v} leads back"))?;
            next[v] = next[v].max(of[u] + 1);
            longest[v] = longest[v].max(longest[u] + weight.as_f64());
        }
    }
    for u in (0..n).filter(|&u| of[u] == NONE) {
        for &v in out.list(vertex(u))?.0 {
            out.ensure(of[v as usize] == NONE, || format!("vertex {v} is ordered, but not {u} before it"))?;
            is_held[v as usize] = true;
        }
    }
    for v in 0..n {
        if of[v] == NONE {
            out.ensure(is_held[v], || format!("no edge keeps vertex {v} from being ordered"))?;
        } else {
            out.ensure(of[v] == next[v], || {
                format!("vertex {v} is of generation {}, not {}", of[v], next[v])
            })?;
        }
    }
    let unordered = of.iter().filter(|&&of| of == NONE).count();
    let count = by_generation.last().map_or(0, |&last| of[last] as usize + 1);
    out.ensure((claimed.unordered, claimed.count) == (unordered, count), || {
        format!("{unordered} vertices are not ordered, the others in {count} generations")
    })?;
    if let Some(lengths) = claimed.lengths {
        for (v, length) in lengths.iter().enumerate() {
            let is_right = if of[v] == NONE { length.is_nan() } else { *length == longest[v] };
            out.ensure(is_right, || format!("the length to vertex {v} is {length}, not {}", longest[v]))?;
        }
    }
    parents(out, claimed, &longest)
}

/// Checks that each parent has an edge of the right length, or that a path begins.
fn parents<W: Ranked>(
    out: WatchedRows<'_, W>,
    claimed: &OrderClaim<'_>,
    longest: &[f64],
) -> Result<(), Rejection> {
    let Some(parents) = claimed.parents else { return Ok(()) };
    for (v, &parent) in parents.iter().enumerate() {
        let is_ordered = claimed.generations[v] != NONE;
        out.ensure(is_ordered == (parent != NONE), || format!("vertex {v} has parent {parent}"))?;
        if !is_ordered {
            continue;
        }
        let is_right = if parent as usize == v {
            longest[v] == 0.0
        } else {
            let edges = out.between(parent, vertex(v));
            edges.iter().any(|weight| longest[parent as usize] + weight.as_f64() == longest[v])
        };
        out.ensure(is_right, || format!("no longest path to {v} ends with an edge from {parent}"))?;
    }
    Ok(())
}
