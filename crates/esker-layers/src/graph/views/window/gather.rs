//! Copies the lists of a window to memory.

use esker_format::{Error, Result};
use esker_graph::{Operation, Remaining, Run, VertexId, message, vertex};

use super::arrays::{TimedArrays, TimedBuffers};
use super::copies::{Selected, TimeWindow};
use super::index::offsets;
use super::lists::TimedLists;
use super::times::{Time, TimeBounds};
use crate::graph::gathered::GatheredSide;
use crate::graph::side::GraphSide;
use crate::graph::weight::ColumnWeight;

/// Vertices whose lists are selected at once: their targets stay in the cache until they are renumbered.
const SELECTED_LEN: usize = 1 << 10;

/// Copies the lists. `sums` are the arcs in the window before each vertex; the caller has reserved the
/// memory.
pub(crate) fn gather<W: ColumnWeight>(
    lists: &TimedLists<'_, W>,
    window: &TimeWindow,
    sums: &[u64],
    remaining: Option<&Remaining>,
    run: &Run,
) -> Result<GatheredSide<W>> {
    if let Some(times) = lists.streamed(window) {
        let found = match times.narrow() {
            Some(narrow) => gather_arrays(narrow, window, sums, remaining, run)?,
            None => gather_arrays(times, window, sums, remaining, run)?,
        };
        if let Some(gathered) = found {
            return Ok(gathered);
        }
    }
    lists.prepare(run)?;
    let offsets = offsets(sums, remaining);
    GatheredSide::fill(offsets, run, Selected::new, |selected, unit| {
        selected.clear();
        unit.places
            .into_iter()
            .try_for_each(|place| lists.select(window, origin(remaining, place), selected))?;
        renumber(&selected.targets, unit.targets, remaining);
        unit.weights.iter_mut().zip(&selected.weights).for_each(|(weight, found)| *weight = *found);
        Ok(())
    })
}

/// Copies lists that lie in arrays, all of whose arcs in the window count, without weights; `None` if they do
/// not.
fn gather_arrays<T: Time, W: ColumnWeight>(
    side: &GraphSide<'_, T>,
    window: &TimeWindow,
    sums: &[u64],
    remaining: Option<&Remaining>,
    run: &Run,
) -> Result<Option<GatheredSide<W>>> {
    let Some(lists) = TimedArrays::from_side(side, true, run)? else { return Ok(None) };
    let bounds = TimeBounds::new(window);
    let gathered = GatheredSide::fill(offsets(sums, remaining), run, TimedBuffers::new, |buffers, unit| {
        let mut room = unit.targets;
        // Vertices between these are not in the window: they have no arcs there.
        let end = unit.places.end.checked_sub(1).map_or(0, |last| origin(remaining, last) as usize + 1);
        let all = origin(remaining, unit.places.start) as usize..end;
        let mut fits = true;
        for first in all.clone().step_by(SELECTED_LEN) {
            let some = first..all.end.min(first + SELECTED_LEN);
            lists.select(
                |times, words| bounds.mark(times, words),
                some,
                buffers,
                |list| match room.split_off_mut(..list.len()) {
                    Some(into) => renumber(list, into, remaining),
                    None => fits = false,
                },
            )?;
        }
        if fits && room.is_empty() {
            return Ok(());
        }
        let (first, last) = (all.start, all.end - 1);
        Err(Error::invalid(message![
            format!("the lists of the vertices {first} to {last} are not as long as they were: run "),
            Operation::Check,
        ]))
    })?;
    Ok(Some(gathered))
}

fn origin(remaining: Option<&Remaining>, place: usize) -> VertexId {
    remaining.map_or(vertex(place), |remaining| remaining.origin(vertex(place)))
}

/// Copies targets by their numbers among those that remain.
fn renumber(targets: &[VertexId], into: &mut [VertexId], remaining: Option<&Remaining>) {
    let pairs = into.iter_mut().zip(targets);
    match remaining {
        None => pairs.for_each(|(into, &target)| *into = target),
        Some(remaining) => pairs.for_each(|(into, &target)| *into = remaining.rank(target)),
    }
}
