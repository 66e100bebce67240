//! Arrays owned by Rust and read by Python through the buffer protocol, without a copy.
#![allow(unsafe_code)] // the buffer protocol is a C interface

use std::any::Any;
use std::ffi::{CStr, c_int, c_void};
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, ScalarBuffer};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The type of the elements of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemType {
    U8,
    U32,
    U64,
    I32,
    I64,
    F32,
    F64,
}

impl ItemType {
    /// The format character of Python's module `struct`.
    fn format(self) -> &'static CStr {
        match self {
            Self::U8 => c"B",
            Self::U32 => c"I",
            Self::U64 => c"Q",
            Self::I32 => c"i",
            Self::I64 => c"q",
            Self::F32 => c"f",
            Self::F64 => c"d",
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }
}

/// A type of array elements.
pub(crate) trait ArrayItem: ArrowNativeType + Send + Sync {
    /// The type as a value.
    const TYPE: ItemType;
}

macro_rules! items {
    ($($type:ty: $item:ident),*) => { $(impl ArrayItem for $type { const TYPE: ItemType = ItemType::$item; })* };
}
items!(u8: U8, u32: U32, u64: U64, i32: I32, i64: I64, f32: F32, f64: F64);

/// A read-only one-dimensional array: `numpy.asarray(array)` and `memoryview(array)` do not copy.
#[pyclass(frozen, module = "esker._esker")]
pub(crate) struct Array {
    /// Owns the elements and never changes them.
    owner: Arc<dyn Any + Send + Sync>,
    address: usize,
    item_type: ItemType,
    /// Arrays of one number, because the buffer protocol takes pointers to them.
    shape: [ffi::Py_ssize_t; 1],
    strides: [ffi::Py_ssize_t; 1],
}

impl Array {
    /// An array of the elements that `of` returns from `owner`; the array keeps `owner` alive.
    pub(crate) fn within<O: Any + Send + Sync, T: ArrayItem, E>(
        owner: Arc<O>,
        of: impl FnOnce(&O) -> Result<&[T], E>,
    ) -> Result<Self, E> {
        let elements = of(&owner)?;
        let (address, len) = (elements.as_ptr() as usize, elements.len());
        let strides = [size_of::<T>() as ffi::Py_ssize_t];
        Ok(Self { owner, address, item_type: T::TYPE, shape: [len as ffi::Py_ssize_t], strides })
    }

    /// An array of these elements.
    pub(crate) fn of<T: ArrayItem>(elements: Vec<T>) -> Self {
        let shown = Self::within(Arc::new(elements), |elements| Ok::<_, std::convert::Infallible>(elements));
        shown.unwrap_or_else(|never| match never {})
    }

    /// An Arrow array of the same elements, without a copy.
    pub(crate) fn arrow<T>(&self, nulls: Option<NullBuffer>) -> ArrayRef
    where
        T: arrow_array::types::ArrowPrimitiveType<Native: ArrayItem>,
    {
        debug_assert_eq!(T::Native::TYPE, self.item_type, "the caller must check the type");
        let len = self.shape[0] as usize;
        let start = NonNull::new(self.address as *mut u8).unwrap_or(NonNull::dangling());
        let keep: Arc<dyn Any + Send + Sync> = Arc::clone(&self.owner);
        // SAFETY: `address` and `len` describe a slice owned by `owner`. Nothing changes the slice while the
        // owner lives, and the buffer keeps the owner alive.
        let buffer = unsafe {
            Buffer::from_custom_allocation(
                start,
                len * self.item_type.bytes(),
                Arc::new(ArrayOwner(AssertUnwindSafe(keep))),
            )
        };
        Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::new(buffer, 0, len), nulls))
    }
}

/// The owner of an array, as an owner of an Arrow buffer.
struct ArrayOwner(
    #[allow(dead_code, reason = "kept for its drop")] AssertUnwindSafe<Arc<dyn Any + Send + Sync>>,
);

#[pymethods]
impl Array {
    fn __len__(&self) -> usize {
        self.shape[0] as usize
    }

    /// The address of the first element.
    #[getter]
    fn address(&self) -> usize {
        self.address
    }

    /// The type of the elements as a format character of the module `struct`.
    #[getter]
    fn format(&self) -> String {
        self.item_type.format().to_string_lossy().into_owned()
    }

    /// Fills a view of the buffer protocol.
    ///
    /// # Safety
    /// `view` must be null or point to a buffer structure; the interpreter guarantees it.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("the view is null"));
        }
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("the array is read-only; copy it to change it"));
        }
        let wants = |flag: c_int| flags & flag == flag;
        let array = slf.get();
        // SAFETY: the interpreter passes a view to fill. All pointers are static, or point into `array`,
        // which is frozen and which `obj` keeps alive, or into memory of the array's owner.
        unsafe {
            (*view).buf = array.address as *mut c_void;
            (*view).len = array.shape[0] * array.strides[0];
            (*view).readonly = 1;
            (*view).itemsize = array.strides[0];
            (*view).ndim = 1;
            let format = array.item_type.format().as_ptr().cast_mut();
            (*view).format = if wants(ffi::PyBUF_FORMAT) { format } else { std::ptr::null_mut() };
            let shape = array.shape.as_ptr().cast_mut();
            (*view).shape = if wants(ffi::PyBUF_ND) { shape } else { std::ptr::null_mut() };
            let strides = array.strides.as_ptr().cast_mut();
            (*view).strides = if wants(ffi::PyBUF_STRIDES) { strides } else { std::ptr::null_mut() };
            (*view).suboffsets = std::ptr::null_mut();
            (*view).internal = std::ptr::null_mut();
            (*view).obj = slf.clone().into_any().into_ptr();
        }
        Ok(())
    }
}
