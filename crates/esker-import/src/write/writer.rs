//! What writers of edge formats share.

use arrow_array::LargeBinaryArray;
use esker_format::value::digits::push_u64;
use esker_format::{Error, Result};
use esker_graph::{Bitmap, Operation, VertexId, message, vertex};

use super::graph::{EdgeStream, ExportBlock, ExportGraph, PropertyInfo, PropertyKind};
use super::options::{ExportOptions, WriteIds};
use crate::columns::missing::says_missing;

/// What is about to be written.
#[derive(Debug, Clone)]
pub(crate) struct ExportShape {
    pub(crate) vertices: u64,
    pub(crate) edges: u64,
    pub(crate) directed: bool,
    /// Whether undirected edges come at both of their ends because the caller asks for it.
    pub(crate) both_ends: bool,
    pub(crate) properties: Vec<PropertyInfo>,
    pub(crate) weight: Option<usize>,
    pub(crate) dictionaries: Vec<LargeBinaryArray>,
    pub(crate) ids: WriteIds,
    /// Whether what will be written as ids are texts.
    pub(crate) text_ids: bool,
    /// The words that the graph's later inputs have for no value.
    pub(crate) nulls: Vec<String>,
}

impl ExportShape {
    pub(crate) fn of(stream: &dyn EdgeStream, options: &ExportOptions) -> Self {
        let shape = stream.shape();
        let ids = if stream.graph().is_some() { options.ids } else { WriteIds::Numbers };
        let mut own = Self {
            vertices: shape.vertices,
            edges: shape.edges,
            directed: shape.directed,
            both_ends: options.both_ends == Some(true),
            properties: shape.properties,
            weight: shape.weight,
            dictionaries: shape.dictionaries,
            ids,
            text_ids: VertexNames::new(stream.graph(), ids).are_texts(),
            nulls: stream.graph().map_or_else(Vec::new, |graph| graph.nulls().to_vec()),
        };
        if !options.properties {
            own.properties.clear();
            own.weight = None;
        }
        own
    }

    /// The weight's place and type.
    pub(crate) fn weight_kind(&self) -> Option<(usize, PropertyKind)> {
        self.weight.map(|index| (index, self.properties[index].kind))
    }
}

/// How the vertices of a stream are named.
#[derive(Clone, Copy)]
pub(crate) struct VertexNames<'a> {
    graph: Option<&'a dyn ExportGraph>,
    ids: WriteIds,
}

impl<'a> VertexNames<'a> {
    pub(crate) fn new(graph: Option<&'a dyn ExportGraph>, ids: WriteIds) -> Self {
        Self { graph, ids }
    }

    fn external(&self) -> Option<&'a dyn ExportGraph> {
        self.graph.filter(|_| self.ids == WriteIds::External)
    }

    /// Whether ids are texts.
    pub(crate) fn are_texts(&self) -> bool {
        self.external().is_some_and(ExportGraph::has_text_ids)
    }

    /// Appends the id of a vertex as text.
    pub(crate) fn write(&self, v: u64, out: &mut Vec<u8>) -> Result<()> {
        match self.external() {
            Some(graph) if graph.has_text_ids() => graph.write_id(as_vertex(v), out),
            _ => {
                push_u64(out, self.int(v)?);
                Ok(())
            }
        }
    }

    /// The id of a vertex as an integer: its number if ids are texts.
    pub(crate) fn int(&self, v: u64) -> Result<u64> {
        match self.external() {
            Some(graph) if !graph.has_text_ids() => graph.int_id(as_vertex(v)),
            _ => Ok(v),
        }
    }

    /// The number of a vertex, from 0, for formats that know only numbers: by its id if ids are dense.
    pub(crate) fn number(&self, v: u64) -> Result<u64> {
        match self.external().and_then(|graph| Some((graph, graph.dense_base()?))) {
            Some((graph, base)) => Ok(graph.int_id(as_vertex(v))?.wrapping_sub(base)),
            None => Ok(v),
        }
    }

    /// The id, as an integer, of the vertex whose number is `number`.
    pub(crate) fn id_of_number(&self, number: u64) -> Result<u64> {
        match self.external().and_then(ExportGraph::dense_base) {
            Some(base) => Ok(base.wrapping_add(number)),
            None => self.int(number),
        }
    }
}

/// Appends a field of a table, in quotes if it is empty or a common word for no value, begins as a comment,
/// has blanks at its ends, or holds the delimiter, a quote or a line break. Without them, a reader would take
/// it for another value.
pub fn push_quoted(out: &mut Vec<u8>, text: &[u8], delimiter: u8) {
    push_text(out, text, delimiter, &[]);
}

/// The same for a table whose readers take `nulls` for no value too.
pub fn push_text(out: &mut Vec<u8>, text: &[u8], delimiter: u8, nulls: &[String]) {
    let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r');
    let edge = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let comment = text.first() == Some(&b'#');
    let is_null = says_missing(text) || nulls.iter().any(|word| word.as_bytes() == text);
    let has_special = || text.iter().any(|&byte| special(byte));
    if !(is_null || comment || edge(text.first()) || edge(text.last()) || has_special()) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

pub(crate) fn as_vertex(v: u64) -> VertexId {
    vertex(v as usize)
}

/// Writes blocks of edges in some format.
pub(crate) trait EdgeWriter {
    fn write(&mut self, names: VertexNames<'_>, block: &ExportBlock) -> Result<()>;

    /// Writes what comes last.
    fn finish(&mut self) -> Result<()>;
}

/// Moves all edges of a stream to a writer; how many they were. Adds their ends to `seen`.
///
/// # Errors
/// Those of both; cancellation; if there were not as many edges as the stream had promised.
pub(crate) fn pump(
    stream: &mut dyn EdgeStream,
    writer: &mut dyn EdgeWriter,
    options: &ExportOptions,
    seen: Option<&Bitmap>,
) -> Result<u64> {
    let shape = stream.shape();
    let mut edges = 0;
    while let Some(block) = stream.next()? {
        options.cancel.check()?;
        if let Some(seen) = seen {
            block.sources.iter().chain(&block.targets).for_each(|&v| {
                seen.insert(as_vertex(v));
            });
        }
        edges += block.len() as u64;
        writer.write(VertexNames::new(stream.graph(), options.ids), &block)?;
    }
    if edges != shape.edges {
        let written = esker_graph::counted(edges, "edge", "edges");
        return Err(Error::invalid(message![
            format!("{written} written, but {} announced: run ", shape.edges),
            Operation::Check,
            " on the database",
        ]));
    }
    writer.finish()?;
    Ok(edges)
}
