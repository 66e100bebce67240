//! JSON documents of nodes and edges: node-link data of NetworkX, rustworkx and D3, elements of Cytoscape,
//! exports of graphology.

mod scan;
mod element;
mod blocks;
mod ends;
mod sample;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use esker_format::Result;
use esker_graph::Message;

use self::blocks::{JsonBlocks, Section, Unpacked, unpack};
use self::element::{Fields, id_name, read, truth_of, value_of, without_nan};
use self::ends::{Ends, check_numbers, ends_of, is_reserved};
use self::sample::sample;
use super::choose::{ChosenProperties, choose, schema_of, unknown_attribute, unread_note};
use super::rows::{Elements, Notices, ReadEdge, Rows, several};
use super::types::{Types, typed_value};
use super::value::Attribute;
use super::xml::EDGE_IDS_UNREAD;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::input_format::{Choices, InputFormat, OpenedInput, one, without_mark};
use crate::read::source::{BlockParser, EdgeBatch, IdKind, InputBlock, Reader, Schema};
use crate::text::blocks::input_error;

/// Node-link data.
pub(crate) static NODE_LINK: InputFormat = InputFormat {
    aliases: &["json", "node_link"],
    endings: &["json"],
    begins: |head| {
        let head = without_mark(head);
        has_array(head, &["nodes", "edges", "links"]) && !has_array(head, &["elements"])
    },
    takes_defaults: true,
    ..InputFormat::new("node-link", "JSON document of nodes and edges", Choices::Columns, open_node_link)
};

/// Elements of Cytoscape.
pub(crate) static CYTOSCAPE: InputFormat = InputFormat {
    aliases: &["cyjs"],
    endings: &["cyjs"],
    begins: |head| has_array(without_mark(head), &["elements"]),
    takes_defaults: true,
    ..InputFormat::new("cytoscape", "Cytoscape JSON document", Choices::Columns, open_cytoscape)
};

/// Whether a JSON object begins so that has an array of one of these names.
fn has_array(head: &[u8], names: &[&str]) -> bool {
    let text = head.trim_ascii_start();
    if text.first() != Some(&b'{') || !matches!(text[1..].trim_ascii_start().first(), Some(b'"' | b'}')) {
        return false;
    }
    names.iter().any(|name| {
        let quoted = format!("\"{name}\"");
        memchr::memmem::find_iter(text, quoted.as_bytes()).any(|at| {
            let rest = text[at + quoted.len()..].trim_ascii_start();
            let value = rest.strip_prefix(b":").map(<[u8]>::trim_ascii_start);
            value.is_some_and(|value| {
                matches!(value.first(), Some(b'[')) || (*name == "elements" && value.first() == Some(&b'{'))
            })
        })
    })
}

/// What is known before the elements are read.
struct Seen {
    directed: Option<bool>,
    id: Option<&'static str>,
    are_numbered: bool,
    is_undirected_anyway: bool,
    types: Types,
}

struct JsonReader {
    schema: Schema,
    blocks: JsonBlocks,
    parser: Arc<JsonParser>,
    path: Arc<PathBuf>,
}

struct JsonParser {
    elements: Elements,
    id: Option<&'static str>,
    /// Whether vertices have no ids, and edges name their numbers.
    are_numbered: bool,
    is_cytoscape: bool,
    types: Types,
    /// The place of each property of edges; `None`: it is not kept.
    places: HashMap<String, Option<usize>>,
}

fn open_node_link(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    open(inputs, head, options, &NODE_LINK)
}

fn open_cytoscape(inputs: &[Input], head: InputHead, options: &ReadOptions) -> Result<OpenedInput> {
    open(inputs, head, options, &CYTOSCAPE)
}

fn open(
    inputs: &[Input],
    head: InputHead,
    options: &ReadOptions,
    format: &'static InputFormat,
) -> Result<OpenedInput> {
    let input = one(inputs, format.title)?;
    let path = input.path();
    let sampled = sample(input, &head, options)?;
    let mut attributes = sampled.attributes;
    sampled.types.apply(&mut attributes);
    let mut chosen = choose(format.title, attributes, true, options)?;
    // Cytoscape has its ids in quotes, whatever they are.
    let are_quoted = format.name == NODE_LINK.name && sampled.are_ids_quoted;
    let are_said = are_quoted || sampled.types.text_ids;
    let text_ids = chosen.has_text_ids(are_said, &sampled.ids, options);
    let ids = if text_ids { IdKind::Text } else { IdKind::Int };
    let schema = schema_of(format.name, ids, &chosen, sampled.directed, input);
    let mut notes: Vec<Message> = unread_note(&chosen.unread).into_iter().collect();
    if sampled.has_edge_ids {
        notes.push(EDGE_IDS_UNREAD.into());
    }
    let blocks = JsonBlocks::new(
        Arc::clone(&path),
        head.stream,
        head.bytes,
        options.block_bytes,
        options.line_bytes_max,
    );
    let seen = Seen {
        directed: sampled.directed,
        id: sampled.id,
        are_numbered: sampled.has_objects && sampled.id.is_none(),
        is_undirected_anyway: options.directed == Some(false),
        types: sampled.types,
    };
    let parser = Arc::new(JsonParser::new(Arc::clone(&path), text_ids, format, seen, chosen));
    let reader = JsonReader { schema, blocks, parser, path };
    let mut opened = OpenedInput::titled(Box::new(reader), inputs, format);
    opened.notes.extend(notes);
    Ok(opened)
}

impl JsonParser {
    fn new(
        path: Arc<PathBuf>,
        text_ids: bool,
        format: &InputFormat,
        seen: Seen,
        chosen: ChosenProperties,
    ) -> Self {
        let Seen { directed, id, are_numbered, is_undirected_anyway, types } = seen;
        let kept = chosen.properties.iter().enumerate().map(|(place, own)| (own.name.clone(), Some(place)));
        let places = kept.chain(chosen.left_out.iter().map(|name| (name.clone(), None))).collect();
        let elements = Elements {
            path,
            text_ids,
            directed: directed.unwrap_or(true),
            is_undirected_anyway,
            properties: chosen.properties,
            rejected: chosen.rejected,
            ids_can_become_texts: chosen.ids_can_become_texts,
            odd_id: chosen.odd_id,
            notices: Notices::default(),
        };
        Self { elements, id, are_numbered, is_cytoscape: format.name == CYTOSCAPE.name, types, places }
    }

    /// Takes an element that was read; `number` is that of a vertex, or how many came before an edge.
    fn take<'a>(
        &self,
        rows: &mut Rows<'_>,
        at: usize,
        section: Section,
        number: u64,
        text: &'a str,
        fields: &Fields<'a>,
    ) -> Result<()> {
        match ends_of(fields) {
            Some(ends) if section != Section::Vertices => {
                if section == Section::Edges && self.are_numbered {
                    check_numbers(rows, at, &ends, number)?;
                }
                self.take_edge(rows, at, &ends, section, fields)
            }
            _ if section == Section::Edges => {
                rows.reject(at, "the edge has no source and target");
                Ok(())
            }
            _ => {
                self.take_vertex(rows, at, section, number, text, fields);
                Ok(())
            }
        }
    }

    fn take_vertex(
        &self,
        rows: &mut Rows<'_>,
        at: usize,
        section: Section,
        number: u64,
        text: &str,
        fields: &Fields<'_>,
    ) {
        if fields.is_empty() && !text.starts_with('{') {
            return rows.vertex(at, value_of(text).as_ref(), &[]);
        }
        let id_name = self.id.or_else(|| id_name(fields));
        let id = match id_name {
            Some(name) => fields.iter().find(|(own, _)| own == name).and_then(|(_, value)| value_of(value)),
            None if self.are_numbered && section == Section::Vertices => {
                Some(Attribute::Int(number.cast_signed()))
            }
            None => None,
        };
        let mut values = Vec::with_capacity(fields.len());
        for (name, text) in fields {
            if Some(name.as_ref()) == id_name || (section == Section::Mixed && name == "group") {
                continue;
            }
            let mut value = value_of(text);
            if self.is_cytoscape
                && name == "value"
                && value.as_ref().map(Attribute::text) == id.as_ref().map(Attribute::text)
            {
                // NetworkX repeats the id so.
                continue;
            }
            let said = self.types.of_vertices.get(name.as_ref());
            if let (Some(said), Some(Attribute::Text(text))) = (said, &value)
                && !said.logical.is_text()
                && let Some(typed) = typed_value(text.as_bytes(), said)
            {
                value = Some(typed);
            }
            let place = rows.vertices.place(name);
            values.extend(value.map(|value| (place, value)));
        }
        rows.vertex(at, id.as_ref(), &values);
    }

    fn take_edge(
        &self,
        rows: &mut Rows<'_>,
        at: usize,
        ends: &Ends<'_>,
        section: Section,
        fields: &Fields<'_>,
    ) -> Result<()> {
        let mut values: Vec<Option<Attribute<'_>>> = vec![None; self.elements.properties.len()];
        let mut directed = None;
        for (name, text) in fields {
            match self.places.get(name.as_ref()) {
                Some(Some(place)) => {
                    let (known, value) = (&mut values[*place], value_of(text));
                    if known.is_some() && value.is_some() && *known != value {
                        rows.reject(at, several(name));
                        return Ok(());
                    }
                    *known = value.or(known.take());
                }
                Some(None) => {}
                None if matches!(name.as_ref(), "directed" | "undirected") => match truth_of(name, text) {
                    Ok(said) => directed = said.map(|said| said == (name == "directed")).or(directed),
                    Err(reason) => {
                        rows.reject(at, reason);
                        return Ok(());
                    }
                },
                None if is_reserved(name, ends, section) || *text == "null" => {}
                None => {
                    rows.reject(at, unknown_attribute(name));
                    return Ok(());
                }
            }
        }
        let [source, target] = ends.ids.map(value_of);
        let (source, target) = (source.as_ref(), target.as_ref());
        rows.edge(at, &ReadEdge { source, target, directed, is_mutual: false, values: &values })
    }
}

impl Reader for JsonReader {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn parser(&self) -> Arc<dyn BlockParser> {
        Arc::clone(&self.parser) as _
    }

    fn next_block(&mut self) -> Result<Option<InputBlock>> {
        let block = self.blocks.next_block()?;
        let told = self.blocks.told();
        let refused = |reason| Err(input_error(&self.path, None, b"", reason));
        if told.directed.is_some() && told.directed != self.schema.directed {
            return refused("\"directed\" stands behind the edges; put it before them");
        }
        if block.is_none() && !told.has_vertices && !told.has_edges {
            return refused("the document has no arrays \"nodes\" and \"edges\" or \"links\"");
        }
        Ok(block)
    }
}

impl BlockParser for JsonParser {
    fn parse(&self, block: InputBlock) -> Result<EdgeBatch> {
        let Unpacked { first, spans, text } = unpack(&block.bytes);
        let section = Section::of(block.file);
        let mut rows = Rows::new(&self.elements, text, block.first_line);
        if section != Section::Edges {
            for (name, own) in &self.types.of_vertices {
                rows.vertices.add(name, Some(own.clone()));
            }
        }
        let text = match std::str::from_utf8(text) {
            Ok(text) => text,
            Err(error) => {
                return Err(rows.broken(
                    error.valid_up_to(),
                    "the text is not UTF-8; convert it, for example with iconv",
                ));
            }
        };
        let mut fields = Fields::new();
        let step = u64::from(section != Section::Edges);
        for (index, [from, to]) in (0_u64..).zip(spans) {
            let number = first + index * step;
            let (at, own) = (from as usize, &text[from as usize..to as usize]);
            match read(own, &mut fields) {
                Ok(()) => self.take(&mut rows, at, section, number, own, &fields)?,
                Err(error) => {
                    let Some(other) = without_nan(own) else { return Err(rows.broken(at, not_json(&error))) };
                    let mut fields = Fields::new();
                    if let Err(error) = read(&other, &mut fields) {
                        return Err(rows.broken(at, not_json(&error)));
                    }
                    self.take(&mut rows, at, section, number, &other, &fields)?;
                }
            }
        }
        rows.finish(block.input_bytes)
    }

    fn warnings(&self) -> Vec<Message> {
        self.elements.told()
    }
}

fn not_json(error: &serde_json::Error) -> String {
    format!("this is no JSON: {error}")
}
