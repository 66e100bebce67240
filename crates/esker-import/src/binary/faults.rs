//! Rows of columnar files that cannot be taken.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use esker_format::value::decimal::{NotId, NotNumber, float_id, shown};
use esker_graph::{Message, Setting, message};

use crate::binary::converted::as_ids;
use crate::columns;
use crate::read::known_kinds::KnownKinds;
use crate::read::known_vertices::KnownVertices;
use crate::read::source::{IdKind, RowText, bad_text_ids, texts};

/// Why rows cannot be taken: the reason and the text that offends, by row.
pub(super) type RowFaults = BTreeMap<usize, (Message, RowText)>;

/// What a column may hold.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    pub(super) is_id: bool,
    /// Whether integers may exceed 2^63 - 1.
    pub(super) may_be_wide: bool,
    /// What ids are.
    pub(super) ids: IdKind,
    /// Whether they go to a database whose integer ids can become texts.
    pub(super) ids_can_become_texts: bool,
}

/// The column with nulls in place of NaN.
pub(super) fn without_nan(column: &ArrayRef) -> ArrayRef {
    let Some(values) = column.as_primitive_opt::<Float64Type>() else { return Arc::clone(column) };
    match values.iter().flatten().any(f64::is_nan) {
        true => Arc::new(PrimitiveArray::<Float64Type>::from_iter(
            values.iter().map(|value| value.filter(|value| !value.is_nan())),
        )),
        false => Arc::clone(column),
    }
}

/// Finds the rows of a column that cannot be taken.
pub(super) fn find_faults(column: &ArrayRef, name: &str, expected: Expected, faults: &mut RowFaults) {
    let Expected { is_id, may_be_wide, ids, ids_can_become_texts } = expected;
    let not_id = |why: NotId| {
        let end = format!("id in the column {name:?}");
        match ids_can_become_texts {
            true => columns::not_id_of_database(&end, why),
            false => columns::not_id(&end, why, ids == IdKind::Int),
        }
    };
    let mut fault = |row: usize, reason: Message, text: String| {
        faults.entry(row).or_insert((reason, text.into()));
    };
    if is_id && column.null_count() > 0 {
        for row in (0..column.len()).filter(|&row| column.is_null(row)) {
            fault(row, format!("the column {name:?} has no value here (null)").into(), String::new());
        }
    }
    if let Some(values) = column.as_primitive_opt::<Int64Type>() {
        // One pass without branches finds that nothing is wrong, as is usual.
        if is_id && ids != IdKind::Text && values.values().iter().fold(0, |all, v| all | v) < 0 {
            for (row, value) in bad(values, |value| value < 0) {
                fault(row, not_id(NotId::Negative), value.to_string());
            }
        }
    } else if let Some(values) = column.as_primitive_opt::<UInt64Type>() {
        let above = |value: u64| value > i64::MAX as u64;
        if !may_be_wide && above(values.values().iter().fold(0, |all, v| all | v)) {
            for (row, value) in bad(values, above) {
                let found = format!("the column {name:?} exceeds {}; take it as a property with ", i64::MAX);
                let reason = message![found, Setting::Schema.to_type(name, "u64")];
                fault(row, reason, value.to_string());
            }
        }
    } else if let Some(values) = column.as_primitive_opt::<Float64Type>() {
        // A text keeps the sign of a whole number.
        let of_id = |v: f64| float_id(if ids == IdKind::Text { v.abs() } else { v });
        let is_bad = |v: f64| if is_id { of_id(v).is_err() } else { !v.is_finite() };
        for (row, value) in bad(values, is_bad) {
            if is_id && value.is_nan() {
                fault(row, format!("the column {name:?} has no value here (NaN)").into(), String::new());
                continue;
            }
            let why = match of_id(value) {
                Err(NotId::Negative) if is_id => {
                    fault(row, not_id(NotId::Negative), value.to_string());
                    continue;
                }
                Err(why) if is_id => format!("that {}, so it is no id", why.reason()),
                _ => NotNumber::NotFinite.reason().replacen("is", "that is", 1),
            };
            fault(row, format!("the column {name:?} has a value here {why}").into(), value.to_string());
        }
    } else if let Some(texts) = column.as_binary_opt::<i32>().filter(|_| is_id) {
        for (row, why) in bad_text_ids(texts).filter(|(row, _)| texts.is_valid(*row)) {
            let reason = format!("the id in the column {name:?} {}", why.reason());
            fault(row, reason.into(), shown(texts.value(row)));
        }
    }
}

/// Finds the rows of a column without a value that must have one.
pub(super) fn find_missing(
    column: &ArrayRef,
    reason: &Message,
    must_have: impl Fn(usize) -> bool,
    faults: &mut RowFaults,
) {
    for row in (0..column.len()).filter(|&row| column.is_null(row) && must_have(row)) {
        faults.entry(row).or_insert_with(|| (reason.clone(), RowText::default()));
    }
}

/// Finds the rows of a column of ids that name no known vertex.
pub(super) fn find_unknown(column: &ArrayRef, known: &KnownVertices, faults: &mut RowFaults) {
    find(column, |id| known.expect(id), faults);
}

/// Finds the rows of a column of kinds that name no known one.
pub(super) fn find_unknown_kinds(column: &ArrayRef, known: &KnownKinds, faults: &mut RowFaults) {
    find(column, |kind| known.expect(kind), faults);
}

/// Finds the rows whose ids or texts are not as expected.
fn find(
    column: &ArrayRef,
    expect: impl Fn(&[u8]) -> std::result::Result<(), Message>,
    faults: &mut RowFaults,
) {
    let ids = as_ids(column, IdKind::Text);
    let Some(texts) = texts(&ids) else { return };
    for (row, text) in texts.enumerate().filter(|(row, _)| column.is_valid(*row)) {
        if let Err(reason) = expect(text) {
            faults.entry(row).or_insert_with(|| (reason, text.into()));
        }
    }
}

/// The values that are not null and `is_bad`, with their rows.
fn bad<T: ArrowPrimitiveType>(
    values: &PrimitiveArray<T>,
    is_bad: impl Fn(T::Native) -> bool,
) -> impl Iterator<Item = (usize, T::Native)> {
    let all = values.values().iter().copied().enumerate();
    all.filter(move |&(row, value)| is_bad(value) && values.is_valid(row))
}
