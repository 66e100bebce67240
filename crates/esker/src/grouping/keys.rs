//! What rows are grouped by.

use std::collections::HashMap;
use std::sync::Arc;

use esker_graph::{Bitmap, Reservation, Run, VertexId, vertex};
use esker_store::format::value::name::unquoted;
use esker_store::format::{ElementType, PropertyRecord};
use esker_store::ids::ExternalId;
use esker_store::property::PropertyValue;
use esker_store::{Version, View};
use serde_json::Value;

use super::sort::{Number, RowMemory, SortKey};
use crate::differences::value_json;
use crate::error::{Error, Result};
use crate::selection::end_of_vertex;
use crate::window::{Span, Times};

/// Keys that rows may have at most.
pub(super) const KEYS_MAX: usize = 4;

/// A key as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupKey {
    /// The id of an end, or of both: an edge is a row of either end then.
    End(GroupEnd),
    /// A property of an end, or of both.
    EndProperty(GroupEnd, String),
    /// A property of the edge, or of the vertex where vertices are grouped.
    Property(String),
}

/// Which end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupEnd {
    /// Where it leaves.
    Source,
    /// Where it arrives.
    Target,
    /// Either: the edge counts for both, a loop once.
    Vertex,
}

impl GroupEnd {
    fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Target => "target",
            Self::Vertex => "vertex",
        }
    }
}

/// The keys of a text, which commas separate. A name in double quotes may have commas and dots, as
/// `source."of birth"`; two quotes in it stand for one.
///
/// # Errors
/// [`Error::Usage`] for a quote that is not closed, and for an empty key.
pub fn keys_of(text: &str) -> Result<Vec<GroupKey>> {
    let (mut parts, mut is_open) = (vec![String::new()], false);
    for sign in text.chars() {
        is_open ^= sign == '"';
        match parts.last_mut() {
            Some(part) if is_open || sign != ',' => part.push(sign),
            _ => parts.push(String::new()),
        }
    }
    if is_open {
        return Err(Error::usage(format!("{text:?} has a quote that is not closed")));
    }
    let key = |part: &String| match part.trim() {
        "" => Err(Error::usage(format!("{text:?} has an empty key"))),
        part => Ok(part.into()),
    };
    parts.iter().map(key).collect()
}

impl From<&str> for GroupKey {
    /// `source`, `target` and `vertex` are ends, `source.NAME` and so on their properties, and all else is a
    /// property; one in double quotes always.
    fn from(text: &str) -> Self {
        if let Some(name) = unquoted(text) {
            return Self::Property(name);
        }
        let (first, name) = text.split_once('.').map_or((text, None), |(first, name)| (first, Some(name)));
        let ends = [GroupEnd::Source, GroupEnd::Target, GroupEnd::Vertex];
        match (ends.into_iter().find(|end| end.name() == first), name) {
            (Some(end), None) => Self::End(end),
            (Some(end), Some(name)) => {
                Self::EndProperty(end, unquoted(name).unwrap_or_else(|| name.to_owned()))
            }
            (None, _) => Self::Property(text.to_owned()),
        }
    }
}

impl std::fmt::Display for GroupKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::End(end) => f.write_str(end.name()),
            Self::EndProperty(end, name) => write!(f, "{}.{name}", end.name()),
            Self::Property(name) => f.write_str(name),
        }
    }
}

/// The bits of a key: zero has two signs and is one value.
pub(super) fn key_bits(record: &PropertyRecord, bits: u64) -> u64 {
    let is_negative_zero = match record.element {
        ElementType::F32 => bits == u64::from((-0.0_f32).to_bits()),
        ElementType::F64 => bits == (-0.0_f64).to_bits(),
        _ => false,
    };
    if is_negative_zero && record.is_number() { 0 } else { bits }
}

/// The keys of a row: bits of numbers, codes of texts, numbers of vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) struct KeyBits {
    values: [u64; KEYS_MAX],
    /// A bit for each key that is missing.
    missing: u8,
}

impl KeyBits {
    pub(super) fn set(&mut self, place: usize, value: Option<u64>) {
        match value {
            Some(value) => self.values[place] = value,
            None => self.missing |= 1 << place,
        }
    }

    pub(super) fn get(&self, place: usize) -> Option<u64> {
        (self.missing >> place & 1 == 0).then(|| self.values[place])
    }
}

/// A key in the terms of a version.
pub(super) enum KeyColumn {
    End(GroupEnd),
    EndProperty(GroupEnd, VertexValues),
    Property(PropertyRecord),
    /// The end of the step in which the time of an edge lies.
    Step(StepKey),
}

/// Steps of time.
pub(super) struct StepKey {
    pub(super) property: PropertyRecord,
    every: Span,
    times: Times,
}

/// Bytes of a text beside the text: in the list, in the table of codes, and of its counts.
const TEXT_BYTES: u64 = 16 + 2 * 32 + 16;

/// A property of all vertices: bits, or codes of texts.
pub(super) struct VertexValues {
    record: PropertyRecord,
    bits: Vec<u64>,
    known: Bitmap,
    texts: Vec<Arc<[u8]>>,
    _memory: (Reservation, RowMemory),
}

impl KeyColumn {
    pub(super) fn of_edges(key: &GroupKey, version: &Version, run: &Run) -> Result<Self> {
        let directed = |end: GroupEnd| match end == GroupEnd::Vertex || version.is_directed() {
            true => Ok(end),
            false => Err(Error::usage(format!(
                "the edges of an undirected graph have no {}: group by vertex, and each edge counts for both ends",
                end.name()
            ))),
        };
        Ok(match key {
            GroupKey::End(end) => Self::End(directed(*end)?),
            GroupKey::EndProperty(end, name) => {
                Self::EndProperty(directed(*end)?, VertexValues::read(version, name, run)?)
            }
            GroupKey::Property(name) => {
                Self::Property(match (version.edge_property(name), version.kind_property()) {
                    (Err(_), Some(kind)) if name == "kind" => kind.clone(),
                    (found, _) => found?.clone(),
                })
            }
        })
    }

    /// A key of vertices, whose properties are named without `vertex`.
    pub(super) fn of_vertices(key: &GroupKey, version: &Version, run: &Run) -> Result<Self> {
        match key {
            GroupKey::End(GroupEnd::Vertex) => Ok(Self::End(GroupEnd::Vertex)),
            GroupKey::EndProperty(GroupEnd::Vertex, name) | GroupKey::Property(name) => {
                Ok(Self::EndProperty(GroupEnd::Vertex, VertexValues::read(version, name, run)?))
            }
            GroupKey::End(_) => Err(end_of_vertex(&key.to_string(), None)),
            GroupKey::EndProperty(_, name) => Err(end_of_vertex(&key.to_string(), Some(name))),
        }
    }

    /// The steps of a length in which the times of a view lie.
    ///
    /// # Errors
    /// [`Error::Usage`] for a length that makes no sense in the unit of the times.
    pub(super) fn steps(view: &View, times: Times, every: Span) -> Result<Self> {
        let property = view.version().edge_property(&times.property)?.clone();
        times.grid(every)?;
        Ok(Self::Step(StepKey { property, every, times }))
    }

    /// What rows are sorted by for a value.
    pub(super) fn sort_key(&self, bits: Option<u64>, version: &Version) -> Result<SortKey> {
        let Some(bits) = bits else { return Ok(SortKey::Missing) };
        Ok(match self {
            Self::End(_) => version.ids().external_of(vertex(bits as usize))?.into(),
            Self::EndProperty(_, values) if values.record.is_text() => {
                SortKey::Text((*values.texts[bits as usize]).into())
            }
            Self::EndProperty(_, values) => SortKey::Number(Number::of(values.record.element, bits)),
            Self::Property(property) => (&version.edge_value(property, bits)?).into(),
            Self::Step(_) => SortKey::Number(Number::Whole(bits.cast_signed().into())),
        })
    }

    /// How many values it has at most, if they count from 0.
    pub(super) fn domain(&self, version: &Version) -> Option<usize> {
        match self {
            Self::End(_) => Some(version.num_vertices()),
            Self::EndProperty(_, values) if values.record.is_text() => Some(values.texts.len()),
            Self::Property(property) if property.is_text() => {
                Some(version.dictionary(property.number)?.len())
            }
            Self::EndProperty(..) | Self::Property(_) | Self::Step(_) => None,
        }
    }

    pub(super) fn name(&self, key: Option<&GroupKey>) -> String {
        key.map_or_else(|| "until".to_owned(), GroupKey::to_string)
    }

    /// Whether an edge has one value for each of its ends.
    pub(super) fn is_of_both_ends(&self) -> bool {
        matches!(self, Self::End(GroupEnd::Vertex) | Self::EndProperty(GroupEnd::Vertex, _))
    }

    /// A value as it is shown.
    pub(super) fn shown(&self, bits: u64, version: &Version) -> Result<Value> {
        Ok(match self {
            Self::End(_) => id_json(version, vertex(bits as usize))?,
            Self::EndProperty(_, values) if values.record.is_text() => {
                String::from_utf8_lossy(&values.texts[bits as usize]).into_owned().into()
            }
            Self::EndProperty(_, values) => value_json(&PropertyValue::from_stored(&values.record, bits)),
            Self::Property(property) => value_json(&version.edge_value(property, bits)?),
            Self::Step(step) => step.times.format(bits.cast_signed()).into(),
        })
    }
}

/// The id of a vertex.
pub(super) fn id_json(version: &Version, v: VertexId) -> Result<Value> {
    Ok(match version.ids().external_of(v)? {
        ExternalId::Int(id) => id.into(),
        ExternalId::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
    })
}

impl StepKey {
    /// What gives the end of the step in which a time lies, as bits.
    pub(super) fn ends(&self) -> Result<impl FnMut(i64) -> u64> {
        let grid = self.times.grid(self.every)?;
        // Times that follow each other often lie in one step.
        let mut last: Option<(i64, i64)> = None;
        Ok(move |time| {
            let end = match last {
                Some((before, end)) if before < time && time <= end => end,
                _ => grid.end_of(time),
            };
            // A step has all between one of its times and its end.
            let before =
                last.filter(|&(_, known)| known == end).map_or(time.saturating_sub(1), |(before, _)| before);
            last = Some((before.min(time.saturating_sub(1)), end));
            end.cast_unsigned()
        })
    }
}

impl VertexValues {
    pub(super) fn read(version: &Version, name: &str, run: &Run) -> Result<Self> {
        let (property, n) = (version.vertex_property(name)?, version.num_vertices());
        if property.record().logical.is_vector() {
            return Err(Error::usage(format!("{name:?} holds vectors, which neither group nor add up")));
        }
        let memory = run.budget().reserve("the keys of vertices", 8 * n as u64 + n as u64 / 8)?;
        let mut of_texts = RowMemory::default();
        let (mut bits, known) = (vec![0; n], Bitmap::new(n));
        let (mut texts, mut codes) = (Vec::new(), HashMap::<Arc<[u8]>, u64>::new());
        for (v, bits) in bits.iter_mut().enumerate() {
            if v.is_multiple_of(1 << 12) {
                run.check()?;
            }
            let Some(value) = property.get(vertex(v))?.filter(|value| !value.is_missing()) else { continue };
            known.insert_alone(vertex(v));
            *bits = match value {
                PropertyValue::Text(text) => match codes.get(text) {
                    Some(&code) => code,
                    None => {
                        of_texts.hold(TEXT_BYTES + text.len() as u64, run)?;
                        let (text, code) = (Arc::<[u8]>::from(text), texts.len() as u64);
                        texts.push(Arc::clone(&text));
                        codes.insert(text, code);
                        code
                    }
                },
                value => key_bits(property.record(), value.bits().unwrap_or(0)),
            };
        }
        Ok(Self { record: property.record().clone(), bits, known, texts, _memory: (memory, of_texts) })
    }

    pub(super) fn of(&self, v: VertexId) -> Option<u64> {
        self.known.get(v).then(|| self.bits[v as usize])
    }

    pub(super) fn record(&self) -> &PropertyRecord {
        &self.record
    }
}
