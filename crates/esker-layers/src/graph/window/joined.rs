//! The lists of both directions of a window whose copies of an edge are joined.
//!
//! An edge of an undirected view stands for all copies between two vertices, whichever way they lead, so these are joined after both lists of
//! a vertex were put together, by the rule of the window.

use esker_format::{Error, Result};
use esker_graph::{AnyVisitor, Extents, ListAccess, Reservation, Run, Select, Source, VertexId};

use super::copies::{Selected, TimeWindow};
use super::count::{CountAlso, count_lists};
use super::lists::TimedLists;
use super::streamed::scan_lists;
use crate::graph::weight::ColumnWeight;

/// Both directions of a directed graph. Every list is read once to count the joined edges. Memory: 8 bytes a vertex.
pub(crate) struct JoinedSide<'a, W> {
    sides: [TimedLists<'a, W>; 2],
    window: TimeWindow,
    /// Arcs before each vertex, and in all.
    sums: Vec<u64>,
    _memory: Reservation,
}

impl<'a, W: ColumnWeight> JoinedSide<'a, W> {
    /// Of the out-lists and the in-lists of a graph of `n` vertices.
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
