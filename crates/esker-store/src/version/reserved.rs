//! What stands for a missing value of an edge property.

use esker_format::{ElementType, MISSING_TEXT, PropertyRecord, Result};

use super::state::Version;

/// The stored bits that stand for a missing value of an edge property. Asked once for a property, so that no
/// text is looked up for each edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReservedBits {
    /// None: each edge has a value.
    None,
    /// These, zero-extended to 64 bits; of a text, its code.
    Bits(u64),
    /// Those of any NaN of 32 bits.
    NanF32,
    /// Those of any NaN of 64 bits.
    NanF64,
}

impl ReservedBits {
    /// Whether these bits, zero-extended to 64, stand for a missing value.
    #[inline]
    pub fn has(self, bits: u64) -> bool {
        match self {
            Self::None => false,
            Self::Bits(reserved) => reserved == bits,
            Self::NanF32 => f32::from_bits(bits as u32).is_nan(),
            Self::NanF64 => f64::from_bits(bits).is_nan(),
        }
    }
}

impl Version {
    /// What stands for a missing value of an edge property of this version.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`] if a dictionary is damaged.
    pub fn reserved_bits(&self, property: &PropertyRecord) -> Result<ReservedBits> {
        if !property.optional {
            return Ok(ReservedBits::None);
        }
        if let Some(texts) = self.dictionary(property.number) {
            let code = texts.code_of(MISSING_TEXT)?;
            return Ok(code.map_or(ReservedBits::None, |code| ReservedBits::Bits(code as u64)));
        }
        Ok(match property.element {
            ElementType::F32 if property.is_number() => ReservedBits::NanF32,
            ElementType::F64 if property.is_number() => ReservedBits::NanF64,
            _ => property.missing_bits().map_or(ReservedBits::None, ReservedBits::Bits),
        })
    }
}
