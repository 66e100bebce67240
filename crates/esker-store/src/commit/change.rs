//! One change of a batch.

use esker_format::{Error, PropertyRecord, Result, VertexValue};
use esker_layers::property::PropertyValue;

use super::exact::exact_bits;

/// A change in a batch. The batch stores the external ids separately, in the order of the changes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BatchOp {
    /// Two ids. Adds or sets an edge with the values of a row, or removes it.
    Edge(u32),
    /// One id.
    AddVertex,
    /// One id.
    RemoveVertex,
    /// One id. Sets the property with this index among the names of the batch to the value with this index, or takes its value away
    /// ([`crate::freeze::REMOVAL`]).
    SetVertex(u32, u32),
}

/// A value of a vertex property.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BatchValue {
    Number(PropertyValue<'static>),
    Text(Vec<u8>),
}

impl BatchValue {
    /// The value in the type of a vertex property.
    pub(crate) fn stored(&self, property: &PropertyRecord) -> Result<VertexValue> {
        let wrong = |shown: &dyn std::fmt::Display| {
            let wanted = property.type_name();
            Error::Invalid(format!("the vertex property {:?} takes {wanted}, not {shown}", property.name))
        };
        match self {
            Self::Text(text) if property.is_text() => Ok(VertexValue { bits: 0, text: Some(text.clone()) }),
            Self::Text(text) => Err(wrong(&PropertyValue::Text(text))),
            Self::Number(number) if property.is_text() => Err(wrong(number)),
            Self::Number(number) => {
                let bits = exact_bits(property, *number).ok_or_else(|| wrong(number))?;
                Ok(VertexValue { bits, text: None })
            }
        }
    }
}
