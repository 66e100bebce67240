//! Copies the lists of a window to memory.

use esker_format::Result;
use esker_graph::{Remaining, Run, VertexId, vertex};

use super::copies::{Selected, TimeWindow};
use super::index::offsets;
use super::lists::TimedLists;
use crate::graph::gathered::GatheredSide;
use crate::graph::weight::ColumnWeight;

/// Copies the lists. `sums` are the arcs in the window before each vertex; the caller has reserved the memory.
pub(crate) fn gather<W: ColumnWeight>(
    lists: &TimedLists<'_, W>,
    window: &TimeWindow,
    sums: &[u64],
    remaining: Option<&Remaining>,
    run: &Run,
) -> Result<GatheredSide<W>> {
    lists.times.prepare(run)?;
    if let Some(weights) = &lists.weights {
        weights.prepare(run)?;
    }
    let origin = |place: usize| remaining.map_or(vertex(place), |remaining| remaining.origin(vertex(place)));
    let offsets = offsets(sums, remaining);
    GatheredSide::fill(offsets, run, Selected::new, |selected, unit| {
        selected.clear();
        unit.places.into_iter().try_for_each(|place| lists.select(window, origin(place), selected))?;
        let rank = |v: VertexId| remaining.map_or(v, |remaining| remaining.rank(v));
        let found = selected.targets.iter().map(|&target| rank(target));
        unit.targets.iter_mut().zip(found).for_each(|(target, found)| *target = found);
        unit.weights.iter_mut().zip(&selected.weights).for_each(|(weight, found)| *weight = *found);
        Ok(())
    })
}
