//! What the first elements of a document show.

use std::collections::HashMap;

use esker_format::value::decimal;
use esker_format::{Error, LogicalType, Result};
use esker_graph::Message;

use super::names::Candidates;
use super::syntax::{DocumentFormat, Edge, NamedValues, Sink, Stated, number};
use super::window::Window;
use crate::attributed::choose::{EdgeAttribute, Shown};
use crate::attributed::rows::Notices;
use crate::attributed::types::Types;
use crate::attributed::value::Attribute;
use crate::read::format::ReadOptions;
use crate::read::head::InputHead;
use crate::read::input::{Input, InputStream};
use crate::read::typed;

/// Elements of a kind that are looked at.
const SAMPLE_ELEMENTS: usize = 1000;
/// Bytes that are looked at at a time.
const SAMPLE_BYTES: usize = 1 << 16;
/// Bytes that are looked at of an input that can be read only once, until it has an edge.
const ONCE_BYTES_MAX: usize = 1 << 24;

/// What the first elements show.
#[derive(Default)]
pub(super) struct Sampled {
    pub(super) told: Stated,
    pub(super) types: Types,
    pub(super) names: Candidates,
    /// What edges and vertices are called where no attribute is the id.
    pub(super) ids: Vec<String>,
    pub(super) attributes: Vec<EdgeAttribute>,
    /// What the values of attributes of vertices are.
    pub(super) of_vertices: HashMap<String, Shown>,
    pub(super) vertices: usize,
    /// Whether no edge is known, as the input was looked at in part.
    pub(super) is_cut_before_edges: bool,
    edges: usize,
    texts: HashMap<String, Vec<Vec<u8>>>,
    texts_of_vertices: HashMap<String, Vec<Vec<u8>>>,
    notices: Notices,
}

/// Looks at the first vertices and edges. Those of a file may lie behind each other, however far; of an input
/// that can be read only once, the beginning is looked at, and kept in `head`, until an edge is found.
///
/// # Errors
/// If such an input has no edge within [`ONCE_BYTES_MAX`], and does not say what its edges have.
pub(super) fn sample(
    input: &Input,
    head: &mut InputHead,
    options: &ReadOptions,
    format: &DocumentFormat,
) -> Result<Sampled> {
    sample_within(input, head, options, format, ONCE_BYTES_MAX)
}

fn sample_within(
    input: &Input,
    head: &mut InputHead,
    options: &ReadOptions,
    format: &DocumentFormat,
    bytes_max: usize,
) -> Result<Sampled> {
    if !head.whole && input.is_repeatable() {
        return sample_stream(input, input.open()?, true, options, format);
    }
    loop {
        let stream = Input::memory("", head.bytes.clone()).open()?;
        let sampled = sample_stream(input, stream, head.whole, options, format)?;
        if head.whole || sampled.edges > 0 {
            return Ok(sampled);
        }
        if head.bytes.len() >= bytes_max {
            let is_directed_known = sampled.told.directed.or(format.directed).is_some();
            return match sampled.told.types.is_some() && is_directed_known {
                true => Ok(Sampled { is_cut_before_edges: true, ..sampled }),
                false => Err(Error::invalid(format!(
                    "{} can be read only once, and has no edge in its first {bytes_max} bytes, so that what edges have \
                     is unknown; save it to a file and name that",
                    input.path().display()
                ))),
            };
        }
        head.extend((head.bytes.len() * 4).clamp(SAMPLE_BYTES, bytes_max))?;
    }
}

fn sample_stream(
    input: &Input,
    stream: InputStream,
    has_end: bool,
    options: &ReadOptions,
    format: &DocumentFormat,
) -> Result<Sampled> {
    let looking = ReadOptions { block_bytes: SAMPLE_BYTES, ..options.clone() };
    let mut window = Window::new(input.path(), stream, Vec::new(), &looking, (format.syntax)());
    let mut sampled = Sampled { names: Candidates::new(format.names), ..Sampled::default() };
    while sampled.edges == 0 {
        let taken = window.next(|text, _, is_last, _, syntax| {
            Ok((syntax.take(text, is_last && has_end, &mut sampled)?, ()))
        });
        options.cancel.check()?;
        // What is wrong is said when it is read; the beginning is cut short anyway.
        if !matches!(taken, Ok(Some(()))) {
            break;
        }
    }
    sampled.take_types(format.are_values_untyped);
    Ok(sampled)
}

/// What a value shows, given what those before it have shown.
fn shown_with(before: Option<&Shown>, value: &Attribute<'_>) -> Shown {
    let is_number_in_quotes =
        |text: &str| text.is_empty() || decimal::number(text.as_bytes()).is_ok() && text.len() > 9;
    let shown = match value {
        Attribute::Boolean(_) => Shown::Typed(LogicalType::Boolean.into()),
        // Some libraries have integers beyond 32 bits in quotes, and empty ones where a value is missing.
        Attribute::Text(text) if before == Some(&Shown::Numbers) && is_number_in_quotes(text) => {
            Shown::Numbers
        }
        Attribute::Text(_) => Shown::Texts,
        Attribute::Int(_) | Attribute::Unsigned(_) | Attribute::Float(_) => Shown::Numbers,
    };
    match before {
        Some(before) if *before != shown => Shown::Texts,
        _ => shown,
    }
}

/// Whether a text stands for a missing number.
fn is_none(text: &[u8]) -> bool {
    text.is_empty() || text.eq_ignore_ascii_case(b"nan")
}

impl Sampled {
    /// Decides what texts are: dates and times, as in a table, and numbers if all values are texts.
    fn take_types(&mut self, are_untyped: bool) {
        let are_numbers = |values: &[Vec<u8>]| {
            let texts = || values.iter().map(Vec::as_slice).filter(|text| !is_none(text));
            are_untyped && texts().next().is_some() && decimal::are_numbers(texts())
        };
        for attribute in self.attributes.iter_mut().filter(|own| own.shown == Shown::Texts) {
            let Some(values) = self.texts.get(&attribute.name) else { continue };
            if are_numbers(values) {
                attribute.shown = Shown::Numbers;
            } else if let Some(own) = typed::sniff(values.iter().map(Vec::as_slice)) {
                attribute.shown = Shown::Typed(own.into());
            }
        }
        for (name, shown) in self.of_vertices.iter_mut().filter(|(_, shown)| **shown == Shown::Texts) {
            let Some(values) = self.texts_of_vertices.get(name) else { continue };
            if are_numbers(values) {
                *shown = Shown::Numbers;
            } else if let Some(own) = typed::sniff(values.iter().map(Vec::as_slice)).filter(|_| are_untyped) {
                *shown = Shown::Typed(own.into());
            }
        }
    }

    fn take_id(&mut self, id: &Attribute<'_>) {
        if self.ids.len() < 2 * SAMPLE_ELEMENTS {
            self.ids.push(String::from_utf8_lossy(&id.text()).into_owned());
        }
    }
}

impl Sink for Sampled {
    fn vertex(&mut self, _at: usize, id: &Attribute<'_>, fields: &NamedValues<'_>) -> Result<()> {
        self.vertices += 1;
        if self.vertices > SAMPLE_ELEMENTS {
            return Ok(());
        }
        self.take_id(id);
        if number(id).is_none() {
            self.names.refuse();
        }
        let value = |name: &str| {
            let found = fields.iter().find(|(own, _)| own == name)?.1.as_ref()?;
            Some(String::from_utf8_lossy(&found.text()).into_owned())
        };
        self.names.take(&fields.iter().map(|(name, _)| name.as_ref()), value);
        for (name, value) in fields {
            let Some(value) = value else { continue };
            let shown = shown_with(self.of_vertices.get(name.as_ref()), value);
            self.of_vertices.insert(name.clone().into_owned(), shown);
            if let Attribute::Text(text) = value {
                let texts = self.texts_of_vertices.entry(name.clone().into_owned()).or_default();
                texts.push(text.as_bytes().to_vec());
            }
        }
        Ok(())
    }

    fn edge(&mut self, _at: usize, edge: &Edge<'_>) -> Result<()> {
        self.edges += 1;
        if self.edges > SAMPLE_ELEMENTS {
            return Ok(());
        }
        self.take_id(&edge.source);
        self.take_id(&edge.target);
        if self.told.directed.is_none() {
            self.told.directed = edge.directed.filter(|directed| *directed);
        }
        for (name, value) in &edge.fields {
            let Some(value) = value else { continue };
            if let Attribute::Text(text) = value {
                self.texts.entry(name.clone().into_owned()).or_default().push(text.as_bytes().to_vec());
            }
            match self.attributes.iter_mut().find(|known| known.name == *name) {
                Some(known) => known.shown = shown_with(Some(&known.shown), value),
                None => self.attributes.push(EdgeAttribute {
                    name: name.clone().into_owned(),
                    shown: shown_with(None, value),
                    default: None,
                    is_weight: false,
                }),
            }
        }
        Ok(())
    }

    fn reject(&mut self, _at: usize, _reason: Message) {}

    fn broken(&mut self, _at: usize, reason: Message) -> Error {
        Error::invalid(reason)
    }

    fn told(&mut self) -> &mut Stated {
        &mut self.told
    }

    fn notices(&self) -> &Notices {
        &self.notices
    }
}

#[cfg(test)]
mod tests {
    use esker_graph::Cancel;

    use super::*;
    use crate::attributed::gml::DOCUMENT;

    #[test]
    fn edges_behind_many_vertices_are_looked_for_in_what_is_read_once() {
        let nodes: String = (0..10_000).map(|v| format!("node [ id {v} ]\n")).collect();
        let types = "# esker {\"edges\": {\"w\": \"int64\"}}\n";
        for (first, directed, bytes_max, expected) in [
            ("", "", 1 << 20, Some((1, false))),
            ("", "", 1 << 17, None),
            (types, "directed 1\n", 1 << 17, Some((0, true))),
        ] {
            let text = format!("{first}graph [\n{directed}{nodes}edge [ source 1 target 2 w 3 ]\n]\n");
            let mut head = InputHead::read(&Input::memory("-", text.as_bytes())).unwrap();
            let input = Input::Stdin(Cancel::default());
            let sampled = sample_within(&input, &mut head, &ReadOptions::default(), &DOCUMENT, bytes_max);
            match (sampled, expected) {
                (Ok(sampled), Some(expected)) => {
                    assert_eq!((sampled.attributes.len(), sampled.is_cut_before_edges), expected);
                }
                (Err(error), None) => assert!(error.to_string().contains("save it to a file"), "{error}"),
                (sampled, _) => panic!("{first}{bytes_max}: {:?}", sampled.err()),
            }
        }
    }
}
