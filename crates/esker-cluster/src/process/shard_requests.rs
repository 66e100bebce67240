//! What is asked of a shard alone: by the command, if the shard is here, else by the worker on its machine.
//! An answer is a value as [`encode`] writes it, or blocks of rows.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, RealDisk, parent};
use esker_format::{DatabaseId, ElementType, Error, Result};
use esker_graph::{Cancel, Direction, Run, RunOptions, VertexId, vertex};
use esker_import::export::push_f64;
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;
use esker_store::{DatabaseOptions, LogCheck, Store, Version, check::check as check_layers};
use serde::{Deserialize, Serialize};

use crate::catalogue::CatalogueEntry;
use crate::disk::cluster::Cluster;
use crate::disk::creating::{CreateOptions, create_shard};
use crate::disk::job::{ShardTask, TargetShard};
use crate::disk::shard::{expect_own, open_at_newest, threads_each};
use crate::exchange::routes::{id_bytes, shape_of};
use crate::model::needs::ShardShape;
use crate::model::placement::Placement;
use crate::net::messages::encode;
use crate::process::selection::{DatabasePart, PartsReader, Selection};

/// Vertices between two checks for cancellation.
pub(crate) const CANCEL_EVERY: VertexId = 1 << 12;
/// Bytes of a block of rows, about.
const ROWS_BYTES: usize = 1 << 18;

/// What a shard shares with another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct SharedWith {
    /// Its edges to vertices of the other one.
    pub(crate) edges: u64,
    /// The vertices of the other one that it has.
    pub(crate) vertices: u64,
    /// The bytes of their ids, as they travel.
    pub(crate) id_bytes: u64,
    pub(crate) id_bytes_max: u64,
}

/// A shard of a version, and which of its vertices it owns.
pub(crate) struct OwnedShard<'a> {
    cluster: &'a Cluster,
    pub(crate) shard: usize,
    pub(crate) version: Version,
    pub(crate) placement: Placement,
}

impl<'a> OwnedShard<'a> {
    pub(crate) fn open(cluster: &'a Cluster, cluster_version: u64, shard: usize) -> Result<Self> {
        let number = cluster.manifest().version(cluster_version)?.shards[shard];
        let version = cluster.open_shard(shard)?.at(number)?;
        Ok(Self { cluster, shard, version, placement: cluster.placement(cluster_version) })
    }

    pub(crate) fn vertices(&self) -> impl Iterator<Item = VertexId> {
        (0..self.version.num_vertices()).map(vertex)
    }

    pub(crate) fn id(&self, v: VertexId) -> Result<ExternalId<'_>> {
        self.version.ids().external_of(v)
    }

    /// The shard that owns a vertex.
    pub(crate) fn owner(&self, v: VertexId) -> Result<usize> {
        Ok(self.cluster.owners().of(self.id(v)?))
    }

    /// A problem if edges in the list of a delegate belong to another shard.
    pub(crate) fn misplaced(&self, v: VertexId, cancel: &Cancel) -> Result<Option<String>> {
        let (id, mut count) = (self.id(v)?, 0);
        for (index, &other) in self.version.neighbors(Direction::Out, v)?.iter().enumerate() {
            if index % CANCEL_EVERY as usize == 0 {
                cancel.check()?;
            }
            count += u64::from(self.placement.of_edge(id, self.id(other)?).shard != self.shard);
        }
        let edges = esker_graph::counted(count, "edge", "edges");
        let text =
            format!("shard {} has {edges} of the delegate {id} that other shards should have", self.shard);
        Ok((count > 0).then_some(text))
    }

    /// What this shard shares with each one. Edges of delegates do not count.
    pub(crate) fn shared(&self, cancel: &Cancel) -> Result<Vec<SharedWith>> {
        let direction = if self.version.is_directed() { Direction::In } else { Direction::Out };
        let mut shared = vec![SharedWith::default(); self.cluster.num_shards()];
        for v in self.vertices() {
            if v % CANCEL_EVERY == 0 {
                cancel.check()?;
            }
            let id = self.id(v)?;
            let with = &mut shared[self.placement.owners().of(id)];
            if !self.placement.is_delegate(id) {
                with.edges += self.version.degree(direction, v)? as u64;
            }
            with.vertices += 1;
            with.id_bytes += id_bytes(id);
            with.id_bytes_max = with.id_bytes_max.max(id_bytes(id));
        }
        Ok(shared)
    }
}

/// Takes a block of an answer.
pub(crate) type Give<'a> = dyn FnMut(Vec<u8>) -> Result<()> + 'a;

/// Makes the database of a shard, or removes it: what needs no manifest.
///
/// # Errors
/// Those of the disk; [`Error::Invalid`] if something else is there.
pub(crate) fn make(path: &Path, task: &ShardTask, give: &mut Give<'_>) -> Result<()> {
    match task {
        ShardTask::Create(options) => {
            let disk: Arc<dyn Disk> = Arc::new(RealDisk);
            let id = create(&disk, path, options)?;
            // The command that is not told its id cannot remove it.
            give(encode(&id)?).inspect_err(|_| drop(discard(path, id)))
        }
        ShardTask::Discard(id) => discard(path, *id),
        _ => Err(Error::invalid("the command told nothing of the cluster".to_owned())),
    }
}

/// Does what is asked of a shard.
///
/// # Errors
/// Those of the shard; that of `give`.
pub(crate) fn carry_out(
    cluster: &Cluster,
    shard: usize,
    task: &ShardTask,
    cancel: &Cancel,
    give: &mut Give<'_>,
) -> Result<()> {
    let path = cluster.shard_path(shard);
    match task {
        ShardTask::Create(_) | ShardTask::Discard(_) => make(&path, task, give),
        ShardTask::Unpublished => give(encode(&unpublished_of(cluster, shard)?)?),
        ShardTask::RollBack => {
            let (options, run) = (DatabaseOptions::default(), Run::with_threads(1)?);
            let options = DatabaseOptions { threads: threads_each(1), ..options };
            let (database, count) = open_at_newest(cluster, shard, options, &run)?;
            database.close()?;
            give(encode(&count)?)
        }
        ShardTask::Weights => give(encode(&cluster.weights_of(shard)?)?),
        ShardTask::Counts(version) => {
            let part = OwnedShard::open(cluster, *version, shard)?;
            let counts = ShardCounts { edges: part.version.num_edges(), shared: part.shared(cancel)? };
            give(encode(&counts)?)
        }
        ShardTask::Needs(version, algorithm) => {
            give(encode(&needs_of(cluster, *version, shard, algorithm, cancel)?)?)
        }
        ShardTask::CheckFiles => {
            let mut found = FileCheck::default();
            match check_files(cluster, shard, cancel, &mut found) {
                Ok(bytes) => found.bytes = bytes,
                Err(error @ Error::Stop(_)) => return Err(error),
                Err(error) => found.problems.push(error.to_string()),
            }
            give(encode(&found)?)
        }
        ShardTask::Export(version) => export_shard(cluster, *version, shard, cancel, give),
        ShardTask::Portion(version, new) => {
            give_portion(cluster, shard, *version, new.as_ref(), cancel, give)
        }
    }
}

/// Makes the empty database of a shard, and the directories above it: durable on return. A database has its
/// mark from the start.
fn create(disk: &Arc<dyn Disk>, path: &Path, options: &CreateOptions) -> Result<DatabaseId> {
    if disk.look(path)?.is_some() {
        let remedy = "give another directory, or remove this one if no cluster has it";
        return Err(Error::Exists(format!("{} exists: {remedy}", path.display()).into()));
    }
    let mut missing: Vec<_> = Vec::new();
    let mut above = parent(path);
    while disk.look(&above)?.is_none() {
        missing.push(above.clone());
        above = parent(&above);
    }
    for directory in missing.iter().rev() {
        if let Err(error) = disk.create_directory(directory)
            // The worker of another shard may have made it meanwhile.
            && disk.look(directory)?.is_none()
        {
            return Err(error);
        }
        disk.sync_directory(&parent(directory))?;
    }
    let mark = shard_mark(path);
    // One that died may have left its mark.
    if disk.look(&mark)?.is_none() {
        disk.write(&mark, b"The database of this name is a shard of a cluster that another machine has.\n")?;
    }
    disk.sync_directory(&parent(path))?;
    let made = create_shard(disk, path, options).and_then(|()| {
        let opened = Store::open_on(Arc::clone(disk), path).map(|store| store.manifest().database);
        opened.inspect_err(|_| drop(disk.remove_directory(path)))
    });
    if made.is_err() && disk.look(path)?.is_none() {
        let _ = disk.remove_file(&mark);
    }
    made
}

/// The file that says of a database that it is a shard of a cluster on another machine.
fn shard_mark(database: &Path) -> PathBuf {
    let name = database.file_name().unwrap_or_default().to_string_lossy();
    database.with_file_name(format!("{name}.cluster"))
}

/// Removes the empty database of a shard of a cluster that was not made.
fn discard(path: &Path, id: DatabaseId) -> Result<()> {
    let store = Store::open(path)?;
    if store.manifest().database != id || store.versions()?.len() > 1 {
        return Err(Error::invalid(format!(
            "{} is another database than the one that was made",
            path.display()
        )));
    }
    drop(store);
    RealDisk.remove_directory(path)?;
    RealDisk.remove_file(&shard_mark(path))
}

/// The versions of a shard after the one of the newest version of the whole: numbers and messages.
fn unpublished_of(cluster: &Cluster, shard: usize) -> Result<Vec<(u64, String)>> {
    let known = cluster.manifest().newest().shards[shard];
    let mut versions = cluster.open_shard(shard)?.versions()?;
    versions.retain(|version| version.number > known);
    Ok(versions.into_iter().map(|version| (version.number, version.message)).collect())
}

/// How large a shard is, and what it shares with each one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ShardCounts {
    /// Edges of its version.
    pub(crate) edges: u64,
    pub(crate) shared: Vec<SharedWith>,
}

/// What the estimate of a run takes from a shard.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ShardNeeds {
    pub(crate) shape: ShardShape,
    /// What is read of the graph to memory.
    pub(crate) graph_bytes: u64,
    pub(crate) counts: ShardCounts,
}

fn needs_of(
    cluster: &Cluster,
    cluster_version: u64,
    shard: usize,
    algorithm: &str,
    cancel: &Cancel,
) -> Result<ShardNeeds> {
    let reads_weights = CatalogueEntry::of(algorithm)?.algorithm.reads_weights;
    let options = RunOptions { threads: 1, cancel: cancel.clone(), ..RunOptions::default() };
    let run = Arc::new(Run::new(options)?);
    let number = cluster.manifest().version(cluster_version)?.shards[shard];
    let version = cluster.open_shard(shard)?.under(Arc::clone(&run)).at(number)?;
    let view = version.view();
    let graph = view.graph::<()>(&run)?;
    match version.view().weight_type().filter(|_| reads_weights) {
        Some(ElementType::I64) => drop(version.view().graph::<i64>(&run)?),
        Some(_) => drop(version.view().graph::<f64>(&run)?),
        None => {}
    }
    drop(graph);
    let placement = cluster.placement(cluster_version);
    let copies = placement.num_delegates() * (cluster.num_shards() - 1);
    let shape = ShardShape { delegate_copies: copies as u64, ..shape_of(&version) };
    let part = OwnedShard { cluster, shard, version, placement };
    let counts = ShardCounts { edges: part.version.num_edges(), shared: part.shared(cancel)? };
    Ok(ShardNeeds { shape, graph_bytes: run.budget().peak_bytes(), counts })
}

/// What the check of the files of a shard found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct FileCheck {
    /// Bytes that were verified.
    pub(crate) bytes: u64,
    pub(crate) notes: Vec<String>,
    pub(crate) problems: Vec<String>,
}

/// Checks the files of a shard; returns the bytes that were read.
fn check_files(cluster: &Cluster, shard: usize, cancel: &Cancel, found: &mut FileCheck) -> Result<u64> {
    let run = &Run::new(RunOptions { cancel: cancel.clone(), ..RunOptions::default() })?;
    let (store, path) = (cluster.open_shard(shard)?, cluster.shard_path(shard));
    let LogCheck { unfinished, .. } = store.check_log(run)?;
    found.notes.extend(unfinished.iter().map(|(path, bytes)| {
        format!(
            "{} ends with {} that make no complete record: a writer died or is writing there, or they are damaged; the next \
             writer removes them",
            path.display(),
            esker_graph::counted(*bytes, "byte", "bytes")
        )
    }));
    found.problems.extend(store.check_live(run)?);
    let layers = check_layers(&store.frozen()?, run)?;
    found.problems.extend(layers.problems.iter().map(ToString::to_string));
    let wanted = cluster.manifest().newest().shards[shard];
    store.at(wanted)?;
    expect_own(&path, &store.versions()?, wanted)?;
    Ok(layers.bytes)
}

/// Hands over the edges of a shard as rows of CSV, each edge of the whole in one shard.
fn export_shard(
    cluster: &Cluster,
    version: u64,
    shard: usize,
    cancel: &Cancel,
    give: &mut Give<'_>,
) -> Result<()> {
    let part = OwnedShard::open(cluster, version, shard)?;
    let (weight, mut out) = (part.version.weight_property(), Vec::new());
    if shard == 0 {
        let names: &[u8] = if weight.is_some() { b"source,target,weight\n" } else { b"source,target\n" };
        out.extend_from_slice(names);
    }
    for v in part.vertices() {
        if v % CANCEL_EVERY == 0 {
            cancel.check()?;
        }
        let id = part.id(v)?;
        if !part.placement.counts_list(shard, id) {
            continue;
        }
        let list = part.version.edges(Direction::Out, v)?;
        for (index, &target) in list.targets().iter().enumerate() {
            if index % CANCEL_EVERY as usize == 0 {
                cancel.check()?;
            }
            let other = part.id(target)?;
            // An undirected edge is in the lists of both ends.
            if !cluster.manifest().directed && id > other {
                continue;
            }
            let written = write_id(&mut out, id)
                .and_then(|()| out.write_all(b","))
                .and_then(|()| write_id(&mut out, other));
            written.map_err(Error::io("write", Path::new("memory")))?;
            if let Some(property) = weight {
                out.push(b',');
                match PropertyValue::from_stored(property, list.bits(property.number, index)?) {
                    PropertyValue::F64(weight) => push_f64(&mut out, weight),
                    weight => out.extend_from_slice(weight.to_string().as_bytes()),
                }
            }
            out.push(b'\n');
            if out.len() >= ROWS_BYTES {
                give(std::mem::take(&mut out))?;
            }
        }
    }
    give(out)
}

/// Hands over what a shard of another cluster gets, or all, each edge of the whole in one shard.
fn give_portion(
    cluster: &Cluster,
    shard: usize,
    version: u64,
    new: Option<&TargetShard>,
    cancel: &Cancel,
    give: &mut Give<'_>,
) -> Result<()> {
    let run = Run::new(RunOptions { threads: 1, cancel: cancel.clone(), ..RunOptions::default() })?;
    let number = cluster.manifest().version(version)?.shards[shard];
    let part = DatabasePart::new(shard, cluster.open_shard(shard)?.at(number)?, &run)?;
    let (from, directed) = (cluster.placement(version), cluster.manifest().directed);
    let to = new.map(|new| (new.shard, new.placement(directed, from.delegates().cloned())));
    let selection = Selection { from: Some(from), to, directed };
    let reader = PartsReader::new(Arc::new(vec![part]), selection, cluster.weights_of(shard)?);
    reader.send(cancel, give)
}

/// Writes an id as a field of a CSV file.
///
/// # Errors
/// Those of `out`.
pub fn write_id(out: &mut dyn Write, id: ExternalId<'_>) -> std::io::Result<()> {
    let ExternalId::Text(text) = id else { return write!(out, "{id}") };
    // Readers leave out blanks around a field, and lines that begin as comments do.
    let is_bare = match text {
        [] | [b'#' | b'%' | b' ' | b'\t', ..] | [.., b' ' | b'\t'] => false,
        _ => !text.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')),
    };
    if is_bare {
        return out.write_all(text);
    }
    out.write_all(b"\"")?;
    for part in text.split_inclusive(|&byte| byte == b'"') {
        out.write_all(part)?;
        if part.ends_with(b"\"") {
            out.write_all(b"\"")?;
        }
    }
    out.write_all(b"\"")
}

#[cfg(test)]
mod tests {
    use esker_format::io::{Faults, FaultyDisk};
    use esker_graph::Stop;
    use esker_store::Database;

    use super::*;

    const OPTIONS: CreateOptions = CreateOptions::plain(1);

    /// A list of 60 million edges was a block that no message can hold.
    #[test]
    fn a_long_list_is_handed_over_in_parts_and_cancellation_ends_it() {
        let place = tempfile::tempdir().expect("directory");
        let cluster = Cluster::create(&place.path().join("c"), &OPTIONS).expect("create");
        let database = Database::open(cluster.shard_path(0), DatabaseOptions::default()).expect("open");
        let mut batch = database.batch();
        (1..=100_000_u64).for_each(|other| batch.add_edge(0_u64, other, &[]).expect("edge"));
        database.commit(batch, "a hub").expect("commit");
        database.close().expect("close");
        let mut manifest = cluster.manifest().clone();
        manifest.versions[0].shards[0] = 2;
        manifest.write(&RealDisk, cluster.path()).expect("write");
        let cluster = Cluster::open(cluster.path()).expect("open");
        let (mut blocks, cancel) = (Vec::new(), Cancel::default());
        let mut take = |block| {
            blocks.push(block);
            Ok(())
        };
        export_shard(&cluster, 1, 0, &cancel, &mut take).expect("export");
        assert!(blocks.iter().all(|block| block.len() < ROWS_BYTES + 100) && blocks.len() > 2);
        assert_eq!(blocks.concat().iter().filter(|&&byte| byte == b'\n').count(), 100_001);
        let mut given = 0;
        let stopped = export_shard(&cluster, 1, 0, &cancel, &mut |_| {
            given += 1;
            cancel.cancel();
            Ok(())
        });
        assert!(matches!(stopped, Err(Error::Stop(Stop::Cancelled))));
        assert_eq!(given, 1);
    }

    /// The mark was made last, and lost with the power.
    #[test]
    fn a_shard_that_is_made_stays_and_has_its_mark_whenever_the_power_fails() {
        let path = Path::new("/data/c/shard-0");
        let disk_that_dies = |seed, die_at| {
            let disk = FaultyDisk::new(seed);
            disk.create_directory(Path::new("/data")).expect("create");
            disk.sync_directory(Path::new("/")).expect("sync");
            disk.set_faults(Faults { die_at, ..Faults::default() });
            (disk.clone(), Arc::new(disk) as Arc<dyn Disk>)
        };
        for seed in 0..4 {
            let (faulty, disk) = disk_that_dies(seed, None);
            let id = create(&disk, path, &OPTIONS).expect("create");
            let operations = faulty.operations();
            faulty.crash();
            let store = Store::open_on(Arc::clone(&disk), path).expect("it stays");
            assert_eq!(store.manifest().database, id);
            assert!(disk.open(&shard_mark(path)).is_ok());
            for die_at in 1..=operations {
                let (faulty, disk) = disk_that_dies(seed, Some(die_at));
                let made = create(&disk, path, &OPTIONS).is_ok();
                faulty.crash();
                let found = |path: &Path| disk.look(path).expect("look").is_some();
                assert!(!made || found(path), "{die_at} of {operations}");
                assert!(!found(path) || found(&shard_mark(path)), "{die_at} of {operations}");
            }
        }
    }

    #[test]
    fn a_shard_that_nobody_is_told_of_is_removed_with_its_mark() {
        let place = tempfile::tempdir().expect("directory");
        let path = place.path().join("c/shard-0");
        let gone = |_: Vec<u8>| Err(Error::invalid("the command is gone".to_owned()));
        make(&path, &ShardTask::Create(OPTIONS), &mut { gone }).expect_err("gone");
        assert_eq!(RealDisk.list(&place.path().join("c")).expect("list"), []);
    }
}
