//! Columns of Python's dates and times.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array};
use esker::import::read::typed::arrow_column;
use esker::store::format::{LogicalType, PropertyType, TimeUnit};
use esker::store::property::PropertyValue;
use pyo3::prelude::*;

use crate::failure::{PyOutcome, invalid};

/// The column of objects of `datetime.datetime` or of `datetime.date`, some of them missing; `None` if the
/// first that is not missing is neither.
pub(crate) fn from_objects(items: &[Bound<'_, PyAny>], what: &str) -> PyOutcome<Option<ArrayRef>> {
    let Some(first) = items.iter().find(|item| !item.is_none()) else { return Ok(None) };
    let module = first.py().import("datetime")?;
    let (datetime, date) = (module.getattr("datetime")?, module.getattr("date")?);
    let logical = if first.is_instance(&datetime)? {
        let zone = if first.call_method0("utcoffset")?.is_none() { String::new() } else { zone_of(items)? };
        LogicalType::Timestamp { unit: TimeUnit::Micro, zone }
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
        // The zone of all only says how times are shown; in a text, each has an offset of its own.
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

/// The zone that all times of a column have, by the name in the database of zones; else UTC.
fn zone_of(items: &[Bound<'_, PyAny>]) -> PyResult<String> {
    let mut zone: Option<String> = None;
    for item in items.iter().filter(|item| !item.is_none()) {
        let key = item.getattr_opt("tzinfo")?.and_then(|zone| zone.getattr_opt("key").ok().flatten());
        let own = key.and_then(|key| key.extract::<Option<String>>().ok().flatten());
        if own.is_none() || zone.as_ref().is_some_and(|known| Some(known) != own.as_ref()) {
            return Ok("UTC".to_owned());
        }
        zone = own;
    }
    Ok(zone.unwrap_or_else(|| "UTC".to_owned()))
}
