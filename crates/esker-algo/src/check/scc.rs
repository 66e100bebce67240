//! Checks strongly connected components.

use esker_graph::{Rows, VertexId, Weight, vertex};

use super::wrong::{Wrong, ensure};

/// Checks that `components` gives each vertex the smallest vertex of its strongly connected component.
///
/// Within a component, all vertices must be reachable from its smallest and reach it; and the graph of the components
/// must have no cycles, so that none of them could be larger.
///
/// # Errors
/// The first breach.
pub fn scc<W: Weight>(out: &Rows<'_, W>, components: &[VertexId]) -> Result<(), Wrong> {
    let n = out.num_vertices();
    ensure(components.len() == n, || format!("{} components for {n} vertices", components.len()))?;
    for (v, &label) in components.iter().enumerate() {
        let fits = label as usize <= v && components[label as usize] == label;
        ensure(fits, || format!("{v} has label {label}, which is not the smallest of a component"))?;
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
        let unreached = (0..n).find(|&v| !reached[v]);
        ensure(unreached.is_none(), || {
            format!("{unreached:?} is not {how} the smallest vertex of its component")
        })?;
    }
    ensure(is_acyclic(&between), || "some components are parts of a larger one".to_owned())
}

/// Which vertices can be reached from those that are their own labels.
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

/// Whether taking away vertices without incoming edges, again and again, leaves none.
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
