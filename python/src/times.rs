//! Columns of Python's dates and times.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use esker::import::typed::arrow_column;
use esker::store::format::{LogicalType, PropertyType, TimeUnit};
use esker::store::property::PropertyValue;
use pyo3::prelude::*;

use crate::failure::{Outcome, invalid};

/// The column of objects of `datetime.datetime` or of `datetime.date`, some of them missing; `None` if the first that is not missing is neither.
pub(crate) fn from_objects(items: &[Bound<'_, PyAny>], what: &str) -> Outcome<Option<ArrayRef>> {
    let Some(first) = items.iter().find(|item| !item.is_none()) else { return Ok(None) };
    let module = first.py().import("datetime")?;
    let (datetime, date) = (module.getattr("datetime")?, module.getattr("date")?);
    let logical = if first.is_instance(&datetime)? {
        let zone = if first.call_method0("utcoffset")?.is_none() { "" } else { "UTC" };
        LogicalType::Timestamp { unit: TimeUnit::Micro, zone: zone.to_owned() }
    } else if first.is_instance(&date)? {
        LogicalType::Date
    } else {
        return Ok(None);
    };
    let mut values: Vec<Option<i64>> = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        if item.is_none() {
            values.push(None);
            continue;
        }
        let text: String = match item.is_instance(&date)? {
            true => item.call_method0("isoformat")?.extract()?,
            false => item.str()?.to_string(),
        };
        match PropertyValue::parse_logical(&logical, &text) {
            Ok(PropertyValue::Date(days)) => values.push(Some(days.into())),
            Ok(value) => values.push(value.bits().map(u64::cast_signed)),
            Err(reason) => {
                let wanted = PropertyType::from(logical);
                return invalid(format!(
                    "{what}[{at}] is {text}, which {reason}; the elements before it are of type {wanted}"
                ));
            }
        }
    }
    let numbers: ArrayRef = Arc::new(Int64Array::from(values));
    Ok(Some(arrow_column(&logical, &numbers)))
}
