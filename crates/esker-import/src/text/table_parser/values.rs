//! A value of a property that holds no texts, from its text.

use std::borrow::Cow;

use esker_format::notation::ColumnNotation;
use esker_format::value::decimal::{self, Number};
use esker_format::{LogicalType, PropertyType};
use esker_graph::Message;

use crate::read::typed::{self, Typed};
use crate::text::reasons::RefusedColumn;

/// What the texts of a column stand for.
pub(super) struct ValueColumn<'c> {
    /// The type; `None`: numbers.
    pub(super) property_type: Option<&'c PropertyType>,
    /// How the texts are written; `None`: in the common way.
    pub(super) notation: Option<&'c ColumnNotation>,
}

impl ValueColumn<'_> {
    /// The number that stands for a text.
    #[inline]
    pub(super) fn number<'n>(
        &self,
        field: &[u8],
        refused: impl Fn() -> RefusedColumn<'n>,
    ) -> Result<Number, Message> {
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
