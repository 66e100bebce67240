//! Writes commits as the files of a layer, when they are frozen.

use parking_lot::Mutex;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, Files};
use esker_format::memory::{filled_by_all, reserve, with_room};
use esker_format::{
    ArchiveWriter, CopyPolicy, DictionaryRecord, ElementType, Error, LayerRecord, Origin, PropertyRecord,
    Result, VersionRecord, VertexChange,
};
use esker_graph::{Run, VertexId, vertex};
use esker_layers::ids::{IdFiles, write_segment};
use esker_layers::layer::PlainWriter;
use esker_layers::property::{Dictionary, PropertyFiles, PropertyValue, PropertyWriter, VectorValue};
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::content::Commit;
use crate::buffers::LayerBuffers;
use crate::freeze::{ChangeCounts, Changes, EdgeChange, Frozen, KnownEdges, REMOVAL, freeze, num_edges};
use crate::manifest::{AccountOf, Manifest};
use crate::version::{State, Version, vertex_property};

/// Edges that a thread converts at a time.
const CHUNK_EDGES: usize = 1 << 16;

/// A written layer, and the other records that the manifest needs for it.
#[derive(Debug)]
pub(crate) struct Assembled {
    pub(crate) record: LayerRecord,
    pub(crate) versions: Vec<VersionRecord>,
    pub(crate) properties: Vec<PropertyRecord>,
    pub(crate) counts: ChangeCounts,
}

/// Where to write a layer.
#[derive(Clone, Copy)]
pub(crate) struct LayerLocation<'a> {
    pub(crate) disk: &'a Arc<dyn Disk>,
    /// A directory that does not exist yet; its parent does.
    pub(crate) directory: &'a Path,
    pub(crate) number: u32,
    /// The first version whose changes are counted.
    pub(crate) counted_from: u64,
    /// The filter of edges in the layers below; `None` if freezes are rare or the layers small.
    pub(crate) known: Option<&'a Mutex<KnownEdges>>,
}

/// The policy of a new layer over a version.
fn policy_over(below: &Version, policy: CopyPolicy) -> CopyPolicy {
    match policy {
        // To copy a list that is kept in tiles alone, they would be decoded.
        CopyPolicy::Mixed if below.keeps_only_tiles() => CopyPolicy::Chain,
        policy => policy,
    }
}

/// Writes the layer of `commits`, at least one, which follow the newest version of `state`. The layer is
/// durable once the parent of its directory is synced.
pub(crate) fn assemble(
    state: &Arc<State>,
    commits: &[Arc<Commit>],
    location: LayerLocation<'_>,
    policy: CopyPolicy,
    run: &Run,
) -> Result<Assembled> {
    let (first, last) = (&commits[0], &commits[commits.len() - 1]);
    let below = state.version(state.newest())?;
    expect_consistent(&below, commits)?;
    let texts = new_texts(commits, below.edge_properties().count());
    let elements = elements_with(&below, &texts);
    let (edges, rows) = flatten(commits, elements.len(), run)?;
    // Where parallel edges are kept, only a removal asks which edges there are.
    let asks = !below.layer().multigraph || edges.iter().any(|edge| edge.row == REMOVAL);
    let known = location.known.filter(|_| asks);
    let mut known = known.map(|known| known.lock());
    let is_known = known.as_mut().map(|known| known.learn(below.stack(), edges.len(), run)).transpose()?;
    let changes = Changes {
        stack: below.stack(),
        edges: &edges,
        rows: &rows,
        elements: &elements,
        versions: (first.version, last.version),
        num_vertices: last.num_vertices,
        counted_from: location.counted_from,
        policy: policy_over(&below, policy),
        known: known.as_deref().filter(|_| is_known == Some(true)),
    };
    let origin = Origin::random(state.manifest().database);
    let buffers = LayerBuffers::new(elements.len(), run.budget());
    let archive = buffers.archive(location.disk, location.directory);
    let writer = PlainWriter::new(&archive, location.directory, origin).with_buffers(buffers.each_bytes);
    let Frozen { mut record, growth, counts } = freeze(&changes, location.number, &writer, run)?;
    drop((edges, rows));
    record.dictionaries = write_dictionaries(&writer, &below, &texts)?;
    record.previous_commit = state.manifest().log_start().previous.unwrap_or(0);
    record.last_commit = last.checksum;
    record.num_new_ids = commits.iter().map(|commit| commit.new_ids.len() as u64).sum();
    if record.num_new_ids > 0 {
        let (directory, hasher) = (location.directory, state.hasher());
        let files = IdFiles { disk: &archive, directory, origin, hasher };
        let ids = commits.iter().flat_map(|commit| commit.new_ids.iter().map(Ok));
        write_segment(&files, state.has_text_ids(), ids)?;
    }
    let properties: Vec<PropertyRecord> =
        commits.iter().flat_map(|commit| commit.new_properties.iter().cloned()).collect();
    record.vertex_properties = write_vertices(state, commits, &properties, &archive, origin, run)?;
    let versions = commits.iter().zip(&growth).map(|(commit, growth)| {
        let num_arcs = below.num_arcs().saturating_add_signed(growth.arcs);
        let num_loops = below.record().num_loops.saturating_add_signed(growth.loops);
        VersionRecord {
            number: commit.version,
            time_ms: commit.time_ms,
            committed_ms: commit.committed_ms,
            message: commit.message.clone(),
            commit: commit.checksum,
            num_vertices: commit.num_vertices,
            num_edges: num_edges(record.directed, num_arcs, num_loops),
            num_arcs,
            num_loops,
        }
    });
    let assembled = Assembled { versions: versions.collect(), record, properties, counts };
    assembled.write_account(state.manifest(), &archive, location.directory)?;
    archive.finish()?;
    Ok(assembled)
}

impl Assembled {
    /// Writes what the layer says of itself.
    fn write_account(&self, manifest: &Manifest, files: &dyn Files, directory: &Path) -> Result<()> {
        let Self { versions, record, properties, .. } = self;
        let known = manifest.properties.iter().chain(properties).cloned().collect::<Vec<_>>();
        // Blank commits stand for versions that are not there.
        let there: Vec<_> = versions.iter().filter(|version| version.committed_ms > 0).cloned().collect();
        AccountOf { manifest, layer: record, ids: &manifest.ids, properties: &known, versions: &there }
            .write(files, directory)
    }
}

/// The types of the columns of edge properties, with codes that are wide enough for new texts.
fn elements_with(below: &Version, texts: &[Vec<&[u8]>]) -> Vec<ElementType> {
    let element = |property: &PropertyRecord| {
        let known = below.dictionary(property.number).map(Dictionary::len);
        known.map_or(property.element, |known| code_width(known + texts[property.number as usize].len()))
    };
    below.edge_properties().map(element).collect()
}

/// Checks that the commits continue the version below, which checksums alone cannot tell.
fn expect_consistent(below: &Version, commits: &[Arc<Commit>]) -> Result<()> {
    let (mut num_vertices, num_properties) = (below.num_vertices() as u64, below.edge_properties().count());
    for commit in commits {
        num_vertices += commit.new_ids.len() as u64;
        if commit.num_vertices != num_vertices || commit.rows.len() != num_properties {
            return Err(Error::invalid(format!(
                "version {} in the log of {} belongs to another graph",
                commit.version,
                below.path().display()
            )));
        }
    }
    Ok(())
}

/// The narrowest type for the codes of this many texts.
fn code_width(texts: usize) -> ElementType {
    match texts {
        0..=0x100 => ElementType::U8,
        0x101..=0x1_0000 => ElementType::U16,
        _ => ElementType::U32,
    }
}

/// For each edge property, the texts that the commits add.
fn new_texts(commits: &[Arc<Commit>], properties: usize) -> Vec<Vec<&[u8]>> {
    let mut texts = vec![Vec::new(); properties];
    for text in commits.iter().flat_map(|commit| &commit.new_texts) {
        if let Some(list) = texts.get_mut(text.property as usize) {
            list.push(&text.text[..]);
        }
    }
    texts
}

/// Edges with their version codes, and for each edge property the values of all rows.
type EdgesAndRows<'c> = (Vec<EdgeChange>, Cow<'c, [Vec<u64>]>);

/// Concatenates the edges of all commits, with their version codes, and all rows. Those of one commit are not
/// copied.
fn flatten<'c>(commits: &'c [Arc<Commit>], properties: usize, run: &Run) -> Result<EdgesAndRows<'c>> {
    let num_rows: Vec<usize> = run.install(|| commits.par_iter().map(|commit| commit.num_rows()).collect());
    let all_rows = num_rows.iter().sum();
    if all_rows >= REMOVAL as usize {
        let reason = format!(
            "the commits that are not yet in a layer set {all_rows} edges; a layer takes at most 2^32 - 2"
        );
        return Err(Error::invalid(reason));
    }
    let num_edges = commits.iter().map(|commit| commit.edges.len()).sum();
    let blank = EdgeChange { source: 0, target: 0, code: 0, row: 0 };
    let mut edges = filled_by_all(blank, num_edges, run)?;
    let copied_rows = if commits.len() == 1 { 0 } else { all_rows };
    let mut rows = (0..properties).map(|_| with_room(copied_rows)).collect::<Result<Vec<_>>>()?;
    let (mut rest, mut first_row, mut chunks) = (&mut edges[..], 0, Vec::new());
    for ((commit, code), num_rows) in commits.iter().zip(1_u32..).zip(num_rows) {
        let (own, later) = rest.split_at_mut(commit.edges.len());
        rest = later;
        for (ops, changes) in commit.edges.chunks(CHUNK_EDGES).zip(own.chunks_mut(CHUNK_EDGES)) {
            chunks.push((ops, changes, code, first_row));
        }
        first_row += num_rows as u32;
        for (all, own) in rows.iter_mut().zip(&commit.rows).filter(|_| commits.len() > 1) {
            all.extend_from_slice(own);
        }
    }
    run.install(|| {
        chunks.into_par_iter().for_each(|(ops, changes, code, first_row)| {
            for (op, change) in ops.iter().zip(changes) {
                let row = if op.row == REMOVAL { REMOVAL } else { first_row + op.row };
                *change = EdgeChange { source: op.source, target: op.target, code, row };
            }
        });
    });
    let rows = match commits {
        [only] => Cow::Borrowed(&only.rows[..]),
        _ => Cow::Owned(rows),
    };
    Ok((edges, rows))
}

fn write_dictionaries(
    writer: &PlainWriter<'_>,
    below: &Version,
    texts: &[Vec<&[u8]>],
) -> Result<Vec<DictionaryRecord>> {
    let mut records = Vec::new();
    for (texts, property) in texts.iter().zip(0..).filter(|(texts, _)| !texts.is_empty()) {
        writer.dictionary_of(property, texts)?;
        let first = below.dictionary(property).map_or(0, Dictionary::len) as u64;
        records.push(DictionaryRecord { property, first, count: texts.len() as u64 });
    }
    Ok(records)
}

/// Writes the changes of vertex properties; returns the numbers of the properties with changes.
fn write_vertices(
    state: &State,
    commits: &[Arc<Commit>],
    new_properties: &[PropertyRecord],
    archive: &ArchiveWriter,
    origin: Origin,
    run: &Run,
) -> Result<Vec<u32>> {
    let mut changes: Vec<(u32, VertexId, u32, &VertexChange)> = Vec::new();
    for (commit, code) in commits.iter().zip(1..) {
        let own = commit.vertices.iter();
        reserve(&mut changes, own.len())?;
        changes.extend(own.map(|change| (change.property, vertex(change.vertex as usize), code, change)));
    }
    run.check()?;
    // The sort is stable: of several changes in one commit, the last one counts.
    changes.sort_by_key(|&(property, v, code, _)| (property, v, code));
    let known: Vec<PropertyRecord> =
        state.manifest().properties.iter().chain(new_properties).cloned().collect();
    let mut numbers = Vec::new();
    for changes in changes.chunk_by(|a, b| a.0 == b.0) {
        let number = changes[0].0;
        let record = vertex_property(&known, number, state.path())?;
        let files = PropertyFiles { disk: archive, directory: archive.directory(), origin, record: &record };
        let mut writer = PropertyWriter::create(&files)?;
        for same in changes.chunk_by(|a, b| (a.1, a.2) == (b.1, b.2)) {
            let (_, v, code, change) = same[same.len() - 1];
            writer.push(v, code, value_of(change, &record)?)?;
        }
        writer.finish()?;
        numbers.push(number);
    }
    Ok(numbers)
}

/// The value that a change sets; `None` if it removes the value.
pub(crate) fn value_of<'c>(
    change: &'c VertexChange,
    record: &PropertyRecord,
) -> Result<Option<PropertyValue<'c>>> {
    let Some(value) = &change.value else { return Ok(None) };
    let found = match &value.text {
        Some(text) if record.is_text() => Some(PropertyValue::Text(text)),
        Some(bytes) => VectorValue::of(record, bytes).map(PropertyValue::Vector),
        None if record.holds_bytes() => None,
        None => Some(PropertyValue::from_stored(record, value.bits)),
    };
    let found = found.ok_or_else(|| {
        let name = &record.name;
        Error::invalid(format!("a commit sets the vertex property {name:?} to a value of another type"))
    })?;
    Ok(Some(found))
}
