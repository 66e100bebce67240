//! Arrow data in and out, as capsules of the Arrow C data interface.
#![allow(unsafe_code)] // an interface of C

use std::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatchReader, make_array};
use arrow_schema::{DataType, Field};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::failure::{Failure, Outcome, invalid};

const ARRAY: &CStr = c"arrow_array";
const SCHEMA: &CStr = c"arrow_schema";
const STREAM: &CStr = c"arrow_array_stream";

/// A stream for whoever takes Arrow.
pub(crate) fn stream<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// The chunks of whatever offers Arrow data; `None` if it offers none.
pub(crate) fn chunks(object: &Bound<'_, PyAny>) -> Outcome<Option<(DataType, Vec<ArrayRef>)>> {
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

/// Moves what a capsule holds out of it.
///
/// # Safety
/// A capsule of this name holds a `T`, which `empty` replaces by one that owns nothing.
unsafe fn take<T>(capsule: &Bound<'_, PyCapsule>, name: &CStr, empty: T) -> Outcome<T> {
    let pointer = capsule.pointer_checked(Some(name))?.cast::<T>();
    // SAFETY: the Arrow PyCapsule interface says what a capsule of this name points to, and that the consumer moves it out, which
    // leaves one that is released.
    Ok(unsafe { pointer.as_ptr().replace(empty) })
}

fn from_stream(capsule: &Bound<'_, PyCapsule>) -> Outcome<(DataType, Vec<ArrayRef>)> {
    // SAFETY: see `take`.
    let mut stream = unsafe { take(capsule, STREAM, FFI_ArrowArrayStream::empty())? };
    let (Some(get_schema), Some(get_next)) = (stream.get_schema, stream.get_next) else {
        return invalid("the Arrow stream was taken before: give a new one");
    };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the stream is not released, and `schema` may be overwritten.
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
        // SAFETY: the stream says that its arrays are of this type.
        chunks.push(make_array(unsafe { from_ffi_and_data_type(array, data_type.clone())? }));
    }
}

fn check(code: i32, stream: &mut FFI_ArrowArrayStream) -> Outcome<()> {
    if code == 0 {
        return Ok(());
    }
    let told = stream.get_last_error.map(|get| {
        // SAFETY: the stream is not released.
        unsafe { get(&raw mut *stream) }
    });
    let told = told.filter(|told| !told.is_null()).map(|told| {
        // SAFETY: the interface says that it is a string that ends with a zero, valid until the stream is used again.
        unsafe { CStr::from_ptr(told) }.to_string_lossy().into_owned()
    });
    Err(Failure::Named("InvalidError", format!("the Arrow stream fails: {}", told.unwrap_or_default())))
}

fn from_array(
    schema: &Bound<'_, PyCapsule>,
    array: &Bound<'_, PyCapsule>,
) -> Outcome<(DataType, Vec<ArrayRef>)> {
    // SAFETY: see `take`.
    let schema = unsafe { take(schema, SCHEMA, FFI_ArrowSchema::empty())? };
    // SAFETY: see `take`.
    let array = unsafe { take(array, ARRAY, FFI_ArrowArray::empty())? };
    let data_type = Field::try_from(&schema)?.data_type().clone();
    // SAFETY: the two capsules belong together.
    let chunk = make_array(unsafe { from_ffi_and_data_type(array, data_type.clone())? });
    Ok((data_type, vec![chunk]))
}
