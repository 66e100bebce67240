//! Property values on their way through an import: what each column turns out to hold, and the type that it
//! gets.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, UInt64Array};
use esker_format::{ElementType, Error, MISSING_TEXT, PropertyType, Result};
use esker_graph::{Setting, message};

use super::missing::{has_reserved, missing_places, with_zeros};
use crate::build::texts::{ENTRY_BYTES, PropertyTexts};
use crate::read::source::texts;
use crate::sort::scratch::{Shelf, ShelvedChunk};

/// Words of 32 bits that a value takes beside its edge during an import.
pub(crate) fn words(element: ElementType) -> usize {
    element.bytes().div_ceil(4)
}

/// The narrowest type for the codes of this many texts.
fn code_type(texts: usize) -> ElementType {
    match texts {
        0..=0x100 => ElementType::U8,
        0x101..=0x1_0000 => ElementType::U16,
        _ => ElementType::U32,
    }
}

/// What is known of the values of one property.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    /// Every value is an integer of 32 bits.
    pub(crate) i32: bool,
    /// Every value is an integer of 64 bits.
    pub(crate) i64: bool,
    /// Every value is an integer of 64 bits without a sign.
    pub(crate) u64: bool,
    /// Every value is a 32-bit floating-point number.
    pub(crate) f32: bool,
    /// Every value is a 64-bit floating-point number.
    pub(crate) f64: bool,
    /// Some values are numbers.
    pub(crate) numbers: bool,
    /// Some values are texts.
    pub(crate) texts: bool,
    /// The input gives some values as floating-point numbers, whole or not.
    pub(crate) floats: bool,
    /// The least integer that no float equals, for messages.
    pub(crate) wide: Option<i64>,
    /// Some edges have no value.
    pub(crate) missing: bool,
    /// The least integer.
    pub(crate) least: i64,
    /// The greatest integer of 64 bits without a sign.
    pub(crate) greatest: u64,
    /// A text is the one that stands for missing ones.
    pub(crate) reserved_text: bool,
}

impl Default for Range {
    fn default() -> Self {
        Self {
            i32: true,
            i64: true,
            u64: true,
            f32: true,
            f64: true,
            numbers: false,
            texts: false,
            floats: false,
            wide: None,
            missing: false,
            least: i64::MAX,
            greatest: 0,
            reserved_text: false,
        }
    }
}

/// Whether a 64-bit float equals the integer.
fn is_float(x: i64) -> bool {
    i128::from(x) == (x as f64) as i128
}

impl Range {
    pub(crate) fn of_integers(values: &[i64]) -> Self {
        let mut range = Self { numbers: !values.is_empty(), ..Self::default() };
        for &x in values {
            range.least = range.least.min(x);
            range.i32 &= i64::from(x as i32) == x;
            range.u64 &= x >= 0;
            // Beyond 2^53 the float must be converted back with care: i64::MAX as f64 is 2^63.
            range.f32 &= i128::from(x) == f64::from(x as f32) as i128;
            range.f64 &= is_float(x);
        }
        if !range.f64 {
            range.wide = values.iter().copied().filter(|&x| !is_float(x)).min();
        }
        range
    }

    pub(crate) fn of_unsigned(values: &[u64]) -> Self {
        let mut range = Self { numbers: !values.is_empty(), ..Self::default() };
        for &x in values {
            range.greatest = range.greatest.max(x);
            range.i32 &= x <= i32::MAX as u64;
            range.i64 &= x <= i64::MAX as u64;
            range.f32 &= u128::from(x) == f64::from(x as f32) as u128;
            range.f64 &= u128::from(x) == (x as f64) as u128;
        }
        range
    }

    pub(crate) fn of_floats(values: &[f64]) -> Self {
        let is_some = !values.is_empty();
        let mut range = Self { numbers: is_some, floats: is_some, u64: !is_some, ..Self::default() };
        for &x in values {
            let negative_zero = x == 0.0 && x.is_sign_negative();
            range.least = range.least.min(x as i64);
            range.i32 &= f64::from(x as i32) == x && !negative_zero;
            range.i64 &= (x as i64) as f64 == x && x < 9_223_372_036_854_775_808.0 && !negative_zero;
            range.f32 &= f64::from(x as f32) == x;
        }
        range
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.i32 &= other.i32;
        self.i64 &= other.i64;
        self.u64 &= other.u64;
        self.f32 &= other.f32;
        self.f64 &= other.f64;
        self.numbers |= other.numbers;
        self.texts |= other.texts;
        self.floats |= other.floats;
        self.wide = self.wide.into_iter().chain(other.wide).min();
        self.missing |= other.missing;
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        self.reserved_text |= other.reserved_text;
    }

    /// The declared type, or a wider one for more texts.
    pub(crate) fn declared(self, name: &str, declared: &PropertyType, texts: usize) -> Result<ElementType> {
        let fits = match declared.element {
            _ if declared.logical.is_text() => !self.numbers,
            ElementType::F32 => self.f32 && !self.texts,
            ElementType::F64 => self.f64 && !self.texts,
            ElementType::U8 | ElementType::U16 | ElementType::I32 => self.i32 && !self.texts,
            ElementType::U64 => self.u64 && !self.texts,
            _ => self.i64 && !self.texts,
        };
        match (fits, declared.logical.is_text()) {
            (true, true) if texts > 256 => Ok(code_type(texts)),
            (true, _) => Ok(declared.element),
            (false, _) => {
                Err(Error::invalid(format!("property {name:?} has values that are not of type {declared}")))
            }
        }
    }

    /// Whether there are fractions and integers that no float equals, so that no type holds all values.
    pub(crate) fn is_mixed(self) -> bool {
        self.numbers && !self.texts && !self.i64 && !self.f64
    }

    /// The narrowest type of its kind that holds every value: floating-point numbers stay such also if all
    /// are whole.
    pub(crate) fn narrowest(self, name: &str, texts: usize) -> Result<ElementType> {
        if self.texts && self.numbers {
            return Err(Error::invalid(format!(
                "property {name:?} has numbers in some rows and texts in others: name its type, or clean the input"
            )));
        }
        match self {
            Self { texts: true, .. } => Ok(code_type(texts)),
            Self { floats: true, f32: true, .. } => Ok(ElementType::F32),
            Self { floats: true, f64: true, .. } => Ok(ElementType::F64),
            Self { i32: true, .. } => Ok(ElementType::I32),
            Self { i64: true, .. } => Ok(ElementType::I64),
            Self { f32: true, .. } => Ok(ElementType::F32),
            Self { f64: true, .. } => Ok(ElementType::F64),
            Self { wide, .. } => Err(Error::invalid(message![
                format!(
                    "property {name:?} has fractions and also integers beyond 2^53, such as {}, and no number type ",
                    wide.unwrap_or(i64::MAX)
                ),
                "holds both exactly: to round such integers, declare it with ",
                Setting::Schema.to_type(name, "f64"),
                format!("; to keep them, declare {name}:text"),
            ])),
        }
    }
}

/// The values of one property in one block, and which edges have none: a bit each, where any has none.
#[derive(Debug)]
pub(crate) struct RawColumn {
    values: RawValues,
    missing: Option<ShelvedChunk<u64>>,
}

/// The values of one property in one block, set aside in the narrowest form that is exact for this block.
#[derive(Debug)]
pub(crate) enum RawValues {
    I32(ShelvedChunk<i32>),
    I64(ShelvedChunk<i64>),
    F32(ShelvedChunk<f32>),
    F64(ShelvedChunk<f64>),
    Code(ShelvedChunk<u32>),
}

/// What one worker remembers of the texts of one property, to spare the shared table.
#[derive(Debug, Default)]
pub(crate) struct TextCache {
    codes: HashMap<Box<[u8]>, u32>,
    /// What it may still take: a worker forgets new texts beyond that.
    free_bytes: u64,
}

impl TextCache {
    /// What the caches of one worker take.
    const WORKER_BYTES: u64 = 1 << 20;

    /// One of the caches of a worker for `count` properties.
    pub(crate) fn one_of(count: usize) -> Self {
        Self { codes: HashMap::new(), free_bytes: Self::WORKER_BYTES / count.max(1) as u64 }
    }

    fn codes<'a>(
        &mut self,
        texts: &PropertyTexts,
        column: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Vec<u32>> {
        let mut codes = Vec::with_capacity(column.size_hint().0);
        for text in column {
            let code = match self.codes.get(text) {
                Some(&code) => code,
                None => {
                    let code = texts.code(text)?;
                    if let Some(left) = self.free_bytes.checked_sub(text.len() as u64 + ENTRY_BYTES) {
                        self.free_bytes = left;
                        self.codes.insert(text.into(), code);
                    }
                    code
                }
            };
            codes.push(code);
        }
        Ok(codes)
    }
}

/// Sets a column of a batch aside; also says what it holds.
pub(crate) fn set_aside(
    shelf: &Shelf,
    column: &ArrayRef,
    dictionary: &PropertyTexts,
    cache: &mut TextCache,
) -> Result<(RawColumn, Range)> {
    let nulls = column.nulls().filter(|nulls| nulls.null_count() > 0);
    if let Some(all) = column.as_binary_opt::<i32>() {
        let codes = match (nulls, texts(column)) {
            (None, Some(texts)) => cache.codes(dictionary, texts)?,
            _ => cache.codes(dictionary, all.iter().map(|text| text.unwrap_or(MISSING_TEXT)))?,
        };
        let values = RawValues::Code(shelf.put(codes)?);
        let (missing, reserved_text) = (nulls.is_some(), has_reserved(all));
        let range = Range { texts: !all.is_empty(), missing, reserved_text, ..Range::default() };
        return Ok((RawColumn { values, missing: None }, range));
    }
    let Some(nulls) = nulls else {
        let (values, range) = set_numbers_aside(shelf, column)?;
        return Ok((RawColumn { values, missing: None }, range));
    };
    let (values, range) = set_numbers_aside(shelf, &with_zeros(column)?)?;
    let has_values = nulls.null_count() < nulls.len();
    let range = Range { missing: true, numbers: has_values, floats: range.floats && has_values, ..range };
    Ok((RawColumn { values, missing: Some(shelf.put(missing_places(nulls))?) }, range))
}

/// Sets numbers aside, none of which is missing.
fn set_numbers_aside(shelf: &Shelf, column: &ArrayRef) -> Result<(RawValues, Range)> {
    if let Some(values) = column.as_primitive_opt::<Int64Type>().map(Int64Array::values) {
        let range = Range::of_integers(values);
        let raw = if range.i32 {
            RawValues::I32(shelf.put(values.iter().map(|&x| x as i32).collect())?)
        } else {
            RawValues::I64(shelf.put_slice(values)?)
        };
        return Ok((raw, range));
    }
    if let Some(values) = column.as_primitive_opt::<UInt64Type>().map(UInt64Array::values) {
        let range = Range::of_unsigned(values);
        let raw = if range.i32 {
            RawValues::I32(shelf.put(values.iter().map(|&x| x as i32).collect())?)
        } else {
            // The bits: such a property is carried as `u64`.
            RawValues::I64(shelf.put(values.iter().map(|&x| x.cast_signed()).collect())?)
        };
        return Ok((raw, range));
    }
    let Some(values) = column.as_primitive_opt::<Float64Type>().map(Float64Array::values) else {
        return Err(Error::invalid(format!("a reader gave values of type {}", column.data_type())));
    };
    let range = Range::of_floats(values);
    let raw = if range.i32 {
        RawValues::I32(shelf.put(values.iter().map(|&x| x as i32).collect())?)
    } else if range.f32 {
        RawValues::F32(shelf.put(values.iter().map(|&x| x as f32).collect())?)
    } else {
        RawValues::F64(shelf.put_slice(values)?)
    };
    Ok((raw, range))
}

/// How the values of one property are laid out in the words beside an edge.
#[derive(Debug)]
pub(crate) struct ValueLayout {
    /// The type in the words.
    pub(crate) carried: ElementType,
    /// Index of the first word.
    pub(crate) word: usize,
    /// Rank of each code, for texts.
    pub(crate) ranks: Vec<u32>,
    /// Whether some edges have no value.
    pub(crate) optional: bool,
    /// The bits that stand for a missing number in the words.
    pub(crate) missing: Option<u64>,
}

impl ValueLayout {
    /// Puts the values of a block in their words of each record of `stride` words.
    pub(crate) fn fill(
        &self,
        shelf: &Shelf,
        column: &RawColumn,
        words: &mut [u32],
        stride: usize,
    ) -> Result<()> {
        self.fill_values(shelf, &column.values, words, stride)?;
        let (Some(bits), Some(missing)) = (&column.missing, self.missing) else { return Ok(()) };
        let mut buffer = Vec::new();
        let bits = shelf.get(bits, &mut buffer)?;
        for (row, record) in words[self.word..].chunks_mut(stride).enumerate() {
            if bits[row / 64] >> (row % 64) & 1 == 1 {
                self.put_bits(record, missing);
            }
        }
        Ok(())
    }

    /// The bits of a property in the words of a record from its first word on.
    pub(crate) fn bits(&self, record: &[u32]) -> u64 {
        if words(self.carried) == 2 { wide(record) } else { u64::from(record[0]) }
    }

    fn put_bits(&self, record: &mut [u32], bits: u64) {
        match words(self.carried) {
            2 => put_wide(record, bits),
            _ => record[0] = bits as u32,
        }
    }

    /// Whether a record, from the first word of the property on, has no number.
    pub(crate) fn is_missing(&self, record: &[u32]) -> bool {
        self.optional && self.missing == Some(self.bits(record))
    }

    fn fill_values(&self, shelf: &Shelf, values: &RawValues, words: &mut [u32], stride: usize) -> Result<()> {
        let records = words[self.word..].chunks_mut(stride);
        match values {
            RawValues::I32(chunk) => {
                for (record, &x) in records.zip(shelf.get(chunk, &mut Vec::new())?) {
                    self.put_integer(record, i64::from(x));
                }
            }
            RawValues::I64(chunk) => {
                for (record, &x) in records.zip(shelf.get(chunk, &mut Vec::new())?) {
                    self.put_integer(record, x);
                }
            }
            RawValues::F32(chunk) => {
                for (record, &x) in records.zip(shelf.get(chunk, &mut Vec::new())?) {
                    self.put_float(record, f64::from(x));
                }
            }
            RawValues::F64(chunk) => {
                for (record, &x) in records.zip(shelf.get(chunk, &mut Vec::new())?) {
                    self.put_float(record, x);
                }
            }
            RawValues::Code(chunk) => {
                for (record, &code) in records.zip(shelf.get(chunk, &mut Vec::new())?) {
                    record[0] = self.ranks[code as usize];
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn put_integer(&self, record: &mut [u32], x: i64) {
        match self.carried {
            ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::I32 => record[0] = x as u32,
            ElementType::F32 => record[0] = (x as f32).to_bits(),
            ElementType::F64 => put_wide(record, (x as f64).to_bits()),
            _ => put_wide(record, x as u64),
        }
    }

    #[inline(always)]
    fn put_float(&self, record: &mut [u32], x: f64) {
        match self.carried {
            ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::I32 => {
                record[0] = x as i64 as u32;
            }
            ElementType::F32 => record[0] = (x as f32).to_bits(),
            ElementType::F64 => put_wide(record, x.to_bits()),
            _ => put_wide(record, x as i64 as u64),
        }
    }
}

/// The 64 bits that begin at word 0 of `record`.
#[inline(always)]
pub(crate) fn wide(record: &[u32]) -> u64 {
    u64::from(record[0]) | u64::from(record[1]) << 32
}

/// Sets the 64 bits that begin at word 0 of `record`.
#[inline(always)]
pub(crate) fn put_wide(record: &mut [u32], bits: u64) {
    record[0] = bits as u32;
    record[1] = (bits >> 32) as u32;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(integers: &[i64], floats: &[f64], expected: Option<ElementType>) {
        let mut range = Range::of_integers(integers);
        range.merge(Range::of_floats(floats));
        assert_eq!(range.narrowest("w", 0).ok(), expected);
    }

    #[test]
    fn the_narrowest_exact_type() {
        check(&[1, -5], &[], Some(ElementType::I32));
        check(&[1], &[2.0], Some(ElementType::F32));
        check(&[], &[1.0, 2.0], Some(ElementType::F32));
        check(&[1 << 60], &[2.0], Some(ElementType::F32));
        check(&[(1 << 60) + 1], &[2.0], Some(ElementType::I64));
        check(&[], &[-0.0], Some(ElementType::F32));
        check(&[1 << 31], &[], Some(ElementType::I64));
        check(&[i64::MAX, i64::MIN], &[], Some(ElementType::I64));
        check(&[1], &[0.5], Some(ElementType::F32));
        check(&[1], &[0.1], Some(ElementType::F64));
        check(&[(1 << 24) + 1], &[0.5], Some(ElementType::F64));
        check(&[1], &[1e300], Some(ElementType::F64));
        check(&[1], &[f64::INFINITY], Some(ElementType::F32));
        check(&[(1 << 53) + 1], &[0.5], None);
        check(&[i64::MAX], &[0.5], None);
        check(&[i64::MAX], &[9_223_372_036_854_775_808.0], None);
        check(&[], &[], Some(ElementType::I32));
    }
}
