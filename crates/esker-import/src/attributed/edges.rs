//! Edges with properties: each has its own value, the default, or none.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::BinaryBuilder;
use esker_format::value::decimal::{Number, TOO_LONG, is_too_long, number};
use esker_format::{LogicalType, PropertyType};
use esker_graph::Message;

use super::value::Attribute;
use crate::read::source::{Numbers, without};
use crate::read::typed::{self, Typed};
use crate::text::column::{Mixed, NumberColumn};
use crate::text::reasons::RefusedColumn;

/// What an edge property takes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Accepted {
    /// Numbers, of the narrowest type that holds all.
    Numbers,
    /// Anything, as text.
    Texts,
    /// Values of this type, which is not text.
    Typed(PropertyType),
}

/// An edge property.
#[derive(Debug, Clone)]
pub(super) struct EdgeProperty {
    pub(super) name: String,
    pub(super) accepted: Accepted,
    /// The value of edges that have none.
    pub(super) default: Option<Attribute<'static>>,
    pub(super) is_weight: bool,
    pub(super) is_time: bool,
    /// Whether its type is that of a database.
    pub(super) type_is_fixed: bool,
    /// Why an edge without it is refused, if it is.
    pub(super) refusal: Option<Message>,
}

impl EdgeProperty {
    /// Its type, if it is known before the values are.
    pub(super) fn property_type(&self) -> Option<PropertyType> {
        match &self.accepted {
            Accepted::Numbers => None,
            Accepted::Texts => Some(PropertyType::text()),
            Accepted::Typed(property_type) => Some(property_type.clone()),
        }
    }

    fn refused(&self) -> RefusedColumn<'_> {
        RefusedColumn {
            name: &self.name,
            is_weight: self.is_weight,
            is_time: self.is_time,
            type_is_fixed: self.type_is_fixed,
        }
    }

    /// A value, ready for the column.
    ///
    /// # Errors
    /// Why it is none, in words.
    pub(super) fn convert<'a>(&self, value: &'a Attribute<'_>) -> Result<Converted<'a>, Message> {
        let of_typed = |wanted: &PropertyType, value: &Attribute<'_>| match value {
            Attribute::Text(text) => typed::parse(text.as_bytes(), wanted),
            Attribute::Boolean(value) if wanted.logical == LogicalType::Boolean => {
                Ok(Typed::Int(i64::from(*value)))
            }
            other if !wanted.logical.is_number() => typed::parse(&other.text(), wanted),
            Attribute::Int(value) => typed::fit(Typed::Int(*value), wanted.element),
            Attribute::Unsigned(value) => typed::fit(Typed::Unsigned(*value), wanted.element),
            Attribute::Float(value) => typed::fit(Typed::Float(*value), wanted.element),
            Attribute::Boolean(_) => Err("is a truth value".to_owned()),
        };
        match &self.accepted {
            Accepted::Typed(wanted) => of_typed(wanted, value)
                .map(Converted::Typed)
                .map_err(|reason| self.refused().not_of_type(wanted, &reason)),
            Accepted::Texts => {
                let text = value.text();
                if is_too_long(&text) {
                    return Err(format!("{} {TOO_LONG}", self.name).into());
                }
                Ok(Converted::Text(text))
            }
            Accepted::Numbers => match value {
                Attribute::Int(value) => Ok(Converted::Number(Number::Int(*value))),
                Attribute::Float(value) if value.is_finite() => Ok(Converted::Number(Number::Float(*value))),
                other => {
                    number(&other.text()).map(Converted::Number).map_err(|why| self.refused().not_number(why))
                }
            },
        }
    }

    /// An empty column.
    pub(super) fn column(&self) -> AttributeColumn {
        let values = match &self.accepted {
            Accepted::Numbers => AttributeValues::Numbers(NumberColumn::with_capacity(0)),
            Accepted::Texts => AttributeValues::Texts(BinaryBuilder::new()),
            Accepted::Typed(wanted) if typed::is_unsigned(wanted) => {
                AttributeValues::Typed(Numbers::Unsigned(Vec::new()))
            }
            Accepted::Typed(_) => AttributeValues::Typed(Numbers::Int(Vec::new())),
        };
        AttributeColumn { values, len: 0, missing: Vec::new() }
    }
}

/// A value of an edge property.
#[derive(Debug, Clone)]
pub(super) enum Converted<'a> {
    Number(Number),
    Typed(Typed),
    Text(std::borrow::Cow<'a, [u8]>),
    Missing,
}

/// The values of an edge property in a block.
pub(super) struct AttributeColumn {
    values: AttributeValues,
    len: usize,
    /// The places of edges without a value.
    missing: Vec<usize>,
}

enum AttributeValues {
    Numbers(NumberColumn),
    Typed(Numbers),
    Texts(BinaryBuilder),
}

impl AttributeColumn {
    /// Appends a value that was converted for it.
    ///
    /// # Errors
    /// If no type of numbers holds it and those before it.
    pub(super) fn push(&mut self, value: &Converted<'_>) -> Result<(), Mixed> {
        use AttributeValues as Values;
        self.len += 1;
        match (&mut self.values, value) {
            (Values::Numbers(column), Converted::Number(number)) => return column.push(*number),
            (Values::Typed(column), Converted::Typed(value)) => typed::push(column, *value),
            (Values::Texts(column), Converted::Text(text)) => column.append_value(text),
            // A value of another type was not converted for this column.
            (values, _) => {
                self.missing.push(self.len - 1);
                match values {
                    Values::Numbers(column) => return column.push(Number::Int(0)),
                    Values::Typed(column) => typed::push(column, Typed::Int(0)),
                    Values::Texts(column) => column.append_value(b""),
                }
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> ArrayRef {
        let values: ArrayRef = match self.values {
            AttributeValues::Numbers(column) => column.numbers.finish(),
            AttributeValues::Typed(column) => column.finish(),
            AttributeValues::Texts(mut column) => Arc::new(column.finish()),
        };
        without(values, &self.missing)
    }
}
