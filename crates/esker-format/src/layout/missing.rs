//! The values that stand for missing ones in edge properties.
//!
//! A property whose record says so ([`PropertyRecord::optional`]) has no edge with such a value: where one is
//! about to come, the property gets a wider type, or the value is refused. A property of narrow integers gets
//! 64 bits before it may lack values.

use super::logical::LogicalType;
use super::manifest::PropertyRecord;
use crate::file::header::ElementType;
use crate::file::missing::missing_number;

/// The text that stands for a missing one in dictionaries. It is not UTF-8, so that no input has it.
pub const MISSING_TEXT: &[u8] = b"\xff";

/// The bits, widened to 64, that stand for a missing value in a property of a type; `None` if it has none:
/// texts, whose codes differ, ids of edges, and narrow integers.
pub fn missing_bits(element: ElementType, logical: &LogicalType) -> Option<u64> {
    match (logical, element) {
        (LogicalType::Boolean, _) => Some(u64::from(u8::MAX)),
        (LogicalType::Date, _) => Some(u64::from(i32::MIN.cast_unsigned())),
        (LogicalType::Timestamp { .. }, _) => Some(i64::MIN.cast_unsigned()),
        (LogicalType::Number, element) => missing_number(element),
        (LogicalType::Text | LogicalType::EdgeId | LogicalType::Vector { .. }, _) => None,
    }
}

impl PropertyRecord {
    /// The bits that stand for a missing value, whether or not edges may lack one: see [`missing_bits`].
    pub fn missing_bits(&self) -> Option<u64> {
        missing_bits(self.element, &self.logical)
    }

    /// Whether these bits stand for a missing value, if they are of no text.
    pub fn is_missing(&self, bits: u64) -> bool {
        self.optional && self.is_reserved(bits)
    }

    /// Whether these bits stand for a missing value where edges may lack one. Any NaN does.
    pub fn is_reserved(&self, bits: u64) -> bool {
        match (&self.logical, self.element) {
            (LogicalType::Number, ElementType::F32) => f32::from_bits(bits as u32).is_nan(),
            (LogicalType::Number, ElementType::F64) => f64::from_bits(bits).is_nan(),
            _ => self.missing_bits() == Some(bits),
        }
    }

    /// Whether a text of the dictionary stands for a missing one.
    pub fn is_missing_text(&self, text: &[u8]) -> bool {
        self.optional && text == MISSING_TEXT
    }
}
