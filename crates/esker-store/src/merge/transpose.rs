//! Lists of the other direction, made of those of one: for a database that has lost one of both.
//!
//! A counting sort of the arcs by their targets. Memory: 12 bytes an arc, 16 with 64-bit ids, and 8 bytes a
//! vertex.

use esker_format::memory::filled;
use esker_format::{Encoding, Error, Result, SectionRecord, ValueSlice, Values};
use esker_graph::{Direction, Run, VertexId, vertex};
use esker_layers::layer::{
    ArcChunk, Body, Codes, ListColumns, PlainLayer, PlainWriter, SectionChunk, SectionShape, SectionWriter,
};

/// Arcs of a chunk of lists to write.
const CHUNK_ARCS: usize = 1 << 18;

/// Arcs in the order of their targets, then of their sources.
struct ByTarget {
    /// For each target, where its arcs end.
    ends: Vec<u64>,
    sources: Vec<VertexId>,
    /// The index of each arc in the lists that it was read from.
    arcs: Vec<u64>,
}

/// What lies parallel to the arcs of some lists.
struct RebuiltSide<'a> {
    codes: Vec<ValueSlice<'a>>,
    properties: Vec<ValueSlice<'a>>,
}

/// Memory for the lists of a complete layer.
pub(crate) fn transpose_bytes(layer: &PlainLayer) -> u64 {
    let out = layer.record().out;
    let arc_bytes = (size_of::<u64>() + size_of::<VertexId>()) as u64;
    out.arcs.max(out.past_arcs).saturating_mul(arc_bytes).saturating_add(8 * layer.record().num_vertices)
}

/// Writes the out-lists of a complete plain layer, transposed, as the lists of a direction.
///
/// # Errors
/// [`Error::Io`]; [`Error::Corrupt`]; [`Error::Invalid`] if the layer is not complete and plain;
/// cancellation.
pub(crate) fn write_transposed(
    layer: &PlainLayer,
    writer: &PlainWriter<'_>,
    direction: Direction,
    encoding: Encoding,
    run: &Run,
) -> Result<SectionRecord> {
    let (record, section) = (layer.record(), layer.out());
    if !record.complete {
        return Err(Error::invalid("only a complete layer can be transposed".to_owned()));
    }
    let _memory = run.budget().reserve("lists of the other direction", transpose_bytes(layer))?;
    let n = record.num_vertices as usize;
    let (main, past) = (section.main(), section.past());
    let shape = SectionShape {
        without_targets: false,
        complete: true,
        encoding,
        codes: section.born().map(|codes| codes.column().element()),
        properties: main.properties().iter().map(Values::element).collect(),
    };
    let mut writing = SectionWriter::create(writer, direction, shape)?;
    let arcs = by_target(main, n, run)?;
    let beside = beside(main, section.born().into_iter(), run)?;
    let mut v = 0;
    while v < n {
        run.check()?;
        let mut chunk = SectionChunk::default();
        while v < n && chunk.main.targets.len() < CHUNK_ARCS {
            arcs.append(v, &beside, &mut chunk.main);
            v += 1;
        }
        writing.append(&chunk)?;
    }
    drop(arcs);
    if let Some(past) = past {
        let arcs = by_target(&past.lists, n, run)?;
        let beside = self::beside(&past.lists, [&past.born, &past.died].into_iter(), run)?;
        let mut chunk = SectionChunk::default();
        for v in (0..n).filter(|&v| !arcs.range(v).is_empty()) {
            arcs.append(v, &beside, &mut chunk.past);
            chunk.past_vertices.push(vertex(v));
            if chunk.past.targets.len() >= CHUNK_ARCS {
                run.check()?;
                writing.append(&std::mem::take(&mut chunk))?;
            }
        }
        writing.append(&chunk)?;
    }
    writing.finish()
}

/// The columns parallel to lists, verified.
fn beside<'a>(
    lists: &'a ListColumns,
    codes: impl Iterator<Item = &'a Codes>,
    run: &Run,
) -> Result<RebuiltSide<'a>> {
    Ok(RebuiltSide {
        codes: codes.map(|codes| codes.column().all(run)).collect::<Result<_>>()?,
        properties: lists.properties().iter().map(|values| values.all(run)).collect::<Result<_>>()?,
    })
}

/// Sorts the arcs of lists by their targets.
fn by_target(lists: &ListColumns, n: usize, run: &Run) -> Result<ByTarget> {
    let Body::Arrays(arrays) = lists.body() else {
        return Err(Error::invalid("only plain lists can be transposed".to_owned()));
    };
    let (offsets, targets) = (arrays.offsets(run)?, arrays.targets(run)?);
    let vertices = lists.vertices_column().map(|_| lists.vertices(run)).transpose()?.flatten();
    let mut ends: Vec<u64> = filled(0, n + 1)?;
    targets.iter().for_each(|&target| ends[target as usize + 1] += 1);
    for v in 0..n {
        ends[v + 1] += ends[v];
    }
    let mut sources: Vec<VertexId> = filled(0, targets.len())?;
    let mut arcs: Vec<u64> = filled(0, targets.len())?;
    for (slot, range) in offsets.windows(2).enumerate() {
        let source = vertices.map_or_else(|| vertex(slot), |vertices| vertices[slot]);
        for arc in range[0] as usize..range[1] as usize {
            let place = &mut ends[targets[arc] as usize];
            sources[*place as usize] = source;
            arcs[*place as usize] = arc as u64;
            *place += 1;
        }
    }
    // Each entry has moved from the start of its list to the end.
    ends.truncate(n);
    Ok(ByTarget { ends, sources, arcs })
}

impl ByTarget {
    fn range(&self, target: usize) -> std::ops::Range<usize> {
        let start = if target == 0 { 0 } else { self.ends[target - 1] };
        start as usize..self.ends[target] as usize
    }

    /// Appends the list of a target to a chunk.
    fn append(&self, target: usize, beside: &RebuiltSide<'_>, chunk: &mut ArcChunk) {
        let range = self.range(target);
        chunk.targets.extend_from_slice(&self.sources[range.clone()]);
        let arcs = &self.arcs[range];
        let codes = [&mut chunk.born, &mut chunk.died];
        for (into, codes) in codes.into_iter().zip(&beside.codes) {
            into.extend(arcs.iter().map(|&arc| codes.bits_at(arc as usize) as u32));
        }
        chunk.properties.resize(beside.properties.len(), Vec::new());
        for (into, values) in chunk.properties.iter_mut().zip(&beside.properties) {
            into.extend(arcs.iter().map(|&arc| values.bits_at(arc as usize)));
        }
        chunk.end_list();
    }
}
