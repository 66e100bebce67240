//! The values of columns, some of which may be missing.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, UInt64Array};
use esker::import::binary::simplified;
use esker::import::read::source::{integer_ids, text_column, texts, without};

use super::chunks::{expect_short, is_wide};
use super::column::{ColumnType, InputColumn};
use crate::failure::{PyOutcome, invalid};

/// The pieces of a range, each with where it starts, and the places of null in the range.
type GivenPieces = (Vec<(usize, ArrayRef)>, Vec<usize>);

impl InputColumn {
    /// As [`InputColumn::values`], as `UInt64` where an element of the range exceeds 2^63 - 1.
    pub(super) fn values_or_unsigned(&self, range: Range<usize>) -> PyOutcome<ArrayRef> {
        if !self.pieces(range.clone()).any(|(_, piece)| is_wide(&piece)) {
            return self.values(range);
        }
        let (pieces, missing) = self.given(range.clone())?;
        let mut values: Vec<u64> = Vec::with_capacity(range.len());
        for (_, piece) in pieces {
            match integer_ids(&piece) {
                Some(unsigned) => values.extend_from_slice(unsigned),
                None => {
                    return invalid(format!(
                        "{}: some chunks are unsigned integers, others are not",
                        self.what
                    ));
                }
            }
        }
        Ok(without(Arc::new(UInt64Array::from(values)), &missing))
    }

    /// The pieces of a range as arrays of the types that [`simplified`] makes, and the places of null in the
    /// range.
    fn given(&self, range: Range<usize>) -> PyOutcome<GivenPieces> {
        let (mut pieces, mut missing) = (Vec::new(), Vec::new());
        for (start, piece) in self.pieces(range.clone()) {
            if let Some(nulls) = piece.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
                let places = (0..piece.len()).filter(|&at| nulls.is_null(at));
                missing.extend(places.map(|at| start - range.start + at));
            }
            pieces.push((start, simplified(&piece)?));
        }
        Ok((pieces, missing))
    }

    /// As [`InputColumn::values`], where null and NaN are errors.
    pub(crate) fn all_values(&self, range: Range<usize>) -> PyOutcome<ArrayRef> {
        let values = self.values(range.clone())?;
        self.expect_all(range.start, &values).map(|()| values)
    }

    /// The elements of a range as values of a property, null where there is none or NaN; infinities are
    /// errors.
    pub(crate) fn values(&self, range: Range<usize>) -> PyOutcome<ArrayRef> {
        let start = range.start;
        if self.column_type == ColumnType::Texts {
            self.pieces(range.clone())
                .try_for_each(|(start, piece)| expect_short(&self.what, start, &piece))?;
        }
        let (pieces, mut missing) = self.given(range.clone())?;
        let values: ArrayRef = match self.column_type {
            ColumnType::Texts => {
                return Ok(text_column(pieces.iter().filter_map(|(_, piece)| texts(piece)).flatten()))
                    .map(|all| without(all, &missing));
            }
            ColumnType::Integers => {
                let mut values: Vec<i64> = Vec::with_capacity(range.len());
                for (_, piece) in pieces {
                    match integer_ids(&piece) {
                        None => values.extend_from_slice(piece.as_primitive::<Int64Type>().values()),
                        Some(wide) if wide.iter().all(|&value| value <= i64::MAX as u64) => {
                            values.extend(wide.iter().map(|&value| value as i64));
                        }
                        Some(_) => {
                            return invalid(format!("{}: a value exceeds 2^63 - 1; pass floats", self.what));
                        }
                    }
                }
                Arc::new(Int64Array::from(values))
            }
            ColumnType::Floats => {
                let mut values: Vec<f64> = Vec::with_capacity(range.len());
                for (_, piece) in pieces {
                    values.extend_from_slice(piece.as_primitive::<Float64Type>().values());
                }
                self.take_nan(&mut values, start, &mut missing)?;
                Arc::new(Float64Array::from(values))
            }
        };
        Ok(without(values, &missing))
    }

    /// Puts 0 in place of NaN, and adds its places to those of null. Infinities are errors.
    fn take_nan(&self, values: &mut [f64], start: usize, missing: &mut Vec<usize>) -> PyOutcome<()> {
        if values.iter().all(|value| value.is_finite()) {
            return Ok(());
        }
        let known: Vec<usize> = std::mem::take(missing);
        for (at, value) in values.iter_mut().enumerate() {
            let is_null = known.binary_search(&at).is_ok();
            if value.is_infinite() && !is_null {
                let what = &self.what;
                return invalid(format!("{what}[{}] is {value}, and numbers are finite", start + at));
            }
            if is_null || value.is_nan() {
                missing.push(at);
                *value = 0.0;
            }
        }
        Ok(())
    }
}
