//! Merging layers: one layer takes the place of several whose ranges follow one another, and forgets nothing that is retained.
//!
//! For each vertex, its fragments are told as one history, oldest first (`list`): what was alive at the end of an input and
//! died in a later one becomes past; what a tombstone kills below the inputs stays a tombstone. Every code becomes that of the first version
//! which the merged layer tells apart and which is not before it, so versions that are no longer retained vanish from the columns of
//! births and deaths, and arcs that none but they saw vanish altogether. If only the last version is told apart, nothing remains but the plain
//! lists.
//!
//! If the oldest input is not complete, a fragment that stands for the whole list may hide arcs below the inputs that an older version
//! in the range still sees. Then the list below is read as well, and the merged fragment is whole.
//!
//! Vertices that only the complete layer has are copied in bulk, and so are the stretches of a list between the targets that
//! changed. Work is cut into ranges of vertices by the entries of all inputs, and shared by the threads; the chunks are appended in order.
//! Where later layers alone are merged, most vertices have a fragment or two of a few arcs, and gain arcs only: their arcs are put where they
//! belong input by input and column by column (`bulk`), and no history is told.
//! Time: by the entries of the inputs. Memory: about 40 bytes for each of 2^17 entries a thread, or for the longest changed list, plus
//! a vertex table of the layers below if many of their lists are read.

mod told;
mod input;
mod list;
mod weave;
mod whole;
mod bulk;
pub mod policy;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use esker_graph::{Direction, Run};

use crate::error::{Error, Result};
use crate::format::{ElementType, Encoding, LayerRecord, SectionRecord, VersionRecord};
use crate::layer::{ListColumns, PlainLayer, PlainWriter, SectionShape, SectionWriter, code_type};
use crate::memory::has_room;
use crate::stack::{Stack, Table};

use bulk::merge_bulk;
use input::Input;
use told::Told;
use weave::Direct;

/// Entries of a chunk of work.
const CHUNK_ENTRIES: usize = 1 << 17;
/// Never fewer, however little memory there is.
const CHUNK_ENTRIES_MIN: usize = 1 << 12;
/// What an entry takes, more or less.
const ENTRY_BYTES: usize = 40;
/// Chunks of a thread that are not written yet.
const CHUNKS_PER_THREAD: usize = 3;
/// If one in so many lists below the inputs is read, the vertex table of the layers below is worth its making.
const TABLE_VERTICES_PER_READ: usize = 16;

/// What a merge is to make.
#[derive(Debug, Clone, Copy)]
pub struct MergeOptions<'a> {
    /// Number of the new layer.
    pub number: u32,
    /// Versions that stay readable, ascending; besides the last of the range, which always does. Those outside of the range do
    /// not matter.
    pub retained: &'a [u64],
    /// How the new layer keeps its lists if it is complete; `None`: as the first input does.
    pub encoding: Option<Encoding>,
    /// Types of edge properties that the inputs do not have: the new layer has them, and all values are 0.
    pub added: &'a [ElementType],
    /// What the new layer ends with, if not with the last version of the newest input.
    pub cut: Option<Cut<'a>>,
}

/// Where a merge stops: all that came later is undone.
#[derive(Debug, Clone, Copy)]
pub struct Cut<'a> {
    /// The version whose graph the new layer ends with.
    pub until: &'a VersionRecord,
    /// The last version of its range: `until`, or a later one, so that numbers of versions that were undone are not used again.
    pub last_version: u64,
}

/// Merges `layers[which]` into one layer, whose files `writer` makes. `layers` are those of a graph from the complete one
/// on, oldest first; those after `which` are not looked at. One layer alone may be merged too, to forget versions.
///
/// Ids, dictionaries and vertex properties are not merged here: the record says of them that there are none. With it come the
/// versions that the layer tells apart.
///
/// # Errors
/// [`Error::Corrupt`], [`Error::Io`], cancellation; [`Error::Invalid`] if the layers do not follow one another, or the version to end with
/// is not one that the newest of them tells apart.
pub fn merge_layers(
    layers: &[Arc<PlainLayer>],
    which: Range<usize>,
    options: &MergeOptions<'_>,
    writer: &PlainWriter<'_>,
    run: &Run,
) -> Result<(LayerRecord, Vec<u64>)> {
    let inputs = layers.get(which.clone()).unwrap_or_default();
    let (Some(first), Some(newest)) = (inputs.first(), inputs.last()) else {
        return Err(Error::Invalid(format!("there are no layers {which:?} of {} to merge", layers.len())));
    };
    let ranges = inputs.windows(2).map(|pair| (pair[0].record(), pair[1].record()));
    if let Some((a, b)) =
        ranges.into_iter().find(|(a, b)| a.last_version + 1 != b.first_version || b.complete)
    {
        return Err(Error::Invalid(format!("layer {} does not follow layer {}", b.number, a.number)));
    }
    let mut record = LayerRecord {
        number: options.number,
        first_version: first.record().first_version,
        complete: first.record().complete,
        encoding: options.encoding.filter(|_| first.record().complete).unwrap_or(first.record().encoding),
        out: SectionRecord::default(),
        incoming: SectionRecord::default(),
        num_new_ids: 0,
        dictionaries: Vec::new(),
        vertex_properties: Vec::new(),
        ..newest.record().clone()
    };
    let cut = options.cut.filter(|cut| cut.until.number != record.last_version);
    if let Some(Cut { until, .. }) = cut {
        newest.rank_of(until.number)?;
        record.last_version = until.number;
        record.num_vertices = until.num_vertices;
        (record.num_edges, record.num_arcs) = (until.num_edges, until.num_arcs);
        record.num_loops = until.num_loops;
    }
    let mut told = Told::new(inputs, options.retained, record.last_version)?;
    if let Some(cut) = options.cut {
        record.last_version = cut.last_version.max(record.last_version);
        told = told.ending_with(record.last_version);
    }
    record.num_versions = told.len();
    let below = if record.complete { None } else { Some(stack_below(&layers[..which.start], &record)?) };
    let (below, added, is_cut) = (below.as_ref(), options.added, cut.is_some());
    let merge = Merge { inputs, below, told: &told, added, is_cut, run };
    record.out = merge.direction(Direction::Out, &record, writer)?;
    if record.directed && record.in_edges {
        record.incoming = merge.direction(Direction::In, &record, writer)?;
    }
    if record.num_versions > 1 {
        writer.versions(told.versions())?;
    }
    Ok((record, told.into_versions()))
}

/// The layers that the inputs lie on.
fn stack_below(layers: &[Arc<PlainLayer>], record: &LayerRecord) -> Result<Stack> {
    match layers.last() {
        Some(newest) if newest.record().last_version + 1 == record.first_version => {
            Stack::new(layers, newest.record().last_version, newest.record().num_vertices)
        }
        _ => Err(Error::Invalid(format!("nothing is known of version {}", record.first_version - 1))),
    }
}

/// A merge, apart from its direction.
struct Merge<'a> {
    inputs: &'a [Arc<PlainLayer>],
    below: Option<&'a Stack>,
    told: &'a Told,
    added: &'a [ElementType],
    is_cut: bool,
    run: &'a Run,
}

impl Merge<'_> {
    fn direction(
        &self,
        direction: Direction,
        record: &LayerRecord,
        writer: &PlainWriter<'_>,
    ) -> Result<SectionRecord> {
        let (mut inputs, mut lists) = (Vec::new(), Vec::new());
        for layer in self.inputs {
            let Some(section) = layer.section(direction) else {
                return Err(Error::corrupt(
                    layer.directory(),
                    0,
                    "a layer lacks the in-edges that others have",
                ));
            };
            inputs.push(Input::new(layer, section, self.told, self.run)?);
            lists.extend([section.main(), section.past().map_or(section.main(), |past| &past.lists)]);
        }
        if let Some(below) = self.below {
            for layer in 0..below.layers().len() {
                lists.push(below.section(layer, direction)?.main());
            }
        }
        let mut properties = property_types(&lists);
        properties.extend(self.added);
        // All of the inputs is read, so it may be verified at once.
        let verified = lists[..2 * self.inputs.len()].iter().map(|columns| {
            columns.properties().iter().map(|values| values.all(self.run)).collect::<Result<Vec<_>>>()
        });
        let verified = verified.collect::<Result<Vec<_>>>()?;
        let mut direct = Direct {
            direction,
            inputs,
            told: self.told,
            below: self.below,
            table: None,
            lists,
            properties: verified,
            is_cut: self.is_cut,
            multigraph: record.multigraph,
            num_vertices: record.num_vertices as usize,
            num_properties: properties.len(),
        };
        direct.table = self.table(&direct)?;
        let codes = (record.num_versions > 1).then(|| code_type(record.num_versions));
        let encoding = record.encoding;
        let shape = SectionShape { complete: record.complete, encoding, codes, properties };
        let mut section = SectionWriter::create(writer, direction, shape)?;
        // A cut may leave fragments of vertices that come later.
        let n = self.inputs.last().map_or(0, |layer| layer.record().num_vertices as usize);
        let n = if record.complete { record.num_vertices as usize } else { n };
        let entries = direct.entries_before(n);
        let count = entries.div_ceil(self.chunk_entries());
        section.append_all(self.run, count, |chunk| {
            let bound = |chunk: usize| {
                vertex_at_entry(&direct, n, (entries as u128 * chunk as u128 / count as u128) as usize)
            };
            let range = bound(chunk)..bound(chunk + 1);
            // Where all lists are written, or much of what there was is undone, most vertices need more than that.
            if record.complete || self.is_cut {
                direct.weave(range, |_| true)
            } else {
                merge_bulk(&direct, range)
            }
        })?;
        section.finish()
    }

    /// Entries of a chunk of work: fewer than there could be, if the run has no memory for so many.
    fn chunk_entries(&self) -> usize {
        let bytes = |entries: usize| entries * ENTRY_BYTES * CHUNKS_PER_THREAD * self.run.threads();
        let sizes = std::iter::successors(Some(CHUNK_ENTRIES), |entries| Some(entries / 2));
        let mut allowed = sizes.take_while(|&entries| entries >= CHUNK_ENTRIES_MIN);
        allowed
            .find(|&entries| has_room(self.run, "chunks of lists", bytes(entries)))
            .unwrap_or(CHUNK_ENTRIES_MIN)
    }

    /// The vertex table of the layers below, if many of their lists are read.
    fn table(&self, direct: &Direct<'_>) -> Result<Option<Arc<Table>>> {
        let Some(below) = self.below else { return Ok(None) };
        let is_read = |&&previous: &&u64| previous == 0 || self.is_cut;
        let inputs = direct.inputs.iter().filter(|input| input.has_before || self.is_cut);
        let reads: usize = inputs.map(|input| input.previous.iter().filter(is_read).count()).sum();
        let worth = reads > below.num_vertices() / TABLE_VERTICES_PER_READ;
        let bytes = Table::bytes_for(below.num_vertices());
        let worth = worth && has_room(self.run, "a vertex table", bytes);
        worth.then(|| below.table(direct.direction, self.run)).transpose()
    }
}

/// The first vertex before which at least `entry` entries lie.
fn vertex_at_entry(direct: &Direct<'_>, num_vertices: usize, entry: usize) -> usize {
    let (mut low, mut high) = (0, num_vertices);
    while low < high {
        let middle = low + (high - low) / 2;
        if direct.entries_before(middle) < entry {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The types of the edge properties: of each, the widest, for the codes of texts grow wider with their dictionary.
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
