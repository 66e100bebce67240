//! A cluster of a database, a database of a cluster, and a cluster of a cluster with another number of
//! shards.
//!
//! All are imports of selected edges: a shard is imported from the edges that it holds, one shard after
//! another; a database from the edges of all shards. An edge of a cluster is taken where its source is owned.
//! Time: a pass over all lists for each shard that is made. Memory: that of an import
//! ([`ImportOptions::memory_bytes`]); blocks are read as the import wants them.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use esker_format::io::{Disk, RealDisk};
use esker_format::{ElementType, Error, PropertyRecord, Result};
use esker_graph::{Direction, Run, Setting, Stop, message, vertex};
use esker_import::install::import;
use esker_import::options::{ImportOptions, NumberingOrder};
use esker_import::read::source::Reader;
use esker_store::Store;
use esker_store::manifest::StagingOptions;

use crate::disk::cluster::Cluster;
use crate::disk::creating::{CreateOptions, NewCluster};
use crate::disk::job::{ShardTask, TargetShard, stream_of};
use crate::model::owner::OwnedId;
use crate::model::placement::Placement;
use crate::model::weights::WeightKind;
use crate::net::threads::no_thread;
use crate::process::all_shards::counts;
use crate::process::requests::{ask, weights};
use crate::process::selection::{DatabasePart, PartsReader, Selection, SentReader};

/// How a new cluster is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewShards {
    /// Number of shards.
    pub shards: usize,
    /// Seed of the hash that finds the owner of a vertex.
    pub seed: u64,
    /// Edges in the list of a vertex from which on it is a delegate; 0: no vertex is.
    pub hub_degree: u64,
}

/// Blocks that workers on other machines are ahead of the import.
const BLOCKS_AHEAD: usize = 2;

/// Makes a cluster of a version of a database. Its first version has all edges with their weights, and all
/// vertices; other properties are left out. Returns it with the names of the properties that were.
///
/// # Errors
/// [`Error::Invalid`] if the database keeps parallel edges; as [`Cluster::create`] and [`import`].
pub fn split(
    database: &Store,
    number: u64,
    path: &Path,
    cut: NewShards,
    run: &Run,
) -> Result<(Cluster, Vec<String>)> {
    let version = database.at(number)?;
    if let Some(kind) = version.kind_property() {
        return Err(Error::invalid(message![
            format!(
                "the edges of {} have kinds, in their property {:?}, and a cluster keeps no kinds: export those of one with ",
                version.path().display(),
                kind.name
            ),
            Setting::Kind,
            ", and import them",
        ]));
    }
    if version.layer().multigraph {
        let path = version.path().display();
        return Err(Error::invalid(message![
            format!("{path} keeps parallel edges, but a cluster holds one edge between two vertices: "),
            "import the edges with ",
            Setting::Duplicates.to("last"),
        ]));
    }
    let weight = version.weight_property().cloned();
    let is_integer = |weight: &PropertyRecord| matches!(weight.element, ElementType::I32 | ElementType::I64);
    let weights = weight.as_ref().map(|weight| match is_integer(weight) {
        true => WeightKind::Int,
        false => WeightKind::Float,
    });
    let left_out = version.edge_properties().filter(|property| !property.weight).map(|one| one.name.clone());
    let left_out = left_out.chain(version.vertex_properties().map(|one| one.name.clone())).collect();
    let (directed, text_ids) = (version.is_directed(), version.ids().is_text());
    let NewShards { shards, seed, hub_degree } = cut;
    let options = CreateOptions { shards, directed, text_ids, weights, seed, hub_degree };
    let message = format!("split {} version {number}", version.path().display());
    let edges_given = version.num_edges();
    let part = DatabasePart::new(0, version, run)?;
    let delegates = hubs_of(&part, &options)?;
    let parts = ShardSource::Here(Arc::new(vec![part]), None);
    let positions = Vec::new();
    let new =
        NewCluster { options: &options, edges_given, message: &message, positions, delegates, hosts: None };
    let cluster = create_of(&parts, path, &new, run)?;
    Ok((cluster, left_out))
}

/// The vertices of a database that become delegates.
fn hubs_of(part: &DatabasePart, options: &CreateOptions) -> Result<Vec<OwnedId>> {
    let mut hubs = Vec::new();
    if options.hub_degree == 0 || options.shards == 1 {
        return Ok(hubs);
    }
    for v in (0..part.version.num_vertices()).map(vertex).filter(|&v| !part.removed.is_removed(v)) {
        if part.version.degree(Direction::Out, v)? as u64 >= options.hub_degree {
            hubs.push(part.version.ids().external_of(v)?.into());
        }
    }
    Ok(hubs)
}

/// Makes a cluster at `path` of a version of another one, with another number of shards. Its first version
/// has all vertices and edges, with their weights. Delegates stay so. A version without edges follows for
/// each stream that was read until then, and says how far, so that the stream goes on there.
///
/// # Errors
/// [`Error::Invalid`] if there is no such version; those of a shard; as [`Cluster::create`] and [`import`].
pub fn rebalance(
    cluster: &Cluster,
    version: u64,
    path: &Path,
    shards: usize,
    seed: u64,
    run: &Run,
) -> Result<Cluster> {
    let (manifest, parts) = (cluster.manifest(), ShardSource::of(cluster, version, run)?);
    let (directed, text_ids) = (manifest.directed, manifest.text_ids);
    let (weights, hub_degree) = (weights(cluster)?, manifest.hub_degree);
    let options = CreateOptions { shards, directed, text_ids, weights, seed, hub_degree };
    let message = format!("rebalance {} version {version}", cluster.path().display());
    let (_, whole) = counts(cluster, version)?;
    let positions = positions_until(cluster, version);
    let delegates = cluster.placement(version).delegates().cloned().collect();
    let edges_given = whole.edges;
    let new =
        NewCluster { options: &options, edges_given, message: &message, positions, delegates, hosts: None };
    create_of(&parts, path, &new, run)
}

/// The messages that say how far each stream was read until a version, oldest first.
fn positions_until(cluster: &Cluster, version: u64) -> Vec<String> {
    let mut newest: Vec<&str> = Vec::new();
    for one in cluster.manifest().versions.iter().filter(|one| one.number <= version) {
        if let Some((name, ..)) = stream_of(&one.message) {
            newest.retain(|known| stream_of(known).is_none_or(|(known, ..)| known != name));
            newest.push(&one.message);
        }
    }
    newest.into_iter().map(str::to_owned).collect()
}

/// Makes a cluster of databases.
fn create_of(parts: &ShardSource, path: &Path, new: &NewCluster<'_>, run: &Run) -> Result<Cluster> {
    let CreateOptions { shards, directed, weights, seed, .. } = *new.options;
    Cluster::create_with(path, new, |disk, shard, place| {
        let new_shard = TargetShard { shard, shards, seed };
        let reader = parts.reader(Some((new_shard, &new.delegates)), directed, weights, run)?;
        let options =
            ImportOptions { order: NumberingOrder::Keep, ..import_options(directed, new.message, run) };
        import(disk, reader, place, &options, StagingOptions::default())?;
        Ok(Store::open(place)?.manifest().database)
    })
}

/// Makes a database at `target` of a version of a cluster.
///
/// # Errors
/// [`Error::Invalid`] if there is no such version, or something is at `target`; those of a shard; as
/// [`import`].
pub fn merge(cluster: &Cluster, version: u64, target: &Path, run: &Run) -> Result<()> {
    let parts = ShardSource::of(cluster, version, run)?;
    let directed = cluster.manifest().directed;
    let reader = parts.reader(None, directed, weights(cluster)?, run)?;
    let message = format!("merge {} version {version}", cluster.path().display());
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let options = import_options(directed, &message, run);
    import(&disk, reader, target, &options, StagingOptions::default()).map(drop)
}

/// Databases that are read.
#[allow(clippy::large_enum_variant, reason = "one for each operation")]
enum ShardSource {
    /// On this machine, and where their edges lie; `None`: there is one, which has all.
    Here(Arc<Vec<DatabasePart>>, Option<Box<Placement>>),
    /// The shards of a version of a cluster on other machines.
    There(Cluster, u64),
}

impl ShardSource {
    /// The shards of a version.
    fn of(cluster: &Cluster, version: u64, run: &Run) -> Result<Self> {
        let numbers = &cluster.manifest().version(version)?.shards;
        if cluster.hosts().is_some() {
            return Ok(Self::There(cluster.clone(), version));
        }
        let part =
            |shard: usize| DatabasePart::new(shard, cluster.open_shard(shard)?.at(numbers[shard])?, run);
        let parts = (0..cluster.num_shards()).map(part).collect::<Result<Vec<_>>>()?;
        Ok(Self::Here(Arc::new(parts), Some(Box::new(cluster.placement(version)))))
    }

    /// Reads what a new shard of a cluster with these delegates gets; `None`: all.
    fn reader(
        &self,
        to: Option<(TargetShard, &[OwnedId])>,
        directed: bool,
        weights: Option<WeightKind>,
        run: &Run,
    ) -> Result<Box<dyn Reader>> {
        match self {
            Self::Here(parts, from) => {
                let to = to
                    .map(|(new, delegates)| (new.shard, new.placement(directed, delegates.iter().cloned())));
                let selection = Selection { from: from.as_deref().cloned(), to, directed };
                Ok(Box::new(PartsReader::new(Arc::clone(parts), selection, weights)))
            }
            Self::There(cluster, version) => {
                let (task, cancel) =
                    (ShardTask::Portion(*version, to.map(|(new, _)| new)), run.cancel().clone());
                let (cluster, is_text) = (cluster.clone(), cluster.manifest().text_ids);
                let (sender, blocks) = sync_channel(BLOCKS_AHEAD);
                let asking = move || {
                    // The import that wants no more has failed for a reason of its own.
                    let mut take =
                        |block| sender.send(Ok(Some(block))).map_err(|_| Error::Stop(Stop::Cancelled));
                    let asked = (0..cluster.num_shards())
                        .try_for_each(|shard| ask(&cluster, shard, &task, &cancel, &mut take));
                    let _ = sender.send(asked.map(|()| None));
                };
                std::thread::Builder::new()
                    .name("esker-ask".to_owned())
                    .spawn(asking)
                    .map_err(no_thread("ask the machines"))?;
                Ok(Box::new(SentReader::new(blocks, is_text, directed, weights)))
            }
        }
    }
}

fn import_options(directed: bool, message: &str, run: &Run) -> ImportOptions {
    ImportOptions {
        directed: Some(directed),
        message: Some(message.to_owned()),
        cancel: run.cancel().clone(),
        ..ImportOptions::default()
    }
}
