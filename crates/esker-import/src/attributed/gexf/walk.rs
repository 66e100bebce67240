//! The nodes and edges of a block of a GEXF document.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use esker_format::Result;
use quick_xml::events::{BytesStart, Event};

use super::header::{edge_default, value};
use super::parser::{AttributePlace, GexfParser, OWN};
use crate::attributed::graphml::keys::{KeyKind, value_of};
use crate::attributed::rows::{Notices, ReadEdge, Rows, several};
use crate::attributed::value::Attribute;
use crate::attributed::xml::{self, OpenElement, attribute_value};

/// The place of the start and the end in [`OWN`].
const START: usize = 3;
const END: usize = 4;

/// A pass over the elements of a block.
pub(super) struct GexfWalk<'p> {
    parser: &'p GexfParser,
    rows: Rows<'p>,
    open: OpenElement,
    /// Where it begins.
    at: usize,
    ends: [Option<String>; 2],
    label: Option<String>,
    kind: Option<String>,
    times: [Option<String>; 2],
    spells: usize,
    /// Why the element is left out.
    refused: Option<String>,
    vertex_values: Vec<(usize, Attribute<'static>)>,
    edge_values: Vec<Option<Attribute<'static>>>,
    /// How many elements that are not read are open.
    skipped: usize,
}

impl<'p> GexfWalk<'p> {
    pub(super) fn new(parser: &'p GexfParser, rows: Rows<'p>) -> Self {
        Self {
            parser,
            rows,
            open: OpenElement::None,
            at: 0,
            ends: [None, None],
            label: None,
            kind: None,
            times: [None, None],
            spells: 0,
            refused: None,
            vertex_values: Vec::new(),
            edge_values: vec![None; parser.elements.properties.len()],
            skipped: 0,
        }
    }

    pub(super) fn walk(mut self, text: &str) -> Result<Rows<'p>> {
        let mut reader = xml::elements(text);
        loop {
            let at = reader.buffer_position() as usize;
            let event = match reader.read_event() {
                Ok(event) => event,
                Err(error) => return Err(self.rows.broken(at, format!("this is no XML: {error}"))),
            };
            match event {
                Event::Eof => break,
                Event::Start(element) => self.start(at, &element, false)?,
                Event::Empty(element) => self.start(at, &element, true)?,
                Event::End(element) => self.end(at, element.name().as_ref())?,
                Event::GeneralRef(found) => {
                    xml::reference(&found).map_err(|reason| self.rows.broken(at, reason))?;
                }
                Event::DocType(_) => {
                    return Err(self.rows.broken(at, "a document type stands behind the first node"));
                }
                _ => {}
            }
        }
        if self.open != OpenElement::None || self.skipped > 0 {
            let at = self.at;
            return Err(self
                .rows
                .broken(at, "the element is not closed before the next node or edge begins"));
        }
        Ok(self.rows)
    }

    fn start(&mut self, at: usize, element: &BytesStart<'_>, is_empty: bool) -> Result<()> {
        let notices = &self.parser.elements.notices;
        if element.contains('<') {
            return Err(self
                .rows
                .broken(at, "this is no XML: the character < stands within a tag; write &lt;"));
        }
        let name = element.local_name();
        let name = name.as_ref();
        if matches!(element.name().as_ref(), "node" | "edge")
            && (self.skipped > 0 || self.open != OpenElement::None)
        {
            let open = self.at;
            return Err(self
                .rows
                .broken(open, "the element is not closed before the next node or edge begins"));
        }
        if self.skipped > 0 {
            self.skipped += usize::from(!is_empty);
            return Ok(());
        }
        match name {
            "node" | "edge" => {
                self.at = at;
                self.open = if name == "node" { OpenElement::Vertex } else { OpenElement::Edge };
                self.attributes(at, element)?;
                if is_empty {
                    self.close()?;
                }
            }
            "nodes" | "edges" => {
                // The values of a vertex stand before the vertices within it.
                if self.open != OpenElement::None {
                    notices.nested.fetch_add(1, Ordering::Relaxed);
                    self.close()?;
                }
            }
            "attvalue" => self.value(at, element)?,
            "spell" => self.spell(at, element)?,
            "attvalues" | "spells" | "gexf" => {}
            "graph" => {
                let own = edge_default(element).map_err(|reason| self.rows.broken(at, reason))?;
                if own.unwrap_or(false) != self.parser.default_directed {
                    let reason = "this graph has another defaultedgetype than the first; put it into a file of its own";
                    return Err(self.rows.broken(at, reason));
                }
                notices.nested.fetch_add(1, Ordering::Relaxed);
            }
            "attributes" => {
                return Err(self.rows.broken(at, "attributes are declared behind the first node"));
            }
            _ => {
                if self.open != OpenElement::None {
                    Notices::add(&notices.graphics);
                }
                self.skipped += usize::from(!is_empty);
            }
        }
        Ok(())
    }

    fn attributes(&mut self, at: usize, element: &BytesStart<'_>) -> Result<()> {
        (self.ends, self.label, self.kind, self.times, self.spells, self.refused) =
            ([None, None], None, None, [None, None], 0, None);
        for attribute in element.attributes() {
            let value = match attribute.as_ref().map(attribute_value) {
                Ok(Ok(value)) => value.into_owned(),
                Ok(Err(reason)) => return Err(self.rows.broken(at, reason)),
                Err(error) => return Err(self.rows.broken(at, format!("this is no XML: {error}"))),
            };
            let Ok(attribute) = attribute else { continue };
            match (self.open, attribute.key.as_ref()) {
                (OpenElement::Vertex, "id") | (OpenElement::Edge, "source") => self.ends[0] = Some(value),
                (OpenElement::Edge, "target") => self.ends[1] = Some(value),
                (OpenElement::Edge, "type") => self.kind = Some(value),
                (OpenElement::Vertex, "label") => self.label = Some(value),
                (_, "start" | "startopen") => self.times[0] = Some(value),
                (_, "end" | "endopen") => self.times[1] = Some(value),
                (OpenElement::Vertex, "pid") => self.value_of_vertex("pid", Attribute::Text(value.into())),
                (OpenElement::Edge, "id") => {}
                (OpenElement::Edge, name) => {
                    let place = OWN.iter().position(|own| *own == name).and_then(|own| self.parser.own[own]);
                    if let Some(place) = place {
                        self.edge_values[place] = Some(Attribute::Text(value.into()));
                    } else if OWN
                        .iter()
                        .position(|own| *own == name)
                        .is_some_and(|own| !self.parser.seen[own])
                    {
                        return Err(self
                            .rows
                            .broken(at, format!("the edge has a {name}, but the first edges have none")));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn value_of_vertex(&mut self, name: &str, value: Attribute<'static>) {
        let place = self.rows.vertices.place(name);
        self.vertex_values.push((place, value));
    }

    fn value(&mut self, at: usize, element: &BytesStart<'_>) -> Result<()> {
        let get = |name: &str| value(element, name);
        let (key, text, bounds) = match (get("for"), get("value"), get("start"), get("end")) {
            (Ok(key), Ok(text), Ok(start), Ok(end)) => (key, text, start.or(end)),
            (Err(reason), ..) | (_, Err(reason), ..) | (.., Err(reason), _) | (.., Err(reason)) => {
                return Err(self.rows.broken(at, reason));
            }
        };
        let key = match key {
            Some(key) => Some(key),
            // GEXF 1.0 had `id`.
            None => get("id").map_err(|reason| self.rows.broken(at, reason))?,
        };
        if bounds.is_some() {
            Notices::add(&self.parser.elements.notices.dynamic);
            return Ok(());
        }
        let places = match self.open {
            OpenElement::Vertex => &self.parser.of_vertices,
            OpenElement::Edge => &self.parser.of_edges,
            OpenElement::None => return Err(self.rows.broken(at, "the value belongs to no node or edge")),
        };
        let key = key.unwrap_or_default();
        let Some(AttributePlace { place, kind }) = places.get(&key) else {
            return Err(self.rows.broken(at, format!("no attribute {key:?} is declared for this element")));
        };
        let (Some(place), Some(text)) = (*place, text) else { return Ok(()) };
        match (self.open, kind) {
            (OpenElement::Vertex, kind) => {
                self.vertex_values.extend(value_of(text.into(), kind).map(|value| (place, value)));
            }
            (_, kind) => {
                let value = match kind {
                    KeyKind::Typed(_) if text.is_empty() => None,
                    // The property itself parses what has a type.
                    KeyKind::Typed(_) => Some(Attribute::Text(text.into())),
                    kind => value_of(text.into(), kind),
                };
                let known = &mut self.edge_values[place];
                if known.is_some() && value.is_some() && *known != value {
                    self.refused = Some(several(&self.parser.elements.properties[place].name));
                }
                *known = value.or(known.take());
            }
        }
        Ok(())
    }

    /// A time in which a vertex or an edge is there. One is its start and end; several have no place.
    fn spell(&mut self, at: usize, element: &BytesStart<'_>) -> Result<()> {
        self.spells += 1;
        if self.spells > 1 {
            self.times = [None, None];
            Notices::add(&self.parser.elements.notices.dynamic);
            return Ok(());
        }
        for (index, names) in [["start", "startopen"], ["end", "endopen"]].into_iter().enumerate() {
            for name in names {
                let found = value(element, name).map_err(|reason| self.rows.broken(at, reason))?;
                self.times[index] = self.times[index].take().or(found);
            }
        }
        Ok(())
    }

    fn end(&mut self, at: usize, name: &str) -> Result<()> {
        if name.contains('<') {
            return Err(self
                .rows
                .broken(at, "this is no XML: the character < stands within a tag; write &lt;"));
        }
        if self.skipped > 0 {
            self.skipped -= 1;
            return Ok(());
        }
        let name = name.rsplit(':').next().unwrap_or(name);
        match (name, self.open) {
            ("node", OpenElement::Vertex) | ("edge", OpenElement::Edge) => self.close(),
            ("node" | "edge", OpenElement::None) => Ok(()),
            ("node", OpenElement::Edge) | ("edge", OpenElement::Vertex) => {
                Err(self.rows.broken(at, format!("</{name}> ends another element than it should")))
            }
            _ => Ok(()),
        }
    }

    /// Whether the edge that is open has a direction. If it says what is not understood, it is left out.
    fn is_directed(&mut self) -> bool {
        match self.kind.as_deref().map(str::trim_ascii) {
            Some("directed" | "mutual") => true,
            Some("undirected") => false,
            None | Some("") => self.parser.default_directed,
            Some(other) => {
                let reason =
                    format!("the type of the edge is {other:?}; write directed, undirected or mutual");
                self.refused.get_or_insert(reason);
                false
            }
        }
    }

    /// Hands over the element that is open.
    fn close(&mut self) -> Result<()> {
        let times = std::mem::take(&mut self.times);
        let ends = std::mem::take(&mut self.ends).map(|end| end.map(|end| Attribute::Text(Cow::Owned(end))));
        match self.open {
            OpenElement::Vertex => {
                let parser = self.parser;
                for (place, (.., default)) in parser.vertex_properties.iter().enumerate() {
                    if let Some(default) = default
                        && !self.vertex_values.iter().any(|(own, _)| *own == place)
                    {
                        self.vertex_values.push((place, default.clone()));
                    }
                }
                let is_declared = |name: &str| parser.vertex_properties.iter().any(|(own, ..)| own == name);
                // A label that repeats the id says nothing.
                let label = self.label.take().map(|label| Attribute::Text(label.into()));
                // As an export writes the property `Label`.
                let is_repeated = |label: &Attribute<'_>| {
                    let repeats =
                        |place: usize| parser.vertex_properties[place].0.eq_ignore_ascii_case("label");
                    self.vertex_values.iter().any(|(place, value)| value == label && repeats(*place))
                };
                let is_said = |label: &Attribute<'_>| is_declared("label") || is_repeated(label);
                if let Some(label) = label.filter(|label| ends[0].as_ref() != Some(label) && !is_said(label))
                {
                    self.value_of_vertex("label", label);
                }
                for (name, time) in
                    ["start", "end"].into_iter().zip(times).filter(|(name, _)| !is_declared(name))
                {
                    let time = time.and_then(|time| value_of(time.into(), &parser.time));
                    if let Some(time) = time {
                        let place = self.rows.vertices.place_of_type(name, parser.time.property_type());
                        self.vertex_values.push((place, time));
                    }
                }
                self.rows.vertex(self.at, ends[0].as_ref(), &self.vertex_values);
                self.vertex_values.clear();
            }
            _ => {
                for (own, time) in [START, END].into_iter().zip(times) {
                    if let (Some(place), Some(time)) = (self.parser.own[own], time) {
                        self.edge_values[place] = Some(Attribute::Text(time.into()));
                    }
                }
                let directed = self.is_directed();
                if let Some(reason) = self.refused.take() {
                    self.rows.reject(self.at, reason);
                    self.edge_values.fill(None);
                    self.open = OpenElement::None;
                    return Ok(());
                }
                let edge = ReadEdge {
                    source: ends[0].as_ref(),
                    target: ends[1].as_ref(),
                    directed: Some(directed),
                    is_mutual: self.kind.as_deref() == Some("mutual"),
                    values: &self.edge_values,
                };
                self.rows.edge(self.at, &edge)?;
                self.edge_values.fill(None);
            }
        }
        self.open = OpenElement::None;
        Ok(())
    }
}
