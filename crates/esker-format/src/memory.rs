//! Fallible allocation of large arrays: running out of memory is an error and does not abort the process.

use std::collections::TryReserveError;

use esker_graph::Run;
use rayon::iter::{ParallelExtend, repeat_n};

use crate::error::{Error, Result};

/// The error of a failed heap allocation.
#[allow(clippy::needless_pass_by_value)] // For `map_err`.
pub fn no_memory(reason: TryReserveError) -> Error {
    Error::invalid(format!("there is no memory left ({reason}): free some, or do less at once"))
}

/// Reserves space for `more` elements, in amortised constant time per element.
#[inline]
pub fn reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<()> {
    vec.try_reserve(more).map_err(no_memory)
}

/// Appends an element.
#[inline]
pub fn push<T>(vec: &mut Vec<T>, element: T) -> Result<()> {
    reserve(vec, 1)?;
    vec.push(element);
    Ok(())
}

/// An empty array with capacity for exactly `elements`.
pub fn with_room<T>(elements: usize) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(elements).map_err(no_memory)?;
    Ok(vec)
}

/// An array of `elements` copies of `element`.
pub fn filled<T: Clone>(element: T, elements: usize) -> Result<Vec<T>> {
    let mut vec = with_room(elements)?;
    vec.resize(elements, element);
    Ok(vec)
}

/// An array of `elements` copies of `element`, written by all threads of a run so that each faults in its own
/// pages.
pub fn filled_by_all<T: Copy + Send + Sync>(element: T, elements: usize, run: &Run) -> Result<Vec<T>> {
    let mut vec = with_room(elements)?;
    run.install(|| vec.par_extend(repeat_n(element, elements)));
    Ok(vec)
}

/// Collects an iterator of known length.
pub fn collected<T>(elements: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut vec = with_room(elements.len())?;
    vec.extend(elements);
    Ok(vec)
}
