//! Moves nodes between communities as long as that gains, on several threads, with one answer for any number
//! of them.
//!
//! A sweep visits the active nodes in an order that the seed decides, batch by batch. Threads decide for all
//! nodes of a batch from the state before it. Then one thread applies the moves in order: each is weighed
//! again with the masses as they are by then, and waits for the next sweep if its gain is gone or the
//! community that it goes to was left by all. From the third sweep on, and where few nodes move, the edges of
//! each are added up again before it moves, so that every move gains and the sweeps come to an end. Batches
//! of small graphs have one node. No result depends on the threads, because sums are whole numbers and ties
//! go to the lesser community.
//!
//! The next sweep visits the nodes next to those that moved, or all nodes after many moves. The last one
//! visits all nodes and moves none.

use esker_graph::random::Random;
use esker_graph::{Bitmap, NONE, Run, Stop, VertexId, vertex};
use parking_lot::Mutex;

use super::adjacency::{Adjacency, PartBuffers, each_entry};
use super::partition::{Cost, GAIN_SHARE_MIN, Partition};
use super::tally::Tally;

/// Nodes are decided one by one where all lists have fewer entries than this.
const SERIAL_ENTRIES: u64 = 1 << 17;
/// Entries in the lists of a batch, about.
const BATCH_ENTRIES: u64 = 1 << 15;
/// There are at least this many batches in a sweep.
const BATCHES_MIN: usize = 64;
/// Nodes that threads take at once.
const GRAIN: usize = 64;
/// If more than one node in this many moved, the next sweep visits all nodes.
const ACTIVE_SHARE: u64 = 6;

/// In so many sweeps over all nodes, edges are not added up again.
const ROUGH_SWEEPS: usize = 2;

/// A community of its own, as the target of a move.
const OWN: VertexId = NONE;

/// A move that one node wants.
#[derive(Debug, Clone, Copy)]
struct Wish {
    /// Its place in the batch.
    at: usize,
    to: VertexId,
    /// Weights of its edges to the community that it leaves, and to the one that it goes to.
    here: u64,
    there: u64,
    /// What the move must gain.
    least: f64,
}

/// What a worker needs to decide.
pub(super) struct Decider {
    pub(super) tally: Tally,
    pub(super) buffers: PartBuffers,
    wishes: Vec<Wish>,
}

/// The workers of all batches of a level.
pub(super) struct Deciders {
    bound: usize,
    idle: Mutex<Vec<Decider>>,
}

impl Deciders {
    /// The most bytes of a worker.
    pub(super) fn memory_bytes(bound: u64) -> u64 {
        Tally::memory_bytes(bound) + PartBuffers::MEMORY_BYTES
    }

    /// Workers for communities below `bound`.
    pub(super) fn new(bound: usize) -> Self {
        Self { bound, idle: Mutex::new(Vec::new()) }
    }

    /// One that is idle, or a new one.
    pub(super) fn take(&self) -> Decider {
        let idle = self.idle.lock().pop();
        idle.unwrap_or_else(|| Decider {
            tally: Tally::new(self.bound),
            buffers: PartBuffers::default(),
            wishes: Vec::new(),
        })
    }

    /// Keeps one for later.
    pub(super) fn give_back(&self, decider: Decider) {
        self.idle.lock().push(decider);
    }
}

/// The number of nodes of a batch, where a list has `entries_each` entries: few enough that a decision knows
/// of most moves before it, many enough that threads share them.
pub(super) fn batch_len(num_nodes: usize, entries_each: u64, num_active: usize) -> usize {
    if num_nodes as u64 * entries_each < SERIAL_ENTRIES {
        return 1;
    }
    let most = num_nodes.min(num_active) / BATCHES_MIN;
    ((BATCH_ENTRIES / entries_each.max(1)) as usize).clamp(1, most.max(1))
}

/// All nodes of a level, in the order of visits.
pub(super) struct VisitOrder {
    pub(super) nodes: Vec<VertexId>,
    is_ascending: bool,
}

impl VisitOrder {
    /// As they are numbered without a seed, else in blocks that the seed shuffles.
    pub(super) fn new(num_nodes: usize, seed: u64) -> Self {
        if seed == 0 {
            return Self { nodes: (0..num_nodes).map(vertex).collect(), is_ascending: true };
        }
        // Blocks keep neighbouring lists together where there are many.
        let len = if num_nodes < 1 << 12 { 1 } else { 64 };
        let mut blocks: Vec<usize> = (0..num_nodes.div_ceil(len)).collect();
        Random::new(seed).shuffle(&mut blocks);
        let mut nodes = Vec::with_capacity(num_nodes);
        for first in blocks.into_iter().map(|block| block * len) {
            nodes.extend((first..(first + len).min(num_nodes)).map(vertex));
        }
        Self { nodes, is_ascending: false }
    }
}

/// Moves nodes on one level.
pub(super) struct Mover<'a, E> {
    pub(super) run: &'a Run,
    pub(super) lists: &'a dyn Adjacency<Error = E>,
    pub(super) partition: &'a Partition,
    pub(super) cost: Cost,
    /// Entries in the list of a vertex, on average.
    pub(super) entries_each: u64,
    pub(super) deciders: &'a Deciders,
}

/// How moving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moved {
    /// Number of moves.
    pub(super) moves: u64,
    /// Whether a sweep over all nodes moved none.
    pub(super) converged: bool,
}

/// The nodes of a sweep and what they did.
struct Sweep {
    /// Whether edges are added up again if the batch has moved nodes since a move was decided.
    is_exact: bool,
    moved: Bitmap,
    waiting: Bitmap,
    moves: u64,
}

impl<E: From<Stop> + Send> Mover<'_, E> {
    /// Moves nodes in at most `sweeps_max` sweeps. Without `to_the_end`, it ends where no neighbour of a node
    /// that moved wants to move.
    pub(super) fn run(&self, order: &VisitOrder, sweeps_max: usize, to_the_end: bool) -> Result<Moved, E> {
        let n = self.partition.num_nodes();
        let mut empty: Vec<VertexId> =
            (0..n).map(vertex).filter(|&c| self.partition.len.get(c) == 0).rev().collect();
        let (moved, waiting) = (Bitmap::new(n), Bitmap::new(n));
        let mut sweep = Sweep { is_exact: to_the_end, moved, waiting, moves: 0 };
        let mut some: Option<Vec<VertexId>> = None;
        let mut moves = 0;
        for number in 1..=sweeps_max {
            sweep.is_exact |= number > ROUGH_SWEEPS;
            let active = some.as_deref().unwrap_or(&order.nodes);
            self.run.round(active.len())?;
            self.sweep(active, &mut sweep, &mut empty)?;
            moves += sweep.moves;
            let next = self.active(order, &sweep)?;
            if next.as_ref().is_some_and(Vec::is_empty) {
                if some.is_none() || !to_the_end {
                    return Ok(Moved { moves, converged: some.is_none() });
                }
                some = None;
            } else {
                sweep.is_exact |= next.is_some();
                some = next;
            }
        }
        Ok(Moved { moves, converged: false })
    }

    /// The nodes to visit next; `None` for all.
    fn active(&self, order: &VisitOrder, sweep: &Sweep) -> Result<Option<Vec<VertexId>>, E> {
        if sweep.moves > self.partition.num_nodes() as u64 / ACTIVE_SHARE {
            return Ok(None);
        }
        let next = &sweep.waiting;
        let states = self.run.share_ranges(
            self.partition.num_nodes(),
            1 << 10,
            || self.deciders.take(),
            |decider, range| {
                for v in sweep.moved.iter_range(range) {
                    let own = self.partition.of.get(v);
                    each_entry(self.lists, v, &mut decider.buffers, |u, _| {
                        if self.partition.of.get(u) != own {
                            next.insert(u);
                        }
                    })?;
                }
                Ok::<(), E>(())
            },
        )?;
        states.into_iter().for_each(|decider| self.deciders.give_back(decider));
        Ok(Some(match order.is_ascending {
            true => next.iter().collect(),
            false => order.nodes.iter().copied().filter(|&v| next.get(v)).collect(),
        }))
    }

    fn sweep(&self, active: &[VertexId], sweep: &mut Sweep, empty: &mut Vec<VertexId>) -> Result<(), E> {
        sweep.moved.clear();
        sweep.waiting.clear();
        sweep.moves = 0;
        let len = batch_len(self.partition.num_nodes(), self.entries_each, active.len());
        let mut wishes = Vec::new();
        for batch in active.chunks(len) {
            self.decide_all(batch, &mut wishes)?;
            let before = sweep.moves;
            let mut decider = self.deciders.take();
            for mut wish in wishes.drain(..) {
                let v = batch[wish.at];
                if sweep.is_exact && sweep.moves > before {
                    self.weigh(&mut decider.buffers, v, &mut wish)?;
                }
                if self.apply(v, &wish, empty) {
                    sweep.moved.insert_alone(v);
                    sweep.moves += 1;
                } else {
                    sweep.waiting.insert_alone(v);
                }
            }
            self.deciders.give_back(decider);
        }
        Ok(())
    }

    /// Decides for the nodes of a batch. Wishes are in the order of the batch.
    fn decide_all(&self, batch: &[VertexId], wishes: &mut Vec<Wish>) -> Result<(), E> {
        if batch.len() <= GRAIN {
            self.run.check()?;
            let mut decider = self.deciders.take();
            for (at, &v) in batch.iter().enumerate() {
                wishes.extend(self.decide(&mut decider, at, v)?);
            }
            self.deciders.give_back(decider);
            return Ok(());
        }
        self.run.short_step();
        let states = self.run.share_ranges(
            batch.len(),
            GRAIN,
            || self.deciders.take(),
            |decider, range| {
                for at in range {
                    if let Some(wish) = self.decide(decider, at, batch[at])? {
                        decider.wishes.push(wish);
                    }
                }
                Ok::<(), E>(())
            },
        )?;
        for mut decider in states {
            wishes.append(&mut decider.wishes);
            self.deciders.give_back(decider);
        }
        wishes.sort_unstable_by_key(|wish| wish.at);
        Ok(())
    }

    /// The best move of a node, if one gains.
    fn decide(&self, decider: &mut Decider, at: usize, v: VertexId) -> Result<Option<Wish>, E> {
        let (partition, tally) = (self.partition, &mut decider.tally);
        tally.prepare(self.lists.degree(v));
        each_entry(self.lists, v, &mut decider.buffers, |u, units| {
            if u != v {
                tally.add(partition.of.get(u), units);
            }
        })?;
        let (own, mass) = (partition.of.get(v), partition.mass[v as usize]);
        let (mut here, mut sum, mut best) = (0, 0, (f64::NEG_INFINITY, OWN, 0));
        tally.drain(|community, units| {
            sum += units;
            if community == own {
                here = units;
                return;
            }
            let gain = self.cost.gain(units, mass, partition.total.get(community));
            if gain > best.0 || gain == best.0 && community < best.1 {
                best = (gain, community, units);
            }
        });
        let stay = self.cost.gain(here, mass, partition.total.get(own) - mass);
        if best.0 < 0.0 && partition.len.get(own) > 1 {
            best = (0.0, OWN, 0);
        }
        let (gain, to, there) = best;
        let least = GAIN_SHARE_MIN * sum as f64;
        Ok((gain - stay > least).then_some(Wish { at, to, here, there, least }))
    }

    /// Adds up again what a node has in the two communities of its move.
    fn weigh(&self, buffers: &mut PartBuffers, v: VertexId, wish: &mut Wish) -> Result<(), E> {
        let own = self.partition.of.get(v);
        (wish.here, wish.there) = (0, 0);
        each_entry(self.lists, v, buffers, |u, units| {
            let community = self.partition.of.get(u);
            if community == own && u != v {
                wish.here += units;
            } else if community == wish.to {
                wish.there += units;
            }
        })
    }

    /// Carries out a move, unless it no longer gains.
    fn apply(&self, v: VertexId, wish: &Wish, empty: &mut Vec<VertexId>) -> bool {
        let (partition, mass) = (self.partition, self.partition.mass[v as usize]);
        let own = partition.of.get(v);
        let stay = self.cost.gain(wish.here, mass, partition.total.get(own) - mass);
        let is_single = partition.len.get(own) == 1;
        let (gain, to) = if wish.to == OWN {
            (0.0, if is_single { None } else { empty.last().copied() })
        } else {
            let gain = self.cost.gain(wish.there, mass, partition.total.get(wish.to));
            (gain, (partition.len.get(wish.to) > 0).then_some(wish.to))
        };
        let Some(to) = to.filter(|_| gain - stay > wish.least) else { return false };
        if wish.to == OWN {
            empty.pop();
        }
        partition.shift(v, to);
        if is_single {
            empty.push(own);
        }
        true
    }
}
