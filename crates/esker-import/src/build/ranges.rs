//! The types of properties, by the values that all blocks hold.

use esker_format::{ElementType, Error, LogicalType, PropertyType, Result, missing_bits};
use esker_graph::{Setting, message};

use super::values::Range;

impl Range {
    /// The type of a property, declared or the narrowest that holds all values and what stands for a missing
    /// one.
    pub(crate) fn element(
        self,
        name: &str,
        declared: Option<&PropertyType>,
        texts: usize,
    ) -> Result<ElementType> {
        let element = match declared {
            Some(declared) => self.declared(name, declared, texts)?,
            None => self.narrowest(name, texts)?,
        };
        let logical = self.logical(declared);
        if !self.missing || (logical.is_text() && !self.reserved_text) {
            return Ok(element);
        }
        // Narrow integers have no room for it.
        let is_narrow = !logical.is_text() && missing_bits(element, &logical).is_none();
        let element = if is_narrow { ElementType::I64 } else { element };
        let reserved = match element {
            _ if logical.is_text() => Some("of the single byte 255".to_owned()),
            ElementType::I64 if self.least == i64::MIN => Some(i64::MIN.to_string()),
            ElementType::I32 if self.least == i64::from(i32::MIN) => Some("of the earliest date".to_owned()),
            ElementType::U64 if self.greatest == u64::MAX => Some(u64::MAX.to_string()),
            _ => None,
        };
        match reserved {
            None => Ok(element),
            Some(value) => Err(Error::invalid(message![
                format!(
                    "property {name:?} has the value {value}, which would stand for the missing values of other edges: give \
                     these a value, with "
                ),
                Setting::Default.to_type(name, "VALUE"),
            ])),
        }
    }

    /// What the values of a property are.
    pub(crate) fn logical(self, declared: Option<&PropertyType>) -> LogicalType {
        match declared {
            Some(declared) => declared.logical.clone(),
            None if self.texts => LogicalType::Text,
            None => LogicalType::Number,
        }
    }
}
