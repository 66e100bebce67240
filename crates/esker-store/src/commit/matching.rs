//! Which of the edges between two vertices a change removes.

use esker_format::MISSING_TEXT;
use esker_format::memory::reserve;
use esker_format::{ElementType, PropertyRecord, Result};
use esker_layers::property::PropertyValue;

use super::change::BatchValue;
use super::exact::exact_bits;
use super::texts::TEXT_BYTES;

/// Which of the edges between two vertices a change removes. The default is all of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct EdgeMatch<'a> {
    /// Numbers of edge properties, and the values that the edges have.
    pub values: &'a [(u32, PropertyValue<'a>)],
    /// How many of these edges, at most: any, if they differ in other values. `None`: all.
    pub at_most: Option<u64>,
}

/// An [`EdgeMatch`] that a batch keeps.
#[derive(Debug, Clone)]
pub(crate) struct BatchMatch {
    pub(super) values: Vec<(u32, BatchValue)>,
    pub(crate) at_most: Option<u64>,
}

impl BatchMatch {
    pub(crate) fn of(wanted: &EdgeMatch<'_>) -> Result<Self> {
        let mut values = Vec::new();
        reserve(&mut values, wanted.values.len())?;
        values.extend(wanted.values.iter().map(|&(number, value)| (number, BatchValue::of(value))));
        Ok(Self { values, at_most: wanted.at_most })
    }

    /// Bytes of memory on the heap.
    pub(crate) fn bytes(&self) -> usize {
        let text = |value: &BatchValue| match value {
            BatchValue::Text(text) => text.len() + TEXT_BYTES,
            BatchValue::Number(_) | BatchValue::Vector { .. } => 0,
        };
        let texts: usize = self.values.iter().map(|(_, value)| text(value)).sum();
        texts + self.values.capacity() * size_of::<(u32, BatchValue)>()
    }

    /// The id of the edge that is wanted, if one is; `column` is the number of the property that has the ids.
    pub(crate) fn edge_id(&self, column: usize) -> Option<PropertyValue<'static>> {
        self.values.iter().find_map(|(number, value)| match value {
            BatchValue::Number(id) if *number as usize == column => Some(*id),
            _ => None,
        })
    }

    /// The text that is wanted of a property, if one is; the empty one for no value.
    pub(crate) fn text_of(&self, property: u32) -> Option<&[u8]> {
        self.values.iter().find_map(|(number, value)| match value {
            BatchValue::Text(text) if *number == property => Some(&text[..]),
            BatchValue::Number(PropertyValue::Missing) if *number == property => Some(&[][..]),
            _ => None,
        })
    }

    /// Whether an edge, by its property bits, has the values with these bits.
    pub(crate) fn has(properties: &[PropertyRecord], edge: &[u64], wanted: &[(usize, u64)]) -> bool {
        wanted.iter().all(|&(number, bits)| {
            let value = |bits| PropertyValue::from_bits(properties[number].element, bits);
            // A zero may have a sign.
            edge[number] == bits || value(edge[number]) == value(bits)
        })
    }

    /// The wanted bits of each property; `None` if no edge can have a value. `code_of` finds the code of a
    /// text of a property.
    pub(crate) fn bits(
        &self,
        properties: &[PropertyRecord],
        code_of: impl Fn(u32, &[u8]) -> Result<Option<u32>>,
    ) -> Result<Option<Vec<(usize, u64)>>> {
        let bits = |(number, value): &(u32, BatchValue)| {
            let Some(property) = properties.get(*number as usize) else { return Ok(None) };
            let bits = match value {
                BatchValue::Number(PropertyValue::Missing) if property.is_text() => {
                    code_of(*number, MISSING_TEXT)?.filter(|_| property.optional).map(u64::from)
                }
                BatchValue::Number(PropertyValue::Missing) => {
                    property.missing_bits().filter(|_| property.optional)
                }
                BatchValue::Text(text) if property.is_missing_text(text) => None,
                BatchValue::Text(text) => code_of(*number, text)?.map(u64::from),
                // As for the conditions of views, a number is the float of 32 bits that is nearest to it.
                BatchValue::Number(PropertyValue::F64(wide)) if property.element == ElementType::F32 => {
                    Some(u64::from((*wide as f32).to_bits()))
                }
                BatchValue::Number(number) => exact_bits(property, *number),
                // Edges have none.
                BatchValue::Vector { .. } => None,
            };
            Ok(bits.map(|bits| (*number as usize, bits)))
        };
        self.values.iter().map(bits).collect()
    }
}
