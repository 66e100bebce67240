//! The values of a property: from the text of a field to a column.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::BinaryBuilder;
use esker_format::notation::ColumnNotation;
use esker_format::value::decimal::{self, Number, TOO_LONG, is_too_long};
use esker_format::{LogicalType, PropertyType};
use esker_graph::Message;

use super::super::line::Field;
use super::layout::{ColumnLayout, push_text, text_of};
use crate::columns::missing::{MissingWords, TextField, says_missing};
use crate::read::source::{Numbers, without};
use crate::read::typed::{self, Typed};
use crate::text::column::NumberColumn;
use crate::text::reasons::RefusedColumn;
use crate::text::shape::is_quoted;

/// What the field of a property holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum FieldValue {
    Missing,
    Number(Number),
    /// Its own text.
    Text,
    /// The empty text, for which a word stands.
    Empty,
}

/// What the texts of a column stand for.
pub(super) struct ValueColumn<'c> {
    /// The type; `None`: numbers.
    pub(super) property_type: Option<&'c PropertyType>,
    /// How the texts are written; `None`: in the common way.
    pub(super) notation: Option<&'c ColumnNotation>,
    /// The words for no value; `None`: every edge has one.
    pub(super) missing: Option<&'c MissingWords>,
}

impl<'c> ValueColumn<'c> {
    /// The column of the property `index`.
    #[inline]
    pub(super) fn of(
        layout: &'c ColumnLayout,
        property_type: Option<&'c PropertyType>,
        index: usize,
    ) -> Self {
        let notation = layout.notations.get(index).and_then(Option::as_ref);
        Self { property_type, notation, missing: layout.missing.as_ref() }
    }

    /// What a field holds.
    #[inline]
    pub(super) fn value<'n>(
        &self,
        bytes: &[u8],
        field: Field,
        refused: impl Fn() -> RefusedColumn<'n>,
    ) -> Result<FieldValue, Message> {
        let text = &bytes[field.start..field.end];
        if self.property_type.is_some_and(|known| known.logical.is_text()) {
            if is_too_long(&text_of(bytes, field)) {
                return Err(format!("{} {TOO_LONG}", refused().name).into());
            }
            return Ok(match self.missing.map_or(TextField::Given, |words| words.text(text)) {
                TextField::Missing if !is_quoted(bytes, field) => FieldValue::Missing,
                TextField::Empty if !is_quoted(bytes, field) => FieldValue::Empty,
                _ => FieldValue::Text,
            });
        }
        // No quotes make a number of a word.
        if self.missing.is_some_and(|words| words.is_named(text) || says_missing(text)) {
            return Ok(FieldValue::Missing);
        }
        self.number(text, refused).map(FieldValue::Number)
    }

    /// The number that stands for a text.
    #[inline]
    fn number<'n>(&self, field: &[u8], refused: impl Fn() -> RefusedColumn<'n>) -> Result<Number, Message> {
        let field = match self.notation {
            None => Cow::Borrowed(field),
            Some(notation) => {
                let logical = self.property_type.map_or(&LogicalType::Number, |known| &known.logical);
                notation.read(field, logical).map_err(|why| format!("{} {why}", refused().name))?
            }
        };
        let Some(property_type) = self.property_type else {
            return decimal::number(&field).map_err(|why| refused().not_number(why));
        };
        match typed::parse(&field, property_type) {
            Ok(Typed::Int(value)) => Ok(Number::Int(value)),
            Ok(Typed::Float(value)) => Ok(Number::Float(value)),
            // The bits, on their way to a column of `u64`.
            Ok(Typed::Unsigned(value)) => Ok(Number::Int(value.cast_signed())),
            Err(reason) => Err(refused().not_of_type(property_type, &reason)),
        }
    }
}

/// The values of a property in one block, as they come.
pub(super) struct PropertyColumn {
    pub(super) values: ParsedValues,
    /// The edges without a number.
    missing: Vec<usize>,
}

/// Values of one type.
pub(super) enum ParsedValues {
    Numbers(NumberColumn),
    /// Of a property that is declared as `u64`.
    Unsigned(Vec<u64>),
    Texts(BinaryBuilder),
}

impl PropertyColumn {
    /// An empty column with room for a value a line.
    pub(super) fn new(property_type: Option<&PropertyType>, lines: usize) -> Self {
        let values = match property_type {
            Some(text) if text.logical.is_text() => ParsedValues::Texts(BinaryBuilder::new()),
            Some(unsigned) if typed::is_unsigned(unsigned) => {
                ParsedValues::Unsigned(Vec::with_capacity(lines))
            }
            _ => ParsedValues::Numbers(NumberColumn::with_capacity(lines)),
        };
        Self { values, missing: Vec::new() }
    }

    /// Appends what the field of the edge with index `edge` holds, unless it is a number that belongs to
    /// [`ParsedValues::Numbers`]: returns it.
    #[inline]
    pub(super) fn push(
        &mut self,
        value: FieldValue,
        edge: usize,
        bytes: &[u8],
        field: Field,
    ) -> Option<Number> {
        let number = match value {
            FieldValue::Number(number) => number,
            FieldValue::Missing if !matches!(self.values, ParsedValues::Texts(_)) => {
                self.missing.push(edge);
                Number::Int(0)
            }
            FieldValue::Missing | FieldValue::Text | FieldValue::Empty => Number::Int(0),
        };
        match (&mut self.values, value) {
            (ParsedValues::Texts(texts), FieldValue::Missing) => texts.append_null(),
            (ParsedValues::Texts(texts), FieldValue::Empty) => texts.append_value(b""),
            (ParsedValues::Texts(texts), _) => push_text(texts, bytes, field),
            (ParsedValues::Unsigned(values), _) => {
                if let Number::Int(bits) = number {
                    values.push(bits.cast_unsigned());
                }
            }
            (ParsedValues::Numbers(_), _) => return Some(number),
        }
        None
    }

    pub(super) fn finish(self) -> ArrayRef {
        let values: ArrayRef = match self.values {
            ParsedValues::Numbers(column) => column.numbers.finish(),
            ParsedValues::Unsigned(values) => Numbers::Unsigned(values).finish(),
            ParsedValues::Texts(mut texts) => Arc::new(texts.finish()),
        };
        without(values, &self.missing)
    }
}
