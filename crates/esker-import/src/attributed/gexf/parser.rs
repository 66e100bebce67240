//! What the blocks of a GEXF document are parsed by, and what its first elements show.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use esker_format::PropertyType;
use quick_xml::events::Event;

use super::header::GexfHeader;
use crate::attributed::choose::{ChosenProperties, EdgeAttribute, Shown};
use crate::attributed::graphml::keys::{KeyKind, value_of};
use crate::attributed::rows::{Elements, Notices};
use crate::attributed::value::Attribute;
use crate::attributed::xml::{self, attribute_value};

/// The attributes of an edge itself that are properties, if edges have them.
pub(super) const OWN: [&str; 5] = ["weight", "label", "kind", "start", "end"];

/// What the first elements show.
#[derive(Default)]
pub(super) struct GexfSample {
    pub(super) ids: Vec<String>,
    pub(super) has_edges: bool,
    /// Whether an edge says that it has a direction.
    pub(super) directed: bool,
    edges: u64,
    /// Whether the ids of edges are more than their numbers.
    pub(super) has_edge_ids: bool,
    /// Which of [`OWN`] edges have.
    pub(super) own: [bool; OWN.len()],
}

/// An attribute, and the place of its property if it is kept.
pub(super) struct AttributePlace {
    pub(super) place: Option<usize>,
    pub(super) kind: KeyKind,
}

/// Parses blocks; see `walk`.
pub(super) struct GexfParser {
    pub(super) elements: Elements,
    pub(super) of_vertices: HashMap<String, AttributePlace>,
    pub(super) of_edges: HashMap<String, AttributePlace>,
    /// The place of each of [`OWN`].
    pub(super) own: [Option<usize>; OWN.len()],
    /// Which of them the first edges have.
    pub(super) seen: [bool; OWN.len()],
    /// Whether edges that say nothing have a direction.
    pub(super) default_directed: bool,
    /// What times are.
    pub(super) time: KeyKind,
    /// The properties of vertices: their names, types and defaults.
    pub(super) vertex_properties: Vec<(String, Option<PropertyType>, Option<Attribute<'static>>)>,
}

impl GexfSample {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let Ok(text) = xml::utf8(bytes) else { return };
        let mut reader = xml::elements(text);
        while let Ok(event) = reader.read_event() {
            let (Event::Start(element) | Event::Empty(element)) = event else {
                if matches!(event, Event::Eof) {
                    break;
                }
                continue;
            };
            let is_edge = element.local_name().as_ref() == "edge";
            if !is_edge && element.local_name().as_ref() != "node" {
                continue;
            }
            self.has_edges |= is_edge;
            let number = self.edges.to_string();
            self.edges += u64::from(is_edge);
            for attribute in element.attributes().flatten() {
                let Ok(value) = attribute_value(&attribute) else { continue };
                match (is_edge, attribute.key.as_ref()) {
                    (false, "id") | (true, "source" | "target") => self.ids.push(value.into_owned()),
                    (true, "id") => self.has_edge_ids |= value != number,
                    (true, "type") => self.directed |= matches!(value.as_ref(), "directed" | "mutual"),
                    (true, name) => {
                        let place = OWN.iter().position(|own| *own == name || is_other_name(own, name));
                        place.into_iter().for_each(|place| self.own[place] = true);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Whether `name` is the other name of a bound: an interval without its first moment has a `startopen`, one
/// without its last an `endopen`.
fn is_other_name(own: &str, name: &str) -> bool {
    matches!((own, name), ("start", "startopen") | ("end", "endopen"))
}

/// The attributes of edges: those that are declared, and those of the edges themselves.
pub(super) fn edge_attributes(header: &GexfHeader, sampled: &GexfSample) -> Vec<EdgeAttribute> {
    let shown = |kind: &KeyKind| match kind {
        KeyKind::Int => Shown::Numbers,
        KeyKind::Float => Shown::Floats,
        KeyKind::Boolean => Shown::Typed(esker_format::LogicalType::Boolean.into()),
        KeyKind::Typed(own) => Shown::Typed(own.clone()),
        KeyKind::Text | KeyKind::Unread => Shown::Texts,
    };
    let mut found = Vec::new();
    let weight = header.attributes.iter().find(|declared| declared.is_weight);
    for (place, name) in OWN.iter().enumerate().filter(|(place, _)| sampled.own[*place]) {
        let (mut name, mut kind) = ((*name).to_owned(), KeyKind::Text);
        match place {
            0 => {
                kind = weight.map_or(KeyKind::Int, |weight| weight.kind.clone());
                name = weight.map_or(name, |weight| weight.title.clone());
            }
            3 | 4 => kind = header.time.clone(),
            _ => {}
        }
        // An edge without a weight has the weight 1.
        let default = (place == 0).then_some(Attribute::Int(1));
        found.push(EdgeAttribute { name, shown: shown(&kind), default, is_weight: place == 0 });
    }
    for declared in header.attributes.iter().filter(|declared| declared.of_edges && !declared.is_weight) {
        let default = declared.default.clone().and_then(|text| value_of(text.into(), &declared.kind));
        let name = free_name(&declared.title, &found);
        found.push(EdgeAttribute { name, shown: shown(&declared.kind), default, is_weight: false });
    }
    found
}

/// A declared attribute that is called as one of the edges themselves, or as another, gets its own name.
fn free_name(title: &str, found: &[EdgeAttribute]) -> String {
    let is_taken = |name: &str| found.iter().any(|other| other.name == name);
    let numbered = (2..).map(|number| format!("{title} ({number})"));
    std::iter::once(title.to_owned()).chain(numbered).find(|name| !is_taken(name)).unwrap_or_default()
}

impl GexfParser {
    pub(super) fn new(
        path: Arc<PathBuf>,
        text_ids: bool,
        directed: bool,
        header: &GexfHeader,
        sampled: &GexfSample,
        chosen: ChosenProperties,
    ) -> Self {
        // As `edge_attributes` has them.
        let names: Vec<String> = edge_attributes(header, sampled).into_iter().map(|own| own.name).collect();
        let mut names = names.iter();
        let mut own = [None; OWN.len()];
        for place in (0..OWN.len()).filter(|place| sampled.own[*place]) {
            own[place] = names.next().and_then(|name| chosen.place(name));
        }
        let mut of_edges = HashMap::new();
        for declared in header.attributes.iter().filter(|declared| declared.of_edges && !declared.is_weight) {
            let place = names.next().and_then(|name| chosen.place(name));
            of_edges.insert(declared.id.clone(), AttributePlace { place, kind: declared.kind.clone() });
        }
        let mut vertex_properties: Vec<(String, Option<PropertyType>, Option<Attribute<'static>>)> =
            Vec::new();
        let mut of_vertices = HashMap::new();
        for declared in header.attributes.iter().filter(|declared| !declared.of_edges) {
            let kind = &declared.kind;
            let default = declared.default.clone().and_then(|text| value_of(text.into(), kind));
            let place = vertex_properties.len();
            vertex_properties.push((declared.title.clone(), kind.property_type(), default));
            of_vertices
                .insert(declared.id.clone(), AttributePlace { place: Some(place), kind: kind.clone() });
        }
        let notices = Notices::default();
        let elements = Elements {
            path,
            text_ids,
            directed,
            is_undirected_anyway: false,
            properties: chosen.properties,
            rejected: chosen.rejected,
            ids_can_become_texts: chosen.ids_can_become_texts,
            odd_id: chosen.odd_id,
            notices,
        };
        Self {
            elements,
            of_vertices,
            of_edges,
            own,
            seen: sampled.own,
            default_directed: header.directed.unwrap_or(false),
            time: header.time.clone(),
            vertex_properties,
        }
    }
}
