//! JSON documents of nodes and edges: node-link data of NetworkX, rustworkx and D3, elements of Cytoscape,
//! exports of graphology.

mod types;
mod scan;
mod blocks;
mod element;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use esker_format::{LogicalType, Result};
use esker_graph::{Message, Setting, message};

use self::blocks::{JsonBlocks, Section, Unpacked, unpack};
use self::element::{Fields, read, value_of, without_nan};
pub(crate) use self::types::{EDGES, ESKER, IDS, VERTICES, WEIGHT};
use self::types::{Types, typed_value};
use super::choose::{ChosenProperties, EdgeAttribute, Shown, are_text_ids, choose};
use super::rows::{Elements, Notices, ReadEdge, Rows};
use super::value::Attribute;
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

/// Elements that are looked at before the others are read.
const SAMPLE_ELEMENTS: usize = 1000;
/// Bytes of a block of the sample.
const SAMPLE_BYTES: usize = 1 << 16;

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

/// What the first elements show.
#[derive(Default)]
struct JsonSample {
    directed: Option<bool>,
    /// The name of the ids of vertices; `None`: they have none, and edges name their numbers.
    id: Option<&'static str>,
    ids: Vec<String>,
    are_ids_quoted: bool,
    attributes: Vec<EdgeAttribute>,
    has_edges: bool,
    has_edge_ids: bool,
    types: Types,
}

/// What is known before the elements are read.
struct Seen {
    directed: Option<bool>,
    id: Option<&'static str>,
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
    let chosen = choose(format.title, attributes, true, options)?;
    // Cytoscape has its ids in quotes, whatever they are.
    let are_quoted = format.name == NODE_LINK.name && sampled.are_ids_quoted;
    let are_said = are_quoted || sampled.types.text_ids;
    let text_ids = are_text_ids(are_said, sampled.ids.iter().map(String::as_bytes), options);
    let schema = Schema {
        format: format.name,
        ids: if text_ids { IdKind::Text } else { IdKind::Int },
        properties: chosen.names(),
        types: chosen.types(),
        weight: chosen.weight,
        time: chosen.time,
        directed: sampled.directed,
        both_ends: false,
        input_bytes: input.stored_bytes(),
    };
    let mut notes = Vec::new();
    if !chosen.unread.is_empty() {
        notes.push(Message::from(format!("Edge attributes not read: {}", chosen.unread.join(", "))));
    }
    if sampled.has_edge_ids {
        notes.push("The ids and keys of edges are not read: a database names its edges itself".into());
    }
    let blocks = JsonBlocks::new(
        Arc::clone(&path),
        head.stream,
        head.bytes,
        options.block_bytes,
        options.line_bytes_max,
    );
    let seen = Seen { directed: sampled.directed, id: sampled.id, types: sampled.types };
    let parser = Arc::new(JsonParser::new(Arc::clone(&path), text_ids, format, seen, chosen));
    let reader = JsonReader { schema, blocks, parser, path };
    let mut opened = OpenedInput::titled(Box::new(reader), inputs, format);
    opened.notes.extend(notes);
    Ok(opened)
}

/// Looks at the first vertices and edges. Those of a file may lie behind each other, however far; of an input
/// that can be read only once, the beginning is looked at.
fn sample(input: &Input, head: &InputHead, options: &ReadOptions) -> Result<JsonSample> {
    let is_partial = !head.whole && !input.is_repeatable();
    let stream = match head.whole || is_partial {
        true => Input::memory("", head.bytes.clone()).open()?,
        false => input.open()?,
    };
    let block_bytes = SAMPLE_BYTES.min(options.block_bytes.max(1) * 64);
    let mut blocks = JsonBlocks::new(input.path(), stream, Vec::new(), block_bytes, options.line_bytes_max);
    let mut sampled = JsonSample { are_ids_quoted: true, ..JsonSample::default() };
    let (mut vertices, mut edges) = (0, 0);
    loop {
        options.cancel.check()?;
        let block = match blocks.next_block() {
            Ok(Some(block)) => block,
            Ok(None) => break,
            // The beginning is cut short anyway; what is wrong elsewhere is said when it is read.
            Err(_) => break,
        };
        let section = Section::of(block.file);
        let seen = if section == Section::Vertices { &mut vertices } else { &mut edges };
        if *seen < SAMPLE_ELEMENTS {
            *seen += sampled.take(section, &block.bytes, SAMPLE_ELEMENTS - *seen);
        }
        if vertices > 0 && edges > 0 || (section == Section::Mixed && edges >= SAMPLE_ELEMENTS) {
            break;
        }
    }
    sampled.directed = sampled.directed.or(blocks.told().directed);
    sampled.types = Types::of(blocks.types());
    sampled.are_ids_quoted &= !sampled.ids.is_empty();
    Ok(sampled)
}

impl JsonSample {
    /// Looks at so many elements of a block; how many there were.
    fn take(&mut self, section: Section, bytes: &[u8], most: usize) -> usize {
        let Unpacked { spans, text, .. } = unpack(bytes);
        let mut taken = 0;
        for [from, to] in spans.into_iter().take(most) {
            let Ok(text) = std::str::from_utf8(&text[from as usize..to as usize]) else { continue };
            let replaced;
            let mut fields = Fields::new();
            let text = match read(text, &mut fields) {
                Ok(()) => text,
                Err(_) => match without_nan(text) {
                    Some(other) => {
                        replaced = other;
                        replaced.as_str()
                    }
                    None => continue,
                },
            };
            let mut fields = Fields::new();
            if read(text, &mut fields).is_err() {
                continue;
            }
            taken += 1;
            match ends_of(&fields) {
                Some(ends) if section != Section::Vertices => {
                    self.has_edges = true;
                    ends.ids.iter().for_each(|end| self.take_id(end));
                    self.take_edge(&fields, &ends, section);
                }
                _ => self.take_vertex(text, &fields),
            }
        }
        taken
    }

    fn take_id(&mut self, text: &str) {
        self.are_ids_quoted &= text.starts_with('"');
        if let Some(id) = value_of(text) {
            self.ids.push(String::from_utf8_lossy(&id.text()).into_owned());
        }
    }

    fn take_vertex(&mut self, text: &str, fields: &Fields<'_>) {
        if fields.is_empty() && !text.starts_with('{') {
            return self.take_id(text);
        }
        let found = ["id", "key"].into_iter().find(|name| fields.iter().any(|(own, _)| own == name));
        self.id = self.id.or(found);
        match fields.iter().find(|(own, _)| Some(own.as_ref()) == self.id) {
            Some((_, id)) => self.take_id(id),
            None => self.are_ids_quoted = false,
        }
    }

    fn take_edge(&mut self, fields: &Fields<'_>, ends: &Ends<'_>, section: Section) {
        for (name, text) in fields {
            if is_reserved(name, ends, section) {
                self.has_edge_ids |= matches!(name.as_ref(), "id" | "key");
                continue;
            }
            let shown = match value_of(text) {
                None => continue,
                Some(Attribute::Boolean(_)) => Shown::Typed(LogicalType::Boolean.into()),
                Some(Attribute::Text(_)) => Shown::Texts,
                Some(_) => Shown::Numbers,
            };
            match self.attributes.iter_mut().find(|known| known.name == *name) {
                None => self.attributes.push(EdgeAttribute {
                    name: name.clone().into_owned(),
                    shown,
                    default: None,
                    is_weight: false,
                }),
                Some(known) if known.shown != shown => known.shown = Shown::Texts,
                Some(_) => {}
            }
        }
    }
}

/// The ends of an edge.
#[derive(Clone, Copy)]
struct Ends<'a> {
    /// Their names.
    names: [&'static str; 2],
    ids: [&'a str; 2],
}

/// The ends of an edge; `None` if it has none.
fn ends_of<'a>(fields: &Fields<'a>) -> Option<Ends<'a>> {
    let find = |name: &str| fields.iter().find(|(own, _)| own == name).map(|(_, value)| *value);
    let pair = |names: [&'static str; 2]| Some(Ends { names, ids: [find(names[0])?, find(names[1])?] });
    pair(["source", "target"]).or_else(|| pair(["from", "to"]))
}

/// Whether a name of an edge is no property.
fn is_reserved(name: &str, ends: &Ends<'_>, section: Section) -> bool {
    ends.names.contains(&name)
        || matches!(name, "id" | "key" | "directed" | "undirected")
        || (section == Section::Mixed && name == "group")
}

impl JsonParser {
    fn new(
        path: Arc<PathBuf>,
        text_ids: bool,
        format: &InputFormat,
        seen: Seen,
        chosen: ChosenProperties,
    ) -> Self {
        let Seen { directed, id, types } = seen;
        let kept = chosen.properties.iter().enumerate().map(|(place, own)| (own.name.clone(), Some(place)));
        let places = kept.chain(chosen.left_out.iter().map(|name| (name.clone(), None))).collect();
        let elements = Elements {
            path,
            text_ids,
            directed: directed.unwrap_or(true),
            properties: chosen.properties,
            notices: Notices::default(),
        };
        Self { elements, id, is_cytoscape: format.name == CYTOSCAPE.name, types, places }
    }

    /// Takes an element that was read.
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
            Some(ends) if section != Section::Vertices => self.take_edge(rows, at, &ends, section, fields),
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
        let id = match self.id {
            Some(name) => fields.iter().find(|(own, _)| own == name).and_then(|(_, value)| value_of(value)),
            None => Some(Attribute::Int(number.cast_signed())),
        };
        let mut values = Vec::with_capacity(fields.len());
        for (name, text) in fields {
            if Some(name.as_ref()) == self.id || (section == Section::Mixed && name == "group") {
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
                && let Some(typed) = typed_value(text, said)
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
                Some(Some(place)) => values[*place] = value_of(text),
                Some(None) => {}
                None if name == "directed" && *text != "null" => directed = Some(*text == "true"),
                None if name == "undirected" && *text != "null" => directed = Some(*text != "true"),
                None if is_reserved(name, ends, section) || *text == "null" => {}
                None => {
                    rows.reject(at, unknown(name));
                    return Ok(());
                }
            }
        }
        let [source, target] = ends.ids.map(value_of);
        let (source, target) = (source.as_ref(), target.as_ref());
        rows.edge(at, &ReadEdge { source, target, directed, is_mutual: false, values: &values })
    }
}

/// Why an attribute that the first edges lack is refused.
fn unknown(name: &str) -> Message {
    message![
        format!("the edge has {name:?}, which the first edges lack; declare it with "),
        Setting::Schema.to_type(name, "TYPE"),
        ", and give the others a value with ",
        Setting::Default.to_type(name, "VALUE"),
        ", or name the properties to keep with ",
        Setting::Property,
    ]
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
        for ([from, to], number) in spans.into_iter().zip(first..) {
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
        Ok(rows.finish(block.input_bytes))
    }

    fn warnings(&self) -> Vec<Message> {
        self.elements.notices.sentences().into_iter().map(Message::from).collect()
    }
}

fn not_json(error: &serde_json::Error) -> String {
    format!("this is no JSON: {error}")
}
