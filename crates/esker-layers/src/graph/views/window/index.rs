//! The number of arcs of each vertex in a window, and the vertices that have any.

use esker_format::Result;
use esker_graph::{Direction, Flow, Piece, Remaining, Reservation, Run, Select, VertexId, Visitor, vertex};
use rayon::slice::ParallelSliceMut;

use super::copies::{Copies, TimeWindow};
use super::count::{ArcCounts, CountAlso, TargetCounts, count, count_filtered};
use super::filter::{FilteredArcs, FilteredLists};
use crate::graph::side::GraphSide;

/// The number of arcs of each vertex in a window, and the vertices that have any.
///
/// Memory: 8 bytes a vertex and direction, and the numbers of the vertices that are in the window: see
/// [`Remaining::bytes`].
#[derive(Debug)]
pub struct WindowIndex {
    window: TimeWindow,
    /// Arcs before each vertex, and in all.
    out: Vec<u64>,
    /// The same for in-lists, if the graph is directed. Counted even where in-lists are not kept.
    incoming: Option<Vec<u64>>,
    /// Whether in-lists are kept, which [`WindowIndex::gathered_bytes`] counts.
    keeps_incoming: bool,
    /// The vertices that have arcs in the window; `None` if all have.
    remaining: Option<Remaining>,
    /// The other vertices, ascending.
    absent: Vec<VertexId>,
    num_edges: u64,
}

impl WindowIndex {
    /// Reads the times of all edges of a graph of `num_vertices` vertices once. `absent`: see
    /// [`StoredGraph::window`].
    ///
    /// [`StoredGraph::window`]: crate::StoredGraph::window
    pub(crate) fn new(
        out_side: &GraphSide<'_, i64>,
        in_side: Option<&GraphSide<'_, i64>>,
        n: usize,
        directed: bool,
        window: TimeWindow,
        absent: Option<&[VertexId]>,
        run: &Run,
    ) -> Result<Self> {
        // Copies are joined list by list.
        let in_side = in_side.filter(|side| window.copies == Copies::All || side.has_lists());
        let basis = Basis { n, directed, has_in_lists: in_side.is_some(), window, absent };
        basis.index(
            |also| count(out_side, &window, n, also, run),
            |also| in_side.map(|side| count(side, &window, n, also, run)).transpose(),
            run,
        )
    }

    /// The index of a window over the arcs that a filter keeps: see [`StoredGraph::window`]. Reads each list
    /// once, along its chain.
    ///
    /// [`StoredGraph::window`]: crate::StoredGraph::window
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`]; cancellation; [`esker_graph::Stop::OverBudget`].
    pub fn filtered(
        arcs: &FilteredArcs<'_>,
        window: TimeWindow,
        absent: Option<&[VertexId]>,
        run: &Run,
    ) -> Result<Self> {
        let arcs = FilteredArcs { weight: None, ..*arcs };
        let (n, directed, in_lists) = (arcs.stack.num_vertices(), arcs.is_directed(), arcs.incoming());
        let count = |lists: &FilteredLists<'_>, also: CountAlso<'_>| {
            lists.prepare(run)?;
            count_filtered(lists, &window, n, also, run)
        };
        let basis = Basis { n, directed, has_in_lists: in_lists.is_some(), window, absent };
        basis.index(
            |also| count(&arcs.out(), also),
            |also| in_lists.as_ref().map(|lists| count(lists, also)).transpose(),
            run,
        )
    }

    /// The index of counted lists. A directed graph has counts of arcs to each vertex, whether or not it
    /// keeps in-lists.
    pub(super) fn of_counted(
        counted: ArcCounts,
        incoming: Option<ArcCounts>,
        keeps_incoming: bool,
        directed: bool,
        window: TimeWindow,
        absent: Option<&[VertexId]>,
    ) -> Result<Self> {
        let n = counted.sums.len() - 1;
        let degree = |sums: &[u64], v: usize| sums[v + 1] - sums[v];
        let is_absent = |v: &VertexId| {
            let at = *v as usize;
            degree(&counted.sums, at) == 0
                && incoming.as_ref().is_none_or(|incoming| degree(&incoming.sums, at) == 0)
        };
        let absent = match absent {
            Some(absent) => absent.to_vec(),
            None => (0..n).map(vertex).filter(is_absent).collect(),
        };
        let remaining = if absent.is_empty() { None } else { Some(Remaining::new(n, &absent)?) };
        let arcs = counted.sums.last().copied().unwrap_or(0);
        let num_edges = if directed { arcs } else { (arcs + counted.loops) / 2 };
        let (out, incoming) = (counted.sums, incoming.map(|incoming| incoming.sums));
        Ok(Self { window, out, incoming, keeps_incoming, remaining, absent, num_edges })
    }

    /// Memory for a number of vertices of a directed graph or of an undirected one.
    pub fn bytes(num_vertices: u64, directed: bool) -> u64 {
        let sums = (num_vertices + 1) * size_of::<u64>() as u64 * if directed { 2 } else { 1 };
        sums + Remaining::bytes(num_vertices, 0) + num_vertices * size_of::<VertexId>() as u64
    }

    /// The window.
    pub fn window(&self) -> &TimeWindow {
        &self.window
    }

    /// Number of edges in the window; an undirected one counts once.
    pub fn num_edges(&self) -> u64 {
        self.num_edges
    }

    /// Entries of all out-lists in the window.
    pub fn num_arcs(&self) -> u64 {
        self.out.last().copied().unwrap_or(0)
    }

    /// Number of arcs of a vertex in the window, in a direction.
    pub fn degree(&self, direction: Direction, v: VertexId) -> usize {
        let sums = self.sums(direction);
        (sums[v as usize + 1] - sums[v as usize]) as usize
    }

    /// The vertices that are in the window, numbered anew without gaps; `None` if all are.
    pub fn remaining(&self) -> Option<&Remaining> {
        self.remaining.as_ref()
    }

    /// The vertices that are not in the window, ascending.
    pub fn absent(&self) -> &[VertexId] {
        &self.absent
    }

    /// Bytes of all lists in the window with weights of `weight_bytes` each, gathered; or of those of `only`
    /// one direction.
    pub fn gathered_bytes(&self, weight_bytes: u64, only: Option<Direction>) -> u64 {
        let present = self.remaining.as_ref().map_or(self.out.len() - 1, Remaining::len) as u64;
        let list_bytes = |sums: &[u64]| {
            let arcs = sums.last().copied().unwrap_or(0);
            (present + 1) * size_of::<u64>() as u64 + arcs * (size_of::<VertexId>() as u64 + weight_bytes)
        };
        let incoming = self.incoming.as_deref().filter(|_| self.keeps_incoming).map_or(0, list_bytes);
        match only.filter(|_| self.keeps_incoming) {
            Some(Direction::Out) => list_bytes(&self.out),
            Some(Direction::In) => incoming,
            None => list_bytes(&self.out) + incoming,
        }
    }

    /// Where the gathered lists of a direction begin, and the end of the last.
    pub(super) fn offsets(&self, direction: Direction) -> Vec<u64> {
        offsets(self.sums(direction), self.remaining())
    }

    /// Bytes of all in-lists without weights, gathered, where they are not kept: see
    /// `StoredGraph::with_in_lists`.
    pub fn made_bytes(&self, weight_bytes: u64) -> u64 {
        let present = self.remaining.as_ref().map_or(self.out.len() - 1, Remaining::len) as u64;
        (present + 1) * size_of::<u64>() as u64
            + self.num_arcs() * (size_of::<VertexId>() as u64 + weight_bytes)
    }

    /// Whether in-lists are kept.
    pub(super) fn keeps_incoming(&self) -> bool {
        self.keeps_incoming
    }

    /// Arcs before each vertex in lists of a direction, and in all.
    pub(crate) fn sums(&self, direction: Direction) -> &[u64] {
        match (direction, &self.incoming) {
            (Direction::In, Some(incoming)) => incoming,
            _ => &self.out,
        }
    }
}

/// The graph and the window that an index is made for.
struct Basis<'c> {
    n: usize,
    directed: bool,
    has_in_lists: bool,
    window: TimeWindow,
    absent: Option<&'c [VertexId]>,
}

impl Basis<'_> {
    /// The index, from what counts the out-lists and the in-lists.
    fn index(
        &self,
        out: impl FnOnce(CountAlso<'_>) -> Result<ArcCounts>,
        incoming: impl FnOnce(CountAlso<'_>) -> Result<Option<ArcCounts>>,
        run: &Run,
    ) -> Result<WindowIndex> {
        let Self { n, directed, has_in_lists, window, absent } = *self;
        let bytes = WindowIndex::bytes(n as u64, directed);
        let _memory: Reservation = run.budget().reserve("the degrees in a window", bytes)?;
        // Where in-lists are not kept, the out-lists tell how many arcs lead to a vertex.
        let targets = (directed && !has_in_lists).then(|| TargetCounts::new(n));
        let counted = out(CountAlso { targets: targets.as_ref(), loops: !directed })?;
        let incoming = match targets {
            Some(targets) => Some(targets.finish()),
            None => incoming(CountAlso { targets: None, loops: false })?,
        };
        WindowIndex::of_counted(counted, incoming, has_in_lists, directed, window, absent)
    }
}

/// Where the lists of the vertices that remain begin. Vertices that are left out have no arcs.
pub(super) fn offsets(sums: &[u64], remaining: Option<&Remaining>) -> Vec<u64> {
    let Some(remaining) = remaining else { return sums.to_vec() };
    let starts = remaining.origins().iter().map(|&v| sums[v as usize]);
    starts.chain(sums.last().copied()).collect()
}

/// A time in a vector that has grown to at most twice its length, and the copy beside it while those of the
/// threads are put together.
pub(crate) const SORTED_TIME_BYTES: u64 = 3 * size_of::<i64>() as u64;

/// The times of the edges in a window, ascending. Lists of an undirected graph have each edge twice; one of
/// the two counts.
///
/// Memory: [`SORTED_TIME_BYTES`] for each time, which the caller has reserved.
pub(crate) fn sorted_times(
    side: &GraphSide<'_, i64>,
    window: &TimeWindow,
    directed: bool,
    run: &Run,
) -> Result<Vec<i64>> {
    let parts = side.scan(run, Select::All, &Gathering { window, directed })?;
    let mut times = parts.concat();
    drop(parts);
    run.install(|| times.par_sort_unstable());
    Ok(times)
}

/// Gathers the times in a window.
struct Gathering<'w> {
    window: &'w TimeWindow,
    directed: bool,
}

impl Visitor<i64> for Gathering<'_> {
    type State = Vec<i64>;

    const STOPS: bool = false;

    fn new_state(&self) -> Vec<i64> {
        Vec::new()
    }

    fn visit(&self, times: &mut Vec<i64>, v: VertexId, piece: Piece<'_, i64>) -> Flow {
        let arcs = piece.targets.iter().zip(piece.weights);
        let edges = arcs.filter(|arc| self.directed || *arc.0 >= v).map(|arc| *arc.1);
        times.extend(edges.filter(|&time| self.window.contains(time)));
        Flow::More
    }
}

/// The vertices with an arc whose time lies in a window, ascending.
pub(crate) fn sources_within(
    side: &GraphSide<'_, i64>,
    window: &TimeWindow,
    run: &Run,
) -> Result<Vec<VertexId>> {
    let mut sources = side.scan(run, Select::All, &Naming { window })?.concat();
    run.install(|| sources.par_sort_unstable());
    sources.dedup();
    Ok(sources)
}

/// Names the vertices with arcs in a window.
struct Naming<'w> {
    window: &'w TimeWindow,
}

impl Visitor<i64> for Naming<'_> {
    type State = Vec<VertexId>;

    const STOPS: bool = false;

    fn new_state(&self) -> Vec<VertexId> {
        Vec::new()
    }

    fn visit(&self, sources: &mut Vec<VertexId>, v: VertexId, piece: Piece<'_, i64>) -> Flow {
        if self.window.count(piece.weights) > 0 {
            sources.push(v);
        }
        Flow::More
    }
}

/// The least and the greatest of the weights of some lists, which are times; `None` if there are none.
pub(crate) fn time_range(side: &GraphSide<'_, i64>, run: &Run) -> Result<Option<(i64, i64)>> {
    let ranges = side.scan(run, Select::All, &Ranging)?;
    Ok(ranges.into_iter().flatten().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))))
}

/// Finds the least and the greatest time.
struct Ranging;

impl Visitor<i64> for Ranging {
    type State = Option<(i64, i64)>;

    const STOPS: bool = false;

    fn new_state(&self) -> Self::State {
        None
    }

    fn visit(&self, range: &mut Self::State, _: VertexId, piece: Piece<'_, i64>) -> Flow {
        // What stands for a missing time lies in no window.
        for &time in piece.weights.iter().filter(|&&time| time > i64::MIN) {
            let (least, most) = range.unwrap_or((time, time));
            *range = Some((least.min(time), most.max(time)));
        }
        Flow::More
    }
}
