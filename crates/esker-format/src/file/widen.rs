//! Widens the type of a property: the new type holds every value of the old one exactly.

use crate::error::{Error, Result};
use crate::file::header::ElementType;
use crate::file::missing::missing_number;

/// A change of the type of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Widening {
    /// The number of the property.
    pub property: u32,
    /// Its type so far.
    pub from: ElementType,
    /// The new type.
    pub to: ElementType,
    /// Whether edges may be without a value: then what stands for a missing one does so in the new type.
    pub optional: bool,
}

impl Widening {
    /// Whether a type can be widened to another. Whether 64-bit integers fit a float depends on their values.
    pub fn is_possible(from: ElementType, to: ElementType) -> bool {
        use ElementType::{F32, F64, I32, I64, U8, U16, U32, U64};
        matches!((from, to), (U8 | U16 | U32 | I32, I64) | (U8 | U16 | U32 | U64 | I32 | I64 | F32, F64))
    }

    /// The widening of a property from one type to another; `None` if they are the same or it is not
    /// possible.
    pub fn between(property: u32, from: ElementType, to: ElementType, optional: bool) -> Option<Self> {
        Self::is_possible(from, to).then_some(Self { property, from, to, optional })
    }

    /// Converts the bits of a value; `None` if the new type does not hold it exactly.
    pub fn bits(self, bits: u64) -> Option<u64> {
        use ElementType::{F32, F64, I32, I64, U8, U16, U32, U64};
        if self.optional && missing_number(self.from) == Some(bits) {
            return missing_number(self.to);
        }
        let narrow = (bits as u32).cast_signed();
        match (self.from, self.to) {
            (U8 | U16 | U32, I64) => Some(bits),
            (U8 | U16 | U32, F64) => Some((bits as f64).to_bits()),
            (I32, I64) => Some(i64::from(narrow).cast_unsigned()),
            (I32, F64) => Some(f64::from(narrow).to_bits()),
            (F32, F64) => Some(f64::from(f32::from_bits(bits as u32)).to_bits()),
            (I64, F64) => {
                let (integer, float) = (bits.cast_signed(), bits.cast_signed() as f64);
                (float as i128 == i128::from(integer)).then(|| float.to_bits())
            }
            (U64, F64) => {
                let float = bits as f64;
                (float as u128 == u128::from(bits)).then(|| float.to_bits())
            }
            _ => None,
        }
    }

    /// Converts the bits of a column. After an error the column is as before.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the new type does not hold a value exactly.
    pub fn apply(self, column: &mut [u64]) -> Result<()> {
        if let Some(&bits) = column.iter().find(|&&bits| self.bits(bits).is_none()) {
            return Err(self.too_wide(bits));
        }
        column.iter_mut().for_each(|bits| *bits = self.bits(*bits).unwrap_or(*bits));
        Ok(())
    }

    /// The error for a value that the new type does not hold exactly.
    pub fn too_wide(self, bits: u64) -> Error {
        let integer = match self.from {
            ElementType::U64 => bits.to_string(),
            _ => bits.cast_signed().to_string(),
        };
        Error::invalid(format!(
            "no number type holds both fractions and the integer {integer}, which a property has: leave out the fractions"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ElementType::{F32, F64, I32, I64, U8, U16, U32, U64};

    #[test]
    fn a_wider_type_holds_the_same_values_or_refuses_them() {
        let of = |from, to, bits| Widening { property: 0, from, to, optional: false }.bits(bits);
        let minus = u64::from((-5_i32).cast_unsigned());
        assert_eq!(of(I32, I64, minus), Some((-5_i64).cast_unsigned()));
        assert_eq!(of(I32, F64, minus), Some((-5.0_f64).to_bits()));
        assert_eq!(of(F32, F64, u64::from(0.1_f32.to_bits())), Some(f64::from(0.1_f32).to_bits()));
        assert_eq!(of(I64, F64, 1 << 53), Some(9_007_199_254_740_992.0_f64.to_bits()));
        assert_eq!(of(I64, F64, (1 << 53) + 1), None);
        assert_eq!(of(I64, F64, i64::MAX.cast_unsigned()), None);
        assert_eq!(of(F64, I64, 0), None);
        for narrow in [U8, U16, U32] {
            assert_eq!(of(narrow, I64, 200), Some(200));
            assert_eq!(of(narrow, F64, 200), Some(200.0_f64.to_bits()));
        }
        assert_eq!(of(U32, I64, 0xffff_ffff), Some(0xffff_ffff));
        assert_eq!(of(U64, F64, 1 << 63), Some(9_223_372_036_854_775_808.0_f64.to_bits()));
        assert_eq!(of(U64, F64, u64::MAX), None);
        assert_eq!(of(U64, I64, 1), None);
        for (from, to) in [(I64, I32), (F64, F32), (F32, I32), (I32, F32)] {
            assert!(!Widening::is_possible(from, to));
        }
    }

    #[test]
    fn a_missing_value_stays_missing() {
        let missing = |element| missing_number(element).unwrap();
        for (from, to) in [(I64, F64), (U64, F64), (F32, F64)] {
            let widened = |optional| Widening { property: 0, from, to, optional }.bits(missing(from));
            assert_eq!(widened(true), Some(missing(F64)), "{from:?}");
            assert_eq!(widened(false).is_some_and(|bits| !f64::from_bits(bits).is_nan()), from == I64);
        }
    }

    #[test]
    fn a_column_that_cannot_be_widened_stays_as_it_is() {
        // A batch whose edges were refused half way once committed the rest: 1 became 4607182418800017408.
        let column = [1, 2, (1 << 53) + 1];
        let mut widened = column;
        assert!(Widening { property: 0, from: I64, to: F64, optional: false }.apply(&mut widened).is_err());
        assert_eq!(widened, column);
        Widening { property: 0, from: I64, to: F64, optional: false }.apply(&mut widened[..2]).unwrap();
        assert_eq!(widened[..2], [1.0_f64.to_bits(), 2.0_f64.to_bits()]);
    }
}
