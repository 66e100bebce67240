//! A cluster on the disk: a directory with a manifest, a secret, and a database for each shard.
//!
//! ```text
//! web.cluster/CLUSTER        versions of the whole, seed of the owners' hash
//! web.cluster/CLUSTER.seal   how many versions there were
//! web.cluster/secret         what processes prove to each other; mode 0600
//! web.cluster/LOCK           held by the command that changes the cluster
//! web.cluster/HOSTS          the machines with the shards; without it, all shards are here
//! web.cluster/shard-0        a database, which every command opens alone
//! web.cluster/shard-1        ...
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use esker_format::io::{Disk, Lock, RealDisk, parent};
use esker_format::{DatabaseId, Error, Result};
use esker_import::format::{Declaration, Format, Pick, PickIds, ReadOptions};
use esker_import::input::Input;
use esker_import::install::import;
use esker_import::open::open_inputs;
use esker_import::options::{ImportOptions, VertexOrder};
use esker_store::Store;
use esker_store::version::StagingOptions;

use crate::handshake::Secret;
use crate::hosts::{HOSTS_NAME, Host, parse_hosts};
use crate::manifest::{ClusterManifest, Delegate, MANIFEST_NAME, SEAL_NAME, SHARDS_MAX, WholeVersion};
use crate::owner::{OwnedId, Owners};
use crate::placement::Placement;
use crate::staging::{LOCK_NAME, lock_new_directory, remove_leftovers};
use crate::weights::{WeightKind, weight_kind};

const SECRET_NAME: &str = "secret";
/// The edge property that holds the weights in the shards.
pub(crate) const WEIGHT_NAME: &str = "weight";

/// The usual number of edges from which on a vertex becomes a delegate.
pub const HUB_DEGREE: u64 = 1 << 20;

/// What a new cluster is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreateOptions {
    /// Number of shards.
    pub shards: usize,
    /// Whether edges are directed.
    pub directed: bool,
    /// Whether external ids are texts; else they are integers.
    pub text_ids: bool,
    /// What the weights of edges are; `None`: edges have none.
    pub weights: Option<WeightKind>,
    /// Seed of the hash that finds the owner of a vertex.
    pub seed: u64,
    /// Edges in the list of a vertex from which on they lie with the owners of their other ends; 0: they never do. Usually [`HUB_DEGREE`].
    pub hub_degree: u64,
}

/// A new cluster, and what its first version is.
pub(crate) struct NewCluster<'a> {
    pub(crate) options: &'a CreateOptions,
    pub(crate) edges_given: u64,
    pub(crate) message: &'a str,
    /// Messages of further versions without edges: how far streams were read.
    pub(crate) positions: Vec<String>,
    /// The delegates of the first version.
    pub(crate) delegates: Vec<OwnedId>,
    /// The machines with the shards, and what their workers know; `None`: the shards are here.
    pub(crate) hosts: Option<(Vec<Host>, Secret)>,
}

impl<'a> NewCluster<'a> {
    /// A cluster without edges.
    pub(crate) fn empty(options: &'a CreateOptions) -> Self {
        let (message, positions, delegates) = ("create", Vec::new(), Vec::new());
        Self { options, edges_given: 0, message, positions, delegates, hosts: None }
    }
}

/// Where the shards of a cluster are.
#[derive(Debug, Clone)]
enum Place {
    /// In the directory of the cluster.
    Here,
    /// On other machines.
    Hosts(Arc<Vec<Host>>),
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
}

impl Cluster {
    /// Opens the cluster at `path`: reads its manifest, no shard.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none; as [`ClusterManifest::read`].
    pub fn open(path: &Path) -> Result<Self> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        // A directory with a seal or a shard is a cluster that lost its manifest.
        let has = |name: &str| Ok::<_, Error>(disk.look(&path.join(name))?.is_some());
        if !has(MANIFEST_NAME)? && !has(SEAL_NAME)? && !has("shard-0")? {
            return Err(Error::Invalid(format!(
                "{} is no cluster: it has no file {MANIFEST_NAME}; make one with `esker cluster create {}`",
                path.display(),
                path.display()
            )));
        }
        let manifest = ClusterManifest::read(disk.as_ref(), path)?;
        let list = path.join(HOSTS_NAME);
        let mut cluster = Self { disk, path: path.to_owned(), manifest, place: Place::Here };
        if cluster.disk.look(&list)?.is_some() {
            let text = cluster.disk.read(&list)?;
            cluster.set_hosts(&list.display().to_string(), &String::from_utf8_lossy(&text))?;
        }
        Ok(cluster)
    }

    /// What a worker knows of its cluster: its shard, and what it was told of the manifest.
    pub(crate) fn of_worker(manifest: ClusterManifest, shard: usize, path: &Path) -> Self {
        let place = Place::Own(shard, path.to_owned());
        Self { disk: Arc::new(RealDisk), path: parent(path), manifest, place }
    }

    /// Looks for the shards on the machines of a list, as [`parse_hosts`] reads it, for as long as this handle lives.
    ///
    /// # Errors
    /// As [`parse_hosts`]; [`Error::Usage`] if the list has not a line for each shard.
    pub fn set_hosts(&mut self, file: &str, text: &str) -> Result<()> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let hosts = parse_hosts(file, text, &name)?;
        if hosts.len() != self.num_shards() {
            return Err(Error::Usage(format!(
                "{file} has {}, but {} has {}: write a line for each shard",
                esker_graph::counted(hosts.len() as u64, "line", "lines"),
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
            Place::Hosts(hosts) => Some(hosts),
            Place::Here | Place::Own(..) => None,
        }
    }

    /// Makes an empty cluster at `path`, with version 1. It is made beside `path`, in `.NAME.creating-<random>`, and renamed at the end. What
    /// a command that was killed has left there is removed first.
    ///
    /// # Errors
    /// [`Error::Invalid`] if something is at `path`, or for a number of shards out of 1..=1024; [`Error::Io`].
    pub fn create(path: &Path, options: &CreateOptions) -> Result<Self> {
        Self::create_with(path, &NewCluster::empty(options), |disk, _, place| {
            create_shard(disk, place, options)?;
            Ok(Store::open(place)?.manifest().database)
        })
    }

    /// The same with shards that `make_shard` makes: it is given the disk, the number of the shard, and its place, and returns its database.
    ///
    /// # Errors
    /// As [`Cluster::create`]; those of `make_shard`.
    pub(crate) fn create_with(
        path: &Path,
        new: &NewCluster<'_>,
        make_shard: impl FnMut(&Arc<dyn Disk>, usize, &Path) -> Result<DatabaseId>,
    ) -> Result<Self> {
        let options = new.options;
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        if !(1..=SHARDS_MAX).contains(&options.shards) {
            return Err(Error::Usage(format!(
                "a cluster has 1 to {SHARDS_MAX} shards, not {}",
                options.shards
            )));
        }
        Self::expect_free(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let prefix = format!(".{name}.creating-");
        remove_leftovers(disk.as_ref(), &parent(path), &prefix)?;
        // Held until the cluster has its name, so that no other command takes the directory for a leftover. It becomes the cluster's.
        let (staging, _lock) = lock_new_directory(disk.as_ref(), &parent(path), &prefix)?;
        let made = create_in(&disk, &staging, new, make_shard).and_then(|()| disk.rename(&staging, path));
        if let Err(error) = made {
            let _ = disk.remove_directory(&staging);
            // Another command may have made a cluster of this name meanwhile.
            return Err(if disk.look(path)?.is_some() { exists(path) } else { error });
        }
        disk.sync_directory(&parent(path))?;
        Self::open(path)
    }

    /// An error if something is at `path`.
    pub(crate) fn expect_free(path: &Path) -> Result<()> {
        if RealDisk.look(path)?.is_some() { Err(exists(path)) } else { Ok(()) }
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
            Place::Hosts(hosts) => PathBuf::from(format!("{}:{}", hosts[shard], hosts[shard].directory)),
            Place::Own(_, path) => path.clone(),
        }
    }

    /// Opens a shard for reading.
    ///
    /// # Errors
    /// As [`Store::open`]; [`Error::Invalid`] if another database lies in its place; [`Error::Usage`] if it is on another machine.
    pub fn open_shard(&self, shard: usize) -> Result<Store> {
        let is_here = match &self.place {
            Place::Here => true,
            Place::Hosts(_) => false,
            Place::Own(own, _) => *own == shard,
        };
        if !is_here {
            return Err(Error::Usage(format!(
                "the shards of {} are on other machines, but this command reads them itself: write the edges to a file with \
                 `esker cluster export`, and read that",
                self.path.display()
            )));
        }
        let store = Store::open(self.shard_path(shard))?;
        self.expect_shard(shard, store.manifest().database)?;
        Ok(store)
    }

    /// What the weights of edges in a shard are; `None`: edges have none.
    pub(crate) fn weights_of(&self, shard: usize) -> Result<Option<WeightKind>> {
        let snapshot = self.open_shard(shard)?.snapshot()?;
        Ok(weight_kind(&snapshot.weight_property().cloned().into_iter().collect::<Vec<_>>()))
    }

    /// An error if a database is not the one of a shard.
    pub(crate) fn expect_shard(&self, shard: usize, found: DatabaseId) -> Result<()> {
        if self.manifest.shards[shard] == found {
            return Ok(());
        }
        Err(Error::Invalid(format!(
            "{} is another database than the one that {} names as shard {shard}: put the right one there",
            self.shard_path(shard).display(),
            self.path.join(MANIFEST_NAME).display()
        )))
    }

    /// The secret that the processes prove to each other.
    ///
    /// # Errors
    /// As [`read_secret`].
    pub fn secret(&self) -> Result<Secret> {
        read_secret(&secret_in(&self.path))
    }

    /// Takes the lock of the command that changes the cluster, and reads the manifest again.
    ///
    /// # Errors
    /// [`Error::Invalid`] if another command holds it.
    pub fn lock(&mut self) -> Result<Box<dyn Lock>> {
        let lock = self.disk.try_lock(&self.path.join(LOCK_NAME))?.ok_or_else(|| {
            Error::Invalid(format!(
                "another command is changing {}: wait until it has ended",
                self.path.display()
            ))
        })?;
        self.reload()?;
        Ok(lock)
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

    /// Publishes a version of the whole: the given versions of all shards, which are durable. The caller holds the lock.
    ///
    /// # Errors
    /// [`Error::Io`]: [`Cluster::reload`] finds out whether the version is published.
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
        next.write(self.disk.as_ref(), &self.path)?;
        self.manifest = next;
        Ok(number)
    }
}

/// Reads the secret that the processes of a cluster prove to each other.
///
/// # Errors
/// [`Error::Io`]; [`Error::Invalid`] if others than its owner can read the file, or it holds no secret.
pub fn read_secret(path: &Path) -> Result<Secret> {
    let bytes = esker_format::io::read_private(path).map_err(|error| match error {
        Error::Io { .. } if error.is_not_found() => Error::Invalid(format!(
            "{} is missing, without which the workers do not know each other: put it back, or write 32 random bytes to it, with mode 0600",
            path.display()
        )),
        other => other,
    })?;
    let secret = bytes.try_into().map_err(|_| {
        Error::Invalid(format!(
            "{} does not hold 32 bytes: write 32 random bytes to it, with mode 0600",
            path.display()
        ))
    })?;
    Ok(Secret(secret))
}

/// The secret of a cluster in a directory.
pub(crate) fn secret_in(directory: &Path) -> PathBuf {
    directory.join(SECRET_NAME)
}

fn now_ms() -> u64 {
    UNIX_EPOCH.elapsed().map_or(0, |age| age.as_millis() as u64)
}

fn exists(path: &Path) -> Error {
    Error::Invalid(format!("{} exists: give another path", path.display()))
}

/// Makes everything that a cluster has, in a directory that has not its name yet.
fn create_in(
    disk: &Arc<dyn Disk>,
    directory: &Path,
    new: &NewCluster<'_>,
    mut make_shard: impl FnMut(&Arc<dyn Disk>, usize, &Path) -> Result<DatabaseId>,
) -> Result<()> {
    let options = new.options;
    let mut shards = Vec::new();
    for shard in 0..options.shards {
        let path = directory.join(format!("shard-{shard}"));
        shards.push(make_shard(disk, shard, &path)?);
    }
    let random = || [DatabaseId::random(), DatabaseId::random()].iter().flat_map(|half| half.0).collect();
    let secret = new.hosts.as_ref().map_or_else(random, |(_, secret)| secret.0.to_vec());
    esker_format::io::write_private(&secret_in(directory), &secret)?;
    if let Some((hosts, _)) = &new.hosts {
        let lines = hosts.iter().map(|host| format!("{host} {}\n", host.directory));
        disk.write(&directory.join(HOSTS_NAME), lines.collect::<String>().as_bytes())?;
    }
    let messages = std::iter::once(new.message).chain(new.positions.iter().map(String::as_str));
    let versions = (1..).zip(messages).map(|(number, message)| WholeVersion {
        number,
        time_ms: now_ms(),
        edges_given: if number == 1 { new.edges_given } else { 0 },
        message: message.to_owned(),
        shards: vec![1; options.shards],
    });
    let versions = versions.collect();
    let CreateOptions { directed, text_ids, seed, hub_degree, .. } = *options;
    let delegates = new.delegates.iter().map(|id| Delegate { id: id.clone(), since: 1 }).collect();
    let id = DatabaseId::random();
    ClusterManifest { id, seed, directed, text_ids, shards, versions, edges_before: 0, hub_degree, delegates }
        .write(disk.as_ref(), directory)
}

/// Makes the empty database of a shard.
pub(crate) fn create_shard(disk: &Arc<dyn Disk>, path: &Path, options: &CreateOptions) -> Result<()> {
    let ids = if options.text_ids { PickIds::Text } else { PickIds::Int };
    let mut read = ReadOptions { format: Some(Format::EdgeList), ids, ..ReadOptions::default() };
    let mut header = String::new();
    if let Some(kind) = options.weights {
        let (name, property_type) = (WEIGHT_NAME.to_owned(), kind.element().into());
        header = format!("source,target,{WEIGHT_NAME}\n");
        read.format = Some(Format::Csv);
        read.weight = Pick::Column(name.clone());
        read.schema = vec![Declaration { name, property_type }];
    }
    let reader = open_inputs(&[Input::memory("nothing", header.into_bytes())], &read)?.reader;
    let import_options = ImportOptions {
        directed: Some(options.directed),
        order: VertexOrder::Keep,
        message: Some("create".to_owned()),
        ..ImportOptions::default()
    };
    import(disk, reader, path, &import_options, StagingOptions::default()).map(drop)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    #[test]
    fn a_new_cluster_is_whole_and_its_secret_private() {
        let place = tempfile::tempdir().expect("directory");
        let path = place.path().join("c");
        let options = CreateOptions {
            shards: 3,
            directed: false,
            text_ids: true,
            weights: None,
            seed: 5,
            hub_degree: 0,
        };
        let cluster = Cluster::create(&path, &options).expect("create");
        assert_eq!((cluster.num_shards(), cluster.manifest().newest().number), (3, 1));
        for shard in 0..3 {
            let snapshot = cluster.open_shard(shard).and_then(|store| store.snapshot()).expect("shard");
            assert_eq!(
                (snapshot.num_vertices(), snapshot.is_directed(), snapshot.ids().is_text()),
                (0, false, true)
            );
        }
        assert_ne!(cluster.secret().expect("secret"), Secret([0; 32]));
        assert!(Cluster::create(&path, &options).expect_err("exists").to_string().contains("exists"));
        let secret = path.join("secret");
        let open_to_all = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        std::fs::set_permissions(&secret, open_to_all).expect("chmod");
        let message = cluster.secret().expect_err("readable by all").to_string();
        assert!(message.contains("chmod 600"), "{message}");
    }

    /// The directory stayed for ever.
    #[test]
    fn what_a_killed_command_left_is_removed_and_what_another_makes_stays() {
        let place = tempfile::tempdir().expect("directory");
        let options = CreateOptions {
            shards: 1,
            directed: true,
            text_ids: false,
            weights: None,
            seed: 5,
            hub_degree: 0,
        };
        let staging =
            |name: &str, last: char| place.path().join(format!(".{name}.creating-{}{last}", "0".repeat(31)));
        for (name, last) in [("c", 'a'), ("c", 'b'), ("d", 'c')] {
            std::fs::create_dir_all(staging(name, last).join("shard-0/layers")).expect("directory");
        }
        std::fs::create_dir(place.path().join(".c.creating-mine")).expect("directory");
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let alive = disk.try_lock(&staging("c", 'b').join(LOCK_NAME)).expect("lock").expect("free");
        let mut cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
        assert!(!staging("c", 'a').exists(), "its command has died");
        assert!(staging("c", 'b').exists(), "another command is making it");
        assert!(staging("d", 'c').exists() && place.path().join(".c.creating-mine").exists());
        drop(alive);
        cluster.lock().map(drop).expect("nobody holds the lock of the new cluster");
    }

    /// They removed each other's directories, and the loser could not rename its own.
    #[test]
    fn of_commands_that_make_one_name_together_one_succeeds() {
        let place = tempfile::tempdir().expect("directory");
        let options = CreateOptions {
            shards: 1,
            directed: true,
            text_ids: false,
            weights: None,
            seed: 5,
            hub_degree: 0,
        };
        for round in 0..12 {
            let path = place.path().join(format!("c{round}"));
            let made = std::thread::scope(|scope| {
                let create = || Cluster::create(&path, &options).map(drop).map_err(|error| error.to_string());
                let started: Vec<_> = (0..4).map(|_| scope.spawn(create)).collect();
                started.into_iter().map(|one| one.join().expect("no panic")).collect::<Vec<_>>()
            });
            assert_eq!(made.iter().filter(|one| one.is_ok()).count(), 1, "{made:?}");
            let expected = format!("{} exists: give another path", path.display());
            assert!(
                made.iter().filter_map(|one| one.as_ref().err()).all(|error| *error == expected),
                "{made:?}"
            );
            Cluster::open(&path).and_then(|mut cluster| cluster.lock().map(drop)).expect("a whole cluster");
        }
        assert_eq!(std::fs::read_dir(place.path()).expect("list").count(), 12, "no directory is left");
    }

    #[test]
    fn one_command_changes_a_cluster_at_a_time() {
        let place = tempfile::tempdir().expect("directory");
        let options = CreateOptions {
            shards: 1,
            directed: true,
            text_ids: false,
            weights: None,
            seed: 5,
            hub_degree: 0,
        };
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
        let options = CreateOptions {
            shards: 2,
            directed: true,
            text_ids: false,
            weights: None,
            seed: 5,
            hub_degree: 0,
        };
        let cluster = Cluster::create(&place.path().join("c"), &options).expect("create");
        std::fs::rename(cluster.shard_path(0), place.path().join("away")).expect("move");
        std::fs::rename(cluster.shard_path(1), cluster.shard_path(0)).expect("move");
        let message = cluster.open_shard(0).expect_err("mixed up").to_string();
        assert!(message.contains("shard-0 is another database"), "{message}");
    }
}
