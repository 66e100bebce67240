//! What is asked of all shards one after another, without worker processes: counts, checks, and the edges as a file.

use std::io::Write;
use std::sync::Arc;

use esker_format::{ElementType, Error, Result};
use esker_graph::{Cancel, Direction, Run, RunOptions, VertexId, vertex};
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;
use esker_store::{LogCheck, Snapshot, check::check as check_layers};

use crate::algorithm::find;
use crate::cluster::Cluster;
use crate::needs::{PROCESS_BYTES, RunNeeds, ShardShape};
use crate::placement::Placement;
use crate::routes::{id_bytes, shape_of};
use crate::shard::{expect_own, unpublished};

/// The most problems of one kind that a check lists for a shard.
const PROBLEMS_MAX: usize = 10;
/// Vertices between two checks for cancellation.
const CANCEL_EVERY: VertexId = 1 << 12;

/// Numbers of vertices and edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Vertices.
    pub vertices: u64,
    /// Edges; an undirected one counts once.
    pub edges: u64,
    /// Copies of vertices in other shards than their own.
    pub ghosts: u64,
}

/// What a shard shares with another one.
#[derive(Debug, Clone, Copy, Default)]
struct SharedWith {
    /// Its edges to vertices of the other one.
    edges: u64,
    /// The vertices of the other one that it has.
    vertices: u64,
    /// The bytes of their ids, as they travel.
    id_bytes: u64,
    id_bytes_max: u64,
}

/// A shard of a version, and which of its vertices it owns.
struct Part<'a> {
    cluster: &'a Cluster,
    shard: usize,
    snapshot: Snapshot,
    placement: Placement,
}

impl<'a> Part<'a> {
    fn open(cluster: &'a Cluster, version: u64, shard: usize) -> Result<Self> {
        let number = cluster.manifest().version(version)?.shards[shard];
        let snapshot = cluster.open_shard(shard)?.at(number)?;
        Ok(Self { cluster, shard, snapshot, placement: cluster.placement(version) })
    }

    fn vertices(&self) -> impl Iterator<Item = VertexId> {
        (0..self.snapshot.num_vertices()).map(vertex)
    }

    fn id(&self, v: VertexId) -> Result<ExternalId<'_>> {
        self.snapshot.ids().external_of(v)
    }

    /// The shard that owns a vertex.
    fn owner(&self, v: VertexId) -> Result<usize> {
        Ok(self.cluster.owners().of(self.id(v)?))
    }

    /// A problem if edges in the list of a delegate belong to another shard.
    fn misplaced(&self, v: VertexId, cancel: &Cancel) -> Result<Option<String>> {
        let (id, mut count) = (self.id(v)?, 0);
        for (index, &other) in self.snapshot.neighbors(Direction::Out, v)?.iter().enumerate() {
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
    fn shared(&self, cancel: &Cancel) -> Result<Vec<SharedWith>> {
        let direction = if self.snapshot.is_directed() { Direction::In } else { Direction::Out };
        let mut shared = vec![SharedWith::default(); self.cluster.num_shards()];
        for v in self.vertices() {
            if v % CANCEL_EVERY == 0 {
                cancel.check()?;
            }
            let id = self.id(v)?;
            let with = &mut shared[self.placement.owners().of(id)];
            if !self.placement.is_delegate(id) {
                with.edges += self.snapshot.degree(direction, v)? as u64;
            }
            with.vertices += 1;
            with.id_bytes += id_bytes(id);
            with.id_bytes_max = with.id_bytes_max.max(id_bytes(id));
        }
        Ok(shared)
    }
}

/// Counts the vertices and edges of each shard of a version, and of the whole. A shard counts the edges of its own vertices to others whole, so
/// an undirected edge between two shards counts in both; the whole counts it once.
///
/// Time: a hash of each id and the length of each list.
///
/// # Errors
/// [`Error::Invalid`] if there is no such version; those of a shard.
pub fn counts(cluster: &Cluster, version: u64) -> Result<(Vec<Counts>, Counts)> {
    let (mut all, mut whole, mut twice) = (Vec::new(), Counts::default(), 0);
    for shard in 0..cluster.num_shards() {
        let part = Part::open(cluster, version, shard)?;
        let shared = part.shared(&Cancel::default())?;
        let others = shared.iter().enumerate().filter(|(other, _)| *other != shard);
        let (crossing, ghosts) =
            others.fold((0, 0), |sum, (_, one)| (sum.0 + one.edges, sum.1 + one.vertices));
        let counts = Counts { vertices: shared[shard].vertices, edges: part.snapshot.num_edges(), ghosts };
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

/// What a run of an algorithm needs in the process of each shard of a version: memory, with the process and the graph, and bytes sent.
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
    find(algorithm, std::iter::empty())?;
    let mut shapes = Vec::new();
    for shard in 0..cluster.num_shards() {
        let options = RunOptions { threads: 1, cancel: cancel.clone(), ..RunOptions::default() };
        let run = Arc::new(Run::new(options)?);
        let number = cluster.manifest().version(version)?.shards[shard];
        let snapshot = cluster.open_shard(shard)?.under(Arc::clone(&run)).at(number)?;
        let graph = snapshot.graph::<()>(&run)?;
        match snapshot.weight_type().filter(|_| algorithm == "sssp") {
            Some(ElementType::I64) => drop(snapshot.graph::<i64>(&run)?),
            Some(_) => drop(snapshot.graph::<f64>(&run)?),
            None => {}
        }
        drop(graph);
        let shape = shape_of(&snapshot);
        let placement = cluster.placement(version);
        let copies = placement.num_delegates() * (cluster.num_shards() - 1);
        let shape = ShardShape { delegate_copies: copies as u64, ..shape };
        let shared = Part { cluster, shard, snapshot, placement }.shared(cancel)?;
        shapes.push((shape, shared, run.budget().peak_bytes()));
    }
    let longest = shapes.iter().flat_map(|(_, shared, _)| shared.iter().map(|one| one.id_bytes_max)).max();
    let all_id_bytes = shapes.iter().enumerate().map(|(shard, (_, shared, _))| shared[shard].id_bytes).sum();
    let needs = (0..shapes.len()).map(|shard| {
        let (shape, shared, graph_bytes) = &shapes[shard];
        let others = || (0..shapes.len()).filter(|&other| other != shard);
        let shape = ShardShape {
            owned: shared[shard].vertices,
            ghosts: others().map(|other| shared[other].vertices).sum(),
            mirrors: others().map(|other| shapes[other].1[shard].vertices).sum(),
            id_bytes: shared.iter().map(|one| one.id_bytes).sum(),
            ghost_id_bytes: others().map(|other| shared[other].id_bytes).sum(),
            mirror_id_bytes: others().map(|other| shapes[other].1[shard].id_bytes).sum(),
            id_bytes_max: longest.unwrap_or(0),
            all_id_bytes,
            shards: shapes.len() as u64,
            ..*shape
        };
        let needs = shape.needs(algorithm, has_top);
        RunNeeds { memory_bytes: PROCESS_BYTES + graph_bytes + needs.memory_bytes, ..needs }
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

/// Checks that the secret can be read, every shard of the newest version as `esker check` does, and that the shards fit together: each edge lies with the owner of its
/// source, those of a delegate with the owners of the other ends, each ghost is a vertex of its owner, and shards agree on the number of
/// undirected edges between them.
///
/// # Errors
/// [`Error::Io`]; cancellation. Damage is in the report.
pub fn check(cluster: &Cluster, run: &Run) -> Result<CheckReport> {
    let mut report = CheckReport::default();
    // Without the secret nothing can run or change.
    report.problems.extend(cluster.secret().err().map(|error| error.to_string()));
    for shard in 0..cluster.num_shards() {
        let path = cluster.shard_path(shard);
        let problems = report.problems.len();
        match check_shard(cluster, shard, run, &mut report) {
            Ok(bytes) if report.problems.len() == problems => {
                report.sound.push(format!(
                    "{}: {} verified",
                    path.display(),
                    esker_graph::counted(bytes, "byte", "bytes")
                ));
            }
            Ok(_) => {}
            Err(error @ Error::Stop(_)) => return Err(error),
            Err(error) => report.problems.push(error.to_string()),
        }
    }
    if report.problems.is_empty() {
        note_unpublished(cluster, &mut report)?;
        check_together(cluster, run, &mut report.problems)?;
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

/// Checks the files of a shard; returns the bytes that were read.
fn check_shard(cluster: &Cluster, shard: usize, run: &Run, report: &mut CheckReport) -> Result<u64> {
    let (store, path) = (cluster.open_shard(shard)?, cluster.shard_path(shard));
    let LogCheck { unfinished, .. } = store.check_log(run)?;
    report.notes.extend(unfinished.iter().map(|(path, bytes)| {
        format!(
            "{} ends with {} that make no complete record: a writer died or is writing there, or they are damaged; the next \
             writer removes them",
            path.display(),
            esker_graph::counted(*bytes, "byte", "bytes")
        )
    }));
    let layers = check_layers(&store.frozen()?, run)?;
    report.problems.extend(layers.problems.iter().map(ToString::to_string));
    let wanted = cluster.manifest().newest().shards[shard];
    store.at(wanted)?;
    expect_own(&path, &store.versions()?, wanted)?;
    Ok(layers.bytes)
}

/// Checks that the shards fit together.
fn check_together(cluster: &Cluster, run: &Run, problems: &mut Vec<String>) -> Result<()> {
    let version = cluster.manifest().newest().number;
    let parts = (0..cluster.num_shards()).map(|shard| Part::open(cluster, version, shard));
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let mut crossing = Vec::new();
    for part in &parts {
        let mut found = Vec::new();
        for v in part.vertices() {
            if v % CANCEL_EVERY == 0 {
                run.cancel().check()?;
            }
            let (id, owner) = (part.id(v)?, part.owner(v)?);
            if found.len() >= PROBLEMS_MAX {
                continue;
            }
            if owner == part.shard {
                if part.placement.is_delegate(id) {
                    found.extend(part.misplaced(v, run.cancel())?);
                }
                continue;
            }
            if parts[owner].snapshot.ids().vertex_of(id)?.is_none() {
                found.push(format!(
                    "shard {} has edges to the vertex {id}, which its owner, shard {owner}, lacks",
                    part.shard
                ));
            }
            let is_delegate = part.placement.is_delegate(id);
            if is_delegate {
                found.extend(part.misplaced(v, run.cancel())?);
            } else if cluster.manifest().directed && part.snapshot.degree(Direction::Out, v)? > 0 {
                found.push(format!(
                    "shard {} has edges of the vertex {id}, which belongs to shard {owner}",
                    part.shard
                ));
            }
        }
        problems.append(&mut found);
        crossing.push(part.shared(run.cancel())?);
    }
    for (a, b) in (0..parts.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
        let (here, there) = (crossing[a][b].edges, crossing[b][a].edges);
        if !cluster.manifest().directed && here != there {
            problems.push(format!(
                "shard {a} has {} to shard {b}, which has {there} to shard {a}",
                esker_graph::counted(here, "edge", "edges")
            ));
        }
    }
    Ok(())
}

/// Writes the edges of a version as CSV with the columns `source` and `target`, and `weight` if they have weights; each edge once, shard by
/// shard.
///
/// # Errors
/// Those of the shards; [`Error::Io`] named `path` if writing fails; cancellation.
pub fn export(
    cluster: &Cluster,
    version: u64,
    path: &std::path::Path,
    out: &mut dyn Write,
    run: &Run,
) -> Result<u64> {
    let failed = || Error::io("write", path);
    let mut edges = 0;
    for shard in 0..cluster.num_shards() {
        let part = Part::open(cluster, version, shard)?;
        let weight = part.snapshot.weight_property();
        if shard == 0 {
            let names = if weight.is_some() { "source,target,weight" } else { "source,target" };
            writeln!(out, "{names}").map_err(failed())?;
        }
        for v in part.vertices() {
            if v % CANCEL_EVERY == 0 {
                run.cancel().check()?;
            }
            let id = part.id(v)?;
            if !part.placement.counts_list(shard, id) {
                continue;
            }
            let list = part.snapshot.edges(Direction::Out, v)?;
            for (index, &target) in list.targets().iter().enumerate() {
                let other = part.id(target)?;
                // An undirected edge is in the lists of both ends.
                if !cluster.manifest().directed && id > other {
                    continue;
                }
                let weight = match weight {
                    Some(property) => {
                        let bits = list.bits(property.number, index)?;
                        format!(",{}\n", PropertyValue::of(property, bits))
                    }
                    None => "\n".to_owned(),
                };
                let written = write_id(out, id)
                    .and_then(|()| out.write_all(b","))
                    .and_then(|()| write_id(out, other))
                    .and_then(|()| out.write_all(weight.as_bytes()));
                written.map_err(failed())?;
                edges += 1;
            }
        }
    }
    out.flush().map_err(failed())?;
    Ok(edges)
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
#[allow(clippy::disallowed_methods)] // The tests write files of their own.
mod tests {
    use esker_format::io::{Disk, RealDisk};
    use esker_store::{Database, DatabaseOptions};

    use super::*;
    use crate::cluster::CreateOptions;
    use crate::shard::message_of;

    fn cluster_in(place: &std::path::Path) -> Cluster {
        let options = CreateOptions {
            shards: 2,
            directed: true,
            text_ids: false,
            weights: None,
            seed: 5,
            hub_degree: 0,
        };
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
        assert!(problems.len() == 1 && problems[0].contains("does not hold 32 bytes"), "{problems:?}");
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
        let options = RunOptions { threads: 1, cancel: cancel.clone(), ..RunOptions::default() };
        let run = Run::new(options).expect("run");
        cancel.cancel();
        let stopped = check_together(&cluster, &run, &mut Vec::new());
        assert!(matches!(stopped, Err(Error::Stop(_))), "{stopped:?}");
    }
}
