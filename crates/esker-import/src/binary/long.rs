//! Texts that are longer than an id or a value may be, taken out of a column before anything copies them.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray};
use arrow_schema::{ArrowError, DataType};
use arrow_select::nullif::nullif;
use arrow_select::take::take;
use esker_format::value::decimal::{is_too_long, shown};

/// A row with a text that is too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongText {
    /// The row, from 0.
    pub row: usize,
    /// How the text begins.
    pub beginning: String,
}

/// The same column with nulls where texts are too long, and their rows; `None` if none is. Short texts of
/// plain columns are not copied.
///
/// # Errors
/// If the column contradicts itself.
pub fn without_long_texts(
    column: &ArrayRef,
) -> std::result::Result<Option<(ArrayRef, Vec<LongText>)>, ArrowError> {
    use DataType as T;
    match column.data_type() {
        T::Utf8 => plain(column, |row| column.as_string::<i32>().value(row).as_bytes()),
        T::LargeUtf8 => plain(column, |row| column.as_string::<i64>().value(row).as_bytes()),
        T::Utf8View => plain(column, |row| column.as_string_view().value(row).as_bytes()),
        T::Binary => plain(column, |row| column.as_binary::<i32>().value(row)),
        T::LargeBinary => plain(column, |row| column.as_binary::<i64>().value(row)),
        T::BinaryView => plain(column, |row| column.as_binary_view().value(row)),
        T::FixedSizeBinary(_) => plain(column, |row| column.as_fixed_size_binary().value(row)),
        T::Dictionary(..) => {
            let coded = column.as_any_dictionary();
            let Some((values, long)) = without_long_texts(coded.values())? else { return Ok(None) };
            let codes = coded.normalized_keys().into_iter().enumerate();
            let codes = codes.filter(|&(row, _)| coded.keys().is_valid(row));
            Ok(Some((coded.with_values(values), rows_of(codes, &long))))
        }
        T::RunEndEncoded(ends, _) => match ends.data_type() {
            T::Int16 => runs::<Int16Type>(column),
            T::Int32 => runs::<Int32Type>(column),
            _ => runs::<Int64Type>(column),
        },
        _ => Ok(None),
    }
}

/// The bytes of the texts of a column, once each row has its own; 0 if it holds no texts.
pub fn text_bytes(column: &ArrayRef) -> usize {
    use DataType as T;
    let ends = |first: Option<usize>, last: Option<usize>| last.unwrap_or(0) - first.unwrap_or(0);
    macro_rules! between {
        ($offsets:expr) => {
            ends($offsets.first().map(|&end| end as usize), $offsets.last().map(|&end| end as usize))
        };
    }
    match column.data_type() {
        T::Utf8 => between!(column.as_string::<i32>().value_offsets()),
        T::LargeUtf8 => between!(column.as_string::<i64>().value_offsets()),
        T::Binary => between!(column.as_binary::<i32>().value_offsets()),
        T::LargeBinary => between!(column.as_binary::<i64>().value_offsets()),
        T::Utf8View => column.as_string_view().iter().flatten().map(str::len).sum(),
        T::BinaryView => column.as_binary_view().iter().flatten().map(<[u8]>::len).sum(),
        T::FixedSizeBinary(bytes) => column.len() * *bytes as usize,
        T::Dictionary(..) => {
            let coded = column.as_any_dictionary();
            let values = coded.values();
            let lengths: Vec<usize> =
                (0..values.len()).map(|code| text_bytes(&values.slice(code, 1))).collect();
            match lengths.iter().all(|&length| length == 0) {
                true => 0,
                false => coded.normalized_keys().into_iter().map(|code| lengths[code]).sum(),
            }
        }
        _ => 0,
    }
}

fn plain<'a>(
    column: &ArrayRef,
    value: impl Fn(usize) -> &'a [u8],
) -> std::result::Result<Option<(ArrayRef, Vec<LongText>)>, ArrowError> {
    let rows = (0..column.len()).filter(|&row| is_too_long(value(row)) && column.is_valid(row));
    let long: Vec<LongText> = rows.map(|row| LongText { row, beginning: shown(value(row)) }).collect();
    if long.is_empty() {
        return Ok(None);
    }
    let mut is_long = vec![false; column.len()];
    long.iter().for_each(|long| is_long[long.row] = true);
    Ok(Some((nullif(column, &BooleanArray::from(is_long))?, long)))
}

fn runs<E: RunEndIndexType>(
    column: &ArrayRef,
) -> std::result::Result<Option<(ArrayRef, Vec<LongText>)>, ArrowError> {
    let runs = column.as_run::<E>();
    let Some((values, long)) = without_long_texts(runs.values())? else { return Ok(None) };
    let places: Vec<usize> = (0..runs.len()).map(|row| runs.get_physical_index(row)).collect();
    let rows = rows_of(places.iter().copied().enumerate(), &long);
    let places = PrimitiveArray::<UInt64Type>::from_iter_values(places.into_iter().map(|place| place as u64));
    Ok(Some((take(&values, &places, None)?, rows)))
}

/// The rows whose codes are those of long texts.
fn rows_of(codes: impl Iterator<Item = (usize, usize)>, long: &[LongText]) -> Vec<LongText> {
    let of_code = |code| Some(&long[long.binary_search_by_key(&code, |long| long.row).ok()?]);
    codes
        .filter_map(|(row, code)| Some(LongText { row, beginning: of_code(code)?.beginning.clone() }))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        DictionaryArray, Int32Array, LargeStringArray, RunArray, StringArray, StringViewArray,
    };
    use esker_format::value::decimal::TEXT_BYTES_MAX;

    use super::*;
    use crate::binary::simplified;

    #[track_caller]
    fn check(column: impl Array + 'static, longer: &str, expected: &[Option<&str>]) {
        let column: ArrayRef = Arc::new(column);
        let (short, long) = without_long_texts(&column).unwrap().unwrap();
        let values = simplified(&short).unwrap();
        let values: Vec<_> = values.as_binary::<i32>().iter().map(|text| text.map(<[u8]>::to_vec)).collect();
        let expected: Vec<_> =
            expected.iter().map(|text| text.map(|text| text.as_bytes().to_vec())).collect();
        assert_eq!(values, expected);
        assert_eq!(long.iter().map(|long| long.row).collect::<Vec<_>>(), [1, 3]);
        assert!(long.iter().all(|found| longer.starts_with(found.beginning.trim_end_matches("..."))));
    }

    #[test]
    fn long_texts_become_null_in_every_kind_of_column() {
        let (longest, longer) = ("a".repeat(TEXT_BYTES_MAX), "b".repeat(TEXT_BYTES_MAX + 1));
        let given = [Some(&*longest), Some(&*longer), None, Some(&*longer), Some("c")];
        let expected = [Some(&*longest), None, None, None, Some("c")];
        check(StringArray::from_iter(given), &longer, &expected);
        check(LargeStringArray::from_iter(given), &longer, &expected);
        check(StringViewArray::from_iter(given), &longer, &expected);
        let texts = Arc::new(StringArray::from_iter([Some(&*longest), Some(&*longer), Some("c")]));
        let keys = Int32Array::from_iter([Some(0), Some(1), None, Some(1), Some(2)]);
        check(DictionaryArray::new(keys, texts), &longer, &expected);
        let texts =
            StringArray::from_iter([Some(&*longest), Some(&*longer), None, Some(&*longer), Some("c")]);
        let runs = RunArray::<Int32Type>::try_new(&Int32Array::from_iter_values(1..=5), &texts).unwrap();
        check(runs, &longer, &expected);
        let short: ArrayRef = Arc::new(StringArray::from_iter([Some(&*longest), None]));
        assert!(without_long_texts(&short).unwrap().is_none());
        assert_eq!(text_bytes(&short), TEXT_BYTES_MAX);
        let texts = Arc::new(StringArray::from_iter_values(["ab", "cde"]));
        let coded: ArrayRef =
            Arc::new(DictionaryArray::new(Int32Array::from_iter([Some(1), None, Some(0), Some(1)]), texts));
        assert!((8..=11).contains(&text_bytes(&coded)), "a row without a text may count");
    }
}
