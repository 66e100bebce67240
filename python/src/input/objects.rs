//! Columns from Python objects, one by one.

use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, UInt64Array};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::failure::{PyOutcome, invalid, mistyped};
use crate::input::times;
use crate::interrupts::InterruptChecks;

/// Objects of one usual type so far: `int`, `float` or `str`, none of them missing.
pub(crate) enum Usual {
    Empty,
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    Texts(LargeStringBuilder),
}

impl Usual {
    /// Appends an object. Returns `false`, and may then be incomplete, if the objects need a closer look.
    pub(crate) fn push(&mut self, item: &Bound<'_, PyAny>) -> bool {
        match self {
            Self::Integers(all) if item.is_exact_instance_of::<PyInt>() => {
                item.extract().map(|value| all.push(value)).is_ok()
            }
            Self::Integers(all) if item.is_exact_instance_of::<PyFloat>() => {
                if !all.iter().all(|&value| is_float(value)) {
                    return false;
                }
                *self = Self::Floats(all.iter().map(|&value| value as f64).collect());
                self.push(item)
            }
            Self::Floats(all) if item.is_exact_instance_of::<PyFloat>() => {
                item.extract().map(|value| all.push(value)).is_ok()
            }
            Self::Floats(all) if item.is_exact_instance_of::<PyInt>() => {
                let value = item.extract().ok().filter(|&value| is_float(value));
                value.map(|value| all.push(value as f64)).is_some()
            }
            Self::Texts(all) => {
                let text = item.cast_exact::<PyString>().ok().and_then(|text| text.to_str().ok());
                text.map(|text| all.append_value(text)).is_some()
            }
            Self::Empty if item.is_exact_instance_of::<PyInt>() => {
                *self = Self::Integers(Vec::new());
                self.push(item)
            }
            Self::Empty if item.is_exact_instance_of::<PyFloat>() => {
                *self = Self::Floats(Vec::new());
                self.push(item)
            }
            Self::Empty if item.is_exact_instance_of::<PyString>() => {
                *self = Self::Texts(LargeStringBuilder::new());
                self.push(item)
            }
            _ => false,
        }
    }

    /// The first `len` objects again; integers that became floats stay floats.
    pub(crate) fn into_objects(self, py: Python<'_>, len: usize) -> PyResult<Vec<Bound<'_, PyAny>>> {
        match self {
            Self::Empty => Ok(Vec::new()),
            Self::Integers(all) => {
                all.into_iter().take(len).map(|value| Ok(value.into_pyobject(py)?.into_any())).collect()
            }
            Self::Floats(all) => {
                all.into_iter().take(len).map(|value| Ok(value.into_pyobject(py)?.into_any())).collect()
            }
            Self::Texts(mut all) => {
                let texts = all.finish();
                Ok((0..len).map(|at| PyString::new(py, texts.value(at)).into_any()).collect())
            }
        }
    }

    pub(crate) fn finish(self) -> ArrayRef {
        match self {
            Self::Empty => Arc::new(Int64Array::from(Vec::<i64>::new())),
            Self::Integers(all) => Arc::new(Int64Array::from(all)),
            Self::Floats(all) => Arc::new(Float64Array::from(all)),
            Self::Texts(mut all) => Arc::new(all.finish()),
        }
    }
}

/// Whether a float equals the integer.
fn is_float(value: i64) -> bool {
    value.unsigned_abs() <= 1 << 53 || value as f64 as i128 == i128::from(value)
}

/// A list or tuple as a list; `None` for other objects.
pub(crate) fn as_list<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyList>> {
    let list = object.cast_exact::<PyList>().ok().cloned();
    list.or_else(|| object.cast_exact::<PyTuple>().ok().map(PyTupleMethods::to_list))
}

/// Converts a sequence of Python objects, element by element.
pub(crate) fn from_iterable(object: &Bound<'_, PyAny>, what: &str) -> PyOutcome<ArrayRef> {
    if object.try_iter().is_err() {
        let found = object.get_type().name()?.to_string();
        return mistyped(format!("{what}: expected a sequence of integers, floats or strings, got {found}"));
    }
    let (py, mut checks, mut usual) = (object.py(), InterruptChecks::new(), Usual::Empty);
    if let Some(items) = as_list(object) {
        for at in 0..items.len() {
            if !usual.push(&items.get_item(at)?) {
                return from_unusual(&items, what);
            }
            checks.step(py)?;
        }
        return Ok(usual.finish());
    }
    // No list is made: the iterable can be endless, and freeing its elements would delay Ctrl-C.
    let (mut items, mut len) = (object.try_iter()?, 0);
    while let Some(item) = items.next() {
        let item = item?;
        if !usual.push(&item) {
            let all = PyList::new(py, usual.into_objects(py, len)?)?;
            all.append(item)?;
            for item in items {
                all.append(item?)?;
                checks.step(py)?;
            }
            return from_unusual(&all, what);
        }
        len += 1;
        checks.step(py)?;
    }
    Ok(usual.finish())
}

/// Converts objects of several types, of other types than the usual ones, or some of them missing.
fn from_unusual(list: &Bound<'_, PyList>, what: &str) -> PyOutcome<ArrayRef> {
    let (py, mut checks) = (list.py(), InterruptChecks::new());
    let items: Vec<Bound<'_, PyAny>> = list.iter().collect();
    let mut all = |check: fn(&Bound<'_, PyAny>) -> bool| -> PyResult<bool> {
        for item in &items {
            checks.step(py)?;
            if !item.is_none() && !check(item) {
                return Ok(false);
            }
        }
        Ok(true)
    };
    let is_int = |item: &Bound<'_, PyAny>| -> bool {
        !item.is_instance_of::<PyFloat>()
            && !item.is_instance_of::<PyString>()
            && (item.is_instance_of::<PyInt>() || item.hasattr("__index__").unwrap_or(false))
    };
    if all(|_| false)? {
        return Ok(Arc::new(Int64Array::from(vec![None::<i64>; items.len()])));
    }
    if all(|item| item.is_instance_of::<PyString>())? {
        let texts: PyResult<Vec<Option<String>>> = items.iter().map(PyAnyMethods::extract).collect();
        let texts = texts
            .or_else(|error| invalid(format!("{what}: a string cannot be encoded as UTF-8: {error}")))?;
        return Ok(Arc::new(LargeStringArray::from(texts)));
    }
    if all(|item| item.is_instance_of::<PyBool>())? {
        let values: PyResult<Vec<Option<bool>>> = items.iter().map(PyAnyMethods::extract).collect();
        return Ok(Arc::new(BooleanArray::from(values?)));
    }
    if let Some(times) = times::from_objects(&items, what)? {
        return Ok(times);
    }
    if all(is_int)? {
        return from_integers(&items, what);
    }
    let mut floats: Vec<Option<f64>> = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        checks.step(py)?;
        match item.extract::<Option<f64>>() {
            Ok(Some(float)) if (is_int(item) || float.abs() > MAX_EXACT) && !item.eq(float)? => {
                return invalid(format!(
                    "{what}[{at}] is {}, an integer beyond 2^53, but other elements are floats, and no number type holds both exactly; \
                     pass it as a float if it may be rounded",
                    shown(item)?
                ));
            }
            Ok(float) if !item.is_instance_of::<PyString>() => floats.push(float),
            _ => return odd(&items, what),
        }
    }
    Ok(Arc::new(Float64Array::from(floats)))
}

/// The largest number up to which a float holds every integer.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// The error for elements that no column holds, or not together.
fn odd<T>(items: &[Bound<'_, PyAny>], what: &str) -> PyOutcome<T> {
    let datetime = items.first().map(|first| first.py().import("datetime")).transpose()?;
    let kind = |item: &Bound<'_, PyAny>| -> PyResult<Option<&'static str>> {
        let Some(datetime) = &datetime else { return Ok(None) };
        Ok(Some(match item {
            _ if item.is_instance_of::<PyString>() => "strings",
            _ if item.is_instance_of::<PyBool>() => "truth values",
            _ if item.is_instance(&datetime.getattr("datetime")?)? => "times",
            _ if item.is_instance(&datetime.getattr("date")?)? => "dates",
            _ if item.extract::<f64>().is_ok() => "numbers",
            _ => return Ok(None),
        }))
    };
    let mut first = None;
    for (at, item) in items.iter().enumerate().filter(|(_, item)| !item.is_none()) {
        let found = item.get_type().name()?.to_string();
        match (kind(item)?, first) {
            (None, _) => {
                let remedy = match found.as_str() {
                    "tuple" | "list" | "frozenset" => {
                        "; make a string of each, as in str(value), or number them"
                    }
                    _ => "",
                };
                return mistyped(format!(
                    "{what}: expected integers, floats, strings, truth values, dates or times, but {what}[{at}] has type {found}{remedy}"
                ));
            }
            (Some(own), Some(before)) if own != before => {
                return mistyped(format!(
                    "{what}[{at}] has type {found}, but the elements before it are {before}"
                ));
            }
            (own, _) => first = own,
        }
    }
    mistyped(format!("{what}: the elements are of types that no column holds together"))
}

/// Formats an integer for a message; an integer of more than 200 bits is only described.
fn shown(integer: &Bound<'_, PyAny>) -> PyResult<String> {
    if integer
        .call_method0("bit_length")
        .and_then(|bits| bits.extract::<usize>())
        .is_ok_and(|bits| bits > 200)
    {
        return Ok("an integer of more than 200 bits".to_owned());
    }
    Ok(integer.str()?.to_string())
}

fn from_integers(items: &[Bound<'_, PyAny>], what: &str) -> PyOutcome<ArrayRef> {
    let signed: PyResult<Vec<Option<i64>>> = items.iter().map(PyAnyMethods::extract).collect();
    if let Ok(signed) = signed {
        return Ok(Arc::new(Int64Array::from(signed)));
    }
    let mut wide: Vec<Option<u64>> = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        match item.extract() {
            Ok(value) => wide.push(value),
            Err(_) => {
                return invalid(format!(
                    "{what}[{at}] is {}, but integers must be less than 2^64, and from 0 as ids; pass values as floats if they may be rounded, \
                     and ids as strings",
                    shown(item)?
                ));
            }
        }
    }
    Ok(Arc::new(UInt64Array::from(wide)))
}
