//! Adding and removing edges: every process parses its own part of the input, sends edges to their owners in blocks, and applies what it gets.
//!
//! All processes cut the same files into the same blocks of about a mebibyte; process p of P parses the blocks p, p + P, p + 2P and so on.
//! A round takes one block of each process ([`crate::parts`]), and blocks are applied in their order in the files, so of the weights of an edge that is given
//! several times the last one stays. Where edges go: see [`crate::outbox`].
//!
//! Memory of a process: the blocks of a round, and a batch (40 bytes an edge, 48 with a weight) until the version is made. Under a limit, the
//! first process whose batch and its commit would fill half of it asks all others for a version.

use std::time::Instant;

use esker_format::{Error, Result, trimmed_budget};
use esker_graph::{Budget, Run};
use esker_store::property::PropertyValue;
use esker_store::{Batch, CommitOptions, Database, DatabaseOptions};

use crate::cluster::Cluster;
use crate::counters::{ChangeTimes, timed};
use crate::engine::Engine;
use crate::job::ChangeJob;
use crate::outbox::{Given, Outbox};
use crate::parts::Parts;
use crate::shard::{message_of, open_at_newest, threads_each};
use crate::weights::{WeightKind, weight_kind};
use crate::wire::Taker;

/// A version of a shard that is durable, and waits for those of the other shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prepared {
    /// The version of the shard.
    pub shard_version: u64,
    /// Edges that all processes read for the version of the whole.
    pub edges_given: u64,
    /// The fingerprint of the last edge of a stream, if this process reads one.
    pub mark: Option<u64>,
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

    /// Told before a commit, which may take long.
    fn committing(&mut self) {}

    /// Whether a stream ends here, although its input goes on.
    fn is_stopping(&mut self) -> bool {
        false
    }
}

/// Adds edges to the shard of this process or removes them from it, together with all other processes. Returns where the time went.
///
/// # Errors
/// The first error of reading, of the shard or of the publisher. Then the shard may be ahead of the whole; see
/// [`roll_back`](crate::shard::roll_back).
pub fn change(
    cluster: &Cluster,
    engine: &mut Engine<'_>,
    job: &ChangeJob,
    publisher: &mut dyn Publisher,
) -> Result<ChangeTimes> {
    let budget = job.memory_bytes.map_or_else(Budget::default, trimmed_budget);
    let run = Run::with_threads(1)?;
    let options =
        DatabaseOptions { threads: threads_each(engine.peers()), budget, ..DatabaseOptions::default() };
    let (database, _) = open_at_newest(cluster, engine.index(), options, &run)?;
    let weights = weight_kind(database.batch().edge_properties()).filter(|_| !job.removes);
    let mut parts = Parts::open(cluster, engine, job, weights.is_some())?;
    let mut changing = Changing {
        is_text: cluster.manifest().text_ids,
        removes: job.removes,
        weights,
        batch: database.batch(),
        database: &database,
        next_number: cluster.manifest().newest().number + 1,
        message: &job.message,
    };
    let mut outbox = Outbox::new(cluster, job.removes, weights);
    let mut times = ChangeTimes::default();
    let (mut total, mut pending, mut is_over) = (0, Given::default(), false);
    while !is_over {
        let begin = Instant::now();
        let part = parts.next(pending.edges + pending.vertices, || publisher.is_stopping())?;
        let mut own = match &part.rows {
            Some((batch, rows)) => outbox.take(batch, rows.clone(), parts.weight, parts.is_reversed)?,
            None => Given::default(),
        };
        own.vertices += outbox.take_counted(&mut parts.counted);
        // The vertices that a header states may take more rounds than the edges.
        let is_all = parts.counted.is_empty();
        (own.is_done, own.commits) = (part.is_done && is_all, part.commits && (is_all || !part.is_done));
        own.commits |= database.fills_half(&changing.batch);
        times.input += begin.elapsed();
        let arrived = timed(&mut times.exchange, || engine.exchange(outbox.blocks(own)));
        let mut is_due = job.stream.is_none() && job.batch_edges > 0;
        (is_over, pending.commits) = (true, false);
        for block in &arrived {
            let given = timed(&mut times.insert, || changing.apply(block))?;
            is_over &= given.is_done;
            pending.commits |= given.commits;
            pending.edges += given.edges;
            pending.vertices += given.vertices;
            total += given.edges;
        }
        database.make_room(&mut changing.batch)?;
        publisher.progress(total);
        is_due &= pending.edges + pending.vertices >= job.batch_edges;
        if (is_due || pending.commits || is_over) && pending.edges + pending.vertices > 0 {
            let begin = Instant::now();
            publisher.committing();
            let (shard_version, mark) = (changing.commit()?, parts.mark());
            publisher.publish(Prepared { shard_version, edges_given: pending.edges, mark })?;
            times.commit += begin.elapsed();
            pending = Given::default();
        }
    }
    drop(changing);
    publisher.committing();
    timed(&mut times.commit, || database.close())?;
    Ok(times)
}

/// The shard that is changed.
struct Changing<'a> {
    is_text: bool,
    removes: bool,
    weights: Option<WeightKind>,
    database: &'a Database,
    batch: Batch,
    /// The number of the next version of the whole.
    next_number: u64,
    message: &'a str,
}

impl Changing<'_> {
    /// Takes the edges and vertices of a block.
    fn apply(&mut self, block: &[u8]) -> Result<Given> {
        let mut taker = Taker(block);
        let given = Given::take(&mut taker)?;
        let edge_bytes = taker.u64()? as usize;
        let mut edges = Taker(taker.bytes(edge_bytes)?);
        while !edges.is_empty() {
            let (source, target) = (edges.id(self.is_text)?, edges.id(self.is_text)?);
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
        }
        while !taker.is_empty() {
            self.batch.add_vertex(taker.id(self.is_text)?)?;
        }
        Ok(given)
    }

    /// Commits what was changed. Without changes, the shard keeps its version.
    fn commit(&mut self) -> Result<u64> {
        let batch = std::mem::replace(&mut self.batch, self.database.batch());
        let message = message_of(self.next_number, self.message);
        self.next_number += 1;
        if batch.is_empty() {
            let newest = self.database.versions().last().map(|version| version.number);
            return newest.ok_or_else(|| Error::Invalid("a shard has no version".to_owned()));
        }
        let options = CommitOptions { message, ..CommitOptions::default() };
        Ok(self.database.commit_with(batch, &options)?.version)
    }
}
