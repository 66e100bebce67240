//! Merges layers: one layer replaces several with consecutive ranges, and keeps all retained versions
//! readable.
//!
//! The fragments of a vertex are read as one history, oldest first (`list`). An arc that is alive at the end
//! of one input and dies in a later one becomes a past arc. A tombstone for arcs below the inputs stays one.
//! Every version code becomes the code of the first version that the merged layer distinguishes and that is
//! not earlier. So versions that are no longer retained vanish from the columns of births and deaths, and
//! arcs that only those versions saw are dropped. If the merged layer distinguishes only its last version,
//! only the plain lists remain.
//!
//! A *whole* fragment replaces the list of the layers below. If the oldest input is not complete, such a
//! fragment may hide arcs below the inputs that an older version in the range still sees. Then the merge
//! reads the list below as well, and the merged fragment is whole, too.
//!
//! Vertices that only the complete layer has are copied in bulk, and so are the parts of a list between
//! changed targets. The entries of all inputs divide the vertices into ranges, which the threads share; the
//! chunks are appended in order. When only later layers are merged, most vertices have one or two fragments
//! of a few arcs, and only gain arcs. Such arcs need no history: `bulk` places them input by input and column
//! by column.
//!
//! Time: linear in the entries of the inputs. Memory: about 40 bytes, and 8 for each edge property, for each
//! of 3 * 2^17 entries a thread (fewer under a memory limit), or for the longest changed list. A vertex table
//! of the layers below comes on top if many of their lists are read.

mod versions;
mod input;
mod list;
mod direction;
mod vertices;
mod without_history;
mod bulk;
mod renumber;
mod edge_ids;
mod tiles;
mod transpose;
pub(crate) mod policy;
#[cfg(test)]
pub(crate) mod tests;

use std::ops::Range;
use std::sync::Arc;

use bulk::merge_bulk;
use direction::DirectionMerge;
pub use edge_ids::GivenIds;
use esker_format::{
    ElementType, Encoding, Error, LayerRecord, Result, SectionRecord, ValueSlice, VersionRecord, Widening,
};
use esker_graph::{Direction, Remaining, Reservation, Run};
use esker_layers::layer::{
    ListColumns, PlainLayer, PlainWriter, SectionChunk, SectionShape, SectionWriter, code_type,
};
use esker_layers::stack::{ListTable, Stack};
use input::MergeInput;
pub(crate) use tiles::TilesOfMerge;
use transpose::write_transposed;
use versions::MergedVersions;

/// Entries in a chunk of work.
const CHUNK_ENTRIES: usize = 1 << 17;
/// The least entries in a chunk, however little memory there is.
const CHUNK_ENTRIES_MIN: usize = 1 << 12;
/// Approximate bytes for an entry without property values.
const ENTRY_BYTES: usize = 40;
/// Bytes of a property value in a chunk.
const VALUE_BYTES: usize = size_of::<u64>();
/// Chunks of a thread that are not yet written.
const CHUNKS_PER_THREAD: usize = 3;
/// The vertex table of the layers below is worth building if the merge reads a list below the inputs for more
/// than one in this many vertices.
const TABLE_VERTICES_PER_READ: usize = 16;

/// The result that a merge should produce.
#[derive(Debug, Clone, Copy)]
pub struct MergeOptions<'a> {
    /// The number of the new layer.
    pub number: u32,
    /// Versions to keep readable, ascending; versions outside the range are ignored. The last version of the
    /// range is always kept.
    pub retained: &'a [u64],
    /// The encoding of the new layer if it is complete; `None`: that of the first input.
    pub encoding: Option<Encoding>,
    /// Types of edge properties that the inputs lack; the new layer stores them with all values 0.
    pub added: &'a [ElementType],
    /// The ids that edges get, if the only added property is theirs.
    pub given_ids: Option<GivenIds>,
    /// An edge property whose type becomes a wider one; all layers must be merged.
    pub widened: Option<Widening>,
    /// The vertices that get new numbers, without gaps, if all layers are merged; the others must have no
    /// edges. `None`: all keep theirs.
    pub remaining: Option<&'a Remaining>,
    /// Where the new layer ends; `None`: with the last version of the newest input.
    pub end: Option<MergeEnd<'a>>,
    /// Lists to make from those of the other direction; the only input must be a complete layer of plain
    /// out-lists.
    pub rebuild: Option<Rebuild>,
}

/// Lists that a merge makes by turning round those of the other direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rebuild {
    /// The input lacks its in-lists.
    InLists,
    /// The out-lists of the input are the in-lists of the graph, and the new layer gets its out-lists.
    OutLists,
}

/// The version at which a merge ends; the merge undoes later ones.
#[derive(Debug, Clone, Copy)]
pub struct MergeEnd<'a> {
    /// The last version whose changes the new layer keeps.
    pub until: &'a VersionRecord,
    /// The last version of the layer's range: `until` or a later one, so that the numbers of undone versions
    /// are not reused.
    pub last_version: u64,
    /// The checksum of the last commit of that range: see [`LayerRecord::last_commit`].
    pub last_commit: u32,
}

/// Merges `layers[which]` into one layer, whose files `writer` creates. `layers` are those of a graph from
/// the complete one on, oldest first; the merge ignores those after `which`. Merging a single layer forgets
/// versions.
///
/// Returns the layer's record, which states no ids, dictionaries or vertex properties because those are
/// merged elsewhere, and the versions that the layer distinguishes.
///
/// # Errors
/// [`Error::Corrupt`], [`Error::Io`], cancellation; [`Error::Invalid`] if the layers do not follow one
/// another, or if the newest of them does not distinguish the version to end with.
pub fn merge_layers(
    layers: &[Arc<PlainLayer>],
    which: Range<usize>,
    options: &MergeOptions<'_>,
    writer: &PlainWriter<'_>,
    run: &Run,
) -> Result<(LayerRecord, Vec<u64>)> {
    merge_with_tiles(layers, which, options, writer, None, run)
}

/// As [`merge_layers`]. `tiles` are those of the oldest input, if its lists are kept in tiles only. Then the
/// merge writes no targets for the new layer but merges changes into the tiles; properties and vertices must
/// stay the same.
pub(crate) fn merge_with_tiles(
    layers: &[Arc<PlainLayer>],
    which: Range<usize>,
    options: &MergeOptions<'_>,
    writer: &PlainWriter<'_>,
    mut tiles: Option<TilesOfMerge<'_, '_>>,
    run: &Run,
) -> Result<(LayerRecord, Vec<u64>)> {
    let inputs = layers.get(which.clone()).unwrap_or_default();
    let (Some(first), Some(newest)) = (inputs.first(), inputs.last()) else {
        let count = layers.len();
        return Err(Error::invalid(format!("cannot merge layers {which:?}: the graph has {count} layers")));
    };
    check_sequence(inputs)?;
    let mut record = LayerRecord {
        number: options.number,
        stamp: writer.origin().stamp,
        first_version: first.record().first_version,
        previous_commit: first.record().previous_commit,
        complete: first.record().complete,
        encoding: options.encoding.filter(|_| first.record().complete).unwrap_or(first.record().encoding),
        out: SectionRecord::default(),
        incoming: SectionRecord::default(),
        num_new_ids: 0,
        dictionaries: Vec::new(),
        vertex_properties: Vec::new(),
        ..newest.record().clone()
    };
    let end = options.end.filter(|end| end.until.number != record.last_version);
    if let Some(MergeEnd { until, .. }) = end {
        newest.rank_of(until.number)?;
        record.last_version = until.number;
        record.num_vertices = until.num_vertices;
        (record.num_edges, record.num_arcs) = (until.num_edges, until.num_arcs);
        record.num_loops = until.num_loops;
    }
    let mut versions = MergedVersions::new(inputs, options.retained, record.last_version)?;
    if let Some(end) = options.end {
        record.last_version = end.last_version.max(record.last_version);
        record.last_commit = end.last_commit;
        versions = versions.ending_with(record.last_version);
    }
    record.num_versions = versions.len();
    let below = if record.complete { None } else { Some(stack_below(&layers[..which.start], &record)?) };
    let MergeOptions { added, given_ids, widened, remaining, .. } = *options;
    expect_whole(remaining, &record)?;
    let (below, undoes) = (below.as_ref(), end.is_some());
    let merge =
        LayerMerge { inputs, below, versions: &versions, added, given_ids, widened, remaining, undoes, run };
    record.out = match options.rebuild {
        Some(Rebuild::OutLists) => write_transposed(first, writer, Direction::Out, record.encoding, run)?,
        _ => merge.direction(Direction::Out, &record, writer, tiles.as_mut())?,
    };
    if options.rebuild == Some(Rebuild::InLists) {
        record.in_edges = true;
        record.incoming = write_transposed(first, writer, Direction::In, record.encoding, run)?;
    } else if record.directed && record.in_edges {
        record.incoming = merge.direction(Direction::In, &record, writer, tiles.as_mut())?;
    }
    if let Some(remaining) = remaining {
        record.num_vertices = remaining.len() as u64;
    }
    if record.num_versions > 1 {
        writer.versions(versions.versions())?;
    }
    if !record.complete {
        write_added(inputs, record.in_edges, writer)?;
    }
    Ok((record, versions.into_versions()))
}

/// Writes the numbers of arcs that the inputs add.
fn write_added(inputs: &[Arc<PlainLayer>], in_edges: bool, writer: &PlainWriter<'_>) -> Result<()> {
    let added = |direction| inputs.iter().map(|layer| layer.added_arcs(direction)).sum();
    writer.added([added(Direction::Out), if in_edges { added(Direction::In) } else { 0 }])
}

/// Refuses to renumber vertices unless all layers are merged.
fn expect_whole(remaining: Option<&Remaining>, record: &LayerRecord) -> Result<()> {
    if remaining.is_some_and(|left| !record.complete || left.num_before() as u64 != record.num_vertices) {
        return Err(Error::invalid("only a merge of all layers can renumber their vertices".to_owned()));
    }
    Ok(())
}

/// Refuses layers that do not follow one another.
fn check_sequence(inputs: &[Arc<PlainLayer>]) -> Result<()> {
    for pair in inputs.windows(2) {
        let [a, b] = [pair[0].record(), pair[1].record()];
        if a.last_version + 1 != b.first_version || b.complete {
            let (a, b) = (a.number, b.number);
            return Err(Error::invalid(format!("cannot merge: layer {b} does not follow layer {a}")));
        }
    }
    Ok(())
}

/// The stack of the layers below the inputs.
fn stack_below(layers: &[Arc<PlainLayer>], record: &LayerRecord) -> Result<Stack> {
    match layers.last() {
        Some(newest) if newest.record().last_version + 1 == record.first_version => {
            Stack::new(layers, newest.record().last_version, newest.record().num_vertices)
        }
        _ => Err(Error::invalid(format!(
            "no layer holds version {}, which precedes the merged range",
            record.first_version - 1
        ))),
    }
}

/// What the merges of both directions share.
struct LayerMerge<'a> {
    inputs: &'a [Arc<PlainLayer>],
    below: Option<&'a Stack>,
    versions: &'a MergedVersions,
    added: &'a [ElementType],
    given_ids: Option<GivenIds>,
    widened: Option<Widening>,
    remaining: Option<&'a Remaining>,
    undoes: bool,
    run: &'a Run,
}

impl LayerMerge<'_> {
    /// Merges the lists of one direction into a section of the new layer.
    fn direction(
        &self,
        direction: Direction,
        record: &LayerRecord,
        writer: &PlainWriter<'_>,
        tiles: Option<&mut TilesOfMerge<'_, '_>>,
    ) -> Result<SectionRecord> {
        let (mut inputs, mut lists) = (Vec::new(), Vec::new());
        for layer in self.inputs {
            let lacks =
                || Error::corrupt(layer.directory(), 0, "this layer has no in-edges, but other layers do");
            let section = layer.section(direction).ok_or_else(lacks)?;
            inputs.push(MergeInput::new(layer, section, self.versions, self.run)?);
            lists.extend([section.main(), section.past().map_or(section.main(), |past| &past.lists)]);
        }
        if let Some(below) = self.below {
            for layer in 0..below.layers().len() {
                lists.push(below.section(layer, direction)?.main());
            }
        }
        let mut properties = property_types(&lists);
        properties.extend(self.added);
        if let Some(widened) = self.widened {
            properties[widened.property as usize] = widened.to;
        }
        let verified = self.verified(&lists[..2 * self.inputs.len()])?;
        let mut merge = DirectionMerge {
            direction,
            inputs,
            versions: self.versions,
            below: self.below,
            table: None,
            lists,
            properties: verified,
            undoes: self.undoes,
            multigraph: record.multigraph,
            num_vertices: record.num_vertices as usize,
            num_properties: properties.len(),
            without_targets: tiles.is_some(),
        };
        merge.table = self.table(&merge)?;
        let codes = (record.num_versions > 1).then(|| code_type(record.num_versions));
        let (complete, encoding, without_targets) = (record.complete, record.encoding, tiles.is_some());
        let shape = SectionShape { complete, encoding, without_targets, codes, properties };
        let mut section = SectionWriter::create(writer, direction, shape)?;
        // Undoing versions may leave fragments of vertices that were added later.
        let newest = self.inputs.last().map_or(0, |layer| layer.record().num_vertices);
        let n = if complete { record.num_vertices } else { newest } as usize;
        let (chunk_entries, _memory) = self.chunk_entries(merge.num_properties);
        if let Some(with) = tiles {
            tiles::merge_with(&merge, chunk_entries, self.run, &mut section, with)?;
            return section.finish();
        }
        let entries = merge.entries_before(n);
        let count = entries.div_ceil(chunk_entries);
        section.append_all(self.run, count, |chunk| {
            let bound = |chunk: usize| {
                merge.vertex_at_entry(n, (entries as u128 * chunk as u128 / count as u128) as usize)
            };
            let range = bound(chunk)..bound(chunk + 1);
            // A complete layer, or one that undoes versions, needs more than the bulk merge for most
            // vertices.
            let chunk = match complete || self.undoes {
                true => merge.merge_vertices(range.clone(), |_| true)?,
                false => merge_bulk(&merge, range.clone())?,
            };
            self.adapt(chunk, range)
        })?;
        section.finish()
    }

    /// The properties of the inputs. The merge reads all of them, so it verifies them at once.
    fn verified<'l>(&self, lists: &[&'l ListColumns]) -> Result<Vec<Vec<ValueSlice<'l>>>> {
        let verified = lists.iter().map(|columns| {
            columns.properties().iter().map(|values| values.all(self.run)).collect::<Result<Vec<_>>>()
        });
        verified.collect()
    }

    /// Applies the optional changes to a chunk, which has the lists of `range`: ids for its edges, new
    /// numbers for its vertices, a wider type for a column.
    fn adapt(&self, mut chunk: SectionChunk, range: Range<usize>) -> Result<SectionChunk> {
        if let Some(ids) = self.given_ids {
            ids.fill(&mut chunk, range.clone())?;
        }
        if let Some(remaining) = self.remaining {
            let wrong = |reason| Error::corrupt(self.inputs[0].directory(), 0, reason);
            renumber::renumber(&mut chunk, range, remaining).map_err(wrong)?;
        }
        if let Some(widened) = self.widened {
            let number = widened.property as usize;
            widened.apply(&mut chunk.main.properties[number])?;
            chunk.past.properties.get_mut(number).map_or(Ok(()), |column| widened.apply(column))?;
        }
        Ok(chunk)
    }

    /// The number of entries of a chunk, halved until the chunks of all threads fit the run's budget, and the
    /// memory reserved for them. The least number of entries is used without a reservation.
    fn chunk_entries(&self, num_properties: usize) -> (usize, Option<Reservation>) {
        let entry_bytes = ENTRY_BYTES + VALUE_BYTES * num_properties;
        let bytes = |entries: usize| entries * entry_bytes * CHUNKS_PER_THREAD * self.run.threads();
        let reserve = |entries| Some((entries, Some(self.run.budget().try_reserve(bytes(entries) as u64)?)));
        let sizes = std::iter::successors(Some(CHUNK_ENTRIES), |entries| Some(entries / 2));
        let mut allowed = sizes.take_while(|&entries| entries >= CHUNK_ENTRIES_MIN);
        allowed.find_map(reserve).unwrap_or((CHUNK_ENTRIES_MIN, None))
    }

    /// The vertex table of the layers below, if the merge reads many of their lists.
    fn table(&self, merge: &DirectionMerge<'_>) -> Result<Option<Arc<ListTable>>> {
        let Some(below) = self.below else { return Ok(None) };
        let is_read = |&&previous: &&u64| previous == 0 || self.undoes;
        let inputs = merge.inputs.iter().filter(|input| input.has_before || self.undoes);
        let reads: usize = inputs.map(|input| input.previous.iter().filter(is_read).count()).sum();
        let worth = reads > below.num_vertices() / TABLE_VERTICES_PER_READ;
        if worth { below.table_if_room(merge.direction, self.run) } else { Ok(None) }
    }
}

/// The types of the edge properties: for each the widest of all lists, because the codes of texts become
/// wider as their dictionary grows.
fn property_types(lists: &[&ListColumns]) -> Vec<ElementType> {
    let mut types: Vec<ElementType> = Vec::new();
    for columns in lists {
        for (number, values) in columns.properties().iter().enumerate() {
            match types.get_mut(number) {
                Some(widest) if widest.bytes() < values.element().bytes() => *widest = values.element(),
                Some(_) => {}
                None => types.push(values.element()),
            }
        }
    }
    types
}
