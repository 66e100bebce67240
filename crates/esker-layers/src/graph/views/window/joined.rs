//! Merges the lists of both directions in a window that joins the copies of an edge.
//!
//! An edge of an undirected view stands for all copies between two vertices, whichever way they lead, so
//! these are joined after both lists of a vertex were put together, by the rule of the window.

use esker_format::{Error, Result};
use esker_graph::{AnyVisitor, Extents, ListAccess, Reservation, Run, Select, Source, VertexId, vertex};

use super::copies::{Selected, TimeWindow, TimedArcs};
use super::count::{CountAlso, count_lists};
use super::lists::TimedLists;
use super::streamed::scan_lists;
use crate::graph::copied::copied_bytes;
use crate::graph::gathered::GatheredSide;
use crate::graph::side::GraphSide;
use crate::graph::weight::ColumnWeight;

/// Lists between two checks for cancellation.
const CHECK_LISTS: usize = 1 << 14;

/// Memory of in-lists of the arcs in a window that are made of the out-lists, with the copy of these: see
/// `made_in_lists`.
pub fn made_joined_bytes(num_vertices: u64, num_arcs: u64, weight_bytes: u64) -> u64 {
    // Both copies have the times and the weights, each with targets of their own. Vectors grow to twice their
    // length.
    let copy_bytes = |bytes| copied_bytes(num_vertices, num_arcs, bytes);
    3 * (copy_bytes(size_of::<i64>() as u64) + copy_bytes(weight_bytes))
}

/// The in-lists of the arcs in a window, where only the out-lists are kept, and their memory. `num_arcs`: how
/// many arcs these have at most.
pub(crate) fn made_in_lists<'a, W: ColumnWeight>(
    out: &TimedLists<'_, W>,
    window: &TimeWindow,
    n: usize,
    num_arcs: u64,
    run: &Run,
) -> Result<(TimedLists<'a, W>, Reservation)> {
    let bytes = made_joined_bytes(n as u64, num_arcs, size_of::<W>() as u64);
    let memory = run.budget().reserve("in-lists in memory", bytes)?;
    out.prepare(run)?;
    let (mut arcs, mut offsets) = (TimedArcs::new(), Vec::with_capacity(n + 1));
    offsets.push(0);
    for v in 0..n {
        if v % CHECK_LISTS == 0 {
            run.check()?;
        }
        out.arcs(window, vertex(v), &mut arcs)?;
        offsets.push(arcs.targets.len() as u64);
    }
    let TimedArcs { targets, times, weights } = arcs;
    // Arcs of a list keep the order of their sources and of their copies, so both columns have the same
    // order.
    let turned_times = GatheredSide::from_parts(offsets.clone(), targets.clone(), times).transposed(run)?;
    let turned_weights = GatheredSide::from_parts(offsets, targets, weights).transposed(run)?;
    let (times, weights) = (GraphSide::Gathered(turned_times), Some(GraphSide::Gathered(turned_weights)));
    Ok((TimedLists::Columns { times, weights }, memory))
}

/// Both directions of a directed graph. Every list is read once to count the joined edges. Memory: 8 bytes a
/// vertex.
pub(crate) struct JoinedSide<'a, W> {
    sides: [TimedLists<'a, W>; 2],
    window: TimeWindow,
    /// Arcs before each vertex, and in all.
    sums: Vec<u64>,
    _memory: Reservation,
}

impl<'a, W: ColumnWeight> JoinedSide<'a, W> {
    /// Joins the out-lists and the in-lists of a graph of `n` vertices.
    pub(crate) fn new(
        sides: [TimedLists<'a, W>; 2],
        window: TimeWindow,
        n: usize,
        run: &Run,
    ) -> Result<Self> {
        let bytes = (n as u64 + 1) * size_of::<u64>() as u64;
        let _memory = run.budget().reserve("the degrees of an undirected view", bytes)?;
        sides.iter().try_for_each(|side| side.prepare(run))?;
        let also = CountAlso { targets: None, loops: false };
        let counted = count_lists(n, &window, also, run, |v, selected| select(&sides, &window, v, selected))?;
        Ok(Self { sides, window, sums: counted.sums, _memory })
    }

    pub(crate) fn num_arcs(&self) -> u64 {
        self.sums.last().copied().unwrap_or(0)
    }
}

/// Appends the joined edges of `v`, sorted by their other end. A loop is in both lists.
fn select<W: ColumnWeight>(
    [out, incoming]: &[TimedLists<'_, W>; 2],
    window: &TimeWindow,
    v: VertexId,
    into: &mut Selected<W>,
) -> Result<()> {
    into.with_arcs(window, |arcs| {
        out.arcs(window, v, arcs)?;
        let start = arcs.targets.len();
        incoming.arcs(window, v, arcs)?;
        arcs.drop_target_from(start, v);
        arcs.sort_from(0);
        Ok(())
    })
}

impl<W: ColumnWeight> Extents for JoinedSide<'_, W> {
    fn num_vertices(&self) -> usize {
        self.sums.len() - 1
    }

    fn entries_before(&self, v: usize) -> usize {
        v + self.sums[v] as usize
    }

    fn degree(&self, v: VertexId) -> usize {
        (self.sums[v as usize + 1] - self.sums[v as usize]) as usize
    }
}

impl<W: ColumnWeight> Source<W, Error> for JoinedSide<'_, W> {
    fn degree(&self, v: VertexId) -> usize {
        Extents::degree(self, v)
    }

    fn list_access(&self) -> ListAccess {
        ListAccess::Single
    }

    fn prepare(&self, run: &Run) -> Result<()> {
        self.sides.iter().try_for_each(|side| side.prepare(run))
    }

    fn read_bytes(&self) -> u64 {
        self.sides.iter().map(TimedLists::read_bytes).sum()
    }

    fn scan(&self, run: &Run, chosen: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        scan_lists(run, self, chosen, visitor, |v, selected| select(&self.sides, &self.window, v, selected))
    }

    fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[W])) -> Result<()> {
        let mut selected = Selected::new();
        select(&self.sides, &self.window, v, &mut selected)?;
        take(&selected.targets, &selected.weights);
        Ok(())
    }
}
