//! Windows of a version: its edges whose time lies in a range.

use std::sync::Arc;

use esker_format::{ElementType, Error, PropertyRecord, Result};
use esker_graph::{Direction, Flow, Reservation, Run, Setting, VertexId, message};
use esker_layers::graph::views::window::{
    ArcFilter, Combine, Copies, FilteredArcs, ListedArc, SharedLists, TimeWindow, TimedEdge, WindowIndex,
};
use esker_layers::graph::{
    Access, ArcsInTime, CompleteLists, GraphEncoding, StoredGraph, StoredWeight, check_weight,
};
use esker_layers::layer::{Body, ListColumns};
use esker_layers::pool::PoolOptions;
use esker_layers::stack::Stack;

use super::choice::View;
use super::left_out::LeftOut;
use super::moved::{AgingEdges, MovedWindow, WindowMove, WindowPosition};
use super::part::WindowPart;

/// Vertices between two checks for cancellation.
const CHECK_VERTICES: usize = 1 << 14;

/// The lists of a window, all of whose copies are edges.
#[derive(Debug, Clone, Copy)]
pub struct WindowLists<'a> {
    /// What was counted.
    pub index: &'a WindowIndex,
    /// The property that holds the times.
    pub time: &'a PropertyRecord,
    /// Whether vertices without an edge in the window are kept.
    pub all_vertices: bool,
    stack: &'a Stack,
    filter: Option<&'a dyn ArcFilter>,
}

impl WindowLists<'_> {
    /// The time of the bits of a value.
    pub fn time_of(&self, bits: u64) -> i64 {
        match self.time.element {
            ElementType::I32 => i64::from(bits as i32),
            _ => bits as i64,
        }
    }

    /// Calls `take` with each arc of the list of `v` that lies in the window: its target, and the lists and
    /// the index there of its properties. The time is that of the whole list.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; what `take` returns.
    pub fn visit(
        &self,
        direction: Direction,
        v: VertexId,
        take: impl FnMut(VertexId, &ListColumns, usize) -> Result<()>,
    ) -> Result<()> {
        self.visit_range(self.index.window(), direction, v, take)
    }

    fn visit_range(
        &self,
        range: &TimeWindow,
        direction: Direction,
        v: VertexId,
        mut take: impl FnMut(VertexId, &ListColumns, usize) -> Result<()>,
    ) -> Result<()> {
        self.stack.visit(direction, v, |stretch| {
            let times = stretch.lists.property(self.time.number as usize);
            for (index, &target) in (stretch.start..).zip(stretch.targets.iter()) {
                let time = times.map_or(Ok(0), |times| times.bits_at(index))?;
                let arc = ListedArc::of_list(direction, v, target, stretch.lists, index);
                let is_kept = || self.filter.map_or(Ok(true), |filter| filter.keeps(&arc));
                if range.contains(self.time_of(time)) && is_kept()? {
                    take(target, stretch.lists, index)?;
                }
            }
            Ok(Flow::More)
        })
    }
}

impl View {
    /// The same version; its graphs, and their numbers of edges and vertices, are those of a window:
    /// the edges whose value in the property `time` lies in its range. Vertices without such an edge are not
    /// in the graphs, unless `all_vertices`. Point reads stay those of the whole version.
    ///
    /// Reads the times of the edges once, as [`View::resident`] chose before; layers all of whose edges
    /// lie outside are not read, here and by graphs of the window. Memory: that of [`WindowIndex`].
    ///
    /// # Errors
    /// [`Error::Usage`] if there is no such property, or it holds no integers of 32 or 64 bits, and for a
    /// weight that was chosen where edges are counted; [`Error::Corrupt`]; cancellation; [`Error::Stop`] if
    /// the memory exceeds that of the run.
    pub fn window(self, time: &str, window: TimeWindow, all_vertices: bool, run: &Run) -> Result<Self> {
        let filter = self.filter.clone();
        self.selected(filter, Some((time, window)), all_vertices, run)
    }

    /// The same version; its graphs, and their numbers of edges and vertices, are those of the edges
    /// that a filter keeps, and that lie in a window if there is one: see [`View::window`]. Vertices
    /// without such an edge are not in the graphs, unless `all_vertices`.
    ///
    /// # Errors
    /// As [`View::window`]; what the filter returns.
    pub fn filtered(
        self,
        filter: Arc<dyn ArcFilter>,
        window: Option<(&str, TimeWindow)>,
        all_vertices: bool,
        run: &Run,
    ) -> Result<Self> {
        let filter = match &self.left_out {
            Some(left_out) => Arc::new(LeftOut::new(left_out, Some(filter))),
            None => filter,
        };
        self.selected(Some(filter), window, all_vertices, run)
    }

    /// The same version, as [`View::filtered`] and [`View::window`] select of it, without some vertices and
    /// their edges. Where nothing else selects edges, all other vertices stay.
    ///
    /// # Errors
    /// As [`View::filtered`].
    pub fn without(
        mut self,
        vertices: &[VertexId],
        filter: Option<Arc<dyn ArcFilter>>,
        window: Option<(&str, TimeWindow)>,
        all_vertices: bool,
        run: &Run,
    ) -> Result<Self> {
        let mut left_out = vertices.to_vec();
        left_out.sort_unstable();
        left_out.dedup();
        let left_out: Arc<[VertexId]> = left_out.into();
        let all_vertices = all_vertices || (filter.is_none() && window.is_none());
        let filter: Arc<dyn ArcFilter> = Arc::new(LeftOut::new(&left_out, filter));
        self.left_out = Some(left_out);
        self.selected(Some(filter), window, all_vertices, run)
    }

    fn selected(
        mut self,
        filter: Option<Arc<dyn ArcFilter>>,
        window: Option<(&str, TimeWindow)>,
        all_vertices: bool,
        run: &Run,
    ) -> Result<Self> {
        (self.window, self.filter) = (None, filter);
        let time = window.map(|(time, _)| self.version.time_property(time).cloned()).transpose()?;
        let window = window.map_or(TimeWindow::WHOLE, |(_, window)| window);
        if let (Some(weight), Copies::Weighted(Combine::Count)) = (self.weight_chosen(), window.copies) {
            return Err(Error::usage(message![
                Setting::Weight.to_name(&weight.name),
                " has no effect: the weight of an edge of the window is the number of edges that it stands \
                 for; combine their weights by sum, min, max or last"
            ]));
        }
        let mut absent = self.removed(run)?.list().to_vec();
        if let Some(left_out) = &self.left_out {
            absent.extend_from_slice(left_out);
            absent.sort_unstable();
            absent.dedup();
        }
        let absent: Option<&[VertexId]> = all_vertices.then_some(&absent);
        let stack = match &time {
            Some(time) => {
                self.version.stack().within(time.number, window.after.saturating_add(1)..=window.until)
            }
            None => self.version.stack().with_all_layers(),
        };
        let number = time.as_ref().map(|time| time.number);
        let index = match (self.filtered_arcs(&stack, number, None), &time) {
            (Some(arcs), _) => WindowIndex::filtered(&arcs, window, absent, run)?,
            (None, Some(time)) => self.times(&stack, time, &self.access, run)?.window(window, absent, run)?,
            (None, None) => return Ok(self),
        };
        self.window = Some(Arc::new(WindowPart::new(number, index, stack, all_vertices)));
        Ok(self)
    }

    /// Whether a filter leaves edges out by their properties. Then lists are read one by one, from mapped
    /// layers.
    pub fn is_filtered(&self) -> bool {
        self.filter.is_some()
    }

    /// Whether several edges may lead from one vertex to another: the version keeps parallel edges, and no
    /// filter leaves those of one kind alone, of which there is one at most.
    pub fn may_have_parallel(&self) -> bool {
        let is_simple = self.filter.as_ref().is_some_and(|filter| filter.keeps_one_a_pair());
        self.version.layer().multigraph && !is_simple
    }

    /// The edges that the filter keeps, with these properties; `None` without a filter.
    fn filtered_arcs<'a>(
        &'a self,
        stack: &'a Stack,
        time: Option<u32>,
        weight: Option<u32>,
    ) -> Option<FilteredArcs<'a>> {
        let filter = self.filter.as_deref()?;
        Some(FilteredArcs { stack, filter, time, weight })
    }

    /// The same version before its window is chosen anew: see [`View::window`]. What the filter leaves is
    /// not counted.
    pub(crate) fn without_window(mut self) -> Self {
        self.window = None;
        self
    }

    /// As [`View::window`], for a window that moved from a former one; `None` if their difference is not
    /// enough.
    pub(crate) fn moved_window(
        mut self,
        former: &Self,
        moved: MovedWindow<'_>,
        run: &Run,
    ) -> Result<Option<Self>> {
        let MovedWindow { time, window, all_vertices, difference, aging } = moved;
        let Some(before) = former.window_index() else { return Ok(None) };
        let number = self.version.time_property(time)?.number;
        let absent = self.removed(run)?;
        let (n, directed) = (self.version.num_vertices(), self.version.is_directed());
        let bytes = WindowIndex::bytes(n as u64, directed);
        let _memory: Reservation = run.budget().reserve("the degrees in a window", bytes)?;
        let bytes = WindowIndex::change_bytes(difference.removed.len() + difference.added.len());
        let Some(_of_changes) = run.budget().try_reserve(bytes) else { return Ok(None) };
        let absent = all_vertices.then(|| absent.list());
        let WindowMove { removed, added, .. } = &difference;
        let Some(index) = before.moved(window, removed, added, n, directed, absent)? else {
            return Ok(None);
        };
        let stack = self.version.stack().within(number, window.after.saturating_add(1)..=window.until);
        let part = WindowPart::new(Some(number), index, stack, all_vertices).with_move(difference, aging);
        self.window = Some(Arc::new(part));
        Ok(Some(self))
    }

    /// The edges of a range of times, and their memory: see [`StoredGraph::timed_edges`].
    pub(crate) fn timed_edges(
        &self,
        time: &str,
        range: &TimeWindow,
        run: &Run,
    ) -> Result<Option<(Vec<TimedEdge>, Reservation)>> {
        let record = self.version.time_property(time)?;
        let stack = self.version.stack().within(record.number, range.after.saturating_add(1)..=range.until);
        self.times(&stack, record, &Access::default(), run)?.timed_edges(range, run)
    }

    /// The edges of several windows, copied to memory in two passes over the layers that reach into them: see
    /// [`View::shared_window`]. They take memory of the budget of `run`.
    ///
    /// # Errors
    /// As [`View::window`]; [`Error::Invalid`] for more than [`SHARED_WINDOWS_MAX`] windows, and for a
    /// filtered version.
    ///
    /// [`SHARED_WINDOWS_MAX`]: esker_layers::graph::views::window::SHARED_WINDOWS_MAX
    pub fn share_windows(&self, time: &str, windows: &[TimeWindow], run: &Run) -> Result<SharedLists> {
        self.share_all_edges()?;
        let record = self.version.time_property(time)?;
        let after = windows.iter().map(|window| window.after).min().unwrap_or(0);
        let until = windows.iter().map(|window| window.until).max().unwrap_or(0);
        let stack = self.version.stack().within(record.number, after.saturating_add(1)..=until);
        self.times(&stack, record, &self.access, run)?.shared(windows, run)
    }

    /// Refuses to share lists, which have all edges, where a filter leaves some out.
    fn share_all_edges(&self) -> Result<()> {
        let refused = || Error::invalid("windows of a filtered version share no lists".to_owned());
        if self.is_filtered() { Err(refused()) } else { Ok(()) }
    }

    /// As [`View::window`], for one of the windows that share these lists of the version. Graphs without
    /// weights that are [gathered](View::gathered) are copied from the shared lists; others are read from
    /// the layers.
    ///
    /// # Errors
    /// As [`View::window`]; [`Error::Invalid`] for another window, and for a filtered version.
    pub fn shared_window(
        mut self,
        time: &str,
        window: TimeWindow,
        shared: &Arc<SharedLists>,
        all_vertices: bool,
        run: &Run,
    ) -> Result<Self> {
        self.share_all_edges()?;
        self.window = None;
        let number = self.version.time_property(time)?.number;
        let absent = self.removed(run)?.clone();
        let stack = self.version.stack().within(number, window.after.saturating_add(1)..=window.until);
        let index = shared.window(window, all_vertices.then(|| absent.list()), run)?;
        let part = WindowPart::new(Some(number), index, stack, all_vertices).with_shared(shared);
        self.window = Some(Arc::new(part));
        Ok(self)
    }

    /// Whether all layers are read as arrays, so that a window is counted and its lists are copied at the
    /// speed of memory.
    pub fn reads_arrays(&self) -> bool {
        let is_plain = matches!(self.version.complete_layer().out().main().body(), Body::Arrays(_));
        self.access == Access::Mapped(GraphEncoding::Lists)
            && self.version.stack().rank().is_none()
            && is_plain
    }

    /// The times of the edges that are later than `after` and not later than `until`, ascending, and their
    /// memory: 24 bytes for each arc of the layers that reach into the range.
    ///
    /// # Errors
    /// As [`View::window`].
    pub fn sorted_times(
        &self,
        time: &str,
        after: i64,
        until: i64,
        run: &Run,
    ) -> Result<(Vec<i64>, Reservation)> {
        let record = self.version.time_property(time)?;
        let stack = self.version.stack().within(record.number, after.saturating_add(1)..=until);
        let window = TimeWindow { after, until, copies: Copies::All };
        self.times(&stack, record, &self.access, run)?.sorted_times(&window, stack.arcs_scanned(), run)
    }

    /// Calls `take` with each edge of the version whose time lies in a range: its source, and what
    /// [`WindowLists::visit`] hands over; an undirected edge from its end with the smaller number. Reads the
    /// times in the layers that reach into the range once, and the lists of the sources. This must have a
    /// window.
    ///
    /// # Errors
    /// [`Error::Invalid`] without a window; those of [`WindowLists::visit`]; cancellation.
    pub fn edges_within(
        &self,
        range: &TimeWindow,
        run: &Run,
        mut take: impl FnMut(VertexId, VertexId, &ListColumns, usize) -> Result<()>,
    ) -> Result<()> {
        let lists = self.window_lists().ok_or_else(|| Error::invalid("there is no window".to_owned()))?;
        let stack =
            self.version.stack().within(lists.time.number, range.after.saturating_add(1)..=range.until);
        let times = self.times(&stack, lists.time, &Access::default(), run)?;
        let is_directed = self.version.is_directed();
        for (visited, source) in times.sources_within(range, run)?.into_iter().enumerate() {
            if visited % CHECK_VERTICES == 0 {
                run.check()?;
            }
            lists.visit_range(range, Direction::Out, source, |target, columns, index| {
                if is_directed || source <= target { take(source, target, columns, index) } else { Ok(()) }
            })?;
        }
        Ok(())
    }

    /// The lists of the window that [`View::window`] chose, for reading them one by one.
    pub fn window_lists(&self) -> Option<WindowLists<'_>> {
        let part = self.window.as_deref()?;
        let time = self.version.edge_properties().find(|property| Some(property.number) == part.time())?;
        let (index, stack, all_vertices) = (part.index(), self.version.stack(), part.all_vertices());
        Some(WindowLists { index, time, all_vertices, stack, filter: self.filter.as_deref() })
    }

    /// Whether graphs of a window are copied to memory when they are made: faster for algorithms that read
    /// them more than once.
    #[must_use]
    pub fn gathered(mut self, gathers: bool) -> Self {
        self.gathers = gathers;
        self
    }

    /// Where its window is; `None` without a window.
    pub(crate) fn window_position(&self) -> Option<WindowPosition> {
        let part = self.window.as_deref()?;
        let (version, window) = (self.version(), *part.index().window());
        let (number, committed_ms) = (version.number(), version.record().committed_ms);
        Some(WindowPosition { version: number, committed_ms, window, all_vertices: part.all_vertices() })
    }

    /// What its window gained and lost since that of another version, if it was made from it: see
    /// [`View::window_after`].
    pub fn window_move(&self, former: &Self) -> Option<&WindowMove> {
        let found = self.window.as_deref()?.moved()?;
        (Some(found.from) == former.window_position()).then_some(found)
    }

    /// The edges that will leave its window, as far as they are known.
    pub(crate) fn aging(&self) -> Option<&Arc<AgingEdges>> {
        self.window.as_deref()?.aging()
    }

    /// The graph of a window.
    pub(super) fn windowed<'a, W: StoredWeight>(
        &'a self,
        part: &'a WindowPart,
        run: &Run,
    ) -> Result<StoredGraph<'a, W>> {
        let arcs = self.timed(part, run)?;
        if self.joins_directions::<W>() {
            return W::joined(arcs, *part.index().window(), run);
        }
        Ok(W::windowed(arcs, part.index()))
    }

    /// The graph of a window, copied to memory, without the vertices that are not in it.
    pub(super) fn gathered_window<'a, W: StoredWeight>(
        &'a self,
        part: &'a WindowPart,
        run: &Run,
    ) -> Result<StoredGraph<'a, W>> {
        if let Some(shared) = part.shared().filter(|_| W::ELEMENT.is_none()) {
            let times = |only| Ok::<_, Error>((only, self.times_of(part, &self.access, run)?));
            let only = self.gathers_only().map(times).transpose()?;
            return W::shared(shared, part.index(), only, run);
        }
        W::gathered(self.timed(part, run)?, part.index(), self.gathers_only(), run)
    }

    /// The lists of the version with the times of their edges: see [`View::lists`].
    pub(super) fn times<'a>(
        &'a self,
        stack: &'a Stack,
        time: &PropertyRecord,
        access: &Access,
        run: &Run,
    ) -> Result<StoredGraph<'a, i64>> {
        match time.element {
            ElementType::I32 => {
                Ok(self.lists_from::<i32>(stack, Some(time), access, CompleteLists::Windowed, run)?.widened())
            }
            _ => self.lists_from(stack, Some(time), access, CompleteLists::Windowed, run),
        }
    }

    /// The lists with the times of their edges.
    fn times_of<'a>(
        &'a self,
        part: &'a WindowPart,
        access: &Access,
        run: &Run,
    ) -> Result<StoredGraph<'a, i64>> {
        let record = self.version.edge_properties().find(|property| Some(property.number) == part.time());
        let record = record.ok_or_else(|| Error::invalid("the window has no times".to_owned()))?;
        self.times(part.stack(), record, access, run)
    }

    /// The lists with the times of their edges, and with their weights if these are read.
    fn timed<'a, W: StoredWeight>(&'a self, part: &'a WindowPart, run: &Run) -> Result<ArcsInTime<'a, W>> {
        let reads_weights = W::ELEMENT.is_some() && !part.counts();
        if part.counts() && W::ELEMENT.is_some_and(|element| element != ElementType::I64) {
            return Err(Error::invalid("numbers of edges are 64-bit integers".to_owned()));
        }
        let weight = if reads_weights { self.weight_of::<W>()? } else { None };
        let number = weight.map(|weight| check_weight::<W>(Some(weight))).transpose()?;
        if let Some(arcs) = self.filtered_arcs(part.stack(), part.time(), number) {
            return Ok(ArcsInTime::Filtered(arcs));
        }
        // Both share the pool.
        let access = match &self.access {
            Access::Pooled(encoding, pool) if reads_weights => {
                Access::Pooled(*encoding, PoolOptions { bytes: pool.bytes / 2, ..*pool })
            }
            access @ (Access::Mapped(_) | Access::Pooled(..) | Access::Headed(_) | Access::Memory) => *access,
        };
        let times = self.times_of(part, &access, run)?;
        let weights = weight.map(|weight| self.lists(part.stack(), Some(weight), &access, run));
        Ok(ArcsInTime::Columns { times, weights: weights.transpose()? })
    }
}
