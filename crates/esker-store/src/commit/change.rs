//! One change of a batch.

use esker_format::value::decimal::shown;
use esker_format::{Error, PropertyRecord, Result, VertexValue};
use esker_layers::property::{PropertyValue, VectorValue};

use super::exact::exact_bits;

/// A change in a batch. The batch stores the external ids separately, in the order of the changes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BatchOp {
    /// Two ids. Adds or sets an edge with the values of a row, or removes it.
    Edge(u32),
    /// Two ids. Removes those edges between them that the match with this index selects.
    RemoveEdges(u32),
    /// One id.
    AddVertex,
    /// One id. Fails the commit unless the vertex exists.
    ExpectVertex,
    /// One id.
    RemoveVertex,
    /// One id. Sets the property with this index among the names of the batch to the value with this index,
    /// or takes its value away ([`crate::freeze::REMOVAL`]).
    SetVertex(u32, u32),
}

/// A value of a vertex property.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BatchValue {
    Number(PropertyValue<'static>),
    Text(Vec<u8>),
    /// The numbers of a vector, of 64 bits or 32.
    Vector {
        bytes: Vec<u8>,
        is_wide: bool,
    },
}

impl BatchOp {
    /// The number of ids.
    pub(crate) fn num_ids(self) -> usize {
        match self {
            Self::Edge(_) | Self::RemoveEdges(_) => 2,
            Self::AddVertex | Self::ExpectVertex | Self::RemoveVertex | Self::SetVertex(..) => 1,
        }
    }
}

impl BatchValue {
    pub(crate) fn of(value: PropertyValue<'_>) -> Self {
        match value {
            PropertyValue::Text(text) => Self::Text(text.to_vec()),
            PropertyValue::Vector(vector) => {
                Self::Vector { bytes: vector.bytes().to_vec(), is_wide: vector.is_wide() }
            }
            number => Self::Number(number.to_owned_number()),
        }
    }

    /// The value in the type of a vertex property.
    pub(crate) fn stored(&self, property: &PropertyRecord) -> Result<VertexValue> {
        let wrong = |shown: &dyn std::fmt::Display| {
            let wanted = property.type_name();
            Error::invalid(format!("the vertex property {:?} takes {wanted}, not {shown}", property.name))
        };
        match self {
            Self::Text(text) if property.is_text() => Ok(VertexValue { bits: 0, text: Some(text.clone()) }),
            Self::Text(text) if property.is_vector() => {
                let bytes = VectorValue::parse(property, text).map_err(|reason| {
                    let (name, text) = (&property.name, shown(text));
                    Error::invalid(format!("the vertex property {name:?}: {text:?} {reason}"))
                })?;
                Ok(VertexValue { bits: 0, text: Some(bytes) })
            }
            Self::Text(text) => Err(wrong(&PropertyValue::Text(text))),
            Self::Vector { bytes, is_wide } => {
                let own = VectorValue::of(property, bytes).filter(|own| own.is_wide() == *is_wide);
                let given = VectorValue::new(bytes, *is_wide);
                let wide = if *is_wide { "64" } else { "32" };
                own.ok_or_else(|| wrong(&format!("a vector of {} numbers of {wide} bits", given.len())))?;
                Ok(VertexValue { bits: 0, text: Some(bytes.clone()) })
            }
            Self::Number(number) if property.holds_bytes() => Err(wrong(number)),
            Self::Number(number) => {
                let bits = exact_bits(property, *number).ok_or_else(|| wrong(number))?;
                Ok(VertexValue { bits, text: None })
            }
        }
    }
}
