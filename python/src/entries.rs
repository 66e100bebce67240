//! Iterates over a dictionary of Python without touching values that the caller does not need: each would cost a cache miss.
#![allow(unsafe_code)] // PyO3's iterator touches all values, and panics if the dictionary changes

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An iterator over the entries of a dictionary.
pub(crate) struct Entries<'a, 'py> {
    dictionary: &'a Bound<'py, PyDict>,
    at: ffi::Py_ssize_t,
    len: usize,
}

impl<'a, 'py> Entries<'a, 'py> {
    pub(crate) fn of(dictionary: &'a Bound<'py, PyDict>) -> Self {
        Self { dictionary, at: 0, len: dictionary.len() }
    }

    /// The next key, with its value if `with_value`.
    ///
    /// # Errors
    /// `RuntimeError` if entries were added or removed meanwhile, as Python's own iterators raise.
    #[allow(clippy::type_complexity, reason = "an entry")]
    pub(crate) fn next(
        &mut self,
        with_value: bool,
    ) -> PyResult<Option<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)>> {
        if self.dictionary.len() != self.len {
            return Err(PyRuntimeError::new_err("dictionary changed size during iteration"));
        }
        let py = self.dictionary.py();
        let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the dictionary is one, and the interpreter's lock is held. `PyDict_Next` checks `at` against the entries, also if the
        // dictionary changed. It lends the key and the value, which get an owner before any other code can run.
        unsafe {
            if ffi::PyDict_Next(self.dictionary.as_ptr(), &raw mut self.at, &raw mut key, &raw mut value) == 0
            {
                return Ok(None);
            }
            let key = Bound::from_borrowed_ptr(py, key);
            let value = with_value.then(|| Bound::from_borrowed_ptr(py, value));
            Ok(Some((key, value)))
        }
    }
}
