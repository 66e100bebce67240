//! Missing values of the edges of a batch.

use esker_format::MISSING_TEXT;
use esker_format::{ElementType, Error, LogicalType, PropertyRecord, Result};

use super::batch::Batch;

impl Batch {
    /// What a row holds of an edge without a value of a property.
    pub(super) fn missing_of(&mut self, number: usize) -> Result<u64> {
        self.allow_missing(number)?;
        let property = &self.edge_properties[number];
        match property.missing_bits() {
            Some(bits) => Ok(bits),
            None => Ok(u64::from(self.texts[number].index_of(MISSING_TEXT)?)),
        }
    }

    /// The numbers of the properties that edges may be without.
    pub(crate) fn optional_properties(&self) -> Vec<u32> {
        let optional = self.edge_properties.iter().filter(|property| property.optional);
        optional.map(|property| property.number).collect()
    }

    /// Lets edges be without a value of a property. Narrow integers get 64 bits.
    ///
    /// # Errors
    /// [`Error::Invalid`] if an edge of the batch has the value that stands for a missing one, or the
    /// property has the ids of edges.
    pub(crate) fn allow_missing(&mut self, number: usize) -> Result<()> {
        let property = &self.edge_properties[number];
        if property.optional {
            return Ok(());
        }
        expect_may_lack(property)?;
        if let Some(wider) = wider_with_missing(property) {
            self.widen(number, wider)?;
        }
        let property = &mut self.edge_properties[number];
        if !property.is_text() && self.rows[number].iter().any(|&bits| property.is_reserved(bits)) {
            return Err(reserved(property));
        }
        property.optional = true;
        Ok(())
    }
}

/// Refuses a property of which every edge has a value: ids and kinds.
pub(crate) fn expect_may_lack(property: &PropertyRecord) -> Result<()> {
    let name = &property.name;
    match (&property.logical, property.kind) {
        (LogicalType::EdgeId, _) => {
            Err(Error::invalid(format!("every edge has an id, so {name:?} cannot lack values")))
        }
        (_, true) => Err(Error::invalid(format!(
            "an edge needs a kind, and its property {name:?} is missing: give it a text"
        ))),
        _ => Ok(()),
    }
}

/// The type that a property needs before edges may be without a value of it, if its own has no room.
pub(crate) fn wider_with_missing(property: &PropertyRecord) -> Option<ElementType> {
    (property.is_number() && property.missing_bits().is_none()).then_some(ElementType::I64)
}

/// The error for a property that has a value which would stand for a missing one.
pub(crate) fn reserved(property: &PropertyRecord) -> Error {
    let PropertyRecord { name, element, .. } = property;
    let value = match element {
        ElementType::U64 => u64::MAX.to_string(),
        ElementType::I32 => "the earliest date".to_owned(),
        _ => i64::MIN.to_string(),
    };
    let value = if property.is_text() { "a text of the single byte 255".to_owned() } else { value };
    Error::invalid(format!(
        "the edge property {name:?} has the value {value}, and so it cannot lack values: that value stands for a missing one; give \
         all edges a value"
    ))
}
