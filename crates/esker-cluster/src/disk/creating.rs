//! Makes clusters: whole or not at all.

use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, RealDisk, parent};
use esker_format::{DatabaseId, Error, Result};
use esker_import::install::import;
use esker_import::open::open_inputs;
use esker_import::options::{ImportOptions, NumberingOrder};
use esker_import::read::format::{Declaration, Format, Pick, PickIds, ReadOptions};
use esker_import::read::input::Input;
use esker_store::Store;
use esker_store::manifest::StagingOptions;
use serde::{Deserialize, Serialize};

use crate::disk::cluster::{Cluster, WEIGHT_NAME, now_ms, secret_in};
use crate::disk::staging::{lock_new_directory, remove_leftovers};
use crate::model::manifest::{ClusterManifest, Delegate, SHARDS_MAX, WholeVersion};
use crate::model::owner::OwnedId;
use crate::model::weights::WeightKind;
use crate::net::handshake::Secret;
use crate::net::hosts::{HOSTS_NAME, Host, list_of_hosts};

/// The usual number of edges from which on a vertex becomes a delegate.
pub const HUB_DEGREE: u64 = 1 << 20;

/// What a new cluster is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Edges in the list of a vertex from which on they lie with the owners of their other ends; 0: they
    /// never do. Usually [`HUB_DEGREE`].
    pub hub_degree: u64,
}

#[cfg(test)]
impl CreateOptions {
    /// Directed, integer ids, no weights, no hubs: what most tests make.
    pub(crate) const fn plain(shards: usize) -> Self {
        Self { shards, directed: true, text_ids: false, weights: None, seed: 5, hub_degree: 0 }
    }
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

impl Cluster {
    /// Makes an empty cluster at `path`, with version 1. It is made beside `path`, in
    /// `.NAME.creating-<random>`, and renamed at the end. What a command that was killed has left there is
    /// removed first.
    ///
    /// # Errors
    /// [`Error::Invalid`] if something is at `path`, or for a number of shards out of 1..=1024;
    /// [`Error::Io`].
    pub fn create(path: &Path, options: &CreateOptions) -> Result<Self> {
        Self::create_with(path, &NewCluster::empty(options), |disk, _, place| {
            create_shard(disk, place, options)?;
            Ok(Store::open(place)?.manifest().database)
        })
    }

    /// The same with shards that `make_shard` makes: it is given the disk, the number of the shard, and its
    /// place, and returns its database.
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
            return Err(Error::usage(format!(
                "a cluster has 1 to {SHARDS_MAX} shards, not {}",
                options.shards
            )));
        }
        Self::expect_free(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let prefix = format!(".{name}.creating-");
        remove_leftovers(disk.as_ref(), &parent(path), &prefix)?;
        // Held until the cluster has its name, so that no other command takes the directory for a leftover.
        // It becomes the cluster's.
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
}

fn exists(path: &Path) -> Error {
    Error::Exists(format!("{} exists: give another path", path.display()).into())
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
    let secret = new.hosts.as_ref().map_or_else(random, |(_, secret)| secret.bytes.to_vec());
    esker_format::io::write_private(&secret_in(directory), &secret)?;
    if let Some((hosts, secret)) = &new.hosts {
        disk.write(&directory.join(HOSTS_NAME), list_of_hosts(hosts, secret.is_encrypting()).as_bytes())?;
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
    if let Some(kind) = options.weights {
        let (name, property_type) = (WEIGHT_NAME.to_owned(), kind.element().into());
        read.format = Some(Format::Csv);
        read.weight = Pick::Column(name.clone());
        read.schema = vec![Declaration { name, property_type }];
    }
    // Without a header, so that the shard remembers none.
    let reader = open_inputs(&[Input::memory("nothing", Vec::new())], &read)?.reader;
    let import_options = ImportOptions {
        directed: Some(options.directed),
        order: NumberingOrder::Keep,
        message: Some("create".to_owned()),
        ..ImportOptions::default()
    };
    import(disk, reader, path, &import_options, StagingOptions::default()).map(drop)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;
    use crate::disk::staging::LOCK_NAME;

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
            let version = cluster.open_shard(shard).and_then(|store| store.latest()).expect("shard");
            assert_eq!(
                (version.num_vertices(), version.is_directed(), version.ids().is_text()),
                (0, false, true)
            );
        }
        assert_ne!(cluster.secret().expect("secret"), Secret::new([0; 32]));
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
        let options = CreateOptions::plain(1);
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
        let options = CreateOptions::plain(1);
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
}
