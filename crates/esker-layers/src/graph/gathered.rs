//! Lists that were copied to memory.

use parking_lot::Mutex;
use std::ops::Range;

use esker_format::Result;
use esker_graph::{Rows, Run, VertexId, Weight, vertex};

/// Vertices and arcs that one unit of work copies.
const UNIT_ENTRIES: u64 = 1 << 16;
/// Lists between two checks for cancellation.
const CHECK_LISTS: usize = 1 << 14;

/// Sorted lists of one direction.
pub(crate) struct GatheredSide<W> {
    offsets: Vec<u64>,
    targets: Vec<VertexId>,
    weights: Vec<W>,
}

/// Some lists to copy, and where to.
pub(super) struct Unit<'u, W> {
    /// Numbers of the lists.
    pub(super) places: Range<usize>,
    /// Room for their neighbours.
    pub(super) targets: &'u mut [VertexId],
    /// Room for their weights.
    pub(super) weights: &'u mut [W],
}

impl<W: Weight> GatheredSide<W> {
    /// Lists that begin at these offsets, the last of which is their end. `fill` writes the lists of units of
    /// about equally many entries, on the threads of the run, each with a state of its own. The caller has
    /// reserved the memory.
    pub(super) fn fill<S: Send>(
        offsets: Vec<u64>,
        run: &Run,
        new_state: impl Fn() -> S + Sync,
        fill: impl Fn(&mut S, Unit<'_, W>) -> Result<()> + Sync,
    ) -> Result<Self> {
        let num_arcs = offsets.last().map_or(0, |&end| end as usize);
        let (mut targets, mut weights) = (vec![0; num_arcs], vec![W::default(); num_arcs]);
        let units = cut(&offsets, &mut targets, &mut weights);
        run.share(units.len(), new_state, |state, i| {
            let unit = units[i].lock().take();
            unit.map_or(Ok(()), |unit| fill(state, unit))
        })?;
        drop(units);
        Ok(Self { offsets, targets, weights })
    }

    /// Lists that begin at these offsets, the last of which is their end.
    pub(super) fn from_parts(offsets: Vec<u64>, targets: Vec<VertexId>, weights: Vec<W>) -> Self {
        Self { offsets, targets, weights }
    }

    /// The lists of the other direction of a directed graph, sorted. The caller has reserved the memory.
    pub(super) fn transposed(&self, run: &Run) -> Result<Self> {
        let n = self.offsets.len() - 1;
        // Where the next arc of each list goes: the start of the next list, once all are placed.
        let mut next = vec![0; n + 1];
        for &target in &self.targets {
            next[target as usize + 1] += 1;
        }
        for v in 0..n {
            next[v + 1] += next[v];
        }
        let (mut targets, mut weights) =
            (vec![0; self.targets.len()], vec![W::default(); self.targets.len()]);
        let rows = self.rows();
        for v in 0..n {
            if v % CHECK_LISTS == 0 {
                run.check()?;
            }
            let (list, list_weights) = rows.list(vertex(v));
            for (&target, &weight) in list.iter().zip(list_weights) {
                let at = &mut next[target as usize];
                (targets[*at as usize], weights[*at as usize]) = (vertex(v), weight);
                *at += 1;
            }
        }
        next.rotate_right(1);
        next[0] = 0;
        Ok(Self { offsets: next, targets, weights })
    }

    /// The lists.
    #[inline(always)]
    pub(super) fn rows(&self) -> Rows<'_, W> {
        Rows::of(&self.offsets, &self.targets, &self.weights)
    }
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
