//! Reads entries of dictionaries of Python. To touch a key or a value costs a cache miss, so values that the
//! caller does not need are not touched, and the misses of many entries overlap.
#![allow(unsafe_code)] // PyO3's iterator touches all entries one by one, and panics if the dictionary changes

use esker::graph::prefetch_at;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Number of entries that are taken before any of them is touched.
const BATCH_LEN: usize = 64;
/// Number of dictionaries that a batch looks into at most, if they are empty.
const BATCH_ROWS: usize = 1 << 10;

/// The key and the value of an entry, which still belong to the dictionary.
type Lent = (*mut ffi::PyObject, *mut ffi::PyObject);

/// The next entry from `at` on, neither touched nor owned.
#[inline(always)]
fn lend(dictionary: &Bound<'_, PyDict>, at: &mut ffi::Py_ssize_t) -> Option<Lent> {
    let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the dictionary is one, and the interpreter's lock is held. `PyDict_Next` checks `at` against
    // the entries, also if the dictionary changed.
    let found = unsafe { ffi::PyDict_Next(dictionary.as_ptr(), at, &raw mut key, &raw mut value) };
    (found != 0).then_some((key, value))
}

fn changed() -> PyErr {
    PyRuntimeError::new_err("dictionary changed size during iteration")
}

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
            return Err(changed());
        }
        let py = self.dictionary.py();
        let Some((key, value)) = lend(self.dictionary, &mut self.at) else { return Ok(None) };
        // SAFETY: the dictionary has just lent the objects, and no other code has run since.
        let own = |object| unsafe { Bound::from_borrowed_ptr(py, object) };
        Ok(Some((own(key), with_value.then(|| own(value)))))
    }
}

/// An entry of the dictionary of a row.
pub(crate) struct RowEntry<'py> {
    pub(crate) row: usize,
    pub(crate) key: Bound<'py, PyAny>,
    pub(crate) value: Option<Bound<'py, PyAny>>,
}

/// The entries of many dictionaries, batch by batch.
pub(crate) struct RowEntries<'a, 'py> {
    rows: &'a Bound<'py, PyList>,
    with_values: bool,
    row: usize,
    at: ffi::Py_ssize_t,
    /// Number of entries of the dictionary of `row`, if some of them are taken already.
    len: Option<usize>,
}

impl<'a, 'py> RowEntries<'a, 'py> {
    pub(crate) fn of(rows: &'a Bound<'py, PyList>, with_values: bool) -> Self {
        Self { rows, with_values, row: 0, at: 0, len: None }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.row >= self.rows.len()
    }

    /// Appends the next entries; none if many dictionaries in a row are empty. Returns `false` if the next
    /// row is no plain dictionary.
    ///
    /// # Errors
    /// `RuntimeError` if entries were added or removed meanwhile.
    pub(crate) fn next_batch(&mut self, batch: &mut Vec<RowEntry<'py>>) -> PyResult<bool> {
        let py = self.rows.py();
        let mut lent = [(0, std::ptr::null_mut(), std::ptr::null_mut()); BATCH_LEN];
        let (mut count, mut outcome) = (0, Ok(true));
        let rows_end = self.rows.len().min(self.row + BATCH_ROWS);
        // Until the entries have owners, nothing runs code of Python.
        while self.row < rows_end && count < BATCH_LEN {
            let row = self.rows.get_item(self.row)?;
            let Ok(dictionary) = row.cast_exact::<PyDict>() else {
                outcome = Ok(false);
                break;
            };
            if self.len.is_some_and(|len| len != dictionary.len()) {
                outcome = Err(changed());
                break;
            }
            self.len = Some(dictionary.len());
            while count < BATCH_LEN {
                let Some((key, value)) = lend(dictionary, &mut self.at) else { break };
                prefetch_at(key);
                if self.with_values {
                    prefetch_at(value);
                }
                lent[count] = (self.row, key, value);
                count += 1;
            }
            if count < BATCH_LEN {
                (self.row, self.at, self.len) = (self.row + 1, 0, None);
            }
        }
        batch.extend(lent[..count].iter().map(|&(row, key, value)| {
            // SAFETY: the objects still belong to their dictionary, which nothing has changed since it lent
            // them.
            let own = |object| unsafe { Bound::from_borrowed_ptr(py, object) };
            RowEntry { row, key: own(key), value: self.with_values.then(|| own(value)) }
        }));
        outcome
    }
}

/// The first entry of each dictionary, `None` for an empty one.
pub(crate) fn first_entries<'py>(
    dictionaries: &[&Bound<'py, PyDict>],
) -> Vec<Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    // Until the entries have owners, nothing runs code of Python.
    let mut lent = Vec::with_capacity(dictionaries.len());
    for dictionary in dictionaries {
        let entry = lend(dictionary, &mut 0);
        if let Some((_, value)) = entry {
            prefetch_at(value);
        }
        lent.push(entry);
    }
    let own = |(dictionary, entry): (&&Bound<'py, PyDict>, Option<Lent>)| {
        // SAFETY: the objects still belong to the dictionary, which nothing has changed since it lent them.
        let own = |object| unsafe { Bound::from_borrowed_ptr(dictionary.py(), object) };
        entry.map(|(key, value)| (own(key), own(value)))
    };
    dictionaries.iter().zip(lent).map(own).collect()
}
