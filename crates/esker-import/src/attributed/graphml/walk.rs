//! The nodes and edges of a block of a GraphML document.

use std::borrow::Cow;

use esker_format::Result;
use quick_xml::events::{BytesStart, Event};

use super::keys::{KeyKind, value_of};
use super::parser::{EdgeKey, GraphmlParser, VertexKey};
use crate::attributed::rows::{Notices, ReadEdge, Rows, several};
use crate::attributed::value::Attribute;
use crate::attributed::xml::{self, GraphDirections, OpenElement, attribute_value, edge_default};

/// A pass over the elements of a block.
pub(super) struct GraphmlWalk<'p, 'a> {
    parser: &'p GraphmlParser,
    rows: Rows<'p>,
    open: OpenElement,
    /// Where it begins.
    at: usize,
    ends: [String; 2],
    /// Which of the ends are given.
    has_end: [bool; 2],
    directed: Option<bool>,
    /// What the graphs that are open say of edges that say nothing.
    directions: GraphDirections,
    /// Why the element is left out.
    refused: Option<String>,
    vertex_values: Vec<(usize, Attribute<'a>)>,
    edge_values: Vec<Option<Attribute<'a>>>,
    /// The key of the value that is being read.
    key: Option<String>,
    text: Cow<'a, str>,
    /// Whether elements stand within the value.
    is_nested: bool,
    /// How many elements that are not read are open.
    skipped: usize,
}

impl<'p, 'a> GraphmlWalk<'p, 'a> {
    pub(super) fn new(parser: &'p GraphmlParser, rows: Rows<'p>, directions: GraphDirections) -> Self {
        Self {
            parser,
            rows,
            open: OpenElement::None,
            at: 0,
            ends: [String::new(), String::new()],
            has_end: [false; 2],
            directed: None,
            directions,
            refused: None,
            vertex_values: Vec::new(),
            edge_values: vec![None; parser.elements.properties.len()],
            key: None,
            text: Cow::Borrowed(""),
            is_nested: false,
            skipped: 0,
        }
    }

    pub(super) fn walk(mut self, text: &'a str) -> Result<Rows<'p>> {
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
                Event::Text(text) if self.takes_text() => self.push_text(text.xml10_content()),
                Event::CData(text) if self.takes_text() => self.push_text(text.xml10_content()),
                Event::GeneralRef(found) => match xml::reference(&found) {
                    Ok(character) if self.takes_text() => self.text.to_mut().push(character),
                    Ok(_) => {}
                    Err(reason) => return Err(self.rows.broken(at, reason)),
                },
                Event::DocType(_) => {
                    return Err(self.rows.broken(at, "a document type stands behind the first node"));
                }
                _ => {}
            }
        }
        if self.open != OpenElement::None || self.key.is_some() || self.skipped > 0 {
            let at = self.at;
            return Err(self
                .rows
                .broken(at, "the element is not closed before the next node or edge begins"));
        }
        Ok(self.rows)
    }

    fn takes_text(&self) -> bool {
        self.key.is_some() && self.skipped == 0
    }

    fn push_text(&mut self, text: Cow<'a, str>) {
        if self.text.is_empty() { self.text = text } else { self.text.to_mut().push_str(&text) }
    }

    fn start(&mut self, at: usize, element: &BytesStart<'_>, is_empty: bool) -> Result<()> {
        let notices = &self.parser.elements.notices;
        if element.contains('<') {
            return Err(self
                .rows
                .broken(at, "this is no XML: the character < stands within a tag; write &lt;"));
        }
        if self.key.is_some() || self.skipped > 0 {
            if matches!(element.name().as_ref(), "node" | "edge") {
                return Err(self
                    .rows
                    .broken(self.at, "the element is not closed before the next node or edge begins"));
            }
            self.is_nested = true;
            self.skipped += usize::from(!is_empty);
            return Ok(());
        }
        match element.local_name().as_ref() {
            name @ ("node" | "edge") => {
                if self.open != OpenElement::None {
                    let open = self.at;
                    return Err(self
                        .rows
                        .broken(open, format!("the element is not closed before a {name} begins")));
                }
                self.at = at;
                self.open = if name == "node" { OpenElement::Vertex } else { OpenElement::Edge };
                self.attributes(at, element)?;
                if is_empty {
                    self.close()?;
                }
            }
            "data" => {
                self.begin_data(at, element)?;
                if is_empty {
                    self.end_data();
                }
            }
            "graph" => self.begin_graph(at, element, is_empty)?,
            "key" => {
                return Err(self
                    .rows
                    .broken(at, "the key is declared behind the first node; move it before the graph"));
            }
            name => {
                match name {
                    "hyperedge" => self
                        .rows
                        .reject(at, "a hyperedge joins any number of vertices, but an edge joins two"),
                    "port" => Notices::add(&notices.ports),
                    "desc" | "locator" => {}
                    _ => Notices::add(&notices.graphics),
                }
                self.skipped += usize::from(!is_empty);
            }
        }
        Ok(())
    }

    fn begin_graph(&mut self, at: usize, element: &BytesStart<'_>, is_empty: bool) -> Result<()> {
        let elements = &self.parser.elements;
        Notices::add(&elements.notices.nested);
        let own = edge_default(element).map_err(|reason| self.rows.broken(at, reason))?;
        if own == Some(true) && !elements.directed && !elements.is_undirected_anyway {
            let reason =
                "this graph is directed, but the one before it is undirected; put the directed one first";
            return Err(self.rows.broken(at, reason));
        }
        if !is_empty {
            let within = self.directions.within(own);
            self.directions =
                within.ok_or_else(|| self.rows.broken(at, "too many graphs stand within each other"))?;
        }
        // The values of a vertex stand before the graph within it.
        if self.open != OpenElement::None {
            self.close()?;
        }
        Ok(())
    }

    fn attributes(&mut self, at: usize, element: &BytesStart<'_>) -> Result<()> {
        (self.has_end, self.directed, self.refused) = ([false; 2], None, None);
        for attribute in element.attributes() {
            let value = match attribute.as_ref().map(attribute_value) {
                Ok(Ok(value)) => value,
                Ok(Err(reason)) => return Err(self.rows.broken(at, reason)),
                Err(error) => return Err(self.rows.broken(at, format!("this is no XML: {error}"))),
            };
            let Ok(attribute) = attribute else { continue };
            let end = match (self.open, attribute.key.as_ref()) {
                (OpenElement::Vertex, "id") | (OpenElement::Edge, "source") => 0,
                (OpenElement::Edge, "target") => 1,
                (OpenElement::Edge, "directed") => {
                    match xml::truth("directed", &value) {
                        Ok(own) => self.directed = own,
                        Err(reason) => self.refused = Some(reason),
                    }
                    continue;
                }
                (OpenElement::Edge, "sourceport" | "targetport") => {
                    Notices::add(&self.parser.elements.notices.ports);
                    continue;
                }
                _ => continue,
            };
            self.ends[end].clear();
            self.ends[end].push_str(&value);
            self.has_end[end] = true;
        }
        Ok(())
    }

    fn begin_data(&mut self, at: usize, element: &BytesStart<'_>) -> Result<()> {
        let attribute = element.try_get_attribute("key");
        let key = match attribute.as_ref().map(|found| found.as_ref().map(attribute_value)) {
            Ok(Some(Ok(key))) => key.into_owned(),
            Ok(Some(Err(reason))) => return Err(self.rows.broken(at, reason)),
            _ => return Err(self.rows.broken(at, "the value has no key")),
        };
        let is_known = match self.open {
            OpenElement::Vertex => self.parser.vertex_keys.contains_key(&key),
            OpenElement::Edge => self.parser.edge_keys.contains_key(&key),
            OpenElement::None => true,
        };
        if !is_known {
            return Err(self.rows.broken(at, format!("no key {key:?} is declared for this element")));
        }
        (self.key, self.is_nested, self.text) = (Some(key), false, Cow::Borrowed(""));
        Ok(())
    }

    /// Ends the value that is being read.
    fn end_data(&mut self) {
        let Some(key) = self.key.take() else { return };
        let text = std::mem::take(&mut self.text);
        let notices = &self.parser.elements.notices;
        if self.open == OpenElement::None {
            return Notices::add(&notices.of_graph);
        }
        if self.is_nested {
            return Notices::add(&notices.graphics);
        }
        if let (OpenElement::Vertex, Some(VertexKey { place, kind })) =
            (self.open, self.parser.vertex_keys.get(&key))
        {
            match kind {
                KeyKind::Unread => Notices::add(&notices.graphics),
                kind => self.vertex_values.extend(value_of(text, kind).map(|value| (*place, value))),
            }
        } else if let Some(EdgeKey { place, kind }) = self.parser.edge_keys.get(&key) {
            match (place, kind) {
                (_, KeyKind::Unread) => Notices::add(&notices.graphics),
                (Some(place), kind) => {
                    let value = match kind {
                        KeyKind::Typed(_) if text.is_empty() => None,
                        // The property itself parses what has a type.
                        KeyKind::Typed(_) => Some(Attribute::Text(text)),
                        kind => value_of(text, kind),
                    };
                    let known = &mut self.edge_values[*place];
                    if known.is_some() && value.is_some() && *known != value {
                        self.refused = Some(several(&self.parser.elements.properties[*place].name));
                    }
                    *known = value.or(known.take());
                }
                (None, _) => {}
            }
        }
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
        let expected = match (&self.key, self.open) {
            (Some(_), _) => "data",
            (None, OpenElement::Vertex) => "node",
            (None, OpenElement::Edge) => "edge",
            (None, OpenElement::None) => {
                if name == "graph" {
                    self.directions = self.directions.behind();
                }
                return Ok(());
            }
        };
        if name != expected {
            return Err(self.rows.broken(at, format!("</{expected}> belongs here")));
        }
        if self.key.is_some() {
            self.end_data();
            return Ok(());
        }
        self.close()
    }

    /// Hands over the element that is open.
    fn close(&mut self) -> Result<()> {
        let ends = [0, 1]
            .map(|end| self.has_end[end].then(|| Attribute::Text(Cow::Borrowed(self.ends[end].as_str()))));
        match self.open {
            OpenElement::Vertex => {
                for (place, (.., default)) in self.parser.vertex_properties.iter().enumerate() {
                    if let Some(default) = default
                        && !self.vertex_values.iter().any(|(own, _)| *own == place)
                    {
                        self.vertex_values.push((place, default.clone()));
                    }
                }
                self.rows.vertex(self.at, ends[0].as_ref(), &self.vertex_values);
                self.vertex_values.clear();
            }
            _ if self.refused.is_some() => {
                self.rows.reject(self.at, self.refused.take().unwrap_or_default());
                self.edge_values.fill(None);
            }
            _ => {
                let edge = ReadEdge {
                    source: ends[0].as_ref(),
                    target: ends[1].as_ref(),
                    directed: Some(self.directed.unwrap_or(self.directions.is_directed())),
                    is_mutual: false,
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
