//! Windows of stored graphs: counted, filtered, or gathered in memory.

use esker_format::{Error, Result};
use esker_graph::{Direction, Remaining, Reservation, Run, VertexId};

use super::side::GraphSide;
use super::stored::StoredGraph;
use super::views::induced::InducedSide;
use super::views::window::{
    FilteredArcs, JoinedSide, SORTED_TIME_BYTES, SharedLists, TimeWindow, TimedEdge, TimedLists, WindowIndex,
    WindowSide, gather, made_in_lists, sorted_times, sources_within, time_range, timed_edges,
};
use super::weight::ColumnWeight;

/// The source of the arcs from which a window selects.
#[allow(clippy::large_enum_variant, reason = "one for each graph, never many")]
pub enum ArcsInTime<'a, W> {
    /// From a graph whose weights are the times of the edges, and the same version with the weights of the
    /// edges, unless these are not read or are numbers of edges.
    Columns {
        /// The times.
        times: StoredGraph<'a, i64>,
        /// The weights.
        weights: Option<StoredGraph<'a, W>>,
    },
    /// Only the arcs that a filter keeps.
    Filtered(FilteredArcs<'a>),
}

impl<W> ArcsInTime<'_, W> {
    /// Number of arcs, at most.
    fn num_arcs(&self) -> u64 {
        match self {
            Self::Columns { times, .. } => times.num_arcs,
            Self::Filtered(arcs) => arcs.stack.arcs_scanned(),
        }
    }
}

impl<'a, W: ColumnWeight> StoredGraph<'a, W> {
    /// [`super::StoredWeight::windowed`].
    #[must_use]
    pub(super) fn build_windowed(arcs: ArcsInTime<'a, W>, index: &'a WindowIndex) -> Self {
        let window = *index.window();
        let parts = Timed::new(arcs);
        let side =
            |lists, direction| GraphSide::source(WindowSide { lists, window, sums: index.sums(direction) });
        let (out, incoming) = (side(parts.out, Direction::Out), parts.incoming);
        let incoming = incoming.filter(|it| it.can_filter(&window)).map(|lists| side(lists, Direction::In));
        let Timed { num_vertices, directed, memory, .. } = parts;
        Self { num_vertices, num_arcs: index.num_arcs(), directed, out, incoming, _memory: memory }
    }

    /// [`super::StoredWeight::joined`].
    pub(super) fn build_joined(arcs: ArcsInTime<'a, W>, window: TimeWindow, run: &Run) -> Result<Self> {
        let num_arcs = arcs.num_arcs();
        let Timed { num_vertices, out, incoming, mut memory, .. } = Timed::new(arcs);
        let incoming = match incoming.filter(TimedLists::has_lists) {
            Some(incoming) => incoming,
            None => {
                let (made, of_made) = made_in_lists(&out, &window, num_vertices, num_arcs, run)?;
                match &mut memory {
                    Some(memory) => memory.absorb(of_made),
                    none => *none = Some(of_made),
                }
                made
            }
        };
        let side = JoinedSide::new([out, incoming], window, num_vertices, run)?;
        let (num_arcs, out) = (side.num_arcs(), GraphSide::source(side));
        Ok(Self { num_vertices, num_arcs, directed: false, out, incoming: None, _memory: memory })
    }

    /// [`super::StoredWeight::gathered`].
    pub(super) fn build_gathered(
        arcs: ArcsInTime<'a, W>,
        index: &'a WindowIndex,
        only: Option<Direction>,
        run: &Run,
    ) -> Result<Self> {
        let parts = Timed::new(arcs);
        let (n, directed) = (parts.num_vertices, parts.directed);
        let incoming = parts.incoming.filter(TimedLists::has_lists);
        let only = only.filter(|_| directed && incoming.is_some());
        let bytes = index.gathered_bytes(size_of::<W>() as u64, only);
        let memory = run.budget().reserve("the edges of a window", bytes)?;
        let side = |lists: TimedLists<'a, W>, direction| {
            let (window, sums) = (*index.window(), index.sums(direction));
            if only.is_none_or(|only| only == direction) {
                return gather(&lists, &window, sums, index.remaining(), run).map(GraphSide::Gathered);
            }
            Ok(Self::filtered(lists, index, direction))
        };
        let out = side(parts.out, Direction::Out)?;
        let incoming = incoming.map(|lists| side(lists, Direction::In)).transpose()?;
        let num_vertices = index.remaining().map_or(n, Remaining::len);
        Ok(Self { num_vertices, num_arcs: index.num_arcs(), directed, out, incoming, _memory: Some(memory) })
    }

    /// The lists of a window without the vertices that are not in it, beside those of the other direction,
    /// which are gathered: for degrees.
    fn filtered(lists: TimedLists<'a, W>, index: &'a WindowIndex, direction: Direction) -> GraphSide<'a, W> {
        let (window, sums) = (*index.window(), index.sums(direction));
        let inner = GraphSide::source(WindowSide { lists, window, sums });
        match index.remaining() {
            Some(remaining) => {
                let num_vertices = remaining.num_before();
                GraphSide::source(InducedSide { inner, remaining, num_vertices })
            }
            None => inner,
        }
    }

    /// [`super::StoredWeight::shared`].
    pub(super) fn build_shared(
        shared: &SharedLists,
        index: &'a WindowIndex,
        only: Option<(Direction, StoredGraph<'a, i64>)>,
        run: &Run,
    ) -> Result<Self> {
        let only = only.filter(|_| shared.is_directed() && shared.has_incoming());
        let bytes = index.gathered_bytes(size_of::<W>() as u64, only.as_ref().map(|only| only.0));
        let memory = run.budget().reserve("the edges of a window", bytes)?;
        let side = |direction| Ok::<_, Error>(shared.gather(direction, index, run)?.map(GraphSide::Gathered));
        let filtered =
            |times, direction| Self::filtered(TimedLists::Columns { times, weights: None }, index, direction);
        let (out, incoming) = match only {
            None => (side(Direction::Out)?, side(Direction::In)?),
            Some((Direction::Out, times)) => {
                (side(Direction::Out)?, times.incoming.map(|times| filtered(times, Direction::In)))
            }
            Some((Direction::In, times)) => (Some(filtered(times.out, Direction::Out)), side(Direction::In)?),
        };
        let out = out.ok_or_else(|| Error::invalid("there are no out-lists".to_owned()))?;
        let num_vertices = index.remaining().map_or(shared.num_vertices(), Remaining::len);
        let directed = shared.is_directed();
        Ok(Self { num_vertices, num_arcs: index.num_arcs(), directed, out, incoming, _memory: Some(memory) })
    }
}

/// A graph whose weights are times.
impl StoredGraph<'_, i64> {
    /// The index of a window. Reads all times once. `absent` are the vertices that are not in the graph,
    /// ascending; if `None`, those without an edge in the window.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`]; cancellation; [`esker_graph::Stop::OverBudget`].
    pub fn window(&self, window: TimeWindow, absent: Option<&[VertexId]>, run: &Run) -> Result<WindowIndex> {
        let incoming = self.incoming.as_ref();
        WindowIndex::new(&self.out, incoming, self.num_vertices, self.directed, window, absent, run)
    }

    /// The edges of several windows, copied to memory: see [`SharedLists`].
    ///
    /// # Errors
    /// As [`StoredGraph::window`].
    pub fn shared(&self, windows: &[TimeWindow], run: &Run) -> Result<SharedLists> {
        let incoming = self.incoming.as_ref();
        SharedLists::new(&self.out, incoming, self.num_vertices, self.directed, windows, run)
    }

    /// The least and the greatest time; `None` if there are no edges. Reads all times once.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`]; cancellation.
    pub fn time_range(&self, run: &Run) -> Result<Option<(i64, i64)>> {
        time_range(&self.out, run)
    }

    /// The vertices with an out-edge in a window, ascending. Reads all times once.
    ///
    /// # Errors
    /// As [`StoredGraph::time_range`].
    pub fn sources_within(&self, window: &TimeWindow, run: &Run) -> Result<Vec<VertexId>> {
        sources_within(&self.out, window, run)
    }

    /// The edges in a range of times, ascending by time, and their memory; an undirected one from its end
    /// with the smaller number. `None` if the budget of the run has no room for them. Reads all times once.
    ///
    /// # Errors
    /// As [`StoredGraph::time_range`].
    pub fn timed_edges(
        &self,
        range: &TimeWindow,
        run: &Run,
    ) -> Result<Option<(Vec<TimedEdge>, Reservation)>> {
        timed_edges(&self.out, range, self.directed, run)
    }

    /// The times of the edges in a window, ascending, and their memory; copies of an edge count each. Reads
    /// all times once. Memory: 24 bytes for each of `arcs`, the most that lie in the window.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Io`]; cancellation; [`esker_graph::Stop::OverBudget`].
    pub fn sorted_times(&self, window: &TimeWindow, arcs: u64, run: &Run) -> Result<(Vec<i64>, Reservation)> {
        let bytes = arcs.saturating_mul(SORTED_TIME_BYTES);
        let memory = run.budget().reserve("the times of the edges", bytes)?;
        Ok((sorted_times(&self.out, window, self.directed, run)?, memory))
    }
}

/// The arcs of both directions with their times.
struct Timed<'a, W> {
    out: TimedLists<'a, W>,
    incoming: Option<TimedLists<'a, W>>,
    num_vertices: usize,
    directed: bool,
    memory: Option<Reservation>,
}

impl<'a, W> Timed<'a, W> {
    fn new(arcs: ArcsInTime<'a, W>) -> Self {
        match arcs {
            ArcsInTime::Columns { times, weights } => Self::from_columns(times, weights),
            ArcsInTime::Filtered(arcs) => Self {
                out: TimedLists::Filtered(arcs.out()),
                incoming: arcs.incoming().map(TimedLists::Filtered),
                num_vertices: arcs.stack.num_vertices(),
                directed: arcs.is_directed(),
                memory: None,
            },
        }
    }

    fn from_columns(times: StoredGraph<'a, i64>, weights: Option<StoredGraph<'a, W>>) -> Self {
        let StoredGraph { num_vertices, directed, out, incoming, _memory: mut memory, .. } = times;
        let (mut weights_out, mut weights_in) = (None, None);
        if let Some(weights) = weights {
            (weights_out, weights_in) = (Some(weights.out), weights.incoming);
            match (&mut memory, weights._memory) {
                (Some(memory), Some(other)) => memory.absorb(other),
                (none, other) => *none = none.take().or(other),
            }
        }
        let out = TimedLists::Columns { times: out, weights: weights_out };
        let incoming = incoming.map(|times| TimedLists::Columns { times, weights: weights_in });
        Self { out, incoming, num_vertices, directed, memory }
    }
}
