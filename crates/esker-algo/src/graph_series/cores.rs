//! The coreness of the vertices of several graphs over the same vertices.
//!
//! The first graph is peeled. Each further one is the graph before it with the arcs that came and went, so
//! its coreness follows from an update of a degeneracy order: see [`LiveCores`]. An update that takes longer
//! than peeling is given up for it. So this pays where successive graphs differ little: an update takes each
//! changed edge by itself, on one thread.
//!
//! Work: O(n + m) for the first graph; then what updates take, at most as much again as peeling each graph.
//! Memory: what peeling and [`LiveCores`] take; 8 bytes a vertex and an id an arc, for each direction, of the
//! graph that is peeled; two ids for each change.

use std::time::{Duration, Instant};

use esker_graph::{CsrGraph, Direction, Rows, Run, Stop, VertexId, vertex};
use rayon::prelude::*;

use super::series::GraphSeries;
use crate::algorithm::cohesion::kcore::{self, kcore};
use crate::estimate::Shape;
use crate::live::{BoundedReader, ChangedEdges, Halt, LiveCores, LiveGraph};

/// Vertices in one unit of work.
const GRAIN: usize = 1 << 12;
/// After this number of updates in a row that took longer than peeling, all further graphs are peeled.
const HOPELESS: u32 = 3;

/// Calls `visit` with each graph, in order, and the coreness of every vertex.
///
/// # Errors
/// [`Stop::Unsuitable`] for a directed series without in-lists; [`Stop::OverBudget`]; cancellation; what
/// `visit` returns.
pub fn cores<E: From<Stop>>(
    series: &GraphSeries<'_>,
    run: &Run,
    visit: impl FnMut(usize, Vec<VertexId>) -> Result<(), E>,
) -> Result<(), E> {
    cores_by_updates(series, run, u64::MAX, visit)
}

/// As [`cores`]; an update may read at most `read_max` arcs and lists.
pub(super) fn cores_by_updates<E: From<Stop>>(
    series: &GraphSeries<'_>,
    run: &Run,
    read_max: u64,
    mut visit: impl FnMut(usize, Vec<VertexId>) -> Result<(), E>,
) -> Result<(), E> {
    let Some(received) = series.received() else {
        return Err(Stop::unsuitable("the coreness of several graphs needs in-lists".to_owned()).into());
    };
    if series.is_empty() {
        return Ok(());
    }
    let changes = changes_by_step(series, run).iter().sum();
    let run = &run.begin("the coreness of several graphs", bytes(series, changes))?;
    let lists = SeriesLists { series, out: series.out(), received, run };
    let mut steps = edges_by_step(series, run)?;
    let (mut cores, peeling) = lists.peeled(0)?;
    let mut failures = 0;
    for graph in 0..series.len() {
        run.round(series.num_vertices())?;
        if graph > 0 {
            let changes = std::mem::take(&mut steps[graph - 1]);
            if failures < HOPELESS && lists.update(&mut cores, graph, &changes, read_max, peeling)? {
                failures = 0;
            } else {
                failures += 1;
                cores = lists.peeled(graph)?.0;
            }
        }
        visit(graph, cores.cores().to_vec())?;
    }
    Ok(())
}

/// The bytes for a series with `changes` changes between its graphs.
fn bytes(series: &GraphSeries<'_>, changes: u64) -> u64 {
    let (n, num_arcs) = (series.num_vertices() as u64, series.num_arcs());
    let directed = !series.is_undirected();
    let shape =
        Shape { num_vertices: n, num_arcs, directed, in_edges: true, weight_bytes: 0, scattered: false };
    let (id, sides) = (size_of::<VertexId>() as u64, 1 + u64::from(directed));
    // While lists are copied, their parts lie beside them; so do the changes while they are divided.
    let copy = sides * 2 * (8 * (n + 1) + id * num_arcs);
    let changed = (size_of::<SteppedEdge>() + 2 * size_of::<VertexId>()) as u64 * changes;
    LiveCores::bytes(n as usize) + kcore::estimate(shape).memory_bytes + copy + changed
}

/// An edge that came or went: the step, whether it came, and its ends.
type SteppedEdge = (u8, bool, VertexId, VertexId);

/// The graphs that differ from the one before in an arc of a slot: bit `i` is set if graph `i + 1` has it and
/// graph `i` has not, or the other way round.
fn changed_steps(series: &GraphSeries<'_>, slot: u16) -> u64 {
    let members = series.members(slot);
    (members ^ members >> 1) & series.all() >> 1
}

/// The number of arcs in which a graph differs from the one before, on average. Reads all slots.
pub fn changes_per_graph(series: &GraphSeries<'_>, run: &Run) -> f64 {
    let steps = changes_by_step(series, run);
    steps.iter().sum::<u64>() as f64 / steps.len().max(1) as f64
}

/// The number of arcs in which each graph but the first differs from the one before. Reads all slots.
fn changes_by_step(series: &GraphSeries<'_>, run: &Run) -> Vec<u64> {
    let slots = series.slots().len();
    let sum = |mut a: Vec<u64>, b: Vec<u64>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    let counts = run.install(|| {
        let parts = series.out().weights().par_chunks(1 << 16).map(|some| {
            let mut counts = vec![0_u64; slots];
            some.iter().for_each(|&slot| counts[usize::from(slot)] += 1);
            counts
        });
        parts.reduce(|| vec![0; slots], sum)
    });
    let mut steps = vec![0; series.len().saturating_sub(1)];
    for (slot, count) in (0..).zip(counts) {
        let changed = changed_steps(series, slot);
        (0..steps.len()).filter(|i| changed >> i & 1 == 1).for_each(|i| steps[i] += count);
    }
    steps
}

/// The edges in which each graph but the first differs from the one before.
fn edges_by_step(series: &GraphSeries<'_>, run: &Run) -> Result<Vec<ChangedEdges<()>>, Stop> {
    let undirected = series.is_undirected();
    let parts = run.share_ranges::<_, Stop>(
        series.num_vertices(),
        GRAIN,
        Vec::new,
        |changed: &mut Vec<SteppedEdge>, range| {
            for v in range.map(vertex) {
                let (targets, slots) = series.out().list(v);
                for (&target, &slot) in targets.iter().zip(slots) {
                    // An undirected edge comes from both of its ends; self-loops do not count.
                    if target == v || undirected && target > v {
                        continue;
                    }
                    let (mut steps, members) = (changed_steps(series, slot), series.members(slot));
                    while steps != 0 {
                        let step = steps.trailing_zeros();
                        steps &= steps - 1;
                        changed.push((step as u8, members >> (step + 1) & 1 == 1, v, target));
                    }
                }
            }
            Ok(())
        },
    )?;
    let mut steps: Vec<ChangedEdges<()>> = Vec::new();
    steps.resize_with(series.len().saturating_sub(1), ChangedEdges::default);
    for (step, came, u, v) in parts.into_iter().flatten() {
        let step = &mut steps[usize::from(step)];
        if came { &mut step.added } else { &mut step.removed }.push((u, v, ()));
    }
    Ok(steps)
}

/// The lists of all graphs.
struct SeriesLists<'s, 'a> {
    series: &'s GraphSeries<'a>,
    out: &'s Rows<'a, u16>,
    received: &'s Rows<'a, u16>,
    run: &'s Run,
}

impl SeriesLists<'_, '_> {
    /// The state of a graph, peeled, and the time that this took.
    fn peeled(&self, graph: usize) -> Result<(LiveCores, Duration), Stop> {
        let begin = Instant::now();
        let out = self.copy(self.out, graph)?;
        let incoming = match self.series.is_undirected() {
            true => None,
            false => Some(self.copy(self.received, graph)?),
        };
        let alone = match &incoming {
            None => CsrGraph::undirected(out.rows()),
            Some(incoming) => CsrGraph::directed(out.rows(), Some(incoming.rows())),
        };
        let found = kcore(&alone, self.run)?;
        let cores = LiveCores::new(&alone, self.run, found.coreness, &found.order)?;
        let cores = cores
            .ok_or_else(|| Stop::unsuitable("the order of peeling is no degeneracy order".to_owned()))?;
        Ok((cores, begin.elapsed()))
    }

    /// The lists of a graph.
    fn copy(&self, lists: &Rows<'_, u16>, graph: usize) -> Result<OwnLists, Stop> {
        let n = self.series.num_vertices();
        let mut parts: Vec<(usize, Vec<u64>, Vec<VertexId>)> = self
            .run
            .share_ranges::<_, Stop>(n, GRAIN, Vec::new, |parts: &mut Vec<_>, range| {
                let (mut lengths, mut targets) = (Vec::with_capacity(range.len()), Vec::new());
                let first = range.start;
                for v in range.map(vertex) {
                    let before = targets.len();
                    targets.extend(self.arcs(lists, graph, v));
                    lengths.push((targets.len() - before) as u64);
                }
                parts.push((first, lengths, targets));
                Ok(())
            })?
            .concat();
        parts.sort_unstable_by_key(|part| part.0);
        let (mut offsets, mut end) = (vec![0], 0);
        let lengths = parts.iter().flat_map(|part| &part.1);
        offsets.extend(lengths.map(|length| {
            end += length;
            end
        }));
        let targets: Vec<VertexId> = parts.into_iter().flat_map(|part| part.2).collect();
        let weights = vec![(); targets.len()];
        Ok(OwnLists { offsets, targets, weights })
    }

    /// The neighbours of a vertex in a graph.
    fn arcs<'l>(
        &'l self,
        lists: &'l Rows<'_, u16>,
        graph: usize,
        v: VertexId,
    ) -> impl Iterator<Item = VertexId> + 'l {
        let (targets, slots) = lists.list(v);
        let arcs = targets.iter().zip(slots);
        arcs.filter(move |arc| self.series.members(*arc.1) >> graph & 1 == 1).map(|arc| *arc.0)
    }

    /// Brings the state of the graph before to this one; false if that takes more reads or time than it may,
    /// which leaves the state of no graph.
    fn update(
        &self,
        cores: &mut LiveCores,
        graph: usize,
        changes: &ChangedEdges<()>,
        read_max: u64,
        time_max: Duration,
    ) -> Result<bool, Stop> {
        let view = OneGraph { lists: self, graph };
        let mut reader =
            BoundedReader::new(&view, changes, read_max).until(Instant::now().checked_add(time_max));
        match cores.update(&mut reader) {
            Ok(_) => Ok(true),
            Err(Halt::TooMuch) => Ok(false),
            Err(Halt::Unsuitable) => Err(Stop::unsuitable("the coreness needs in-lists".to_owned())),
            Err(Halt::Failed(stop)) => Err(stop),
        }
    }
}

/// The lists of one direction.
struct OwnLists {
    offsets: Vec<u64>,
    targets: Vec<VertexId>,
    weights: Vec<()>,
}

impl OwnLists {
    fn rows(&self) -> Rows<'_, ()> {
        Rows::of(&self.offsets, &self.targets, &self.weights)
    }
}

/// One of the graphs, read list by list.
struct OneGraph<'l, 's, 'a> {
    lists: &'l SeriesLists<'s, 'a>,
    graph: usize,
}

impl OneGraph<'_, '_, '_> {
    fn arcs(&self, direction: Direction, v: VertexId) -> impl Iterator<Item = VertexId> + '_ {
        let lists = if direction == Direction::Out { self.lists.out } else { self.lists.received };
        self.lists.arcs(lists, self.graph, v)
    }
}

impl LiveGraph for OneGraph<'_, '_, '_> {
    type Weight = ();
    type Error = Stop;

    fn num_vertices(&self) -> usize {
        self.lists.series.num_vertices()
    }

    fn is_directed(&self) -> bool {
        !self.lists.series.is_undirected()
    }

    fn has(&self, _: Direction) -> bool {
        true
    }

    fn degree(&self, direction: Direction, v: VertexId) -> Result<usize, Stop> {
        Ok(self.arcs(direction, v).count())
    }

    fn each(
        &self,
        direction: Direction,
        v: VertexId,
        mut take: impl FnMut(VertexId, ()),
    ) -> Result<(), Stop> {
        self.lists.run.check()?;
        self.arcs(direction, v).for_each(|target| take(target, ()));
        Ok(())
    }
}
