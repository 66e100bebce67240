//! Arrays that Rust owns and Python reads: the buffer protocol, without a copy.
#![allow(unsafe_code)] // the buffer protocol is one of C

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

/// The type of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    U8,
    U32,
    U64,
    I32,
    I64,
    F32,
    F64,
}

impl Kind {
    /// As the module `struct` writes it.
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

/// What may be an element.
pub(crate) trait Item: ArrowNativeType + Send + Sync {
    /// Its type.
    const KIND: Kind;
}

macro_rules! items {
    ($($type:ty: $kind:ident),*) => { $(impl Item for $type { const KIND: Kind = Kind::$kind; })* };
}
items!(u8: U8, u32: U32, u64: U64, i32: I32, i64: I64, f32: F32, f64: F64);

/// A one-dimensional array that cannot be changed: `numpy.asarray(array)` and `memoryview(array)` copy nothing.
#[pyclass(frozen, module = "esker._esker")]
pub(crate) struct Array {
    /// What owns the elements, and does not change them.
    owner: Arc<dyn Any + Send + Sync>,
    address: usize,
    kind: Kind,
    /// One number each, as the buffer protocol wants to point to them.
    shape: [ffi::Py_ssize_t; 1],
    strides: [ffi::Py_ssize_t; 1],
}

impl Array {
    /// The elements that `of` finds in `owner`, which keeps them.
    pub(crate) fn within<O: Any + Send + Sync, T: Item, E>(
        owner: Arc<O>,
        of: impl FnOnce(&O) -> Result<&[T], E>,
    ) -> Result<Self, E> {
        let elements = of(&owner)?;
        let (address, len) = (elements.as_ptr() as usize, elements.len());
        let strides = [size_of::<T>() as ffi::Py_ssize_t];
        Ok(Self { owner, address, kind: T::KIND, shape: [len as ffi::Py_ssize_t], strides })
    }

    /// These elements.
    pub(crate) fn of<T: Item>(elements: Vec<T>) -> Self {
        let shown = Self::within(Arc::new(elements), |elements| Ok::<_, std::convert::Infallible>(elements));
        shown.unwrap_or_else(|never| match never {})
    }

    /// The same elements for Arrow, in the memory where they are.
    pub(crate) fn arrow<T>(&self, nulls: Option<NullBuffer>) -> ArrayRef
    where
        T: arrow_array::types::ArrowPrimitiveType<Native: Item>,
    {
        debug_assert_eq!(T::Native::KIND, self.kind, "the kind was looked at");
        let len = self.shape[0] as usize;
        let start = NonNull::new(self.address as *mut u8).unwrap_or(NonNull::dangling());
        let keep: Arc<dyn Any + Send + Sync> = Arc::clone(&self.owner);
        // SAFETY: `address` and `len` are of a slice within what `owner` holds; nothing changes that while the owner lives, and
        // the buffer keeps the owner.
        let buffer = unsafe {
            Buffer::from_custom_allocation(
                start,
                len * self.kind.bytes(),
                Arc::new(Keep(AssertUnwindSafe(keep))),
            )
        };
        Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::new(buffer, 0, len), nulls))
    }
}

/// An owner, as Arrow wants it.
struct Keep(#[allow(dead_code, reason = "kept for its drop")] AssertUnwindSafe<Arc<dyn Any + Send + Sync>>);

#[pymethods]
impl Array {
    fn __len__(&self) -> usize {
        self.shape[0] as usize
    }

    /// Where the first element lies in memory.
    #[getter]
    fn address(&self) -> usize {
        self.address
    }

    /// The type of the elements, as the module `struct` writes it.
    #[getter]
    fn format(&self) -> String {
        self.kind.format().to_string_lossy().into_owned()
    }

    /// Fills a view.
    ///
    /// # Safety
    /// `view` points to a buffer structure, as the interpreter guarantees.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("there is no view to fill"));
        }
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("the array cannot be changed: copy it"));
        }
        let wants = |flag: c_int| flags & flag == flag;
        let array = slf.get();
        // SAFETY: the interpreter hands over a view to be filled. All pointers are into `array`, which is frozen and kept alive
        // by `obj`, or into what its owner keeps, or static.
        unsafe {
            (*view).buf = array.address as *mut c_void;
            (*view).len = array.shape[0] * array.strides[0];
            (*view).readonly = 1;
            (*view).itemsize = array.strides[0];
            (*view).ndim = 1;
            let format = array.kind.format().as_ptr().cast_mut();
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
