//! Breadth-first search, level by level: the number of edges from the nearest source to every vertex that
//! they reach.
//!
//! In a level each process applies `edge_map` to the own vertices of the last level, which pushes or pulls as
//! on one machine. Own vertices that it reaches are of the next level at once. Of ghosts that it reaches for
//! the first time their owners are told, and decide. The search goes on from a ghost only if it is a
//! delegate, once its owner says that it was reached.
//!
//! Large levels of an undirected graph go the other way: owners first say which of their ghosts are in the
//! level. Then the list of each own vertex has all its neighbours in the level, so only own vertices are
//! looked at, each until its first such neighbour, and nobody is told of ghosts. Only delegates are, because
//! parts of their lists are elsewhere.
//!
//! Work O(n + m). Messages: 12 bytes for each ghost that is reached, or in large levels a bit for each ghost;
//! 12 for each ghost of a delegate. Memory: one id a vertex, up to 1.25 for frontiers.

use esker_algo::primitive::{EdgeOp, Frontier, VertexArray, Way, edge_map};
use esker_format::{Error, Result};
use esker_graph::{Graph, NONE, Setting, VertexId, Weight, message};

use super::entry::{ClusterAlgorithm, RunOption};
use super::local::{FoundValues, Local, Options};
use crate::exchange::routes::Routes;
use crate::model::answer::{Cell, ColumnKind, Outline};
use crate::model::needs::{AlgorithmNeeds, Sends, ShardShape};
use crate::net::engine::Engine;

/// What a search notes of the vertices that it reaches.
pub(crate) trait Notes: Sync {
    /// Whether a vertex is not reached yet.
    fn is_new(&self, v: VertexId) -> bool;

    /// Notes that a vertex is reached from another one. Whether none reached it before.
    fn reach(&self, src: VertexId, dst: VertexId, depth: VertexId) -> bool;

    /// What the owner of a ghost that was reached is told.
    fn told(&self, ghost: VertexId) -> u64;

    /// Notes that an own vertex was reached elsewhere. Whether none reached it before.
    fn hear(&self, v: VertexId, told: u64, depth: VertexId) -> bool;

    /// Notes that the owner of a ghost has reached it.
    fn follow(&self, ghost: VertexId, depth: VertexId);
}

/// Reaches the vertices of a level.
struct ReachLevel<'a, N> {
    notes: &'a N,
    depth: VertexId,
    /// Given if only the vertices are reached whose lists count here.
    counted: Option<&'a Routes>,
}

impl<W: Weight, N: Notes> EdgeOp<W> for ReachLevel<'_, N> {
    const BOXED: bool = true;

    #[inline(always)]
    fn wants(&self, dst: VertexId) -> bool {
        self.notes.is_new(dst) && self.counted.is_none_or(|routes| routes.counts_list(dst))
    }

    #[inline(always)]
    fn push(&self, src: VertexId, dst: VertexId, _: W) -> bool {
        self.notes.reach(src, dst, self.depth)
    }
}

/// In a head, a process that wants the next level to be taken as a large one adds this to the number of
/// vertices.
const IS_LARGE: u64 = 1 << 48;

/// Searches level by level, up to a depth, from own vertices that are reached already. Returns the number of
/// levels, and of vertices that were reached.
pub(crate) fn search_levels<N: Notes>(
    local: &Local<'_, '_>,
    engine: &mut Engine<'_>,
    start: Vec<VertexId>,
    depth_max: VertexId,
    notes: &N,
) -> Result<(VertexId, u64)> {
    let (mut level, mut is_large) = (start, false);
    let (mut depth, mut reached) = (0, 0);
    loop {
        let own = level.len() as u64;
        if depth == depth_max {
            return Ok((depth, engine.sum([reached + own])?[0]));
        }
        let (next, active) = if is_large {
            large_level(local, engine, level, notes, depth)?
        } else {
            small_level(local, engine, level, notes, depth)?
        };
        // All processes agree. A large level may turn out to be none.
        let (active, wishes) = (active % IS_LARGE, active / IS_LARGE);
        reached += own;
        depth += VertexId::from(!is_large || active > 0);
        if active == 0 {
            return Ok((depth, engine.sum([reached])?[0]));
        }
        is_large = wishes > 0 && !local.graph.is_directed();
        level = next;
    }
}

/// Searches from the own vertices of a level. Returns the own vertices of the next level, and how many
/// vertices all processes found for it; a vertex that two processes found counts twice.
fn small_level<N: Notes>(
    local: &Local<'_, '_>,
    engine: &mut Engine<'_>,
    level: Vec<VertexId>,
    notes: &N,
    depth: VertexId,
) -> Result<(Vec<VertexId>, u64)> {
    let (graph, routes) = (local.graph, local.routes);
    let level = routes.with_delegates(engine, level, |ghost| notes.follow(ghost, depth))?;
    let reach = ReachLevel { notes, depth: depth + 1, counted: None };
    let found = edge_map(graph, local.run, &Frontier::from_list(graph, level), &reach)?;
    tell_owners(local, engine, &found, head_of(local, &found), notes, depth)
}

/// As [`small_level`], where owners first say which of their ghosts are in the level. The head counts the
/// vertices of this level.
fn large_level<N: Notes>(
    local: &Local<'_, '_>,
    engine: &mut Engine<'_>,
    mut level: Vec<VertexId>,
    notes: &N,
    depth: VertexId,
) -> Result<(Vec<VertexId>, u64)> {
    let (graph, routes) = (local.graph, local.routes);
    let own = Frontier::from_list(graph, level.clone());
    let members = own.bits(local.run)?;
    let active = routes.mark_ghosts(engine, head_of(local, &own), &members, |ghost| {
        notes.follow(ghost, depth);
        level.push(ghost);
    })?;
    let reach = ReachLevel { notes, depth: depth + 1, counted: Some(routes) };
    let found = edge_map(graph, local.run, &Frontier::from_list(graph, level), &reach)?;
    if !routes.has_delegates() {
        return Ok((found.list().into_owned(), active));
    }
    let (next, _) = tell_owners(local, engine, &found, 0, notes, depth)?;
    Ok((next, active))
}

/// What a process says of vertices that it found.
fn head_of(local: &Local<'_, '_>, found: &Frontier) -> u64 {
    let is_large = Way::choose(local.graph, found, local.graph.num_arcs()) == Way::Pull;
    found.len() as u64 + if is_large { IS_LARGE } else { 0 }
}

/// Tells owners which of their vertices were reached. Returns the own vertices that were reached here or
/// elsewhere, and the sum of the heads.
fn tell_owners<N: Notes>(
    local: &Local<'_, '_>,
    engine: &mut Engine<'_>,
    found: &Frontier,
    head: u64,
    notes: &N,
    depth: VertexId,
) -> Result<(Vec<VertexId>, u64)> {
    let (mut next, ghosts): (Vec<_>, Vec<_>) = found.iter().partition(|&v| local.routes.is_owned(v));
    let told = ghosts.into_iter().map(|v| (v, notes.told(v)));
    let heads = local.routes.tell_owners(engine, head, told, |v, told| {
        if notes.hear(v, told, depth + 1) {
            next.push(v);
        }
    })?;
    Ok((next, heads))
}

/// The depth of each vertex; [`NONE`] if it is not reached.
struct LevelDepths(VertexArray);

impl Notes for LevelDepths {
    #[inline(always)]
    fn is_new(&self, v: VertexId) -> bool {
        self.0.get(v) == NONE
    }

    #[inline(always)]
    fn reach(&self, _: VertexId, dst: VertexId, depth: VertexId) -> bool {
        self.0.claim(dst, NONE, depth)
    }

    fn told(&self, _: VertexId) -> u64 {
        0
    }

    fn hear(&self, v: VertexId, _: u64, depth: VertexId) -> bool {
        self.0.claim(v, NONE, depth)
    }

    fn follow(&self, ghost: VertexId, depth: VertexId) {
        self.0.set(ghost, depth);
    }
}

/// Its entry in the catalogue.
pub(crate) const ENTRY: ClusterAlgorithm = ClusterAlgorithm {
    name: "bfs",
    about: "number of edges from the nearest of some vertices to each vertex that they reach",
    options: &[
        RunOption {
            name: "source",
            value_name: "ID",
            about: "a vertex to begin with, of several if it is given again (required)",
            is_list: true,
        },
        RunOption {
            name: "max-depth",
            value_name: "N",
            about: "the greatest number of edges; vertices beyond count as unreached [default: no limit]",
            is_list: false,
        },
    ],
    reads_weights: false,
    needs,
    run: bfs,
};

fn needs(shape: &ShardShape) -> AlgorithmNeeds {
    let id = size_of::<VertexId>() as u64;
    // Each ghost is told of once, and each mirror in a large level.
    let told = 12 * shape.ghosts + 4 * shape.mirrors;
    AlgorithmNeeds {
        array_bytes: 6 * id * shape.vertices() + shape.full_degrees_bytes(),
        sends: Sends::InAll(told + shape.delegate_bytes()),
    }
}

fn bfs(local: &Local<'_, '_>, engine: &mut Engine<'_>, options: &Options<'_>) -> Result<FoundValues> {
    let mut start = Vec::new();
    for source in options.texts("source") {
        start.extend(local.find_owned(source)?);
    }
    start.sort_unstable();
    start.dedup();
    if options.text("source").is_none() {
        return Err(Error::usage(message![
            "bfs needs a vertex to begin with: give its id with ",
            Setting::Source
        ]));
    }
    let depth_max = options.integer("max-depth", u64::from(NONE))?.min(u64::from(NONE)) as VertexId;
    let depths = LevelDepths(VertexArray::filled(local.run, local.graph.num_vertices(), NONE));
    start.iter().for_each(|&v| depths.0.set(v, 0));
    let (rounds, reached) = search_levels(local, engine, start, depth_max, &depths)?;
    let outline =
        Outline::new(&[("depth", ColumnKind::Count)], rounds as u64).with_fact("reached", reached as f64);
    let cell = move |v: VertexId| match depths.0.get(v) {
        NONE => Cell::Missing,
        depth => Cell::Count(depth as u64),
    };
    Ok((outline, Box::new(move |v, row| row.push(cell(v)))))
}
