//! Verifies label propagation.

use std::collections::BTreeMap;

use esker_graph::{Rows, Weight, vertex};

use crate::check::watched::{Rejection, WatchedRows};

/// Checks that `labels` result from `iterations` synchronous rounds of label propagation from `initial`: in
/// each, every vertex takes the most frequent label among its neighbours, the smallest one on ties.
/// `incoming` has the in-lists of a directed graph, whose neighbours in both directions count.
///
/// # Errors
/// The first vertex with a wrong label.
pub fn cdlp<'a, W: Weight>(
    out: impl Into<WatchedRows<'a, W>>,
    incoming: Option<&'a Rows<'a, W>>,
    initial: &[u64],
    iterations: usize,
    labels: &[u64],
) -> Result<(), Rejection> {
    let out = out.into();
    let incoming = incoming.map(|rows| out.beside(rows));
    let mut current = initial.to_vec();
    for _ in 0..iterations {
        let mut next = current.clone();
        for (v, mode) in next.iter_mut().enumerate() {
            let mut counts = BTreeMap::new();
            for lists in [Some(out), incoming].into_iter().flatten() {
                for &u in lists.list(vertex(v))?.0 {
                    *counts.entry(current[u as usize]).or_insert(0) += 1;
                }
            }
            // Labels ascend, so the first one with the highest count is the smallest.
            let mut highest = 0;
            for (label, count) in counts {
                if count > highest {
                    (*mode, highest) = (label, count);
                }
            }
        }
        current = next;
    }
    out.ensure(labels.len() == current.len(), || {
        format!("{} labels for {} vertices", labels.len(), current.len())
    })?;
    match (0..labels.len()).find(|&v| labels[v] != current[v]) {
        Some(v) => Err(Rejection::Wrong(format!(
            "vertex {v} has label {} but should have {}",
            labels[v], current[v]
        ))),
        None => Ok(()),
    }
}
