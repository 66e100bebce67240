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
use super::choose::{are_text_ids, choose};
use super::rows::Rows;
use super::xml::{self, XmlBlocks, XmlHeader, attribute_value, is_true};
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
    let mut at = 0;
    loop {
        let start = at + memchr::memchr(b'<', text.get(at..)?)?;
        let rest = &text[start + 1..];
        let end: &[u8] = match rest {
            [b'?', ..] => b"?>",
            [b'!', b'-', b'-', ..] => b"-->",
            [b'!', ..] => b">",
            _ => {
                let name =
                    rest.split(|byte| matches!(byte, b'>' | b'/' | b' ' | b'\t' | b'\n' | b'\r')).next()?;
                return name.rsplit(|byte| *byte == b':').next();
            }
        };
        at = start + memchr::memmem::find(&text[start..], end)? + end.len();
    }
}

struct GraphmlReader {
    schema: Schema,
    blocks: XmlBlocks,
    parser: Arc<GraphmlParser>,
}

fn open(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    let input = one(inputs, GRAPHML.title)?;
    let path = input.path();
    let (XmlHeader { bytes, sample }, blocks) = XmlBlocks::open(Arc::clone(&path), head, "graphml", options)?;
    let mut header = parse_header(&path, &bytes)?;
    let sampled = sample_of(&sample);
    let chosen = choose(GRAPHML.title, edge_attributes(&header), false, options)?;
    // What the first edges say beats the default for those that say nothing.
    header.directed |= sampled.directed;
    let text_ids = are_text_ids(header.text_ids, sampled.ids.iter().map(String::as_bytes), options);
    let schema = Schema {
        format: GRAPHML.name,
        ids: if text_ids { IdKind::Text } else { IdKind::Int },
        properties: chosen.names(),
        types: chosen.types(),
        weight: chosen.weight,
        time: chosen.time,
        directed: Some(header.directed),
        both_ends: false,
        input_bytes: input.stored_bytes(),
    };
    let mut notes = Vec::new();
    if !chosen.unread.is_empty() {
        notes.push(Message::from(format!("Edge attributes not read: {}", chosen.unread.join(", "))));
    }
    let parser = Arc::new(GraphmlParser::new(path, text_ids, &header, chosen));
    let reader = GraphmlReader { schema, blocks, parser };
    let mut opened = OpenedInput::titled(Box::new(reader), inputs, &GRAPHML);
    opened.notes.extend(notes);
    Ok(opened)
}

/// What the first elements show.
#[derive(Default)]
struct GraphmlSample {
    ids: Vec<String>,
    /// Whether an edge says that it has a direction.
    directed: bool,
}

fn sample_of(bytes: &[u8]) -> GraphmlSample {
    let mut sampled = GraphmlSample::default();
    let Ok(text) = xml::utf8(bytes) else { return sampled };
    let mut reader = xml::elements(text);
    while let Ok(event) = reader.read_event() {
        let (Event::Start(element) | Event::Empty(element)) = event else {
            if matches!(event, Event::Eof) {
                break;
            }
            continue;
        };
        if !matches!(element.local_name().as_ref(), "node" | "edge") {
            continue;
        }
        for attribute in element.attributes().flatten() {
            let Ok(value) = attribute_value(&attribute) else { continue };
            match (element.local_name().as_ref(), attribute.key.local_name().as_ref()) {
                ("node", "id") | ("edge", "source" | "target") => sampled.ids.push(value.into_owned()),
                ("edge", "directed") => sampled.directed |= is_true(&value),
                _ => {}
            }
        }
    }
    sampled
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
        GraphmlWalk::new(self, rows).walk(text).map(|rows| rows.finish(block.input_bytes))
    }

    fn warnings(&self) -> Vec<Message> {
        self.elements.notices.sentences().into_iter().map(Message::from).collect()
    }
}
