//! What is asked of all shards one after another or at once: counts, estimates, checks, and the edges as a
//! file.

use std::io::Write;
use std::path::Path;

use esker_format::{Error, Result};
use esker_graph::{Cancel, Direction, Run};

use crate::catalogue::CatalogueEntry;
use crate::disk::cluster::Cluster;
use crate::disk::job::ShardTask;
use crate::model::needs::{PROCESS_BYTES, RunNeeds, ShardShape};
use crate::model::weights::WeightKind;
use crate::net::engine::{Engine, run_threads};
use crate::net::wire::{Taker, put_id, put_u64};
use crate::process::requests::{ask, ask_all, ask_one, unpublished};
use crate::process::shard_requests::{
    CANCEL_EVERY, FileCheck, OwnedShard, ShardCounts, ShardNeeds, SharedWith,
};

/// The most problems of one kind that a check lists for a shard.
const PROBLEMS_MAX: usize = 10;
/// Vertices of a shard whose ghosts are looked for in one round of a check.
const ROUND_LEN: usize = 1 << 16;

/// Numbers of vertices and edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GraphCounts {
    /// Vertices.
    pub vertices: u64,
    /// Edges; an undirected one counts once.
    pub edges: u64,
    /// Copies of vertices in other shards than their own.
    pub ghosts: u64,
}

/// Counts the vertices and edges of each shard of a version, and of the whole. A shard counts the edges of
/// its own vertices to others whole, so an undirected edge between two shards counts in both; the whole
/// counts it once.
///
/// Time: a hash of each id and the length of each list.
///
/// # Errors
/// [`Error::Invalid`] if there is no such version; those of a shard.
pub fn counts(cluster: &Cluster, version: u64) -> Result<(Vec<GraphCounts>, GraphCounts)> {
    cluster.manifest().version(version)?;
    let (mut all, mut whole, mut twice) = (Vec::new(), GraphCounts::default(), 0);
    let answers = ask_all(cluster, &ShardTask::Counts(version), &Cancel::default())?;
    for (shard, answer) in answers.into_iter().enumerate() {
        let ShardCounts { edges, shared } = answer;
        let others = shared.iter().enumerate().filter(|(other, _)| *other != shard);
        let (crossing, ghosts) =
            others.fold((0, 0), |sum, (_, one)| (sum.0 + one.edges, sum.1 + one.vertices));
        let counts = GraphCounts { vertices: shared[shard].vertices, edges, ghosts };
        whole.vertices += counts.vertices;
        whole.edges += counts.edges;
        whole.ghosts += ghosts;
        twice += crossing;
        all.push(counts);
    }
    if !cluster.manifest().directed {
        whole.edges -= twice / 2;
    }
    Ok((all, whole))
}

/// What a run of an algorithm needs in the process of each shard of a version: memory, with the process and
/// the graph, and bytes sent.
///
/// Time: a hash of each id, and what opening the graph takes.
///
/// # Errors
/// [`Error::Invalid`] if there is no such version or algorithm; those of a shard.
pub fn estimate(
    cluster: &Cluster,
    version: u64,
    algorithm: &str,
    has_top: bool,
    cancel: &Cancel,
) -> Result<Vec<RunNeeds>> {
    let entry = CatalogueEntry::of(algorithm)?;
    cluster.manifest().version(version)?;
    let task = ShardTask::Needs(version, algorithm.to_owned());
    let found: Vec<ShardNeeds> = ask_all(cluster, &task, cancel)?;
    let shared = |shard: usize| &found[shard].counts.shared;
    let longest = found.iter().flat_map(|one| one.counts.shared.iter().map(|with| with.id_bytes_max)).max();
    let all_id_bytes = (0..found.len()).map(|shard| shared(shard)[shard].id_bytes).sum();
    let needs = (0..found.len()).map(|shard| {
        let others = || (0..found.len()).filter(|&other| other != shard);
        let ghosts = |of: fn(&SharedWith) -> u64| others().map(|other| of(&shared(shard)[other])).sum();
        let mirrors = |of: fn(&SharedWith) -> u64| others().map(|other| of(&shared(other)[shard])).sum();
        let shape = ShardShape {
            owned: shared(shard)[shard].vertices,
            ghosts: ghosts(|one| one.vertices),
            mirrors: mirrors(|one| one.vertices),
            id_bytes: shared(shard).iter().map(|one| one.id_bytes).sum(),
            ghost_id_bytes: ghosts(|one| one.id_bytes),
            mirror_id_bytes: mirrors(|one| one.id_bytes),
            id_bytes_max: longest.unwrap_or(0),
            all_id_bytes,
            shards: found.len() as u64,
            ..found[shard].shape
        };
        let needs = entry.needs(&shape, has_top);
        let memory_bytes = PROCESS_BYTES + found[shard].graph_bytes + needs.memory_bytes;
        RunNeeds { memory_bytes, ..needs }
    });
    Ok(needs.collect())
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// What is sound, a line for each shard.
    pub sound: Vec<String>,
    /// What a person should know that is no problem: what a writer that died has left behind.
    pub notes: Vec<String>,
    /// What is not sound.
    pub problems: Vec<String>,
}

/// Checks that the secret can be read, every shard of the newest version as `esker check` does, and that the
/// shards fit together. Each edge has to lie with the owner of its source, those of a delegate with the
/// owners of the other ends. Each ghost has to be a vertex of its owner, and shards have to agree on the
/// number of undirected edges between them.
///
/// # Errors
/// [`Error::Io`]; cancellation; [`Error::Usage`] if the shards are on other machines: see
/// [`Supervisor::check`](crate::Supervisor::check). Damage is in the report.
pub fn check(cluster: &Cluster, run: &Run) -> Result<CheckReport> {
    check_with(cluster, run.cancel(), || {
        let (own, cancel) = (cluster.clone(), run.cancel().clone());
        let together = move |engine: &mut Engine<'_>| check_together(&own, engine, &cancel);
        Ok(run_threads(cluster.num_shards(), together)?.concat())
    })
}

/// The same with `together` for what takes all shards at once.
pub(crate) fn check_with(
    cluster: &Cluster,
    cancel: &Cancel,
    together: impl FnOnce() -> Result<Vec<String>>,
) -> Result<CheckReport> {
    let mut report = CheckReport::default();
    // Without the secret nothing can run or change.
    report.problems.extend(cluster.secret().err().map(|error| error.to_string()));
    if cluster.hosts().is_some() && !report.problems.is_empty() {
        return Ok(report);
    }
    for shard in 0..cluster.num_shards() {
        let found = match ask_one(cluster, shard, &ShardTask::CheckFiles, cancel) {
            Err(error @ Error::Stop(_)) => return Err(error),
            Err(error) => FileCheck { problems: vec![error.to_string()], ..FileCheck::default() },
            Ok(found) => found,
        };
        if found.problems.is_empty() {
            report.sound.push(format!(
                "{}: {} verified",
                cluster.shard_path(shard).display(),
                esker_graph::counted(found.bytes, "byte", "bytes")
            ));
        }
        report.notes.extend(found.notes);
        report.problems.extend(found.problems);
    }
    if report.problems.is_empty() {
        note_unpublished(cluster, &mut report)?;
        report.problems.append(&mut together()?);
    }
    Ok(report)
}

/// Notes what the next addition undoes, or that it cannot.
fn note_unpublished(cluster: &Cluster, report: &mut CheckReport) -> Result<()> {
    match unpublished(cluster) {
        Ok(versions) => report.notes.extend(versions.into_iter().map(|(shard, version)| {
            format!(
                "{}: version {version} is in no version of the cluster: a change failed or is under way; the next change undoes it",
                cluster.shard_path(shard).display()
            )
        })),
        Err(error @ Error::Stop(_)) => return Err(error),
        Err(error) => report.problems.push(error.to_string()),
    }
    Ok(())
}

/// Checks that the shards of the newest version fit together, as one of all processes; returns what this
/// shard and its vertices elsewhere have of problems.
pub(crate) fn check_together(
    cluster: &Cluster,
    engine: &mut Engine<'_>,
    cancel: &Cancel,
) -> Result<Vec<String>> {
    let (me, version) = (engine.index(), cluster.manifest().newest().number);
    let part = OwnedShard::open(cluster, version, me)?;
    let mut problems = Vec::new();
    let (mut begin, len) = (0, part.version.num_vertices());
    loop {
        cancel.check()?;
        let end = (begin + ROUND_LEN).min(len);
        let mut blocks = vec![Vec::new(); engine.peers()];
        // What is no block of ids: whether this process has more.
        blocks.iter_mut().for_each(|block| put_u64(block, u64::from(end < len)));
        for v in (begin..end).map(esker_graph::vertex) {
            if v % CANCEL_EVERY == 0 {
                cancel.check()?;
            }
            check_vertex(&part, cluster, v, cancel, &mut problems)?;
            let owner = part.owner(v)?;
            if owner != me {
                put_id(&mut blocks[owner], part.id(v)?);
            }
        }
        begin = end;
        let mut has_more = false;
        for (from, block) in engine.exchange(blocks).iter().enumerate() {
            let mut taker = Taker(block);
            has_more |= taker.u64()? != 0;
            while !taker.is_empty() {
                let id = taker.id(cluster.manifest().text_ids)?;
                if part.version.ids().vertex_of(id)?.is_none() && problems.len() < PROBLEMS_MAX {
                    problems.push(format!(
                        "shard {from} has edges to the vertex {id}, which its owner, shard {me}, lacks"
                    ));
                }
            }
        }
        if !has_more {
            break;
        }
    }
    if !cluster.manifest().directed {
        let shared = part.shared(cancel)?;
        let crossing: Vec<Vec<u8>> = shared.iter().map(|one| one.edges.to_le_bytes().to_vec()).collect();
        for (other, block) in engine.exchange(crossing).iter().enumerate().take(me) {
            let (here, there) = (shared[other].edges, Taker(block).u64()?);
            if here != there {
                problems.push(format!(
                    "shard {me} has {} to shard {other}, which has {there} to shard {me}",
                    esker_graph::counted(here, "edge", "edges")
                ));
            }
        }
    }
    Ok(problems)
}

/// Checks that a shard has no edges of a vertex that belong to another one.
fn check_vertex(
    part: &OwnedShard<'_>,
    cluster: &Cluster,
    v: esker_graph::VertexId,
    cancel: &Cancel,
    problems: &mut Vec<String>,
) -> Result<()> {
    if problems.len() >= PROBLEMS_MAX {
        return Ok(());
    }
    let (id, owner) = (part.id(v)?, part.owner(v)?);
    if part.placement.is_delegate(id) {
        problems.extend(part.misplaced(v, cancel)?);
    } else if owner != part.shard
        && cluster.manifest().directed
        && part.version.degree(Direction::Out, v)? > 0
    {
        problems.push(format!(
            "shard {} has edges of the vertex {id}, which belongs to shard {owner}",
            part.shard
        ));
    }
    Ok(())
}

/// Writes the edges of a version as CSV with the columns `source` and `target`, and `weight` if they have
/// weights; each edge once, shard by shard. Returns their number.
///
/// # Errors
/// Those of the shards; [`Error::Io`] named `path` if writing fails; cancellation.
pub fn export(cluster: &Cluster, version: u64, path: &Path, out: &mut dyn Write, run: &Run) -> Result<u64> {
    cluster.manifest().version(version)?;
    if cluster.hosts().is_some() {
        // Check that all machines answer before writing: output cannot be taken back.
        ask_all::<Option<WeightKind>>(cluster, &ShardTask::Weights, run.cancel())?;
    }
    let mut lines = 0;
    for shard in 0..cluster.num_shards() {
        let mut take = |block: Vec<u8>| {
            lines += rows_in(&block);
            out.write_all(&block).map_err(Error::io("write", path))
        };
        ask(cluster, shard, &ShardTask::Export(version), run.cancel(), &mut take)?;
    }
    out.flush().map_err(Error::io("write", path))?;
    // The first is the header.
    Ok(lines - 1)
}

/// The number of rows of a block of CSV. A text may have line breaks, in quotes.
fn rows_in(block: &[u8]) -> u64 {
    let (mut rows, mut is_quoted) = (0, false);
    for byte in block {
        is_quoted ^= *byte == b'"';
        rows += u64::from(*byte == b'\n' && !is_quoted);
    }
    rows
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // The tests write files of their own.
mod tests {
    use esker_format::io::{Disk, RealDisk};
    use esker_store::{Database, DatabaseOptions};

    use super::*;
    use crate::disk::creating::CreateOptions;
    use crate::disk::shard::message_of;

    fn cluster_in(place: &std::path::Path) -> Cluster {
        let options = CreateOptions::plain(2);
        Cluster::create(&place.join("c"), &options).expect("create")
    }

    fn commit(cluster: &Cluster, message: &str) {
        let database = Database::open(cluster.shard_path(1), DatabaseOptions::default()).expect("open");
        let mut batch = database.batch();
        batch.add_edge(1_u64, 2_u64, &[]).expect("edge");
        database.commit(batch, message).expect("commit");
        database.close().expect("close");
    }

    #[test]
    fn a_check_tells_what_a_change_that_died_has_left_in_a_shard() {
        let place = tempfile::tempdir().expect("directory");
        let (cluster, run) = (cluster_in(place.path()), Run::with_threads(1).expect("run"));
        assert_eq!(check(&cluster, &run).expect("check").notes, Vec::<String>::new());
        commit(&cluster, &message_of(2, "add x"));
        let manifest = cluster.shard_path(1).join("MANIFEST");
        let torn = [&std::fs::read(&manifest).expect("read")[..], &[1, 2, 3]].concat();
        std::fs::write(&manifest, torn).expect("write");
        let report = check(&cluster, &run).expect("check");
        assert_eq!((report.problems.len(), report.notes.len()), (0, 2), "{report:?}");
        assert!(report.notes[0].contains("MANIFEST ends with 3 bytes"), "{report:?}");
        assert!(report.notes[1].contains("shard-1: version 2 is in no version of the cluster"), "{report:?}");
        commit(&cluster, "by hand");
        let report = check(&cluster, &run).expect("check");
        assert!(report.problems[0].contains("changed outside of the cluster"), "{report:?}");
    }

    /// It passed, although nothing could run or change.
    #[test]
    fn a_check_tells_that_the_secret_is_missing_or_cut() {
        let place = tempfile::tempdir().expect("directory");
        let (cluster, run) = (cluster_in(place.path()), Run::with_threads(1).expect("run"));
        let secret = cluster.path().join("secret");
        RealDisk.open_for_writing(&secret).and_then(|file| file.set_length(15)).expect("cut");
        let problems = check(&cluster, &run).expect("check").problems;
        assert!(problems.len() == 1 && problems[0].contains("does not hold 32 random bytes"), "{problems:?}");
        RealDisk.remove_file(&secret).expect("remove");
        let problems = check(&cluster, &run).expect("check").problems;
        assert!(problems.len() == 1 && problems[0].contains("secret is missing"), "{problems:?}");
    }

    #[test]
    fn a_check_of_how_the_shards_fit_together_can_be_cancelled() {
        let place = tempfile::tempdir().expect("directory");
        let mut cluster = cluster_in(place.path());
        commit(&cluster, &message_of(2, "add x"));
        cluster.publish(vec![1, 2], 1, "add x").expect("publish");
        let cancel = Cancel::default();
        cancel.cancel();
        let token = cancel.clone();
        let stopped = run_threads(2, move |engine| check_together(&cluster, engine, &token));
        assert!(matches!(stopped, Err(Error::Stop(_))), "{stopped:?}");
    }
}
