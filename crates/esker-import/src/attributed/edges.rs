//! Edges with properties: every edge has a value of each, its own or the default.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::BinaryBuilder;
use esker_format::value::decimal::{Number, TOO_LONG, is_too_long, number};
use esker_format::{LogicalType, PropertyType};
use esker_graph::{Message, Setting, message};

use super::value::Attribute;
use crate::read::source::Numbers;
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

    /// Why an edge without a value is refused.
    pub(super) fn missing(&self) -> Message {
        let name = &self.name;
        message![
            format!("the edge has no {name:?}, but other edges have; give such edges a value with "),
            Setting::Default.to_type(name, "VALUE"),
            ", or name the properties to keep with ",
            Setting::Properties,
        ]
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
        match &self.accepted {
            Accepted::Numbers => AttributeColumn::Numbers(NumberColumn::with_capacity(0)),
            Accepted::Texts => AttributeColumn::Texts(BinaryBuilder::new()),
            Accepted::Typed(wanted) if typed::is_unsigned(wanted) => {
                AttributeColumn::Typed(Numbers::Unsigned(Vec::new()))
            }
            Accepted::Typed(_) => AttributeColumn::Typed(Numbers::Int(Vec::new())),
        }
    }
}

/// A value of an edge property.
#[derive(Debug, Clone)]
pub(super) enum Converted<'a> {
    Number(Number),
    Typed(Typed),
    Text(std::borrow::Cow<'a, [u8]>),
}

/// The values of an edge property in a block.
pub(super) enum AttributeColumn {
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
        match (self, value) {
            (Self::Numbers(column), Converted::Number(number)) => return column.push(*number),
            (Self::Typed(column), Converted::Typed(value)) => typed::push(column, *value),
            (Self::Texts(column), Converted::Text(text)) => column.append_value(text),
            _ => {}
        }
        Ok(())
    }

    pub(super) fn finish(self) -> ArrayRef {
        match self {
            Self::Numbers(column) => column.numbers.finish(),
            Self::Typed(column) => column.finish(),
            Self::Texts(mut column) => Arc::new(column.finish()),
        }
    }
}
