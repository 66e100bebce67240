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

/// Gives an unreached vertex its depth.
struct SetDepth<'a> {
    depths: &'a VertexArray,
    depth: VertexId,
}

impl<W: Weight> EdgeOp<W> for SetDepth<'_> {
    const BOXED: bool = true;

    #[inline(always)]
    fn wants(&self, dst: VertexId) -> bool {
        self.depths.get(dst) == NONE
    }

    #[inline(always)]
    fn push(&self, _: VertexId, dst: VertexId, _: W) -> bool {
        self.depths.claim(dst, NONE, self.depth)
    }
}

pub(crate) fn bfs(local: &Local<'_, '_>, engine: &mut Engine<'_>, options: &Options<'_>) -> Result<Found> {
    let (graph, routes) = (local.graph, local.routes);
    let source = options.text("source").ok_or_else(|| {
        Error::Usage("bfs needs a vertex to begin with: give its id as the option source".to_owned())
    })?;
    let start: Vec<VertexId> = local.find_owned(source)?.into_iter().collect();
    let depths = VertexArray::filled(local.run, graph.num_vertices(), NONE);
    start.iter().for_each(|&v| depths.set(v, 0));
    let mut level = start;
    let (mut rounds, mut reached) = (0, 0);
    loop {
        let own = level.len() as u64;
        let is_of_level = |v: VertexId| (depths.get(v) == rounds).then_some(0);
        routes.to_delegates(engine, 0, is_of_level, |ghost, _| {
            depths.set(ghost, rounds);
            level.push(ghost);
        })?;
        let frontier = Frontier::from_list(graph, level);
        let op = SetDepth { depths: &depths, depth: rounds + 1 };
        let found = edge_map(graph, local.run, &frontier, &op)?;
        let (mut next, ghosts): (Vec<_>, Vec<_>) = found.iter().partition(|&v| routes.is_owned(v));
        let told = ghosts.into_iter().map(|v| (v, 0));
        let active = routes.tell_owners(engine, own, told, |v, _| {
            if depths.claim(v, NONE, op.depth) {
                next.push(v);
            }
        })?;
        if active == 0 {
            break;
        }
        reached += active;
        rounds += 1;
        level = next;
    }
    let outline =
        Outline::new(&[("depth", ColumnKind::Count)], rounds as u64).with_fact("reached", reached as f64);
    let cells = move |v: VertexId| match depths.get(v) {
        NONE => vec![Cell::Missing],
        depth => vec![Cell::Count(depth as u64)],
    };
    Ok((outline, Box::new(cells)))
}
