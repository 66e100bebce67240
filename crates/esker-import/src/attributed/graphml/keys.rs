//! What stands before the first node of a GraphML document: the keys of attributes, and the direction.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use esker_format::{ElementType, LogicalType, PropertyType, Result};
use quick_xml::events::{BytesStart, Event};

use crate::attributed::choose::{EdgeAttribute, Shown, number_of};
use crate::attributed::value::Attribute;
use crate::attributed::xml::{self, GraphDirections, attribute_value, edge_default, is_true};
use crate::read::input_format::without_mark;
use crate::read::typed::{self, Typed};
use crate::text::blocks::{count_lines, input_error};

/// How the text of a value is understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum KeyKind {
    Int,
    Float,
    Boolean,
    Text,
    /// Of exactly this type.
    Typed(PropertyType),
    /// Graphics of a program.
    Unread,
}

/// A `<key>` of vertices or edges.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) of_vertices: bool,
    pub(crate) of_edges: bool,
    pub(crate) kind: KeyKind,
    pub(crate) default: Option<String>,
    pub(crate) is_weight: bool,
}

/// What stands before the first node.
pub(crate) struct GraphmlHeader {
    pub(crate) keys: Vec<Key>,
    pub(crate) directed: bool,
    /// Whether the document says that ids are texts.
    pub(crate) text_ids: bool,
    /// In which graphs the first node stands.
    pub(super) directions: GraphDirections,
    /// Values of the graph itself, which are not read.
    pub(crate) graph_values: u64,
}

impl Default for GraphmlHeader {
    fn default() -> Self {
        let directions = GraphDirections::OUTSIDE;
        Self { keys: Vec::new(), directed: true, text_ids: false, directions, graph_values: 0 }
    }
}

/// The attributes of edges: keys with the same name are one.
pub(crate) fn edge_attributes(header: &GraphmlHeader) -> Vec<EdgeAttribute> {
    let mut found: Vec<EdgeAttribute> = Vec::new();
    for key in header.keys.iter().filter(|key| key.of_edges && key.kind != KeyKind::Unread) {
        let shown = match &key.kind {
            KeyKind::Int => Shown::Numbers,
            KeyKind::Float => Shown::Floats,
            KeyKind::Boolean => Shown::Typed(LogicalType::Boolean.into()),
            KeyKind::Typed(own) => Shown::Typed(own.clone()),
            KeyKind::Text | KeyKind::Unread => Shown::Texts,
        };
        let default = key.default.as_ref().and_then(|text| value_of(text.clone().into(), &key.kind));
        match found.iter_mut().find(|attribute| attribute.name == key.name) {
            None => {
                found.push(EdgeAttribute {
                    name: key.name.clone(),
                    shown,
                    default,
                    is_weight: key.is_weight,
                });
            }
            Some(known) => {
                known.default = known.default.take().or(default);
                if known.shown != shown {
                    let are_numbers = |one: &Shown| matches!(one, Shown::Numbers | Shown::Floats);
                    let both = are_numbers(&known.shown) && are_numbers(&shown);
                    known.shown = if both { Shown::Numbers } else { Shown::Texts };
                }
            }
        }
    }
    found
}

/// The value that a text stands for; `None` if it is missing.
pub(crate) fn value_of<'a>(text: Cow<'a, str>, kind: &KeyKind) -> Option<Attribute<'a>> {
    match kind {
        KeyKind::Text => Some(Attribute::Text(text)),
        KeyKind::Unread => None,
        KeyKind::Int => number_of(&text, false),
        KeyKind::Float => number_of(&text, true),
        KeyKind::Boolean => match text.trim_ascii().to_ascii_lowercase().as_str() {
            "" => None,
            "true" | "1" => Some(Attribute::Boolean(true)),
            "false" | "0" => Some(Attribute::Boolean(false)),
            _ => Some(Attribute::Text(text)),
        },
        KeyKind::Typed(own) if own.logical.is_text() => Some(Attribute::Text(text)),
        KeyKind::Typed(_) if text.is_empty() => None,
        KeyKind::Typed(own) => Some(match typed::parse(text.as_bytes(), own) {
            Ok(Typed::Int(value)) if own.logical == LogicalType::Boolean => Attribute::Boolean(value != 0),
            Ok(Typed::Int(value)) => Attribute::Int(value),
            Ok(Typed::Float(value)) => Attribute::Float(value),
            Ok(Typed::Unsigned(value)) => Attribute::Unsigned(value),
            Err(_) => Attribute::Text(text),
        }),
    }
}

/// Reads everything before the first node.
pub(crate) fn parse_header(path: &Arc<PathBuf>, bytes: &[u8]) -> Result<GraphmlHeader> {
    let content = without_mark(bytes);
    let broken = |at: usize, reason: String| {
        let line = 1 + count_lines(&content[..at.min(content.len())]);
        input_error(path, Some(line), content[at.min(content.len())..].trim_ascii_start(), reason)
    };
    let text = xml::utf8(content).map_err(|(at, reason)| broken(at, reason.to_owned()))?;
    let mut reader = xml::elements(text);
    let mut walk = HeaderWalk::default();
    loop {
        let at = reader.buffer_position() as usize;
        let event = reader.read_event().map_err(|error| broken(at, format!("this is no XML: {error}")))?;
        let taken = match event {
            Event::Eof => break,
            Event::Decl(_) | Event::DocType(_) => xml::check_prolog(&event),
            Event::Start(element) => walk.start(&element, false),
            Event::Empty(element) => walk.start(&element, true),
            Event::End(element) => {
                walk.end(element.local_name().as_ref());
                Ok(())
            }
            Event::Text(text) => {
                walk.push(&text.xml10_content());
                Ok(())
            }
            Event::CData(text) => {
                walk.push(&text.xml10_content());
                Ok(())
            }
            Event::GeneralRef(found) => {
                xml::reference(&found).map(|character| walk.push(character.encode_utf8(&mut [0; 4])))
            }
            _ => Ok(()),
        };
        taken.map_err(|reason| broken(at, reason))?;
    }
    let HeaderWalk { mut header, has_graph, .. } = walk;
    if header.directions != GraphDirections::OUTSIDE {
        header.directed = header.directions.is_directed();
    }
    match has_graph {
        true => Ok(header),
        false => Err(broken(0, "the document has no graph".to_owned())),
    }
}

/// A pass over what stands before the first node.
#[derive(Default)]
struct HeaderWalk {
    header: GraphmlHeader,
    has_graph: bool,
    /// The key that is open, and its default.
    key: Option<Key>,
    default: Option<String>,
    /// How many elements that are not read are open.
    skipped: usize,
}

impl HeaderWalk {
    fn start(&mut self, element: &BytesStart<'_>, is_empty: bool) -> std::result::Result<(), String> {
        if self.skipped > 0 {
            self.skipped += usize::from(!is_empty);
            return Ok(());
        }
        match element.local_name().as_ref() {
            "graphml" | "locator" => {}
            "graph" => {
                self.has_graph = true;
                self.header.text_ids |= says_text_ids(element);
                let within = self.header.directions.within(edge_default(element)?);
                let within = within.ok_or_else(|| "too many graphs stand within each other".to_owned())?;
                // Where no graph has vertices, the last says what the direction is.
                self.header.directed = within.is_directed();
                self.header.directions = within;
                if is_empty {
                    self.header.directions = within.behind();
                }
            }
            "key" if is_empty => self.header.keys.push(key_of(element)?),
            "key" => self.key = Some(key_of(element)?),
            "default" if !is_empty => self.default = Some(String::new()),
            "default" => {}
            name => {
                let is_foreign = element.name().as_ref().contains(':');
                let is_known = matches!(name, "data" | "desc") || self.key.is_some() || !self.has_graph;
                if matches!(name, "node" | "edge" | "hyperedge") || !(is_known || is_foreign) {
                    return Err(xml::not_passed_over(name));
                }
                self.header.graph_values += u64::from(name == "data");
                self.skipped += usize::from(!is_empty);
            }
        }
        Ok(())
    }

    fn end(&mut self, name: &str) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        match name {
            "graph" => self.header.directions = self.header.directions.behind(),
            "key" => self.header.keys.extend(self.key.take()),
            "default" => {
                if let Some(key) = &mut self.key {
                    key.default = self.default.take();
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        if let (Some(default), 0) = (&mut self.default, self.skipped) {
            default.push_str(text);
        }
    }
}

/// Whether a graph says that its ids are texts.
pub(crate) fn says_text_ids(element: &BytesStart<'_>) -> bool {
    let attribute = element.try_get_attribute(IDS).ok().flatten();
    attribute.is_some_and(|attribute| attribute_value(&attribute).is_ok_and(|value| value == "text"))
}

fn key_of(element: &BytesStart<'_>) -> std::result::Result<Key, String> {
    let mut key = Key {
        id: String::new(),
        name: String::new(),
        of_vertices: true,
        of_edges: true,
        kind: KeyKind::Text,
        default: None,
        is_weight: false,
    };
    let (mut is_named, mut is_graphics) = (false, false);
    let mut exact = None;
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|error| format!("this is no XML: {error}"))?;
        let value = attribute_value(&attribute)?;
        match attribute.key.as_ref() {
            "id" => key.id = value.into_owned(),
            "attr.name" => (key.name, is_named) = (value.into_owned(), true),
            "for" => {
                let is = |names: &[&str]| names.contains(&value.as_ref());
                (key.of_vertices, key.of_edges) = (is(&["node", "all"]), is(&["edge", "all"]));
            }
            "attr.type" => {
                key.kind = match value.to_ascii_lowercase().as_str() {
                    "int" | "integer" | "long" | "short" => KeyKind::Int,
                    "float" | "double" | "real" => KeyKind::Float,
                    "boolean" => KeyKind::Boolean,
                    _ => KeyKind::Text,
                };
            }
            WEIGHT => key.is_weight = is_true(&value),
            TYPE => exact = value.parse::<PropertyType>().ok(),
            "yfiles.type" => is_graphics = true,
            _ => {}
        }
    }
    if !is_named {
        key.name.clone_from(&key.id);
        if is_graphics {
            key.kind = KeyKind::Unread;
        }
    }
    if let Some(exact) = exact {
        key.kind = KeyKind::of_type(exact);
    }
    Ok(key)
}

/// The attribute of a key that has the exact type of a property.
pub(crate) const TYPE: &str = "esker.type";
/// The attribute of a graph that says what ids are.
pub(crate) const IDS: &str = "esker.ids";
/// The attribute of the key of the weight.
pub(crate) const WEIGHT: &str = "esker.weight";

impl KeyKind {
    /// Values of exactly this type.
    pub(crate) fn of_type(own: PropertyType) -> Self {
        if own.logical.is_text() { Self::Text } else { Self::Typed(own) }
    }

    /// The type of a property of vertices, if its values are of it.
    pub(crate) fn property_type(&self) -> Option<PropertyType> {
        match self {
            Self::Int => Some(ElementType::I64.into()),
            Self::Float => Some(ElementType::F64.into()),
            Self::Boolean => Some(LogicalType::Boolean.into()),
            Self::Text => Some(PropertyType::text()),
            Self::Typed(own) => Some(own.clone()),
            Self::Unread => None,
        }
    }
}
