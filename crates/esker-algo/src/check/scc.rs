//! Verifies strongly connected components.

use esker_graph::{Rows, VertexId, Weight, vertex};

use super::wrong::{Wrong, ensure};

/// Checks that `components` gives each vertex the least vertex of its strongly connected component.
///
/// Within a component, all vertices must be reachable from its least vertex and reach it; and the graph of the
/// components must be acyclic, so that no component could be larger.
///
/// # Errors
/// The first violated property.
pub fn scc<W: Weight>(out: &Rows<'_, W>, components: &[VertexId]) -> Result<(), Wrong> {
    let n = out.num_vertices();
    ensure(components.len() == n, || format!("{} components for {n} vertices", components.len()))?;
    for (v, &label) in components.iter().enumerate() {
        let fits = label as usize <= v && components[label as usize] == label;
        ensure(fits, || {
            format!("vertex {v} has label {label}, which is not the least vertex of a component")
        })?;
    }
    let mut forward = vec![Vec::new(); n];
    let mut backward = vec![Vec::new(); n];
    let mut between = vec![Vec::new(); n];
    for u in (0..n).map(vertex) {
        for &v in out.list(u).0 {
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
        let reached = reached(lists, components);
        if let Some(v) = (0..n).find(|&v| !reached[v]) {
            return Err(Wrong(format!("vertex {v} is not {how} the least vertex of its component")));
        }
    }
    ensure(is_acyclic(&between), || "some components are parts of a larger one".to_owned())
}

/// Whether each vertex is reachable from the vertices that are their own labels.
fn reached(lists: &[Vec<VertexId>], components: &[VertexId]) -> Vec<bool> {
    let mut reached: Vec<bool> =
        components.iter().enumerate().map(|(v, &label)| label as usize == v).collect();
    let mut open: Vec<usize> = (0..lists.len()).filter(|&v| reached[v]).collect();
    while let Some(v) = open.pop() {
        for &u in &lists[v] {
            if !std::mem::replace(&mut reached[u as usize], true) {
                open.push(u as usize);
            }
        }
    }
    reached
}

/// Whether repeatedly removing vertices without in-edges removes all.
fn is_acyclic(lists: &[Vec<VertexId>]) -> bool {
    let mut incoming = vec![0usize; lists.len()];
    lists.iter().flatten().for_each(|&v| incoming[v as usize] += 1);
    let mut open: Vec<usize> = (0..lists.len()).filter(|&v| incoming[v] == 0).collect();
    let mut taken = 0;
    while let Some(v) = open.pop() {
        taken += 1;
        for &u in &lists[v] {
            incoming[u as usize] -= 1;
            if incoming[u as usize] == 0 {
                open.push(u as usize);
            }
        }
    }
    taken == lists.len()
}
