//! What the fields of a line say of its edge before they are values.

use esker_format::PropertyType;
use esker_graph::Message;

use super::layout::{ColumnLayout, text_of};
use super::values::{FieldValue, ValueColumn};
use crate::read::operation::{OperationPlace, RowOperation};
use crate::text::blocks::excerpt;
use crate::text::line::Field;
use crate::text::reasons::RefusedColumn;
use crate::text::shape::is_quoted;

/// The fields of a line.
pub(super) struct LineFields<'l> {
    pub(super) layout: &'l ColumnLayout,
    pub(super) bytes: &'l [u8],
    pub(super) fields: &'l [Field],
}

impl LineFields<'_> {
    /// What happens to the edge of the line, by the column `refused`.
    pub(super) fn operation(
        &self,
        place: OperationPlace,
        property_type: Option<&PropertyType>,
        refused: &RefusedColumn<'_>,
    ) -> std::result::Result<RowOperation, Message> {
        let field = self.fields[self.layout.properties[place.property]];
        let column = ValueColumn::of(self.layout, property_type, place.property);
        match column.value(self.bytes, field, || *refused)? {
            FieldValue::Missing | FieldValue::Empty => place.read(None, refused.name),
            FieldValue::Number(_) | FieldValue::Text => {
                place.read(Some(&text_of(self.bytes, field)), refused.name)
            }
        }
    }

    /// Refuses ends that words for no value stand for.
    pub(super) fn expect_ends(&self, source: Field, target: Field) -> std::result::Result<(), Message> {
        let Some(words) = self.layout.missing.as_ref().filter(|words| words.has_named()) else {
            return Ok(());
        };
        let bytes = self.bytes;
        for (field, end) in [(source, "source"), (target, "target")] {
            let text = &bytes[field.start..field.end];
            if words.is_named(text) && !is_quoted(bytes, field) {
                return Err(format!("the {end} is {}, which stands for no value", excerpt(text)).into());
            }
        }
        Ok(())
    }
}
