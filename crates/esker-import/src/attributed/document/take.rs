//! From the elements of a document to rows.

use esker_format::{Error, LogicalType, Result};
use esker_graph::{Message, Setting, message};

use super::names::Names;
use super::parser::DocumentParser;
use super::syntax::{Edge, NamedValues, Sink, Stated, number};
use crate::attributed::choose::{Shown, number_of, unknown_attribute};
use crate::attributed::edges::{Accepted, EdgeProperty};
use crate::attributed::rows::{Notices, ReadEdge, Rows, several};
use crate::attributed::types::typed_value;
use crate::attributed::value::Attribute;
use crate::read::source::EdgeBatch;
use crate::text::reasons::not_in_range;

/// Rows of a part of a text.
pub(super) struct RowsSink<'e> {
    parser: &'e DocumentParser,
    names: &'e mut Names,
    told: &'e mut Stated,
    rows: Rows<'e>,
}

impl<'e> RowsSink<'e> {
    pub(super) fn new(
        parser: &'e DocumentParser,
        names: &'e mut Names,
        told: &'e mut Stated,
        text: &'e str,
        first_line: u64,
    ) -> Self {
        let mut rows = Rows::new(&parser.elements, text.as_bytes(), first_line);
        for (name, own) in &parser.sampled.types.of_vertices {
            rows.vertices.add(name, Some(own.clone()));
        }
        Self { parser, names, told, rows }
    }

    pub(super) fn finish(self, input_bytes: u64) -> Result<EdgeBatch> {
        let mut batch = self.rows.finish(input_bytes)?;
        if self.parser.numbering.is_some() {
            batch.vertices = None;
        }
        Ok(batch)
    }

    /// The id of the vertex that an edge calls so.
    fn end(&self, end: &Attribute<'_>, what: &str) -> std::result::Result<Attribute<'static>, Message> {
        if self.parser.id.is_some() {
            let name = number(end).and_then(|number| self.names.get(number));
            let Some(name) = name else {
                let shown = String::from_utf8_lossy(&end.text()).into_owned();
                let reason = format!(
                    "the {what} is {shown}, but no vertex before has this number; put all \
                                      vertices first, or take numbers as ids with "
                );
                return Err(message![reason, Setting::Ids.to("int")]);
            };
            return Ok(Attribute::Text(name.to_owned().into()));
        }
        let numbering = self.parser.numbering.or(self.told.numbering);
        if let (Some(own), Some(id)) = (numbering, number(end)) {
            let ids = own.first..=own.first.saturating_add(own.count).saturating_sub(1);
            let id = id.cast_unsigned();
            if own.count == 0 || !ids.contains(&id) {
                return Err(not_in_range(what, id, &ids));
            }
        }
        Ok(owned(end))
    }

    /// A value of a vertex, as the type or the first vertices tell.
    fn value_of_vertex<'a>(&self, name: &str, value: &Attribute<'a>) -> Option<Attribute<'a>> {
        let Attribute::Text(text) = value else { return Some(value.clone()) };
        if let Some(own) = self.parser.sampled.types.of_vertices.get(name) {
            return match own.logical {
                LogicalType::Text => Some(value.clone()),
                _ => typed_value(text.as_bytes(), own).or_else(|| Some(value.clone())),
            };
        }
        match self.parser.sampled.of_vertices.get(name) {
            Some(Shown::Numbers) => number_of(text, false),
            Some(Shown::Typed(own)) => typed_value(text.as_bytes(), own).or_else(|| Some(value.clone())),
            _ => Some(value.clone()),
        }
    }
}

fn owned(value: &Attribute<'_>) -> Attribute<'static> {
    match value {
        Attribute::Int(value) => Attribute::Int(*value),
        Attribute::Unsigned(value) => Attribute::Unsigned(*value),
        Attribute::Float(value) => Attribute::Float(*value),
        Attribute::Boolean(value) => Attribute::Boolean(*value),
        Attribute::Text(text) => Attribute::Text(text.clone().into_owned().into()),
    }
}

/// Whether a value stands for none: nothing, or no number, where no texts belong.
fn is_missing(property: &EdgeProperty, value: &Attribute<'_>) -> bool {
    let is_none = |text: &str| text.is_empty() || text.eq_ignore_ascii_case("nan");
    property.accepted != Accepted::Texts && matches!(value, Attribute::Text(text) if is_none(text))
}

impl Sink for RowsSink<'_> {
    fn vertex(&mut self, at: usize, id: &Attribute<'_>, fields: &NamedValues<'_>) -> Result<()> {
        let mut own = None;
        if let Some(name) = &self.parser.id {
            let value = fields.iter().find(|(other, _)| other == name).and_then(|(_, value)| value.as_ref());
            let text = value.map(|value| String::from_utf8_lossy(&value.text()).into_owned());
            let added = match (number(id), text.filter(|text| !text.is_empty())) {
                (Some(number), Some(text)) => {
                    let added = self.names.add(number, &text)?;
                    own = Some(Attribute::Text(text.into()));
                    added
                }
                (None, _) => Err("the number of the vertex is no integer".into()),
                (_, None) => {
                    let reason = format!("the vertex has no {name:?}; take numbers as ids with ");
                    Err(message![reason, Setting::Ids.to("int")])
                }
            };
            if let Err(reason) = added {
                self.rows.reject(at, reason);
                return Ok(());
            }
        }
        let mut values = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            if self.parser.id.as_deref() == Some(name.as_ref()) {
                continue;
            }
            let own = match self.parser.sampled.of_vertices.get(name.as_ref()) {
                Some(Shown::Typed(own)) => Some(own.clone()),
                _ => None,
            };
            let place = self.rows.vertices.place_of_type(name, own);
            let value = value.as_ref().and_then(|value| self.value_of_vertex(name, value));
            values.extend(value.map(|value| (place, value)));
        }
        self.rows.vertex(at, Some(own.as_ref().unwrap_or(id)), &values);
        Ok(())
    }

    fn edge(&mut self, at: usize, edge: &Edge<'_>) -> Result<()> {
        let properties = &self.parser.elements.properties;
        let mut values: Vec<Option<Attribute<'_>>> = vec![None; properties.len()];
        for (name, value) in &edge.fields {
            let Some(value) = value else { continue };
            match properties.iter().position(|property| property.name == *name) {
                Some(place) if is_missing(&properties[place], value) => {}
                Some(place) if values[place].as_ref().is_some_and(|known| known != value) => {
                    self.rows.reject(at, several(name));
                    return Ok(());
                }
                Some(place) => values[place] = Some(value.clone()),
                None if self.parser.left_out.iter().any(|other| *other == *name) => {}
                None => {
                    self.rows.reject(at, unknown_attribute(name));
                    return Ok(());
                }
            }
        }
        let ends = self
            .end(&edge.source, "source")
            .and_then(|source| self.end(&edge.target, "target").map(|target| [source, target]));
        let [source, target] = match ends {
            Ok(ends) => ends,
            Err(reason) => {
                self.rows.reject(at, reason);
                return Ok(());
            }
        };
        let (source, target) = (Some(&source), Some(&target));
        let read = ReadEdge { source, target, directed: edge.directed, is_mutual: false, values: &values };
        self.rows.edge(at, &read)
    }

    fn reject(&mut self, at: usize, reason: Message) {
        self.rows.reject(at, reason);
    }

    fn broken(&mut self, at: usize, reason: Message) -> Error {
        self.rows.broken(at, reason)
    }

    fn told(&mut self) -> &mut Stated {
        self.told
    }

    fn notices(&self) -> &Notices {
        &self.parser.elements.notices
    }
}
