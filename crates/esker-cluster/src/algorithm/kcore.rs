//! Core numbers by peeling: the greatest k for which a vertex is in a subgraph whose degrees are all k or
//! more. Undirected clusters.
//!
//! Vertices whose remaining degree is at most k are removed together, and their neighbours lose a degree
//! each; when none are left, k becomes the least remaining degree of all shards. A removal reaches a ghost at
//! once, and its owner by a count after the round. If a delegate is removed, its ghosts remove what other
//! shards have of its list. Loops do not count. Work O(n c + m), where c is the number of different core
//! numbers: for each, a look at the own vertices that remain. Messages: 12 bytes for each ghost that loses
//! degrees in a round. Memory: 20 bytes a vertex and the frontiers.

use std::cell::Cell as Slot;

use esker_algo::primitive::{EdgeOp, Frontier, VertexValues, Way, edge_map_way};
use esker_format::Result;
use esker_graph::{Direction, Flow, Graph, Piece, Select, VertexId, Visitor, Weight};

use super::entry::ClusterAlgorithm;
use super::local::{FoundValues, Local, Options, expect_undirected};
use crate::model::answer::{Cell, ColumnKind, Outline};
use crate::model::needs::{AlgorithmNeeds, Sends, ShardShape};
use crate::net::engine::Engine;

/// The core number of a vertex that is not removed yet.
const REMAINS: u64 = u64::MAX;

/// Counts the degrees that the neighbours of removed vertices lose.
struct Lose<'a>(&'a VertexValues<u32>);

impl<W: Weight> EdgeOp<W> for Lose<'_> {
    const BOXED: bool = true;

    fn push(&self, src: VertexId, dst: VertexId, _: W) -> bool {
        src != dst && self.0.add(dst, 1) == 0
    }
}

/// Finds the vertices with a loop.
struct Loops;

impl Visitor<()> for Loops {
    type State = Vec<VertexId>;
    const STOPS: bool = false;
    const BOXED: bool = true;

    fn new_state(&self) -> Vec<VertexId> {
        Vec::new()
    }

    fn visit(&self, found: &mut Vec<VertexId>, v: VertexId, piece: Piece<'_, ()>) -> Flow {
        found.extend(piece.targets.iter().filter(|&&target| target == v));
        Flow::More
    }
}

/// Its entry in the catalogue.
pub(crate) const ENTRY: ClusterAlgorithm = ClusterAlgorithm {
    name: "kcore",
    about: "core number of each vertex of an undirected graph",
    options: &[],
    reads_weights: false,
    needs,
    run: kcore,
};

fn needs(shape: &ShardShape) -> AlgorithmNeeds {
    let id = size_of::<VertexId>() as u64;
    AlgorithmNeeds {
        array_bytes: (20 + 6 * id) * shape.vertices() + shape.full_degrees_bytes(),
        sends: Sends::ARound((12 * shape.ghosts).max(shape.ghost_id_bytes) + shape.delegate_bytes()),
    }
}

fn kcore(local: &Local<'_, '_>, engine: &mut Engine<'_>, _: &Options<'_>) -> Result<FoundValues> {
    let (graph, routes, run) = (local.graph, local.routes, local.run);
    expect_undirected("kcore", graph.is_directed())?;
    let n = graph.num_vertices();
    let degrees: Vec<Slot<u64>> = local.out_degrees(engine)?.into_iter().map(Slot::new).collect();
    for v in graph.scan(run, Direction::Out, Select::All, &Loops)?.into_iter().flatten() {
        degrees[v as usize].set(degrees[v as usize].get() - 1);
    }
    let cores: Vec<Slot<u64>> = vec![Slot::new(REMAINS); n];
    let remains = |v: VertexId| cores[v as usize].get() == REMAINS;
    let lost = VertexValues::filled(run, n, 0_u32);
    let (mut k, mut rounds) = (0, 0);
    loop {
        let left = routes.owned().filter(|&v| remains(v));
        let least = left.map(|v| degrees[v as usize].get()).min().unwrap_or(u64::MAX);
        let least = engine.gather(least)?.into_iter().min().unwrap_or(u64::MAX);
        if least == u64::MAX {
            break;
        }
        k = least.max(k);
        let is_due = |v: VertexId| remains(v) && degrees[v as usize].get() <= k;
        let mut due: Vec<VertexId> = routes.owned().filter(|&v| is_due(v)).collect();
        loop {
            due.iter().for_each(|&v| cores[v as usize].set(k));
            let own_len = due.len() as u64;
            let removed = routes.with_delegates(engine, std::mem::take(&mut due), |_| {})?;
            let frontier = Frontier::from_list(graph, removed);
            let touched = edge_map_way(graph, run, Way::Push, &frontier, &Lose(&lost))?;
            let (own, ghosts): (Vec<_>, Vec<_>) = touched.iter().partition(|&v| routes.is_owned(v));
            let mut lose = |v: VertexId, count: u64| {
                let degree = &degrees[v as usize];
                let was_due = degree.get() <= k;
                degree.set(degree.get().saturating_sub(count));
                if remains(v) && !was_due && degree.get() <= k {
                    due.push(v);
                }
            };
            // Only what was touched is set back: a round may be small.
            let take = |v: VertexId| {
                let count = lost.get(v);
                lost.set(v, 0);
                u64::from(count)
            };
            own.into_iter().for_each(|v| lose(v, take(v)));
            let told = ghosts.into_iter().map(|v| (v, take(v)));
            let active = routes.tell_owners(engine, own_len, told, lose)?;
            rounds += 1;
            if active == 0 {
                break;
            }
        }
    }
    let outline = Outline::new(&[("core", ColumnKind::Count)], rounds).with_fact("largest core", k as f64);
    Ok((outline, Box::new(move |v, row| row.push(Cell::Count(cores[v as usize].get())))))
}
