//! Verifies shortest cycles.

use esker_graph::{VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that the vertices are a cycle, each once, and that no cycle is shorter: searches from each vertex.
/// No vertices claim that there is no cycle: then they are taken away as no edge leads to them.
///
/// # Errors
/// The first violated property.
pub fn cycle<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    vertices: &[VertexId],
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    for (i, &u) in vertices.iter().enumerate() {
        let next = vertices[(i + 1) % vertices.len()];
        let is_edge = (u as usize) < n && out.list(u)?.0.contains(&next);
        out.ensure(is_edge, || format!("no edge leads from {u} to {next}"))?;
        out.ensure(!vertices[..i].contains(&u), || format!("vertex {u} comes twice"))?;
    }
    if vertices.is_empty() {
        return no_cycle(out);
    }
    let mut seen = vec![n; n];
    for source in 0..n {
        let mut level = vec![vertex(source)];
        for length in 1..vertices.len() {
            let mut next = Vec::new();
            for &u in &level {
                for &v in out.list(u)?.0 {
                    let is_cycle = v as usize == source;
                    out.ensure(!is_cycle, || format!("a cycle of {length} edges passes vertex {source}"))?;
                    if std::mem::replace(&mut seen[v as usize], source) != source {
                        next.push(v);
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
    }
    Ok(())
}

fn no_cycle<W: Weight>(out: WatchedRows<'_, W>) -> Result<(), Rejection> {
    let n = out.num_vertices();
    let mut arriving = vec![0_usize; n];
    for u in 0..n {
        out.list(vertex(u))?.0.iter().for_each(|&v| arriving[v as usize] += 1);
    }
    let mut free: Vec<usize> = (0..n).filter(|&v| arriving[v] == 0).collect();
    let mut removed = 0;
    while let Some(u) = free.pop() {
        removed += 1;
        for &v in out.list(vertex(u))?.0 {
            arriving[v as usize] -= 1;
            if arriving[v as usize] == 0 {
                free.push(v as usize);
            }
        }
    }
    out.ensure(removed == n, || format!("{} vertices are on cycles or behind them", n - removed))
}
