//! Copies the lists of a window to memory.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use esker_format::{Error, Result};
use esker_graph::{Remaining, Run, VertexId, vertex};

use super::copies::{Selected, TimeWindow};
use super::lists::TimedLists;
use crate::graph::gathered::GatheredSide;
use crate::graph::weight::ColumnWeight;

/// Vertices and arcs that one unit of work copies.
const UNIT_ENTRIES: u64 = 1 << 16;

/// Some lists to copy, and where to.
struct Unit<'u, W> {
    places: Range<usize>,
    targets: &'u mut [VertexId],
    weights: &'u mut [W],
}

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
    let n = remaining.map_or(sums.len() - 1, Remaining::len);
    let origin = |place: usize| remaining.map_or(vertex(place), |remaining| remaining.origin(vertex(place)));
    // Vertices that are left out have no arcs.
    let starts = (0..n).map(|place| sums[origin(place) as usize]);
    let offsets: Vec<u64> = starts.chain(sums.last().copied()).collect();
    let num_arcs = offsets[n] as usize;
    let (mut targets, mut weights) = (vec![0; num_arcs], vec![W::default(); num_arcs]);
    let units = cut(&offsets, &mut targets, &mut weights);
    run.share(units.len(), Selected::new, |selected, i| {
        let unit = units[i].lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(unit) = unit else { return Ok(()) };
        selected.clear();
        unit.places.into_iter().try_for_each(|place| lists.select(window, origin(place), selected))?;
        let rank = |v: VertexId| remaining.map_or(v, |remaining| remaining.rank(v));
        let found = selected.targets.iter().map(|&target| rank(target));
        unit.targets.iter_mut().zip(found).for_each(|(target, found)| *target = found);
        unit.weights.iter_mut().zip(&selected.weights).for_each(|(weight, found)| *weight = *found);
        Ok::<_, Error>(())
    })?;
    drop(units);
    Ok(GatheredSide::new(offsets, targets, weights))
}

/// Cuts lists into units of about equally many entries.
fn cut<'u, W>(
    offsets: &[u64],
    mut targets: &'u mut [VertexId],
    mut weights: &'u mut [W],
) -> Vec<Mutex<Option<Unit<'u, W>>>> {
    let (mut units, mut start) = (Vec::new(), 0);
    let n = offsets.len() - 1;
    let entries = |place: usize| place as u64 + offsets[place];
    while start < n {
        let goal = entries(start) + UNIT_ENTRIES;
        let more = offsets[start + 1..]
            .iter()
            .zip(start as u64 + 1..)
            .take_while(|(offset, place)| *offset + place < goal);
        let end = (start + 1 + more.count()).min(n);
        let len = (offsets[end] - offsets[start]) as usize;
        let (these, rest) = std::mem::take(&mut targets).split_at_mut(len);
        targets = rest;
        let (theirs, rest) = std::mem::take(&mut weights).split_at_mut(len);
        weights = rest;
        units.push(Mutex::new(Some(Unit { places: start..end, targets: these, weights: theirs })));
        start = end;
    }
    units
}
