//! One shard, as the process that holds it opens it.

use std::path::Path;

use esker_format::{Error, Result, VersionRecord};
use esker_graph::Run;
use esker_store::{Database, DatabaseOptions};

use crate::cluster::Cluster;
use crate::manifest::{MANIFEST_NAME, SEAL_NAME};

/// How the message of each commit to a shard begins that a cluster makes; the number of the version of the whole follows.
const MESSAGE_START: &str = "cluster version ";

/// The message of the commit to a shard for a version of the whole.
pub(crate) fn message_of(number: u64, message: &str) -> String {
    format!("{MESSAGE_START}{number}: {message}")
}

/// Finds the versions of shards that are in no version of the whole: what an operation that failed has left. Returns the number of each, with
/// its shard.
///
/// # Errors
/// [`Error::Invalid`] if they are more than one operation can leave, so that the manifest and its seal are older copies; the first shard that
/// cannot be read.
pub fn unpublished(cluster: &Cluster) -> Result<Vec<(usize, u64)>> {
    let shards = 0..cluster.num_shards();
    let versions = shards.map(|shard| cluster.open_shard(shard)?.versions()).collect::<Result<Vec<_>>>()?;
    // What was published meanwhile is read last.
    let mut cluster = cluster.clone();
    cluster.reload()?;
    let newest = cluster.manifest().newest();
    let mut found = Vec::new();
    for (shard, versions) in versions.iter().enumerate() {
        for version in versions.iter().filter(|version| version.number > newest.shards[shard]) {
            // An operation waits until its version is published before it commits the next one.
            if number_in(&version.message).is_some_and(|number| number > newest.number + 1) {
                return Err(Error::Invalid(format!(
                    "{} and {SEAL_NAME} are older copies: they end with version {}, but {} has a commit of \"{}\"; put back the newer \
                     files",
                    cluster.path().join(MANIFEST_NAME).display(),
                    newest.number,
                    cluster.shard_path(shard).display(),
                    version.message
                )));
            }
            found.push((shard, version.number));
        }
    }
    Ok(found)
}

/// The number of the version of the whole in the message of a commit to a shard.
fn number_in(message: &str) -> Option<u64> {
    message.strip_prefix(MESSAGE_START)?.split(':').next()?.parse().ok()
}

/// The number of threads of each of so many processes, which share the processors of the machine.
pub(crate) fn threads_each(processes: usize) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    (processors / processes.max(1)).max(1)
}

/// Opens a shard for writing, at its version in the newest version of the whole: what an operation that failed has left behind it is undone.
/// Returns it with the number of versions that were undone.
///
/// # Errors
/// As [`Database::open_under`]; [`Error::Invalid`] if the shard lacks its version, or was changed by another command.
pub(crate) fn open_at_newest(
    cluster: &Cluster,
    shard: usize,
    options: DatabaseOptions,
    run: &Run,
) -> Result<(Database, usize)> {
    let path = cluster.shard_path(shard);
    let database = Database::open_under(&path, options, run)?;
    cluster.expect_shard(shard, database.manifest().database)?;
    let wanted = cluster.manifest().newest().shards[shard];
    let versions = database.versions();
    if !versions.iter().any(|version| version.number == wanted) {
        return Err(Error::Invalid(format!(
            "{} lacks version {wanted}, which {} names: put back the shard as it was",
            path.display(),
            cluster.path().join(MANIFEST_NAME).display()
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
        return Err(Error::Invalid(format!(
            "{} was changed outside of the cluster: version {} ({}); undo it with `esker forget {} {}`",
            path.display(),
            foreign.number,
            foreign.message,
            path.display(),
            newer.iter().map(|version| version.number.to_string()).collect::<Vec<_>>().join(" ")
        )));
    }
    Ok(newer.iter().map(|version| version.number).collect())
}

/// Takes every shard back to the newest version of the whole. Returns the number of versions of shards that were undone. The caller holds
/// the lock of the cluster.
///
/// # Errors
/// The first shard that cannot be opened or taken back.
pub fn roll_back(cluster: &Cluster) -> Result<usize> {
    let run = Run::with_threads(1)?;
    let mut undone = 0;
    for shard in 0..cluster.num_shards() {
        let options = DatabaseOptions { threads: threads_each(1), ..DatabaseOptions::default() };
        let (database, count) = open_at_newest(cluster, shard, options, &run)?;
        database.close()?;
        undone += count;
    }
    Ok(undone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::CreateOptions;

    #[test]
    fn processes_share_the_processors_and_each_has_a_thread() {
        let all = threads_each(1);
        assert!(all >= 1 && threads_each(2) == (all / 2).max(1));
        assert_eq!(threads_each(1 << 20), 1);
    }

    #[test]
    fn versions_that_are_not_of_the_whole_are_undone_and_foreign_ones_refused() {
        let place = tempfile::tempdir().expect("directory");
        let options = CreateOptions {
            shards: 2,
            directed: true,
            text_ids: false,
            weights: None,
            seed: 5,
            hub_degree: 0,
        };
        let cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
        let commit = |message: &str| {
            let database = Database::open(cluster.shard_path(1), DatabaseOptions::default()).expect("open");
            let mut batch = database.batch();
            batch.add_edge(1_u64, 2_u64, &[]).expect("edge");
            database.commit(batch, message).expect("commit");
            database.close().expect("close");
        };
        commit(&message_of(2, "add x"));
        assert_eq!(unpublished(&cluster).expect("of one operation"), [(1, 2)]);
        commit(&message_of(3, "add y"));
        let message = unpublished(&cluster).expect_err("of two operations").to_string();
        assert!(
            message.contains("they end with version 1") && message.contains("cluster version 3"),
            "{message}"
        );
        assert_eq!(roll_back(&cluster).expect("roll back"), 2);
        assert_eq!(unpublished(&cluster).expect("nothing left"), []);
        let snapshot = cluster.open_shard(1).and_then(|store| store.snapshot()).expect("open");
        assert_eq!((snapshot.num_vertices(), snapshot.num_edges(), snapshot.version().number), (0, 0, 1));
        assert_eq!(roll_back(&cluster).expect("nothing left to undo"), 0);
        commit("by hand");
        let message = roll_back(&cluster).expect_err("foreign").to_string();
        assert!(
            message.contains("changed outside of the cluster") && message.contains("esker forget"),
            "{message}"
        );
    }
}
