//! Answers that are kept while versions are published: after each version they are those of a run on it.
//!
//! Each process keeps a value for every vertex of its shard. A version brings the edges that were added to
//! the shard and removed from it; the process updates what they touch, and what that touches, until nothing
//! in the shard changes. Then it tells owners and ghosts what changed, and goes on with what it is told,
//! until no process has anything to tell. Time: that of the changed vertices and their lists, except that
//! removals cost a look at every value (`spread`). Memory: 15 bytes a vertex, 24 for colours; 4 a ghost; 16
//! for each shard that has a ghost of a vertex. Without a limit, also up to 256 MiB of lists that were read,
//! and what [`DiffCache`] remembers.

mod shared;
mod values;
mod live;
mod kept_lists;
mod spread;
mod colours;

use std::collections::BTreeSet;
use std::sync::Arc;

use esker_format::io::RealDisk;
use esker_format::{Error, Result, trimmed_budget};
use esker_graph::{Budget, Operation, Reservation, Run, RunOptions, Setting, Stop, VertexId, message};
use esker_store::diff::{DiffCache, Difference, diff};
use esker_store::{Follower, Version};

use crate::algorithm::{AnswerSink, expect_undirected, no_vertex};
use crate::disk::cluster::Cluster;
use crate::disk::job::FollowJob;
use crate::disk::shard::threads_each;
use crate::exchange::routes::count_shared;
use crate::model::answer::{Cell, Outline, put_change};
use crate::model::manifest::ClusterManifest;
use crate::model::needs::{PROCESS_BYTES, ShardShape};
use crate::net::engine::Engine;
use colours::Colours;
use live::{Delegated, Live, ShardStep};
use shared::Shared;
use spread::{Components, Depths, Spread, TextComponents};

/// Bytes of neighbour lists that are kept in memory for colours. Fewer in tests, so that lists do not fit.
const KEPT_BYTES_MAX: usize = if cfg!(test) { 1 << 11 } else { 1 << 28 };
/// Bytes of changes handed over together, about.
const CHANGES_BYTES: usize = 1 << 18;

/// Gives versions, and takes what they change.
pub trait FollowSink: AnswerSink {
    /// The number of the next version of the whole, once it is published; `None`: there is no further one.
    /// All processes are given the same. Brings `manifest` up to it, or to a later version.
    ///
    /// # Errors
    /// If it cannot be known.
    fn next(&mut self, manifest: &mut ClusterManifest) -> Result<Option<u64>>;

    /// Told that all changes of a version were handed over.
    ///
    /// # Errors
    /// If that cannot be passed on.
    fn followed(&mut self, version: u64) -> Result<()>;
}

/// How the answer of an algorithm is kept.
pub struct LiveAlgorithm {
    /// Whether it needs a vertex to begin with, which is its only option.
    has_source: bool,
    needs_undirected: bool,
    start: fn(&FollowJob, &ClusterManifest) -> Result<Box<dyn Live>>,
}

impl std::fmt::Debug for LiveAlgorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveAlgorithm").finish_non_exhaustive()
    }
}

/// Weakly connected components.
pub(crate) const LIVE_COMPONENTS: LiveAlgorithm = LiveAlgorithm {
    has_source: false,
    needs_undirected: false,
    start: |_, manifest| {
        Ok(match manifest.text_ids {
            true => Box::new(Spread::new(TextComponents, manifest.directed)),
            false => Box::new(Spread::new(Components, manifest.directed)),
        })
    },
};

/// The depths of a search.
pub(crate) const LIVE_DEPTHS: LiveAlgorithm = LiveAlgorithm {
    has_source: true,
    needs_undirected: false,
    start: |job, manifest| {
        let source = job.params.last().map(|(_, value)| value.as_str()).unwrap_or_default();
        Ok(Box::new(Spread::new(Depths::new(source, manifest.text_ids)?, manifest.directed)))
    },
};

/// Colours.
pub(crate) const LIVE_COLOURS: LiveAlgorithm = LiveAlgorithm {
    has_source: false,
    needs_undirected: true,
    // Under a limit there may be no room for lists.
    start: |job, _| Ok(Box::new(Colours::new(if job.memory_bytes.is_none() { KEPT_BYTES_MAX } else { 0 }))),
};

impl LiveAlgorithm {
    /// Checks that an answer can be kept.
    ///
    /// # Errors
    /// [`Error::Usage`] with what is missing; [`Stop::Unsuitable`] if the cluster is of the wrong kind.
    pub(crate) fn expect(&self, job: &FollowJob, directed: bool) -> Result<()> {
        let algorithm = &job.algorithm;
        if let Some((name, _)) = job.params.iter().find(|(name, _)| !self.has_source || name != "source") {
            return Err(Error::usage(format!("{algorithm} has no option {name:?}")));
        }
        if self.has_source && job.params.is_empty() {
            return Err(Error::usage(message![
                format!("{algorithm} needs a vertex to begin with: give its id with "),
                Setting::Source
            ]));
        }
        if self.needs_undirected {
            expect_undirected(algorithm, directed)?;
        }
        Ok(())
    }
}

/// Keeps an answer on the shard of this process, together with all other processes, until there is no further
/// version.
///
/// # Errors
/// The first error of the shard, of an option or of the sink.
pub(crate) fn follow(
    kept: &LiveAlgorithm,
    cluster: &Cluster,
    engine: &mut Engine<'_>,
    job: &FollowJob,
    sink: &mut dyn FollowSink,
) -> Result<()> {
    let shard = engine.index();
    let budget = job.memory_bytes.map_or_else(Budget::default, trimmed_budget);
    // Refused with all that is needed, not with what the log takes alone.
    let log_run = Arc::new(Run::with_threads(threads_each(engine.peers()))?);
    let (held, log) = (budget.reserve("values", 0)?, log_run.budget().clone());
    let mut memory = FollowMemory { job, held, log, shape: ShardShape::default(), counted: 0 };
    let options = RunOptions { threads: threads_each(engine.peers()), budget, ..RunOptions::default() };
    let run = Arc::new(Run::new(options)?);
    kept.expect(job, cluster.manifest().directed)?;
    let (mut live, mut cluster) = ((kept.start)(job, cluster.manifest())?, cluster.clone());
    let path = cluster.shard_path(shard);
    let mut follower = Follower::open(Arc::new(RealDisk), &path, log_run)?;
    let mut last = follower.at(cluster.manifest().version(job.version)?.shards[shard])?;
    cluster.expect_shard(shard, last.manifest().database)?;
    memory.count_newest(&mut follower, &last, &cluster, engine, &run)?;
    let mut shared = Shared::new(cluster.owners(), engine);
    let newly_shared = shared.extend(&last, engine)?;
    if kept.has_source {
        let newest = follower.at(cluster.manifest().newest().shards[shard])?;
        let is_empty = engine.sum([newest.num_vertices() as u64])? == [0];
        expect_vertex(&newest, &cluster, shard, is_empty, &job.params)?;
    }
    let (added, removed) = (Vec::new(), Vec::new());
    let delegates = delegated(&cluster, job.version, &last, &shared)?;
    // Under a limit, what it remembers would be missing later, when a limit has been named that was to
    // suffice.
    let mut cache = (!memory.is_limited()).then(DiffCache::default);
    let step =
        ShardStep { version: &last, shared: &shared, delegates, first_new: 0, newly_shared, added, removed };
    report(live.as_mut(), &step, engine, job.version, job.initial, sink)?;
    while let Some(whole) = sink.next(cluster.manifest_mut())? {
        // A number is never given twice, so a version that is known stays what it was.
        follower.refresh()?;
        let next = follower.at(cluster.manifest().version(whole)?.shards[shard])?;
        if !next.continues(&last) {
            return Err(Error::invalid(format!(
                "{} was compacted, and its vertices have other numbers: follow again, from version {whole}",
                path.display()
            )));
        }
        let first_new = last.num_vertices();
        memory.count_newest(&mut follower, &next, &cluster, engine, &run)?;
        let (added, removed, _edges) =
            edges_between(&last, &next, cache.as_mut(), &run, memory.held_bytes())?;
        let newly_shared = shared.extend(&next, engine)?;
        let delegates = delegated(&cluster, whole, &next, &shared)?;
        let step =
            ShardStep { version: &next, shared: &shared, delegates, first_new, newly_shared, added, removed };
        report(live.as_mut(), &step, engine, whole, true, sink)?;
        last = next;
    }
    Ok(())
}

/// The delegates of a version, and which of them are ghosts in this shard.
fn delegated(cluster: &Cluster, number: u64, version: &Version, shared: &Shared) -> Result<Delegated> {
    let (placement, mut ghosts) = (cluster.placement(number), BTreeSet::new());
    for id in placement.delegates() {
        let found = version.ids().vertex_of(id.as_id())?;
        ghosts.extend(found.filter(|&v| (v as usize) < version.num_vertices() && !shared.is_owned(v)));
    }
    Ok(Delegated { any: placement.has_delegates(), ghosts })
}

/// The memory of a process that follows.
struct FollowMemory<'a> {
    job: &'a FollowJob,
    held: Reservation,
    /// What the commits in the log of the shard take.
    log: Budget,
    /// The sizes of the shard so far, and the number of vertices that were counted.
    shape: ShardShape,
    counted: usize,
}

impl FollowMemory<'_> {
    fn is_limited(&self) -> bool {
        self.job.memory_bytes.is_some()
    }

    /// What is held for values, of the limit.
    fn held_bytes(&self) -> u64 {
        self.held.bytes()
    }

    /// As [`FollowMemory::count`], up to the newest version in the manifest: those until there follow at
    /// once, so the limit that a refusal names suffices for all of them.
    fn count_newest(
        &mut self,
        follower: &mut Follower,
        next: &Version,
        cluster: &Cluster,
        engine: &mut Engine<'_>,
        run: &Run,
    ) -> Result<()> {
        if !self.is_limited() {
            return Ok(());
        }
        let newest = follower.at(cluster.manifest().newest().shards[engine.index()])?;
        // A compaction gives vertices other numbers; the version that does so is refused when it is taken.
        let last = if newest.continues(next) { &newest } else { next };
        self.count(last, cluster, engine, run)
    }

    /// Holds what the vertices that were not counted yet need, before any of it is allocated.
    fn count(
        &mut self,
        version: &Version,
        cluster: &Cluster,
        engine: &mut Engine<'_>,
        run: &Run,
    ) -> Result<()> {
        let after = cluster.manifest().versions.iter().filter(|one| one.number > self.job.version);
        let given = after.map(|version| version.edges_given).max().unwrap_or(0);
        let placement = cluster.placement(cluster.manifest().newest().number);
        let new = count_shared(version, self.counted, &placement, engine)?;
        // The arcs of a vertex that becomes a delegate move to other shards.
        let changed = 2 * given + if placement.has_delegates() { new.arcs } else { 0 };
        // In lists that grow and are copied: reserved as they come.
        let edge_bytes = changed * CHANGED_BYTES + SMALL_LISTS_BYTES;
        self.counted = self.counted.max(version.num_vertices());
        self.shape.add(&new);
        let (budget, log_bytes) = (run.budget(), self.log.limit_bytes() - self.log.free_bytes());
        let bytes = PROCESS_BYTES + log_bytes + self.shape.follow_bytes(self.job.initial);
        let needed = engine.gather(bytes + edge_bytes)?;
        let (most, &needed_bytes) =
            needed.iter().enumerate().max_by_key(|(_, bytes)| **bytes).unwrap_or((0, &0));
        if needed_bytes <= budget.limit_bytes() && self.held.resize(bytes) {
            return Ok(());
        }
        let what = format!("following {} on shard {most}", self.job.algorithm);
        Err(Stop::OverBudget { what, needed_bytes, budget_bytes: budget.limit_bytes() }.into())
    }
}

/// An error if this shard owns the source of a search and has no such vertex in its newest version. In an
/// empty cluster the source is still to come.
fn expect_vertex(
    version: &Version,
    cluster: &Cluster,
    shard: usize,
    is_empty: bool,
    params: &[(String, String)],
) -> Result<()> {
    let Some((_, source)) = params.last().filter(|_| !is_empty) else { return Ok(()) };
    let id = spread::parse_id(source, version.ids().is_text())?;
    let is_there = || {
        Ok::<_, Error>(
            version.ids().vertex_of(id.as_id())?.is_some_and(|v| (v as usize) < version.num_vertices()),
        )
    };
    if cluster.owners().of(id.as_id()) == shard && !is_there()? {
        return Err(no_vertex(source));
    }
    Ok(())
}

type EdgePairs = Vec<(VertexId, VertexId)>;

/// Bytes for each changed edge, in lists that grow and are copied.
const CHANGED_BYTES: u64 = 4 * size_of::<(VertexId, VertexId)>() as u64;
/// Bytes of these lists while they are short.
const SMALL_LISTS_BYTES: u64 = 1 << 16;

/// The edges that only the second of two versions has, and those that only the first one has. If they do not
/// fit beside `held_bytes`, all are counted before that is an error.
fn edges_between(
    last: &Version,
    next: &Version,
    cache: Option<&mut DiffCache>,
    run: &Run,
    held_bytes: u64,
) -> Result<(EdgePairs, EdgePairs, Reservation)> {
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    let mut memory = run.budget().reserve("the changed edges", 0)?;
    let (mut changed, mut fits) = (0, true);
    let mut push = |list: &mut EdgePairs, source, target| {
        changed += 1;
        fits = fits && memory.push(list, (source, target), 2);
    };
    let visit = |difference: Difference<'_>| {
        match difference {
            Difference::EdgeAdded(edge) => push(&mut added, edge.source, edge.target),
            Difference::EdgeRemoved(edge) => push(&mut removed, edge.source, edge.target),
            Difference::VertexRemoved(v) => {
                let path = next.path().display();
                return Err(Error::invalid(message![
                    format!(
                        "{path} lacks vertex {v}, which no command of a cluster removes: check the cluster with "
                    ),
                    Operation::ClusterCheck,
                ]));
            }
            Difference::VertexAdded(_) | Difference::ValueChanged(..) | Difference::EdgeChanged(..) => {}
        }
        Ok(())
    };
    match cache {
        Some(cache) => cache.diff(last, next, run, visit)?,
        None => diff(last, next, run, visit)?,
    };
    if fits {
        return Ok((added, removed, memory));
    }
    let what = "the edges that a version changes".to_owned();
    let (needed_bytes, budget_bytes) =
        (held_bytes + changed * CHANGED_BYTES + SMALL_LISTS_BYTES, run.budget().limit_bytes());
    Err(Stop::OverBudget { what, needed_bytes, budget_bytes }.into())
}

/// Brings an answer to a version, and hands over what it changed, if that is wanted.
fn report(
    live: &mut dyn Live,
    step: &ShardStep<'_>,
    engine: &mut Engine<'_>,
    version: u64,
    is_wanted: bool,
    sink: &mut dyn FollowSink,
) -> Result<()> {
    let mut blocks = vec![Vec::new()];
    let rounds = live.advance(step, engine, &mut |v, old, new| {
        // A vertex that is new and unreached has no value, as before.
        if !is_wanted || old.as_ref().unwrap_or(&Cell::Missing) == &new {
            return Ok(());
        }
        if blocks.last().is_none_or(|last: &Vec<u8>| last.len() >= CHANGES_BYTES) {
            blocks.push(Vec::new());
        }
        let id = step.version.ids().external_of(v)?;
        blocks.last_mut().into_iter().for_each(|last| put_change(last, id, old.as_ref(), &new));
        Ok(())
    })?;
    let (name, number) = live.fact(engine)?;
    sink.outline(&Outline::new(&[live.column()], rounds).with_fact(name, number as f64))?;
    for block in blocks.into_iter().filter(|block| !block.is_empty()) {
        sink.rows(block)?;
    }
    sink.followed(version)
}
