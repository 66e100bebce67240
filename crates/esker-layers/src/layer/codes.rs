//! Version codes: positions in the list of versions that a layer distinguishes.
//!
//! Code c > 0 stands for version `versions[c - 1]`; code 0 stands for any version before the range of the
//! layer. The *rank* of a version is the number of entries of `versions` up to and including it. So an arc
//! with code c exists at a version of rank r if c <= r.

use std::ops::Range;

use esker_format::{ElementType, Error, Result, Values};
use esker_graph::Run;

/// The narrowest type for the codes of a layer with `num_versions` versions.
pub fn code_type(num_versions: u32) -> ElementType {
    match num_versions {
        0..=0xFF => ElementType::U8,
        0x100..=0xFFFF => ElementType::U16,
        _ => ElementType::U32,
    }
}

/// A column of codes.
#[derive(Debug)]
pub struct Codes(Values);

/// A range of a code column.
#[derive(Debug, Clone, Copy)]
pub enum CodeSlice<'a> {
    /// One byte each.
    U8(&'a [u8]),
    /// Two bytes each.
    U16(&'a [u16]),
    /// Four bytes each.
    U32(&'a [u32]),
}

impl CodeSlice<'_> {
    /// The code at an index. Panics if it is out of range.
    #[inline(always)]
    pub fn at(&self, index: usize) -> u32 {
        match self {
            Self::U8(codes) => u32::from(codes[index]),
            Self::U16(codes) => u32::from(codes[index]),
            Self::U32(codes) => codes[index],
        }
    }

    /// The number of codes that are at most `rank`.
    pub(crate) fn count_up_to(&self, rank: u32) -> usize {
        match self {
            Self::U8(codes) => codes.iter().filter(|&&code| u32::from(code) <= rank).count(),
            Self::U16(codes) => codes.iter().filter(|&&code| u32::from(code) <= rank).count(),
            Self::U32(codes) => codes.iter().filter(|&&code| code <= rank).count(),
        }
    }
}

impl Codes {
    /// Wraps a column of codes.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if the column's type is not one for codes.
    pub(super) fn new(values: Values) -> Result<Self> {
        match values {
            Values::U8(_) | Values::U16(_) | Values::U32(_) => Ok(Self(values)),
            other => {
                let reason = format!("version codes cannot have type {}", other.element().name());
                Err(Error::corrupt(other.path(), 0, reason))
            }
        }
    }

    /// The column.
    pub fn column(&self) -> &Values {
        &self.0
    }

    /// The codes of a range, verified.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    #[inline]
    pub fn get(&self, range: Range<usize>) -> Result<CodeSlice<'_>> {
        match &self.0 {
            Values::U8(column) => column.get(range).map(CodeSlice::U8),
            Values::U16(column) => column.get(range).map(CodeSlice::U16),
            Values::U32(column) => column.get(range).map(CodeSlice::U32),
            _ => unreachable!("`new` checked the type"),
        }
    }

    /// The code at an index, verified.
    ///
    /// # Errors
    /// [`Error::Corrupt`], also if the index is out of range.
    pub(crate) fn at(&self, index: usize) -> Result<u32> {
        self.get(index..index.saturating_add(1)).map(|codes| codes.at(0))
    }

    /// All codes, verified.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; cancellation.
    pub fn all(&self, run: &Run) -> Result<CodeSlice<'_>> {
        self.0.verify(run)?;
        self.get(0..self.0.len())
    }
}
