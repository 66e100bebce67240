//! What a step of a live answer reports: the vertices whose values changed.

use esker_graph::{Reservation, Run, VertexId};
use esker_store::property::RemovedVertices;

use super::given::set;
use super::live::Live;
use super::step::Changed;
use crate::answer::{Value, Values};
use crate::error::Result;

/// Reserves the memory of a report of some changes, instead of that of the report before.
pub(super) fn reserve(memory: &mut Reservation, run: &Run, name: &str, count: usize) -> Result<()> {
    let bytes = (count * size_of::<Changed>()) as u64;
    if !memory.resize(bytes) {
        memory.shrink_to(0);
        memory.absorb(run.budget().reserve(&format!("the changes of a live {name}"), bytes)?);
    }
    Ok(())
}

/// Takes the values of some vertices, ascending and distinct, and returns those that changed.
pub(super) fn take_some(
    values: &mut Values,
    live: &dyn Live,
    removed: &RemovedVertices,
    touched: &[VertexId],
) -> Vec<Changed> {
    let mut changed = Vec::new();
    for &vertex in touched {
        let is_known = (vertex as usize) < values.len();
        let old = if is_known { values.get(vertex as usize) } else { Value::Missing };
        let new = if removed.is_removed(vertex) { Value::Missing } else { live.value(vertex) };
        set(values, vertex, new);
        if !old.is_same(new) {
            changed.push(Changed { vertex, old, new });
        }
    }
    changed
}
