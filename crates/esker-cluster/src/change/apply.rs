//! Adding and removing edges: every process parses its own part of the input, sends edges to their owners in
//! blocks, and applies what it gets.
//!
//! All processes cut the same files into the same blocks of about a mebibyte; process p of P parses the
//! blocks p, p + P, p + 2P and so on. A round takes one block of each process ([`crate::change::input`]), and
//! blocks are applied in their order in the files, so of the weights of an edge that is given several times
//! the last one stays. Where edges go: see [`crate::exchange::outbox`]. Vertices with many edges become
//! delegates: see [`crate::exchange::hubs`].
//!
//! Memory of a process: the blocks of a round, and a batch (40 bytes an edge, 48 with a weight) until the
//! version is made. Under a limit, the first process whose batch and its commit would fill half of it asks
//! all others for a version.

use esker_format::{Error, Result, trimmed_budget};
use esker_graph::{Budget, Message, Run};
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;
use esker_store::{Batch, CommitOptions, Database, DatabaseOptions};
use serde::{Deserialize, Serialize};

use crate::change::input::{InputPart, Parts};
use crate::change::reading::{remember, remembered};
use crate::disk::cluster::Cluster;
use crate::disk::job::ChangeJob;
use crate::disk::shard::{message_of, open_at_newest, threads_each};
use crate::exchange::counters::{ChangeTimes, timed};
use crate::exchange::hubs::{HubWatch, Moves, announce};
use crate::exchange::outbox::{Outbox, ReadBlocks};
use crate::exchange::rounds::{ChangeStep, Rounds};
use crate::model::owner::OwnedId;
use crate::model::placement::Placement;
use crate::model::weights::{WeightKind, weight_kind};
use crate::net::engine::Engine;
use crate::net::wire::Taker;

/// Changes of a batch between two reservations.
const RESERVE_EVERY: usize = 1 << 12;

/// A version of a shard that is durable, and waits for those of the other shards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// The version of the shard.
    pub shard_version: u64,
    /// Edges that all processes read for the version of the whole.
    pub edges_given: u64,
    /// The fingerprint of the last edge of a stream, if this process reads one.
    pub mark: Option<u64>,
    /// The vertices that become delegates with the version; all processes name the same.
    pub delegates: Vec<OwnedId>,
}

/// Makes versions of the whole of versions of shards.
pub trait Publisher {
    /// Returns once the version of the whole, of which `prepared` is the part of this shard, is published.
    ///
    /// # Errors
    /// If it cannot be.
    fn publish(&mut self, prepared: Prepared) -> Result<()>;

    /// Told how many edges all processes have read.
    fn progress(&mut self, edges: u64);

    /// Told how an input is read.
    fn note(&mut self, _: &Message) {}

    /// Told before a commit, which may take long.
    fn committing(&mut self) {}

    /// Whether a stream ends here, although its input goes on.
    fn is_stopping(&mut self) -> bool {
        false
    }
}

/// Adds edges to the shard of this process or removes them from it, together with all other processes.
/// Returns where the time went.
///
/// # Errors
/// The first error of reading, of the shard or of the publisher. Then the shard may be ahead of the whole;
/// see [`roll_back`](crate::roll_back).
pub fn change(
    cluster: &Cluster,
    engine: &mut Engine<'_>,
    job: &ChangeJob,
    publisher: &mut dyn Publisher,
) -> Result<ChangeTimes> {
    let database = open_to_change(cluster, engine, job)?;
    let weights = weight_kind(database.batch().edge_properties()).filter(|_| !job.removes);
    let expected = remembered(engine, &database)?;
    let remembers = expected.is_none() && engine.index() == 0 && !job.removes;
    let mut parts = Parts::open(cluster, engine, job, weights.is_some(), expected)?;
    parts.notes.iter().for_each(|note| publisher.note(note));
    let mut changing = Changing::new(cluster, &database, engine, job, weights);
    let mut outbox = Outbox::new(cluster, job.removes, weights);
    let mut times = ChangeTimes::default();
    let mut rounds = Rounds::new(if job.stream.is_none() { job.batch_edges } else { 0 });
    loop {
        match rounds.next() {
            ChangeStep::Promote => {
                changing.promote(&mut outbox, engine)?;
                rounds.promoted();
            }
            ChangeStep::Exchange => {
                let stopping = || publisher.is_stopping();
                let part = timed(&mut times.input, || parts.next(rounds.pending(), stopping))?;
                let own = timed(&mut times.serialise, || give_out(&part, &mut parts, &mut outbox))?;
                let own = changing.asks(own);
                let arrived = timed(&mut times.exchange, || engine.exchange(outbox.blocks(own)));
                let apply = |block: &Vec<u8>| changing.apply(block, outbox.placement());
                let heads =
                    timed(&mut times.insert, || arrived.iter().map(apply).collect::<Result<Vec<_>>>())?;
                rounds.exchanged(&heads);
                parts.expect_same(engine, rounds.is_over() && job.stream.is_none())?;
                database.make_room(&mut changing.batch)?;
                publisher.progress(rounds.edges());
            }
            ChangeStep::Commit => {
                publisher.committing();
                let (shard_version, mark) = (timed(&mut times.commit, || changing.commit())?, parts.mark());
                let (edges_given, delegates) =
                    (rounds.pending_edges(), std::mem::take(&mut changing.delegates));
                let prepared = Prepared { shard_version, edges_given, mark, delegates };
                timed(&mut times.publish, || publisher.publish(prepared))?;
                changing.edges_given += edges_given;
                rounds.published();
            }
            ChangeStep::Close => break,
        }
    }
    let is_new = remembers && changing.edges_given > 0;
    drop(changing);
    publisher.committing();
    remember(&database, parts.table.take().filter(|_| is_new))?;
    timed(&mut times.commit, || database.close())?;
    parts.broken().map_or(Ok(times), Err)
}

/// Puts a part of the input into the blocks of a round. Returns their head, but for what the shard asks for.
fn give_out(part: &InputPart, parts: &mut Parts, outbox: &mut Outbox) -> Result<ReadBlocks> {
    let mut own = match &part.rows {
        Some((batch, rows)) => {
            let taken = outbox.take(batch, rows.clone(), parts.weight, parts.is_reversed);
            parts.about_input(taken)?
        }
        None => ReadBlocks::default(),
    };
    own.vertices += outbox.take_counted(&mut parts.counted);
    // The vertices that a header states may take more rounds than the edges.
    let is_all = parts.counted.is_empty();
    (own.is_done, own.commits) = (part.is_done && is_all, part.commits && (is_all || !part.is_done));
    Ok(own)
}

fn open_to_change(cluster: &Cluster, engine: &Engine<'_>, job: &ChangeJob) -> Result<Database> {
    let budget = job.memory_bytes.map_or_else(Budget::default, trimmed_budget);
    let (threads, run) = (threads_each(engine.peers()), Run::with_threads(1)?);
    let options = DatabaseOptions { threads, budget, ..DatabaseOptions::default() };
    Ok(open_at_newest(cluster, engine.index(), options, &run)?.0)
}

/// The shard that is changed.
struct Changing<'a> {
    is_text: bool,
    directed: bool,
    removes: bool,
    weights: Option<WeightKind>,
    database: &'a Database,
    batch: Batch,
    /// The number of the next version of the whole.
    next_number: u64,
    message: &'a str,
    watch: HubWatch,
    /// Edges that were given for all versions so far.
    edges_given: u64,
    /// Vertices that become delegates with the next version.
    delegates: Vec<OwnedId>,
}

impl<'a> Changing<'a> {
    fn new(
        cluster: &Cluster,
        database: &'a Database,
        engine: &Engine<'_>,
        job: &'a ChangeJob,
        weights: Option<WeightKind>,
    ) -> Self {
        let manifest = cluster.manifest();
        let hub_degree = if job.removes || engine.peers() == 1 { 0 } else { manifest.hub_degree };
        Self {
            is_text: manifest.text_ids,
            directed: manifest.directed,
            removes: job.removes,
            weights,
            database,
            batch: database.batch(),
            next_number: manifest.newest().number + 1,
            message: &job.message,
            watch: HubWatch::new(engine.index(), hub_degree),
            edges_given: manifest.edges_given(),
            delegates: Vec::new(),
        }
    }

    /// Adds what this shard asks for to the head of its blocks.
    fn asks(&self, own: ReadBlocks) -> ReadBlocks {
        let has_hub = self.watch.has_hub();
        ReadBlocks {
            has_hub,
            commits: own.commits || has_hub || self.database.fills_half(&self.batch),
            ..own
        }
    }

    /// Takes the edges and vertices of a block.
    fn apply(&mut self, block: &[u8], placement: &Placement) -> Result<ReadBlocks> {
        let mut taker = Taker(block);
        let given = ReadBlocks::take(&mut taker)?;
        let edge_bytes = taker.u64()? as usize;
        self.apply_edges(taker.bytes(edge_bytes)?, placement)?;
        while !taker.is_empty() {
            self.batch.add_vertex(taker.id(self.is_text)?)?;
        }
        Ok(given)
    }

    fn apply_edges(&mut self, block: &[u8], placement: &Placement) -> Result<()> {
        // Most edges are of this kind.
        if !(self.is_text || self.removes || self.weights.is_some()) {
            return self.apply_integers(block, placement);
        }
        let (mut edges, mut index) = (Taker(block), 0);
        while !edges.is_empty() {
            let (source, target) = (edges.id(self.is_text)?, edges.id(self.is_text)?);
            self.count(placement, source, target);
            match self.weights {
                _ if self.removes => self.batch.remove_edge(source, target)?,
                None => self.batch.add_edge(source, target, &[])?,
                Some(WeightKind::Int) => {
                    self.batch.add_edge(source, target, &[PropertyValue::I64(edges.u64()? as i64)])?;
                }
                Some(WeightKind::Float) => {
                    let weight = f64::from_bits(edges.u64()?);
                    self.batch.add_edge(source, target, &[PropertyValue::F64(weight)])?;
                }
            }
            self.make_room_after(index)?;
            index += 1;
        }
        Ok(())
    }

    /// Takes edges between integer ids without weights, many at a time.
    fn apply_integers(&mut self, block: &[u8], placement: &Placement) -> Result<()> {
        let (mut edges, mut sources, mut targets) = (Taker(block), Vec::new(), Vec::new());
        while !edges.is_empty() {
            sources.clear();
            targets.clear();
            while !edges.is_empty() && sources.len() < RESERVE_EVERY {
                let (source, target) = (edges.u64()?, edges.u64()?);
                self.count(placement, ExternalId::Int(source), ExternalId::Int(target));
                sources.push(source);
                targets.push(target);
            }
            self.batch.add_integer_edges(&sources, &targets, &[])?;
            if sources.len() == RESERVE_EVERY {
                self.database.make_room(&mut self.batch)?;
            }
        }
        Ok(())
    }

    /// Counts an edge for its ends, if hubs are looked for.
    #[inline]
    fn count(&mut self, placement: &Placement, source: ExternalId<'_>, target: ExternalId<'_>) {
        if self.watch.is_on() {
            self.watch.count(placement, source);
            if !self.directed {
                self.watch.count(placement, target);
            }
        }
    }

    /// Makes the hubs of all processes delegates from the next version on. There are no changes since the
    /// last one.
    fn promote(&mut self, outbox: &mut Outbox, engine: &mut Engine<'_>) -> Result<()> {
        // The whole has at most the edges that were given, so no list is so long. To open it may cost memory.
        if !self.watch.is_on() || 2 * self.edges_given < self.watch.degree() {
            return Ok(());
        }
        let (version, old) = (self.database.latest()?, outbox.placement().clone());
        let hubs = self.watch.find(&version, &old)?;
        self.delegates = announce(&version, &hubs, self.watch.degree(), engine)?;
        if self.delegates.is_empty() {
            return Ok(());
        }
        outbox.add_delegates(&self.delegates);
        let new = outbox.placement();
        let mut moves = Moves::of(&version, &hubs, &old, new, engine, self.database)?;
        for (index, (hub, other)) in std::mem::take(&mut moves.removed).into_iter().enumerate() {
            let (hub, other) = (version.ids().external_of(hub)?, version.ids().external_of(other)?);
            self.batch.remove_edge(hub, other)?;
            self.make_room_after(index)?;
        }
        let (blocks, _held) = moves.exchange(engine, self.database)?;
        for block in blocks {
            self.apply_edges(&block, outbox.placement())?;
        }
        self.database.make_room(&mut self.batch)
    }

    /// Has the batch reserve its memory after some of many changes.
    fn make_room_after(&mut self, index: usize) -> Result<()> {
        if index % RESERVE_EVERY == RESERVE_EVERY - 1 {
            self.database.make_room(&mut self.batch)?;
        }
        Ok(())
    }

    /// Commits what was changed. Without changes, the shard keeps its version.
    fn commit(&mut self) -> Result<u64> {
        let batch = std::mem::replace(&mut self.batch, self.database.batch());
        let message = message_of(self.next_number, self.message);
        self.next_number += 1;
        if batch.is_empty() {
            let newest = self.database.versions().last().map(|version| version.number);
            return newest.ok_or_else(|| Error::invalid("a shard has no version".to_owned()));
        }
        let options = CommitOptions { message, ..CommitOptions::default() };
        Ok(self.database.commit_with(batch, &options)?.version)
    }
}
