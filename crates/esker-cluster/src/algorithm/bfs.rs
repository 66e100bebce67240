//! Breadth-first search, level by level: the number of edges from a source to every vertex that it reaches.
//!
//! In a level each process applies `edge_map` to the own vertices of the last level, which pushes or pulls as on one machine. Own vertices
//! that it reaches are of the next level at once. Of ghosts that it reaches for the first time their owners are told, and decide. A ghost
//! passes the search on only if it is a delegate, when its owner says so. Work O(n + m). Messages: 12 bytes for each ghost that is reached, and
//! for each ghost of a delegate. Memory: one id a vertex, up to 1.25 for frontiers.

use esker_algo::primitive::{EdgeOp, Frontier, VertexArray, edge_map};
use esker_format::{Error, Result};
use esker_graph::{Graph, NONE, VertexId, Weight};

use super::local::{Found, Local, Options};
use crate::answer::{Cell, ColumnKind, Outline};
use crate::engine::Engine;

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
}

impl<W: Weight, N: Notes> EdgeOp<W> for ReachLevel<'_, N> {
    const BOXED: bool = true;

    #[inline(always)]
    fn wants(&self, dst: VertexId) -> bool {
        self.notes.is_new(dst)
    }

    #[inline(always)]
    fn push(&self, src: VertexId, dst: VertexId, _: W) -> bool {
        self.notes.reach(src, dst, self.depth)
    }
}

/// Searches level by level from own vertices that are reached already. Returns the number of levels, and of vertices that were reached.
pub(crate) fn search_levels<N: Notes>(
    local: &Local<'_, '_>,
    engine: &mut Engine<'_>,
    start: Vec<VertexId>,
    notes: &N,
) -> Result<(VertexId, u64)> {
    let (graph, routes) = (local.graph, local.routes);
    let mut level = start;
    let (mut depth, mut reached) = (0, 0);
    loop {
        let own = level.len() as u64;
        level = routes.with_delegates(engine, level, |ghost| notes.follow(ghost, depth))?;
        let frontier = Frontier::from_list(graph, level);
        let found = edge_map(graph, local.run, &frontier, &ReachLevel { notes, depth: depth + 1 })?;
        let (mut next, ghosts): (Vec<_>, Vec<_>) = found.iter().partition(|&v| routes.is_owned(v));
        let told = ghosts.into_iter().map(|v| (v, notes.told(v)));
        let active = routes.tell_owners(engine, own, told, |v, told| {
            if notes.hear(v, told, depth + 1) {
                next.push(v);
            }
        })?;
        if active == 0 {
            return Ok((depth, reached));
        }
        reached += active;
        depth += 1;
        level = next;
    }
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

pub(crate) fn bfs(local: &Local<'_, '_>, engine: &mut Engine<'_>, options: &Options<'_>) -> Result<Found> {
    let source = options.text("source").ok_or_else(|| {
        Error::Usage("bfs needs a vertex to begin with: give its id as the option source".to_owned())
    })?;
    let start: Vec<VertexId> = local.find_owned(source)?.into_iter().collect();
    let depths = LevelDepths(VertexArray::filled(local.run, local.graph.num_vertices(), NONE));
    start.iter().for_each(|&v| depths.0.set(v, 0));
    let (rounds, reached) = search_levels(local, engine, start, &depths)?;
    let outline =
        Outline::new(&[("depth", ColumnKind::Count)], rounds as u64).with_fact("reached", reached as f64);
    let cell = move |v: VertexId| match depths.0.get(v) {
        NONE => Cell::Missing,
        depth => Cell::Count(depth as u64),
    };
    Ok((outline, Box::new(move |v, row| row.push(cell(v)))))
}
