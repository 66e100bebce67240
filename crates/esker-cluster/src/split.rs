//! A cluster of a database, a database of a cluster, and a cluster of a cluster with another number of shards.
//!
//! All are imports of selected edges: a shard is imported from the edges that it holds, one shard after another; a database from the edges of
//! all shards. An edge of a cluster is taken where its source is owned. Time: a pass over all lists for each shard that is made. Memory: that of
//! an import ([`ImportOptions::memory_bytes`]); blocks are read as the import wants them.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, RealDisk};
use esker_format::{ElementType, Error, PropertyRecord, Result};
use esker_graph::{Direction, Run, vertex};
use esker_import::install::import;
use esker_import::options::{ImportOptions, VertexOrder};
use esker_import::source::{
    Block, BlockParser, EdgeBatch, IdKind, Numbers, Reader, Schema, id_column, text_column,
};
use esker_store::ids::ExternalId;
use esker_store::property::{PropertyValue, RemovedVertices};
use esker_store::version::StagingOptions;
use esker_store::{Snapshot, Store};

use crate::asking::weights;
use crate::cluster::{Cluster, WEIGHT_NAME};
use crate::creating::{CreateOptions, NewCluster};
use crate::job::stream_of;
use crate::owner::{OwnedId, Owners};
use crate::placement::Placement;
use crate::weights::WeightKind;
use crate::whole::counts;

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

/// Vertices of a block.
const BLOCK_LEN: usize = 1 << 13;

/// Makes a cluster of a version of a database. Its first version has all edges with their weights, and all vertices; other properties are
/// left out. Returns it with the names of the properties that were.
///
/// # Errors
/// [`Error::Invalid`] if the database keeps parallel edges; as [`Cluster::create`] and [`import`].
pub fn split(
    database: &Store,
    version: u64,
    path: &Path,
    cut: NewShards,
    run: &Run,
) -> Result<(Cluster, Vec<String>)> {
    let snapshot = database.at(version)?;
    if snapshot.layer().multigraph {
        return Err(Error::Invalid(format!(
            "{} keeps parallel edges, but a cluster holds one edge between two vertices: import the edges with --duplicates last",
            snapshot.path().display()
        )));
    }
    let weight = snapshot.weight_property().cloned();
    let is_integer = |weight: &PropertyRecord| matches!(weight.element, ElementType::I32 | ElementType::I64);
    let weights = weight.as_ref().map(|weight| match is_integer(weight) {
        true => WeightKind::Int,
        false => WeightKind::Float,
    });
    let left_out = snapshot.edge_properties().filter(|property| !property.weight).map(|one| one.name.clone());
    let left_out = left_out.chain(snapshot.vertex_properties().map(|one| one.name.clone())).collect();
    let (directed, text_ids) = (snapshot.is_directed(), snapshot.ids().is_text());
    let NewShards { shards, seed, hub_degree } = cut;
    let options = CreateOptions { shards, directed, text_ids, weights, seed, hub_degree };
    let message = format!("split {} version {version}", snapshot.path().display());
    let edges_given = snapshot.num_edges();
    let removed = snapshot.removed(run)?.clone();
    let parts = vec![DatabasePart { snapshot, removed, weight }];
    let delegates = hubs_of(&parts[0], &options)?;
    let positions = Vec::new();
    let new =
        NewCluster { options: &options, edges_given, message: &message, positions, delegates, hosts: None };
    let cluster = create_of(&Arc::new(parts), None, path, &new, run)?;
    Ok((cluster, left_out))
}

/// The vertices of a database that become delegates.
fn hubs_of(part: &DatabasePart, options: &CreateOptions) -> Result<Vec<OwnedId>> {
    let mut hubs = Vec::new();
    if options.hub_degree == 0 || options.shards == 1 {
        return Ok(hubs);
    }
    for v in (0..part.snapshot.num_vertices()).map(vertex).filter(|&v| !part.removed.is_removed(v)) {
        if part.snapshot.degree(Direction::Out, v)? as u64 >= options.hub_degree {
            hubs.push(part.snapshot.ids().external_of(v)?.into());
        }
    }
    Ok(hubs)
}

/// Makes a cluster at `path` of a version of another one, with another number of shards. Its first version has all vertices and edges, with their
/// weights. Delegates stay so. A version without edges follows for each stream that was read until then, and says how far, so that the stream goes on there.
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
    let (manifest, parts) = (cluster.manifest(), Arc::new(parts_of(cluster, version, run)?));
    let (directed, text_ids) = (manifest.directed, manifest.text_ids);
    let (weights, hub_degree) = (weights(cluster)?, manifest.hub_degree);
    let options = CreateOptions { shards, directed, text_ids, weights, seed, hub_degree };
    let message = format!("rebalance {} version {version}", cluster.path().display());
    let (_, whole) = counts(cluster, version)?;
    let positions = positions_until(cluster, version);
    let from = cluster.placement(version);
    let delegates = from.delegates().cloned().collect();
    let edges_given = whole.edges;
    let new =
        NewCluster { options: &options, edges_given, message: &message, positions, delegates, hosts: None };
    create_of(&parts, Some(&from), path, &new, run)
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

/// Makes a cluster of databases. `from` says where their edges lie; `None`: there is one, which has all.
fn create_of(
    parts: &Arc<Vec<DatabasePart>>,
    from: Option<&Placement>,
    path: &Path,
    new: &NewCluster<'_>,
    run: &Run,
) -> Result<Cluster> {
    let CreateOptions { shards, directed, weights, seed, .. } = *new.options;
    Cluster::create_with(path, new, |disk, shard, place| {
        let to = Placement::new(Owners::new(seed, shards), directed, new.delegates.iter().cloned());
        let selection = Selection { from: from.cloned(), to: Some((shard, to)), directed };
        let reader = PartsReader::new(Arc::clone(parts), selection, weights);
        let options =
            ImportOptions { order: VertexOrder::Keep, ..import_options(directed, new.message, run) };
        import(disk, Box::new(reader), place, &options, StagingOptions::default())?;
        Ok(Store::open(place)?.manifest().database)
    })
}

/// Makes a database at `target` of a version of a cluster.
///
/// # Errors
/// [`Error::Invalid`] if there is no such version, or something is at `target`; those of a shard; as [`import`].
pub fn merge(cluster: &Cluster, version: u64, target: &Path, run: &Run) -> Result<()> {
    let parts = parts_of(cluster, version, run)?;
    let directed = cluster.manifest().directed;
    let selection = Selection { from: Some(cluster.placement(version)), to: None, directed };
    let reader = PartsReader::new(Arc::new(parts), selection, weights(cluster)?);
    let message = format!("merge {} version {version}", cluster.path().display());
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let options = import_options(directed, &message, run);
    import(&disk, Box::new(reader), target, &options, StagingOptions::default()).map(drop)
}

/// The shards of a version.
fn parts_of(cluster: &Cluster, version: u64, run: &Run) -> Result<Vec<DatabasePart>> {
    let numbers = &cluster.manifest().version(version)?.shards;
    let part = |shard: usize| {
        let snapshot = cluster.open_shard(shard)?.at(numbers[shard])?;
        let (removed, weight) = (snapshot.removed(run)?.clone(), snapshot.weight_property().cloned());
        Ok(DatabasePart { snapshot, removed, weight })
    };
    (0..cluster.num_shards()).map(part).collect()
}

fn import_options(directed: bool, message: &str, run: &Run) -> ImportOptions {
    ImportOptions {
        directed: Some(directed),
        message: Some(message.to_owned()),
        cancel: run.cancel().clone(),
        ..ImportOptions::default()
    }
}

/// A database that is read.
struct DatabasePart {
    snapshot: Snapshot,
    removed: RemovedVertices,
    weight: Option<PropertyRecord>,
}

/// Which edges and vertices of the parts are taken.
struct Selection {
    /// Where edges lie; `None`: there is one part, which has all.
    from: Option<Placement>,
    /// The shard that is made, and where edges lie in the new cluster; `None`: everything is taken.
    to: Option<(usize, Placement)>,
    directed: bool,
}

impl Selection {
    fn has_vertex(&self, part: usize, id: ExternalId<'_>) -> bool {
        self.from.as_ref().is_none_or(|from| from.owners().of(id) == part)
            && self.to.as_ref().is_none_or(|(shard, to)| to.owners().of(id) == *shard)
    }

    /// Whether edges in the list of a source can be selected: others repeat edges that are selected elsewhere.
    fn has_source(&self, part: usize, source: ExternalId<'_>) -> bool {
        let is_counted = self.from.as_ref().is_none_or(|from| from.counts_list(part, source));
        is_counted
            && self.to.as_ref().is_none_or(|(shard, to)| !self.directed || to.counts_list(*shard, source))
    }

    /// Whether an edge is selected, if [`Self::has_source`] holds for its source. An undirected one is in the lists of both ends.
    fn has_edge(&self, source: ExternalId<'_>, target: ExternalId<'_>) -> bool {
        let is_wanted = |(shard, to): &(usize, Placement)| {
            let place = to.of_edge(source, target);
            place.shard == *shard || place.other == Some(*shard)
        };
        (self.directed || source <= target) && self.to.as_ref().is_none_or(is_wanted)
    }
}

/// Reads selected edges and vertices. A block is a range of vertices of a part: its `file` is the part, its `first_line` the first vertex.
struct PartsReader {
    schema: Schema,
    parser: Arc<PartsParser>,
    next: (usize, usize),
}

struct PartsParser {
    parts: Arc<Vec<DatabasePart>>,
    selection: Selection,
    weights: Option<WeightKind>,
}

impl PartsReader {
    fn new(parts: Arc<Vec<DatabasePart>>, selection: Selection, weights: Option<WeightKind>) -> Self {
        let is_text = parts.iter().any(|part| part.snapshot.ids().is_text());
        let directed = parts.iter().all(|part| part.snapshot.is_directed());
        let schema = Schema {
            format: "database",
            ids: if is_text { IdKind::Text } else { IdKind::Int },
            properties: weights.iter().map(|_| WEIGHT_NAME.to_owned()).collect(),
            types: weights.iter().map(|kind| Some(kind.element().into())).collect(),
            weight: weights.map(|_| 0),
            directed: Some(directed),
            time: None,
            both_ends: false,
            input_bytes: None,
        };
        Self { schema, parser: Arc::new(PartsParser { parts, selection, weights }), next: (0, 0) }
    }
}

impl Reader for PartsReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as Arc<dyn BlockParser>
    }

    fn next_block(&mut self) -> Result<Option<Block>> {
        let (mut part, mut first) = self.next;
        while self.parser.parts.get(part).is_some_and(|part| first >= part.snapshot.num_vertices()) {
            (part, first) = (part + 1, 0);
        }
        self.next = (part, first + BLOCK_LEN);
        let block = Block { bytes: Vec::new(), first_line: first as u64, file: part, input_bytes: 0 };
        Ok((part < self.parser.parts.len()).then_some(block))
    }
}

impl BlockParser for PartsParser {
    fn parse(&self, block: Block) -> Result<EdgeBatch> {
        let first = block.first_line as usize;
        let part = &self.parts[block.file];
        let range = first..(first + BLOCK_LEN).min(part.snapshot.num_vertices());
        match part.snapshot.ids().is_text() {
            true => self.gather(block.file, range, text_of, text_column::<Vec<u8>>),
            false => self.gather(block.file, range, integer_of, id_column),
        }
    }
}

fn text_of(id: ExternalId<'_>) -> Result<Vec<u8>> {
    match id {
        ExternalId::Text(text) => Ok(text.to_vec()),
        ExternalId::Int(_) => Err(Error::Invalid("a shard has integer ids among texts".to_owned())),
    }
}

fn integer_of(id: ExternalId<'_>) -> Result<u64> {
    match id {
        ExternalId::Int(id) => Ok(id),
        ExternalId::Text(_) => Err(Error::Invalid("a shard has text ids among integers".to_owned())),
    }
}

impl PartsParser {
    fn gather<T>(
        &self,
        number: usize,
        range: Range<usize>,
        own: impl Fn(ExternalId<'_>) -> Result<T>,
        column: impl Fn(Vec<T>) -> arrow_array::ArrayRef,
    ) -> Result<EdgeBatch> {
        let part = &self.parts[number];
        let (snapshot, ids) = (&part.snapshot, part.snapshot.ids());
        let (mut sources, mut targets, mut vertices) = (Vec::new(), Vec::new(), Vec::new());
        let mut weights = match self.weights {
            Some(WeightKind::Float) => Numbers::Float(Vec::new()),
            _ => Numbers::Int(Vec::new()),
        };
        for v in range.map(vertex).filter(|&v| !part.removed.is_removed(v)) {
            let id = ids.external_of(v)?;
            if self.selection.has_vertex(number, id) {
                vertices.push(own(id)?);
            }
            if !self.selection.has_source(number, id) {
                continue;
            }
            let list = snapshot.edges(Direction::Out, v)?;
            for (place, &target) in list.targets().iter().enumerate() {
                let other = ids.external_of(target)?;
                if !self.selection.has_edge(id, other) {
                    continue;
                }
                sources.push(own(id)?);
                targets.push(own(other)?);
                if let Some(weight) = &part.weight {
                    push(&mut weights, PropertyValue::of(weight, list.bits(weight.number, place)?));
                }
            }
        }
        Ok(EdgeBatch {
            source: column(sources),
            target: column(targets),
            properties: self
                .weights
                .iter()
                .map(|_| std::mem::replace(&mut weights, Numbers::Int(Vec::new())).finish())
                .collect(),
            vertices: Some(column(vertices)),
            ..EdgeBatch::of_integers(Vec::new(), Vec::new(), 0)
        })
    }
}

/// Appends a weight to the numbers of its kind.
fn push(numbers: &mut Numbers, weight: PropertyValue<'_>) {
    match (numbers, weight) {
        (Numbers::Int(numbers), PropertyValue::I32(weight)) => numbers.push(weight.into()),
        (Numbers::Int(numbers), PropertyValue::I64(weight)) => numbers.push(weight),
        (Numbers::Float(numbers), PropertyValue::F32(weight)) => numbers.push(weight.into()),
        (Numbers::Float(numbers), PropertyValue::F64(weight)) => numbers.push(weight),
        (_, other) => unreachable!("the weight {other} is of another kind than the weights"),
    }
}
