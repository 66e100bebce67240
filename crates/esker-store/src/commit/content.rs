//! The content of a commit, in memory and as a record of the log.

use std::path::Path;

use esker_format::Result;
use esker_format::io::Paging;
use esker_format::memory::{collected, reserve, with_room};
use esker_format::{
    CommitHeader, CommitSummary, CommitText, CommitTimes, FieldInput, FieldValue, PropertyRecord,
    VersionRecord, VertexChange,
};
use esker_graph::{Cancel, VertexId};
use esker_layers::ids::ExternalId;
use esker_layers::property::REMOVED_NUMBER;

use crate::freeze::REMOVAL;

/// The number of values to encode between two checks for cancellation.
const VALUES_PER_CHECK: usize = 1 << 17;
/// What the values of a property take in a commit beside them: a vector and its allocation. In commits of one
/// edge it is most of the memory.
const COLUMN_BYTES: usize = size_of::<Vec<u64>>() + 32;
/// An upper bound of the number of edge properties in a commit, against forged records.
const EDGE_PROPERTIES_MAX: u32 = 1 << 16;

/// The external ids of new vertices, in the order of the vertices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NewIds {
    /// Integers.
    Integers(Vec<u64>),
    /// Concatenated texts, and the end of each.
    Texts(Vec<u8>, Vec<usize>),
}

impl NewIds {
    /// An empty list.
    pub(crate) fn new(texts: bool) -> Self {
        if texts { Self::Texts(Vec::new(), Vec::new()) } else { Self::Integers(Vec::new()) }
    }

    /// Whether they are texts.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Texts(..))
    }

    /// The number of ids.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Integers(ids) => ids.len(),
            Self::Texts(_, ends) => ends.len(),
        }
    }

    /// The memory that they take.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Integers(ids) => ids.capacity() * size_of::<u64>(),
            Self::Texts(texts, ends) => texts.capacity() + ends.capacity() * size_of::<usize>(),
        }
    }

    /// Reserves memory for more ids.
    pub(crate) fn make_room(&mut self, ids: &[ExternalId<'_>]) -> Result<()> {
        match self {
            Self::Integers(integers) => reserve(integers, ids.len()),
            Self::Texts(texts, ends) => {
                let bytes =
                    |id: &ExternalId<'_>| if let ExternalId::Text(text) = id { text.len() } else { 0 };
                reserve(texts, ids.iter().map(bytes).sum())?;
                reserve(ends, ids.len())
            }
        }
    }

    /// Appends an id, which must be of the list's kind.
    pub(crate) fn push(&mut self, id: ExternalId<'_>) {
        match (self, id) {
            (Self::Integers(ids), ExternalId::Int(id)) => ids.push(id),
            (Self::Texts(texts, ends), ExternalId::Text(text)) => {
                texts.extend_from_slice(text);
                ends.push(texts.len());
            }
            _ => unreachable!("ids of a batch are of the kind of the database"),
        }
    }

    /// The id at an index. Panics if it is out of range.
    pub(crate) fn get(&self, index: usize) -> ExternalId<'_> {
        match self {
            Self::Integers(ids) => ExternalId::Int(ids[index]),
            Self::Texts(texts, ends) => {
                let start = if index == 0 { 0 } else { ends[index - 1] };
                ExternalId::Text(&texts[start..ends[index]])
            }
        }
    }

    /// All ids in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ExternalId<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }
}

/// Adds or sets an edge, or removes it ([`REMOVAL`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommitEdge {
    /// The source vertex.
    pub(crate) source: VertexId,
    /// The target vertex.
    pub(crate) target: VertexId,
    /// The row of its property values in the commit, or [`REMOVAL`].
    pub(crate) row: u32,
}

/// The changes of a commit, with vertices instead of external ids.
#[derive(Debug)]
pub(crate) struct Commit {
    /// The version that the commit makes.
    pub(crate) version: u64,
    /// The event time, in milliseconds since 1970, UTC.
    pub(crate) time_ms: u64,
    /// The time of the commit, in milliseconds since 1970, UTC.
    pub(crate) committed_ms: u64,
    /// The author's message.
    pub(crate) message: String,
    /// The number of vertices after the commit.
    pub(crate) num_vertices: u64,
    /// The external ids of the vertices that the commit adds, which have the largest vertex ids.
    pub(crate) new_ids: NewIds,
    /// The vertex properties that the commit defines.
    pub(crate) new_properties: Vec<PropertyRecord>,
    /// The texts that the commit adds to the dictionaries of edge properties, in the order of their codes.
    pub(crate) new_texts: Vec<CommitText>,
    /// The changes of edges, in order; an undirected edge appears once.
    pub(crate) edges: Vec<CommitEdge>,
    /// For each edge property, the bits of the values of all rows.
    pub(crate) rows: Vec<Vec<u64>>,
    /// The numbers of the edge properties that edges may be without.
    pub(crate) optional: Vec<u32>,
    /// The changes of vertex properties, in order, including removals and restorations of vertices.
    pub(crate) vertices: Vec<VertexChange>,
    /// The checksum in the header of its record in the log, which depends on all commits before it; 0 before
    /// it is there.
    pub(crate) checksum: u32,
    /// Of a commit that exceeds the memory limit: it pages until it is a layer, and is dropped.
    pub(crate) paging: Option<Paging>,
}

impl Commit {
    /// A commit without changes, for a graph with this many vertices and edge properties.
    pub(crate) fn blank(version: u64, num_vertices: u64, edge_properties: usize) -> Self {
        Self {
            version,
            time_ms: 0,
            committed_ms: 0,
            message: String::new(),
            num_vertices,
            new_ids: NewIds::new(false),
            new_properties: Vec::new(),
            new_texts: Vec::new(),
            edges: Vec::new(),
            rows: vec![Vec::new(); edge_properties],
            optional: Vec::new(),
            vertices: Vec::new(),
            checksum: 0,
            paging: None,
        }
    }

    /// The number of rows of edge properties.
    pub(crate) fn num_rows(&self) -> usize {
        self.edges.iter().filter(|edge| edge.row != REMOVAL).count()
    }

    /// What listing the versions needs to know of it.
    pub(crate) fn summary(&self) -> CommitSummary {
        CommitSummary {
            time_ms: self.time_ms,
            message: self.message.clone(),
            num_vertices: self.num_vertices,
            removed_growth: removed_growth(&self.vertices),
            num_edges: self.edges.len() as u64,
            num_others: (self.vertices.len() + self.new_ids.len()) as u64,
        }
    }

    /// The summary of its record in the log.
    pub(crate) fn encode_summary(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.summary().put(&mut out);
        if self.committed_ms != self.time_ms {
            CommitTimes { committed_ms: self.committed_ms }.put(&mut out);
        }
        out
    }

    /// The record of its version. The counts of edges are 0, because only the freeze computes them.
    pub(crate) fn record(&self) -> VersionRecord {
        VersionRecord { commit: self.checksum, ..record_of(self.version, self.summary(), self.committed_ms) }
    }

    /// The approximate bytes of memory that the commit takes.
    pub(crate) fn bytes(&self) -> usize {
        let ids = match &self.new_ids {
            NewIds::Integers(ids) => 8 * ids.len(),
            NewIds::Texts(texts, ends) => texts.len() + 8 * ends.len(),
        };
        ids + self.edges.len() * size_of::<CommitEdge>()
            + self.rows.iter().map(|row| COLUMN_BYTES + 8 * row.len()).sum::<usize>()
            + self.vertices.len() * 64
            + 256
    }

    /// The payload of the commit's record in the log.
    ///
    /// # Errors
    /// [`esker_format::Error::Invalid`] if memory runs out; cancellation.
    pub(crate) fn encode(&self, cancel: &Cancel) -> Result<Vec<u8>> {
        let texts: usize = self.new_texts.iter().map(|text| text.text.len() + 16).sum();
        let mut out = with_room(1024 + self.message.len() + texts + 2 * self.bytes())?;
        CommitHeader {
            time_ms: self.time_ms,
            message: self.message.clone(),
            num_vertices: self.num_vertices,
            text_ids: matches!(self.new_ids, NewIds::Texts(..)),
            num_new_ids: self.new_ids.len() as u64,
            new_properties: self.new_properties.clone(),
            new_texts: self.new_texts.clone(),
            vertices: self.vertices.clone(),
            num_edges: self.edges.len() as u64,
            num_rows: self.num_rows() as u64,
            num_edge_properties: self.rows.len() as u32,
            optional: Some(self.optional.clone()).filter(|numbers| !numbers.is_empty()),
        }
        .put(&mut out);
        for id in self.new_ids.iter() {
            match id {
                ExternalId::Int(id) => id.put(&mut out),
                ExternalId::Text(text) => {
                    (text.len() as u32).put(&mut out);
                    out.extend_from_slice(text);
                }
            }
        }
        put_all(&mut out, &self.edges, |edge| edge.source.to_le_bytes(), cancel)?;
        put_all(&mut out, &self.edges, |edge| edge.target.to_le_bytes(), cancel)?;
        put_all(&mut out, &self.edges, |edge| edge.row.to_le_bytes(), cancel)?;
        for column in &self.rows {
            put_all(&mut out, column, |bits| bits.to_le_bytes(), cancel)?;
        }
        Ok(out)
    }

    /// Decodes a payload of [`Commit::encode`], found in the log at `path`. The time of the commit, which
    /// only the summary has, is the event time.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`] if the payload is not valid.
    pub(crate) fn decode(version: u64, payload: &[u8], path: &Path, cancel: &Cancel) -> Result<Self> {
        let mut input = FieldInput::new(path, payload, 0);
        let header = CommitHeader::take(&mut input)?;
        let new_ids = take_ids(&header, &mut input)?;
        let count = header.num_edges;
        let sources: Vec<VertexId> = take_all(&mut input, count)?;
        let targets: Vec<VertexId> = take_all(&mut input, count)?;
        let rows: Vec<u32> = take_all(&mut input, count)?;
        cancel.check()?;
        let ends = sources.into_iter().zip(targets);
        let edges: Vec<CommitEdge> =
            collected(ends.zip(rows).map(|((source, target), row)| CommitEdge { source, target, row }))?;
        cancel.check()?;
        if header.num_edge_properties > EDGE_PROPERTIES_MAX {
            return Err(input.corrupt("the commit has more edge properties than a database can have"));
        }
        let rows = (0..header.num_edge_properties).map(|_| {
            cancel.check()?;
            take_all(&mut input, header.num_rows)
        });
        let rows = rows.collect::<Result<Vec<Vec<u64>>>>()?;
        let end = input.corrupt("a change of the commit names a vertex or a row that does not exist");
        let num_rows = edges.iter().filter(|edge| edge.row != REMOVAL).count() as u64;
        input.finish()?;
        cancel.check()?;
        let unknown_vertex = |v: VertexId| u64::from(v) >= header.num_vertices;
        let wrong = edges.iter().any(|edge| {
            unknown_vertex(edge.source)
                || unknown_vertex(edge.target)
                || (edge.row != REMOVAL && u64::from(edge.row) >= header.num_rows)
        });
        if wrong
            || num_rows != header.num_rows
            || header.vertices.iter().any(|change| change.vertex >= header.num_vertices)
        {
            return Err(end);
        }
        let CommitHeader {
            time_ms,
            message,
            num_vertices,
            new_properties,
            new_texts,
            vertices,
            optional,
            ..
        } = header;
        Ok(Self {
            version,
            time_ms,
            committed_ms: time_ms,
            message,
            num_vertices,
            new_ids,
            new_properties,
            new_texts,
            edges,
            rows,
            optional: optional.unwrap_or_default(),
            vertices,
            checksum: 0,
            paging: None,
        })
    }
}

/// Appends a field of all items.
fn put_all<T, const N: usize>(
    out: &mut Vec<u8>,
    items: &[T],
    field: impl Fn(&T) -> [u8; N],
    cancel: &Cancel,
) -> Result<()> {
    for items in items.chunks(VALUES_PER_CHECK) {
        cancel.check()?;
        let first = out.len();
        out.resize(first + N * items.len(), 0);
        let places = out[first..].as_chunks_mut::<N>().0;
        places.iter_mut().zip(items).for_each(|(place, item)| *place = field(item));
    }
    Ok(())
}

/// The record of a version that is in the log alone. The counts of edges are 0, because only the freeze
/// computes them.
pub(super) fn record_of(number: u64, summary: CommitSummary, committed_ms: u64) -> VersionRecord {
    VersionRecord {
        number,
        time_ms: summary.time_ms,
        committed_ms,
        message: summary.message,
        commit: 0,
        num_vertices: summary.num_vertices,
        num_edges: 0,
        num_arcs: 0,
        num_loops: 0,
    }
}

/// By how much changes of vertices change the number of removed ones.
pub(super) fn removed_growth(changes: &[VertexChange]) -> i64 {
    let removals = changes.iter().filter(|change| change.property == REMOVED_NUMBER);
    removals
        .map(|change| if change.value.as_ref().is_some_and(|value| value.bits == 1) { 1 } else { -1 })
        .sum()
}

fn take_ids(header: &CommitHeader, input: &mut FieldInput<'_>) -> Result<NewIds> {
    if !header.text_ids {
        return take_all(input, header.num_new_ids).map(NewIds::Integers);
    }
    let mut ids = NewIds::new(true);
    for _ in 0..header.num_new_ids {
        let bytes = u32::take(input)? as usize;
        let id = ExternalId::Text(input.bytes(bytes)?);
        ids.make_room(&[id])?;
        ids.push(id);
    }
    Ok(ids)
}

/// Reads `count` consecutive values. Allocates nothing if the input has fewer.
fn take_all<T: bytemuck::Pod>(input: &mut FieldInput<'_>, count: u64) -> Result<Vec<T>> {
    let bytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(size_of::<T>()));
    let bytes = bytes.filter(|&bytes| bytes <= input.remaining());
    let bytes = bytes.ok_or_else(|| input.corrupt(format!("the commit is too short for {count} values")))?;
    collected(input.bytes(bytes)?.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned))
}
