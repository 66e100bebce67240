//! Exchanges Arrow data with Python through capsules of the Arrow C data interface.
#![allow(unsafe_code)] // a C interface

use std::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatchReader, make_array};
use arrow_schema::{DataType, Field};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::failure::{PyFailure, PyOutcome, invalid};

const ARRAY: &CStr = c"arrow_array";
const SCHEMA: &CStr = c"arrow_schema";
const STREAM: &CStr = c"arrow_array_stream";

/// Exports record batches as an Arrow stream.
pub(crate) fn stream<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// Imports the chunks of an object with an Arrow interface; `None` if it has none.
pub(crate) fn chunks(object: &Bound<'_, PyAny>) -> PyOutcome<Option<(DataType, Vec<ArrayRef>)>> {
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        return from_stream(&capsule.cast_into::<PyCapsule>().map_err(PyErr::from)?).map(Some);
    }
    if object.hasattr("__arrow_c_array__")? {
        let pair: (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) =
            object.call_method0("__arrow_c_array__")?.extract()?;
        return from_array(&pair.0, &pair.1).map(Some);
    }
    Ok(None)
}

/// Moves the content out of a capsule and leaves `empty` in it.
///
/// # Safety
/// A capsule of this name must hold a `T`, and `empty` must own nothing.
unsafe fn take<T>(capsule: &Bound<'_, PyCapsule>, name: &CStr, empty: T) -> PyOutcome<T> {
    let pointer = capsule.pointer_checked(Some(name))?.cast::<T>();
    // SAFETY: the Arrow PyCapsule interface defines the type that a capsule of this name points to. The
    // consumer must move it out and leave a released structure, which `empty` is.
    Ok(unsafe { pointer.as_ptr().replace(empty) })
}

fn from_stream(capsule: &Bound<'_, PyCapsule>) -> PyOutcome<(DataType, Vec<ArrayRef>)> {
    // SAFETY: see `take`.
    let mut stream = unsafe { take(capsule, STREAM, FFI_ArrowArrayStream::empty())? };
    let (Some(get_schema), Some(get_next)) = (stream.get_schema, stream.get_next) else {
        return invalid("the Arrow stream was already consumed; pass a new one");
    };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the stream is not released, and `schema` is empty.
    check(unsafe { get_schema(&raw mut stream, &raw mut schema) }, &mut stream)?;
    let data_type = Field::try_from(&schema)?.data_type().clone();
    let mut chunks = Vec::new();
    loop {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as above.
        check(unsafe { get_next(&raw mut stream, &raw mut array) }, &mut stream)?;
        if array.is_released() {
            return Ok((data_type, chunks));
        }
        // SAFETY: all arrays of a stream have the type of its schema.
        chunks.push(make_array(unsafe { from_ffi_and_data_type(array, data_type.clone())? }));
    }
}

fn check(code: i32, stream: &mut FFI_ArrowArrayStream) -> PyOutcome<()> {
    if code == 0 {
        return Ok(());
    }
    let message = stream.get_last_error.map(|get| {
        // SAFETY: the stream is not released.
        unsafe { get(&raw mut *stream) }
    });
    let message = message.filter(|message| !message.is_null()).map(|message| {
        // SAFETY: the interface guarantees a zero-terminated string that is valid until the next call on the
        // stream.
        unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
    });
    Err(PyFailure::Named(
        "InvalidError",
        format!("cannot read the Arrow stream: {}", message.unwrap_or_default()),
    ))
}

fn from_array(
    schema: &Bound<'_, PyCapsule>,
    array: &Bound<'_, PyCapsule>,
) -> PyOutcome<(DataType, Vec<ArrayRef>)> {
    // SAFETY: see `take`.
    let schema = unsafe { take(schema, SCHEMA, FFI_ArrowSchema::empty())? };
    // SAFETY: see `take`.
    let array = unsafe { take(array, ARRAY, FFI_ArrowArray::empty())? };
    let data_type = Field::try_from(&schema)?.data_type().clone();
    // SAFETY: the interface guarantees that the schema describes the array.
    let chunk = make_array(unsafe { from_ffi_and_data_type(array, data_type.clone())? });
    Ok((data_type, vec![chunk]))
}
