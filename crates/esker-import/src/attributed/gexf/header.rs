//! What stands before the first node of a GEXF document: the declared attributes, and the direction.

use std::path::PathBuf;
use std::sync::Arc;

use esker_format::{LogicalType, PropertyType, Result, TimeUnit};
use quick_xml::events::{BytesStart, Event};

use crate::attributed::graphml::keys::{KeyKind, says_text_ids};
use crate::attributed::graphml::{TYPE, WEIGHT};
use crate::attributed::xml::{self, attribute_value, is_true};
use crate::read::input_format::without_mark;
use crate::text::blocks::{count_lines, input_error};

/// An `<attribute>` of vertices or edges.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) of_edges: bool,
    pub(super) kind: KeyKind,
    pub(super) default: Option<String>,
    /// Whether it only names the weight.
    pub(super) is_weight: bool,
}

/// What stands before the first node.
pub(super) struct GexfHeader {
    pub(super) attributes: Vec<Declared>,
    /// Whether edges have a direction unless they say otherwise, if that is said.
    pub(super) directed: Option<bool>,
    /// What times are.
    pub(super) time: KeyKind,
    /// Whether the document says that ids are texts.
    pub(super) text_ids: bool,
}

/// Reads everything before the first node.
pub(super) fn parse(path: &Arc<PathBuf>, bytes: &[u8]) -> Result<GexfHeader> {
    let content = without_mark(bytes);
    let broken = |at: usize, reason: String| {
        let at = at.min(content.len());
        let line = 1 + count_lines(&content[..at]);
        input_error(path, Some(line), content[at..].trim_ascii_start(), reason)
    };
    let text = xml::utf8(content).map_err(|(at, reason)| broken(at, reason.to_owned()))?;
    let mut reader = xml::elements(text);
    let mut header =
        GexfHeader { attributes: Vec::new(), directed: None, time: KeyKind::Float, text_ids: false };
    let (mut has_graph, mut of_edges, mut in_default, mut skipped) = (false, false, false, 0_usize);
    loop {
        let at = reader.buffer_position() as usize;
        let event = reader.read_event().map_err(|error| broken(at, format!("this is no XML: {error}")))?;
        match event {
            Event::Eof => break,
            Event::Decl(_) | Event::DocType(_) => {
                xml::check_prolog(&event).map_err(|reason| broken(at, reason))?;
            }
            Event::Start(_) if skipped > 0 => skipped += 1,
            Event::End(_) if skipped > 0 => skipped -= 1,
            _ if skipped > 0 => {}
            Event::Start(ref element) | Event::Empty(ref element) => match element.local_name().as_ref() {
                "graph" => {
                    has_graph = true;
                    header.take_graph(element).map_err(|reason| broken(at, reason))?;
                }
                "attributes" => {
                    let class = value(element, "class").map_err(|reason| broken(at, reason))?;
                    of_edges = class.as_deref() == Some("edge");
                }
                "attribute" => {
                    let declared = declared(element, of_edges).map_err(|reason| broken(at, reason))?;
                    header.attributes.push(declared);
                }
                "default" => {
                    in_default = matches!(event, Event::Start(_));
                    if let Some(last) = header.attributes.last_mut() {
                        last.default = Some(String::new());
                    }
                }
                "gexf" | "options" | "nodes" | "edges" => {}
                _ => {
                    pass_over(element, has_graph).map_err(|reason| broken(at, reason))?;
                    skipped += usize::from(matches!(event, Event::Start(_)));
                }
            },
            Event::End(element) if element.local_name().as_ref() == "default" => in_default = false,
            Event::Text(text) if in_default => header.extend_default(&text.xml10_content()),
            Event::CData(text) if in_default => header.extend_default(&text.xml10_content()),
            Event::GeneralRef(found) => {
                let character = xml::reference(&found).map_err(|reason| broken(at, reason))?;
                if in_default {
                    header.extend_default(character.encode_utf8(&mut [0; 4]));
                }
            }
            _ => {}
        }
    }
    match has_graph {
        true => Ok(header),
        false => Err(broken(0, "the document has no graph".to_owned())),
    }
}

/// An error if an element that is not known may be a node or an edge.
fn pass_over(element: &BytesStart<'_>, has_graph: bool) -> std::result::Result<(), String> {
    let name = element.local_name();
    let name = name.as_ref();
    let is_known = matches!(name, "meta" | "spells") || !has_graph;
    let is_foreign = element.name().as_ref().contains(':');
    let is_refused = matches!(name, "node" | "edge") || !(is_known || is_foreign);
    if is_refused { Err(xml::not_passed_over(name)) } else { Ok(()) }
}

impl GexfHeader {
    fn take_graph(&mut self, element: &BytesStart<'_>) -> std::result::Result<(), String> {
        self.text_ids |= says_text_ids(element);
        self.directed = edge_default(element)?;
        let format = match value(element, "timeformat")? {
            Some(format) => Some(format),
            None => value(element, "timetype")?,
        };
        self.time = match format.as_deref().map(str::to_ascii_lowercase).as_deref() {
            Some("integer") => KeyKind::Int,
            Some("date") => KeyKind::Typed(LogicalType::Date.into()),
            Some("datetime") => {
                let zone = String::new();
                KeyKind::Typed(LogicalType::Timestamp { unit: TimeUnit::Micro, zone }.into())
            }
            _ => KeyKind::Float,
        };
        Ok(())
    }

    fn extend_default(&mut self, text: &str) {
        if let Some(default) = self.attributes.last_mut().and_then(|last| last.default.as_mut()) {
            default.push_str(text);
        }
    }
}

/// What a graph says of edges that say nothing.
///
/// # Errors
/// If it says what is not understood.
pub(super) fn edge_default(element: &BytesStart<'_>) -> std::result::Result<Option<bool>, String> {
    match value(element, "defaultedgetype")?.as_deref().map(str::trim_ascii) {
        None | Some("") => Ok(None),
        Some("directed" | "mutual") => Ok(Some(true)),
        Some("undirected") => Ok(Some(false)),
        Some(other) => Err(format!("defaultedgetype is {other:?}; write directed, undirected or mutual")),
    }
}

/// The value of an attribute of an element, if it has one.
///
/// # Errors
/// If it is no XML.
pub(super) fn value(element: &BytesStart<'_>, name: &str) -> std::result::Result<Option<String>, String> {
    let found = element.try_get_attribute(name).map_err(|error| format!("this is no XML: {error}"))?;
    found.as_ref().map(attribute_value).transpose().map(|value| value.map(std::borrow::Cow::into_owned))
}

fn declared(element: &BytesStart<'_>, of_edges: bool) -> std::result::Result<Declared, String> {
    let id = value(element, "id")?.unwrap_or_default();
    let title = value(element, "title")?.filter(|title| !title.is_empty()).unwrap_or_else(|| id.clone());
    let kind = match value(element, "type")?.unwrap_or_default().to_ascii_lowercase().as_str() {
        "integer" | "long" | "short" | "byte" => KeyKind::Int,
        "float" | "double" | "bigdecimal" => KeyKind::Float,
        "boolean" => KeyKind::Boolean,
        _ => KeyKind::Text,
    };
    let exact = value(element, TYPE)?.and_then(|text| text.parse::<PropertyType>().ok());
    let is_weight = value(element, WEIGHT)?.is_some_and(|text| is_true(&text));
    Ok(Declared { id, title, of_edges, kind: exact.map_or(kind, KeyKind::of_type), default: None, is_weight })
}
