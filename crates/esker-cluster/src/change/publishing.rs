//! A commit in two steps, as the command sees it: parts of shards become a version of the whole, or what they
//! left is found and undone.
//!
//! Nothing here knows of sockets or threads. The supervisor hands over what workers report; a simulation
//! (`model_tests/simulation.rs`) does in any order that a network, processes and disks that fail allow.

use esker_format::{Error, Result};

use crate::change::apply::Prepared;
use crate::disk::cluster::Cluster;
use crate::disk::job::{ChangeJob, StreamJob, stream_position};
use crate::disk::shard::number_in;
use crate::model::manifest::{ClusterManifest, MANIFEST_NAME, SEAL_NAME};

/// Collects the parts of the next version of the whole.
#[derive(Debug)]
pub(crate) struct Publishing {
    /// The message of versions, unless a stream has its own.
    message: String,
    stream: Option<StreamJob>,
    /// Edges of the versions that were published.
    edges: u64,
    parts: Vec<Option<Prepared>>,
}

impl Publishing {
    pub(crate) fn new(job: &ChangeJob, shards: usize) -> Self {
        Self { message: job.message.clone(), stream: job.stream.clone(), edges: 0, parts: vec![None; shards] }
    }

    /// Takes the part of a shard, which is durable there. If it is the last one, publishes the version of the
    /// whole, and then tells the workers, so that none goes on before the version is durable. Returns its
    /// number and its edges.
    ///
    /// # Errors
    /// [`Error::Io`]: [`Cluster::settle`] finds out whether the version is published. [`Error::Invalid`] if
    ///                the parts are not of one version.
    pub(crate) fn take(
        &mut self,
        cluster: &mut Cluster,
        shard: usize,
        part: Prepared,
        tell: impl FnOnce(),
    ) -> Result<Option<(u64, u64)>> {
        let differ = |what: &str| {
            Error::invalid(format!("the worker of shard {shard} {what}: all must run the same Esker"))
        };
        if self.parts[shard].replace(part).is_some() {
            return Err(differ("prepared a version before the last one was published"));
        }
        let Some(parts) = self.parts.iter().cloned().collect::<Option<Vec<_>>>() else { return Ok(None) };
        self.parts.fill(None);
        let Prepared { edges_given, mark, delegates, .. } = &parts[0];
        if parts.iter().any(|part| part.edges_given != *edges_given || part.delegates != *delegates) {
            return Err(differ("prepared another version than others"));
        }
        let read = |stream: &StreamJob| stream.message(stream.passed + self.edges + edges_given, *mark);
        let message = self.stream.as_ref().map_or_else(|| self.message.clone(), read);
        let shards = parts.iter().map(|part| part.shard_version).collect();
        let number = cluster.publish_with(shards, *edges_given, &message, delegates)?;
        self.edges += edges_given;
        tell();
        Ok(Some((number, *edges_given)))
    }
}

/// How many edges of a stream the newest version that knows it has, and the fingerprint of the last one.
pub(crate) fn position_of(manifest: &ClusterManifest, stream: &StreamJob) -> (u64, Option<u64>) {
    let Some(name) = stream.name.as_ref().filter(|_| !stream.from_start) else { return (0, None) };
    let mut versions = manifest.versions.iter().rev();
    versions.find_map(|version| stream_position(&version.message, name)).unwrap_or((0, None))
}

/// Which of some versions of a shard, each with its message, are in no version of the whole: what an
/// operation that failed has left.
///
/// # Errors
/// [`Error::Invalid`] if one operation cannot have left them, so that the manifest and its seal are older
/// copies.
pub(crate) fn left_behind<'a>(
    cluster: &Cluster,
    shard: usize,
    versions: impl IntoIterator<Item = (u64, &'a str)>,
) -> Result<Vec<u64>> {
    let newest = cluster.manifest().newest();
    let mut found = Vec::new();
    for (version, message) in versions.into_iter().filter(|(version, _)| *version > newest.shards[shard]) {
        // An operation waits until its version is published before it commits the next one.
        if number_in(message).is_some_and(|number| number > newest.number + 1) {
            return Err(Error::invalid(format!(
                "{} and {SEAL_NAME} are older copies: they end with version {}, but {} has a commit of \"{message}\"; put back the newer \
                 files",
                cluster.path().join(MANIFEST_NAME).display(),
                newest.number,
                cluster.shard_path(shard).display(),
            )));
        }
        found.push(version);
    }
    Ok(found)
}
