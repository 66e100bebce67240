//! GEXF 1.1 to 1.3: an XML document of nodes and edges, with attributes in `<attvalue>`.
//!
//! The Gephi community, "GEXF File Format", <https://gexf.net>, 2009 to 2022.

mod header;
mod parser;
mod walk;

use std::sync::Arc;

use esker_format::Result;
use esker_graph::Message;

use self::parser::{GexfParser, GexfSample, edge_attributes};
use self::walk::GexfWalk;
use super::choose::{choose, schema_of, unread_note};
use super::graphml::root;
use super::rows::Rows;
use super::xml::{self, EDGE_IDS_UNREAD, XmlBlocks, XmlHeader, find_edges};
use crate::read::format::{PickProperties, ReadOptions};
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, one, starts_with_word, without_mark};
use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Reader, Schema};

/// GEXF documents.
pub(crate) static GEXF: InputFormat = InputFormat {
    endings: &["gexf"],
    begins: |head| begins(without_mark(head)),
    takes_defaults: true,
    ..InputFormat::new("gexf", "GEXF document", Choices::Columns, open)
};

/// Whether the first element is `gexf`.
fn begins(text: &[u8]) -> bool {
    starts_with_word(text, b"<gexf") || (starts_with_word(text, b"<?xml") && root(text) == Some(b"gexf"))
}

struct GexfReader {
    schema: Schema,
    blocks: XmlBlocks,
    parser: Arc<GexfParser>,
}

fn open(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    let input = one(inputs, GEXF.title)?;
    let path = input.path();
    let is_whole = head.whole;
    let (XmlHeader { bytes, sample }, blocks) = XmlBlocks::open(Arc::clone(&path), head, "gexf", options)?;
    let header = header::parse(&path, &bytes)?;
    let mut sampled = GexfSample::default();
    sampled.take(&sample);
    if !sampled.has_edges && !is_whole && input.is_repeatable() {
        find_edges(input, "gexf", options, |bytes| {
            sampled.take(bytes);
            sampled.has_edges
        })?;
    }
    let directed = header.directed.unwrap_or(false) || sampled.directed;
    let mut chosen = choose(GEXF.title, edge_attributes(&header, &sampled), false, options)?;
    let text_ids = chosen.has_text_ids(header.text_ids, &sampled.ids, options);
    let ids = if text_ids { IdKind::Text } else { IdKind::Int };
    let schema = schema_of(GEXF.name, ids, &chosen, Some(directed), input);
    let note = unread_note(&chosen.unread);
    let has_edge_ids = sampled.has_edge_ids;
    let mut parser = GexfParser::new(path, text_ids, directed, &header, &sampled, chosen);
    parser.elements.is_undirected_anyway = options.directed == Some(false);
    // Who names the properties does without the others.
    let is_listed = matches!(options.properties, PickProperties::Columns(_));
    parser.seen = parser.seen.map(|seen| seen || is_listed);
    let parser = Arc::new(parser);
    let mut opened = OpenedInput::titled(Box::new(GexfReader { schema, blocks, parser }), inputs, &GEXF);
    opened.notes.extend(note);
    if has_edge_ids {
        opened.notes.push(EDGE_IDS_UNREAD.into());
    }
    Ok(opened)
}

impl Reader for GexfReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        self.blocks.next_block()
    }
}

impl BlockParser for GexfParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let mut rows = Rows::new(&self.elements, &block.bytes, block.first_line);
        let text = match xml::utf8(&block.bytes) {
            Ok(text) => text,
            Err((at, reason)) => return Err(rows.broken(at, reason)),
        };
        for (name, own, _) in &self.vertex_properties {
            rows.vertices.add(name, own.clone());
        }
        GexfWalk::new(self, rows).walk(text).and_then(|rows| rows.finish(block.input_bytes))
    }

    fn warnings(&self) -> Vec<Message> {
        self.elements.told()
    }
}
