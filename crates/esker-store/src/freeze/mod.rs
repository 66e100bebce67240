//! Writes the changes of a range of versions as a layer, resolved against the layers below.
//!
//! A sort by vertex and neighbour brings all changes of an edge together. Each vertex is then resolved on its
//! own, in parallel (`resolve`), into a fragment of its list, tombstones, and past arcs. A fragment continues
//! the chain of older fragments or is a copy of the whole list: see [`CopyPolicy`] (LLAMA, thesis, 4.5).
//!
//! Time: the sort (`sort`), and a search in the old list for each changed edge. Memory: 16 bytes (24 with
//! 64-bit ids) for each changed edge, twice that if the graph is undirected, and the vertex table if there
//! are many changes.

mod known;
mod changes;
mod sort;
mod resolve;
mod edge;

use parking_lot::Mutex;
use std::ops::Range;

use changes::Tally;
use esker_format::{CopyPolicy, Encoding, LayerRecord, Result};
use esker_graph::{Direction, Run, VertexId};
use esker_layers::layer::{PlainWriter, SectionShape, SectionWriter, code_type};
use esker_layers::stack::ListTable;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use resolve::Resolver;
use sort::sorted_arcs;

pub(crate) use changes::Growth;
pub use changes::{ChangeCounts, Changes, EdgeChange, REMOVAL};
pub use known::KnownEdges;
pub(crate) use sort::sorted_edges;

/// The approximate number of changes without property values that a thread resolves at a time.
const CHUNK_CHANGES: usize = 1 << 14;
/// The least number, however many property values each has.
const CHUNK_CHANGES_MIN: usize = 1 << 10;
/// A change takes as much memory in a chunk as this many property values.
const CHANGE_VALUES: usize = 5;
/// Without the vertex table, finding a changed vertex takes a search in every layer. With at least one search
/// per this many vertices the table is worth building; the next freeze then extends it.
const TABLE_VERTICES_PER_SEARCH: usize = 64;
/// The lists of the largest degrees are copied while that adds at most this share (one in 8) of the changes
/// to the layer.
const LARGEST_SHARE: usize = 8;

/// A frozen layer.
#[derive(Debug)]
pub struct Frozen {
    /// The record for the manifest, without ids, dictionaries and vertex properties.
    pub record: LayerRecord,
    /// The growth of the graph up to each version of the range.
    pub(crate) growth: Vec<Growth>,
    /// What the changes of the counted versions did.
    pub(crate) counts: ChangeCounts,
}

/// Writes the lists of layer `number`, which holds `changes`, and syncs its files.
///
/// # Errors
/// [`esker_format::Error::Io`]; [`esker_format::Error::Corrupt`] if the layers below cannot be read;
/// cancellation. Some files may exist after an error.
pub fn freeze(changes: &Changes<'_>, number: u32, writer: &PlainWriter<'_>, run: &Run) -> Result<Frozen> {
    let (first, last) = changes.versions;
    let num_versions = (last - first + 1) as u32;
    let below = changes.stack.layers()[0].record();
    let (directed, in_edges) = (below.directed, below.in_edges);
    let out = freeze_direction(changes, Direction::Out, writer, run)?;
    let (incoming, added_in) = match in_edges {
        true => {
            let (incoming, tally) = freeze_direction(changes, Direction::In, writer, run)?;
            (incoming, tally.added_arcs)
        }
        false => Default::default(),
    };
    let (out, tally) = out;
    writer.added([tally.added_arcs, added_in])?;
    let mut total = Growth::default();
    let growth: Vec<Growth> = tally.growth[1..]
        .iter()
        .map(|step| {
            total = Growth { arcs: total.arcs + step.arcs, loops: total.loops + step.loops };
            total
        })
        .collect();
    let newest = changes.stack.layers().last().map_or(below, |layer| layer.record());
    let num_arcs = newest.num_arcs.saturating_add_signed(total.arcs);
    let num_loops = newest.num_loops.saturating_add_signed(total.loops);
    let record = LayerRecord {
        number,
        stamp: writer.origin().stamp,
        first_version: first,
        last_version: last,
        num_versions,
        encoding: Encoding::Plain,
        complete: false,
        directed,
        multigraph: below.multigraph,
        in_edges,
        num_vertices: changes.num_vertices,
        num_edges: num_edges(directed, num_arcs, num_loops),
        num_arcs,
        num_loops,
        previous_commit: 0,
        last_commit: 0,
        out,
        incoming,
        num_new_ids: 0,
        dictionaries: Vec::new(),
        vertex_properties: Vec::new(),
    };
    if num_versions > 1 {
        writer.versions(&(first..=last).collect::<Vec<_>>())?;
    }
    Ok(Frozen { record, growth, counts: tally.counts })
}

/// The number of edges of a graph with this many arcs and self-loops.
pub(crate) fn num_edges(directed: bool, num_arcs: u64, num_loops: u64) -> u64 {
    if directed { num_arcs } else { num_loops + num_arcs.saturating_sub(num_loops) / 2 }
}

fn freeze_direction(
    changes: &Changes<'_>,
    direction: Direction,
    writer: &PlainWriter<'_>,
    run: &Run,
) -> Result<(esker_format::SectionRecord, Tally)> {
    let directed = changes.stack.layers()[0].is_directed();
    let arcs = sorted_arcs(changes.edges, directed, direction, changes.num_vertices, run)?;
    let stack = changes.stack;
    let later_layers = stack.layers().len() - 1;
    let searches = arcs.len().saturating_mul(later_layers);
    let n = stack.num_vertices();
    let is_worthwhile = searches.saturating_mul(TABLE_VERTICES_PER_SEARCH) >= n.max(1);
    let table = match stack.table_if_made(direction) {
        None if is_worthwhile => stack.table_if_room(direction, run)?,
        made => made,
    };
    let codes = (changes.versions.1 - changes.versions.0 + 1) as u32;
    let shape = SectionShape {
        without_targets: false,
        complete: false,
        encoding: Encoding::Plain,
        codes: (codes > 1).then(|| code_type(codes)),
        properties: changes.elements.to_vec(),
    };
    let chunks = chunks_of(&arcs, changes.elements.len());
    let largest = largest(changes, &arcs, &chunks, direction, table.as_deref(), run)?;
    if changes.known.is_some() {
        // Verifies all lists at once: `find_new` searches lists instead of reading them whole, and would
        // verify the same blocks again and again.
        stack.section(0, direction)?.main().all(run)?;
    }
    let resolver = Resolver::new(changes, direction, table.as_deref(), &largest)?;
    let tally = Mutex::new(Tally::new(codes as usize));
    let mut section = SectionWriter::create(writer, direction, shape)?;
    section.append_all(run, chunks.len(), |index| {
        let mut own = Tally::new(codes as usize);
        let chunk = resolver.resolve(&arcs[chunks[index].clone()], &mut own)?;
        tally.lock().add(&own);
        Ok(chunk)
    })?;
    Ok((section.finish()?, tally.into_inner()))
}

/// Divides arcs into chunks so that each vertex lies in one chunk; the more property values an arc has, the
/// fewer arcs are in a chunk.
fn chunks_of(arcs: &[EdgeChange], num_properties: usize) -> Vec<Range<usize>> {
    let chunk_changes = CHUNK_CHANGES * CHANGE_VALUES / (CHANGE_VALUES + num_properties);
    let chunk_changes = chunk_changes.max(CHUNK_CHANGES_MIN);
    let mut chunks = Vec::new();
    let mut start = 0;
    while start < arcs.len() {
        let mut end = (start + chunk_changes).min(arcs.len());
        while end < arcs.len() && arcs[end].source == arcs[end - 1].source {
            end += 1;
        }
        chunks.push(start..end);
        start = end;
    }
    chunks
}

/// The changed vertices of largest degree that are worth copying, ascending.
fn largest(
    changes: &Changes<'_>,
    arcs: &[EdgeChange],
    chunks: &[Range<usize>],
    direction: Direction,
    table: Option<&ListTable>,
    run: &Run,
) -> Result<Vec<VertexId>> {
    if changes.policy != CopyPolicy::Mixed {
        return Ok(Vec::new());
    }
    let mut room = arcs.len() / LARGEST_SHARE;
    let found_in = |chunk: &Range<usize>| {
        let mut found = Vec::new();
        for arcs in arcs[chunk.clone()].chunk_by(|a, b| a.source == b.source) {
            let v = arcs[0].source;
            if (v as usize) < changes.stack.num_vertices() {
                let degree = match table {
                    Some(table) => table.degree(v),
                    None => changes.stack.degree_along(direction, v)?,
                };
                if degree <= room && degree > LARGEST_SHARE * LARGEST_SHARE {
                    found.push((degree, v));
                }
            }
        }
        Ok(found)
    };
    let found = run.install(|| chunks.par_iter().map(found_in).collect::<Result<Vec<_>>>())?;
    let mut found = found.concat();
    found.sort_unstable_by(|a, b| b.cmp(a));
    let mut chosen = Vec::new();
    for (degree, v) in found {
        if degree > room {
            break;
        }
        room -= degree;
        chosen.push(v);
    }
    chosen.sort_unstable();
    Ok(chosen)
}
