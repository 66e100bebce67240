//! One shard, as the process that holds it opens it.

use std::path::Path;

use esker_format::{Error, Result, VersionRecord};
use esker_graph::{Operation, Run, message};
use esker_store::{Database, DatabaseOptions};

use crate::disk::cluster::Cluster;

/// How the message of each commit to a shard begins that a cluster makes; the number of the version of the
/// whole follows.
const MESSAGE_START: &str = "cluster version ";

/// The message of the commit to a shard for a version of the whole.
pub(crate) fn message_of(number: u64, message: &str) -> String {
    format!("{MESSAGE_START}{number}: {message}")
}

/// The number of the version of the whole in the message of a commit to a shard.
pub(crate) fn number_in(message: &str) -> Option<u64> {
    message.strip_prefix(MESSAGE_START)?.split(':').next()?.parse().ok()
}

/// The number of threads of each process, if `processes` of them share the processors of the machine.
pub(crate) fn threads_each(processes: usize) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    (processors / processes.max(1)).max(1)
}

/// Opens a shard for writing, at its version in the newest version of the whole: what an operation that
/// failed has left behind it is undone. Returns it with the number of versions that were undone.
///
/// # Errors
/// As [`Database::open_under`]; [`Error::Invalid`] if a later operation has opened the shard, or it lacks its
/// version, or was changed by another command.
pub(crate) fn open_at_newest(
    cluster: &Cluster,
    shard: usize,
    options: DatabaseOptions,
    run: &Run,
) -> Result<(Database, usize)> {
    let path = cluster.shard_path(shard);
    cluster.expect_there(shard)?;
    let database = Database::open_under(&path, options, run)?;
    cluster.expect_shard(shard, database.manifest().database)?;
    // First of all: a worker that comes too late knows too little to judge the versions.
    cluster.enter_shard(shard)?;
    let wanted = cluster.manifest().newest().shards[shard];
    let versions = database.versions();
    if !versions.iter().any(|version| version.number == wanted) {
        return Err(Error::invalid(format!(
            "{} lacks version {wanted}, which {} names: put back the shard as it was",
            path.display(),
            cluster.manifest_name()
        )));
    }
    let undone = expect_own(&path, &versions, wanted)?;
    database.forget_all(&undone)?;
    Ok((database, undone.len()))
}

/// The versions of a shard after the one that is `wanted`, which an operation that failed has left.
///
/// # Errors
/// [`Error::Invalid`] if another command made one of them.
pub(crate) fn expect_own(path: &Path, versions: &[VersionRecord], wanted: u64) -> Result<Vec<u64>> {
    let newer: Vec<_> = versions.iter().filter(|version| version.number > wanted).collect();
    if let Some(foreign) = newer.iter().find(|version| !version.message.starts_with(MESSAGE_START)) {
        let forget = Operation::Forget.on(path.display());
        let forget = newer.iter().fold(forget, |forget, version| forget.on(version.number));
        let (path, number) = (path.display(), foreign.number);
        return Err(Error::invalid(message![
            format!("{path} was changed outside of the cluster: version {number} ({}); ", foreign.message),
            "undo it with ",
            forget,
        ]));
    }
    Ok(newer.iter().map(|version| version.number).collect())
}

#[cfg(test)]
mod tests {
    use esker_format::io::{Disk, RealDisk};

    use super::*;
    use crate::disk::creating::CreateOptions;

    #[test]
    fn processes_share_the_processors_and_each_has_a_thread() {
        let all = threads_each(1);
        assert!(all >= 1 && threads_each(2) == (all / 2).max(1));
        assert_eq!(threads_each(1 << 20), 1);
    }

    fn open(cluster: &Cluster) -> Result<Database> {
        let run = Run::with_threads(1)?;
        Ok(open_at_newest(cluster, 0, DatabaseOptions::default(), &run)?.0)
    }

    /// A worker that was stopped before it opened its shard, and went on after another command had published,
    /// forgot what that had committed.
    #[test]
    fn a_worker_of_an_earlier_operation_leaves_the_shard_alone() {
        let place = tempfile::tempdir().expect("directory");
        let mut cluster = Cluster::create(&place.path().join("c"), &CreateOptions::plain(1)).expect("create");
        cluster.lock().map(drop).expect("an operation whose command dies");
        let stale = cluster.clone();
        let lock = cluster.lock().expect("the next operation");
        let database = open(&cluster).expect("a later operation");
        let message = open(&stale).expect_err("the shard is held").to_string();
        assert!(message.contains("shard-0 is being written to by"), "{message}");
        let mut batch = database.batch();
        batch.add_edge(1_u64, 2_u64, &[]).expect("edge");
        let version = database.commit(batch, &message_of(2, "add x")).expect("commit");
        database.close().expect("close");
        cluster.publish(vec![version], 1, "add x").expect("publish");
        let message = open(&stale).expect_err("an earlier operation").to_string();
        assert!(message.contains("shard-0 was opened by operation"), "{message}");
        let versions = cluster.open_shard(0).and_then(|store| store.versions()).expect("versions");
        assert_eq!(versions.last().map(|version| version.number), Some(version));
        drop(open(&cluster).expect("the same operation"));
        drop(lock);
        for lost in ["CLUSTER.epoch", "shard-0.epoch"] {
            RealDisk.remove_file(&cluster.path().join(lost)).expect("lose");
            let _lock = cluster.lock().expect("the next operation");
            drop(open(&cluster).expect("a file that was lost"));
        }
    }
}
