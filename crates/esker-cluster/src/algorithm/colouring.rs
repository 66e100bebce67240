//! Colouring: the ends of every edge get different colours. Undirected clusters.
//!
//! Vertices are coloured in the order of a hash of their ids, so the colours are those that a greedy
//! algorithm gives in that order, whatever the number of shards. A vertex is ready when all neighbours before
//! it are coloured; all ready vertices of all shards take the least free colour in one round, and tell their
//! ghosts. A delegate waits for the parts of its list too: a shard tells its owner when all neighbours before
//! it in the part are coloured, with the colours that they took. Expected rounds: O(log n) for bounded
//! degrees [1]. Work O(n + m). Messages: 12 bytes a ghost. Time besides: all shared vertices are looked at in
//! each round. Memory: 21 bytes a vertex.
//!
//! [1] M. Jones, P. Plassmann, "A Parallel Graph Coloring Heuristic", SIAM J. Sci. Comput. 14, 1993.

use std::cell::Cell as Slot;
use std::cmp::Ordering;
use std::collections::HashMap;

use esker_algo::primitive::{EdgeOp, Frontier, VertexValues, Way, edge_map_way};
use esker_format::Result;
use esker_graph::{Direction, Flow, Graph, Piece, Select, VertexId, Visitor, Weight};

use super::entry::ClusterAlgorithm;
use super::local::{FoundValues, Local, Options, expect_undirected};
use crate::model::answer::{Cell, ColumnKind, Outline};
use crate::model::needs::{AlgorithmNeeds, Sends, ShardShape};
use crate::model::owner::Owners;
use crate::net::engine::Engine;

/// The colour of a vertex that has none yet.
pub(crate) const NO_COLOUR: u64 = u64::MAX;
/// Of the hash that orders the vertices: another than that of the owners.
const ORDER_SEED: u64 = 0x636f_6c6f_7572;

/// The hash that orders the vertices.
pub(crate) fn colour_order() -> Owners {
    Owners::new(ORDER_SEED, 1)
}

/// The order of the vertices: by hash, and by id where hashes are equal.
struct Ranks<'a, 's> {
    hashes: Vec<u64>,
    local: &'a Local<'a, 's>,
}

impl Ranks<'_, '_> {
    fn is_before(&self, u: VertexId, v: VertexId) -> bool {
        let ids = self.local.version.ids();
        match self.hashes[u as usize].cmp(&self.hashes[v as usize]) {
            Ordering::Equal => matches!((ids.external_of(u), ids.external_of(v)), (Ok(u), Ok(v)) if u < v),
            other => other == Ordering::Less,
        }
    }
}

/// Counts the neighbours before each vertex whose list counts in the shard.
struct CountBefore<'a, 's> {
    ranks: &'a Ranks<'a, 's>,
    waits_for: &'a VertexValues<u32>,
}

impl Visitor<()> for CountBefore<'_, '_> {
    type State = ();
    const STOPS: bool = false;
    const BOXED: bool = true;

    fn new_state(&self) {}

    fn wants(&self, v: VertexId) -> bool {
        self.ranks.local.routes.counts_list(v)
    }

    fn visit(&self, (): &mut (), v: VertexId, piece: Piece<'_, ()>) -> Flow {
        let before = piece.targets.iter().filter(|&&u| self.ranks.is_before(u, v)).count();
        self.waits_for.add(v, before as u32);
        Flow::More
    }
}

/// Tells the neighbours behind a vertex, whose lists count in the shard, that it is coloured. Those that wait
/// for no other are ready.
struct Release<'a, 's>(&'a CountBefore<'a, 's>);

impl<W: Weight> EdgeOp<W> for Release<'_, '_> {
    const BOXED: bool = true;

    fn push(&self, src: VertexId, dst: VertexId, _: W) -> bool {
        let Self(CountBefore { ranks, waits_for }) = self;
        // Adding all ones is subtracting one.
        ranks.local.routes.counts_list(dst) && ranks.is_before(src, dst) && waits_for.add(dst, u32::MAX) == 1
    }
}

/// Its entry in the catalogue.
pub(crate) const ENTRY: ClusterAlgorithm = ClusterAlgorithm {
    name: "colouring",
    about: "colours that differ at the ends of every edge of an undirected graph",
    options: &[],
    reads_weights: false,
    needs,
    run: colouring,
};

fn needs(shape: &ShardShape) -> AlgorithmNeeds {
    let id = size_of::<VertexId>() as u64;
    // Colours that are taken beside each part of a list.
    let beside = 12 * shape.delegate_copies + 12 * shape.arcs_of_parts();
    AlgorithmNeeds {
        array_bytes: (21 + 4 * id) * shape.vertices() + shape.full_degrees_bytes(),
        sends: Sends::ARound((12 * shape.mirrors).max(shape.ghost_id_bytes) + beside),
    }
}

fn colouring(local: &Local<'_, '_>, engine: &mut Engine<'_>, _: &Options<'_>) -> Result<FoundValues> {
    let (graph, routes, run) = (local.graph, local.routes, local.run);
    expect_undirected("colouring", graph.is_directed())?;
    let n = graph.num_vertices();
    let order = colour_order();
    let mut hashes = Vec::with_capacity(n);
    local.version.ids().each_external(0..n, |id| {
        hashes.push(order.hash(id));
        Ok(())
    })?;
    let ranks = Ranks { hashes, local };
    let waits_for = VertexValues::filled(run, n, 0_u32);
    let counting = CountBefore { ranks: &ranks, waits_for: &waits_for };
    graph.scan(run, Direction::Out, Select::All, &counting)?;
    let parts = routes.delegated_ghosts().iter().filter(|&&v| waits_for.get(v) > 0).map(|&v| (v, 1));
    if routes.has_delegates() {
        let waits_for_part = |v, _| {
            waits_for.add(v, 1);
        };
        routes.tell_owners(engine, 0, parts, waits_for_part)?;
    }
    let colours: Vec<Slot<u64>> = vec![Slot::new(NO_COLOUR); n];
    let is_fresh = vec![Slot::new(false); n];
    let mut ready: Vec<VertexId> = routes.owned().filter(|&v| waits_for.get(v) == 0).collect();
    let (mut rounds, mut free) = (0, FreeColours::default());
    // Colours beside own delegates in other shards.
    let mut elsewhere: HashMap<VertexId, Vec<u64>> = HashMap::new();
    loop {
        for &v in &ready {
            let neighbours = local.version.neighbors(Direction::Out, v)?;
            let others = elsewhere.remove(&v).unwrap_or_default();
            let taken = neighbours.iter().map(|&u| colours[u as usize].get()).chain(others);
            colours[v as usize].set(free.least(taken));
        }
        ready.iter().for_each(|&v| is_fresh[v as usize].set(true));
        let mut coloured = std::mem::take(&mut ready);
        let fresh = coloured.len();
        let colour_of = |v: VertexId| is_fresh[v as usize].get().then(|| colours[v as usize].get());
        let active = routes.to_ghosts(engine, fresh as u64, colour_of, |ghost, colour| {
            colours[ghost as usize].set(colour);
            coloured.push(ghost);
        })?;
        coloured[..fresh].iter().for_each(|&v| is_fresh[v as usize].set(false));
        if active == 0 {
            break;
        }
        rounds += 1;
        let frontier = Frontier::from_list(graph, coloured);
        let released = edge_map_way(graph, run, Way::Push, &frontier, &Release(&counting))?;
        let (own, ghosts): (Vec<_>, Vec<_>) = released.iter().partition(|&v| routes.is_owned(v));
        ready = own;
        tell_parts(local, engine, ghosts, &colours, |v, colour| match colour {
            NO_COLOUR if waits_for.add(v, u32::MAX) == 1 => ready.push(v),
            NO_COLOUR => {}
            colour => elsewhere.entry(v).or_default().push(colour),
        })?;
    }
    let own = routes.owned().map(|v| colours[v as usize].get() + 1).max().unwrap_or(0);
    let used = engine.gather(own)?.into_iter().max().unwrap_or(0);
    let outline = Outline::new(&[("colour", ColumnKind::Count)], rounds).with_fact("colours", used as f64);
    Ok((outline, Box::new(move |v, row| row.push(Cell::Count(colours[v as usize].get())))))
}

/// Tells the owners of delegates which colours the neighbours before them took in parts of their lists, of
/// which all are coloured now. The colour that is none ends those of a part.
fn tell_parts(
    local: &Local<'_, '_>,
    engine: &mut Engine<'_>,
    ghosts: Vec<VertexId>,
    colours: &[Slot<u64>],
    take: impl FnMut(VertexId, u64),
) -> Result<()> {
    if !local.routes.has_delegates() {
        return Ok(());
    }
    let mut told = Vec::new();
    for ghost in ghosts {
        let neighbours = local.version.neighbors(Direction::Out, ghost)?;
        let mut taken: Vec<u64> = neighbours.iter().map(|&u| colours[u as usize].get()).collect();
        taken.sort_unstable();
        taken.dedup();
        let taken = taken.into_iter().filter(|&colour| colour != NO_COLOUR);
        told.extend(taken.chain([NO_COLOUR]).map(|colour| (ghost, colour)));
    }
    local.routes.tell_owners(engine, 0, told.into_iter(), take).map(drop)
}

/// Finds the least colours that others leave. Memory: eight bytes for each colour that there is.
#[derive(Default)]
pub(crate) struct FreeColours {
    /// For each colour, the number of the last question to which it was no answer, because a neighbour had
    /// it.
    taken_in: Vec<u64>,
    questions: u64,
}

impl FreeColours {
    /// The least colour that is not among some.
    pub(crate) fn least(&mut self, taken: impl Iterator<Item = u64>) -> u64 {
        self.questions += 1;
        for colour in taken.filter(|&colour| colour != NO_COLOUR) {
            let place = colour as usize;
            if place >= self.taken_in.len() {
                self.taken_in.resize(place + 1, 0);
            }
            self.taken_in[place] = self.questions;
        }
        let free = self.taken_in.iter().position(|&question| question != self.questions);
        free.unwrap_or(self.taken_in.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_free_colour_does_not_depend_on_earlier_questions() {
        let mut free = FreeColours::default();
        for (taken, least) in [
            (&[2, 0, 1, 2, NO_COLOUR][..], 3),
            (&[], 0),
            (&[1, 3], 0),
            (&[0, NO_COLOUR, 1, 3], 2),
            (&[0, 1, 2, 3], 4),
        ] {
            assert_eq!(free.least(taken.iter().copied()), least, "{taken:?}");
        }
    }
}
