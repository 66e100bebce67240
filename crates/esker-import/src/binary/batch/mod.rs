//! Columns of values as a batch, without the rows that cannot be taken.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use esker_format::value::decimal::TOO_LONG;
use esker_format::{PropertyType, Result};
use esker_graph::Message;

use crate::binary::contain::damaged;
use crate::binary::converted::{as_ids, as_values};
use crate::binary::faults::{
    Expected, RowFaults, find_faults, find_missing, find_unknown, find_unknown_kinds, without_nan,
};
use crate::binary::left_out::leave_out;
use crate::binary::long::without_long_texts;
use crate::binary::region::unusable;
use crate::binary::runs::BatchOrigin;
use crate::binary::simple::simplified;
use crate::binary::table::Picked;
use crate::binary::vectors::lists_as_vectors;
use crate::read::operation::RowOperation;
use crate::read::source::{EdgeBatch, IdKind, Rejected, RejectedText};
use crate::read::typed::{cast, is_unsigned, logical_of};

/// Simplifies columns of equal length: `num_ids` of ids, then the properties of `chosen`. Returns the rows
/// that are left out: those with what is no id or with an infinite number. NaN is a missing value, as null
/// is.
///
/// # Errors
/// If the columns are not of equal length, which only damage can cause.
pub(super) fn checked(
    origin: &BatchOrigin<'_>,
    ids: IdKind,
    chosen: &Picked,
    columns: &mut Vec<ArrayRef>,
    num_ids: usize,
) -> Result<Vec<Rejected>> {
    let Picked { ends, properties, types, .. } = chosen;
    let rows = columns.first().map_or(0, arrow_array::Array::len);
    if columns.len() != properties.len() + num_ids || columns.iter().any(|column| column.len() != rows) {
        return Err(unusable(origin.path, "its columns differ in length: it is damaged"));
    }
    let mut faults = RowFaults::new();
    lists_as_vectors(origin, properties, types, &mut columns[num_ids..], &mut faults)?;
    let given = (origin.rejected == RejectedText::Rows).then(|| columns.clone());
    let operations = operations(origin, chosen, columns, num_ids, &mut faults)?;
    for (index, column) in columns.iter_mut().enumerate() {
        let property = index.checked_sub(num_ids);
        let name = property.map_or(&ends[index.min(1)], |property| &properties[property]);
        let mut own = RowFaults::new();
        let wanted = property.and_then(|property| types.get(property)?.as_ref());
        let values = ColumnOf { origin, ids, chosen, name, property, wanted };
        values.check(column, &mut own)?;
        for (row, fault) in own {
            let reads = match (property, &operations) {
                (Some(property), Some(operations)) => chosen.required.reads(operations[row], property),
                _ => true,
            };
            if reads {
                faults.entry(row).or_insert(fault);
            }
        }
        let Some(property) = property else { continue };
        let refusal = |operation| chosen.required.refusal_of(operation, property, name);
        match &operations {
            None => {
                let refusal = refusal(RowOperation::Add);
                refusal.iter().for_each(|reason| find_missing(column, reason, |_| true, &mut faults));
            }
            Some(operations) => {
                for operation in [RowOperation::Add, RowOperation::Remove, RowOperation::Replace] {
                    let refusal = refusal(operation);
                    let is_own = |row: usize| operations[row] == operation;
                    refusal.iter().for_each(|reason| find_missing(column, reason, is_own, &mut faults));
                }
            }
        }
    }
    leave_out(&mut faults, columns, given).map_err(|error| damaged(origin.path, error))?;
    let rejected = faults.into_iter().enumerate().map(|(before, (row, (reason, text)))| Rejected {
        path: Arc::clone(origin.path),
        line: origin.first_row + row as u64,
        text,
        reason,
        edges_before: row - before,
    });
    Ok(rejected.collect())
}

/// Makes a batch of columns of equal length: source, target, then the properties of `chosen`.
///
/// # Errors
/// If the columns are not of equal length, which only damage can cause.
pub(super) fn batch(
    origin: &BatchOrigin<'_>,
    ids: IdKind,
    chosen: &Picked,
    mut columns: Vec<ArrayRef>,
) -> Result<EdgeBatch> {
    let rejected = checked(origin, ids, chosen, &mut columns, 2)?;
    let (ends, values) = columns.split_at(2);
    Ok(EdgeBatch {
        source: as_ids(&ends[0], ids),
        target: as_ids(&ends[1], ids),
        properties: values
            .iter()
            .zip(&chosen.types)
            .map(|(column, own)| as_values(column, own.as_ref().is_some_and(is_unsigned)))
            .collect(),
        vertices: None,
        vertex_values: Vec::new(),
        vertex_places: None,
        rejected,
        wide: Vec::new(),
        input_bytes: origin.input_bytes,
    })
}

/// What the rows say of their edges, if a column says it. Those that say nothing are faults.
fn operations(
    origin: &BatchOrigin<'_>,
    chosen: &Picked,
    columns: &[ArrayRef],
    num_ids: usize,
    faults: &mut RowFaults,
) -> Result<Option<Vec<RowOperation>>> {
    let Some(place) = chosen.required.operation else { return Ok(None) };
    let (name, column) = (&chosen.properties[place.property], &columns[num_ids + place.property]);
    let given = logical_of(column.data_type());
    let column = simplified(column).map_err(|e| damaged(origin.path, format!("column {name:?}: {e}")))?;
    let words = cast(&column, given.as_ref(), &PropertyType::text(), |_, _, _| {});
    let words = words.as_binary_opt::<i32>();
    let operation = |row: usize| {
        let word = words.filter(|words| words.is_valid(row)).map(|words| words.value(row));
        place.read(word, name).unwrap_or_else(|reason| {
            faults.entry(row).or_insert((reason, word.unwrap_or_default().into()));
            RowOperation::Add
        })
    };
    Ok(Some((0..column.len()).map(operation).collect()))
}

/// A column that is checked.
struct ColumnOf<'a> {
    origin: &'a BatchOrigin<'a>,
    ids: IdKind,
    chosen: &'a Picked,
    name: &'a str,
    /// Its place among the properties; `None`: it holds ids.
    property: Option<usize>,
    /// Its type, if it is known.
    wanted: Option<&'a PropertyType>,
}

impl ColumnOf<'_> {
    /// Simplifies the column, and finds the rows that it cannot be taken of.
    fn check(&self, column: &mut ArrayRef, faults: &mut RowFaults) -> Result<()> {
        let Self { origin, ids, chosen, name, property, wanted } = *self;
        if wanted.is_some_and(|wanted| wanted.logical.is_vector()) && column.as_binary_opt::<i32>().is_some()
        {
            return Ok(());
        }
        let short = without_long_texts(column);
        if let Some((short, long)) =
            short.map_err(|e| damaged(origin.path, format!("column {name:?}: {e}")))?
        {
            *column = short;
            let reason = Message::from(format!("the column {name:?} has a text here that {TOO_LONG}"));
            faults.extend(long.into_iter().map(|long| (long.row, (reason.clone(), long.beginning.into()))));
        }
        check_shared(origin, column, name)?;
        let given = logical_of(column.data_type());
        *column = simplified(column).map_err(|e| damaged(origin.path, format!("column {name:?}: {e}")))?;
        if property.is_some() {
            *column = without_nan(column);
        }
        let expected = Expected {
            is_id: property.is_none(),
            may_be_wide: property.is_none() || wanted.is_some_and(is_unsigned),
            ids,
            ids_can_become_texts: chosen.ids_can_become_texts,
        };
        find_faults(column, name, expected, faults);
        match property {
            None => chosen.nameable.iter().for_each(|known| find_unknown(column, known, faults)),
            Some(property) => {
                let kinds = chosen.required.kinds_at(property);
                kinds.iter().for_each(|known| find_unknown_kinds(column, known, faults));
            }
        }
        if let Some(wanted) = wanted.filter(|wanted| given.as_ref() != Some(&wanted.logical)) {
            *column = cast(column, given.as_ref(), wanted, |row, reason, text| {
                faults
                    .entry(row)
                    .or_insert_with(|| (format!("the column {name:?} {reason}").into(), text.into()));
            });
        }
        Ok(())
    }
}

/// An error if the texts of a column that comes as codes and a dictionary take too much once each row has its
/// own.
fn check_shared(origin: &BatchOrigin<'_>, column: &ArrayRef, name: &str) -> Result<()> {
    let Some(coded) = column.as_any_dictionary_opt() else { return Ok(()) };
    let texts =
        simplified(coded.values()).map_err(|e| damaged(origin.path, format!("column {name:?}: {e}")))?;
    let Some(texts) = texts.as_binary_opt::<i32>().filter(|texts| !texts.is_empty()) else { return Ok(()) };
    origin.shared.check(texts, coded).map_err(|reason| {
        let last_row = origin.first_row + (column.len() as u64).saturating_sub(1);
        unusable(origin.path, format!("column {name:?}, rows {} to {last_row}: {reason}", origin.first_row))
    })
}
