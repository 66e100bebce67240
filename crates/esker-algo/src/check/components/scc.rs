//! Verifies strongly connected components.

use esker_graph::{VertexId, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `components` gives each vertex the least vertex of its strongly connected component.
///
/// Within a component, all vertices must be reachable from its least vertex and reach it; and the graph of
/// the components must be acyclic, so that no component could be larger.
///
/// # Errors
/// The first violated property.
pub fn scc<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    components: &[VertexId],
) -> Result<(), Rejection> {
    let out = out.into();
    let n = out.num_vertices();
    out.ensure(components.len() == n, || format!("{} components for {n} vertices", components.len()))?;
    for (v, &label) in components.iter().enumerate() {
        let fits = label as usize <= v && components[label as usize] == label;
        out.ensure(fits, || {
            format!("vertex {v} has label {label}, which is not the least vertex of a component")
        })?;
    }
    let mut forward = vec![Vec::new(); n];
    let mut backward = vec![Vec::new(); n];
    let mut between = vec![Vec::new(); n];
    for u in (0..n).map(vertex) {
        for &v in out.list(u)?.0 {
            let (from, to) = (components[u as usize], components[v as usize]);
            if from == to {
                forward[u as usize].push(v);
                backward[v as usize].push(u);
            } else {
                between[from as usize].push(to);
            }
        }
    }
    for (lists, how) in [(&forward, "reachable from"), (&backward, "on a path to")] {
        let reached = reached(out, lists, components)?;
        if let Some(v) = (0..n).find(|&v| !reached[v]) {
            return Err(Rejection::Wrong(format!(
                "vertex {v} is not {how} the least vertex of its component"
            )));
        }
    }
    let is_acyclic = is_acyclic(out, &between)?;
    out.ensure(is_acyclic, || "some components are parts of a larger one".to_owned())
}

/// Whether each vertex is reachable from the vertices that are their own labels.
fn reached<W: Weight>(
    out: WatchedRows<'_, W>,
    lists: &[Vec<VertexId>],
    components: &[VertexId],
) -> Result<Vec<bool>, Rejection> {
    let mut reached: Vec<bool> =
        components.iter().enumerate().map(|(v, &label)| label as usize == v).collect();
    let mut open: Vec<usize> = (0..lists.len()).filter(|&v| reached[v]).collect();
    while let Some(v) = open.pop() {
        out.check()?;
        for &u in &lists[v] {
            if !std::mem::replace(&mut reached[u as usize], true) {
                open.push(u as usize);
            }
        }
    }
    Ok(reached)
}

/// Whether repeatedly removing vertices without in-edges removes all.
fn is_acyclic<W: Weight>(out: WatchedRows<'_, W>, lists: &[Vec<VertexId>]) -> Result<bool, Rejection> {
    let mut incoming = vec![0usize; lists.len()];
    for list in lists {
        out.check()?;
        list.iter().for_each(|&v| incoming[v as usize] += 1);
    }
    let mut open: Vec<usize> = (0..lists.len()).filter(|&v| incoming[v] == 0).collect();
    let mut taken = 0;
    while let Some(v) = open.pop() {
        out.check()?;
        taken += 1;
        for &u in &lists[v] {
            incoming[u as usize] -= 1;
            if incoming[u as usize] == 0 {
                open.push(u as usize);
            }
        }
    }
    Ok(taken == lists.len())
}
