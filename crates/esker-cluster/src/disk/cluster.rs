//! A cluster on the disk: a directory with a manifest, a secret, and a database for each shard.
//!
//! ```text
//! web.cluster/CLUSTER        versions of the whole, seed of the owners' hash
//! web.cluster/CLUSTER.seal   how many versions there were
//! web.cluster/secret         what processes prove to each other; mode 0600
//! web.cluster/LOCK           held by the command that changes the cluster
//! web.cluster/CLUSTER.epoch  the number of the last operation that changed it
//! web.cluster/HOSTS          the machines with the shards; without it, all shards are here
//! web.cluster/shard-0        a database, which every command opens alone
//! web.cluster/shard-0.epoch  the number of the last operation that opened it for writing
//! web.cluster/shard-1        ...
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use esker_format::io::{Disk, FileId, Lock, RealDisk, parent};
use esker_format::{DatabaseId, Error, LockHolder, Result};
use esker_graph::{Operation, message};
use esker_store::Store;
use esker_store::manifest::MANIFEST_NAME as DATABASE_NAME;

use crate::disk::fence;
use crate::disk::staging::LOCK_NAME;
use crate::model::manifest::{ClusterManifest, Delegate, MANIFEST_NAME, SEAL_NAME, WholeVersion};
use crate::model::owner::{OwnedId, Owners};
use crate::model::placement::Placement;
use crate::model::weights::{WeightKind, weight_kind};
use crate::net::handshake::Secret;
use crate::net::hosts::{HOSTS_NAME, Host, Hosts, parse_hosts};

const SECRET_NAME: &str = "secret";
/// The edge property that holds the weights in the shards.
pub(crate) const WEIGHT_NAME: &str = "weight";

/// Where the shards of a cluster are.
#[derive(Debug, Clone)]
enum Place {
    /// In the directory of the cluster.
    Here,
    /// On other machines.
    Hosts(Arc<Hosts>),
    /// This is a worker, which has one shard, at a path.
    Own(usize, PathBuf),
}

/// A cluster database.
#[derive(Debug, Clone)]
pub struct Cluster {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    manifest: ClusterManifest,
    place: Place,
    /// The number of the operation that changes the cluster ([`fence`]); 0: none does.
    epoch: u64,
    /// The file that was locked last.
    locked: Option<FileId>,
}

impl Cluster {
    /// Opens the cluster at `path`: reads its manifest, no shard.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none; as [`ClusterManifest::read`].
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_on(Arc::new(RealDisk), path)
    }

    /// The same on any disk.
    pub(crate) fn open_on(disk: Arc<dyn Disk>, path: &Path) -> Result<Self> {
        // A directory with a seal or a shard is a cluster that lost its manifest.
        let has = |name: &str| Ok::<_, Error>(disk.look(&path.join(name))?.is_some());
        if !has(MANIFEST_NAME)? && !has(SEAL_NAME)? && !has("shard-0")? {
            let name = path.display();
            let is_file = disk.look(path)?.is_some_and(|entry| !entry.is_directory);
            return Err(Error::invalid(match has(DATABASE_NAME)? {
                _ if is_file => format!("{name} is a file, not a cluster: name the directory of one").into(),
                true => {
                    let found = format!("{name} is a database, not a cluster: ");
                    message![found, Operation::ClusterSplit, " makes one of it"]
                }
                false => {
                    let found =
                        format!("{name} is no cluster: it has no file {MANIFEST_NAME}; make one with ");
                    message![found, Operation::ClusterCreate.on(name)]
                }
            }));
        }
        let manifest = ClusterManifest::read(disk.as_ref(), path)?;
        let list = path.join(HOSTS_NAME);
        let mut cluster =
            Self { disk, path: path.to_owned(), manifest, place: Place::Here, epoch: 0, locked: None };
        if cluster.disk.look(&list)?.is_some() {
            let text = cluster.disk.read(&list)?;
            cluster.set_hosts(&list.display().to_string(), &String::from_utf8_lossy(&text))?;
        }
        Ok(cluster)
    }

    /// What a worker knows of its cluster: its shard, and what it was told of the manifest and of the
    /// operation.
    pub(crate) fn of_worker(manifest: ClusterManifest, shard: usize, path: &Path, epoch: u64) -> Self {
        let place = Place::Own(shard, path.to_owned());
        Self { disk: Arc::new(RealDisk), path: parent(path), manifest, place, epoch, locked: None }
    }

    /// Looks for the shards on the machines of a list, as [`parse_hosts`] reads it, for as long as this
    /// handle lives.
    ///
    /// # Errors
    /// As [`parse_hosts`]; [`Error::Usage`] if the list has not a line for each shard.
    pub fn set_hosts(&mut self, file: &str, text: &str) -> Result<()> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let hosts = parse_hosts(file, text, &name)?;
        if hosts.list.len() != self.num_shards() {
            return Err(Error::usage(format!(
                "{file} has {}, but {} has {}: write a line for each shard",
                esker_graph::counted(hosts.list.len() as u64, "line", "lines"),
                self.path.display(),
                esker_graph::counted(self.num_shards() as u64, "shard", "shards")
            )));
        }
        self.place = Place::Hosts(Arc::new(hosts));
        Ok(())
    }

    /// The machines with the shards, in order; `None`: the shards are here.
    pub fn hosts(&self) -> Option<&[Host]> {
        match &self.place {
            Place::Hosts(hosts) => Some(&hosts.list),
            Place::Here | Place::Own(..) => None,
        }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the manifest says.
    pub fn manifest(&self) -> &ClusterManifest {
        &self.manifest
    }

    /// The manifest, for a worker that is told of new versions.
    pub(crate) fn manifest_mut(&mut self) -> &mut ClusterManifest {
        &mut self.manifest
    }

    /// Number of shards.
    pub fn num_shards(&self) -> usize {
        self.manifest.shards.len()
    }

    /// The owners of vertices.
    pub fn owners(&self) -> Owners {
        Owners::new(self.manifest.seed, self.num_shards())
    }

    /// Where the edges of a version lie.
    pub(crate) fn placement(&self, version: u64) -> Placement {
        let delegates = self.manifest.delegates.iter().filter(|delegate| delegate.since <= version);
        Placement::new(self.owners(), self.manifest.directed, delegates.map(|delegate| delegate.id.clone()))
    }

    /// The directory of a shard.
    pub fn shard_path(&self, shard: usize) -> PathBuf {
        match &self.place {
            Place::Here => self.path.join(format!("shard-{shard}")),
            Place::Hosts(hosts) => {
                let host = &hosts.list[shard];
                PathBuf::from(format!("{host}:{}", host.directory))
            }
            Place::Own(_, path) => path.clone(),
        }
    }

    /// Opens a shard for reading.
    ///
    /// # Errors
    /// As [`Store::open`]; [`Error::Invalid`] if another database lies in its place; [`Error::Usage`] if it
    /// is on another machine.
    pub fn open_shard(&self, shard: usize) -> Result<Store> {
        let is_here = match &self.place {
            Place::Here => true,
            Place::Hosts(_) => false,
            Place::Own(own, _) => *own == shard,
        };
        if !is_here {
            let path = self.path.display();
            return Err(Error::usage(message![
                format!("the shards of {path} are on other machines, but this command reads them itself: "),
                "write the edges to a file with ",
                Operation::ClusterExport,
                ", and read that",
            ]));
        }
        self.expect_there(shard)?;
        let store = Store::open(self.shard_path(shard))?;
        self.expect_shard(shard, store.manifest().database)?;
        Ok(store)
    }

    /// What the weights of edges in a shard are; `None`: edges have none.
    pub(crate) fn weights_of(&self, shard: usize) -> Result<Option<WeightKind>> {
        let version = self.open_shard(shard)?.latest()?;
        Ok(weight_kind(&version.weight_property().cloned().into_iter().collect::<Vec<_>>()))
    }

    /// An error if nothing lies in the place of a shard.
    pub(crate) fn expect_there(&self, shard: usize) -> Result<()> {
        let path = self.shard_path(shard);
        match self.disk.look(&path)? {
            Some(_) => Ok(()),
            None => Err(Error::invalid(format!(
                "shard {shard}, {}, is not there: put it back; if the shards are on several machines, check the order of the hosts",
                path.display()
            ))),
        }
    }

    /// An error if a database is not the one of a shard.
    pub(crate) fn expect_shard(&self, shard: usize, found: DatabaseId) -> Result<()> {
        if self.manifest.shards[shard] == found {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{} is another database than the one that {} names as shard {shard}: put the right one there",
            self.shard_path(shard).display(),
            self.manifest_name()
        )))
    }

    /// Names the manifest. A worker on another machine than the command's does not have it.
    pub(crate) fn manifest_name(&self) -> String {
        let path = self.path.join(MANIFEST_NAME);
        let is_elsewhere =
            matches!(self.place, Place::Own(..)) && !matches!(self.disk.look(&path), Ok(Some(_)));
        match is_elsewhere {
            true => format!("{MANIFEST_NAME}, where the command runs,"),
            false => path.display().to_string(),
        }
    }

    /// The secret that the processes prove to each other.
    ///
    /// # Errors
    /// As [`read_secret`].
    pub fn secret(&self) -> Result<Secret> {
        let is_encrypting = matches!(&self.place, Place::Hosts(hosts) if hosts.is_encrypting);
        Ok(read_secret(&secret_in(&self.path))?.encrypting(is_encrypting))
    }

    /// Takes the lock of the command that changes the cluster, reads the manifest again, and begins an
    /// operation: workers of earlier ones leave the shards alone that it has opened.
    ///
    /// # Errors
    /// [`Error::Locked`] if another command holds it; those of the disk.
    pub fn lock(&mut self) -> Result<Box<dyn Lock>> {
        let lock = self
            .disk
            .try_lock(&self.path.join(LOCK_NAME))?
            .ok_or_else(|| Error::Locked { path: self.path.clone(), holder: LockHolder::OtherChange })?;
        self.locked = Some(lock.id());
        self.settle()?;
        self.begin()?;
        Ok(lock)
    }

    /// Begins an operation that changes the shards. The caller holds the lock.
    ///
    /// # Errors
    /// As [`fence::draw`].
    pub(crate) fn begin(&mut self) -> Result<()> {
        self.epoch = fence::draw(self.disk.as_ref(), &self.path, now_ms())?;
        Ok(())
    }

    /// The number of the operation that changes the cluster; 0: none does.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Notes that the operation opens a shard for writing. The caller holds the lock of its database.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a later one has opened it.
    pub(crate) fn enter_shard(&self, shard: usize) -> Result<()> {
        fence::enter(self.disk.as_ref(), &self.shard_path(shard), self.epoch)
    }

    /// Reads the manifest again if it has later versions; returns whether it has.
    ///
    /// # Errors
    /// As [`ClusterManifest::read`].
    pub fn refresh(&mut self) -> Result<bool> {
        let has_more =
            ClusterManifest::sealed(self.disk.as_ref(), &self.path)? > self.manifest.newest().number;
        if has_more {
            self.reload()?;
        }
        Ok(has_more)
    }

    /// Reads the manifest again.
    ///
    /// # Errors
    /// As [`ClusterManifest::read`].
    pub fn reload(&mut self) -> Result<()> {
        self.manifest = ClusterManifest::read(self.disk.as_ref(), &self.path)?;
        Ok(())
    }

    /// Makes the version that the manifest ends with durable, reads it, and seals it. A command that died or
    /// failed may have renamed the manifest and not synced the directory: what is built on such a version
    /// would outlast it when the power fails. Or it may not have written the seal: then no reader that waits
    /// for the version would see it, and an older copy without it would pass as current. The caller holds the
    /// lock.
    ///
    /// # Errors
    /// [`Error::Io`]; as [`ClusterManifest::read`].
    pub(crate) fn settle(&mut self) -> Result<()> {
        self.disk.sync_directory(&self.path)?;
        self.reload()?;
        let sealed = ClusterManifest::sealed(self.disk.as_ref(), &self.path)?;
        if sealed < self.manifest.newest().number {
            self.manifest.seal(self.disk.as_ref(), &self.path)?;
        }
        Ok(())
    }

    /// Publishes a version of the whole: the given versions of all shards, which are durable. The caller
    /// holds the lock.
    ///
    /// # Errors
    /// [`Error::Io`]: the next [`Cluster::lock`] finds out whether the version is published.
    /// [`Error::Invalid`] if the lock is not the cluster's any more.
    pub fn publish(&mut self, shards: Vec<u64>, edges_given: u64, message: &str) -> Result<u64> {
        self.publish_with(shards, edges_given, message, &[])
    }

    /// The same with vertices that become delegates with the version.
    ///
    /// # Errors
    /// As [`Cluster::publish`].
    pub fn publish_with(
        &mut self,
        shards: Vec<u64>,
        edges_given: u64,
        message: &str,
        delegates: &[OwnedId],
    ) -> Result<u64> {
        let mut next = self.manifest.clone();
        let number = next.newest().number + 1;
        next.delegates.extend(delegates.iter().map(|id| Delegate { id: id.clone(), since: number }));
        let message = message.to_owned();
        next.versions.push(WholeVersion { number, time_ms: now_ms(), edges_given, message, shards });
        self.expect_lock()?;
        next.write(self.disk.as_ref(), &self.path)?;
        // A command that found another file LOCK, or none, may have begun meanwhile.
        self.expect_lock()?;
        self.manifest = next;
        Ok(number)
    }

    /// An error if LOCK is another file than the one that was locked: another command may have begun to
    /// change the cluster.
    fn expect_lock(&self) -> Result<()> {
        let Some(locked) = self.locked else { return Ok(()) };
        let path = self.path.join(LOCK_NAME);
        match self.disk.identify(&path)? {
            Some(named) if named.id == locked => Ok(()),
            _ => Err(Error::invalid(format!(
                "stopped changing {}: {} was removed, renamed or replaced, or the directory was; the version is not published: see who did that, and try again",
                self.path.display(),
                path.display()
            ))),
        }
    }
}

/// Reads the secret that the processes of a cluster prove to each other.
///
/// # Errors
/// [`Error::Io`]; [`Error::Invalid`] if others than its owner can read the file, or it holds no secret.
pub fn read_secret(path: &Path) -> Result<Secret> {
    let bytes = esker_format::io::read_private(path).map_err(|error| match error {
        Error::Io { .. } if error.is_not_found() => Error::invalid(format!(
            "{} is missing, without which the workers do not know each other: put it back, or write 32 random bytes to it, with mode 0600",
            path.display()
        )),
        other => other,
    })?;
    // Whoever guesses would begin with these.
    let is_guessed = |bytes: &[u8; 32]| *bytes == [0; 32];
    let secret = bytes.try_into().ok().filter(|bytes| !is_guessed(bytes)).ok_or_else(|| {
        Error::invalid(format!(
            "{} does not hold 32 random bytes: write them to it (`head -c 32 /dev/urandom`), with mode 0600",
            path.display()
        ))
    })?;
    Ok(Secret::new(secret))
}

/// The secret of a cluster in a directory.
pub(crate) fn secret_in(directory: &Path) -> PathBuf {
    directory.join(SECRET_NAME)
}

pub(crate) fn now_ms() -> u64 {
    UNIX_EPOCH.elapsed().map_or(0, |age| age.as_millis() as u64)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use esker_format::io::{Faults, FaultyDisk};

    use super::*;
    use crate::disk::creating::CreateOptions;

    const PLACE: &str = "/c";

    /// A cluster of one shard, without the shard, on a disk whose power failures are drawn from a seed.
    fn on_faulty_disk(seed: u64) -> (FaultyDisk, Cluster) {
        let (disk, place) = (FaultyDisk::new(seed), Path::new(PLACE));
        disk.create_directory(place).and_then(|()| disk.sync_directory(Path::new("/"))).expect("create");
        let message = "create".to_owned();
        let first = WholeVersion { number: 1, time_ms: 0, edges_given: 0, message, shards: vec![1] };
        let manifest = ClusterManifest {
            id: DatabaseId([1; 16]),
            seed,
            directed: true,
            text_ids: false,
            shards: vec![DatabaseId([2; 16])],
            versions: vec![first],
            edges_before: 0,
            hub_degree: 0,
            delegates: Vec::new(),
        };
        manifest.write(&disk, place).expect("write");
        let cluster = Cluster::open_on(Arc::new(disk.clone()), place).expect("open");
        (disk, cluster)
    }

    /// The next command built on a version that a power failure then lost, and left the seal behind.
    #[test]
    fn a_version_that_a_lock_accepts_is_durable_and_sealed() {
        let (mut published, mut unsealed) = (0, 0);
        for (seed, die_at) in (0..8).flat_map(|seed| (1..=16).map(move |die_at| (seed, die_at))) {
            let (disk, mut dying) = on_faulty_disk(seed);
            let mut next = dying.clone();
            disk.set_faults(Faults { die_at: Some(die_at), ..Faults::default() });
            let _ = dying.publish(vec![2], 1, "add");
            disk.set_faults(Faults::default());
            let sealed = || ClusterManifest::sealed(&disk, Path::new(PLACE)).expect("a seal");
            let before = sealed();
            let lock = next.lock().expect("no other command is alive");
            let newest = next.manifest().newest().number;
            published += newest - 1;
            unsealed += u64::from(before < newest);
            assert_eq!(sealed(), newest, "seed {seed}, operation {die_at}");
            drop(lock);
            disk.crash();
            let left = ClusterManifest::read(&disk, Path::new(PLACE)).expect("a whole manifest");
            assert_eq!(left.newest().number, newest, "seed {seed}, operation {die_at}");
            assert_eq!(sealed(), newest, "seed {seed}, operation {die_at}, after the crash");
        }
        assert!(published > 8 && unsealed > 8, "{published}, {unsealed}");
    }

    #[test]
    fn one_command_changes_a_cluster_at_a_time() {
        let place = tempfile::tempdir().expect("directory");
        let options = CreateOptions::plain(1);
        let mut cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
        let mut other = cluster.clone();
        let lock = cluster.lock().expect("first");
        let Err(error) = other.lock() else { panic!("two hold the lock") };
        assert!(error.to_string().contains("another command is changing"));
        drop(lock);
        other.lock().map(drop).expect("free again");
    }

    #[test]
    fn a_shard_of_another_cluster_is_refused() {
        let place = tempfile::tempdir().expect("directory");
        let options = CreateOptions::plain(2);
        let cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
        std::fs::rename(cluster.shard_path(0), place.path().join("away")).expect("move");
        std::fs::rename(cluster.shard_path(1), cluster.shard_path(0)).expect("move");
        let message = cluster.open_shard(0).expect_err("mixed up").to_string();
        assert!(message.contains("shard-0 is another database"), "{message}");
    }
}
