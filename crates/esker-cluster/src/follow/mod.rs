//! Answers that are kept while versions are published: after each version they are those of a run on it.
//!
//! Each process keeps a value for every vertex of its shard. A version brings the edges that were added to the shard and removed from it; the
//! process updates what they touch, and what that touches, until nothing in the shard changes. Then it tells owners and ghosts what changed, and
//! goes on with what it is told, until no process has anything to tell. Time: that of the changed vertices and their lists, except that
//! removals cost a look at every value (`spread`). Memory: 15 bytes a vertex, 4 a ghost, 16 for each shard that has a ghost of a vertex; of
//! colours 9 bytes a vertex besides.

mod shared;
mod values;
mod live;
mod spread;
mod colours;

use std::sync::Arc;

use esker_format::io::RealDisk;
use esker_format::{Error, Result};
use esker_graph::{Run, VertexId};
use esker_store::diff::{Difference, diff};
use esker_store::{Follower, Snapshot};

use crate::algorithm::AnswerSink;
use crate::answer::{Outline, put_change};
use crate::cluster::Cluster;
use crate::engine::Engine;
use crate::job::FollowJob;
use crate::shard::threads_each;
use colours::Colours;
use live::{Live, Step};
use shared::Shared;
use spread::{Components, Depths, Spread, TextComponents};

/// The algorithms that can be followed, each with its options.
pub const LIVE: &[(&str, &[&str])] = &[("wcc", &[]), ("bfs", &["source"]), ("colouring", &[])];

/// Bytes of changes handed over together, about.
const CHANGES_BYTES: usize = 1 << 18;

/// The next version to follow to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextVersion {
    /// Its number.
    pub whole: u64,
    /// The version of the shard in it.
    pub shard: u64,
}

/// Gives versions, and takes what they change.
pub trait FollowSink: AnswerSink {
    /// The next version, once it is published; `None`: there is no further one. All processes are given the same.
    ///
    /// # Errors
    /// If it cannot be known.
    fn next(&mut self) -> Result<Option<NextVersion>>;

    /// Told that all changes of a version were handed over.
    ///
    /// # Errors
    /// If that cannot be passed on.
    fn followed(&mut self, version: u64) -> Result<()>;
}

/// Checks that the answer of an algorithm can be kept.
///
/// # Errors
/// [`Error::Invalid`] with what can be.
pub fn expect_live(algorithm: &str, params: &[(String, String)], directed: bool) -> Result<()> {
    let Some((_, options)) = LIVE.iter().find(|(name, _)| *name == algorithm) else {
        let names: Vec<_> = LIVE.iter().map(|(name, _)| *name).collect();
        return Err(Error::Invalid(format!(
            "the answer of {algorithm:?} cannot be kept while versions are published: those of {} can",
            names.join(", ")
        )));
    };
    if let Some((name, _)) = params.iter().find(|(name, _)| !options.contains(&name.as_str())) {
        return Err(Error::Invalid(format!("{algorithm} has no option {name:?}")));
    }
    if algorithm == "bfs" && params.is_empty() {
        return Err(Error::Invalid(
            "bfs needs a vertex to begin with: give its id as the option source".to_owned(),
        ));
    }
    if algorithm == "colouring" && directed {
        return Err(Error::Invalid(
            "colouring needs an undirected cluster: make one with `esker cluster create --undirected`"
                .to_owned(),
        ));
    }
    Ok(())
}

fn start(cluster: &Cluster, job: &FollowJob) -> Result<Box<dyn Live>> {
    let (directed, text_ids) = (cluster.manifest().directed, cluster.manifest().text_ids);
    expect_live(&job.algorithm, &job.params, directed)?;
    Ok(match job.algorithm.as_str() {
        "wcc" if text_ids => Box::new(Spread::new(TextComponents, directed)),
        "wcc" => Box::new(Spread::new(Components, directed)),
        "bfs" => {
            let source = job.params.last().map(|(_, value)| value.as_str()).unwrap_or_default();
            Box::new(Spread::new(Depths::new(source, text_ids)?, directed))
        }
        _ => Box::new(Colours::default()),
    })
}

/// Keeps an answer on the shard of this process, together with all other processes, until there is no further version.
///
/// # Errors
/// The first error of the shard, of an option or of the sink.
pub fn follow(
    cluster: &Cluster,
    engine: &mut Engine<'_>,
    job: &FollowJob,
    sink: &mut dyn FollowSink,
) -> Result<()> {
    let (shard, run) = (engine.index(), Arc::new(Run::with_threads(threads_each(engine.peers()))?));
    let (mut live, mut cluster) = (start(cluster, job)?, cluster.clone());
    let path = cluster.shard_path(shard);
    let mut follower = Follower::open(Arc::new(RealDisk), &path, Arc::clone(&run))?;
    let mut last = follower.at(cluster.manifest().version(job.version)?.shards[shard])?;
    cluster.expect_shard(shard, last.manifest().database)?;
    let mut shared = Shared::new(cluster.owners(), engine);
    let newly_shared = shared.extend(&last, engine)?;
    if job.algorithm == "bfs" {
        expect_vertex(&last, &shared, &job.params)?;
    }
    let (added, removed) = (Vec::new(), Vec::new());
    let has_delegates = expect_followed(&cluster, job, job.version)?;
    let step =
        Step { snapshot: &last, has_delegates, shared: &shared, first_new: 0, newly_shared, added, removed };
    report(live.as_mut(), &step, engine, (job.version, job.initial), sink)?;
    while let Some(NextVersion { whole, shard }) = sink.next()? {
        // The version may have been committed since. A number is never given twice, so one that is known stays what it was.
        follower.refresh()?;
        let next = follower.at(shard)?;
        if !next.continues(&last) {
            return Err(Error::Invalid(format!(
                "{} was compacted, and its vertices have other numbers: follow again, from version {whole}",
                path.display()
            )));
        }
        let (added, removed) = edges_between(&last, &next, &run)?;
        let first_new = last.num_vertices();
        let newly_shared = shared.extend(&next, engine)?;
        if cluster.manifest().hub_degree > 0 {
            cluster.reload()?;
        }
        let has_delegates = expect_followed(&cluster, job, whole)?;
        let step =
            Step { snapshot: &next, has_delegates, shared: &shared, first_new, newly_shared, added, removed };
        report(live.as_mut(), &step, engine, (whole, true), sink)?;
        last = next;
    }
    Ok(())
}

/// Whether a version has delegates.
///
/// # Errors
/// [`Error::Invalid`] if the algorithm cannot be followed then.
pub(crate) fn expect_followed(cluster: &Cluster, job: &FollowJob, version: u64) -> Result<bool> {
    let has_delegates = cluster.placement(version).has_delegates();
    if has_delegates && job.algorithm == "colouring" {
        return Err(Error::Invalid(format!(
            "the colours of {} cannot be kept from version {version} on, because the edges of some vertices are spread over the shards: run              colouring on each version, or make a cluster with --hub-degree 0",
            cluster.path().display()
        )));
    }
    Ok(has_delegates)
}

/// An error if this shard owns the source of a search and has no such vertex.
fn expect_vertex(snapshot: &Snapshot, shared: &Shared, params: &[(String, String)]) -> Result<()> {
    let Some((_, source)) = params.last() else { return Ok(()) };
    let id = spread::parse_id(source, snapshot.ids().is_text())?;
    let is_there = || {
        Ok::<_, Error>(
            snapshot.ids().vertex_of(id.as_id())?.is_some_and(|v| (v as usize) < snapshot.num_vertices()),
        )
    };
    if shared.owner_of(id.as_id()) == shared.shard() && !is_there()? {
        return Err(Error::Invalid(format!("no vertex of the cluster has the id {source:?}")));
    }
    Ok(())
}

type Edges = Vec<(VertexId, VertexId)>;

/// The edges that only the second of two versions has, and those that only the first one has.
fn edges_between(last: &Snapshot, next: &Snapshot, run: &Run) -> Result<(Edges, Edges)> {
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    diff(last, next, run, |difference| {
        match difference {
            Difference::EdgeAdded(edge) => added.push((edge.source, edge.target)),
            Difference::EdgeRemoved(edge) => removed.push((edge.source, edge.target)),
            Difference::VertexRemoved(v) => {
                let path = next.path().display();
                return Err(Error::Invalid(format!(
                    "{path} lacks vertex {v}, which no command of a cluster removes: check the cluster with `esker cluster check`"
                )));
            }
            Difference::VertexAdded(_) | Difference::ValueChanged(..) | Difference::EdgeChanged(..) => {}
        }
        Ok(())
    })?;
    Ok((added, removed))
}

/// Brings an answer to a version, and hands over what it changed, if that is wanted.
fn report(
    live: &mut dyn Live,
    step: &Step<'_>,
    engine: &mut Engine<'_>,
    (version, is_wanted): (u64, bool),
    sink: &mut dyn FollowSink,
) -> Result<()> {
    let mut blocks = vec![Vec::new()];
    let rounds = live.advance(step, engine, &mut |v, old, new| {
        if !is_wanted {
            return Ok(());
        }
        if blocks.last().is_none_or(|last: &Vec<u8>| last.len() >= CHANGES_BYTES) {
            blocks.push(Vec::new());
        }
        let id = step.snapshot.ids().external_of(v)?;
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
