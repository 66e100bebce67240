//! Conditions in the terms of one version: tests of stored values, and sets of vertices.

use esker_graph::{Bitmap, Reservation, Run, Setting, VertexId, message, vertex};
use esker_store::Version;
use esker_store::format::{ElementType, LogicalType, PropertyRecord, PropertyType};
use esker_store::ids::{ExternalId, IdMap};
use esker_store::property::PropertyValue;

use super::codes::TextCodes;
use super::text::{Asked, Comparison, Expression, Operand, Whose};
use super::value::ValueTest;
use crate::error::{Error, Result};

/// Vertices whose values are compared at a time.
const GRAIN: usize = 1 << 12;

/// A condition on the edges of a version. What it says of an edge is true, false, or, of missing values,
/// neither.
#[derive(Debug)]
pub(super) enum EdgeTest {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Value(PropertyTest),
    End(EndTest),
}

/// A question about an edge property.
#[derive(Debug)]
pub(super) struct PropertyTest {
    pub(super) property: PropertyRecord,
    test: ValueTest,
    /// Of texts. The test itself is for other values.
    codes: Option<TextCodes>,
}

/// The vertices that meet a question about them.
#[derive(Debug)]
pub(super) struct EndTest {
    whose: Whose,
    met: Bitmap,
    /// Vertices that have a value.
    known: Bitmap,
    _memory: Reservation,
}

/// The ends of an edge, and the one that stands for `vertex`.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeEnds {
    pub(super) source: VertexId,
    pub(super) target: VertexId,
    pub(super) vertex: VertexId,
}

impl EdgeTest {
    pub(super) fn new(expression: &Expression, version: &Version, run: &Run) -> Result<Self> {
        let several = |parts: &[Expression]| {
            parts.iter().map(|part| Self::new(part, version, run)).collect::<Result<_>>()
        };
        Ok(match expression {
            Expression::All(parts) => Self::All(several(parts)?),
            Expression::Any(parts) => Self::Any(several(parts)?),
            Expression::Not(part) => Self::Not(Box::new(Self::new(part, version, run)?)),
            Expression::Test(comparison) => match comparison.operand.whose {
                Whose::Edge => Self::Value(PropertyTest::new(comparison, version, run)?),
                _ => Self::End(EndTest::new(comparison, version, run)?),
            },
        })
    }

    /// What it says of an edge the bits of whose properties `bits` reads.
    pub(super) fn of(
        &self,
        ends: EdgeEnds,
        bits: &dyn Fn(u32) -> esker_store::Result<u64>,
    ) -> esker_store::Result<Option<bool>> {
        match self {
            Self::All(parts) => decided(parts, false, ends, bits),
            Self::Any(parts) => decided(parts, true, ends, bits),
            Self::Not(part) => Ok(part.of(ends, bits)?.map(|is_met| !is_met)),
            Self::Value(test) => Ok(test.of_bits(bits(test.property.number)?)),
            Self::End(test) => Ok(test.of(ends)),
        }
    }

    /// Whether it asks about `vertex`, which stands for each end.
    pub(super) fn is_of_both_ends(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::is_of_both_ends),
            Self::Not(part) => part.is_of_both_ends(),
            Self::Value(_) => false,
            Self::End(test) => test.whose == Whose::Vertex,
        }
    }
}

/// The answer of several parts that one with the answer `deciding` decides.
fn decided(
    parts: &[EdgeTest],
    deciding: bool,
    ends: EdgeEnds,
    bits: &dyn Fn(u32) -> esker_store::Result<u64>,
) -> esker_store::Result<Option<bool>> {
    let mut all = Some(!deciding);
    for part in parts {
        match part.of(ends, bits)? {
            Some(answer) if answer == deciding => return Ok(Some(deciding)),
            Some(_) => {}
            None => all = None,
        }
    }
    Ok(all)
}

fn refused(operand: &Operand, reason: &str) -> Error {
    Error::usage(message![Setting::Where.to_name(operand.to_string()), format!(": {reason}")])
}

/// The edge property of a name; `kind` is also that of the kinds.
pub(super) fn property_of<'v>(operand: &Operand, version: &'v Version) -> Result<&'v PropertyRecord> {
    let name = operand.name.as_deref().unwrap_or_default();
    match (version.edge_property(name), version.kind_property()) {
        (Err(_), Some(kind)) if name == "kind" && !operand.is_quoted => Ok(kind),
        (found, _) => Ok(found?),
    }
}

impl PropertyTest {
    fn new(Comparison { operand, asked }: &Comparison, version: &Version, run: &Run) -> Result<Self> {
        let property = property_of(operand, version)?.clone();
        ValueTest::new(asked, &property).map_err(|reason| refused(operand, &reason))?;
        Self::of(property, asked, version, run)
    }

    /// A question about a property.
    ///
    /// # Errors
    /// [`Error::Usage`] if its values cannot be compared so.
    pub(super) fn of(property: PropertyRecord, asked: &Asked, version: &Version, run: &Run) -> Result<Self> {
        let test = ValueTest::new(asked, &property).map_err(Error::usage)?;
        let codes = match version.dictionary(property.number) {
            Some(texts) if property.is_text() => Some(TextCodes::of(&test, texts, &property, run)?),
            _ => None,
        };
        Ok(Self { property, test, codes })
    }

    fn of_bits(&self, bits: u64) -> Option<bool> {
        match &self.codes {
            Some(codes) => codes.answer(bits),
            None => self.test.is_met(&PropertyValue::from_stored(&self.property, bits)),
        }
    }

    /// What is asked of the kind of an edge, if that is the question.
    pub(super) fn of_kind(&self) -> Option<&ValueTest> {
        self.property.kind.then_some(&self.test)
    }
}

impl EndTest {
    fn new(Comparison { operand, asked }: &Comparison, version: &Version, run: &Run) -> Result<Self> {
        if operand.whose != Whose::Vertex && !version.is_directed() {
            return Err(refused(
                operand,
                "the edges of an undirected graph have no source and no target; vertex stands for both ends",
            ));
        }
        let n = version.num_vertices();
        let bytes = n.div_ceil(4) as u64;
        let memory = run.budget().reserve("the vertices that meet conditions", bytes).map_err(Error::from)?;
        let (met, known) = (Bitmap::new(n), Bitmap::new(n));
        let (ids, property) = match &operand.name {
            Some(name) => (None, Some(version.vertex_property(name)?)),
            None => (Some(version.ids()), None),
        };
        let record = match (&property, ids.is_some_and(IdMap::is_text)) {
            (Some(property), _) => property.record().clone(),
            (None, true) => PropertyRecord::of_vertices("", TEXT),
            (None, false) => PropertyRecord::of_vertices("", INTEGER),
        };
        if ids.is_some() && *asked == Asked::Null {
            return Err(refused(operand, "each vertex has an id"));
        }
        let test = ValueTest::new(asked, &record).map_err(|reason| refused(operand, &reason))?;
        let value = |v: VertexId| -> Result<PropertyValue<'_>> {
            Ok(match (&property, ids) {
                (Some(property), _) => property.get(v)?.unwrap_or(PropertyValue::Missing),
                (None, Some(ids)) => id_value(ids.external_of(v)?),
                (None, None) => PropertyValue::Missing,
            })
        };
        run.share_ranges(
            n,
            GRAIN,
            || (),
            |(), range| {
                for v in range.map(vertex) {
                    let answer = test.is_met(&value(v)?);
                    if answer.is_some() {
                        known.insert_alone(v);
                    }
                    if answer == Some(true) {
                        met.insert_alone(v);
                    }
                }
                Ok::<_, Error>(())
            },
        )?;
        Ok(Self { whose: operand.whose, met, known, _memory: memory })
    }

    fn of(&self, ends: EdgeEnds) -> Option<bool> {
        let v = match self.whose {
            Whose::Source => ends.source,
            Whose::Target => ends.target,
            Whose::Edge | Whose::Vertex => ends.vertex,
        };
        self.known.get(v).then(|| self.met.get(v))
    }
}

/// The types of ids.
const TEXT: PropertyType = PropertyType { element: ElementType::U8, logical: LogicalType::Text };
const INTEGER: PropertyType = PropertyType { element: ElementType::U64, logical: LogicalType::Number };

fn id_value(id: ExternalId<'_>) -> PropertyValue<'_> {
    match id {
        ExternalId::Int(id) => PropertyValue::U64(id),
        ExternalId::Text(text) => PropertyValue::Text(text),
    }
}
