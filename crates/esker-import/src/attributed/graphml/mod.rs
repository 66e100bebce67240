//! GraphML: an XML document of keys, nodes and edges, with a value of each key in `<data>`.
//!
//! U. Brandes, M. Eiglsperger, J. Lerner, C. Pich, "Graph Markup Language (GraphML)", 2013.

pub(super) mod keys;
mod parser;
mod walk;

use std::sync::Arc;

use esker_format::Result;
use esker_graph::Message;
use quick_xml::events::Event;

use self::keys::{edge_attributes, parse_header};
use self::parser::GraphmlParser;
use self::walk::GraphmlWalk;
use super::choose::{choose, schema_of, unread_note};
use super::rows::Rows;
use super::xml::{
    self, EDGE_IDS_UNREAD, GraphDirections, XmlBlocks, XmlHeader, attribute_value, edge_default, find_edges,
    root_name,
};
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, one, starts_with_word, without_mark};
use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Reader, Schema};

pub(crate) use self::keys::{IDS, TYPE, WEIGHT};

/// GraphML documents.
pub(crate) static GRAPHML: InputFormat = InputFormat {
    endings: &["graphml"],
    begins: |head| begins(without_mark(head)),
    takes_defaults: true,
    ..InputFormat::new("graphml", "GraphML document", Choices::Columns, open)
};

/// Whether the first element is `graphml`.
fn begins(text: &[u8]) -> bool {
    starts_with_word(text, b"<graphml")
        || (starts_with_word(text, b"<?xml") && root(text) == Some(b"graphml"))
}

/// The name of the first element of a document, without its prefix.
pub(super) fn root(text: &[u8]) -> Option<&[u8]> {
    root_name(text)?.rsplit(|byte| *byte == b':').next()
}

struct GraphmlReader {
    schema: Schema,
    blocks: XmlBlocks,
    parser: Arc<GraphmlParser>,
}

fn open(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    let input = one(inputs, GRAPHML.title)?;
    let path = input.path();
    let is_whole = head.whole;
    let (XmlHeader { bytes, sample }, mut blocks) =
        XmlBlocks::open(Arc::clone(&path), head, "graphml", options)?;
    let mut header = parse_header(&path, &bytes)?;
    blocks.begin_in(header.directions);
    let mut sampled = GraphmlSample::default();
    sampled.take(&sample);
    if !sampled.has_edges && !is_whole && input.is_repeatable() {
        find_edges(input, "graphml", options, |bytes| {
            sampled.take(bytes);
            sampled.has_edges
        })?;
    }
    let mut chosen = choose(GRAPHML.title, edge_attributes(&header), false, options)?;
    // The graph has a direction if one of its edges does; the others then go both ways.
    header.directed |= sampled.directed;
    let text_ids = chosen.has_text_ids(header.text_ids, &sampled.ids, options);
    let ids = if text_ids { IdKind::Text } else { IdKind::Int };
    let schema = schema_of(GRAPHML.name, ids, &chosen, Some(header.directed), input);
    let mut notes: Vec<Message> = unread_note(&chosen.unread).into_iter().collect();
    if sampled.has_edge_ids {
        notes.push(EDGE_IDS_UNREAD.into());
    }
    let parser = Arc::new(GraphmlParser::new(path, text_ids, &header, chosen, options));
    let reader = GraphmlReader { schema, blocks, parser };
    let mut opened = OpenedInput::titled(Box::new(reader), inputs, &GRAPHML);
    opened.notes.extend(notes);
    Ok(opened)
}

/// What the first elements show.
#[derive(Default)]
struct GraphmlSample {
    ids: Vec<String>,
    has_edges: bool,
    /// Whether an edge, or a graph behind the first vertex, says that edges have a direction.
    directed: bool,
    has_edge_ids: bool,
}

impl GraphmlSample {
    fn take(&mut self, bytes: &[u8]) {
        let Ok(text) = xml::utf8(bytes) else { return };
        let mut reader = xml::elements(text);
        while let Ok(event) = reader.read_event() {
            let (Event::Start(element) | Event::Empty(element)) = event else {
                if matches!(event, Event::Eof) {
                    break;
                }
                continue;
            };
            match element.local_name().as_ref() {
                "edge" => self.has_edges = true,
                "node" => {}
                "graph" => {
                    self.directed |= edge_default(&element) == Ok(Some(true));
                    continue;
                }
                _ => continue,
            }
            for attribute in element.attributes().flatten() {
                let Ok(value) = attribute_value(&attribute) else { continue };
                match (element.local_name().as_ref(), attribute.key.as_ref()) {
                    ("node", "id") | ("edge", "source" | "target") => self.ids.push(value.into_owned()),
                    ("edge", "directed") => {
                        self.directed |= xml::truth("directed", &value) == Ok(Some(true));
                    }
                    ("edge", "id") => self.has_edge_ids = true,
                    _ => {}
                }
            }
        }
    }
}

impl Reader for GraphmlReader {
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

impl BlockParser for GraphmlParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let mut rows = Rows::new(&self.elements, &block.bytes, block.first_line);
        for (name, own, _) in &self.vertex_properties {
            rows.vertices.add(name, own.clone());
        }
        let text = match xml::utf8(&block.bytes) {
            Ok(text) => text,
            Err((at, reason)) => return Err(rows.broken(at, reason)),
        };
        GraphmlWalk::new(self, rows, GraphDirections(block.file))
            .walk(text)
            .and_then(|rows| rows.finish(block.input_bytes))
    }

    fn warnings(&self) -> Vec<Message> {
        self.elements.told()
    }
}
