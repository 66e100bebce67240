//! Answers on successive versions of a database, computed together.
//!
//! The lists of the first version are read once; the differences from each version to the next say which arcs
//! came and went. So what the versions have in common is read and computed once, by
//! [`esker_algo::graph_series`].

use std::ops::Range;

use esker_algo::graph_series::GraphSeries;
use esker_graph::{Direction, Lists, Reservation, Rows, Run, VertexId, vertex};
use esker_store::Version;
use esker_store::diff::{Difference, diff};

use crate::answer::Answer;
use crate::catalogue::{Entry, Many, ManyFailure, Params};
use crate::error::{Error, Result};

/// Vertices in one unit of work.
const GRAIN: usize = 1 << 12;
/// Bytes of a change in the list of one end of an edge, and in the copy that is sorted.
const CHANGE_BYTES: u64 = 2 * size_of::<ListChange>() as u64;

/// The answer on one of several versions.
#[derive(Debug)]
pub struct VersionAnswer {
    /// Its place among the versions.
    pub index: usize,
    /// Number of vertices.
    pub num_vertices: usize,
    /// Number of edges.
    pub num_edges: u64,
    /// The answer.
    pub answer: Answer,
}

/// Calls `visit` with the first of `count` versions, ascending, one after another, and the answer on each, as
/// long as several are computed at once; returns the number of versions that were visited. That is fewer than
/// there are, or none, if the algorithm or its options do not suit several versions, or these do not fit in
/// memory.
///
/// `open` opens the versions, some of them more than once. They are whole: not of windows, not weighted, with
/// their directions. PageRank differs from that of a single run by rounding.
///
/// # Errors
/// [`Error::Usage`] for options that make no sense; what the store or the run reports; what `open` and
/// `visit` return.
pub fn answers_on_versions<E: From<Error> + Send>(
    count: usize,
    open: impl Fn(usize) -> std::result::Result<Version, E>,
    entry: &Entry,
    params: &Params,
    run: &Run,
    mut visit: impl FnMut(VersionAnswer) -> std::result::Result<(), E>,
) -> std::result::Result<usize, E> {
    let Some(many) = Many::of(entry, params)? else { return Ok(0) };
    let mut done = 0;
    while count - done > 1 {
        let first = done;
        let range = first..count.min(first + many.graphs_max());
        let found = answer_group(range.clone(), &open, &many, run, |answer| {
            visit(answer)?;
            done += 1;
            Ok(())
        });
        match found {
            Ok(true) => {}
            Ok(false) => break,
            // One by one, versions take less memory.
            Err(ManyFailure::Compute(error)) if error.is_over_budget() && done == first => break,
            Err(ManyFailure::Compute(error)) => return Err(error.into()),
            Err(ManyFailure::Visit(error)) => return Err(error),
        }
    }
    Ok(done)
}

/// The answers on up to 64 versions; false if computing them at once does not pay.
fn answer_group<E: Send>(
    range: Range<usize>,
    open: &impl Fn(usize) -> std::result::Result<Version, E>,
    many: &Many,
    run: &Run,
    mut visit: impl FnMut(VersionAnswer) -> std::result::Result<(), E>,
) -> std::result::Result<bool, ManyFailure<E>> {
    let first = range.start;
    let mut history =
        VersionHistory { directed: false, changes: Vec::new(), present: Vec::new(), edges: Vec::new() };
    let oldest = open(first).map_err(ManyFailure::Visit)?;
    let mut older = oldest.clone();
    history.add_version(&older, run)?;
    for i in range.skip(1) {
        let newer = open(i).map_err(ManyFailure::Visit)?;
        history.add_changes(&older, &newer, run)?;
        history.add_version(&newer, run)?;
        older = newer;
    }
    let newest = older;
    let VersionHistory { directed, changes, present, edges } = history;
    let lists = VersionLists::new(&oldest, changes, present.len(), edges.len() as u16, many.receives(), run)?;
    let (out, incoming) = lists.rows();
    let series = GraphSeries::new(out, incoming, directed, lists.members(), edges.len());
    let series = series.map_err(Error::from)?;
    if !many.pays(&series, &present, &newest, run) {
        return Ok(false);
    }
    many.answer(&series, &present, &newest, run, |i, answer| {
        let num_vertices = answer.columns.first().map_or(0, |column| column.values.len());
        let found = VersionAnswer { index: first + i, num_vertices, num_edges: edges[i], answer };
        visit(found)
    })?;
    Ok(true)
}

/// What differs between successive versions.
struct VersionHistory {
    directed: bool,
    changes: Vec<ListChange>,
    /// In which versions each vertex is.
    present: Vec<u64>,
    /// The number of edges of each version.
    edges: Vec<u64>,
}

impl VersionHistory {
    fn add_version(&mut self, version: &Version, run: &Run) -> Result<()> {
        let bit = 1 << self.edges.len();
        self.directed = version.is_directed();
        self.present.resize(version.num_vertices().max(self.present.len()), 0);
        self.present[..version.num_vertices()].iter_mut().for_each(|bits| *bits |= bit);
        let removed = version.removed(run)?;
        removed.list().iter().for_each(|&v| self.present[v as usize] &= !bit);
        self.edges.push(version.num_edges());
        Ok(())
    }

    fn add_changes(&mut self, older: &Version, newer: &Version, run: &Run) -> Result<()> {
        let (version, directed) = (self.edges.len() as u16, newer.is_directed());
        let mut add = |u, v, came| {
            self.changes.push((u, v, version, came));
            if !directed && u != v {
                self.changes.push((v, u, version, came));
            }
        };
        diff(older, newer, run, |difference| {
            match difference {
                Difference::EdgeAdded(edge) => add(edge.source, edge.target, true),
                Difference::EdgeRemoved(edge) => add(edge.source, edge.target, false),
                _ => {}
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// A change of the list of a vertex: vertex, target, the version that first has it so, and whether the arc
/// came.
type ListChange = (VertexId, VertexId, u16, bool);

/// The arcs of successive versions, each with a slot for the version that first has it and the one that no
/// longer does.
struct VersionLists {
    count: u16,
    out: DirectionLists,
    incoming: Option<DirectionLists>,
    _memory: Reservation,
}

/// Lists of one direction.
#[derive(Default)]
struct DirectionLists {
    offsets: Vec<u64>,
    targets: Vec<VertexId>,
    slots: Vec<u16>,
}

/// Lists of some successive vertices.
#[derive(Default)]
struct SuccessiveLists {
    first: usize,
    lengths: Vec<u64>,
    targets: Vec<VertexId>,
    slots: Vec<u16>,
}

impl VersionLists {
    /// The lists of the oldest of `count` versions of `n` vertices, and what changed until the newest.
    /// `receives`: whether in-lists are needed, if the graph is directed.
    fn new(
        oldest: &Version,
        mut changes: Vec<ListChange>,
        n: usize,
        count: u16,
        receives: bool,
        run: &Run,
    ) -> Result<Self> {
        let directed = oldest.is_directed();
        changes.sort_unstable();
        let sides = if directed && receives { 2 } else { 1 };
        let arcs = oldest.num_arcs() + changes.len() as u64;
        let arc_bytes = (size_of::<VertexId>() + size_of::<u16>()) as u64;
        // While the lists are made, their parts lie beside them.
        let bytes =
            (1 + sides) * (arcs * arc_bytes + 8 * (n as u64 + 1)) + changes.len() as u64 * CHANGE_BYTES;
        let memory = run.budget().reserve("the edges of several versions", bytes)?;
        let out = {
            let view = oldest.view();
            let graph = view.graph::<()>(run)?;
            graph.prepare(run, Direction::Out)?;
            let stretches =
                run.share_ranges(n, GRAIN, Vec::new, |stretches: &mut Vec<SuccessiveLists>, range| {
                    stretches.push(SuccessiveLists::of(&graph, range, &changes, count)?);
                    Ok::<_, Error>(())
                })?;
            DirectionLists::joined(n, stretches.into_iter().flatten().collect())
        };
        let incoming = (directed && receives).then(|| out.transposed());
        Ok(Self { count, out, incoming, _memory: memory })
    }

    fn rows(&self) -> (Rows<'_, u16>, Option<Rows<'_, u16>>) {
        (self.out.rows(), self.incoming.as_ref().map(DirectionLists::rows))
    }

    /// The versions of each slot.
    fn members(&self) -> Vec<u64> {
        let bits = |born: u16, died: u16| (born..died).fold(0_u64, |bits, i| bits | 1 << i);
        let all = |born: u16| (0..=self.count).map(move |died| bits(born, died));
        (0..self.count).flat_map(all).collect()
    }
}

impl SuccessiveLists {
    /// The lists of some vertices: those of the first version, and what later ones changed.
    fn of(
        graph: &impl Lists<Error = esker_store::Error>,
        range: Range<usize>,
        changes: &[ListChange],
        count: u16,
    ) -> Result<Self> {
        let mut stretch = Self { first: range.start, ..Self::default() };
        let start = changes.partition_point(|change| (change.0 as usize) < range.start);
        let mut changes = &changes[start..];
        for v in range.map(vertex) {
            let before = stretch.targets.len();
            let (own, rest) = changes.split_at(changes.partition_point(|change| change.0 == v));
            changes = rest;
            if (v as usize) < graph.num_vertices() {
                graph.with_list(Direction::Out, v, |targets, _| stretch.add(targets, own, count))?;
            } else {
                stretch.add(&[], own, count);
            }
            stretch.lengths.push((stretch.targets.len() - before) as u64);
        }
        Ok(stretch)
    }

    /// Adds the list of a vertex. Both are sorted by target.
    fn add(&mut self, mut targets: &[VertexId], changes: &[ListChange], count: u16) {
        let mut alive: Vec<u16> = Vec::new();
        for of_target in changes.chunk_by(|a, b| a.1 == b.1) {
            let target = of_target[0].1;
            let (before, rest) = targets.split_at(targets.partition_point(|&other| other < target));
            before.iter().for_each(|&target| self.push(target, 0, count, count));
            let copies = rest.partition_point(|&other| other == target);
            targets = &rest[copies..];
            alive.clear();
            alive.resize(copies, 0);
            for &(_, _, version, came) in of_target {
                if came {
                    alive.push(version);
                } else if let Some(born) = alive.pop() {
                    // Copies have no identity: any of them may be the one that goes.
                    self.push(target, born, version, count);
                }
            }
            alive.iter().for_each(|&born| self.push(target, born, count, count));
        }
        targets.iter().for_each(|&target| self.push(target, 0, count, count));
    }

    /// Adds an arc, unless no version has it.
    fn push(&mut self, target: VertexId, born: u16, died: u16, count: u16) {
        if born < died {
            self.targets.push(target);
            self.slots.push(born * (count + 1) + died);
        }
    }
}

impl DirectionLists {
    fn joined(n: usize, mut stretches: Vec<SuccessiveLists>) -> Self {
        stretches.sort_unstable_by_key(|stretch| stretch.first);
        let arcs = stretches.iter().map(|stretch| stretch.targets.len()).sum();
        let mut side = Self {
            offsets: Vec::with_capacity(n + 1),
            targets: Vec::with_capacity(arcs),
            slots: Vec::with_capacity(arcs),
        };
        let mut end = 0;
        side.offsets.push(0);
        for stretch in stretches {
            side.offsets.extend(stretch.lengths.iter().map(|length| {
                end += length;
                end
            }));
            side.targets.extend_from_slice(&stretch.targets);
            side.slots.extend_from_slice(&stretch.slots);
        }
        side
    }

    /// The same arcs by target.
    fn transposed(&self) -> Self {
        let n = self.offsets.len() - 1;
        let mut offsets = vec![0_u64; n + 1];
        self.targets.iter().for_each(|&target| offsets[target as usize + 1] += 1);
        for v in 0..n {
            offsets[v + 1] += offsets[v];
        }
        let (mut next, arcs) = (offsets.clone(), self.targets.len());
        let mut side = Self { offsets, targets: vec![0; arcs], slots: vec![0; arcs] };
        for v in 0..n {
            for at in self.offsets[v] as usize..self.offsets[v + 1] as usize {
                let place = &mut next[self.targets[at] as usize];
                side.targets[*place as usize] = vertex(v);
                side.slots[*place as usize] = self.slots[at];
                *place += 1;
            }
        }
        side
    }

    fn rows(&self) -> Rows<'_, u16> {
        Rows::of(&self.offsets, &self.targets, &self.slots)
    }
}
